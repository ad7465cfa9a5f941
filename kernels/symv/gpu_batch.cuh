/* SPDX-License-Identifier: Apache-2.0
 *
 * BATCH: a block of four warps works on one matrix, tile by tile through a ring of asynchronous copies
 * (gpu_pieces.cuh), row of tiles by row of tiles, and writes y itself. Sums of columns are added up in shared memory,
 * each column by the warp that always has it; sums of rows in registers over a row of tiles, then over the warps. The
 * order is decided by n alone.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_BATCH_CUH
#define LACIS_KERNELS_SYMV_GPU_BATCH_CUH

#include "symv/gpu_batch.h"
#include "symv/gpu_end.cuh"
#include "symv/gpu_pieces.cuh"

/* Matrix m of the launch; sides count from the launch's first. */
template <class N> SYMV_GPU symv_gpu_part symv_batch_part(const symv_batch_launch &l, int64_t m)
{
    typedef typename N::X X;
    symv_gpu_part p = l.part;
    int64_t a = m * l.stride, x = m * l.x_stride, y = m * l.y_stride;
    if (l.one != nullptr) {
        const lacis_symv_one one = l.one[m];
        p.grid.n = one.n;
        p.ld = one.ld;
        a = one.a, x = one.x, y = one.y;
    }
    p.a = (const typename N::M *)p.a + a;
    p.x = (const X *)p.x + x + l.side * p.x_side;
    p.y0 = (const X *)p.y0 + y + l.side * p.y_side;
    p.y = (X *)p.y + y + l.side * p.y_side;
    if (p.totals != nullptr) p.totals = (X *)p.totals + m * l.totals_stride + l.side * p.row;
    return p;
}

/* The tiles of a matrix in the order in which they are worked on: row of tiles by row of tiles, r, in each those that
 * are stored, b. */
template <class R> struct symv_batch_cursor {
    int r, b, rows, columns;
    bool upper;
    __device__ __forceinline__ int first() const
    {
        return upper ? r * R::TX / R::TY : 0;
    }
    __device__ __forceinline__ int last() const
    {
        return upper ? columns - 1 : min(columns - 1, ((r + 1) * R::TX - 1) / R::TY);
    }
    __device__ __forceinline__ symv_batch_cursor(int n, bool upper_) : r(0), b(0), upper(upper_)
    {
        rows = (n + R::TX - 1) / R::TX;
        columns = (n + R::TY - 1) / R::TY;
    }
    __device__ __forceinline__ bool more() const
    {
        return r < rows;
    }
    /* To the next; true: it is in another row of tiles. */
    __device__ __forceinline__ bool step()
    {
        if (++b <= last()) return false;
        r++;
        b = first();
        return true;
    }
};

/* Sums of a tile's columns over the lanes, added to columns[side][pitch]. */
template <class N, int K>
SYMV_GPU void symv_batch_columns(symv_ring_sums<N, K> &s, typename N::X *columns, int pitch, int q)
{
    typedef symv_ring_of<N, SYMV_BATCH_WARPS> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int first = symv_fold<N, R::COLUMNS, 32>(s.column[k], lane);
        typename N::X *to = columns + k * pitch + q + warp + first * SYMV_BATCH_WARPS;
        if (lane % (32 / R::COLUMNS) == 0) *to = N::add(*to, s.column[k][0]);
#pragma unroll
        for (int c = 0; c < R::COLUMNS; c++)
            s.column[k][c] = symv_zero<typename N::X>();
    }
}

/* Sums of a row of tiles over the warps: v[side][TX] = rows[warp][side][TX], added. All threads; rows is free again
 * after the barrier that follows the next row of tiles. */
template <class N, int K>
SYMV_GPU void symv_batch_rows(symv_ring_sums<N, K> &s, typename N::X *rows, typename N::X *to, int pitch)
{
    typedef symv_ring_of<N, SYMV_BATCH_WARPS> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int e = 0; e < N::V; e++) {
            rows[(warp * K + k) * R::TX + lane * N::V + e] = s.row[k][e];
            s.row[k][e] = symv_zero<typename N::X>();
        }
    __syncthreads();
    for (int at = (int)threadIdx.x; at < K * R::TX; at += R::THREADS) {
        typename N::X v[SYMV_BATCH_WARPS];
#pragma unroll
        for (int w = 0; w < SYMV_BATCH_WARPS; w++)
            v[w] = rows[w * K * R::TX + at];
        to[at / R::TX * pitch + at % R::TX] = symv_halve<N, SYMV_BATCH_WARPS>(v);
    }
}

template <class N, bool ALIGNED, int K>
__global__ __launch_bounds__(32 * SYMV_BATCH_WARPS,
                             K == 1 ? 4 : 2) void symv_batch_block(const __grid_constant__ symv_batch_launch l)
{
    typedef symv_ring_of<N, SYMV_BATCH_WARPS> R;
    typedef typename N::X X;
    enum { STAGES = SYMV_BATCH_STAGES };
    extern __shared__ int4 symv_batch_memory[];
    const symv_gpu_part part = symv_batch_part<N>(l, blockIdx.x);
    const int n = (int)part.grid.n;
    if (part.grid.n <= l.least || part.grid.n > l.most) return;
    char *ring = (char *)symv_batch_memory;
    X *x = (X *)(ring + STAGES * R::STAGE), *columns = x + K * l.pitch, *sums = columns + K * l.pitch;
    X *rows = sums + K * l.pitch; /* [2][warp][side][TX] */
    const uint64_t policy = symv_read_once();
    symv_batch_cursor<R> copied(n, part.grid.upper), at(n, part.grid.upper);
    int stage = 0;
    const auto copy = [&](int to) {
        if (copied.more()) {
            symv_ring_copy<N, SYMV_BATCH_WARPS, ALIGNED>(part, symv_shared(ring + to * R::STAGE), copied.r * R::TX,
                                                         copied.b * R::TY, policy);
            copied.step();
        }
        symv_commit();
    };
#pragma unroll
    for (int t = 0; t < STAGES; t++)
        copy(t);
#pragma unroll
    for (int k = 0; k < K; k++)
        for (int e = (int)threadIdx.x; e < l.pitch; e += R::THREADS) {
            const X *from = (const X *)part.x + k * part.x_side + e * part.x_step;
            x[k * l.pitch + e] = k < l.count && e < n ? symv_load(from) : symv_zero<X>();
            columns[k * l.pitch + e] = symv_zero<X>();
        }
    __syncthreads();
    symv_ring_sums<N, K> s = {};
    while (at.more()) {
        const int r = at.r, q = at.b * R::TY;
        symv_wait<STAGES - 1>();
        if (!ALIGNED) __syncwarp();
        symv_ring_any_tile<N, SYMV_BATCH_WARPS, K>(s, ring + stage * R::STAGE, part, r * R::TX, q, x + r * R::TX,
                                                   l.pitch, x + q, l.pitch);
        if (!ALIGNED) __syncwarp();
        copy(stage);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        symv_batch_columns<N, K>(s, columns, l.pitch, q);
        if (at.step())
            symv_batch_rows<N, K>(s, rows + r % 2 * SYMV_BATCH_WARPS * K * R::TX, sums + r * R::TX, l.pitch);
    }
    __syncthreads();
    for (int k = 0; k < l.count; k++)
        for (int e = (int)threadIdx.x; e < n; e += R::THREADS)
            symv_end<N>(part, k, e, N::add(sums[k * l.pitch + e], columns[k * l.pitch + e]));
}

#endif
