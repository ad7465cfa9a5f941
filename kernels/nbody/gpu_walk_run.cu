/* SPDX-License-Identifier: Apache-2.0
 *
 * Forces by a tree, as the system asks for them: the rule becomes a launch's numbers.
 */
#include "nbody/gpu_walk_points.h"

#include <math.h>

namespace nbody
{

constexpr uint32_t MOST_CELLS = 1u << 29; /* a range of them is 32 bits on the stack */
constexpr double NEAR = 1.6;              /* RELATIVE: radii of a group within which no cell is expanded */
constexpr double STRADDLE = 2.5;          /* a compact group is not as wide compared with its parts */

/* A theta that is not above 0 opens every cell that has parts, and so does an alpha of next to nothing. */
template <class P, class R>
static Walk<P, R> walk_of(const lacis_nbody_rule *rule, const Tree<P, R> *tree, const Forces<R> *forces)
{
    const bool relative = rule->opening == LACIS_NBODY_RELATIVE;
    Walk<P, R> walk = {};
    walk.tree = *tree;
    if (rule->opening != LACIS_NBODY_OFFSET) walk.tree.cube = nullptr;
    walk.out = forces->out;
    walk.counts = forces->counts;
    walk.theta = (R)rule->theta;
    walk.straddle = (R)STRADDLE;
    if (relative) walk.alpha = (R)fmax(rule->alpha, 1e-30);
    if (!(rule->expand > 0) || !(rule->theta > 0)) return walk;
    walk.wide = (R)(1 / rule->expand);
    walk.reach = relative ? (R)NEAR : walk.wide;
    walk.inverse = relative ? 0 : (R)(1 / rule->theta);
    return walk;
}

template <class P, class R>
cudaError_t walk_start(const Walk<P, R> &walk, const lacis_nbody_rule *rule, bool potential, cudaStream_t stream)
{
    const bool quad = rule->order == LACIS_NBODY_QUADRUPOLE;
    return walk_instance(walk, rule->group, quad, potential, stream);
}

template <class P, class R> constexpr lacis_nbody_type type_of()
{
    return sizeof(P) == 4 ? LACIS_NBODY_F32 : sizeof(R) == 8 ? LACIS_NBODY_F64 : LACIS_NBODY_MIXED;
}

static lacis_nbody_status status_of(const Machine *machine, cudaError_t error)
{
    if (error == cudaSuccess) return LACIS_NBODY_OK;
    if (*machine->cuda_error == 0) *machine->cuda_error = (int)error;
    return LACIS_NBODY_FAILED;
}

template <class P, class R>
lacis_nbody_status walk(const Machine *machine, const lacis_nbody_rule *open, const Tree<P, R> *tree,
                        const Targets<P> *targets, const Forces<R> *forces)
{
    const bool points = targets != nullptr && targets->x != nullptr;
    const int64_t n = points ? targets->n : tree->n;
    lacis_nbody_rule rule = *open;
    if (n == 0) return LACIS_NBODY_OK;
    if (tree->n == 0)
        return status_of(machine, cudaMemsetAsync(forces->out, 0, (size_t)n * sizeof(Four<R>), machine->stream));
    if (tree->room > MOST_CELLS) return LACIS_NBODY_UNSUPPORTED;
    walk_settle(type_of<P, R>(), tree->n, &rule);
    Walk<P, R> walk = walk_of(&rule, tree, forces);
    walk.n = n;
    if (points) return walk_points(machine, &rule, &walk, targets, forces);
    walk.target = tree->body;
    walk.bodies = true;
    walk.old = tree->old;
    if (walk.old == nullptr) walk.alpha = 0;
    return status_of(machine, walk_start(walk, &rule, forces->potential, machine->stream));
}

/* Bodies need none. */
template <class P, class R> uint64_t walk_bytes(const lacis_nbody_rule *, int64_t)
{
    return 0;
}

#define INSTANCE(P, R)                                                                                               \
    template cudaError_t walk_start(const Walk<P, R> &, const lacis_nbody_rule *, bool, cudaStream_t);               \
    template lacis_nbody_status walk(const Machine *, const lacis_nbody_rule *, const Tree<P, R> *,                  \
                                     const Targets<P> *, const Forces<R> *);                                         \
    template uint64_t walk_bytes<P, R>(const lacis_nbody_rule *, int64_t);
INSTANCE(float, float)
INSTANCE(double, double)
INSTANCE(double, float)

} // namespace nbody
