/* SPDX-License-Identifier: Apache-2.0
 *
 * The arrays of a call in the type of the run: as they lie where they are of it, else converted. And what kernels
 * begin with. Called by run.c, and without arrays by bind, costs and EXPLAIN.
 */
#include "sweep/system.h"

#include <string.h>

enum { CONVERTED_AT_ONCE = 1 << 16, MOST = LACIS_SWEEP_ARRAYS + LACIS_SWEEP_FIELDS * LACIS_SWEEP_FACES };

/* All of a call's arrays in a row, with where the kernels' pointers go. */
typedef struct place {
    const lacis_sweep_source *from;
    const void **to;
} place;

static int places(const lacis_sweep_work *work, lacis_sweep_input *input, place *out)
{
    int count = 0;
    for (int i = 0; i < work->grid.fields + work->coefficients; i++)
        out[count++] = (place){&work->array[i], &input->array[i]};
    for (int field = 0; field < work->grid.fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (work->face[field][face].array != NULL)
                out[count++] = (place){&work->face[field][face], &input->face[field][face]};
    return count;
}

static uint64_t bytes_of(const lacis_sweep_work *work, const lacis_sweep_source *source)
{
    const uint64_t bytes = lacis_sweep_size(work->type) * (uint64_t)source->count;
    return source->dtype == work->dtype ? 0 : (bytes + 63) / 64 * 64;
}

uint64_t lacis_sweep_take_bytes(const lacis_sweep_work *work)
{
    lacis_sweep_input input;
    place all[MOST];
    uint64_t bytes = 0;
    const int count = places(work, &input, all);
    for (int i = 0; i < count; i++)
        bytes += bytes_of(work, all[i].from);
    return bytes;
}

typedef struct conversion {
    const lacis_sweep_source *from;
    char *to;
    lacis_dtype dtype;
} conversion;

static lacis_status convert_some(void *context, int64_t task, int worker)
{
    const conversion *c = context;
    const int64_t first = task * CONVERTED_AT_ONCE, left = c->from->count - first;
    (void)worker;
    lacis_values_convert(c->from->data, c->from->dtype, first, left < CONVERTED_AT_ONCE ? left : CONVERTED_AT_ONCE,
                         c->to + lacis_dtype_size(c->dtype) * (uint64_t)first, c->dtype);
    return LACIS_OK;
}

static lacis_status convert(lacis_run *run, const lacis_sweep_work *work, const place *all, int count, char *to)
{
    for (int i = 0; i < count; i++) {
        conversion c = {all[i].from, to, work->dtype};
        if (all[i].from->dtype == work->dtype) continue;
        const int64_t tasks = (all[i].from->count + CONVERTED_AT_ONCE - 1) / CONVERTED_AT_ONCE;
        const lacis_status status = lacis_run_parallel(run, tasks, convert_some, &c);
        if (status != LACIS_OK) return status == LACIS_INTERRUPT ? lacis_run_interrupted(run) : status;
        *all[i].to = to;
        to += bytes_of(work, all[i].from);
    }
    return LACIS_OK;
}

lacis_status lacis_sweep_take(lacis_run *run, const lacis_sweep_work *work, lacis_sweep_input *out)
{
    place all[MOST];
    *out = (lacis_sweep_input){.own = NULL};
    const uint64_t bytes = lacis_sweep_take_bytes(work);
    const int count = places(work, out, all);
    for (int i = 0; i < count; i++)
        *all[i].to = all[i].from->data;
    if (bytes == 0) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(run, bytes, &out->own));
    const lacis_status status = convert(run, work, all, count, out->own);
    if (status != LACIS_OK) lacis_sweep_give(run, out);
    return status;
}

void lacis_sweep_give(lacis_run *run, lacis_sweep_input *input)
{
    lacis_run_free(run, input->own);
    input->own = NULL;
}

/* ------------------------------------------------------------------------------------------- the start */

void lacis_sweep_start_of(const lacis_sweep_work *work, const lacis_sweep_input *input, lacis_sweep_start *out)
{
    *out = (lacis_sweep_start){.type = work->type,
                               .dims = work->grid.dims,
                               .fields = work->grid.fields,
                               .coefficients = work->coefficients,
                               .t = work->grid.step,
                               .cells = lacis_sweep_program_cells,
                               .levels = work->levels,
                               .threads = lacis_run_threads(work->run)};
    memcpy(out->extent, work->grid.extent, sizeof out->extent);
    memcpy(out->whole, work->grid.extent, sizeof out->whole);
    memcpy(out->edge, work->edge, sizeof out->edge);
    for (int field = 0; field < work->grid.fields; field++)
        out->rule[field] = work->formula[field].rule;
    if (input != NULL) memcpy(out->array, input->array, sizeof out->array);
    for (int field = 0; field < work->grid.fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            out->edge[field][face].values = input != NULL ? input->face[field][face] : work->face[field][face].data;
}
