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

#include "symv/gpu_copy.cuh"
#include "symv/gpu_number.cuh"
#include "symv/gpu_ring.h"

/* Columns of a warp: elements of 32 bytes have half as many, for the registers' sake. */
template <class N> struct symv_ring_of {
    enum {
        COLUMNS = sizeof(typename N::M) > 16 ? 4 : 8,
        TX = 32 * N::V,
        TY = SYMV_RING_WARPS * COLUMNS,
        THREADS = 32 * SYMV_RING_WARPS,
        PIECE = N::V * (int)sizeof(typename N::M), /* bytes of a column that a lane works on */
        STAGE = COLUMNS * THREADS * PIECE
    };
};

/* The chunk that a block works on: strip, its tiles begin .. end - 1, and where in the strip it stands. */
struct symv_ring_chunk {
    int64_t strip, number, begin, end;
};

SYMV_GPU bool symv_ring_find(const symv_ring_launch &l, int64_t id, symv_ring_chunk *out)
{
    const symv_gpu_grid *g = &l.part.grid;
    const int64_t low = id / l.per_pair, high = symv_gpu_strips(g) - 1 - low;
    int64_t number = id % l.per_pair, strip = low;
    const int64_t chunks = symv_gpu_chunks(g, low);
    if (number >= chunks) {
        number -= chunks;
        strip = high;
        if (high == low || number >= symv_gpu_chunks(g, high)) return false;
    }
    const int64_t begin = symv_gpu_first(g, strip) + number * g->chunk, end = symv_gpu_end(g, strip);
    *out = {strip, number, begin, begin + g->chunk < end ? begin + g->chunk : end};
    return true;
}

/* --- copies ------------------------------------------------------------------------------------------------ */

/* One tile to its stage: this warp's columns, rows from p on. */
template <class N, bool ALIGNED>
SYMV_GPU void symv_ring_copy(const symv_gpu_part &part, unsigned stage, int64_t p, int64_t q, uint64_t policy)
{
    typedef symv_ring_of<N> R;
    typedef typename N::M M;
    const int lane = (int)threadIdx.x % 32;
    const int64_t n = part.grid.n;
    const bool upper = part.grid.upper,
               inside = p + R::TX <= n && q + R::TY <= n && (upper ? p + R::TX <= q : p >= q + R::TY);
#pragma unroll
    for (int c = 0; c < R::COLUMNS; c++) {
        const int64_t j = q + (int)threadIdx.x / 32 + c * SYMV_RING_WARPS;
        const M *column = (const M *)part.a + symv_gpu_column(&part, j) + p;
        const unsigned to = stage + (unsigned)(c * R::THREADS * R::PIECE);
        if (ALIGNED) {
            const int64_t at = p + lane * N::V, left = n - at;
            const bool wanted = inside || (left > 0 && j < n && (upper ? at <= j : at + N::V > j));
            const unsigned bytes = left < N::V ? (unsigned)(left * (int64_t)sizeof(M)) : (unsigned)R::PIECE;
            if (wanted)
#pragma unroll
                for (int b = 0; b < R::PIECE; b += 16)
                    symv_copy_16(to + threadIdx.x * R::PIECE + b, (const char *)(column + lane * N::V) + b,
                                 R::PIECE == 16 ? bytes : 16U, policy);
        } else {
            enum { S = sizeof(typename N::S), PARTS = R::PIECE / S };
#pragma unroll
            for (int k = 0; k < PARTS; k++) { /* plain numbers of the warp's part, lane after lane */
                const int64_t at = p + (int64_t)(k * 32 + lane) * S / (int64_t)sizeof(M);
                if (inside || (at < n && j < n && (upper ? at <= j : at >= j)))
                    symv_copy_small<S>(to + (threadIdx.x / 32 * 32 * PARTS + (unsigned)(k * 32 + lane)) * S,
                                       (const typename N::S *)column + k * 32 + lane);
            }
        }
    }
}

/* --- sums --------------------------------------------------------------------------------------------------- */

/* This lane's sums over a tile: row over its columns, column over the chunk's rows so far. */
template <class N, int K> struct symv_ring_sums {
    typename N::X column[K][symv_ring_of<N>::COLUMNS];
    typename N::X row[K][N::V];
};

/* One tile. x of its rows at xp[side][pitch], of this warp's columns at xq[side][TY]. EDGE: what is not stored, and
 * of the diagonal the mirror image, is left out. */
template <class N, int K, bool EDGE>
SYMV_GPU void symv_ring_tile(symv_ring_sums<N, K> &s, const char *stage, const symv_gpu_part &part, int64_t p,
                             int64_t q, const typename N::X *xp, int pitch, const typename N::X *xq, unsigned flip)
{
    typedef symv_ring_of<N> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    typename N::X x[K][N::V];
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int e = 0; e < N::V; e++) {
            x[k][e] = xp[k * pitch + lane * N::V + e];
            s.row[k][e] = symv_zero<typename N::X>();
        }
#pragma unroll
    for (int c = 0; c < R::COLUMNS; c++) {
        typename N::M a[N::V];
        const char *piece = stage + (c * R::THREADS + (int)threadIdx.x) * R::PIECE;
#pragma unroll
        for (int b = 0; b < R::PIECE / 16; b++)
            ((int4 *)a)[b] = ((const int4 *)piece)[b];
#pragma unroll
        for (int e = 0; e < N::V; e++) {
            const int64_t i = p + lane * N::V + e, j = q + warp + c * SYMV_RING_WARPS, n = part.grid.n;
            const bool stored = !EDGE || (i < n && j < n && (part.grid.upper ? i <= j : i >= j));
            const bool mirrored = !EDGE || (stored && i != j);
            if (EDGE && part.hermitian && i == j) a[e] = N::real(a[e]);
            const typename N::M mirror = N::mirror(a[e], flip);
#pragma unroll
            for (int k = 0; k < K; k++) {
                if (stored) s.row[k][e] = N::fma(a[e], xq[k * R::TY + warp + c * SYMV_RING_WARPS], s.row[k][e]);
                if (mirrored) s.column[k][c] = N::fma(mirror, x[k][e], s.column[k][c]);
            }
        }
    }
}

/* Sums of columns over the warp's lanes, to the slot of the chunk. */
template <class N, int K>
SYMV_GPU void symv_ring_columns(symv_ring_sums<N, K> &s, const symv_ring_launch &l, const symv_ring_chunk &chunk)
{
    typedef symv_ring_of<N> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const symv_gpu_part &part = l.part;
    const int64_t slot = symv_gpu_column_slot(&part.grid, chunk.strip, chunk.number);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int first = symv_fold<N, R::COLUMNS, 32>(s.column[k], lane);
        const int64_t j = chunk.strip * R::TY + warp + first * SYMV_RING_WARPS;
        if (lane % (32 / R::COLUMNS) == 0 && k < l.count && j < part.grid.n)
            ((typename N::X *)part.sums)[(slot * l.sides + l.side + k) * part.row + j] = s.column[k][0];
    }
}

/* Sums of rows of `tiles` tiles over the warps, to the slots of the parts that they lie in. */
template <class N, int K>
SYMV_GPU void symv_ring_rows(const typename N::X *rows, const symv_ring_launch &l, int64_t strip, int64_t tile,
                             int tiles)
{
    typedef symv_ring_of<N> R;
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
    for (int at = (int)threadIdx.x; at < K * many; at += symv_ring_of<N>::THREADS) {
        const int k = at / many, e = at % many;
        const X *x = (const X *)part.x + (l.side + k) * part.x_side + (i + e) * part.x_step;
        to[k * pitch + e] = k < l.count && i + e < part.grid.n ? symv_load(x) : symv_zero<X>();
    }
}

template <class N, bool ALIGNED, int K, int RESIDENT>
__global__ __launch_bounds__(32 * SYMV_RING_WARPS,
                             RESIDENT) void symv_ring_kernel(const __grid_constant__ symv_ring_launch l)
{
    typedef symv_ring_of<N> R;
    typedef typename N::X X;
    extern __shared__ int4 symv_ring_memory[];
    char *ring = (char *)symv_ring_memory;
    const symv_gpu_part &part = l.part;
    const int high = part.grid.chunk * R::TX, lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    X *xp = (X *)(ring + SYMV_RING_STAGES * R::STAGE), *xq = xp + K * high, *rows = xq + K * R::TY;
    symv_gpu_early();
    symv_ring_chunk chunk;
    if (!symv_ring_find(l, blockIdx.x, &chunk)) return;
    const uint64_t policy = symv_read_once();
    const int64_t q = chunk.strip * R::TY;
    const int tiles = (int)(chunk.end - chunk.begin);
#pragma unroll
    for (int t = 0; t < SYMV_RING_STAGES - 1; t++) {
        if (t < tiles)
            symv_ring_copy<N, ALIGNED>(part, symv_shared(ring + t * R::STAGE), (chunk.begin + t) * R::TX, q, policy);
        symv_commit();
    }
    symv_ring_vector<N, K>(xp, high, l, chunk.begin * R::TX, tiles * R::TX);
    symv_ring_vector<N, K>(xq, R::TY, l, q, R::TY);
    __syncthreads();
    symv_ring_sums<N, K> s = {};
    const unsigned flip = part.hermitian ? SYMV_FLIP : 0;
    for (int t = 0, held = 0; t < tiles; t++) {
        const int next = t + SYMV_RING_STAGES - 1;
        const int64_t p = (chunk.begin + t) * R::TX;
        if (!ALIGNED) __syncwarp();
        if (next < tiles)
            symv_ring_copy<N, ALIGNED>(part, symv_shared(ring + next % SYMV_RING_STAGES * R::STAGE),
                                       (chunk.begin + next) * R::TX, q, policy);
        symv_commit();
        symv_wait<SYMV_RING_STAGES - 1>();
        if (!ALIGNED) __syncwarp();
        const char *stage = ring + t % SYMV_RING_STAGES * R::STAGE;
        const bool inside = p + R::TX <= part.grid.n && q + R::TY <= part.grid.n &&
                            (part.grid.upper ? p + R::TX <= q : p >= q + R::TY);
        if (inside)
            symv_ring_tile<N, K, false>(s, stage, part, p, q, xp + t * R::TX, high, xq, flip);
        else
            symv_ring_tile<N, K, true>(s, stage, part, p, q, xp + t * R::TX, high, xq, flip);
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
