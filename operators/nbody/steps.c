/* SPDX-License-Identifier: Apache-2.0
 *
 * NBODY's run: steps of leapfrog from one row of the table of figures to the next, with snapshots, progress and the
 * certificate, and the bodies of the last step as result.
 */
#include "nbody/steps.h"

#include <inttypes.h>
#include <time.h>

typedef struct motion {
    lacis_nbody_system *system;
    const lacis_nbody_input *input;
    lacis_nbody_energy energy;
    int64_t step;
    double time;  /* added up step by step, so that it has the same bits however a run is cut */
    int64_t some; /* steps that kernels are asked for at once */
} motion;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static lacis_status put_row(motion *m)
{
    lacis_nbody_figures figures;
    LACIS_TRY(m->system->kind->measure(m->system, &figures));
    lacis_nbody_energy_put(&m->energy, m->step, m->time, &figures);
    if (m->system->work->to == NULL) return LACIS_OK;
    return lacis_nbody_snapshot(m->system, m->input, m->step, m->time);
}

/* So many steps that progress is told some times a second, and that a device is not waited for too often. */
static lacis_status some_steps(motion *m, int64_t until)
{
    const double often = 0.05, seldom = 0.2;
    const lacis_nbody_work *work = m->system->work;
    const int64_t left = until - m->step, count = m->some < left ? m->some : left;
    const double begin = now();
    if (lacis_run_cancelled(m->system->run)) return lacis_run_interrupted(m->system->run);
    LACIS_TRY(m->system->kind->steps(m->system, count, work->dt, count == left));
    const double seconds = now() - begin;
    for (int64_t i = 0; i < count; i++)
        m->time += work->dt;
    m->step += count;
    if (count == m->some && seconds < often) m->some *= 2;
    if (seconds > seldom && m->some > 1) m->some /= 2;
    lacis_run_advance(m->system->run, "NBODY", (double)m->step, (double)work->steps, "steps");
    return LACIS_OK;
}

static lacis_status all_steps(motion *m)
{
    const lacis_nbody_work *work = m->system->work;
    LACIS_TRY(lacis_nbody_refresh(m->system, true));
    LACIS_TRY(put_row(m));
    while (m->step < work->steps) {
        int64_t until = work->every > 0 ? (m->step / work->every + 1) * work->every : work->steps;
        if (until > work->steps) until = work->steps;
        while (m->step < until)
            LACIS_TRY(some_steps(m, until));
        LACIS_TRY(put_row(m));
    }
    return LACIS_OK;
}

/* What was done and how well, in a line. */
static void tell(const motion *m, const lacis_nbody_errors *errors)
{
    const lacis_nbody_work *work = m->system->work;
    char certified[160] = "";
    if (errors->sample > 0)
        snprintf(certified, sizeof certified,
                 "; accelerations off by %.2g (median), %.2g (99 %%), %.2g at most, of %" PRId64 " bodies",
                 errors->relative[0], errors->relative[2], errors->relative[3], errors->sample);
    if (work->steps == 0 && errors->sample == 0) return;
    lacis_run_note(m->system->run, LACIS_NOTE, "NBODY: %" PRId64 " step%s to t = %g, energy drift %.2g%s",
                   work->steps, work->steps == 1 ? "" : "s", m->time, m->energy.drift, certified);
}

static lacis_status finish(motion *m, lacis_array **out)
{
    const lacis_nbody_work *work = m->system->work;
    lacis_nbody_errors errors = {0};
    lacis_array *array = NULL;
    LACIS_TRY(lacis_nbody_bodies_at(m->system, m->input, m->time, &array));
    lacis_status status = lacis_array_attach(m->system->run, array, "energy", m->energy.table);
    if (status == LACIS_OK && work->certify > 0) status = m->system->kind->certify(m->system, work->certify, &errors);
    if (status == LACIS_OK && work->certify > 0) status = lacis_nbody_attach_errors(m->system->run, array, &errors);
    if (status == LACIS_OK) {
        tell(m, &errors);
        *out = array;
        return LACIS_OK;
    }
    lacis_array_release(array);
    return status;
}

lacis_status lacis_nbody_run_steps(lacis_nbody_system *system, const lacis_nbody_input *input, lacis_array **out)
{
    motion m = {.system = system, .input = input, .time = system->work->bodies.time, .some = 1};
    LACIS_TRY(lacis_nbody_energy_new(system->run, lacis_nbody_energy_rows(system->work), &m.energy));
    lacis_status status = all_steps(&m);
    if (status == LACIS_OK) status = finish(&m, out);
    lacis_array_release(m.energy.table);
    return status;
}
