/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies beside the diagonal of COLUMNS columns, a chunk of rows at a time: for each side, or some, sub-blocks of
 * columns as registers hold them. While a chunk is taken the next one is fetched into the second-level cache, column
 * by column as it lies in memory, which keeps memory busier than walking down all columns abreast.
 */

enum {
    ELEMENT = sizeof(E) * MATRIX,
    STEP_LEAST = VECTORS * VECTOR_ROWS,
    STEP_ROWS = STEP_LEAST * ELEMENT > 64 ? STEP_LEAST : 64 / ELEMENT, /* whole lines */
    STEP_LINES = STEP_ROWS * ELEMENT / 64,
    CHUNK_LINES = 32, /* of a column */
    CHUNK_ROWS = CHUNK_LINES * 64 / ELEMENT
};

typedef struct panel {
    int64_t row, end;                         /* of the matrix */
    const E *column[COLUMNS], *next[COLUMNS]; /* row 0 of each; first row of those that come after them */
    const T *x[PANEL_PASS];
    T *y[PANEL_PASS];
    num xc[PANEL_PASS * COLUMNS];
    vec along[PANEL_PASS * COLUMNS * ALONG];
} panel;

/* The lines that are fetched next. */
typedef struct fetch {
    const E *const *from;
    int64_t row;
    int column, line;
} fetch;

ALWAYS void fetch_some(fetch *f)
{
    const char *at = (const char *)(f->from[f->column] + f->row * MATRIX) + f->line * 64;
    for (int line = 0; line < COLUMNS * STEP_LINES; line++)
        __builtin_prefetch(at + line * 64, 0, 2);
    f->line += COLUMNS * STEP_LINES;
    if (f->line < CHUNK_LINES) return;
    f->line = 0;
    f->column = f->column + 1 < COLUMNS ? f->column + 1 : f->column;
}

static void panel_begin(panel *p, const slice *s, int64_t j)
{
    const symv_matrix *m = s->pass->m;
    p->row = s->lower ? j + COLUMNS : 0;
    p->end = s->lower ? m->n : j;
    for (int c = 0; c < COLUMNS; c++) {
        const int64_t next = j + COLUMNS + c < m->n ? j + COLUMNS + c : j + c;
        p->column[c] = (const E *)symv_column(m, j + c);
        p->next[c] = (const E *)symv_column(m, next) + (s->lower ? p->row + COLUMNS : 0) * MATRIX;
    }
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

/* Rows [i, end) of `width` columns and `sides` sides, which are known when compiled; f may be NULL. */
ALWAYS void panel_block(panel *p, const slice *s, int64_t i, int64_t end, int column, int width, int side, int sides,
                        fetch *f, bool accurate)
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
        if (f != NULL) fetch_some(f);
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
    const bool last = end == p->end;
    const int sides = s->pass->sides;
    fetch f = {last ? p->next : p->column, last ? 0 : end, 0, 0}, *once = &f;
    int side = 0;
    for (; SIDES_AT_ONCE > 1 && side + SIDES_AT_ONCE <= sides; side += SIDES_AT_ONCE)
        for (int c = 0; c < COLUMNS; c += WITH_SIDES, once = NULL)
            panel_block(p, s, i, end, c, WITH_SIDES, side, SIDES_AT_ONCE, once, accurate);
    for (; side < sides; side++)
        for (int c = 0; c < COLUMNS; c += AT_ONCE, once = NULL)
            panel_block(p, s, i, end, c, AT_ONCE, side, 1, once, accurate);
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
