/* SPDX-License-Identifier: Apache-2.0
 *
 * To which list a row of A belongs, for gpu_setup.cu and gpu_few.cu.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_DEAL_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_DEAL_CUH

#include "gpu_host.h"

/* 2 log2(x), rounded down. */
MULG_DEVICE int mulg_half_octaves(mul_u64 x)
{
    const int top = 63 - __clzll((long long)x);
    return 2 * top + (top > 0 && (x >> (top - 1) & 1) ? 1 : 0);
}

MULG_DEVICE int mulg_list_of(const mulg_rules &rules, mul_u64 degree, mul_u64 products)
{
    const bool tiny = products <= MULG_TINY && degree <= MULG_TINY_DEGREE;
    if (products == 0) return -1;
    if (rules.force == LACIS_MUL_GPU_TINY && tiny) return MULG_LIST_TINY;
    if ((rules.force == LACIS_MUL_GPU_DENSE || rules.force == LACIS_MUL_GPU_HUB) && rules.dense)
        return MULG_LIST_DENSE;
    if (rules.force == LACIS_MUL_GPU_SMALL && products < rules.large_from) return MULG_LIST_SMALL;
    if (rules.force == LACIS_MUL_GPU_MIDDLE) return products < rules.large_from ? MULG_LIST_SMALL : MULG_LIST_LARGE;
    if (degree == 1) return MULG_LIST_COPY;
    if (tiny) return rules.pairs && degree <= MULG_PAIR_DEGREE ? MULG_LIST_PAIR : MULG_LIST_TINY;
    if (rules.dense && products >= rules.dense_from) return MULG_LIST_DENSE;
    return products < rules.large_from ? MULG_LIST_SMALL : MULG_LIST_LARGE;
}

/* Whether a row of DENSE has so many entries that its blocks would look for more slices of B than there are products.
 */
MULG_DEVICE bool mulg_is_wide(const mulg_rules &rules, mul_u64 degree, mul_u64 products)
{
    return degree * rules.wide_windows > products;
}

/* Entries that may be stored of a row. */
MULG_DEVICE mul_u64 mulg_room_of(const mulg_rules &rules, int list, mul_u64 products)
{
    mul_u64 room = products < rules.width ? products : rules.width, most = room;
    if (rules.counted && list >= MULG_LIST_SMALL) return 0;
    if (rules.top_room > 0 && list == MULG_LIST_DENSE) most = rules.top_windows * rules.top_room;
    if (rules.top_room > 0 && (list == MULG_LIST_SMALL || list == MULG_LIST_LARGE))
        most = (rules.top_passes + products / MULG_TOP_CELLS) * rules.top_room;
    return room < most ? room : most;
}

/* The same where MASK keeps what the kernels of heavy rows store. */
MULG_DEVICE mul_u64 mulg_masked_room(const mulg_params &p, int list, mul_i64 row, mul_u64 room)
{
    if (!p.mask_begin || p.mask_not || list < MULG_LIST_SMALL) return room;
    const mul_u64 most = (mul_u64)(p.mask_end[row] - p.mask_begin[row]);
    return room < most ? room : most;
}

MULG_DEVICE int mulg_bucket_of(int list, mul_u64 products)
{
    if (list < 0) return MULG_NO_LIST;
    if (list == MULG_LIST_TINY || list == MULG_LIST_PAIR || list == MULG_LIST_FLAT) return list * MULG_STEPS;
    int step = mulg_half_octaves(products) - (list == MULG_LIST_DENSE ? 20 : list == MULG_LIST_COPY ? 0 : 8);
    step = step < 0 ? 0 : step > MULG_STEPS - 1 ? MULG_STEPS - 1 : step;
    return list * MULG_STEPS + (MULG_STEPS - 1 - step);
}

MULG_DEVICE mul_i64 mulg_row_at(const int64_t *rows, mul_i64 first, mul_i64 i)
{
    return rows ? (mul_i64)rows[i] : first + i;
}

/* Whether this block is the last of its kernel's to come here; it then sees what the others wrote. */
MULG_DEVICE bool mulg_last_block(mulg_header *header)
{
    __shared__ int last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&header->ticket, 1u) == gridDim.x * gridDim.y - 1;
    __syncthreads();
    if (last) __threadfence();
    return last;
}

/* The header into pinned memory of the host, by one block. */
MULG_DEVICE void mulg_hand_over(mulg_header *header, mulg_header *host)
{
    for (mul_u32 k = threadIdx.x; k < sizeof *header / sizeof(mul_u32); k += MULG_THREADS)
        ((volatile mul_u32 *)host)[k] = ((volatile mul_u32 *)header)[k];
}

#endif
