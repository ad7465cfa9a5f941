/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the device's n-body have of each other: gpu_system*.cu (the system, its motion and figures),
 * gpu_build*.cu (trees), gpu_walk*.cu (forces by a tree), gpu_direct*.cu (forces by all pairs).
 */
#ifndef LACIS_NBODY_GPU_INSIDE_H
#define LACIS_NBODY_GPU_INSIDE_H

#include "nbody/gpu_tree.h"

namespace nbody
{

/* Where things run. cuda_error keeps the first call that failed. */
struct Machine {
    cudaStream_t stream;
    void *pinned; /* LACIS_NBODY_GPU_PINNED_BYTES, of whoever is at work; nothing is kept there */
    int processors;
    lacis_nbody_host host;
    int *cuda_error;
};

/* Whose forces: the bodies of the tree themselves (x NULL), or points, as columns. */
template <class P> struct Targets {
    int64_t n;
    const P *x, *y, *z;
};

/* Forces come out times 1 (G is the caller's), in the order of the tree's bodies, or of the points: x, y, z of the
 * acceleration and the sum of m / r without the body itself (w; anything where `potential` is false). */
template <class R> struct Forces {
    Four<R> *out;
    bool potential;
    double *counts; /* p2p, m2p, expanded, visits: added up on the device; NULL: not counted */
};

/* --- trees. A builder keeps its arrays from run to run. */
template <class P, class R> struct Builder;
template <class P, class R>
lacis_nbody_status builder_new(const Machine *machine, int64_t n, bool soft, Builder<P, R> **out);
template <class P, class R> void builder_free(const Machine *machine, Builder<P, R> *builder);
template <class P, class R> uint64_t builder_bytes(int64_t n, bool soft);
/* Sorts bodies (in any order; nearly the curve's after the first time) and makes the tree, whose arrays are the
 * builder's until its next run. order[i]: where the tree's body i was. soft: each body's eps^2 or NULL. Everything is
 * on the stream when it returns; the host waits only where it must. tree->old is the caller's to fill. */
template <class P, class R>
lacis_nbody_status build(const Machine *machine, Builder<P, R> *builder, const lacis_nbody_rule *rule,
                         const Four<P> *body, const R *soft, R common, uint32_t *order, Tree<P, R> *tree);
/* The same in two: what is on the stream after the first needs the second with the same arguments, which waits. No
 * other use of machine->pinned between them. */
template <class P, class R>
lacis_nbody_status build_begin(const Machine *machine, Builder<P, R> *builder, const lacis_nbody_rule *rule,
                               const Four<P> *body, const R *soft, R common, uint32_t *order, Tree<P, R> *tree);
template <class P, class R>
lacis_nbody_status build_end(const Machine *machine, Builder<P, R> *builder, const lacis_nbody_rule *rule,
                             const Four<P> *body, const R *soft, R common, uint32_t *order);
/* Cells for n bodies. A tree of leaves of 8 or more has no more than n in practice, and of leaves of one body hardly
 * more than 2 n; where there are more, the lowest stay leaves. (nbody::walk packs a cell's number into 29 bits.) */
static inline uint32_t builder_cells(int64_t n)
{
    const int64_t all = 2 * n + n / 16 + 64, some = n + (1 << 20), most = all < some ? all : some;
    return (uint32_t)(most < (1 << 29) - 1 ? most : (1 << 29) - 1);
}
/* The last tree's figures; waits for the stream. */
template <class P, class R>
lacis_nbody_status builder_figures(const Machine *machine, const Builder<P, R> *builder, lacis_nbody_counts *counts);

/* --- forces */
template <class P, class R>
lacis_nbody_status walk(const Machine *machine, const lacis_nbody_rule *rule, const Tree<P, R> *tree,
                        const Targets<P> *targets, const Forces<R> *forces);
/* Of n of the tree's bodies alone, from `first`, a multiple of groups; forces->out and `old` are of these. Only one
 * softening length. */
template <class P, class R>
lacis_nbody_status walk_part(const Machine *machine, const lacis_nbody_rule *rule, const Tree<P, R> *tree,
                             int64_t first, int64_t n, const R *old, const Forces<R> *forces);
template <class P, class R> uint64_t walk_bytes(const lacis_nbody_rule *rule, int64_t n);
/* Sources: n bodies in any order. */
template <class P, class R>
lacis_nbody_status direct(const Machine *machine, int64_t n, const Four<P> *body, const R *soft, R common,
                          const Targets<P> *targets, const Forces<R> *forces);

} // namespace nbody

#endif
