/* SPDX-License-Identifier: Apache-2.0
 *
 * DENSE rows: a task is a window of columns of one row, with a cell a column in shared memory. Many small blocks
 * rather than few large windows: while one block waits at a barrier others work. Tasks are dealt window by window
 * (window 0 of all rows, heaviest first, then window 1...), so that where a window's entries begin, which depends on
 * the windows before it, is known when it ends: blocks take tasks in order, hence waiting for an earlier one always
 * ends.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_DENSE_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_DENSE_CUH

#include "gpu_tiny.cuh"
#include "gpu_walk.cuh"

enum { MULG_PLACES = 512 }; /* cells of four turns of a warp, four a lane */

template <class R> struct mulg_dense_shared {
    typedef typename R::cell::bits bits;
    static constexpr int width = MULG_DENSE_BYTES / sizeof(bits); /* columns of a window */
    __align__(16) bits cell[width];
    mul_u32 mark[R::cell::marked ? width / 32 : 1];
    union {
        typename mulg_line_of<R>::line line;           /* while products are walked */
        unsigned short place[MULG_WARPS][MULG_PLACES]; /* while cells are stored: the touched ones, in order */
    };
    mul_u32 task, warp_sum[MULG_WARPS];
};

/* A task, and what this thread holds of it: an entry of A with its slice of B. Fetched in steps, between the phases
 * of the task before, so that its loads overlap with work. */
template <class R> struct mulg_dense_task {
    mul_u32 window, i, row, degree, c, lo, hi;
    mul_i64 begin;
    typename R::A a;
};

template <class R> MULG_DEVICE void mulg_dense_row(const mulg_params &p, mul_u32 task, mulg_dense_task<R> &t)
{
    t.window = task / p.rows;
    t.i = task - t.window * p.rows;
    t.row = p.list[t.i];
}

template <class R> MULG_DEVICE void mulg_dense_bounds(const mulg_params &p, mulg_dense_task<R> &t)
{
    t.begin = p.a_begin[t.row];
    t.degree = (mul_u32)(p.a_end[t.row] - t.begin);
}

template <class R> MULG_DEVICE void mulg_dense_entry(const mulg_params &p, mulg_dense_task<R> &t, mul_u32 e)
{
    t.c = MULG_ALL;
    t.a = typename R::A();
    if (e >= t.degree) return;
    t.c = __ldg(p.a_column + t.begin + e);
    if constexpr (R::VALUES) t.a = mulg_value<typename R::A>(p.a_value, t.begin + e);
}

template <class R> MULG_DEVICE void mulg_dense_slice(const mulg_params &p, mulg_dense_task<R> &t)
{
    t.lo = t.hi = 0;
    if (t.c == MULG_ALL) return;
    const mul_u32 *cut = p.cut + (mul_u64)t.c * (p.windows + 1) + t.window;
    t.lo = __ldg(cut);
    t.hi = __ldg(cut + 1);
}

template <class R>
MULG_DEVICE void mulg_dense_fill(const mulg_params &p, mulg_dense_shared<R> &shared, mulg_dense_task<R> &t, int *bad)
{
    typedef typename R::cell C;
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 base = p.t_lo + t.window * mulg_dense_shared<R>::width;
    const auto mark = [&](mul_u32 j) {
        if constexpr (C::marked) {
            const mul_u32 bit = 1u << (j & 31);
            if (!(*(volatile mul_u32 *)(shared.mark + j / 32) & bit)) atomicOr(shared.mark + j / 32, bit);
        }
    };
    const auto one = [&](mul_u32 column, A a, B b, mul_u32 c) {
        const mul_u32 j = column - base;
        mark(j);
        if constexpr (R::VALUES)
            C::put(shared.cell + j, R::con(p, a, b, t.row, c, column, bad));
        else
            C::add(shared.cell + j);
    };
    const auto two = [&](mul_u32 column, mul_u32 other, A a, B b, B d, mul_u32 c) {
        const mul_u32 j = column - base, k = other - base;
        mark(j);
        mark(k);
        if constexpr (R::VALUES)
            C::put_two(shared.cell + j, R::con(p, a, b, t.row, c, column, bad), shared.cell + k,
                       R::con(p, a, d, t.row, c, other, bad));
        else {
            C::add(shared.cell + j);
            C::add(shared.cell + k);
        }
    };
    for (mul_u32 from = MULG_THREADS;; from += MULG_THREADS) {
        const mulg_extent all = mulg_lay<R>(shared.line, t.lo, t.hi, t.a, t.c);
        mulg_walk<R>(p, shared.line, all, one, two);
        if (from >= t.degree) break;
        mulg_dense_entry(p, t, from + threadIdx.x);
        mulg_dense_slice(p, t);
        __syncthreads();
    }
}

/* Bit i of a lane: whether cell 32 lane + i of the warp's stripe is touched... in runs of `step` cells a lane: cell
 * (k * 32 + lane) * step + i is bit k * step + i. */
template <class R> MULG_DEVICE mul_u32 mulg_dense_touched(const mulg_dense_shared<R> &shared, mul_u32 stripe)
{
    typedef typename R::cell C;
    typedef typename C::bits bits;
    constexpr int step = 16 / sizeof(bits), turns = mulg_dense_shared<R>::width / MULG_WARPS / 32 / step;
    static_assert(step * turns <= 32, "a lane's cells fit a word");
    const mul_u32 lane = threadIdx.x & 31;
    mul_u32 mask = 0;
#pragma unroll
    for (int k = 0; k < turns; k++) {
        const mul_u32 at = stripe + (k * 32 + lane) * step;
        if constexpr (C::marked) {
            mask |= (shared.mark[at / 32] >> (at & 31) & ((1u << step) - 1)) << (k * step);
        } else {
            union {
                uint4 v;
                bits b[step];
            } x;
            x.v = *(const uint4 *)(shared.cell + at);
#pragma unroll
            for (int i = 0; i < step; i++)
                mask |= (x.b[i] != C::empty() ? 1u : 0u) << (k * step + i);
        }
    }
    return mask;
}

/* Stores the touched cells of the warp's stripe from `out` on, and empties them: four turns at a time, first their
 * places in order, then one entry a lane, so that stores are whole. */
template <class R>
MULG_DEVICE void mulg_dense_store(const mulg_params &p, mulg_dense_shared<R> &shared, mul_u32 stripe, mul_u32 mask,
                                  mul_u32 column, mul_u64 out)
{
    typedef typename R::S S;
    typedef typename R::cell C;
    typedef typename C::bits bits;
    constexpr int step = 16 / sizeof(bits), turns = mulg_dense_shared<R>::width / MULG_WARPS / 32 / step;
    const mul_u32 lane = threadIdx.x & 31;
    unsigned short *const place = shared.place[threadIdx.x / 32];
    bits *const cell = shared.cell + stripe;
    mul_u32 *out_column = p.c_column + out + lane;
    S *out_value = (S *)p.c_value + out + lane;
#pragma unroll 1
    for (int group = 0; group < turns; group += 4) {
        /* Counts of four turns (at most 4 a lane, 128 a warp) are summed as the bytes of a word. */
        const mul_u32 part = mask >> (group * step);
        mul_u32 counts = 0;
#pragma unroll
        for (int k = 0; k < 4; k++)
            counts |= (mul_u32)__popc(part >> (k * step) & ((1u << step) - 1)) << (8 * k);
        if (!__any_sync(MULG_ALL, counts != 0)) continue;
        const mul_u32 upto = mulg_scan(counts), sums = __shfl_sync(MULG_ALL, upto, 31), before = upto - counts;
        mul_u32 n = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            unsigned short *to = place + n + (before >> (8 * k) & 255);
#pragma unroll
            for (int i = 0; i < step; i++)
                if (part >> (k * step + i) & 1) *to++ = (unsigned short)(((group + k) * 32 + lane) * step + i);
            n += sums >> (8 * k) & 255;
        }
        __syncwarp();
        for (mul_u32 i = lane; i < n; i += 32) {
            const mul_u32 j = place[i];
            const bits x = cell[j];
            cell[j] = C::empty();
            *out_column = column + stripe + j;
            if constexpr (R::VALUES)
                *out_value = C::get(x);
            else
                *out_value = (S)x;
            out_column += 32;
            out_value += 32;
        }
        /* Lanes that took one entry less than others are one turn behind. */
        const mul_u32 taken = n > lane ? (n - lane + 31) / 32 * 32 : 0;
        out_column += (mul_i64)n - taken;
        out_value += (mul_i64)n - taken;
        __syncwarp();
    }
    if constexpr (C::marked)
        for (mul_u32 i = lane; i < mulg_dense_shared<R>::width / MULG_WARPS / 32; i += 32)
            shared.mark[stripe / 32 + i] = 0;
}

/* Entries of the windows before this one of its row. */
MULG_DEVICE mul_u32 mulg_dense_before(const mulg_params &p, mul_u32 i, mul_u32 window)
{
    if (window == 0) return 0;
    const volatile mul_u32 *known = p.prefix + (mul_u64)i * p.windows + (window - 1);
    mul_u32 upto;
    while ((upto = *known) == 0)
        __nanosleep(40);
    return upto - 1;
}

template <class R> MULG_DEVICE void mulg_dense(const mulg_params &p)
{
    typedef typename R::cell C;
    __shared__ mulg_dense_shared<R> shared;
    constexpr mul_u32 width = mulg_dense_shared<R>::width, stripe_width = width / MULG_WARPS;
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32, tasks = p.rows * p.windows;
    int bad = 0;
    for (mul_u32 i = threadIdx.x; i < width; i += MULG_THREADS)
        shared.cell[i] = C::empty();
    if constexpr (C::marked)
        for (mul_u32 i = threadIdx.x; i < width / 32; i += MULG_THREADS)
            shared.mark[i] = 0;
    if (threadIdx.x == 0) shared.task = atomicAdd(p.next, 1);
    __syncthreads();
    mul_u32 task = shared.task;
    mulg_dense_task<R> t;
    if (task < tasks) {
        mulg_dense_row(p, task, t);
        mulg_dense_bounds(p, t);
        mulg_dense_entry(p, t, threadIdx.x);
        mulg_dense_slice(p, t);
    }
    __syncthreads();
    while (task < tasks) {
        if (threadIdx.x == 0) shared.task = atomicAdd(p.next, 1);
        mulg_dense_fill(p, shared, t, &bad);
        __syncthreads();
        const mul_u32 window = t.window, i = t.i, row = t.row;
        task = shared.task;
        if (task < tasks) mulg_dense_row(p, task, t);
        const mul_u32 stripe = warp * stripe_width, mask = mulg_dense_touched(shared, stripe);
        const mul_u32 sum = __reduce_add_sync(MULG_ALL, __popc(mask));
        if (lane == 0) shared.warp_sum[warp] = sum;
        const mul_u64 row_out = (mul_u64)p.c_begin[row];
        if (task < tasks) mulg_dense_bounds(p, t);
        const mul_u32 before = mulg_dense_before(p, i, window);
        __syncthreads();
        mul_u32 mine = 0, total = 0;
#pragma unroll
        for (int w = 0; w < MULG_WARPS; w++) {
            const mul_u32 x = shared.warp_sum[w];
            if (w < warp) mine += x;
            total += x;
        }
        if (threadIdx.x == 0) {
            if (window + 1 < p.windows)
                *(volatile mul_u32 *)(p.prefix + (mul_u64)i * p.windows + window) = before + total + 1;
            else {
                p.c_end[row] = (mul_i64)(row_out + before + total);
                atomicAdd(p.entries, (mul_u64)before + total);
            }
        }
        if (task < tasks) mulg_dense_entry(p, t, threadIdx.x);
        mulg_dense_store(p, shared, stripe, mask, p.t_lo + window * width, row_out + before + mine);
        if (task < tasks) mulg_dense_slice(p, t);
        __syncthreads();
    }
    mulg_finish(p, 0, bad);
}

#endif
