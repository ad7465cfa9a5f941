/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the GPU's solvers: what is stored, what is computed with, and two sets of operations. Plain operators
 * and `inverse` are the steps of solve.h (these files are compiled without fused multiply-adds); less, times and
 * quick_inverse are for ways with steps of their own.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_NUMBER_CUH
#define LACIS_KERNELS_SOLVE_GPU_NUMBER_CUH

#include "solve/gpu_inside.h"

struct __align__(16) solve_complex
{
    double re, im;
};

/* of a type: S stored, T computed with, K rows of a chunk. K is odd: chunks of lanes of a warp then begin in
 * different banks of shared memory, whatever the alignment. TYPE + SOLVE_LONG: with long chunks. */
enum { SOLVE_LONG = 16 };
template <int TYPE> struct solve_of;
template <> struct solve_of<LACIS_SOLVE_F64> {
    typedef double S, T;
    enum { K = 9 };
};
template <> struct solve_of<LACIS_SOLVE_F32> {
    typedef float S, T;
    enum { K = 9 };
};
template <> struct solve_of<LACIS_SOLVE_F64 + SOLVE_LONG> {
    typedef double S, T;
    enum { K = 17 };
};
template <> struct solve_of<LACIS_SOLVE_F32 + SOLVE_LONG> {
    typedef float S, T;
    enum { K = 17 };
};
template <> struct solve_of<LACIS_SOLVE_MIXED> {
    typedef float S;
    typedef double T;
    enum { K = 9 };
};
template <> struct solve_of<LACIS_SOLVE_C128> {
    typedef solve_complex S, T;
    enum { K = 5 };
};

#define SOLVE_FN static __device__ __forceinline__

SOLVE_FN void load_as(double *to, double x)
{
    *to = x;
}
SOLVE_FN void load_as(float *to, float x)
{
    *to = x;
}
SOLVE_FN void load_as(double *to, float x)
{
    *to = (double)x;
}
SOLVE_FN void load_as(solve_complex *to, solve_complex x)
{
    *to = x;
}
SOLVE_FN void load_as(float *to, double x)
{
    *to = (float)x;
}

template <class T> SOLVE_FN T number(double re)
{
    return (T)re;
}
template <> __device__ __forceinline__ solve_complex number<solve_complex>(double re)
{
    return {re, 0};
}

/* --- steps of solve.h ---------------------------------------------------------------------------------- */

SOLVE_FN solve_complex operator*(solve_complex x, solve_complex y)
{
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
SOLVE_FN solve_complex operator-(solve_complex x, solve_complex y)
{
    return {x.re - y.re, x.im - y.im};
}
SOLVE_FN double inverse(double x)
{
    return 1 / x;
}
SOLVE_FN float inverse(float x)
{
    return 1.0F / x;
}
SOLVE_FN solve_complex inverse(solve_complex z)
{
    const double re = fabs(z.re), im = fabs(z.im), m = re > im ? re : im, u = z.re / m, v = z.im / m;
    const double t = (u * u + v * v) * m;
    return {u / t, -v / t};
}
SOLVE_FN double modulus(double x)
{
    return fabs(x);
}
SOLVE_FN float modulus(float x)
{
    return fabsf(x);
}
SOLVE_FN double modulus(solve_complex z)
{
    return hypot(z.re, z.im);
}
SOLVE_FN bool is_finite(double x)
{
    return isfinite(x);
}
SOLVE_FN bool is_finite(float x)
{
    return isfinite(x);
}
SOLVE_FN bool is_finite(solve_complex z)
{
    return isfinite(z.re) && isfinite(z.im);
}
SOLVE_FN double with_slack(double size)
{
    return size * SOLVE_GPU_SLACK_F64;
}
SOLVE_FN float with_slack(float size)
{
    return size * SOLVE_GPU_SLACK_F32;
}

/* --- other steps ---------------------------------------------------------------------------------------- */

/* c - a b */
SOLVE_FN double less(double c, double a, double b)
{
    return __fma_rn(-a, b, c);
}
SOLVE_FN float less(float c, float a, float b)
{
    return __fmaf_rn(-a, b, c);
}
SOLVE_FN solve_complex less(solve_complex c, solve_complex a, solve_complex b)
{
    return {__fma_rn(-a.re, b.re, __fma_rn(a.im, b.im, c.re)), __fma_rn(-a.re, b.im, __fma_rn(-a.im, b.re, c.im))};
}
SOLVE_FN double times(double a, double b)
{
    return a * b;
}
SOLVE_FN float times(float a, float b)
{
    return a * b;
}
SOLVE_FN solve_complex times(solve_complex a, solve_complex b)
{
    return {__fma_rn(a.re, b.re, -(a.im * b.im)), __fma_rn(a.re, b.im, a.im * b.re)};
}
SOLVE_FN double negative(double x)
{
    return -x;
}
SOLVE_FN float negative(float x)
{
    return -x;
}
SOLVE_FN solve_complex negative(solve_complex z)
{
    return {-z.re, -z.im};
}

/* 1 / x up to a rounding, for x of ordinary size: NaN of others, or 0 of great ones. */
SOLVE_FN double quick_inverse(double x)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    const double e = __fma_rn(-x, r, 1.0);
    return __fma_rn(r, __fma_rn(e, e, e), r);
}
SOLVE_FN float quick_inverse(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return __fmaf_rn(r, __fmaf_rn(-x, r, 1.0F), r);
}
SOLVE_FN solve_complex quick_inverse(solve_complex z)
{
    const double w = quick_inverse(__fma_rn(z.re, z.re, z.im * z.im));
    return {z.re * w, -z.im * w};
}

/* Upper half of |x|'s bits (all of a float's), which grow with |x|. */
SOLVE_FN unsigned high_bits(double x)
{
    return (unsigned)__double2hiint(x) & 0x7fffffffU;
}
SOLVE_FN unsigned high_bits(float x)
{
    return __float_as_uint(x) & 0x7fffffffU;
}
SOLVE_FN unsigned high_bits(solve_complex z)
{
    return max(high_bits(z.re), high_bits(z.im));
}
/* From here on quick_inverse is not to be had, NaN and infinity included. */
SOLVE_FN unsigned great_bits(double)
{
    return 0x7fc00000U; /* 2^1021 */
}
SOLVE_FN unsigned great_bits(float)
{
    return 0x7e000000U; /* 2^125 */
}
SOLVE_FN unsigned great_bits(solve_complex)
{
    return 0x5fe00000U; /* 2^511: squares are summed */
}

SOLVE_FN double shuffle(double x, int from)
{
    return __shfl_sync(~0U, x, from);
}
SOLVE_FN float shuffle(float x, int from)
{
    return __shfl_sync(~0U, x, from);
}
SOLVE_FN solve_complex shuffle(solve_complex z, int from)
{
    return {__shfl_sync(~0U, z.re, from), __shfl_sync(~0U, z.im, from)};
}

#endif
