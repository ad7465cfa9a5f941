/* SPDX-License-Identifier: Apache-2.0
 *
 * FLAT rows: at most eight entries of A where no row of B has more than eight. B lies packed (gpu_bounds.cu): row c
 * as one chunk from c * chunk bytes on, eight columns and behind them eight values, ended by columns MULG_ALL. So an
 * entry of A says where its products are without a look at B's bounds, and each chunk is one visit to DRAM.
 *
 * A warp has four rows, eight lanes each; a lane's eight products are one row of B, rising already, and three merges
 * sort the row's 64. Chunks travel straight to shared memory: those of the next four rows are on their way while four
 * rows are sorted. Results leave through shared memory too, in whole sectors: rows have room for a multiple of eight.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_FLAT_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_FLAT_CUH

#include "gpu_tiny.cuh"

extern __shared__ mul_u64 mulg_dynamic[];

enum {
    MULG_FLAT_LANES = 8, /* of a row */
    MULG_FLAT_ROWS = 32 / MULG_FLAT_LANES,
    MULG_FLAT_LINE = 72 /* cells from a row's values to the next row's: other banks */
};
#define MULG_FLAT_NONE 0xffffffc0u /* keys from here on are no products */

template <class R> struct mulg_flat_shared {
    static constexpr int PIECES = R::VALUES ? 2 + (int)sizeof(typename R::B) / 2 : 2; /* of 16 bytes, of a chunk */
    uint4 chunk[32 * PIECES];
    uint4 key[MULG_FLAT_ROWS * MULG_FLAT_MOST * MULG_FLAT_LANES / 4];
    typename R::T value[R::VALUES ? MULG_FLAT_ROWS * MULG_FLAT_LINE : 4];
};

/* Where piece k of a lane's chunk lies: eight lanes that read the same piece of theirs find eight bank groups. */
template <int PIECES> MULG_DEVICE mul_u32 mulg_flat_piece(mul_u32 lane, mul_u32 k)
{
    return lane * PIECES + (PIECES == 2 ? k ^ (lane >> 2 & 1) : PIECES == 4 ? k ^ (lane >> 1 & 3) : k);
}

/* Where keys 4k to 4k + 3 of a row's 64 lie. */
MULG_DEVICE mul_u32 mulg_flat_key(mul_u32 group, mul_u32 k)
{
    return group * 16 + (k ^ (k >> 3 & 1));
}

struct mulg_flat_row {
    mul_u32 row, degree; /* MULG_ALL: beyond the list */
    mul_i64 begin;
    mul_u64 out;
};
template <class A> struct mulg_flat_entry {
    mul_u32 c; /* MULG_ALL: none */
    A a;
};

MULG_DEVICE mulg_flat_row mulg_flat_fetch_row(const mulg_params &p, mul_u64 i)
{
    mulg_flat_row h = {MULG_ALL, 0, 0, 0};
    if (i >= p.rows) return h;
    h.row = p.list ? p.list[i] : p.first + (mul_u32)i;
    h.begin = p.a_begin[h.row];
    h.degree = (mul_u32)(p.a_end[h.row] - h.begin);
    h.out = (mul_u64)p.c_begin[h.row];
    return h;
}

template <class R>
MULG_DEVICE mulg_flat_entry<typename R::A> mulg_flat_fetch_entry(const mulg_params &p, const mulg_flat_row &h)
{
    typedef typename R::A A;
    const mul_u32 lane = threadIdx.x & (MULG_FLAT_LANES - 1);
    mulg_flat_entry<A> e = {MULG_ALL, A()};
    if (lane >= h.degree) return e;
    e.c = __ldcs(p.a_column + h.begin + lane); /* read once: keeps out of the way of B in the L2 */
    if constexpr (R::VALUES) e.a = p.a_value ? __ldcs((const A *)p.a_value + h.begin + lane) : (A)1;
    return e;
}

/* Sends the chunks of the lanes' entries on their way, neighbouring lanes a chunk. */
template <class R> MULG_DEVICE void mulg_flat_send(const mulg_params &p, mulg_flat_shared<R> &s, mul_u32 c)
{
    constexpr int PIECES = mulg_flat_shared<R>::PIECES;
    const mul_u32 lane = threadIdx.x & 31;
    /* Steps of 32 pieces change nothing in how mulg_flat_piece turns them. */
    const mul_u32 to =
        (mul_u32)__cvta_generic_to_shared(s.chunk + mulg_flat_piece<PIECES>(lane / PIECES, lane % PIECES));
#pragma unroll
    for (int j = 0; j < PIECES; j++) {
        const mul_u32 at = j * 32 + lane, owner = at / PIECES;
        const mul_u32 piece = 32 % PIECES ? at % PIECES : lane % PIECES;
        const mul_u32 from = __shfl_sync(MULG_ALL, c, owner);
        const uint4 *source = (const uint4 *)p.b_flat + piece + (mul_u64)from * PIECES;
        if (from != MULG_ALL)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :
                         : "r"(to + j * 32 * (mul_u32)sizeof(uint4)), "l"(source)
                         : "memory");
    }
    asm volatile("cp.async.commit_group;" : : : "memory");
}

/* Takes the lane's chunk out of shared memory once it is there. */
template <class R>
MULG_DEVICE void mulg_flat_receive(mulg_flat_shared<R> &s, mul_u32 c, mul_u32 (&key)[MULG_FLAT_MOST],
                                   typename R::B (&b)[MULG_FLAT_MOST])
{
    typedef typename R::B B;
    constexpr int PIECES = mulg_flat_shared<R>::PIECES;
    const mul_u32 lane = threadIdx.x & 31;
    asm volatile("cp.async.wait_all;" : : : "memory");
    __syncwarp();
#pragma unroll
    for (int e = 0; e < MULG_FLAT_MOST; e++)
        key[e] = MULG_ALL;
    if (c != MULG_ALL) {
        uint4 piece[PIECES];
#pragma unroll
        for (int k = 0; k < PIECES; k++)
            piece[k] = s.chunk[mulg_flat_piece<PIECES>(lane, k)];
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            const mul_u32 word[4] = {piece[k].x, piece[k].y, piece[k].z, piece[k].w};
#pragma unroll
            for (int q = 0; q < 4; q++)
                if constexpr (R::VALUES && sizeof(B) == 8) {
                    if (k >= 2 && q % 2)
                        b[k * 2 - 4 + q / 2] = mulg_traits<B>::from((mul_u64)word[q] << 32 | word[q - 1]);
                } else if constexpr (R::VALUES) {
                    if (k >= 2) b[k * 4 - 8 + q] = mulg_traits<B>::from(word[q]);
                }
            if (k < 2)
                for (int q = 0; q < 4; q++)
                    key[k * 4 + q] = word[q];
        }
    }
    __syncwarp();
}

/* Bitonic merges of the lanes' rising eights, every merge rising: key e of lane l is at place 8 l + e. */
MULG_DEVICE void mulg_flat_sort(mul_u32 (&key)[MULG_FLAT_MOST])
{
    const mul_u32 lane = threadIdx.x & 31;
#pragma unroll
    for (int lanes = 2; lanes <= MULG_FLAT_LANES; lanes *= 2) {
        mul_u32 other[MULG_FLAT_MOST];
        const bool low = (lane & (lanes / 2)) == 0;
#pragma unroll
        for (int e = 0; e < MULG_FLAT_MOST; e++)
            other[e] = __shfl_xor_sync(MULG_ALL, key[MULG_FLAT_MOST - 1 - e], lanes - 1);
#pragma unroll
        for (int e = 0; e < MULG_FLAT_MOST; e++)
            key[e] = mulg_keep(key[e], other[e], low);
#pragma unroll
        for (int j = lanes / 4; j > 0; j /= 2)
#pragma unroll
            for (int e = 0; e < MULG_FLAT_MOST; e++)
                key[e] = mulg_keep(key[e], __shfl_xor_sync(MULG_ALL, key[e], j), (lane & j) == 0);
#pragma unroll
        for (int j = MULG_FLAT_MOST / 2; j > 0; j /= 2)
#pragma unroll
            for (int e = 0; e < MULG_FLAT_MOST; e++)
                if ((e & j) == 0) mulg_order_two(key[e], key[e + j]);
    }
}

/* Four results that lie together, as bits. */
MULG_DEVICE void mulg_flat_store(void *to, unsigned char x, unsigned char y, unsigned char z, unsigned char w)
{
    *(uchar4 *)to = make_uchar4(x, y, z, w);
}
MULG_DEVICE void mulg_flat_store(void *to, unsigned short x, unsigned short y, unsigned short z, unsigned short w)
{
    *(ushort4 *)to = make_ushort4(x, y, z, w);
}
MULG_DEVICE void mulg_flat_store(void *to, mul_u32 x, mul_u32 y, mul_u32 z, mul_u32 w)
{
    __stcs((uint4 *)to, make_uint4(x, y, z, w));
}
MULG_DEVICE void mulg_flat_store(void *to, mul_u64 x, mul_u64 y, mul_u64 z, mul_u64 w)
{
    __stcs((ulonglong2 *)to, make_ulonglong2(x, y));
    __stcs((ulonglong2 *)to + 1, make_ulonglong2(z, w));
}
template <int BYTES> struct mulg_flat_bits {
    typedef mul_u32 bits;
};
template <> struct mulg_flat_bits<1> {
    typedef unsigned char bits;
};
template <> struct mulg_flat_bits<2> {
    typedef unsigned short bits;
};
template <> struct mulg_flat_bits<8> {
    typedef mul_u64 bits;
};

/* No two products of the warp's rows share a column: each is an entry. */
template <class R>
MULG_DEVICE void mulg_flat_leave(const mulg_params &p, const mulg_flat_shared<R> &s, mul_u64 out, mul_u32 n, int *bad)
{
    typedef typename R::T T;
    const mul_u32 lane = threadIdx.x & 31;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const mul_u32 group = j * 2 + lane / 16, place = lane % 16 * 4;
        const mul_u64 at = __shfl_sync(MULG_ALL, out, group * MULG_FLAT_LANES) + place;
        const mul_u32 some = __shfl_sync(MULG_ALL, n, group * MULG_FLAT_LANES);
        if (place >= some) continue;
        const uint4 key = s.key[mulg_flat_key(group, place / 4)];
        __stcs((uint4 *)(p.c_column + at), make_uint4(key.x >> 6, key.y >> 6, key.z >> 6, key.w >> 6));
        if constexpr (!R::VALUES) {
            typedef typename mulg_flat_bits<sizeof(typename R::S)>::bits bits;
            mulg_flat_store((bits *)p.c_value + at, (bits)1, (bits)1, (bits)1, (bits)1);
        } else {
            const mul_u32 word[4] = {key.x, key.y, key.z, key.w};
            T v[4];
#pragma unroll
            for (int q = 0; q < 4; q++)
                v[q] = s.value[group * MULG_FLAT_LINE + (word[q] & 63)];
            if (R::WRITTEN_FOLD || p.agg == MULG_AVG) {
                for (int q = 0; q < 4; q++)
                    if (place + q < some) mulg_store_one<R>(p, at + q, v[q], bad);
            } else {
                if (p.agg == MULG_SUM)
                    for (int q = 0; q < 4; q++)
                        v[q] = mulg_plus(v[q], (T)0);
                mulg_flat_store((T *)p.c_value + at, mulg_traits<T>::to(v[0]), mulg_traits<T>::to(v[1]),
                                mulg_traits<T>::to(v[2]), mulg_traits<T>::to(v[3]));
            }
        }
    }
}

/* Products that share columns: each lane folds the runs that begin among its eight. Answers the row's entries. */
template <class R>
MULG_DEVICE mul_u32 mulg_flat_fold(const mulg_params &p, const mulg_flat_shared<R> &s,
                                   const mul_u32 (&key)[MULG_FLAT_MOST], mul_u32 previous, mul_u64 out, mul_u32 n,
                                   int *bad)
{
    const mul_u32 lane = threadIdx.x & 31, group = lane / MULG_FLAT_LANES, first = lane % MULG_FLAT_LANES * 8;
    const mul_u32 *const word = (const mul_u32 *)s.key;
    mul_u32 heads = 0;
#pragma unroll
    for (int e = 0; e < MULG_FLAT_MOST; e++)
        heads |= (first + e < n && ((e ? key[e - 1] : previous) ^ key[e]) >= 64 ? 1u : 0u) << e;
    mul_u32 upto = __popc(heads);
#pragma unroll
    for (int d = 1; d < MULG_FLAT_LANES; d *= 2) {
        const mul_u32 y = __shfl_up_sync(MULG_ALL, upto, d, MULG_FLAT_LANES);
        if (lane % MULG_FLAT_LANES >= d) upto += y;
    }
    const mul_u32 entries = __shfl_sync(MULG_ALL, upto, MULG_FLAT_LANES - 1, MULG_FLAT_LANES);
    auto at_place = [&](mul_u32 place) { return word[mulg_flat_key(group, place / 4) * 4 + place % 4]; };
    for (mul_u64 at = out + upto - __popc(heads); heads; heads &= heads - 1, at++) {
        const mul_u32 place = first + __ffs((int)heads) - 1, column = at_place(place) >> 6;
        mul_u32 run = 1;
        while (place + run < n && at_place(place + run) >> 6 == column)
            run++;
        p.c_column[at] = column;
        if constexpr (R::VALUES)
            mulg_store_run<R>(
                p, at, [&](mul_u32 i) { return s.value[group * MULG_FLAT_LINE + (at_place(place + i) & 63)]; }, run,
                bad);
        else
            mulg_store_count<R>(p, at, run);
    }
    return entries;
}

/* Products of a row whose keys the lanes hold in order. */
MULG_DEVICE mul_u32 mulg_flat_count(const mul_u32 (&key)[MULG_FLAT_MOST])
{
    const mul_u32 last = (threadIdx.x & (MULG_FLAT_LANES - 1)) == MULG_FLAT_LANES - 1;
    if (__all_sync(MULG_ALL, !last || key[MULG_FLAT_MOST - 1] < MULG_FLAT_NONE))
        return MULG_FLAT_MOST * MULG_FLAT_LANES;
    mul_u32 n = 0;
#pragma unroll
    for (int e = 0; e < MULG_FLAT_MOST; e++)
        n += key[e] < MULG_FLAT_NONE;
#pragma unroll
    for (int d = 1; d < MULG_FLAT_LANES; d *= 2)
        n += __shfl_xor_sync(MULG_ALL, n, d);
    return n;
}

/* Whether one of the lane's products has the column of the one before. */
MULG_DEVICE bool mulg_flat_same(const mul_u32 (&key)[MULG_FLAT_MOST], mul_u32 previous)
{
    mul_u32 least = previous ^ key[0];
#pragma unroll
    for (int e = 1; e < MULG_FLAT_MOST; e++)
        least = min(least, key[e - 1] ^ key[e]);
    if (least >= 64) return false;
    bool same = false; /* ends of rows are no products */
#pragma unroll
    for (int e = 0; e < MULG_FLAT_MOST; e++)
        same |= ((e ? key[e - 1] : previous) ^ key[e]) < 64 && key[e] < MULG_FLAT_NONE;
    return same;
}

/* Sorts and stores the warp's rows; `found` counts entries, `made` products. */
template <class R>
MULG_DEVICE void mulg_flat_rows(const mulg_params &p, mulg_flat_shared<R> &s, const mulg_flat_row &h,
                                const mulg_flat_entry<typename R::A> &entry, mul_u32 (&key)[MULG_FLAT_MOST],
                                const typename R::B (&b)[MULG_FLAT_MOST], mul_u32 *found, mul_u32 *made, int *bad)
{
    const mul_u32 lane = threadIdx.x & 31, group = lane / MULG_FLAT_LANES, own = lane % MULG_FLAT_LANES;
    /* A key ends in the place of its value: 8 own + (e ^ own), other banks for other lanes. That keeps equal columns
     * in order of c, since none comes twice within a lane. */
    const mul_u32 mine = own * 9;
#pragma unroll
    for (int e = 0; e < MULG_FLAT_MOST; e++) {
        if constexpr (R::VALUES) {
            int over = 0; /* of what is no product nobody hears */
            s.value[group * MULG_FLAT_LINE + (mine ^ e)] = R::con(p, entry.a, b[e], h.row, entry.c, key[e], &over);
            if (over && key[e] != MULG_ALL) *bad = 1;
        }
        key[e] = key[e] << 6 | (mine ^ e);
    }
    mulg_flat_sort(key);
    const mul_u32 n = mulg_flat_count(key);
    mul_u32 previous = __shfl_up_sync(MULG_ALL, key[MULG_FLAT_MOST - 1], 1, MULG_FLAT_LANES);
    if (own == 0) previous = ~key[0];
    const bool same = mulg_flat_same(key, previous);
    s.key[mulg_flat_key(group, own * 2)] = make_uint4(key[0], key[1], key[2], key[3]);
    s.key[mulg_flat_key(group, own * 2 + 1)] = make_uint4(key[4], key[5], key[6], key[7]);
    __syncwarp();
    mul_u32 entries = n;
    if constexpr (mulg_sifts<R>::value) {
        const auto word = [&](mul_u32 i) {
            return ((const mul_u32 *)s.key)[mulg_flat_key(group, i / 4) * 4 + i % 4];
        };
        entries = mulg_sift_sorted<R>(
            p, 0xffu << (group * MULG_FLAT_LANES), MULG_FLAT_LANES, h.row, n, [&](mul_u32 i) { return word(i) >> 6; },
            [&](mul_u32 i) { return s.value[group * MULG_FLAT_LINE + (word(i) & 63)]; }, h.out, bad);
    } else if (__any_sync(MULG_ALL, same))
        entries = mulg_flat_fold<R>(p, s, key, previous, h.out, n, bad);
    else
        mulg_flat_leave<R>(p, s, h.out, n, bad);
    __syncwarp();
    if (own != 0 || h.row == MULG_ALL) return;
    p.c_end[h.row] = (mul_i64)(h.out + entries);
    *found = entries;
    *made = n;
}

template <class R> MULG_DEVICE void mulg_flat(const mulg_params &p)
{
    typedef typename R::A A;
    mulg_flat_shared<R> &s = ((mulg_flat_shared<R> *)mulg_dynamic)[threadIdx.x / 32];
    static_assert(sizeof s == MULG_FLAT_BYTES(R::VALUES ? sizeof(typename R::B) : 0, sizeof(typename R::T)),
                  "shared");
    const mul_u32 group = threadIdx.x % 32 / MULG_FLAT_LANES;
    const mul_u64 step = gridDim.x * MULG_WARPS * MULG_FLAT_ROWS;
    mul_u64 i = (blockIdx.x * MULG_WARPS + threadIdx.x / 32) * MULG_FLAT_ROWS, entries = 0, products = 0;
    int bad = 0;
    auto row_at = [&](mul_u64 at) { return mulg_flat_fetch_row(p, at + group); };
    if (i >= p.rows) return;
    mulg_flat_row now = row_at(i), next = row_at(i + step), later = row_at(i + 2 * step);
    mulg_flat_entry<A> entry = mulg_flat_fetch_entry<R>(p, now);
    mulg_flat_send<R>(p, s, entry.c);
    mulg_flat_entry<A> entry_next = mulg_flat_fetch_entry<R>(p, next);
    for (; i < p.rows; i += step) {
        mul_u32 key[MULG_FLAT_MOST], found = 0, made = 0;
        typename R::B b[MULG_FLAT_MOST] = {};
        mulg_flat_receive<R>(s, entry.c, key, b);
        mulg_flat_send<R>(p, s, entry_next.c);
        const mulg_flat_entry<A> entry_later = mulg_flat_fetch_entry<R>(p, later);
        const mulg_flat_row last = row_at(i + 3 * step);
        mulg_flat_rows<R>(p, s, now, entry, key, b, &found, &made, &bad);
        entries += found;
        products += made;
        now = next;
        next = later;
        later = last;
        entry = entry_next;
        entry_next = entry_later;
    }
#pragma unroll
    for (int d = 16; d >= MULG_FLAT_LANES; d /= 2) {
        entries += __shfl_xor_sync(MULG_ALL, entries, d);
        products += __shfl_xor_sync(MULG_ALL, products, d);
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(p.entries, entries);
        atomicAdd(p.products, products);
    }
    if (bad) *p.bad = 1;
}

#endif
