/* SPDX-License-Identifier: Apache-2.0
 *
 * HASH rows: an open-addressed table gives every new column the next number; products are scattered into cells by
 * number; then the columns are sorted and their cells picked. For rows of middling size over more columns than caches
 * hold cells for, and for the few rows of small jobs, where emptying a dense window would cost more than the answer.
 * Called from run.c through mul_kernels.
 */
#include "multiply/loops.h"

#if defined(__AVX512F__)
#include "multiply/network.h"
#endif

typedef struct table {
    uint64_t *slot; /* column << 32 | number + 1; 0: free */
    uint64_t *keys; /* column << 32 | number, in order of first touch */
    uint32_t mask;
    int shift;
    uint32_t entries;
} table;

static table open_table(mul_worker *w, uint64_t products)
{
    table t = {.slot = w->table, .keys = w->keys};
    int log2_slots = 6;
    while ((1ULL << log2_slots) < 2 * products && (1 << log2_slots) < 2 * MUL_HASH_MAX)
        log2_slots++;
    t.mask = (uint32_t)(1ULL << log2_slots) - 1;
    t.shift = 32 - log2_slots;
    memset(t.slot, 0, sizeof *t.slot << log2_slots);
    return t;
}

/* index[i] := the number of column[i]. */
static void look_up(table *t, const uint32_t *restrict column, int n, uint32_t *restrict index)
{
    uint32_t entries = t->entries;
    for (int i = 0; i < n; i++) {
        const uint32_t c = column[i];
        uint32_t at = c * 0x9e3779b1u >> t->shift;
        uint64_t slot;
        while ((slot = t->slot[at]) != 0 && (uint32_t)(slot >> 32) != c)
            at = (at + 1) & t->mask;
        if (slot == 0) {
            t->keys[entries] = (uint64_t)c << 32 | entries;
            slot = (uint64_t)c << 32 | ++entries;
            t->slot[at] = slot;
        }
        index[i] = (uint32_t)slot - 1;
    }
    t->entries = entries;
}

static bool scatter_all(mul_worker *w, table *t, const mul_target *target, int64_t row)
{
    const lacis_mul_job *job = w->plan->job;
    const int64_t begin = job->a.begin[row], degree = job->a.end[row] - begin;
    const bool down = w->plan->descending;
    for (int64_t i = 0; i < degree; i++) {
        const int64_t at_a = begin + (down ? degree - 1 - i : i);
        mul_fetch(w->plan, at_a, down ? -1 : 1, degree - i);
        int64_t lo, hi;
        mul_clip(w->plan, job->a.column[at_a], &lo, &hi);
        for (int n; lo < hi; lo += n) {
            n = hi - lo < LACIS_MUL_STRIP ? (int)(hi - lo) : LACIS_MUL_STRIP;
            look_up(t, job->b.column + lo, n, w->strip_index);
            if (!LACIS_ISA(lacis_mul_apply)(w, target, row, at_a, lo, n, w->strip_index)) return false;
        }
    }
    return true;
}

/* Few keys of narrow columns: sorted in registers as column << 8 | number. */
static bool sort_few(mul_worker *w, const table *t)
{
#if defined(__AVX512F__)
    const uint32_t first = (uint32_t)w->plan->job->t_lo;
    if (t->entries > MUL_SORT_MAX || w->plan->width > 1 << 24) return false;
    for (uint32_t i = 0; i < t->entries; i++)
        w->sort_key[i] = ((uint32_t)(t->keys[i] >> 32) - first) << 8 | i;
    network_sort_keys(w->sort_key, (int)t->entries);
    for (uint32_t i = 0; i < t->entries; i++)
        t->keys[i] = (uint64_t)((w->sort_key[i] >> 8) + first) << 32 | (w->sort_key[i] & 255);
    return true;
#else
    (void)w;
    (void)t;
    return false;
#endif
}

/* Entries [at, at + n) of the sorted keys as columns and cells. */
static void pick_entries(mul_worker *w, const mul_target *target, const uint64_t *keys, int n, uint32_t *column,
                         void *cells)
{
    for (int i = 0; i < n; i++) {
        column[i] = (uint32_t)(keys[i] >> 32);
        w->strip_index[i] = (uint32_t)keys[i];
    }
    LACIS_ISA(lacis_mul_pick)(target->log2_bytes, cells, target->cells, w->strip_index, n);
    if (w->plan->job->agg == LACIS_MUL_AVG)
        for (int i = 0; i < n; i++)
            mul_divide(target->kind, cells, i, target->counts[w->strip_index[i]]);
}

static int64_t emit_all(mul_worker *w, const mul_target *target, const uint64_t *keys, int64_t entries,
                        uint32_t *column, char *value)
{
    const mul_plan *plan = w->plan;
    int n;
    for (int64_t at = 0; at < entries; at += n) {
        n = entries - at < LACIS_MUL_STRIP ? (int)(entries - at) : LACIS_MUL_STRIP;
        if (!plan->direct) {
            pick_entries(w, target, keys + at, n, w->block_column, w->block_cell);
            if (!lacis_mul_sink_block(w, n, target->kind)) return -1;
        } else if (plan->mode == MUL_MODE_COUNT) {
            pick_entries(w, target, keys + at, n, column + at, w->block_cell);
            lacis_mul_convert(n, target->kind, w->block_cell, plan->job->storage, value + at * plan->value_bytes);
        } else {
            pick_entries(w, target, keys + at, n, column + at, value + at * plan->value_bytes);
        }
    }
    return plan->direct ? entries : lacis_mul_sink_end(w);
}

int64_t LACIS_ISA(lacis_mul_row_hash)(mul_worker *w, int64_t row, uint32_t *column, void *value)
{
    const mul_plan *plan = w->plan;
    if (!lacis_mul_worker_hash(w) || (!plan->direct && !lacis_mul_sink_begin(w, row, plan->job->t_lo, column, value)))
        return -1;
    const mul_kind kind = plan->mode == MUL_MODE_COUNT ? LACIS_MUL_TO_U32 : plan->kind;
    const mul_target target = {w->hash_cells, w->hash_counts, kind, mul_log2_bytes(kind)};
    table t = open_table(w, w->row_products);
    if (!scatter_all(w, &t, &target, row)) return -1;
    const uint64_t *keys = t.keys;
    if (!sort_few(w, &t))
        keys = lacis_mul_sort_keys(t.keys, w->keys_other, t.entries, (uint64_t)plan->job->t_hi << 32);
    const int64_t entries = emit_all(w, &target, keys, t.entries, column, value);
    lacis_mul_fill_cells(plan, w->hash_cells, t.entries, target.log2_bytes);
    if (plan->job->agg == LACIS_MUL_AVG) memset(w->hash_counts, 0, t.entries * sizeof *w->hash_counts);
    return entries;
}
