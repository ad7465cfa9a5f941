/* SPDX-License-Identifier: Apache-2.0
 *
 * Double-double arithmetic, for C and CUDA: a number is the unevaluated sum of two doubles, |lo| <= ulp(hi) / 2. Both
 * must be compiled without contraction (-ffp-contract=off, --fmad=false): then results have the same bits everywhere.
 * Vector loops elsewhere take the same steps.
 *
 * Error-free sums and products: Knuth 1969, Dekker 1971; the product by a fused multiply-add. Sloppy and accurate
 * addition: Li et al., "Design, implementation and testing of extended and mixed precision BLAS", 2002; bounds after
 * Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic",
 * 2017, with u = 2^-53: accurate 3 u^2 / (1 - 4 u) of the sum; sloppy the same where both have one sign, without a
 * bound relative to the sum otherwise (but 2^-105 or so of |a| + |b|); product 5 u^2.
 */
#ifndef LACIS_KERNELS_DD_H
#define LACIS_KERNELS_DD_H

#include <math.h>

#if defined(__CUDACC__)
#define LACIS_DD_INLINE static __host__ __device__ __forceinline__
#else
#define LACIS_DD_INLINE static inline
#endif

typedef struct lacis_dd {
    double hi, lo;
} lacis_dd;

LACIS_DD_INLINE lacis_dd lacis_dd_new(double hi, double lo)
{
    lacis_dd out = {hi, lo};
    return out;
}

/* a + b exactly. */
LACIS_DD_INLINE lacis_dd lacis_dd_two_sum(double a, double b)
{
    double s = a + b, part = s - a;
    return lacis_dd_new(s, (a - (s - part)) + (b - part));
}

/* a + b exactly, where |a| >= |b| or a is 0. */
LACIS_DD_INLINE lacis_dd lacis_dd_quick_two_sum(double a, double b)
{
    double s = a + b;
    return lacis_dd_new(s, b - (s - a));
}

/* a b exactly, short of underflow. */
LACIS_DD_INLINE lacis_dd lacis_dd_two_prod(double a, double b)
{
    double p = a * b;
    return lacis_dd_new(p, fma(a, b, -p));
}

LACIS_DD_INLINE lacis_dd lacis_dd_neg(lacis_dd a)
{
    return lacis_dd_new(-a.hi, -a.lo);
}

LACIS_DD_INLINE lacis_dd lacis_dd_add_sloppy(lacis_dd a, lacis_dd b)
{
    lacis_dd s = lacis_dd_two_sum(a.hi, b.hi);
    return lacis_dd_quick_two_sum(s.hi, s.lo + (a.lo + b.lo));
}

LACIS_DD_INLINE lacis_dd lacis_dd_add_accurate(lacis_dd a, lacis_dd b)
{
    lacis_dd s = lacis_dd_two_sum(a.hi, b.hi), t = lacis_dd_two_sum(a.lo, b.lo);
    s = lacis_dd_quick_two_sum(s.hi, s.lo + t.hi);
    return lacis_dd_quick_two_sum(s.hi, s.lo + t.lo);
}

/* a b, not normalised: what an addition takes as it is. */
LACIS_DD_INLINE lacis_dd lacis_dd_mul_raw(lacis_dd a, lacis_dd b)
{
    lacis_dd p = lacis_dd_two_prod(a.hi, b.hi);
    p.lo = fma(a.hi, b.lo, p.lo);
    p.lo = fma(a.lo, b.hi, p.lo);
    return p;
}

/* a b of a plain double, not normalised. */
LACIS_DD_INLINE lacis_dd lacis_dd_mul_raw_by(double a, lacis_dd b)
{
    lacis_dd p = lacis_dd_two_prod(a, b.hi);
    p.lo = fma(a, b.lo, p.lo);
    return p;
}

/* a b + s, the addition sloppy or accurate. */
LACIS_DD_INLINE lacis_dd lacis_dd_fma_sloppy(lacis_dd a, lacis_dd b, lacis_dd s)
{
    return lacis_dd_add_sloppy(s, lacis_dd_mul_raw(a, b));
}

LACIS_DD_INLINE lacis_dd lacis_dd_fma_accurate(lacis_dd a, lacis_dd b, lacis_dd s)
{
    return lacis_dd_add_accurate(s, lacis_dd_mul_raw(a, b));
}

LACIS_DD_INLINE lacis_dd lacis_dd_fma_sloppy_by(double a, lacis_dd b, lacis_dd s)
{
    return lacis_dd_add_sloppy(s, lacis_dd_mul_raw_by(a, b));
}

LACIS_DD_INLINE lacis_dd lacis_dd_fma_accurate_by(double a, lacis_dd b, lacis_dd s)
{
    return lacis_dd_add_accurate(s, lacis_dd_mul_raw_by(a, b));
}

#endif
