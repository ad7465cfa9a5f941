/* SPDX-License-Identifier: Apache-2.0
 *
 * The canonical order of moved bodies, in two launches that are there anyway or short: the kernel that moves a body
 * drops it into a bucket by the first bits of its hash, and a warp a bucket then ranks its few bodies and puts them
 * behind those of the buckets before. Where a bucket has run over (many bodies are alike) each body is compared with
 * all others instead.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_DIRECT_RANK_CUH
#define LACIS_KERNELS_NBODY_GPU_DIRECT_RANK_CUH

#include "nbody/gpu_canonical.cuh"
#include "nbody/gpu_direct_behind.cuh"

namespace nbody
{

enum { RANK_WARPS = 4, RANK_BITS = 9, RANK_EACH = RANK_BUCKETS / 32, RANK_TIMES = RANK_ROOM / 32 };
static_assert(RANK_BUCKETS == 1 << RANK_BITS, "a bucket for each value of the first bits");

template <class P, class R>
__device__ __forceinline__ void rank_drop(const Ranked<P> &r, uint32_t i, const Four<P> &body, const Moving<P> &v)
{
    const uint64_t key = hash_of(body, v, (const R *)nullptr);
    const uint32_t bucket = (uint32_t)(key >> (64 - RANK_BITS)), at = atomicAdd(r.count + bucket, 1u);
    r.key[i] = key;
    if (at < RANK_ROOM) r.bucket[bucket * RANK_ROOM + at] = i;
    store(r.body + i, body);
    r.moving[i] = v;
}

template <class P, class R>
__device__ __forceinline__ void rank_put(const Finish<P, R> &finish, uint32_t from, uint32_t to)
{
    store(finish.body + to, load(finish.ranked.body + from));
    finish.moving[to] = finish.ranked.moving[from];
}

/* Bodies in the buckets before, and here; whether one has run over. All lanes. */
struct Filled {
    uint32_t before, here;
    bool over;
};
static __device__ __forceinline__ Filled rank_filled(const uint32_t *count, uint32_t bucket, uint32_t lane)
{
    uint32_t before = 0, most = 0;
    for (uint32_t k = 0; k < RANK_EACH; k++) {
        const uint32_t b = k * 32 + lane, some = count[b];
        before += b < bucket ? some : 0;
        most = some > most ? some : most;
    }
    return {__reduce_add_sync(~0u, before), count[bucket], __reduce_max_sync(~0u, most) > RANK_ROOM};
}

template <class P, class R>
__device__ __forceinline__ void rank_bucket(const Finish<P, R> &finish, uint32_t bucket, const Filled &f,
                                            uint32_t lane, uint64_t *key)
{
    const uint32_t *const list = finish.ranked.bucket + bucket * RANK_ROOM;
    uint32_t body[RANK_TIMES];
    for (uint32_t k = 0; k < RANK_TIMES; k++) {
        const uint32_t t = k * 32 + lane;
        body[k] = t < f.here ? list[t] : 0;
        if (t < f.here) key[t] = finish.ranked.key[body[k]];
    }
    __syncwarp();
    for (uint32_t k = 0; k < RANK_TIMES; k++) {
        const uint32_t t = k * 32 + lane;
        if (t >= f.here) continue;
        uint32_t rank = 0;
        for (uint32_t o = 0; o < f.here; o++)
            rank += key[o] < key[t] || (key[o] == key[t] && o < t);
        rank_put(finish, body[k], f.before + rank);
    }
}

template <class P, class R>
__device__ __forceinline__ void rank_one_by_one(const Finish<P, R> &finish, uint32_t n, uint32_t thread,
                                                uint32_t threads)
{
    const uint64_t *const key = finish.ranked.key;
    for (uint32_t i = thread; i < n; i += threads) {
        uint32_t rank = 0;
        for (uint32_t o = 0; o < n; o++)
            rank += key[o] < key[i] || (key[o] == key[i] && o < i);
        rank_put(finish, i, rank);
    }
}

/* A warp a bucket. */
template <class P, class R>
__global__ void __launch_bounds__(32 * RANK_WARPS) place_kernel(uint32_t n, const Finish<P, R> finish)
{
    __shared__ uint64_t key[RANK_WARPS][RANK_ROOM];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x & 31, bucket = blockIdx.x * RANK_WARPS + warp;
    begin();
    const Filled f = rank_filled(finish.ranked.count, bucket, lane);
    if (f.over)
        rank_one_by_one(finish, n, blockIdx.x * 32 * RANK_WARPS + threadIdx.x, 32 * RANK_BUCKETS);
    else
        rank_bucket(finish, bucket, f, lane, key[warp]);
    if (lane == 0) finish.ranked.next[bucket] = 0;
}

} // namespace nbody

#endif
