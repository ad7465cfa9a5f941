/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole numbers of up to BIG_LIMBS 32-bit limbs, just enough for exact conversions between decimal text and binary
 * numbers. Used by decimal.c alone, which knows how large they get.
 */
#ifndef LACIS_CORE_BIG_H
#define LACIS_CORE_BIG_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* 7168 bits: the longest are 1101 digits against 10^1446, moved by 1074 bits. */
enum { BIG_LIMBS = 224 };

/* limb[0] is the lowest; the highest is not 0. */
typedef struct big {
    int count;
    uint32_t limb[BIG_LIMBS];
} big;

static inline void big_set(big *a, uint64_t value)
{
    a->limb[0] = (uint32_t)value;
    a->limb[1] = (uint32_t)(value >> 32);
    a->count = a->limb[1] != 0 ? 2 : a->limb[0] != 0 ? 1 : 0;
}

static inline void big_copy(big *to, const big *from)
{
    to->count = from->count;
    memcpy(to->limb, from->limb, (size_t)from->count * sizeof from->limb[0]);
}

/* a = a factor + more */
static inline void big_scale(big *a, uint32_t factor, uint32_t more)
{
    uint64_t carry = more;
    for (int i = 0; i < a->count; i++) {
        carry += (uint64_t)a->limb[i] * factor;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) a->limb[a->count++] = (uint32_t)carry;
}

static inline void big_times_ten(big *a, int64_t power)
{
    for (; power >= 9; power -= 9)
        big_scale(a, 1000000000, 0);
    for (; power > 0; power--)
        big_scale(a, 10, 0);
}

static inline void big_shift(big *a, int64_t bits)
{
    int limbs = (int)(bits / 32), rest = (int)(bits % 32);
    if (a->count == 0 || bits <= 0) return;
    if (rest > 0) big_scale(a, (uint32_t)1 << rest, 0);
    if (limbs == 0) return;
    memmove(a->limb + limbs, a->limb, (size_t)a->count * sizeof a->limb[0]);
    memset(a->limb, 0, (size_t)limbs * sizeof a->limb[0]);
    a->count += limbs;
}

static inline int big_compare(const big *a, const big *b)
{
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count; i-- > 0;)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* a -= b, where a >= b */
static inline void big_subtract(big *a, const big *b)
{
    int64_t carry = 0;
    for (int i = 0; i < a->count; i++) {
        carry += (int64_t)a->limb[i] - (i < b->count ? (int64_t)b->limb[i] : 0);
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    while (a->count > 0 && a->limb[a->count - 1] == 0)
        a->count--;
}

static inline void big_add(big *a, const big *b)
{
    uint64_t carry = 0;
    int most = a->count > b->count ? a->count : b->count;
    for (int i = 0; i < most; i++) {
        carry += (i < a->count ? (uint64_t)a->limb[i] : 0) + (i < b->count ? (uint64_t)b->limb[i] : 0);
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a->count = most;
    if (carry != 0) a->limb[a->count++] = (uint32_t)carry;
}

/* Bits of a number that is not 0. */
static inline int64_t big_bits(const big *a)
{
    return 32 * (int64_t)a->count - __builtin_clz(a->limb[a->count - 1]);
}

#endif
