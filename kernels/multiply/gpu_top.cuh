/* SPDX-License-Identifier: Apache-2.0
 *
 * TOP k within MIDDLE and DENSE kernels: of a window's cells only those are stored that can be among the row's k
 * greatest: all greater than some key, and as many equal ones, by rising column, as k may still need; at most
 * params.top_room. mulg_keep then chooses among the windows' candidates.
 *
 * That key: each lane knows the greatest of its own cells, and the k-th greatest of a warp's 32 is reached by k
 * cells; the greatest such key of all warps, and of the row's windows before, serves. For k beyond 32 each of the
 * warps that have cells gives its share of k, and the least of their keys serves. Where too many are greater still,
 * halving finds a better one. Keys are 32 bits in the order of values, 0 for an untouched cell.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_TOP_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_TOP_CUH

#include "gpu_window.cuh"

struct mulg_top_shared {
    mul_u32 least[MULG_WARPS], sum[MULG_WARPS], known;
};

template <class R> MULG_DEVICE mul_u32 mulg_top_key(typename R::cell::bits x)
{
    if constexpr (!R::VALUES)
        return x;
    else {
        if (x == R::cell::empty()) return 0;
        const typename R::T v = mulg_plus(R::cell::get(x), (typename R::T)0);
        const mul_u32 b = mulg_traits<typename R::T>::to(v), sign = mulg_traits<typename R::T>::sign;
        return v != v ? 1 : b & sign ? ~b : b | sign;
    }
}

/* Cells in words of 32 bits: thread i owns words [i * each, (i + 1) * each), each being 4 to 32. */
template <class R> struct mulg_top_view {
    static constexpr bool narrow = mulg_narrow<R>::value;
    const mul_u32 *word;
    mul_u32 each;

    __device__ __forceinline__ mul_u32 most() const
    {
        mul_u32 most = 0;
        const mul_u32 *const own = word + threadIdx.x * each;
        const mul_u32 turn = each == 32 ? (threadIdx.x & 7) * 4 : 0;
        for (mul_u32 k = 0; k < each; k += 4) {
            const uint4 x = *(const uint4 *)(own + ((k + turn) & 31));
            if constexpr (narrow)
                most = __vmaxu2(__vmaxu2(__vmaxu2(x.x, x.y), __vmaxu2(x.z, x.w)), most);
            else
                most = max(max(max(mulg_top_key<R>(x.x), mulg_top_key<R>(x.y)),
                               max(mulg_top_key<R>(x.z), mulg_top_key<R>(x.w))),
                           most);
        }
        return narrow ? max(most & 0xffff, most >> 16) : most;
    }
    /* Of the word `lane` of another lane's own; y is the second column of a narrow one. */
    __device__ __forceinline__ void keys(mul_u32 owner, mul_u32 *x, mul_u32 *y) const
    {
        const mul_u32 lane = threadIdx.x & 31;
        const mul_u32 v = lane < each ? word[place(owner)] : 0;
        *y = 0;
        if constexpr (narrow) {
            *x = v & 0xffff;
            *y = v >> 16;
        } else
            *x = lane < each ? mulg_top_key<R>(v) : 0;
    }
    __device__ __forceinline__ mul_u32 place(mul_u32 owner) const
    {
        return ((threadIdx.x & ~31u) + owner) * each + (threadIdx.x & 31);
    }
};

/* A key that k of the lanes reach, the greatest but for its last bits; 0: fewer than k lanes have any. */
MULG_DEVICE mul_u32 mulg_top_reached(mul_u32 most, mul_u32 k)
{
    enum { BITS = 14 };
    const mul_u32 high = __reduce_max_sync(MULG_ALL, most), low = __reduce_min_sync(MULG_ALL, most);
    const int bits = 32 - __clz((int)(high ^ low)), last = bits > BITS ? bits - BITS : 0;
    mul_u32 key = bits == 32 ? 0 : high >> bits << bits;
    for (int bit = bits - 1; bit >= last; bit--) {
        const mul_u32 next = key | 1u << bit;
        if (__popc(__ballot_sync(MULG_ALL, most >= next)) >= k) key = next;
    }
    return __popc(__ballot_sync(MULG_ALL, most >= key)) >= k ? key : 0;
}

/* Cells of the block with keys greater than `least`, and equal ones << 16; *before: of the warps before. */
template <class R>
MULG_DEVICE mul_u32 mulg_top_count(mulg_top_shared &s, const mulg_top_view<R> &view, mul_u32 most, mul_u32 least,
                                   mul_u32 *before)
{
    const mul_u32 warp = threadIdx.x / 32;
    mul_u32 sum = 0, total = 0;
    for (mul_u32 owners = __ballot_sync(MULG_ALL, most >= least); owners; owners &= owners - 1) {
        mul_u32 x, y;
        view.keys(__ffs((int)owners) - 1, &x, &y);
        sum += __popc(__ballot_sync(MULG_ALL, x > least)) + (__popc(__ballot_sync(MULG_ALL, x == least)) << 16);
        if constexpr (mulg_top_view<R>::narrow)
            sum += __popc(__ballot_sync(MULG_ALL, y > least)) + (__popc(__ballot_sync(MULG_ALL, y == least)) << 16);
    }
    if ((threadIdx.x & 31) == 0) s.sum[warp] = sum;
    __syncthreads();
    *before = 0;
#pragma unroll
    for (mul_u32 w = 0; w < MULG_WARPS; w++) {
        if (w < warp) *before += s.sum[w];
        total += s.sum[w];
    }
    return total;
}

struct mulg_top_choice {
    mul_u32 least, before, quota, count; /* quota: of equal keys; count: entries stored */
    bool full;                           /* k cells reach `least` */
};

/* Halves between a key that k cells reach and one that fewer do, until few enough are greater. */
template <class R>
MULG_DEVICE mul_u32 mulg_top_halve(const mulg_params &p, mulg_top_shared &s, const mulg_top_view<R> &view,
                                   mul_u32 most, mul_u32 low)
{
    const mul_u32 lane = threadIdx.x & 31, own = __reduce_max_sync(MULG_ALL, most);
    if (lane == 0) s.least[threadIdx.x / 32] = own;
    __syncthreads();
    mul_u32 high = 0, before;
    for (mul_u32 w = 0; w < MULG_WARPS; w++)
        high = max(high, s.least[w]);
    high++;
    while (high - low > 1) {
        const mul_u32 middle = low + (high - low) / 2, n = mulg_top_count(s, view, most, middle, &before);
        __syncthreads();
        if ((n & 0xffff) + (n >> 16) < p.top)
            high = middle;
        else {
            low = middle;
            if ((n & 0xffff) <= p.top_room) break;
        }
    }
    return low;
}

/* A key that k cells of the block or of the row's windows before (`known`) reach, or 1; the same in all threads. */
MULG_DEVICE mul_u32 mulg_top_first(mulg_top_shared &s, mul_u32 most, mul_u32 k, mul_u32 warps, mul_u32 known)
{
    const bool shared = k > 32;
    const mul_u32 own = mulg_top_reached(most, shared ? (k + warps - 1) / warps : k);
    if ((threadIdx.x & 31) == 0) s.least[threadIdx.x / 32] = shared ? own : max(own, known);
    if (threadIdx.x == 0) s.known = known;
    __syncthreads();
    mul_u32 high = 1, low = s.least[0];
#pragma unroll
    for (mul_u32 w = 0; w < MULG_WARPS; w++) {
        high = max(high, s.least[w]);
        if (w < warps) low = min(low, s.least[w]);
    }
    return shared ? max(max(low, s.known), 1u) : high;
}

/* All threads call it, cells being final; `known`: a key of the row's windows before, which need not be the same in
 * all threads; `warps`: those before have all cells. */
template <class R>
MULG_DEVICE mulg_top_choice mulg_top_choose(const mulg_params &p, mulg_top_shared &s, const mulg_top_view<R> &view,
                                            mul_u32 most, mul_u32 known, mul_u32 warps = MULG_WARPS)
{
    mulg_top_choice c;
    c.least = mulg_top_first(s, most, p.top, warps, known);
    mul_u32 n = mulg_top_count(s, view, most, c.least, &c.before);
    if ((n & 0xffff) > p.top_room) {
        __syncthreads();
        c.least = mulg_top_halve(p, s, view, most, c.least);
        n = mulg_top_count(s, view, most, c.least, &c.before);
    }
    const mul_u32 more = n & 0xffff, same = n >> 16;
    c.quota = more < p.top ? p.top - more : 0;
    c.count = more + min(same, c.quota);
    c.full = more + same >= p.top;
    return c;
}

/* Calls put(place among the stored, word, half) for each that is stored, in order. */
template <class R, class F>
MULG_DEVICE void mulg_top_store(const mulg_top_view<R> &view, mul_u32 most, const mulg_top_choice &c, F put)
{
    const mul_u32 below = mulg_lanes_below(), upto = mulg_lanes_upto();
    mul_u32 more = c.before & 0xffff, same = c.before >> 16;
    for (mul_u32 owners = __ballot_sync(MULG_ALL, most >= c.least); owners; owners &= owners - 1) {
        const mul_u32 owner = __ffs((int)owners) - 1;
        mul_u32 x, y, y_more = 0, y_same = 0;
        view.keys(owner, &x, &y);
        const mul_u32 x_more = __ballot_sync(MULG_ALL, x > c.least), x_same = __ballot_sync(MULG_ALL, x == c.least);
        if constexpr (mulg_top_view<R>::narrow) {
            y_more = __ballot_sync(MULG_ALL, y > c.least);
            y_same = __ballot_sync(MULG_ALL, y == c.least);
        }
        if (x >= c.least) {
            const mul_u32 equal = same + __popc(x_same & below) + __popc(y_same & below);
            if (x > c.least || equal < c.quota)
                put(more + __popc(x_more & below) + __popc(y_more & below) + min(equal, c.quota), view.place(owner),
                    0);
        }
        if constexpr (mulg_top_view<R>::narrow)
            if (y >= c.least) {
                const mul_u32 equal = same + __popc(x_same & upto) + __popc(y_same & below);
                if (y > c.least || equal < c.quota)
                    put(more + __popc(x_more & upto) + __popc(y_more & below) + min(equal, c.quota),
                        view.place(owner), 1);
            }
        more += __popc(x_more) + __popc(y_more);
        same += __popc(x_same) + __popc(y_same);
    }
}

#endif
