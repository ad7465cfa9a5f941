/* SPDX-License-Identifier: Apache-2.0
 *
 * y := alpha A x + beta y for a sparse symmetric, Hermitian or complex symmetric matrix of which one triangle is
 * read, once: each stored entry beside the diagonal serves its row and its column. Raw pointers and sizes only;
 * operators/symv's sparse variants fill a job. half.c does it on the CPU, half*.cu on a CUDA device.
 *
 * The matrix is n rows of CSR as the engine has it: row r is [begin[r], end[r]), columns rise within a row, rows may
 * lie loose. Entries of the other triangle may be there: their values are not read. Where all entries are of the
 * wanted triangle (a graph that holds one triangle) nothing is read for nothing. Of a Hermitian matrix's diagonal the
 * imaginary part is not used. Where beta is 0 y0 is not read; NaN and infinity in what is read go on into y.
 *
 * Bits. Order FIXED: the same on every run, on the CPU for every number of threads and every instruction set too. CPU
 * and GPU add in different orders: CANONICAL is the CPU's, and the GPU refuses it. FREE (GPU): atomics, no plan.
 *
 * CPU: rows fall into tasks by the matrix alone. A task adds to a window of its own, which spans the columns that it
 * reaches; windows are added in the order of tasks. Per entry one multiply-add for the row, one for the column.
 *
 * GPU: a plan is made once a matrix. Rows fall into tiles, a warp each, whose columns are few enough that their x and
 * their part of y fit in shared memory; the plan has each entry's value, its place there (16 bits instead of a
 * column's 32) and each tile's columns, in the order in which warps take them. Tiles write their parts behind each
 * other, and a second kernel adds each row's parts by rising tile.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_H
#define LACIS_KERNELS_SYMV_HALF_H

#include "symv/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lacis_symv_half {
    /* type F32, F64, C64 or C128; uplo, order, hermitian, n, sides, x, y0, y with their steps, alpha, beta, threads
     * and host as symv.h has them. matrices is 1, figures NULL; a, ld, packed, accurate, one are not looked at. */
    lacis_symv_job job;
    const int64_t *begin, *end;
    const uint32_t *column;
    const void *value; /* NULL: every entry is 1 */
} lacis_symv_half;

/* Why the CPU, or the GPU, cannot do the job, as a plain phrase; NULL: it can. */
const char *lacis_symv_half_refuses(const lacis_symv_half *half);
const char *lacis_symv_half_gpu_refuses(const lacis_symv_half *half);

/* --- CPU. After anything but OK what y holds is undefined. */
lacis_symv_status lacis_symv_half_run(const lacis_symv_half *half);
/* Bytes that a run takes from host.alloc at most; looks at begin, end and column. */
uint64_t lacis_symv_half_work_bytes(const lacis_symv_half *half);

/* --- GPU. All pointers of the job are the device's; host, stream and errors are as in gpu.h. */
typedef struct lacis_symv_half_gpu {
    lacis_symv_half half;
    uint64_t entries; /* of all rows, or more: [0, entries) holds every row */
    bool joined;      /* end[r] is begin[r + 1] */
    int processors;   /* multiprocessors of the device */
    /* For what a plan is made; 0: the default. window: columns of a tile, at least 32. lanes x steps: how many
     * entries of a row are taken at a time: 4 x 4, 4 x 6, 4 x 12, 8 x 4, 8 x 6, 16 x 6 or 32 x 6. */
    int window, lanes, steps;
    void *stream;
} lacis_symv_half_gpu;

/* What a matrix's plan has on the device: one block from host.alloc, which the plan's owner frees. It has the
 * matrix's values too, of one triangle and one type; x, alpha, beta and Hermitian or not are each run's own. */
typedef struct lacis_symv_half_plan {
    void *block; /* NULL: none */
    uint64_t bytes;
    uint64_t wanted; /* entries of the wanted triangle */
    uint64_t slots;  /* places of tiles' windows, which a run writes and reads once */
    int64_t tiles;
    uint32_t window;
    uint64_t units;
    int lanes, steps;  /* lanes share a row and take so many entries each at a time */
    bool ones;         /* every entry is 1 */
    uint64_t place[7]; /* of the parts within block */
} lacis_symv_half_plan;

/* Waits for the stream. On any status but OK nothing stays allocated. */
lacis_symv_gpu_status lacis_symv_half_gpu_plan(const lacis_symv_half_gpu *job, lacis_symv_half_plan *plan,
                                               int *cuda_error);
/* With a plan of the matrix, whose own arrays are then not read; without (order FREE only) by atomics. Nothing is
 * waited for. */
lacis_symv_gpu_status lacis_symv_half_gpu_run(const lacis_symv_half_gpu *job, const lacis_symv_half_plan *plan,
                                              int *cuda_error);

/* Bytes of device memory at most: of a plan with what making it takes, and of a run with it or (plan NULL) without.
 */
uint64_t lacis_symv_half_gpu_plan_bytes(const lacis_symv_half_gpu *job);
uint64_t lacis_symv_half_gpu_work_bytes(const lacis_symv_half_gpu *job, const lacis_symv_half_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
