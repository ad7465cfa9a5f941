/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of T as wide as the instruction set has them, for type.h. Multiply-adds are rounded once in each of them:
 * where the processor has no such instruction, the C library's.
 */
#include "sweep/inside.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef LACIS_ISA_NAME
#error "files called *.isa.c are compiled with LACIS_ISA_NAME"
#endif

/* Vectors are only passed between functions that are inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define ALWAYS static inline __attribute__((always_inline))

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

typedef T vec __attribute__((vector_size(VECTOR_BYTES)));
typedef T vec_loose __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
enum { WIDTH = VECTOR_BYTES / sizeof(T) };

ALWAYS vec vec_all(T value)
{
    return value - (vec){0};
}

ALWAYS vec vec_at(const T *from)
{
    return *(const vec_loose *)from;
}

ALWAYS void vec_put(T *to, vec value)
{
    *(vec_loose *)to = value;
}

ALWAYS T one_fma(T a, T b, T c)
{
#if T_FLOAT
    return __builtin_fmaf(a, b, c);
#else
    return __builtin_fma(a, b, c);
#endif
}

ALWAYS vec vec_fma(vec a, vec b, vec c)
{
#if defined(__AVX512F__) && T_FLOAT
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX512F__)
    return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__) && T_FLOAT
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__FMA__)
    return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    for (int i = 0; i < WIDTH; i++)
        c[i] = one_fma(a[i], b[i], c[i]);
    return c;
#endif
}

/* The first `count` of them. */
ALWAYS void vec_put_some(T *to, vec value, int64_t count)
{
#if defined(__AVX512F__) && T_FLOAT
    _mm512_mask_storeu_ps(to, (__mmask16)((1U << count) - 1), (__m512)value);
#elif defined(__AVX512F__)
    _mm512_mask_storeu_pd(to, (__mmask8)((1U << count) - 1), (__m512d)value);
#else
    memcpy(to, &value, sizeof(T) * (size_t)count);
#endif
}

/* Past the caches; `to` is aligned. */
ALWAYS void vec_stream(T *to, vec value)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((void *)to, (__m512i)value);
#elif defined(__AVX2__)
    _mm256_stream_si256((void *)to, (__m256i)value);
#elif defined(__SSE2__)
    _mm_stream_si128((void *)to, (__m128i)value);
#else
    vec_put(to, value);
#endif
}
