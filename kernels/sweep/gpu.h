/* SPDX-License-Identifier: Apache-2.0
 *
 * Stencil sweeps on CUDA devices: what sweep.h does, with a system that stays on the device. operators/sweep's GPU
 * variants call these; nothing here knows the engine. Built with nvcc (gpu*.cu); where there is no nvcc none of it is
 * linked. The CUDA runtime is linked statically and works in the device's primary context: the caller has made it
 * current on this thread.
 *
 * The start is lacis_sweep_start with these differences: arrays, and edges' values, are device pointers; host.alloc
 * and host.free give device memory, stream-ordered on `stream`, 256-byte aligned, not cleared, NULL where there is
 * none; threads and cells are not looked at. Written rules need `kernel`. Bits are the CPU's. A VALUES array covers
 * its face with the halos of INNER faces around it.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_H
#define LACIS_KERNELS_SWEEP_GPU_H

#include "sweep/sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LACIS_SWEEP_GPU_PINNED_BYTES = 4096, LACIS_SWEEP_GPU_STREAMS = 5, LACIS_SWEEP_GPU_KERNELS = 2 };
typedef struct lacis_sweep_gpu_start {
    lacis_sweep_start start;
    void *stream; /* cudaStream_t; NULL: the default stream */
    void *pinned; /* LACIS_SWEEP_GPU_PINNED_BYTES of pinned host memory of this system's own */
    /* cudaKernel_t by lacis_sweep_gpu_kernel_name, of a program of lacis_sweep_gpu_source. They must be there where a
     * rule is written, the second alone may be NULL; where all are linear NULL stands for the built-in ones. */
    void *kernel[LACIS_SWEEP_GPU_KERNELS];
} lacis_sweep_gpu_start;

typedef struct lacis_sweep_gpu lacis_sweep_gpu;

/* --- programs of rules, which the caller compiles (LACIS_KERNEL: the kernel's place among the names). Their text is
 *   lacis_sweep_gpu_prefix(start): types, what is tapped where, the functions' declarations,
 *   for each written rule f: LACIS_DEVICE T lacis_rule_f(T v0, T v1, ..., T x, T y, T z, T t, int *bad): taps in
 * their order, the cell's place in the whole grid and the step as numbers of the type T (also called LACIS_SWEEP_T);
 * *bad is set to 1 where it fails, lacis_sweep_gpu_source(). Before all this LACIS_DEVICE is defined. Multiplications
 * and additions must not be contracted. Weights of linear rules are no part of the text: a program serves any. */
extern const char *const lacis_sweep_gpu_kernel_name[LACIS_SWEEP_GPU_KERNELS]; /* a sweep; and one with its change */
const char *lacis_sweep_gpu_source(void);
/* Writes at most `size` bytes with the 0 at the end; the bytes that it takes. 0: these rules cannot be compiled (too
 * many taps: lacis_sweep_gpu_refuses says so where one is written). */
uint64_t lacis_sweep_gpu_prefix(const lacis_sweep_start *start, char *text, uint64_t size);
/* Whether a program makes it faster: a rule is written, or of a shape that no built-in kernel is for. */
bool lacis_sweep_gpu_wants(const lacis_sweep_start *start);

/* Why a device cannot do this, as a plain phrase for EXPLAIN; NULL: it can. */
const char *lacis_sweep_gpu_refuses(const lacis_sweep_start *start);
/* levels as they would be used. */
int lacis_sweep_gpu_levels(const lacis_sweep_start *start);
lacis_sweep_status lacis_sweep_gpu_new(const lacis_sweep_gpu_start *start, lacis_sweep_gpu **out, int *cuda_error);
void lacis_sweep_gpu_free(lacis_sweep_gpu *system);            /* NULL is fine */
int lacis_sweep_gpu_error_code(const lacis_sweep_gpu *system); /* a cudaError_t, with LACIS_SWEEP_FAILED */
/* Waits where there is a change or a rule is written; else what is wrong on the device shows at the next call that
 * does. */
lacis_sweep_status lacis_sweep_gpu_steps(lacis_sweep_gpu *system, int64_t steps, lacis_sweep_change *change);
lacis_sweep_status lacis_sweep_gpu_read(lacis_sweep_gpu *system, void *const *field); /* device pointers */
void lacis_sweep_gpu_counted(lacis_sweep_gpu *system, lacis_sweep_counts *out, bool reset);
uint64_t lacis_sweep_gpu_bytes(const lacis_sweep_start *start);

/* --- parts, as in sweep.h, on a stream of the caller's choice (cudaStream_t, NULL: the system's own). Boxes of one
 * step may be updated on several streams at once: each also makes the ghosts that come of its cells. turn is the
 * host's alone: what follows must wait for the streams of the boxes that it reads. */
lacis_sweep_status lacis_sweep_gpu_update(lacis_sweep_gpu *system, const lacis_sweep_box *box, void *stream);
void lacis_sweep_gpu_turn(lacis_sweep_gpu *system);
/* Between the device's packed buffers and the field, by a kernel or by a copy of two dimensions (`copy`). */
lacis_sweep_status lacis_sweep_gpu_pack(lacis_sweep_gpu *system, int array, const lacis_sweep_box *box, void *to,
                                        bool copy, void *stream);
lacis_sweep_status lacis_sweep_gpu_unpack(lacis_sweep_gpu *system, int array, const lacis_sweep_box *box,
                                          const void *from, bool copy, void *stream);
lacis_sweep_status lacis_sweep_gpu_refresh(lacis_sweep_gpu *system, void *stream);

#ifdef __cplusplus
}
#endif

#endif
