/* SPDX-License-Identifier: Apache-2.0
 *
 * SWEEP's variants "ranks" and "ranks-gpu": whether the grid can be spread over the ranks of an mpirun, what that
 * would cost, and what EXPLAIN says of it. In the list of variants.
 */
#include "sweep/ranks.h"

#include <inttypes.h>

/* Less than this is done before the others have heard of it. */
static const double LEAST_UPDATES = 2e8;

/* ----------------------------------------------------------------------------------------- whether */

/* Whether there is somebody to share with, and enough to share. */
static bool worth_it(const lacis_sweep_work *work, char *reason, size_t size)
{
    const double updates = (double)work->grid.cells * work->grid.fields * (double)work->steps;
    if (lacis_sweep_ranks_parts(work) == 1) {
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
    const int parts = lacis_sweep_ranks_parts(work);
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    if (!worth_it(work, reason, size)) return false;
    lacis_sweep_ranks_brief(work, gpu, parts, &brief);
    if (lacis_sweep_ranks_cut(work, &brief, parts, &cut, reason, size)) return true;
    return lacis_run_ranks_always(work->run) && !lacis_sweep_every_is_why(work, false, parts);
}

lacis_status lacis_sweep_uncut(const lacis_sweep_work *work)
{
    char why[200];
    const int parts = lacis_sweep_ranks_parts(work);
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    if (!worth_it(work, why, sizeof why) || !lacis_sweep_every_is_why(work, false, parts)) return LACIS_OK;
    lacis_sweep_ranks_brief(work, false, parts, &brief);
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
    const int parts = lacis_sweep_ranks_parts(work);
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    if (!can_over(call, true, reason, size) || !lacis_sweep_gpu_could(call, LACIS_SWEEP_SINGLE, reason, size))
        return false;
    lacis_sweep_ranks_brief(work, true, parts, &brief);
    if (!lacis_sweep_ranks_cut(work, &brief, parts, &cut, reason, size)) return true; /* cost tells it */
    return lacis_sweep_share_gpu_fits(work, &brief, &cut, 0, reason, size);
}

/* ------------------------------------------------------------------------------------------- costs */

static lacis_status cost_over(bool gpu, lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                              lacis_cost *out)
{
    const double call_seconds = 3e-3, message_seconds = 2e-5;
    const lacis_sweep_work *work = call->work;
    const int ranks = lacis_sweep_ranks_parts(work);
    const double size = (double)lacis_sweep_size(work->type), rate = lacis_run_ranks_rate(run);
    char why[200];
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    lacis_sweep_ranks_brief(work, gpu, ranks, &brief);
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

/* A grid is not cut into units. */
static lacis_status run_cpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)begin, (void)end;
    return lacis_sweep_ranks_deal(false, run, call, out);
}

static lacis_status run_gpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)begin, (void)end;
    return lacis_sweep_ranks_deal(true, run, call, out);
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

/* What is chosen gives way where all rows go straight; what was asked for does not. */
static const char *road(const lacis_sweep_work *work, const lacis_sweep_brief *brief)
{
    if (work->exchange.host) return ", through the host's memory (BY host)";
    return brief->overlap && brief->deep > 1 && work->exchange.overlap == LACIS_SWEEP_AS_BEST
               ? ", straight to GPUs of the same host, where they are reached (CUDA IPC) and then waited for, else "
                 "through the host's memory"
               : ", straight to GPUs of the same host, where they are reached (CUDA IPC), else through the host's "
                 "memory";
}

static lacis_status explain_over(const lacis_sweep_work *work, bool gpu, lacis_lines *lines)
{
    const int parts = lacis_sweep_ranks_parts(work);
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    char why[200];
    lacis_sweep_ranks_brief(work, gpu, parts, &brief);
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
                           brief.overlap ? meanwhile : "", 1e-3 * bytes / cut.deep, gpu ? road(work, &brief) : "");
}

lacis_status lacis_sweep_explain_ranks(const lacis_sweep_work *work, lacis_lines *lines)
{
    char reason[200];
    if (lacis_sweep_ranks_parts(work) == 1) return LACIS_OK;
    LACIS_TRY(explain_over(work, false, lines));
    return lacis_gpu_possible(work->run, reason, sizeof reason) ? explain_over(work, true, lines) : LACIS_OK;
}
