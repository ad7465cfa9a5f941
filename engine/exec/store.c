/* SPDX-License-Identifier: Apache-2.0
 *
 * Computing a call whole, and EXPLAIN with or without doing so.
 */
#include "exec/exec.h"

lacis_status lacis_exec_store(lacis_world *world, lacis_run *run, lacis_call *call, bool explain, lacis_plan *plan,
                              lacis_array **out)
{
    lacis_plan *own = plan;
    if (own == NULL) LACIS_TRY(lacis_run_scratch(run, sizeof *own, &own));
    LACIS_TRY(lacis_plan_make(run, call, world->profile, LACIS_STORE, explain, own));
    double start = lacis_now();
    LACIS_TRY(lacis_plan_run(run, own, 0, call->units, out));
    lacis_plan_learn(world->profile, own, lacis_now() - start);
    return LACIS_OK;
}

static lacis_status explain_nested(lacis_world *world, lacis_run *run, lacis_call *call, bool analyze,
                                   lacis_lines *lines)
{
    for (int i = 0; i < call->arg_count; i++) {
        for (int j = 0; j < LACIS_ITEMS; j++) {
            if (call->args[i].item[j].call == NULL) continue;
            LACIS_TRY(lacis_lines_add(lines, "operand, computed first to plan what uses it:"));
            lines->indent += 2;
            LACIS_TRY(lacis_exec_explain(world, run, call->args[i].item[j].call, analyze, lines));
            lines->indent -= 2;
        }
    }
    return LACIS_OK;
}

static lacis_status explain_run(lacis_world *world, lacis_run *run, lacis_plan *plan, lacis_lines *lines)
{
    lacis_array *result = NULL;
    lacis_totals totals;
    bool summed = false;
    lacis_memory *memory = run->host->memory;
    lacis_memory_reset_peak(memory);
    uint64_t before = lacis_memory_used(memory);
    run->counters = 0;
    double start = lacis_now();
    run->timed = true;
    lacis_totals_init(&totals);
    lacis_status status = LACIS_OK;
    if (plan->call->totals) status = lacis_plan_totals(run, plan, 0, plan->call->units, &totals, &summed);
    if (status == LACIS_OK && !summed) status = lacis_plan_run(run, plan, 0, plan->call->units, &result);
    run->timed = false;
    LACIS_TRY(status);
    double seconds = lacis_now() - start;
    lacis_plan_learn(world->profile, plan, seconds);
    int64_t entries = summed ? totals.count : lacis_array_entries(result);
    status = lacis_plan_explain_actual(plan, seconds, lacis_memory_peak(memory) - before, entries,
                                       summed ? 0 : lacis_array_bytes(result), lines);
    lacis_array_release(result);
    return status;
}

static lacis_status explain_bound(lacis_world *world, lacis_run *run, lacis_call *call, bool analyze,
                                  lacis_lines *lines)
{
    lacis_plan *plan;
    LACIS_TRY(lacis_run_scratch(run, sizeof *plan, &plan));
    LACIS_TRY(lacis_plan_make(run, call, world->profile, call->totals ? LACIS_STREAM : LACIS_STORE, true, plan));
    LACIS_TRY(lacis_plan_explain(plan, lines));
    return analyze ? explain_run(world, run, plan, lines) : LACIS_OK;
}

lacis_status lacis_exec_explain(lacis_world *world, lacis_run *run, lacis_call *call, bool analyze,
                                lacis_lines *lines)
{
    LACIS_TRY(explain_nested(world, run, call, analyze, lines));
    lacis_status status = lacis_exec_bind(world, run, call, NULL);
    if (status == LACIS_OK) status = explain_bound(world, run, call, analyze, lines);
    lacis_exec_unbind(run, call);
    return status;
}
