/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a panel for real types. Included after number.h.
 */
#include "symv/vector.h"

#include "symv/span.h"

#define PLANES 0

enum {
    /* Of a panel. The processor fetches ahead along up to 16 columns, and reads float columns, which are shorter, the
     * faster the more of them go down together. */
    COLUMNS = T_FLOAT && VECTOR_BYTES == 64 ? 16 : 8,
    AT_ONCE = COLUMNS, /* of them, what registers hold with one side */
    ACCURATE_AT_ONCE = AT_ONCE,
    SIDES_AT_ONCE = 2, /* or so many sides with */
    WITH_SIDES = 8,    /* so many columns */
    VECTOR_ROWS = WIDTH,
    VECTORS = 1,
    ACROSS = 1, /* vectors for an element of x that stands for a column */
    ALONG = 1   /* and for a column's sum */
};

ALWAYS void panel_spread(num x, vec *out)
{
    out[0] = vec_all(x.v[0]);
}

ALWAYS void panel_settle(vec *along, bool accurate)
{
    (void)along, (void)accurate;
}

ALWAYS num panel_total(const vec *along, bool hermitian, bool accurate)
{
    (void)hermitian, (void)accurate;
    return (num){{vec_sum(along[0])}};
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

/* Rows [i, i + count), count up to VECTOR_ROWS, of some columns, which begin at vectors' row 0: to y what they give
 * with xc, to along what with x. */
ALWAYS void panel_rows(const E *const *column, int64_t i, int count, int64_t stride, int width, int sides,
                       const T *const *x, T *const *y, const vec *xc, vec *along, bool hermitian, bool accurate)
{
    vec a[AT_ONCE];
    (void)stride, (void)hermitian, (void)accurate;
    for (int c = 0; c < width; c++)
        a[c] = count == WIDTH ? vec_of(column[c] + i) : vec_of_some(column[c] + i, count);
    for (int k = 0; k < sides; k++) {
        const vec xs = vec_first(x[k] + i, count);
        vec ys = vec_first(y[k] + i, count);
        for (int c = 0; c < width; c++) {
            ys = vec_fma(a[c], xc[k * width + c], ys);
            along[k * width + c] = vec_fma(a[c], xs, along[k * width + c]);
        }
        vec_put_first(y[k] + i, ys, count);
    }
}

/* The same where the panel's columns cross the diagonal, for one side: rows [row, row + count) of the square there,
 * which begins at row j. A column's diagonal element goes to y alone. */
ALWAYS void panel_corner_rows(const E *const *column, int64_t j, int row, int count, int width, bool lower,
                              const T *x, T *y, const vec *xc, vec *along, bool hermitian)
{
    const int64_t i = j + row;
    const vec xs = vec_first(x + i, count);
    vec ys = vec_first(y + i, count);
    (void)hermitian;
#pragma GCC unroll 16
    for (int c = 0; c < width; c++) {
        const row_span span = row_span_of(lower, c, row, count);
        const vec_lanes both = lanes_between(span.begin, span.end);
        const vec_lanes beside = both & ~lanes_between(span.diagonal, span.diagonal + 1);
        const vec a = vec_of_lanes(column[c] + i, both);
        ys = vec_fma_lanes(a, xc[c], ys, both);
        along[c] = vec_fma_lanes(a, xs, along[c], beside);
    }
    vec_put_first(y + i, ys, count);
}
