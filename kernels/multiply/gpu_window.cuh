/* SPDX-License-Identifier: Apache-2.0
 *
 * A dense window's cells as its kernels see them: which are touched, how they are emptied, and how cells of several
 * blocks are put together. Each thread has 128 bytes of neighbouring cells for its own; the 16-byte pieces are read
 * from another one on in each lane, so that eight lanes reach all banks. Used by gpu_dense.cuh, gpu_hub.cuh and
 * gpu_top.cuh.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_WINDOW_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_WINDOW_CUH

#include "gpu_tiny.cuh"

/* Whether a semiring counts in 16 bits, two columns a cell: no row of A has 2^16 entries. */
template <class R> struct mulg_narrow {
    static constexpr bool value = false;
};

template <class R> struct mulg_narrow<mulg_sifted<R>> {
    static constexpr bool value = mulg_narrow<R>::value;
};

/* Whether cells of several blocks can be put together in the same place (mulg_merge); others: gpu_parts.cuh. */
template <class R> struct mulg_splits {
    static constexpr bool value = !R::WRITTEN_FOLD && sizeof(typename R::T) <= 8;
};

/* Whether wide HUB rows go through cells in global memory (gpu_hub.cuh). Written functions do without: it would take
 * their compiler longer, for every product. */
template <class R> struct mulg_scatters {
    static constexpr bool value = mulg_splits<R>::value && !R::WRITTEN;
};

template <class R> struct mulg_dense_cells {
    typedef typename R::cell::bits bits;
    static constexpr bool narrow = mulg_narrow<R>::value;
    static constexpr int cells = MULG_DENSE_BYTES / sizeof(bits), width = narrow ? 2 * cells : cells;
    static constexpr int own_columns = width / MULG_THREADS, pieces = MULG_DENSE_BYTES / MULG_THREADS / 16;
    static_assert(pieces == 8, "a thread's cells are 128 bytes");
};

/* Bit i: whether column i of the thread's own is touched. */
struct mulg_touched {
    mul_u32 low, high;
};

template <class BITS> MULG_DEVICE const uint4 *mulg_piece(const BITS *cell, int k)
{
    return (const uint4 *)((const char *)cell + threadIdx.x * 128 + ((k * 16 + threadIdx.x * 16) & 127));
}

MULG_DEVICE mul_u32 mulg_rotate(mul_u32 x, mul_u32 by)
{
    return __funnelshift_l(x, x, by);
}

/* Bits of the low half to even places, of the high half to odd ones. */
MULG_DEVICE mul_u32 mulg_shuffle(mul_u32 x)
{
    mul_u32 t = (x ^ x >> 8) & 0x0000ff00;
    x ^= t ^ t << 8;
    t = (x ^ x >> 4) & 0x00f000f0;
    x ^= t ^ t << 4;
    t = (x ^ x >> 2) & 0x0c0c0c0c;
    x ^= t ^ t << 2;
    t = (x ^ x >> 1) & 0x22222222;
    return x ^ t ^ t << 1;
}

MULG_DEVICE mulg_touched mulg_touched_narrow(const mul_u32 *cell)
{
    mul_u32 part[2] = {0, 0}; /* of even columns below, of odd ones above */
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const uint4 v = *mulg_piece(cell, k);
        const mul_u32 four = __vminu2(v.x, 0x10001) | __vminu2(v.y, 0x10001) << 1 | __vminu2(v.z, 0x10001) << 2 |
                             __vminu2(v.w, 0x10001) << 3;
        part[k / 4] |= four << (k % 4 * 4);
    }
    const mul_u32 turn = (threadIdx.x & 7) * 4;
    const mul_u32 even = mulg_rotate(__byte_perm(part[0], part[1], 0x5410), turn);
    const mul_u32 odd = mulg_rotate(__byte_perm(part[0], part[1], 0x7632), turn);
    const mulg_touched t = {mulg_shuffle(__byte_perm(even, odd, 0x5410)),
                            mulg_shuffle(__byte_perm(even, odd, 0x7632))};
    return t;
}

/* `mark`: a bit a column, of cells that are MARKED. */
template <class R> MULG_DEVICE mulg_touched mulg_find_touched(const typename R::cell::bits *cell, const mul_u32 *mark)
{
    typedef typename R::cell C;
    typedef typename C::bits bits;
    constexpr int each = 16 / sizeof(bits);
    mulg_touched t = {0, 0};
    if constexpr (mulg_dense_cells<R>::narrow)
        return mulg_touched_narrow(cell);
    else if constexpr (C::marked)
        t.low = mark[threadIdx.x * each / 4] >> (threadIdx.x % (4 / each) * 8 * each) & (MULG_ALL >> (32 - 8 * each));
    else {
        mul_u32 mask = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            union {
                uint4 v;
                bits b[each];
            } x;
            x.v = *mulg_piece(cell, k);
#pragma unroll
            for (int i = 0; i < each; i++)
                mask |= (x.b[i] != C::empty() ? 1u : 0u) << (k * each + i);
        }
        if constexpr (each == 1) mask |= mask << 8;
        if constexpr (each <= 2) mask |= mask << 16;
        t.low = mulg_rotate(mask, (threadIdx.x & 7) * each) & (MULG_ALL >> (32 - 8 * each));
    }
    return t;
}

template <class R> MULG_DEVICE void mulg_clear_marks(mul_u32 *mark)
{
    constexpr int each = 16 / sizeof(typename R::cell::bits);
    if (threadIdx.x % (4 / each) == 0) mark[threadIdx.x * each / 4] = 0;
}

/* Empties the thread's own cells. */
template <class R> MULG_DEVICE void mulg_clear(typename R::cell::bits *cell, mul_u32 *mark)
{
    typedef typename R::cell C;
    typedef typename C::bits bits;
    constexpr int each = 16 / sizeof(bits);
    union {
        uint4 v;
        bits b[each];
    } x;
#pragma unroll
    for (int i = 0; i < each; i++)
        x.b[i] = C::empty();
#pragma unroll
    for (int k = 0; k < 8; k++)
        *(uint4 *)mulg_piece(cell, k) = x.v;
    if constexpr (C::marked) mulg_clear_marks<R>(mark);
}

/* What another block found for a cell, into a cell in global memory. The first argument only says which AGG. */
MULG_DEVICE void mulg_merge(const mulg_count_cell *, mul_u32 *cell, mul_u32 x)
{
    atomicAdd(cell, x);
}
template <class T>
MULG_DEVICE void mulg_merge(const mulg_cell<T, MULG_SUM> *, typename mulg_traits<T>::bits *cell,
                            typename mulg_traits<T>::bits x)
{
    if constexpr (mulg_traits<T>::real)
        atomicAdd((T *)cell, mulg_traits<T>::from(x));
    else
        atomicAdd(cell, x);
}
template <class T, bool FALLING>
MULG_DEVICE void mulg_merge(const mulg_least_cell<T, FALLING> *, typename mulg_traits<T>::bits *cell,
                            typename mulg_traits<T>::bits x)
{
    atomicMin(cell, x);
}

/* What a cell holds after one product. */
template <class T> MULG_DEVICE typename mulg_traits<T>::bits mulg_bits(const mulg_cell<T, MULG_SUM> *, T v)
{
    return mulg_traits<T>::to(mulg_plus(v, (T)0));
}
template <class T, bool FALLING>
MULG_DEVICE typename mulg_traits<T>::bits mulg_bits(const mulg_least_cell<T, FALLING> *, T v)
{
    return mulg_order(v, FALLING);
}

#endif
