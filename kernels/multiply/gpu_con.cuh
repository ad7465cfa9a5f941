/* SPDX-License-Identifier: Apache-2.0
 *
 * Values on the GPU: their bits, CON with and without overflow told, and how operands are read. Included by
 * gpu_cell.cuh.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_CON_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_CON_CUH

#include "gpu_base.cuh"

/* --- bits of values ----------------------------------------------------------------------------- */

template <class T> struct mulg_traits;
template <> struct mulg_traits<int> {
    typedef mul_u32 bits;
    static constexpr bool real = false;
    static __device__ __forceinline__ int least()
    {
        return -2147483647 - 1;
    }
    static __device__ __forceinline__ int greatest()
    {
        return 2147483647;
    }
    static __device__ __forceinline__ mul_u32 to(int v)
    {
        return (mul_u32)v;
    }
    static __device__ __forceinline__ int from(mul_u32 b)
    {
        return (int)b;
    }
};
template <> struct mulg_traits<mul_i64> {
    typedef mul_u64 bits;
    static constexpr bool real = false;
    static __device__ __forceinline__ mul_i64 least()
    {
        return -9223372036854775807LL - 1;
    }
    static __device__ __forceinline__ mul_i64 greatest()
    {
        return 9223372036854775807LL;
    }
    static __device__ __forceinline__ mul_u64 to(mul_i64 v)
    {
        return (mul_u64)v;
    }
    static __device__ __forceinline__ mul_i64 from(mul_u64 b)
    {
        return (mul_i64)b;
    }
};
template <> struct mulg_traits<float> {
    typedef mul_u32 bits;
    static constexpr bool real = true;
    static __device__ __forceinline__ mul_u32 to(float v)
    {
        return __float_as_uint(v);
    }
    static __device__ __forceinline__ float from(mul_u32 b)
    {
        return __uint_as_float(b);
    }
    static __device__ __forceinline__ float nan()
    {
        return __uint_as_float(0x7fc00000u);
    }
    static constexpr mul_u32 sign = 0x80000000u;
};
template <> struct mulg_traits<double> {
    typedef mul_u64 bits;
    static constexpr bool real = true;
    static __device__ __forceinline__ mul_u64 to(double v)
    {
        return (mul_u64)__double_as_longlong(v);
    }
    static __device__ __forceinline__ double from(mul_u64 b)
    {
        return __longlong_as_double((long long)b);
    }
    static __device__ __forceinline__ double nan()
    {
        return __longlong_as_double(0x7ff8000000000000LL);
    }
    static constexpr mul_u64 sign = 0x8000000000000000ull;
};

/* --- CON ------------------------------------------------------------------------------------------ */

MULG_DEVICE bool mulg_add_over(int x, int y, int *z)
{
    *z = (int)((mul_u32)x + (mul_u32)y);
    return ((x ^ *z) & (y ^ *z)) < 0;
}
MULG_DEVICE bool mulg_add_over(mul_i64 x, mul_i64 y, mul_i64 *z)
{
    *z = (mul_i64)((mul_u64)x + (mul_u64)y);
    return ((x ^ *z) & (y ^ *z)) < 0;
}
MULG_DEVICE bool mulg_mul_over(int x, int y, int *z)
{
    const mul_i64 p = (mul_i64)x * y;
    *z = (int)p;
    return p != *z;
}
MULG_DEVICE bool mulg_mul_over(mul_i64 x, mul_i64 y, mul_i64 *z)
{
    *z = (mul_i64)((mul_u64)x * (mul_u64)y);
    return __mul64hi(x, y) != (*z >> 63);
}
MULG_DEVICE float mulg_plus(float x, float y)
{
    return __fadd_rn(x, y);
}
MULG_DEVICE double mulg_plus(double x, double y)
{
    return __dadd_rn(x, y);
}
MULG_DEVICE int mulg_plus(int x, int y)
{
    return (int)((mul_u32)x + (mul_u32)y);
}
MULG_DEVICE mul_i64 mulg_plus(mul_i64 x, mul_i64 y)
{
    return (mul_i64)((mul_u64)x + (mul_u64)y);
}
MULG_DEVICE float mulg_times(float x, float y)
{
    return __fmul_rn(x, y);
}
MULG_DEVICE double mulg_times(double x, double y)
{
    return __dmul_rn(x, y);
}
MULG_DEVICE int mulg_times(int x, int y)
{
    return (int)((mul_u32)x * (mul_u32)y);
}
MULG_DEVICE mul_i64 mulg_times(mul_i64 x, mul_i64 y)
{
    return (mul_i64)((mul_u64)x * (mul_u64)y);
}

template <class T> MULG_DEVICE T mulg_con(int con, T a, T b)
{
    switch (con) {
    case MULG_A:
        return a;
    case MULG_B:
        return b;
    case MULG_ADD:
        return mulg_plus(a, b);
    case MULG_MUL:
        return mulg_times(a, b);
    default:
        return (T)1;
    }
}

/* CON with overflow of integers told. */
template <class T> MULG_DEVICE T mulg_con_checked(int con, T a, T b, int *bad)
{
    if constexpr (!mulg_traits<T>::real) {
        T z = 0;
        if (con == MULG_ADD) {
            if (mulg_add_over(a, b, &z)) *bad = 1;
            return z;
        }
        if (con == MULG_MUL) {
            if (mulg_mul_over(a, b, &z)) *bad = 1;
            return z;
        }
    }
    return mulg_con<T>(con, a, b);
}

/* Values of an operand; 1 where there are none. */
template <class T> MULG_DEVICE T mulg_value(const void *value, mul_u64 at)
{
    return value ? __ldg((const T *)value + at) : (T)1;
}

#endif
