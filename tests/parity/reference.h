/* SPDX-License-Identifier: Apache-2.0
 *
 * The naive product: every path written out, its values folded one after the other by rising c. Slow and plain on
 * purpose.
 */
#ifndef LACIS_TESTS_REFERENCE_H
#define LACIS_TESTS_REFERENCE_H

#include "parity/parity.h"

#include <complex.h>
#include <math.h>

/* A number with its type: I64, F32, F64 or C128 (d and im). Every operation rounds as the type does. */
typedef struct number {
    lacis_dtype type;
    int64_t i;
    double d, im;
} number;

static inline number integer(int64_t i)
{
    return (number){LACIS_I64, i, (double)i, 0};
}

static inline number real_number(double d, lacis_dtype type)
{
    return (number){type, 0, type == LACIS_F32 ? (double)(float)d : d, 0};
}

static inline number complex_number(double re, double im)
{
    return (number){LACIS_C128, 0, re, im};
}

static inline lacis_dtype meet(number x, number y)
{
    if (x.type == LACIS_I64 && y.type == LACIS_I64) return LACIS_I64;
    if (x.type == LACIS_C128 || y.type == LACIS_C128) return LACIS_C128;
    return x.type == y.type ? x.type : LACIS_F64;
}

static inline number add(number x, number y)
{
    lacis_dtype type = meet(x, y);
    if (type == LACIS_C128) return complex_number(x.d + y.d, x.im + y.im);
    return type == LACIS_I64 ? integer(x.i + y.i) : real_number(x.d + y.d, type);
}
static inline number sub(number x, number y)
{
    lacis_dtype type = meet(x, y);
    if (type == LACIS_C128) return complex_number(x.d - y.d, x.im - y.im);
    return type == LACIS_I64 ? integer(x.i - y.i) : real_number(x.d - y.d, type);
}
static inline number mul(number x, number y)
{
    lacis_dtype type = meet(x, y);
    if (type == LACIS_C128) return complex_number(x.d * y.d - x.im * y.im, x.d * y.im + x.im * y.d);
    return type == LACIS_I64 ? integer(x.i * y.i) : real_number(x.d * y.d, type);
}
/* An integer literal takes the type of what it meets. */
static inline number scaled(number x, int64_t k)
{
    if (x.type == LACIS_C128) return complex_number(x.d * (double)k, x.im * (double)k);
    return x.type == LACIS_I64 ? integer(x.i * k) : real_number(x.d * (double)k, x.type);
}
static inline number widened(number x, lacis_dtype type)
{
    if (type == LACIS_C128) return complex_number(x.d, x.im);
    return type == LACIS_I64 ? x : real_number(x.d, type);
}
static inline bool less(number x, number y)
{
    return x.type == LACIS_I64 && y.type == LACIS_I64 ? x.i < y.i : x.d < y.d;
}

typedef number (*con_fn)(number a, number b, int64_t s, int64_t c, int64_t t);
typedef number (*fold_fn)(number x, number y);

typedef struct functions {
    const char *con, *agg; /* as text; NULL: the clause is left out */
    con_fn con_fn;
    lacis_agg_kind kind;
    fold_fn fold;
    double _Complex identity;
    bool integers_only;
} functions;

/* Whether a check is done: on the GPU by one of so many turns, where kernels are compiled for each at run time. */
static inline bool parity_turn(int turn, int of)
{
    return !parity_on_gpu() || turn % of == 0;
}

/* Whether the GPU's kernels for it, over real values, are compiled at run time. */
static inline bool functions_written(const functions *f)
{
    static const char *const known[] = {"nil", "1", "a", "b", "a + b", "b + a", "a * b"};
    bool written = f->con != NULL;
    for (int i = 0; written && i < LACIS_COUNT(known); i++)
        written = strcmp(f->con, known[i]) != 0;
    return written || f->kind == LACIS_AGG_FOLD;
}

/* What else a call says. */
typedef struct extras {
    const char *text;
    bool mask, mask_not;
    bool (*where)(int64_t src);
    bool (*having)(number value, int64_t src, int64_t dst);
    int64_t top;
    const lacis_restriction *restriction;
} extras;

typedef struct cell {
    bool there;
    int64_t count;
    number value;
} cell;

static inline number operand_value(const graph *g, int64_t entry)
{
    if (g->value == NULL) return integer(1);
    if (dtype_complex(g->dtype)) return complex_number(g->value[entry], g->imag[entry]);
    if (dtype_real(g->dtype)) return real_number(g->value[entry], g->dtype);
    return integer((int64_t)g->value[entry]);
}

static inline void fold_in(cell *into, const functions *f, number v)
{
    bool first = !into->there;
    into->there = true;
    into->count++;
    switch (f->kind) {
    case LACIS_AGG_COUNT:
        into->value = integer(into->count);
        break;
    case LACIS_AGG_SUM:
        into->value = first ? v : add(into->value, v);
        break;
    case LACIS_AGG_MIN:
        if (first || less(v, into->value)) into->value = v;
        break;
    case LACIS_AGG_MAX:
        if (first || less(into->value, v)) into->value = v;
        break;
    case LACIS_AGG_ANY:
    case LACIS_AGG_FIRST:
        if (first) into->value = v;
        break;
    case LACIS_AGG_LAST:
        into->value = v;
        break;
    case LACIS_AGG_AVG:
        if (v.type == LACIS_C128)
            into->value = first ? v : add(into->value, v);
        else
            into->value = real_number((first ? 0 : into->value.d) + v.d, LACIS_F64);
        break;
    case LACIS_AGG_FOLD: {
        double re = creal(f->identity), im = cimag(f->identity);
        number start = v.type == LACIS_C128 || im != 0 ? complex_number(re, im)
                       : v.type == LACIS_I64           ? integer((int64_t)re)
                                                       : real_number(re, v.type);
        into->value = f->fold(first ? start : into->value, v);
        break;
    }
    }
}

static inline int64_t find_row(const graph *g, int64_t label)
{
    for (int64_t lo = 0, hi = g->rows; lo < hi;) {
        int64_t middle = (lo + hi) / 2, at = row_label(g, middle);
        if (at == label) return middle;
        if (at < label) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return -1;
}

static inline bool stored(const graph *g, int64_t src, int64_t dst)
{
    int64_t row = find_row(g, src);
    if (row < 0) return false;
    for (int64_t i = g->begin[row]; i < g->begin[row + 1]; i++)
        if (col_label(g, g->column[i]) == dst) return true;
    return false;
}

static inline void row_products(const graph *a, const graph *b, int64_t row, const functions *f, cell *cells)
{
    int64_t s = row_label(a, row);
    for (int64_t i = a->begin[row]; i < a->begin[row + 1]; i++) {
        int64_t c = col_label(a, a->column[i]), middle = find_row(b, c);
        if (middle < 0) continue;
        for (int64_t j = b->begin[middle]; j < b->begin[middle + 1]; j++) {
            int64_t t = col_label(b, b->column[j]);
            number v = f->con_fn(operand_value(a, i), operand_value(b, j), s, c, t);
            fold_in(&cells[b->column[j]], f, v);
        }
    }
}

/* SQL chooses columns among what the statement's own TOP has left: whoever reads the rows does it then. */
static inline bool columns_later(const extras *e)
{
    const lacis_restriction *r = e->restriction;
    return e->top > 0 && r != NULL && (r->lo1 > INT64_MIN || r->hi1 < INT64_MAX);
}

static inline bool selected(const extras *e, int64_t src, int64_t dst)
{
    if (e->where != NULL && !e->where(src)) return false;
    const lacis_restriction *r = e->restriction;
    if (r == NULL) return true;
    bool listed = r->list == NULL;
    for (int64_t i = 0; i < r->count && !listed; i++)
        listed = r->list[i] == src;
    bool column = columns_later(e) || (dst >= r->lo1 && dst <= r->hi1);
    return listed && column && src >= r->lo && src <= r->hi;
}

/* Drops all but the k greatest of the row (ties: smaller column). */
static inline void keep_top(cell *cells, int64_t cols, int64_t k)
{
    if (k <= 0) return;
    int64_t *rank = calloc((size_t)cols + 1, sizeof *rank);
    for (int64_t t = 0; t < cols; t++)
        for (int64_t u = 0; cells[t].there && u < cols; u++)
            rank[t] += cells[u].there &&
                       (less(cells[t].value, cells[u].value) || (u < t && !less(cells[u].value, cells[t].value)));
    for (int64_t t = 0; t < cols; t++)
        if (cells[t].there && rank[t] >= k) cells[t].there = false;
    free(rank);
}

static inline int64_t smaller_top(const extras *e)
{
    int64_t r = e->restriction == NULL || columns_later(e) ? 0 : e->restriction->top;
    if (e->top == 0 || (r > 0 && r < e->top)) return r;
    return e->top;
}

static inline triples reference_product(const graph *a, const graph *b, const graph *mask, const functions *f,
                                        const extras *e)
{
    triples out = {0};
    cell *cells = calloc((size_t)b->cols + 1, sizeof *cells);
    for (int64_t row = 0; row < a->rows; row++) {
        int64_t s = row_label(a, row);
        memset(cells, 0, sizeof *cells * (size_t)b->cols);
        row_products(a, b, row, f, cells);
        for (int64_t t = 0; t < b->cols; t++) {
            cell *x = &cells[t];
            int64_t dst = col_label(b, t);
            if (!x->there) continue;
            if (f->kind == LACIS_AGG_AVG) x->value.d /= (double)x->count, x->value.im /= (double)x->count;
            if (!selected(e, s, dst)) x->there = false;
            if (e->mask && stored(mask, s, dst) == e->mask_not) x->there = false;
            if (e->having != NULL && !e->having(x->value, s, dst)) x->there = false;
        }
        keep_top(cells, b->cols, smaller_top(e));
        for (int64_t t = 0; t < b->cols; t++)
            if (cells[t].there)
                triples_add_complex(&out, s, col_label(b, t),
                                    cells[t].value.type == LACIS_I64 ? (double)cells[t].value.i : cells[t].value.d,
                                    cells[t].value.im);
    }
    free(cells);
    return out;
}

#endif
