/* SPDX-License-Identifier: Apache-2.0
 *
 * What an order of bodies that does not depend on how they were given goes by (gpu_system_order.cu): a hash of all
 * that a body is; and bodies that are alike.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_CANONICAL_CUH
#define LACIS_KERNELS_NBODY_GPU_CANONICAL_CUH

#include "nbody/gpu_motion.cuh"

namespace nbody
{

__device__ __forceinline__ uint64_t mixed(uint64_t h, uint64_t bits)
{
    h = (h ^ bits) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
}
__device__ __forceinline__ uint64_t bits_of(float v)
{
    return __float_as_uint(v);
}
__device__ __forceinline__ uint64_t bits_of(double v)
{
    return (uint64_t)__double_as_longlong(v);
}

/* soft: its eps^2, or NULL. */
template <class P, class R>
__device__ __forceinline__ uint64_t hash_of(const Four<P> &b, const Moving<P> &v, const R *soft)
{
    uint64_t h = mixed(mixed(mixed(mixed(0, bits_of(b.x)), bits_of(b.y)), bits_of(b.z)), bits_of(b.w));
    h = mixed(mixed(mixed(h, bits_of(v.x)), bits_of(v.y)), bits_of(v.z));
    if (soft) h = mixed(h, bits_of(*soft));
    return mixed(h, 0);
}

template <class P, class R>
__device__ __forceinline__ bool alike(const Four<P> *body, const R *soft, uint32_t i, uint32_t j)
{
    const Four<P> a = load(body + i), b = load(body + j);
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w && (!soft || soft[i] == soft[j]);
}

/* The first of the bodies up to i that are like i: by steps that double, then halve. */
template <class P, class R>
__device__ __forceinline__ uint32_t first_alike(const Four<P> *body, const R *soft, uint32_t i)
{
    uint32_t far = 1;
    while (far <= i && alike(body, soft, i, i - far))
        far *= 2;
    uint32_t good = i - far / 2, least = far <= i ? i - far + 1 : 0; /* the first is in least .. good */
    while (least < good) {
        const uint32_t middle = least + (good - least) / 2;
        if (alike(body, soft, i, middle))
            good = middle;
        else
            least = middle + 1;
    }
    return good;
}

} // namespace nbody

#endif
