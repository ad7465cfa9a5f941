/* SPDX-License-Identifier: Apache-2.0
 *
 * Kick and drift of one body, as every kernel that moves bodies does it: the same bits wherever it happens.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_MOTION_CUH
#define LACIS_KERNELS_NBODY_GPU_MOTION_CUH

#include "nbody/gpu_number.cuh"

namespace nbody
{

/* A body's velocity, and its number of the caller's. */
template <class P> struct alignas(4 * sizeof(P)) Moving {
    P x, y, z;
    uint32_t number;
};

/* What happens to a body with its acceleration, `factor` times the sum: the kick that ends a step, then the one that
 * begins the next and its drift. */
template <class P, class R> struct Motion {
    R factor;
    P close, open, drift;
    bool closes, opens;
};

template <class R> __device__ __forceinline__ R modulus(R x, R y, R z)
{
    return sqrt(fused(z, z, fused(y, y, x * x)));
}

template <class P, class R>
__device__ __forceinline__ void advance(const Motion<P, R> &how, const Four<R> &sum, Four<P> *body, Moving<P> *v)
{
    const P ax = how.factor * sum.x, ay = how.factor * sum.y, az = how.factor * sum.z;
    if (how.closes) {
        v->x = fused(ax, how.close, v->x);
        v->y = fused(ay, how.close, v->y);
        v->z = fused(az, how.close, v->z);
    }
    if (!how.opens) return;
    v->x = fused(ax, how.open, v->x);
    v->y = fused(ay, how.open, v->y);
    v->z = fused(az, how.open, v->z);
    body->x = fused(v->x, how.drift, body->x);
    body->y = fused(v->y, how.drift, body->y);
    body->z = fused(v->z, how.drift, body->z);
}

} // namespace nbody

#endif
