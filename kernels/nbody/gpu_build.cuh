/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees on the device: what the files gpu_build_*.cuh share. gpu_build_run.cuh has the order of things,
 * gpu_build_f32.cu and its like the instances.
 *
 * Bodies are sorted by keys along Hilbert's curve in the cube about them. For body i let c be the number of levels
 * that its key has in common with that of body i - 1, and d the deepest level at which its cell holds more than a
 * leaf may; then the cells that begin with body i are those of the levels c + 1 .. d + 1, the last a leaf. So every
 * body finds the cells that begin with it by itself, places come from sums over bodies level by level, and nothing
 * goes from the root downwards. A cell with a single child is not made: the chain's uppermost cell stands for it,
 * with its lowest cube.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_CUH

#include "nbody/gpu_inside.h"

namespace nbody
{

typedef unsigned long long Key;

constexpr int GRID = 21;                /* levels of a key at most */
constexpr int MOST_LEAF = 128;          /* bodies: what the halo of a block has room for */
constexpr int TILE = 512;               /* bodies, and threads, of a block that looks for cells */
constexpr int LANES = 8;                /* that share a cell of children */
constexpr int LEAF_LANES = 2;           /* that share a leaf */
constexpr int EACH = 4;                 /* bodies of a thread that tells cells how far they are */
constexpr uint32_t BIG = 512;           /* bodies of a leaf that a block sums up instead */
constexpr uint32_t TOO_MANY = 1u << 31; /* of a mask: the keys do not tell the bodies of this leaf apart */
constexpr uint32_t NO_CELL = 0xffffffffu;
constexpr uint32_t SIBLING = 1u << 31; /* of begin: not its parent's first child */

/* A cube with its grid of 2^GRID cells a side. Coordinates are taken times `scale` (1, or less where their
 * differences were infinite); two factors, as their product may be. side 0: all bodies lie at one place. */
struct Box {
    double lo[3], scale, side, factor, rest;
};

/* Bodies of one round: all of them, or those in leaves that the round before could not split. */
struct Round {
    uint32_t n;
    int levels, shift;    /* of the keys; bits below them that are not theirs */
    const Key *key;       /* sorted, within each segment */
    const uint32_t *seg;  /* whose cell, rising; NULL: one segment, the root */
    const uint32_t *at;   /* which body; NULL: i */
    const uint32_t *cell; /* of each segment; NULL: 0 */
    const Box *box;       /* of each segment */
    uint32_t *mask;       /* bit l: a cell of level l begins with the body; TOO_MANY */
    uint32_t *count;      /* level by level, of each block: cells that begin there; then places */
    uint32_t blocks;
};

/* What the device knows and the host asks for now and then. undivided: bodies of leaves that keys do not divide,
 * segments: such leaves; crowded: the deepest level with a cell of more bodies than a leaf may have, and 1; full:
 * cells had no room and stayed leaves. */
struct Known {
    uint32_t cells, undivided, segments, crowded, big, inner, full;
    uint32_t base, inner_base, deepest; /* of a round under way */
};

/* Cells: what the builder has beside the tree's arrays. */
struct Cells {
    uint32_t room;
    Link *link;
    uint32_t *begin;                    /* first body | SIBLING */
    uint32_t *bodies;                   /* how many */
    uint32_t *parent, *below, *arrived; /* below: children that are no leaves */
    uint32_t *leaf;                     /* of its first body */
    uint32_t *inner;                    /* cells that are no leaves, in any order */
    uint32_t *big;                      /* leaves of more than BIG bodies */
    Known *known;
};

/* What a recording of a tree's launches depends on. */
struct Launches {
    cudaStream_t stream;
    void *pinned;
    const void *body, *soft, *order;
    double common;
    int leaf, levels;
    bool offset, quad;
};

template <class P, class R> struct Builder {
    int64_t n;
    bool soft;
    void *block; /* all arrays but these: */
    void *cube_block;
    Four<P> *body;
    R *soften;
    Key *key[2];
    uint32_t *order[2];
    uint32_t *mask, *count;
    Key *bounds;
    Box *box;
    cudaEvent_t known; /* what the host must know has come */
    uint32_t blocks;
    void *work;
    size_t work_bytes;
    Cells cells;
    Four<P> *centre, *cube;
    Four<R> *quad, *rest;
    R *soft_mean;
    int levels;             /* of the keys sorted first: as many as the last tree needed */
    Launches last;          /* of the last tree */
    cudaGraphExec_t replay; /* NULL: not recorded */
    bool unrecorded;        /* it was tried, and could not be */
};

static inline unsigned blocks_of(uint64_t count, unsigned size)
{
    return (unsigned)((count + size - 1) / size);
}

static inline bool good(const Machine *machine, cudaError_t error)
{
    if (error != cudaSuccess && *machine->cuda_error == 0) *machine->cuda_error = (int)error;
    return error == cudaSuccess;
}

static inline bool launched(const Machine *machine)
{
    return good(machine, cudaGetLastError());
}

/* --- keys */

__device__ static inline int common_levels(Key a, Key b, int levels)
{
    const Key differ = a ^ b;
    return differ == 0 ? levels : (__clzll((long long)differ) - (64 - 3 * levels)) / 3;
}

__device__ static inline uint32_t grid_of(double x, double lo, const Box &box)
{
    const double u = (x * box.scale - lo) * box.factor * box.rest;
    return u < (double)((1u << GRID) - 1) ? (uint32_t)u : (1u << GRID) - 1;
}

} // namespace nbody

#endif
