/* SPDX-License-Identifier: Apache-2.0
 *
 * What user functions need beyond the built-in semirings: values of 16 bytes, and cells for AGGs without an atomic,
 * where order does not matter. Behind the prefix of operators/multiply/written.c, which defines lacis_c128; included
 * by gpu_written.cuh.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_FOLD_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_FOLD_CUH

#include "gpu_cell.cuh"

struct __align__(16) mulg_bits16
{
    mul_u64 low, high;
};
MULG_DEVICE bool operator==(mulg_bits16 x, mulg_bits16 y)
{
    return x.low == y.low && x.high == y.high;
}
MULG_DEVICE bool operator!=(mulg_bits16 x, mulg_bits16 y)
{
    return !(x == y);
}

/* As in gpu_parts.cuh. */
MULG_DEVICE mulg_bits16 mulg_afar(const mulg_bits16 *at)
{
    const ulonglong2 b = __ldcg((const ulonglong2 *)at);
    const mulg_bits16 r = {b.x, b.y};
    return r;
}

/* A complex number that kernels treat as any other value. */
struct __align__(16) mulg_c128 : lacis_c128
{
    mulg_c128() = default;
    __device__ __forceinline__ mulg_c128(lacis_c128 z) : lacis_c128(z)
    {
    }
    __device__ __forceinline__ explicit mulg_c128(int real) : lacis_c128(lacis_complex((double)real, 0.0))
    {
    }
};

template <> struct mulg_traits<mulg_c128> {
    typedef mulg_bits16 bits;
    static constexpr bool real = true;
    static __device__ __forceinline__ mulg_bits16 to(mulg_c128 v)
    {
        const mulg_bits16 b = {(mul_u64)__double_as_longlong(v.re), (mul_u64)__double_as_longlong(v.im)};
        return b;
    }
    static __device__ __forceinline__ mulg_c128 from(mulg_bits16 b)
    {
        return lacis_complex(__longlong_as_double((long long)b.low), __longlong_as_double((long long)b.high));
    }
};

/* The compiler's own functions for it, by the names that kernels call. */
MULG_DEVICE mulg_c128 mulg_plus(mulg_c128 x, mulg_c128 y)
{
    return lacis_complex(__dadd_rn(x.re, y.re), __dadd_rn(x.im, y.im));
}
MULG_DEVICE mulg_c128 __shfl_sync(mul_u32 mask, mulg_c128 v, int source)
{
    return lacis_complex(__shfl_sync(mask, v.re, source), __shfl_sync(mask, v.im, source));
}
MULG_DEVICE mulg_c128 __ldg(const mulg_c128 *at)
{
    const double2 v = __ldg((const double2 *)at);
    return lacis_complex(v.x, v.y);
}
MULG_DEVICE mulg_c128 __ldcs(const mulg_c128 *at)
{
    const double2 v = __ldcs((const double2 *)at);
    return lacis_complex(v.x, v.y);
}

/* AGG in order: SUM, FIRST, LAST. */
template <> __device__ __forceinline__ mulg_c128 mulg_start<mulg_c128>(int)
{
    return lacis_complex(-0.0, -0.0);
}
template <> __device__ __forceinline__ mulg_c128 mulg_fold<mulg_c128>(int agg, mulg_c128 x, mulg_c128 v, int, int *)
{
    return agg == MULG_SUM ? mulg_plus(x, mulg_plus(v, (mulg_c128)0)) : v;
}

template <> struct mulg_mean<mulg_c128> {
    typedef mulg_c128 type;
    static __device__ __forceinline__ mulg_c128 none()
    {
        return lacis_complex(-0.0, -0.0);
    }
    static __device__ __forceinline__ mulg_c128 one(mulg_c128 v)
    {
        return mulg_plus(v, (mulg_c128)0);
    }
    static __device__ __forceinline__ mulg_c128 over(mulg_c128 sum, mul_u32 n)
    {
        return lacis_complex(sum.re / n, sum.im / n);
    }
};

template <class T> struct mulg_value_of {
    typedef T type;
};
template <> struct mulg_value_of<lacis_c128> {
    typedef mulg_c128 type;
};

/* --- cells ---------------------------------------------------------------------------------------- */

MULG_DEVICE mul_u32 mulg_exchange(mul_u32 *cell, mul_u32 b)
{
    return atomicExch(cell, b);
}
MULG_DEVICE mul_u64 mulg_exchange(mul_u64 *cell, mul_u64 b)
{
    return atomicExch(cell, b);
}
/* In shared memory; only devices from 9.0 on are given kernels that call it. */
MULG_DEVICE mulg_bits16 mulg_exchange(mulg_bits16 *cell, mulg_bits16 b)
{
    mulg_bits16 old = b;
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n\t"
                 ".reg .b128 mine, other;\n\t"
                 "mov.b128 mine, {%2, %3};\n\t"
                 "atom.shared.exch.b128 other, [%4], mine;\n\t"
                 "mov.b128 {%0, %1}, other;\n\t"
                 "}"
                 : "=l"(old.low), "=l"(old.high)
                 : "l"(b.low), "l"(b.high), "r"((mul_u32)__cvta_generic_to_shared(cell))
                 : "memory");
#endif
    return old;
}

/* What a cell of shared memory holds, and `next` in its place where it still holds `seen`; answers what it held. Only
 * devices from 9.0 on are given kernels that call these. */
MULG_DEVICE mulg_bits16 mulg_look(const mulg_bits16 *cell)
{
    mulg_bits16 b = {0, 0};
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n\t"
                 ".reg .b128 held;\n\t"
                 "ld.relaxed.cta.shared.b128 held, [%2];\n\t"
                 "mov.b128 {%0, %1}, held;\n\t"
                 "}"
                 : "=l"(b.low), "=l"(b.high)
                 : "r"((mul_u32)__cvta_generic_to_shared(cell))
                 : "memory");
#endif
    return b;
}
MULG_DEVICE mulg_bits16 mulg_swap(mulg_bits16 *cell, mulg_bits16 seen, mulg_bits16 next)
{
    mulg_bits16 was = seen;
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n\t"
                 ".reg .b128 was, seen, next;\n\t"
                 "mov.b128 seen, {%2, %3};\n\t"
                 "mov.b128 next, {%4, %5};\n\t"
                 "atom.relaxed.cta.shared.cas.b128 was, [%6], seen, next;\n\t"
                 "mov.b128 {%0, %1}, was;\n\t"
                 "}"
                 : "=l"(was.low), "=l"(was.high)
                 : "l"(seen.low), "l"(seen.high), "l"(next.low), "l"(next.high),
                   "r"((mul_u32)__cvta_generic_to_shared(cell))
                 : "memory");
#endif
    return was;
}

/* No value is stored as `empty`, a NaN of its own. */
template <class T> MULG_DEVICE typename mulg_traits<T>::bits mulg_no_value()
{
    if constexpr (sizeof(T) == 16) {
        const mulg_bits16 b = {~0ull, ~0ull};
        return b;
    } else
        return ~(typename mulg_traits<T>::bits)0;
}
template <class T> MULG_DEVICE typename mulg_traits<T>::bits mulg_some_value(T v)
{
    typename mulg_traits<T>::bits b = mulg_traits<T>::to(v);
    if (b == mulg_no_value<T>()) {
        if constexpr (sizeof(T) == 16)
            b.low = 0x7ff8000000000000ull;
        else
            b = mulg_traits<T>::to(mulg_traits<T>::nan());
    }
    return b;
}

/* Reals by exchange: whoever stores takes out what another stored meanwhile and joins it. JOIN: join(x, y);
 * one(v), a value before it is joined; last(x), what comes out. */
template <class T, class JOIN, bool REAL> struct mulg_join_cell {
    typedef typename mulg_traits<T>::bits bits;
    static constexpr bool marked = false, tells = false;
    static __device__ __forceinline__ bits empty()
    {
        return mulg_no_value<T>();
    }
    static __device__ __forceinline__ T with(T v, bits taken)
    {
        return taken == empty() ? v : JOIN::join(mulg_traits<T>::from(taken), v);
    }
    static __device__ __forceinline__ void merge(bits *cell, T v)
    {
        for (;;) {
            v = with(v, mulg_exchange(cell, empty()));
            const bits other = mulg_exchange(cell, mulg_some_value(v));
            if (other == empty()) break;
            v = mulg_traits<T>::from(other);
        }
    }
    static __device__ __forceinline__ void put(bits *cell, T v)
    {
        merge(cell, JOIN::one(v));
    }
    /* Two at a time, their exchanges in flight together. */
    static __device__ __forceinline__ void put_two(bits *x, T v, bits *y, T w)
    {
        const bits taken_x = mulg_exchange(x, empty()), taken_y = mulg_exchange(y, empty());
        v = with(JOIN::one(v), taken_x);
        w = with(JOIN::one(w), taken_y);
        const bits other_x = mulg_exchange(x, mulg_some_value(v)), other_y = mulg_exchange(y, mulg_some_value(w));
        if (other_x != empty()) merge(x, mulg_traits<T>::from(other_x));
        if (other_y != empty()) merge(y, mulg_traits<T>::from(other_y));
    }
    /* What two blocks found for the same cell. */
    static __device__ __forceinline__ bits both(bits x, bits y)
    {
        if (x == empty() || y == empty()) return y == empty() ? x : y;
        return mulg_some_value(JOIN::join(mulg_traits<T>::from(x), mulg_traits<T>::from(y)));
    }
    static __device__ __forceinline__ T get(bits b)
    {
        return JOIN::last(mulg_traits<T>::from(b));
    }
};

/* Integers leave no bits for `empty`: touched cells are marked, and values enter by compare and swap. */
template <class T, class JOIN> struct mulg_join_cell<T, JOIN, false> {
    typedef typename mulg_traits<T>::bits bits;
    static constexpr bool marked = true, tells = false;
    static __device__ __forceinline__ bits empty()
    {
        return mulg_traits<T>::to(JOIN::start());
    }
    static __device__ __forceinline__ bits with(bits seen, T v)
    {
        return mulg_traits<T>::to(JOIN::join(mulg_traits<T>::from(seen), v));
    }
    static __device__ __forceinline__ void merge(bits *cell, bits seen, T v)
    {
        for (;;) {
            const bits next = with(seen, v);
            if (next == seen) return;
            const bits was = atomicCAS(cell, seen, next);
            if (was == seen) return;
            seen = was;
        }
    }
    static __device__ __forceinline__ void put(bits *cell, T v)
    {
        merge(cell, *(volatile bits *)cell, v);
    }
    /* Two at a time, their swaps in flight together. */
    static __device__ __forceinline__ void put_two(bits *x, T v, bits *y, T w)
    {
        const bits seen_x = *(volatile bits *)x, seen_y = *(volatile bits *)y;
        const bits next_x = with(seen_x, v), next_y = with(seen_y, w);
        const bits was_x = next_x != seen_x ? atomicCAS(x, seen_x, next_x) : seen_x;
        const bits was_y = next_y != seen_y ? atomicCAS(y, seen_y, next_y) : seen_y;
        if (was_x != seen_x) merge(x, was_x, v);
        if (was_y != seen_y) merge(y, was_y, w);
    }
    static __device__ __forceinline__ bits both(bits x, bits y)
    {
        return with(x, mulg_traits<T>::from(y));
    }
    static __device__ __forceinline__ T get(bits b)
    {
        return mulg_traits<T>::from(b);
    }
};

/* Values of 16 bytes by compare and swap: a value that changes nothing is not stored, and who comes first is told, so
 * that cells need not be searched for touched ones. */
template <class T, class JOIN> struct mulg_told_cell {
    typedef typename mulg_traits<T>::bits bits;
    static constexpr bool marked = true, tells = true;
    static __device__ __forceinline__ bits empty()
    {
        return mulg_no_value<T>();
    }
    /* Whether the cell was empty. Where another comes between, values are put together by exchange: a cell that is
     * taken out for a moment looks empty, and is marked then once more. */
    static __device__ __forceinline__ bool put(bits *cell, T v)
    {
        v = JOIN::one(v);
        const bits seen = mulg_look(cell);
        const bool first = seen == empty();
        const bits next = mulg_some_value(first ? v : JOIN::join(mulg_traits<T>::from(seen), v));
        if (next == seen) return false;
        if (mulg_swap(cell, seen, next) == seen) return first;
        mulg_join_cell<T, JOIN, true>::merge(cell, v);
        return false;
    }
    static __device__ __forceinline__ bits both(bits x, bits y)
    {
        return mulg_join_cell<T, JOIN, true>::both(x, y);
    }
    static __device__ __forceinline__ T get(bits b)
    {
        return JOIN::last(mulg_traits<T>::from(b));
    }
};

#endif
