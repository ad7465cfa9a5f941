/* SPDX-License-Identifier: Apache-2.0
 *
 * A tile through a stage of a ring in shared memory, for the families RING and BATCH: asynchronous copies fill it,
 * and its sums are made. A tile is 32 lanes by 16 bytes high (32 by elements of 32 bytes) and WARPS x COLUMNS wide. A
 * lane copies what it will read itself, so the ring needs no barrier. Where columns do not begin at multiples of 16
 * bytes a warp copies a column's part from the multiple before it on, its lanes have rows 32 apart (so that they read
 * different banks), and the warp waits for itself.
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
        PART = 32 * PIECE,                         /* that a warp does */
        APART = PART + 16,                         /* and its room where it does not begin at 16 bytes */
        STAGE = COLUMNS * WARPS * PART,
        STAGE_APART = COLUMNS * WARPS * APART
    };
};

/* Row e = 0 .. V - 1 of a lane, within its tile. */
template <class N, bool ALIGNED> SYMV_GPU int symv_ring_row(int lane, int e)
{
    return ALIGNED ? lane * N::V + e : lane + 32 * e;
}

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
template <class N, int WARPS, bool EDGE>
SYMV_GPU void symv_ring_copy_tile(const symv_gpu_part &part, unsigned stage, int p, int q, uint64_t policy)
{
    typedef symv_ring_of<N, WARPS> R;
    typedef typename N::M M;
    const int lane = (int)threadIdx.x % 32, n = (int)part.grid.n, at = p + lane * N::V;
    unsigned to = symv_whole(stage + threadIdx.x * R::PIECE);
    const bool upper = part.grid.upper;
    const int whole = min(16, max(0, (n - at) * (int)sizeof(M)));
    symv_ring_columns_of<N, WARPS> is(part, p, q);
    int j = q + (int)threadIdx.x / 32;
#pragma unroll
    for (int c = 0; c < R::COLUMNS; c++, j += WARPS, to += R::THREADS * R::PIECE, is.step()) {
        const bool some = !EDGE || (j < n && (upper ? at <= j : at + N::V > j));
#pragma unroll
        for (int b = 0; b < R::PIECE; b += 16)
            symv_copy_16(to + b, some ? (const char *)(is.column + lane * N::V) + b : (const char *)part.a,
                         EDGE ? (some ? (unsigned)whole : 0U) : 16U, policy);
    }
}

/* Of the 16 bytes from `begin` on, counted from row p of column j, those that are wanted at a tile that is not whole:
 * up to the matrix's end, and none where all lie in the other triangle. */
template <class N> SYMV_GPU unsigned symv_ring_some(const symv_gpu_grid &g, int p, int j, int begin)
{
    enum { FAR = 1024, EACH = sizeof(typename N::M) };
    const int n = (int)g.n, end = min(n - p, FAR) * EACH, diagonal = max(-FAR, min(FAR, j - p)) * EACH;
    if (j >= n || (g.upper ? begin > diagonal : begin + 16 <= diagonal)) return 0;
    return (unsigned)max(0, min(16, end - begin));
}

/* The same where columns begin anywhere: 16 bytes a lane from the multiple of 16 before the part on, then what is
 * left of column c by lane c. */
template <class N, int WARPS, bool EDGE>
SYMV_GPU void symv_ring_copy_apart(const symv_gpu_part &part, unsigned stage, int p, int q, uint64_t policy)
{
    typedef symv_ring_of<N, WARPS> R;
    typedef typename N::M M;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const char *const none = (const char *)part.a - (uintptr_t)part.a % 16;
    unsigned to = symv_whole(stage + (unsigned)(warp * R::APART + lane * 16));
    symv_ring_columns_of<N, WARPS> is(part, p, q);
    int j = q + warp;
#pragma unroll
    for (int c = 0; c < R::COLUMNS; c++, j += WARPS, to += WARPS * R::APART, is.step()) {
        const int before = (int)((uintptr_t)is.column % 16);
#pragma unroll
        for (int b = 0; b < R::PART; b += 32 * 16) {
            const int begin = b + lane * 16 - before;
            const unsigned some = EDGE ? symv_ring_some<N>(part.grid, p, j, begin) : 16U;
            symv_copy_16(to + (unsigned)b, some > 0 ? (const char *)is.column + begin : none, some, policy);
        }
    }
    const int mine = q + warp + lane % R::COLUMNS * WARPS;
    const M *column = (const M *)part.a + symv_gpu_column(&part, mine) + p;
    const int before = (int)((uintptr_t)column % 16);
    const unsigned last = symv_whole(stage + (unsigned)((lane % R::COLUMNS * WARPS + warp) * R::APART + R::PART));
    unsigned some = (unsigned)before;
    if (EDGE) some = min(some, symv_ring_some<N>(part.grid, p, mine, R::PART - before));
    if (lane < R::COLUMNS && before > 0)
        symv_copy_16(last, some > 0 ? (const char *)column + R::PART - before : none, some, policy);
}

/* One tile to its stage: this warp's columns, rows from p on. All lanes of the warp. */
template <class N, int WARPS, bool ALIGNED>
SYMV_GPU void symv_ring_copy(const symv_gpu_part &part, unsigned stage, int p, int q, uint64_t policy)
{
    const bool inside = symv_ring_inside<symv_ring_of<N, WARPS>>(part.grid, p, q);
    if constexpr (ALIGNED) {
        if (inside)
            symv_ring_copy_tile<N, WARPS, false>(part, stage, p, q, policy);
        else
            symv_ring_copy_tile<N, WARPS, true>(part, stage, p, q, policy);
    } else {
        if (inside)
            symv_ring_copy_apart<N, WARPS, false>(part, stage, p, q, policy);
        else
            symv_ring_copy_apart<N, WARPS, true>(part, stage, p, q, policy);
    }
}

/* --- sums --------------------------------------------------------------------------------------------------- */

/* This lane's sums over a tile: row over its columns, column over the chunk's rows so far. */
template <class N, int K> struct symv_ring_sums {
    typename N::X column[K][symv_ring_of<N, 1>::COLUMNS];
    typename N::X row[K][N::V];
};

/* A lane's elements of column c of its warp, which begins at `column` in memory. */
template <class N, int WARPS, bool ALIGNED>
SYMV_GPU void symv_ring_read(typename N::M (&a)[N::V], const char *stage, int c, const typename N::M *column)
{
    typedef symv_ring_of<N, WARPS> R;
    if constexpr (ALIGNED) {
        const char *piece = stage + (c * R::THREADS + (int)threadIdx.x) * R::PIECE;
#pragma unroll
        for (int b = 0; b < R::PIECE / 16; b++)
            ((int4 *)a)[b] = ((const int4 *)piece)[b];
    } else {
        const int warp = (int)threadIdx.x / 32, before = (int)((uintptr_t)column % 16);
        const typename N::M *part = (const typename N::M *)(stage + (c * WARPS + warp) * R::APART + before);
#pragma unroll
        for (int e = 0; e < N::V; e++)
            a[e] = symv_load(part + symv_ring_row<N, ALIGNED>((int)threadIdx.x % 32, e));
    }
}

/* One tile. x of its rows at xp[side][pitch], of its columns at xq[side][xq_pitch], zeros outside the matrix. EDGE:
 * what lies in the other triangle, and of the diagonal the mirror image, is left out. */
template <class N, int WARPS, bool ALIGNED, int K, bool EDGE>
SYMV_GPU void symv_ring_tile(symv_ring_sums<N, K> &s, const char *stage, const symv_gpu_part &part, int p, int q,
                             const typename N::X *xp, int pitch, const typename N::X *xq, int xq_pitch, unsigned flip)
{
    typedef symv_ring_of<N, WARPS> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    /* How far into the stored triangle the lane's first element in its first column lies. */
    const int sign = part.grid.upper ? -1 : 1;
    const int depth = sign * (p + symv_ring_row<N, ALIGNED>(lane, 0) - q - warp);
    symv_ring_columns_of<N, WARPS> is(part, p, q);
    typename N::X x[K][N::V];
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int e = 0; e < N::V; e++)
            x[k][e] = xp[k * pitch + symv_ring_row<N, ALIGNED>(lane, e)];
#pragma unroll
    for (int c = 0; c < R::COLUMNS; c++, is.step()) {
        typename N::M a[N::V];
        symv_ring_read<N, WARPS, ALIGNED>(a, stage, c, is.column);
#pragma unroll
        for (int e = 0; e < N::V; e++) {
            const int d = depth + sign * (symv_ring_row<N, ALIGNED>(0, e) - c * WARPS);
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
template <class N, int WARPS, bool ALIGNED, int K>
SYMV_GPU void symv_ring_any_tile(symv_ring_sums<N, K> &s, const char *stage, const symv_gpu_part &part, int p, int q,
                                 const typename N::X *xp, int pitch, const typename N::X *xq, int xq_pitch)
{
    const unsigned flip = part.hermitian ? SYMV_FLIP : 0;
    if (symv_ring_inside<symv_ring_of<N, WARPS>>(part.grid, p, q))
        symv_ring_tile<N, WARPS, ALIGNED, K, false>(s, stage, part, p, q, xp, pitch, xq, xq_pitch, flip);
    else
        symv_ring_tile<N, WARPS, ALIGNED, K, true>(s, stage, part, p, q, xp, pitch, xq, xq_pitch, flip);
}

#endif
