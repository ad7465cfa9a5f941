/* SPDX-License-Identifier: Apache-2.0
 *
 * TINY rows two at a time: sixteen lanes sort up to 64 products of a row, four a lane, so that half of the steps of
 * the sort need no exchange between lanes, and one warp has the loads of two rows in flight. For keys of 32 bits and
 * up to sixteen entries of A; other tiny rows take gpu_tiny.cuh.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_PAIR_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_PAIR_CUH

#include "gpu_tiny.cuh"

enum { MULG_PAIR_LANES = 16, MULG_PAIR_EACH = MULG_TINY / MULG_PAIR_LANES };

template <class T> struct mulg_pair_shared {
    __align__(16) mul_u32 key[MULG_WARPS][2][MULG_TINY];
    T value[MULG_WARPS][2][MULG_TINY];
    unsigned char from[MULG_WARPS][32];
};

/* Bitonic, every merge rising: key e of lane l is at place 4 l + e. Keys of both halves of the warp at once. */
MULG_DEVICE void mulg_pair_sort(mul_u32 (&key)[MULG_PAIR_EACH])
{
    const mul_u32 lane = threadIdx.x & 31;
    mulg_order_two(key[0], key[1]);
    mulg_order_two(key[2], key[3]);
    mulg_order_two(key[0], key[3]);
    mulg_order_two(key[1], key[2]);
    mulg_order_two(key[0], key[1]);
    mulg_order_two(key[2], key[3]);
#pragma unroll
    for (int lanes = 2; lanes <= MULG_PAIR_LANES; lanes *= 2) {
        mul_u32 other[MULG_PAIR_EACH];
        const bool low = (lane & (lanes / 2)) == 0;
#pragma unroll
        for (int e = 0; e < MULG_PAIR_EACH; e++)
            other[e] = __shfl_xor_sync(MULG_ALL, key[MULG_PAIR_EACH - 1 - e], lanes - 1);
#pragma unroll
        for (int e = 0; e < MULG_PAIR_EACH; e++)
            key[e] = mulg_keep(key[e], other[e], low);
#pragma unroll
        for (int j = lanes / 4; j > 0; j /= 2)
#pragma unroll
            for (int e = 0; e < MULG_PAIR_EACH; e++)
                key[e] = mulg_keep(key[e], __shfl_xor_sync(MULG_ALL, key[e], j), (lane & j) == 0);
        mulg_order_two(key[0], key[2]);
        mulg_order_two(key[1], key[3]);
        mulg_order_two(key[0], key[1]);
        mulg_order_two(key[2], key[3]);
    }
}

/* Sum over the lanes of the half up to this one. */
MULG_DEVICE mul_u32 mulg_pair_scan(mul_u32 x)
{
    const mul_u32 lane = threadIdx.x & 15;
#pragma unroll
    for (int d = 1; d < MULG_PAIR_LANES; d *= 2) {
        const mul_u32 y = __shfl_up_sync(MULG_ALL, x, d, MULG_PAIR_LANES);
        if (lane >= d) x += y;
    }
    return x;
}

template <class R> MULG_DEVICE void mulg_pair_entries(const mulg_params &p, mulg_tiny_held<typename R::A> &h)
{
    const mul_u32 lane = threadIdx.x & 15;
    h.c = 0;
    h.a = typename R::A();
    if (lane >= h.degree) return;
    h.c = __ldcs(p.a_column + h.begin + lane); /* read once: keeps out of the way of B in the L2 */
    if constexpr (R::VALUES) h.a = mulg_value<typename R::A>(p.a_value, h.begin + lane);
}

template <class A> MULG_DEVICE void mulg_pair_slices(const mulg_params &p, mulg_tiny_held<A> &h)
{
    h.lo = h.length = 0;
    if ((threadIdx.x & 15) >= h.degree) return;
    if (p.b_pair) {
        const mul_u32 place = __ldg(p.b_place + h.c);
        h.lo = (place >> 5) * 8;
        h.length = place & 31;
        return;
    }
    const uint2 bound = __ldg(p.b_bound + h.c);
    h.lo = bound.x;
    h.length = bound.y - bound.x;
}

/* The row at place i of the list; none beyond its end. */
template <class A> MULG_DEVICE void mulg_pair_bounds(const mulg_params &p, mulg_tiny_held<A> &h, bool some)
{
    h.degree = 0;
    h.begin = 0;
    h.out = 0;
    if (!some) return;
    h.begin = p.a_begin[h.row];
    h.degree = (mul_u32)(p.a_end[h.row] - h.begin);
    h.out = (mul_u64)p.c_begin[h.row];
}

/* Entries with equal columns, one thread a run. Keys are in order in shared memory, values by slot. */
template <class R>
MULG_DEVICE mul_u32 mulg_pair_fold(const mulg_params &p, const mul_u32 *key, const typename R::T *value, mul_u32 n,
                                   mul_u64 out, int *bad)
{
    const mul_u32 lane = threadIdx.x & 15, shift = threadIdx.x & 16;
    mul_u64 heads = 0;
#pragma unroll
    for (int e = 0; e < MULG_PAIR_EACH; e++) {
        const mul_u32 place = lane + 16 * e;
        const bool head = place < n && (place == 0 || key[place] >> 6 != key[place - 1] >> 6);
        heads |= (mul_u64)(__ballot_sync(MULG_ALL, head) >> shift & 0xffff) << (16 * e);
    }
    for (int e = 0; e < MULG_PAIR_EACH; e++) {
        const mul_u32 place = lane + 16 * e;
        if (place >= n || !(heads >> place & 1)) continue;
        const mul_u64 later = place == 63 ? 0 : heads >> (place + 1);
        const mul_u32 run = later ? (mul_u32)__ffsll((long long)later) : n - place;
        const mul_u64 at = out + (mul_u32)__popcll(heads & (((mul_u64)1 << place) - 1));
        p.c_column[at] = key[place] >> 6;
        if constexpr (R::VALUES)
            mulg_store_run<R>(
                p, at, [&](mul_u32 i) { return value[key[place + i] & 63]; }, run, bad);
        else
            mulg_store_count<R>(p, at, run);
    }
    return (mul_u32)__popcll(heads);
}

template <class R, class F, class G>
MULG_DEVICE mul_u32 mulg_pair_rows(const mulg_params &p, mulg_pair_shared<typename R::T> &shared,
                                   const mulg_tiny_held<typename R::A> &h, bool some, int *bad, F first, G second)
{
    typedef typename R::T T;
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 lane = threadIdx.x & 15, half = threadIdx.x & 16, warp = threadIdx.x / 32;
    const mul_u32 mine = half ? 0xffff0000u : 0xffffu, upto_me = mulg_lanes_upto() & mine;
    mul_u32 *const key_line = shared.key[warp][half / 16];
    T *const value_line = shared.value[warp][half / 16];
    mul_u32 c = h.c, lo = h.lo, length = h.length;
    A a = h.a;
    const mul_u32 full = __ballot_sync(MULG_ALL, length != 0) & mine, own_full = half ? full >> 16 : full;
    if (__any_sync(MULG_ALL, (own_full & (own_full + 1)) != 0)) { /* empty slices move behind the others */
        unsigned char *const from = shared.from[warp];
        if (length) from[half + __popc(full & mulg_lanes_below())] = (unsigned char)(threadIdx.x & 31);
        __syncwarp();
        const bool live = lane < __popc(full);
        const mul_u32 source = live ? from[half + lane] : 0;
        lo = __shfl_sync(MULG_ALL, lo, source);
        length = __shfl_sync(MULG_ALL, length, source);
        if (!live) length = 0;
        if constexpr (R::VALUES) a = __shfl_sync(MULG_ALL, a, source);
        if constexpr (R::WRITTEN) c = __shfl_sync(MULG_ALL, c, source);
        __syncwarp();
    }
    const mul_u32 end = mulg_pair_scan(length), start = end - length, off = lo - start;
    const mul_u32 n = __shfl_sync(MULG_ALL, end, half + 15);
    mul_u32 key[MULG_PAIR_EACH], rank = half - 1;
    A av[MULG_PAIR_EACH];
    B bv[MULG_PAIR_EACH];
    mul_u32 cv[MULG_PAIR_EACH];
#pragma unroll
    for (int e = 0; e < MULG_PAIR_EACH; e++) {
        const mul_u32 step = start - 16 * e;
        const mul_u32 marks = __reduce_or_sync(MULG_ALL, length && step < 16 ? 1u << (step + half) : 0u);
        const mul_u32 source = rank + __popc(marks & upto_me), place = lane + 16 * e;
        rank += __popc(marks & mine);
        const mul_u32 index = __shfl_sync(MULG_ALL, off, source) + place;
        if constexpr (R::VALUES) av[e] = __shfl_sync(MULG_ALL, a, source);
        if constexpr (R::WRITTEN) cv[e] = __shfl_sync(MULG_ALL, c, source);
        key[e] = MULG_ALL;
        if (place < n) {
            if constexpr (R::VALUES && sizeof(B) == 4) {
                if (p.b_pair) {
                    const uint2 pair = __ldg(p.b_pair + index);
                    key[e] = pair.x;
                    bv[e] = mulg_traits<B>::from(pair.y);
                    continue;
                }
            }
            key[e] = __ldg(p.b_column + index);
            if constexpr (R::VALUES) bv[e] = mulg_value<B>(p.b_value, index);
        }
    }
    first();
#pragma unroll
    for (int e = 0; e < MULG_PAIR_EACH; e++)
        if (lane + 16 * e < n) {
            if constexpr (R::VALUES)
                value_line[lane + 16 * e] = R::con(p, av[e], bv[e], h.row, R::WRITTEN ? cv[e] : 0, key[e], bad);
            key[e] = key[e] << 6 | (lane + 16 * e);
        }
    mulg_pair_sort(key);
    second();
    mul_u32 previous = __shfl_up_sync(MULG_ALL, key[3], 1, MULG_PAIR_LANES);
    if (lane == 0) previous = ~key[0];
    const mul_u32 place = lane * 4;
    const bool same = (place < n && (previous ^ key[0]) < 64) || (place + 1 < n && (key[0] ^ key[1]) < 64) ||
                      (place + 2 < n && (key[1] ^ key[2]) < 64) || (place + 3 < n && (key[2] ^ key[3]) < 64);
    const bool fold = __any_sync(MULG_ALL, same);
    *(uint4 *)(key_line + place) = make_uint4(key[0], key[1], key[2], key[3]);
    __syncwarp();
    mul_u32 entries = n;
    if constexpr (mulg_sifts<R>::value) {
        entries = mulg_sift_sorted<R>(
            p, mine, MULG_PAIR_LANES, h.row, n, [&](mul_u32 i) { return key_line[i] >> 6; },
            [&](mul_u32 i) { return value_line[key_line[i] & 63]; }, h.out, bad);
    } else if (!fold) {
#pragma unroll
        for (int e = 0; e < MULG_PAIR_EACH; e++)
            if (lane + 16 * e < n) {
                const mul_u32 k = key_line[lane + 16 * e];
                p.c_column[h.out + lane + 16 * e] = k >> 6;
                if constexpr (R::VALUES)
                    mulg_store_one<R>(p, h.out + lane + 16 * e, value_line[k & 63], bad);
                else
                    mulg_store_count<R>(p, h.out + lane + 16 * e, 1);
            }
    } else
        entries = mulg_pair_fold<R>(p, key_line, value_line, n, h.out, bad);
    if (some && lane == 0) p.c_end[h.row] = (mul_i64)(h.out + entries);
    __syncwarp();
    return entries;
}

template <class R> MULG_DEVICE void mulg_pair(const mulg_params &p)
{
    __shared__ mulg_pair_shared<typename R::T> shared;
    const mul_u32 half = threadIdx.x / 16 & 1, step = gridDim.x * MULG_WARPS * 2, last = p.rows - 1;
    mul_u32 i = (blockIdx.x * MULG_WARPS + threadIdx.x / 32) * 2;
    mul_u64 entries = 0;
    int bad = 0;
    mulg_tiny_held<typename R::A> now, next;
    if (i >= p.rows) return;
    bool some = i + half < p.rows;
    now.row = p.list[min(i + half, last)];
    mulg_pair_bounds(p, now, some);
    mulg_pair_entries<R>(p, now);
    mulg_pair_slices(p, now);
    next.row = p.list[min(i + step + half, last)];
    for (;;) {
        const bool more = i + step < p.rows, some_next = i + step + half < p.rows;
        const mul_u32 after = p.list[min(i + 2 * step + half, last)];
        mulg_pair_bounds(p, next, some_next);
        const mul_u32 found = mulg_pair_rows<R>(
            p, shared, now, some, &bad, [&]() { mulg_pair_entries<R>(p, next); },
            [&]() { mulg_pair_slices(p, next); });
        if ((threadIdx.x & 15) == 0) entries += found;
        if (!more) break;
        i += step;
        some = some_next;
        now = next;
        next.row = after;
    }
    entries += __shfl_xor_sync(MULG_ALL, entries, 16);
    mulg_finish(p, (threadIdx.x & 31) == 0 ? entries : 0, bad);
}

#endif
