/* SPDX-License-Identifier: Apache-2.0
 *
 * What SOLVE costs on the CPU: nanoseconds an element, by shape, layout and type, as CALIBRATE measures them.
 */
#include "solve/systems.h"

#include <math.h>

/* As CALIBRATE measures them for f64 on an AMD EPYC (Zen 4). */
static const struct figure {
    const char *name;
    double otherwise;
} figures[2][2][2] = {
    /* trees, flat, matrix factored once */
    {{{"solve.chain.side", 2}, {"solve.chain.side.factored", 0.8}},
     {{"solve.chain.flat", 3}, {"solve.chain.flat.factored", 1.5}}},
    {{{"solve.tree.side", 2.8}, {"solve.tree.side.factored", 1}},
     {{"solve.tree.flat", 4.5}, {"solve.tree.flat.factored", 2}}},
};
const char *lacis_solve_figure(bool tree, bool flat, bool factored)
{
    return figures[tree][flat][factored].name;
}

/* Times that of f64. */
static const double of_type[LACIS_SOLVE_TYPES] = {
    [LACIS_SOLVE_F64] = 1, [LACIS_SOLVE_F32] = 0.4, [LACIS_SOLVE_MIXED] = 0.7, [LACIS_SOLVE_C128] = 4};

/* Seconds of a run of next to nothing; of waking threads for it and waiting for them. */
static const double START = 2e-5, WAKE = 2e-5;

double lacis_solve_touches(const lacis_run *run, double bytes)
{
    const double ns = 0.4;
    double cold = bytes - (double)lacis_run_memory_warm(run);
    return cold > 0 ? 1e-9 * ns * cold / lacis_run_threads(run) : 0;
}

/* Lanes that are too few for a vector cost as much as one. */
static double computed(const lacis_batch *batch, int side)
{
    double elements = 0;
    for (int64_t g = 0; g < batch->groups; g++) {
        int64_t lanes = (batch->group[g].lanes + side - 1) / side * side;
        elements += (double)(batch->groups > 1 && batch->parent == NULL ? batch->group[g].lanes : lanes) *
                    (double)batch->group[g].rows;
    }
    return elements;
}

static bool is_factored(const lacis_solve_job *job)
{
    return job->lower.shared && job->diagonal.shared && job->upper.shared && job->type != LACIS_SOLVE_C128;
}

/* Beyond the caches all threads together wait for memory: matrix and right side read, x fetched and written. */
static double memory_seconds(const lacis_solve *work, const lacis_solve_job *job, const lacis_profile *profile,
                             double elements)
{
    const double caches = 32e6, a_thread = 12e9, most = 150e9; /* bytes; bytes a second where nobody has calibrated */
    const double usual = a_thread * job->threads < most ? a_thread * job->threads : most;
    const double own = !job->lower.shared + !job->diagonal.shared + !job->upper.shared, others = 3;
    const double bytes = (own + others) * lacis_solve_bytes(work->type) * elements;
    return bytes > caches ? bytes / lacis_profile_get(profile, LACIS_SOLVE_MEMORY_FIGURE, usual) : 0;
}

lacis_status lacis_solve_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_solve *work = call->work;
    const lacis_batch *batch = &work->like->batch;
    const lacis_solve_job *job;
    double wanted = batch->lanes > 0 ? (double)call->units / (double)batch->lanes : 0;
    LACIS_TRY(lacis_solve_whole_job(run, work, &job));
    bool flat = work->matrix.batch.block == 1 || work->rhs.batch.block == 1 || work->block == 1;
    const struct figure *figure = &figures[work->tree][flat][is_factored(job)];
    double ns = lacis_profile_get(profile, figure->name, figure->otherwise) * of_type[work->type];
    double elements = (double)batch->elements * wanted, places = (double)batch->places * wanted;
    double bytes = lacis_solve_bytes(work->type) + (work->status ? 1 : 0) + (work->residual ? 8 : 0);
    double kernel = 1e-9 * ns * computed(batch, 8) * wanted / job->threads;
    out->seconds = START + (job->threads > 1 ? WAKE : 0) + fmax(kernel, memory_seconds(work, job, profile, elements));
    if (work->residual) out->seconds += 1e-9 * 10 * elements / job->threads;
    out->seconds += lacis_solve_touches(run, bytes * places);
    out->products = elements;
    out->entries = elements;
    out->bytes = bytes * places;
    double held = out->bytes;
    if (work->in_place) held += (double)lacis_solve_in_place_bytes(work) - lacis_solve_bytes(work->type) * places;
    out->peak_bytes = held + (double)lacis_solve_work_bytes(job) + (work->status ? 8.0 * (double)call->units : 0);
    return LACIS_OK;
}
