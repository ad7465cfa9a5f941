/* SPDX-License-Identifier: Apache-2.0
 *
 * Interleaved batches taken apart and shaped: which parts of such an array are structure, which are fields, and where
 * elements lie. Used by row sources, totals, the catalog's checks, and by operators over batches.
 */
#include "core/batch.h"

#include <inttypes.h>
#include <string.h>

bool lacis_batch_structure(const char *part)
{
    static const char *const name[] = {"block", "group_lanes", "group_rows", "parent"};
    for (int i = 0; i < LACIS_COUNT(name); i++)
        if (strcmp(part, name[i]) == 0) return true;
    return false;
}

static lacis_status bad(lacis_run *run, const char *what)
{
    return lacis_run_fail(run, LACIS_TYPE, "the batch of systems %s", what);
}

/* --- groups --------------------------------------------------------------------------------------- */

struct lists {
    const lacis_part *lanes, *rows; /* NULL: one group */
    int64_t groups;
};

static lacis_status find_lists(lacis_run *run, const lacis_array *array, struct lists *out)
{
    out->lanes = lacis_array_part_named(array, "group_lanes");
    out->rows = lacis_array_part_named(array, "group_rows");
    out->groups = 1;
    if (out->lanes == NULL && out->rows == NULL) return LACIS_OK;
    bool fits = out->lanes != NULL && out->rows != NULL && out->lanes->dtype == LACIS_I64 &&
                out->rows->dtype == LACIS_I64 && out->lanes->count == out->rows->count;
    if (!fits) return bad(run, "needs group_lanes and group_rows together, of type i64 and of one length");
    out->groups = out->lanes->count;
    return LACIS_OK;
}

/* Lanes that a group takes room for. */
static bool padded(int64_t lanes, int64_t block, int64_t *out)
{
    *out = lanes;
    if (block <= 1 || lanes == 0) return true;
    int64_t flocks = (lanes - 1) / block + 1;
    return !__builtin_mul_overflow(flocks, block, out);
}

/* Puts the group behind what `batch` counts so far. */
static lacis_status add_group(lacis_run *run, lacis_batch *batch, int64_t lanes, int64_t rows, lacis_batch_group *out)
{
    int64_t side, places, elements;
    if (lanes < 0 || rows < 0) return bad(run, "has a group of negative size");
    bool fits = padded(lanes, batch->block, &side) && !__builtin_mul_overflow(side, rows, &places) &&
                !__builtin_mul_overflow(lanes, rows, &elements) && rows <= INT32_MAX;
    *out = (lacis_batch_group){batch->lanes, lanes, rows, batch->rows, batch->places, 1};
    if (batch->block != 1) out->block = batch->block == 0 ? (lanes > 0 ? lanes : 1) : batch->block;
    fits = fits && !__builtin_add_overflow(batch->places, places, &batch->places) &&
           !__builtin_add_overflow(batch->lanes, lanes, &batch->lanes) &&
           !__builtin_add_overflow(batch->rows, rows, &batch->rows) &&
           !__builtin_add_overflow(batch->elements, elements, &batch->elements);
    if (!fits || batch->places > INT64_MAX / 16) return bad(run, "has more elements than can be counted");
    if (rows > batch->most_rows) batch->most_rows = rows;
    return LACIS_OK;
}

static lacis_status view_groups(lacis_run *run, const lacis_array *array, lacis_batch *out)
{
    struct lists lists;
    lacis_batch_group *group;
    LACIS_TRY(find_lists(run, array, &lists));
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)lists.groups * sizeof *group, &group));
    for (int64_t i = 0; i < lists.groups; i++) {
        int64_t lanes = lists.lanes == NULL ? lacis_array_extent(array, 0) : ((const int64_t *)lists.lanes->data)[i];
        int64_t rows = lists.rows == NULL ? lacis_array_extent(array, 1) : ((const int64_t *)lists.rows->data)[i];
        LACIS_TRY(add_group(run, out, lanes, rows, &group[i]));
    }
    out->groups = lists.groups;
    out->group = group;
    return out->lanes == lacis_array_extent(array, 0) ? LACIS_OK : bad(run, "has groups of other lanes than it has");
}

int64_t lacis_batch_elements(const lacis_array *array)
{
    const lacis_part *lanes = lacis_array_part_named(array, "group_lanes");
    const lacis_part *rows = lacis_array_part_named(array, "group_rows");
    int64_t sum = 0;
    if (lanes == NULL || rows == NULL) return lacis_array_extent(array, 0) * lacis_array_extent(array, 1);
    for (int64_t i = 0; i < lanes->count && i < rows->count; i++)
        sum += ((const int64_t *)lanes->data)[i] * ((const int64_t *)rows->data)[i];
    return sum;
}

/* --- trees and fields ------------------------------------------------------------------------------ */

static lacis_status view_parent(lacis_run *run, const lacis_array *array, lacis_batch *out)
{
    const lacis_part *part = lacis_array_part_named(array, "parent");
    if (part == NULL) return LACIS_OK;
    if (part->dtype != LACIS_I32 || part->count != out->rows)
        return bad(run, "needs \"parent\" of type i32 with one element a row of each group");
    out->parent = part->data;
    for (int64_t g = 0; g < out->groups; g++) {
        const int32_t *parent = out->parent + out->group[g].row;
        for (int64_t r = 0; r < out->group[g].rows; r++)
            if (parent[r] >= r || parent[r] < -1)
                return lacis_run_fail(run, LACIS_TYPE,
                                      "row %" PRId64 " of the tree of lane %" PRId64
                                      " has parent %d: a parent comes before its children, and -1 is a root's",
                                      r, out->group[g].lane, (int)parent[r]);
    }
    return LACIS_OK;
}

static lacis_status view_fields(lacis_run *run, const lacis_array *array, lacis_batch *out)
{
    for (int i = 0; i < lacis_array_part_count(array); i++) {
        lacis_part part;
        LACIS_TRY(lacis_array_part(array, i, &part));
        if (lacis_batch_structure(part.name)) continue;
        if (out->fields == LACIS_BATCH_FIELDS) return bad(run, "has too many fields");
        bool shared = part.count == out->rows && part.count != out->places;
        if (part.count != out->places && !shared)
            return lacis_run_fail(run, LACIS_TYPE,
                                  "field %s has %" PRId64 " elements: %" PRId64 " are one a lane and row, %" PRId64
                                  " one a row for all lanes",
                                  part.name, part.count, out->places, out->rows);
        out->field[out->fields++] = (lacis_batch_part){part.name, part.dtype, shared, part.data};
    }
    return LACIS_OK;
}

static lacis_status view_block(lacis_run *run, const lacis_array *array, lacis_batch *out)
{
    const lacis_part *part = lacis_array_part_named(array, "block");
    out->block = 1;
    if (part == NULL) return LACIS_OK;
    if (part->dtype != LACIS_I64 || part->count != 1) return bad(run, "needs \"block\" as one i64");
    out->block = *(const int64_t *)part->data;
    return out->block < 0 || out->block > INT32_MAX ? bad(run, "has a block of less than 0 or more than 2^31 lanes")
                                                    : LACIS_OK;
}

lacis_status lacis_batch_view(lacis_run *run, const lacis_array *array, lacis_batch *out)
{
    *out = (lacis_batch){0};
    LACIS_TRY(view_block(run, array, out));
    LACIS_TRY(view_groups(run, array, out));
    LACIS_TRY(view_parent(run, array, out));
    return view_fields(run, array, out);
}

const lacis_batch_part *lacis_batch_field(const lacis_batch *batch, const char *name)
{
    for (int i = 0; i < batch->fields; i++)
        if (strcmp(batch->field[i].name, name) == 0) return &batch->field[i];
    return NULL;
}

/* --- shaping ---------------------------------------------------------------------------------------- */

static lacis_status add_block(lacis_run *run, lacis_array *array, int64_t block)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, sizeof block, &buffer));
    memcpy(lacis_buffer_data(buffer), &block, sizeof block);
    lacis_status status = lacis_array_add(run, array, "block", LACIS_I64, 1, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status share_part(lacis_run *run, const lacis_array *like, const char *name, lacis_array *array)
{
    uint64_t offset = 0;
    const lacis_part *part = lacis_array_part_named(like, name);
    if (part == NULL) return LACIS_OK;
    lacis_buffer *buffer = lacis_array_part_buffer(like, name, &offset);
    return lacis_array_add(run, array, name, part->dtype, part->count, buffer, offset);
}

static lacis_status shape(lacis_run *run, const lacis_array *like, int64_t block, lacis_array *array, int64_t *places)
{
    lacis_batch batch;
    for (int d = 0; d < 2; d++)
        lacis_array_set_base(array, d, lacis_array_base(like, d));
    LACIS_TRY(add_block(run, array, block));
    LACIS_TRY(share_part(run, like, "group_lanes", array));
    LACIS_TRY(share_part(run, like, "group_rows", array));
    LACIS_TRY(share_part(run, like, "parent", array));
    LACIS_TRY(lacis_batch_view(run, array, &batch));
    *places = batch.places;
    return LACIS_OK;
}

lacis_status lacis_batch_like(lacis_run *run, const lacis_array *like, int64_t block, lacis_dtype dtype,
                              lacis_array **out, int64_t *places)
{
    lacis_array *array;
    LACIS_TRY(lacis_array_new(run, LACIS_INTERLEAVED, dtype, lacis_array_extent(like, 0), lacis_array_extent(like, 1),
                              &array));
    lacis_status status = shape(run, like, block, array, places);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}
