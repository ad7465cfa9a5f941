/* SPDX-License-Identifier: Apache-2.0
 *
 * What the *.isa.c files of one instruction set offer each other.
 */
#ifndef LACIS_KERNELS_MULTIPLY_LOOPS_H
#define LACIS_KERNELS_MULTIPLY_LOOPS_H

#include "multiply/inside.h"

#include <math.h>
#include <string.h>

#ifndef LACIS_ISA_NAME
#error "files called *.isa.c are compiled with LACIS_ISA_NAME"
#endif

/* scatter.isa.c: [update][type][form], [cell kind], [type][form] */
extern const mul_scatter_fn LACIS_ISA(lacis_mul_scatter)[MUL_UPDATES][5][MUL_FORMS];
/* Without NaN among the values: [MIN, MAX][F32, F64][form] */
extern const mul_scatter_fn LACIS_ISA(lacis_mul_scatter_sure)[2][2][MUL_FORMS];
extern const mul_count_fn LACIS_ISA(lacis_mul_count)[3];
extern const mul_fill_fn LACIS_ISA(lacis_mul_fill)[5][MUL_FORMS];
/* The same with overflow of integers told (false). */
bool LACIS_ISA(lacis_mul_fill_checked)(lacis_mul_type type, mul_form form, void *out, int64_t n, const void *b,
                                       mul_scalar a);
bool LACIS_ISA(lacis_mul_sum_checked)(lacis_mul_type type, void *cells, const uint32_t *index, int64_t n,
                                      const void *values);
/* out[i] := cells[index[i]] and cells[index[i]] := in[i], of 4, 8 or 16 bytes */
void LACIS_ISA(lacis_mul_pick)(int log2_bytes, void *out, const void *cells, const uint32_t *index, int64_t n);
void LACIS_ISA(lacis_mul_put)(int log2_bytes, void *cells, const void *in, const uint32_t *index, int64_t n);

/* emit.isa.c: writes the touched cells of columns [0, n) of a window that begins at column `first`, and empties them.
 * flags NULL: every block is looked at. store: log2 of the bytes that a count takes in `value`; other kinds keep
 * theirs. Answers how many entries. */
typedef struct mul_window {
    void *cells;
    uint8_t *touch; /* NULL: cells that differ from `empty` are touched */
    uint8_t *flags;
    uint64_t empty, empty_high;
    uint32_t first;
    int64_t n;
    bool byte_compress;
} mul_window;
int64_t LACIS_ISA(lacis_mul_emit)(const mul_window *window, int cell, int store, uint32_t *column, void *value);
/* Offers the counts to the sink's top and empties them. */
void LACIS_ISA(lacis_mul_emit_top)(mul_worker *worker, const mul_window *window, int cell);

/* bits.isa.c: adds the counts of the row's heavy rows of B to the window's cells of 1 << cell bytes. With flags, sets
 * those where a count may be above `least`, and empties the others. */
void LACIS_ISA(lacis_mul_bits_add)(const mul_worker *worker, const mul_window *window, int cell, uint32_t least);

/* apply.isa.c */
bool LACIS_ISA(lacis_mul_apply)(mul_worker *worker, const mul_target *target, int64_t row, int64_t at_a, int64_t at_b,
                                int64_t n, const uint32_t *index);
bool LACIS_ISA(lacis_mul_values)(mul_worker *worker, int64_t row, int64_t at_a, int64_t at_b, int n, void *out);

/* The classes. */
int64_t LACIS_ISA(lacis_mul_row_copy)(mul_worker *worker, int64_t row, uint32_t *column, void *value);
int64_t LACIS_ISA(lacis_mul_row_sort)(mul_worker *worker, int64_t row, uint32_t *column, void *value);
int64_t LACIS_ISA(lacis_mul_row_hash)(mul_worker *worker, int64_t row, uint32_t *column, void *value);
int64_t LACIS_ISA(lacis_mul_row_dense)(mul_worker *worker, int64_t row, uint32_t *column, void *value);
int64_t LACIS_ISA(lacis_mul_dense)(mul_worker *worker, int64_t row, int64_t lo, int64_t hi, uint32_t *column,
                                   void *value);

/* The stretch of row c of B within the job's columns. */
static inline void mul_clip(const mul_plan *plan, int64_t c, int64_t *lo, int64_t *hi)
{
    const lacis_mul_matrix *b = &plan->job->b;
    *lo = b->begin[c];
    *hi = b->end[c];
    if (plan->clip) {
        *lo = mul_lower_bound(b->column, *lo, *hi, plan->job->t_lo);
        *hi = mul_lower_bound(b->column, *lo, *hi, plan->job->t_hi);
    }
}

/* Asks for the beginning of a B row that entries [at_a, end_a) of A come to soon, or for its bounds further ahead. */
enum { MUL_FETCH_BOUNDS = 8, MUL_FETCH_COLUMNS = 3 };
static inline __attribute__((always_inline)) void mul_fetch(const mul_plan *plan, int64_t at_a, int64_t step,
                                                            int64_t left)
{
    const lacis_mul_matrix *b = &plan->job->b;
    const uint32_t *c = plan->job->a.column;
    if (left > MUL_FETCH_BOUNDS) {
        __builtin_prefetch(b->begin + c[at_a + step * MUL_FETCH_BOUNDS]);
        __builtin_prefetch(b->end + c[at_a + step * MUL_FETCH_BOUNDS]);
    }
    if (left > MUL_FETCH_COLUMNS) {
        const int64_t at_b = b->begin[c[at_a + step * MUL_FETCH_COLUMNS]];
        __builtin_prefetch(b->column + at_b);
        __builtin_prefetch(b->column + at_b + 16);
        if (plan->mode != MUL_MODE_COUNT && b->value) {
            const int64_t bytes = (int64_t)mul_type_bytes(b->type);
            __builtin_prefetch((const char *)b->value + at_b * bytes);
            __builtin_prefetch((const char *)b->value + at_b * bytes + 64);
        }
    }
}

#endif
