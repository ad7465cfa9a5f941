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
    if (rules.force == LACIS_MUL_GPU_DENSE && rules.dense) return MULG_LIST_DENSE;
    if (rules.force == LACIS_MUL_GPU_MIDDLE) return products < rules.large_from ? MULG_LIST_SMALL : MULG_LIST_LARGE;
    if (degree == 1) return MULG_LIST_COPY;
    if (tiny) return rules.pairs && degree <= MULG_PAIR_DEGREE ? MULG_LIST_PAIR : MULG_LIST_TINY;
    if (rules.dense && products >= rules.dense_from) return MULG_LIST_DENSE;
    return products < rules.large_from ? MULG_LIST_SMALL : MULG_LIST_LARGE;
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

#endif
