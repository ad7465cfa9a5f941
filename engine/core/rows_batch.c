/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of an interleaved batch: lane by lane, and within a lane row by row, whatever its layout. Opened by
 * rows.c.
 */
#include "core/batch.h"
#include "core/cells.h"

#include <string.h>

typedef struct batch_rows {
    lacis_rows base;
    lacis_memory *memory;
    lacis_array *array;
    lacis_batch batch; /* its groups are group[] */
    int64_t lane, lane_end;
    const int64_t *list; /* labels of lanes still wanted; NULL: lane .. lane_end - 1 */
    int64_t listed;
    int64_t first, last;         /* rows wanted of a lane, by label */
    int64_t at, present;         /* group and lane of the present element */
    int64_t row, row_end;        /* its row, and where its lane ends */
    int64_t place;               /* where it lies */
    int64_t lane_base, row_base; /* labels of the first */
    struct shown {
        unsigned char field, component;
    } shown[4 * LACIS_BATCH_FIELDS]; /* by column behind the keys */
    lacis_batch_group group[];
} batch_rows;

/* The next lane that is wanted, or -1. */
static int64_t wanted(batch_rows *rows)
{
    if (rows->list == NULL) return rows->lane < rows->lane_end ? rows->lane++ : -1;
    while (rows->listed > 0) {
        int64_t label = *rows->list++, lane;
        rows->listed--;
        if (__builtin_sub_overflow(label, rows->lane_base, &lane)) continue;
        if (lane >= rows->lane && lane < rows->lane_end) return lane;
    }
    return -1;
}

/* The group that holds the lane: lanes mostly come rising. */
static const lacis_batch_group *group_of(batch_rows *rows, int64_t lane)
{
    const lacis_batch_group *group = &rows->group[rows->at];
    if (lane >= group->lane && lane < group->lane + group->lanes) return group;
    int64_t low = 0, high = rows->batch.groups;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (rows->group[middle].lane <= lane) {
            low = middle;
        } else {
            high = middle;
        }
    }
    rows->at = low;
    return &rows->group[low];
}

/* Rows of the lane that are wanted, as [row, row_end). */
static void enter_lane(batch_rows *rows, const lacis_batch_group *group)
{
    __int128 first = (__int128)rows->first - rows->row_base, last = (__int128)rows->last - rows->row_base;
    rows->row = first > 0 ? (first < group->rows ? (int64_t)first : group->rows) : 0;
    rows->row_end = last + 1 < group->rows ? (last < 0 ? 0 : (int64_t)last + 1) : group->rows;
}

static lacis_status batch_next(lacis_rows *base, lacis_run *run, bool *more)
{
    batch_rows *rows = (batch_rows *)base;
    *more = true;
    if (++rows->row < rows->row_end) {
        rows->place += rows->group[rows->at].block;
        return LACIS_OK;
    }
    for (;;) {
        int64_t lane = wanted(rows);
        *more = lane >= 0;
        if (!*more) return LACIS_OK;
        if ((lane & 0xfff) == 0 && lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        const lacis_batch_group *group = group_of(rows, lane);
        enter_lane(rows, group);
        if (rows->row >= rows->row_end) continue;
        rows->present = lane;
        rows->place = lacis_batch_place(group, lane - group->lane, rows->row);
        return LACIS_OK;
    }
}

static void batch_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const batch_rows *rows = (const batch_rows *)base;
    const lacis_batch *batch = &rows->batch;
    int64_t row = rows->group[rows->at].row + rows->row;
    int fixed = batch->parent == NULL ? 2 : 3;
    if (column == 0) {
        lacis_cell_integer(out, rows->lane_base + rows->present);
    } else if (column == 1) {
        lacis_cell_integer(out, rows->row_base + rows->row);
    } else if (column < fixed) {
        int32_t parent = batch->parent[row];
        lacis_cell_integer(out, parent < 0 ? -1 : rows->row_base + parent);
    } else {
        struct shown shown = rows->shown[column - fixed];
        const lacis_batch_part *field = &batch->field[shown.field];
        lacis_cell_value(field->data, field->dtype, field->shared ? row : rows->place, shown.component, out);
    }
}

static void batch_close(lacis_rows *base)
{
    batch_rows *rows = (batch_rows *)base;
    lacis_memory *memory = rows->memory;
    lacis_array_release(rows->array);
    lacis_memory_free(memory, rows);
    lacis_memory_release(memory);
}

static const lacis_rows_class batch_class = {batch_next, batch_cell, batch_close};

/* Lane indices whose labels lie in lo .. hi. */
static void lane_range(batch_rows *rows, int64_t lanes, int64_t lo, int64_t hi)
{
    rows->lane = lacis_label_lower(NULL, rows->lane_base, lanes, lo);
    rows->lane_end = hi == INT64_MAX ? lanes : lacis_label_lower(NULL, rows->lane_base, lanes, hi + 1);
}

static void show_fields(batch_rows *rows)
{
    int column = 0;
    for (int i = 0; i < rows->batch.fields; i++)
        for (int k = 0; k < lacis_cells_of(rows->batch.field[i].dtype); k++)
            rows->shown[column++] = (struct shown){(unsigned char)i, (unsigned char)k};
}

lacis_status lacis_rows_of_batch(lacis_run *run, lacis_array *array, const lacis_restriction *where, lacis_rows **out)
{
    batch_rows *rows = NULL;
    lacis_batch batch;
    const int64_t *list = NULL;
    LACIS_TRY(lacis_batch_view(run, array, &batch));
    uint64_t bytes = (uint64_t)batch.groups * sizeof *batch.group;
    LACIS_TRY(lacis_rows_new(run, sizeof *rows + bytes, where, &rows, &list));
    memcpy(rows->group, batch.group, bytes);
    rows->base.class = &batch_class;
    rows->memory = lacis_memory_retain(run->host->memory);
    rows->array = lacis_array_retain(array);
    rows->batch = batch;
    rows->batch.group = NULL;
    rows->lane_base = lacis_array_base(array, 0);
    rows->row_base = lacis_array_base(array, 1);
    lane_range(rows, batch.lanes, where->lo, where->hi);
    rows->list = list;
    rows->listed = where->count;
    rows->first = where->lo1;
    rows->last = where->hi1;
    show_fields(rows);
    *out = &rows->base;
    return LACIS_OK;
}
