/* SPDX-License-Identifier: Apache-2.0
 *
 * What the steps of a build share on the host: its arguments, memory cut into arrays, sorting, and cells made from
 * keys.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_JOB_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_JOB_CUH

#include "gpu_build_cells.cuh"
#include "gpu_build_order.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace nbody
{

/* Places in one block of memory, one after the other; without a block they are counted. */
struct Carve {
    char *block;
    uint64_t used;
    template <class T> T *take(uint64_t count)
    {
        T *at = block != nullptr ? reinterpret_cast<T *>(block + used) : nullptr;
        used += (count * sizeof(T) + 255) / 256 * 256;
        return at;
    }
};

static bool sort(const Machine *m, void *work, size_t bytes, Key *const key[2], uint32_t *const order[2], uint32_t n,
                 int bits)
{
    return good(m, cub::DeviceRadixSort::SortPairs(work, bytes, (const Key *)key[0], key[1],
                                                   (const uint32_t *)order[0], order[1], n, 0, bits, m->stream));
}

/* What the device knows; waits. */
static bool ask(const Machine *m, const Known *known, Known *out)
{
    if (!good(m, cudaMemcpyAsync(m->pinned, known, sizeof *out, cudaMemcpyDeviceToHost, m->stream)) ||
        !good(m, cudaStreamSynchronize(m->stream)))
        return false;
    *out = *static_cast<const Known *>(m->pinned);
    return true;
}

static inline unsigned fewer(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* One build's arguments. */
template <class P, class R> struct Job {
    const Machine *m;
    Builder<P, R> *b;
    int leaf;
    bool insert, offset, quad;
    Bodies<P, R> from;
    R common;
    uint32_t *order;
};

template <class P, class R> static bool place_cells(const Job<P, R> &j, const Round &r)
{
    Builder<P, R> *b = j.b;
    size_t bytes = b->work_bytes;
    const uint32_t counts = r.blocks * (uint32_t)(r.levels + 2) + 1;
    if (!good(j.m, cudaMemsetAsync(r.count + counts - 1, 0, sizeof(uint32_t), j.m->stream))) return false;
    if (!good(j.m, cub::DeviceScan::ExclusiveSum(b->work, bytes, r.count, r.count, counts, j.m->stream)))
        return false;
    const Cubes<P> cubes = {b->body, j.offset ? b->cube : nullptr};
    room_kernel<<<1, 32, 0, j.m->stream>>>(r, b->cells.room, b->cells.known);
    cells_kernel<P><<<r.blocks, TILE, 0, j.m->stream>>>(r, b->cells, cubes);
    return launched(j.m);
}

} // namespace nbody

#endif
