/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan that SYMV's kernels make of a graph on a GPU, kept beside the graph's columns there and found again.
 */
#include "symv/sparse_device.h"

#include <string.h>

bool lacis_symv_sparse_joined(const lacis_array *array)
{
    return lacis_array_part_named(array, "offsets") != NULL;
}

_Static_assert(sizeof(lacis_symv_half_plan) <= sizeof((lacis_gpu_thing *)0)->note, "a plan is a thing's note");

/* What a plan is made of: where rows begin and end, their columns and values, the triangle, the type. */
static lacis_buffer *plan_key(const lacis_symv_work *work, lacis_gpu_thing *thing)
{
    const lacis_array *array = work->matrix.array;
    const bool joined = lacis_symv_sparse_joined(array);
    uint64_t column_at;
    lacis_buffer *column = lacis_array_part_buffer(array, "columns", &column_at);
    *thing = (lacis_gpu_thing){.name = "symv.half"};
    lacis_buffer *begin = lacis_array_part_buffer(array, joined ? "offsets" : "begin", &thing->key[1]);
    lacis_buffer *end = joined ? begin : lacis_array_part_buffer(array, "end", &thing->key[3]);
    lacis_buffer *values = NULL;
    if (lacis_array_part_named(array, "values") != NULL)
        values = lacis_array_part_buffer(array, "values", &thing->key[7]);
    if (column == NULL || begin == NULL || end == NULL) return NULL;
    thing->key[0] = lacis_buffer_serial(begin);
    thing->key[2] = lacis_buffer_serial(end);
    thing->key[4] = column_at;
    if (values != NULL) thing->key[6] = lacis_buffer_serial(values);
    thing->key[5] = (uint64_t)work->type << 1 | (work->matrix.uplo == LACIS_SYMV_UPPER);
    return column;
}

bool lacis_symv_find_plan(const lacis_symv_work *work, lacis_gpu *gpu, lacis_symv_half_plan *out)
{
    lacis_gpu_thing thing;
    lacis_buffer *column = plan_key(work, &thing);
    if (column == NULL || !lacis_gpu_made(gpu, column, &thing)) return false;
    memcpy(out, thing.note, sizeof *out);
    out->block = thing.device;
    return true;
}

void lacis_symv_keep_plan(const lacis_symv_work *work, lacis_gpu *gpu, const lacis_symv_half_plan *plan)
{
    lacis_gpu_thing thing;
    lacis_buffer *column = plan_key(work, &thing);
    if (column == NULL) {
        lacis_gpu_free(gpu, plan->block);
        return;
    }
    thing.bytes = plan->bytes;
    thing.device = plan->block;
    memcpy(thing.note, plan, sizeof *plan);
    lacis_gpu_keep_made(gpu, column, &thing);
}
