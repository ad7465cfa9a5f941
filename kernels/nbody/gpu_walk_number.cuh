/* SPDX-License-Identifier: Apache-2.0
 *
 * What a warp makes of a number of each lane.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_NUMBER_CUH
#define LACIS_KERNELS_NBODY_GPU_WALK_NUMBER_CUH

#include "nbody/gpu_number.cuh"
#include "nbody/gpu_walk.h"

namespace nbody
{

constexpr uint32_t ALL = 0xffffffffu;

__device__ __forceinline__ Link load(const Link *at)
{
    const uint4 v = *reinterpret_cast<const uint4 *>(at);
    return {v.x, v.y, __uint_as_float(v.z), __uint_as_float(v.w)};
}

template <class T> __host__ __device__ __forceinline__ T least(T a, T b)
{
    return a < b ? a : b;
}
template <class T> __device__ __forceinline__ T most(T a, T b)
{
    return a > b ? a : b;
}
/* Over the lanes that differ in the bits of `lanes`. */
template <class T> __device__ __forceinline__ T least_of(T v, int lanes)
{
    for (int bit = 1; bit < 32; bit *= 2)
        if (lanes & bit) v = least(v, __shfl_xor_sync(ALL, v, bit));
    return v;
}
template <class T> __device__ __forceinline__ T most_of(T v, int lanes)
{
    for (int bit = 1; bit < 32; bit *= 2)
        if (lanes & bit) v = most(v, __shfl_xor_sync(ALL, v, bit));
    return v;
}

__device__ __forceinline__ uint32_t lanes_below()
{
    uint32_t mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

} // namespace nbody

#endif
