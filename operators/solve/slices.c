/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes copied between batches of any layouts, and batches of some lanes, as slices.h says.
 */
#include "solve/slices.h"

#include <string.h>

/* --- copies ------------------------------------------------------------------------------------------ */

/* The group that holds a lane; NULL: none. */
static const lacis_batch_group *group_of(const lacis_batch *batch, int64_t lane)
{
    int64_t low = 0, high = batch->groups;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const lacis_batch_group *group = &batch->group[middle];
        if (lane < group->lane) {
            high = middle;
        } else if (lane >= group->lane + group->lanes) {
            low = middle + 1;
        } else {
            return group;
        }
    }
    return NULL;
}

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* Lanes that lie side by side in both, row by row. */
static void copy_side(const lacis_batch_group *from, int64_t lane, const char *data, const lacis_batch_group *to,
                      int64_t to_lane, char *out, int64_t lanes, uint64_t size)
{
    const char *source = data + (uint64_t)lacis_batch_place(from, lane, 0) * size;
    char *target = out + (uint64_t)lacis_batch_place(to, to_lane, 0) * size;
    for (int64_t r = 0; r < from->rows; r++) {
        memcpy(target, source, (uint64_t)lanes * size);
        source += (uint64_t)from->block * size;
        target += (uint64_t)to->block * size;
    }
}

static void copy_group(const lacis_batch_group *from, int64_t lane, const char *data, const lacis_batch_group *to,
                       int64_t to_lane, char *out, int64_t lanes, uint64_t size)
{
    if (from->rows == 0) return;
    if (from->block == 1 && to->block == 1) {
        memcpy(out + (uint64_t)lacis_batch_place(to, to_lane, 0) * size,
               data + (uint64_t)lacis_batch_place(from, lane, 0) * size, (uint64_t)(lanes * from->rows) * size);
        return;
    }
    for (int64_t done = 0; done < lanes;) {
        int64_t one = from->block - (lane + done) % from->block, other = to->block - (to_lane + done) % to->block;
        int64_t side = least(least(one, other), lanes - done);
        copy_side(from, lane + done, data, to, to_lane + done, out, side, size);
        done += side;
    }
}

bool lacis_solve_copy_lanes(const lacis_batch *from, int64_t first, const void *data, const lacis_batch *to,
                            int64_t to_first, void *out, int64_t lanes, uint64_t size)
{
    while (lanes > 0) {
        const lacis_batch_group *one = group_of(from, first), *other = group_of(to, to_first);
        if (one == NULL || other == NULL || one->rows != other->rows) return false;
        int64_t lane = first - one->lane, to_lane = to_first - other->lane;
        int64_t most = least(least(one->lanes - lane, other->lanes - to_lane), lanes);
        copy_group(one, lane, data, other, to_lane, out, most, size);
        first += most;
        to_first += most;
        lanes -= most;
    }
    return true;
}

/* --- slices ------------------------------------------------------------------------------------------ */

struct slice {
    const lacis_systems *from;
    int64_t begin, end;
    int64_t group, groups; /* those with lanes in it: the first, and how many up to the last */
    int64_t row, rows;     /* of these groups, each counted once */
    int64_t most_rows;
};

static struct slice slice_of(const lacis_systems *from, int64_t begin, int64_t end)
{
    const lacis_batch *batch = &from->batch;
    struct slice s = {.from = from, .begin = begin, .end = end};
    for (int64_t g = 0; g < batch->groups; g++) {
        const lacis_batch_group *group = &batch->group[g];
        if (group->lane + group->lanes <= begin || group->lane >= end) continue;
        if (s.groups++ == 0) {
            s.group = g;
            s.row = group->row;
        }
        s.rows += group->rows;
        if (group->rows > s.most_rows) s.most_rows = group->rows;
    }
    return s;
}

static lacis_status add_own(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                            void **out)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, lacis_dtype_size(dtype) * (uint64_t)count, &buffer));
    lacis_status status = lacis_array_add(run, array, name, dtype, count, buffer, 0);
    *out = lacis_buffer_data(buffer);
    lacis_buffer_release(buffer);
    return status;
}

/* `count` elements of a part from element `first` on. */
static lacis_status add_shared(lacis_run *run, const lacis_array *from, const char *name, int64_t first,
                               int64_t count, lacis_array *array)
{
    uint64_t offset;
    const lacis_part *part = lacis_array_part_named(from, name);
    lacis_buffer *buffer = lacis_array_part_buffer(from, name, &offset);
    return lacis_array_add(run, array, name, part->dtype, count, buffer,
                           offset + (uint64_t)first * lacis_dtype_size(part->dtype));
}

static lacis_status add_structure(lacis_run *run, const struct slice *s, lacis_array *array)
{
    const lacis_batch *batch = &s->from->batch;
    void *block, *lanes, *rows;
    LACIS_TRY(add_own(run, array, "block", LACIS_I64, 1, &block));
    LACIS_TRY(add_own(run, array, "group_lanes", LACIS_I64, s->groups, &lanes));
    LACIS_TRY(add_own(run, array, "group_rows", LACIS_I64, s->groups, &rows));
    *(int64_t *)block = batch->block;
    for (int64_t i = 0; i < s->groups; i++) {
        const lacis_batch_group *group = &batch->group[s->group + i];
        int64_t lo = group->lane > s->begin ? group->lane : s->begin;
        ((int64_t *)lanes)[i] = least(group->lane + group->lanes, s->end) - lo;
        ((int64_t *)rows)[i] = group->rows;
    }
    return batch->parent == NULL ? LACIS_OK : add_shared(run, s->from->array, "parent", s->row, s->rows, array);
}

static lacis_status add_field(lacis_run *run, const struct slice *s, const lacis_batch *to, const char *name,
                              lacis_array *array)
{
    const lacis_batch *batch = &s->from->batch;
    const lacis_batch_part *part = lacis_batch_field(batch, name);
    void *data;
    if (part->shared) return add_shared(run, s->from->array, name, s->row, s->rows, array);
    if (batch->block == 1 && s->groups > 0) {
        const lacis_batch_group *first = &batch->group[s->group];
        int64_t place = first->place + (s->begin - first->lane) * first->rows;
        return add_shared(run, s->from->array, name, place, to->places, array);
    }
    LACIS_TRY(add_own(run, array, name, part->dtype, to->places, &data));
    memset(data, 0, (size_t)to->places * lacis_dtype_size(part->dtype)); /* padding is sent as well */
    lacis_solve_copy_lanes(batch, s->begin, part->data, to, 0, data, s->end - s->begin,
                           lacis_dtype_size(part->dtype));
    return LACIS_OK;
}

static lacis_status fill(lacis_run *run, const struct slice *s, const char *const *field, int fields,
                         lacis_array *array)
{
    lacis_batch to;
    for (int d = 0; d < 2; d++)
        lacis_array_set_base(array, d, lacis_array_base(s->from->array, d) + (d == 0 ? s->begin : 0));
    LACIS_TRY(add_structure(run, s, array));
    LACIS_TRY(lacis_batch_view(run, array, &to));
    for (int i = 0; i < fields; i++)
        LACIS_TRY(add_field(run, s, &to, field[i], array));
    return LACIS_OK;
}

lacis_status lacis_solve_slice(lacis_run *run, const lacis_systems *from, const char *const *field, int fields,
                               int64_t begin, int64_t end, lacis_array **out)
{
    const struct slice s = slice_of(from, begin, end);
    LACIS_TRY(lacis_array_new(run, LACIS_INTERLEAVED, lacis_array_dtype(from->array), end - begin, s.most_rows, out));
    lacis_status status = fill(run, &s, field, fields, *out);
    if (status != LACIS_OK) lacis_array_release(*out);
    return status;
}
