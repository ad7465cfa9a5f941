/* SPDX-License-Identifier: Apache-2.0
 *
 * The product as its definition says it, for test_multiply_kernel.c: three loops, nothing shared with the kernels.
 */
#ifndef LACIS_TESTS_MULTIPLY_REFERENCE_H
#define LACIS_TESTS_MULTIPLY_REFERENCE_H

#include "multiply/multiply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef union cell {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    struct {
        double re, im;
    } c128;
} cell;

/* One row of the answer. */
typedef struct answer {
    int64_t n;
    uint32_t *t;
    cell *value; /* as stored, in the low bytes */
    bool overflow;
} answer;

static int type_size(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 || type == LACIS_MUL_F32 ? 4 : type == LACIS_MUL_C128 ? 16 : 8;
}

static int storage_size(lacis_mul_storage storage)
{
    static const int sizes[] = {1, 2, 4, 4, 8, 4, 8, 16};
    return sizes[storage];
}

static double to_double(lacis_mul_type type, cell x)
{
    /* Of a complex number the real part. */
    return type == LACIS_MUL_I32   ? x.i32
           : type == LACIS_MUL_I64 ? (double)x.i64
           : type == LACIS_MUL_F32 ? (double)x.f32
                                   : x.f64;
}

static cell from_double(lacis_mul_type type, double v)
{
    cell x = {.c128 = {0, 0}};
    if (type == LACIS_MUL_I32)
        x.i32 = (int32_t)v;
    else if (type == LACIS_MUL_I64)
        x.i64 = (int64_t)v;
    else if (type == LACIS_MUL_F32)
        x.f32 = (float)v;
    else
        x.f64 = v;
    return x;
}

static cell load(const lacis_mul_matrix *m, int64_t at, lacis_mul_type type)
{
    cell x = {.c128 = {0, 0}};
    if (!m->value) return from_double(type, 1);
    memcpy(&x, (const char *)m->value + at * type_size(m->type), (size_t)type_size(m->type));
    return m->type == type ? x : from_double(type, to_double(m->type, x));
}

static cell calculate(lacis_mul_type type, char op, cell x, cell y, bool *over)
{
    cell z = {.c128 = {0, 0}};
    if (type == LACIS_MUL_I32)
        *over |=
            op == '+' ? __builtin_add_overflow(x.i32, y.i32, &z.i32) : __builtin_mul_overflow(x.i32, y.i32, &z.i32);
    else if (type == LACIS_MUL_I64)
        *over |=
            op == '+' ? __builtin_add_overflow(x.i64, y.i64, &z.i64) : __builtin_mul_overflow(x.i64, y.i64, &z.i64);
    else if (type == LACIS_MUL_F32)
        z.f32 = op == '+' ? x.f32 + y.f32 : x.f32 * y.f32;
    else if (type == LACIS_MUL_C128) {
        const double re = x.c128.re, im = x.c128.im;
        z.c128.re = op == '+' ? re + y.c128.re : re * y.c128.re - im * y.c128.im;
        z.c128.im = op == '+' ? im + y.c128.im : re * y.c128.im + im * y.c128.re;
    } else
        z.f64 = op == '+' ? x.f64 + y.f64 : x.f64 * y.f64;
    return z;
}

/* The test's own CON: depends on everything that a written one may see. */
static cell written_con(lacis_mul_type type, cell a, cell b, int64_t s, int64_t c, uint32_t t)
{
    bool over = false;
    const cell twice = calculate(type, '+', a, a, &over);
    const cell rest = from_double(type, (double)(s % 7 + c % 3 * 2 + t % 5));
    return calculate(type, '+', calculate(type, '+', twice, b, &over), rest, &over);
}

/* The test's own fold, x / 2 + y: the order of the values shows. */
static cell written_fold(lacis_mul_type type, cell x, cell y)
{
    if (type == LACIS_MUL_I32)
        x.i32 = x.i32 / 2 + y.i32;
    else if (type == LACIS_MUL_I64)
        x.i64 = x.i64 / 2 + y.i64;
    else if (type == LACIS_MUL_F32)
        x.f32 = x.f32 * 0.5f + y.f32;
    else if (type == LACIS_MUL_C128) {
        x.c128.re = x.c128.re * 0.5 + y.c128.im;
        x.c128.im = x.c128.im * 0.5 + y.c128.re;
    } else
        x.f64 = x.f64 * 0.5 + y.f64;
    return x;
}

static bool written_having(uint32_t t, double value)
{
    return value != value || ((int64_t)fabs(value) + t) % 3 != 0;
}

static cell con(const lacis_mul_job *job, int64_t s, int64_t i, int64_t j, bool *over)
{
    const lacis_mul_type type = job->type;
    const cell a = load(&job->a, i, type), b = load(&job->b, j, type);
    switch (job->con_kind) {
    case LACIS_MUL_CON_ONE:
        return from_double(type, 1);
    case LACIS_MUL_CON_A:
        return a;
    case LACIS_MUL_CON_B:
        return b;
    case LACIS_MUL_CON_ADD:
        return calculate(type, '+', a, b, over);
    case LACIS_MUL_CON_MUL:
        return calculate(type, '*', a, b, over);
    default:
        return written_con(type, a, b, s, job->a.column[i], job->b.column[j]);
    }
}

/* Smaller (sign 1) or greater (-1), without NaN unless there is nothing else. */
static cell best(lacis_mul_type type, cell x, cell y, int sign)
{
    if (type == LACIS_MUL_I32) return (sign > 0 ? y.i32 < x.i32 : y.i32 > x.i32) ? y : x;
    if (type == LACIS_MUL_I64) return (sign > 0 ? y.i64 < x.i64 : y.i64 > x.i64) ? y : x;
    const double u = to_double(type, x), v = to_double(type, y);
    if (v != v) return x;
    return u != u || !(sign > 0 ? u < v : u > v) ? y : x;
}

typedef struct state {
    int64_t count;
    double sum;
    cell x;
} state;

static void aggregate(const lacis_mul_job *job, state *st, cell v, bool *over)
{
    const lacis_mul_type type = job->type;
    const bool first = st->count++ == 0;
    if (job->agg == LACIS_MUL_AVG && type != LACIS_MUL_C128)
        st->sum += to_double(type, v) + 0.0;
    else if (job->agg == LACIS_MUL_SUM || job->agg == LACIS_MUL_AVG)
        st->x = calculate(type, '+', first ? from_double(type, 0) : st->x, v, over);
    else if (job->agg == LACIS_MUL_MIN)
        st->x = first ? v : best(type, st->x, v, 1);
    else if (job->agg == LACIS_MUL_MAX)
        st->x = first ? v : best(type, st->x, v, -1);
    else if (job->agg == LACIS_MUL_LAST || (job->agg == LACIS_MUL_FIRST && first))
        st->x = v;
    else if (job->agg == LACIS_MUL_FOLD) {
        cell identity = from_double(type, job->identity);
        if (type == LACIS_MUL_C128) identity.c128.im = job->identity_imag;
        if (type == LACIS_MUL_I32)
            identity.i32 = (int32_t)job->identity_int;
        else if (type == LACIS_MUL_I64)
            identity.i64 = job->identity_int;
        st->x = written_fold(type, first ? identity : st->x, v);
    }
}

static cell stored(const lacis_mul_job *job, const state *st)
{
    const lacis_mul_storage to = job->storage;
    cell out = {.c128 = {0, 0}};
    if (to == LACIS_MUL_TO_C128) {
        const double n = job->agg == LACIS_MUL_AVG ? (double)st->count : 1;
        out.c128.re = st->x.c128.re / n;
        out.c128.im = st->x.c128.im / n;
        return out;
    }
    const bool whole = job->agg == LACIS_MUL_COUNT || (job->agg != LACIS_MUL_AVG && job->type <= LACIS_MUL_I64);
    const int64_t i = job->agg == LACIS_MUL_COUNT ? st->count : job->type == LACIS_MUL_I32 ? st->x.i32 : st->x.i64;
    const double d = job->agg == LACIS_MUL_AVG ? st->sum / (double)st->count : to_double(job->type, st->x);
    if (to == LACIS_MUL_TO_F32 || to == LACIS_MUL_TO_F64) {
        const double v = whole ? (double)i : d;
        return from_double(to == LACIS_MUL_TO_F32 ? LACIS_MUL_F32 : LACIS_MUL_F64, v);
    }
    const int64_t v = whole ? i : (int64_t)d;
    memcpy(&out, &v, (size_t)storage_size(to));
    return out;
}

static double stored_double(lacis_mul_storage storage, cell x)
{
    switch (storage) {
    case LACIS_MUL_TO_I32:
        return x.i32;
    case LACIS_MUL_TO_F32:
        return (double)x.f32;
    case LACIS_MUL_TO_F64:
    case LACIS_MUL_TO_C128: /* the real part */
        return x.f64;
    default:
        return (double)x.i64;
    }
}

static bool in_row(const lacis_mul_matrix *m, int64_t row, uint32_t t)
{
    for (int64_t i = m->begin[row]; i < m->end[row]; i++)
        if (m->column[i] == t) return true;
    return false;
}

/* Keeps the k greatest, ties to the smaller t; NaN is the least. */
static void keep_top(const lacis_mul_job *job, answer *r)
{
    bool *keep = calloc((size_t)r->n + 1, sizeof *keep);
    int64_t n = 0;
    for (int64_t k = 0; k < job->top && k < r->n; k++) {
        int64_t found = -1;
        for (int64_t i = 0; i < r->n; i++) {
            const double v = stored_double(job->storage, r->value[i]);
            const double u = found < 0 ? 0 : stored_double(job->storage, r->value[found]);
            if (!keep[i] && (found < 0 || v > u || (u != u && v == v))) found = i;
        }
        keep[found] = true;
    }
    for (int64_t i = 0; i < r->n; i++) {
        r->t[n] = r->t[i];
        r->value[n] = r->value[i];
        n += keep[i];
    }
    r->n = n;
    free(keep);
}

static int compare_columns(const void *x, const void *y)
{
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

/* Aggregates row s into `states` and lists the columns touched. */
static int64_t reference_products(const lacis_mul_job *job, int64_t s, state *states, answer *r)
{
    int64_t room = 0, n = 0;
    for (int64_t i = job->a.begin[s]; i < job->a.end[s]; i++)
        room += job->b.end[job->a.column[i]] - job->b.begin[job->a.column[i]];
    r->t = malloc(sizeof *r->t * (size_t)(room + 1));
    r->value = malloc(sizeof *r->value * (size_t)(room + 1));
    for (int64_t i = job->a.begin[s]; i < job->a.end[s]; i++) {
        const uint32_t c = job->a.column[i];
        for (int64_t j = job->b.begin[c]; j < job->b.end[c]; j++) {
            const uint32_t t = job->b.column[j];
            if (t < job->t_lo || t >= job->t_hi) continue;
            if (states[t].count == 0) r->t[n++] = t;
            aggregate(job, &states[t], con(job, s, i, j, &r->overflow), &r->overflow);
        }
    }
    qsort(r->t, (size_t)n, sizeof *r->t, compare_columns);
    return n;
}

/* `states` has b.cols zeroed elements and is left so. */
static answer reference_row(const lacis_mul_job *job, int64_t s, state *states)
{
    answer r = {0, NULL, NULL, false};
    const int64_t n = reference_products(job, s, states, &r);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t t = r.t[i];
        const cell v = stored(job, &states[t]);
        memset(&states[t], 0, sizeof states[t]);
        if (job->mask && in_row(job->mask, s, t) == job->mask_not) continue;
        if (job->having && !written_having(t, stored_double(job->storage, v))) continue;
        r.t[r.n] = t;
        r.value[r.n++] = v;
    }
    if (job->top > 0) keep_top(job, &r);
    return r;
}

#endif
