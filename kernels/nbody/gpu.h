/* SPDX-License-Identifier: Apache-2.0
 *
 * Point masses on a CUDA device: what nbody.h does, with a system that stays on the device from step to step.
 * operators/nbody's GPU variants call these; nothing here knows the engine. Built with nvcc (gpu*.cu); where there is
 * no nvcc none of it is linked. The CUDA runtime is linked statically and works in the device's primary context: the
 * caller has made it current on this thread.
 *
 * The start is lacis_nbody_start with these differences: its columns are device pointers, host.alloc and host.free
 * give device memory, stream-ordered on `stream`, 256-byte aligned, not cleared, NULL where there is none; threads is
 * not looked at. Columns that functions read and write lie on the device, too. cancelled is asked between steps.
 *
 * Bodies stay in the order of the curve from step to step; they are put back into the caller's order by _read. Equal
 * bits: with `deterministic` as in nbody.h; without it they may differ from run to run.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_H
#define LACIS_KERNELS_NBODY_GPU_H

#include "nbody/nbody.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LACIS_NBODY_GPU_PINNED_BYTES = 4096 };
typedef struct lacis_nbody_gpu_start {
    lacis_nbody_start start;
    void *stream; /* cudaStream_t; NULL: the default stream */
    void *pinned; /* LACIS_NBODY_GPU_PINNED_BYTES of pinned host memory of this system's own */
    bool timed;   /* counts have seconds by phase, and steps are waited for one by one */
} lacis_nbody_gpu_start;

typedef struct lacis_nbody_gpu lacis_nbody_gpu;

/* Why a device cannot do this, as a plain phrase for EXPLAIN; NULL: it can. */
const char *lacis_nbody_gpu_refuses(const lacis_nbody_start *start);
/* The rule with what it leaves open (leaf, group, expand < 0) filled in for so many bodies. */
void lacis_nbody_gpu_settle(const lacis_nbody_start *start, lacis_nbody_rule *rule);

lacis_nbody_status lacis_nbody_gpu_new(const lacis_nbody_gpu_start *start, lacis_nbody_gpu **out, int *cuda_error);
void lacis_nbody_gpu_free(lacis_nbody_gpu *system);            /* NULL is fine */
int lacis_nbody_gpu_error_code(const lacis_nbody_gpu *system); /* a cudaError_t, with LACIS_NBODY_FAILED */
void lacis_nbody_gpu_set_rule(lacis_nbody_gpu *system, const lacis_nbody_rule *rule);
lacis_nbody_status lacis_nbody_gpu_field(lacis_nbody_gpu *system, bool potential);
lacis_nbody_status lacis_nbody_gpu_steps(lacis_nbody_gpu *system, int64_t steps, double dt, bool potential);
lacis_nbody_status lacis_nbody_gpu_points(lacis_nbody_gpu *system, int64_t points, const void *x, const void *y,
                                          const void *z, void *ax, void *ay, void *az, void *phi);
lacis_nbody_status lacis_nbody_gpu_measure(lacis_nbody_gpu *system, lacis_nbody_figures *out);
lacis_nbody_status lacis_nbody_gpu_certify(lacis_nbody_gpu *system, int64_t sample, lacis_nbody_errors *out);
lacis_nbody_status lacis_nbody_gpu_read(lacis_nbody_gpu *system, const lacis_nbody_columns *into);
void lacis_nbody_gpu_counted(lacis_nbody_gpu *system, lacis_nbody_counts *out, bool reset);
uint64_t lacis_nbody_gpu_bytes(const lacis_nbody_start *start);

/* --- one system on several devices of this process
 *
 * Each device has all bodies and makes the tree over them; it walks for its share of the bodies and sends their sums
 * to the others. Sums have the bits of one device's where that does not share upper walks (100,000 bodies or more do,
 * with RELATIVE 1,500,000), and depend on the number of devices else. Each takes what one takes
 * (lacis_nbody_gpu_bytes). Only trees by keys, only one softening length; UNSUPPORTED else.
 *
 * starts[k] has stream, pinned memory and host.alloc, host.free of device[k] (an ordinal of CUDA's, which may come
 * twice); starts[0] is that of the whole, with its columns on device[0], where _read puts columns, too. Copies are
 * fast where the devices may access each other's memory. Calls leave device[0] current. */
enum { LACIS_NBODY_GPUS_MOST = 8 };
int lacis_nbody_gpu_current(void); /* the ordinal of this thread's device */
typedef struct lacis_nbody_gpus lacis_nbody_gpus;
lacis_nbody_status lacis_nbody_gpus_new(const lacis_nbody_gpu_start *starts, const int *device, int devices,
                                        lacis_nbody_gpus **out, int *cuda_error);
void lacis_nbody_gpus_free(lacis_nbody_gpus *systems); /* NULL is fine */
int lacis_nbody_gpus_error_code(const lacis_nbody_gpus *systems);
void lacis_nbody_gpus_set_rule(lacis_nbody_gpus *systems, const lacis_nbody_rule *rule);
lacis_nbody_status lacis_nbody_gpus_field(lacis_nbody_gpus *systems, bool potential);
lacis_nbody_status lacis_nbody_gpus_steps(lacis_nbody_gpus *systems, int64_t steps, double dt, bool potential);
void lacis_nbody_gpus_counted(lacis_nbody_gpus *systems, lacis_nbody_counts *out, bool reset); /* of all devices */
/* That of device[0], up to date: for _read, _measure, _certify and _points of one device, until the next call
 * here. NULL where that failed. */
lacis_nbody_gpu *lacis_nbody_gpus_whole(lacis_nbody_gpus *systems, bool potential);

#ifdef __cplusplus
}
#endif

#endif
