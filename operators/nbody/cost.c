/* SPDX-License-Identifier: Apache-2.0
 *
 * What NBODY and ACCELERATE cost on the CPU: evaluations of the field, each of so many terms (model.c) at what
 * CALIBRATE measured a term to take, with the building of trees; and the memory that is held. Called by the planner,
 * and by the GPU's costs for what both share.
 */
#include "nbody/work.h"

/* Nanoseconds on one thread: a pair, a cell as monopole, as quadrupole; of a tree, for each of its bodies. What
 * AVX-512 loops on an AMD EPYC (Zen 4) take, where nobody has calibrated. */
static const struct {
    const char *name;
    double ns;
} figures[LACIS_NBODY_TYPES][LACIS_NBODY_FIGURES] =
    {
        [LACIS_NBODY_F32] = {{"nbody.f32.pair_ns", 0.4},
                             {"nbody.f32.monopole_ns", 0.6},
                             {"nbody.f32.quadrupole_ns", 0.9}},
        [LACIS_NBODY_F64] = {{"nbody.f64.pair_ns", 1.2},
                             {"nbody.f64.monopole_ns", 1.5},
                             {"nbody.f64.quadrupole_ns", 2.2}},
        [LACIS_NBODY_MIXED] = {{"nbody.mixed.pair_ns", 0.7},
                               {"nbody.mixed.monopole_ns", 0.9},
                               {"nbody.mixed.quadrupole_ns", 1.3}},
},
  builds[LACIS_NBODY_WAYS] = {
      [LACIS_NBODY_DIRECT] = {"nbody.move_ns", 10},
      [LACIS_NBODY_TREE] = {"nbody.build_ns", 150},
      [LACIS_NBODY_INSERT] = {"nbody.insert_ns", 400},
};

const char *lacis_nbody_figure(lacis_nbody_type type, int what)
{
    return figures[type][what].name;
}

const char *lacis_nbody_build_figure(lacis_nbody_way way)
{
    return builds[way].name;
}

static double figure(const lacis_profile *profile, lacis_nbody_type type, int what)
{
    return lacis_profile_get(profile, figures[type][what].name, figures[type][what].ns);
}

/* A step ends with one, the first one begins with one besides unless it is known; ERROR looks for a rule with some.
 */
double lacis_nbody_evaluations(const lacis_nbody_work *work)
{
    const double search = 4;
    const bool known = work->bodies.ax != NULL, relative = work->rule.opening == LACIS_NBODY_RELATIVE;
    double first = known && !work->accelerate && work->error == 0 ? 0 : relative && !known ? 2 : 1;
    return (double)work->steps + first + (work->error > 0 ? search : 0);
}

/* Direct sums in double: those of the certificate, and those of a search. */
double lacis_nbody_direct_pairs(const lacis_nbody_work *work)
{
    const double tries = 4, n = (double)work->bodies.count;
    double sample = (double)work->certify, searched = work->error > 0 ? LACIS_NBODY_SAMPLE : 0;
    if (sample > n && work->places.array == NULL) sample = n;
    if (searched > n) searched = n;
    return n * (sample + tries * searched);
}

/* Seconds of one evaluation's forces, on one thread. */
static double field_seconds(const lacis_nbody_work *work, lacis_nbody_way way, const lacis_profile *profile)
{
    const double n = (double)work->bodies.count,
                 targets = work->places.array == NULL ? n : (double)work->places.count;
    const bool quadrupole = work->rule.order == LACIS_NBODY_QUADRUPOLE;
    const int term = quadrupole ? LACIS_NBODY_TERM_QUADRUPOLE : LACIS_NBODY_TERM_MONOPOLE;
    if (way == LACIS_NBODY_DIRECT) return 1e-9 * targets * n * figure(profile, work->type, LACIS_NBODY_PAIR);
    return 1e-9 * targets * lacis_nbody_terms(&work->rule, n) * figure(profile, work->type, term);
}

static void estimate(const lacis_nbody_work *work, lacis_nbody_way way, const lacis_profile *profile, double threads,
                     lacis_nbody_estimate *out)
{
    const double n = (double)work->bodies.count, serial = 0.2; /* of a tree's making */
    const lacis_nbody_start start = lacis_nbody_start_of(work, way);
    const double build = 1e-9 * n * lacis_profile_get(profile, builds[way].name, builds[way].ns);
    *out = (lacis_nbody_estimate){.known = true, .evaluations = lacis_nbody_evaluations(work)};
    out->field = field_seconds(work, way, profile) / threads;
    out->build = build * (serial + (1 - serial) / threads);
    out->direct =
        1e-9 * lacis_nbody_direct_pairs(work) * figure(profile, LACIS_NBODY_F64, LACIS_NBODY_PAIR) / threads;
    out->bytes = (double)lacis_nbody_bytes(&start);
}

double lacis_nbody_cpu_seconds(const lacis_nbody_work *work, lacis_nbody_way way, const lacis_profile *profile,
                               double threads)
{
    lacis_nbody_estimate e;
    estimate(work, way, profile, threads, &e);
    return e.direct + e.evaluations * (e.field + e.build);
}

double lacis_nbody_products(const lacis_nbody_work *work, lacis_nbody_way way)
{
    const double n = (double)work->bodies.count,
                 targets = work->places.array == NULL ? n : (double)work->places.count;
    const double terms = way == LACIS_NBODY_DIRECT ? n : lacis_nbody_terms(&work->rule, n);
    return lacis_nbody_evaluations(work) * targets * terms;
}

lacis_status lacis_nbody_cost(lacis_run *run, const lacis_call *call, lacis_nbody_way way,
                              const lacis_profile *profile, lacis_cost *out)
{
    lacis_nbody_work *work = call->work;
    const double start = 2e-6;
    estimate(work, way, profile, lacis_run_threads(run), &work->cpu[way]);
    const lacis_nbody_estimate *e = &work->cpu[way];
    *out = (lacis_cost){.seconds = start + e->direct + e->evaluations * (e->field + e->build),
                        .products = lacis_nbody_products(work, way),
                        .entries = (double)call->extent[0],
                        .bytes = lacis_nbody_result_bytes(work),
                        .kind = lacis_nbody_type_name(work->type)};
    out->peak_bytes = out->bytes + e->bytes + (double)lacis_nbody_take_bytes(work);
    return LACIS_OK;
}
