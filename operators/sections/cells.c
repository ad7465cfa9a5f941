/* SPDX-License-Identifier: Apache-2.0
 *
 * A table's columns as samples of cells, checked: ids that occur once in a cell, parents that are there and come
 * before their children. Called by the operators over cells.
 */
#include "sections/cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 7 };
static const char *const needed[COLUMNS] = {"id", "type", "x", "y", "z", "radius", "parent"};

static lacis_status find_columns(lacis_run *run, const lacis_array *array, int64_t offset,
                                 const lacis_part *part[COLUMNS])
{
    if (lacis_array_kind(array) != LACIS_TABLE)
        return lacis_run_fail_at(run, LACIS_TYPE, offset,
                                 "LOAD a file of samples (.swc), or collect them with SELECT",
                                 "cells are tables of samples");
    for (int i = 0; i < COLUMNS; i++) {
        part[i] = lacis_array_part_named(array, needed[i]);
        if (part[i] == NULL)
            return lacis_run_fail_at(run, LACIS_TYPE, offset,
                                     "samples have the columns id, type, x, y, z, radius, parent, and cell",
                                     "the table has no column '%s'", needed[i]);
        if (part[i]->dtype == LACIS_C64 || part[i]->dtype == LACIS_C128 || part[i]->dtype == LACIS_CDD)
            return lacis_run_fail_at(run, LACIS_TYPE, offset, NULL, "the column '%s' is complex", needed[i]);
    }
    return LACIS_OK;
}

/* Arrays of one block, one behind the other; all of 8-byte elements first. */
static lacis_status take_block(lacis_run *run, int64_t rows, lacis_cells *out)
{
    uint64_t n = (uint64_t)rows + 1;
    char *block;
    LACIS_TRY(lacis_run_alloc(run, n * (7 * sizeof(int64_t) + 2 * sizeof(int32_t)), &block));
    out->block = block;
    out->label = (int64_t *)block;
    out->first = out->label + n;
    out->id = out->first + n;
    out->x = (double *)(out->id + n);
    out->y = out->x + n;
    out->z = out->y + n;
    out->radius = out->z + n;
    out->type = (int32_t *)(out->radius + n);
    out->parent = out->type + n;
    return LACIS_OK;
}

static void convert(const lacis_part *part, void *to, lacis_dtype type)
{
    lacis_values_convert(part->data, part->dtype, 0, part->count, to, type);
}

/* Rows of one cell stand together. */
static lacis_status split(lacis_run *run, const lacis_array *array, lacis_cells *out)
{
    const lacis_part *cell = lacis_array_part_named(array, "cell");
    int64_t last = 0;
    for (int64_t i = 0; i < out->rows; i++) {
        int64_t label = cell == NULL ? 0 : lacis_value_int64(cell->data, cell->dtype, i);
        if (i > 0 && label == last) continue;
        if (i > 0 && label < last)
            return lacis_run_fail_at(run, LACIS_TYPE, out->offset, "ORDER BY cell",
                                     "row %" PRId64 ": the column 'cell' goes back from %" PRId64 " to %" PRId64, i,
                                     last, label);
        last = label;
        out->label[out->count] = label;
        out->first[out->count++] = i;
    }
    out->first[out->count] = out->rows;
    return LACIS_OK;
}

const char *lacis_cells_name(lacis_run *run, const lacis_cells *cells, int64_t cell)
{
    const char *text = NULL;
    if (cells->count > 1) text = lacis_run_text(run, "cell %" PRId64, cells->label[cell]);
    return text != NULL ? text : "the cell";
}

/* ids of one cell and where they are: open addressing, -1 is free. */
struct table {
    int32_t *slot;
    uint64_t mask;
};

static uint64_t start_of(const struct table *table, int64_t id)
{
    return ((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 17) & table->mask;
}

static int64_t find(const struct table *table, const int64_t *id, int64_t wanted, uint64_t *at)
{
    for (*at = start_of(table, wanted); table->slot[*at] >= 0; *at = (*at + 1) & table->mask)
        if (id[table->slot[*at]] == wanted) return table->slot[*at];
    return -1;
}

static lacis_status bad_parent(lacis_run *run, const lacis_cells *cells, int64_t cell, int64_t row, int64_t parent)
{
    bool later = false;
    for (int64_t i = row; i < cells->first[cell + 1]; i++)
        later = later || cells->id[i] == parent;
    return lacis_run_fail_at(run, LACIS_TYPE, cells->offset,
                             later ? "LOAD brings samples into this order; in SELECT use ORDER BY" : NULL,
                             "%s, sample %" PRId64 ": its parent %" PRId64 " %s", lacis_cells_name(run, cells, cell),
                             cells->id[row], parent,
                             !later                     ? "is not there"
                             : parent == cells->id[row] ? "is the sample itself"
                                                        : "comes after it, but parents must come first");
}

static lacis_status link_cell(lacis_run *run, lacis_cells *cells, int64_t cell, const struct table *table,
                              const lacis_part *parent)
{
    int64_t first = cells->first[cell], end = cells->first[cell + 1];
    const int64_t *id = cells->id + first;
    memset(table->slot, 0xff, (size_t)(table->mask + 1) * sizeof *table->slot);
    for (int64_t i = first; i < end; i++) {
        int64_t up = lacis_value_int64(parent->data, parent->dtype, i);
        uint64_t at;
        int64_t where = up < 0 ? -1 : find(table, id, up, &at);
        if (up >= 0 && where < 0) return bad_parent(run, cells, cell, i, up);
        cells->parent[i] = (int32_t)where;
        if (find(table, id, cells->id[i], &at) >= 0)
            return lacis_run_fail_at(run, LACIS_TYPE, cells->offset, NULL, "%s has the sample %" PRId64 " twice",
                                     lacis_cells_name(run, cells, cell), cells->id[i]);
        table->slot[at] = (int32_t)(i - first);
    }
    return LACIS_OK;
}

static lacis_status link_cells(lacis_run *run, lacis_cells *cells, const lacis_part *parent)
{
    int64_t most = 0;
    for (int64_t c = 0; c < cells->count; c++)
        if (cells->first[c + 1] - cells->first[c] > most) most = cells->first[c + 1] - cells->first[c];
    if (most > INT32_MAX / 4)
        return lacis_run_fail_at(run, LACIS_RANGE, cells->offset, NULL, "a cell of %" PRId64 " samples is too large",
                                 most);
    struct table table = {.mask = 1};
    while ((int64_t)table.mask < 2 * most)
        table.mask = 2 * table.mask + 1;
    LACIS_TRY(lacis_run_alloc(run, (table.mask + 1) * sizeof *table.slot, &table.slot));
    lacis_status status = LACIS_OK;
    for (int64_t c = 0; c < cells->count && status == LACIS_OK; c++)
        status = link_cell(run, cells, c, &table, parent);
    lacis_run_free(run, table.slot);
    return status;
}

lacis_status lacis_cells_fail(lacis_run *run, const lacis_cells *cells, int64_t cell, neuron_fault fault)
{
    static const char *const what[] = {
        [NEURON_EMPTY] = "has no sample",
        [NEURON_ORDER] = "has parents behind their children",
        [NEURON_NEGATIVE_RADIUS] = "its radius is negative",
        [NEURON_NOT_FINITE] = "a coordinate or the radius is not a finite number",
        [NEURON_LENGTHLESS] = "has no length",
        [NEURON_AREALESS] = "a compartment has no area: its diameters are 0",
        [NEURON_LAMBDA] = "d_lambda needs diameters above 0; NSEG and LENGTH do not",
        [NEURON_TOO_MANY] = "too many compartments",
    };
    const char *name = lacis_cells_name(run, cells, cell);
    if (fault.kind == NEURON_NEGATIVE_RADIUS || fault.kind == NEURON_NOT_FINITE)
        return lacis_run_fail_at(run, LACIS_RANGE, cells->offset, NULL, "%s, sample %" PRId64 ": %s", name,
                                 cells->id[cells->first[cell] + fault.at], what[fault.kind]);
    if (fault.kind == NEURON_EMPTY || fault.kind == NEURON_ORDER)
        return lacis_run_fail_at(run, LACIS_TYPE, cells->offset, NULL, "%s %s", name, what[fault.kind]);
    char section[NEURON_NAME_TEXT];
    const neuron_sections *sections = &cells->sections[cell];
    lacis_neuron_name(sections->type[fault.at], sections->number[fault.at], section);
    return lacis_run_fail_at(run, LACIS_RANGE, cells->offset, NULL, "%s, section %s: %s", name, section,
                             what[fault.kind]);
}

/* One block for the sections of all cells; each cell is a task. */
struct draw {
    lacis_cells *cells;
    neuron_fault *fault;
    uint64_t *place;
};

static lacis_status draw_cell(void *context, int64_t cell, int worker)
{
    const struct draw *draw = context;
    lacis_cells *cells = draw->cells;
    int64_t at = cells->first[cell];
    (void)worker;
    neuron_samples samples = {cells->first[cell + 1] - at,
                              cells->type + at,
                              cells->parent + at,
                              cells->x + at,
                              cells->y + at,
                              cells->z + at,
                              cells->radius + at,
                              cells->exact};
    draw->fault[cell] =
        lacis_neuron_sections(&samples, (char *)cells->drawn + draw->place[cell], &cells->sections[cell]);
    return draw->fault[cell].kind == NEURON_FINE ? LACIS_OK : LACIS_RANGE;
}

static lacis_status draw_all(lacis_run *run, lacis_cells *cells)
{
    struct draw draw = {.cells = cells};
    uint64_t n = (uint64_t)cells->count, bytes = 0;
    LACIS_TRY(lacis_run_scratch(run, (n + 1) * sizeof *draw.place, &draw.place));
    LACIS_TRY(lacis_run_scratch(run, (n + 1) * sizeof *draw.fault, &draw.fault));
    memset(draw.fault, 0, (n + 1) * sizeof *draw.fault);
    for (int64_t c = 0; c < cells->count; c++) {
        draw.place[c] = bytes;
        bytes += lacis_neuron_sections_bytes(cells->first[c + 1] - cells->first[c]);
    }
    LACIS_TRY(lacis_run_alloc(run, bytes, &cells->drawn));
    LACIS_TRY(lacis_run_alloc(run, (n + 1) * (sizeof *cells->sections + sizeof(int64_t)), &cells->heads));
    cells->sections = cells->heads;
    cells->first_section = (int64_t *)(cells->sections + n + 1);
    lacis_status status = lacis_run_parallel(run, cells->count, draw_cell, &draw);
    for (int64_t c = 0; c < cells->count; c++)
        if (draw.fault[c].kind != NEURON_FINE) return lacis_cells_fail(run, cells, c, draw.fault[c]);
    if (status == LACIS_INTERRUPT) return lacis_run_interrupted(run);
    cells->first_section[0] = 0;
    for (int64_t c = 0; c < cells->count; c++)
        cells->first_section[c + 1] = cells->first_section[c] + cells->sections[c].count;
    return status;
}

lacis_status lacis_cells_read(lacis_run *run, const lacis_call *call, lacis_cells *out)
{
    const lacis_item *item = &lacis_call_arg(call, NULL)->item[0];
    const lacis_part *part[COLUMNS];
    *out = (lacis_cells){.offset = item->offset, .exact = lacis_call_arg(call, "EXACT") != NULL};
    LACIS_TRY(find_columns(run, item->array, item->offset, part));
    out->rows = part[0]->count;
    if (out->rows == 0) return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL, "the table has no samples");
    LACIS_TRY(take_block(run, out->rows, out));
    convert(part[0], out->id, LACIS_I64);
    for (int64_t i = 0; i < out->rows; i++) {
        int64_t type = lacis_value_int64(part[1]->data, part[1]->dtype, i);
        if (type < INT32_MIN || type > INT32_MAX)
            return lacis_run_fail_at(run, LACIS_RANGE, item->offset, NULL,
                                     "sample %" PRId64 ": the type %" PRId64 " is too large", out->id[i], type);
        out->type[i] = (int32_t)type;
    }
    convert(part[2], out->x, LACIS_F64);
    convert(part[3], out->y, LACIS_F64);
    convert(part[4], out->z, LACIS_F64);
    convert(part[5], out->radius, LACIS_F64);
    LACIS_TRY(split(run, item->array, out));
    LACIS_TRY(link_cells(run, out, part[6]));
    return draw_all(run, out);
}

void lacis_cells_clear(lacis_run *run, lacis_cells *cells)
{
    lacis_run_free(run, cells->block);
    lacis_run_free(run, cells->drawn);
    lacis_run_free(run, cells->heads);
    memset(cells, 0, sizeof *cells);
}

static lacis_status add_columns(lacis_run *run, const lacis_column *column, const lacis_dtype *dtype, int columns,
                                int64_t rows, lacis_array *array, void **data)
{
    for (int i = 0; i < columns; i++) {
        lacis_buffer *buffer;
        LACIS_TRY(lacis_buffer_new(run, (uint64_t)rows * lacis_dtype_size(dtype[i]), &buffer));
        data[i] = lacis_buffer_data(buffer);
        lacis_status status = lacis_array_add(run, array, column[i].name, dtype[i], rows, buffer, 0);
        lacis_buffer_release(buffer); /* the array keeps its own hold */
        if (status != LACIS_OK) return status;
    }
    return LACIS_OK;
}

lacis_status lacis_cells_table(lacis_run *run, const lacis_column *column, const lacis_dtype *dtype, int columns,
                               int64_t rows, lacis_array **out, void **data)
{
    *out = NULL;
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_F64, rows, 0, out));
    lacis_status status = add_columns(run, column, dtype, columns, rows, *out, data);
    if (status == LACIS_OK) return LACIS_OK;
    lacis_array_release(*out);
    *out = NULL;
    return status;
}
