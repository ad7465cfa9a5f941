/* SPDX-License-Identifier: Apache-2.0
 *
 * RING: a block takes a chunk, some rows of tiles of one strip, through a ring in shared memory that asynchronous
 * copies fill (gpu_pieces.cuh): while one tile is worked on, the next is on its way. A strip is one, two or four
 * tiles wide; of a wide one the block goes down the first column of tiles, then the second ..
 *
 * Sums of columns stay in registers down a column of tiles. Sums of rows go to shared memory, a vector a warp, are
 * added up over the warps after every `flush` tiles, and stay there until the chunk ends: so a wide strip has fewer
 * partial sums for the second pass. Both end in the slots of gpu_inside.h: which sums they are, and in which order
 * they are made, is decided by n and the choice alone, so the bits depend neither on the grid nor on the device.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_RING_CUH
#define LACIS_KERNELS_SYMV_GPU_RING_CUH

#include "common/gpu_shared.h"
#include "symv/gpu_pieces.cuh"
#include "symv/gpu_ring.h"

/* The chunk that a block works on: strip, its tiles begin .. end - 1, and where in the strip it stands. */
struct symv_ring_chunk {
    int strip, number, begin, end;
};

/* The launch's grid with what the compiler knows of it: divisions by the tile's height are shifts. */
template <class N> SYMV_GPU symv_gpu_grid symv_ring_grid(const symv_ring_launch &l)
{
    typedef symv_ring_of<N, SYMV_RING_WARPS> R;
    symv_gpu_grid g = l.part.grid;
    g.tx = R::TX;
    return g;
}

SYMV_GPU int symv_ring_chunks(const symv_gpu_grid &g, int strip)
{
    const unsigned tiles = (unsigned)(symv_gpu_end(&g, strip) - symv_gpu_first(&g, strip)), chunk = (unsigned)g.chunk;
    return (int)((tiles + chunk - 1) / chunk);
}

/* Blocks are numbered pair by pair: the first strip and the last, the second and the last but one .., which together
 * have about as many tiles as any pair. False: this pair has no such chunk. */
template <class N> SYMV_GPU bool symv_ring_find(const symv_ring_launch &l, unsigned id, symv_ring_chunk *out)
{
    const symv_gpu_grid g = symv_ring_grid<N>(l);
    const int low = (int)(id / l.per_pair), high = l.strips - 1 - low, chunks = symv_ring_chunks(g, low);
    int number = (int)(id % l.per_pair), strip = low;
    if (number >= chunks) {
        number -= chunks;
        strip = high;
        if (high == low || number >= symv_ring_chunks(g, high)) return false;
    }
    const int begin = (int)symv_gpu_first(&g, strip) + number * g.chunk, end = (int)symv_gpu_end(&g, strip);
    *out = {strip, number, begin, min(begin + g.chunk, end)};
    return true;
}

/* --- sums
 * -------------------------------------------------------------------------------------------------------------- */

/* The slot of the chunk's sums of columns. */
SYMV_GPU int64_t symv_ring_slot(const symv_ring_launch &l, const symv_ring_chunk &chunk)
{
    return (l.part.grid.upper ? l.strips - chunk.strip : chunk.strip + 1) + chunk.number;
}

/* Sums of columns over the warp's lanes, from column q on, to the slot of the chunk; the sums begin anew. */
template <class N, int K>
SYMV_GPU void symv_ring_columns(symv_ring_sums<N, K> &s, const symv_ring_launch &l, const symv_ring_chunk &chunk,
                                int64_t q)
{
    typedef symv_ring_of<N, SYMV_RING_WARPS> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const symv_gpu_part &part = l.part;
    const int64_t slot = symv_ring_slot(l, chunk);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int64_t j = q + warp + symv_fold<N, R::COLUMNS, 32>(s.column[k], lane) * SYMV_RING_WARPS;
        if (lane % (32 / R::COLUMNS) == 0 && k < l.count && j < part.grid.n)
            ((typename N::X *)part.sums)[(slot * l.sides + l.side + k) * part.row + j] = s.column[k][0];
#pragma unroll
        for (int c = 0; c < R::COLUMNS; c++)
            s.column[k][c] = symv_zero<typename N::X>();
    }
}

/* Adds the warps' sums of rows of `tiles` tiles to the chunk's, sums[side][pitch], from the first of these tiles on.
 */
template <class N, int K>
SYMV_GPU void symv_ring_rows(const typename N::X *rows, typename N::X *sums, int pitch, int tiles)
{
    typedef symv_ring_of<N, SYMV_RING_WARPS> R;
    for (int at = (int)threadIdx.x; at < tiles * K * R::TX; at += R::THREADS) {
        const int t = at / (K * R::TX), k = at / R::TX % K, r = at % R::TX;
        const typename N::X *v = rows + (t * SYMV_RING_WARPS * K + k) * R::TX + r;
        typename N::X s[SYMV_RING_WARPS], *to = sums + k * pitch + t * R::TX + r;
#pragma unroll
        for (int w = 0; w < SYMV_RING_WARPS; w++)
            s[w] = v[w * K * R::TX];
        *to = N::add(*to, symv_halve<N, SYMV_RING_WARPS>(s));
    }
}

/* The chunk's sums of rows to the slots of the parts that they lie in. */
template <class N, int K>
SYMV_GPU void symv_ring_hand_over(const typename N::X *sums, int pitch, const symv_ring_launch &l,
                                  const symv_ring_chunk &chunk)
{
    typedef symv_ring_of<N, SYMV_RING_WARPS> R;
    const symv_gpu_part &part = l.part;
    const int from = chunk.begin * R::TX, many = min((int)part.grid.n, chunk.end * R::TX) - from;
#pragma unroll
    for (int k = 0; k < K; k++)
        for (int r = (int)threadIdx.x; r < many && k < l.count; r += R::THREADS) {
            const int i = from + r, part_of = i >> l.strip_bits;
            if (part.grid.upper ? part_of > chunk.strip : part_of < chunk.strip) continue;
            const int64_t slot = part.grid.upper ? chunk.strip - part_of : chunk.strip;
            ((typename N::X *)part.sums)[(slot * l.sides + l.side + k) * part.row + i] = sums[k * pitch + r];
        }
}

/* The tiles of a chunk in the order in which they are worked on: column of tiles by column of tiles, down each. */
template <class R> struct symv_ring_cursor {
    int column, tile, end, begin_all, end_all, columns, first, n;
    bool upper;
    __device__ __forceinline__ symv_ring_cursor(const symv_ring_launch &l, const symv_ring_chunk &chunk)
        : column(0), begin_all(chunk.begin), end_all(chunk.end), columns(1 << (l.strip_bits - R::TY_BITS)),
          first(chunk.strip << l.strip_bits), n((int)l.part.grid.n), upper(l.part.grid.upper)
    {
        enter();
        skip();
    }
    __device__ __forceinline__ int q() const
    {
        return first + column * R::TY;
    }
    /* The column's tiles tile .. end - 1: none where it is not stored in these rows. */
    __device__ __forceinline__ void enter()
    {
        tile = upper ? begin_all : max(begin_all, q() / R::TX);
        end = upper ? min(end_all, (min(q() + R::TY, n) + R::TX - 1) / R::TX) : end_all;
    }
    __device__ __forceinline__ bool empty() const
    {
        return tile >= end || q() >= n;
    }
    __device__ __forceinline__ void skip()
    {
        for (; column < columns && empty(); enter())
            column++;
    }
    __device__ __forceinline__ bool more() const
    {
        return column < columns;
    }
    /* To the next; true: it is in another column, or there is none. */
    __device__ __forceinline__ bool step()
    {
        if (++tile < end) return false;
        column++;
        enter();
        skip();
        return true;
    }
};

/* Columns of tiles without a tile in this chunk: their sums are zero. */
template <class N> SYMV_GPU void symv_ring_empty_columns(const symv_ring_launch &l, const symv_ring_chunk &chunk)
{
    typedef symv_ring_of<N, SYMV_RING_WARPS> R;
    symv_ring_cursor<R> c(l, chunk);
    for (c.column = 0; c.column < c.columns; c.column++) {
        c.enter();
        if (!c.empty()) continue;
        const int64_t slot = symv_ring_slot(l, chunk);
        for (int j = c.q() + (int)threadIdx.x; j < min(c.n, c.q() + R::TY); j += R::THREADS)
            for (int k = 0; k < l.count; k++)
                ((typename N::X *)l.part.sums)[(slot * l.sides + l.side + k) * l.part.row + j] =
                    symv_zero<typename N::X>();
    }
}

/* x of `many` elements from i on to shared memory, zeros behind n. */
template <class N, int K>
SYMV_GPU void symv_ring_vector(typename N::X *to, int pitch, const symv_ring_launch &l, int64_t i, int many)
{
    typedef typename N::X X;
    const symv_gpu_part &part = l.part;
#pragma unroll
    for (int k = 0; k < K; k++)
        for (int e = (int)threadIdx.x; e < many; e += 32 * SYMV_RING_WARPS) {
            const X *x = (const X *)part.x + (l.side + k) * part.x_side + (i + e) * part.x_step;
            to[k * pitch + e] = k < l.count && i + e < part.grid.n ? symv_load(x) : symv_zero<X>();
        }
}

template <class N, bool ALIGNED, int K, int RESIDENT>
__global__ __launch_bounds__(32 * SYMV_RING_WARPS,
                             RESIDENT) void symv_ring_kernel(const __grid_constant__ symv_ring_launch l)
{
    typedef symv_ring_of<N, SYMV_RING_WARPS> R;
    typedef typename N::X X;
    enum { WARPS = SYMV_RING_WARPS, STAGES = SYMV_RING_STAGES, STAGE = ALIGNED ? R::STAGE : R::STAGE_APART };
    extern __shared__ int4 symv_ring_memory[];
    char *ring = (char *)symv_ring_memory;
    const symv_gpu_part &part = l.part;
    const int high = part.grid.chunk * R::TX, wide = 1 << l.strip_bits, lane = (int)threadIdx.x % 32;
    X *xp = (X *)(ring + STAGES * STAGE), *sums = xp + K * high, *xq = sums + K * high, *rows = xq + K * wide;
    symv_gpu_early();
    symv_ring_chunk chunk;
    if (!symv_ring_find<N>(l, blockIdx.x, &chunk)) return;
    const uint64_t policy = symv_read_once();
    symv_ring_cursor<R> copied(l, chunk), at(l, chunk);
    const auto copy = [&](int stage) {
        if (copied.more()) {
            symv_ring_copy<N, WARPS, ALIGNED>(part, symv_shared(ring + stage * STAGE), copied.tile * R::TX,
                                              copied.q(), policy);
            copied.step();
        }
        symv_commit();
    };
#pragma unroll
    for (int t = 0; t < STAGES - 1; t++)
        copy(t);
    const int64_t q0 = (int64_t)chunk.strip << l.strip_bits;
    symv_ring_vector<N, K>(xp, high, l, (int64_t)chunk.begin * R::TX, (chunk.end - chunk.begin) * R::TX);
    symv_ring_vector<N, K>(xq, wide, l, q0, wide);
    for (int i = (int)threadIdx.x; i < K * high; i += R::THREADS)
        sums[i] = symv_zero<X>();
    __syncthreads();
    if (wide > R::TY) symv_ring_empty_columns<N>(l, chunk);
    symv_ring_sums<N, K> s = {};
    for (int stage = 0, held = 0; at.more(); stage = stage + 1 == STAGES ? 0 : stage + 1) {
        const int tile = at.tile, q = at.q();
        if (!ALIGNED) __syncwarp();
        copy(stage == 0 ? STAGES - 1 : stage - 1);
        symv_wait<STAGES - 1>();
        if (!ALIGNED) __syncwarp();
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int e = 0; e < N::V; e++)
                s.row[k][e] = symv_zero<X>();
        symv_ring_any_tile<N, WARPS, ALIGNED, K>(s, ring + stage * STAGE, part, tile * R::TX, q,
                                                 xp + (tile - chunk.begin) * R::TX, high, xq + (q - (int)q0), wide);
        X *mine = rows + (held * WARPS + (int)threadIdx.x / 32) * K * R::TX;
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int e = 0; e < N::V; e++)
                mine[k * R::TX + symv_ring_row<N, ALIGNED>(lane, e)] = s.row[k][e];
        const bool down = at.step();
        if (down) symv_ring_columns<N, K>(s, l, chunk, q);
        if (++held < l.flush && !down) continue;
        __syncthreads();
        symv_ring_rows<N, K>(rows, sums + (tile + 1 - held - chunk.begin) * R::TX, high, held);
        __syncthreads();
        held = 0;
    }
    symv_ring_hand_over<N, K>(sums, high, l, chunk);
}

/* --- host ----------------------------------------------------------------------------------------------------- */

template <class N, bool ALIGNED, int K, int RESIDENT>
static cudaError_t symv_ring_launch_kernel(const symv_ring_launch *l)
{
    const cudaError_t rc = lacis_gpu_all_shared((const void *)symv_ring_kernel<N, ALIGNED, K, RESIDENT>);
    if (rc != cudaSuccess) return rc;
    symv_ring_kernel<N, ALIGNED, K, RESIDENT>
        <<<(unsigned)l->blocks, 32 * SYMV_RING_WARPS, l->shared, l->stream>>>(*l);
    return cudaGetLastError();
}

#endif
