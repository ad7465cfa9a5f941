/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for SWEEP: a 5-point sweep over memory by all threads, for bytes a second, and in cache on one thread,
 * for what a tap takes. The least of a few rounds counts. Called through SWEEP's descriptor.
 */
#include "sweep/canonical.h"
#include "sweep/system.h"

#include <string.h>
#include <time.h>

enum { ROUNDS = 3, TAPS = 5, LARGE_X = 4096, LARGE_Y = 2048, LARGE_STEPS = 2, SMALL_X = 512, SMALL_Y = 32 };
enum { SMALL_STEPS = 200 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static lacis_status failed(lacis_run *run, lacis_sweep_status status)
{
    if (status == LACIS_SWEEP_OK) return LACIS_OK;
    if (status == LACIS_SWEEP_CANCELLED) return lacis_run_interrupted(run);
    return lacis_run_fail(run, LACIS_NOMEM, "SWEEP: no memory to calibrate with");
}

/* The least seconds of a step. */
static lacis_status measure(lacis_run *run, const lacis_sweep_start *start, int64_t steps, double *out)
{
    lacis_sweep *system = NULL;
    lacis_sweep_status status = lacis_sweep_new(start, &system);
    for (int round = 0; status == LACIS_SWEEP_OK && round < ROUNDS; round++) {
        const double begin = now();
        status = lacis_sweep_steps(system, steps, NULL);
        const double seconds = (now() - begin) / (double)steps;
        if (round == 0 || seconds < *out) *out = seconds;
    }
    lacis_sweep_free(system);
    return failed(run, status);
}

/* A step of heat in two dimensions, its border held. */
static void heat(lacis_sweep_type type, int64_t nx, int64_t ny, int threads, const lacis_sweep_room *room,
                 lacis_sweep_start *out)
{
    lacis_sweep_term term[TAPS] = {{.tap = {0, {0, 0, 0}}, .weight = 0.5},
                                   {.tap = {0, {-1, 0, 0}}, .weight = 0.125},
                                   {.tap = {0, {1, 0, 0}}, .weight = 0.125},
                                   {.tap = {0, {0, -1, 0}}, .weight = 0.125},
                                   {.tap = {0, {0, 1, 0}}, .weight = 0.125}};
    *out = (lacis_sweep_start){.type = type, .dims = 2, .fields = 1, .levels = 1, .threads = threads};
    for (int k = 0; k < 3; k++)
        out->extent[k] = out->whole[k] = k == 0 ? nx : k == 1 ? ny : 1;
    lacis_sweep_canonical(type, 0, 0, term, TAPS, -1, room, &out->rule[0]);
}

static lacis_status set(lacis_profile *profile, const char *name, double figure)
{
    return figure > 0 ? lacis_profile_set(profile, name, figure) : LACIS_OK; /* 0: a clock that stood still */
}

static lacis_status measure_all(lacis_run *run, lacis_profile *profile, void *cells)
{
    lacis_sweep_tap tap[TAPS + 1];
    double weight[TAPS + 1], seconds = 0;
    int first[TAPS + 2];
    const lacis_sweep_room room = {tap, weight, first};
    lacis_sweep_start start;
    const double bytes = 2.0 * LARGE_X * LARGE_Y * sizeof(float), small = (double)SMALL_X * SMALL_Y * (TAPS + 1);
    for (int type = LACIS_SWEEP_F32; type <= LACIS_SWEEP_F64; type++) {
        heat((lacis_sweep_type)type, SMALL_X, SMALL_Y, 1, &room, &start);
        start.array[0] = cells;
        start.host = lacis_sweep_host_of(run);
        LACIS_TRY(measure(run, &start, SMALL_STEPS, &seconds));
        LACIS_TRY(set(profile, lacis_sweep_tap_figure((lacis_sweep_type)type), 1e9 * seconds / small));
    }
    heat(LACIS_SWEEP_F32, LARGE_X, LARGE_Y, lacis_run_threads(run), &room, &start);
    start.array[0] = cells;
    start.host = lacis_sweep_host_of(run);
    LACIS_TRY(measure(run, &start, LARGE_STEPS, &seconds));
    return seconds > 0 ? set(profile, lacis_sweep_rate_figure(), bytes / seconds) : LACIS_OK;
}

lacis_status lacis_sweep_calibrate(lacis_run *run, lacis_profile *profile)
{
    void *cells;
    const uint64_t bytes = (uint64_t)LARGE_X * LARGE_Y * sizeof(float);
    LACIS_TRY(lacis_run_alloc(run, bytes, &cells));
    memset(cells, 0, bytes);
    const lacis_status status = measure_all(run, profile, cells);
    lacis_run_free(run, cells);
    return status == LACIS_OK ? lacis_sweep_gpu_calibrate(run, profile) : status;
}
