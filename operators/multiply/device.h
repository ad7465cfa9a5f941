/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" in parts: gpu_cost.c says whether and for how much, gpu.c runs, gpu_devices.c has what
 * gpu.c does on each device.
 */
#ifndef LACIS_OPERATORS_MULTIPLY_DEVICE_H
#define LACIS_OPERATORS_MULTIPLY_DEVICE_H

#include "multiply/bind.h"

#ifdef LACIS_GPU_KERNELS
#include "multiply/gpu_summary.h"

/* The product's job with host pointers, before anything is sent. */
void lacis_multiply_gpu_job(const lacis_product *product, lacis_mul_gpu_job *out);

struct lacis_multiply_run;
/* A product's operands and job on one device. */
typedef struct lacis_multiply_device {
    lacis_gpu *gpu;
    struct lacis_multiply_run *running;
    lacis_mul_gpu_job job;
    lacis_mul_matrix mask;
    lacis_mul_gpu_keys keys; /* of totals */
    uint64_t room;           /* bytes for panels, once the operands are there */
} lacis_multiply_device;

/* One run: the devices, and the result as far as it has come. */
typedef struct lacis_multiply_run {
    lacis_run *run;
    lacis_multiply *work;
    lacis_multiply_device device[LACIS_GPUS];
    int devices;
    lacis_mul_gpu_written written;
    int64_t begin, end;
    uint64_t products; /* of these rows */
    uint64_t value_bytes;
    lacis_mul_gpu_output sums;    /* of panels, for EXPLAIN ANALYZE */
    lacis_product_result *result; /* NULL: totals */
    lacis_totals *totals;
    double *group; /* totals of reals: a panel's */
    bool real;
} lacis_multiply_run;

/* The device's part of a panel, from kernels to host: a lane's `own`. */
typedef struct lacis_multiply_panel {
    int64_t *begin, *end;
    lacis_mul_gpu_output out;
    lacis_mul_gpu_summary summary;
} lacis_multiply_panel;

/* Operands to every device that is worth it, jobs ready to run. */
lacis_status lacis_multiply_devices(lacis_multiply_run *running);
/* Functions of lacis_panels: context is the run. */
int64_t lacis_multiply_panel_rows(void *context, lacis_gpu *gpu, int device, int64_t first, int64_t end);
lacis_status lacis_multiply_panel_compute(void *context, lacis_panel *panel);
void lacis_multiply_panel_drop(void *context, lacis_panel *panel);
#endif

bool lacis_multiply_gpu_can(const lacis_call *call, char *reason, size_t size);
lacis_status lacis_multiply_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                     lacis_cost *out);

#endif
