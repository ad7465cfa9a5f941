/* SPDX-License-Identifier: Apache-2.0
 *
 * AGG on the GPU: folds in order, and cells of shared memory into which products come in any order. Included by
 * every kernel.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_CELL_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_CELL_CUH

#include "gpu_con.cuh"

/* --- AGG in order: x := fold(x, v); used where one thread at a time owns a cell -------------------- */

template <class T> MULG_DEVICE T mulg_start(int agg)
{
    if constexpr (mulg_traits<T>::real)
        return mulg_traits<T>::from(agg == MULG_SUM || agg == MULG_AVG ? mulg_traits<T>::sign
                                                                       : ~(typename mulg_traits<T>::bits)0);
    else
        return agg == MULG_MIN ? mulg_traits<T>::greatest() : agg == MULG_MAX ? mulg_traits<T>::least() : 0;
}

template <class T> MULG_DEVICE T mulg_fold(int agg, T x, T v, int checked, int *bad)
{
    if (agg == MULG_SUM || agg == MULG_AVG) {
        if constexpr (mulg_traits<T>::real)
            return mulg_plus(x, mulg_plus(v, (T)0));
        else {
            T z;
            if (mulg_add_over(x, v, &z) && checked) *bad = 1;
            return z;
        }
    }
    if (agg == MULG_MIN || agg == MULG_MAX) {
        if constexpr (mulg_traits<T>::real) {
            if (v != v) return x == x ? x : mulg_traits<T>::nan();
            return (agg == MULG_MIN ? x < v : x > v) ? x : v;
        } else
            return (agg == MULG_MIN ? x < v : x > v) ? x : v;
    }
    return v; /* FIRST runs over falling c, LAST over rising c */
}

/* AVG: what values are added up in. */
template <class T> struct mulg_mean {
    typedef double type;
    static __device__ __forceinline__ double none() /* adds nothing to any value */
    {
        return -0.0;
    }
    static __device__ __forceinline__ double one(T v)
    {
        return mulg_plus((double)v, 0.0);
    }
    static __device__ __forceinline__ double over(double sum, mul_u32 n)
    {
        return sum / n;
    }
};

/* --- AGG in any order, by atomics on shared memory -------------------------------------------------
 * Cells hold `bits`; `empty` is what an untouched cell holds. MARKED: which are touched is marked beside them, since
 * a touched one may hold `empty` too, or since put() TELLS who came first. */

template <class T, int AGG> struct mulg_cell;

struct mulg_count_cell {
    typedef mul_u32 bits;
    static constexpr bool marked = false, tells = false;
    static __device__ __forceinline__ bits empty()
    {
        return 0;
    }
    static __device__ __forceinline__ void add(bits *cell)
    {
        atomicAdd(cell, 1u);
    }
};

/* Exchanges instead of compare-and-swap: whoever stores takes out what another stored meanwhile and puts it back in.
 */
template <class T> struct mulg_cell<T, MULG_SUM> {
    typedef typename mulg_traits<T>::bits bits;
    static constexpr bool marked = !mulg_traits<T>::real, tells = false;
    static __device__ __forceinline__ bits empty()
    {
        if constexpr (mulg_traits<T>::real)
            return mulg_traits<T>::sign; /* -0.0 */
        else
            return 0;
    }
    static __device__ __forceinline__ void put(bits *cell, T v)
    {
        if constexpr (mulg_traits<T>::real) {
            v = mulg_plus(v, (T)0);
            for (;;) {
                const bits taken = atomicExch(cell, empty());
                v = mulg_plus(v, mulg_traits<T>::from(taken));
                const bits other = atomicExch(cell, mulg_traits<T>::to(v));
                if (other == empty()) break;
                v = mulg_traits<T>::from(other);
            }
        } else if constexpr (sizeof(T) == 4) {
            atomicAdd(cell, (mul_u32)v);
        } else {
            mul_u32 *half = (mul_u32 *)cell;
            const mul_u32 low = (mul_u32)(mul_u64)v, high = (mul_u32)((mul_u64)v >> 32);
            const mul_u32 old = atomicAdd(half, low);
            const mul_u32 carry = old + low < old;
            if (high + carry) atomicAdd(half + 1, high + carry);
        }
    }
    /* Two at a time, their exchanges in flight together. */
    static __device__ __forceinline__ void put_two(bits *x, T v, bits *y, T w)
    {
        if constexpr (mulg_traits<T>::real) {
            const bits taken_x = atomicExch(x, empty()), taken_y = atomicExch(y, empty());
            v = mulg_plus(mulg_plus(v, (T)0), mulg_traits<T>::from(taken_x));
            w = mulg_plus(mulg_plus(w, (T)0), mulg_traits<T>::from(taken_y));
            const bits other_x = atomicExch(x, mulg_traits<T>::to(v)), other_y = atomicExch(y, mulg_traits<T>::to(w));
            if (other_x != empty()) put(x, mulg_traits<T>::from(other_x));
            if (other_y != empty()) put(y, mulg_traits<T>::from(other_y));
        } else {
            put(x, v);
            put(y, w);
        }
    }
    static __device__ __forceinline__ T get(bits b)
    {
        return mulg_traits<T>::from(b);
    }
};

/* Bits whose unsigned order is the values' order, NaN the last but `empty`. */
template <class T> MULG_DEVICE typename mulg_traits<T>::bits mulg_order(T v, bool falling)
{
    typedef typename mulg_traits<T>::bits bits;
    bits b = mulg_traits<T>::to(v);
    if constexpr (mulg_traits<T>::real) {
        const bits sign = mulg_traits<T>::sign;
        b ^= (b & sign ? ~(bits)0 : 0) | sign;
        if (falling) b = ~b;
        return v != v ? ~(bits)1 : b;
    } else {
        b ^= (bits)1 << (sizeof(T) * 8 - 1);
        return falling ? ~b : b;
    }
}

template <class T> MULG_DEVICE T mulg_unorder(typename mulg_traits<T>::bits b, bool falling)
{
    typedef typename mulg_traits<T>::bits bits;
    if constexpr (mulg_traits<T>::real) {
        if (b == ~(bits)1) return mulg_traits<T>::nan();
        if (falling) b = ~b;
        b = b & mulg_traits<T>::sign ? b ^ mulg_traits<T>::sign : ~b;
    } else {
        if (falling) b = ~b;
        b ^= (bits)1 << (sizeof(T) * 8 - 1);
    }
    return mulg_traits<T>::from(b);
}

template <class T, bool FALLING> struct mulg_least_cell {
    typedef typename mulg_traits<T>::bits bits;
    static constexpr bool marked = !mulg_traits<T>::real, tells = false;
    static __device__ __forceinline__ bits empty()
    {
        return ~(bits)0;
    }
    static __device__ __forceinline__ void put(bits *cell, T v)
    {
        const bits b = mulg_order(v, FALLING);
        if constexpr (sizeof(T) == 4)
            atomicMin(cell, b);
        else {
            bits seen = *(volatile bits *)cell;
            while (b < seen) {
                const bits was = atomicCAS(cell, seen, b);
                if (was == seen) break;
                seen = was;
            }
        }
    }
    static __device__ __forceinline__ void put_two(bits *x, T v, bits *y, T w)
    {
        put(x, v);
        put(y, w);
    }
    static __device__ __forceinline__ T get(bits b)
    {
        return mulg_unorder<T>(b, FALLING);
    }
};
template <class T> struct mulg_cell<T, MULG_MIN> : mulg_least_cell<T, false> {
};
template <class T> struct mulg_cell<T, MULG_MAX> : mulg_least_cell<T, true> {
};

#endif
