/* SPDX-License-Identifier: Apache-2.0
 *
 * A block sorts keys in shared memory: warps sort pieces of 64 in their registers (bitonic, gpu_tiny.cuh), then
 * pieces are merged two by two. Where a thread's part of a merge begins in either run is where the merge path crosses
 * its diagonal, so each thread writes as many keys, however the runs interleave (O. Green, R. McColl, D. Bader, "GPU
 * Merge Path", ICS 2012; S. Odeh et al., "Merge Path - Parallel Merging Made Simple", IPDPSW 2012). Keys are
 * distinct. For gpu_small.cuh.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_BLOCK_SORT_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_BLOCK_SORT_CUH

#include "gpu_tiny.cuh"

enum {
    MULG_PIECE = 64,                            /* keys that a warp sorts at a time */
    MULG_SORT_EACH = 8,                         /* keys of a thread at most */
    MULG_SORTED = MULG_SORT_EACH * MULG_THREADS /* keys at most */
};

/* Pieces of n keys, each rising; ends with a barrier. */
template <class K> MULG_DEVICE void mulg_sort_pieces(K *key, mul_u32 n)
{
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const K none = ~(K)0;
#pragma unroll 1
    for (mul_u32 from = warp * MULG_PIECE; from < n; from += MULG_WARPS * MULG_PIECE) {
        const mul_u32 i = from + lane, j = i + 32;
        K x = i < n ? key[i] : none, y = j < n ? key[j] : none;
        if (n - from > 32)
            mulg_sort64(x, y);
        else
            mulg_sort32(x);
        if (i < n) key[i] = x;
        if (j < n) key[j] = y;
    }
    __syncthreads();
}

/* How many of the first d keys of both runs together are x's. */
template <class K>
MULG_DEVICE mul_u32 mulg_merge_path(const K *x, mul_u32 x_length, const K *y, mul_u32 y_length, mul_u32 d)
{
    mul_u32 lo = d > y_length ? d - y_length : 0, hi = d < x_length ? d : x_length;
    while (lo < hi) {
        const mul_u32 middle = (lo + hi) / 2;
        if (x[middle] < y[d - 1 - middle])
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Runs of `run` keys become runs of twice as many. `each` divides 2 run and is enough for n keys. */
template <class K> MULG_DEVICE void mulg_merge_runs(K *key, mul_u32 n, mul_u32 run, mul_u32 each)
{
    const mul_u32 first = threadIdx.x * each;
    K merged[MULG_SORT_EACH];
    if (first < n) {
        const mul_u32 base = first & ~(2 * run - 1), left = n - base;
        const mul_u32 x_length = left < run ? left : run, rest = left - x_length, y_length = rest < run ? rest : run;
        const K *const x = key + base, *const y = x + x_length, none = ~(K)0;
        mul_u32 i = mulg_merge_path(x, x_length, y, y_length, first - base), j = first - base - i;
        K a = i < x_length ? x[i] : none, b = j < y_length ? y[j] : none;
#pragma unroll
        for (int k = 0; k < MULG_SORT_EACH; k++) {
            if (k >= each) break;
            const bool from_x = a < b;
            merged[k] = from_x ? a : b;
            if (from_x)
                a = ++i < x_length ? x[i] : none;
            else
                b = ++j < y_length ? y[j] : none;
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < MULG_SORT_EACH; k++)
        if (k < each && first + k < n) key[first + k] = merged[k];
    __syncthreads();
}

/* Sorts n <= MULG_SORTED keys below ~0. All threads call it, once the keys are there; ends with a barrier. */
template <class K> MULG_DEVICE void mulg_block_sort(K *key, mul_u32 n)
{
    mul_u32 each = 1;
    while (each * MULG_THREADS < n)
        each *= 2;
    mulg_sort_pieces(key, n);
#pragma unroll 1
    for (mul_u32 run = MULG_PIECE; run < n; run *= 2)
        mulg_merge_runs(key, n, run, each);
}

#endif
