/* SPDX-License-Identifier: Apache-2.0
 *
 * A builder's arrays, on the host.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_MEMORY_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_MEMORY_CUH

#include "gpu_build_refine.cuh"

#include <cstdlib>

namespace nbody
{

static inline size_t work_for(int64_t n)
{
    size_t sort = 0, keys = 0, counts = 0, scan = 0;
    const uint32_t blocks = blocks_of((uint64_t)n, TILE);
    cub::DeviceRadixSort::SortPairs(nullptr, sort, (const Key *)nullptr, (Key *)nullptr, (const uint32_t *)nullptr,
                                    (uint32_t *)nullptr, (uint32_t)n, 0, 64);
    cub::DeviceRadixSort::SortKeys(nullptr, keys, (const Key *)nullptr, (Key *)nullptr, (uint32_t)n, 0, 64);
    cub::DeviceScan::ExclusiveSum(nullptr, counts, (const uint32_t *)nullptr, (uint32_t *)nullptr,
                                  blocks * (GRID + 2) + 1);
    cub::DeviceScan::ExclusiveSum(nullptr, scan, (const Key *)nullptr, (Key *)nullptr, (uint32_t)n);
    counts = counts > scan ? counts : scan;
    sort = sort > keys ? sort : keys;
    return sort > counts ? sort : counts;
}

template <class P, class R> static uint64_t lay_out(Builder<P, R> *b, char *block)
{
    Carve c = {block, 0};
    const uint64_t n = (uint64_t)b->n, room = b->cells.room;
    b->body = c.take<Four<P>>(n);
    b->soften = b->soft ? c.take<R>(n) : nullptr;
    for (int k = 0; k < 2; k++) {
        b->key[k] = c.take<Key>(n);
        b->order[k] = c.take<uint32_t>(n);
    }
    b->mask = c.take<uint32_t>(n);
    b->count = c.take<uint32_t>((uint64_t)b->blocks * (GRID + 2) + 1);
    b->work = c.take<char>(b->work_bytes);
    b->centre = c.take<Four<P>>(room);
    b->quad = c.take<Four<R>>(2 * room);
    b->rest = c.take<Four<R>>(room);
    b->soft_mean = b->soft ? c.take<R>(room) : nullptr;
    b->box = c.take<Box>(1);
    b->cells.link = c.take<Link>(room);
    b->cells.begin = c.take<uint32_t>(room);
    b->cells.bodies = c.take<uint32_t>(room);
    b->cells.parent = c.take<uint32_t>(room);
    b->cells.arrived = c.take<uint32_t>(room);
    b->cells.below = c.take<uint32_t>(room);
    b->cells.leaf = c.take<uint32_t>(n);
    b->cells.inner = c.take<uint32_t>(room + 1);
    b->cells.big = c.take<uint32_t>(n / BIG + 1);
    char *zeroed = c.take<char>(sizeof(Known) + 8 + 6 * sizeof(Key)); /* together, so that one call clears them */
    b->cells.known = reinterpret_cast<Known *>(zeroed);
    b->bounds = zeroed == nullptr ? nullptr : reinterpret_cast<Key *>(zeroed + (sizeof(Known) + 7) / 8 * 8);
    return c.used;
}

template <class P, class R> static Builder<P, R> described(int64_t n, bool soft)
{
    Builder<P, R> b = {};
    b.n = n;
    b.soft = soft;
    b.cells.room = builder_cells(n);
    b.blocks = blocks_of((uint64_t)n, TILE);
    b.work_bytes = n > 0 ? work_for(n) : 0;
    b.levels = 13;
    return b;
}

template <class P, class R> uint64_t builder_bytes(int64_t n, bool soft)
{
    Builder<P, R> b = described<P, R>(n, soft);
    return lay_out(&b, nullptr) + builder_cells(n) * sizeof(Four<P>) + spare_bytes<P, R>((uint64_t)n);
}

template <class P, class R>
lacis_nbody_status builder_new(const Machine *machine, int64_t n, bool soft, Builder<P, R> **out)
{
    *out = nullptr;
    if (n < 0 || n > INT32_MAX) return LACIS_NBODY_UNSUPPORTED;
    Builder<P, R> *b = static_cast<Builder<P, R> *>(calloc(1, sizeof *b));
    if (b == nullptr) return LACIS_NBODY_NO_MEMORY;
    *b = described<P, R>(n, soft);
    if (!good(machine, cudaEventCreateWithFlags(&b->known, cudaEventDisableTiming))) {
        free(b);
        return LACIS_NBODY_FAILED;
    }
    b->block = machine->host.alloc(machine->host.context, lay_out(b, nullptr));
    if (b->block == nullptr) {
        cudaEventDestroy(b->known);
        free(b);
        return LACIS_NBODY_NO_MEMORY;
    }
    lay_out(b, static_cast<char *>(b->block));
    *out = b;
    return LACIS_NBODY_OK;
}

template <class P, class R> void builder_free(const Machine *machine, Builder<P, R> *b)
{
    if (b == nullptr) return;
    if (b->cube_block != nullptr) machine->host.free(machine->host.context, b->cube_block);
    machine->host.free(machine->host.context, b->block);
    if (b->replay != nullptr) cudaGraphExecDestroy(b->replay);
    cudaEventDestroy(b->known);
    free(b);
}

} // namespace nbody

#endif
