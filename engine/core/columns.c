/* SPDX-License-Identifier: Apache-2.0
 *
 * The columns that each kind of array shows as a table. The catalog declares virtual tables by it, the planner and
 * the row sources agree on it.
 */
#include "core/batch.h"
#include "core/bodies.h"
#include "core/cells.h"
#include "core/grid.h"

#include <string.h>

static bool is_real(lacis_dtype dtype)
{
    return dtype >= LACIS_F32;
}

static void add_column(lacis_columns *out, const char *name, bool real)
{
    out->name[out->count] = name;
    out->real[out->count++] = real;
}

static void value_columns(lacis_columns *out, lacis_dtype dtype)
{
    if (dtype == LACIS_C64 || dtype == LACIS_C128 || dtype == LACIS_CDD) {
        add_column(out, "re", true);
        if (dtype == LACIS_CDD) add_column(out, "re_lo", true);
        add_column(out, "im", true);
        if (dtype == LACIS_CDD) add_column(out, "im_lo", true);
    } else {
        out->value = out->count;
        add_column(out, "value", is_real(dtype));
        if (dtype == LACIS_DD) add_column(out, "lo", true);
    }
    if (!lacis_cells_text(dtype)) return;
    out->text = out->count;
    add_column(out, "text", true);
}

static void symmetric_columns(lacis_columns *out, lacis_dtype dtype, bool batch)
{
    if (batch) add_column(out, "lane", false);
    add_column(out, "i", false);
    add_column(out, "j", false);
    out->keys = out->count;
    out->summed = true;
    value_columns(out, dtype);
}

/* Without an array: those that bodies always have. */
static void bodies_columns(lacis_columns *out, const lacis_array *bodies)
{
    add_column(out, "id", false);
    out->keys = 1;
    out->summed = true;
    out->each = bodies != NULL;
    for (int f = 0; f < LACIS_BODIES_FIGURES; f++) {
        const char *name = lacis_bodies_figure[f];
        bool there = bodies != NULL && lacis_array_part_named(bodies, name) != NULL;
        if (f < LACIS_BODIES_EPS || there) add_column(out, name, true);
    }
}

/* "value" comes before "v". */
static void note_total(lacis_columns *out, const char *name, int at)
{
    bool value = strcmp(name, "value") == 0, v = strcmp(name, "v") == 0;
    if (value || (v && out->total < 0)) out->total = at;
    if (value || v) out->summed = true;
}

const lacis_part *lacis_table_total(const lacis_array *table)
{
    const lacis_part *value = lacis_array_part_named(table, "value");
    return value != NULL ? value : lacis_array_part_named(table, "v");
}

static void table_columns(lacis_columns *out, const lacis_array *table)
{
    int parts = table == NULL ? 0 : lacis_array_part_count(table);
    out->each = table != NULL;
    for (int i = 0; i < parts && i < LACIS_MAX_COLUMNS; i++) {
        lacis_part part;
        if (lacis_array_part(table, i, &part) != LACIS_OK) continue;
        if (lacis_cells_of(part.dtype) == 1) note_total(out, part.name, out->count);
        add_column(out, part.name, is_real(part.dtype));
    }
}

static void grid_keys(lacis_columns *out, int dims)
{
    for (int d = 0; d < dims; d++)
        add_column(out, lacis_grid_axis[d], false);
    out->keys = dims;
    out->last_first = true;
    out->summed = true;
}

static void grid_field(lacis_columns *out, const char *name)
{
    note_total(out, name, out->count);
    if (strcmp(name, "value") == 0) out->value = out->count;
    add_column(out, name, true);
}

static void grid_columns(lacis_columns *out, const lacis_array *grid)
{
    lacis_part part;
    grid_keys(out, lacis_grid_dims(grid));
    out->each = true;
    for (int i = 0; lacis_array_part(grid, i, &part) == LACIS_OK && out->count < LACIS_MAX_COLUMNS; i++)
        if (!lacis_grid_structure(part.name)) grid_field(out, part.name);
}

/* Of a result that nobody has computed yet. */
static void grid_shape_columns(lacis_columns *out, const int64_t *extent)
{
    grid_keys(out, lacis_grid_dims_of(extent));
    grid_field(out, "value");
}

/* Without an array: the fields of a result that nobody has computed yet. */
static void batch_columns(lacis_columns *out, lacis_dtype dtype, const lacis_array *batch)
{
    int parts = batch == NULL ? 0 : lacis_array_part_count(batch);
    add_column(out, "lane", false);
    add_column(out, "row", false);
    out->keys = 2;
    out->summed = true;
    if (batch == NULL) value_columns(out, dtype);
    if (batch != NULL && lacis_array_part_named(batch, "parent") != NULL) add_column(out, "parent", false);
    for (int i = 0; i < parts && out->count + 1 < LACIS_MAX_COLUMNS; i++) {
        lacis_part part;
        if (lacis_array_part(batch, i, &part) != LACIS_OK || lacis_batch_structure(part.name)) continue;
        if (strcmp(part.name, "value") == 0 && lacis_cells_of(part.dtype) == 1) out->value = out->count;
        add_column(out, part.name, is_real(part.dtype));
        for (int k = 1; k < lacis_cells_of(part.dtype) && out->count < LACIS_MAX_COLUMNS; k++)
            add_column(out, lacis_array_further_name(batch, i, k), true);
    }
}

void lacis_columns_of_call(const lacis_call *call, lacis_columns *out)
{
    lacis_columns_of_shape(call->kind, call->dtype, call->extent, out);
    if (call->column == NULL) return;
    if (call->kind == LACIS_INTERLEAVED || call->kind == LACIS_GRID) {
        out->count = out->keys;
        out->value = out->total = -1;
    }
    for (int i = 0; i < call->columns && out->count < LACIS_MAX_COLUMNS; i++) {
        if (call->kind == LACIS_GRID) {
            grid_field(out, call->column[i].name);
            continue;
        }
        if (call->kind == LACIS_INTERLEAVED && strcmp(call->column[i].name, "value") == 0) out->value = out->count;
        if (call->kind == LACIS_TABLE) note_total(out, call->column[i].name, out->count);
        add_column(out, call->column[i].name, call->column[i].real);
    }
    if (call->kind == LACIS_INTERLEAVED) out->total = out->value;
}

void lacis_columns_of_shape(lacis_kind kind, lacis_dtype dtype, const int64_t *extent, lacis_columns *out)
{
    if (kind != LACIS_SYMMETRIC && kind != LACIS_GRID) {
        lacis_columns_of(kind, dtype, NULL, out);
        return;
    }
    *out = (lacis_columns){.value = -1, .total = -1, .text = -1};
    if (kind == LACIS_GRID) {
        grid_shape_columns(out, extent);
        return;
    }
    symmetric_columns(out, dtype, extent[1] != 1);
    out->total = out->value;
}

void lacis_columns_of(lacis_kind kind, lacis_dtype dtype, const lacis_array *table, lacis_columns *out)
{
    *out = (lacis_columns){.value = -1, .total = -1, .text = -1};
    switch (kind) {
    case LACIS_CSR:
        add_column(out, "src", false);
        add_column(out, "dst", false);
        out->keys = 2;
        out->summed = true;
        value_columns(out, dtype);
        break;
    case LACIS_VECTOR:
        out->summed = true;
        add_column(out, "i", false);
        out->keys = 1;
        value_columns(out, dtype);
        break;
    case LACIS_TABLE:
        table_columns(out, table);
        break;
    case LACIS_INTERLEAVED:
        batch_columns(out, dtype, table);
        break;
    case LACIS_SYMMETRIC:
        symmetric_columns(out, dtype, table != NULL && lacis_array_extent(table, 1) != 1);
        break;
    case LACIS_BODIES:
        bodies_columns(out, table);
        break;
    case LACIS_GRID:
        if (table != NULL) grid_columns(out, table);
        break;
    }
    if (kind != LACIS_TABLE && kind != LACIS_GRID) out->total = out->value;
}
