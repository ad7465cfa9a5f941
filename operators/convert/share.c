/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the lanes of each group agree on a field, bit for bit, so that it can be stored once: for CONVERT ...
 * SHARE.
 */
#include "convert/convert.h"

#include <stdatomic.h>
#include <string.h>

static const int64_t TASK = (int64_t)1 << 18; /* elements, or one lane */

typedef struct comparison {
    lacis_run *run;
    const lacis_batch_group *group;
    const char *data; /* of the group */
    size_t size;
    int64_t skip, lanes, step; /* lanes to compare with the first of them, and of a task */
    atomic_bool differ;
} comparison;

static const char *at(const comparison *c, int64_t lane, int64_t row)
{
    return c->data + (size_t)(lacis_batch_place(c->group, c->skip + lane, row) - c->group->place) * c->size;
}

/* Lanes of Flat are stretches of memory. */
static bool lane_alike(const comparison *c, int64_t lane)
{
    if (c->group->block == 1) return memcmp(at(c, 0, 0), at(c, lane, 0), (size_t)c->group->rows * c->size) == 0;
    for (int64_t row = 0; row < c->group->rows; row++)
        if (memcmp(at(c, 0, row), at(c, lane, row), c->size) != 0) return false;
    return true;
}

/* Where lanes lie side by side: a row of them at a time, the first of which is like the first of all. */
static bool flock_alike(const comparison *c, int64_t lane, int64_t lanes)
{
    size_t more = (size_t)(lanes - 1) * c->size;
    for (int64_t row = 0; row < c->group->rows; row++) {
        const char *first = at(c, lane, row);
        if (memcmp(first, at(c, 0, row), c->size) != 0 || memcmp(first, first + c->size, more) != 0) return false;
    }
    return true;
}

static lacis_status compare_task(void *context, int64_t task, int worker)
{
    (void)worker;
    comparison *c = context;
    int64_t lane = task * c->step, end = lane + c->step < c->lanes ? lane + c->step : c->lanes;
    while (lane < end && !atomic_load_explicit(&c->differ, memory_order_relaxed)) {
        int64_t left = c->group->block - (c->skip + lane) % c->group->block;
        int64_t some = left < end - lane ? left : end - lane;
        bool alike = some == 1 ? lane_alike(c, lane) : flock_alike(c, lane, some);
        if (!alike) atomic_store(&c->differ, true);
        lane += some;
    }
    return LACIS_OK;
}

lacis_status lacis_convert_agree(lacis_run *run, const lacis_batch *batch, const lacis_batch_part *field,
                                 const lacis_convert_lanes_of *group, int64_t groups, bool *out)
{
    *out = false;
    for (int64_t g = 0; g < groups; g++) {
        const lacis_batch_group *from = &batch->group[group[g].source];
        comparison c = {.run = run, .group = from, .size = lacis_dtype_size(field->dtype)};
        if (from->rows == 0) continue;
        c.data = (const char *)field->data + (size_t)from->place * c.size;
        c.skip = group[g].skip;
        c.lanes = group[g].lanes;
        c.step = TASK / from->rows + 1;
        LACIS_TRY(lacis_run_parallel(run, (c.lanes - 1) / c.step + 1, compare_task, &c));
        if (atomic_load(&c.differ)) return LACIS_OK;
    }
    *out = true;
    return LACIS_OK;
}
