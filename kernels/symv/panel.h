/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast order of one type: the triangle falls into slices of columns by n alone, each with sums of its own for all
 * rows that it reaches, which are added slice by slice. Within a slice some COLUMNS go down together: what lies on
 * the diagonal element by element, what lies beside it as a panel (panel_real.h, panel_complex.h, panel_wide.h), of
 * which each element is loaded once and used twice. Included after one of these.
 *
 * Vectors in the room: of double-double by planes, others as they are in memory, elements side by side.
 */

enum {
    PANEL_PASS = 16,   /* right-hand sides in one pass over the matrix */
    SLICE_LEAST = 128, /* columns of a slice, about, at least */
    SLICES_MOST = 32,
    WHOLE_UP_TO = 256, /* n of which there is one slice; run.c's SMALL */
    ALIGNED = 16,      /* columns at a multiple of which a slice begins */
    ELEMENT = sizeof(E) * MATRIX,
    STEP_ROWS = VECTOR_ROWS * ELEMENT > 64 ? VECTOR_ROWS : 64 / ELEMENT, /* whole lines */
    STEP_LINES = STEP_ROWS * ELEMENT / 64,
    CHUNK_LINES = 32, /* of a column; the next so many are fetched while these are taken */
    CHUNK_ROWS = CHUNK_LINES * 64 / ELEMENT
};

static int64_t panel_slices(int64_t n)
{
    if (n <= WHOLE_UP_TO) return 1;
    return n / SLICE_LEAST < SLICES_MOST ? n / SLICE_LEAST : SLICES_MOST;
}

/* Where slice s begins: all have about as many elements. */
static int64_t slice_begin(const symv_pass *pass, int64_t s)
{
    const int64_t n = pass->m->n, slices = panel_slices(n);
    const double share = (double)s / (double)slices;
    const double place = pass->m->job->uplo == LACIS_SYMV_LOWER ? 1 - sqrt(1 - share) : sqrt(share);
    return s == slices ? n : (int64_t)(place * (double)n) / ALIGNED * ALIGNED;
}

static int64_t panel_room_stride(int64_t n)
{
    const int64_t line = 64 / sizeof(T);
    return (n + line - 1) / line * line;
}

static uint64_t panel_room(int64_t n, int sides)
{
    return (uint64_t)(panel_room_stride(n) * PARTS * sides * (1 + panel_slices(n))) * sizeof(T);
}

/* x of a side, or (slice 0 on) its sums. */
ALWAYS T *panel_vector(const symv_pass *pass, int side, int64_t slice)
{
    return (T *)pass->room + ((slice + 1) * pass->sides + side) * panel_room_stride(pass->m->n) * PARTS;
}

ALWAYS num panel_get(const T *vector, int64_t stride, int64_t i)
{
    num out;
    for (int k = 0; k < PARTS; k++)
        out.v[k] = IS_WIDE ? vector[k * stride + i] : vector[i * PARTS + k];
    return out;
}

ALWAYS void panel_put(T *vector, int64_t stride, int64_t i, num value)
{
    for (int k = 0; k < PARTS; k++)
        vector[IS_WIDE ? k * stride + i : i * PARTS + k] = value.v[k];
}

static void panel_bring(const symv_pass *pass)
{
    const int64_t n = pass->m->n, stride = panel_room_stride(n), step = pass->m->job->x_step;
    for (int side = 0; side < pass->sides; side++) {
        T *to = panel_vector(pass, side, -1);
        const T *from = x_at(pass, side, 0);
        if (step == 1 && !IS_WIDE) {
            memcpy(to, from, sizeof(num) * (size_t)n);
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            num value;
            memcpy(&value, from + i * step * PARTS, sizeof value);
            panel_put(to, stride, i, value);
        }
    }
}

/* --- a slice ----------------------------------------------------------------------------------------- */

typedef struct slice {
    const symv_pass *pass;
    int64_t index, stride;
    bool lower, hermitian;
} slice;

/* The square of columns [j, j + width) on the diagonal. */
ALWAYS void slice_diagonal(const slice *s, int64_t j, int width, int side, bool accurate)
{
    const symv_matrix *m = s->pass->m;
    const T *x = panel_vector(s->pass, side, -1);
    T *y = panel_vector(s->pass, side, s->index);
    for (int64_t c = j; c < j + width; c++) {
        const E *column = (const E *)symv_column(m, c);
        const num xc = panel_get(x, s->stride, c);
        num along = panel_get(y, s->stride, c);
        for (int64_t i = s->lower ? c : j; i < (s->lower ? j + width : c + 1); i++) {
            const mat a = mat_read(column + i * MATRIX);
            if (i == c) {
                along = mat_step(mat_diagonal(a, s->hermitian), xc, along, accurate);
                continue;
            }
            panel_put(y, s->stride, i, mat_step(a, xc, panel_get(y, s->stride, i), accurate));
            along = mat_step(mat_mirror(a, s->hermitian), panel_get(x, s->stride, i), along, accurate);
        }
        panel_put(y, s->stride, c, along);
    }
}

/* --- rows beside the diagonal of some columns -------------------------------------------------------- */

typedef struct panel {
    int64_t row, end;                         /* of the matrix */
    const E *column[COLUMNS], *next[COLUMNS]; /* row 0 of each; `row` of those that come after them */
    const T *x[PANEL_PASS];
    T *y[PANEL_PASS];
    num xc[PANEL_PASS * COLUMNS];
    vec along[PANEL_PASS * COLUMNS * ALONG];
} panel;

/* Where the lines lie that are fetched next: column by column, as they lie in memory. */
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

static void panel_begin(panel *p, const slice *s, int64_t j, int width)
{
    const symv_matrix *m = s->pass->m;
    p->row = s->lower ? j + width : 0;
    p->end = s->lower ? m->n : j;
    for (int c = 0; c < COLUMNS; c++) {
        const int64_t at = j + (c < width ? c : 0), next = at + COLUMNS < m->n ? at + COLUMNS : at;
        p->column[c] = (const E *)symv_column(m, at);
        p->next[c] = (const E *)symv_column(m, next) + (s->lower ? p->row + COLUMNS : 0) * MATRIX;
    }
    for (int k = 0; k < s->pass->sides; k++) {
        p->x[k] = panel_vector(s->pass, k, -1);
        p->y[k] = panel_vector(s->pass, k, s->index);
        for (int c = 0; c < width; c++)
            p->xc[k * COLUMNS + c] = panel_get(p->x[k], s->stride, j + c);
    }
    memset(p->along, 0, sizeof p->along[0] * (size_t)(s->pass->sides * COLUMNS * ALONG));
}

/* Rows [i, end) of `width` columns and `sides` sides, which are known when compiled; f may be NULL. */
ALWAYS void panel_block(panel *p, const slice *s, int64_t i, int64_t end, int column, int width, int side, int sides,
                        fetch *f, bool accurate)
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
        if (f != NULL) fetch_some(f);
        for (int step = 0; step < STEP_ROWS; step += VECTOR_ROWS)
            panel_rows(columns, i + step, VECTOR_ROWS, s->stride, width, sides, x, y, xc, along, s->hermitian,
                       accurate);
    }
    for (; i < end; i += VECTOR_ROWS) {
        const int rest = end - i < VECTOR_ROWS ? (int)(end - i) : VECTOR_ROWS;
        panel_rows(columns, i, rest, s->stride, width, sides, x, y, xc, along, s->hermitian, accurate);
    }
    for (int k = 0; k < sides; k++)
        for (int c = 0; c < width * ALONG; c++)
            p->along[((side + k) * COLUMNS + column) * ALONG + c] = along[k * width * ALONG + c];
}

/* Some rows, all sides. */
ALWAYS void panel_chunk(panel *p, const slice *s, int64_t i, int64_t end, int width, bool accurate)
{
    const bool last = end == p->end;
    const int sides = s->pass->sides;
    fetch f = {last ? p->next : p->column, last ? 0 : end, 0, 0}, *once = &f;
    int side = 0;
    for (; SIDES_AT_ONCE > 1 && width == COLUMNS && side + SIDES_AT_ONCE <= sides; side += SIDES_AT_ONCE)
        for (int half = 0; half < 2; half++, once = NULL)
            panel_block(p, s, i, end, half * COLUMNS / 2, COLUMNS / 2, side, SIDES_AT_ONCE, once, accurate);
    for (; side < sides; side++, once = NULL)
        panel_block(p, s, i, end, 0, width, side, 1, once, accurate);
}

ALWAYS void slice_columns(const slice *s, int64_t j, int width, bool accurate)
{
    panel p;
    for (int side = 0; side < s->pass->sides; side++)
        slice_diagonal(s, j, width, side, accurate);
    panel_begin(&p, s, j, width);
    for (int64_t i = p.row; i < p.end; i += CHUNK_ROWS)
        panel_chunk(&p, s, i, i + CHUNK_ROWS < p.end ? i + CHUNK_ROWS : p.end, width, accurate);
    for (int k = 0; p.row < p.end && k < s->pass->sides; k++)
        for (int c = 0; c < width; c++) {
            const num sum = panel_total(p.along + (k * COLUMNS + c) * ALONG, s->hermitian, accurate);
            panel_put(p.y[k], s->stride, j + c, num_plus(panel_get(p.y[k], s->stride, j + c), sum, accurate));
        }
}

ALWAYS void slice_run(const symv_pass *pass, int64_t index, bool hermitian, bool accurate)
{
    const symv_matrix *m = pass->m;
    const slice s = {pass, index, panel_room_stride(m->n), m->job->uplo == LACIS_SYMV_LOWER, hermitian};
    const int64_t begin = slice_begin(pass, index), end = slice_begin(pass, index + 1);
    for (int side = 0; side < pass->sides; side++)
        memset(panel_vector(pass, side, index), 0, sizeof(T) * (size_t)(s.stride * PARTS));
    int64_t j = begin;
    for (; j + COLUMNS <= end; j += COLUMNS)
        slice_columns(&s, j, COLUMNS, accurate);
    for (; j < end; j++)
        slice_columns(&s, j, 1, accurate);
}

static void panel_part(const symv_pass *pass, int64_t part)
{
    const lacis_symv_job *job = pass->m->job;
#if IS_WIDE
    if (job->accurate) {
        slice_run(pass, part, job->hermitian, true);
        return;
    }
#endif
    slice_run(pass, part, IS_COMPLEX && job->hermitian, false);
}

/* --- rows of y --------------------------------------------------------------------------------------- */

ALWAYS void panel_sum_of(const symv_pass *pass, int side, int64_t row, int count, num *out, bool accurate)
{
    const bool lower = pass->m->job->uplo == LACIS_SYMV_LOWER;
    const int64_t stride = panel_room_stride(pass->m->n);
    memset(out, 0, sizeof(num) * (size_t)count);
    for (int64_t s = 0; s < panel_slices(pass->m->n); s++) {
        /* The rows that the slice reaches. */
        const int64_t begin = lower ? slice_begin(pass, s) : 0, end = lower ? pass->m->n : slice_begin(pass, s + 1);
        const T *from = panel_vector(pass, side, s);
        for (int i = begin > row ? (int)(begin < row + count ? begin - row : count) : 0; i < count && row + i < end;
             i++)
            out[i] = num_plus(out[i], panel_get(from, stride, row + i), accurate);
    }
}

static void panel_sum(const symv_pass *pass, int side, int64_t row, int count, void *out)
{
    panel_sum_of(pass, side, row, count, out, IS_WIDE && pass->m->job->accurate);
}
