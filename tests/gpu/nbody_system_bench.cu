/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of whole steps: nbody_gpu bench system TYPE WAY N STEPS [deterministic] [THETA [ALPHA [EXPAND [GROUP
 * [LEAF]]]]]. TYPE f32, f64, mixed; WAY direct, mono, quad (geometric), mono-rel, quad-rel. A Plummer sphere, dt
 * 1e-3; the certificate of the last field, drift of the energy, and times of phases from a second, timed run.
 */
#include "nbody_support.h"

#include <chrono>
#include <cstring>

static lacis_nbody_rule rule_of(const std::string &way, int argc, char **argv)
{
    lacis_nbody_rule rule = {};
    rule.way = way == "direct" ? LACIS_NBODY_DIRECT : LACIS_NBODY_TREE;
    rule.order = way.compare(0, 4, "quad") == 0 ? LACIS_NBODY_QUADRUPOLE : LACIS_NBODY_MONOPOLE;
    const bool relative = way.size() > 4 && way.substr(4) == "-rel";
    rule.opening = relative ? LACIS_NBODY_RELATIVE : LACIS_NBODY_GEOMETRIC;
    rule.theta = argc > 0 ? atof(argv[0]) : relative ? 1.5 : 0.5;
    rule.alpha = argc > 1 ? atof(argv[1]) : 1.2e-2;
    rule.expand = argc > 2 ? atof(argv[2]) : -1;
    rule.group = argc > 3 ? atoi(argv[3]) : 0;
    rule.leaf = argc > 4 ? atoi(argv[4]) : 0;
    return rule;
}

static double run(lacis_nbody_gpu *system, int64_t steps, double dt)
{
    CUDA(cudaStreamSynchronize(stream));
    const auto begin = std::chrono::steady_clock::now();
    const lacis_nbody_status status = lacis_nbody_gpu_steps(system, steps, dt, false);
    CUDA(cudaStreamSynchronize(stream));
    if (status != LACIS_NBODY_OK) printf("steps: status %d\n", status);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / (double)steps;
}

static void tell_phases(lacis_nbody_gpu *system, int64_t n)
{
    lacis_nbody_counts c;
    lacis_nbody_gpu_counted(system, &c, true);
    const double e = c.evaluations > 0 ? c.evaluations : 1, b = e * (double)n;
    printf("    timed: move %.1f build %.1f force %.1f us; a body: p2p %.1f m2p %.1f expanded %.1f visits %.1f; "
           "cells %lld "
           "levels %lld\n",
           1e6 * c.move_seconds / e, 1e6 * c.build_seconds / e, 1e6 * c.force_seconds / e, c.p2p / b, c.m2p / b,
           c.expanded / b, c.visits / b, (long long)c.cells, (long long)c.levels);
}

static int bench(int argc, char **argv)
{
    if (argc < 4) return 2;
    const std::string type = argv[0], way = argv[1];
    const int64_t n = atoll(argv[2]), steps = atoll(argv[3]);
    const bool fixed = argc > 4 && strcmp(argv[4], "deterministic") == 0;
    lacis_nbody_rule rule = rule_of(way, argc - 4 - fixed, argv + 4 + fixed);
    rule.deterministic = fixed;
    const lacis_nbody_type t = type == "f32" ? LACIS_NBODY_F32 : type == "f64" ? LACIS_NBODY_F64 : LACIS_NBODY_MIXED;
    nbody_columns c;
    nbody_begin(&c, nbody_plummer(n, 1), t, rule);
    for (const bool timed : {false, true}) {
        lacis_nbody_gpu *system = nullptr;
        int error = 0;
        c.start.timed = timed;
        if (lacis_nbody_gpu_new(&c.start, &system, &error) != LACIS_NBODY_OK) return printf("no system\n");
        lacis_nbody_figures before, after;
        lacis_nbody_gpu_measure(system, &before);
        const double warm = run(system, 3, 1e-3);
        lacis_nbody_counts counts;
        lacis_nbody_gpu_counted(system, &counts, true);
        const double seconds = run(system, timed ? 10 : steps, 1e-3);
        if (timed) tell_phases(system, n);
        if (!timed) {
            lacis_nbody_errors errors = {};
            if (lacis_nbody_gpu_certify(system, 2000, &errors) != LACIS_NBODY_OK) printf("no certificate\n");
            lacis_nbody_gpu_measure(system, &after);
            const double e0 = before.kinetic + before.potential, e1 = after.kinetic + after.potential;
            printf("%s %s n %lld%s: %.1f us a step (first %.1f), error %.2e %.2e %.2e %.2e, energy %.2e of %.4f\n",
                   type.c_str(), way.c_str(), (long long)n, fixed ? " deterministic" : "", 1e6 * seconds, 1e6 * warm,
                   errors.relative[0], errors.relative[1], errors.relative[2], errors.relative[3], (e1 - e0) / e0,
                   e0);
        }
        lacis_nbody_gpu_free(system);
    }
    return 0;
}

static nbody_bench registered("system", bench);
