/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows of a vector a column has where it crosses the diagonal. Included by panel_real.h and panel_complex.h.
 */

typedef struct row_span {
    int begin, end, diagonal; /* the end of all rows where it is not among them */
} row_span;

ALWAYS int row_within(int row, int count)
{
    return row < 0 ? 0 : row < count ? row : count;
}

/* Of rows [row, row + count) of a square on the diagonal, counted from `row`, what the stored triangle's column c
 * has. */
ALWAYS row_span row_span_of(bool lower, int c, int row, int count)
{
    const bool crosses = c >= row && c < row + count;
    const int diagonal = crosses ? c - row : count;
    if (lower) return (row_span){row_within(c - row, count), count, diagonal};
    return (row_span){0, row_within(c + 1 - row, count), diagonal};
}
