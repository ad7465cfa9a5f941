/* SPDX-License-Identifier: Apache-2.0
 *
 * A run's steps, from one step that is looked at or kept to the next, with progress and the end of UNTIL. Steps are
 * counted as the grid does, so that a run that is cut in two looks at the same ones. Called by run.c.
 */
#include "sweep/system.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

double lacis_sweep_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int64_t last_step(const lacis_sweep_work *work)
{
    return work->grid.step + work->steps;
}

static int64_t sooner(int64_t step, int64_t every, int64_t until)
{
    if (every == 0) return until;
    const int64_t next = step / every * every; /* at most `step`: no overflow */
    return every < until - next ? next + every : until;
}

/* The next step after which something is to be done. */
static int64_t next_stop(const lacis_sweep_motion *m)
{
    const lacis_sweep_work *work = m->system->work;
    int64_t until = last_step(work);
    until = sooner(m->step, work->check, until);
    until = sooner(m->step, work->rows, until);
    return sooner(m->step, work->keep, until);
}

static bool falls_on(const lacis_sweep_motion *m, int64_t every, bool last_too)
{
    if (every == 0) return false;
    return m->step % every == 0 || (last_too && m->step == last_step(m->system->work));
}

/* So many steps that progress is told some times a second where they are quick, that a device is not waited for too
 * often, and that passes of several steps are not cut short. (Kernels ask themselves whether they should stop.) */
static lacis_status some_steps(lacis_sweep_motion *m, int64_t until, lacis_sweep_change *change)
{
    const double often = 0.05, seldom = 0.2;
    const lacis_sweep_work *work = m->system->work;
    const int64_t left = until - m->step, count = m->some < left ? m->some : left;
    const double begin = lacis_sweep_now();
    if (lacis_run_cancelled(m->system->run)) return lacis_run_interrupted(m->system->run);
    LACIS_TRY(m->system->kind->steps(m->system, count, count == left ? change : NULL));
    const double seconds = lacis_sweep_now() - begin;
    m->step += count;
    if (count == m->some && seconds < often) m->some *= 2;
    if (seconds > seldom && m->some > LACIS_SWEEP_SOME) m->some /= 2;
    lacis_run_advance(m->system->run, "SWEEP", (double)(m->step - work->grid.step), (double)work->steps, "steps");
    return LACIS_OK;
}

static lacis_status look(lacis_sweep_motion *m, const lacis_sweep_change *change)
{
    const lacis_sweep_work *work = m->system->work;
    m->measured = true;
    m->max = change->max;
    m->l2 = sqrt(lacis_sweep_exact_round(&change->squares));
    if (falls_on(m, work->rows, true))
        LACIS_TRY(lacis_sweep_changes_add(m->system->run, &m->changes, m->step, change));
    if (!falls_on(m, work->check, true)) return LACIS_OK;
    const double size = work->l2 ? m->l2 : m->max;
    if (isnan(size))
        return lacis_run_fail_at(m->system->run, LACIS_RANGE, -1, "smaller coefficients, or TYPE f64",
                                 "the fields left the numbers by step %" PRId64 ": UNTIL has nothing to go by",
                                 m->step);
    m->reached = size < work->tolerance;
    return LACIS_OK;
}

/* What is to be done after this step. A row that the last one before the end of UNTIL lacks is added. */
static lacis_status at_stop(lacis_sweep_motion *m, const lacis_sweep_change *change)
{
    const lacis_sweep_work *work = m->system->work;
    if (change != NULL) LACIS_TRY(look(m, change));
    if (change != NULL && m->reached && !falls_on(m, work->rows, true))
        LACIS_TRY(lacis_sweep_changes_add(m->system->run, &m->changes, m->step, change));
    return falls_on(m, work->keep, false) ? lacis_sweep_keep(m->system, m->step) : LACIS_OK;
}

lacis_status lacis_sweep_go(lacis_sweep_motion *m)
{
    const lacis_sweep_work *work = m->system->work;
    const int64_t last = last_step(work);
    lacis_sweep_change change;
    while (m->step < last && !m->reached) {
        const int64_t until = next_stop(m);
        const bool wanted = (work->rows > 0 && (until % work->rows == 0 || until == last)) ||
                            (work->check > 0 && (until % work->check == 0 || until == last));
        change = (lacis_sweep_change){.max = 0};
        while (m->step < until)
            LACIS_TRY(some_steps(m, until, wanted ? &change : NULL));
        LACIS_TRY(at_stop(m, wanted ? &change : NULL));
    }
    return LACIS_OK;
}
