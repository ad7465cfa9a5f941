/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies in the order of sorted keys. Canonical: those of a leaf by their numbers' bits, so that it does not matter
 * in which order they were given.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_ORDER_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_ORDER_CUH

#include "gpu_build.cuh"
#include "gpu_number.cuh"

namespace nbody
{

template <class P, class R> struct Bodies {
    const Four<P> *body;
    const R *soft; /* NULL: none */
};

/* Where the bodies come from: numbers of their own, or below the keys. */
struct Sorted {
    const uint32_t *order; /* NULL: */
    const Key *key;
    int shift;
};

__device__ static inline uint32_t source_of(const Sorted &s, uint32_t i)
{
    return s.order != nullptr ? s.order[i] : (uint32_t)s.key[i] & ((1u << s.shift) - 1);
}

__device__ static inline uint32_t bits_of(float x)
{
    return __float_as_uint(x);
}
__device__ static inline Key bits_of(double x)
{
    return (Key)__double_as_longlong(x);
}

template <class P, class R>
__device__ static inline bool comes_before(const Four<P> &a, R ea, const Four<P> &b, R eb, bool equal)
{
    if (bits_of(a.x) != bits_of(b.x)) return bits_of(a.x) < bits_of(b.x);
    if (bits_of(a.y) != bits_of(b.y)) return bits_of(a.y) < bits_of(b.y);
    if (bits_of(a.z) != bits_of(b.z)) return bits_of(a.z) < bits_of(b.z);
    if (bits_of(a.w) != bits_of(b.w)) return bits_of(a.w) < bits_of(b.w);
    if (bits_of(ea) != bits_of(eb)) return bits_of(ea) < bits_of(eb);
    return equal;
}

/* Leaves are known by their first bodies' masks; those that keys do not divide stay as they are. */
template <class P, class R>
__global__ void __launch_bounds__(TILE) order_kernel(uint32_t n, int leaf, Sorted sorted, const uint32_t *mask,
                                                     Bodies<P, R> from, Four<P> *body, R *soft, uint32_t *out)
{
    __shared__ Four<P> all[TILE + 2 * MOST_LEAF];
    __shared__ R eps[TILE + 2 * MOST_LEAF];
    __shared__ uint32_t begins[TILE / 32 + 2 * MOST_LEAF / 32 + 1];
    const int halo = (leaf + 31) / 32 * 32, count = TILE + 2 * halo;
    const int64_t first = (int64_t)blockIdx.x * TILE - halo;
    for (int t = (int)threadIdx.x; t < count; t += TILE) {
        const int64_t i = first + t;
        const bool there = i >= 0 && i < n;
        const uint32_t k = there ? source_of(sorted, (uint32_t)i) : 0;
        const uint32_t begin = __ballot_sync(~0u, !there || (mask[i] & ~TOO_MANY) != 0);
        if ((t & 31) == 0) begins[t / 32] = begin;
        if (!there) continue;
        store(all + t, load(from.body + k));
        eps[t] = from.soft != nullptr ? from.soft[k] : (R)0;
    }
    __syncthreads();
    const int t = halo + (int)threadIdx.x;
    const int64_t i = first + t;
    if (i >= n) return;
    const Four<P> b = load(all + t);
    const R e = eps[t];
    int64_t to = i;
    if (!(mask[i] & TOO_MANY)) {
        int word = t / 32;
        uint32_t bits = begins[word] & (0xffffffffu >> (31 - (t & 31)));
        while (bits == 0)
            bits = begins[--word];
        const int low = word * 32 + 31 - __clz((int)bits);
        word = t / 32;
        bits = begins[word] & ~(0xffffffffu >> (31 - (t & 31)));
        while (bits == 0)
            bits = ++word < count / 32 ? begins[word] : 1;
        const int high = word * 32 + __ffs((int)bits) - 1;
        to = first + low;
        for (int k = low; k < high; k++)
            to += k != t && comes_before(all[k], eps[k], b, e, k < t);
    }
    store(body + to, b);
    if (from.soft != nullptr) soft[to] = e;
    out[to] = source_of(sorted, (uint32_t)i);
}

} // namespace nbody

#endif
