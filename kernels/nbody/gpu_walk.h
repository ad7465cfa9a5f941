/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk's own: what gpu_walk*.cu have of each other, and what is best where a rule leaves it open.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_H
#define LACIS_KERNELS_NBODY_GPU_WALK_H

#include "nbody/gpu_inside.h"

namespace nbody
{

/* Fills in leaf, group and expand (< 0: open) for n bodies. */
void walk_settle(lacis_nbody_type type, int64_t n, lacis_nbody_rule *rule);

constexpr uint32_t STACK = 448;
constexpr int SUPER = 8; /* groups that share the upper part of their walks */
constexpr int TEAM = 4;
constexpr uint32_t COMPACT = 10;
constexpr uint32_t UPPER = 1024; /* cells that are left to these at most; more: the groups walk by themselves */

/* What upper walks leave, for each SUPER groups; list NULL: there are none. */
template <class P, class R> struct Upper {
    int team;       /* warps that share one upper walk, 1 .. TEAM */
    uint32_t *list; /* UPPER cells, as many of each warp of the team */
    uint32_t *kept; /* how many, of each warp */
    Four<P> *middle;
    R *field; /* 32 of each warp: a lane's coefficient each (gpu_walk_field.cuh) */
};

/* All that a launch is given. Lengths are those of the tree; limits are made for R. */
template <class P, class R> struct Walk {
    Tree<P, R> tree;
    int64_t n;
    const Four<P> *target; /* in the order of a curve: the tree's bodies, or points */
    bool bodies;
    const uint32_t *order; /* target i's place in out; NULL: i */
    const R *old;          /* |a| of each target, or NULL */
    R theta;
    R alpha;          /* RELATIVE; 0: GEOMETRIC or OFFSET */
    R reach, inverse; /* expanded: farther from centre to centre than reach r + inverse s; reach 0: nothing is */
    R wide;           /* RELATIVE: and wide r in the place of s agrees */
    uint32_t stack;   /* entries at most, of STACK: fewer in tests */
    uint32_t crowd;   /* bodies within a group's boxes that are too many for it to be compact */
    uint32_t budget;  /* what a group may cost (dear); more: its targets walk one by one */
    R straddle;       /* a group wider than so many of its boxes uses them one by one */
    uint32_t *left;   /* groups that are too dear as one walk: how many, then which */
    uint32_t compact; /* times the budget, for compact groups */
    uint32_t per;     /* targets of a group */
    uint32_t *turn;   /* the list of Rota that says which group comes when, or NULL */
    uint32_t *next;   /* the one for the next time, empty; or NULL */
    Upper<P, R> upper;
    Four<R> *out;
    double *counts;
};

/* gpu_walk_run.cu, and for tests. A walk of the tree's own bodies by a rule that leaves nothing open. */
template <class P, class R>
Walk<P, R> walk_of(const lacis_nbody_rule *rule, const Tree<P, R> *tree, const Forces<R> *forces);
/* Gives the walk room in a block of so many bytes (NULL: only says how many): for the list of wide groups, and to let
 * groups share the upper part of their walks. */
template <class P, class R>
uint64_t walk_room(const lacis_nbody_rule *rule, Walk<P, R> *walk, bool share, void *block);
/* Lists of `rota`, if it is not NULL, for a walk; after walk_start it is the next one's turn. */
template <class P, class R>
cudaError_t walk_rota(const lacis_nbody_rule *rule, Walk<P, R> *walk, Rota *rota, cudaStream_t stream);
template <class P, class R> uint64_t walk_share(const lacis_nbody_rule *rule, Walk<P, R> *walk, void *block)
{
    return walk_room(rule, walk, true, block);
}
/* Starts what the rule, which leaves nothing open, says. */
template <class P, class R>
cudaError_t walk_start(const Walk<P, R> &walk, const lacis_nbody_rule *rule, bool potential, cudaStream_t stream);
/* gpu_walk_TYPE.cu: one of the kernels. Accelerations have the same bits with potentials and without. */
template <class P, class R>
cudaError_t walk_instance(const Walk<P, R> &walk, int group, bool quad, bool potential, cudaStream_t stream);

} // namespace nbody

#endif
