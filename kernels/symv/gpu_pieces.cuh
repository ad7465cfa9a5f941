/* SPDX-License-Identifier: Apache-2.0
 *
 * A tile through a stage of a ring in shared memory, for the families RING and BATCH: asynchronous copies fill it,
 * and its sums are made. A tile is 32 lanes by 16 bytes high (32 by elements of 32 bytes) and WARPS x COLUMNS wide. A
 * lane copies what it will read itself, so the ring needs no barrier; where 16 bytes cannot be copied at once the
 * lanes of a warp share a column's part between them, and the warp waits for itself.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_PIECES_CUH
#define LACIS_KERNELS_SYMV_GPU_PIECES_CUH

#include "symv/gpu_copy.cuh"
#include "symv/gpu_inside.h"
#include "symv/gpu_number.cuh"

/* Columns of a warp: elements of 32 bytes have half as many, for the registers' sake. */
template <class N, int WARPS> struct symv_ring_of {
    enum {
        COLUMNS = sizeof(typename N::M) > 16 ? 4 : 8,
        TX = 32 * N::V,
        TY = WARPS * COLUMNS,
        TY_BITS = TY == 64 ? 6 : 5,
        THREADS = 32 * WARPS,
        PIECE = N::V * (int)sizeof(typename N::M), /* bytes of a column that a lane works on */
        STAGE = COLUMNS * THREADS * PIECE
    };
};

/* Whether all of the tile at (p, q) is stored, off the diagonal. */
template <class R> SYMV_GPU bool symv_ring_inside(const symv_gpu_grid &g, int64_t p, int64_t q)
{
    return p + R::TX <= g.n && q + R::TY <= g.n && (g.upper ? p + R::TX <= q : p >= q + R::TY);
}

/* --- copies ------------------------------------------------------------------------------------------------ */

/* One tile to its stage: this warp's columns, rows from p on. */
template <class N, int WARPS, bool ALIGNED>
SYMV_GPU void symv_ring_copy(const symv_gpu_part &part, unsigned stage, int64_t p, int64_t q, uint64_t policy)
{
    typedef symv_ring_of<N, WARPS> R;
    typedef typename N::M M;
    const int lane = (int)threadIdx.x % 32;
    const int64_t n = part.grid.n;
    const unsigned mine = ALIGNED ? symv_whole(stage + threadIdx.x * R::PIECE) : stage;
    const bool upper = part.grid.upper, inside = symv_ring_inside<R>(part.grid, p, q);
#pragma unroll
    for (int c = 0; c < R::COLUMNS; c++) {
        const int64_t j = q + (int)threadIdx.x / 32 + c * WARPS;
        const M *column = (const M *)part.a + symv_gpu_column(&part, j) + p;
        const unsigned to = mine + (unsigned)(c * R::THREADS * R::PIECE);
        if (ALIGNED) {
            const int64_t at = p + lane * N::V, left = n - at;
            const bool wanted = inside || (left > 0 && j < n && (upper ? at <= j : at + N::V > j));
            const unsigned bytes = left < N::V ? (unsigned)(left * (int64_t)sizeof(M)) : (unsigned)R::PIECE;
            if (wanted)
#pragma unroll
                for (int b = 0; b < R::PIECE; b += 16)
                    symv_copy_16(to + b, (const char *)(column + lane * N::V) + b, R::PIECE == 16 ? bytes : 16U,
                                 policy);
        } else {
            enum { S = sizeof(M) < sizeof(typename N::S) ? sizeof(M) : sizeof(typename N::S), PARTS = R::PIECE / S };
#pragma unroll
            for (int k = 0; k < PARTS; k++) { /* plain numbers of the warp's part, lane after lane */
                const int64_t at = p + (int64_t)(k * 32 + lane) * S / (int64_t)sizeof(M);
                if (inside || (at < n && j < n && (upper ? at <= j : at >= j)))
                    symv_copy_small<S>(to + (threadIdx.x / 32 * 32 * PARTS + (unsigned)(k * 32 + lane)) * S,
                                       (const char *)column + (k * 32 + lane) * S);
            }
        }
    }
}

/* --- sums --------------------------------------------------------------------------------------------------- */

/* This lane's sums over a tile: row over its columns, column over the chunk's rows so far. */
template <class N, int K> struct symv_ring_sums {
    typename N::X column[K][symv_ring_of<N, 1>::COLUMNS];
    typename N::X row[K][N::V];
};

/* One tile. x of its rows at xp[side][pitch], of this warp's columns at xq[side][TY]. EDGE: what is not stored, and
 * of the diagonal the mirror image, is left out. */
template <class N, int WARPS, int K, bool EDGE>
SYMV_GPU void symv_ring_tile(symv_ring_sums<N, K> &s, const char *stage, const symv_gpu_part &part, int64_t p,
                             int64_t q, const typename N::X *xp, int pitch, const typename N::X *xq, int xq_pitch,
                             unsigned flip)
{
    typedef symv_ring_of<N, WARPS> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    typename N::X x[K][N::V];
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int e = 0; e < N::V; e++)
            x[k][e] = xp[k * pitch + lane * N::V + e];
#pragma unroll
    for (int c = 0; c < R::COLUMNS; c++) {
        typename N::M a[N::V];
        const char *piece = stage + (c * R::THREADS + (int)threadIdx.x) * R::PIECE;
#pragma unroll
        for (int b = 0; b < R::PIECE / 16; b++)
            ((int4 *)a)[b] = ((const int4 *)piece)[b];
#pragma unroll
        for (int e = 0; e < N::V; e++) {
            const int64_t i = p + lane * N::V + e, j = q + warp + c * WARPS, n = part.grid.n;
            const bool stored = !EDGE || (i < n && j < n && (part.grid.upper ? i <= j : i >= j));
            const bool mirrored = !EDGE || (stored && i != j);
            if (EDGE && part.hermitian && i == j) a[e] = N::real(a[e]);
            const typename N::M mirror = N::mirror(a[e], flip);
#pragma unroll
            for (int k = 0; k < K; k++) {
                if (stored) s.row[k][e] = N::fma(a[e], xq[k * xq_pitch + warp + c * WARPS], s.row[k][e]);
                if (mirrored) s.column[k][c] = N::fma(mirror, x[k][e], s.column[k][c]);
            }
        }
    }
}

/* Those of one tile, whatever it is. */
template <class N, int WARPS, int K>
SYMV_GPU void symv_ring_any_tile(symv_ring_sums<N, K> &s, const char *stage, const symv_gpu_part &part, int64_t p,
                                 int64_t q, const typename N::X *xp, int pitch, const typename N::X *xq, int xq_pitch)
{
    const unsigned flip = part.hermitian ? SYMV_FLIP : 0;
    if (symv_ring_inside<symv_ring_of<N, WARPS>>(part.grid, p, q))
        symv_ring_tile<N, WARPS, K, false>(s, stage, part, p, q, xp, pitch, xq, xq_pitch, flip);
    else
        symv_ring_tile<N, WARPS, K, true>(s, stage, part, p, q, xp, pitch, xq, xq_pitch, flip);
}

#endif
