/* SPDX-License-Identifier: Apache-2.0
 *
 * A warp's lists in shared memory: ranges of cells still to look at (a stack), ranges of bodies to sum, cells to sum,
 * cells to expand. Ranges are taken from the top, 32 elements at a time however short they are, one for each lane.
 *
 * The stack never runs over. Its entries come to lie deeper levels above: what is taken is the top, so all of a level
 * has been taken before more of that level is pushed, at most one range for each of 32 cells. 32 entries a level
 * bound it, and a tree of many levels is met otherwise: with less than 32 free entries one cell is taken at a time
 * (one entry a level), and with none at all a cell's bodies are summed, not its children.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_LISTS_CUH
#define LACIS_KERNELS_NBODY_GPU_WALK_LISTS_CUH

#include "nbody/gpu_walk_number.cuh"

namespace nbody
{

constexpr int BOXES = 8;

/* Of one warp each: that makes room when it is done. */
template <class P, class R> constexpr int blocks_at_once()
{
    return sizeof(R) == 8 ? 16 : sizeof(P) == 8 ? 24 : 32;
}

/* Positions have more digits than forces: differences are formed of numbers and of what these leave of the positions,
 * and have a float's digits of themselves however wide the group is. */
template <class P, class R> constexpr bool FINE = sizeof(P) != sizeof(R);

/* A cell as it is summed: place and mass; moments times 3; 1.5 times their trace, half the mean of eps^2; what the
 * place leaves. */
template <class P, class R> struct alignas(16) Staged {
    Four<R> a[32], b[32], c[32], rest[FINE<P, R> ? 32 : 1];
};

/* What is the same for all targets of a group. In shared memory: registers are scarce where sums are formed. */
template <class P, class R> struct alignas(16) Frame {
    R cx, cy, cz, radius;      /* the middle; the farthest target from it */
    R limit;                   /* alpha |a|, the least of the group's; infinity: GEOMETRIC */
    R soft, soft_here, spread; /* eps^2 of all; half of the targets' least, from there to the greatest */
    P ox, oy, oz;              /* the origin */
    P length, mass;            /* scales */
    int boxes;
    bool careful; /* softening may be 0, next to it, or each body's own */
    bool apart;   /* so wide that differences from its middle are too rough */

    __device__ __forceinline__ Four<R> place(const Four<P> &at) const
    {
        return {one(at.x, ox), one(at.y, oy), one(at.z, oz), (R)(at.w * mass)};
    }
    __device__ __forceinline__ R one(P x, P origin) const
    {
        return sizeof(P) == sizeof(R) ? (R)(x * length) : (R)((x - origin) * length);
    }
    /* What one() leaves. */
    __device__ __forceinline__ R rest(P x, P origin) const
    {
        return FINE<P, R> ? (R)((x - origin) * length - (P)one(x, origin)) : 0;
    }
    __device__ __forceinline__ Four<R> rest(const Four<P> &at) const
    {
        return {rest(at.x, ox), rest(at.y, oy), rest(at.z, oz), 0};
    }
    __device__ __forceinline__ R size(P x, P y) const
    {
        return (R)((x - y) * length);
    }
    __device__ __forceinline__ R square(R eps2) const
    {
        return eps2 * (R)length * (R)length;
    }
};

enum { P2P, M2P, FIELDS, VISITS }; /* counts */

template <class P, class R> struct alignas(16) Lists {
    Staged<P, R> staged;
    Four<R> box[BOXES][2]; /* centre and half the side of x; of y and z */
    Frame<P, R> frame;
    R soft[64];       /* half of each target's eps^2 */
    uint2 bodies[64]; /* first, number */
    uint32_t cells[64], far[64];
    alignas(16) uint32_t counts[4]; /* of the group */
    uint32_t first, targets;        /* of the group, here as registers are scarce */
    uint32_t inside;                /* bodies of leaves within its boxes */
    uint32_t kept[TEAM];            /* cells that each warp of the upper walk left */
    uint32_t stack[STACK];          /* first << 3 | number - 1 */
};

__device__ __forceinline__ uint32_t prefix(uint32_t lane, uint32_t below, bool here, uint32_t less, int bits)
{
    uint32_t start = lane;
    for (int b = 0; b < bits; b++)
        start += __popc(__ballot_sync(ALL, here && (less >> b & 1)) & below) << b;
    return start;
}

/* The next cells: sets node of lanes below the number that it returns. */
__device__ __forceinline__ uint32_t take_cells(uint32_t *stack, uint32_t *top, uint32_t width, uint32_t lane,
                                               uint32_t below, uint32_t *node)
{
    const bool here = lane < *top;
    const uint32_t entry = here ? stack[*top - 1 - lane] : 0, less = entry & 7;
    const uint32_t start = prefix(lane, below, here, less, 3);
    const bool in = here && start < width;
    const uint32_t marks = __reduce_or_sync(ALL, in ? 1u << start : 0u);
    const int mine = __popc(marks & (below << 1 | 1)) - 1;
    const uint32_t from = __shfl_sync(ALL, entry, mine), at = lane - __shfl_sync(ALL, start, mine);
    const uint32_t taken = __popc(marks), last = taken - 1;
    const uint32_t end = __shfl_sync(ALL, start + less + 1, last);
    *node = (from >> 3) + at;
    __syncwarp();
    if (end > width && lane == last) stack[*top - taken] = ((entry >> 3) + width - start) << 3 | (end - width - 1);
    *top -= taken - (end > width);
    return least(end, width);
}

/* The next bodies, likewise. */
__device__ __forceinline__ uint32_t take_bodies(uint2 *list, uint32_t *top, uint32_t lane, uint32_t below,
                                                uint32_t *body)
{
    const bool here = lane < *top;
    const uint2 entry = here ? list[*top - 1 - lane] : make_uint2(0, 1);
    const uint32_t less = least(entry.y, 32u) - 1;
    const uint32_t start = prefix(lane, below, here, less, 5);
    const bool in = here && start < 32;
    const uint32_t marks = __reduce_or_sync(ALL, in ? 1u << start : 0u);
    const int mine = __popc(marks & (below << 1 | 1)) - 1;
    const uint32_t from = __shfl_sync(ALL, entry.x, mine), at = lane - __shfl_sync(ALL, start, mine);
    const uint32_t taken = __popc(marks), last = taken - 1;
    const uint32_t end = __shfl_sync(ALL, start, last) + __shfl_sync(ALL, entry.y, last);
    *body = from + at;
    __syncwarp();
    if (end > 32 && lane == last) list[*top - taken] = make_uint2(entry.x + 32 - start, end - 32);
    *top -= taken - (end > 32);
    return least(end, 32u);
}

} // namespace nbody

#endif
