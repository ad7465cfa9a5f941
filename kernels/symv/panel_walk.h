/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies beside the diagonal of COLUMNS columns, a chunk of rows at a time, which stays in the first-level cache:
 * for each side, or some, sub-blocks of columns as registers hold them. No instructions fetch ahead: on a Zen 4 they
 * were measured to be slower than what the processor fetches by itself along the columns.
 */

enum {
    ELEMENT = sizeof(E) * MATRIX,
    STEP_LEAST = VECTORS * VECTOR_ROWS,
    STEP_ROWS = STEP_LEAST * ELEMENT > 64 ? STEP_LEAST : 64 / ELEMENT, /* whole lines */
    CHUNK_LINES = 32,                                                  /* of a column */
    CHUNK_ROWS = CHUNK_LINES * 64 / ELEMENT
};

typedef struct panel {
    int64_t row, end;         /* of the matrix */
    const E *column[COLUMNS]; /* row 0 of each */
    const T *x[PANEL_PASS];
    T *y[PANEL_PASS];
    num xc[PANEL_PASS * COLUMNS];
    vec along[PANEL_PASS * COLUMNS * ALONG];
} panel;

static void panel_begin(panel *p, const slice *s, int64_t j)
{
    const symv_matrix *m = s->pass->m;
    p->row = s->lower ? j + COLUMNS : 0;
    p->end = s->lower ? m->n : j;
    for (int c = 0; c < COLUMNS; c++)
        p->column[c] = (const E *)symv_column(m, j + c);
    for (int k = 0; k < s->pass->sides; k++) {
        p->x[k] = panel_vector(s->pass, k, -1);
        p->y[k] = panel_vector(s->pass, k, s->index);
        for (int c = 0; c < COLUMNS; c++)
            p->xc[k * COLUMNS + c] = panel_get(p->x[k], s->stride, j + c);
    }
    memset(p->along, 0, sizeof p->along[0] * (size_t)(s->pass->sides * COLUMNS * ALONG));
}

ALWAYS void panel_some(const E *const *columns, int64_t i, int count, const slice *s, int width, int sides,
                       const T *const *x, T *const *y, const vec *xc, vec *along, bool accurate)
{
    panel_rows(columns, i, count, s->stride, width, sides, x, y, xc, along, s->hermitian, accurate);
    for (int k = 0; k < width * sides; k++)
        panel_settle(along + k * ALONG, accurate);
}

/* Rows [i, end) of `width` columns and `sides` sides, which are known when compiled. */
ALWAYS void panel_block(panel *p, const slice *s, int64_t i, int64_t end, int column, int width, int side, int sides,
                        bool accurate)
{
    vec xc[AT_ONCE * SIDES_AT_ONCE * ACROSS], along[AT_ONCE * SIDES_AT_ONCE * ALONG];
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

/* Some rows, all columns and sides. */
ALWAYS void panel_chunk(panel *p, const slice *s, int64_t i, int64_t end, bool accurate)
{
    const int sides = s->pass->sides;
    int side = 0;
    for (; SIDES_AT_ONCE > 1 && side + SIDES_AT_ONCE <= sides; side += SIDES_AT_ONCE)
        for (int c = 0; c < COLUMNS; c += WITH_SIDES)
            panel_block(p, s, i, end, c, WITH_SIDES, side, SIDES_AT_ONCE, accurate);
    for (; side < sides; side++)
        for (int c = 0; c < COLUMNS; c += AT_ONCE)
            panel_block(p, s, i, end, c, AT_ONCE, side, 1, accurate);
}

ALWAYS void panel_walk(const slice *s, int64_t j, bool accurate)
{
    panel p;
    panel_begin(&p, s, j);
    if (p.row >= p.end) return;
    for (int64_t i = p.row; i < p.end; i += CHUNK_ROWS)
        panel_chunk(&p, s, i, i + CHUNK_ROWS < p.end ? i + CHUNK_ROWS : p.end, accurate);
    for (int k = 0; k < s->pass->sides; k++)
        for (int c = 0; c < COLUMNS; c++) {
            const num sum = panel_total(p.along + (k * COLUMNS + c) * ALONG, s->hermitian, accurate);
            panel_put(p.y[k], s->stride, j + c, num_plus(panel_get(p.y[k], s->stride, j + c), sum, accurate));
        }
}
