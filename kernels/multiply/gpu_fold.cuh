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
    /* AVG's kernels name it; AVG of complex numbers is refused before. */
    __device__ __forceinline__ explicit operator double() const
    {
        return re;
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

/* AGG in order: SUM, FIRST, LAST. */
template <> __device__ __forceinline__ mulg_c128 mulg_start<mulg_c128>(int)
{
    return lacis_complex(-0.0, -0.0);
}
template <> __device__ __forceinline__ mulg_c128 mulg_fold<mulg_c128>(int agg, mulg_c128 x, mulg_c128 v, int, int *)
{
    return agg == MULG_SUM ? mulg_plus(x, mulg_plus(v, (mulg_c128)0)) : v;
}

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

/* What a cell of shared memory holds, and `next` in its place where it still holds `seen`; answers what it held. */
MULG_DEVICE mul_u32 mulg_look(const mul_u32 *cell)
{
    return *(const volatile mul_u32 *)cell;
}
MULG_DEVICE mul_u64 mulg_look(const mul_u64 *cell)
{
    return *(const volatile mul_u64 *)cell;
}
MULG_DEVICE mul_u32 mulg_swap(mul_u32 *cell, mul_u32 seen, mul_u32 next)
{
    return atomicCAS(cell, seen, next);
}
MULG_DEVICE mul_u64 mulg_swap(mul_u64 *cell, mul_u64 seen, mul_u64 next)
{
    return atomicCAS(cell, seen, next);
}
/* Only devices from 9.0 on are given kernels that call these. */
MULG_DEVICE mulg_bits16 mulg_look(const mulg_bits16 *cell)
{
    mulg_bits16 b = *cell;
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

/* What AGG does to a cell. JOIN: join(x, y); one(v), a value before it is joined; last(x), what comes out; start(),
 * where cells are marked.
 *
 * Reals of up to 8 bytes by exchange: whoever stores takes out what another stored meanwhile and joins it. */
template <class T, class JOIN> struct mulg_exchange_cell {
    typedef typename mulg_traits<T>::bits bits;
    static constexpr bool marked = false;
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
    static __device__ __forceinline__ T get(bits b)
    {
        return JOIN::last(mulg_traits<T>::from(b));
    }
};

/* All else by compare and swap. Integers leave no bits for `empty`: touched cells are marked. Of 16 bytes an exchange
 * costs far more than a look, and a value that changes nothing is not stored. */
template <class T, class JOIN, bool MARKED> struct mulg_swap_cell {
    typedef typename mulg_traits<T>::bits bits;
    static constexpr bool marked = MARKED;
    static __device__ __forceinline__ bits empty()
    {
        if constexpr (MARKED)
            return mulg_traits<T>::to(JOIN::start());
        else
            return mulg_no_value<T>();
    }
    static __device__ __forceinline__ bits with(bits seen, T v)
    {
        if constexpr (MARKED)
            return mulg_traits<T>::to(JOIN::join(mulg_traits<T>::from(seen), v));
        else
            return mulg_some_value(seen == empty() ? v : JOIN::join(mulg_traits<T>::from(seen), v));
    }
    static __device__ __forceinline__ void again(bits *cell, bits seen, T v)
    {
        for (;;) {
            const bits next = with(seen, v);
            if (next == seen) return;
            const bits was = mulg_swap(cell, seen, next);
            if (was == seen) return;
            seen = was;
        }
    }
    static __device__ __forceinline__ void put(bits *cell, T v)
    {
        again(cell, mulg_look(cell), JOIN::one(v));
    }
    /* Two at a time, their swaps in flight together. */
    static __device__ __forceinline__ void put_two(bits *x, T v, bits *y, T w)
    {
        const bits seen_x = mulg_look(x), seen_y = mulg_look(y);
        v = JOIN::one(v);
        w = JOIN::one(w);
        const bits next_x = with(seen_x, v), next_y = with(seen_y, w);
        const bits was_x = next_x != seen_x ? mulg_swap(x, seen_x, next_x) : seen_x;
        const bits was_y = next_y != seen_y ? mulg_swap(y, seen_y, next_y) : seen_y;
        if (was_x != seen_x) again(x, was_x, v);
        if (was_y != seen_y) again(y, was_y, w);
    }
    static __device__ __forceinline__ T get(bits b)
    {
        if constexpr (MARKED)
            return mulg_traits<T>::from(b);
        else
            return JOIN::last(mulg_traits<T>::from(b));
    }
};

template <class T, class JOIN, int BYTES, bool REAL> struct mulg_join_cell {
    typedef mulg_swap_cell<T, JOIN, !REAL> type;
};
#ifndef MULG_SWAP_REALS
template <class T, class JOIN> struct mulg_join_cell<T, JOIN, 4, true> {
    typedef mulg_exchange_cell<T, JOIN> type;
};
template <class T, class JOIN> struct mulg_join_cell<T, JOIN, 8, true> {
    typedef mulg_exchange_cell<T, JOIN> type;
};
#endif

#endif
