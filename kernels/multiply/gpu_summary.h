/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of a product's rows while they lie on the device: count, sums and bounds of values and keys, so that nothing
 * else of a result has to come to the host. operators/multiply calls it behind lacis_mul_gpu_run; gpu_totals.cu.
 *
 * Integers exactly, in 128 bits. Real sums in a fixed order, whatever panels and devices the rows were dealt over:
 * within a row by its length alone, rows in groups of LACIS_MUL_GPU_GROUP by their number (a panel that ends within a
 * group cuts it in two), groups by the caller in rising order. What is not a number is counted apart and part of no
 * sum.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_SUMMARY_H
#define LACIS_KERNELS_MULTIPLY_GPU_SUMMARY_H

#include "multiply/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LACIS_MUL_GPU_GROUP = 256 };

/* Labels of rows (by the row of A) and columns in device memory, or NULL: base + index. */
typedef struct lacis_mul_gpu_keys {
    const int64_t *row, *column;
    int64_t row_base, column_base;
} lacis_mul_gpu_keys;

/* Without entries all but count are undefined. */
typedef struct lacis_mul_gpu_summary {
    uint64_t count, nan;
    __int128 value, src, dst;        /* sums; value: of integers */
    int64_t min_int, max_int;        /* of integers */
    double min, max;                 /* of reals */
    uint32_t min_column, max_column; /* indices */
    int64_t first_row, last_row;     /* of A, with entries */
} lacis_mul_gpu_summary;

/* How many sums lacis_mul_gpu_summarize writes for rows [first, first + count). */
int64_t lacis_mul_gpu_groups(int64_t first, int64_t count);
/* Of the rows that `job` computed into `out`; group (host): lacis_mul_gpu_groups sums, of reals only, NULL otherwise.
 * Synchronous. LACIS_MUL_GPU_NO_MEMORY, or FAILED with out.cuda_error. */
lacis_mul_gpu_status lacis_mul_gpu_summarize(const lacis_mul_gpu_job *job, const lacis_mul_gpu_keys *keys,
                                             int64_t first, int64_t count, lacis_mul_gpu_output *out,
                                             lacis_mul_gpu_summary *summary, double *group);
/* Bytes of device memory that it takes. */
uint64_t lacis_mul_gpu_summary_bytes(int64_t count);

#ifdef __cplusplus
}
#endif

#endif
