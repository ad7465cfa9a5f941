/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys along the Hilbert curve, of 63 bits: the first 3 k bits name the cube of side 2^-k that a place lies in.
 * After Skilling (AIP Conf. Proc. 707, 2004). Blocks, so that the loops over them become vectors.
 */
#ifndef LACIS_NBODY_HILBERT_H
#define LACIS_NBODY_HILBERT_H

#include "nbody/inside.h"

enum { HILBERT_BLOCK = 64 };
typedef struct hilbert_block {
    uint32_t x[HILBERT_BLOCK], y[HILBERT_BLOCK], z[HILBERT_BLOCK];
} hilbert_block;

/* Where a place lies in a box of half-side `half` > 0, in 0 .. 2^21 - 1. Rises with the place. */
static inline uint32_t hilbert_step(double at, double lo, double half)
{
    const double share = (at * 0.5 - lo * 0.5) / half * 0x1p21;
    return share >= 0x1p21 ? (1u << 21) - 1 : share > 0 ? (uint32_t)(int32_t)share : 0;
}

/* One axis of one level: where bit q of it is set the lower bits of x are inverted, else exchanged with x's. */
static inline void hilbert_turn(uint32_t *x, uint32_t *axis, uint32_t q)
{
    const uint32_t lower = q - 1, set = (uint32_t) - (int32_t)((*axis & q) != 0), swap = (*x ^ *axis) & lower & ~set;
    *x ^= (lower & set) | swap;
    *axis ^= swap;
}

static inline void hilbert_transpose(hilbert_block *b, int n)
{
    for (uint32_t q = 1u << 20; q > 1; q >>= 1)
        for (int i = 0; i < n; i++) {
            b->x[i] ^= (uint32_t) - (int32_t)((b->x[i] & q) != 0) & (q - 1);
            hilbert_turn(&b->x[i], &b->y[i], q);
            hilbert_turn(&b->x[i], &b->z[i], q);
        }
    for (int i = 0; i < n; i++) {
        b->y[i] ^= b->x[i];
        b->z[i] ^= b->y[i];
        uint32_t t = b->z[i] >> 1; /* bit k: whether an odd number of bits above k of z are set */
        t ^= t >> 1;
        t ^= t >> 2;
        t ^= t >> 4;
        t ^= t >> 8;
        t ^= t >> 16;
        b->x[i] ^= t;
        b->y[i] ^= t;
        b->z[i] ^= t;
    }
}

/* 21 bits to every third place. */
static inline uint64_t hilbert_spread(uint64_t bits)
{
    bits = (bits | bits << 32) & UINT64_C(0x001f00000000ffff);
    bits = (bits | bits << 16) & UINT64_C(0x001f0000ff0000ff);
    bits = (bits | bits << 8) & UINT64_C(0x100f00f00f00f00f);
    bits = (bits | bits << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (bits | bits << 2) & UINT64_C(0x1249249249249249);
}

static inline uint64_t hilbert_key(const hilbert_block *b, int i)
{
    return hilbert_spread(b->x[i]) << 2 | hilbert_spread(b->y[i]) << 1 | hilbert_spread(b->z[i]);
}

#endif
