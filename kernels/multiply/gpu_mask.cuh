/* SPDX-License-Identifier: Apache-2.0
 *
 * MASK within MIDDLE and DENSE kernels: a row of the mask as a bit a column of a window, so that what is not kept is
 * never stored; gpu_sift.cuh has it for light rows. mulg_keep sees to products that may fail: MIDDLE leaves out what
 * is not kept before it is computed, and on the CPU a value fails whether it is kept or not. Written functions are
 * compiled with it where there is a MASK. Used by gpu_dense.cuh, gpu_middle.cuh and gpu_ordered.cuh.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_MASK_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_MASK_CUH

#include "gpu_walk.cuh"

/* Sets word's bits for the columns in [from, from + count) that stay of the row, count being a multiple of 32. All
 * threads call it; barriers part it from what is done with the words before and after. */
MULG_DEVICE void mulg_mask_bits(const mulg_params &p, mul_u32 row, mul_u64 from, mul_u32 count, mul_u32 *word)
{
    enum { SCANNED = 16 * MULG_THREADS }; /* entries of the mask that are looked through rather than searched */
    const mul_u32 *const column = p.mask_column + p.mask_begin[row];
    const mul_u32 length = (mul_u32)(p.mask_end[row] - p.mask_begin[row]);
    const mul_u32 first = length > SCANNED ? mulg_search(column, 0, length, from) : 0;
    for (mul_u32 i = threadIdx.x; i < count / 32; i += MULG_THREADS)
        word[i] = p.mask_not ? MULG_ALL : 0;
    __syncthreads();
#pragma unroll 1
    for (mul_u32 i = first + threadIdx.x; i < length; i += MULG_THREADS) {
        const mul_u64 j = (mul_u64)__ldg(column + i) - from; /* columns before the window wrap to beyond it */
        if (j < count) atomicXor(word + j / 32, 1u << (j & 31));
        if (j >= count && j >> 63 == 0) break;
    }
    __syncthreads();
}

/* The same by a warp. */
MULG_DEVICE void mulg_mask_warp(const mulg_params &p, mul_u32 row, mul_u64 from, mul_u32 count, mul_u32 *word)
{
    const mul_u32 *const column = p.mask_column + p.mask_begin[row];
    const mul_u32 length = (mul_u32)(p.mask_end[row] - p.mask_begin[row]), lane = threadIdx.x & 31;
    for (mul_u32 i = lane; i < count / 32; i += 32)
        word[i] = p.mask_not ? MULG_ALL : 0;
    __syncwarp();
#pragma unroll 1
    for (mul_u32 i = mulg_search(column, 0, length, from) + lane; i < length; i += 32) {
        const mul_u64 j = (mul_u64)__ldg(column + i) - from;
        if (j >= count) break;
        atomicXor(word + j / 32, 1u << (j & 31));
    }
    __syncwarp();
}

#endif
