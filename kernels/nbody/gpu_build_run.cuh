/* SPDX-License-Identifier: Apache-2.0
 *
 * Building a tree, on the host: what runs after what. gpu_build_f32.cu and its like make the instances.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_RUN_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_RUN_CUH

#include "gpu_build_insert.cuh"
#include "gpu_build_memory.cuh"
#include "gpu_build_moments.cuh"
#include "gpu_build_replay.cuh"

#include <cstring>

namespace nbody
{

/* Bits for a body's number below its key; 0: there is no room for them, and numbers are sorted along. */
static int shift_for(uint32_t n, int levels)
{
    int bits = 1;
    while (bits < 31 && (n - 1) >> bits != 0)
        bits++;
    return bits + 3 * levels <= 64 ? bits : 0;
}

template <class P, class R> static lacis_nbody_status sort_bodies(const Job<P, R> &j, Round *r, Sorted *sorted)
{
    Builder<P, R> *b = j.b;
    const uint32_t n = (uint32_t)b->n;
    const int shift = shift_for(n, b->levels);
    size_t bytes = b->work_bytes;
    keys_kernel<P><<<blocks_of(n, 256 * KEYS_EACH), 256, 0, j.m->stream>>>(n, j.from.body, nullptr, nullptr, nullptr,
                                                                           b->box, b->levels, shift, b->key[0],
                                                                           shift > 0 ? nullptr : b->order[0]);
    *sorted = Sorted{shift > 0 ? nullptr : b->order[1], b->key[1], shift};
    *r = Round{n, b->levels, shift, b->key[1], nullptr, nullptr, nullptr, b->box, b->mask, b->count, b->blocks};
    if (!launched(j.m)) return LACIS_NBODY_FAILED;
    const bool done =
        shift == 0 ? sort(j.m, b->work, bytes, b->key, b->order, n, 3 * b->levels)
                   : good(j.m, cub::DeviceRadixSort::SortKeys(b->work, bytes, (const Key *)b->key[0], b->key[1], n,
                                                              shift, shift + 3 * b->levels, j.m->stream));
    return done ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

/* The tree as far as keys divide bodies. */
template <class P, class R> static lacis_nbody_status divide(const Job<P, R> &j)
{
    Builder<P, R> *b = j.b;
    const uint32_t n = (uint32_t)b->n;
    cudaStream_t s = j.m->stream;
    Round r;
    Sorted sorted;
    const size_t clear = (sizeof(Known) + 7) / 8 * 8 + 6 * sizeof(Key);
    if (!good(j.m, cudaMemsetAsync(b->cells.known, 0, clear, s))) return LACIS_NBODY_FAILED;
    const unsigned blocks = fewer(blocks_of(n, 256 * 4), (unsigned)j.m->processors * 8);
    bounds_kernel<P><<<blocks, 256, 0, s>>>(n, j.from.body, b->bounds);
    boxes_kernel<<<1, 1, 0, s>>>(1, b->bounds, b->box);
    if (!launched(j.m)) return LACIS_NBODY_FAILED;
    const lacis_nbody_status status = j.insert ? insert_bodies(j, &r, &sorted) : sort_bodies(j, &r, &sorted);
    if (status != LACIS_NBODY_OK) return status;
    mark_kernel<<<r.blocks, TILE, 0, s>>>(r, j.leaf, b->cells.known);
    order_kernel<P, R><<<b->blocks, TILE, 0, s>>>(n, j.leaf, sorted, b->mask, j.from, b->body, b->soften, j.order);
    return launched(j.m) && place_cells(j, r) ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

template <class P, class R> static bool sum_up(const Job<P, R> &j)
{
    Builder<P, R> *b = j.b;
    cudaStream_t s = j.m->stream;
    const uint32_t n = (uint32_t)b->n, room = b->cells.room;
    const Moments<P, R> to = {
        b->body, b->soften, j.common, b->centre, j.quad ? b->quad : nullptr, j.quad ? nullptr : b->soft_mean,
        b->rest};
    const unsigned processors = (unsigned)j.m->processors;
    if (n > BIG) big_kernel<P, R><<<processors, 1024, 0, s>>>(b->cells, to);
    leaves_kernel<P, R><<<fewer(blocks_of(room, 256 / LEAF_LANES), processors * 8), 256, 0, s>>>(b->cells, to);
    inner_kernel<P, R><<<fewer(blocks_of(room, 128 / LANES), processors * 16), 128, 0, s>>>(b->cells, to);
    extents_kernel<P><<<blocks_of(n, 256 * EACH), 256, 0, s>>>(n, b->cells, b->body, b->centre);
    return launched(j.m);
}

/* Levels to sort by next time: as many as 6, 7 or 8 steps of 8 bits hold, where five do not do. */
static int levels_for(uint32_t crowded)
{
    return crowded < 13 ? 13 : crowded < 16 ? 16 : crowded < 18 ? 18 : GRID;
}

/* Cells are summed up before it is known whether all leaves are what they must be, so that the device goes on while
 * the host waits to hear of it; where they are not, the device leaves it. */
template <class P, class R> static lacis_nbody_status try_begin(const Job<P, R> &j)
{
    return launch_or_replay(j, [&j](bool recording) {
        Builder<P, R> *b = j.b;
        const lacis_nbody_status status = divide(j);
        if (status != LACIS_NBODY_OK) return status;
        const unsigned how = recording ? cudaEventRecordExternal : cudaEventRecordDefault;
        return good(j.m, cudaMemcpyAsync(j.m->pinned, b->cells.known, sizeof(Known), cudaMemcpyDeviceToHost,
                                         j.m->stream)) &&
                       good(j.m, cudaEventRecordWithFlags(b->known, j.m->stream, how)) && sum_up(j)
                   ? LACIS_NBODY_OK
                   : LACIS_NBODY_FAILED;
    });
}

template <class P, class R> static lacis_nbody_status try_end(const Job<P, R> &j, Known *known)
{
    if (!good(j.m, cudaEventSynchronize(j.b->known))) return LACIS_NBODY_FAILED;
    *known = *static_cast<const Known *>(j.m->pinned);
    return LACIS_NBODY_OK;
}

/* What has been begun: again, or further, where keys did not divide bodies. */
template <class P, class R> static lacis_nbody_status make(const Job<P, R> &j)
{
    Builder<P, R> *b = j.b;
    Known known;
    lacis_nbody_status status = try_end(j, &known);
    if (status == LACIS_NBODY_OK && known.undivided > 0 && !j.insert && b->levels < GRID) {
        b->levels = GRID;
        status = try_begin(j);
        if (status == LACIS_NBODY_OK) status = try_end(j, &known);
    }
    if (status != LACIS_NBODY_OK) return status;
    b->levels = levels_for(known.crowded);
    if (known.undivided == 0 || known.full) return LACIS_NBODY_OK;
    status = refine(j, &known);
    if (status != LACIS_NBODY_OK) return status;
    return sum_up(j) ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

template <class P, class R>
static Job<P, R> job_of(const Machine *machine, Builder<P, R> *b, const lacis_nbody_rule *rule, const Four<P> *body,
                        const R *soft, R common, uint32_t *order)
{
    Job<P, R> j = {machine,
                   b,
                   rule->leaf > 0 ? rule->leaf : 24,
                   rule->way == LACIS_NBODY_INSERT,
                   rule->opening == LACIS_NBODY_OFFSET,
                   rule->order == LACIS_NBODY_QUADRUPOLE,
                   {body, soft},
                   common,
                   order};
    if (j.leaf > MOST_LEAF) j.leaf = MOST_LEAF;
    return j;
}

template <class P, class R>
lacis_nbody_status build_begin(const Machine *machine, Builder<P, R> *b, const lacis_nbody_rule *rule,
                               const Four<P> *body, const R *soft, R common, uint32_t *order, Tree<P, R> *tree)
{
    const Job<P, R> j = job_of(machine, b, rule, body, soft, common, order);
    if (j.offset && b->cube == nullptr && b->n > 0) {
        b->cube_block = machine->host.alloc(machine->host.context, b->cells.room * sizeof(Four<P>));
        b->cube = static_cast<Four<P> *>(b->cube_block);
        if (b->cube == nullptr) return LACIS_NBODY_NO_MEMORY;
    }
    *tree = Tree<P, R>{b->n,
                       b->body,
                       b->soften,
                       common,
                       nullptr,
                       &b->cells.known->cells,
                       b->cells.room,
                       b->cells.link,
                       b->centre,
                       j.offset ? b->cube : nullptr,
                       j.quad ? b->quad : nullptr,
                       j.quad ? nullptr : b->soft_mean};
    if (b->n > 0) return try_begin(j);
    return good(machine, cudaMemsetAsync(b->cells.known, 0, sizeof(Known), machine->stream)) ? LACIS_NBODY_OK
                                                                                             : LACIS_NBODY_FAILED;
}

template <class P, class R>
lacis_nbody_status build_end(const Machine *machine, Builder<P, R> *b, const lacis_nbody_rule *rule,
                             const Four<P> *body, const R *soft, R common, uint32_t *order)
{
    return b->n > 0 ? make(job_of(machine, b, rule, body, soft, common, order)) : LACIS_NBODY_OK;
}

template <class P, class R>
lacis_nbody_status build(const Machine *machine, Builder<P, R> *b, const lacis_nbody_rule *rule, const Four<P> *body,
                         const R *soft, R common, uint32_t *order, Tree<P, R> *tree)
{
    const lacis_nbody_status status = build_begin(machine, b, rule, body, soft, common, order, tree);
    return status == LACIS_NBODY_OK ? build_end(machine, b, rule, body, soft, common, order) : status;
}

static __global__ void figures_kernel(const Known *known, const Link *link, const uint32_t *parent, uint32_t *out)
{
    const uint32_t cells = known->cells, stride = gridDim.x * blockDim.x;
    for (uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < cells; k += stride) {
        if (!(link[k].many & LEAF)) continue;
        uint32_t depth = 1;
        for (uint32_t cell = k; cell != 0; cell = parent[cell])
            depth++;
        atomicAdd(out, 1u);
        atomicMax(out + 1, depth);
    }
}

template <class P, class R>
lacis_nbody_status builder_figures(const Machine *machine, const Builder<P, R> *b, lacis_nbody_counts *counts)
{
    Known known = {};
    uint32_t *out = reinterpret_cast<uint32_t *>(b->count), found[2]; /* what was counted there is done with */
    counts->cells = counts->leaves = counts->levels = 0;
    if (b->n == 0) return LACIS_NBODY_OK;
    if (!ask(machine, b->cells.known, &known) ||
        !good(machine, cudaMemsetAsync(out, 0, sizeof found, machine->stream)))
        return LACIS_NBODY_FAILED;
    figures_kernel<<<(unsigned)machine->processors, 256, 0, machine->stream>>>(b->cells.known, b->cells.link,
                                                                               b->cells.parent, out);
    if (!launched(machine) ||
        !good(machine,
              cudaMemcpyAsync(machine->pinned, out, sizeof found, cudaMemcpyDeviceToHost, machine->stream)) ||
        !good(machine, cudaStreamSynchronize(machine->stream)))
        return LACIS_NBODY_FAILED;
    memcpy(found, machine->pinned, sizeof found);
    counts->cells = known.cells;
    counts->leaves = found[0];
    counts->levels = found[1];
    return LACIS_NBODY_OK;
}

#define NBODY_BUILDER(P, R)                                                                                          \
    template uint64_t builder_bytes<P, R>(int64_t, bool);                                                            \
    template lacis_nbody_status builder_new<P, R>(const Machine *, int64_t, bool, Builder<P, R> **);                 \
    template void builder_free<P, R>(const Machine *, Builder<P, R> *);                                              \
    template lacis_nbody_status build<P, R>(const Machine *, Builder<P, R> *, const lacis_nbody_rule *,              \
                                            const Four<P> *, const R *, R, uint32_t *, Tree<P, R> *);                \
    template lacis_nbody_status build_begin<P, R>(const Machine *, Builder<P, R> *, const lacis_nbody_rule *,        \
                                                  const Four<P> *, const R *, R, uint32_t *, Tree<P, R> *);          \
    template lacis_nbody_status build_end<P, R>(const Machine *, Builder<P, R> *, const lacis_nbody_rule *,          \
                                                const Four<P> *, const R *, R, uint32_t *);                          \
    template lacis_nbody_status builder_figures<P, R>(const Machine *, const Builder<P, R> *, lacis_nbody_counts *);

} // namespace nbody

#endif
