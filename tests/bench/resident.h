/* SPDX-License-Identifier: Apache-2.0
 *
 * What resident.c (operands and jobs on devices), resident_run.c (runs) and resident_rate.c share. Unlike the rest of
 * lacis-bench they look inside the engine, and are built with its headers where there are GPU kernels.
 */
#ifndef LACIS_BENCH_RESIDENT_H
#define LACIS_BENCH_RESIDENT_H

#include "bench.h"

#include "core/device.h"
#include "core/registry.h"
#include "multiply/device.h"

#include <stdatomic.h>

/* A device and its part of a run: rows of A. */
typedef struct bench_device {
    lacis_gpu *gpu;
    int64_t *begin, *end; /* of the result's rows, on the device, by row of A */
    lacis_mul_gpu_job job;
    int64_t first, count;
    lacis_mul_gpu_output out;
    lacis_mul_gpu_status status;
    int failed;       /* the driver's code; 0: none */
    double finished;  /* when its last kernel had ended */
    atomic_int *gate; /* of the run */
    pthread_t thread;
} bench_device;

struct bench_resident {
    lacis_host host;
    lacis_run run;
    lacis_registry registry;
    lacis_array *g, *h;
    bench_device device[LACIS_GPUS];
    int devices;
    int64_t n;
    lacis_call *call; /* the present op's */
    lacis_mul_gpu_written written;
    bool source;
    double bytes;
};

#endif
