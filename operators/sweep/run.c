/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of SWEEP by any variant: the arrays in its type, a system of them, its steps, the grid at the end. Called
 * through variants.c.
 */
#include "sweep/ranks.h"

#include <inttypes.h>

/* Where the first rule stands that can fail. */
static int64_t place_of_written(const lacis_sweep_work *work)
{
    for (int field = 0; field < work->grid.fields; field++)
        if (work->formula[field].rule.written) return work->formula[field].offset;
    return work->formula[0].offset;
}

lacis_status lacis_sweep_said(lacis_run *run, const lacis_sweep_work *work, lacis_sweep_status status, uint64_t bytes)
{
    switch (status) {
    case LACIS_SWEEP_OK:
        return LACIS_OK;
    case LACIS_SWEEP_CANCELLED:
        return lacis_run_interrupted(run);
    case LACIS_SWEEP_ARITHMETIC:
        return lacis_run_fail_at(run, LACIS_RANGE, place_of_written(work), "write reals: 1.0 for 1",
                                 "STEP: whole numbers in it overflow, or are divided by 0, at some cell");
    case LACIS_SWEEP_NO_MEMORY:
        break;
    case LACIS_SWEEP_UNSUPPORTED:
    case LACIS_SWEEP_FAILED:
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the kernels do not do this with this grid after all");
    }
    if (bytes <= lacis_run_memory_left(run))
        return lacis_run_fail(run, LACIS_NOMEM, "the system has no more memory for the fields' work");
    return lacis_run_fail(run, LACIS_LIMIT,
                          "the fields' work memory of %.1f MB is more than memory_limit leaves (%.1f MB)",
                          1e-6 * (double)bytes, 1e-6 * (double)lacis_run_memory_left(run));
}

/* What UNTIL came to, in a line. */
static void tell_until(const lacis_sweep_motion *m)
{
    const lacis_sweep_work *work = m->system->work;
    const char *norm = work->l2 ? "l2" : "max";
    const double change = work->l2 ? m->l2 : m->max;
    if (work->check == 0 || !m->measured) return;
    if (m->reached)
        lacis_run_note(m->system->run, LACIS_NOTE, "SWEEP: step %" PRId64 " changed %.3g (%s), below %g", m->step,
                       change, norm, work->tolerance);
    else
        lacis_run_note(m->system->run, LACIS_WARNING,
                       "SWEEP: after all of the %" PRId64 " steps step %" PRId64
                       " still changed %.3g (%s), not below %g: raise STEPS, or SWEEP the result on",
                       work->steps, m->step, change, norm, work->tolerance);
}

static void tell_counts(lacis_sweep_system *system)
{
    lacis_sweep_counts counts = {0};
    system->kind->counted(system, &counts);
    lacis_run_count(system->run, "steps", counts.steps);
    lacis_run_count(system->run, "cell updates", counts.updates);
    lacis_run_count(system->run, "passes over memory", counts.passes);
    lacis_run_count(system->run, "levels of a pass", counts.levels);
}

static lacis_status finish(lacis_sweep_motion *m, lacis_array **out)
{
    lacis_array *array = NULL;
    lacis_run *run = m->system->run;
    LACIS_TRY(lacis_sweep_grid_at(m->system, m->step, true, &array));
    const lacis_status status =
        m->system->work->rows > 0 ? lacis_sweep_changes_attach(run, &m->changes, array) : LACIS_OK;
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    tell_until(m);
    const lacis_sweep_exchange *exchange = &m->system->work->exchange;
    if ((exchange->asked || exchange->parts > 1) && !m->system->kind->parts)
        lacis_run_note(run, LACIS_NOTE,
                       "SWEEP: the grid was not cut over ranks or GPUs, so that %s nothing (of ranks EXPLAIN "
                       "says why)",
                       exchange->asked ? "EXCHANGE means" : "PARTS means");
    tell_counts(m->system);
    *out = array;
    return LACIS_OK;
}

static lacis_status with_system(lacis_sweep_system *system, lacis_array **out)
{
    lacis_sweep_motion m = {.system = system, .step = system->work->grid.step, .some = LACIS_SWEEP_SOME};
    const double begin = lacis_sweep_now();
    lacis_status status = lacis_sweep_go(&m);
    /* A device that is not asked for a change may still be at work. */
    if (status == LACIS_OK && m.measured) lacis_run_count(system->run, "seconds in steps", lacis_sweep_now() - begin);
    if (status == LACIS_OK) status = finish(&m, out);
    lacis_sweep_changes_free(system->run, &m.changes);
    return status;
}

lacis_status lacis_sweep_run_call(lacis_run *run, const lacis_call *call, lacis_sweep_maker make, int levels,
                                  lacis_array **out)
{
    lacis_sweep_input input;
    lacis_sweep_system *system = NULL;
    LACIS_TRY(lacis_sweep_take(run, call->work, &input));
    lacis_status status = make(run, call, &input, levels, &system);
    if (status == LACIS_OK && !system->kind->parts) status = lacis_sweep_uncut(call->work);
    if (status == LACIS_OK) status = with_system(system, out);
    if (system != NULL) system->kind->free(system);
    lacis_sweep_give(run, &input);
    return status;
}
