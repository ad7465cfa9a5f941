/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for SWEEP on a GPU: a 5-point sweep over its memory, one step a pass, for bytes a second; several a pass,
 * for an update on the chip; and one of a small grid, for what a step takes however small. Called by calibrate.c.
 */
#include "sweep/device.h"

#ifdef LACIS_GPU_KERNELS

#include "sweep/canonical.h"

#include <time.h>

enum { ROUNDS = 3, TAPS = 5, LARGE = 8192, SMALL = 64, STEPS = 24, SMALL_STEPS = 200 };

typedef struct measured {
    lacis_run *run;
    lacis_gpu *gpu;
    void *cells; /* LARGE x LARGE doubles */
    double first, least;
} measured;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *take(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((measured *)context)->gpu, bytes);
}

static void give(void *context, void *block)
{
    lacis_gpu_free(((measured *)context)->gpu, block);
}

static lacis_sweep_status rounds(measured *m, lacis_sweep_gpu *system, int64_t steps)
{
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = now();
        const lacis_sweep_status status = lacis_sweep_gpu_steps(system, steps, NULL);
        if (status != LACIS_SWEEP_OK) return status;
        if (lacis_gpu_wait(m->run, m->gpu) != LACIS_OK) return LACIS_SWEEP_UNSUPPORTED;
        const double seconds = (now() - begin) / (double)steps;
        if (round == 0) m->first = (now() - begin);
        if (round == 0 || seconds < m->least) m->least = seconds;
    }
    return LACIS_SWEEP_OK;
}

/* Seconds of a step, in m->least; 0: the device has no room or does not do it. */
static lacis_status measure(measured *m, lacis_sweep_type type, int64_t side, int levels, int64_t steps)
{
    lacis_sweep_tap tap[TAPS + 1];
    double weight[TAPS + 1];
    int first[TAPS + 2], code = 0;
    const lacis_sweep_room room = {tap, weight, first};
    lacis_sweep_term term[TAPS] = {{.tap = {0, {0, 0, 0}}, .weight = 0.5}};
    lacis_sweep_gpu_start start = {.stream = lacis_gpu_stream(m->gpu)};
    lacis_sweep_gpu *system = NULL;
    void *side_streams[2];
    for (int i = 1; i < TAPS; i++) {
        term[i].weight = 0.125;
        term[i].tap.at[(i - 1) / 2] = (int8_t)(i % 2 == 0 ? 1 : -1);
    }
    start.start = (lacis_sweep_start){.type = type, .dims = 2, .fields = 1, .levels = levels};
    start.start.array[0] = m->cells;
    for (int k = 0; k < 3; k++)
        start.start.extent[k] = start.start.whole[k] = k < 2 ? side : 1;
    lacis_sweep_canonical(type, 0, 0, term, TAPS, -1, &room, &start.start.rule[0]);
    start.start.host = (lacis_sweep_host){take, give, NULL, m};
    lacis_gpu_beside(m->gpu, side_streams, &start.pinned);
    m->least = 0;
    if (start.pinned == NULL || lacis_sweep_gpu_refuses(&start.start) != NULL) return LACIS_OK;
    lacis_sweep_status status = lacis_sweep_gpu_new(&start, &system, &code);
    if (status == LACIS_SWEEP_OK) {
        status = rounds(m, system, steps);
        code = status == LACIS_SWEEP_FAILED ? lacis_sweep_gpu_error_code(system) : 0;
    }
    lacis_sweep_gpu_free(system);
    if (status != LACIS_SWEEP_OK) m->least = 0;
    if (lacis_run_cancelled(m->run)) return lacis_run_interrupted(m->run);
    return status == LACIS_SWEEP_FAILED ? lacis_gpu_failed(m->run, m->gpu, code) : LACIS_OK;
}

static lacis_status set(lacis_profile *profile, const char *name, double value)
{
    return value > 0 ? lacis_profile_set(profile, name, value) : LACIS_OK;
}

static lacis_status measure_all(measured *m, lacis_profile *profile)
{
    const double loaded_before = 1e-3, cells = (double)LARGE * LARGE;
    LACIS_TRY(measure(m, LACIS_SWEEP_F32, SMALL, 1, SMALL_STEPS));
    LACIS_TRY(set(profile, LACIS_SWEEP_GPU_STEP_FIGURE, m->least));
    if (m->least > 0 && m->first - m->least * SMALL_STEPS > loaded_before)
        LACIS_TRY(set(profile, LACIS_SWEEP_LOAD_FIGURE, m->first - m->least * SMALL_STEPS));
    LACIS_TRY(measure(m, LACIS_SWEEP_F32, LARGE, 1, STEPS));
    if (m->least > 0) LACIS_TRY(set(profile, LACIS_SWEEP_GPU_RATE_FIGURE, 2 * sizeof(float) * cells / m->least));
    for (int type = LACIS_SWEEP_F32; type <= LACIS_SWEEP_F64; type++) {
        LACIS_TRY(measure(m, (lacis_sweep_type)type, LARGE, 0, STEPS));
        LACIS_TRY(set(profile, lacis_sweep_gpu_chip_figure((lacis_sweep_type)type), 1e9 * m->least / cells));
    }
    return LACIS_OK;
}

/* The cells' values do not matter; those of an earlier use may be any. */
lacis_status lacis_sweep_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    char reason[200];
    measured m = {.run = run, .gpu = lacis_run_gpu(run, reason, sizeof reason)};
    if (m.gpu == NULL) return LACIS_OK;
    m.cells = lacis_gpu_alloc(m.gpu, (uint64_t)LARGE * LARGE * sizeof(double));
    if (m.cells == NULL) return LACIS_OK;
    const lacis_status status = measure_all(&m, profile);
    lacis_gpu_free(m.gpu, m.cells);
    return status;
}

#else

lacis_status lacis_sweep_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    (void)run, (void)profile;
    return LACIS_OK;
}

#endif
