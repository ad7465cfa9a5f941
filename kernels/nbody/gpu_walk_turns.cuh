/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which groups walk (Rota): a list is the number of groups that took long, of others, the sum of what
 * all took (64 bits), then the groups, long ones from the front and others from the back. Places come from atomics,
 * so the order differs from run to run; sums do not.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_TURNS_CUH
#define LACIS_KERNELS_NBODY_GPU_WALK_TURNS_CUH

#include "nbody/gpu_walk_lists.cuh"

namespace nbody
{

enum { TURN_LONG, TURN_SHORT, TURN_SUM, TURN_FIRST = 4 };

__device__ __forceinline__ unsigned long long *turn_sum(uint32_t *list)
{
    return reinterpret_cast<unsigned long long *>(list + TURN_SUM);
}

/* What a group has cost so far, in bodies summed. */
template <class P, class R> __device__ __forceinline__ uint32_t cost_of(const Lists<P, R> &lists)
{
    const uint4 c = *reinterpret_cast<const uint4 *>(lists.counts);
    return c.x + 2 * c.y + (c.z + c.w) / 2;
}

/* One lane, once for each group. */
template <class P, class R>
__device__ __forceinline__ void turn_note(const Walk<P, R> &walk, const Lists<P, R> &lists, uint32_t group,
                                          uint32_t groups)
{
    if (walk.next == nullptr) return;
    const uint32_t cost = cost_of(lists);
    const bool takes_long = walk.turn != nullptr && 4ull * cost * groups > 5 * *turn_sum(walk.turn);
    const uint32_t place =
        takes_long ? atomicAdd(walk.next + TURN_LONG, 1u) : groups - 1 - atomicAdd(walk.next + TURN_SHORT, 1u);
    walk.next[TURN_FIRST + place] = group;
    atomicAdd(turn_sum(walk.next), (unsigned long long)cost);
}

/* The list that has been used becomes the next one. */
template <class P, class R> __device__ __forceinline__ void turn_over(const Walk<P, R> &walk)
{
    if (walk.turn != nullptr && blockIdx.x == 0 && threadIdx.x < TURN_FIRST) walk.turn[threadIdx.x] = 0;
}

} // namespace nbody

#endif
