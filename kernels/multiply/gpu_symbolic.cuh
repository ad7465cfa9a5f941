/* SPDX-License-Identifier: Apache-2.0
 *
 * Entries of a row without its values: columns as bits in shared memory, as in gpu_middle.cuh, window by window. For
 * gpu_room.cu, which counts rows before they have room, and gpu_sample.cu.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_SYMBOLIC_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_SYMBOLIC_CUH

#include "gpu_builtin.cuh"
#include "gpu_state.h"

typedef mulg_counts<mul_u32, false> mulg_symbolic;

/* Entries of the row among p.bits columns from lo on, a share of them in each thread. */
static __device__ mul_u32 mulg_count_window(const mulg_params &p, mulg_middle_shared<mulg_symbolic> &shared,
                                            mul_u32 row, mul_u64 lo)
{
    mul_u32 *const word = (mul_u32 *)mulg_dynamic;
    const mul_u32 words = p.bits / 32, base = p.t_lo + (mul_u32)lo;
    const mul_i64 begin = p.a_begin[row];
    for (mul_u32 i = threadIdx.x; i < words; i += MULG_THREADS)
        word[i] = 0;
    __syncthreads();
    const auto mark = [&](mul_u32 t) { atomicOr(word + (t - base) / 32, 1u << ((t - base) & 31)); };
    mulg_products<mulg_symbolic>(
        p, shared, false, mulg_extent(), begin, (mul_u32)(p.a_end[row] - begin), lo, p.width > p.bits, NULL,
        [&](mul_u32 t, int, int, mul_u32) { mark(t); },
        [&](mul_u32 t, mul_u32 u, int, int, int, mul_u32) {
            mark(t);
            mark(u);
        });
    __syncthreads();
    mul_u32 n = 0;
    for (mul_u32 i = threadIdx.x; i < words; i += MULG_THREADS)
        n += __popc(word[i]);
    return n;
}

/* Entries of the row, in all threads. */
static __device__ mul_u64 mulg_count_row(const mulg_params &p, mulg_middle_shared<mulg_symbolic> &shared, mul_u32 row)
{
    mul_u32 n = 0;
    mul_u64 all = 0;
    for (mul_u64 lo = 0; lo < p.width; lo += p.bits) {
        n += mulg_count_window(p, shared, row, lo);
        __syncthreads();
    }
    n = __reduce_add_sync(MULG_ALL, n);
    if (threadIdx.x % 32 == 0) shared.warp_sum[threadIdx.x / 32] = n;
    __syncthreads();
    for (int w = 0; w < MULG_WARPS; w++)
        all += shared.warp_sum[w];
    return all;
}

/* Columns of a window. */
static inline mul_u32 mulg_symbolic_bits(mul_u64 width)
{
    const mul_u64 bits = (width + 1023) / 1024 * 1024;
    return (mul_u32)(bits < BITS_MOST ? bits : BITS_MOST);
}

#endif
