/* SPDX-License-Identifier: Apache-2.0
 *
 * The terms of one pair. Softening is known to the kernel: COMMON (one length, large enough that no pair is special),
 * NONE (a common length of 0, or so small that powers of its inverse leave the numbers), OWN (of each body).
 */
#ifndef LACIS_KERNELS_NBODY_GPU_DIRECT_PAIR_CUH
#define LACIS_KERNELS_NBODY_GPU_DIRECT_PAIR_CUH

#include "nbody/gpu_number.cuh"

namespace nbody
{

enum Softening { COMMON, NONE, OWN };

/* Pairs nearer than the root of this give nothing: their inverse cube is no number any more. */
__host__ __device__ constexpr float nearest(float)
{
    return 1e-25f;
}
__host__ __device__ constexpr double nearest(double)
{
    return 1e-200;
}
__host__ __device__ constexpr float greatest(float)
{
    return 3e38f;
}
__host__ __device__ constexpr double greatest(double)
{
    return 1e308;
}
/* eps^2 from which on COMMON is right whatever the masses are, as long as those are below 1e19 or so (1e100). */
__host__ __device__ constexpr float large(float)
{
    return 1e-12f;
}
__host__ __device__ constexpr double large(double)
{
    return 1e-100;
}

template <class R> inline Softening softening_of(const R *soft, R common)
{
    return soft != nullptr ? OWN : common >= large(R(0)) ? COMMON : NONE;
}

/* 1 / sqrt(d2), 0 where the pair gives nothing. */
template <Softening EPS, class R> __device__ __forceinline__ R near_root(R d2)
{
    const R w = inverse_root(d2);
    return EPS == COMMON || d2 >= nearest(R(0)) ? w : R(0);
}
/* m / d^3: bounded, so that a difference of 0 in one coordinate makes no NaN of it. */
template <Softening EPS, class R> __device__ __forceinline__ R strength(R m, R w3)
{
    const R f = m * w3;
    return EPS == COMMON ? f : f < greatest(R(0)) ? f : greatest(R(0));
}

} // namespace nbody

#endif
