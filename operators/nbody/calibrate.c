/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for NBODY and ACCELERATE: the field of a small Plummer sphere by all pairs and by trees of each order, in
 * each type, on one thread; what a term takes comes from the kernels' own counts and clocks. The least of a few
 * rounds counts. Called through NBODY's descriptor.
 */
#include "nbody/work.h"

#include <math.h>

enum { BODIES = 8192, PAIRS = 2048, ROUNDS = 3 };

/* A number in (0, 1) out of a counter. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

void lacis_nbody_sample_bodies(int64_t n, double *out)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        const double r = 1 / sqrt(pow(0.999 * uniform(&state), -2.0 / 3) - 1);
        const double z = 2 * uniform(&state) - 1, angle = 6.283185307179586 * uniform(&state), s = sqrt(1 - z * z);
        out[i] = 1.0 / (double)n;
        out[n + i] = r * s * cos(angle);
        out[2 * n + i] = r * s * sin(angle);
        out[3 * n + i] = r * z;
    }
}

static void *take(void *context, uint64_t bytes)
{
    return lacis_run_alloc_quiet(context, bytes);
}

static void give(void *context, void *block)
{
    lacis_run_free(context, block);
}

static lacis_status no_memory(lacis_run *run)
{
    return lacis_run_fail(run, LACIS_NOMEM, "NBODY: no memory to calibrate with");
}

/* Evaluations of one system; the least seconds, and the terms of one. */
static lacis_status measure(lacis_run *run, const lacis_nbody_start *start, double *field, double *build,
                            double *count)
{
    lacis_nbody *system = NULL;
    lacis_nbody_counts counts;
    lacis_nbody_status status = lacis_nbody_new(start, &system);
    for (int round = 0; status == LACIS_NBODY_OK && round < ROUNDS && !lacis_run_cancelled(run); round++) {
        lacis_nbody_set_rule(system, &start->rule);
        status = lacis_nbody_field(system, false);
        lacis_nbody_counted(system, &counts, true);
        if (round == 0 || counts.force_seconds < *field) *field = counts.force_seconds;
        if (round == 0 || counts.build_seconds < *build) *build = counts.build_seconds;
        *count = counts.p2p + counts.m2p + counts.expanded;
    }
    lacis_nbody_free(system);
    if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
    return status == LACIS_NBODY_OK ? LACIS_OK : no_memory(run);
}

static lacis_status set(lacis_profile *profile, const char *name, double seconds, double count)
{
    const double least = 1e-6; /* ns: a clock that stood still */
    if (!(count > 0)) return LACIS_OK;
    const double ns = 1e9 * seconds / count;
    return lacis_profile_set(profile, name, ns > least ? ns : least);
}

static lacis_status measure_type(lacis_run *run, lacis_profile *profile, lacis_nbody_start *start)
{
    static const struct {
        lacis_nbody_way way;
        lacis_nbody_order order;
        int figure;
    } cases[] = {{LACIS_NBODY_DIRECT, LACIS_NBODY_MONOPOLE, LACIS_NBODY_PAIR},
                 {LACIS_NBODY_TREE, LACIS_NBODY_MONOPOLE, LACIS_NBODY_TERM_MONOPOLE},
                 {LACIS_NBODY_TREE, LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_TERM_QUADRUPOLE},
                 {LACIS_NBODY_INSERT, LACIS_NBODY_QUADRUPOLE, -1}};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        double field = 0, build = 0, count = 0;
        if (cases[i].figure < 0 && start->type != LACIS_NBODY_F64) continue;
        start->n = cases[i].way == LACIS_NBODY_DIRECT ? PAIRS : BODIES;
        start->rule.way = cases[i].way;
        start->rule.order = cases[i].order;
        LACIS_TRY(measure(run, start, &field, &build, &count));
        if (cases[i].figure >= 0)
            LACIS_TRY(set(profile, lacis_nbody_figure(start->type, cases[i].figure), field, count));
        if (start->type == LACIS_NBODY_F64 && cases[i].way != LACIS_NBODY_DIRECT)
            LACIS_TRY(set(profile, lacis_nbody_build_figure(cases[i].way), build, BODIES));
    }
    return LACIS_OK;
}

static void point(lacis_nbody_start *start, const double *sample, const float *narrow)
{
    const bool floats = start->type == LACIS_NBODY_F32;
    const void **const to[] = {&start->m, &start->x, &start->y, &start->z};
    for (int i = 0; i < LACIS_COUNT(to); i++)
        *to[i] = floats ? (const void *)(narrow + i * BODIES) : (const void *)(sample + i * BODIES);
}

lacis_status lacis_nbody_calibrate(lacis_run *run, lacis_profile *profile)
{
    double *sample;
    lacis_status status = LACIS_OK;
    LACIS_TRY(lacis_run_alloc(run, 4 * BODIES * (sizeof(double) + sizeof(float)), &sample));
    float *narrow = (float *)(sample + 4 * BODIES);
    lacis_nbody_sample_bodies(BODIES, sample);
    for (int i = 0; i < 4 * BODIES; i++)
        narrow[i] = (float)sample[i];
    for (int type = 0; type < LACIS_NBODY_TYPES && status == LACIS_OK; type++) {
        lacis_nbody_start start = {.type = (lacis_nbody_type)type, .soften = 0.05, .g = 1, .threads = 1};
        start.rule = (lacis_nbody_rule){.theta = 0.6, .expand = -1};
        start.host = (lacis_nbody_host){.alloc = take, .free = give, .context = run};
        point(&start, sample, narrow);
        status = measure_type(run, profile, &start);
    }
    lacis_run_free(run, sample);
    return status == LACIS_OK ? lacis_nbody_gpu_calibrate(run, profile) : status;
}
