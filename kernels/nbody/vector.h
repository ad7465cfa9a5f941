/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of forces (R: W lanes, the width of the instruction set) and of eight cells, for type.h. Products are fused
 * where there is fma.
 */
#include "nbody/inside.h"

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
#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
#define BYTES  64
#define MM(op) _mm512_##op
typedef __m512 native_ps;
typedef __m512d native_pd;
#elif defined(__AVX2__)
#define BYTES  32
#define MM(op) _mm256_##op
typedef __m256 native_ps;
typedef __m256d native_pd;
#else
#define BYTES 16
#endif
#if FORCE_BITS == 32
#define OP(op) MM(op##_ps)
#define native native_ps
typedef int32_t vlane __attribute__((vector_size(BYTES)));
#else
#define OP(op) MM(op##_pd)
#define native native_pd
typedef int64_t vlane __attribute__((vector_size(BYTES)));
#endif
enum { W = BYTES * 8 / FORCE_BITS, EIGHT = 8 };

typedef R vr __attribute__((vector_size(BYTES)));
typedef R vr_loose __attribute__((vector_size(BYTES), aligned(sizeof(R)), may_alias));
typedef P v8 __attribute__((vector_size(EIGHT * sizeof(P))));
typedef P v8_loose __attribute__((vector_size(EIGHT * sizeof(P)), aligned(sizeof(P)), may_alias));
typedef R r8 __attribute__((vector_size(EIGHT * sizeof(R))));
typedef R r8_loose __attribute__((vector_size(EIGHT * sizeof(R)), aligned(sizeof(R)), may_alias));

INLINE vr all(R x)
{
    return x - (vr){0};
}
INLINE vr load(const R *from)
{
    return *(const vr_loose *)from;
}
INLINE void store(R *to, vr v)
{
    *(vr_loose *)to = v;
}

/* a b + c; c - a b */
INLINE vr fma_(vr a, vr b, vr c)
{
#if BYTES > 16
    return (vr)OP(fmadd)((native)a, (native)b, (native)c);
#else
    return a * b + c;
#endif
}
INLINE vr fnma(vr a, vr b, vr c)
{
#if BYTES > 16
    return (vr)OP(fnmadd)((native)a, (native)b, (native)c);
#else
    return c - a * b;
#endif
}

/* One step of Newton: about twice as many good bits of 1 / sqrt(x); 0 stays. */
INLINE vr better(vr x, vr y)
{
    return fma_(y * (R)0.5, fnma(x * y, y, all(1)), y);
}

/* 1 / sqrt(x), 0 for x = 0; to all bits but the last or two. */
INLINE vr inverse_root(vr x)
{
#if BYTES == 64 && FORCE_BITS == 32
    const __mmask16 there = _mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    return better(x, (vr)_mm512_maskz_rsqrt14_ps(there, (__m512)x));
#elif BYTES == 64
    const __mmask8 there = _mm512_cmp_pd_mask((__m512d)x, _mm512_setzero_pd(), _CMP_NEQ_UQ);
    return better(x, better(x, (vr)_mm512_maskz_rsqrt14_pd(there, (__m512d)x)));
#elif BYTES == 32 && FORCE_BITS == 32
    const __m256 there = _mm256_cmp_ps((__m256)x, _mm256_setzero_ps(), _CMP_NEQ_UQ);
    return better(x, (vr)_mm256_and_ps(there, _mm256_rsqrt_ps((__m256)x)));
#elif BYTES == 32
    const __m256d there = _mm256_cmp_pd((__m256d)x, _mm256_setzero_pd(), _CMP_NEQ_UQ);
    return (vr)_mm256_and_pd(there, _mm256_div_pd(_mm256_set1_pd(1), _mm256_sqrt_pd((__m256d)x)));
#else
    vr y;
    for (int i = 0; i < W; i++)
        y[i] = x[i] != 0 ? 1 / (FORCE_BITS == 32 ? (R)sqrtf((float)x[i]) : (R)sqrt((double)x[i])) : 0;
    return y;
#endif
}

/* v with 0 in lane k - first, where there is such a lane. */
INLINE vr without(vr v, int64_t k, int first)
{
    vlane lane;
    for (int i = 0; i < W; i++)
        lane[i] = i + first;
#if FORCE_BITS == 32
    return (vr)((vlane)v & (vlane)(lane != (int32_t)k));
#else
    return (vr)((vlane)v & (vlane)(lane != k));
#endif
}

/* --- places of W bodies; differences from one source's, rounded to R ------------------------------------- */

#if PLACE_BITS == FORCE_BITS
typedef vr vp;
INLINE vp load_places(const P *from)
{
    return load(from);
}
INLINE vr apart(P source, const vp *target)
{
    return source - *target;
}
#else
typedef double vhalf __attribute__((vector_size(BYTES)));
typedef struct vp {
    vhalf lo, hi;
} vp;
INLINE vp load_places(const P *from)
{
    vp v;
    memcpy(&v.lo, from, BYTES);
    memcpy(&v.hi, from + W / 2, BYTES);
    return v;
}
INLINE vr apart(P source, const vp *target)
{
    const vhalf lo = source - target->lo, hi = source - target->hi;
#if BYTES == 64
    const __m256 low = _mm512_cvtpd_ps((__m512d)lo), high = _mm512_cvtpd_ps((__m512d)hi);
    return (vr)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
#elif BYTES == 32
    return (vr)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)hi), _mm256_cvtpd_ps((__m256d)lo));
#else
    vr r;
    for (int i = 0; i < W / 2; i++) {
        r[i] = (R)lo[i];
        r[i + W / 2] = (R)hi[i];
    }
    return r;
#endif
}
#endif

/* --- eight cells ------------------------------------------------------------------------------------------ */

INLINE v8 load8(const P *from)
{
    return *(const v8_loose *)from;
}
INLINE v8 greatest8(v8 a, v8 b)
{
#if BYTES == 64 && PLACE_BITS == 64
    return (v8)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif BYTES >= 32 && PLACE_BITS == 32
    return (v8)_mm256_max_ps((__m256)a, (__m256)b);
#else
    for (int i = 0; i < EIGHT; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
#endif
}

/* Bit k: whether a[k] > b[k], or either is no number: cells that have left the numbers are taken as they are. */
INLINE unsigned greater8(v8 a, v8 b)
{
#if BYTES == 64 && PLACE_BITS == 64
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_NLE_UQ);
#elif BYTES >= 32 && PLACE_BITS == 32
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_NLE_UQ));
#else
    unsigned bits = 0;
    for (int i = 0; i < EIGHT; i++)
        bits |= (unsigned)!(a[i] <= b[i]) << i;
    return bits;
#endif
}

/* Those of v whose bit is set behind each other at `to`, which has room for eight. */
INLINE void append_places(P *to, v8 v, unsigned bits)
{
#if BYTES == 64 && PLACE_BITS == 64
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd((__mmask8)bits, (__m512d)v));
#elif BYTES == 64
    _mm256_storeu_ps(to, _mm256_maskz_compress_ps((__mmask8)bits, (__m256)v));
#else
    for (; bits != 0; bits &= bits - 1)
        *to++ = v[__builtin_ctz(bits)];
#endif
}
INLINE void append_forces(R *to, const R *from, unsigned bits)
{
#if BYTES == 64 && FORCE_BITS == 64
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd((__mmask8)bits, _mm512_loadu_pd(from)));
#elif BYTES == 64
    _mm256_storeu_ps(to, _mm256_maskz_compress_ps((__mmask8)bits, _mm256_loadu_ps(from)));
#else
    for (; bits != 0; bits &= bits - 1)
        *to++ = from[__builtin_ctz(bits)];
#endif
}
