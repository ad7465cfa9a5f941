/* SPDX-License-Identifier: Apache-2.0
 *
 * What solve_gpu.c (cases, lines), solve_resident.c (kernels on operands on the device) and peer_gtsv.c (cuSPARSE)
 * share. They look inside the engine, and are built with its headers where there are GPU kernels.
 */
#ifndef LACIS_BENCH_SOLVE_GPU_H
#define LACIS_BENCH_SOLVE_GPU_H

#include "bench.h"

#include "core/device.h"
#include "solve/device.h"

/* cuSPARSE's gtsv2StridedBatch and gtsvInterleavedBatch. Functions answer 0, or 1 after a message. */
typedef struct bench_gtsv bench_gtsv;
int bench_gtsv_open(bool f64, bench_gtsv **out); /* *out NULL: the library is not here */
/* Device pointers; what they point to stays as it is, x gets the answer. Seconds of the solve alone. */
int bench_gtsv_run(bench_gtsv *gtsv, bool interleaved, int64_t rows, int64_t lanes, const void *const *field, void *x,
                   void *stream, double *seconds);
void bench_gtsv_close(bench_gtsv *gtsv);

/* One batch in both layouts, flat and full, on a device of its own. */
typedef struct bench_solve_resident bench_solve_resident;
bool bench_solve_gpu_here(char *reason, size_t size);
int bench_solve_begin(lacis_array *const *array, bench_solve_resident **out);
/* *can false: that way does not solve these systems. */
int bench_solve_run(bench_solve_resident *resident, int layout, lacis_solve_gpu_way way, bool *can, double *seconds);
int bench_solve_peer(bench_solve_resident *resident, bench_gtsv *gtsv, int layout, double *seconds);
/* Whether the last answer is that of the first run; the first one is kept. */
int bench_solve_check(bench_solve_resident *resident);
void bench_solve_end(bench_solve_resident *resident);

#endif
