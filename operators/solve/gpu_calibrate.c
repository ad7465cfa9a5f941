/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for SOLVE on the GPU: many lanes by each way, shape and layout, and few, from operands on the device to
 * the result there. The least of a few rounds counts. Called behind the processor's share in cost.c; a device without
 * room for a sample leaves its figures as they were.
 */
#include "solve/device.h"

#ifdef LACIS_GPU_KERNELS

#include <time.h>

enum { ROUNDS = 5 }; /* the first loads kernels and fills the pool */
enum { MANY = 1 << 16, SHORT = 64, FEW = 64, LONG = 512, LITTLE = 4 }; /* lanes and rows */
enum { STRETCH = 1 << 16 }; /* numbers made on the host; fields repeat them */

struct measured {
    lacis_run *run;
    lacis_gpu *gpu;
    double *field[LACIS_SOLVE_ROLES], *x; /* on the device; lower and upper are one */
    int32_t *parent, host_parent[LONG];
    double first, least; /* seconds of a run */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(context, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(context, block);
}

/* ------------------------------------------------------------------------------------------- systems */

/* Dominant, different in neighbouring rows and lanes. */
static lacis_status send_field(struct measured *m, int role, double *values)
{
    const double size = role == LACIS_SOLVE_DIAGONAL ? 40 : role == LACIS_SOLVE_RIGHT ? 1 : -0.9;
    const uint64_t bytes = sizeof(double) * STRETCH;
    for (int i = 0; i < STRETCH; i++)
        values[i] = size + 1e-3 * (double)(i % 97);
    for (uint64_t at = 0; at < sizeof(double) * MANY * SHORT; at += bytes)
        LACIS_TRY(lacis_gpu_upload(m->run, m->gpu, values, bytes, (char *)m->field[role] + at));
    return LACIS_OK;
}

static lacis_status send_fields(struct measured *m)
{
    double *values;
    lacis_status status = LACIS_OK;
    LACIS_TRY(lacis_run_alloc(m->run, sizeof *values * STRETCH, &values));
    for (int role = 0; status == LACIS_OK && role < LACIS_SOLVE_ROLES; role++)
        if (role != LACIS_SOLVE_UPPER) status = send_field(m, role, values);
    lacis_run_free(m->run, values);
    for (int r = 0; r < LONG; r++) /* branches of eight rows */
        m->host_parent[r] = r == 0 ? -1 : r % 8 == 0 ? r / 2 : r - 1;
    if (status != LACIS_OK) return status;
    return lacis_gpu_upload(m->run, m->gpu, m->host_parent, sizeof m->host_parent, m->parent);
}

static bool take_samples(struct measured *m)
{
    const uint64_t bytes = sizeof(double) * MANY * SHORT;
    bool fine = true;
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++) {
        if (role != LACIS_SOLVE_UPPER) m->field[role] = lacis_gpu_alloc(m->gpu, bytes);
        if (role == LACIS_SOLVE_UPPER) m->field[role] = m->field[LACIS_SOLVE_LOWER];
        fine = fine && m->field[role] != NULL;
    }
    m->x = lacis_gpu_alloc(m->gpu, bytes);
    m->parent = lacis_gpu_alloc(m->gpu, sizeof m->host_parent);
    return fine && m->x != NULL && m->parent != NULL;
}

static void give_samples(struct measured *m)
{
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++)
        if (role != LACIS_SOLVE_UPPER) lacis_gpu_free(m->gpu, m->field[role]);
    lacis_gpu_free(m->gpu, m->x);
    lacis_gpu_free(m->gpu, m->parent);
}

/* ----------------------------------------------------------------------------------------------- runs */

/* *fits: false where the device has no room or does not do it. */
static lacis_status once(struct measured *m, const lacis_solve_gpu_job *job, double *seconds, bool *fits)
{
    lacis_solve_gpu_output out;
    LACIS_TRY(lacis_gpu_wait(m->run, m->gpu));
    double start = now();
    lacis_solve_gpu_status status =
        lacis_solve_gpu_run(job, NULL, job->job.parent != NULL ? m->host_parent : NULL, &out);
    if (status == LACIS_SOLVE_GPU_FAILED) return lacis_gpu_failed(m->run, m->gpu, out.cuda_error);
    LACIS_TRY(lacis_gpu_wait(m->run, m->gpu));
    *seconds = now() - start;
    *fits = status == LACIS_SOLVE_GPU_OK;
    return LACIS_OK;
}

static lacis_status measure(struct measured *m, lacis_solve_gpu_way way, bool tree, bool flat, int64_t lanes,
                            int64_t rows, bool *fits)
{
    const lacis_solve_side side = {0, flat ? 1 : lanes, 0, 0, 1};
    const lacis_solve_group group = {lanes, rows, 0, 0, side, side, side};
    void *beside[2], *pinned;
    double seconds = 0;
    lacis_gpu_beside(m->gpu, beside, &pinned);
    const lacis_solve_gpu_job job = {.job = {.type = LACIS_SOLVE_F64,
                                             .lower = {m->field[LACIS_SOLVE_LOWER], false},
                                             .diagonal = {m->field[LACIS_SOLVE_DIAGONAL], false},
                                             .upper = {m->field[LACIS_SOLVE_UPPER], false},
                                             .rhs = {m->field[LACIS_SOLVE_RIGHT], false},
                                             .x = m->x,
                                             .parent = tree ? m->parent : NULL,
                                             .group = &group,
                                             .groups = 1,
                                             .threads = 1,
                                             .host = {device_alloc, device_free, NULL, m->gpu}},
                                     .way = way,
                                     .stream = lacis_gpu_stream(m->gpu),
                                     .pinned = pinned};
    *fits = lacis_solve_gpu_refuses(&job) == NULL;
    for (int round = 0; *fits && round < ROUNDS; round++) {
        if (lacis_run_cancelled(m->run)) return lacis_run_interrupted(m->run);
        LACIS_TRY(once(m, &job, &seconds, fits));
        if (round == 0) m->first = seconds;
        if (round <= 1 || seconds < m->least) m->least = seconds;
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- figures */

static lacis_status set_at_least(lacis_profile *profile, const char *name, double value, double least)
{
    return lacis_profile_set(profile, name, value > least ? value : least);
}

static lacis_status figures_of(struct measured *m, lacis_profile *profile, lacis_solve_gpu_way way, bool tree,
                               double call)
{
    bool fits;
    for (int flat = 0; flat < 2; flat++) {
        const lacis_solve_gpu_figure *figure = lacis_solve_gpu_figure_of(way, tree, flat);
        LACIS_TRY(measure(m, way, tree, flat, MANY, SHORT, &fits));
        if (!fits) continue;
        const double elements = (double)MANY * SHORT;
        LACIS_TRY(set_at_least(profile, figure->element, 1e9 * (m->least - call) / elements, 1e-4));
        LACIS_TRY(measure(m, way, tree, flat, FEW, LONG, &fits));
        if (fits && flat == 0) LACIS_TRY(set_at_least(profile, figure->row, 1e9 * (m->least - call) / LONG, 1e-1));
    }
    return LACIS_OK;
}

/* The least that any run takes, and what loading the kernels does. */
static lacis_status nothing_of(struct measured *m, lacis_profile *profile, double *call)
{
    const double loaded_before = 1e-3;
    bool fits = false;
    *call = 0;
    for (int way = 0; !fits && way < LACIS_SOLVE_GPU_WAYS; way++)
        LACIS_TRY(measure(m, (lacis_solve_gpu_way)way, false, false, FEW, LITTLE, &fits));
    if (!fits) return LACIS_OK;
    const double load = m->first - m->least;
    *call = m->least;
    LACIS_TRY(lacis_profile_set(profile, LACIS_SOLVE_GPU_CALL_FIGURE, m->least));
    return load < loaded_before ? LACIS_OK : lacis_profile_set(profile, LACIS_SOLVE_GPU_LOAD_FIGURE, load);
}

static lacis_status measure_all(struct measured *m, lacis_profile *profile)
{
    double call;
    LACIS_TRY(send_fields(m));
    LACIS_TRY(nothing_of(m, profile, &call));
    for (int way = 0; way < LACIS_SOLVE_GPU_WAYS; way++)
        for (int tree = 0; tree < 2; tree++)
            LACIS_TRY(figures_of(m, profile, (lacis_solve_gpu_way)way, tree != 0, call));
    return LACIS_OK;
}

lacis_status lacis_solve_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    char reason[200];
    struct measured m = {.run = run, .gpu = lacis_run_gpu(run, reason, sizeof reason)};
    if (m.gpu == NULL) return LACIS_OK;
    lacis_status status = take_samples(&m) ? measure_all(&m, profile) : LACIS_OK;
    give_samples(&m);
    return status;
}

#else

lacis_status lacis_solve_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    (void)run, (void)profile;
    return LACIS_OK;
}

#endif
