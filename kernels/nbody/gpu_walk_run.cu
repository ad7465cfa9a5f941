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
constexpr double MOST_THETA = 1;          /* a cell that reaches as far as the group may hold the group itself */
constexpr int64_t SHARE = 100000;         /* bodies from which on groups share the upper part of their walks */
constexpr uint64_t FEW_SUPERS = 4000;     /* of which a warp each does not fill the device */
constexpr double STAND_IN = 0.7;
constexpr double DEAR = 2.4;     /* times what a group costs: more is cheaper target by target */
constexpr uint32_t CROWD = 2;    /* times a group or a leaf */
constexpr double STRADDLE = 2.5; /* a compact group is not as wide compared with its parts */

/* About what a group of neighbours costs, as `dear` counts, by measurement of Plummer spheres; times DEAR. An
 * estimate that is low by much makes groups walk target by target that had better not: it is rather high. */
static uint32_t budget_of(const lacis_nbody_rule &rule, double theta, double alpha)
{
    if (!(theta > 0)) return UINT32_MAX;
    const bool quad = rule.order == LACIS_NBODY_QUADRUPOLE;
    const double cost = 1300 * pow(1 / theta, 1.8) * (alpha > 0 ? pow(fmax(1, 1.4e-2 / alpha), quad ? 0.4 : 0.5) : 1);
    return (uint32_t)fmin(DEAR * cost * rule.group / 32, 4e9);
}

/* A theta that is not above 0 opens every cell that has parts. Without |a| a narrower geometric rule stands in for
 * the relative one: its guard alone is far too wide. */
template <class P, class R>
Walk<P, R> walk_of(const lacis_nbody_rule *rule, const Tree<P, R> *tree, const Forces<R> *forces)
{
    const bool asked = rule->opening == LACIS_NBODY_RELATIVE, relative = asked && tree->old != nullptr;
    const double theta = fmin(rule->theta, asked && !relative ? STAND_IN : MOST_THETA);
    Walk<P, R> walk = {};
    walk.tree = *tree;
    if (rule->opening != LACIS_NBODY_OFFSET) walk.tree.cube = nullptr;
    walk.n = tree->n;
    walk.target = tree->body;
    walk.bodies = true;
    walk.old = tree->old;
    walk.out = forces->out;
    walk.counts = forces->counts;
    walk.stack = STACK;
    walk.theta = (R)theta;
    walk.crowd = CROWD * (uint32_t)(rule->leaf > 64 ? rule->leaf : 64);
    walk.budget = budget_of(*rule, theta, relative ? fmax(rule->alpha, 1e-30) : 0);
    walk.straddle = (R)STRADDLE;
    walk.compact = COMPACT;
    if (relative) walk.alpha = (R)fmax(rule->alpha, 1e-30);
    if (!(rule->expand > 0) || !(theta > 0)) return walk;
    walk.wide = (R)(1 / rule->expand);
    walk.reach = relative ? (R)NEAR : walk.wide;
    walk.inverse = relative ? 0 : (R)(1 / theta);
    return walk;
}

template <class P, class R>
cudaError_t walk_start(const Walk<P, R> &walk, const lacis_nbody_rule *rule, bool potential, cudaStream_t stream)
{
    const cudaError_t error = cudaMemsetAsync(walk.left, 0, sizeof *walk.left, stream);
    if (error != cudaSuccess) return error;
    return walk_instance(walk, rule->group, rule->order == LACIS_NBODY_QUADRUPOLE, potential, stream);
}

template <class P, class R> constexpr lacis_nbody_type type_of()
{
    return sizeof(P) == 4 ? LACIS_NBODY_F32 : sizeof(R) == 8 ? LACIS_NBODY_F64 : LACIS_NBODY_MIXED;
}

/* Where few groups are there, their walks take as long as one. */
static bool shares(const lacis_nbody_rule &rule, int64_t n)
{
    return rule.expand > 0 && n >= SHARE;
}

template <class P, class R>
uint64_t walk_room(const lacis_nbody_rule *rule, Walk<P, R> *walk, bool share, void *block)
{
    const uint64_t group = rule->group > 32 && sizeof(R) == 4 ? 64 : 32, targets = group * SUPER;
    const uint64_t groups = ((uint64_t)walk->n + group - 1) / group,
                   supers = ((uint64_t)walk->n + targets - 1) / targets;
    const uint64_t team = supers < FEW_SUPERS ? TEAM : 1;
    uint64_t at = 0;
    const auto room = [&](auto **pointer, uint64_t count) {
        if (block != nullptr) *pointer = (decltype(+*pointer))((char *)block + at);
        at += (count * sizeof **pointer + 255) / 256 * 256;
    };
    room(&walk->left, groups + 1);
    if (!share) return at;
    walk->upper.team = (int)team;
    room(&walk->upper.list, supers * UPPER);
    room(&walk->upper.kept, supers * team);
    room(&walk->upper.middle, supers);
    room(&walk->upper.field, supers * team * 32);
    return at;
}

/* More groups than that leave nothing to gain, and lie better in their order. */
constexpr int64_t MOST_TURNS = 40000;

template <class P, class R>
cudaError_t walk_rota(const lacis_nbody_rule *rule, Walk<P, R> *walk, Rota *rota, cudaStream_t stream)
{
    const int64_t group = rule->group > 32 && sizeof(R) == 4 ? 64 : 32, groups = (walk->n + group - 1) / group;
    if (rota == nullptr || rota->block == nullptr || groups > MOST_TURNS) return cudaSuccess;
    const uint64_t words = rota_words(walk->n) / 2;
    uint32_t *const list[2] = {rota->block, rota->block + words};
    cudaError_t error = cudaSuccess;
    if (rota->groups != groups) {
        for (int k = 0; k < 2 && error == cudaSuccess; k++)
            error = cudaMemsetAsync(list[k], 0, 4 * sizeof **list, stream);
        if (error != cudaSuccess) return error;
        rota->now = 1;
    } else {
        walk->turn = list[rota->now];
    }
    walk->next = list[1 - rota->now];
    rota->now = 1 - rota->now;
    rota->groups = groups;
    return cudaSuccess;
}

static lacis_nbody_status status_of(const Machine *machine, cudaError_t error)
{
    if (error == cudaSuccess) return LACIS_NBODY_OK;
    if (*machine->cuda_error == 0) *machine->cuda_error = (int)error;
    return LACIS_NBODY_FAILED;
}

template <class P, class R>
static lacis_nbody_status walk_with_room(const Machine *machine, const lacis_nbody_rule &rule, Walk<P, R> walk,
                                         Rota *rota, bool potential)
{
    const bool share = shares(rule, walk.tree.n);
    void *block = machine->host.alloc(machine->host.context, walk_room(&rule, &walk, share, nullptr));
    if (block == nullptr) return LACIS_NBODY_NO_MEMORY;
    walk_room(&rule, &walk, share, block);
    cudaError_t error = walk_rota(&rule, &walk, rota, machine->stream);
    if (error == cudaSuccess) error = walk_start(walk, &rule, potential, machine->stream);
    if (error != cudaSuccess && rota != nullptr) rota->groups = 0;
    machine->host.free(machine->host.context, block);
    return status_of(machine, error);
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
    if (points) return walk_points(machine, &rule, tree, targets, forces);
    return walk_with_room(machine, rule, walk_of(&rule, tree, forces), tree->rota, forces->potential);
}

template <class P, class R>
lacis_nbody_status walk_part(const Machine *machine, const lacis_nbody_rule *open, const Tree<P, R> *tree,
                             int64_t first, int64_t n, const R *old, const Forces<R> *forces)
{
    lacis_nbody_rule rule = *open;
    Tree<P, R> all = *tree;
    all.old = old;
    if (n == 0) return LACIS_NBODY_OK;
    if (tree->room > MOST_CELLS || tree->soft != nullptr) return LACIS_NBODY_UNSUPPORTED;
    walk_settle(type_of<P, R>(), tree->n, &rule);
    Walk<P, R> walk = walk_of(&rule, &all, forces);
    walk.n = n;
    walk.target += first;
    return walk_with_room(machine, rule, walk, nullptr, forces->potential);
}

template <class P, class R> uint64_t walk_bytes(const lacis_nbody_rule *open, int64_t n)
{
    lacis_nbody_rule rule = *open;
    Walk<P, R> walk = {};
    walk.n = n;
    walk_settle(type_of<P, R>(), n, &rule);
    return walk_room(&rule, &walk, shares(rule, n), nullptr);
}

#define INSTANCE(P, R)                                                                                               \
    template Walk<P, R> walk_of(const lacis_nbody_rule *, const Tree<P, R> *, const Forces<R> *);                    \
    template uint64_t walk_room(const lacis_nbody_rule *, Walk<P, R> *, bool, void *);                               \
    template cudaError_t walk_rota(const lacis_nbody_rule *, Walk<P, R> *, Rota *, cudaStream_t);                    \
    template cudaError_t walk_start(const Walk<P, R> &, const lacis_nbody_rule *, bool, cudaStream_t);               \
    template lacis_nbody_status walk(const Machine *, const lacis_nbody_rule *, const Tree<P, R> *,                  \
                                     const Targets<P> *, const Forces<R> *);                                         \
    template lacis_nbody_status walk_part(const Machine *, const lacis_nbody_rule *, const Tree<P, R> *, int64_t,    \
                                          int64_t, const R *, const Forces<R> *);                                               \
    template uint64_t walk_bytes<P, R>(const lacis_nbody_rule *, int64_t);
INSTANCE(float, float)
INSTANCE(double, double)
INSTANCE(double, float)

} // namespace nbody
