/* SPDX-License-Identifier: Apache-2.0
 *
 * A worker's memory. The small part is there from the start, a dense window, a table and the rest when the first row
 * needs them, so that a call for one row stays cheap. Called by run.c, hub.c and the rows' loops.
 */
#include "multiply/inside.h"

#include <string.h>

enum { SORT_ROOM = 2 * MUL_SORT_MAX, BLOCK_ROOM = MUL_RANGE + MUL_PAD };

/* Deals aligned parts of a block; with base NULL only measures. */
typedef struct carver {
    char *base;
    uint64_t used;
} carver;

static void *carve(carver *c, uint64_t bytes)
{
    void *part = c->base ? c->base + c->used : NULL;
    c->used += (bytes + 63) / 64 * 64;
    return part;
}

static void carve_small(mul_worker *w, carver *c, const mul_plan *plan)
{
    const uint64_t widest = plan->kind == LACIS_MUL_TO_C128 ? 16 : 8;
    w->strip_value = carve(c, LACIS_MUL_STRIP * widest);
    w->strip_other = carve(c, LACIS_MUL_STRIP * widest);
    w->strip_x = carve(c, LACIS_MUL_STRIP * widest);
    w->strip_index = carve(c, LACIS_MUL_STRIP * 4);
    w->iota = carve(c, LACIS_MUL_STRIP * 4);
    w->block_column = carve(c, BLOCK_ROOM * 4);
    w->block_cell = carve(c, BLOCK_ROOM * widest);
    w->block_value = carve(c, BLOCK_ROOM * widest);
    w->keep = carve(c, BLOCK_ROOM);
    w->sort_key = carve(c, SORT_ROOM * 4);
    w->sort_slot = carve(c, SORT_ROOM * 4);
    w->sort_start = carve(c, SORT_ROOM * 4);
    w->sort_wide = carve(c, SORT_ROOM * 8);
    w->sort_value = carve(c, SORT_ROOM * widest);
    w->order = carve(c, MUL_CHUNK_ROWS * 4);
    w->row_class = carve(c, MUL_CHUNK_ROWS);
    w->user = carve(c, plan->job->workspace_bytes);
}

static void *get(mul_worker *w, uint64_t bytes)
{
    const lacis_mul_memory *memory = &w->plan->job->memory;
    void *block = memory->alloc(memory->context, bytes);
    if (!block) w->status = LACIS_MUL_NO_MEMORY;
    return block;
}

static void put_back(const mul_worker *w, void *block)
{
    const lacis_mul_memory *memory = &w->plan->job->memory;
    if (block) memory->free(memory->context, block);
}

bool lacis_mul_worker_open(mul_worker *w, const mul_plan *plan)
{
    carver c = {NULL, 0};
    memset(w, 0, sizeof *w);
    w->plan = plan;
    carve_small(w, &c, plan);
    w->small = get(w, c.used);
    if (!w->small) return false;
    c = (carver){w->small, 0};
    carve_small(w, &c, plan);
    for (uint32_t i = 0; i < LACIS_MUL_STRIP; i++)
        w->iota[i] = i;
    return true;
}

void lacis_mul_worker_close(mul_worker *w)
{
    put_back(w, w->small);
    put_back(w, w->cells);
    put_back(w, w->hash_cells);
    put_back(w, w->cursor);
    put_back(w, w->sink.heap);
    put_back(w, w->spare);
}

void lacis_mul_fill_cells(const mul_plan *plan, void *cells, int64_t n, int log2_bytes)
{
    const uint64_t low = plan->empty, high = plan->empty_high;
    uint64_t *wide = cells;
    uint32_t *narrow = cells;
    if (low == 0 && high == 0)
        memset(cells, 0, (size_t)n << log2_bytes);
    else if (log2_bytes == 4)
        for (int64_t i = 0; i < 2 * n; i++)
            wide[i] = i % 2 == 0 ? low : high;
    else if (log2_bytes == 3)
        for (int64_t i = 0; i < n; i++)
            wide[i] = low;
    else
        for (int64_t i = 0; i < n; i++)
            narrow[i] = (uint32_t)low;
}

static void carve_dense(mul_worker *w, carver *c, const mul_plan *plan)
{
    const uint64_t window = (uint64_t)plan->window;
    w->cells = carve(c, window << mul_log2_bytes(plan->kind));
    w->flags = carve(c, (window / MUL_BLOCK + 63) / 64 * 64);
    w->touch = plan->touch ? carve(c, window) : NULL;
    w->counts = plan->job->agg == LACIS_MUL_AVG ? carve(c, window * sizeof(uint32_t)) : NULL;
}

bool lacis_mul_worker_dense(mul_worker *w)
{
    const mul_plan *plan = w->plan;
    carver c = {NULL, 0};
    if (w->cells) return true;
    carve_dense(w, &c, plan);
    c = (carver){get(w, c.used), 0};
    if (!c.base) return false;
    carve_dense(w, &c, plan);
    lacis_mul_fill_cells(plan, w->cells, plan->window, mul_log2_bytes(plan->kind));
    memset(w->flags, 0, (size_t)(plan->window / MUL_BLOCK + 63) / 64 * 64);
    if (w->touch) memset(w->touch, 0, (size_t)plan->window);
    if (w->counts) memset(w->counts, 0, (size_t)plan->window * sizeof *w->counts);
    return true;
}

/* Products of the greatest row that a table is made for. */
static uint64_t hash_room(const mul_plan *plan)
{
    return plan->total < MUL_HASH_MAX ? plan->total : MUL_HASH_MAX;
}

static void carve_hash(mul_worker *w, carver *c, const mul_plan *plan)
{
    const uint64_t room = hash_room(plan);
    uint64_t slots = 64;
    while (slots < 2 * room)
        slots *= 2;
    w->hash_cells = carve(c, room << (plan->mode == MUL_MODE_COUNT ? 2 : mul_log2_bytes(plan->kind)));
    w->hash_counts = plan->job->agg == LACIS_MUL_AVG ? carve(c, room * sizeof(uint32_t)) : NULL;
    w->table = carve(c, slots * sizeof(uint64_t));
    w->keys = carve(c, room * sizeof(uint64_t));
    w->keys_other = carve(c, room * sizeof(uint64_t));
}

bool lacis_mul_worker_hash(mul_worker *w)
{
    const mul_plan *plan = w->plan;
    carver c = {NULL, 0};
    if (w->hash_cells) return true;
    carve_hash(w, &c, plan);
    c = (carver){get(w, c.used), 0};
    if (!c.base) return false;
    carve_hash(w, &c, plan);
    lacis_mul_fill_cells(plan, w->hash_cells, (int64_t)hash_room(plan),
                         plan->mode == MUL_MODE_COUNT ? 2 : mul_log2_bytes(plan->kind));
    if (w->hash_counts) memset(w->hash_counts, 0, hash_room(plan) * sizeof *w->hash_counts);
    return true;
}

bool lacis_mul_worker_cursors(mul_worker *w, int64_t count)
{
    if (count <= w->cursors) return true;
    put_back(w, w->cursor);
    w->cursors = 0;
    w->cursor = get(w, (uint64_t)count * sizeof *w->cursor);
    if (w->cursor) w->cursors = count;
    return w->cursor != NULL;
}

static uint64_t heap_capacity(const mul_plan *plan)
{
    const int64_t top = plan->job->top;
    return (uint64_t)(top < plan->width ? top : plan->width);
}

bool lacis_mul_worker_heap(mul_worker *w)
{
    mul_sink *sink = &w->sink;
    const uint64_t n = heap_capacity(w->plan);
    if (sink->heap) return true;
    sink->heap = get(w, n * (sizeof *sink->heap + 2 * sizeof *sink->order));
    if (!sink->heap) return false;
    sink->order = (uint64_t *)(sink->heap + n);
    sink->order_other = sink->order + n;
    sink->capacity = (int64_t)n;
    return true;
}

static uint64_t spare_bytes(const mul_plan *plan, uint64_t entries)
{
    return entries * (sizeof(uint32_t) + (uint64_t)plan->value_bytes) + 64;
}

bool lacis_mul_worker_spare(mul_worker *w, int64_t entries)
{
    if (entries <= w->spare_entries) return true;
    put_back(w, w->spare);
    w->spare_entries = 0;
    w->spare = get(w, spare_bytes(w->plan, (uint64_t)entries));
    if (w->spare) w->spare_entries = entries;
    return w->spare != NULL;
}

uint64_t lacis_mul_worker_bytes(const mul_plan *plan)
{
    mul_worker w;
    carver c = {NULL, 0};
    carve_small(&w, &c, plan);
    carve_dense(&w, &c, plan);
    carve_hash(&w, &c, plan);
    carve(&c, plan->width > plan->window ? plan->job->max_degree_a * sizeof *w.cursor : 0);
    carve(&c, plan->job->top > 0 ? heap_capacity(plan) * (sizeof(mul_candidate) + 16) : 0);
    carve(&c, spare_bytes(plan, (uint64_t)plan->width + MUL_PAD));
    return c.used + sizeof w;
}
