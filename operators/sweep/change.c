/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME_change: how much steps changed the fields. Called by steps.c, and by run.c at the end.
 */
#include "sweep/system.h"

#include <math.h>
#include <string.h>

static lacis_status more_room(lacis_run *run, lacis_sweep_changes *changes)
{
    struct lacis_sweep_change_row *row;
    const int64_t room = changes->room > 0 ? 2 * changes->room : 256;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)room * sizeof *row, &row));
    if (changes->count > 0) memcpy(row, changes->row, (size_t)changes->count * sizeof *row);
    lacis_run_free(run, changes->row);
    changes->row = row;
    changes->room = room;
    return LACIS_OK;
}

lacis_status lacis_sweep_changes_add(lacis_run *run, lacis_sweep_changes *changes, int64_t step,
                                     const lacis_sweep_change *change)
{
    if (changes->count == changes->room) LACIS_TRY(more_room(run, changes));
    changes->row[changes->count++] =
        (struct lacis_sweep_change_row){step, change->max, sqrt(lacis_sweep_exact_round(&change->squares))};
    return LACIS_OK;
}

void lacis_sweep_changes_free(lacis_run *run, lacis_sweep_changes *changes)
{
    lacis_run_free(run, changes->row);
    *changes = (lacis_sweep_changes){0};
}

static lacis_status add_column(lacis_run *run, lacis_array *table, const char *name, lacis_dtype dtype, int64_t rows,
                               void **out)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, (uint64_t)rows * lacis_dtype_size(dtype), &buffer));
    *out = lacis_buffer_data(buffer);
    const lacis_status status = lacis_array_add(run, table, name, dtype, rows, buffer, 0);
    lacis_buffer_release(buffer); /* the array keeps its own hold */
    return status;
}

static lacis_status fill(lacis_run *run, const lacis_sweep_changes *changes, lacis_array *table)
{
    void *step, *max, *l2;
    LACIS_TRY(add_column(run, table, "step", LACIS_I64, changes->count, &step));
    LACIS_TRY(add_column(run, table, "max", LACIS_F64, changes->count, &max));
    LACIS_TRY(add_column(run, table, "l2", LACIS_F64, changes->count, &l2));
    for (int64_t i = 0; i < changes->count; i++) {
        ((int64_t *)step)[i] = changes->row[i].step;
        ((double *)max)[i] = changes->row[i].max;
        ((double *)l2)[i] = changes->row[i].l2;
    }
    return LACIS_OK;
}

lacis_status lacis_sweep_changes_attach(lacis_run *run, const lacis_sweep_changes *changes, lacis_array *array)
{
    lacis_array *table;
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_F64, changes->count, 0, &table));
    lacis_status status = fill(run, changes, table);
    if (status == LACIS_OK) status = lacis_array_attach(run, array, "change", table);
    lacis_array_release(table);
    return status;
}
