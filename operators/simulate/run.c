/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE on the CPU: lanes [begin, end) in blocks dealt over the threads, each through all steps; and the table of
 * what the probes saw. Called through SIMULATE's descriptor.
 */
#include "simulate/simulate.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct team {
    lacis_run *run;
    const neuron_plan *plan;
    const neuron_block *block;
    void *shared;
    char *workspace;
    size_t workspace_bytes;
    _Atomic int64_t done; /* steps times lanes */
    double all;
};

struct member {
    struct team *team;
    int worker;
    int32_t lanes;
};

/* Worker 0 is the thread that started the run: it alone may report. */
static bool stop(void *context, int64_t steps)
{
    const struct member *member = context;
    struct team *team = member->team;
    int64_t done = atomic_fetch_add(&team->done, steps * member->lanes) + steps * member->lanes;
    if (member->worker == 0) lacis_run_progress(team->run, "SIMULATE", (double)done / team->all);
    return lacis_run_cancelled(team->run);
}

static lacis_status run_block(void *context, int64_t task, int worker)
{
    struct team *team = context;
    struct member member = {team, worker, team->block[task].lanes};
    bool whole = lacis_neuron_run(team->plan, &team->block[task], team->shared,
                                  team->workspace + (size_t)worker * team->workspace_bytes, stop, &member);
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

enum { T, PROBE, VOLTAGE, LANE };

static void label_rows(const neuron_plan *plan, int64_t samples, void **data)
{
    int64_t at = 0;
    for (int64_t i = 0; i < samples; i++) {
        double t = (double)(i * plan->every) * plan->dt;
        for (int64_t number = 0; number < plan->numbers; number++) {
            for (int64_t lane = 0; lane < plan->lanes; lane++, at++) {
                if (plan->reduce == NEURON_ALL) ((double *)data[T])[at] = t;
                ((int32_t *)data[PROBE])[at] = (int32_t)number;
                ((int32_t *)data[LANE])[at] = (int32_t)(plan->first + lane);
            }
        }
    }
}

/* Voltages that left the numbers say that something went wrong; where first. */
static lacis_status check(lacis_run *run, const lacis_call *call, const neuron_plan *plan, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        if (!isfinite(plan->out[i]))
            return lacis_run_fail_at(run, LACIS_RANGE, call->offset, "look at the units of CLAMP (nA) and DT (ms)",
                                     "lane %lld: the voltage is not a finite number any more",
                                     (long long)(plan->first + i % plan->lanes));
    return LACIS_OK;
}

lacis_status lacis_simulate_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    static const lacis_dtype dtype[LACIS_TRACE_COLUMNS] = {LACIS_F64, LACIS_I32, LACIS_F64, LACIS_I32};
    const lacis_simulation *s = call->work;
    neuron_plan plan = s->plan;
    void *data[LACIS_TRACE_COLUMNS];
    int64_t samples = plan.reduce == NEURON_ALL ? lacis_neuron_samples(&plan) : 1;
    int64_t rows = samples * plan.numbers * (end - begin);
    plan.first = begin;
    plan.lanes = end - begin;
    LACIS_TRY(lacis_cells_table(run, lacis_trace_column, dtype, LACIS_TRACE_COLUMNS, rows, out, data));
    plan.out = data[VOLTAGE];
    plan.when = data[T];
    int64_t blocks = lacis_neuron_blocks(&plan, NULL), workers = lacis_run_threads(run);
    if (workers > blocks) workers = blocks;
    struct team team = {.run = run, .plan = &plan, .workspace_bytes = lacis_neuron_workspace(&plan)};
    team.all = (double)plan.steps * (double)plan.lanes + 1;
    lacis_status status = run_team(&team, blocks, workers);
    label_rows(&plan, samples, data);
    if (status == LACIS_OK) status = check(run, call, &plan, rows);
    lacis_run_count(run, "compartment steps",
                    (double)s->compartments / (double)s->plan.lanes * (double)plan.lanes * (double)plan.steps);
    if (status == LACIS_OK) return LACIS_OK;
    lacis_array_release(*out);
    *out = NULL;
    return status;
}
