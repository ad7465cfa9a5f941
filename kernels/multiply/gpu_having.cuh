/* SPDX-License-Identifier: Apache-2.0
 *
 * HAVING: entries of computed rows that the predicate does not keep are taken out, in place, after MASK and before
 * TOP as on the CPU: a warp a row, then a block a row for the long ones. The parameters are shared with
 * gpu_having.cu; the kernel is compiled by NVRTC behind the prefix of operators/multiply/written.c.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_HAVING_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_HAVING_CUH

#include "gpu_base.cuh"

enum { MULG_HAVING_SHORT = 1024, MULG_HAVING_BLOCKS = 6 };

struct mulg_having_params {
    const mul_i64 *rows; /* NULL: first, first + 1, ... */
    mul_i64 first, count;
    const mul_i64 *begin;
    mul_i64 *end;
    mul_u32 *column;
    void *value;
    const mul_i64 *mask_begin, *mask_end; /* NULL: no mask */
    const mul_u32 *mask_column;
    const mul_i64 *label[3]; /* of s, c, t, where they are listed */
    int mask_not, blocks;    /* blocks: the long rows, which warps have put in long_list */
    mul_u32 *long_list, *long_rows, *next, *bad;
    mul_u64 *entries;
};

#ifdef LACIS_HAVING
MULG_DEVICE bool mulg_having_keeps(const mulg_having_params &p, mul_i64 row, mul_u32 t, lacis_stored v, int *bad)
{
    if (p.mask_begin) {
        mul_i64 lo = p.mask_begin[row], hi = p.mask_end[row];
        const mul_i64 last = hi;
        while (lo < hi) {
            const mul_i64 middle = lo + (hi - lo) / 2;
            if (p.mask_column[middle] < t)
                lo = middle + 1;
            else
                hi = middle;
        }
        if ((lo < last && p.mask_column[lo] == t) == (p.mask_not != 0)) return false;
    }
    const mul_i64 s = LACIS_LISTED & 1 ? __ldg(p.label[0] + row) : row;
    return lacis_having(v, s, LACIS_LISTED & 4 ? __ldg(p.label[2] + t) : (mul_i64)t, bad);
}

/* A warp's row; answers its new end. */
MULG_DEVICE mul_i64 mulg_having_short(const mulg_having_params &p, mul_i64 row, mul_i64 begin, mul_i64 end, int *bad)
{
    const mul_u32 lane = threadIdx.x & 31;
    lacis_stored *const value = (lacis_stored *)p.value;
    mul_i64 to = begin;
    for (mul_i64 from = begin; from < end; from += 32) {
        const mul_i64 i = from + lane;
        bool stays = false;
        mul_u32 t = 0;
        lacis_stored v = lacis_stored();
        if (i < end) {
            t = p.column[i];
            v = value[i];
            stays = mulg_having_keeps(p, row, t, v, bad);
        }
        const mul_u32 votes = __ballot_sync(MULG_ALL, stays);
        if (stays) {
            p.column[to + __popc(votes & mulg_lanes_below())] = t;
            value[to + __popc(votes & mulg_lanes_below())] = v;
        }
        to += __popc(votes);
        __syncwarp();
    }
    return to;
}

/* A block's row. */
MULG_DEVICE mul_i64 mulg_having_long(const mulg_having_params &p, mul_u32 *warp_sum, mul_i64 row, mul_i64 begin,
                                     mul_i64 end, int *bad)
{
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    lacis_stored *const value = (lacis_stored *)p.value;
    mul_i64 to = begin;
    for (mul_i64 from = begin; from < end; from += MULG_THREADS) {
        const mul_i64 i = from + threadIdx.x;
        bool stays = false;
        mul_u32 t = 0;
        lacis_stored v = lacis_stored();
        if (i < end) {
            t = p.column[i];
            v = value[i];
            stays = mulg_having_keeps(p, row, t, v, bad);
        }
        const mul_u32 votes = __ballot_sync(MULG_ALL, stays);
        if (lane == 0) warp_sum[warp] = __popc(votes);
        __syncthreads();
        mul_u32 before = 0, all = 0;
        for (int w = 0; w < MULG_WARPS; w++) {
            if (w < warp) before += warp_sum[w];
            all += warp_sum[w];
        }
        if (stays) {
            const mul_i64 at = to + before + __popc(votes & mulg_lanes_below());
            p.column[at] = t;
            value[at] = v;
        }
        to += all;
        __syncthreads();
    }
    return to;
}

MULG_DEVICE void mulg_having_rows(const mulg_having_params &p, mul_u64 *kept, int *bad)
{
    const mul_u32 lane = threadIdx.x & 31;
    for (mul_i64 i = (mul_i64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; i < p.count;
         i += (mul_i64)gridDim.x * MULG_WARPS) {
        const mul_i64 row = p.rows ? p.rows[i] : p.first + i, begin = p.begin[row], end = p.end[row];
        if (end - begin > MULG_HAVING_SHORT) {
            if (lane == 0) p.long_list[atomicAdd(p.long_rows, 1u)] = (mul_u32)row;
            continue;
        }
        const mul_i64 last = mulg_having_short(p, row, begin, end, bad);
        if (lane == 0) {
            p.end[row] = last;
            *kept += (mul_u64)(last - begin);
        }
    }
}

MULG_DEVICE void mulg_having_blocks(const mulg_having_params &p, mul_u64 *kept, int *bad)
{
    __shared__ mul_u32 task, warp_sum[MULG_WARPS];
    const mul_u32 rows = *p.long_rows;
    for (;;) {
        if (threadIdx.x == 0) task = atomicAdd(p.next, 1u);
        __syncthreads();
        const mul_u32 i = task;
        __syncthreads();
        if (i >= rows) break;
        const mul_i64 row = p.long_list[i], begin = p.begin[row];
        const mul_i64 last = mulg_having_long(p, warp_sum, row, begin, p.end[row], bad);
        if (threadIdx.x == 0) {
            p.end[row] = last;
            *kept += (mul_u64)(last - begin);
        }
    }
}

extern "C" __global__ void __launch_bounds__(MULG_THREADS, MULG_HAVING_BLOCKS)
    lacis_having_kernel(const __grid_constant__ mulg_having_params p)
{
    mul_u64 kept = 0;
    int bad = 0;
    if (p.blocks)
        mulg_having_blocks(p, &kept, &bad);
    else
        mulg_having_rows(p, &kept, &bad);
    if (kept) atomicAdd(p.entries, kept);
    if (bad) *p.bad = 1;
}
#endif

#endif
