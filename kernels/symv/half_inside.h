/* SPDX-License-Identifier: Apache-2.0
 *
 * What half*.c and the loops of half.isa.c share.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_INSIDE_H
#define LACIS_KERNELS_SYMV_HALF_INSIDE_H

#include "symv/half.h"

#define HALF_ISA_NAME(name, isa)  name##_##isa
#define HALF_ISA_NAME2(name, isa) HALF_ISA_NAME(name, isa)
#define HALF_ISA(name)            HALF_ISA_NAME2(name, LACIS_ISA_NAME)

/* Rows first .. last-1 of a matrix against x, into a window: element c of the vector at window + c * its size, where
 * it has room for [least, most). [low, high) of it are zeros or sums; what rows reach besides is made zeros as they
 * come. */
typedef struct half_rows {
    const lacis_symv_half *half;
    int64_t first, last;
    const void *x; /* x[0 .. n-1], one behind the other */
    char *window;
    int64_t least, most, low, high;
    int64_t wish; /* out: a column beyond the room */
} half_rows;

typedef struct half_loops {
    /* By type: F32, F64, C64, C128. The answer is `last`, or the row that has no room and was not begun. */
    int64_t (*rows[4])(half_rows *rows);
} half_loops;
extern const half_loops lacis_half_loops_baseline, lacis_half_loops_avx2, lacis_half_loops_avx512;

/* The wanted entries of row r, the one on the diagonal among them. */
static inline void half_wanted(const lacis_symv_half *half, int64_t r, int64_t *from, int64_t *to)
{
    const uint32_t *column = half->column;
    int64_t low = half->begin[r], high = half->end[r];
    const int upper = half->job.uplo == LACIS_SYMV_UPPER;
    *from = low;
    *to = high;
    if (low == high || (upper ? column[low] >= r : column[high - 1] <= r)) return;
    const int64_t least = upper ? r : r + 1; /* the first column of [least, n) */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (column[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    *(upper ? from : to) = low;
}

#endif
