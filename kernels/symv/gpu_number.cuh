/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the GPU's symmetric products. A trait N says of one of the nine types: M what the matrix holds, X what
 * vectors and sums are, S the plain numbers that X consists of, V matrix elements in 16 bytes, and the steps of symv.h:
 *   N::fma(a, x, s)    s + a x, matrix element by vector element
 *   N::step(a, x, s)   the same of two vector elements (alpha, beta)
 *   N::add(s, t)       s + t, s the one of the lower index
 *   N::mirror(a, flip) the mirror image: conjugated where flip is SYMV_FLIP, as it is where flip is 0
 *   N::real(a)         an element on a Hermitian's diagonal
 * Double-double has two traits a type, with sloppy and with accurate addition.
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
    SYMV_GPU M mirror(M a, unsigned)
    {
        return a;
    }
    SYMV_GPU M real(M a)
    {
        return a;
    }
};
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

/* A number that is only known to lie where its plain numbers may lie. */
template <class S, class T> SYMV_GPU T symv_load(const T *from)
{
    enum { PARTS = sizeof(T) / sizeof(S) };
    union {
        T number;
        S part[PARTS];
    } out;
#pragma unroll
    for (int i = 0; i < PARTS; i++)
        out.part[i] = ((const S *)from)[i];
    return out.number;
}
template <class S, class T> SYMV_GPU void symv_store(T *to, T number)
{
    enum { PARTS = sizeof(T) / sizeof(S) };
    union {
        T number;
        S part[PARTS];
    } in;
    in.number = number;
#pragma unroll
    for (int i = 0; i < PARTS; i++)
        ((S *)to)[i] = in.part[i];
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

/* Sums over LANES neighbouring lanes, in the order H(s, LANES) of symv.h, of COUNT values in every lane at once, each
 * step halving what a lane still holds: 9 exchanges for 8 values and 32 lanes. Afterwards v[0 .. max(1, COUNT / LANES)]
 * are sums of the values first, first + 1 ..; where there are more lanes than values, several hold the same. */
template <class N, int COUNT, int LANES> SYMV_GPU int symv_fold(typename N::X (&v)[COUNT], int lane)
{
    typedef typename N::X X;
    int left = COUNT, first = 0;
#pragma unroll
    for (int h = LANES / 2; h >= 1; h /= 2) {
        const bool up = (lane & h) != 0;
        if (left > 1) {
            left /= 2;
            if (up) first += left;
#pragma unroll
            for (int i = 0; i < COUNT / 2; i++) {
                if (i >= left) break;
                const X give = up ? v[i] : v[i + left], keep = up ? v[i + left] : v[i];
                const X got = symv_turn(give, h);
                v[i] = up ? N::add(got, keep) : N::add(keep, got);
            }
        } else {
            const X got = symv_turn(v[0], h);
            v[0] = up ? N::add(got, v[0]) : N::add(v[0], got);
        }
    }
    return first;
}

#endif
