/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast order of one type: the triangle falls into slices of columns by n alone, each with sums of its own for all
 * rows that it reaches, which are added slice by slice. Within a slice COLUMNS go down together as a panel
 * (panel_walk.h), of which each element is loaded once and used twice; where they cross the diagonal they have a
 * square of their own (panel_corner.h, of double-double sums panel_square.h). Columns are counted off so that the
 * square that is left over, where n is no multiple, has no panel: it is the last of a lower triangle and the first of
 * an upper one.
 *
 * Vectors in the room: by planes (PLANES, wide.h) or as they are in memory, elements side by side. Included after
 * panel_real.h, panel_complex.h or panel_wide.h.
 */

enum {
    PANEL_PASS = 16,   /* right-hand sides in one pass over the matrix */
    SLICE_LEAST = 128, /* columns of a slice, about, at least */
    SLICES_MOST = 32,
    SETS = 64,
    SETS_APART = 11,
    WHOLE_UP_TO = 256 /* n of which there is one slice; run.c's SMALL */
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
    if (s == 0 || s == slices) return s == 0 ? 0 : n;
    if (pass->m->job->uplo == LACIS_SYMV_LOWER)
        return (int64_t)((1 - sqrt(1 - share)) * (double)n) / COLUMNS * COLUMNS;
    return (int64_t)(sqrt(share) * (double)n) / COLUMNS * COLUMNS + n % COLUMNS;
}

/* Elements from one vector to the next: whole lines, and not so that rows of several vectors fall on each other in
 * the first-level cache, which has 64 lines before the same place comes again. */
static int64_t panel_room_stride(int64_t n)
{
    const int64_t line = 64 / sizeof(T), lines = (n + line - 1) / line;
    const int64_t apart = lines + (SETS_APART - lines % SETS + SETS) % SETS;
    return lines < SETS ? lines * line : apart * line;
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
        out.v[k] = PLANES ? vector[k * stride + i] : vector[i * PARTS + k];
    return out;
}

ALWAYS void panel_put(T *vector, int64_t stride, int64_t i, num value)
{
    for (int k = 0; k < PARTS; k++)
        vector[PLANES ? k * stride + i : i * PARTS + k] = value.v[k];
}

static void panel_bring(const symv_pass *pass)
{
    const int64_t n = pass->m->n, stride = panel_room_stride(n), step = pass->m->job->x_step;
    for (int side = 0; side < pass->sides; side++) {
        T *to = panel_vector(pass, side, -1);
        const T *from = x_at(pass, side, 0);
        if (step == 1 && !PLANES) {
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
    bool large; /* a triangle that is not in the second-level cache, likely */
} slice;

#include "symv/panel_walk.h"

ALWAYS void slice_clear(const slice *s, int side, int64_t begin, int64_t end)
{
    const int64_t each = PLANES ? 1 : PARTS;
    T *y = panel_vector(s->pass, side, s->index);
    for (int plane = 0; plane < PARTS / each; plane++)
        memset(y + plane * s->stride + begin * each, 0, sizeof(T) * (size_t)((end - begin) * each));
}

ALWAYS void slice_run(const symv_pass *pass, int64_t index, bool hermitian, bool accurate)
{
    const symv_matrix *m = pass->m;
    const bool large = m->n / 2 * m->n >= NEXT_FROM / ELEMENT;
    const slice s = {pass, index, panel_room_stride(m->n), m->job->uplo == LACIS_SYMV_LOWER, hermitian, large};
    const int64_t begin = slice_begin(pass, index), end = slice_begin(pass, index + 1);
    for (int side = 0; side < pass->sides; side++)
        slice_clear(&s, side, s.lower ? begin : 0, s.lower ? m->n : end);
    int64_t j = begin;
    const int left = (int)(m->n % COLUMNS);
    if (left > 0 && !s.lower && j == 0) {
        panel_left(&s, 0, left, accurate);
        j = left;
    }
    for (; j + COLUMNS <= end; j += COLUMNS)
        panel_walk(&s, j, accurate);
    if (j < end) panel_left(&s, j, left, accurate);
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

/* Rows [row, row + count) of a slice's sums onto others. */
ALWAYS void panel_onto(num *out, const T *from, int64_t stride, int64_t row, int count, bool accurate)
{
#if IS_WIDE && !PLANES
    for (int i = 0; i < count; i += WIDTH) {
        const int some = count - i < WIDTH ? count - i : WIDTH;
        vec more[PARTS];
        wide_rows(from, stride, row + i, some, more);
        wide_rows_add(out->v, stride, i, some, more, accurate);
    }
#else
    for (int i = 0; i < count; i++)
        out[i] = num_plus(out[i], panel_get(from, stride, row + i), accurate);
#endif
}

ALWAYS void panel_sum_of(const symv_pass *pass, int side, int64_t row, int count, num *out, bool accurate)
{
    const bool lower = pass->m->job->uplo == LACIS_SYMV_LOWER;
    const int64_t stride = panel_room_stride(pass->m->n);
    memset(out, 0, sizeof(num) * (size_t)count);
    for (int64_t s = 0; s < panel_slices(pass->m->n); s++) {
        /* The rows that the slice reaches. */
        const int64_t begin = lower ? slice_begin(pass, s) : 0, end = lower ? pass->m->n : slice_begin(pass, s + 1);
        const int first = begin > row ? (int)(begin - row) : 0, last = end < row + count ? (int)(end - row) : count;
        if (first < last)
            panel_onto(out + first, panel_vector(pass, side, s), stride, row + first, last - first, accurate);
    }
}

static void panel_sum(const symv_pass *pass, int side, int64_t row, int count, void *out)
{
    panel_sum_of(pass, side, row, count, out, IS_WIDE && pass->m->job->accurate);
}
