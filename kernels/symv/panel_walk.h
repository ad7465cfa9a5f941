/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies beside the diagonal of COLUMNS columns, a chunk of rows at a time, which stays in the first-level cache:
 * for each side, or some, sub-blocks of columns as registers hold them. Where one sub-block is all there is, no
 * instructions fetch ahead: on a Zen 4 they were measured to be slower than what the processor fetches by itself
 * along the columns. Where several go over a chunk in turn, memory would have nothing to do from the second on: then
 * each of them fetches some of the next chunk's columns to the second-level cache.
 */

enum {
    ELEMENT = sizeof(E) * MATRIX,
    STEP_LEAST = VECTORS * VECTOR_ROWS,
    STEP_ROWS = STEP_LEAST * ELEMENT > 64 ? STEP_LEAST : 64 / ELEMENT, /* whole lines */
    CHUNK_LINES = 32,                                                  /* of a column */
    CHUNK_ROWS = CHUNK_LINES * 64 / ELEMENT
};

/* Columns that registers hold with one side. */
ALWAYS int at_once(bool accurate)
{
    return accurate ? ACCURATE_AT_ONCE : AT_ONCE;
}

typedef struct panel {
    int64_t row, end;         /* of the matrix */
    const E *column[COLUMNS]; /* row 0 of each */
    const T *x[PANEL_PASS];
    T *y[PANEL_PASS];
    num xc[PANEL_PASS * COLUMNS];
    vec along[PANEL_PASS * COLUMNS * ALONG];
} panel;

ALWAYS void panel_begin(panel *p, const slice *s, int64_t j, int width)
{
    const symv_matrix *m = s->pass->m;
    p->row = s->lower ? j + width : 0;
    p->end = s->lower ? m->n : j;
    for (int c = 0; c < width; c++)
        p->column[c] = (const E *)symv_column(m, j + c);
    for (int k = 0; k < s->pass->sides; k++) {
        p->x[k] = panel_vector(s->pass, k, -1);
        p->y[k] = panel_vector(s->pass, k, s->index);
        for (int c = 0; c < width; c++)
            p->xc[k * COLUMNS + c] = panel_get(p->x[k], s->stride, j + c);
    }
    memset(p->along, 0, sizeof p->along[0] * (size_t)(s->pass->sides * COLUMNS * ALONG));
}

/* The columns' own sums into y. */
ALWAYS void panel_end(panel *p, const slice *s, int64_t j, int width, bool accurate)
{
    for (int k = 0; k < s->pass->sides; k++)
        panel_totals(p->along + k * COLUMNS * ALONG, p->y[k], s->stride, j, width, s->hermitian, accurate);
}

#if IS_WIDE
#include "symv/panel_square.h"
#else
#include "symv/panel_corner.h"
#endif

ALWAYS void panel_some(const E *const *columns, int64_t i, int count, const slice *s, int width, int sides,
                       const T *const *x, T *const *y, const vec *xc, vec *along, bool accurate)
{
    panel_rows(columns, i, count, s->stride, width, sides, x, y, xc, along, s->hermitian, accurate);
    for (int k = 0; k < width * sides; k++)
        panel_settle(along + k * ALONG, accurate);
}

/* The columns of a sub-block, from the first on, of which it fetches the next chunk. */
typedef struct panel_ahead {
    int from, to;
} panel_ahead;

ALWAYS void panel_fetch(const E *const *column, int64_t i, panel_ahead ahead)
{
    for (int c = ahead.from; c < ahead.to; c++)
        __builtin_prefetch(column[c] + (i + CHUNK_ROWS) * MATRIX, 0, 2);
}

/* Rows [i, end) of `width` columns and `sides` sides, which are known when compiled. */
ALWAYS void panel_block(panel *p, const slice *s, int64_t i, int64_t end, int column, int width, int side, int sides,
                        panel_ahead ahead, bool accurate)
{
    vec xc[COLUMNS * SIDES_AT_ONCE * ACROSS], along[COLUMNS * SIDES_AT_ONCE * ALONG];
    const E *const *columns = p->column + column;
    const T *const *x = p->x + side;
    T *const *y = p->y + side;
    for (int k = 0; k < sides; k++)
        for (int c = 0; c < width; c++) {
            const int from = (side + k) * COLUMNS + column + c, to = k * width + c;
            panel_spread(p->xc[from], xc + to * ACROSS);
            for (int v = 0; v < ALONG; v++)
                along[to * ALONG + v] = p->along[from * ALONG + v];
        }
    for (; i + STEP_ROWS <= end; i += STEP_ROWS) {
        if (sides > 1) panel_fetch(columns, i, ahead);
        for (int step = 0; step < STEP_ROWS; step += VECTOR_ROWS)
            panel_rows(columns, i + step, VECTOR_ROWS, s->stride, width, sides, x, y, xc, along, s->hermitian,
                       accurate);
        for (int k = 0; k < width * sides; k++)
            panel_settle(along + k * ALONG, accurate);
    }
    for (; i + VECTOR_ROWS <= end; i += VECTOR_ROWS)
        panel_some(columns, i, VECTOR_ROWS, s, width, sides, x, y, xc, along, accurate);
    if (i < end) panel_some(columns, i, (int)(end - i), s, width, sides, x, y, xc, along, accurate);
    for (int k = 0; k < sides; k++)
        for (int c = 0; c < width * ALONG; c++)
            p->along[((side + k) * COLUMNS + column) * ALONG + c] = along[k * width * ALONG + c];
}

/* The share of sub-blocks `width` wide in the turn of `side`, where there are several. */
ALWAYS panel_ahead panel_share(const panel *p, const slice *s, int64_t end, int side, int width)
{
    const int turns = s->pass->sides / SIDES_AT_ONCE, turn = side / SIDES_AT_ONCE;
    if (turns == 1 || end + CHUNK_ROWS > p->end) return (panel_ahead){0, 0};
    return (panel_ahead){turn * width / turns, (turn + 1) * width / turns};
}

/* Some rows, all columns and sides. */
ALWAYS void panel_chunk(panel *p, const slice *s, int64_t i, int64_t end, bool accurate)
{
    const int sides = s->pass->sides;
    int side = 0;
    for (; SIDES_AT_ONCE > 1 && side + SIDES_AT_ONCE <= sides; side += SIDES_AT_ONCE) {
        const panel_ahead ahead = panel_share(p, s, end, side, WITH_SIDES);
        for (int c = 0; c < COLUMNS; c += WITH_SIDES)
            panel_block(p, s, i, end, c, WITH_SIDES, side, SIDES_AT_ONCE, ahead, accurate);
    }
    const int width = at_once(accurate);
    for (; side < sides; side++)
        for (int c = 0; c < COLUMNS; c += width)
            panel_block(p, s, i, end, c, width, side, 1, (panel_ahead){0, 0}, accurate);
}

/* COLUMNS columns, in the order in which the matrix has them. */
ALWAYS void panel_walk(const slice *s, int64_t j, bool accurate)
{
    panel p;
    panel_begin(&p, s, j, COLUMNS);
    if (s->lower) panel_corner(&p, s, j, COLUMNS, accurate);
    /* One sub-block has no other to share a chunk with. */
    const bool alone = s->pass->sides == 1 && at_once(accurate) == COLUMNS;
    const int64_t rows = alone ? p.end - p.row : CHUNK_ROWS;
    for (int64_t i = p.row; i < p.end; i += rows)
        panel_chunk(&p, s, i, i + rows < p.end ? i + rows : p.end, accurate);
    if (!s->lower) panel_corner(&p, s, j, COLUMNS, accurate);
    panel_end(&p, s, j, COLUMNS, accurate);
}

/* The square that is left over. */
static void panel_left(const slice *s, int64_t j, int width, bool accurate)
{
    panel p;
    panel_begin(&p, s, j, width);
    panel_corner(&p, s, j, width, accurate);
    panel_end(&p, s, j, width, accurate);
}
