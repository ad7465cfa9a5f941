/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for NBODY and ACCELERATE on the GPU: fields of a Plummer sphere with bodies on the device, by the
 * kernels' own counts and clocks: what a large one takes more than a middling one for terms and trees, and what a
 * call takes besides: of a small one for all pairs; for trees, whose walks take long however few bodies there are, of
 * about as many as all pairs do as well with. The least of a few rounds counts. Called behind the processor's share;
 * a device without room for the sample leaves its figures as they were.
 */
#include "nbody/device.h"

#ifdef LACIS_GPU_KERNELS

#include <time.h>

enum {
    SMALL = 1024,
    MIDDLE = 20000,
    PAIRS = 1 << 16,
    BODIES = 1 << 19,
    ROUNDS = 4
}; /* the first round loads kernels */

typedef struct measured {
    lacis_run *run;
    lacis_gpu *gpu;
    const void *column[4];
    double first; /* seconds of the very first evaluation */
    double field, build, all, terms;
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

static lacis_nbody_status rounds(measured *m, lacis_nbody_gpu *system, const lacis_nbody_rule *rule)
{
    lacis_nbody_counts counts;
    lacis_nbody_status status = LACIS_NBODY_OK;
    for (int round = 0; status == LACIS_NBODY_OK && round < ROUNDS && !lacis_run_cancelled(m->run); round++) {
        lacis_nbody_gpu_set_rule(system, rule);
        const double begin = now();
        status = lacis_nbody_gpu_field(system, false);
        lacis_nbody_gpu_counted(system, &counts, true);
        const double all = now() - begin;
        if (m->first == 0) m->first = all;
        if (round == 0 || all < m->all) m->all = all;
        if (round == 0 || counts.force_seconds < m->field) m->field = counts.force_seconds;
        if (round == 0 || counts.build_seconds < m->build) m->build = counts.build_seconds;
        m->terms = counts.p2p + counts.m2p + counts.expanded;
    }
    return status;
}

/* *fits: false where the device has no room or does not do it. */
static lacis_status measure(measured *m, lacis_nbody_type type, lacis_nbody_way way, lacis_nbody_order order,
                            int64_t n, bool *fits)
{
    lacis_nbody_gpu_start start = {.stream = lacis_gpu_stream(m->gpu), .timed = true};
    lacis_nbody_gpu *system = NULL;
    void *side[2];
    int code = 0;
    start.start = (lacis_nbody_start){.type = type, .n = n, .m = m->column[0], .soften = 0.05, .g = 1};
    start.start.x = m->column[1];
    start.start.y = m->column[2];
    start.start.z = m->column[3];
    start.start.rule = (lacis_nbody_rule){.way = way, .order = order, .theta = 0.6, .expand = -1};
    start.start.host = (lacis_nbody_host){.alloc = take, .free = give, .context = m};
    lacis_gpu_beside(m->gpu, side, &start.pinned);
    *fits = start.pinned != NULL && lacis_nbody_gpu_refuses(&start.start) == NULL;
    if (!*fits) return LACIS_OK;
    lacis_nbody_gpu_settle(&start.start, &start.start.rule);
    lacis_nbody_status status = lacis_nbody_gpu_new(&start, &system, &code);
    if (status == LACIS_NBODY_OK) {
        status = rounds(m, system, &start.start.rule);
        code = status == LACIS_NBODY_FAILED ? lacis_nbody_gpu_error_code(system) : 0;
    }
    lacis_nbody_gpu_free(system);
    *fits = status == LACIS_NBODY_OK;
    if (lacis_run_cancelled(m->run)) return lacis_run_interrupted(m->run);
    return status == LACIS_NBODY_FAILED ? lacis_gpu_failed(m->run, m->gpu, code) : LACIS_OK;
}

/* What a large sample takes more than a middling one: without what any tree and walk take however small. */
static lacis_status measure_slope(measured *m, lacis_nbody_type type, lacis_nbody_way way, lacis_nbody_order order,
                                  bool *fits)
{
    LACIS_TRY(measure(m, type, way, order, MIDDLE, fits));
    const measured middle = *m;
    if (!*fits) return LACIS_OK;
    LACIS_TRY(measure(m, type, way, order, BODIES, fits));
    m->field -= middle.field;
    m->build -= middle.build;
    m->terms -= middle.terms;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- figures */

static lacis_status set(lacis_profile *profile, const char *name, double value)
{
    return value > 0 ? lacis_profile_set(profile, name, value) : LACIS_OK;
}

static lacis_status figure_pairs_call(measured *m, lacis_profile *profile)
{
    const double loaded_before = 1e-3;
    bool fits;
    m->first = 0;
    LACIS_TRY(measure(m, LACIS_NBODY_F32, LACIS_NBODY_DIRECT, LACIS_NBODY_QUADRUPOLE, SMALL, &fits));
    if (!fits) return LACIS_OK;
    LACIS_TRY(set(profile, lacis_nbody_gpu_call_figure(LACIS_NBODY_DIRECT), m->all));
    return m->first > loaded_before ? set(profile, LACIS_NBODY_LOAD_FIGURE, m->first) : LACIS_OK;
}

static double figure(const lacis_profile *profile, const char *name)
{
    return 1e-9 * lacis_profile_get(profile, name, 0);
}

/* What is left of a middling field without what its bodies and terms take. */
static lacis_status figure_tree_calls(measured *m, lacis_profile *profile)
{
    static const lacis_nbody_way ways[] = {LACIS_NBODY_TREE, LACIS_NBODY_INSERT};
    const double term = figure(profile, lacis_nbody_gpu_figure(LACIS_NBODY_F32, LACIS_NBODY_TERM_QUADRUPOLE));
    bool fits;
    for (int i = 0; i < LACIS_COUNT(ways); i++) {
        const double body = figure(profile, lacis_nbody_gpu_build_figure(ways[i]));
        LACIS_TRY(measure(m, LACIS_NBODY_F32, ways[i], LACIS_NBODY_QUADRUPOLE, MIDDLE, &fits));
        if (fits)
            LACIS_TRY(set(profile, lacis_nbody_gpu_call_figure(ways[i]), m->all - MIDDLE * body - m->terms * term));
    }
    return LACIS_OK;
}

static lacis_status figure_terms(measured *m, lacis_profile *profile, lacis_nbody_type type)
{
    bool fits;
    LACIS_TRY(measure(m, type, LACIS_NBODY_DIRECT, LACIS_NBODY_MONOPOLE, PAIRS, &fits));
    if (fits && m->terms > 0)
        LACIS_TRY(set(profile, lacis_nbody_gpu_figure(type, LACIS_NBODY_PAIR), 1e9 * m->field / m->terms));
    for (int order = 0; order < 2; order++) {
        const int what = order == LACIS_NBODY_MONOPOLE ? LACIS_NBODY_TERM_MONOPOLE : LACIS_NBODY_TERM_QUADRUPOLE;
        LACIS_TRY(measure_slope(m, type, LACIS_NBODY_TREE, (lacis_nbody_order)order, &fits));
        if (fits && m->terms > 0)
            LACIS_TRY(set(profile, lacis_nbody_gpu_figure(type, what), 1e9 * m->field / m->terms));
    }
    return LACIS_OK;
}

static lacis_status figure_builds(measured *m, lacis_profile *profile)
{
    static const lacis_nbody_way ways[] = {LACIS_NBODY_TREE, LACIS_NBODY_INSERT};
    bool fits;
    for (int i = 0; i < LACIS_COUNT(ways); i++) {
        LACIS_TRY(measure_slope(m, LACIS_NBODY_F32, ways[i], LACIS_NBODY_QUADRUPOLE, &fits));
        if (fits) LACIS_TRY(set(profile, lacis_nbody_gpu_build_figure(ways[i]), 1e9 * m->build / (BODIES - MIDDLE)));
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- the sample */

static lacis_status send_sample(measured *m, char *device, char *host, const double *sample, bool floats)
{
    const uint64_t size = floats ? sizeof(float) : sizeof(double);
    for (int64_t i = 0; i < 4 * (int64_t)BODIES; i++)
        if (floats)
            ((float *)host)[i] = (float)sample[i];
        else
            ((double *)host)[i] = sample[i];
    for (uint64_t c = 0; c < 4; c++)
        m->column[c] = device + c * BODIES * size;
    return lacis_gpu_upload(m->run, m->gpu, host, 4 * BODIES * size, device);
}

static lacis_status measure_all(measured *m, lacis_profile *profile, char *device, char *host, const double *sample)
{
    LACIS_TRY(send_sample(m, device, host, sample, true));
    LACIS_TRY(figure_pairs_call(m, profile));
    LACIS_TRY(figure_builds(m, profile));
    LACIS_TRY(figure_terms(m, profile, LACIS_NBODY_F32));
    LACIS_TRY(figure_tree_calls(m, profile));
    LACIS_TRY(send_sample(m, device, host, sample, false));
    LACIS_TRY(figure_terms(m, profile, LACIS_NBODY_F64));
    return figure_terms(m, profile, LACIS_NBODY_MIXED);
}

lacis_status lacis_nbody_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    char reason[200];
    const uint64_t bytes = 4 * BODIES * sizeof(double);
    double *sample;
    measured m = {.run = run, .gpu = lacis_run_gpu(run, reason, sizeof reason)};
    if (m.gpu == NULL) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(run, 2 * bytes, &sample));
    lacis_nbody_sample_bodies(BODIES, sample);
    void *device = lacis_gpu_alloc(m.gpu, bytes);
    lacis_status status = LACIS_OK;
    if (device != NULL) status = measure_all(&m, profile, device, (char *)sample + bytes, sample);
    lacis_gpu_free(m.gpu, device);
    lacis_run_free(run, sample);
    return status;
}

#else

lacis_status lacis_nbody_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    (void)run, (void)profile;
    return LACIS_OK;
}

#endif
