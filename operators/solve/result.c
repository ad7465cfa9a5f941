/* SPDX-License-Identifier: Apache-2.0
 *
 * The array that a solution goes into: all lanes of a batch, or some that follow each other. Called from run.c.
 */
#include "solve/systems.h"

#include <string.h>

static lacis_status add(lacis_run *run, lacis_array *array, const char *name, lacis_dtype type, const void *data,
                        int64_t count)
{
    lacis_buffer *buffer;
    uint64_t bytes = lacis_dtype_size(type) * (uint64_t)count;
    LACIS_TRY(lacis_buffer_new(run, bytes, &buffer));
    if (bytes > 0) memcpy(lacis_buffer_data(buffer), data, bytes);
    lacis_status status = lacis_array_add(run, array, name, type, count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

/* Groups that have lanes in [begin, end), from *first on. */
static int64_t groups_within(const lacis_batch *batch, int64_t begin, int64_t end, int64_t *first)
{
    int64_t g = 0, count = 0;
    while (g < batch->groups && batch->group[g].lane + batch->group[g].lanes <= begin)
        g++;
    for (*first = g; g < batch->groups && batch->group[g].lane < end; g++)
        count++;
    return count;
}

static lacis_status add_groups(lacis_run *run, const lacis_batch *from, int64_t begin, int64_t end,
                               lacis_array *array)
{
    int64_t first, count = groups_within(from, begin, end, &first), *lanes, rows = 0;
    LACIS_TRY(lacis_run_scratch(run, 2 * sizeof *lanes * (uint64_t)count, &lanes));
    for (int64_t i = 0; i < count; i++) {
        const lacis_batch_group *group = &from->group[first + i];
        int64_t lo = group->lane > begin ? group->lane : begin, stop = group->lane + group->lanes;
        lanes[i] = (stop < end ? stop : end) - lo;
        lanes[count + i] = group->rows;
        rows += group->rows;
    }
    LACIS_TRY(add(run, array, "group_lanes", LACIS_I64, lanes, count));
    LACIS_TRY(add(run, array, "group_rows", LACIS_I64, lanes + count, count));
    if (from->parent == NULL) return LACIS_OK;
    return add(run, array, "parent", LACIS_I32, from->parent + (count > 0 ? from->group[first].row : 0), rows);
}

static const lacis_dtype dtype[LACIS_SOLVE_TYPES] = {[LACIS_SOLVE_F64] = LACIS_F64,
                                                     [LACIS_SOLVE_F32] = LACIS_F32,
                                                     [LACIS_SOLVE_MIXED] = LACIS_F32,
                                                     [LACIS_SOLVE_C128] = LACIS_C128};

static lacis_status part_of(lacis_run *run, const lacis_solve *work, int64_t begin, int64_t end, lacis_array **out)
{
    const lacis_array *like = work->like->array;
    const lacis_batch *from = &work->like->batch;
    int64_t first, most = 0;
    for (int64_t i = groups_within(from, begin, end, &first) - 1; i >= 0; i--)
        if (from->group[first + i].rows > most) most = from->group[first + i].rows;
    LACIS_TRY(lacis_array_new(run, LACIS_INTERLEAVED, dtype[work->type], end - begin, most, out));
    lacis_array_set_base(*out, 0, lacis_array_base(like, 0) + begin);
    lacis_array_set_base(*out, 1, lacis_array_base(like, 1));
    lacis_status status = add(run, *out, "block", LACIS_I64, &work->block, 1);
    if (status == LACIS_OK) status = add_groups(run, from, begin, end, *out);
    if (status != LACIS_OK) lacis_array_release(*out);
    return status;
}

lacis_status lacis_solve_shape(lacis_run *run, const lacis_solve *work, int64_t begin, int64_t end, lacis_array **out,
                               lacis_batch *batch)
{
    int64_t places;
    const bool whole = begin == 0 && end == work->like->batch.lanes;
    if (whole) {
        LACIS_TRY(lacis_batch_like(run, work->like->array, work->block, dtype[work->type], out, &places));
    } else {
        LACIS_TRY(part_of(run, work, begin, end, out));
    }
    lacis_status status = lacis_batch_view(run, *out, batch);
    if (status != LACIS_OK) lacis_array_release(*out);
    return status;
}
