/* SPDX-License-Identifier: Apache-2.0
 *
 * graph BY vector (pull) and vector BY graph (push) on a CUDA device, on raw device pointers. Called by
 * operators/multiply's variants "gpu pull" and "gpu push"; gpu.h says what a job's fields, streams and memory mean.
 *
 * Pull: each row of the graph collects its values of the vector. Push: each entry of the vector scatters along its
 * row of the graph into one cell a column. In both, a few lanes share a row and long rows are cut into pieces, so
 * that the work is dealt by entries.
 *
 * Both also run against the grain of a graph's rows, on its entries by column: then a vector BY graph pulls (each
 * column collects), which is worth it where most of the vector is there, and a graph BY vector of few entries pushes.
 *
 * Integers come out bit for bit as on the CPU. Sums of floats: pull adds in an order that depends on the graph alone,
 * or with job.ordered in rising order of c (the CPU's bits); push adds in any order and refuses job.ordered.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_VECTOR_H
#define LACIS_KERNELS_MULTIPLY_GPU_VECTOR_H

#include "multiply/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A graph's entries by column. Made in one block, which begins with `begin`. */
typedef struct lacis_mul_gpu_columns {
    int64_t *begin;  /* of each column, and the end of the last */
    uint32_t *row;   /* of each entry, rising within a column */
    uint32_t *entry; /* its place in the graph's columns and values */
} lacis_mul_gpu_columns;
uint64_t lacis_mul_gpu_columns_bytes(int64_t cols, uint64_t entries);
void lacis_mul_gpu_columns_place(void *block, int64_t cols, uint64_t entries, lacis_mul_gpu_columns *out);
/* Of all rows of a graph of so many entries. The block is the caller's. Only launches. */
lacis_mul_gpu_status lacis_mul_gpu_columns_make(const lacis_mul_matrix *graph, uint64_t entries,
                                                const lacis_mul_gpu_memory *memory, void *stream,
                                                lacis_mul_gpu_columns *out, int *cuda_error);

/* Why a kernel cannot do the job, as a plain phrase; NULL: it can. */
const char *lacis_mul_gpu_pull_refuses(const lacis_mul_gpu_job *job);
const char *lacis_mul_gpu_push_refuses(const lacis_mul_gpu_job *job);

typedef struct lacis_mul_gpu_pull {
    const lacis_mul_gpu_job
        *job;   /* b: one column; mask: likewise, its rows as a's; having ALL or WITHIN; top is without effect */
    bool every; /* every row of b has its entry, in order: b.begin and b.end are not read */
    uint64_t entries;     /* of a in the rows wanted, or more */
    int64_t first, count; /* rows of a */
    uint8_t *present;     /* out: device, count bytes: 1 where row first + i has a value */
    void *value;          /* out: device, count values of job.storage; of absent rows anything */
    int cuda_error;       /* out: with LACIS_MUL_GPU_FAILED */
    /* Against the grain a's rows are columns of the graph, and CON's a and b have changed places; all 0: along it. */
    const uint32_t *entry;  /* where the value of each of a's entries lies */
    const uint32_t *listed; /* with b.begin NULL and not `every`: b's rows that have a value, in order */
    uint64_t listed_count;
    bool masked; /* besides job.mask: only the rows in row_mask (not: job.mask_not) */
    const uint32_t *row_mask;
    uint64_t row_mask_count;
} lacis_mul_gpu_pull;
/* Only launches: what is behind it on the stream finds the results. */
lacis_mul_gpu_status lacis_mul_gpu_pull_run(lacis_mul_gpu_pull *pull);

typedef struct lacis_mul_gpu_push {
    const lacis_mul_gpu_job *job; /* a: one row; mask: one row; having ALL or WITHIN; compact is not looked at */
    int64_t begin, end;           /* a's entries */
    int64_t mask_begin, mask_end; /* the mask's entries */
    uint64_t products;            /* of the row, as lacis_mul_products counts them */
    uint32_t *column;             /* out: device, from job.memory, now the caller's */
    void *value;                  /* out: likewise, of job.storage */
    uint64_t entries;             /* out */
    int cuda_error;               /* out: with LACIS_MUL_GPU_FAILED */
    const uint32_t *entry;        /* against the grain: where the value of each of b's entries lies; NULL: along it */
} lacis_mul_gpu_push;
/* Waits for the number of entries. On any status but OK nothing stays allocated. */
lacis_mul_gpu_status lacis_mul_gpu_push_run(lacis_mul_gpu_push *push);

/* The job.top greatest values of what pull or push has found for a row: of equal ones those at smaller places, NaN
 * less than any other, all in order of their places. */
typedef struct lacis_mul_gpu_top {
    const lacis_mul_gpu_job *job; /* storage, which has an order; top > 0; stream, memory, pinned */
    uint64_t count;               /* places, less than 2^32 */
    const uint32_t *column;       /* device: columns of places, rising; NULL: first, first + 1, ... */
    uint32_t first;
    const void *value;      /* device, of job.storage */
    const uint8_t *present; /* device: 1 where a place has a value; NULL: every one has */
    uint32_t *out_column;   /* out: device, from job.memory, now the caller's; NULL where count is 0 */
    void *out_value;        /* out: likewise */
    uint64_t entries;       /* out */
    int cuda_error;         /* out: with LACIS_MUL_GPU_FAILED */
} lacis_mul_gpu_top;
/* Waits for the number of entries. On any status but OK nothing stays allocated. */
lacis_mul_gpu_status lacis_mul_gpu_top_run(lacis_mul_gpu_top *top);

#ifdef __cplusplus
}
#endif

#endif
