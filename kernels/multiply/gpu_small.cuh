/* SPDX-License-Identifier: Apache-2.0
 *
 * SMALL rows, more products than a warp's registers hold and at most MULG_SORTED: a block a row. Here they are sorted
 * (gpu_block_sort.cuh) as keys of column and place, where places count products over rising c: equal columns then
 * stand side by side in the order of c, so that any AGG folds them as the CPU does, to the same bits. Nothing is as
 * long as the matrix is wide. gpu_small_hash.cuh has the other way, whose entries leave by mulg_small_store too.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_SMALL_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_SMALL_CUH

#include "gpu_block_sort.cuh"
#include "gpu_middle.cuh"

enum {
    MULG_PLACE_BITS = 11, /* of a key: MULG_SORTED places */
    MULG_NARROW_BITS = 32 - MULG_PLACE_BITS
};
static_assert(MULG_SORTED == 1 << MULG_PLACE_BITS, "places");

/* Dynamic shared memory of a block that sorts values of t bytes (counts: 0): values by place, keys, places of the
 * first product of each entry and one behind them all. */
#define MULG_SMALL_SORT_BYTES(t, wide) (MULG_SORTED * ((t) + ((wide) ? 8 : 4) + 2) + 16)

/* Columns beside a place in 32 bits. */
static inline __host__ __device__ bool mulg_small_narrow(mul_u64 width)
{
    return width < (mul_u64)1 << MULG_NARROW_BITS;
}

template <class R> struct mulg_small_shared {
    typename mulg_line_of<R>::line line;
    mul_u32 task, entries, warp_sum[MULG_WARPS];
};

/* Sum over the warps before this one, and over all. Ends without a barrier. */
template <class S> MULG_DEVICE uint2 mulg_small_before(S &shared, mul_u32 own)
{
    const mul_u32 warp = threadIdx.x / 32;
    mul_u32 before = 0, total = 0;
    if ((threadIdx.x & 31) == 0) shared.warp_sum[warp] = own;
    __syncthreads();
#pragma unroll 1
    for (mul_u32 i = 0; i < MULG_WARPS; i++) {
        if (i < warp) before += shared.warp_sum[i];
        total += shared.warp_sum[i];
    }
    return make_uint2(before, total);
}

/* A warp's neighbours among n, the same number for each warp: [x, y). */
MULG_DEVICE uint2 mulg_small_part(mul_u32 n)
{
    const mul_u32 each = (n + MULG_THREADS - 1) / MULG_THREADS * 32, from = threadIdx.x / 32 * each;
    return make_uint2(from < n ? from : n, from + each < n ? from + each : n);
}

template <class R, class V> MULG_DEVICE void mulg_small_put(const mulg_params &p, mul_u64 at, mul_u32 t, V v)
{
    p.c_column[at] = t;
    if constexpr (R::VALUES)
        ((V *)p.c_value)[at] = v;
    else
        mulg_store_count<R>(p, at, v);
}

/* Whether MASK and HAVING keep entry j. */
template <class R, class C, class V>
MULG_DEVICE bool mulg_small_keeps(const mulg_params &p, mul_u32 row, mul_u32 j, C column, V final)
{
    const mul_u32 t = column(j);
    bool stays = true;
    if constexpr (mulg_masks<R>::value)
        if (p.mask_begin) stays = mulg_mask_keeps(p, row, t);
    if constexpr (mulg_sifts<R>::value)
        if (stays && !p.masks) final(j, [&](auto v) { stays = mulg_keeps(p, row, t, v); });
    return stays;
}

/* Stores those of the row's n entries that MASK and HAVING keep, from `out` on; answers how many. column(j) rises,
 * and final(j, f) gives f the value as it is stored. All threads call it. */
template <class R, class C, class V>
MULG_DEVICE mul_u32 mulg_small_store(const mulg_params &p, mulg_small_shared<R> &shared, mul_u32 row, mul_u32 n,
                                     C column, V final, mul_u64 out)
{
    const bool all = !(mulg_masks<R>::value && p.mask_begin) && !(mulg_sifts<R>::value && !p.masks);
    if (all) {
#pragma unroll 1
        for (mul_u32 j = threadIdx.x; j < n; j += MULG_THREADS)
            final(j, [&](auto v) { mulg_small_put<R>(p, out + j, column(j), v); });
        return n;
    }
    const uint2 part = mulg_small_part(n);
    mul_u32 kept = 0;
#pragma unroll 1
    for (mul_u32 j = part.x + (threadIdx.x & 31); j < part.y; j += 32)
        kept += mulg_small_keeps<R>(p, row, j, column, final);
    const uint2 before = mulg_small_before(shared, __reduce_add_sync(MULG_ALL, kept));
    out += before.x;
#pragma unroll 1
    for (mul_u32 from = part.x; from < part.y; from += 32) {
        const mul_u32 j = from + (threadIdx.x & 31);
        const bool stays = j < part.y && mulg_small_keeps<R>(p, row, j, column, final);
        const mul_u32 votes = __ballot_sync(MULG_ALL, stays);
        if (stays)
            final(j, [&](auto v) { mulg_small_put<R>(p, out + __popc(votes & mulg_lanes_below()), column(j), v); });
        out += __popc(votes);
    }
    return before.y;
}

/* Lays up to 256 entries of the row of A, from `from` on, in line, once that is free. */
template <class R>
MULG_DEVICE mulg_extent mulg_small_lay(const mulg_params &p, mulg_small_shared<R> &shared, mul_i64 begin,
                                       mul_u32 degree, mul_u32 from)
{
    typedef typename R::A A;
    const mul_u32 e = from + threadIdx.x;
    uint2 slice = make_uint2(0, 0);
    A a = A();
    mul_u32 c = 0;
    if (e < degree) {
        c = __ldg(p.a_column + begin + e);
        slice = __ldg(p.b_bound + c);
        if constexpr (R::VALUES) a = mulg_value<A>(p.a_value, begin + e);
    }
    if (from) __syncthreads();
    return mulg_lay<R>(shared.line, slice.x, slice.y, a, c);
}

/* Calls f(place, column, a, b, c) for each product in line, the warp's share. All threads call it. */
template <class R, class F>
MULG_DEVICE void mulg_small_walk(const mulg_params &p, const mulg_small_shared<R> &shared, mulg_extent all, F f)
{
    const mul_u32 share = (all.total / MULG_WARPS + 32) & ~31u, place = threadIdx.x / 32 * share;
    if (place >= all.total) return;
    const mul_u32 stop = place + share < all.total ? place + share : all.total;
    mulg_walk_placed<R>(p, p.b_value, shared.line, all.slices, mulg_slice_at(shared.line, all.slices, place), place,
                        stop, f);
}

/* The row's keys and values by place; answers how many there are. Ends with a barrier. */
template <class R, class K>
MULG_DEVICE mul_u32 mulg_small_products(const mulg_params &p, mulg_small_shared<R> &shared, mul_u32 row, K *key,
                                        typename R::T *value, int *bad)
{
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_i64 begin = p.a_begin[row];
    const mul_u32 degree = (mul_u32)(p.a_end[row] - begin);
    mul_u32 n = 0;
#pragma unroll 1
    for (mul_u32 from = 0; from < degree; from += MULG_THREADS) {
        const mulg_extent all = mulg_small_lay<R>(p, shared, begin, degree, from);
        mulg_small_walk<R>(p, shared, all, [&](mul_u32 place, mul_u32 t, A a, B b, mul_u32 c) {
            const mul_u32 at = n + place;
            key[at] = (K)(t - p.t_lo) << MULG_PLACE_BITS | at;
            if constexpr (R::VALUES) value[at] = R::con(p, a, b, row, c, t, bad);
        });
        n += all.total;
    }
    __syncthreads();
    return n;
}

/* Where among n sorted keys each column begins, and n behind; answers how many columns there are. Ends with a
 * barrier. */
template <class R, class K>
MULG_DEVICE mul_u32 mulg_small_heads(mulg_small_shared<R> &shared, const K *key, mul_u32 n, unsigned short *head)
{
    const uint2 part = mulg_small_part(n);
    const auto is_head = [&](mul_u32 i) {
        return i < part.y && (i == 0 || key[i] >> MULG_PLACE_BITS != key[i - 1] >> MULG_PLACE_BITS);
    };
    mul_u32 heads = 0;
#pragma unroll 1
    for (mul_u32 from = part.x; from < part.y; from += 32)
        heads += __popc(__ballot_sync(MULG_ALL, is_head(from + (threadIdx.x & 31))));
    const uint2 before = mulg_small_before(shared, heads);
    mul_u32 at = before.x;
#pragma unroll 1
    for (mul_u32 from = part.x; from < part.y; from += 32) {
        const mul_u32 i = from + (threadIdx.x & 31);
        const bool own = is_head(i);
        const mul_u32 votes = __ballot_sync(MULG_ALL, own);
        if (own) head[at + __popc(votes & mulg_lanes_below())] = (unsigned short)i;
        at += __popc(votes);
    }
    if (threadIdx.x == 0) head[before.y] = (unsigned short)n;
    __syncthreads();
    return before.y;
}

/* Ends without a barrier. */
template <class R, class K>
MULG_DEVICE mul_u32 mulg_small_sorted(const mulg_params &p, mulg_small_shared<R> &shared, mul_u32 row, mul_u64 out,
                                      int *bad)
{
    typedef typename R::T T;
    constexpr mul_u32 value_bytes = R::VALUES ? (mul_u32)sizeof(T) : 0;
    T *const value = (T *)mulg_dynamic;
    K *const key = (K *)((char *)mulg_dynamic + MULG_SORTED * value_bytes);
    unsigned short *const head = (unsigned short *)(key + MULG_SORTED);
    const mul_u32 n = mulg_small_products<R, K>(p, shared, row, key, value, bad);
    mulg_block_sort(key, n);
    const mul_u32 entries = mulg_small_heads<R, K>(shared, key, n, head);
    const auto column = [&](mul_u32 j) { return p.t_lo + (mul_u32)(key[head[j]] >> MULG_PLACE_BITS); };
    const auto final = [&](mul_u32 j, auto f) {
        const mul_u32 first = head[j], run = head[j + 1] - first;
        if constexpr (R::VALUES)
            mulg_fold_run<R>(
                p, [&](mul_u32 i) { return value[(mul_u32)key[first + i] & (MULG_SORTED - 1)]; }, run, bad, f);
        else
            f(run);
    };
    return mulg_small_store<R>(p, shared, row, entries, column, final, out);
}

/* Rows are taken in order of the list; compute(shared, row, out) answers how many entries it stored from `out` on. */
template <class R, class F> MULG_DEVICE void mulg_small_rows(const mulg_params &p, F compute)
{
    __shared__ mulg_small_shared<R> shared;
    mul_u64 all = 0;
    for (;;) {
        if (threadIdx.x == 0) shared.task = atomicAdd(p.next, 1);
        __syncthreads();
        const mul_u32 task = shared.task;
        if (task >= p.rows) break;
        const mul_u32 row = p.list[task];
        const mul_u64 out = (mul_u64)p.c_begin[row];
        const mul_u32 kept = compute(shared, row, out);
        if (threadIdx.x == 0) p.c_end[row] = (mul_i64)(out + kept);
        all += kept;
        __syncthreads();
    }
    mulg_finish(p, threadIdx.x == 0 ? all : 0, 0);
}

template <class R> MULG_DEVICE void mulg_small_sort(const mulg_params &p)
{
    const bool narrow = mulg_small_narrow(p.width);
    int bad = 0;
    mulg_small_rows<R>(p, [&](mulg_small_shared<R> &shared, mul_u32 row, mul_u64 out) {
        return narrow ? mulg_small_sorted<R, mul_u32>(p, shared, row, out, &bad)
                      : mulg_small_sorted<R, mul_u64>(p, shared, row, out, &bad);
    });
    if (bad) *p.bad = 1;
}

#endif
