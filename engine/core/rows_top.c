/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of greatest value out of all that a source yields (ORDER BY value DESC LIMIT k), kept in a bounded heap:
 * k rows of memory whatever the source's length. rows.c and the sources over lazy calls use it.
 */
#include "core/rows.h"

#include "core/cells.h"
#include "core/heap.h"

#include <string.h>

typedef struct kept_rows {
    lacis_rows base;
    lacis_memory *memory;
    int columns, keys, value;
    bool last_first; /* lacis_columns */
    int text, words; /* the column of text, or -1, and how many columns before it are its numbers */
    char *shown;     /* own */
    char own[LACIS_CELL_TEXT];
    int64_t limit, count, room, at;
    lacis_cell *cells; /* room rows of `columns` cells; row r is a slot that keeps its place */
    uint64_t *arrival; /* of each slot: breaks ties that the key columns leave */
    int64_t *order;    /* a heap of slots, at the end the slots best first */
} kept_rows;

static inline const lacis_cell *cell_of(const kept_rows *rows, int64_t slot, int column)
{
    return &rows->cells[slot * rows->columns + column];
}

/* The k-th column by which rows are sorted. */
static inline int key_of(const kept_rows *rows, int k)
{
    return rows->last_first ? rows->keys - 1 - k : k;
}

/* -1, 0, 1; what is not a number (NULL in SQL) is least. */
static int compare_cells(const lacis_cell *a, const lacis_cell *b)
{
    if (a->type == LACIS_INTEGER && b->type == LACIS_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    double x = a->type == LACIS_INTEGER ? (double)a->integer : a->real;
    double y = b->type == LACIS_INTEGER ? (double)b->integer : b->real;
    bool no_x = a->type == LACIS_NULL || x != x, no_y = b->type == LACIS_NULL || y != y;
    if (no_x || no_y) return (int)no_y - (int)no_x;
    return (x > y) - (x < y);
}

static bool slot_worse(const void *context, int64_t a, int64_t b)
{
    const kept_rows *rows = context;
    int order = compare_cells(cell_of(rows, a, rows->value), cell_of(rows, b, rows->value));
    if (order != 0) return order < 0;
    for (int k = 0; k < rows->keys; k++) {
        int key = key_of(rows, k);
        order = compare_cells(cell_of(rows, a, key), cell_of(rows, b, key));
        if (order != 0) return order > 0;
    }
    return rows->arrival[a] > rows->arrival[b];
}

static lacis_status kept_next(lacis_rows *base, lacis_run *run, bool *more)
{
    (void)run;
    kept_rows *rows = (kept_rows *)base;
    *more = ++rows->at < rows->count;
    return LACIS_OK;
}

static void kept_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const kept_rows *rows = (const kept_rows *)base;
    *out = *cell_of(rows, rows->order[rows->at], column);
    if (column != rows->text) return;
    double word[4] = {0};
    for (int k = 0; k < rows->words; k++)
        word[k] = cell_of(rows, rows->order[rows->at], column - rows->words + k)->real;
    lacis_cell_of(word, rows->words == 2 ? LACIS_DD : LACIS_CDD, 0, rows->words, rows->shown, out);
}

static void kept_close(lacis_rows *base)
{
    kept_rows *rows = (kept_rows *)base;
    lacis_memory *memory = rows->memory;
    lacis_memory_free(memory, rows->cells);
    lacis_memory_free(memory, rows->arrival);
    lacis_memory_free(memory, rows->order);
    lacis_memory_free(memory, rows);
    lacis_memory_release(memory);
}

static const lacis_rows_class kept_class = {kept_next, kept_cell, kept_close};

/* A block of `bytes` that begins with the old one's `used` bytes; frees the old one. */
static lacis_status grow_block(kept_rows *rows, lacis_run *run, void *block, uint64_t used, uint64_t bytes)
{
    void *old, *fresh = lacis_memory_alloc(rows->memory, bytes);
    if (fresh == NULL) return lacis_run_no_memory(run, bytes);
    memcpy(&old, block, sizeof old);
    if (used > 0) memcpy(fresh, old, used);
    lacis_memory_free(rows->memory, old);
    memcpy(block, &fresh, sizeof fresh);
    return LACIS_OK;
}

static lacis_status grow(kept_rows *rows, lacis_run *run)
{
    int64_t room = rows->room == 0 ? 64 : 2 * rows->room;
    if (room > rows->limit) room = rows->limit;
    uint64_t width = (uint64_t)rows->columns * sizeof(lacis_cell);
    uint64_t used = (uint64_t)rows->room, want = (uint64_t)room;
    if (want > UINT64_MAX / 2 / width) return lacis_run_no_memory(run, UINT64_MAX / 2);
    LACIS_TRY(grow_block(rows, run, &rows->cells, used * width, want * width));
    LACIS_TRY(grow_block(rows, run, &rows->arrival, used * sizeof(uint64_t), want * sizeof(uint64_t)));
    LACIS_TRY(grow_block(rows, run, &rows->order, used * sizeof(int64_t), want * sizeof(int64_t)));
    rows->room = room;
    return LACIS_OK;
}

static void fill_slot(kept_rows *rows, const lacis_rows *source, int64_t slot, uint64_t arrival)
{
    for (int column = 0; column < rows->columns; column++)
        if (column != rows->text) lacis_rows_cell(source, column, &rows->cells[slot * rows->columns + column]);
    rows->arrival[slot] = arrival;
}

/* Whether the source's present row is worth more than the worst one kept. Equal ones stay out: they came later. */
static bool better_than_root(const kept_rows *rows, const lacis_rows *source)
{
    int64_t root = rows->order[0];
    lacis_cell cell = {.type = LACIS_NULL};
    lacis_rows_cell(source, rows->value, &cell);
    int order = compare_cells(&cell, cell_of(rows, root, rows->value));
    for (int k = 0; order == 0 && k < rows->keys; k++) {
        int key = key_of(rows, k);
        lacis_rows_cell(source, key, &cell);
        order = -compare_cells(&cell, cell_of(rows, root, key));
    }
    return order > 0;
}

static lacis_status take_row(kept_rows *rows, lacis_run *run, const lacis_rows *source, uint64_t arrival)
{
    if (rows->count == rows->limit) {
        if (!better_than_root(rows, source)) return LACIS_OK;
        fill_slot(rows, source, rows->order[0], arrival);
        lacis_heap_down(rows->order, rows->count, 0, slot_worse, rows);
        return LACIS_OK;
    }
    if (rows->count == rows->room) LACIS_TRY(grow(rows, run));
    fill_slot(rows, source, rows->count, arrival);
    rows->order[rows->count] = rows->count;
    lacis_heap_up(rows->order, rows->count, slot_worse, rows);
    rows->count++;
    return LACIS_OK;
}

static lacis_status drain(kept_rows *rows, lacis_run *run, lacis_rows *source)
{
    bool more = false;
    if (rows->limit == 0) return LACIS_OK;
    for (uint64_t arrival = 0;; arrival++) {
        if ((arrival & 0xffff) == 0xffff && lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        LACIS_TRY(lacis_rows_next(source, run, &more));
        if (!more) break;
        LACIS_TRY(take_row(rows, run, source, arrival));
    }
    lacis_heap_sort(rows->order, rows->count, slot_worse, rows);
    return LACIS_OK;
}

lacis_status lacis_rows_top(lacis_run *run, lacis_rows *source, const lacis_columns *columns, int64_t limit,
                            lacis_rows **out)
{
    lacis_memory *memory = run->host->memory;
    kept_rows *rows = lacis_memory_alloc(memory, sizeof *rows);
    if (rows == NULL) {
        lacis_rows_close(source);
        return lacis_run_no_memory(run, sizeof *rows);
    }
    *rows = (kept_rows){
        .base = {&kept_class},
        .memory = lacis_memory_retain(memory),
        .columns = columns->count,
        .keys = columns->keys,
        .last_first = columns->last_first,
        .value = columns->value >= 0 ? columns->value : columns->keys,
        .text = columns->text,
        .words = columns->value >= 0 ? 2 : 4,
        .limit = limit,
        .at = -1,
    };
    rows->shown = rows->own;
    lacis_status status = drain(rows, run, source);
    lacis_rows_close(source);
    if (status != LACIS_OK) {
        kept_close(&rows->base);
        return status;
    }
    *out = &rows->base;
    return LACIS_OK;
}
