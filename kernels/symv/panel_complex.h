/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a panel for complex types, whose parts stay side by side in vectors. For y, products with both parts of a
 * column's factor are summed apart and come together once for all columns; for a column's own sum it is the rows'
 * factors that are prepared once, and the elements that are taken a second time with their parts exchanged, so that a
 * column has one sum and all of a panel's stay in registers. Included after number.h.
 */
#include "symv/vector.h"

#include "symv/span.h"

#define PLANES 0

enum {
    COLUMNS = 8,
    AT_ONCE = COLUMNS,
    ACCURATE_AT_ONCE = AT_ONCE,
    SIDES_AT_ONCE = 2,
    WITH_SIDES = COLUMNS,
    VECTOR_ROWS = WIDTH / 2,
    VECTORS = 1,
    ACROSS = 2, /* real part in all lanes, imaginary part in all */
    ALONG = 1
};

ALWAYS vec vec_exchanged(vec value)
{
#if defined(__AVX512F__)
    if (T_FLOAT) return (vec)_mm512_permute_ps((__m512)value, 0xb1);
    return (vec)_mm512_permute_pd((__m512d)value, 0x55);
#elif defined(__AVX2__)
    if (T_FLOAT) return (vec)_mm256_permute_ps((__m256)value, 0xb1);
    return (vec)_mm256_permute_pd((__m256d)value, 0x5);
#else
    vec out;
    for (int i = 0; i < WIDTH; i++)
        out[i] = value[i ^ 1];
    return out;
#endif
}

/* Real parts (0) or imaginary ones (1) twice each. */
ALWAYS vec vec_twice(vec value, int which)
{
#if defined(__AVX512F__)
    if (T_FLOAT) return (vec)(which ? _mm512_movehdup_ps((__m512)value) : _mm512_moveldup_ps((__m512)value));
    return (vec)(which ? _mm512_permute_pd((__m512d)value, 0xff) : _mm512_movedup_pd((__m512d)value));
#elif defined(__AVX2__)
    if (T_FLOAT) return (vec)(which ? _mm256_movehdup_ps((__m256)value) : _mm256_moveldup_ps((__m256)value));
    return (vec)(which ? _mm256_permute_pd((__m256d)value, 0xf) : _mm256_movedup_pd((__m256d)value));
#else
    vec out;
    for (int i = 0; i < WIDTH; i++)
        out[i] = value[(i & ~1) + which];
    return out;
#endif
}

/* Lanes of real parts by one factor, those of imaginary ones by another. */
ALWAYS vec vec_parts(T re, T im)
{
    vec out;
    for (int i = 0; i < WIDTH; i++)
        out[i] = i % 2 == 0 ? re : im;
    return out;
}

ALWAYS void panel_spread(num x, vec *out)
{
    out[0] = vec_all(x.v[0]);
    out[1] = vec_all(x.v[1]);
}

ALWAYS void panel_settle(vec *along, bool accurate)
{
    (void)along, (void)accurate;
}

ALWAYS num panel_total(const vec *along, bool hermitian, bool accurate)
{
    num out = {{0}};
    (void)hermitian, (void)accurate;
    for (int i = 0; i < WIDTH; i++)
        out.v[i % 2] += along[0][i];
    return out;
}

/* Columns' sums into rows [row, row + width) of y. */
ALWAYS void panel_totals(const vec *along, T *y, int64_t stride, int64_t row, int width, bool hermitian,
                         bool accurate)
{
    (void)stride;
    for (int c = 0; c < width; c++) {
        const num sum = panel_total(along + c * ALONG, hermitian, accurate);
        for (int i = 0; i < PARTS; i++)
            y[(row + c) * PARTS + i] += sum.v[i];
    }
}

/* What rows have for the products of one side: x as columns' sums take it, by parts; sums of y. */
typedef struct panel_side {
    vec re, im;
    vec plain, turned; /* plain + i turned */
} panel_side;

/* A column's element a adds a (xr, xr) + exchanged a (-xi, xi), Hermitian a (xr, -xr) + exchanged a (xi, xi). */
ALWAYS panel_side panel_side_at(const T *x, const T *y, int64_t i, int count, bool hermitian)
{
    const vec xs = vec_first(x + 2 * i, 2 * count), re = vec_twice(xs, 0), im = vec_twice(xs, 1);
    panel_side out = {re, im, vec_first(y + 2 * i, 2 * count), {0}};
    if (hermitian) {
        out.re = re * vec_parts(1, -1);
    } else {
        out.im = im * vec_parts(-1, 1);
    }
    return out;
}

ALWAYS void panel_side_put(const panel_side *side, T *y, int64_t i, int count)
{
    const vec sum = vec_fma(vec_exchanged(side->turned), vec_parts(-1, 1), side->plain);
    vec_put_first(y + 2 * i, sum, 2 * count);
}

ALWAYS void panel_rows(const E *const *column, int64_t i, int count, int64_t stride, int width, int sides,
                       const T *const *x, T *const *y, const vec *xc, vec *along, bool hermitian, bool accurate)
{
    panel_side side[SIDES_AT_ONCE];
    (void)stride, (void)accurate;
    for (int k = 0; k < sides; k++)
        side[k] = panel_side_at(x[k], y[k], i, count, hermitian);
    for (int c = 0; c < width; c++) {
        const vec a = vec_first(column[c] + 2 * i, 2 * count), exchanged = vec_exchanged(a);
        for (int k = 0; k < sides; k++) {
            const int at = k * width + c;
            side[k].plain = vec_fma(a, xc[2 * at], side[k].plain);
            side[k].turned = vec_fma(a, xc[2 * at + 1], side[k].turned);
            along[at] = vec_fma(a, side[k].re, along[at]);
            along[at] = vec_fma(exchanged, side[k].im, along[at]);
        }
    }
    for (int k = 0; k < sides; k++)
        panel_side_put(&side[k], y[k], i, count);
}

/* Where the panel's columns cross the diagonal, as in panel_real.h; a Hermitian's diagonal is read without its
 * imaginary part. */
ALWAYS void panel_corner_rows(const E *const *column, int64_t j, int row, int count, int width, bool lower,
                              const T *x, T *y, const vec *xc, vec *along, bool hermitian)
{
    const int64_t i = j + row;
    panel_side side = panel_side_at(x, y, i, count, hermitian);
#pragma GCC unroll 16
    for (int c = 0; c < width; c++) {
        const row_span span = row_span_of(lower, c, row, count);
        const vec_lanes both = lanes_between(2 * span.begin, 2 * span.end);
        const vec_lanes beside = both & ~lanes_between(2 * span.diagonal, 2 * span.diagonal + 2);
        const vec_lanes imaginary = lanes_between(2 * span.diagonal + 1, 2 * span.diagonal + 2);
        const vec a = vec_of_lanes(column[c] + 2 * i, hermitian ? both & ~imaginary : both);
        const vec exchanged = vec_exchanged(a);
        side.plain = vec_fma_lanes(a, xc[2 * c], side.plain, both);
        side.turned = vec_fma_lanes(a, xc[2 * c + 1], side.turned, both);
        along[c] = vec_fma_lanes(a, side.re, along[c], beside);
        along[c] = vec_fma_lanes(exchanged, side.im, along[c], beside);
    }
    panel_side_put(&side, y, i, count);
}
