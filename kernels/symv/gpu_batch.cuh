/* SPDX-License-Identifier: Apache-2.0
 *
 * BATCH: a block of four warps works on one matrix, tile by tile through a ring of asynchronous copies
 * (gpu_pieces.cuh), strip by strip and down each, and writes y itself. Sums of columns are made in registers down a
 * strip; sums of rows in shared memory, each warp's of its own, and over the warps at the end: there alone they wait
 * for each other. The order is decided by n and by whether columns begin at multiples of 16 bytes.
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

/* The tiles of a matrix in the order in which they are worked on: strip by strip, b, down each, r. The shortest strip
 * comes first, so that there is something to work on early. */
template <class R> struct symv_batch_cursor {
    int r, b, rows, columns;
    bool upper;
    __device__ __forceinline__ symv_batch_cursor(int n, bool upper_) : upper(upper_)
    {
        rows = (n + R::TX - 1) / R::TX;
        columns = (n + R::TY - 1) / R::TY;
        b = upper ? 0 : columns - 1;
        enter();
    }
    __device__ __forceinline__ void enter()
    {
        r = upper ? 0 : b * R::TY / R::TX;
    }
    __device__ __forceinline__ bool more() const
    {
        return upper ? b < columns : b >= 0;
    }
    /* To the next; true: it is in another strip. */
    __device__ __forceinline__ bool step()
    {
        const int last = upper ? min(rows - 1, ((b + 1) * R::TY - 1) / R::TX) : rows - 1;
        if (++r <= last) return false;
        b += upper ? 1 : -1;
        enter();
        return true;
    }
};

/* The warp's sums of rows, of the tile whose first is at rows[side][pitch], to its lanes and back. */
template <class N, bool ALIGNED, int K>
SYMV_GPU void symv_batch_take(symv_ring_sums<N, K> &s, const typename N::X *rows, int pitch)
{
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int e = 0; e < N::V; e++)
            s.row[k][e] = rows[k * pitch + symv_ring_row<N, ALIGNED>((int)threadIdx.x % 32, e)];
}
template <class N, bool ALIGNED, int K>
SYMV_GPU void symv_batch_leave(const symv_ring_sums<N, K> &s, typename N::X *rows, int pitch)
{
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int e = 0; e < N::V; e++)
            rows[k * pitch + symv_ring_row<N, ALIGNED>((int)threadIdx.x % 32, e)] = s.row[k][e];
}

/* A strip's sums of columns over the lanes, added to the warp's sums of the rows of the same numbers,
 * to[side][pitch].
 */
template <class N, int K> SYMV_GPU void symv_batch_columns(symv_ring_sums<N, K> &s, typename N::X *to, int pitch)
{
    typedef symv_ring_of<N, SYMV_BATCH_WARPS> R;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int first = symv_fold<N, R::COLUMNS, 32>(s.column[k], lane);
        typename N::X *sum = to + k * pitch + warp + first * SYMV_BATCH_WARPS;
        if (lane % (32 / R::COLUMNS) == 0) *sum = N::add(*sum, s.column[k][0]);
#pragma unroll
        for (int c = 0; c < R::COLUMNS; c++)
            s.column[k][c] = symv_zero<typename N::X>();
    }
    __syncwarp();
}

/* Blocks a multiprocessor, as many as registers hold without spilling. */
template <class N, int K> struct symv_batch_resident {
    enum {
        ROWS = (int)sizeof(typename N::X) * N::V, /* bytes of a lane's sums of rows */
        BLOCKS = K > 1                       ? 2
                 : ROWS > 16                 ? 4
                 : sizeof(typename N::X) > 8 ? 5
                                             : 6
    };
};

template <class N, bool ALIGNED, int K>
__global__ __launch_bounds__(32 * SYMV_BATCH_WARPS, symv_batch_resident<N, K>::BLOCKS) void symv_batch_block(
    const __grid_constant__ symv_batch_launch l)
{
    typedef symv_ring_of<N, SYMV_BATCH_WARPS> R;
    typedef typename N::X X;
    enum { STAGES = SYMV_BATCH_STAGES, STAGE = ALIGNED ? R::STAGE : R::STAGE_APART };
    extern __shared__ int4 symv_batch_memory[];
    const symv_gpu_part part = symv_batch_part<N>(l, blockIdx.x);
    const int n = (int)part.grid.n;
    if (part.grid.n <= l.least || part.grid.n > l.most) return;
    char *ring = (char *)symv_batch_memory;
    X *x = (X *)(ring + STAGES * STAGE), *rows = x + K * l.pitch; /* [warp][side][pitch] */
    X *own = rows + (int)threadIdx.x / 32 * K * l.pitch;
    const uint64_t policy = symv_read_once();
    symv_batch_cursor<R> copied(n, part.grid.upper), at(n, part.grid.upper);
    int stage = 0;
    const auto copy = [&](int to) {
        if (copied.more()) {
            symv_ring_copy<N, SYMV_BATCH_WARPS, ALIGNED>(part, symv_shared(ring + to * STAGE), copied.r * R::TX,
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
        }
    for (int e = (int)threadIdx.x % 32; e < K * l.pitch; e += 32)
        own[e] = symv_zero<X>();
    __syncthreads();
    symv_ring_sums<N, K> s = {};
    while (at.more()) {
        const int p = at.r * R::TX, q = at.b * R::TY;
        symv_batch_take<N, ALIGNED, K>(s, own + p, l.pitch);
        symv_wait<STAGES - 1>();
        if (!ALIGNED) __syncwarp();
        symv_ring_any_tile<N, SYMV_BATCH_WARPS, ALIGNED, K>(s, ring + stage * STAGE, part, p, q, x + p, l.pitch,
                                                            x + q, l.pitch);
        symv_batch_leave<N, ALIGNED, K>(s, own + p, l.pitch);
        if (!ALIGNED) __syncwarp();
        copy(stage);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        if (at.step()) symv_batch_columns<N, K>(s, own + q, l.pitch);
    }
    __syncthreads();
    for (int k = 0; k < l.count; k++)
        for (int e = (int)threadIdx.x; e < n; e += R::THREADS) {
            X sum[SYMV_BATCH_WARPS];
#pragma unroll
            for (int w = 0; w < SYMV_BATCH_WARPS; w++)
                sum[w] = rows[(w * K + k) * l.pitch + e];
            symv_end<N>(part, k, e, symv_halve<N, SYMV_BATCH_WARPS>(sum));
        }
}

#endif
