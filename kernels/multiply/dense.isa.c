/* SPDX-License-Identifier: Apache-2.0
 *
 * DENSE rows: products scattered into cells of all columns, or of a window of them at a time, and then emitted in
 * order. COPY rows: the one row of B, mapped. Called from run.c (rows) and hub.c (windows of one row) through
 * mul_kernels.
 */
#include "multiply/loops.h"

/* A window of columns [lo, hi) of one row. */
typedef struct span {
    int64_t row, lo, hi;
    mul_target target;
    uint8_t *flags; /* NULL: not kept */
} span;

static void mark(uint8_t *bytes, const uint32_t *column, int64_t n, uint32_t first, int shift)
{
    for (int64_t i = 0; i < n; i++)
        bytes[(column[i] - first) >> shift] = 1;
}

static bool scatter_slice(mul_worker *w, const span *s, int64_t at_a, int64_t at_b, int64_t end_b)
{
    const lacis_mul_job *job = w->plan->job;
    const uint32_t *column = job->b.column + at_b;
    const int64_t n = end_b - at_b;
    if (n == 0) return true;
    if (!LACIS_ISA(lacis_mul_apply)(w, &s->target, s->row, at_a, at_b, n, column)) return false;
    if (s->flags) mark(s->flags, column, n, (uint32_t)s->lo, 6);
    if (w->plan->touch) mark(w->touch, column, n, (uint32_t)s->lo, 0);
    return true;
}

static bool is_summed(const mul_worker *w, uint32_t c)
{
    const lacis_mul_matrix *b = &w->plan->job->b;
    return w->heavies > 0 && b->end[c] - b->begin[c] >= w->plan->bits->least;
}

/* The only window: slices are found by search, or whole where all columns are wanted. */
static bool scatter_only(mul_worker *w, const span *s)
{
    const lacis_mul_job *job = w->plan->job;
    const lacis_mul_matrix *b = &job->b;
    const int64_t begin = job->a.begin[s->row], degree = job->a.end[s->row] - begin;
    const bool all = s->lo == 0 && s->hi == b->cols, down = w->plan->descending;
    for (int64_t i = 0; i < degree; i++) {
        const int64_t at_a = begin + (down ? degree - 1 - i : i);
        mul_fetch(w->plan, at_a, down ? -1 : 1, degree - i);
        const uint32_t c = job->a.column[at_a];
        int64_t lo = b->begin[c], hi = b->end[c];
        if (is_summed(w, c)) continue;
        if (!all) {
            lo = mul_lower_bound(b->column, lo, hi, s->lo);
            hi = mul_lower_bound(b->column, lo, hi, s->hi);
        }
        if (!scatter_slice(w, s, at_a, lo, hi)) return false;
    }
    return true;
}

/* The end of a slice that begins at lo: steps that double, then search, since slices are short. */
static int64_t slice_end(const uint32_t *column, int64_t lo, int64_t end, int64_t t)
{
    int64_t step = 1;
    while (lo + step < end && (int64_t)column[lo + step] < t) {
        lo += step;
        step *= 2;
    }
    return mul_lower_bound(column, lo, lo + step < end ? lo + step : end, t);
}

/* One of several windows: cursors say where each B row goes on. */
static bool scatter_next(mul_worker *w, const span *s)
{
    const lacis_mul_job *job = w->plan->job;
    const lacis_mul_matrix *b = &job->b;
    const int64_t begin = job->a.begin[s->row], degree = job->a.end[s->row] - begin;
    for (int64_t i = 0; i < degree; i++) {
        const int64_t k = w->plan->descending ? degree - 1 - i : i;
        const int64_t lo = w->cursor[k], end = b->end[job->a.column[begin + k]];
        if (is_summed(w, job->a.column[begin + k])) continue;
        if (lo == end || (int64_t)b->column[lo] >= s->hi) continue;
        const int64_t hi = slice_end(b->column, lo, end, s->hi);
        w->cursor[k] = hi;
        if (!scatter_slice(w, s, begin + k, lo, hi)) return false;
    }
    return true;
}

static bool set_cursors(mul_worker *w, int64_t row, int64_t lo)
{
    const lacis_mul_job *job = w->plan->job;
    const int64_t begin = job->a.begin[row], degree = job->a.end[row] - begin;
    if (!lacis_mul_worker_cursors(w, degree)) return false;
    for (int64_t i = 0; i < degree; i++) {
        const uint32_t c = job->a.column[begin + i];
        w->cursor[i] = mul_lower_bound(job->b.column, job->b.begin[c], job->b.end[c], lo);
    }
    return true;
}

/* Sums and counts of a range, as averages in block_cell. */
static int64_t emit_averages(mul_worker *w, mul_window window, int cell)
{
    uint8_t flags[MUL_RANGE / MUL_BLOCK];
    const uint64_t empty = window.empty;
    void *const sums = window.cells;
    uint8_t *const touch = window.touch;
    if (window.flags) memcpy(flags, window.flags, sizeof flags);
    window.cells = w->counts + (((char *)sums - w->cells) >> cell);
    window.empty = 0;
    window.touch = NULL;
    LACIS_ISA(lacis_mul_emit)(&window, 2, 2, w->block_column, w->block_value);
    if (window.flags) memcpy(window.flags, flags, sizeof flags);
    window.cells = sums;
    window.empty = empty;
    window.touch = touch;
    const int64_t n = LACIS_ISA(lacis_mul_emit)(&window, cell, cell, w->block_column, w->block_cell);
    const uint32_t *counts = (const uint32_t *)w->block_value;
    for (int64_t i = 0; i < n; i++)
        mul_divide(w->plan->kind, w->block_cell, i, counts[i]);
    return n;
}

/* Part of a window, from column `at` of it. */
static mul_window part_of(const mul_window *whole, int64_t at, int64_t n, int cell)
{
    mul_window part = *whole;
    part.cells = (char *)whole->cells + (at << cell);
    part.touch = whole->touch ? whole->touch + at : NULL;
    part.flags = whole->flags ? whole->flags + at / MUL_BLOCK : NULL;
    part.first = whole->first + (uint32_t)at;
    part.n = whole->n - at < n ? whole->n - at : n;
    return part;
}

/* A range of columns through the sink. */
static bool emit_filtered(mul_worker *w, const span *s, const mul_window *range)
{
    const int cell = s->target.log2_bytes;
    const int64_t n = w->plan->job->agg == LACIS_MUL_AVG
                          ? emit_averages(w, *range, cell)
                          : LACIS_ISA(lacis_mul_emit)(range, cell, cell, w->block_column, w->block_cell);
    return lacis_mul_sink_block(w, n, s->target.kind);
}

/* Adds what bitmaps count. Of a top only counts above the least one held so far are wanted. */
static void add_heavy(mul_worker *w, mul_window *part, int cell)
{
    const mul_sink *sink = &w->sink;
    const bool full = sink->counts && sink->held == sink->capacity;
    if (full) part->flags = w->flags;
    LACIS_ISA(lacis_mul_bits_add)(w, part, cell, full ? (uint32_t)sink->heap[0].key : 0);
}

/* A window: as it is, or MUL_RANGE columns at a time where something happens to them before or after. */
static bool emit_window(mul_worker *w, const span *s, const mul_window *whole, uint32_t *column, char *value,
                        int64_t *entries)
{
    const mul_plan *plan = w->plan;
    const int cell = s->target.log2_bytes, store = mul_log2_bytes(plan->job->storage);
    const bool at_once = w->heavies == 0 && (plan->direct || w->sink.counts);
    const int64_t step = at_once ? whole->n : MUL_RANGE;
    for (int64_t at = 0; at < whole->n; at += step) {
        mul_window part = part_of(whole, at, step, cell);
        if (w->heavies > 0) add_heavy(w, &part, cell);
        if (plan->direct)
            *entries += LACIS_ISA(lacis_mul_emit)(&part, cell, store, column + *entries, value + (*entries << store));
        else if (w->sink.counts)
            LACIS_ISA(lacis_mul_emit_top)(w, &part, cell);
        else if (!emit_filtered(w, s, &part))
            return false;
    }
    return true;
}

static span make_span(mul_worker *w, int64_t row, int64_t lo, int64_t hi, int64_t width)
{
    const mul_plan *plan = w->plan;
    span s = {.row = row, .lo = lo, .hi = hi};
    const int64_t degree = plan->job->a.end[row] - plan->job->a.begin[row];
    /* A count exceeds neither the row's degree nor what the job says of all rows. */
    const mul_kind narrow = mul_count_kind((uint64_t)degree);
    s.target.kind = plan->mode == MUL_MODE_COUNT && narrow < plan->kind ? narrow : plan->kind;
    s.target.log2_bytes = mul_log2_bytes(s.target.kind);
    s.target.cells = (void *)((uintptr_t)w->cells - ((uintptr_t)lo << s.target.log2_bytes));
    s.target.counts = (uint32_t *)((uintptr_t)w->counts - (uintptr_t)lo * sizeof(uint32_t));
    /* Flags cost a pass over the columns and save the look at empty blocks: there are few once each has a product. */
    s.flags = w->heavies == 0 && w->row_products < (uint64_t)width / MUL_BLOCK ? w->flags : NULL;
    return s;
}

int64_t LACIS_ISA(lacis_mul_dense)(mul_worker *w, int64_t row, int64_t lo, int64_t hi, uint32_t *column, void *value)
{
    const mul_plan *plan = w->plan;
    const bool several = hi - lo > plan->window;
    int64_t entries = 0;
    if (!lacis_mul_worker_dense(w) || (several && !set_cursors(w, row, lo))) return -1;
    if (!plan->direct && !lacis_mul_sink_begin(w, row, lo, column, value)) return -1;
    w->heavies = lacis_mul_bits_pick(w, row);
    for (int64_t at = lo; at < hi; at += plan->window) {
        const int64_t end = hi - at < plan->window ? hi : at + plan->window;
        const span s = make_span(w, row, at, end, plan->width);
        if (!(several ? scatter_next(w, &s) : scatter_only(w, &s))) return -1;
        const mul_window window = {w->cells,         plan->touch ? w->touch : NULL,
                                   s.flags,          plan->empty,
                                   plan->empty_high, (uint32_t)at,
                                   end - at,         plan->byte_compress};
        if (!emit_window(w, &s, &window, column, value, &entries)) return -1;
    }
    return plan->direct ? entries : lacis_mul_sink_end(w);
}

int64_t LACIS_ISA(lacis_mul_row_dense)(mul_worker *w, int64_t row, uint32_t *column, void *value)
{
    return LACIS_ISA(lacis_mul_dense)(w, row, w->plan->job->t_lo, w->plan->job->t_hi, column, value);
}

int64_t LACIS_ISA(lacis_mul_row_copy)(mul_worker *w, int64_t row, uint32_t *column, void *value)
{
    const mul_plan *plan = w->plan;
    const lacis_mul_job *job = plan->job;
    const int64_t at_a = job->a.begin[row];
    const mul_kind kind = plan->mode == MUL_MODE_COUNT ? LACIS_MUL_TO_U8 : plan->kind;
    const mul_target target = {w->block_cell, w->strip_index, kind, mul_log2_bytes(kind)};
    int64_t lo, hi, entries = 0;
    mul_clip(plan, job->a.column[at_a], &lo, &hi);
    if (!plan->direct && !lacis_mul_sink_begin(w, row, job->t_lo, column, value)) return -1;
    for (int n; lo < hi; lo += n) {
        n = hi - lo < LACIS_MUL_STRIP ? (int)(hi - lo) : LACIS_MUL_STRIP;
        lacis_mul_fill_cells(plan, w->block_cell, n, target.log2_bytes);
        if (!LACIS_ISA(lacis_mul_apply)(w, &target, row, at_a, lo, n, w->iota)) return -1;
        const uint32_t *from = job->b.column + lo;
        memcpy(plan->direct ? column + entries : w->block_column, from, (size_t)n * sizeof *from);
        if (plan->direct)
            lacis_mul_convert(n, kind, w->block_cell, job->storage, (char *)value + entries * plan->value_bytes);
        else if (!lacis_mul_sink_block(w, n, kind))
            return -1;
        entries += n;
    }
    return plan->direct ? entries : lacis_mul_sink_end(w);
}
