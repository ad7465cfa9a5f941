/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE on the CPU: lanes [begin, end) in blocks dealt over the threads, each through all steps; and what that
 * costs. In SIMULATE's list of variants.
 */
#include "simulate/simulate.h"

#include <math.h>
#include <stdatomic.h>

struct team {
    lacis_run *run;
    const neuron_plan *plan;
    const neuron_block *block;
    void *shared;
    char *workspace;
    size_t workspace_bytes;
    _Atomic int64_t done; /* steps times lanes, as far as told */
    double all;
};

struct member {
    struct team *team;
    int worker, calls;
    int32_t lanes;
    int64_t done; /* not told yet */
};

/* Worker 0 is the thread that started the run: it alone may report. */
static void tell(struct member *member)
{
    struct team *team = member->team;
    int64_t done = atomic_fetch_add(&team->done, member->done) + member->done;
    member->done = 0;
    if (member->worker == 0) lacis_run_advance(team->run, "SIMULATE", (double)done, team->all, "steps of a lane");
}

/* Steps may take less than telling of each: the count goes from one processor to the other. */
static bool stop(void *context, int64_t steps)
{
    enum { CALLS = 64 };
    const double noticeable = 0.001;
    struct member *member = context;
    member->done += steps * member->lanes;
    if (++member->calls % CALLS == 0 || (double)member->done > noticeable * member->team->all) tell(member);
    return lacis_run_cancelled(member->team->run);
}

static lacis_status run_block(void *context, int64_t task, int worker)
{
    struct team *team = context;
    struct member member = {team, worker, 0, team->block[task].lanes, 0};
    bool whole = lacis_neuron_run(team->plan, &team->block[task], team->shared,
                                  team->workspace + (size_t)worker * team->workspace_bytes, stop, &member);
    tell(&member);
    return whole ? LACIS_OK : LACIS_INTERRUPT;
}

static lacis_status run_team(struct team *team, int64_t blocks, int64_t workers)
{
    lacis_run *run = team->run;
    neuron_block *block;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)blocks * sizeof *block, &block));
    lacis_neuron_blocks(team->plan, block);
    team->block = block;
    lacis_status status = lacis_run_alloc(run, lacis_neuron_shared_bytes(team->plan), &team->shared);
    if (status == LACIS_OK)
        status = lacis_run_alloc(run, (uint64_t)workers * team->workspace_bytes, &team->workspace);
    if (status == LACIS_OK) {
        lacis_neuron_share(team->plan, team->shared);
        status = lacis_run_parallel(run, blocks, run_block, team);
        if (status == LACIS_INTERRUPT) status = lacis_run_interrupted(run);
    }
    lacis_run_free(run, team->workspace);
    lacis_run_free(run, team->shared);
    lacis_run_free(run, block);
    return status;
}

int64_t lacis_simulation_compartments(const lacis_simulation *s, int64_t begin, int64_t end)
{
    int64_t sum = 0;
    for (int64_t c = begin / s->lanes; c < s->cells.count && c * s->lanes < end; c++) {
        int64_t first = c * s->lanes, last = first + s->lanes;
        sum += s->shape[c].nodes * ((last < end ? last : end) - (first > begin ? first : begin));
    }
    return sum;
}

static lacis_status run_lanes(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    const lacis_simulation *s = call->work;
    neuron_plan plan = s->plan;
    lacis_trace trace;
    LACIS_TRY(lacis_trace_new(run, call, begin, end, &trace));
    plan.first = begin;
    plan.lanes = end - begin;
    plan.out = trace.v;
    plan.when = trace.t;
    int64_t blocks = lacis_neuron_blocks(&plan, NULL), workers = lacis_run_threads(run);
    if (workers > blocks) workers = blocks;
    struct team team = {.run = run, .plan = &plan, .workspace_bytes = lacis_neuron_workspace(&plan)};
    team.all = (double)plan.steps * (double)plan.lanes + 1;
    lacis_status status = run_team(&team, blocks, workers);
    lacis_run_count(run, "compartment steps",
                    (double)lacis_simulation_compartments(s, begin, end) * (double)plan.steps);
    return lacis_trace_end(run, call, &trace, status, out);
}

/* ------------------------------------------------------------------------------------------ costs */

/* Nanoseconds a compartment and step; lanes that fill up a last block cost as much as others. */
static double nanoseconds(const lacis_simulation *s, const lacis_profile *profile)
{
    double width = lacis_neuron_width(s->lanes), blocks = ceil((double)s->lanes / width);
    double idle = blocks * width / (double)s->lanes;
    if (s->lanes == 1)
        return lacis_profile_get(profile, s->plan.hh ? "simulate.hh_1" : "simulate.passive_1", s->plan.hh ? 25 : 4);
    return idle * lacis_profile_get(profile, s->plan.hh ? "simulate.hh" : "simulate.passive", s->plan.hh ? 12 : 0.5);
}

double lacis_simulate_lanes_seconds(const lacis_simulation *s, const lacis_profile *profile, double threads)
{
    double blocks = (double)lacis_neuron_blocks(&s->plan, NULL),
           work = (double)s->compartments * (double)s->plan.steps;
    return 1e-9 * nanoseconds(s, profile) * work / (threads < blocks ? threads : blocks);
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    const lacis_simulation *s = call->work;
    double rows = (double)call->extent[0], work = (double)s->compartments * (double)s->plan.steps;
    double blocks = (double)lacis_neuron_blocks(&s->plan, NULL), threads = lacis_run_threads(run);
    if (threads > blocks) threads = blocks;
    *out = (lacis_cost){.seconds = lacis_simulate_lanes_seconds(s, profile, threads) + lacis_trace_seconds(run, rows),
                        .products = work,
                        .entries = rows,
                        .bytes = LACIS_TRACE_ROW_BYTES * rows,
                        .kind = s->plan.hh ? "hh" : "passive"};
    out->peak_bytes = out->bytes + threads * (double)lacis_neuron_workspace(&s->plan) +
                      (double)lacis_neuron_shared_bytes(&s->plan) + blocks * (double)sizeof(neuron_block);
    return LACIS_OK;
}

const lacis_variant lacis_simulate_lanes = {
    .name = "lanes",
    .device = LACIS_CPU,
    .summary = "lanes interleaved by the vector width, blocks of them over the threads",
    .cost = cost,
    .run = run_lanes,
};
