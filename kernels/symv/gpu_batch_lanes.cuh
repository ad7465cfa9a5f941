/* SPDX-License-Identifier: Apache-2.0
 *
 * BATCH, matrices of at most 32 rows: LANES lanes work on one, lane i on row i, 8 columns at a time; no shared
 * memory. The sum of row i over what is stored in it and the sum of column i's mirror image come together in lane i.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_BATCH_LANES_CUH
#define LACIS_KERNELS_SYMV_GPU_BATCH_LANES_CUH

#include "symv/gpu_batch.h"
#include "symv/gpu_end.cuh"

/* What lane `lane` of the warp has. */
template <class N> SYMV_GPU typename N::X symv_from(const typename N::X &x, int lane)
{
    enum { PARTS = sizeof(typename N::X) / sizeof(typename N::S) };
    typename N::X out;
#pragma unroll
    for (int i = 0; i < PARTS; i++)
        ((typename N::S *)&out)[i] = __shfl_sync(~0U, ((const typename N::S *)&x)[i], lane);
    return out;
}

template <class N, int LANES, int K>
__global__ __launch_bounds__(32 *
                             SYMV_BATCH_LANE_WARPS) void symv_batch_lanes(const __grid_constant__ symv_batch_launch l)
{
    typedef typename N::X X;
    typedef typename N::M M;
    enum { AT_ONCE = 8 };
    const int lane = (int)threadIdx.x % 32, i = lane % LANES, base = lane - i;
    const int64_t m = ((int64_t)blockIdx.x * SYMV_BATCH_LANE_WARPS * 32 + threadIdx.x) / LANES;
    symv_gpu_part part = symv_batch_part<N>(l, m < l.matrices ? m : 0);
    const bool mine = m < l.matrices && part.grid.n > l.least && part.grid.n <= l.most;
    const int n = mine ? (int)part.grid.n : 0, most = __reduce_max_sync(~0U, n);
    const unsigned flip = part.hermitian ? SYMV_FLIP : 0;
    X x[K], row[K], column[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
        x[k] =
            k < l.count && i < n ? symv_load((const X *)part.x + k * part.x_side + i * part.x_step) : symv_zero<X>();
        row[k] = column[k] = symv_zero<X>();
    }
#pragma unroll
    for (int b = 0; b < LANES; b += AT_ONCE) {
        if (b >= most) break;
        M a[AT_ONCE];
#pragma unroll
        for (int c = 0; c < AT_ONCE; c++) {
            const int j = b + c;
            const bool stored = i < n && j < n && (part.grid.upper ? i <= j : i >= j);
            a[c] = stored ? symv_load((const M *)part.a + symv_gpu_column(&part, j) + i) : symv_zero<M>();
            if (part.hermitian && i == j) a[c] = N::real(a[c]);
        }
#pragma unroll
        for (int k = 0; k < K; k++) {
            X v[AT_ONCE];
#pragma unroll
            for (int c = 0; c < AT_ONCE; c++) {
                const int j = b + c;
                const bool stored = i < n && j < n && (part.grid.upper ? i <= j : i >= j);
                const X xj = symv_from<N>(x[k], base + j);
                if (stored) row[k] = N::fma(a[c], xj, row[k]);
                v[c] = stored && i != j ? N::fma(N::mirror(a[c], flip), x[k], symv_zero<X>()) : symv_zero<X>();
            }
            symv_fold<N, AT_ONCE, LANES>(v, lane);
            const X got = symv_from<N>(v[0], base + i % AT_ONCE * (LANES / AT_ONCE)); /* which lane has column i */
            if (i / AT_ONCE * AT_ONCE == b) column[k] = got;
        }
    }
    if (i >= n) return;
#pragma unroll
    for (int k = 0; k < K; k++)
        if (k < l.count) symv_end<N>(part, k, i, N::add(row[k], column[k]));
}

#endif
