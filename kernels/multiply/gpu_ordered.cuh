/* SPDX-License-Identifier: Apache-2.0
 *
 * DENSE rows in order: a task is a narrow window of one row, and a warp's own. It takes the entries of the row of A
 * one after the other; within a slice of B columns are distinct, so cells need no atomics, any AGG will do, and
 * floats come out as on the CPU. Tasks are dealt and placed as in gpu_dense.cuh, HUB rows in parts where AGG allows
 * it (gpu_parts.cuh). What a warp keeps of its window is one of two: cells of the AGG's own type, or sums and counts
 * for AVG.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_ORDERED_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_ORDERED_CUH

#include "gpu_dense.cuh"
#include "gpu_middle.cuh"

enum {
    MULG_ORDERED_TURN = 128, /* columns that a warp looks at together */
    MULG_ORDERED_MASK = 64   /* words of MASK, a bit a column of a window */
};

/* In dynamic shared memory, one a warp: accumulators, and which are touched. */
template <class T> struct mulg_ordered_shared {
    static constexpr int bytes = sizeof(T) == 16 ? MULG_ORDERED_WIDE : MULG_ORDERED_BYTES;
    static constexpr int width = bytes / sizeof(T); /* columns of a window */
    __align__(16) T cell[width];
    __align__(16) unsigned char mark[width];
    unsigned short place[MULG_ORDERED_TURN];
    mul_u32 mask[MULG_ORDERED_MASK];
};

template <class R> struct mulg_ordered_window {
    typedef typename R::T T;
    typedef mulg_ordered_shared<T> shared;
    shared &s;
    T start;
    bool plain; /* whether an untouched cell holds what no touched one does: then there are no marks */

    __device__ __forceinline__ mulg_ordered_window(const mulg_params &p)
        : s(((shared *)mulg_dynamic)[threadIdx.x / 32]), start(R::start(p))
    {
        const bool ends = p.agg == MULG_SUM || p.agg == MULG_MIN || p.agg == MULG_MAX;
        plain = !R::WRITTEN_FOLD && sizeof(T) <= 8 && mulg_traits<T>::real && ends;
    }
    __device__ __forceinline__ void clear(mul_u32 j)
    {
        s.cell[j] = start;
        if (!plain) s.mark[j] = 0;
    }
    __device__ __forceinline__ void put(const mulg_params &p, mul_u32 j, T v, int *bad)
    {
        s.cell[j] = R::fold(p, s.cell[j], v, bad);
        if (!plain) s.mark[j] = 1;
    }
    /* Which of four neighbours are touched, as bits. */
    __device__ __forceinline__ mul_u32 touched(mul_u32 at) const
    {
        mul_u32 own = 0;
        if (plain) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                own |= (mulg_traits<T>::to(s.cell[at + i]) != mulg_traits<T>::to(start) ? 1u : 0u) << i;
        } else {
            const mul_u32 marks = *(const mul_u32 *)(s.mark + at);
            own = (marks & 1) | (marks >> 7 & 2) | (marks >> 14 & 4) | (marks >> 21 & 8);
        }
        return own;
    }
    __device__ __forceinline__ T value(mul_u32 j) const
    {
        return s.cell[j];
    }
    __device__ __forceinline__ void store(const mulg_params &p, mul_u32 j, mul_u64 to) const
    {
        ((T *)p.c_value)[to] = value(j);
    }
    /* A part's cell j to place `at` of global memory, and what lies there into the cell: the later part's value
     * stays, as only FIRST and LAST are split, whose cells have marks. */
    __device__ __forceinline__ void leave(const mulg_params &p, mul_u64 at, mul_u32 j) const
    {
        ((T *)p.hub_cell)[at] = s.cell[j];
        ((unsigned char *)p.hub_mark)[at] = s.mark[j];
    }
    __device__ __forceinline__ void join(const mulg_params &p, mul_u64 at, mul_u32 j)
    {
        typedef typename mulg_traits<T>::bits bits;
        if (!__ldcg((const unsigned char *)p.hub_mark + at)) return;
        s.cell[j] = mulg_traits<T>::from(mulg_afar((const bits *)p.hub_cell + at));
        s.mark[j] = 1;
    }
};

/* AVG: a count is also the mark. */
template <class R> struct mulg_average_window {
    typedef mulg_mean<typename R::T> mean;
    struct shared {
        static constexpr int width = sizeof(typename R::T) == 16 ? MULG_AVERAGE_WIDE : MULG_AVERAGE_WIDTH;
        __align__(16) typename mean::type sum[width];
        __align__(16) mul_u32 count[width];
        unsigned short place[MULG_ORDERED_TURN];
        mul_u32 mask[MULG_ORDERED_MASK];
    };
    shared &s;

    __device__ __forceinline__ mulg_average_window(const mulg_params &)
        : s(((shared *)mulg_dynamic)[threadIdx.x / 32])
    {
    }
    __device__ __forceinline__ void clear(mul_u32 j)
    {
        s.sum[j] = mean::none();
        s.count[j] = 0;
    }
    __device__ __forceinline__ void put(const mulg_params &, mul_u32 j, typename R::T v, int *)
    {
        s.sum[j] = mulg_plus(s.sum[j], mean::one(v));
        s.count[j]++;
    }
    __device__ __forceinline__ mul_u32 touched(mul_u32 at) const
    {
        const uint4 n = *(const uint4 *)(s.count + at);
        return (n.x ? 1 : 0) | (n.y ? 2 : 0) | (n.z ? 4 : 0) | (n.w ? 8 : 0);
    }
    __device__ __forceinline__ typename mean::type value(mul_u32 j) const
    {
        return mean::over(s.sum[j], s.count[j]);
    }
    __device__ __forceinline__ void store(const mulg_params &p, mul_u32 j, mul_u64 to) const
    {
        ((typename mean::type *)p.c_value)[to] = value(j);
    }
    __device__ __forceinline__ void leave(const mulg_params &p, mul_u64 at, mul_u32 j) const
    {
        ((typename mean::type *)p.hub_cell)[at] = s.sum[j];
        p.hub_mark[at] = s.count[j];
    }
    __device__ __forceinline__ void join(const mulg_params &p, mul_u64 at, mul_u32 j)
    {
        typedef typename mulg_traits<typename mean::type>::bits bits;
        const mul_u32 n = __ldcg(p.hub_mark + at);
        if (n == 0) return;
        s.sum[j] =
            mulg_plus(s.sum[j], mulg_traits<typename mean::type>::from(mulg_afar((const bits *)p.hub_cell + at)));
        s.count[j] += n;
    }
};

/* The row's entries, or a part of those of a HUB row. */
template <class R, class W>
MULG_DEVICE void mulg_ordered_fill(const mulg_params &p, W &w, mul_u32 row, mul_u32 window, mul_u32 part,
                                   mul_u32 parts, int *bad)
{
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 lane = threadIdx.x & 31, base = p.t_lo + window * W::shared::width;
    const mul_i64 begin = p.a_begin[row];
    const mul_u32 degree = (mul_u32)(p.a_end[row] - begin);
    mul_u32 first = 0, last = degree;
    mul_u64 products = 0;
    if (mulg_parts_ordered<R>::value && parts > 1) {
        first = (mul_u32)((mul_u64)degree * part / parts);
        last = (mul_u32)((mul_u64)degree * (part + 1) / parts);
    }
    for (mul_u32 from = first; from < last; from += 32) {
        const mul_u32 k = from + lane, e = p.agg == MULG_FIRST ? degree - 1 - k : k;
        mul_u32 c = 0, lo = 0, hi = 0;
        A a = A();
        if (k < last) {
            c = __ldg(p.a_column + begin + e);
            const mul_u32 *cut = p.cut + (mul_u64)c * (p.windows + 1) + window;
            lo = __ldg(cut);
            hi = __ldg(cut + 1);
            if constexpr (R::VALUES) a = mulg_value<A>(p.a_value, begin + e);
        }
        products += hi - lo;
        mul_u32 full = __ballot_sync(MULG_ALL, lo < hi);
        mul_u32 t = 0, i = 0, end = 0, source = 0;
        B b = B();
        /* The next slice is on its way while one is folded in. */
        const auto fetch = [&]() {
            source = __ffs((int)full) - 1;
            full &= full - 1;
            i = __shfl_sync(MULG_ALL, lo, source) + lane;
            end = __shfl_sync(MULG_ALL, hi, source);
            if (i < end) {
                t = __ldg(p.b_column + i);
                if constexpr (R::VALUES) b = mulg_value<B>(p.b_value, i);
            }
        };
        if (full == 0) continue;
        fetch();
        for (bool more = true; more;) {
            mul_u32 now_t = t, now_i = i;
            const mul_u32 now_end = end;
            B now_b = b;
            A now_a = A();
            mul_u32 now_c = 0;
            if constexpr (R::VALUES) now_a = __shfl_sync(MULG_ALL, a, source);
            if constexpr (R::WRITTEN) now_c = __shfl_sync(MULG_ALL, c, source);
            more = full != 0;
            if (more) fetch();
            while (now_i < now_end) {
                w.put(p, now_t - base, R::con(p, now_a, now_b, row, now_c, now_t, bad), bad);
                now_i += 32;
                if (now_i >= now_end) break;
                now_t = __ldg(p.b_column + now_i);
                if constexpr (R::VALUES) now_b = mulg_value<B>(p.b_value, now_i);
            }
            __syncwarp();
        }
    }
    if (mulg_parts_ordered<R>::value && parts > 1) atomicAdd(p.hub_products, products);
}

/* Of four touched neighbours those that HAVING keeps, as bits. */
template <class W>
MULG_DEVICE mul_u32 mulg_ordered_sift(const mulg_params &p, W &w, mul_u32 row, mul_u32 base, mul_u32 at, mul_u32 own)
{
    mul_u32 kept = 0;
#pragma unroll 1
    for (; own; own &= own - 1) {
        const mul_u32 j = at + __ffs((int)own) - 1;
        if (mulg_keeps(p, row, base + j, w.value(j))) kept |= own & (0u - own);
    }
    return kept;
}

/* Which of four neighbours are stored, as bits; those that MASK or HAVING takes out are emptied where CLEAR. */
template <class R, bool CLEAR, class W>
MULG_DEVICE mul_u32 mulg_ordered_kept(const mulg_params &p, W &w, mul_u32 row, mul_u32 base, mul_u32 at)
{
    mul_u32 own = w.touched(at);
    if constexpr (mulg_sifts<R>::value) {
        mul_u32 kept = own;
        if (mulg_masks<R>::value && p.mask_begin) kept &= w.s.mask[at / 32] >> (at & 31);
        kept = mulg_ordered_sift(p, w, row, base, at, kept);
#pragma unroll
        for (int i = 0; CLEAR && i < 4; i++)
            if ((own ^ kept) >> i & 1) w.clear(at + i);
        own = kept;
    } else if constexpr (mulg_masks<R>::value) {
        if (!p.mask_begin) return own;
        const mul_u32 dropped = own & ~(w.s.mask[at / 32] >> (at & 31));
        own ^= dropped;
#pragma unroll
        for (int i = 0; CLEAR && i < 4; i++)
            if (dropped >> i & 1) w.clear(at + i);
    }
    return own;
}

template <class R, class W>
MULG_DEVICE void mulg_ordered_store(const mulg_params &p, W &w, mul_u32 row, mul_u32 window, mul_u64 out)
{
    constexpr mul_u32 width = W::shared::width;
    const mul_u32 lane = threadIdx.x & 31, base = p.t_lo + window * width;
    for (mul_u32 turn = 0; turn < width; turn += MULG_ORDERED_TURN) {
        const mul_u32 at = turn + lane * 4, own = mulg_ordered_kept<R, true>(p, w, row, base, at);
        const mul_u32 count = __popc(own);
        if (!__any_sync(MULG_ALL, count)) continue;
        const mul_u32 upto = mulg_scan(count), n = __shfl_sync(MULG_ALL, upto, 31);
        unsigned short *to = w.s.place + upto - count;
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (own >> i & 1) *to++ = (unsigned short)(at + i);
        __syncwarp();
        for (mul_u32 i = lane; i < n; i += 32) {
            const mul_u32 j = w.s.place[i];
            p.c_column[out + i] = base + j;
            w.store(p, j, out + i);
            w.clear(j);
        }
        out += n;
        __syncwarp();
    }
}

/* W: mulg_ordered_window or mulg_average_window. */
template <class R, class W> MULG_DEVICE void mulg_ordered_dense(const mulg_params &p)
{
    constexpr mul_u32 width = W::shared::width;
    static_assert(width % MULG_ORDERED_TURN == 0, "windows are whole turns");
    static_assert(width / 32 <= MULG_ORDERED_MASK, "a bit of MASK a column");
    constexpr bool splits = mulg_parts_ordered<R>::value;
    const mul_u32 lane = threadIdx.x & 31, hub_tasks = splits ? p.hub_tasks * p.windows : 0;
    const mul_u32 rows = splits ? p.rows - p.hub_rows : p.rows, tasks = hub_tasks + rows * p.windows;
    W w(p);
    int bad = 0;
    for (mul_u32 i = lane; i < width; i += 32)
        w.clear(i);
    __syncwarp();
    for (;;) {
        mul_u32 task = 0;
        if (lane == 0) task = atomicAdd(p.next, 1);
        task = __shfl_sync(MULG_ALL, task, 0);
        if (task >= tasks) break;
        mul_u32 window, i, part = 0, parts = 1;
        if (splits && task < hub_tasks) {
            window = task / p.hub_tasks;
            mulg_hub_task(p, task - window * p.hub_tasks, &i, &part, &parts);
        } else {
            window = (task - hub_tasks) / rows;
            i = p.rows - rows + task - hub_tasks - window * rows;
        }
        const mul_u32 row = p.list[i];
        mulg_ordered_fill<R>(p, w, row, window, part, parts, &bad);
        if constexpr (splits)
            if (parts > 1 && !mulg_parts_in_order(p, w, (mul_u64)i * p.windows + window, task - part, part, parts))
                continue;
        if constexpr (mulg_masks<R>::value)
            if (p.mask_begin) mulg_mask_warp(p, row, (mul_u64)p.t_lo + (mul_u64)window * width, width, w.s.mask);
        mul_u32 total = 0;
        for (mul_u32 turn = 0; turn < width; turn += MULG_ORDERED_TURN)
            total += __popc(mulg_ordered_kept<R, false>(p, w, row, p.t_lo + window * width, turn + lane * 4));
        total = __reduce_add_sync(MULG_ALL, total);
        const mul_u32 before = mulg_dense_before(p, i, window);
        const mul_u64 row_out = (mul_u64)p.c_begin[row];
        if (lane == 0) {
            if (window + 1 < p.windows)
                *(volatile mul_u32 *)(p.prefix + (mul_u64)i * p.windows + window) = before + total + 1;
            else {
                p.c_end[row] = (mul_i64)(row_out + before + total);
                atomicAdd(p.entries, (mul_u64)before + total);
            }
        }
        mulg_ordered_store<R>(p, w, row, window, row_out + before);
        __syncwarp(); /* the next task writes cells that other lanes have looked at */
    }
    mulg_finish(p, 0, bad);
}

#endif
