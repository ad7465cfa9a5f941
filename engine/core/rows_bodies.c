/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of bodies by rising id, whatever their order in memory. Opened by rows.c.
 */
#include "core/bodies.h"
#include "core/cells.h"

typedef struct bodies_rows {
    lacis_rows base;
    lacis_memory *memory;
    lacis_array *array;
    lacis_bodies bodies;
    const int64_t *order; /* places by rising id, of the array; NULL: they lie so */
    int64_t rank, end;    /* the present body in that order, and behind the last one wanted */
    const int64_t *list;  /* ids still wanted; NULL: all */
    int64_t listed;
    int64_t at;                               /* the present body's place */
    const void *column[LACIS_BODIES_FIGURES]; /* by SQL's column, without the id; NULL: zeros */
} bodies_rows;

static int64_t place_of(const bodies_rows *rows, int64_t rank)
{
    return rows->order == NULL ? rank : rows->order[rank];
}

/* The first rank in [first, count) whose id is not below. */
static int64_t rank_lower(const bodies_rows *rows, int64_t first, int64_t id)
{
    int64_t low = first, high = rows->bodies.count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (lacis_bodies_id(&rows->bodies, place_of(rows, middle)) < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static lacis_status bodies_next(lacis_rows *base, lacis_run *run, bool *more)
{
    (void)run;
    bodies_rows *rows = (bodies_rows *)base;
    *more = ++rows->rank < rows->end;
    if (*more) rows->at = place_of(rows, rows->rank);
    return LACIS_OK;
}

static lacis_status listed_next(lacis_rows *base, lacis_run *run, bool *more)
{
    (void)run;
    bodies_rows *rows = (bodies_rows *)base;
    *more = false;
    while (rows->listed > 0 && !*more) {
        int64_t id = *rows->list++, rank = rank_lower(rows, rows->rank + 1, id);
        rows->listed--;
        if (rank >= rows->end) continue;
        rows->at = place_of(rows, rank);
        *more = lacis_bodies_id(&rows->bodies, rows->at) == id;
        if (*more) rows->rank = rank;
    }
    return LACIS_OK;
}

static void bodies_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const bodies_rows *rows = (const bodies_rows *)base;
    if (column == 0)
        lacis_cell_integer(out, lacis_bodies_id(&rows->bodies, rows->at));
    else if (rows->column[column - 1] == NULL)
        lacis_cell_real(out, 0);
    else
        lacis_cell_value(rows->column[column - 1], rows->bodies.dtype, rows->at, 0, out);
}

static void bodies_close(lacis_rows *base)
{
    bodies_rows *rows = (bodies_rows *)base;
    lacis_memory *memory = rows->memory;
    lacis_array_release(rows->array);
    lacis_memory_free(memory, rows);
    lacis_memory_release(memory);
}

static const lacis_rows_class bodies_class = {bodies_next, bodies_cell, bodies_close};
static const lacis_rows_class listed_class = {listed_next, bodies_cell, bodies_close};

static void find_columns(bodies_rows *rows)
{
    int columns = 0;
    for (int f = 0; f < LACIS_BODIES_FIGURES; f++) {
        const void *data = lacis_bodies_column(&rows->bodies, f);
        if (f < LACIS_BODIES_EPS || data != NULL) rows->column[columns++] = data;
    }
}

lacis_status lacis_rows_of_bodies(lacis_run *run, lacis_array *array, const lacis_restriction *where,
                                  lacis_rows **out)
{
    bodies_rows *rows = NULL;
    lacis_bodies bodies;
    const int64_t *list = NULL, *order;
    LACIS_TRY(lacis_bodies_view(run, array, &bodies));
    LACIS_TRY(lacis_bodies_order(run, array, &bodies, &order));
    LACIS_TRY(lacis_rows_new(run, sizeof *rows, where, &rows, &list));
    rows->base.class = list == NULL ? &bodies_class : &listed_class;
    rows->memory = lacis_memory_retain(run->host->memory);
    rows->array = lacis_array_retain(array);
    rows->bodies = bodies;
    rows->order = order;
    rows->list = list;
    rows->listed = where->count;
    find_columns(rows);
    rows->rank = rank_lower(rows, 0, where->lo) - 1;
    rows->end = where->hi == INT64_MAX ? bodies.count : rank_lower(rows, 0, where->hi + 1);
    *out = &rows->base;
    return LACIS_OK;
}
