/* SPDX-License-Identifier: Apache-2.0
 *
 * What nbody_walk*.cu share: a walk's results and their errors, rules as test cases and what each may be off.
 */
#ifndef LACIS_TESTS_GPU_NBODY_WALK_H
#define LACIS_TESTS_GPU_NBODY_WALK_H

#include "nbody/gpu_walk.h"
#include "nbody_tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace nbody;

struct result {
    std::vector<double> x, y, z, w; /* in the set's order, or the points' */
    double counts[4] = {0, 0, 0, 0};
};

struct points {
    std::vector<double> x, y, z;
};

static inline Machine machine_here(int *error)
{
    return {stream, nullptr, 132, nbody_host(), error};
}

template <class R> static void scatter(const std::vector<Four<R>> &from, const uint32_t *order, result *out)
{
    for (auto *column : {&out->x, &out->y, &out->z, &out->w})
        column->resize(from.size());
    for (size_t i = 0; i < from.size(); i++) {
        const size_t at = order != nullptr ? order[i] : i;
        out->x[at] = (double)from[i].x;
        out->y[at] = (double)from[i].y;
        out->z[at] = (double)from[i].z;
        out->w[at] = (double)from[i].w;
    }
}

/* at: NULL: the bodies. */
template <class P, class R>
static inline result run(const nbody_tree<P, R> &tree, const lacis_nbody_rule &rule, bool potential, const points *at)
{
    int error = 0;
    const Machine machine = machine_here(&error);
    const lacis_nbody_type type = sizeof(P) == 4 ? LACIS_NBODY_F32 : LACIS_NBODY_F64;
    const size_t n = at != nullptr ? at->x.size() : (size_t)tree.tree.n;
    Four<R> *out;
    double *counts;
    CUDA(cudaMalloc((void **)&out, (n + 1) * sizeof *out));
    CUDA(cudaMalloc((void **)&counts, 4 * sizeof *counts));
    CUDA(cudaMemsetAsync(out, 0xff, (n + 1) * sizeof *out, stream)); /* not a number, where nothing is written */
    CUDA(cudaMemsetAsync(counts, 0, 4 * sizeof *counts, stream));
    Targets<P> targets = {(int64_t)n, nullptr, nullptr, nullptr};
    if (at != nullptr) {
        targets.x = (const P *)nbody_up(type, at->x);
        targets.y = (const P *)nbody_up(type, at->y);
        targets.z = (const P *)nbody_up(type, at->z);
    }
    const Forces<R> forces = {out, potential, counts};
    const lacis_nbody_status status = walk(&machine, &rule, &tree.tree, &targets, &forces);
    nbody_expect(status == LACIS_NBODY_OK, "walk: status %d, CUDA error %d", (int)status, error);
    std::vector<Four<R>> host(n);
    result r;
    CUDA(cudaMemcpyAsync(host.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaMemcpyAsync(r.counts, counts, sizeof r.counts, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    scatter(host, at != nullptr ? nullptr : tree.order.data(), &r);
    nbody_drop(targets.x);
    nbody_drop(targets.y);
    nbody_drop(targets.z);
    CUDA(cudaFree(out));
    CUDA(cudaFree(counts));
    return r;
}

/* Errors over the sums of moduli: of accelerations, median and greatest; of potentials, greatest. */
struct errors {
    double median, worst, potential;
};

static inline errors compare(const result &r, const std::vector<nbody_sum> &want, bool potential)
{
    std::vector<double> e;
    double worst = 0;
    for (size_t i = 0; i < want.size(); i++) {
        const nbody_sum &s = want[i];
        const double x = r.x[i] - s.a[0], y = r.y[i] - s.a[1], z = r.z[i] - s.a[2];
        const double d = sqrt(x * x + y * y + z * z);
        e.push_back(d == 0 ? 0 : std::isfinite(d) ? d / s.modulus : INFINITY);
        if (!potential) continue;
        const double w = fabs(r.w[i] - s.phi);
        worst = std::max(worst, w == 0 ? 0 : std::isfinite(w) ? w / s.phi : INFINITY);
    }
    if (e.empty()) return {0, 0, worst};
    std::sort(e.begin(), e.end());
    return {e[e.size() / 2], e.back(), worst};
}

struct variant {
    lacis_nbody_order order;
    lacis_nbody_opening opening;
    double theta, alpha, expand;
    int group, leaf;
    double median, worst; /* that are allowed, beside those of the type; of bodies on a line or lattice more */
};

static const variant variants[] = {
    {LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_GEOMETRIC, 0, 0, 0, 32, 8, 0, 0},
    {LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_GEOMETRIC, 0.6, 0, 0, 32, 8, 1e-3, 2e-2},
    {LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_GEOMETRIC, 0.6, 0, 0.3, 64, 16, 1e-3, 2e-2},
    {LACIS_NBODY_MONOPOLE, LACIS_NBODY_GEOMETRIC, 0.5, 0, 0, 64, 3, 3e-3, 4e-2},
    {LACIS_NBODY_MONOPOLE, LACIS_NBODY_OFFSET, 0.5, 0, 0.2, 32, 8, 3e-3, 4e-2},
    {LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_OFFSET, 0.6, 0, 0, 64, 1, 1e-3, 2e-2},
    {LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_RELATIVE, 0.8, 5e-3, 0, 64, 8, 1e-3, 2e-2},
    {LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_RELATIVE, 0.8, 5e-3, 0.2, 32, 24, 1e-3, 2e-2},
    {LACIS_NBODY_MONOPOLE, LACIS_NBODY_RELATIVE, 0.8, 3e-3, 0.2, 64, 16, 3e-3, 4e-2},
};

template <class P, class R> static double rounding()
{
    return sizeof(R) == 8 ? 1e-12 : 1e-5;
}

static inline std::vector<int64_t> numbers(int64_t n)
{
    std::vector<int64_t> all((size_t)n);
    for (int64_t i = 0; i < n; i++)
        all[(size_t)i] = i;
    return all;
}

static inline std::vector<double> lengths(const std::vector<nbody_sum> &sums)
{
    std::vector<double> out;
    for (const nbody_sum &s : sums)
        out.push_back(sqrt(s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2]));
    return out;
}

/* The greatest error where each target walks by itself, in doubles: the rule's own, which wide groups, whose targets
 * do so, are not to exceed. A cell that is just far enough may be most of what pulls a body. */
static inline double worst_alone(const nbody_set &set, const points &at, const lacis_nbody_rule &rule,
                                 const std::vector<nbody_sum> &want)
{
    nbody_tree<double, double> tree;
    nbody_make_tree(set, rule, &tree);
    result all;
    for (size_t i = 0; i < want.size(); i++) {
        const points one = {{at.x[i]}, {at.y[i]}, {at.z[i]}};
        const result r = run(tree, rule, false, &one);
        all.x.push_back(r.x[0]);
        all.y.push_back(r.y[0]);
        all.z.push_back(r.z[0]);
    }
    return compare(all, want, false).worst;
}

#endif
