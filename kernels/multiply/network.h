/* SPDX-License-Identifier: Apache-2.0
 *
 * Up to 256 keys of 32 bits sorted in AVX-512 registers: a bitonic network after Batcher (AFIPS 1968), merging by
 * comparing with the reversed second half, so that every comparison points the same way. For sort.isa.c and
 * hash.isa.c.
 */
#ifndef LACIS_KERNELS_MULTIPLY_NETWORK_H
#define LACIS_KERNELS_MULTIPLY_NETWORK_H

#include <immintrin.h>
#include <stdint.h>

/* Unrolled, so that all keys stay in registers; unoptimised and sanitizer builds would warn that they do not. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define UNROLL(n) _Pragma(STRING(GCC unroll n))
#define STRING(x) #x
#else
#define UNROLL(n)
#endif

#define NETWORK_INLINE static inline __attribute__((always_inline))

NETWORK_INLINE __m512i network_reverse(__m512i v)
{
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), v);
}

/* Lanes of `upper` keep the greater of v and its partner, the others the lesser. */
NETWORK_INLINE __m512i network_step(__m512i v, __m512i partner, __mmask16 upper)
{
    return _mm512_mask_max_epu32(_mm512_min_epu32(v, partner), upper, v, partner);
}

/* Lanes 4, 2 and 1 apart, for a bitonic vector whose halves are in place. */
NETWORK_INLINE __m512i network_clean_8(__m512i v)
{
    v = network_step(v, _mm512_shuffle_i64x2(v, v, 0xb1), 0xf0f0);
    v = network_step(v, _mm512_shuffle_epi32(v, _MM_PERM_BADC), 0xcccc);
    return network_step(v, _mm512_shuffle_epi32(v, _MM_PERM_CDAB), 0xaaaa);
}

NETWORK_INLINE __m512i network_clean_16(__m512i v)
{
    return network_clean_8(network_step(v, _mm512_shuffle_i64x2(v, v, 0x4e), 0xff00));
}

NETWORK_INLINE __m512i network_sort_16(__m512i v)
{
    const __m512i halves = _mm512_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    v = network_step(v, _mm512_shuffle_epi32(v, _MM_PERM_CDAB), 0xaaaa);
    v = network_step(v, _mm512_shuffle_epi32(v, _MM_PERM_ABCD), 0xcccc);
    v = network_step(v, _mm512_shuffle_epi32(v, _MM_PERM_CDAB), 0xaaaa);
    v = network_step(v, _mm512_permutexvar_epi32(halves, v), 0xf0f0);
    v = network_step(v, _mm512_shuffle_epi32(v, _MM_PERM_BADC), 0xcccc);
    v = network_step(v, _mm512_shuffle_epi32(v, _MM_PERM_CDAB), 0xaaaa);
    return network_clean_8(network_step(v, network_reverse(v), 0xff00));
}

/* Vectors [0, 2 * half), two sorted halves, become one. */
NETWORK_INLINE void network_merge(__m512i *v, int half)
{
    __m512i second[8];
    UNROLL(8)
    for (int i = 0; i < half; i++)
        second[i] = network_reverse(v[2 * half - 1 - i]);
    UNROLL(8)
    for (int i = 0; i < half; i++) {
        v[half + i] = _mm512_max_epu32(v[i], second[i]);
        v[i] = _mm512_min_epu32(v[i], second[i]);
    }
}

/* Compares vectors `apart` of each other over `vectors` in all. */
NETWORK_INLINE void network_clean(__m512i *v, int vectors, int apart)
{
    UNROLL(8)
    for (int i = 0; i < vectors / 2; i++) {
        const int x = i / apart * 2 * apart + i % apart;
        const __m512i a = v[x], b = v[x + apart];
        v[x] = _mm512_min_epu32(a, b);
        v[x + apart] = _mm512_max_epu32(a, b);
    }
}

NETWORK_INLINE void network_level(__m512i *v, int vectors, int half)
{
    UNROLL(8)
    for (int i = 0; i < vectors; i += 2 * half)
        network_merge(v + i, half);
    if (half >= 8) network_clean(v, vectors, 4);
    if (half >= 4) network_clean(v, vectors, 2);
    if (half >= 2) network_clean(v, vectors, 1);
    UNROLL(16)
    for (int i = 0; i < vectors; i++)
        v[i] = network_clean_16(v[i]);
}

NETWORK_INLINE void network_sort(uint32_t *keys, int vectors)
{
    __m512i v[16];
    UNROLL(16)
    for (int i = 0; i < vectors; i++)
        v[i] = network_sort_16(_mm512_loadu_si512(keys + 16 * i));
    if (vectors >= 2) network_level(v, vectors, 1);
    if (vectors >= 4) network_level(v, vectors, 2);
    if (vectors >= 8) network_level(v, vectors, 4);
    if (vectors >= 16) network_level(v, vectors, 8);
    UNROLL(16)
    for (int i = 0; i < vectors; i++)
        _mm512_storeu_si512(keys + 16 * i, v[i]);
}

/* Room for the next power of two of vectors (at least 256 keys in all). */
static inline void network_sort_keys(uint32_t *keys, int n)
{
    const int vectors = n <= 16 ? 1 : n <= 32 ? 2 : n <= 64 ? 4 : n <= 128 ? 8 : 16;
    const __m512i last = _mm512_set1_epi32(-1);
    _mm512_mask_storeu_epi32(keys + (n & ~15), (__mmask16)(0xffffu << (n & 15)), last);
    for (int i = (n >> 4) + 1; i < vectors; i++)
        _mm512_storeu_si512(keys + 16 * i, last);
    if (vectors == 1)
        network_sort(keys, 1);
    else if (vectors == 2)
        network_sort(keys, 2);
    else if (vectors == 4)
        network_sort(keys, 4);
    else if (vectors == 8)
        network_sort(keys, 8);
    else
        network_sort(keys, 16);
}

#endif
