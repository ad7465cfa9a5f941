/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of the field "value" of batches of systems, in blocks of places as they lie in memory; see totals.c. What
 * pads a layout is left out, what lanes share counts once a lane.
 */
#include "core/totals.h"

enum { PLACES = 1 << 16 };

typedef struct batch_job {
    lacis_batch batch;
    const lacis_batch_part *value;
    lacis_totals *block;
} batch_job;

/* Places from .. to of a group, counted within it, less those of lanes that only pad. */
static void add_group(const batch_job *work, const lacis_batch_group *group, int64_t from, int64_t to,
                      lacis_totals *totals)
{
    int64_t whole = group->lanes / group->block * group->block * group->rows, rest = group->lanes % group->block;
    int64_t end = to < whole ? to : whole;
    if (from < end)
        lacis_totals_values(work->value->data, work->value->dtype, group->place + from, end - from, totals);
    for (int64_t row = from > whole ? (from - whole) / group->block : 0; row < group->rows && rest > 0; row++) {
        int64_t first = whole + row * group->block, last = first + rest;
        if (first >= to) return;
        if (first < from) first = from;
        if (last > to) last = to;
        if (first < last)
            lacis_totals_values(work->value->data, work->value->dtype, group->place + first, last - first, totals);
    }
}

/* The group in which a place lies. */
static int64_t group_at(const lacis_batch *batch, int64_t place)
{
    int64_t low = 0, high = batch->groups;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (batch->group[middle].place <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static lacis_status batch_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const batch_job *work = context;
    const lacis_batch *batch = &work->batch;
    lacis_totals *totals = &work->block[task];
    int64_t first = task * PLACES, last = first + PLACES < batch->places ? first + PLACES : batch->places;
    lacis_totals_init(totals);
    for (int64_t g = group_at(batch, first); g < batch->groups && batch->group[g].place < last; g++) {
        int64_t begin = batch->group[g].place,
                end = g + 1 < batch->groups ? batch->group[g + 1].place : batch->places;
        add_group(work, &batch->group[g], first > begin ? first - begin : 0, (last < end ? last : end) - begin,
                  totals);
    }
    return LACIS_OK;
}

/* A field that lanes share counts once a lane. */
static void add_shared(const batch_job *work, lacis_totals *totals)
{
    for (int64_t g = 0; g < work->batch.groups; g++) {
        const lacis_batch_group *group = &work->batch.group[g];
        lacis_totals one;
        lacis_totals_init(&one);
        if (group->lanes == 0 || group->rows == 0) continue;
        lacis_totals_values(work->value->data, work->value->dtype, group->row, group->rows, &one);
        one.count *= group->lanes;
        one.nan *= group->lanes;
        one.exact *= group->lanes;
        one.sum *= (double)group->lanes;
        lacis_totals_merge(totals, &one);
    }
}

lacis_status lacis_totals_batch(lacis_run *run, const lacis_array *array, lacis_totals *totals, bool *integer)
{
    batch_job work = {0};
    LACIS_TRY(lacis_batch_view(run, array, &work.batch));
    work.value = lacis_batch_field(&work.batch, "value");
    *integer = work.value != NULL && work.value->dtype < LACIS_F32;
    if (work.value == NULL || work.value->shared) {
        if (work.value == NULL)
            totals->count += work.batch.elements;
        else
            add_shared(&work, totals);
        return LACIS_OK;
    }
    int64_t blocks = (work.batch.places + PLACES - 1) / PLACES;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)blocks * sizeof *work.block, &work.block));
    lacis_status status = lacis_run_parallel(run, blocks, batch_block, &work);
    for (int64_t i = 0; i < blocks && status == LACIS_OK; i++)
        if (work.block[i].count > 0) lacis_totals_merge(totals, &work.block[i]);
    lacis_run_free(run, work.block);
    return status;
}
