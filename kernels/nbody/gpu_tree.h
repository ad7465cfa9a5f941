/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree on the device: what gpu_build*.cu makes of bodies and gpu_walk*.cu walks. R is float, or double for F64;
 * of MIXED bodies and centres are doubles and the rest floats. Arrays are device memory of the system, which grows
 * them when it must.
 */
#ifndef LACIS_NBODY_GPU_TREE_H
#define LACIS_NBODY_GPU_TREE_H

#include "nbody/gpu.h"

#include <cuda_runtime.h>

namespace nbody
{

template <class R> struct Four {
    R x, y, z, w;
};

/* A cell's place in the tree. Children lie behind each other in the order of the curve, parents before children,
 * levels behind each other; bodies of a cell lie behind each other, so that a cell is also a range of bodies. */
struct alignas(16) Link {
    uint32_t first; /* child, or body where it is a leaf */
    uint32_t many;  /* children 1 .. 8, or LEAF | bodies */
    float extent;   /* farthest body from the centre of mass, rounded up; 0: all bodies lie at one place */
    float side;     /* of its cube */
};
constexpr uint32_t LEAF = 0x80000000u;

/* In which order groups walk: those that took long in the walk before come first, so that none of them is left over
 * when the others are through. Which comes when makes no difference to their sums. */
struct Rota {
    uint32_t *block; /* two lists on the device: rota_words(bodies) */
    int64_t groups;  /* of the walk before, whose list is `now`; 0: there was none */
    int now;
};
static inline uint64_t rota_words(int64_t n)
{
    return 2 * ((4 + (uint64_t)n / 32 + 2) / 2 * 2); /* each of an even number: sums of 64 bits lie there */
}

/* P: the number of positions (double for F64 and MIXED); R: of forces (float for F32 and MIXED). */
template <class P, class R> struct Tree {
    int64_t n;
    /* Bodies in the order of the curve. */
    const Four<P> *body; /* x, y, z, m */
    const R *soft;       /* eps_i^2 of each, or NULL: `common` */
    R common;
    const R *old; /* |a| of the time before, or NULL */
    /* Cells. */
    const uint32_t *cells; /* on the device: how many */
    uint32_t room;         /* for so many */
    const Link *link;
    const Four<P> *centre; /* of mass, and mass */
    const Four<P> *cube;   /* centre of the cube; only where the rule is OFFSET, else NULL */
    /* Second moments about the centre of mass, sum of m d d': xx, yy, zz, xy; xz, yz, mean of eps^2 by mass, 0.
     * NULL: MONOPOLE (the mean is in `soft_mean` then, NULL: `common`). */
    const Four<R> *quad; /* two of them a cell */
    const R *soft_mean;
    Rota *rota; /* NULL: groups walk in their order */
};

} // namespace nbody

#endif
