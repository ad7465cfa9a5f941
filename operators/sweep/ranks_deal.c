/* SPDX-License-Identifier: Apache-2.0
 *
 * A call that all ranks work on together, each on its part of the grid: rank 0's side. The others bind the call to
 * small grids of the same names and types, and get their arrays as messages (ranks_spread.c). Called by ranks.c.
 */
#include "sweep/ranks.h"

#include <string.h>

/* Other ranks bind the call to grids of so many cells along an axis: types and names are all that counts there. */
enum { SMALL = 9 };

typedef struct dealing {
    lacis_sweep_dealt dealt; /* what the call's work becomes */
    const lacis_call *call;
    lacis_array *result;
    struct small {
        const lacis_array *of;
        lacis_array *array;
    } small[LACIS_ITEMS];
    int smalls;
} dealing;

static lacis_status plan(void *context, lacis_run *run, uint64_t room, int64_t *pieces)
{
    const dealing *d = context;
    const lacis_sweep_work *work = &d->dealt.work;
    const int ranks = lacis_sweep_ranks_parts(work);
    lacis_sweep_start whole, start;
    lacis_sweep_cut cut;
    char why[200];
    if (!lacis_sweep_ranks_cut(work, &d->dealt.brief, ranks, &cut, why, sizeof why))
        return lacis_sweep_cannot_cut(work, false, ranks, why);
    lacis_sweep_start_of(work, NULL, &whole);
    for (int part = 1; part < ranks; part++) {
        lacis_sweep_cut_start(&whole, &cut, part, &start);
        start.levels = d->dealt.brief.levels;
        const uint64_t arrays = (uint64_t)(start.fields + start.coefficients) * lacis_sweep_size(start.type) *
                                (uint64_t)(start.extent[0] * start.extent[1] * start.extent[2]);
        const uint64_t kernels = d->dealt.brief.gpu ? 0 : lacis_sweep_bytes(&start);
        const uint64_t lines = lacis_sweep_lines_bytes(&d->dealt.brief);
        if (kernels + lacis_sweep_part_bytes(&start, &cut, part) + arrays + lines > room)
            return lacis_run_fail(run, LACIS_UNSUPPORTED, "parts of the grid do not fit the memory of every rank");
    }
    *pieces = ranks;
    return LACIS_OK;
}

static int64_t shrunk(int64_t extent)
{
    return extent < SMALL ? extent : SMALL;
}

static lacis_status small_grid(lacis_run *run, const lacis_array *of, lacis_array **out)
{
    lacis_grid like, grid;
    LACIS_TRY(lacis_grid_view(run, of, &like));
    like.cells = 1;
    for (int axis = 0; axis < 3; axis++) {
        like.extent[axis] = shrunk(like.extent[axis]);
        like.cells *= like.extent[axis];
    }
    LACIS_TRY(lacis_grid_new(run, &like, out, &grid));
    for (int i = 0; i < grid.fields; i++)
        memset((void *)(uintptr_t)grid.field[i], 0, (size_t)grid.cells * lacis_dtype_size(grid.dtype));
    return LACIS_OK;
}

/* Values of a face: of whichever has so many cells. */
static lacis_status small_vector(lacis_run *run, const lacis_grid *grid, const lacis_array *of, lacis_array **out)
{
    const lacis_part *part = lacis_array_part_named(of, "values");
    const int64_t given = part == NULL ? -1 : part->count;
    for (int axis = 0; axis < grid->dims; axis++) {
        if (given != grid->cells / grid->extent[axis]) continue;
        lacis_buffer *buffer;
        int64_t cells = 1;
        for (int other = 0; other < grid->dims; other++)
            cells *= other == axis ? 1 : shrunk(grid->extent[other]);
        const uint64_t bytes = (uint64_t)cells * lacis_dtype_size(part->dtype);
        LACIS_TRY(lacis_buffer_new(run, bytes, &buffer));
        memset(lacis_buffer_data(buffer), 0, bytes);
        lacis_status status = lacis_array_new(run, LACIS_VECTOR, part->dtype, cells, 0, out);
        if (status == LACIS_OK) status = lacis_array_add(run, *out, "values", part->dtype, cells, buffer, 0);
        lacis_buffer_release(buffer); /* the array keeps its own hold */
        return status;
    }
    *out = lacis_array_retain(of);
    return LACIS_OK;
}

/* All pieces get the same small arrays. */
static lacis_status operand(void *context, lacis_run *run, int64_t piece, const lacis_item *item, lacis_array **out)
{
    dealing *d = context;
    (void)piece;
    *out = NULL;
    for (int i = 0; i < d->smalls; i++)
        if (d->small[i].of == item->array) *out = lacis_array_retain(d->small[i].array);
    if (*out != NULL || d->smalls == LACIS_COUNT(d->small)) return LACIS_OK;
    struct small *small = &d->small[d->smalls];
    const lacis_status status = lacis_array_kind(item->array) == LACIS_GRID
                                    ? small_grid(run, item->array, &small->array)
                                    : small_vector(run, &d->dealt.work.grid, item->array, &small->array);
    if (status != LACIS_OK) {
        lacis_array_release(small->array);
        small->array = NULL;
        return status;
    }
    small->of = item->array;
    d->smalls++;
    *out = lacis_array_retain(small->array);
    return LACIS_OK;
}

static lacis_status brief(void *context, lacis_run *run, int64_t piece, const void **data, uint64_t *bytes)
{
    const dealing *d = context;
    (void)run, (void)piece;
    *data = &d->dealt.brief;
    *bytes = sizeof d->dealt.brief;
    return LACIS_OK;
}

static lacis_status own(void *context, lacis_run *run, int64_t piece)
{
    dealing *d = context;
    lacis_call call = *d->call;
    (void)piece;
    call.work = &d->dealt; /* whose beginning is the work */
    return lacis_sweep_run_call(run, &call, lacis_sweep_ranks_system, d->dealt.brief.levels, &d->result);
}

lacis_status lacis_sweep_ranks_deal(bool gpu, lacis_run *run, const lacis_call *call, lacis_array **out)
{
    const lacis_sweep_work *work = call->work;
    dealing *d;
    LACIS_TRY(lacis_run_scratch(run, sizeof *d, &d));
    *d = (dealing){.dealt.work = *work, .call = call};
    lacis_sweep_ranks_brief(work, gpu, lacis_sweep_ranks_parts(work), &d->dealt.brief);
    if (!gpu) lacis_sweep_by_means_nothing(work);
    const lacis_deal deal = {.device = gpu ? LACIS_GPU : LACIS_CPU,
                             .context = d,
                             .plan = plan,
                             .operand = operand,
                             .own = own,
                             .together = gpu ? &lacis_sweep_ranks_gpu : &lacis_sweep_ranks,
                             .brief = brief};
    const lacis_status status = lacis_run_deal(run, call, &deal);
    for (int i = 0; i < d->smalls; i++)
        lacis_array_release(d->small[i].array);
    if (status == LACIS_OK)
        *out = d->result;
    else
        lacis_array_release(d->result);
    return status;
}
