/* SPDX-License-Identifier: Apache-2.0
 *
 * SWEEP's variant "ranks": whether the grid can be spread over the ranks of an mpirun, what that would cost, and
 * dealing it: all ranks work together, each on its part. In the list of variants.
 */
#include "sweep/ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Less than this is done before the others have heard of it. */
static const double LEAST_UPDATES = 2e8;
/* Other ranks bind the call to grids of so many cells along an axis: types and names are all that counts there. */
enum { SMALL = 9 };
enum { TIMELINE = 1 << 16 };

/* ------------------------------------------------------------------------------------------ how deep */

/* So many steps on one exchange that what is computed twice stays below about an eighth along each cut axis. Each
 * exchange costs a few messages' latency, and steps in one pass over memory are worth more than that. */
static bool fits(const lacis_sweep_work *work, lacis_sweep_brief *brief, int parts, int deep, int share)
{
    lacis_sweep_cut cut;
    char why[200];
    brief->deep = deep * share;
    const bool there = lacis_sweep_ranks_cut(work, brief, parts, &cut, why, sizeof why);
    brief->deep = deep;
    return there;
}

static int asked(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value != NULL ? atoi(value) : otherwise;
}

/* LACIS_SWEEP_DEEP and LACIS_SWEEP_EXCHANGE=sync|async overrule what is chosen: for experiments. */
static void choose(const lacis_sweep_work *work, int parts, lacis_sweep_brief *brief)
{
    enum { MOST = 16, WRITTEN_MOST = 4, THIN = 8 };
    const double stretch = lacis_sweep_stretch(work);
    const char *exchange = getenv("LACIS_SWEEP_EXCHANGE");
    *brief = (lacis_sweep_brief){.levels = work->levels};
    memcpy(brief->extent, work->grid.extent, sizeof brief->extent);
    int deep = work->levels > 0 ? work->levels : lacis_sweep_written(work) ? WRITTEN_MOST : MOST;
    if ((double)deep > stretch) deep = stretch > 1 ? (int)stretch : 1;
    while (work->levels == 0 && deep > 1 && !fits(work, brief, parts, deep, THIN))
        deep /= 2;
    deep = asked("LACIS_SWEEP_DEEP", deep);
    brief->deep = deep > 1 ? deep : 1;
    brief->overlap = exchange == NULL ? brief->deep == 1 : strcasecmp(exchange, "async") == 0;
    if (getenv("LACIS_SWEEP_TIMELINE") != NULL) brief->lines = TIMELINE;
}

/* ----------------------------------------------------------------------------------------- whether */

static bool can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_sweep_work *work = call->work;
    const int ranks = lacis_run_ranks(work->run);
    const double updates = (double)work->grid.cells * work->grid.fields * (double)work->steps;
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    if (ranks == 1) {
        snprintf(reason, size, "there are no other ranks");
        return false;
    }
    if (updates < LEAST_UPDATES && !lacis_run_ranks_always(work->run)) {
        snprintf(reason, size, "too little work: %.2g cell updates, of %.2g that it takes to pay", updates,
                 LEAST_UPDATES);
        return false;
    }
    choose(work, ranks, &brief); /* a cut that is asked for and cannot be is an error: cost tells it */
    return lacis_sweep_ranks_cut(work, &brief, ranks, &cut, reason, size) || lacis_run_ranks_always(work->run);
}

/* ------------------------------------------------------------------------------------------- costs */

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    const double call_seconds = 3e-3, message_seconds = 2e-5;
    const lacis_sweep_work *work = call->work;
    const int ranks = lacis_run_ranks(run);
    const double size = (double)lacis_sweep_size(work->type), rate = lacis_run_ranks_rate(run);
    char why[200];
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    choose(work, ranks, &brief);
    if (!lacis_sweep_ranks_cut(work, &brief, ranks, &cut, why, sizeof why))
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", why);
    LACIS_TRY(lacis_sweep_cost(run, call, brief.deep > 1 ? LACIS_SWEEP_BLOCKED : LACIS_SWEEP_SINGLE, profile, out));
    const double arrays = size * (double)work->grid.cells * (2 * work->grid.fields + work->coefficients);
    const double exchanges = (double)work->steps / brief.deep;
    const double halo = size * lacis_sweep_cut_surface(&cut) * work->grid.fields / ranks;
    out->seconds = call_seconds + out->seconds / ranks + arrays * (ranks - 1) / ranks / rate +
                   exchanges * (message_seconds * LACIS_SWEEP_RIM + halo / rate);
    out->peak_bytes = out->bytes + out->peak_bytes / ranks + 2 * arrays / ranks;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------ dealing */

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
    const int ranks = lacis_run_ranks(run);
    lacis_sweep_start whole, start;
    lacis_sweep_cut cut;
    char why[200];
    if (!lacis_sweep_ranks_cut(work, &d->dealt.brief, ranks, &cut, why, sizeof why))
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", why);
    lacis_sweep_start_of(work, NULL, &whole);
    for (int part = 1; part < ranks; part++) {
        lacis_sweep_cut_start(&whole, &cut, part, &start);
        start.levels = d->dealt.brief.levels;
        const uint64_t arrays = (uint64_t)(start.fields + start.coefficients) * lacis_sweep_size(start.type) *
                                (uint64_t)(start.extent[0] * start.extent[1] * start.extent[2]);
        if (lacis_sweep_bytes(&start) + lacis_sweep_part_bytes(&start, &cut, part) + arrays > room)
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

static lacis_status run_ranks(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    const lacis_sweep_work *work = call->work;
    dealing *d;
    (void)begin, (void)end; /* a grid is not cut into units */
    LACIS_TRY(lacis_run_scratch(run, sizeof *d, &d));
    *d = (dealing){.dealt.work = *work, .call = call};
    choose(work, lacis_run_ranks(run), &d->dealt.brief);
    const lacis_deal deal = {.device = LACIS_CPU,
                             .context = d,
                             .plan = plan,
                             .operand = operand,
                             .own = own,
                             .together = &lacis_sweep_ranks,
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

const lacis_variant lacis_sweep_ranks = {
    .name = "ranks",
    .device = LACIS_CPU,
    .summary = "the grid in parts over the ranks of an mpirun, which exchange their borders",
    .can = can,
    .cost = cost,
    .run = run_ranks,
    .ranks = true,
    .together = lacis_sweep_obey,
};

lacis_status lacis_sweep_explain_ranks(lacis_run *run, const lacis_sweep_work *work, lacis_lines *lines)
{
    const int ranks = lacis_run_ranks(run);
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    char why[200];
    if (ranks == 1) return LACIS_OK;
    choose(work, ranks, &brief);
    if (!lacis_sweep_ranks_cut(work, &brief, ranks, &cut, why, sizeof why)) return LACIS_OK;
    const double bytes = lacis_sweep_cut_surface(&cut) * work->grid.fields * (double)lacis_sweep_size(work->type);
    return lacis_lines_add(lines,
                           "ranks: a grid of %d x %d x %d; halos of %" PRId64 " x %" PRId64 " x %" PRId64
                           " cells, exchanged every %d step%s%s: %.3g KB a step",
                           cut.grid[0], cut.grid[1], cut.grid[2], cut.halo[0], cut.halo[1], cut.halo[2], cut.deep,
                           cut.deep == 1 ? "" : "s", brief.overlap ? ", while the centre is computed" : "",
                           1e-3 * bytes / cut.deep);
}
