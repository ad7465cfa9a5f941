/* SPDX-License-Identifier: Apache-2.0
 *
 * MIDDLE rows: a block a row. A first walk over the products sets a bit a column in shared memory; counting bits
 * ranks the columns, so that exactly as many cells as entries are needed, in order and without probing; a second walk
 * fills the cells. Wide matrices go through windows of p.bits columns, rows of more entries than cells through
 * several second walks. ORDERED: entries of the row of A one after the other, with the block in step: any AGG, floats
 * as on the CPU. Loops over words and cells are not unrolled: that makes them no slower, and NVRTC's work an eighth
 * less.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_MIDDLE_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_MIDDLE_CUH

#include "gpu_mask.cuh"
#include "gpu_top.cuh"
#include "gpu_walk.cuh"

/* Shared memory behind the fixed part: words (bits / 32), ranks (bits / 32), cells, counts of AVG. */
extern __shared__ mul_u64 mulg_dynamic[];

template <class R> struct mulg_middle_shared {
    typename mulg_line_of<R>::line line;
    mul_u32 task, warp_sum[MULG_WARPS];
    mulg_top_shared top;
};

/* The slice of row c of B within columns [lo, hi) from t_lo. */
MULG_DEVICE uint2 mulg_slice(const mulg_params &p, mul_u32 c, mul_u64 lo, bool several)
{
    uint2 bound = __ldg(p.b_bound + c);
    if (several && bound.x < bound.y) {
        bound.x = mulg_search(p.b_column, bound.x, bound.y, p.t_lo + lo);
        bound.y = mulg_search(p.b_column, bound.x, bound.y, p.t_lo + lo + p.bits);
    }
    return bound;
}

/* Every product of the row in the window. `laid`: the line holds them all since an earlier walk. Ends without a
 * barrier. */
template <class R, class F, class G>
MULG_DEVICE mulg_extent mulg_products(const mulg_params &p, mulg_middle_shared<R> &shared, bool laid, mulg_extent all,
                                      mul_i64 begin, mul_u32 degree, mul_u64 lo, bool several, const void *b_value,
                                      F f, G g)
{
    typedef typename R::A A;
    /* One way of walking less to compile costs written functions a fifth of their time here, and saves NVRTC as much.
     */
    constexpr bool both = !R::WRITTEN || sizeof(typename R::T) == 16;
    for (mul_u32 from = 0; from < degree; from += MULG_THREADS) {
        const mul_u32 e = from + threadIdx.x;
        if (!laid) {
            uint2 slice = make_uint2(0, 0);
            A a = A();
            mul_u32 c = 0;
            if (e < degree) {
                c = __ldg(p.a_column + begin + e);
                slice = mulg_slice(p, c, lo, several);
                if constexpr (R::VALUES) a = mulg_value<A>(p.a_value, begin + e);
            }
            if (from) __syncthreads();
            all = mulg_lay<R>(shared.line, slice.x, slice.y, a, c);
        }
        mulg_walk<R, both>(p, b_value, shared.line, all, f, g);
    }
    return all;
}

/* Ranks of the bits and, where STORE, the columns themselves; answers how many there are. */
template <class R, bool STORE>
MULG_DEVICE mul_u32 mulg_rank(const mulg_params &p, mulg_middle_shared<R> &shared, const mul_u32 *word, mul_u32 *rank,
                              mul_u64 lo, mul_u64 out)
{
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const mul_u32 words = p.bits / 32, each = (words + MULG_THREADS - 1) / MULG_THREADS * 32; /* words a warp */
    const mul_u32 first = warp * each, last = first + each < words ? first + each : words;
    mul_u32 sum = 0;
#pragma unroll 1
    for (mul_u32 i = first + lane; i < last; i += 32)
        sum += __popc(word[i]);
    sum = __reduce_add_sync(MULG_ALL, sum);
    if (lane == 0) shared.warp_sum[warp] = sum;
    __syncthreads();
    mul_u32 at = 0, total = 0;
#pragma unroll 1
    for (mul_u32 i = 0; i < MULG_WARPS; i++) {
        if (i < warp) at += shared.warp_sum[i];
        total += shared.warp_sum[i];
    }
    for (mul_u32 i = first; i < last; i += 32) {
        mul_u32 w = i + lane < last ? word[i + lane] : 0;
        const mul_u32 n = __popc(w), upto = mulg_scan(n);
        mul_u32 place = at + upto - n;
        if (i + lane < last) rank[i + lane] = place;
#pragma unroll 1
        for (; STORE && w; w &= w - 1)
            p.c_column[out + place++] = (mul_u32)(p.t_lo + lo) + (i + lane) * 32 + (__ffs((int)w) - 1);
        at += __shfl_sync(MULG_ALL, upto, 31);
    }
    return total;
}

/* Cells [first, first + p.cells) of the window's entries, entry after entry of the row of A. */
template <class R>
MULG_DEVICE void mulg_fill_ordered(const mulg_params &p, mul_u32 row, const mul_u32 *word, const mul_u32 *rank,
                                   mul_i64 begin, mul_u32 degree, mul_u64 lo, bool several, mul_u32 first,
                                   bool masked, int *bad)
{
    typedef typename R::T T;
    typedef typename R::A A;
    typedef typename R::B B;
    mul_u64 *const cell8 = (mul_u64 *)((mul_u32 *)rank + p.bits / 32);
    typedef mulg_mean<T> mean;
    T *const cell = (T *)cell8;
    typename mean::type *const sums = (typename mean::type *)cell8;
    mul_u32 *const counts = (mul_u32 *)(sums + p.cells);
    for (mul_u32 k = 0; k < degree; k++) {
        const mul_u32 e = p.agg == MULG_FIRST ? degree - 1 - k : k;
        const mul_u32 c = __ldg(p.a_column + begin + e);
        const uint2 slice = mulg_slice(p, c, lo, several);
        A a = A();
        if constexpr (R::VALUES) a = mulg_value<A>(p.a_value, begin + e);
        for (mul_u32 i = slice.x + threadIdx.x; i < slice.y; i += MULG_THREADS) {
            const mul_u32 t = __ldg(p.b_column + i), j = t - p.t_lo - (mul_u32)lo;
            if (masked && !(word[j / 32] >> (j & 31) & 1)) continue;
            const mul_u32 at = rank[j / 32] + __popc(word[j / 32] & ((1u << (j & 31)) - 1)) - first;
            if (at >= p.cells) continue;
            T v = T();
            if constexpr (R::VALUES) v = R::con(p, a, mulg_value<B>(p.b_value, i), row, c, t, bad);
            if (p.agg == MULG_AVG) {
                sums[at] = mulg_plus(sums[at], mean::one(v));
                counts[at]++;
            } else
                cell[at] = R::fold(p, cell[at], v, bad);
        }
        if (slice.x != slice.y) __syncthreads();
    }
}

/* The column of the r-th bit, below p.bits. */
MULG_DEVICE mul_u32 mulg_ranked(const mulg_params &p, const mul_u32 *word, const mul_u32 *rank, mul_u32 r)
{
    mul_u32 lo = 0, hi = p.bits / 32;
    while (lo + 1 < hi) { /* the last word whose rank is not beyond r */
        const mul_u32 middle = (lo + hi) / 2;
        if (rank[middle] <= r)
            lo = middle;
        else
            hi = middle;
    }
    mul_u32 w = word[lo];
    for (r -= rank[lo]; r > 0; r--)
        w &= w - 1;
    return lo * 32 + __ffs((int)w) - 1;
}

/* Neighbouring cells that a thread has of n. */
MULG_DEVICE mul_u32 mulg_middle_each(mul_u32 n)
{
    return (n + 4 * MULG_THREADS - 1) / (4 * MULG_THREADS) * 4;
}

/* Candidates for TOP among n cells, to `out` on; answers how many. *known: a key of the row's turns before. */
template <class R>
MULG_DEVICE mul_u32 mulg_middle_top(const mulg_params &p, mulg_middle_shared<R> &shared, const mul_u32 *word,
                                    const mul_u32 *rank, mul_u32 first, mul_u32 n, mul_u32 base, mul_u64 out,
                                    mul_u32 *known)
{
    typedef typename R::S S;
    const mul_u32 *const cell = rank + p.bits / 32;
    const mulg_top_view<R> view = {cell, mulg_middle_each(n)};
    const mul_u32 most = threadIdx.x * view.each < n ? view.most() : 0;
    const mul_u32 warps = n ? (n + 32 * view.each - 1) / (32 * view.each) : 1;
    const mulg_top_choice c = mulg_top_choose(p, shared.top, view, most, *known, warps);
    if (c.full) *known = c.least;
    mulg_top_store(view, most, c, [&](mul_u32 at, mul_u32 i, mul_u32) {
        p.c_column[out + at] = base + mulg_ranked(p, word, rank, first + i);
        if constexpr (R::VALUES)
            ((S *)p.c_value)[out + at] = R::cell::get(cell[i]);
        else
            ((S *)p.c_value)[out + at] = (S)cell[i];
    });
    return c.count;
}

/* Cells that HAVING does not keep are emptied: none of them is among the greatest. */
template <class R>
MULG_DEVICE void mulg_middle_drop(const mulg_params &p, mul_u32 row, const mul_u32 *word, const mul_u32 *rank,
                                  typename R::cell::bits *cell, mul_u32 first, mul_u32 n, mul_u32 base)
{
    typedef typename R::cell C;
#pragma unroll 1
    for (mul_u32 i = threadIdx.x; i < n; i += MULG_THREADS) {
        const mul_u32 t = base + mulg_ranked(p, word, rank, first + i);
        bool stays;
        if constexpr (R::VALUES)
            stays = mulg_keeps(p, row, t, C::get(cell[i]));
        else
            stays = mulg_keeps(p, row, t, cell[i]);
        if (!stays) cell[i] = C::empty();
    }
    __syncthreads();
}

/* Columns that MASK does not keep lose their bits. */
MULG_DEVICE void mulg_middle_mask(const mulg_params &p, mul_u32 row, mul_u64 lo, mul_u32 *word, mul_u32 *rank)
{
    mulg_mask_bits(p, row, (mul_u64)p.t_lo + lo, p.bits, rank); /* ranks come later: their place is free */
    for (mul_u32 i = threadIdx.x; i < p.bits / 32; i += MULG_THREADS)
        word[i] &= rank[i];
    __syncthreads();
}

/* Which entries of word i have their cells among the n from `first` on, and are kept by HAVING. */
template <class V>
MULG_DEVICE mul_u32 mulg_middle_kept(const mulg_params &p, mul_u32 row, const mul_u32 *word, const mul_u32 *rank,
                                     mul_u32 i, mul_u32 first, mul_u32 n, mul_u32 base, V value)
{
    mul_u32 kept = 0, at = rank[i] - first;
#pragma unroll 1
    for (mul_u32 w = word[i]; w; w &= w - 1, at++)
        if (at < n && mulg_keeps(p, row, base + i * 32 + __ffs((int)w) - 1, value(at))) kept |= w & (0u - w);
    return kept;
}

/* Stores what HAVING keeps of n cells from `first` on, value(i) being what cell i holds; answers how much. All
 * threads call it; barriers part it from what is done with the cells before and after. */
template <class R, class V>
MULG_DEVICE mul_u32 mulg_middle_sift(const mulg_params &p, mulg_middle_shared<R> &shared, mul_u32 row,
                                     const mul_u32 *word, const mul_u32 *rank, mul_u32 first, mul_u32 n, mul_u32 base,
                                     mul_u64 out, V value)
{
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const mul_u32 words = p.bits / 32, each = (words + MULG_THREADS - 1) / MULG_THREADS * 32; /* words a warp */
    const mul_u32 from = warp * each, last = from + each < words ? from + each : words;
    mul_u32 sum = 0, total = 0;
#pragma unroll 1
    for (mul_u32 i = from + lane; i < last; i += 32)
        sum += __popc(mulg_middle_kept(p, row, word, rank, i, first, n, base, value));
    sum = __reduce_add_sync(MULG_ALL, sum);
    if (lane == 0) shared.warp_sum[warp] = sum;
    __syncthreads();
#pragma unroll 1
    for (mul_u32 i = 0; i < MULG_WARPS; i++) {
        if (i < warp) out += shared.warp_sum[i];
        total += shared.warp_sum[i];
    }
#pragma unroll 1
    for (mul_u32 i = from + lane; __any_sync(MULG_ALL, i < last); i += 32) {
        const mul_u32 kept = i < last ? mulg_middle_kept(p, row, word, rank, i, first, n, base, value) : 0;
        const mul_u32 upto = mulg_scan(__popc(kept));
        mul_u64 to = out + upto - __popc(kept);
#pragma unroll 1
        for (mul_u32 w = kept; w; w &= w - 1, to++) {
            const mul_u32 bit = __ffs((int)w) - 1;
            const auto v = value(rank[i] + __popc(word[i] & ((1u << bit) - 1)) - first);
            p.c_column[to] = base + i * 32 + bit;
            if constexpr (R::VALUES)
                ((decltype(value(0)) *)p.c_value)[to] = v;
            else
                mulg_store_count<R>(p, to, v);
        }
        out += __shfl_sync(MULG_ALL, upto, 31);
    }
    return total;
}

/* n cells of the window, from `first` on, filled in order and stored; answers how many of them HAVING keeps. */
template <class R>
MULG_DEVICE mul_u32 mulg_middle_ordered(const mulg_params &p, mulg_middle_shared<R> &shared, mul_u32 row,
                                        const mul_u32 *word, const mul_u32 *rank, mul_i64 begin, mul_u32 degree,
                                        mul_u64 lo, bool several, mul_u32 first, mul_u32 n, bool masked, mul_u64 out,
                                        int *bad)
{
    typedef typename R::T T;
    typedef mulg_mean<T> mean;
    mul_u64 *const cell8 = (mul_u64 *)((mul_u32 *)rank + p.bits / 32);
    T *const cell = (T *)cell8;
    typename mean::type *const sums = (typename mean::type *)cell8;
    mul_u32 *const counts = (mul_u32 *)(sums + p.cells);
    for (mul_u32 i = threadIdx.x; i < n; i += MULG_THREADS) {
        if (p.agg == MULG_AVG) {
            sums[i] = mean::none();
            counts[i] = 0;
        } else
            cell[i] = R::start(p);
    }
    __syncthreads();
    mulg_fill_ordered<R>(p, row, word, rank, begin, degree, lo, several, first, masked, bad);
    __syncthreads();
    if constexpr (mulg_sifts<R>::value) {
        const mul_u32 base = p.t_lo + (mul_u32)lo;
        if (p.agg == MULG_AVG)
            return mulg_middle_sift<R>(p, shared, row, word, rank, first, n, base, out,
                                       [&](mul_u32 i) { return mean::over(sums[i], counts[i]); });
        return mulg_middle_sift<R>(p, shared, row, word, rank, first, n, base, out,
                                   [&](mul_u32 i) { return cell[i]; });
    } else {
        for (mul_u32 i = threadIdx.x; i < n; i += MULG_THREADS) {
            if (p.agg == MULG_AVG)
                ((typename mean::type *)p.c_value)[out + first + i] = mean::over(sums[i], counts[i]);
            else
                ((T *)p.c_value)[out + first + i] = cell[i];
        }
        return n;
    }
}

template <class R, bool ORDERED, bool TOP>
MULG_DEVICE mul_u32 mulg_middle_window(const mulg_params &p, mulg_middle_shared<R> &shared, mul_u32 row, mul_u64 lo,
                                       bool several, mul_u64 out, mul_u32 *known, int *bad)
{
    typedef typename R::T T;
    typedef typename R::A A;
    typedef typename R::B B;
    typedef typename R::cell C;
    typedef typename C::bits bits;
    constexpr bool masks = mulg_masks<R>::value && !TOP, sifts = mulg_sifts<R>::value;
    /* Written functions: one walk serves both turns, as their compiler's time goes with the number of walks. */
    constexpr bool once = R::WRITTEN && !ORDERED;
    mul_u32 *const word = (mul_u32 *)mulg_dynamic, *const rank = word + p.bits / 32;
    bits *const cell = (bits *)(rank + p.bits / 32);
    const mul_i64 begin = p.a_begin[row];
    const mul_u32 degree = (mul_u32)(p.a_end[row] - begin), words = p.bits / 32, base = p.t_lo + (mul_u32)lo;
    const bool masked = masks && p.mask_begin;
    mul_u32 entries = 0, stored = 0, first = 0, n = 0;
    mulg_extent all = {0, 0};
#pragma unroll 1
    for (mul_u32 i = threadIdx.x; i < words / 4; i += MULG_THREADS)
        ((uint4 *)word)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    const auto cell_of = [&](mul_u32 t) {
        const mul_u32 j = t - base;
        if (masked && !(word[j / 32] >> (j & 31) & 1)) return MULG_ALL;
        return rank[j / 32] + __popc(word[j / 32] & ((1u << (j & 31)) - 1)) - first;
    };
    /* Every product sets its column's bit, or enters its cell. */
    const auto walk = [&](bool marking) {
        const auto mark = [&](mul_u32 t) { atomicOr(word + (t - base) / 32, 1u << ((t - base) & 31)); };
        const auto one = [&](mul_u32 t, A a, B b, mul_u32 c) {
            if (marking) return mark(t);
            const mul_u32 at = cell_of(t);
            if (at >= n) return;
            if constexpr (R::VALUES)
                C::put(cell + at, R::con(p, a, b, row, c, t, bad));
            else
                C::add(cell + at);
        };
        const auto two = [&](mul_u32 t, mul_u32 u, A a, B b, B d, mul_u32 c) {
            if constexpr (R::VALUES) {
                const mul_u32 x = marking ? MULG_ALL : cell_of(t), y = marking ? MULG_ALL : cell_of(u);
                if (x < n && y < n) {
                    C::put_two(cell + x, R::con(p, a, b, row, c, t, bad), cell + y, R::con(p, a, d, row, c, u, bad));
                    return;
                }
            }
            one(t, a, b, c);
            one(u, a, d, c);
        };
        all = mulg_products<R>(p, shared, !marking && degree <= MULG_THREADS, all, begin, degree, lo, several,
                               marking ? NULL : p.b_value, one, two);
        __syncthreads();
    };
    const auto rank_all = [&] {
        if constexpr (masks)
            if (masked) mulg_middle_mask(p, row, lo, word, rank);
        entries = mulg_rank < R, !TOP && !sifts > (p, shared, word, rank, lo, out);
    };
    if constexpr (!once) {
        walk(true);
        rank_all();
    }
    bool marking = once;
#pragma unroll 1
    while ((once && marking) || first < entries) {
        n = entries - first < p.cells ? entries - first : p.cells;
        if constexpr (ORDERED)
            stored += mulg_middle_ordered<R>(p, shared, row, word, rank, begin, degree, lo, several, first, n, masked,
                                             sifts ? out + stored : out, bad);
        else {
            const mul_u32 each = mulg_middle_each(n), cells = TOP ? (n + each - 1) / each * each : n;
#pragma unroll 1
            for (mul_u32 i = threadIdx.x; i < cells; i += MULG_THREADS)
                cell[i] = C::empty();
            __syncthreads();
            walk(once && marking);
            if (once && marking) {
                rank_all();
                marking = false;
                continue;
            }
            if constexpr (sifts && !TOP)
                stored +=
                    mulg_middle_sift<R>(p, shared, row, word, rank, first, n, base, out + stored, [&](mul_u32 i) {
                        if constexpr (R::VALUES)
                            return C::get(cell[i]);
                        else
                            return (mul_u32)cell[i];
                    });
            if constexpr (sifts && TOP) mulg_middle_drop<R>(p, row, word, rank, cell, first, n, base);
            if constexpr (TOP)
                stored += mulg_middle_top<R>(p, shared, word, rank, first, n, base, out + stored, known);
#pragma unroll 1
            for (mul_u32 i = threadIdx.x; !TOP && !sifts && i < n; i += MULG_THREADS) {
                if constexpr (R::VALUES)
                    ((T *)p.c_value)[out + first + i] = C::get(cell[i]);
                else
                    mulg_store_count<R>(p, out + first + i, (mul_u32)cell[i]);
            }
        }
        __syncthreads();
        first += p.cells;
    }
    return TOP || sifts ? stored : entries;
}

template <class R, bool ORDERED, bool TOP = false> MULG_DEVICE void mulg_middle(const mulg_params &p)
{
    __shared__ mulg_middle_shared<R> shared;
    mul_u64 all = 0;
    int bad = 0;
    for (;;) {
        if (threadIdx.x == 0) shared.task = atomicAdd(p.next, 1);
        __syncthreads();
        const mul_u32 task = shared.task;
        if (task >= p.rows) break;
        const mul_u32 row = p.list[task];
        mul_u64 out = (mul_u64)p.c_begin[row];
        const mul_u64 out0 = out;
        mul_u32 known = 0;
        for (mul_u64 lo = 0; lo < p.width; lo += p.bits) {
            out += mulg_middle_window<R, ORDERED, TOP>(p, shared, row, lo, p.width > p.bits, out, &known, &bad);
            __syncthreads();
        }
        if (threadIdx.x == 0) p.c_end[row] = (mul_i64)out;
        all += out - out0;
    }
    mulg_finish(p, threadIdx.x == 0 ? all : 0, bad);
}

#endif
