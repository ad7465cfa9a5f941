/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to a row's entries on their way to the output where they are not stored as they come: converted to the
 * stored type, kept or dropped by mask and HAVING, offered to the top. Called by the rows' loops with blocks of
 * rising t.
 */
#include "multiply/inside.h"

#include <string.h>

bool lacis_mul_sink_begin(mul_worker *w, int64_t row, int64_t lo, uint32_t *column, void *value)
{
    const lacis_mul_job *job = w->plan->job;
    mul_sink *sink = &w->sink;
    sink->row = row;
    sink->column = column;
    sink->value = value;
    sink->entries = 0;
    sink->held = 0;
    sink->counts = job->top > 0 && job->agg == LACIS_MUL_COUNT && !job->mask && !job->having;
    if (job->mask) {
        sink->mask_end = job->mask->end[row];
        sink->mask_next = mul_lower_bound(job->mask->column, job->mask->begin[row], sink->mask_end, lo);
    }
    return job->top <= 0 || lacis_mul_worker_heap(w);
}

/* --- mask and HAVING -------------------------------------------------------------------------------- */

#define COMPACT(name, T)                                                                                             \
    static int64_t name(int64_t n, const uint8_t *keep, uint32_t *t, T *value)                                       \
    {                                                                                                                \
        int64_t kept = 0;                                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            t[kept] = t[i];                                                                                          \
            value[kept] = value[i];                                                                                  \
            kept += keep[i] != 0;                                                                                    \
        }                                                                                                            \
        return kept;                                                                                                 \
    }
COMPACT(compact_1, uint8_t)
COMPACT(compact_2, uint16_t)
COMPACT(compact_4, uint32_t)
COMPACT(compact_8, uint64_t)
COMPACT(compact_16, mul_pair)

static int64_t compact(int bytes, int64_t n, const uint8_t *keep, uint32_t *t, void *value)
{
    return bytes == 1   ? compact_1(n, keep, t, value)
           : bytes == 2 ? compact_2(n, keep, t, value)
           : bytes == 4 ? compact_4(n, keep, t, value)
           : bytes == 8 ? compact_8(n, keep, t, value)
                        : compact_16(n, keep, t, value);
}

static void match_mask(mul_sink *sink, const lacis_mul_job *job, int64_t n, const uint32_t *t, uint8_t *keep)
{
    const uint32_t *mask = job->mask->column;
    int64_t next = sink->mask_next;
    for (int64_t i = 0; i < n; i++) {
        while (next < sink->mask_end && mask[next] < t[i])
            next++;
        const bool hit = next < sink->mask_end && mask[next] == t[i];
        keep[i] = hit != job->mask_not;
    }
    sink->mask_next = next;
}

static bool ask_having(mul_worker *w, int64_t n, const char *value)
{
    const lacis_mul_job *job = w->plan->job;
    for (int64_t at = 0; at < n; at += LACIS_MUL_STRIP) {
        const int now = n - at < LACIS_MUL_STRIP ? (int)(n - at) : LACIS_MUL_STRIP;
        if (!job->having(job->user, w->user, now, w->sink.row, w->block_column + at,
                         value + at * w->plan->value_bytes, w->keep + at)) {
            w->status = LACIS_MUL_OVERFLOW;
            return false;
        }
    }
    return true;
}

/* --- the top ------------------------------------------------------------------------------------------ */

static bool worse(const mul_candidate *x, const mul_candidate *y)
{
    return x->key < y->key || (x->key == y->key && x->t > y->t);
}

static void swap(mul_candidate *x, mul_candidate *y)
{
    const mul_candidate z = *x;
    *x = *y;
    *y = z;
}

void lacis_mul_sink_take(mul_worker *w, uint64_t key, uint64_t value, uint32_t t)
{
    mul_sink *sink = &w->sink;
    mul_candidate *heap = sink->heap;
    const mul_candidate candidate = {key, value, t};
    if (sink->held < sink->capacity) {
        int64_t i = sink->held++;
        heap[i] = candidate;
        for (; i > 0 && worse(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
            swap(&heap[i], &heap[(i - 1) / 2]);
        return;
    }
    if (key <= heap[0].key) return;
    heap[0] = candidate;
    for (int64_t i = 0;;) {
        int64_t worst = i;
        for (int64_t child = 2 * i + 1; child <= 2 * i + 2 && child < sink->held; child++)
            if (worse(&heap[child], &heap[worst])) worst = child;
        if (worst == i) return;
        swap(&heap[i], &heap[worst]);
        i = worst;
    }
}

static uint64_t signed_key(int64_t v)
{
    return (uint64_t)v ^ 1ULL << 63;
}

/* NaN is the least; zeros are equal. */
static uint64_t double_key(double v)
{
    mul_scalar s = {.f64 = v + 0.0};
    if (v != v) return 0;
    return s.bits >> 63 ? ~s.bits : s.bits | 1ULL << 63;
}

enum { GLANCE = 32 }; /* entries compared at once with the worst that is held */

/* Whether any of n values is above the least one held (where all places are taken; of key 0, NaN, all are). */
#define OFFER(T, KEY)                                                                                                \
    {                                                                                                                \
        const T *v = value;                                                                                          \
        for (int64_t from = 0; from < n; from += GLANCE) {                                                           \
            const int64_t to = n - from < GLANCE ? n : from + GLANCE;                                                \
            if (sink->held == sink->capacity && sink->heap[0].key != 0) {                                            \
                T least;                                                                                             \
                memcpy(&least, &sink->heap[0].value, sizeof least);                                                  \
                int any = 0;                                                                                         \
                for (int64_t i = from; i < to; i++)                                                                  \
                    any |= v[i] > least;                                                                             \
                if (!any) continue;                                                                                  \
            }                                                                                                        \
            for (int64_t i = from; i < to; i++) {                                                                    \
                uint64_t bits = 0;                                                                                   \
                memcpy(&bits, v + i, sizeof(T));                                                                     \
                lacis_mul_sink_take(w, KEY, bits, t[i]);                                                             \
            }                                                                                                        \
        }                                                                                                            \
        break;                                                                                                       \
    }

void lacis_mul_sink_offer(mul_worker *w, int64_t n, const uint32_t *t, const void *value)
{
    const mul_sink *sink = &w->sink;
    switch (w->plan->job->storage) {
    case LACIS_MUL_TO_U8:
        OFFER(uint8_t, v[i])
    case LACIS_MUL_TO_U16:
        OFFER(uint16_t, v[i])
    case LACIS_MUL_TO_U32:
        OFFER(uint32_t, v[i])
    case LACIS_MUL_TO_I32:
        OFFER(int32_t, signed_key(v[i]))
    case LACIS_MUL_TO_I64:
        OFFER(int64_t, signed_key(v[i]))
    case LACIS_MUL_TO_F32:
        OFFER(float, double_key((double)v[i]))
    case LACIS_MUL_TO_F64:
        OFFER(double, double_key(v[i]))
    case LACIS_MUL_TO_C128: /* has no order */
        break;
    }
}

static void offer_counts(mul_worker *w, int64_t n, mul_kind kind)
{
    uint32_t *counts = (uint32_t *)w->block_value;
    lacis_mul_convert(n, kind, w->block_cell, LACIS_MUL_TO_U32, counts);
    for (int64_t i = 0; i < n; i++)
        lacis_mul_sink_take(w, counts[i], counts[i], w->block_column[i]);
}

/* The candidates by rising t. */
static int64_t store_top(mul_worker *w)
{
    mul_sink *sink = &w->sink;
    const mul_plan *plan = w->plan;
    const int64_t n = sink->held;
    for (int64_t i = 0; i < n; i++)
        sink->order[i] = (uint64_t)sink->heap[i].t << 32 | (uint64_t)i;
    const uint64_t *order =
        lacis_mul_sort_keys(sink->order, sink->order_other, n, (uint64_t)(plan->job->t_hi - 1) << 32);
    for (int64_t i = 0; i < n; i++) {
        const mul_candidate *c = &sink->heap[(uint32_t)order[i]];
        char *value = sink->value + i * plan->value_bytes;
        const uint32_t count = (uint32_t)c->value;
        sink->column[i] = c->t;
        if (sink->counts)
            lacis_mul_convert(1, LACIS_MUL_TO_U32, &count, plan->job->storage, value);
        else
            memcpy(value, &c->value, (size_t)plan->value_bytes);
    }
    return n;
}

/* --- blocks ------------------------------------------------------------------------------------------- */

bool lacis_mul_sink_block(mul_worker *w, int64_t n, mul_kind kind)
{
    const mul_plan *plan = w->plan;
    const lacis_mul_job *job = plan->job;
    mul_sink *sink = &w->sink;
    char *value = w->block_cell;
    if (n == 0) return true;
    if (sink->counts) {
        offer_counts(w, n, kind);
        return true;
    }
    if (kind != job->storage) {
        value = w->block_value;
        lacis_mul_convert(n, kind, w->block_cell, job->storage, value);
    }
    if (job->mask) {
        match_mask(sink, job, n, w->block_column, w->keep);
        n = compact(plan->value_bytes, n, w->keep, w->block_column, value);
    }
    if (job->having) {
        if (!ask_having(w, n, value)) return false;
        n = compact(plan->value_bytes, n, w->keep, w->block_column, value);
    }
    if (job->top > 0) {
        lacis_mul_sink_offer(w, n, w->block_column, value);
        return true;
    }
    memcpy(sink->column + sink->entries, w->block_column, (size_t)n * sizeof *sink->column);
    memcpy(sink->value + sink->entries * plan->value_bytes, value, (size_t)n * (size_t)plan->value_bytes);
    sink->entries += n;
    return true;
}

int64_t lacis_mul_sink_end(mul_worker *w)
{
    return w->plan->job->top > 0 ? store_top(w) : w->sink.entries;
}
