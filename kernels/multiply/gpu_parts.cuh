/* SPDX-License-Identifier: Apache-2.0
 *
 * HUB rows whose AGG has no atomic on global memory: written folds, values of 16 bytes, FIRST, LAST and AVG. As in
 * gpu_hub.cuh several blocks, or warps in order, each take a part of the row's entries of A for a window, but their
 * cells stay apart: each part has a place in global memory of its own, and the one that ends last folds all of them,
 * the first part first, and goes on as for any dense window. A window's parts follow each other in the order of
 * tasks; part k of a window lies where its task's number says. Loops are not unrolled, as in gpu_hub.cuh.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_PARTS_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_PARTS_CUH

#include "gpu_hub.cuh"

/* Written by another block: past the L1. Values of 16 bytes: gpu_fold.cuh. */
MULG_DEVICE mul_u32 mulg_afar(const mul_u32 *at)
{
    return __ldcg(at);
}
MULG_DEVICE mul_u64 mulg_afar(const mul_u64 *at)
{
    return __ldcg(at);
}

/* The task that is part 0 of a window of hub row i: so that nobody has to keep it. */
MULG_DEVICE mul_u32 mulg_parts_first(const mulg_params &p, mul_u32 i, mul_u32 window)
{
    mul_u32 first = window * p.hub_tasks, g = 0;
#pragma unroll 1
    for (; g + 1 < MULG_HUB_GROUPS && i >= p.hub_group[g].x; g++) {
        first += p.hub_group[g].x * p.hub_group[g].y;
        i -= p.hub_group[g].x;
    }
    return first + i * p.hub_group[g].y;
}

/* The block's cells to its own place; the last part of the window answers true, its cells then being all parts'
 * together. Others leave their cells empty. `flag`: a word of shared memory. A call of its own, since its loops would
 * cost all rows registers. */
template <class R>
static __device__ __attribute__((noinline)) bool mulg_parts_merge(const mulg_params &p, typename R::cell::bits *cell,
                                                                  mul_u32 *mark, mul_u32 *flag, mul_u32 row,
                                                                  mul_u32 window, mul_u32 part, mul_u32 parts)
{
    typedef typename R::cell C;
    typedef typename C::bits bits;
    constexpr mul_u32 cells = mulg_dense_cells<R>::cells, words = cells / 32;
    const mul_u64 first = mulg_parts_first(p, row, window);
    bits *const place = (bits *)p.hub_cell + first * cells;
    mul_u32 *const place_mark = p.hub_mark + first * words;
#pragma unroll 1
    for (mul_u32 i = threadIdx.x; i < cells; i += MULG_THREADS) {
        place[(mul_u64)part * cells + i] = cell[i];
        cell[i] = C::empty();
    }
    if constexpr (C::marked)
#pragma unroll 1
        for (mul_u32 i = threadIdx.x; i < words; i += MULG_THREADS) {
            place_mark[(mul_u64)part * words + i] = mark[i];
            mark[i] = 0;
        }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *flag = atomicAdd(p.hub_done + (mul_u64)row * p.windows + window, 1u) + 1 == parts;
    __syncthreads();
    if (!*flag) return false;
    __threadfence();
#pragma unroll 1
    for (mul_u32 i = threadIdx.x; i < cells; i += MULG_THREADS) {
        bits all = C::empty();
#pragma unroll 1
        for (mul_u32 k = 0; k < parts; k++)
            all = C::both(all, mulg_afar(place + (mul_u64)k * cells + i));
        cell[i] = all;
    }
    if constexpr (C::marked)
#pragma unroll 1
        for (mul_u32 i = threadIdx.x; i < words; i += MULG_THREADS) {
            mul_u32 all = 0;
#pragma unroll 1
            for (mul_u32 k = 0; k < parts; k++)
                all |= __ldcg(place_mark + (mul_u64)k * words + i);
            mark[i] = all;
        }
    __syncthreads();
    return true;
}

/* Whether rows are split where products are folded in order; what NVRTC compiles for other AGGs does without. */
template <class R> struct mulg_parts_ordered {
#ifdef LACIS_NVRTC
    static constexpr bool value = LACIS_AGG == MULG_FIRST || LACIS_AGG == MULG_LAST || LACIS_AGG == MULG_AVG;
#else
    static constexpr bool value = true;
#endif
};

/* The same for a warp's window w of gpu_ordered.cuh. Parts are of entries that follow each other. */
template <class W>
MULG_DEVICE bool mulg_parts_in_order(const mulg_params &p, W &w, mul_u64 at, mul_u64 first, mul_u32 part,
                                     mul_u32 parts)
{
    constexpr mul_u32 width = W::shared::width;
    const mul_u32 lane = threadIdx.x & 31;
    mul_u32 done = 0;
#pragma unroll 1
    for (mul_u32 j = lane; j < width; j += 32) {
        w.leave(p, (first + part) * width + j, j);
        w.clear(j);
    }
    __threadfence();
    __syncwarp();
    if (lane == 0) done = atomicAdd(p.hub_done + at, 1u) + 1;
    done = __shfl_sync(MULG_ALL, done, 0);
    if (done != parts) return false;
    __threadfence();
#pragma unroll 1
    for (mul_u32 j = lane; j < width; j += 32)
#pragma unroll 1
        for (mul_u32 k = 0; k < parts; k++)
            w.join(p, (first + k) * width + j, j);
    __syncwarp();
    return true;
}

#endif
