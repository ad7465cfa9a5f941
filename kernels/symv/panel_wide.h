/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a panel for double-double sums, the steps of common/dd.h on vectors. Included after number.h.
 */
#include "symv/wide.h"

enum {
    COLUMNS = 8,
    AT_ONCE = PARTS == 4 ? 2 : 4,                                            /* what registers hold with one side */
    ACCURATE_AT_ONCE = PARTS == 2 && VECTOR_BYTES == 64 ? COLUMNS : AT_ONCE, /* columns' sums from memory */
    SIDES_AT_ONCE = 1,
    WITH_SIDES = AT_ONCE,
    VECTOR_ROWS = WIDTH,
    VECTORS = PARTS == 4 ? 2 : 4, /* in a step: until sums are normalised */
    ACROSS = PARTS,
    ALONG = PARTS / 2 * 3
};

/* A sum under way: as yet not normalised, and in accurate sums what the low part's own sums have lost. */
typedef struct wide_sum {
    vec hi, lo, rest;
} wide_sum;

/* a - b and a + b by the multipliers, which otherwise have less to do than the adders. */
ALWAYS vec vec_minus(vec a, vec b)
{
#if defined(__FMA__)
    return vec_fma(b, vec_all(-1), a);
#else
    return a - b;
#endif
}

ALWAYS vec vec_plus(vec a, vec b)
{
#if defined(__FMA__)
    return vec_fma(b, vec_all(1), a);
#else
    return a + b;
#endif
}

/* Where the processor picks the larger of two in one operation, that saves one and three of them in a row; a NaN it
 * may pass over is in the sum all the same. */
ALWAYS wide wide_two_sum(vec a, vec b)
{
    const vec s = a + b;
#if defined(__AVX512DQ__)
    const vec large = (vec)_mm512_range_pd((__m512d)a, (__m512d)b, 7); /* of the larger magnitude, with its sign */
    const vec small = (vec)_mm512_range_pd((__m512d)a, (__m512d)b, 6);
    return (wide){s, vec_minus(small, s - large)};
#else
    const vec part = s - a;
    return (wide){s, vec_minus(a, s - part) + vec_minus(b, part)};
#endif
}

ALWAYS wide wide_quick_two_sum(vec a, vec b)
{
    const vec s = a + b;
    return (wide){s, b - (s - a)};
}

/* A product onto a sum. What the high parts' sums lose and the products' low parts add up in the low part, in an
 * accurate sum without a loss there: with u = 2^-53 an accurate step is off by at most u^2 of the sum and as much of
 * the product, which itself is off by 5 u^2, and a settled sum by u^2 more, even where all but low parts has
 * cancelled. */
ALWAYS wide_sum wide_add(wide_sum sum, wide b, bool accurate)
{
    const wide s = wide_two_sum(sum.hi, b.hi);
    if (!accurate) return (wide_sum){s.hi, vec_plus(sum.lo, s.lo + b.lo), sum.rest};
    const wide t = wide_two_sum(sum.lo, vec_plus(b.lo, s.lo));
    return (wide_sum){s.hi, t.hi, vec_plus(sum.rest, t.lo)};
}

/* Normalised: a sloppy sum after four products at most. */
ALWAYS wide_sum wide_settled(wide_sum s, bool accurate)
{
    wide t = accurate ? wide_two_sum(s.hi, s.lo) : wide_quick_two_sum(s.hi, s.lo);
    if (accurate) t = wide_quick_two_sum(t.hi, t.lo + s.rest);
    return (wide_sum){t.hi, t.lo, {0}};
}

/* a b exactly, short of underflow. */
ALWAYS wide wide_two_prod(vec a, vec b)
{
    const vec p = a * b;
#if defined(__FMA__)
    return (wide){p, vec_fma(a, b, -p)};
#else
    T rest[WIDTH];
    vec lo;
    for (int i = 0; i < WIDTH; i++)
        rest[i] = (T)__builtin_fma(a[i], b[i], -p[i]);
    memcpy(&lo, rest, sizeof lo);
    return (wide){p, lo};
#endif
}

/* The matrix's element may have no low part. */
ALWAYS wide_sum wide_step(wide a, wide x, wide_sum s, bool accurate)
{
    wide p = wide_two_prod(a.hi, x.hi);
    p.lo = vec_fma(a.hi, x.lo, p.lo);
    if (MATRIX > 1) p.lo = vec_fma(a.lo, x.hi, p.lo);
    return wide_add(s, p, accurate);
}

ALWAYS wide wide_minus(wide a)
{
    return (wide){-a.hi, -a.lo};
}

ALWAYS wide wide_element(const vec *parts, int which)
{
    if (MATRIX == 1) return (wide){parts[0], parts[0]};
    return (wide){parts[2 * which], parts[2 * which + 1]};
}

/* --- what panel.h calls ------------------------------------------------------------------------------ */

ALWAYS void panel_spread(num x, vec *out)
{
    for (int i = 0; i < PARTS; i++)
        out[i] = vec_all(x.v[i]);
}

ALWAYS wide_sum wide_sum_at(const vec *parts)
{
    return (wide_sum){parts[0], parts[1], parts[2]};
}

ALWAYS void wide_sum_put(vec *parts, wide_sum s)
{
    parts[0] = s.hi;
    parts[1] = s.lo;
    parts[2] = s.rest;
}

/* Accurate sums of columns stay as they are until panel_totals. */
ALWAYS void panel_settle(vec *along, bool accurate)
{
    for (int i = 0; !accurate && i < ALONG; i += 3)
        wide_sum_put(along + i, wide_settled(wide_sum_at(along + i), false));
}

/* common/dd.h's additions, lane by lane. */
ALWAYS wide wide_plus_lanes(wide a, wide b, bool accurate)
{
    wide s = wide_two_sum(a.hi, b.hi);
    if (!accurate) return wide_quick_two_sum(s.hi, s.lo + (a.lo + b.lo));
    const wide t = wide_two_sum(a.lo, b.lo);
    s = wide_quick_two_sum(s.hi, s.lo + t.hi);
    return wide_quick_two_sum(s.hi, s.lo + t.lo);
}

/* Runs of `length` lanes in p and then q are halved: the first half of each plus the second. */
ALWAYS wide wide_halved(wide p, wide q, int length, bool accurate)
{
    typedef int64_t places __attribute__((vector_size(VECTOR_BYTES)));
    places first;
    for (int i = 0; i < WIDTH; i++)
        first[i] = i / (length / 2) * length + i % (length / 2);
    const places second = first + length / 2;
    const wide a = {__builtin_shuffle(p.hi, q.hi, first), __builtin_shuffle(p.lo, q.lo, first)};
    const wide b = {__builtin_shuffle(p.hi, q.hi, second), __builtin_shuffle(p.lo, q.lo, second)};
    return wide_plus_lanes(a, b, accurate);
}

/* The totals of WIDTH columns' sums, a column a lane: lanes of each are halved until one is left. */
ALWAYS wide wide_total(const vec *along, bool accurate)
{
    wide sum[WIDTH];
    for (int c = 0; c < WIDTH; c++) {
        const wide_sum s = wide_settled(wide_sum_at(along + c * ALONG), accurate);
        sum[c] = (wide){s.hi, s.lo};
    }
    for (int length = WIDTH; length > 1; length /= 2)
        for (int c = 0; c < length / 2; c++)
            sum[c] = wide_halved(sum[2 * c], sum[2 * c + 1], length, accurate);
    return sum[0];
}

/* Rows [row, row + count) of a vector, count up to WIDTH, plus a number a lane. */
ALWAYS void wide_rows_add(T *y, int64_t stride, int64_t row, int count, const vec *more, bool accurate)
{
    vec have[PARTS];
    wide_rows(y, stride, row, count, have);
    for (int k = 0; k < PARTS; k += 2) {
        const wide s = wide_plus_lanes((wide){have[k], have[k + 1]}, (wide){more[k], more[k + 1]}, accurate);
        have[k] = s.hi;
        have[k + 1] = s.lo;
    }
    wide_rows_put(y, stride, row, count, have);
}

/* Columns' sums into rows [row, row + width) of y. */
ALWAYS void panel_totals(const vec *along, T *y, int64_t stride, int64_t row, int width, bool hermitian,
                         bool accurate)
{
    (void)hermitian;
    for (int c = 0; c < width; c += WIDTH) {
        vec total[PARTS];
        for (int k = 0; k < PARTS; k += 2) {
            const wide sum = wide_total(along + c * ALONG + k / 2 * 3, accurate);
            total[k] = wide_ordered(sum.hi);
            total[k + 1] = wide_ordered(sum.lo);
        }
        wide_rows_add(y, stride, row + c, width - c < WIDTH ? width - c : WIDTH, total, accurate);
    }
}

/* s + a x, all of one number's parts. */
ALWAYS void wide_number_step(const vec *a, const vec *x, vec *s, bool conjugate, bool accurate)
{
    const wide ar = wide_element(a, 0), xr = {x[0], x[1]};
    wide_sum re = wide_step(ar, xr, wide_sum_at(s), accurate);
#if KIND == SYMV_WIDE_COMPLEX
    const wide ai = wide_element(a, 1), xi = {x[2], x[3]};
    re = wide_step(conjugate ? ai : wide_minus(ai), xi, re, accurate);
    wide_sum im = wide_step(ar, xi, wide_sum_at(s + 3), accurate);
    im = wide_step(conjugate ? wide_minus(ai) : ai, xr, im, accurate);
    wide_sum_put(s + 3, im);
#endif
    (void)conjugate;
    wide_sum_put(s, re);
}

ALWAYS void panel_rows(const E *const *column, int64_t i, int count, int64_t stride, int width, int sides,
                       const T *const *x, T *const *y, const vec *xc, vec *along, bool hermitian, bool accurate)
{
    vec xs[PARTS], ys[PARTS], sums[ALONG];
    (void)sides;
    wide_rows(x[0], stride, i, count, xs);
    wide_rows(y[0], stride, i, count, ys);
    for (int k = 0; k < PARTS / 2; k++)
        wide_sum_put(sums + 3 * k, (wide_sum){ys[2 * k], ys[2 * k + 1], {0}});
    for (int c = 0; c < width; c++) {
        vec a[MATRIX];
        wide_elements(column[c] + i * MATRIX, count, a);
        wide_number_step(a, xc + c * PARTS, sums, false, accurate);
        wide_number_step(a, xs, along + c * ALONG, hermitian, accurate);
    }
    for (int k = 0; k < PARTS / 2; k++) {
        const wide_sum s = wide_settled(wide_sum_at(sums + 3 * k), accurate);
        ys[2 * k] = s.hi;
        ys[2 * k + 1] = s.lo;
    }
    wide_rows_put(y[0], stride, i, count, ys);
}
