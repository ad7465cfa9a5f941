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

/* Pairs nearer than the root of this give nothing: their inverse square is no number any more. */
__host__ __device__ constexpr float nearest(float)
{
    return 1e-37f;
}
__host__ __device__ constexpr double nearest(double)
{
    return 1e-300;
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
/* A pair's strength m w^e, where its difference has been made a unit vector (not COMMON) bounded, so that a
 * difference of 0 in one coordinate makes no NaN of it. */
template <Softening EPS, class R> __device__ __forceinline__ R strength(R m, R power)
{
    const R f = m * power;
    return EPS == COMMON ? f : f < greatest(R(0)) ? f : greatest(R(0));
}

/* 1 / d^3 with the difference as it is (COMMON); or 1 / d^2, which is a number for much nearer pairs, and the
 * difference over d. */
template <Softening EPS, class R> __device__ __forceinline__ R power_of(R w, R *dx, R *dy, R *dz)
{
    if (EPS == COMMON) return w * w * w;
    *dx *= w;
    *dy *= w;
    *dz *= w;
    return w * w;
}

} // namespace nbody

#endif
