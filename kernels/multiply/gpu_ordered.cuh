/* SPDX-License-Identifier: Apache-2.0
 *
 * DENSE rows in order: a task is a narrow window of one row, and a warp's own. It takes the entries of the row of A
 * one after the other; within a slice of B columns are distinct, so cells need no atomics, any AGG will do, and
 * floats come out as on the CPU. Tasks are dealt and placed as in gpu_dense.cuh.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_ORDERED_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_ORDERED_CUH

#include "gpu_dense.cuh"
#include "gpu_middle.cuh"

enum { MULG_ORDERED_PLACES = 256 };

/* In dynamic shared memory, one a warp. */
template <class T> struct mulg_ordered_shared {
    static constexpr int bytes = sizeof(T) == 16 ? MULG_ORDERED_WIDE : MULG_ORDERED_BYTES;
    static constexpr int width = bytes / sizeof(T); /* columns of a window */
    __align__(16) T cell[width];
    __align__(16) unsigned char mark[width];
    unsigned short place[MULG_ORDERED_PLACES];
};

/* Whether an untouched cell holds what no touched one does. */
template <class T> MULG_DEVICE bool mulg_ordered_plain(int agg)
{
    return sizeof(T) <= 8 && mulg_traits<T>::real && (agg == MULG_SUM || agg == MULG_MIN || agg == MULG_MAX);
}

template <class R>
MULG_DEVICE void mulg_ordered_fill(const mulg_params &p, mulg_ordered_shared<typename R::T> &s, mul_u32 row,
                                   mul_u32 window, bool plain, int *bad)
{
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 lane = threadIdx.x & 31, base = p.t_lo + window * mulg_ordered_shared<typename R::T>::width;
    const mul_i64 begin = p.a_begin[row];
    const mul_u32 degree = (mul_u32)(p.a_end[row] - begin);
    for (mul_u32 from = 0; from < degree; from += 32) {
        const mul_u32 k = from + lane, e = p.agg == MULG_FIRST ? degree - 1 - k : k;
        mul_u32 c = 0, lo = 0, hi = 0;
        A a = A();
        if (k < degree) {
            c = __ldg(p.a_column + begin + e);
            const mul_u32 *cut = p.cut + (mul_u64)c * (p.windows + 1) + window;
            lo = __ldg(cut);
            hi = __ldg(cut + 1);
            if constexpr (R::VALUES) a = mulg_value<A>(p.a_value, begin + e);
        }
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
                const mul_u32 j = now_t - base;
                s.cell[j] = R::fold(p, s.cell[j], R::con(p, now_a, now_b, row, now_c, now_t, bad), bad);
                if (!plain) s.mark[j] = 1;
                now_i += 32;
                if (now_i >= now_end) break;
                now_t = __ldg(p.b_column + now_i);
                if constexpr (R::VALUES) now_b = mulg_value<B>(p.b_value, now_i);
            }
            __syncwarp();
        }
    }
}

/* Which of the four cells of this lane in a turn are touched. */
template <class T>
MULG_DEVICE mul_u32 mulg_ordered_touched(const mulg_ordered_shared<T> &s, mul_u32 at, bool plain, T start)
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

template <class R>
MULG_DEVICE void mulg_ordered_store(const mulg_params &p, mulg_ordered_shared<typename R::T> &s, mul_u32 window,
                                    bool plain, mul_u64 out)
{
    typedef typename R::T T;
    constexpr mul_u32 width = mulg_ordered_shared<T>::width;
    const mul_u32 lane = threadIdx.x & 31, base = p.t_lo + window * width;
    const T start = R::start(p);
    for (mul_u32 turn = 0; turn < width; turn += 128) {
        const mul_u32 at = turn + lane * 4, own = mulg_ordered_touched(s, at, plain, start);
        const mul_u32 count = __popc(own);
        if (!__any_sync(MULG_ALL, count)) continue;
        const mul_u32 upto = mulg_scan(count), n = __shfl_sync(MULG_ALL, upto, 31);
        unsigned short *to = s.place + upto - count;
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (own >> i & 1) *to++ = (unsigned short)(at + i);
        __syncwarp();
        for (mul_u32 i = lane; i < n; i += 32) {
            const mul_u32 j = s.place[i];
            p.c_column[out + i] = base + j;
            ((T *)p.c_value)[out + i] = s.cell[j];
            s.cell[j] = start;
            if (!plain) s.mark[j] = 0;
        }
        out += n;
        __syncwarp();
    }
}

template <class R> MULG_DEVICE void mulg_ordered_dense(const mulg_params &p)
{
    typedef typename R::T T;
    constexpr mul_u32 width = mulg_ordered_shared<T>::width;
    mulg_ordered_shared<T> &s = ((mulg_ordered_shared<T> *)mulg_dynamic)[threadIdx.x / 32];
    const mul_u32 lane = threadIdx.x & 31, tasks = p.rows * p.windows;
    const bool plain = !R::WRITTEN_FOLD && mulg_ordered_plain<T>(p.agg);
    const T start = R::start(p);
    int bad = 0;
    for (mul_u32 i = lane; i < width; i += 32) {
        s.cell[i] = start;
        s.mark[i] = 0;
    }
    __syncwarp();
    for (;;) {
        mul_u32 task = 0;
        if (lane == 0) task = atomicAdd(p.next, 1);
        task = __shfl_sync(MULG_ALL, task, 0);
        if (task >= tasks) break;
        const mul_u32 window = task / p.rows, i = task - window * p.rows, row = p.list[i];
        mulg_ordered_fill<R>(p, s, row, window, plain, &bad);
        mul_u32 total = 0;
        for (mul_u32 turn = 0; turn < width; turn += 128)
            total += __popc(mulg_ordered_touched(s, turn + lane * 4, plain, start));
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
        mulg_ordered_store<R>(p, s, window, plain, row_out + before);
        __syncwarp(); /* the next task writes cells that other lanes have looked at */
    }
    mulg_finish(p, 0, bad);
}

#endif
