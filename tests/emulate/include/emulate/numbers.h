/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's functions of numbers: bits, conversions, arithmetic with rounding in the name.
 */
#ifndef LACIS_EMULATE_NUMBERS_H
#define LACIS_EMULATE_NUMBERS_H

#include "types.h"

#include <math.h>
#include <string.h>
#include <type_traits>

/* --- bits ------------------------------------------------------------------------------------------- */

static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}
static inline int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
static inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
static inline unsigned __brev(unsigned x)
{
    unsigned out = 0;
    for (int i = 0; i < 32; i++)
        out |= (x >> i & 1) << (31 - i);
    return out;
}
static inline unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s)
{
    const uint64_t both = (uint64_t)y << 32 | x;
    unsigned out = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned selector = s >> (4 * i) & 15, byte = (unsigned)(both >> (8 * (selector & 7))) & 255;
        out |= (selector & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
    }
    return out;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift)
{
    return (unsigned)(((uint64_t)hi << 32 | lo) << (shift & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift)
{
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (shift & 31));
}
static inline unsigned __vminu2(unsigned x, unsigned y)
{
    const unsigned a = x & 65535, b = y & 65535, c = x >> 16, d = y >> 16;
    return (a < b ? a : b) | (c < d ? c : d) << 16;
}
static inline unsigned __vmaxu2(unsigned x, unsigned y)
{
    const unsigned a = x & 65535, b = y & 65535, c = x >> 16, d = y >> 16;
    return (a > b ? a : b) | (c > d ? c : d) << 16;
}
static inline unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((uint64_t)x * y >> 32);
}
static inline int __mulhi(int x, int y)
{
    return (int)((int64_t)x * y >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
static inline long long __mul64hi(long long x, long long y)
{
    return (long long)((__int128)x * y >> 64);
}

/* --- the same bits as another type -------------------------------------------------------------------- */

#define EMULATE_BITS(name, F, T)                                                                                     \
    static inline T name(F x)                                                                                        \
    {                                                                                                                \
        T out;                                                                                                       \
        memcpy(&out, &x, sizeof out);                                                                                \
        return out;                                                                                                  \
    }
EMULATE_BITS(__float_as_uint, float, unsigned)
EMULATE_BITS(__float_as_int, float, int)
EMULATE_BITS(__uint_as_float, unsigned, float)
EMULATE_BITS(__int_as_float, int, float)
EMULATE_BITS(__double_as_longlong, double, long long)
EMULATE_BITS(__longlong_as_double, long long, double)
#undef EMULATE_BITS
static inline int __double2loint(double x)
{
    return (int)__double_as_longlong(x);
}
static inline int __double2hiint(double x)
{
    return (int)(__double_as_longlong(x) >> 32);
}
static inline double __hiloint2double(int hi, int lo)
{
    return __longlong_as_double((long long)((unsigned long long)(unsigned)hi << 32 | (unsigned)lo));
}

/* --- arithmetic -------------------------------------------------------------------------------------- */

#define EMULATE_ROUNDED(T, d, f, fma)                                                                                \
    static inline T __##d##add_rn(T x, T y)                                                                          \
    {                                                                                                                \
        return x + y;                                                                                                \
    }                                                                                                                \
    static inline T __##d##sub_rn(T x, T y)                                                                          \
    {                                                                                                                \
        return x - y;                                                                                                \
    }                                                                                                                \
    static inline T __##d##mul_rn(T x, T y)                                                                          \
    {                                                                                                                \
        return x * y;                                                                                                \
    }                                                                                                                \
    static inline T __##d##div_rn(T x, T y)                                                                          \
    {                                                                                                                \
        return x / y;                                                                                                \
    }                                                                                                                \
    static inline T __##d##rcp_rn(T x)                                                                               \
    {                                                                                                                \
        return (T)1 / x;                                                                                             \
    }                                                                                                                \
    static inline T __##d##sqrt_rn(T x)                                                                              \
    {                                                                                                                \
        return sqrt(x);                                                                                              \
    }                                                                                                                \
    static inline T __##f##_rn(T x, T y, T z)                                                                        \
    {                                                                                                                \
        return fma(x, y, z);                                                                                         \
    }
EMULATE_ROUNDED(double, d, fma, ::fma)
EMULATE_ROUNDED(float, f, fmaf, ::fmaf)
#undef EMULATE_ROUNDED
static inline float __fdividef(float x, float y)
{
    return x / y;
}
#define __expf(x) expf(x) /* glibc has these names for itself */
#define __logf(x) logf(x)
static inline double rsqrt(double x)
{
    return 1 / sqrt(x);
}
static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}
static inline float __frsqrt_rn(float x)
{
    return (float)(1 / sqrt((double)x));
}
static inline float __saturatef(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}
static inline float __double2float_rn(double x)
{
    return (float)x;
}
static inline float __double2float_ru(double x)
{
    const float f = (float)x;
    return (double)f < x ? nextafterf(f, HUGE_VALF) : f;
}
static inline int __double2int_rn(double x)
{
    return (int)rint(x);
}
static inline int __float2int_rn(float x)
{
    return (int)rintf(x);
}
static inline double __int2double_rn(int x)
{
    return x;
}
static inline double __ll2double_rn(long long x)
{
    return (double)x;
}
static inline float __ll2float_rn(long long x)
{
    return (float)x;
}

/* min and max of any two numbers, as C converts them; of floating-point ones fmin and fmax. */
namespace emulate
{
template <class A> using number = std::enable_if_t<std::is_arithmetic<A>::value || std::is_enum<A>::value>;
template <class A, class B> using both = std::common_type_t<decltype(+A()), decltype(+B())>;
} /* namespace emulate */
template <class A, class B, class = emulate::number<A>, class = emulate::number<B>>
constexpr emulate::both<A, B> min(A x, B y)
{
    typedef emulate::both<A, B> T;
    const T a = (T)x, b = (T)y;
    return a != a ? b : b != b ? a : b < a ? b : a;
}
template <class A, class B, class = emulate::number<A>, class = emulate::number<B>>
constexpr emulate::both<A, B> max(A x, B y)
{
    typedef emulate::both<A, B> T;
    const T a = (T)x, b = (T)y;
    return a != a ? b : b != b ? a : a < b ? b : a;
}

#endif
