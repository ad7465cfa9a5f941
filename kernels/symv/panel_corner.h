/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a panel's columns cross the diagonal: rows of the square there as the stored triangle has them, the rest
 * of each vector masked. What they give to the columns is summed with what the panel gives. Included in
 * panel_walk.h.
 */

ALWAYS void panel_corner(panel *p, const slice *s, int64_t j, int width, bool accurate)
{
    (void)accurate;
    for (int k = 0; k < s->pass->sides; k++) {
        vec xc[COLUMNS * ACROSS];
        for (int c = 0; c < width; c++)
            panel_spread(p->xc[k * COLUMNS + c], xc + c * ACROSS);
#pragma GCC unroll 8
        for (int row = 0; row < width; row += VECTOR_ROWS) {
            const int count = width - row < VECTOR_ROWS ? width - row : VECTOR_ROWS;
            panel_corner_rows(p->column, j, row, count, width, s->lower, p->x[k], p->y[k], xc,
                              p->along + k * COLUMNS * ALONG, s->hermitian);
        }
    }
}
