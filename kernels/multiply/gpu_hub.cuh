/* SPDX-License-Identifier: Apache-2.0
 *
 * HUB rows: so heavy that one block a window would end long after all others. Several blocks each take a part of the
 * row's entries of A, in turns of eight, and put their cells together in global memory; the last one takes them from
 * there and goes on as for any dense window.
 *
 * Wide ones have so many entries of A that looking each up in every window would be most of the work. Blocks add
 * their products straight to the cells in global memory, in the tasks of the first half of the windows; those of the
 * second half, dealt later, wait for them and store a window each.
 *
 * Which rows: gpu_hub.cu. Used by gpu_dense.cuh. Loops here are not unrolled: few rows come this way, and all who
 * write a function wait for this to compile.
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

/* What a task of DENSE does. */
enum { MULG_PART, MULG_SCATTER, MULG_GATHER, MULG_IDLE };

/* Row and part of the r-th task of a window. */
MULG_DEVICE void mulg_hub_task(const mulg_params &p, mul_u32 r, mul_u32 *i, mul_u32 *part, mul_u32 *parts)
{
    mul_u32 row = 0;
#pragma unroll 1
    for (mul_u32 g = 0; g < MULG_HUB_GROUPS; g++) {
        const uint2 group = p.hub_group[g];
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

/* Whether a row of so many entries of A is wide. */
MULG_DEVICE bool mulg_hub_is_wide(const mulg_params &p, mul_u32 i, mul_u32 degree)
{
    mul_u32 g = 0;
#pragma unroll 1
    for (; g + 1 < MULG_HUB_GROUPS && i >= p.hub_group[g].x; g++)
        i -= p.hub_group[g].x;
    return p.windows > 1 && degree >= p.hub_wide[g];
}

/* What a task of a wide row does: part and parts are then those of the row, or the window is the one to store. */
MULG_DEVICE int mulg_hub_wide(mul_u32 windows, mul_u32 *window, mul_u32 *part, mul_u32 *parts)
{
    const mul_u32 scatter =
        windows / 2; /* windows whose tasks do: the rest has at least two tasks each to store all */
    if (*window < scatter) {
        *part += *window * *parts;
        *parts *= scatter;
        return MULG_SCATTER;
    }
    *window = (*window - scatter) * *parts + *part;
    *parts *= scatter;
    return *window < windows ? MULG_GATHER : MULG_IDLE;
}

/* Waits for all parts of a wide row, then has the window's cells. */
template <class R>
MULG_DEVICE void mulg_hub_gather(const mulg_params &p, typename R::cell::bits *cell, mul_u32 *mark, mul_u32 i,
                                 mul_u32 window, mul_u32 parts)
{
    typedef typename R::cell C;
    constexpr mul_u32 cells = mulg_dense_cells<R>::cells, words = cells / 32;
    const mul_u64 first = (mul_u64)i * p.windows, at = first + window;
    while (*(const volatile mul_u32 *)(p.hub_done + first) != parts)
        __nanosleep(100);
    __threadfence();
    const typename C::bits *const sum = (const typename C::bits *)p.hub_cell + at * cells;
    for (mul_u32 k = threadIdx.x; k < cells; k += MULG_THREADS)
        cell[k] = __ldcg(sum + k);
    if constexpr (C::marked)
        for (mul_u32 k = threadIdx.x; k < words; k += MULG_THREADS)
            mark[k] = __ldcg(p.hub_mark + at * words + k);
}

/* Column j of row i's, into its cell in global memory. */
template <class R> MULG_DEVICE void mulg_hub_put(const mulg_params &p, mul_u32 i, mul_u32 j, typename R::T v)
{
    typedef typename R::cell C;
    constexpr mul_u32 cells = mulg_dense_cells<R>::cells;
    typename C::bits *const cell = (typename C::bits *)p.hub_cell + (mul_u64)i * p.windows * cells;
    if constexpr (mulg_narrow<R>::value)
        atomicAdd(cell + j / 2, 1u << (j << 4 & 31));
    else if constexpr (!R::VALUES)
        C::add(cell + j);
    else
        mulg_merge((const C *)nullptr, cell + j, mulg_bits((const C *)nullptr, v));
    if constexpr (C::marked) {
        mul_u32 *const mark = p.hub_mark + (mul_u64)i * p.windows * (cells / 32) + j / 32;
        if (!(__ldcg(mark) >> (j & 31) & 1)) atomicOr(mark, 1u << (j & 31));
    }
}

/* A part of a wide row is done. */
MULG_DEVICE void mulg_hub_scattered(const mulg_params &p, mul_u32 i)
{
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(p.hub_done + (mul_u64)i * p.windows, 1u);
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
