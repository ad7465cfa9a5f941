/* SPDX-License-Identifier: Apache-2.0
 *
 * Symmetric matrix-vector products on a CUDA device: what symv.h does, on raw device pointers. operators/symv's GPU
 * variants fill a job and call these; nothing here knows the engine. Built with nvcc (gpu*.cu); where there is no
 * nvcc none of it is linked. The CUDA runtime is linked statically and works in the device's primary context: the
 * caller has made it current on this thread.
 *
 * The job is lacis_symv_job with these differences: a, x, y0, y and figures are device pointers; `one` lies on the
 * host; host.alloc and host.free give device memory, stream-ordered on `stream`, 256-byte aligned, not cleared, NULL
 * where there is none (a block given free may still be in use by work already on the stream); threads is not looked
 * at. Everything goes to `stream` and nothing is waited for.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_H
#define LACIS_KERNELS_SYMV_GPU_H

#include "symv/symv.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lacis_symv_gpu_status {
    LACIS_SYMV_GPU_OK,
    LACIS_SYMV_GPU_NO_MEMORY,   /* alloc answered NULL: nothing is left allocated */
    LACIS_SYMV_GPU_UNSUPPORTED, /* see lacis_symv_gpu_refuses */
    LACIS_SYMV_GPU_FAILED       /* a CUDA call failed: *cuda_error (a cudaError_t) */
} lacis_symv_gpu_status;

/* How a product is computed; each is a family of kernels. Not every one takes every job. */
typedef enum lacis_symv_gpu_kind {
    LACIS_SYMV_GPU_TILES,   /* a tile a block, in registers; sums to fixed places, a second pass adds them */
    LACIS_SYMV_GPU_RING,    /* blocks that stay, tiles through a ring of asynchronous copies; fixed places */
    LACIS_SYMV_GPU_TICKETS, /* updates of y in the order of tickets (CUDA-xSYMV) */
    LACIS_SYMV_GPU_ATOMIC,  /* updates of y by atomics; order FREE only */
    LACIS_SYMV_GPU_BATCH,   /* small matrices, a block or less each */
    LACIS_SYMV_GPU_ROWS,    /* small n: a block has rows of y, and reads their mirror images too; one launch */
    LACIS_SYMV_GPU_KINDS
} lacis_symv_gpu_kind;
extern const char *const lacis_symv_gpu_kind_name[LACIS_SYMV_GPU_KINDS];

/* One candidate of the tuner: Tx, Ty, U, m, M and the kind, as CUDA-xSYMV has them. */
typedef struct lacis_symv_gpu_choice {
    lacis_symv_gpu_kind kind;
    int tx, ty;   /* elements of a tile along the stored direction and across it; ROWS: tx rows of y a block */
    int warps;    /* of a block */
    int unroll;   /* loads of 16 bytes in flight a thread */
    int resident; /* blocks a multiprocessor */
    int chunk;    /* tiles one behind the other before sums are handed over */
} lacis_symv_gpu_choice;

typedef struct lacis_symv_gpu_job {
    lacis_symv_job job;
    const lacis_symv_gpu_choice *choice; /* NULL: the default for the type, uplo and n (gpu_defaults.c) */
    int processors;                      /* multiprocessors of the device */
    void *stream;                        /* cudaStream_t; NULL: the default stream */
} lacis_symv_gpu_job;

/* The candidates of a type, each tried for both triangles. The list lives for ever. */
int lacis_symv_gpu_candidates(lacis_symv_type type, const lacis_symv_gpu_choice **out);
/* The shipped default for sm_90. */
lacis_symv_gpu_choice lacis_symv_gpu_default(const lacis_symv_gpu_job *job);
/* "tiles 64x64 w8 u8 b4 c1": for tables and the catalog; and back: false where it is none. */
enum { LACIS_SYMV_GPU_CHOICE_TEXT = 64 };
const char *lacis_symv_gpu_choice_text(const lacis_symv_gpu_choice *choice, char *text);
bool lacis_symv_gpu_choice_read(const char *text, lacis_symv_gpu_choice *out);

/* Why the choice (or, where it is NULL, any) cannot do the job, as a plain phrase for EXPLAIN; NULL: it can. Looks at
 * the job's fields alone, not at the device. */
const char *lacis_symv_gpu_refuses(const lacis_symv_gpu_job *job);

/* After anything but OK nothing stays allocated, and what y and figures hold is undefined. */
lacis_symv_gpu_status lacis_symv_gpu_run(const lacis_symv_gpu_job *job, int *cuda_error);

/* Bytes of device memory that a run takes at most besides what the job points to. */
uint64_t lacis_symv_gpu_work_bytes(const lacis_symv_gpu_job *job);

#ifdef __cplusplus
}
#endif

#endif
