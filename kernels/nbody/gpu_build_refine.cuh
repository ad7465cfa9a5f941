/* SPDX-License-Identifier: Apache-2.0
 *
 * Leaves whose bodies keys do not tell apart: again, each in its own box, until bodies of such leaves lie at one
 * place. Hard inputs alone come here; the host asks after each round how many bodies are left.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_REFINE_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_REFINE_CUH

#include "gpu_build_job.cuh"
#include "gpu_build_keys.cuh"

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

template <class P, class R> static bool refine_rounds(const Job<P, R> &j, const Spare<P, R> &s, Known *known)
{
    Builder<P, R> *b = j.b;
    cudaStream_t stream = j.m->stream;
    const uint32_t *old_at = nullptr;
    uint32_t old_n = (uint32_t)b->n;
    for (int round = 0; known->undivided > 0 && !known->full; round++) {
        const uint32_t n = known->undivided, segments = known->segments;
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
        if (!launched(j.m) || !place_cells(j, r) || !ask(j.m, b->cells.known, known)) return false;
        old_at = at;
        old_n = n;
    }
    return true;
}

template <class P, class R> static lacis_nbody_status refine(const Job<P, R> &j, Known *known)
{
    Spare<P, R> s = {};
    s.block = j.m->host.alloc(j.m->host.context, spare_lay_out(&s, known->undivided, nullptr));
    if (s.block == nullptr) return LACIS_NBODY_NO_MEMORY;
    spare_lay_out(&s, known->undivided, static_cast<char *>(s.block));
    const bool done = refine_rounds(j, s, known);
    j.m->host.free(j.m->host.context, s.block);
    return done ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

} // namespace nbody

#endif
