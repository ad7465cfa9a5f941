/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums bitmaps of heavy rows of B (bits.c) into a dense window's counts: 512 columns at a time, by adders of bits.
 * A counter of 512 columns stands in planes: plane p holds bit p of each count. Eight lines pass through a tree of
 * full adders before a carry reaches plane 3, so a line costs about two logic instructions (Harley and Seal's
 * population count). The planes are then added to the cells of the window, where the light rows' products already
 * are. Called from dense rows of the same instruction set; only AVX-512 has it.
 */
#include "multiply/loops.h"

#if defined(__AVX512BW__)
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

enum { PLANES = 16 }; /* counts are at most 65535 */

/* low + x + y = low' + 2 carry */
INLINE __m512i add(__m512i *low, __m512i x, __m512i y)
{
    const __m512i carry = _mm512_ternarylogic_epi64(*low, x, y, 0xe8);
    *low = _mm512_ternarylogic_epi64(*low, x, y, 0x96);
    return carry;
}

/* Carries x into planes [from, planes). */
INLINE void ripple(__m512i *plane, int from, int planes, __m512i x)
{
    for (int p = from; p < planes; p++) {
        const __m512i carry = _mm512_and_si512(plane[p], x);
        plane[p] = _mm512_xor_si512(plane[p], x);
        x = carry;
    }
}

INLINE __m512i line(const char *group, uint32_t at)
{
    return _mm512_load_si512(group + at);
}

INLINE __m512i add_four(__m512i *ones, __m512i *twos, const char *group, const uint32_t *at)
{
    const __m512i x = add(ones, line(group, at[0]), line(group, at[1]));
    const __m512i y = add(ones, line(group, at[2]), line(group, at[3]));
    return add(twos, x, y);
}

/* The planes of the sum of n lines of a group. */
INLINE void sum_lines(const char *group, const uint32_t *at, int64_t n, int planes, __m512i *plane)
{
    __m512i ones = _mm512_setzero_si512(), twos = ones, fours = ones;
    int64_t i = 0;
    for (int p = 3; p < planes; p++)
        plane[p] = _mm512_setzero_si512();
    for (; i + 8 <= n; i += 8) {
        const __m512i x = add_four(&ones, &twos, group, at + i);
        const __m512i y = add_four(&ones, &twos, group, at + i + 4);
        ripple(plane, 3, planes, add(&fours, x, y));
    }
    plane[0] = ones;
    plane[1] = twos;
    plane[2] = fours;
    if (n & 4) {
        const __m512i x = add_four(&plane[0], &plane[1], group, at + i);
        ripple(plane, 2, planes, x);
        i += 4;
    }
    if (n & 2) {
        const __m512i x = add(&plane[0], line(group, at[i]), line(group, at[i + 1]));
        ripple(plane, 1, planes, x);
        i += 2;
    }
    if (n & 1) ripple(plane, 0, planes, line(group, at[i]));
}

/* 64 counts of at most 8 planes, added to v. */
INLINE __m512i add_bytes(__m512i v, const uint64_t *mask, int planes)
{
    for (int p = 0; p < planes; p++)
        v = _mm512_mask_add_epi8(v, mask[p * 8], v, _mm512_set1_epi8((char)(1 << p)));
    return v;
}

INLINE void add_words(char *cells, const uint64_t *mask, int planes)
{
    const __m512i v = add_bytes(_mm512_setzero_si512(), mask, planes < 8 ? planes : 8);
    for (int i = 0; i < 2; i++) {
        const __m256i half = i == 0 ? _mm512_castsi512_si256(v) : _mm512_extracti64x4_epi64(v, 1);
        __m512i x = _mm512_add_epi16(_mm512_load_si512(cells + i * 64), _mm512_cvtepu8_epi16(half));
        for (int p = 8; p < planes; p++)
            x = _mm512_mask_add_epi16(x, (__mmask32)(mask[p * 8] >> (32 * i)), x, _mm512_set1_epi16((short)(1 << p)));
        _mm512_store_si512(cells + i * 64, x);
    }
}

INLINE void add_planes(char *cells, int cell, const __m512i *plane, int planes)
{
    const uint64_t *mask = (const uint64_t *)plane;
    for (int i = 0; i < MUL_BITS_GROUP / 64; i++) {
        char *at = cells + ((i * 64) << cell);
        if (cell == 0)
            _mm512_store_si512(at, add_bytes(_mm512_load_si512(at), mask + i, planes));
        else
            add_words(at, mask + i, planes);
    }
}

/* --- what cannot reach the top ------------------------------------------------------------------------- */

/* The greatest cell of a group. */
INLINE uint32_t greatest(const char *cells, int cell)
{
    __m512i v = _mm512_load_si512(cells);
    for (int i = 1; i < 8 << cell; i++) {
        const __m512i x = _mm512_load_si512(cells + i * 64);
        v = cell == 0 ? _mm512_max_epu8(v, x) : _mm512_max_epu16(v, x);
    }
    if (cell == 0) v = _mm512_max_epu16(_mm512_srli_epi16(v, 8), _mm512_and_si512(v, _mm512_set1_epi16(0xff)));
    const __m256i half = _mm256_max_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    const __m128i most = _mm_max_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    const __m128i least = _mm_minpos_epu16(_mm_xor_si128(most, _mm_set1_epi16(-1)));
    return UINT16_MAX - (uint32_t)_mm_extract_epi16(least, 0);
}

/* Whether any count of the planes is above `least`: count + (2^planes - 1 - least) carries then. */
INLINE bool any_above(const __m512i *plane, int planes, uint32_t least)
{
    const uint32_t full = (1U << planes) - 1, more = full - least;
    __m512i carry = _mm512_setzero_si512();
    if (least >= full) return false;
    for (int p = 0; p < planes; p++)
        carry = _mm512_ternarylogic_epi64(carry, plane[p], _mm512_set1_epi64(-(int64_t)(more >> p & 1)), 0xe8);
    return _mm512_test_epi64_mask(carry, carry) != 0;
}

INLINE bool matters(const char *cells, int cell, const __m512i *plane, int planes, uint32_t least)
{
    const uint32_t light = greatest(cells, cell);
    return light > least || any_above(plane, planes, least - light);
}

/* --- groups ---------------------------------------------------------------------------------------------- */

enum { AHEAD = 64 }; /* lines asked for ahead: a group's lines lie anywhere in it, mostly in the L3 */

INLINE void fetch_lines(const char *group, const uint32_t *at, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        __builtin_prefetch(group + at[i]);
}

/* flags: a byte for each 64 columns, set where a count may be above `least`; other counts are dropped. */
INLINE void add_groups(const mul_worker *w, const mul_window *window, int planes, int cell, uint32_t least)
{
    const mul_bits *bits = w->plan->bits;
    const int64_t first = ((int64_t)window->first - w->plan->job->t_lo) / MUL_BITS_GROUP;
    const int64_t groups = (window->n + MUL_BITS_GROUP - 1) / MUL_BITS_GROUP;
    const uint64_t ahead = (uint64_t)(AHEAD / w->heavies + 1) * bits->group_bytes;
    const char *group = bits->lines + (uint64_t)first * bits->group_bytes;
    char *cells = window->cells;
    __m512i plane[PLANES];
    for (int64_t i = 0; i < groups; i++) {
        fetch_lines(group + ahead, w->heavy, w->heavies);
        sum_lines(group, w->heavy, w->heavies, planes, plane);
        const bool keep = !window->flags || matters(cells, cell, plane, planes, least);
        if (keep)
            add_planes(cells, cell, plane, planes);
        else
            memset(cells, 0, MUL_BITS_GROUP << cell);
        if (keep && window->flags) memset(window->flags + i * (MUL_BITS_GROUP / 64), 1, MUL_BITS_GROUP / 64);
        group += bits->group_bytes;
        cells += MUL_BITS_GROUP << cell;
    }
}

void LACIS_ISA(lacis_mul_bits_add)(const mul_worker *w, const mul_window *window, int cell, uint32_t least)
{
    const int planes = 64 - __builtin_clzll((uint64_t)w->heavies);
    switch (cell == 0 ? planes : 0) {
    case 1:
        return add_groups(w, window, 1, 0, least);
    case 2:
        return add_groups(w, window, 2, 0, least);
    case 3:
        return add_groups(w, window, 3, 0, least);
    case 4:
        return add_groups(w, window, 4, 0, least);
    case 5:
        return add_groups(w, window, 5, 0, least);
    case 0:
        return add_groups(w, window, planes, 1, least);
    default:
        return add_groups(w, window, planes, 0, least);
    }
}
#else
/* Never called: mul_kernels.has_bits is false. */
void LACIS_ISA(lacis_mul_bits_add)(const mul_worker *w, const mul_window *window, int cell, uint32_t least)
{
    (void)w;
    (void)window;
    (void)cell;
    (void)least;
}
#endif
