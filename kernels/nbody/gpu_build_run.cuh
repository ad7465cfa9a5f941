/* SPDX-License-Identifier: Apache-2.0
 *
 * Building a tree, on the host: what runs after what. gpu_build_f32.cu and its like make the instances.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_RUN_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_RUN_CUH

#include "gpu_build_insert.cuh"
#include "gpu_build_moments.cuh"
#include "gpu_build_refine.cuh"

#include <cstdlib>
#include <cstring>

namespace nbody
{

/* Cells for n bodies. A tree of leaves of 8 or more has no more than n in practice; where there are more, the lowest
 * stay leaves. (nbody::walk packs a cell's number into 29 bits.) */
static inline uint32_t cells_for(int64_t n)
{
    const int64_t most = 2 * n < n + (1 << 20) ? 2 * n : n + (1 << 20);
    return (uint32_t)(most < (1 << 29) - 1 ? most : (1 << 29) - 1);
}

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
    b.cells.room = cells_for(n);
    b.blocks = blocks_of((uint64_t)n, TILE);
    b.work_bytes = n > 0 ? work_for(n) : 0;
    b.levels = 13;
    return b;
}

template <class P, class R> uint64_t builder_bytes(int64_t n, bool soft)
{
    Builder<P, R> b = described<P, R>(n, soft);
    return lay_out(&b, nullptr) + cells_for(n) * sizeof(Four<P>) + spare_bytes<P, R>((uint64_t)n);
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
    cudaEventDestroy(b->known);
    free(b);
}

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

static Inserted inserted_lay_out(uint64_t n, char *block, uint64_t *bytes)
{
    Carve c = {block, 0};
    Inserted t;
    t.place = c.take<uint32_t>(8 * (n + 1)); /* NOTHING, to copy_of */
    t.copy_of = c.take<uint32_t>(n);
    t.made = c.take<uint32_t>(1); /* 0, to copies */
    t.arrived = c.take<uint32_t>(n + 1);
    t.copies = c.take<uint32_t>(n);
    t.level = c.take<uint32_t>(n + 1);
    t.some = c.take<uint32_t>(n + 1);
    t.above = c.take<uint32_t>(n + 1);
    t.count = c.take<uint32_t>(n + 1);
    t.copy = c.take<uint32_t>(n);
    t.at = c.take<uint32_t>(n);
    *bytes = c.used;
    return t;
}

static bool insert_all(const Machine *m, uint32_t n, const Inserted &t, Key *const key[2], uint32_t *order)
{
    const size_t free = (size_t)((char *)t.made - (char *)t.place), none = (size_t)((char *)t.level - (char *)t.made);
    const unsigned blocks = blocks_of(n, 256), some = fewer(blocks, (unsigned)m->processors * 8);
    if (!good(m, cudaMemsetAsync(t.place, 0xff, free, m->stream)) ||
        !good(m, cudaMemsetAsync(t.made, 0, none, m->stream)))
        return false;
    insert_kernel<<<some, 256, 0, m->stream>>>(n, key[0], t);
    count_below_kernel<<<some, 256, 0, m->stream>>>(t);
    place_below_kernel<<<some, 256, 0, m->stream>>>(key[0], t);
    sorted_kernel<<<blocks, 256, 0, m->stream>>>(n, key[0], t, key[1], order);
    return launched(m);
}

template <class P, class R> static lacis_nbody_status insert_bodies(const Job<P, R> &j, Round *r, Sorted *sorted)
{
    Builder<P, R> *b = j.b;
    const uint32_t n = (uint32_t)b->n;
    uint64_t bytes;
    inserted_lay_out(n, nullptr, &bytes);
    char *block = static_cast<char *>(j.m->host.alloc(j.m->host.context, bytes));
    if (block == nullptr) return LACIS_NBODY_NO_MEMORY;
    keys_kernel<P><<<blocks_of(n, 256 * KEYS_EACH), 256, 0, j.m->stream>>>(n, j.from.body, nullptr, nullptr, nullptr,
                                                                           b->box, GRID, 0, b->key[0], nullptr);
    const bool done = launched(j.m) && insert_all(j.m, n, inserted_lay_out(n, block, &bytes), b->key, b->order[1]);
    j.m->host.free(j.m->host.context, block);
    *sorted = Sorted{b->order[1], b->key[1], 0};
    *r = Round{n, GRID, 0, b->key[1], nullptr, nullptr, nullptr, b->box, b->mask, b->count, b->blocks};
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

template <class P, class R> static uint64_t spare_lay_out(Spare<P, R> *s, uint64_t n, char *block)
{
    Carve c = {block, 0};
    const uint64_t segments = n / 2 + 1;
    s->body = c.take<Four<P>>(n);
    s->soft = c.take<R>(n);
    s->old = c.take<uint32_t>(n);
    for (int k = 0; k < 2; k++) {
        s->at[k] = c.take<uint32_t>(n);
        s->seg[k] = c.take<uint32_t>(n);
    }
    s->sum = c.take<Key>(n);
    s->cell = c.take<uint32_t>(segments);
    s->bounds = c.take<Key>(6 * segments);
    s->box = c.take<Box>(segments);
    return c.used;
}

/* Sorts the order of a round's bodies by their numbers' bits. */
template <class P, class R> static bool canonical(const Job<P, R> &j, uint32_t n, const uint32_t *at)
{
    Builder<P, R> *b = j.b;
    const unsigned blocks = blocks_of(n, 256);
    for (int which = b->soft ? 4 : 3; which >= 0; which--) {
        number_kernel<P, R>
            <<<blocks, 256, 0, j.m->stream>>>(n, at, b->order[0], Bodies<P, R>{b->body, b->soften}, which, b->key[0]);
        const int bits = 8 * (int)(which == 4 ? sizeof(R) : sizeof(P));
        if (!launched(j.m) || !sort(j.m, b->work, b->work_bytes, b->key, b->order, n, bits)) return false;
        uint32_t *sorted = b->order[1];
        b->order[1] = b->order[0];
        b->order[0] = sorted;
    }
    return true;
}

/* Sorts a round's bodies by keys in their segments' boxes. */
template <class P, class R>
static bool sort_segments(const Job<P, R> &j, const Spare<P, R> &s, uint32_t n, uint32_t segments, const uint32_t *at,
                          const uint32_t *seg, bool first)
{
    Builder<P, R> *b = j.b;
    cudaStream_t stream = j.m->stream;
    const unsigned blocks = blocks_of(n, 256);
    if (!good(j.m, cudaMemsetAsync(s.bounds, 0, 6 * sizeof(Key) * (size_t)segments, stream))) return false;
    segment_bounds_kernel<P><<<blocks, 256, 0, stream>>>(n, b->body, at, seg, s.bounds);
    boxes_kernel<<<blocks_of(segments, 256), 256, 0, stream>>>(segments, s.bounds, s.box);
    iota_kernel<<<blocks, 256, 0, stream>>>(n, b->order[0]);
    if (!launched(j.m) || (first && !canonical(j, n, at))) return false;
    keys_kernel<P><<<blocks_of(n, 256 * KEYS_EACH), 256, 0, stream>>>(n, b->body, at, seg, b->order[0], s.box, GRID,
                                                                      0, b->key[0], nullptr);
    if (!launched(j.m) || !sort(j.m, b->work, b->work_bytes, b->key, b->order, n, 3 * GRID)) return false;
    uint32_t *order[2] = {b->order[1], b->order[0]};
    if (segments > 1) {
        int bits = 1;
        while (bits < 32 && (segments - 1) >> bits != 0)
            bits++;
        segment_key_kernel<<<blocks, 256, 0, stream>>>(n, seg, order[0], b->key[0]);
        if (!launched(j.m) || !sort(j.m, b->work, b->work_bytes, b->key, order, n, bits)) return false;
        order[0] = order[1];
    }
    take_kernel<P, R>
        <<<blocks, 256, 0, stream>>>(n, at, order[0], b->body, b->soften, j.order, s.body, s.soft, s.old);
    put_kernel<P, R><<<blocks, 256, 0, stream>>>(n, at, s.body, s.soft, s.old, b->body, b->soften, j.order);
    keys_kernel<P><<<blocks_of(n, 256 * KEYS_EACH), 256, 0, stream>>>(n, b->body, at, seg, nullptr, s.box, GRID, 0,
                                                                      b->key[1], nullptr);
    return launched(j.m);
}

template <class P, class R> static bool refine_rounds(const Job<P, R> &j, const Spare<P, R> &s, Known known)
{
    Builder<P, R> *b = j.b;
    cudaStream_t stream = j.m->stream;
    const uint32_t *old_at = nullptr;
    uint32_t old_n = (uint32_t)b->n;
    for (int round = 0; known.undivided > 0 && !known.full; round++) {
        const uint32_t n = known.undivided, segments = known.segments;
        uint32_t *at = s.at[round & 1], *seg = s.seg[round & 1];
        size_t bytes = b->work_bytes;
        Key *sum = round == 0 ? b->key[0] : s.sum; /* of all bodies there are more than of the spare's */
        undivided_kernel<<<blocks_of(old_n, 256), 256, 0, stream>>>(old_n, b->mask, sum);
        if (!launched(j.m) || !good(j.m, cub::DeviceScan::ExclusiveSum(b->work, bytes, sum, sum, old_n, stream)))
            return false;
        compact_kernel<<<blocks_of(old_n, 256), 256, 0, stream>>>(old_n, b->mask, sum, old_at, b->cells.leaf, at, seg,
                                                                  s.cell);
        if (!launched(j.m) || !sort_segments(j, s, n, segments, at, seg, round == 0)) return false;
        const Round r = {n, GRID, 0, b->key[1], seg, at, s.cell, s.box, b->mask, b->count, blocks_of(n, TILE)};
        if (!good(j.m, cudaMemsetAsync(&b->cells.known->undivided, 0, 2 * sizeof(uint32_t), stream))) return false;
        mark_kernel<<<r.blocks, TILE, 0, stream>>>(r, j.leaf, b->cells.known);
        if (!launched(j.m) || !place_cells(j, r) || !ask(j.m, b->cells.known, &known)) return false;
        old_at = at;
        old_n = n;
    }
    return true;
}

template <class P, class R> static lacis_nbody_status refine(const Job<P, R> &j, const Known &known)
{
    Spare<P, R> s = {};
    s.block = j.m->host.alloc(j.m->host.context, spare_lay_out(&s, known.undivided, nullptr));
    if (s.block == nullptr) return LACIS_NBODY_NO_MEMORY;
    spare_lay_out(&s, known.undivided, static_cast<char *>(s.block));
    const bool done = refine_rounds(j, s, known);
    j.m->host.free(j.m->host.context, s.block);
    return done ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

/* Levels to sort by next time: as many as 6, 7 or 8 steps of 8 bits hold, where five do not do. */
static int levels_for(uint32_t crowded)
{
    return crowded < 13 ? 13 : crowded < 16 ? 16 : crowded < 18 ? 18 : GRID;
}

/* Cells are summed up before it is known whether all leaves are what they must be, so that the device goes on while
 * the host waits to hear of it; where they are not, the device leaves it. */
template <class P, class R> static lacis_nbody_status try_once(const Job<P, R> &j, Known *known)
{
    Builder<P, R> *b = j.b;
    const lacis_nbody_status status = divide(j);
    if (status != LACIS_NBODY_OK) return status;
    if (!good(j.m,
              cudaMemcpyAsync(j.m->pinned, b->cells.known, sizeof *known, cudaMemcpyDeviceToHost, j.m->stream)) ||
        !good(j.m, cudaEventRecord(b->known, j.m->stream)) || !sum_up(j) ||
        !good(j.m, cudaEventSynchronize(b->known)))
        return LACIS_NBODY_FAILED;
    *known = *static_cast<const Known *>(j.m->pinned);
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status make(const Job<P, R> &j)
{
    Builder<P, R> *b = j.b;
    Known known;
    lacis_nbody_status status = try_once(j, &known);
    if (status == LACIS_NBODY_OK && known.undivided > 0 && !j.insert && b->levels < GRID) {
        b->levels = GRID;
        status = try_once(j, &known);
    }
    if (status != LACIS_NBODY_OK) return status;
    b->levels = levels_for(known.crowded);
    if (known.undivided == 0 || known.full) return LACIS_NBODY_OK;
    status = refine(j, known);
    if (status != LACIS_NBODY_OK) return status;
    return sum_up(j) ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

template <class P, class R>
lacis_nbody_status build(const Machine *machine, Builder<P, R> *b, const lacis_nbody_rule *rule, const Four<P> *body,
                         const R *soft, R common, uint32_t *order, Tree<P, R> *tree)
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
    if (b->n > 0) return make(j);
    return good(machine, cudaMemsetAsync(b->cells.known, 0, sizeof(Known), machine->stream)) ? LACIS_NBODY_OK
                                                                                             : LACIS_NBODY_FAILED;
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
    template lacis_nbody_status builder_figures<P, R>(const Machine *, const Builder<P, R> *, lacis_nbody_counts *);

} // namespace nbody

#endif
