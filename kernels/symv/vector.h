/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of T as wide as the instruction set has them, loaded from T or from E. Only the first `count` lanes of a
 * partial vector, or those that are named, are touched in memory; others are 0. Included after number.h.
 */
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Vectors of 64 bytes are only passed between functions that are inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

typedef T vec __attribute__((vector_size(VECTOR_BYTES)));
typedef T vec_loose __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
enum { WIDTH = VECTOR_BYTES / sizeof(T), T_FLOAT = sizeof(T) == sizeof(float) };

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

/* a b + c, rounded once where the processor can. */
ALWAYS vec vec_fma(vec a, vec b, vec c)
{
#if defined(__AVX512F__)
    if (T_FLOAT) return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
    return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    if (T_FLOAT) return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
    return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

ALWAYS T vec_sum(vec value)
{
    T lane[WIDTH];
    memcpy(lane, &value, sizeof lane);
    for (int half = WIDTH / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

/* --- parts of a vector -------------------------------------------------------------------------------- */

#if defined(__AVX2__) && !defined(__AVX512F__)
ALWAYS __m256i vec_mask(int count)
{
    if (T_FLOAT) return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
#endif

ALWAYS vec vec_some(const T *from, int count)
{
#if defined(__AVX512F__)
    if (T_FLOAT) return (vec)_mm512_maskz_loadu_ps((__mmask16)((1U << count) - 1), from);
    return (vec)_mm512_maskz_loadu_pd((__mmask8)((1U << count) - 1), from);
#elif defined(__AVX2__)
    if (T_FLOAT) return (vec)_mm256_maskload_ps((const float *)from, vec_mask(count));
    return (vec)_mm256_maskload_pd((const double *)from, vec_mask(count));
#else
    vec out = {0};
    memcpy(&out, from, sizeof(T) * (size_t)count);
    return out;
#endif
}

ALWAYS void vec_put_some(T *to, vec value, int count)
{
#if defined(__AVX512F__)
    if (T_FLOAT) {
        _mm512_mask_storeu_ps(to, (__mmask16)((1U << count) - 1), (__m512)value);
    } else {
        _mm512_mask_storeu_pd(to, (__mmask8)((1U << count) - 1), (__m512d)value);
    }
#elif defined(__AVX2__)
    if (T_FLOAT) {
        _mm256_maskstore_ps((float *)to, vec_mask(count), (__m256)value);
    } else {
        _mm256_maskstore_pd((double *)to, vec_mask(count), (__m256d)value);
    }
#else
    memcpy(to, &value, sizeof(T) * (size_t)count);
#endif
}

/* Lanes known to be all, mostly, when compiled. */
ALWAYS vec vec_first(const T *from, int count)
{
    return count == WIDTH ? vec_at(from) : vec_some(from, count);
}

ALWAYS void vec_put_first(T *to, vec value, int count)
{
    if (count == WIDTH) {
        vec_put(to, value);
    } else {
        vec_put_some(to, value, count);
    }
}

/* WIDTH elements E, or the first of them. */
ALWAYS vec vec_of(const E *from)
{
    if (sizeof(T) == sizeof(E)) return vec_at((const T *)from);
#if defined(__AVX512F__)
    return (vec)_mm512_cvtps_pd(_mm256_loadu_ps((const float *)from));
#elif defined(__AVX2__)
    return (vec)_mm256_cvtps_pd(_mm_loadu_ps((const float *)from));
#else
    vec out;
    for (int i = 0; i < WIDTH; i++)
        out[i] = (T)from[i];
    return out;
#endif
}

ALWAYS vec vec_of_some(const E *from, int count)
{
    if (sizeof(T) == sizeof(E)) return vec_some((const T *)from, count);
    E some[WIDTH] = {0};
    for (int i = 0; i < count; i++)
        some[i] = from[i];
    return vec_of(some);
}

/* Some lanes of a vector, lane i as bit i. */
typedef unsigned vec_lanes;

ALWAYS vec_lanes lanes_between(int first, int end)
{
    return first < end ? (1U << end) - (1U << first) : 0;
}

#if defined(__AVX2__) && !defined(__AVX512F__)
ALWAYS __m256i vec_lanes_mask(vec_lanes on)
{
    const __m256i all = _mm256_set1_epi32((int)on);
    if (T_FLOAT) {
        const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        return _mm256_cmpeq_epi32(_mm256_and_si256(all, bit), bit);
    }
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    return _mm256_cmpeq_epi64(_mm256_and_si256(all, bit), bit);
}
#endif

/* Elements of these lanes; the others are not touched, and 0. */
ALWAYS vec vec_of_lanes(const E *from, vec_lanes on)
{
#if defined(__AVX512F__)
    if (sizeof(T) != sizeof(E))
        return (vec)_mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_maskz_loadu_ps((__mmask16)on, from)));
    if (T_FLOAT) return (vec)_mm512_maskz_loadu_ps((__mmask16)on, from);
    return (vec)_mm512_maskz_loadu_pd((__mmask8)on, from);
#else
#if defined(__AVX2__)
    if (sizeof(T) == sizeof(E)) {
        if (T_FLOAT) return (vec)_mm256_maskload_ps((const float *)from, vec_lanes_mask(on));
        return (vec)_mm256_maskload_pd((const double *)from, vec_lanes_mask(on));
    }
#endif
    vec out = {0};
    for (int i = 0; i < WIDTH; i++)
        if ((on >> i & 1) != 0) out[i] = (T)from[i];
    return out;
#endif
}

/* a b + c in these lanes, c in the others. */
ALWAYS vec vec_fma_lanes(vec a, vec b, vec c, vec_lanes on)
{
#if defined(__AVX512F__)
    if (T_FLOAT) return (vec)_mm512_mask3_fmadd_ps((__m512)a, (__m512)b, (__m512)c, (__mmask16)on);
    return (vec)_mm512_mask3_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c, (__mmask8)on);
#elif defined(__AVX2__)
    return (vec)_mm256_blendv_epi8((__m256i)c, (__m256i)vec_fma(a, b, c), vec_lanes_mask(on));
#else
    for (int i = 0; i < WIDTH; i++)
        if ((on >> i & 1) != 0) c[i] += a[i] * b[i];
    return c;
#endif
}
