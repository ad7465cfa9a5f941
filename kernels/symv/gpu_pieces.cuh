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
template <class R> SYMV_GPU bool symv_ring_inside(const symv_gpu_grid &g, int p, int q)
{
    const int n = (int)g.n;
    return p + R::TX <= n && q + R::TY <= n && (g.upper ? p + R::TX <= q : p >= q + R::TY);
}

/* --- copies ------------------------------------------------------------------------------------------------ */

/* From one of a warp's columns to the next it is `down` elements, and that distance grows by the same every time (by
 * nothing, where the matrix is full). */
template <class N, int WARPS> struct symv_ring_columns_of {
    const typename N::M *column;
    int64_t down, grows;
    __device__ __forceinline__ symv_ring_columns_of(const symv_gpu_part &part, int p, int q)
    {
        const bool upper = part.grid.upper;
        const int64_t j = q + (int)threadIdx.x / 32,
                      apart = upper ? 2 * j + WARPS + 1 : 2 * (part.grid.n - j) - WARPS - 1;
        column = (const typename N::M *)part.a + symv_gpu_column(&part, j) + p;
        down = part.packed ? WARPS / 2 * apart : WARPS * part.ld;
        grows = !part.packed ? 0 : upper ? WARPS * WARPS : -WARPS * WARPS;
    }
    __device__ __forceinline__ void step()
    {
        column += down;
        down += grows;
    }
};

/* A tile's elements of this warp's columns; EDGE: zeros for those that lie outside the matrix or, 16 bytes at a time,
 * altogether in the other triangle. */
template <class N, int WARPS, bool ALIGNED, bool EDGE>
SYMV_GPU void symv_ring_copy_tile(const symv_gpu_part &part, unsigned to, int p, int q, uint64_t policy)
{
    typedef symv_ring_of<N, WARPS> R;
    typedef typename N::M M;
    enum { S = sizeof(M) < sizeof(typename N::S) ? sizeof(M) : sizeof(typename N::S), PARTS = R::PIECE / S };
    const int lane = (int)threadIdx.x % 32, n = (int)part.grid.n, at = p + lane * N::V;
    const bool upper = part.grid.upper;
    const int whole = min(16, max(0, (n - at) * (int)sizeof(M)));
    symv_ring_columns_of<N, WARPS> is(part, p, q);
    int j = q + (int)threadIdx.x / 32;
#pragma unroll
    for (int c = 0; c < R::COLUMNS; c++, j += WARPS, to += R::THREADS * R::PIECE, is.step()) {
        if (ALIGNED) {
            const bool some = !EDGE || (j < n && (upper ? at <= j : at + N::V > j));
#pragma unroll
            for (int b = 0; b < R::PIECE; b += 16)
                symv_copy_16(to + b, some ? (const char *)(is.column + lane * N::V) + b : (const char *)part.a,
                             EDGE ? (some ? (unsigned)whole : 0U) : 16U, policy);
        } else {
#pragma unroll
            for (int k = 0; k < PARTS; k++) { /* plain numbers of the warp's part, lane after lane */
                const int i = p + (k * 32 + lane) * S / (int)sizeof(M);
                const bool some = !EDGE || (i < n && j < n && (upper ? i <= j : i >= j));
                symv_copy_small<S>(to + (threadIdx.x / 32 * 32 * PARTS + (unsigned)(k * 32 + lane)) * S,
                                   some ? (const char *)is.column + (k * 32 + lane) * S : (const char *)part.a, some);
            }
        }
    }
}

/* One tile to its stage: this warp's columns, rows from p on. All lanes of the warp. */
template <class N, int WARPS, bool ALIGNED>
SYMV_GPU void symv_ring_copy(const symv_gpu_part &part, unsigned stage, int p, int q, uint64_t policy)
{
    typedef symv_ring_of<N, WARPS> R;
    const unsigned to = ALIGNED ? symv_whole(stage + threadIdx.x * R::PIECE) : stage;
    if (symv_ring_inside<R>(part.grid, p, q))
        symv_ring_copy_tile<N, WARPS, ALIGNED, false>(part, to, p, q, policy);
    else
        symv_ring_copy_tile<N, WARPS, ALIGNED, true>(part, to, p, q, policy);
}

/* --- sums --------------------------------------------------------------------------------------------------- */

/* This lane's sums over a tile: row over its columns, column over the chunk's rows so far. */
template <class N, int K> struct symv_ring_sums {
    typename N::X column[K][symv_ring_of<N, 1>::COLUMNS];
    typename N::X row[K][N::V];
};

/* One tile. x of its rows at xp[side][pitch], of its columns at xq[side][xq_pitch], zeros outside the matrix. EDGE:
 * what lies in the other triangle, and of the diagonal the mirror image, is left out. */
template <class N, int WARPS, int K, bool EDGE>
SYMV_GPU void symv_ring_tile(symv_ring_sums<N, K> &s, const char *stage, const symv_gpu_part &part, int p, int q,
                             const typename N::X *xp, int pitch, const typename N::X *xq, int xq_pitch, unsigned flip)
{
    typedef symv_ring_of<N, WARPS> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    /* How far into the stored triangle the lane's first element in its first column lies. */
    const int sign = part.grid.upper ? -1 : 1, depth = sign * (p + lane * N::V - q - warp);
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
            const int d = depth + sign * (e - c * WARPS);
            const bool stored = !EDGE || d >= 0, mirrored = !EDGE || d > 0;
            if (EDGE && N::COMPLEX && flip != 0 && d == 0) a[e] = N::real(a[e]);
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
SYMV_GPU void symv_ring_any_tile(symv_ring_sums<N, K> &s, const char *stage, const symv_gpu_part &part, int p, int q,
                                 const typename N::X *xp, int pitch, const typename N::X *xq, int xq_pitch)
{
    const unsigned flip = part.hermitian ? SYMV_FLIP : 0;
    if (symv_ring_inside<symv_ring_of<N, WARPS>>(part.grid, p, q))
        symv_ring_tile<N, WARPS, K, false>(s, stage, part, p, q, xp, pitch, xq, xq_pitch, flip);
    else
        symv_ring_tile<N, WARPS, K, true>(s, stage, part, p, q, xp, pitch, xq, xq_pitch, flip);
}

#endif
