/* SPDX-License-Identifier: Apache-2.0
 *
 * TINY rows: a warp sorts up to 64 products in its registers, two a lane, as keys (column, slot); slots count
 * products over rising c, so equal columns fold in the CPU's order. COPY rows: the one row of B, mapped.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_TINY_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_TINY_CUH

#include "gpu_sift.cuh"

template <class K> MULG_DEVICE K mulg_keep(K x, K y, bool low)
{
    return low ? (x < y ? x : y) : (x < y ? y : x);
}

MULG_DEVICE void mulg_order_two(mul_u32 &x, mul_u32 &y)
{
    const mul_u32 low = min(x, y);
    y = max(x, y);
    x = low;
}

/* Key r of lane l is at place 32 r + l. */
template <class K> MULG_DEVICE void mulg_sort32(K &x)
{
    const mul_u32 lane = threadIdx.x & 31;
#pragma unroll
    for (int k = 2; k <= 32; k *= 2)
#pragma unroll
        for (int j = k / 2; j > 0; j /= 2) {
            const bool low = ((lane & j) == 0) == ((lane & k) == 0);
            x = mulg_keep(x, __shfl_xor_sync(MULG_ALL, x, j), k == 32 ? (lane & j) == 0 : low);
        }
}

template <class K> MULG_DEVICE void mulg_sort64(K &x, K &y)
{
    const mul_u32 lane = threadIdx.x & 31;
#pragma unroll
    for (int k = 2; k <= 32; k *= 2)
#pragma unroll
        for (int j = k / 2; j > 0; j /= 2) {
            const bool up = k == 32 || (lane & k) == 0, low = ((lane & j) == 0) == up;
            x = mulg_keep(x, __shfl_xor_sync(MULG_ALL, x, j), low);
            y = mulg_keep(y, __shfl_xor_sync(MULG_ALL, y, j), k == 32 ? !low : low);
        }
    const K least = mulg_keep(x, y, true);
    y = mulg_keep(x, y, false);
    x = least;
#pragma unroll
    for (int j = 16; j > 0; j /= 2) {
        const bool low = (lane & j) == 0;
        x = mulg_keep(x, __shfl_xor_sync(MULG_ALL, x, j), low);
        y = mulg_keep(y, __shfl_xor_sync(MULG_ALL, y, j), low);
    }
}

/* How results leave: counts as S, averages as mulg_mean has them, all else as T. */
template <class R> MULG_DEVICE void mulg_store_count(const mulg_params &p, mul_u64 at, mul_u32 count)
{
    ((typename R::S *)p.c_value)[at] = (typename R::S)count;
}

/* Folds value(0) to value(n - 1), in order of c. */
template <class R, class V>
MULG_DEVICE void mulg_store_run(const mulg_params &p, mul_u64 at, V value, mul_u32 n, int *bad)
{
    mulg_fold_run<R>(p, value, n, bad, [&](auto x) { ((decltype(x) *)p.c_value)[at] = x; });
}

/* One value as it would come out of a run of one. */
template <class R> MULG_DEVICE void mulg_store_one(const mulg_params &p, mul_u64 at, typename R::T v, int *bad)
{
    typedef typename R::T T;
    if constexpr (!R::VALUES)
        mulg_store_count<R>(p, at, 1);
    else if constexpr (R::WRITTEN_FOLD)
        ((T *)p.c_value)[at] = R::fold(p, R::start(p), v, bad);
    else if (p.agg == MULG_AVG)
        ((typename mulg_mean<T>::type *)p.c_value)[at] = mulg_mean<T>::one(v);
    else
        ((T *)p.c_value)[at] = p.agg == MULG_SUM ? mulg_plus(v, (T)0) : v;
}

struct mulg_tiny_shared {
    mul_u32 from[MULG_WARPS][32];
    mulg_widest value[MULG_WARPS][MULG_TINY];
};

/* Lanes that hold empty slices move behind the others. */
MULG_DEVICE mul_u32 mulg_tiny_source(mulg_tiny_shared &shared, mul_u32 full)
{
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    if (full >> lane & 1) shared.from[warp][__popc(full & mulg_lanes_below())] = lane;
    __syncwarp();
    const mul_u32 from = lane < __popc(full) ? shared.from[warp][lane] : 31;
    __syncwarp();
    return from;
}

/* A row as a warp holds it: an entry of A a lane. Rows are fetched in steps while the row before is sorted. */
template <class A> struct mulg_tiny_held {
    mul_u32 row, degree, c, lo, length;
    mul_i64 begin;
    mul_u64 out;
    A a;
};

template <class A> MULG_DEVICE void mulg_tiny_bounds(const mulg_params &p, mulg_tiny_held<A> &h)
{
    h.begin = p.a_begin[h.row];
    h.degree = (mul_u32)(p.a_end[h.row] - h.begin);
    h.out = (mul_u64)p.c_begin[h.row];
}

template <class R> MULG_DEVICE void mulg_tiny_entries(const mulg_params &p, mulg_tiny_held<typename R::A> &h)
{
    const mul_u32 lane = threadIdx.x & 31;
    h.c = 0;
    h.a = typename R::A();
    if (lane >= h.degree) return;
    h.c = __ldg(p.a_column + h.begin + lane);
    if constexpr (R::VALUES) h.a = mulg_value<typename R::A>(p.a_value, h.begin + lane);
}

template <class A> MULG_DEVICE void mulg_tiny_slices(const mulg_params &p, mulg_tiny_held<A> &h)
{
    h.lo = h.length = 0;
    if ((threadIdx.x & 31) >= h.degree) return;
    const uint2 bound = __ldg(p.b_bound + h.c);
    h.lo = bound.x;
    h.length = bound.y - bound.x;
}

/* Stores what HAVING keeps of the sorted products; `heads`: the first ones of each column. */
template <class R, class K>
MULG_DEVICE mul_u32 mulg_tiny_sifted(const mulg_params &p, typename R::T *line, mul_u32 row, mul_u32 n, mul_u64 heads,
                                     const K (&key)[2], const typename R::T (&value)[2], mul_u64 out, int *bad)
{
    const mul_u32 lane = threadIdx.x & 31;
    mul_u32 kept = 0;
    if constexpr (R::VALUES) {
        line[lane] = value[0];
        line[lane + 32] = value[1];
        __syncwarp();
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const mul_u32 place = lane + 32 * r;
        const mul_u64 later = place == 63 ? 0 : heads >> (place + 1);
        const mul_u32 run = later ? (mul_u32)__ffsll((long long)later) : n - place;
        kept += mulg_sift_run<R>(
            p, MULG_ALL, heads >> place & 1, row, (mul_u32)(key[r] >> 6), [&](mul_u32 i) { return line[place + i]; },
            run, out + kept, bad);
    }
    __syncwarp();
    return kept;
}

/* Computes the row. first() runs once the loads of products are on their way, second() after the sort. */
template <class R, class K, class F, class G>
MULG_DEVICE mul_u32 mulg_tiny_row(const mulg_params &p, mulg_tiny_shared &shared,
                                  const mulg_tiny_held<typename R::A> &h, int *bad, F first, G second)
{
    typedef typename R::T T;
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32, row = h.row;
    const mul_u64 out = h.out;
    mul_u32 c = h.c, lo = h.lo, length = h.length;
    A a = h.a;
    const mul_u32 full = __ballot_sync(MULG_ALL, length != 0);
    if (full & (full + 1)) {
        const mul_u32 from = mulg_tiny_source(shared, full);
        lo = __shfl_sync(MULG_ALL, lo, from);
        length = __shfl_sync(MULG_ALL, length, from);
        if (lane >= __popc(full)) length = 0;
        if constexpr (R::VALUES) a = __shfl_sync(MULG_ALL, a, from);
        if constexpr (R::WRITTEN) c = __shfl_sync(MULG_ALL, c, from);
    }
    const mul_u32 end = mulg_scan(length), start = end - length;
    const mul_u32 n = __shfl_sync(MULG_ALL, end, 31);
    const mul_u32 off = lo - start;
    const mul_u32 marks0 = __reduce_or_sync(MULG_ALL, length && start < 32 ? 1u << start : 0u);
    const mul_u32 rank0 = __popc(marks0 & mulg_lanes_upto()) - 1;
    const K none = ~(K)0;
    const bool two = n > 32, own[2] = {lane < n, lane + 32 < n};
    K key[2] = {none, none};
    T value[2] = {T(), T()};
    mul_u32 t[2] = {0, 0}, cv[2] = {0, 0};
    A av[2] = {A(), A()};
    B bv[2] = {B(), B()};
    {
        const mul_u32 index = __shfl_sync(MULG_ALL, off, rank0) + lane;
        if constexpr (R::VALUES) av[0] = __shfl_sync(MULG_ALL, a, rank0);
        if constexpr (R::WRITTEN) cv[0] = __shfl_sync(MULG_ALL, c, rank0);
        if (own[0]) {
            t[0] = __ldg(p.b_column + index);
            if constexpr (R::VALUES) bv[0] = mulg_value<B>(p.b_value, index);
        }
    }
    if (two) {
        const mul_u32 marks1 =
            __reduce_or_sync(MULG_ALL, length && start >= 32 && start < 64 ? 1u << (start - 32) : 0u);
        const mul_u32 rank1 = __popc(marks0) + __popc(marks1 & mulg_lanes_upto()) - 1;
        const mul_u32 index = __shfl_sync(MULG_ALL, off, rank1) + lane + 32;
        if constexpr (R::VALUES) av[1] = __shfl_sync(MULG_ALL, a, rank1);
        if constexpr (R::WRITTEN) cv[1] = __shfl_sync(MULG_ALL, c, rank1);
        if (own[1]) {
            t[1] = __ldg(p.b_column + index);
            if constexpr (R::VALUES) bv[1] = mulg_value<B>(p.b_value, index);
        }
    }
    first();
#pragma unroll
    for (int r = 0; r < 2; r++)
        if (own[r]) {
            key[r] = (K)t[r] << 6 | (lane + 32 * r);
            if constexpr (R::VALUES) value[r] = R::con(p, av[r], bv[r], row, cv[r], t[r], bad);
        }
    if (two)
        mulg_sort64(key[0], key[1]);
    else
        mulg_sort32(key[0]);
    second();
    /* Values follow their slots; heads are the first of each column. */
    mul_u64 heads;
    {
        const K before0 = __shfl_up_sync(MULG_ALL, key[0], 1), last0 = __shfl_sync(MULG_ALL, key[0], 31);
        const bool head0 = lane < n && (lane == 0 || before0 >> 6 != key[0] >> 6);
        heads = __ballot_sync(MULG_ALL, head0);
        if (n > 32) {
            K before1 = __shfl_up_sync(MULG_ALL, key[1], 1);
            if (lane == 0) before1 = last0;
            heads |= (mul_u64)__ballot_sync(MULG_ALL, lane + 32 < n && before1 >> 6 != key[1] >> 6) << 32;
        }
    }
    const mul_u32 entries = (mul_u32)__popcll(heads);
    if constexpr (R::VALUES) {
        const T x0 = __shfl_sync(MULG_ALL, value[0], (mul_u32)key[0] & 31);
        if (n > 32) {
            const T y0 = __shfl_sync(MULG_ALL, value[1], (mul_u32)key[0] & 31);
            const T x1 = __shfl_sync(MULG_ALL, value[0], (mul_u32)key[1] & 31);
            const T y1 = __shfl_sync(MULG_ALL, value[1], (mul_u32)key[1] & 31);
            value[0] = (mul_u32)key[0] & 32 ? y0 : x0;
            value[1] = (mul_u32)key[1] & 32 ? y1 : x1;
        } else
            value[0] = x0;
    }
    if constexpr (mulg_sifts<R>::value) {
        const mul_u32 kept = mulg_tiny_sifted<R>(p, (T *)shared.value[warp], row, n, heads, key, value, out, bad);
        if (lane == 0) p.c_end[row] = (mul_i64)(out + kept);
        return kept;
    }
    if (entries == n) {
        if (lane < n) {
            p.c_column[out + lane] = (mul_u32)(key[0] >> 6);
            mulg_store_one<R>(p, out + lane, value[0], bad);
        }
        if (lane + 32 < n) {
            p.c_column[out + lane + 32] = (mul_u32)(key[1] >> 6);
            mulg_store_one<R>(p, out + lane + 32, value[1], bad);
        }
    } else {
        T *line = (T *)shared.value[warp];
        if constexpr (R::VALUES) {
            line[lane] = value[0];
            if (n > 32) line[lane + 32] = value[1];
            __syncwarp();
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const mul_u32 place = lane + 32 * r;
            if (place >= n || !(heads >> place & 1)) continue;
            const mul_u64 later = place == 63 ? 0 : heads >> (place + 1);
            const mul_u32 run = later ? (mul_u32)__ffsll((long long)later) : n - place;
            const mul_u64 at = out + (mul_u32)__popcll(heads & (((mul_u64)1 << place) - 1));
            p.c_column[at] = (mul_u32)(key[r] >> 6);
            if constexpr (R::VALUES)
                mulg_store_run<R>(
                    p, at, [&](mul_u32 i) { return line[place + i]; }, run, bad);
            else
                mulg_store_count<R>(p, at, run);
        }
        __syncwarp();
    }
    if (lane == 0) p.c_end[row] = (mul_i64)(out + entries);
    return entries;
}

MULG_DEVICE void mulg_finish(const mulg_params &p, mul_u64 entries, int bad)
{
    if (entries) atomicAdd(p.entries, entries);
    if (bad) *p.bad = 1;
}

template <class R, class K> MULG_DEVICE void mulg_tiny(const mulg_params &p)
{
    __shared__ mulg_tiny_shared shared;
    const mul_u32 warps = gridDim.x * MULG_WARPS;
    mul_u32 i = blockIdx.x * MULG_WARPS + threadIdx.x / 32;
    mul_u64 entries = 0;
    int bad = 0;
    mulg_tiny_held<typename R::A> now, next;
    if (i >= p.rows) return;
    now.row = p.list[i];
    mulg_tiny_bounds(p, now);
    mulg_tiny_entries<R>(p, now);
    mulg_tiny_slices(p, now);
    next.row = p.list[i + warps < p.rows ? i + warps : i];
    for (; i < p.rows; i += warps) {
        const bool more = i + warps < p.rows;
        const mul_u32 after = p.list[i + 2 * warps < p.rows ? i + 2 * warps : i];
        mulg_tiny_bounds(p, next);
        entries += mulg_tiny_row<R, K>(
            p, shared, now, &bad, [&]() { mulg_tiny_entries<R>(p, next); }, [&]() { mulg_tiny_slices(p, next); });
        if (!more) break;
        now = next;
        next.row = after;
    }
    mulg_finish(p, (threadIdx.x & 31) == 0 ? entries : 0, bad);
}

/* The row of B, of which HAVING keeps a part; answers how much. */
template <class R>
MULG_DEVICE mul_u32 mulg_copy_sifted(const mulg_params &p, mul_u32 row, mul_u32 c, uint2 bound, typename R::A a,
                                     mul_u64 out, int *bad)
{
    typedef typename R::T T;
    mul_u32 kept = 0;
    for (mul_u32 from = bound.x; from < bound.y; from += 32) {
        const mul_u32 index = from + (threadIdx.x & 31);
        const bool some = index < bound.y;
        const mul_u32 t = some ? __ldg(p.b_column + index) : 0;
        T v = T();
        if constexpr (R::VALUES)
            if (some) v = R::con(p, a, mulg_value<typename R::B>(p.b_value, index), row, c, t, bad);
        kept += mulg_sift_run<R>(
            p, MULG_ALL, some, row, t, [&](mul_u32) { return v; }, 1, out + kept, bad);
    }
    return kept;
}

template <class R> MULG_DEVICE void mulg_copy(const mulg_params &p)
{
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 lane = threadIdx.x & 31, warps = gridDim.x * MULG_WARPS;
    mul_u64 entries = 0;
    int bad = 0;
    for (mul_u32 i = blockIdx.x * MULG_WARPS + threadIdx.x / 32; i < p.rows; i += warps) {
        const mul_u32 row = p.list[i];
        const mul_i64 at = p.a_begin[row];
        const mul_u32 c = __ldg(p.a_column + at);
        const uint2 bound = __ldg(p.b_bound + c);
        const mul_u64 out = (mul_u64)p.c_begin[row];
        A a = A();
        if constexpr (R::VALUES) a = mulg_value<A>(p.a_value, at);
        if constexpr (mulg_sifts<R>::value) {
            const mul_u32 kept = mulg_copy_sifted<R>(p, row, c, bound, a, out, &bad);
            if (lane == 0) p.c_end[row] = (mul_i64)(out + kept);
            entries += kept;
        } else {
#pragma unroll 4
            for (mul_u32 index = bound.x + lane; index < bound.y; index += 32) {
                const mul_u32 t = __ldg(p.b_column + index);
                const mul_u64 to = out + (index - bound.x);
                p.c_column[to] = t;
                if constexpr (R::VALUES)
                    mulg_store_one<R>(p, to, R::con(p, a, mulg_value<B>(p.b_value, index), row, c, t, &bad), &bad);
                else
                    mulg_store_count<R>(p, to, 1);
            }
            if (lane == 0) p.c_end[row] = (mul_i64)(out + (bound.y - bound.x));
            entries += bound.y - bound.x;
        }
    }
    mulg_finish(p, lane == 0 ? entries : 0, bad);
}

#endif
