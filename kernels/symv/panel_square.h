/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a panel's columns cross the diagonal, for double-double sums, which take longer than bringing elements into
 * place: the square there with what the other triangle has, and all of y that it gives. Included in panel_walk.h.
 */

enum { SQUARE_ROWS = COLUMNS > VECTOR_ROWS ? COLUMNS : VECTOR_ROWS };

/* Columns [j, j + width) where they cross the diagonal, with what the other triangle has; 0 beyond. */
ALWAYS void square_read(const panel *p, const slice *s, int64_t j, int width, E *square)
{
    const E *column[COLUMNS];
    if (width < COLUMNS) memset(square, 0, sizeof(E) * COLUMNS * SQUARE_ROWS * MATRIX);
    for (int c = 0; c < width; c++)
        column[c] = p->column[c] + j * MATRIX;
    for (int c = 0; c < width; c++)
        for (int r = 0; r < width; r++) {
            const bool stored = s->lower ? r >= c : r <= c;
            E *to = square + (c * SQUARE_ROWS + r) * MATRIX;
            memcpy(to, stored ? column[c] + r * MATRIX : column[r] + c * MATRIX, sizeof(E) * MATRIX);
            for (int i = MATRIX / 2; IS_COMPLEX && s->hermitian && i < MATRIX; i++)
                to[i] = r == c ? 0 : stored ? to[i] : -to[i];
        }
}

/* All of y that the square gives, by some columns at once. */
ALWAYS void panel_corner(panel *p, const slice *s, int64_t j, int width, bool accurate)
{
    const int some = at_once(accurate);
    E square[COLUMNS * SQUARE_ROWS * MATRIX];
    square_read(p, s, j, width, square);
    for (int side = 0; side < s->pass->sides; side++) {
        const int64_t shift = j * (PLANES ? 1 : PARTS);
        const T *x = p->x[side] + shift;
        T *y = p->y[side] + shift;
        for (int first = 0; first < COLUMNS; first += some) {
            const E *column[COLUMNS];
            vec xc[COLUMNS * ACROSS], unused[COLUMNS * ALONG] = {0};
            for (int c = 0; c < some; c++) {
                const num none = {{0}};
                column[c] = square + (first + c) * SQUARE_ROWS * MATRIX;
                panel_spread(first + c < width ? p->xc[side * COLUMNS + first + c] : none, xc + c * ACROSS);
            }
            for (int i = 0; i < width; i += VECTOR_ROWS) {
                const int rest = width - i < VECTOR_ROWS ? width - i : VECTOR_ROWS;
                panel_rows(column, i, rest, s->stride, some, 1, &x, &y, xc, unused, s->hermitian, accurate);
            }
        }
    }
}
