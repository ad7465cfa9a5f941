/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a panel for double-double sums, the steps of common/dd.h on vectors. Included after number.h.
 */
#include "symv/wide.h"

enum {
    COLUMNS = 8,
    AT_ONCE = PARTS == 4 ? 2 : 4,
    SIDES_AT_ONCE = 1,
    WITH_SIDES = AT_ONCE,
    VECTOR_ROWS = WIDTH,
    VECTORS = PARTS == 4 ? 2 : 4, /* in a step: until sums are normalised */
    ACROSS = PARTS,
    ALONG = PARTS
};

/* a - b by the multipliers, which otherwise have less to do than the adders. */
ALWAYS vec vec_minus(vec a, vec b)
{
#if defined(__FMA__)
    return vec_fma(b, vec_all(-1), a);
#else
    return a - b;
#endif
}

ALWAYS wide wide_two_sum(vec a, vec b)
{
    const vec s = a + b, part = s - a;
    return (wide){s, vec_minus(a, s - part) + vec_minus(b, part)};
}

ALWAYS wide wide_quick_two_sum(vec a, vec b)
{
    const vec s = a + b;
    return (wide){s, b - (s - a)};
}

/* A product onto a sum. The sloppy one is normalised only by wide_settle, after four products at most: what the high
 * parts' sums lose and the low parts add up in the low part meanwhile. */
ALWAYS wide wide_add(wide a, wide b, bool accurate)
{
    wide s = wide_two_sum(a.hi, b.hi);
    if (!accurate) return (wide){s.hi, a.lo + (s.lo + b.lo)};
    const wide t = wide_two_sum(a.lo, b.lo);
    s = wide_quick_two_sum(s.hi, s.lo + t.hi);
    return wide_quick_two_sum(s.hi, s.lo + t.lo);
}

ALWAYS void wide_settle(vec *s, bool accurate)
{
    for (int i = 0; !accurate && i < PARTS; i += 2) {
        const wide settled = wide_quick_two_sum(s[i], s[i + 1]);
        s[i] = settled.hi;
        s[i + 1] = settled.lo;
    }
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
ALWAYS wide wide_step(wide a, wide x, wide s, bool accurate)
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

ALWAYS void panel_settle(vec *along, bool accurate)
{
    wide_settle(along, accurate);
}

ALWAYS num panel_total(const vec *along, bool hermitian, bool accurate)
{
    num lane[WIDTH];
    (void)hermitian;
    for (int i = 0; i < WIDTH; i++)
        for (int k = 0; k < PARTS; k++)
            lane[i].v[k] = along[k][i];
    for (int half = WIDTH / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] = num_plus(lane[i], lane[i + half], accurate);
    return lane[0];
}

/* s + a x, all of one number's parts. */
ALWAYS void wide_number_step(const vec *a, const vec *x, vec *s, bool conjugate, bool accurate)
{
    const wide ar = wide_element(a, 0), xr = {x[0], x[1]};
    wide re = wide_step(ar, xr, (wide){s[0], s[1]}, accurate);
#if KIND == SYMV_WIDE_COMPLEX
    const wide ai = wide_element(a, 1), xi = {x[2], x[3]};
    re = wide_step(conjugate ? ai : wide_minus(ai), xi, re, accurate);
    wide im = wide_step(ar, xi, (wide){s[2], s[3]}, accurate);
    im = wide_step(conjugate ? wide_minus(ai) : ai, xr, im, accurate);
    s[2] = im.hi;
    s[3] = im.lo;
#endif
    (void)conjugate;
    s[0] = re.hi;
    s[1] = re.lo;
}

ALWAYS void panel_rows(const E *const *column, int64_t i, int count, int64_t stride, int width, int sides,
                       const T *const *x, T *const *y, const vec *xc, vec *along, bool hermitian, bool accurate)
{
    vec xs[PARTS], ys[PARTS];
    (void)sides;
    wide_rows(x[0], stride, i, count, xs);
    wide_rows(y[0], stride, i, count, ys);
    for (int c = 0; c < width; c++) {
        vec a[MATRIX];
        wide_elements(column[c] + i * MATRIX, count, a);
        wide_number_step(a, xc + c * PARTS, ys, false, accurate);
        wide_number_step(a, xs, along + c * PARTS, hermitian, accurate);
    }
    wide_settle(ys, accurate);
    wide_rows_put(y[0], stride, i, count, ys);
}
