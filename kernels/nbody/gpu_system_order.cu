/* SPDX-License-Identifier: Apache-2.0
 *
 * An order of bodies that does not depend on how they were given: by a hash of all that a body is, so that bodies of
 * one hash are alike (but for one in 2^64 pairs) and may come in any order. All pairs need no other order.
 */
#include "nbody/gpu_canonical.cuh"
#include "nbody/gpu_system.h"

#include <cub/device/device_radix_sort.cuh>

namespace nbody
{

enum { THREADS = 256, BITS = 64 };

template <class P, class R>
__global__ void __launch_bounds__(THREADS) hash_kernel(uint32_t n, const Four<P> *body, const Moving<P> *moving,
                                                       const R *soft, uint64_t *key, uint32_t *number)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    key[i] = hash_of(load(body + i), moving[i], soft ? soft + i : nullptr);
    number[i] = i;
}

/* Few bodies: each one's place is the number of those before it, which is sooner counted than eight passes of a sort
 * are begun. A block: RANK_BODIES bodies, RANK_PARTS threads each. */
enum { RANK_MOST = 10000, RANK_BODIES = 32, RANK_PARTS = 8, RANK_TILE = 1024 };

__global__ void __launch_bounds__(RANK_BODIES *RANK_PARTS)
    rank_kernel(uint32_t n, const uint64_t *key, uint32_t *order)
{
    __shared__ uint64_t tile[RANK_TILE];
    __shared__ uint32_t part[RANK_PARTS][RANK_BODIES];
    const uint32_t i = blockIdx.x * RANK_BODIES + threadIdx.x, thread = threadIdx.y * RANK_BODIES + threadIdx.x;
    const uint64_t mine = i < n ? key[i] : 0;
    uint32_t before = 0;
    for (uint32_t first = 0; first < n; first += RANK_TILE) {
        __syncthreads();
        for (uint32_t k = thread; k < RANK_TILE; k += RANK_BODIES * RANK_PARTS)
            tile[k] = first + k < n ? key[first + k] : UINT64_MAX;
        __syncthreads();
#pragma unroll 8
        for (uint32_t k = threadIdx.y; k < RANK_TILE; k += RANK_PARTS)
            before += tile[k] < mine || (tile[k] == mine && first + k < i);
    }
    part[threadIdx.y][threadIdx.x] = before;
    __syncthreads();
    if (threadIdx.y > 0 || i >= n) return;
    for (int p = 1; p < RANK_PARTS; p++)
        before += part[p][threadIdx.x];
    order[before] = i;
}

/* Keys twice, numbers, and what the sort wants. */
struct Room {
    uint64_t *key, *sorted;
    uint32_t *number;
    void *work;
    size_t work_bytes;
};
static uint64_t room_of(void *block, int64_t n, Room *out)
{
    const uint64_t keys = ((uint64_t)n * sizeof(uint64_t) + 255) / 256 * 256, numbers = (keys / 2 + 255) / 256 * 256;
    unsigned char *const at = static_cast<unsigned char *>(block);
    Room room = {};
    uint32_t *order = nullptr;
    if (cub::DeviceRadixSort::SortPairs(nullptr, room.work_bytes, room.key, room.sorted, room.number, order, (int)n,
                                        0, BITS))
        room.work_bytes = 0;
    if (at) {
        room.key = reinterpret_cast<uint64_t *>(at);
        room.sorted = reinterpret_cast<uint64_t *>(at + keys);
        room.number = reinterpret_cast<uint32_t *>(at + 2 * keys);
        room.work = at + 2 * keys + numbers;
    }
    *out = room;
    return 2 * keys + numbers + room.work_bytes;
}

uint64_t system_canonical_bytes(int64_t n)
{
    Room room;
    return room_of(nullptr, n, &room);
}

template <class P, class R> lacis_nbody_status system_canonical(System<P, R> *s)
{
    Room room;
    unsigned char *block = static_cast<unsigned char *>(s->keys);
    NBODY_TRY(take(s, &s->order, (uint64_t)s->n));
    NBODY_TRY(take(s, &block, system_canonical_bytes(s->n)));
    s->keys = block;
    room_of(block, s->n, &room);
    hash_kernel<P, R><<<blocks_of(s->n, THREADS), THREADS, 0, s->machine.stream>>>(
        (uint32_t)s->n, s->body, s->moving, s->own ? s->soft : nullptr, room.key, room.number);
    NBODY_CUDA(s, cudaGetLastError());
    if (s->n <= RANK_MOST) {
        rank_kernel<<<blocks_of(s->n, RANK_BODIES), dim3(RANK_BODIES, RANK_PARTS), 0, s->machine.stream>>>(
            (uint32_t)s->n, room.key, s->order);
        NBODY_CUDA(s, cudaGetLastError());
        return LACIS_NBODY_OK;
    }
    NBODY_CUDA(s, cub::DeviceRadixSort::SortPairs(room.work, room.work_bytes, room.key, room.sorted, room.number,
                                                  s->order, (int)s->n, 0, BITS, s->machine.stream));
    return LACIS_NBODY_OK;
}

/* Keys, buckets, and their counts twice. */
uint64_t system_ranked_bytes(int64_t n)
{
    return (uint64_t)n * sizeof(uint64_t) + (RANK_BUCKETS * RANK_ROOM + 2 * RANK_BUCKETS) * sizeof(uint32_t);
}

template <class P, class R> lacis_nbody_status system_ranked(System<P, R> *s, Ranked<P> *out)
{
    unsigned char *block = static_cast<unsigned char *>(s->ranks);
    const bool fresh = block == nullptr;
    NBODY_TRY(take(s, &s->body_spare, (uint64_t)s->n));
    NBODY_TRY(take(s, &s->moving_spare, (uint64_t)s->n));
    NBODY_TRY(take(s, &block, system_ranked_bytes(s->n)));
    s->ranks = block;
    uint64_t *const key = reinterpret_cast<uint64_t *>(block);
    uint32_t *const bucket = reinterpret_cast<uint32_t *>(key + s->n), *const count =
                                                                           bucket + RANK_BUCKETS * RANK_ROOM;
    if (fresh) NBODY_CUDA(s, cudaMemsetAsync(count, 0, 2 * RANK_BUCKETS * sizeof *count, s->machine.stream));
    *out = {s->body_spare,
            s->moving_spare,
            key,
            bucket,
            count + s->turn * RANK_BUCKETS,
            count + (1 - s->turn) * RANK_BUCKETS};
    s->turn = 1 - s->turn;
    return LACIS_NBODY_OK;
}

/* --- bodies that are alike ------------------------------------------------------------------------------------- */

template <class P, class R>
__global__ void __launch_bounds__(THREADS) level_kernel(uint32_t n, const Four<P> *body, const R *soft, Four<R> *sum)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    const uint32_t first = i < n ? first_alike(body, soft, i) : i;
    if (first < i) store(sum + i, load(sum + first));
}

template <class P, class R> lacis_nbody_status system_level(System<P, R> *s, Four<R> *sum)
{
    if (s->n == 0) return LACIS_NBODY_OK;
    level_kernel<P, R><<<blocks_of(s->n, THREADS), THREADS, 0, s->machine.stream>>>(
        (uint32_t)s->n, s->at, s->own ? s->at_soft : nullptr, sum);
    NBODY_CUDA(s, cudaGetLastError());
    return LACIS_NBODY_OK;
}

#define OF_TYPE(P, R)                                                                                                \
    template lacis_nbody_status system_canonical(System<P, R> *);                                                    \
    template lacis_nbody_status system_ranked(System<P, R> *, Ranked<P> *);                                          \
    template lacis_nbody_status system_level(System<P, R> *, Four<R> *);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
