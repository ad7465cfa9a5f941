/* SPDX-License-Identifier: Apache-2.0
 *
 * Row sources over arrays. Virtual tables, bare calls and exports open them; a step is a pointer moved, cells are
 * read where they lie. The greatest rows of all are rows_top.c's, the greatest of each graph row are picked here.
 */
#include "core/rows.h"

#include "core/cells.h"
#include "core/heap.h"

#include <string.h>

const lacis_filter lacis_filter_all = {
    .where = {.lo = INT64_MIN, .hi = INT64_MAX, .lo1 = INT64_MIN, .hi1 = INT64_MAX},
    .limit = -1,
};

/* ------------------------------------------------------------------------------------------- graphs */

typedef struct csr_rows {
    lacis_rows base;
    lacis_memory *memory;
    lacis_array *array;
    lacis_csr csr;
    int64_t at, end;      /* present entry, end of the present row's entries */
    int64_t src;          /* label of the present row */
    int64_t row, row_end; /* next row to look at, where no list is given */
    const int64_t *list;  /* labels still wanted */
    int64_t listed;
    bool cut; /* only columns (indices) in [column_lo, column_hi) */
    int64_t column_lo, column_hi;
    bool real;
    int64_t top, picks, picked; /* top > 0: pick holds the chosen entries of the present row, rising */
    int64_t *pick;
    uint32_t steps;
    char *text; /* own */
    char own[LACIS_CELL_TEXT];
} csr_rows;

/* First entry in [low, high) whose column is not below `column`. */
static int64_t entry_lower(const uint32_t *columns, int64_t low, int64_t high, int64_t column)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((int64_t)columns[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The next row that is wanted, or -1. */
static int64_t wanted_row(csr_rows *rows)
{
    const lacis_csr *csr = &rows->csr;
    if (rows->list == NULL) return rows->row < rows->row_end ? rows->row++ : -1;
    while (rows->listed > 0) {
        int64_t label = *rows->list++;
        rows->listed--;
        int64_t row = lacis_label_find(csr->row_label, csr->row_base, csr->rows, label);
        if (row >= rows->row && row < rows->row_end) return row;
    }
    return -1;
}

/* Moves to the next row that has entries, its first at `at`. */
static lacis_status enter_row(csr_rows *rows, lacis_run *run, bool *more)
{
    const lacis_csr *csr = &rows->csr;
    for (;;) {
        if ((++rows->steps & 0xffff) == 0 && lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        int64_t row = wanted_row(rows);
        *more = row >= 0;
        if (row < 0) return LACIS_OK;
        rows->at = csr->begin[row];
        rows->end = csr->end[row];
        if (rows->cut) {
            rows->at = entry_lower(csr->column, rows->at, rows->end, rows->column_lo);
            rows->end = entry_lower(csr->column, rows->at, rows->end, rows->column_hi);
        }
        if (rows->at == rows->end) continue;
        rows->src = lacis_label(csr->row_label, csr->row_base, row);
        return LACIS_OK;
    }
}

static lacis_status csr_next(lacis_rows *base, lacis_run *run, bool *more)
{
    csr_rows *rows = (csr_rows *)base;
    if (rows->at + 1 < rows->end) {
        rows->at++;
        *more = true;
        return LACIS_OK;
    }
    return enter_row(rows, run, more);
}

static void csr_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const csr_rows *rows = (const csr_rows *)base;
    const lacis_csr *csr = &rows->csr;
    switch (column) {
    case 0:
        lacis_cell_integer(out, rows->src);
        break;
    case 1:
        lacis_cell_integer(out, lacis_label(csr->col_label, csr->col_base, csr->column[rows->at]));
        break;
    default:
        lacis_cell_of(csr->value, csr->storage, rows->at, column - 2, rows->text, out);
        break;
    }
}

static void csr_close(lacis_rows *base)
{
    csr_rows *rows = (csr_rows *)base;
    lacis_memory *memory = rows->memory;
    lacis_array_release(rows->array);
    lacis_memory_free(memory, rows->pick);
    lacis_memory_free(memory, rows);
    lacis_memory_release(memory);
}

/* Of two entries of one row the smaller value is worth less; of equal ones the later column; NaN least of all. */
static bool entry_worse(const void *context, int64_t a, int64_t b)
{
    const csr_rows *rows = context;
    const lacis_csr *csr = &rows->csr;
    if (!rows->real) {
        int64_t x = lacis_value_int64(csr->value, csr->storage, a);
        int64_t y = lacis_value_int64(csr->value, csr->storage, b);
        return x != y ? x < y : a > b;
    }
    double x = lacis_value_double(csr->value, csr->storage, a);
    double y = lacis_value_double(csr->value, csr->storage, b);
    if (x != x || y != y) return (x != x) == (y != y) ? a > b : x != x;
    return x != y ? x < y : a > b;
}

static bool entry_later(const void *context, int64_t a, int64_t b)
{
    (void)context;
    return a > b;
}

/* Chooses the `top` greatest entries of [at, end) and puts them in rising order. */
static void pick_entries(csr_rows *rows)
{
    int64_t count = 0;
    for (int64_t entry = rows->at; entry < rows->end; entry++) {
        if (count < rows->top) {
            rows->pick[count] = entry;
            lacis_heap_up(rows->pick, count++, entry_worse, rows);
        } else if (entry_worse(rows, rows->pick[0], entry)) {
            rows->pick[0] = entry;
            lacis_heap_down(rows->pick, count, 0, entry_worse, rows);
        }
    }
    for (int64_t i = count / 2; i-- > 0;)
        lacis_heap_down(rows->pick, count, i, entry_later, NULL);
    lacis_heap_sort(rows->pick, count, entry_later, NULL);
    rows->picks = count;
    rows->picked = 0;
}

static lacis_status top_next(lacis_rows *base, lacis_run *run, bool *more)
{
    csr_rows *rows = (csr_rows *)base;
    if (rows->picked == rows->picks) {
        LACIS_TRY(enter_row(rows, run, more));
        if (!*more) return LACIS_OK;
        pick_entries(rows);
    }
    rows->at = rows->pick[rows->picked++];
    *more = true;
    return LACIS_OK;
}

static const lacis_rows_class csr_class = {csr_next, csr_cell, csr_close};
static const lacis_rows_class top_class = {top_next, csr_cell, csr_close};

/* Room for the picks of a row: no more than `top`, nor than the longest row. */
static lacis_status prepare_top(csr_rows *rows, lacis_run *run)
{
    int64_t longest = 0;
    for (int64_t row = rows->row; row < rows->row_end; row++) {
        int64_t length = rows->csr.end[row] - rows->csr.begin[row];
        if (length > longest) longest = length;
    }
    uint64_t room = (uint64_t)(rows->top < longest ? rows->top : longest) * sizeof *rows->pick;
    rows->pick = lacis_memory_alloc(rows->memory, room);
    if (rows->pick == NULL) return lacis_run_no_memory(run, room);
    rows->base.class = &top_class;
    return LACIS_OK;
}

/* Indices [*begin, *end) of the labels in lo .. hi. */
static void index_range(const int64_t *labels, int64_t start, int64_t count, int64_t lo, int64_t hi, int64_t *begin,
                        int64_t *end)
{
    *begin = lacis_label_lower(labels, start, count, lo);
    *end = hi == INT64_MAX ? count : lacis_label_lower(labels, start, count, hi + 1);
    if (*end < *begin) *end = *begin;
}

static lacis_status open_csr(lacis_run *run, lacis_array *array, const lacis_restriction *where, lacis_rows **out)
{
    csr_rows *rows = NULL;
    const int64_t *list = NULL;
    LACIS_TRY(lacis_rows_new(run, sizeof *rows, where, &rows, &list));
    rows->base.class = &csr_class;
    rows->memory = lacis_memory_retain(run->host->memory);
    rows->array = lacis_array_retain(array);
    rows->text = rows->own;
    lacis_csr *csr = &rows->csr;
    lacis_csr_view(array, csr);
    rows->real = csr->storage >= LACIS_F32;
    rows->list = list;
    rows->listed = where->count;
    index_range(csr->row_label, csr->row_base, csr->rows, where->lo, where->hi, &rows->row, &rows->row_end);
    rows->cut = where->lo1 != INT64_MIN || where->hi1 != INT64_MAX;
    if (rows->cut)
        index_range(csr->col_label, csr->col_base, csr->cols, where->lo1, where->hi1, &rows->column_lo,
                    &rows->column_hi);
    rows->top = where->top;
    lacis_status status = rows->top > 0 ? prepare_top(rows, run) : LACIS_OK;
    if (status != LACIS_OK) {
        csr_close(&rows->base);
        return status;
    }
    *out = &rows->base;
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------- vectors, tables */

typedef struct flat_rows {
    lacis_rows base;
    lacis_memory *memory;
    lacis_array *array;
    int64_t at, end; /* present element, end; at == begin - 1 before the first */
    const int64_t *list;
    int64_t listed;
    const int64_t *index; /* vectors: labels of elements, or NULL: start, start + 1 ... */
    int64_t start, count;
    lacis_part value; /* vectors */
    char *text;       /* own */
    char own[LACIS_CELL_TEXT];
    int parts; /* tables */
    lacis_part part[];
} flat_rows;

static lacis_status flat_next(lacis_rows *base, lacis_run *run, bool *more)
{
    (void)run;
    flat_rows *rows = (flat_rows *)base;
    *more = ++rows->at < rows->end;
    return LACIS_OK;
}

static lacis_status listed_next(lacis_rows *base, lacis_run *run, bool *more)
{
    (void)run;
    flat_rows *rows = (flat_rows *)base;
    *more = false;
    while (rows->listed > 0 && !*more) {
        int64_t label = *rows->list++;
        rows->listed--;
        int64_t found = lacis_label_find(rows->index, rows->start, rows->count, label);
        if (found <= rows->at || found >= rows->end) continue;
        rows->at = found;
        *more = true;
    }
    return LACIS_OK;
}

static void vector_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const flat_rows *rows = (const flat_rows *)base;
    if (column == 0) {
        lacis_cell_integer(out, lacis_label(rows->index, rows->start, rows->at));
    } else {
        lacis_cell_of(rows->value.data, rows->value.dtype, rows->at, column - 1, rows->text, out);
    }
}

static void table_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const flat_rows *rows = (const flat_rows *)base;
    const lacis_part *part = &rows->part[column];
    lacis_cell_value(part->data, part->dtype, rows->at, 0, out);
}

static void flat_close(lacis_rows *base)
{
    flat_rows *rows = (flat_rows *)base;
    lacis_memory *memory = rows->memory;
    lacis_array_release(rows->array);
    lacis_memory_free(memory, rows);
    lacis_memory_release(memory);
}

static const lacis_rows_class vector_class = {flat_next, vector_cell, flat_close};
static const lacis_rows_class listed_class = {listed_next, vector_cell, flat_close};
static const lacis_rows_class table_class = {flat_next, table_cell, flat_close};

static lacis_status open_vector(lacis_run *run, lacis_array *array, const lacis_restriction *where, lacis_rows **out)
{
    flat_rows *rows = NULL;
    const int64_t *list = NULL;
    LACIS_TRY(lacis_rows_new(run, sizeof *rows, where, &rows, &list));
    const lacis_part *value = lacis_array_part_named(array, "values");
    const lacis_part *index = lacis_array_part_named(array, "index");
    rows->base.class = list == NULL ? &vector_class : &listed_class;
    rows->memory = lacis_memory_retain(run->host->memory);
    rows->array = lacis_array_retain(array);
    rows->text = rows->own;
    rows->list = list;
    rows->listed = where->count;
    if (value != NULL) rows->value = *value;
    rows->index = index == NULL ? NULL : index->data;
    rows->start = lacis_array_base(array, 0);
    rows->count = value != NULL ? value->count : index != NULL ? index->count : lacis_array_extent(array, 0);
    index_range(rows->index, rows->start, rows->count, where->lo, where->hi, &rows->at, &rows->end);
    rows->at--;
    *out = &rows->base;
    return LACIS_OK;
}

static lacis_status open_table(lacis_run *run, lacis_array *array, lacis_rows **out)
{
    flat_rows *rows = NULL;
    const int64_t *list = NULL;
    int parts = lacis_array_part_count(array);
    uint64_t size = sizeof *rows + (uint64_t)parts * sizeof rows->part[0];
    LACIS_TRY(lacis_rows_new(run, size, &lacis_filter_all.where, &rows, &list));
    rows->base.class = &table_class;
    rows->memory = lacis_memory_retain(run->host->memory);
    rows->array = lacis_array_retain(array);
    rows->parts = parts;
    for (int i = 0; i < parts; i++)
        (void)lacis_array_part(array, i, &rows->part[i]);
    rows->at = -1;
    rows->end = lacis_array_extent(array, 0);
    *out = &rows->base;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- opening */

/* A source of `size` bytes with a copy of the filter's list behind it. */
lacis_status lacis_rows_new(lacis_run *run, uint64_t size, const lacis_restriction *where, void *out,
                            const int64_t **list)
{
    size = (size + 7) / 8 * 8;
    int64_t listed = where->list == NULL ? 0 : where->count;
    uint64_t bytes = size + (uint64_t)listed * sizeof(int64_t);
    char *block = lacis_memory_alloc(run->host->memory, bytes);
    if (block == NULL) return lacis_run_no_memory(run, bytes);
    memset(block, 0, size);
    if (listed > 0) memcpy(block + size, where->list, (uint64_t)listed * sizeof(int64_t));
    *list = where->list == NULL ? NULL : (const int64_t *)(const void *)(block + size);
    memcpy(out, &block, sizeof block);
    return LACIS_OK;
}

lacis_status lacis_rows_of_array(lacis_run *run, lacis_array *array, const lacis_filter *filter, lacis_rows **out)
{
    lacis_kind kind = lacis_array_kind(array);
    lacis_rows *rows = NULL;
    switch (kind) {
    case LACIS_CSR:
        LACIS_TRY(open_csr(run, array, &filter->where, &rows));
        break;
    case LACIS_VECTOR:
        LACIS_TRY(open_vector(run, array, &filter->where, &rows));
        break;
    case LACIS_TABLE:
        LACIS_TRY(open_table(run, array, &rows));
        break;
    case LACIS_INTERLEAVED:
        LACIS_TRY(lacis_rows_of_batch(run, array, &filter->where, &rows));
        break;
    case LACIS_SYMMETRIC:
        LACIS_TRY(lacis_rows_of_symmetric(run, array, &filter->where, &rows));
        break;
    case LACIS_BODIES:
        LACIS_TRY(lacis_rows_of_bodies(run, array, &filter->where, &rows));
        break;
    case LACIS_GRID:
        LACIS_TRY(lacis_rows_of_grid(run, array, &filter->where, &rows));
        break;
    }
    if (filter->by_value && filter->limit >= 0) {
        lacis_columns columns;
        lacis_columns_of(kind, lacis_array_dtype(array), array, &columns);
        return lacis_rows_top(run, rows, &columns, filter->limit, out);
    }
    *out = rows;
    return LACIS_OK;
}
