/* SPDX-License-Identifier: Apache-2.0
 *
 * RING: a block takes a chunk, some tiles below each other, through a ring in shared memory that asynchronous copies
 * fill: while one tile is worked on, the next is on its way. A tile is 32 lanes by 16 bytes high and 8 warps by
 * COLUMNS wide; a lane copies what it will read itself, so the ring needs no barrier (where 16 bytes cannot be copied
 * at once the lanes of a warp share a column's part between them, and the warp waits for itself).
 *
 * Sums of columns stay in registers over the chunk. Sums of rows go to shared memory, a vector a warp, and are added
 * up over the warps after every `flush` tiles. Both end in the slots of gpu_inside.h: which sums they are, and in
 * which order they are made, is decided by n and the choice alone, so the bits depend neither on the grid nor on the
 * device.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_RING_CUH
#define LACIS_KERNELS_SYMV_GPU_RING_CUH

#include "symv/gpu_pieces.cuh"
#include "symv/gpu_ring.h"

/* The chunk that a block works on: strip, its tiles begin .. end - 1, and where in the strip it stands. */
struct symv_ring_chunk {
    int strip, number, begin, end;
};

/* The launch's grid with what the compiler knows of it: no division is left but those by the chunk's length. */
template <class N> SYMV_GPU symv_gpu_grid symv_ring_grid(const symv_ring_launch &l)
{
    typedef symv_ring_of<N, SYMV_RING_WARPS> R;
    symv_gpu_grid g = l.part.grid;
    g.tx = R::TX;
    g.ty = R::TY;
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
    const int low = (int)(id / l.per_pair), high = (int)symv_gpu_strips(&g) - 1 - low,
              chunks = symv_ring_chunks(g, low);
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

/* Sums of columns over the warp's lanes, to the slot of the chunk. */
template <class N, int K>
SYMV_GPU void symv_ring_columns(symv_ring_sums<N, K> &s, const symv_ring_launch &l, const symv_ring_chunk &chunk)
{
    typedef symv_ring_of<N, SYMV_RING_WARPS> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const symv_gpu_part &part = l.part;
    const symv_gpu_grid g = symv_ring_grid<N>(l);
    const int64_t slot = symv_gpu_column_slot(&g, chunk.strip, chunk.number);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int first = symv_fold<N, R::COLUMNS, 32>(s.column[k], lane);
        const int64_t j = (int64_t)chunk.strip * R::TY + warp + first * SYMV_RING_WARPS;
        if (lane % (32 / R::COLUMNS) == 0 && k < l.count && j < part.grid.n)
            ((typename N::X *)part.sums)[(slot * l.sides + l.side + k) * part.row + j] = s.column[k][0];
    }
}

/* Sums of rows of `tiles` tiles over the warps, to the slots of the parts that they lie in. */
template <class N, int K>
SYMV_GPU void symv_ring_rows(const typename N::X *rows, const symv_ring_launch &l, int64_t strip, int64_t tile,
                             int tiles)
{
    typedef symv_ring_of<N, SYMV_RING_WARPS> R;
    typedef typename N::X X;
    const symv_gpu_part &part = l.part;
    const int64_t n = part.grid.n, from = strip * R::TY;
    for (int at = (int)threadIdx.x; at < tiles * K * R::TX; at += R::THREADS) {
        const int t = at / (K * R::TX), k = at / R::TX % K, r = at % R::TX;
        const int64_t i = (tile + t) * R::TX + r;
        if (k >= l.count || i >= n || (part.grid.upper ? i >= from + R::TY : i < from)) continue;
        const X *v = rows + ((int64_t)t * SYMV_RING_WARPS * K + k) * R::TX + r;
        X s[SYMV_RING_WARPS];
#pragma unroll
        for (int w = 0; w < SYMV_RING_WARPS; w++)
            s[w] = v[w * K * R::TX];
        const int64_t slot = symv_gpu_row_slot(&part.grid, strip, i / R::TY);
        ((X *)part.sums)[(slot * l.sides + l.side + k) * part.row + i] = symv_halve<N, SYMV_RING_WARPS>(s);
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
    extern __shared__ int4 symv_ring_memory[];
    char *ring = (char *)symv_ring_memory;
    const symv_gpu_part &part = l.part;
    const int high = part.grid.chunk * R::TX, lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    X *xp = (X *)(ring + SYMV_RING_STAGES * R::STAGE), *xq = xp + K * high, *rows = xq + K * R::TY;
    symv_gpu_early();
    symv_ring_chunk chunk;
    if (!symv_ring_find<N>(l, blockIdx.x, &chunk)) return;
    const uint64_t policy = symv_read_once();
    const int64_t q = (int64_t)chunk.strip * R::TY;
    const int tiles = (int)(chunk.end - chunk.begin);
#pragma unroll
    for (int t = 0; t < SYMV_RING_STAGES - 1; t++) {
        if (t < tiles)
            symv_ring_copy<N, SYMV_RING_WARPS, ALIGNED>(part, symv_shared(ring + t * R::STAGE),
                                                        (int64_t)(chunk.begin + t) * R::TX, q, policy);
        symv_commit();
    }
    symv_ring_vector<N, K>(xp, high, l, (int64_t)chunk.begin * R::TX, tiles * R::TX);
    symv_ring_vector<N, K>(xq, R::TY, l, q, R::TY);
    __syncthreads();
    symv_ring_sums<N, K> s = {};
    for (int t = 0, held = 0; t < tiles; t++) {
        const int next = t + SYMV_RING_STAGES - 1;
        const int64_t p = (int64_t)(chunk.begin + t) * R::TX;
        if (!ALIGNED) __syncwarp();
        if (next < tiles)
            symv_ring_copy<N, SYMV_RING_WARPS, ALIGNED>(part, symv_shared(ring + next % SYMV_RING_STAGES * R::STAGE),
                                                        (int64_t)(chunk.begin + next) * R::TX, q, policy);
        symv_commit();
        symv_wait<SYMV_RING_STAGES - 1>();
        if (!ALIGNED) __syncwarp();
        const char *stage = ring + t % SYMV_RING_STAGES * R::STAGE;
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int e = 0; e < N::V; e++)
                s.row[k][e] = symv_zero<X>();
        symv_ring_any_tile<N, SYMV_RING_WARPS, K>(s, stage, part, p, q, xp + t * R::TX, high, xq, R::TY);
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int e = 0; e < N::V; e++)
                rows[((held * SYMV_RING_WARPS + warp) * K + k) * R::TX + lane * N::V + e] = s.row[k][e];
        if (++held == l.flush || t + 1 == tiles) {
            if (t + 1 == tiles) symv_ring_columns<N, K>(s, l, chunk);
            __syncthreads();
            symv_ring_rows<N, K>(rows, l, chunk.strip, chunk.begin + t + 1 - held, held);
            if (t + 1 < tiles) __syncthreads();
            held = 0;
        }
    }
}

/* --- host ----------------------------------------------------------------------------------------------------- */

template <class N, bool ALIGNED, int K, int RESIDENT>
static cudaError_t symv_ring_launch_kernel(const symv_ring_launch *l)
{
    const cudaError_t rc = cudaFuncSetAttribute(symv_ring_kernel<N, ALIGNED, K, RESIDENT>,
                                                cudaFuncAttributeMaxDynamicSharedMemorySize, (int)l->shared);
    if (rc != cudaSuccess) return rc;
    symv_ring_kernel<N, ALIGNED, K, RESIDENT>
        <<<(unsigned)l->blocks, 32 * SYMV_RING_WARPS, l->shared, l->stream>>>(*l);
    return cudaGetLastError();
}

#endif
