/* SPDX-License-Identifier: Apache-2.0
 *
 * HUB rows: so heavy that one block a window would end long after all others. Several blocks each take a part of the
 * row's entries of A, in turns of eight, and put their cells together in global memory; the last one takes them from
 * there and goes on as for any dense window. Which rows: gpu_hub.cu. Used by gpu_dense.cuh. Loops here are not
 * unrolled: few rows come this way, and all who write a function wait for this to compile.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_HUB_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_HUB_CUH

#include "gpu_window.cuh"

/* Entry of the row's A that is the m-th of a part. */
MULG_DEVICE mul_u32 mulg_hub_entry(mul_u32 m, mul_u32 part, mul_u32 parts)
{
    return ((m >> 3) * parts + part) << 3 | (m & 7);
}

/* How many m there are (some of the last eight may be beyond the row). */
MULG_DEVICE mul_u32 mulg_hub_entries(mul_u32 degree, mul_u32 part, mul_u32 parts)
{
    const mul_u32 eights = (degree + 7) / 8;
    return part < eights ? ((eights - part - 1) / parts + 1) * 8 : 0;
}

/* Row and part of the r-th task of a window. */
MULG_DEVICE void mulg_hub_task(const mulg_params &p, mul_u32 r, mul_u32 *i, mul_u32 *part, mul_u32 *parts)
{
    mul_u32 row = 0;
#pragma unroll 1
    for (mul_u32 g = 0; g < MULG_HUB_GROUPS; g++) {
        const uint2 group = p.hub_group[g]; /* rows, parts of each */
        if (r < group.x * group.y) {
            *i = row + r / group.y;
            *part = r % group.y;
            *parts = group.y;
            return;
        }
        r -= group.x * group.y;
        row += group.x;
    }
}

/* Puts the block's cells to those of the parts before. The last part answers true, its cells then being the sums;
 * cells are empty otherwise. `at`: the window among all windows of hub rows; `flag`: a word of shared memory. */
template <class R>
MULG_DEVICE bool mulg_hub_merge(const mulg_params &p, typename R::cell::bits *cell, mul_u32 *mark, mul_u32 *flag,
                                mul_u64 at, mul_u32 parts)
{
    typedef typename R::cell C;
    typedef typename C::bits bits;
    constexpr mul_u32 cells = mulg_dense_cells<R>::cells, words = cells / 32;
    bits *const sum = (bits *)p.hub_cell + at * cells;
    mul_u32 *const sum_mark = p.hub_mark + at * words;
#pragma unroll 1
    for (mul_u32 i = threadIdx.x; i < cells; i += MULG_THREADS) {
        const bits x = cell[i];
        bool touched = x != C::empty();
        if constexpr (C::marked) touched = mark[i / 32] >> (i & 31) & 1;
        if (touched) {
            mulg_merge((const C *)nullptr, sum + i, x);
            cell[i] = C::empty();
        }
    }
    if constexpr (C::marked) {
        __syncthreads();
        for (mul_u32 i = threadIdx.x; i < words; i += MULG_THREADS) {
            if (mark[i]) atomicOr(sum_mark + i, mark[i]);
            mark[i] = 0;
        }
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *flag = atomicAdd(p.hub_done + at, 1u) + 1 == parts;
    __syncthreads();
    if (!*flag) return false;
    __threadfence();
#pragma unroll 1
    for (mul_u32 i = threadIdx.x; i < cells; i += MULG_THREADS)
        cell[i] = __ldcg(sum + i);
    if constexpr (C::marked)
        for (mul_u32 i = threadIdx.x; i < words; i += MULG_THREADS)
            mark[i] = __ldcg(sum_mark + i);
    __syncthreads();
    return true;
}

#endif
