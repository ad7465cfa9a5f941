/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a panel for real types. Included after number.h.
 */
#include "symv/vector.h"

#define PLANES 0

enum {
    COLUMNS = sizeof(T) == sizeof(float) ? 16 : 8, /* of a panel */
    AT_ONCE = 8,                                   /* of them, what registers hold with one side */
    SIDES_AT_ONCE = 2,                             /* or so many sides with */
    WITH_SIDES = 8,                                /* so many columns */
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
