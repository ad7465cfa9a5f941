/* SPDX-License-Identifier: Apache-2.0
 *
 * DENSE rows: a task is a window of columns of one row, with a cell a column in shared memory. Many small blocks
 * rather than few large windows: while one block waits at a barrier others work. Tasks are dealt window by window
 * (window 0 of all rows, heaviest first, then window 1...), so that where a window's entries begin, which depends on
 * the windows before it, is known when it ends: blocks take tasks in order, hence waiting for an earlier one always
 * ends. HUB rows come before all others and have several tasks a window (gpu_hub.cuh, gpu_parts.cuh).
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_DENSE_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_DENSE_CUH

#include "gpu_mask.cuh"
#include "gpu_parts.cuh"
#include "gpu_top.cuh"
#include "gpu_walk.cuh"

enum { MULG_PLACES = 256 }; /* of a warp's touched columns at a time; six blocks fit a multiprocessor with so few */

template <class R> struct mulg_dense_shared {
    typedef typename R::cell::bits bits;
    static constexpr int width = mulg_dense_cells<R>::width;
    __align__(16) bits cell[mulg_dense_cells<R>::cells];
    mul_u32 mark[R::cell::marked ? width / 32 : 1];
    union {
        typename mulg_line_of<R>::line line;           /* while products are walked */
        unsigned short place[MULG_WARPS][MULG_PLACES]; /* while cells are stored: the touched ones, in order */
    };
    mul_u32 task, warp_sum[MULG_WARPS], flag;
    mulg_top_shared top;
};

/* A task, and what this thread holds of it: an entry of A with its slice of B. Fetched in steps, between the phases
 * of the task before, so that its loads overlap with work. */
template <class R> struct mulg_dense_task {
    mul_u32 window, i, row, part, parts, entries, c, lo, hi; /* entries: of the part */
    int does;                                                /* MULG_PART...; MULG_PART for all but wide HUB rows */
    mul_i64 begin;
    typename R::A a;
};

template <class R> MULG_DEVICE void mulg_dense_row(const mulg_params &p, mul_u32 task, mulg_dense_task<R> &t)
{
    const mul_u32 hub_tasks = p.hub_tasks * p.windows;
    t.part = 0;
    t.parts = 1;
    if (task < hub_tasks) {
        t.window = task / p.hub_tasks;
        mulg_hub_task(p, task - t.window * p.hub_tasks, &t.i, &t.part, &t.parts);
    } else {
        const mul_u32 rows = p.rows - p.hub_rows;
        t.window = (task - hub_tasks) / rows;
        t.i = p.hub_rows + task - hub_tasks - t.window * rows;
    }
    t.row = p.list[t.i];
}

template <class R> MULG_DEVICE void mulg_dense_bounds(const mulg_params &p, mulg_dense_task<R> &t)
{
    t.begin = p.a_begin[t.row];
    t.entries = (mul_u32)(p.a_end[t.row] - t.begin);
    t.does = MULG_PART;
    if (t.parts > 1) {
        if constexpr (mulg_scatters<R>::value)
            if (mulg_hub_is_wide(p, t.i, t.entries)) t.does = mulg_hub_wide(p.windows, &t.window, &t.part, &t.parts);
        t.entries = t.does <= MULG_SCATTER ? mulg_hub_entries(t.entries, t.part, t.parts) : 0;
    }
}

template <class R> MULG_DEVICE void mulg_dense_entry(const mulg_params &p, mulg_dense_task<R> &t, mul_u32 e)
{
    t.c = MULG_ALL;
    t.a = typename R::A();
    if (e >= t.entries) return;
    if (t.parts > 1) {
        e = mulg_hub_entry(e, t.part, t.parts);
        if (t.begin + e >= p.a_end[t.row]) return;
    }
    t.c = __ldg(p.a_column + t.begin + e);
    if constexpr (R::VALUES) t.a = mulg_value<typename R::A>(p.a_value, t.begin + e);
}

/* The slice without cuts, or all of the row of B for a wide row. */
template <class R> MULG_DEVICE void mulg_dense_search(const mulg_params &p, mulg_dense_task<R> &t)
{
    const uint2 bound = __ldg(p.b_bound + t.c);
    const mul_u64 from = p.t_lo + (mul_u64)t.window * mulg_dense_cells<R>::width;
    t.lo = bound.x;
    t.hi = bound.y;
    if (t.does != MULG_PART) return;
    t.lo = mulg_search(p.b_column, bound.x, bound.y, from);
    t.hi = mulg_search(p.b_column, t.lo, bound.y, from + mulg_dense_cells<R>::width);
}

template <class R> MULG_DEVICE void mulg_dense_slice(const mulg_params &p, mulg_dense_task<R> &t)
{
    t.lo = t.hi = 0;
    if (t.c == MULG_ALL) return;
    if (!mulg_scatters<R>::value || (p.cut && t.does == MULG_PART)) {
        const mul_u32 *cut = p.cut + (mul_u64)t.c * (p.windows + 1) + t.window;
        t.lo = __ldg(cut);
        t.hi = __ldg(cut + 1);
    } else if constexpr (mulg_scatters<R>::value)
        mulg_dense_search(p, t);
}

/* One more for column j of the window. */
template <class R> MULG_DEVICE void mulg_dense_count(mulg_dense_shared<R> &shared, mul_u32 j)
{
    if constexpr (mulg_narrow<R>::value)
        atomicAdd(shared.cell + j / 2, 1u << (j << 4 & 31));
    else
        R::cell::add(shared.cell + j);
}

/* The task's products, a line of slices after the other. */
template <class R, class F, class G>
MULG_DEVICE void mulg_dense_lines(const mulg_params &p, mulg_dense_shared<R> &shared, mulg_dense_task<R> &t, F one,
                                  G two)
{
    for (mul_u32 from = MULG_THREADS;; from += MULG_THREADS) {
        const mulg_extent all = mulg_lay<R>(shared.line, t.lo, t.hi, t.a, t.c);
        if (t.parts > 1 && threadIdx.x == 0) atomicAdd(p.hub_products, (mul_u64)all.total);
        mulg_walk<R, true>(p, p.b_value, shared.line, all, one, two);
        if (from >= t.entries) break;
        mulg_dense_entry(p, t, from + threadIdx.x);
        mulg_dense_slice(p, t);
        __syncthreads();
    }
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
        if constexpr (C::tells) {
            if (C::put(shared.cell + j, R::con(p, a, b, t.row, c, column, bad)))
                atomicOr(shared.mark + j / 32, 1u << (j & 31));
        } else {
            mark(j);
            if constexpr (R::VALUES)
                C::put(shared.cell + j, R::con(p, a, b, t.row, c, column, bad));
            else
                mulg_dense_count<R>(shared, j);
        }
    };
    const auto two = [&](mul_u32 column, mul_u32 other, A a, B b, B d, mul_u32 c) {
        const mul_u32 j = column - base, k = other - base;
        mark(j);
        mark(k);
        if constexpr (C::tells)
            return; /* mulg_walk does not call it */
        else if constexpr (R::VALUES)
            C::put_two(shared.cell + j, R::con(p, a, b, t.row, c, column, bad), shared.cell + k,
                       R::con(p, a, d, t.row, c, other, bad));
        else {
            mulg_dense_count<R>(shared, j);
            mulg_dense_count<R>(shared, k);
        }
    };
    mulg_dense_lines(p, shared, t, one, two);
}

/* Products of a wide row, to global memory. */
template <class R>
MULG_DEVICE void mulg_dense_scatter(const mulg_params &p, mulg_dense_shared<R> &shared, mulg_dense_task<R> &t,
                                    int *bad)
{
    typedef typename R::A A;
    typedef typename R::B B;
    const auto one = [&](mul_u32 column, A a, B b, mul_u32 c) {
        typename R::T v = typename R::T();
        if constexpr (R::VALUES) v = R::con(p, a, b, t.row, c, column, bad);
        mulg_hub_put<R>(p, t.i, column - p.t_lo, v);
    };
    mulg_dense_lines(p, shared, t, one, [&](mul_u32 column, mul_u32 other, A a, B b, B d, mul_u32 c) {
        one(column, a, b, c);
        one(other, a, d, c);
    });
    mulg_hub_scattered(p, t.i);
}

/* Takes out what MASK does not keep; answers whether any cell of the warp was touched. */
template <class R>
MULG_DEVICE bool mulg_dense_mask(const mulg_params &p, mulg_dense_shared<R> &shared, mul_u32 row, mul_u32 window,
                                 mulg_touched *touched)
{
    constexpr mul_u32 own = mulg_dense_cells<R>::own_columns, width = mulg_dense_shared<R>::width;
    static_assert(own == 64 || own == 32 || own == 16 || own == 8, "own columns are words of the mask, or a part");
    static_assert(width / 8 <= sizeof shared.line, "the mask lies where products were walked");
    const bool dirty = __any_sync(MULG_ALL, touched->low | touched->high);
    mul_u32 *const word = (mul_u32 *)&shared.line;
    mulg_mask_bits(p, row, (mul_u64)p.t_lo + (mul_u64)window * width, width, word);
    const mul_u32 first = threadIdx.x * own, kept = word[first / 32] >> (first & 31);
    if constexpr (R::cell::tells) /* mulg_dense_store empties only what it stores */
        for (mul_u32 out = touched->low & ~kept; out; out &= out - 1)
            shared.cell[first + __ffs((int)out) - 1] = R::cell::empty();
    touched->low &= kept;
    if (own == 64) touched->high &= word[first / 32 + 1];
    return dirty;
}

/* What a cell holds, as it is stored but for counts' type. */
template <class R> MULG_DEVICE auto mulg_dense_value(const mulg_dense_shared<R> &shared, mul_u32 j)
{
    if constexpr (R::VALUES)
        return R::cell::get(shared.cell[j]);
    else if constexpr (mulg_narrow<R>::value)
        return (mul_u32)((const unsigned short *)shared.cell)[j];
    else
        return shared.cell[j];
}

/* Of columns first + i of the window, i being touched's bits: which HAVING keeps. Lanes begin at other bits, as their
 * cells lie in the same banks. EMPTY: the other cells are emptied. */
template <class R, bool EMPTY>
MULG_DEVICE mul_u32 mulg_dense_kept(const mulg_params &p, mulg_dense_shared<R> &shared, mul_u32 row, mul_u32 base,
                                    mul_u32 first, mul_u32 touched)
{
    constexpr mul_u32 own = mulg_dense_cells<R>::own_columns, span = own < 32 ? own : 32;
    const mul_u32 turn = (mulg_narrow<R>::value ? 2 * threadIdx.x : threadIdx.x) & (span - 1);
    mul_u32 turned = __funnelshift_r(touched, touched, turn), kept = 0;
    if constexpr (span < 32) turned = (touched >> turn | touched << (span - turn)) & ((1u << span) - 1);
#pragma unroll 1
    for (; turned; turned &= turned - 1) {
        const mul_u32 i = (__ffs((int)turned) - 1 + turn) & (span - 1), j = first + i;
        if (mulg_keeps(p, row, base + j, mulg_dense_value<R>(shared, j)))
            kept |= 1u << i;
        else if constexpr (EMPTY && mulg_narrow<R>::value)
            ((unsigned short *)shared.cell)[j] = 0;
        else if constexpr (EMPTY)
            shared.cell[j] = R::cell::empty();
    }
    return kept;
}

/* Takes out what HAVING does not keep; answers whether any cell of the warp was touched. */
template <class R, bool EMPTY>
MULG_DEVICE bool mulg_dense_sift(const mulg_params &p, mulg_dense_shared<R> &shared, mul_u32 row, mul_u32 window,
                                 mulg_touched *touched)
{
    constexpr mul_u32 own = mulg_dense_cells<R>::own_columns;
    const bool dirty = __any_sync(MULG_ALL, touched->low | touched->high);
    const mul_u32 base = p.t_lo + window * mulg_dense_shared<R>::width, first = threadIdx.x * own;
    touched->low = mulg_dense_kept<R, EMPTY>(p, shared, row, base, first, touched->low);
    if (own == 64) touched->high = mulg_dense_kept<R, EMPTY>(p, shared, row, base, first + 32, touched->high);
    return dirty;
}

/* Stores the touched cells of the warp's stripe from `out` on, and empties them if any are dirty: their columns in
 * order first, then one entry a lane, so that stores are whole. upto, sum: touched ones up to this lane and in all.
 */
template <class R>
MULG_DEVICE void mulg_dense_store(const mulg_params &p, mulg_dense_shared<R> &shared, mulg_touched touched,
                                  mul_u32 upto, mul_u32 sum, bool dirty, mul_u32 base, mul_u64 out)
{
    typedef typename R::S S;
    typedef typename R::cell C;
    constexpr mul_u32 own = mulg_dense_cells<R>::own_columns;
    const mul_u32 lane = threadIdx.x & 31, stripe = (threadIdx.x & ~31u) * own;
    unsigned short *const place = shared.place[threadIdx.x / 32];
    mul_u32 at = upto - __popc(touched.low) - __popc(touched.high);
    if (!dirty) return;
    for (mul_u32 first = 0; first < sum; first += MULG_PLACES) {
        const mul_u32 n = sum - first < MULG_PLACES ? sum - first : MULG_PLACES, last = first + n;
        for (; touched.low && at < last; touched.low &= touched.low - 1)
            place[at++ - first] = (unsigned short)(stripe + lane * own + __ffs((int)touched.low) - 1);
        if constexpr (own > 32)
            for (; touched.high && at < last; touched.high &= touched.high - 1)
                place[at++ - first] = (unsigned short)(stripe + lane * own + 31 + __ffs((int)touched.high));
        __syncwarp();
        mul_u32 *const column = p.c_column + out + first;
        S *const value = (S *)p.c_value + out + first;
#pragma unroll 4
        for (mul_u32 i = lane; i < n; i += 32) {
            const mul_u32 j = place[i];
            column[i] = base + j;
            if constexpr (R::VALUES)
                value[i] = C::get(shared.cell[j]);
            else if constexpr (mulg_narrow<R>::value)
                value[i] = (S)((const unsigned short *)shared.cell)[j];
            else
                value[i] = (S)shared.cell[j];
            if constexpr (C::tells) shared.cell[j] = C::empty(); /* far fewer than a window has */
        }
        __syncwarp();
    }
    if constexpr (C::tells)
        mulg_clear_marks<R>(shared.mark);
    else
        mulg_clear<R>(shared.cell, shared.mark);
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

/* The window ends with so many entries of its row: known to the next one, or the row's end. */
MULG_DEVICE void mulg_dense_upto(const mulg_params &p, mul_u32 i, mul_u32 window, mul_u32 row, mul_u64 row_out,
                                 mul_u32 upto)
{
    if (window + 1 < p.windows)
        *(volatile mul_u32 *)(p.prefix + (mul_u64)i * p.windows + window) = upto + 1;
    else {
        p.c_end[row] = (mul_i64)(row_out + upto);
        atomicAdd(p.entries, (mul_u64)upto);
    }
}

/* Candidates for TOP of the window, instead of all its entries. */
template <class R>
MULG_DEVICE void mulg_dense_top(const mulg_params &p, mulg_dense_shared<R> &shared, mul_u32 i, mul_u32 window,
                                mul_u32 row, mul_u32 known)
{
    typedef typename R::S S;
    if constexpr (mulg_sifts<R>::value) {
        mulg_touched touched = mulg_find_touched<R>(shared.cell, shared.mark);
        mulg_dense_sift<R, true>(p, shared, row, window, &touched);
        __syncwarp(); /* a thread's cells are looked at by its warp */
    }
    const mulg_top_view<R> view = {(const mul_u32 *)shared.cell, 32};
    const mul_u32 most = view.most(), base = p.t_lo + window * mulg_dense_shared<R>::width;
    const mulg_top_choice c = mulg_top_choose(p, shared.top, view, most, known);
    const mul_u64 row_out = (mul_u64)p.c_begin[row];
    const mul_u32 before = mulg_dense_before(p, i, window);
    if (threadIdx.x == 0) {
        mulg_dense_upto(p, i, window, row, row_out, before + c.count);
        if (c.full && c.least > known) atomicMax(p.least + i, c.least);
    }
    mulg_top_store(view, most, c, [&](mul_u32 at, mul_u32 word, mul_u32 half) {
        const mul_u64 to = row_out + before + at;
        const mul_u32 x = ((const mul_u32 *)shared.cell)[word];
        p.c_column[to] = base + (mulg_narrow<R>::value ? 2 * word + half : word);
        if constexpr (R::VALUES)
            ((S *)p.c_value)[to] = R::cell::get(x);
        else
            ((S *)p.c_value)[to] = (S)(mulg_narrow<R>::value ? x >> (half * 16) & 0xffff : x);
    });
    __syncwarp();
    if (__any_sync(MULG_ALL, most != 0)) mulg_clear<R>(shared.cell, shared.mark);
}

/* All entries of the window; loads of the next task, if there is one, are on their way meanwhile. */
template <class R>
MULG_DEVICE void mulg_dense_all(const mulg_params &p, mulg_dense_shared<R> &shared, mul_u32 i, mul_u32 window,
                                mul_u32 row, bool more, mulg_dense_task<R> &t)
{
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    mulg_touched touched = mulg_find_touched<R>(shared.cell, shared.mark);
    bool dirty = false;
    if constexpr (mulg_masks<R>::value)
        if (p.mask_begin) dirty = mulg_dense_mask(p, shared, row, window, &touched);
    if constexpr (mulg_sifts<R>::value) /* mulg_dense_store empties only what it stores of cells that tell */
        dirty |= mulg_dense_sift<R, R::cell::tells>(p, shared, row, window, &touched);
    const mul_u32 upto = mulg_scan(__popc(touched.low) + __popc(touched.high));
    if (lane == 31) shared.warp_sum[warp] = upto;
    const mul_u64 row_out = (mul_u64)p.c_begin[row];
    if (more) mulg_dense_bounds(p, t);
    const mul_u32 before = mulg_dense_before(p, i, window);
    __syncthreads();
    mul_u32 mine = before, total = before;
#pragma unroll
    for (int w = 0; w < MULG_WARPS; w++) {
        const mul_u32 x = shared.warp_sum[w];
        if (w < warp) mine += x;
        total += x;
    }
    if (threadIdx.x == 0) mulg_dense_upto(p, i, window, row, row_out, total);
    if (more) mulg_dense_entry(p, t, threadIdx.x);
    const mul_u32 sum = shared.warp_sum[warp];
    mulg_dense_store<R>(p, shared, touched, upto, sum, dirty || sum, p.t_lo + window * mulg_dense_shared<R>::width,
                        row_out + mine);
}

/* The first turn has nothing to fill: it takes a task as all others do, so that what takes one is compiled once. */
template <class R, bool TOP> MULG_DEVICE void mulg_dense(const mulg_params &p)
{
    __shared__ mulg_dense_shared<R> shared;
    const mul_u32 tasks = (p.hub_tasks + p.rows - p.hub_rows) * p.windows;
    mul_u32 task = 0, known = 0;
    int bad = 0;
    mulg_dense_task<R> t = {};
    mulg_clear<R>(shared.cell, shared.mark);
#pragma unroll 1
    for (bool begun = false;; begun = true) {
        if (threadIdx.x == 0) shared.task = atomicAdd(p.next, 1);
        if constexpr (TOP) known = begun ? *(volatile mul_u32 *)(p.least + t.i) : 0;
        if (begun && (!mulg_scatters<R>::value || t.does == MULG_PART)) mulg_dense_fill(p, shared, t, &bad);
        if constexpr (mulg_scatters<R>::value) {
            if (t.does == MULG_SCATTER) mulg_dense_scatter(p, shared, t, &bad);
            if (t.does == MULG_GATHER) mulg_hub_gather<R>(p, shared.cell, shared.mark, t.i, t.window, t.parts);
        }
        __syncthreads();
        const mul_u32 window = t.window, i = t.i, row = t.row;
        task = shared.task;
        bool ends = begun && (t.does == MULG_GATHER || t.parts == 1);
        if constexpr (mulg_splits<R>::value)
            if (begun && t.does == MULG_PART && !ends)
                ends = mulg_hub_merge<R>(p, shared.cell, shared.mark, &shared.flag, (mul_u64)i * p.windows + window,
                                         t.parts);
        if constexpr (!mulg_splits<R>::value)
            if (begun && !ends)
                ends = mulg_parts_merge<R>(p, shared.cell, shared.mark, &shared.flag, i, window, t.part, t.parts);
        if (task < tasks) mulg_dense_row(p, task, t);
        if (TOP || !ends) {
            if (task < tasks) mulg_dense_bounds(p, t);
            if (task < tasks) mulg_dense_entry(p, t, threadIdx.x);
            if constexpr (TOP)
                if (ends) mulg_dense_top(p, shared, i, window, row, known);
        } else {
            mulg_dense_all(p, shared, i, window, row, task < tasks, t);
        }
        if (task >= tasks) break;
        mulg_dense_slice(p, t);
        __syncthreads();
    }
    mulg_finish(p, 0, bad);
}

#endif
