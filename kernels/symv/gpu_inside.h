/* SPDX-License-Identifier: Apache-2.0
 *
 * What the families of GPU kernels share (gpu_run.cu dispatches, gpu_tiles*, gpu_rows*, gpu_ring*, gpu_batch*,
 * gpu_tickets*): how tiles, strips and chunks are numbered, where partial sums lie, and the second pass that adds
 * them.
 *
 * The stored triangle falls into tiles of tx rows (p, the stored direction) and ty columns (q). A strip is ty columns
 * wide, its tiles number tp = first .. last; LOWER begins with the tile that holds the strip's first diagonal
 * element, UPPER with tile 0. `chunk` tiles behind each other are one chunk: its sums of columns are handed over
 * once, its sums of rows tile by tile. So part t of y, ty long, has one vector of sums of rows from every strip that
 * reaches it, and one vector of sums of columns from every chunk of its own strip: each has its slot, numbered so
 * that the part's slots are 0 .. slots(t) - 1, in the order in which they are added. In the canonical order a tile on
 * the diagonal gives sums of rows alone, and the slot is the tile row of symv.h.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_INSIDE_H
#define LACIS_KERNELS_SYMV_GPU_INSIDE_H

#include "symv/gpu.h"

#include <cuda_runtime.h>

#define SYMV_BOTH static __host__ __device__ __forceinline__

enum { SYMV_GPU_SIDES = 4 }; /* at most this many right-hand sides in one pass: 1, 2 or 4 */

/* --- tiles -------------------------------------------------------------------------------------------------- */

typedef struct symv_gpu_grid {
    int64_t n; /* less than 2^31: numbers of tiles and chunks fit 32 bits, which kernels divide faster */
    int tx, ty, chunk;
    bool upper, canonical;
} symv_gpu_grid;

SYMV_BOTH int64_t symv_gpu_strips(const symv_gpu_grid *g)
{
    return (uint32_t)(g->n + g->ty - 1) / (uint32_t)g->ty;
}
/* The tile rows of strip s: first .. end - 1. */
SYMV_BOTH int64_t symv_gpu_first(const symv_gpu_grid *g, int64_t s)
{
    return g->upper ? 0 : (uint32_t)(s * g->ty) / (uint32_t)g->tx;
}
SYMV_BOTH int64_t symv_gpu_end(const symv_gpu_grid *g, int64_t s)
{
    const int64_t last = (s + 1) * g->ty < g->n ? (s + 1) * g->ty : g->n;
    return (uint32_t)((g->upper ? last : g->n) + g->tx - 1) / (uint32_t)g->tx;
}
SYMV_BOTH int64_t symv_gpu_chunks(const symv_gpu_grid *g, int64_t s)
{
    return (uint32_t)(symv_gpu_end(g, s) - symv_gpu_first(g, s) + g->chunk - 1) / (uint32_t)g->chunk;
}
/* Slot of the sums of rows that strip s has for part t. */
SYMV_BOTH int64_t symv_gpu_row_slot(const symv_gpu_grid *g, int64_t s, int64_t t)
{
    return g->upper && !g->canonical ? s - t : s;
}
/* Slot of the sums of columns of chunk c of strip s (its part of y is part s). */
SYMV_BOTH int64_t symv_gpu_column_slot(const symv_gpu_grid *g, int64_t s, int64_t c)
{
    if (g->canonical) return symv_gpu_first(g, s) + c;
    return (g->upper ? symv_gpu_strips(g) - s : s + 1) + c;
}
SYMV_BOTH int64_t symv_gpu_slots(const symv_gpu_grid *g, int64_t t)
{
    if (g->canonical) return symv_gpu_strips(g);
    return symv_gpu_column_slot(g, t, symv_gpu_chunks(g, t));
}
/* Of all parts the most. */
static inline int64_t symv_gpu_most_slots(const symv_gpu_grid *g)
{
    int64_t most = 0;
    for (int64_t t = 0; t < symv_gpu_strips(g); t++)
        if (symv_gpu_slots(g, t) > most) most = symv_gpu_slots(g, t);
    return most;
}

/* --- one product as a kernel sees it: one matrix, 1, 2 or 4 right-hand sides --------------------------------- */

typedef struct symv_gpu_part {
    symv_gpu_grid grid;
    const void *a;
    int64_t ld;
    bool packed, hermitian;
    const void *x;
    int64_t x_side, x_step;
    /* Sums of slot s for side r and element i of y lie at sums + (s sides + r) row + i; row is a multiple of 64. */
    void *sums;
    int64_t row;
    /* The end: y = alpha s + beta y0. y NULL: not wanted. */
    const void *y0;
    void *y;
    int64_t y_side, y_step;
    double alpha[4], beta[4];
    void *totals; /* A x itself of side r, element i at totals + r row + i, for the figures; NULL: not wanted; then y
                   * is written by symv_gpu_figures, not by the second pass */
} symv_gpu_part;

/* Element (i, j) lies at a + symv_gpu_column(..., j) + i. */
SYMV_BOTH int64_t symv_gpu_column(const symv_gpu_part *p, int64_t j)
{
    if (!p->packed) return j * p->ld;
    return p->grid.upper ? j * (j + 1) / 2 : j * (2 * p->grid.n - j - 1) / 2;
}

/* One pass: what gpu_run.cu hands to a family. part is complete but for sums, row and grid.tx, ty, chunk. */
typedef struct symv_gpu_pass {
    const lacis_symv_gpu_job *job;
    lacis_symv_gpu_choice choice;
    symv_gpu_part part;
    int sides;
    void *work; /* as many bytes as the family's *_bytes said, 256-byte aligned */
    cudaStream_t stream;
} symv_gpu_pass;

/* --- the families: launches alone, on pass->stream ------------------------------------------------------------ *
 *
 * refuse: why the choice does not do the job, NULL where it does. bytes: of work for one pass over a matrix of n
 * rows with `sides` sides. */
const char *symv_gpu_tiles_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice);
uint64_t symv_gpu_tiles_bytes(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice, int64_t n,
                              int sides);
cudaError_t symv_gpu_tiles(const symv_gpu_pass *pass); /* TILES, and ATOMIC */

const char *symv_gpu_rows_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice);
cudaError_t symv_gpu_rows(const symv_gpu_pass *pass); /* ROWS; no work */

const char *symv_gpu_ring_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice);
uint64_t symv_gpu_ring_bytes(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice, int64_t n,
                             int sides);
cudaError_t symv_gpu_ring(const symv_gpu_pass *pass);

const char *symv_gpu_tickets_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice);
uint64_t symv_gpu_tickets_bytes(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice, int64_t n,
                                int sides);
cudaError_t symv_gpu_tickets(const symv_gpu_pass *pass);

/* Batches see the whole job: all its matrices and sides. totals: A x itself, of matrix m, side r, element i at
 * totals + (m sides + r) row + i with row = symv_gpu_row(job); NULL where no figures are wanted. work: bytes() bytes.
 */
const char *symv_gpu_batch_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice);
uint64_t symv_gpu_batch_bytes(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice);
cudaError_t symv_gpu_batch(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice, void *totals,
                           void *work);

/* --- the second pass (gpu_sum.cu) ------------------------------------------------------------------------------ *
 *
 * Adds every part's slots, s[w] over slots w, w + 8 .. for w < 8, then s[w] = s[w] + s[w + h] for h = 4, 2, 1 (16
 * instead of 8 where the order is not canonical), and writes y or totals. early: the first pass has called
 * symv_gpu_early, so this one may start while that one ends (programmatic dependent launch; it waits at its top). */
cudaError_t symv_gpu_sum(const symv_gpu_pass *pass, bool early);

/* Whether the device that is current has programmatic dependent launch. */
bool symv_gpu_has_early(void);

/* Starts the kernel behind this one on the stream, where that was launched early; called at a first pass's top. */
#ifdef __CUDACC__
static __device__ __forceinline__ void symv_gpu_early(void)
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
static __device__ __forceinline__ void symv_gpu_late(void)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}
#endif

/* --- figures (gpu_figures.cu) ----------------------------------------------------------------------------------- */

/* Rows of totals: n, of a batch the largest, rounded up to 64. */
int64_t symv_gpu_row(const lacis_symv_gpu_job *job);
/* Writes y, where it is wanted, and the figures of pass->sides sides of a matrix, whose first is at `to`, from totals
 * as symv_gpu_part says; of `matrices` matrices of one size, `stride` from each to the next. */
typedef struct symv_gpu_stride {
    int64_t x, y, total, figures; /* elements, and figures, from one matrix to the next */
} symv_gpu_stride;
cudaError_t symv_gpu_figures(const symv_gpu_pass *pass, int64_t matrices, symv_gpu_stride stride,
                             lacis_symv_figures *to);

/* --- shared host code ------------------------------------------------------------------------------------------- */

/* Whether sixteen bytes may be read at once from the matrix's elements at multiples of V within a column. */
static inline bool symv_gpu_aligned(const symv_gpu_part *part, lacis_symv_type type)
{
    const int bytes = lacis_symv_matrix_bytes(type);
    if ((uintptr_t)part->a % 16 != 0) return false;
    if (bytes % 16 == 0) return true;
    return !part->packed && (part->ld * bytes) % 16 == 0;
}

#endif
