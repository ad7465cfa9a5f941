/* SPDX-License-Identifier: Apache-2.0
 *
 * Leaves whose bodies keys do not tell apart: again, each in its own box, until bodies of such leaves lie at one
 * place. Hard inputs alone come here; the host asks after each round how many bodies are left.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_REFINE_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_REFINE_CUH

#include "gpu_build_cells.cuh"
#include "gpu_build_keys.cuh"
#include "gpu_build_order.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace nbody
{

/* Bodies in the low half, leaves that begin in the high one. */
static __global__ void undivided_kernel(uint32_t n, const uint32_t *mask, Key *sum)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t m = mask[i];
    sum[i] = m & TOO_MANY ? 1 + (m != TOO_MANY ? 1ull << 32 : 0) : 0;
}

static __global__ void compact_kernel(uint32_t n, const uint32_t *mask, const Key *sum, const uint32_t *at,
                                      const uint32_t *leaf, uint32_t *to, uint32_t *seg, uint32_t *cell)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !(mask[i] & TOO_MANY)) return;
    const bool head = mask[i] != TOO_MANY;
    const uint32_t k = (uint32_t)sum[i], s = (uint32_t)(sum[i] >> 32) + head - 1, body = at != nullptr ? at[i] : i;
    to[k] = body;
    seg[k] = s;
    if (head) cell[s] = leaf[body];
}

static __global__ void iota_kernel(uint32_t n, uint32_t *order)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) order[i] = i;
}

/* One number's bits of each body, of those in `order`: 0 .. 3 of x, y, z, m, 4 its softening. */
template <class P, class R>
__global__ void number_kernel(uint32_t n, const uint32_t *at, const uint32_t *order, Bodies<P, R> from, int which,
                              Key *key)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t k = at[order[i]];
    const Four<P> b = from.body[k];
    key[i] = which == 0   ? bits_of(b.x)
             : which == 1 ? bits_of(b.y)
             : which == 2 ? bits_of(b.z)
             : which == 3 ? bits_of(b.w)
                          : bits_of(from.soft[k]);
}

static __global__ void segment_key_kernel(uint32_t n, const uint32_t *seg, const uint32_t *order, Key *key)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) key[i] = seg[order[i]];
}

template <class P, class R>
__global__ void take_kernel(uint32_t n, const uint32_t *at, const uint32_t *order, const Four<P> *body, const R *soft,
                            const uint32_t *old, Four<P> *to_body, R *to_soft, uint32_t *to_old)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t k = at[order[i]];
    to_body[i] = body[k];
    if (soft != nullptr) to_soft[i] = soft[k];
    to_old[i] = old[k];
}

template <class P, class R>
__global__ void put_kernel(uint32_t n, const uint32_t *at, const Four<P> *from_body, const R *from_soft,
                           const uint32_t *from_old, Four<P> *body, R *soft, uint32_t *old)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    body[at[i]] = from_body[i];
    if (soft != nullptr) soft[at[i]] = from_soft[i];
    old[at[i]] = from_old[i];
}

/* What refining takes beside the builder's arrays, for so many bodies and segments. */
template <class P, class R> struct Spare {
    void *block;
    Four<P> *body;
    R *soft;
    uint32_t *old, *at[2], *seg[2], *cell;
    Key *sum, *bounds;
    Box *box;
};

/* Segments hold more bodies than a leaf may, two or more. */
template <class P, class R> static uint64_t spare_bytes(uint64_t n)
{
    const uint64_t segments = n / 2 + 1;
    return n * (sizeof(Four<P>) + sizeof(R) + 5 * 4 + sizeof(Key)) + segments * (6 * sizeof(Key) + sizeof(Box) + 4) +
           12 * 256;
}

} // namespace nbody

#endif
