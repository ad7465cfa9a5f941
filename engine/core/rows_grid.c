/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a grid as its cells lie: x fastest, z slowest. Conditions on coordinates leave a box of cells, and no
 * other is read. Opened by rows.c.
 */
#include "core/cells.h"
#include "core/grid.h"

/* The coordinates that are wanted along an axis. */
typedef struct axis {
    int64_t first, count;
    const int64_t *list; /* NULL: first, first + 1 ... */
    int64_t at;          /* the present one of them */
} axis;

typedef struct grid_rows {
    lacis_rows base;
    lacis_memory *memory;
    lacis_array *array;
    lacis_grid grid;
    axis axis[3];
    bool more; /* there may be a next cell */
    int64_t place;
} grid_rows;

static int64_t coordinate(const grid_rows *rows, int d)
{
    const axis *along = &rows->axis[d];
    return along->list == NULL ? along->first + along->at : along->list[along->at];
}

static lacis_status grid_next(lacis_rows *base, lacis_run *run, bool *more)
{
    (void)run;
    grid_rows *rows = (grid_rows *)base;
    const int64_t *extent = rows->grid.extent;
    int d = 0;
    while (rows->more && d < 3 && ++rows->axis[d].at == rows->axis[d].count)
        rows->axis[d++].at = 0;
    *more = rows->more = rows->more && d < 3;
    if (!*more) return LACIS_OK;
    if (d == 0 && rows->axis[0].at > 0 && rows->axis[0].list == NULL)
        rows->place++;
    else
        rows->place = (coordinate(rows, 2) * extent[1] + coordinate(rows, 1)) * extent[0] + coordinate(rows, 0);
    return LACIS_OK;
}

static void grid_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const grid_rows *rows = (const grid_rows *)base;
    if (column < rows->grid.dims)
        lacis_cell_integer(out, coordinate(rows, column));
    else
        lacis_cell_value(rows->grid.field[column - rows->grid.dims], rows->grid.dtype, rows->place, 0, out);
}

static void grid_close(lacis_rows *base)
{
    grid_rows *rows = (grid_rows *)base;
    lacis_memory *memory = rows->memory;
    lacis_array_release(rows->array);
    lacis_memory_free(memory, rows);
    lacis_memory_release(memory);
}

static const lacis_rows_class grid_class = {grid_next, grid_cell, grid_close};

static axis between(int64_t lo, int64_t hi, int64_t extent)
{
    axis along = {.first = lo > 0 ? lo : 0};
    int64_t last = hi < extent - 1 ? hi : extent - 1;
    along.count = last >= along.first ? last - along.first + 1 : 0;
    return along;
}

/* Of a rising list what lies within. */
static void listed(axis *along, const int64_t *list, int64_t count)
{
    while (count > 0 && list[0] < along->first) {
        list++;
        count--;
    }
    while (count > 0 && list[count - 1] >= along->first + along->count)
        count--;
    along->list = list;
    along->count = count;
}

lacis_status lacis_rows_of_grid(lacis_run *run, lacis_array *array, const lacis_restriction *where, lacis_rows **out)
{
    grid_rows *rows = NULL;
    lacis_grid grid;
    const int64_t *list = NULL;
    LACIS_TRY(lacis_grid_view(run, array, &grid));
    LACIS_TRY(lacis_rows_new(run, sizeof *rows, where, &rows, &list));
    rows->base.class = &grid_class;
    rows->memory = lacis_memory_retain(run->host->memory);
    rows->array = lacis_array_retain(array);
    rows->grid = grid;
    rows->axis[0] = between(where->lo, where->hi, grid.extent[0]);
    rows->axis[1] = between(grid.dims > 1 ? where->lo1 : 0, grid.dims > 1 ? where->hi1 : 0, grid.extent[1]);
    rows->axis[2] =
        where->third ? between(where->lo2, where->hi2, grid.extent[2]) : between(0, INT64_MAX, grid.extent[2]);
    if (list != NULL) listed(&rows->axis[where->list_column], list, where->count);
    rows->more = rows->axis[0].count > 0 && rows->axis[1].count > 0 && rows->axis[2].count > 0;
    rows->axis[0].at = -1;
    *out = &rows->base;
    return LACIS_OK;
}
