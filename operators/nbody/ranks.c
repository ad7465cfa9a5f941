/* SPDX-License-Identifier: Apache-2.0
 *
 * NBODY's and ACCELERATE's variants "ranks": whether other ranks can share the field of the bodies, and what that
 * would cost. How it is shared stands in ranks_field.c. In the list of variants.
 */
#include "nbody/ranks.h"

/* Less than this a field is done before the others have heard of it. */
static const double LEAST_SECONDS = 0.02;

/* ----------------------------------------------------------------------------------------- whether */

static bool can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_nbody_work *work = call->work;
    const char *why = NULL;
    if (lacis_run_ranks(work->run) == 1) why = "there are no other ranks";
    if (why == NULL && work->places.array != NULL) why = "fields at free points are not shared";
    if (why == NULL && work->bodies.count < 2) why = "there are no two bodies";
    const double n = (double)work->bodies.count, term = 1e-9 / lacis_run_threads(work->run);
    const double seconds = why == NULL ? n * lacis_nbody_terms(&work->rule, n) * term : 0;
    if (why == NULL && seconds < LEAST_SECONDS && !lacis_run_ranks_always(work->run)) {
        snprintf(reason, size, "too little work: about %.2g s a field, of %.2g s that it takes to pay", seconds,
                 LEAST_SECONDS);
        return false;
    }
    if (why != NULL) snprintf(reason, size, "%s", why);
    return why == NULL;
}

static bool gpu_can(const lacis_call *call, char *reason, size_t size)
{
    return can(call, reason, size) && lacis_nbody_gpu_can(call, LACIS_NBODY_TREE, reason, size);
}

/* ------------------------------------------------------------------------------------------- costs */

/* Rank 0 makes the tree of all bodies and prunes it for each piece; the pieces' own trees and fields are shared. What
 * is sent a body: m, x, y, z and what is known of it; its field comes back. About as many others go along. */
static double evaluation_seconds(const lacis_nbody_work *work, const lacis_nbody_estimate *there, int ranks)
{
    const double call_seconds = 3e-3, others = 1, columns = 4 + 4 + (double)work->potential;
    const double n = (double)work->bodies.count, bytes = columns * (double)lacis_nbody_size(work->type) * n;
    const double away = (double)(ranks - 1) / ranks;
    return call_seconds + work->cpu[LACIS_NBODY_TREE].build * 2 +
           (there->field + there->build * (1 + others)) / ranks +
           (1 + others) * away * bytes / lacis_run_ranks_rate(work->run);
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_nbody_work *work = call->work;
    LACIS_TRY(lacis_nbody_cost(run, call, LACIS_NBODY_TREE, profile, out));
    const lacis_nbody_estimate *own = &work->cpu[LACIS_NBODY_TREE];
    out->seconds = own->direct + own->evaluations * evaluation_seconds(work, own, lacis_run_ranks(run));
    out->peak_bytes += own->bytes;
    return LACIS_OK;
}

static lacis_status gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_nbody_work *work = call->work;
    lacis_cost there;
    LACIS_TRY(lacis_nbody_cost(run, call, LACIS_NBODY_TREE, profile, out));
    LACIS_TRY(lacis_nbody_gpu_cost(run, call, LACIS_NBODY_TREE, profile, &there));
    const lacis_nbody_estimate *own = &work->cpu[LACIS_NBODY_TREE], *device = &work->gpu[LACIS_NBODY_TREE];
    out->seconds =
        there.once + own->direct + own->evaluations * evaluation_seconds(work, device, lacis_run_ranks(run));
    out->once = there.once;
    out->peak_bytes += own->bytes;
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- runs */

static lacis_status run_cpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return lacis_nbody_run(run, call, LACIS_NBODY_TREE, lacis_nbody_ranks_system, begin, end, out);
}

static lacis_status run_gpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return lacis_nbody_run(run, call, LACIS_NBODY_TREE, lacis_nbody_ranks_gpu_system, begin, end, out);
}

const lacis_variant lacis_nbody_ranks = {
    .name = "ranks",
    .device = LACIS_CPU,
    .summary = "the field of pieces of the curve dealt over the ranks of an mpirun, with essential trees",
    .can = can,
    .cost = cost,
    .run = run_cpu,
    .ranks = true,
};

const lacis_variant lacis_nbody_ranks_gpu = {
    .name = "ranks-gpu",
    .device = LACIS_GPU,
    .summary = "the field of pieces of the curve dealt over the ranks of an mpirun, each with a GPU of its own",
    .can = gpu_can,
    .cost = gpu_cost,
    .run = run_gpu,
    .ranks = true,
};

lacis_status lacis_nbody_explain_ranks(lacis_run *run, const lacis_nbody_work *work, lacis_lines *lines)
{
    const int ranks = lacis_run_ranks(run);
    if (ranks == 1 || work->places.array != NULL) return LACIS_OK;
    return lacis_lines_add(lines,
                           "ranks: %d; pieces of the curve of equal bodies, %d a rank, each with its essential tree, "
                           "to whoever is free",
                           ranks, LACIS_NBODY_PIECES);
}
