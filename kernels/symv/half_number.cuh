/* SPDX-License-Identifier: Apache-2.0
 *
 * The four kinds of number of half*.cu: what is added and multiplied, and how lanes exchange it.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_NUMBER_CUH
#define LACIS_KERNELS_SYMV_HALF_NUMBER_CUH

#include <cuda_runtime.h>

typedef unsigned int half_u32;
typedef unsigned short half_u16;
typedef unsigned long long half_u64;
typedef long long half_i64;

static const half_u32 HALF_ALL = ~0u;

template <class R> struct alignas(2 * sizeof(R)) half_complex {
    R re, im;
};

template <class T> struct half_number;
#define HALF_REAL(R, FMA)                                                                                            \
    template <> struct half_number<R> {                                                                              \
        typedef R real;                                                                                              \
        static const bool complex = false;                                                                           \
        static __device__ __forceinline__ R one()                                                                    \
        {                                                                                                            \
            return 1;                                                                                                \
        }                                                                                                            \
        static __device__ __forceinline__ R add(R a, R b)                                                            \
        {                                                                                                            \
            return a + b;                                                                                            \
        }                                                                                                            \
        static __device__ __forceinline__ R fma(R a, R x, R s)                                                       \
        {                                                                                                            \
            return FMA(a, x, s);                                                                                     \
        }                                                                                                            \
        static __device__ __forceinline__ R multiply(R a, R x)                                                       \
        {                                                                                                            \
            return a * x;                                                                                            \
        }                                                                                                            \
        static __device__ __forceinline__ R mirrored(R a, bool)                                                      \
        {                                                                                                            \
            return a;                                                                                                \
        }                                                                                                            \
        static __device__ __forceinline__ R on_diagonal(R a, bool)                                                   \
        {                                                                                                            \
            return a;                                                                                                \
        }                                                                                                            \
        static __device__ __forceinline__ R across(R a, int d)                                                       \
        {                                                                                                            \
            return __shfl_xor_sync(HALF_ALL, a, d);                                                                  \
        }                                                                                                            \
        static __device__ __forceinline__ R from(const double *a)                                                    \
        {                                                                                                            \
            return (R)a[0];                                                                                          \
        }                                                                                                            \
        static __device__ __forceinline__ void atomic(R *to, R a)                                                    \
        {                                                                                                            \
            atomicAdd(to, a);                                                                                        \
        }                                                                                                            \
    };                                                                                                               \
    template <> struct half_number<half_complex<R>> {                                                                \
        typedef half_complex<R> T;                                                                                   \
        typedef R real;                                                                                              \
        static const bool complex = true;                                                                            \
        static __device__ __forceinline__ T one()                                                                    \
        {                                                                                                            \
            return {1, 0};                                                                                           \
        }                                                                                                            \
        static __device__ __forceinline__ T add(T a, T b)                                                            \
        {                                                                                                            \
            return {a.re + b.re, a.im + b.im};                                                                       \
        }                                                                                                            \
        static __device__ __forceinline__ T fma(T a, T x, T s)                                                       \
        {                                                                                                            \
            return {FMA(-a.im, x.im, FMA(a.re, x.re, s.re)), FMA(a.im, x.re, FMA(a.re, x.im, s.im))};                \
        }                                                                                                            \
        static __device__ __forceinline__ T multiply(T a, T x)                                                       \
        {                                                                                                            \
            return {FMA(-a.im, x.im, a.re * x.re), FMA(a.im, x.re, a.re * x.im)};                                    \
        }                                                                                                            \
        static __device__ __forceinline__ T mirrored(T a, bool hermitian)                                            \
        {                                                                                                            \
            return {a.re, hermitian ? -a.im : a.im};                                                                 \
        }                                                                                                            \
        static __device__ __forceinline__ T on_diagonal(T a, bool hermitian)                                         \
        {                                                                                                            \
            return {a.re, hermitian ? (R)0 : a.im};                                                                  \
        }                                                                                                            \
        static __device__ __forceinline__ T across(T a, int d)                                                       \
        {                                                                                                            \
            return {__shfl_xor_sync(HALF_ALL, a.re, d), __shfl_xor_sync(HALF_ALL, a.im, d)};                         \
        }                                                                                                            \
        static __device__ __forceinline__ T from(const double *a)                                                    \
        {                                                                                                            \
            return {(R)a[0], (R)a[1]};                                                                               \
        }                                                                                                            \
        static __device__ __forceinline__ void atomic(T *to, T a)                                                    \
        {                                                                                                            \
            atomicAdd(&to->re, a.re);                                                                                \
            atomicAdd(&to->im, a.im);                                                                                \
        }                                                                                                            \
    }
HALF_REAL(float, __fmaf_rn);
HALF_REAL(double, __fma_rn);

#endif
