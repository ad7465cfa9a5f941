/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks that the test makes itself, on trees of the host: stacks that are too small, groups that cost more than they
 * may, upper parts that groups share.
 */
#include "nbody_walk.h"

/* What a walk gives. budget: above 0: what a group may cost, however compact. */
template <class P, class R>
static result start(const nbody_tree<P, R> &tree, const lacis_nbody_rule &rule, uint32_t stack, uint32_t budget,
                    bool share)
{
    const size_t n = (size_t)tree.tree.n;
    Forces<R> forces = {nullptr, true, nullptr};
    CUDA(cudaMalloc((void **)&forces.out, n * sizeof *forces.out));
    CUDA(cudaMalloc((void **)&forces.counts, 4 * sizeof(double)));
    CUDA(cudaMemsetAsync(forces.out, 0xff, n * sizeof *forces.out, stream));
    CUDA(cudaMemsetAsync(forces.counts, 0, 4 * sizeof(double), stream));
    Walk<P, R> walk = walk_of(&rule, &tree.tree, &forces);
    walk.stack = stack;
    if (budget > 0) walk.budget = budget, walk.compact = 1;
    void *block = nullptr;
    const uint64_t bytes = walk_room(&rule, &walk, share, nullptr);
    CUDA(cudaMalloc(&block, bytes));
    CUDA(cudaMemsetAsync(block, 0xff, bytes, stream));
    walk_room(&rule, &walk, share, block);
    nbody_expect(walk_start(walk, &rule, true, stream) == cudaSuccess, "walk: a start");
    std::vector<Four<R>> host(n);
    result r;
    CUDA(cudaMemcpyAsync(host.data(), forces.out, n * sizeof host[0], cudaMemcpyDeviceToHost, stream));
    CUDA(cudaMemcpyAsync(r.counts, forces.counts, sizeof r.counts, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(forces.out));
    CUDA(cudaFree(forces.counts));
    CUDA(cudaFree(block));
    scatter(host, tree.order.data(), &r);
    return r;
}

/* Stacks that are too small: cells are taken one by one, and in the end as their bodies. */
static void check_stack(u64 seed, int64_t n)
{
    const nbody_set set = nbody_plummer(n, seed);
    const std::vector<nbody_sum> want = nbody_directs(set, numbers(n));
    const lacis_nbody_rule rule = {
        LACIS_NBODY_TREE, LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_GEOMETRIC, 0.5, 0, 0, 1, 32, true};
    nbody_tree<double, double> tree;
    nbody_make_tree(set, rule, &tree);
    double visits = 0;
    static const uint32_t stacks[] = {STACK, 33, 8, 1};
    for (const uint32_t stack : stacks) {
        const result r = start(tree, rule, stack, 0, false);
        const errors e = compare(r, want, true);
        nbody_expect(e.worst <= 2e-2 && e.median <= 1e-3, "walk: a stack of %u: median %.2e, worst %.2e", stack,
                     e.median, e.worst);
        if (stack == STACK) visits = r.counts[3];
        nbody_expect(stack == 1   ? r.counts[3] < visits
                     : stack == 8 ? r.counts[3] <= visits
                                  : r.counts[3] == visits,
                     "walk: a stack of %u: %.0f visits of %.0f", stack, r.counts[3], visits);
    }
}

static bool alike(const result &a, const result &b, size_t i)
{
    return a.x[i] == b.x[i] && a.y[i] == b.y[i] && a.z[i] == b.z[i] && a.w[i] == b.w[i];
}

/* Groups that turn out too dear at whatever they were at, whose targets walk one by one: each target has the bits of
 * its whole group's walk or of its own, and all or none of a warp leaves. */
template <class P, class R> static void check_dear(const char *type, const nbody_set &set, uint32_t apart)
{
    lacis_nbody_rule rule = {LACIS_NBODY_TREE, LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_GEOMETRIC, 0.5, 0, 0, 8, 32, true};
    for (const double expand : {0.0, 0.2}) {
        if (expand > 0 && apart > 100) continue; /* few cases are wanted */
        rule.expand = expand;
        nbody_tree<P, R> tree;
        nbody_make_tree(set, rule, &tree);
        const result whole = start(tree, rule, STACK, UINT32_MAX, false), alone = start(tree, rule, STACK, 1, false);
        const errors e = compare(alone, nbody_directs(set, numbers(set.n())), true);
        nbody_expect(e.worst <= 2e-2 && e.median <= 4e-3 && e.potential <= 2e-2,
                     "walk %s, one by one: median %.2e, worst %.2e, potential %.2e", type, e.median, e.worst,
                     e.potential);
        int64_t left = 0, stayed = 0, others = 0;
        for (uint32_t budget = 60; budget < 2400; budget += apart) {
            const result r = start(tree, rule, STACK, budget, false);
            for (size_t i = 0; i < r.x.size(); i++) {
                const bool as_alone = alike(r, alone, i), as_whole = alike(r, whole, i);
                left += as_alone && !as_whole, stayed += as_whole && !as_alone, others += !as_alone && !as_whole;
            }
        }
        nbody_expect(left > 0 && stayed > 0 && others == 0,
                     "walk %s, budgets: %lld targets by themselves, %lld with their groups, %lld neither", type,
                     (long long)left, (long long)stayed, (long long)others);
    }
}

/* Groups that share the upper part of their walks: as good as alone, with fewer visits; and where more is left to
 * them than there is room for, each by itself. */
template <class P, class R> static void check_shared(const char *type, const nbody_set &set)
{
    const std::vector<nbody_sum> want = nbody_directs(set, numbers(set.n()));
    static const int some[] = {0, 2, 4, 7, 8};
    for (const int at : some) {
        const variant &v = variants[at];
        lacis_nbody_rule rule = {LACIS_NBODY_TREE, v.order, v.opening, v.theta, v.alpha,
                                 v.expand,         v.leaf,  v.group,   true};
        if (at == 0) rule.leaf = 1;
        nbody_tree<P, R> tree;
        nbody_make_tree(set, rule, &tree);
        if (v.opening == LACIS_NBODY_RELATIVE) tree.tree.old = nbody_in_order(&tree, lengths(want));
        const result alone = start(tree, rule, STACK, 0, false), r = start(tree, rule, STACK, 0, true);
        const errors e = compare(r, want, true);
        const double least = rounding<P, R>();
        double worst = 5 * v.worst + 4 * least;
        if (e.worst > worst) worst = worst_alone(set, {set.x, set.y, set.z}, rule, want) * 1.001 + 4 * least;
        nbody_expect(e.median <= 3 * v.median + 1e-5 && e.worst <= worst && e.potential <= 3 * v.worst + 8 * least,
                     "walk %s, %s, shared, variant %d: median %.2e, worst %.2e, potential %.2e", type,
                     set.name.c_str(), at, e.median, e.worst, e.potential);
        if (at == 0 && set.name == "plummer")
            nbody_expect(r.counts[0] == (double)set.n() * (double)set.n(), "walk %s, shared: %.0f pairs", type,
                         r.counts[0]);
        if (at == 7 && set.n() > 5000 && set.name == "plummer")
            nbody_expect(r.counts[3] < alone.counts[3], "walk %s, shared: %.0f visits, alone %.0f", type, r.counts[3],
                         alone.counts[3]);
    }
}

template <class P, class R> static void check_type(const char *type, bool small, u64 seed)
{
    nbody_set set = nbody_plummer(small ? 530 : 12000, seed + 9), uneven = nbody_uneven(small ? 100 : 4000, seed);
    if (sizeof(R) == 4) nbody_round(&set), nbody_round(&uneven);
    check_shared<P, R>(type, set);
    check_shared<P, R>(type, uneven);
    if (small && sizeof(P) != 4) return;
    nbody_set more = nbody_plummer(2500, seed + 9); /* enough for groups that pass a budget by cells */
    if (sizeof(R) == 4) nbody_round(&more);
    check_dear<P, R>(type, more, small ? 233 : 97);
}

static void check(bool small, u64 seed)
{
    check_type<float, float>("f32", small, seed);
    check_type<double, double>("f64", small, seed);
    check_type<double, float>("mixed", small, seed);
    check_stack(seed, small ? 300 : 3000);
}

static nbody_part part("walk.made", check);
