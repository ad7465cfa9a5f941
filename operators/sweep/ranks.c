/* SPDX-License-Identifier: Apache-2.0
 *
 * SWEEP's variant "ranks": whether the grid can be spread over the ranks of an mpirun, what that would cost, and
 * dealing it: all ranks work together, each on its part. In the list of variants.
 */
#include "sweep/ranks.h"

#include <inttypes.h>
#include <string.h>

/* Less than this is done before the others have heard of it. */
static const double LEAST_UPDATES = 2e8;
/* Other ranks bind the call to grids of so many cells along an axis: types and names are all that counts there. */
enum { SMALL = 9 };
enum { TIMELINE = 1 << 16 }; /* lines of a part, at most; there are no more exchanges than steps, and one */

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

/* Ranks that have a part: PARTS takes fewer than there are. */
static int parts_of(const lacis_sweep_work *work)
{
    const int ranks = lacis_run_ranks(work->run), asked = work->exchange.parts;
    return asked > 0 && asked < ranks ? asked : ranks;
}

/* Steps on an exchange where nothing is said: what kernels do in one pass over a part, on GPUs several passes. */
static int usual(const lacis_sweep_work *work, bool gpu, int parts)
{
    enum { MOST = 16, WRITTEN_MOST = 4 };
    lacis_sweep_start whole, part;
    lacis_sweep_cut cut;
    char why[200];
    if (!gpu) return lacis_sweep_written(work) ? WRITTEN_MOST : MOST;
    lacis_sweep_start_of(work, NULL, &whole);
    if (!lacis_sweep_cut_slabs(&whole, parts, 1, &cut, why, sizeof why)) return 1;
    lacis_sweep_cut_start(&whole, &cut, 0, &part);
    return (int)lacis_sweep_best_depth(work, &part, parts, lacis_sweep_share_gpu_levels(&part));
}

/* GPUs do several steps in a pass over slabs, whose borders go ahead of them; parts that are cut along x as well are
 * not blocked there. So depths count of slabs alone; EXCHANGE, which overrules what is chosen, takes other cuts too.
 */
static void choose(const lacis_sweep_work *work, bool gpu, int parts, lacis_sweep_brief *brief)
{
    enum { THIN = 8, SLABS_THIN = 2 };
    const double stretch = lacis_sweep_stretch(work);
    const lacis_sweep_exchange *exchange = &work->exchange;
    *brief = (lacis_sweep_brief){.levels = work->levels, .gpu = gpu, .slabs = gpu};
    memcpy(brief->extent, work->grid.extent, sizeof brief->extent);
    int deep = work->levels > 0 ? work->levels : usual(work, gpu, parts);
    if ((double)deep > stretch) deep = stretch > 1 ? (int)stretch : 1;
    while (work->levels == 0 && deep > 1 && !fits(work, brief, parts, deep, gpu ? SLABS_THIN : THIN))
        deep /= 2;
    if (exchange->every > 0) deep = exchange->every;
    brief->deep = deep > 1 ? deep : 1;
    brief->slabs = gpu && brief->deep > 1 && fits(work, brief, parts, brief->deep, 1);
    brief->overlap = exchange->overlap == LACIS_SWEEP_AS_BEST ? brief->deep == 1 || brief->slabs
                                                              : exchange->overlap == LACIS_SWEEP_ASYNC;
    if (exchange->to != NULL) brief->lines = work->steps < TIMELINE ? work->steps + 1 : TIMELINE;
}

/* ----------------------------------------------------------------------------------------- whether */

/* Whether there is somebody to share with, and enough to share. */
static bool worth_it(const lacis_sweep_work *work, char *reason, size_t size)
{
    const double updates = (double)work->grid.cells * work->grid.fields * (double)work->steps;
    if (parts_of(work) == 1) {
        snprintf(reason, size, "%s",
                 lacis_run_ranks(work->run) == 1 ? "there are no other ranks" : "PARTS leaves it to one");
        return false;
    }
    if (updates >= LEAST_UPDATES || lacis_run_ranks_always(work->run)) return true;
    snprintf(reason, size, "too little work: %.2g cell updates, of %.2g that it takes to pay", updates,
             LEAST_UPDATES);
    return false;
}

/* With SET ranks = all a cut that cannot be is for cost to tell, so that nothing else runs; but for one that EVERY
 * alone is to blame for (lacis_sweep_uncut). */
static bool can_over(const lacis_call *call, bool gpu, char *reason, size_t size)
{
    const lacis_sweep_work *work = call->work;
    const int parts = parts_of(work);
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    if (!worth_it(work, reason, size)) return false;
    choose(work, gpu, parts, &brief);
    if (lacis_sweep_ranks_cut(work, &brief, parts, &cut, reason, size)) return true;
    return lacis_run_ranks_always(work->run) && !lacis_sweep_every_is_why(work, false, parts);
}

lacis_status lacis_sweep_uncut(const lacis_sweep_work *work)
{
    char why[200];
    const int parts = parts_of(work);
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    if (!worth_it(work, why, sizeof why) || !lacis_sweep_every_is_why(work, false, parts)) return LACIS_OK;
    choose(work, false, parts, &brief);
    if (lacis_sweep_ranks_cut(work, &brief, parts, &cut, why, sizeof why)) return LACIS_OK;
    return lacis_sweep_cannot_cut(work, false, parts, why);
}

static bool can(const lacis_call *call, char *reason, size_t size)
{
    return can_over(call, false, reason, size);
}

static bool gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_sweep_work *work = call->work;
    const int parts = parts_of(work);
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    if (!can_over(call, true, reason, size) || !lacis_sweep_gpu_could(call, LACIS_SWEEP_SINGLE, reason, size))
        return false;
    choose(work, true, parts, &brief);
    if (!lacis_sweep_ranks_cut(work, &brief, parts, &cut, reason, size)) return true; /* cost tells it */
    return lacis_sweep_share_gpu_fits(work, &brief, &cut, 0, reason, size);
}

/* ------------------------------------------------------------------------------------------- costs */

static lacis_status cost_over(bool gpu, lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                              lacis_cost *out)
{
    const double call_seconds = 3e-3, message_seconds = 2e-5;
    const lacis_sweep_work *work = call->work;
    const int ranks = parts_of(work);
    const double size = (double)lacis_sweep_size(work->type), rate = lacis_run_ranks_rate(run);
    char why[200];
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    choose(work, gpu, ranks, &brief);
    if (!lacis_sweep_ranks_cut(work, &brief, ranks, &cut, why, sizeof why))
        return lacis_sweep_cannot_cut(work, false, ranks, why);
    const int way = brief.deep > 1 ? LACIS_SWEEP_BLOCKED : LACIS_SWEEP_SINGLE;
    LACIS_TRY(gpu ? lacis_sweep_gpu_cost(run, call, way, profile, out)
                  : lacis_sweep_cost(run, call, way, profile, out));
    const double arrays = size * (double)work->grid.cells * (2 * work->grid.fields + work->coefficients);
    const double exchanges = (double)work->steps / brief.deep;
    const double halo = size * lacis_sweep_cut_surface(&cut) * work->grid.fields / ranks;
    out->seconds = call_seconds + out->once + (out->seconds - out->once) / ranks +
                   arrays * (ranks - 1) / ranks / rate +
                   exchanges * (message_seconds * LACIS_SWEEP_RIM + halo / rate);
    out->peak_bytes =
        out->bytes + out->peak_bytes / ranks + 2 * arrays / ranks + (double)lacis_sweep_lines_bytes(&brief);
    return LACIS_OK;
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    return cost_over(false, run, call, profile, out);
}

static lacis_status gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    return cost_over(true, run, call, profile, out);
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
    const int ranks = parts_of(work);
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

static lacis_status run_over(bool gpu, lacis_run *run, const lacis_call *call, lacis_array **out)
{
    const lacis_sweep_work *work = call->work;
    dealing *d;
    LACIS_TRY(lacis_run_scratch(run, sizeof *d, &d));
    *d = (dealing){.dealt.work = *work, .call = call};
    choose(work, gpu, parts_of(work), &d->dealt.brief);
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

/* A grid is not cut into units. */
static lacis_status run_cpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)begin, (void)end;
    return run_over(false, run, call, out);
}

static lacis_status run_gpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)begin, (void)end;
    return run_over(true, run, call, out);
}

const lacis_variant lacis_sweep_ranks = {
    .name = "ranks",
    .device = LACIS_CPU,
    .summary = "the grid in parts over the ranks of an mpirun, which exchange their borders",
    .can = can,
    .cost = cost,
    .run = run_cpu,
    .ranks = true,
    .together = lacis_sweep_obey,
};

const lacis_variant lacis_sweep_ranks_gpu = {
    .name = "ranks-gpu",
    .device = LACIS_GPU,
    .summary = "the grid in parts over the ranks of an mpirun, each with a GPU of its own",
    .can = gpu_can,
    .cost = gpu_cost,
    .run = run_gpu,
    .ranks = true,
    .together = lacis_sweep_obey,
};

static const char *road(const lacis_sweep_work *work)
{
    return work->exchange.host
               ? ", through the host's memory (BY host)"
               : ", straight to GPUs of the same host, where they are reached (CUDA IPC) and then waited "
                 "for, else through the host's memory";
}

static lacis_status explain_over(const lacis_sweep_work *work, bool gpu, lacis_lines *lines)
{
    const int parts = parts_of(work);
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    char why[200];
    choose(work, gpu, parts, &brief);
    if (!lacis_sweep_ranks_cut(work, &brief, parts, &cut, why, sizeof why)) {
        if (!lacis_sweep_every_is_why(work, false, parts)) return LACIS_OK;
        return lacis_lines_add(lines, "%s: EXCHANGE EVERY %d is too deep, an error where the grid stays whole: %s",
                               gpu ? "ranks-gpu" : "ranks", work->exchange.every, why);
    }
    const double bytes = lacis_sweep_cut_surface(&cut) * work->grid.fields * (double)lacis_sweep_size(work->type);
    const char *meanwhile = brief.slabs ? ", while slabs are computed" : ", while the centre is computed";
    return lacis_lines_add(lines,
                           "%s: a grid of %d x %d x %d; halos of %" PRId64 " x %" PRId64 " x %" PRId64
                           " cells, exchanged every %d step%s%s: %.3g KB a step%s",
                           gpu ? "ranks-gpu" : "ranks", cut.grid[0], cut.grid[1], cut.grid[2], cut.halo[0],
                           cut.halo[1], cut.halo[2], cut.deep, cut.deep == 1 ? "" : "s",
                           brief.overlap ? meanwhile : "", 1e-3 * bytes / cut.deep, gpu ? road(work) : "");
}

lacis_status lacis_sweep_explain_ranks(const lacis_sweep_work *work, lacis_lines *lines)
{
    char reason[200];
    if (parts_of(work) == 1) return LACIS_OK;
    LACIS_TRY(explain_over(work, false, lines));
    return lacis_gpu_possible(work->run, reason, sizeof reason) ? explain_over(work, true, lines) : LACIS_OK;
}
