/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the GPU's symmetric products. A trait N says of one of the nine types: M what the matrix holds, X what
 * vectors and sums are, S the plain numbers that X consists of, V matrix elements in 16 bytes, and the steps of
 * symv.h: N::fma(a, x, s)    s + a x, matrix element by vector element N::step(a, x, s)   the same of two vector
 * elements (alpha, beta) N::add(s, t)       s + t, s the one of the lower index N::mirror(a, flip) the mirror image:
 * conjugated where flip is SYMV_FLIP, as it is where flip is 0 N::real(a)         an element on a Hermitian's
 * diagonal Double-double has two traits a type, with sloppy and with accurate addition.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_NUMBER_CUH
#define LACIS_KERNELS_SYMV_GPU_NUMBER_CUH

#include "common/dd.h"
#include "symv/symv.h"

#include <cuda_runtime.h>

#define SYMV_GPU static __device__ __forceinline__

/* The bit that a flip turns. */
#define SYMV_FLIP 0x80000000U

struct __align__(8) symv_c64
{
    float re, im;
};
struct __align__(16) symv_c128
{
    double re, im;
};
struct __align__(16) symv_dd
{
    double hi, lo;
};
struct __align__(16) symv_cdd
{
    symv_dd re, im;
};

SYMV_GPU float symv_flip(float x, unsigned flip)
{
    return __int_as_float((int)((unsigned)__float_as_int(x) ^ flip));
}
SYMV_GPU double symv_flip(double x, unsigned flip)
{
    return __hiloint2double((int)((unsigned)__double2hiint(x) ^ flip), __double2loint(x));
}
SYMV_GPU symv_dd symv_flip(symv_dd x, unsigned flip)
{
    return {symv_flip(x.hi, flip), symv_flip(x.lo, flip)};
}
SYMV_GPU lacis_dd symv_plain(symv_dd x)
{
    return lacis_dd_new(x.hi, x.lo);
}
SYMV_GPU symv_dd symv_aligned(lacis_dd x)
{
    return {x.hi, x.lo};
}

/* --- real ------------------------------------------------------------------------------------------------- */

template <class T, class MATRIX, int PER_LOAD> struct symv_real {
    typedef MATRIX M;
    typedef T X;
    typedef T S;
    enum { V = PER_LOAD, COMPLEX = 0, ATOMIC = 1 };
    SYMV_GPU X fma(M a, X x, X s)
    {
        return ::fma((T)a, x, s);
    }
    SYMV_GPU X first(M a, X x)
    {
        return fma(a, x, 0);
    }
    SYMV_GPU X step(X a, X x, X s)
    {
        return ::fma(a, x, s);
    }
    SYMV_GPU X add(X s, X t)
    {
        return s + t;
    }
    SYMV_GPU M mirror(M a, unsigned)
    {
        return a;
    }
    SYMV_GPU M real(M a)
    {
        return a;
    }
    SYMV_GPU X number(const double *v)
    {
        return (T)v[0];
    }
};
typedef symv_real<float, float, 4> symv_f32;
typedef symv_real<double, double, 2> symv_f64;
typedef symv_real<double, float, 4> symv_f32_f64;

/* --- complex ---------------------------------------------------------------------------------------------- */

template <class T, class NUMBER, int PER_LOAD> struct symv_complex {
    typedef NUMBER M;
    typedef NUMBER X;
    typedef T S;
    enum { V = PER_LOAD, COMPLEX = 1, ATOMIC = 1 };
    SYMV_GPU X fma(M a, X x, X s)
    {
        return {::fma(-a.im, x.im, ::fma(a.re, x.re, s.re)), ::fma(a.im, x.re, ::fma(a.re, x.im, s.im))};
    }
    SYMV_GPU X first(M a, X x)
    {
        return fma(a, x, {0, 0});
    }
    SYMV_GPU X step(X a, X x, X s)
    {
        return fma(a, x, s);
    }
    SYMV_GPU X add(X s, X t)
    {
        return {s.re + t.re, s.im + t.im};
    }
    SYMV_GPU M mirror(M a, unsigned flip)
    {
        return {a.re, symv_flip(a.im, flip)};
    }
    SYMV_GPU M real(M a)
    {
        return {a.re, 0};
    }
    SYMV_GPU X number(const double *v)
    {
        return {(T)v[0], (T)v[2]};
    }
};
typedef symv_complex<float, symv_c64, 2> symv_n_c64;
typedef symv_complex<double, symv_c128, 1> symv_n_c128;

/* --- double-double ---------------------------------------------------------------------------------------- */

template <bool ACCURATE> SYMV_GPU symv_dd symv_dd_fma(symv_dd a, symv_dd x, symv_dd s)
{
    const lacis_dd p = symv_plain(a), q = symv_plain(x), r = symv_plain(s);
    return symv_aligned(ACCURATE ? lacis_dd_fma_accurate(p, q, r) : lacis_dd_fma_sloppy(p, q, r));
}
template <bool ACCURATE> SYMV_GPU symv_dd symv_dd_fma_by(double a, symv_dd x, symv_dd s)
{
    const lacis_dd q = symv_plain(x), r = symv_plain(s);
    return symv_aligned(ACCURATE ? lacis_dd_fma_accurate_by(a, q, r) : lacis_dd_fma_sloppy_by(a, q, r));
}
/* A product as the first of a sum: both additions to 0 come to this, short of infinity, which is NaN either way. */
SYMV_GPU symv_dd symv_dd_first(lacis_dd product)
{
    return symv_aligned(lacis_dd_quick_two_sum(0 + product.hi, 0 + product.lo));
}
template <bool ACCURATE> SYMV_GPU symv_dd symv_dd_add(symv_dd s, symv_dd t)
{
    const lacis_dd p = symv_plain(s), q = symv_plain(t);
    return symv_aligned(ACCURATE ? lacis_dd_add_accurate(p, q) : lacis_dd_add_sloppy(p, q));
}

/* What all with double-double sums have. */
template <bool ACCURATE> struct symv_dd_sums {
    typedef symv_dd X;
    typedef double S;
    enum { COMPLEX = 0, ATOMIC = 0 };
    SYMV_GPU X step(X a, X x, X s)
    {
        return symv_dd_fma<ACCURATE>(a, x, s);
    }
    SYMV_GPU X add(X s, X t)
    {
        return symv_dd_add<ACCURATE>(s, t);
    }
    SYMV_GPU X number(const double *v)
    {
        return {v[0], v[1]};
    }
};
template <bool ACCURATE> struct symv_n_dd : symv_dd_sums<ACCURATE> {
    typedef symv_dd M;
    enum { V = 1 };
    SYMV_GPU symv_dd fma(M a, symv_dd x, symv_dd s)
    {
        return symv_dd_fma<ACCURATE>(a, x, s);
    }
    SYMV_GPU symv_dd first(M a, symv_dd x)
    {
        return symv_dd_first(lacis_dd_mul_raw(symv_plain(a), symv_plain(x)));
    }
    SYMV_GPU M mirror(M a, unsigned)
    {
        return a;
    }
    SYMV_GPU M real(M a)
    {
        return a;
    }
};
template <class MATRIX, int PER_LOAD, bool ACCURATE> struct symv_n_by : symv_dd_sums<ACCURATE> {
    typedef MATRIX M;
    enum { V = PER_LOAD };
    SYMV_GPU symv_dd fma(M a, symv_dd x, symv_dd s)
    {
        return symv_dd_fma_by<ACCURATE>((double)a, x, s);
    }
    SYMV_GPU symv_dd first(M a, symv_dd x)
    {
        return symv_dd_first(lacis_dd_mul_raw_by((double)a, symv_plain(x)));
    }
    SYMV_GPU M mirror(M a, unsigned)
    {
        return a;
    }
    SYMV_GPU M real(M a)
    {
        return a;
    }
};
template <bool ACCURATE> using symv_f32_dd = symv_n_by<float, 4, ACCURATE>;
template <bool ACCURATE> using symv_f64_dd = symv_n_by<double, 2, ACCURATE>;

template <bool ACCURATE> struct symv_n_cdd {
    typedef symv_cdd M;
    typedef symv_cdd X;
    typedef double S;
    enum { V = 1, COMPLEX = 1, ATOMIC = 0 };
    SYMV_GPU X fma(M a, X x, X s)
    {
        const symv_dd minus = symv_flip(a.im, SYMV_FLIP);
        return {symv_dd_fma<ACCURATE>(minus, x.im, symv_dd_fma<ACCURATE>(a.re, x.re, s.re)),
                symv_dd_fma<ACCURATE>(a.im, x.re, symv_dd_fma<ACCURATE>(a.re, x.im, s.im))};
    }
    SYMV_GPU X first(M a, X x)
    {
        return fma(a, x, {{0, 0}, {0, 0}});
    }
    SYMV_GPU X step(X a, X x, X s)
    {
        return fma(a, x, s);
    }
    SYMV_GPU X add(X s, X t)
    {
        return {symv_dd_add<ACCURATE>(s.re, t.re), symv_dd_add<ACCURATE>(s.im, t.im)};
    }
    SYMV_GPU M mirror(M a, unsigned flip)
    {
        return {a.re, symv_flip(a.im, flip)};
    }
    SYMV_GPU M real(M a)
    {
        return {a.re, {0, 0}};
    }
    SYMV_GPU X number(const double *v)
    {
        return {{v[0], v[1]}, {v[2], v[3]}};
    }
};

/* --- moving numbers --------------------------------------------------------------------------------------- */

template <class T> SYMV_GPU T symv_zero()
{
    T out = {};
    return out;
}

/* Numbers that are only known to lie where their plain numbers may lie. */
SYMV_GPU float symv_load(const float *from)
{
    return *from;
}
SYMV_GPU double symv_load(const double *from)
{
    return *from;
}
SYMV_GPU symv_c64 symv_load(const symv_c64 *from)
{
    return {((const float *)from)[0], ((const float *)from)[1]};
}
SYMV_GPU symv_c128 symv_load(const symv_c128 *from)
{
    return {((const double *)from)[0], ((const double *)from)[1]};
}
SYMV_GPU symv_dd symv_load(const symv_dd *from)
{
    return {((const double *)from)[0], ((const double *)from)[1]};
}
SYMV_GPU symv_cdd symv_load(const symv_cdd *from)
{
    const double *const part = (const double *)from;
    return {{part[0], part[1]}, {part[2], part[3]}};
}
SYMV_GPU void symv_store(float *to, float x)
{
    *to = x;
}
SYMV_GPU void symv_store(double *to, double x)
{
    *to = x;
}
SYMV_GPU void symv_store(symv_c64 *to, symv_c64 x)
{
    ((float *)to)[0] = x.re;
    ((float *)to)[1] = x.im;
}
SYMV_GPU void symv_store(symv_c128 *to, symv_c128 x)
{
    ((double *)to)[0] = x.re;
    ((double *)to)[1] = x.im;
}
SYMV_GPU void symv_store(symv_dd *to, symv_dd x)
{
    ((double *)to)[0] = x.hi;
    ((double *)to)[1] = x.lo;
}
SYMV_GPU void symv_store(symv_cdd *to, symv_cdd x)
{
    double *const part = (double *)to;
    part[0] = x.re.hi;
    part[1] = x.re.lo;
    part[2] = x.im.hi;
    part[3] = x.im.lo;
}

/* The matrix's elements in 16 bytes (one of 32: in twice 16) at once; read once, so they leave the cache first. */
SYMV_GPU void symv_load_whole(float (&v)[4], const float *from)
{
    const float4 got = __ldcs((const float4 *)from);
    v[0] = got.x, v[1] = got.y, v[2] = got.z, v[3] = got.w;
}
SYMV_GPU void symv_load_whole(double (&v)[2], const double *from)
{
    const double2 got = __ldcs((const double2 *)from);
    v[0] = got.x, v[1] = got.y;
}
SYMV_GPU void symv_load_whole(symv_c64 (&v)[2], const symv_c64 *from)
{
    const float4 got = __ldcs((const float4 *)from);
    v[0] = {got.x, got.y}, v[1] = {got.z, got.w};
}
SYMV_GPU void symv_load_whole(symv_c128 (&v)[1], const symv_c128 *from)
{
    const double2 got = __ldcs((const double2 *)from);
    v[0] = {got.x, got.y};
}
SYMV_GPU void symv_load_whole(symv_dd (&v)[1], const symv_dd *from)
{
    const double2 got = __ldcs((const double2 *)from);
    v[0] = {got.x, got.y};
}
SYMV_GPU void symv_load_whole(symv_cdd (&v)[1], const symv_cdd *from)
{
    const double2 re = __ldcs((const double2 *)from), im = __ldcs((const double2 *)from + 1);
    v[0] = {{re.x, re.y}, {im.x, im.y}};
}

/* What the lane `lane ^ turned` brings. */
SYMV_GPU float symv_turn(float x, int turned)
{
    return __shfl_xor_sync(~0U, x, turned);
}
SYMV_GPU double symv_turn(double x, int turned)
{
    return __shfl_xor_sync(~0U, x, turned);
}
SYMV_GPU symv_c64 symv_turn(symv_c64 x, int turned)
{
    return {symv_turn(x.re, turned), symv_turn(x.im, turned)};
}
SYMV_GPU symv_c128 symv_turn(symv_c128 x, int turned)
{
    return {symv_turn(x.re, turned), symv_turn(x.im, turned)};
}
SYMV_GPU symv_dd symv_turn(symv_dd x, int turned)
{
    return {symv_turn(x.hi, turned), symv_turn(x.lo, turned)};
}
SYMV_GPU symv_cdd symv_turn(symv_cdd x, int turned)
{
    return {symv_turn(x.re, turned), symv_turn(x.im, turned)};
}

/* H(s, COUNT) of symv.h within a thread. */
template <class N, int COUNT> SYMV_GPU typename N::X symv_halve(typename N::X *s)
{
    if constexpr (COUNT == 1) {
        return s[0];
    } else {
#pragma unroll
        for (int g = 0; g < COUNT / 2; g++)
            s[g] = N::add(s[g], s[g + COUNT / 2]);
        return symv_halve<N, COUNT / 2>(s);
    }
}

/* Sums over LANES neighbouring lanes, in the order H(s, LANES) of symv.h, of COUNT values in every lane at once, each
 * step halving what a lane still holds: 9 exchanges for 8 values and 32 lanes. Afterwards v[0 .. max(1, COUNT /
 * LANES)] are sums of the values first, first + 1 ..; where there are more lanes than values, several hold the same.
 */
template <class N, int COUNT, int LANES, int LEFT = COUNT> SYMV_GPU int symv_fold(typename N::X (&v)[COUNT], int lane)
{
    typedef typename N::X X;
    if constexpr (LANES == 1) {
        return 0;
    } else {
        enum { H = LANES / 2, NOW = LEFT > 1 ? LEFT / 2 : 1 };
        const bool up = (lane & H) != 0;
#pragma unroll
        for (int i = 0; i < NOW; i++) {
            const X low = v[i], high = LEFT > 1 ? v[(i + NOW) % COUNT] : v[i];
            const X keep = up ? high : low, got = symv_turn(up ? low : high, H);
            v[i] = up ? N::add(got, keep) : N::add(keep, got);
        }
        return (LEFT > 1 && up ? NOW : 0) + symv_fold<N, COUNT, H, NOW>(v, lane);
    }
}

#endif
