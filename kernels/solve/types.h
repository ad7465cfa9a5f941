/* SPDX-License-Identifier: Apache-2.0
 *
 * What the *.isa.c files of one type each put into the table of their instruction set.
 */
#ifndef LACIS_KERNELS_SOLVE_TYPES_H
#define LACIS_KERNELS_SOLVE_TYPES_H

#include "solve/inside.h"

#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef LACIS_ISA_NAME
#error "files called *.isa.c are compiled with LACIS_ISA_NAME"
#endif

/* Vectors of 64 bytes are only passed between functions that are inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* 64 bytes past the caches, for results that would not stay there anyway: a line that is written whole need not be
 * read before. */
static inline void solve_past(void *to, const void *from)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i *)to, _mm512_loadu_si512(from));
#elif defined(__AVX2__)
    for (int i = 0; i < 2; i++)
        _mm256_stream_si256((__m256i *)to + i, _mm256_loadu_si256((const __m256i *)from + i));
#elif defined(__SSE2__)
    for (int i = 0; i < 4; i++)
        _mm_stream_si128((__m128i *)to + i, _mm_loadu_si128((const __m128i *)from + i));
#else
    memcpy(to, from, SOLVE_VECTOR_BYTES);
#endif
}

/* Before anybody else reads what solve_past wrote. */
static inline void solve_settle(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#define SOLVE_INSTANCES(shape)                                                                                       \
    static bool shape##_alone(const solve_tile *tile)                                                                \
    {                                                                                                                \
        return shape##_one(tile, 1);                                                                                 \
    }                                                                                                                \
    static bool shape##_narrow(const solve_tile *tile)                                                               \
    {                                                                                                                \
        bool sure = shape##_side(tile, 1);                                                                           \
        solve_settle();                                                                                              \
        return sure;                                                                                                 \
    }                                                                                                                \
    static bool shape##_wide(const solve_tile *tile)                                                                 \
    {                                                                                                                \
        bool sure = shape##_side(tile, SOLVE_WIDE);                                                                  \
        solve_settle();                                                                                              \
        return sure;                                                                                                 \
    }

#define SOLVE_TABLE(name, side)                                                                                      \
    SOLVE_INSTANCES(chain)                                                                                           \
    SOLVE_INSTANCES(chain_factored)                                                                                  \
    SOLVE_INSTANCES(tree)                                                                                            \
    SOLVE_INSTANCES(tree_factored)                                                                                   \
    const solve_loops LACIS_ISA(name) = {                                                                            \
        .chain = {chain_alone, chain_narrow, chain_wide},                                                            \
        .tree = {tree_alone, tree_narrow, tree_wide},                                                                \
        .chain_factored = {chain_factored_alone, chain_factored_narrow, chain_factored_wide},                        \
        .tree_factored = {tree_factored_alone, tree_factored_narrow, tree_factored_wide},                            \
        .lanes = {1, side, SOLVE_WIDE * (side)}};

extern const solve_loops LACIS_ISA(lacis_solve_f64), LACIS_ISA(lacis_solve_f32), LACIS_ISA(lacis_solve_mixed),
    LACIS_ISA(lacis_solve_c128);

#endif
