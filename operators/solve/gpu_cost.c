/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE's variants for the GPU before they run: whether a way can solve these systems and the device may be asked for
 * it, and what it would cost with the copies that are needed. Called through gpu.c's variants.
 */
#include "solve/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds an element of f64 systems with matrices of their own, and a row of lanes that are few, where nobody has
 * calibrated; from what an H200 took. */
static const lacis_solve_gpu_figure figures[LACIS_SOLVE_GPU_WAYS][2][2] = {
    [LACIS_SOLVE_GPU_THREAD] = {{{"solve.gpu.thread.chain.side_ns", "solve.gpu.thread.chain.row_ns", 0.0175, 300},
                                 {"solve.gpu.thread.chain.flat_ns", "solve.gpu.thread.chain.row_ns", 0.034, 300}},
                                {{"solve.gpu.thread.tree.side_ns", "solve.gpu.thread.tree.row_ns", 0.02, 300},
                                 {"solve.gpu.thread.tree.flat_ns", "solve.gpu.thread.tree.row_ns", 0.035, 300}}},
    [LACIS_SOLVE_GPU_CHIP] = {{{"solve.gpu.chip.chain.side_ns", "solve.gpu.chip.chain.row_ns", 0.0096, 10},
                               {"solve.gpu.chip.chain.flat_ns", "solve.gpu.chip.chain.row_ns", 0.0092, 10}},
                              {{"solve.gpu.chip.tree.side_ns", "solve.gpu.chip.tree.row_ns", 0.02, 40},
                               {"solve.gpu.chip.tree.flat_ns", "solve.gpu.chip.tree.row_ns", 0.02, 40}}},
    [LACIS_SOLVE_GPU_LANES] = {{{"solve.gpu.lanes.chain.side_ns", "solve.gpu.lanes.chain.row_ns", 0.02, 40},
                                {"solve.gpu.lanes.chain.flat_ns", "solve.gpu.lanes.chain.row_ns", 0.02, 40}},
                               {{"solve.gpu.lanes.tree.side_ns", "solve.gpu.lanes.tree.row_ns", 0.021, 20},
                                {"solve.gpu.lanes.tree.flat_ns", "solve.gpu.lanes.tree.row_ns", 0.026, 20}}},
    [LACIS_SOLVE_GPU_SHARED] = {{{"solve.gpu.shared.chain.side_ns", "solve.gpu.shared.chain.row_ns", 0.02, 300},
                                 {"solve.gpu.shared.chain.flat_ns", "solve.gpu.shared.chain.row_ns", 0.05, 300}},
                                {{"solve.gpu.shared.tree.side_ns", "solve.gpu.shared.tree.row_ns", 0.022, 330},
                                 {"solve.gpu.shared.tree.flat_ns", "solve.gpu.shared.tree.row_ns", 0.05, 330}}},
    [LACIS_SOLVE_GPU_BRANCHES] = {{{"solve.gpu.branches.chain.side_ns", "solve.gpu.branches.chain.row_ns", 0.04, 600},
                                   {"solve.gpu.branches.chain.flat_ns", "solve.gpu.branches.chain.row_ns", 0.08,
                                    600}},
                                  {{"solve.gpu.branches.tree.side_ns", "solve.gpu.branches.tree.row_ns", 0.059, 100},
                                   {"solve.gpu.branches.tree.flat_ns", "solve.gpu.branches.tree.row_ns", 0.12, 100}}},
    /* Nobody has measured it yet: four times chip's. */
    [LACIS_SOLVE_GPU_CYCLIC] = {{{"solve.gpu.cyclic.chain.side_ns", "solve.gpu.cyclic.chain.row_ns", 0.04, 40},
                                 {"solve.gpu.cyclic.chain.flat_ns", "solve.gpu.cyclic.chain.row_ns", 0.04, 40}},
                                {{"solve.gpu.cyclic.tree.side_ns", "solve.gpu.cyclic.tree.row_ns", 0.04, 40},
                                 {"solve.gpu.cyclic.tree.flat_ns", "solve.gpu.cyclic.tree.row_ns", 0.04, 40}}},
};

const lacis_solve_gpu_figure *lacis_solve_gpu_figure_of(lacis_solve_gpu_way way, bool tree, bool flat)
{
    return &figures[way][tree][flat];
}

/* What is shared stays in caches. Streaming ways write q and y, and read them once more. */
double lacis_solve_gpu_words(lacis_solve_gpu_way way, const lacis_solve_job *job)
{
    const double own = !job->lower.shared + !job->diagonal.shared + !job->upper.shared;
    const bool once = way != LACIS_SOLVE_GPU_THREAD && way != LACIS_SOLVE_GPU_BRANCHES;
    const double rhs_and_x = 2, kept = once ? 0 : own > 0 ? 4 : 2;
    return own + rhs_and_x + kept;
}

#ifdef LACIS_GPU_KERNELS

/* Of next to nothing, where nobody has calibrated. */
static const double CALL_SECONDS = 2e-5;

static double elements_wanted(const lacis_call *call)
{
    const lacis_solve *work = call->work;
    const lacis_batch *batch = &work->like->batch;
    return batch->lanes > 0 ? (double)batch->elements * (double)call->units / (double)batch->lanes : 0;
}

static double call_seconds(const lacis_profile *profile)
{
    return lacis_profile_get(profile, LACIS_SOLVE_GPU_CALL_FIGURE, CALL_SECONDS);
}

static double missing_on(const lacis_solve *work, lacis_gpu *gpu)
{
    uint64_t bytes = work->tree ? lacis_gpu_part_missing(gpu, work->matrix.array, "parent") : 0;
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++)
        bytes += lacis_gpu_part_missing(gpu, role == LACIS_SOLVE_RIGHT ? work->rhs.array : work->matrix.array,
                                        work->part[role]);
    return (double)bytes;
}

/* gpu NULL: it is not started, nothing is there yet. What does not fit beside the result comes with its panels, and
 * what is there of it goes. */
static double bytes_to_send(const lacis_solve *work, lacis_gpu *gpu, double result)
{
    const double all = missing_on(work, NULL);
    if (gpu == NULL || all + result > 31.0 / 32 * (double)lacis_gpu_memory_left(gpu)) return all;
    return missing_on(work, gpu);
}

static double copy_seconds(lacis_gpu *gpu, const lacis_profile *profile, double up, double down)
{
    enum { PARTS = 4 };
    int copies = (up > 0 ? PARTS : 0) + (down > 0 ? 1 : 0);
    return lacis_gpu_copy_seconds(gpu, profile, up, down) +
           copies * lacis_profile_get(profile, LACIS_GPU_COPY_FIGURE, LACIS_GPU_COPY_SECONDS);
}

/* Bytes that come back: the result, or sums of its lanes. */
static double bytes_back(const lacis_call *call, double result)
{
    return lacis_solve_sums_there(call) ? (double)sizeof(lacis_solve_gpu_sum) * (double)call->units : result;
}

/* The most that the processor takes, which is twice as long as calibrated, against a call and its copies. */
static bool worth(const lacis_call *call, const lacis_cost *processor, char *reason, size_t size)
{
    const double margin = 2;
    const lacis_solve *work = call->work;
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run);
    const lacis_profile *figures_here = lacis_gpu_figures(gpu, call->profile);
    double up = bytes_to_send(work, gpu, processor->bytes);
    double device =
        call_seconds(figures_here) + copy_seconds(gpu, figures_here, up, bytes_back(call, processor->bytes));
    return lacis_gpu_worth(call, work->run, LACIS_SOLVE_GPU_LOAD_FIGURE, margin * processor->seconds, device, reason,
                           size);
}

/* LACIS_SOLVE_WAY names one in the environment: for tests of each, and to measure them. Bits must not depend on what
 * was measured, so of the ways for chains that have their own the second is only taken so. */
static const char *refuses(const lacis_solve_job *whole, lacis_solve_gpu_way way)
{
    const char *wanted = getenv("LACIS_SOLVE_WAY");
    const bool any = wanted == NULL || *wanted == '\0';
    const lacis_solve_gpu_job job = {.job = *whole, .way = way};
    const char *why = lacis_solve_gpu_refuses(&job);
    if (why != NULL) return why;
    if (!any && strcmp(wanted, lacis_solve_gpu_way_name[way]) != 0) return "LACIS_SOLVE_WAY asks for another way";
    return any && way == LACIS_SOLVE_GPU_CYCLIC
               ? "only where LACIS_SOLVE_WAY=cr-pcr asks for it: gpu chip comes to the same in registers"
               : NULL;
}

/* The device is started here only where it is demanded: a plan that does not choose it must leave it alone. */
bool lacis_solve_gpu_can(const lacis_call *call, lacis_solve_gpu_way way, char *reason, size_t size)
{
    lacis_solve *work = call->work;
    const lacis_solve_job *whole;
    lacis_cost processor = {0};
    if (!lacis_gpu_possible(work->run, reason, size)) return false;
    if (work->in_place) {
        snprintf(reason, size, "IN PLACE saves memory of the host, where the CPU does it");
        return false;
    }
    if (lacis_solve_whole_job(work->run, work, &whole) != LACIS_OK ||
        lacis_solve_cost(work->run, call, call->profile, &processor) != LACIS_OK) {
        snprintf(reason, size, "the host has no memory left");
        return false;
    }
    if (!worth(call, &processor, reason, size)) return false;
    const char *why = refuses(whole, way);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    return call->on != LACIS_ON_GPU || lacis_run_gpu(work->run, reason, size) != NULL;
}

/* ------------------------------------------------------------------------------------------- costs */

/* How often the longest lane's time passes: once, but SHARED has room for few lanes at a time. */
static double rounds_of(const lacis_call *call, lacis_solve_gpu_way way, const lacis_solve_job *job)
{
    const lacis_solve *work = call->work;
    const double processors = 132, bytes = 227 << 10, block = 32; /* of an H200; bytes of a block besides: */
    const double lane = 2.0 * (double)work->like->batch.most_rows * (job->type == LACIS_SOLVE_F32 ? 4 : 8);
    const double blocks = floor(bytes / (block * lane + 1024)),
                 there = processors * block * (blocks > 1 ? blocks : 1);
    return way != LACIS_SOLVE_GPU_SHARED || (double)call->units <= there ? 1 : (double)call->units / there;
}

static double kernel_seconds(const lacis_call *call, const lacis_solve_job *job, lacis_solve_gpu_way way,
                             const lacis_profile *profile)
{
    const lacis_solve *work = call->work;
    const lacis_solve_job own = {.type = LACIS_SOLVE_F64};
    const bool flat = work->matrix.batch.block == 1 || work->rhs.batch.block == 1 || work->block == 1;
    const lacis_solve_gpu_figure *figure = lacis_solve_gpu_figure_of(way, work->tree, flat);
    double share = lacis_solve_gpu_words(way, job) * lacis_solve_bytes(job->type) /
                   (lacis_solve_gpu_words(way, &own) * lacis_solve_bytes(own.type));
    double streamed = share * lacis_profile_get(profile, figure->element, figure->element_ns) * elements_wanted(call);
    double alone = lacis_profile_get(profile, figure->row, figure->row_ns) * (double)work->like->batch.most_rows *
                   rounds_of(call, way, job);
    return call_seconds(profile) + 1e-9 * (streamed > alone ? streamed : alone);
}

lacis_status lacis_solve_gpu_cost(lacis_run *run, const lacis_call *call, lacis_solve_gpu_way way,
                                  const lacis_profile *profile, lacis_cost *out)
{
    lacis_solve *work = call->work;
    const lacis_solve_job *job;
    lacis_gpu *gpu = lacis_gpu_at_hand(run);
    const lacis_profile *figures_here = lacis_gpu_figures(gpu, profile);
    LACIS_TRY(lacis_solve_cost(run, call, profile, out));
    LACIS_TRY(lacis_solve_whole_job(run, work, &job));
    const double up = bytes_to_send(work, gpu, out->bytes);
    const double kernels = kernel_seconds(call, job, way, figures_here);
    const double down = bytes_back(call, out->bytes), copies = copy_seconds(gpu, figures_here, up, down);
    out->once = lacis_gpu_start_seconds(run, figures_here, LACIS_SOLVE_GPU_LOAD_FIGURE);
    out->kind = up > 0 ? "sent" : "there"; /* what runs teach of copies says nothing of kernels alone */
    out->seconds = out->once + kernels + copies + lacis_solve_touches(run, down);
    out->peak_bytes = lacis_solve_sums_there(call)
                          ? sizeof(lacis_solve_gpu_sum) * (double)lacis_solve_sums_at_once(run, call->units)
                          : down + (work->status ? sizeof(int64_t) * (double)call->units : 0);
    if (work->gpu.known && work->gpu.kernels <= kernels) return LACIS_OK;
    work->gpu = (lacis_solve_estimate){
        .known = true,
        .kernels = kernels,
        .copies = copies,
        .to_device = up,
        .to_host = down,
        .once = out->once,
        .traffic = lacis_solve_gpu_words(way, job) * lacis_solve_bytes(job->type) * elements_wanted(call),
        .floor =
            lacis_solve_gpu_words(LACIS_SOLVE_GPU_CHIP, job) * lacis_solve_bytes(job->type) * elements_wanted(call)};
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- EXPLAIN */

lacis_status lacis_solve_gpu_explain_layout(const lacis_solve *work, lacis_lines *lines)
{
    if (!work->gpu.known || work->whole == NULL) return LACIS_OK;
    for (int way = 0; way < LACIS_SOLVE_GPU_WAYS; way++) {
        const lacis_solve_gpu_job job = {.job = *work->whole, .way = (lacis_solve_gpu_way)way};
        const char *what = lacis_solve_gpu_refuses(&job) == NULL ? lacis_solve_gpu_converts(&job) : NULL;
        if (what != NULL)
            LACIS_TRY(
                lacis_lines_add(lines,
                                "conversion by gpu %s: %s, since reading them as they lie moves four times their "
                                "bytes",
                                lacis_solve_gpu_way_name[way], what));
    }
    return LACIS_OK;
}

lacis_status lacis_solve_gpu_explain(const lacis_solve *work, lacis_lines *lines)
{
    const lacis_solve_estimate *e = &work->gpu;
    if (!e->known) return LACIS_OK;
    LACIS_TRY(lacis_lines_add(
        lines,
        "on the GPU: %.4g MB of its memory moved (%.4g MB is the least possible), computing %.3g s, copies %.3g s "
        "(%.3g MB there, %.3g MB back)",
        1e-6 * e->traffic, 1e-6 * e->floor, e->kernels, e->copies, 1e-6 * e->to_device, 1e-6 * e->to_host));
    if (e->once > 0) return lacis_lines_add(lines, "the first time %.2f s more, to start the GPU", e->once);
    return LACIS_OK;
}

#else

bool lacis_solve_gpu_can(const lacis_call *call, lacis_solve_gpu_way way, char *reason, size_t size)
{
    const lacis_solve *work = call->work;
    (void)way;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Never asked, since lacis_solve_gpu_can says no. */
lacis_status lacis_solve_gpu_cost(lacis_run *run, const lacis_call *call, lacis_solve_gpu_way way,
                                  const lacis_profile *profile, lacis_cost *out)
{
    (void)call, (void)way, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

lacis_status lacis_solve_gpu_explain_layout(const lacis_solve *work, lacis_lines *lines)
{
    (void)work, (void)lines;
    return LACIS_OK;
}

lacis_status lacis_solve_gpu_explain(const lacis_solve *work, lacis_lines *lines)
{
    (void)work, (void)lines;
    return LACIS_OK;
}

#endif
