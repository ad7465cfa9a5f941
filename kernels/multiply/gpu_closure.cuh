/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of closures, for gpu_closure.cu. A cell holds its value as bits whose unsigned order is the better
 * value first (mulg_order), ~0 where there is none; so one atomic minimum takes a candidate and tells whether it was
 * better. Marks are a bit a cell.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_CLOSURE_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_CLOSURE_CUH

#include "gpu_vector.cuh"

enum { WORDS = 32, UNIT = 32 * WORDS }; /* marks and cells that a warp looks through */

/* Of the last look, and one of each round that is pushed. */
struct closure_header {
    mul_u64 entries, products, most;
    mul_u32 counts[2]; /* of a mulg_share */
    mul_u32 listed;
};

struct closure_params {
    mul_u64 rows, cols, words, units, row_units; /* words: of marks, a row */
    const mul_i64 *a_begin, *a_end;
    const mul_u32 *a_column;
    const void *a_value;
    void *cell;
    mul_u32 *mark;
    mul_u64 *count; /* a unit, then their sums */
    closure_header *head;
    int con, agg;
};

/* --- candidates ------------------------------------------------------------------------------------ */

struct offer_params {
    const mul_i64 *begin, *end;
    const mul_u32 *column;
    const void *value;
};

template <class T> MULG_DEVICE bool better(int agg, T now, T then)
{
    return agg == MULG_MIN ? now < then : agg == MULG_MAX && now > then;
}

template <class T> MULG_DEVICE void offer(const closure_params &p, mul_u64 row, mul_u32 t, T v)
{
    typedef typename mulg_traits<T>::bits bits;
    const bool falling = p.agg == MULG_MAX;
    bits *cell = (bits *)p.cell + row * p.cols + t;
    const bits then = *cell;
    if (then != ~(bits)0 && !better<T>(p.agg, v, mulg_unorder<T>(then, falling))) return;
    *cell = mulg_order(v, falling);
    atomicOr(p.mark + row * p.words + t / 32, 1u << (t & 31));
}

/* A warp a piece of a row. */
template <class T>
static __global__ void __launch_bounds__(MULG_THREADS)
    offer_kernel(const __grid_constant__ closure_params p, const __grid_constant__ offer_params o)
{
    const mul_u64 lane = threadIdx.x & 31, pieces = gridDim.y, piece = blockIdx.y;
    for (mul_u64 row = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; row < p.rows;
         row += (mul_u64)gridDim.x * MULG_WARPS) {
        const mul_i64 begin = o.begin[row], end = o.end[row];
        for (mul_i64 from = begin + (mul_i64)(piece * MULG_PIECE); from < end;
             from += (mul_i64)(pieces * MULG_PIECE)) {
            const mul_i64 upto = from + MULG_PIECE < end ? from + MULG_PIECE : end;
            for (mul_i64 i = from + (mul_i64)lane; i < upto; i += 32)
                offer<T>(p, row, o.column[i], mulg_value<T>(o.value, (mul_u64)i));
        }
    }
}

/* --- what changed ------------------------------------------------------------------------------------ */

struct sums {
    mul_u64 entries, products, most;
};

/* Adds what the lanes of a warp have found to a header. */
MULG_DEVICE void add_sums(closure_header *head, sums x)
{
    x.entries = mulg_warp_sum(x.entries);
    x.products = mulg_warp_sum(x.products);
    x.most = mulg_warp_most(x.most);
    if ((threadIdx.x & 31) || !x.entries) return;
    atomicAdd(&head->entries, x.entries);
    atomicAdd(&head->products, x.products);
    if (x.most) atomicMax(&head->most, x.most);
}

/* A warp a unit at a time: marks counted, products and values of marked cells looked at. */
template <class T>
static __global__ void __launch_bounds__(MULG_THREADS) look_kernel(const __grid_constant__ closure_params p)
{
    typedef typename mulg_traits<T>::bits bits;
    const mul_u32 lane = threadIdx.x & 31;
    sums sum = {};
    for (mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; unit < p.units;
         unit += (mul_u64)gridDim.x * MULG_WARPS) {
        const mul_u64 row = unit / p.row_units, word = unit % p.row_units * WORDS + lane;
        const mul_u32 marks = word < p.words ? p.mark[row * p.words + word] : 0;
        const mul_u64 n = mulg_warp_sum(__popc(marks));
        if (lane == 0) p.count[unit] = n;
        for (mul_u32 left = __ballot_sync(MULG_ALL, marks != 0); left; left &= left - 1) {
            const int w = __ffs((int)left) - 1;
            const mul_u64 t = (word - lane + w) * 32 + lane;
            if (!(__shfl_sync(MULG_ALL, marks, w) >> lane & 1)) continue;
            sum.entries++;
            sum.products += (mul_u64)(p.a_end[t] - p.a_begin[t]);
            if constexpr (!mulg_traits<T>::real) {
                const bits b = ((const bits *)p.cell)[row * p.cols + t];
                const mul_u64 x = mulg_absolute(mulg_unorder<T>(b, p.agg == MULG_MAX));
                sum.most = x > sum.most ? x : sum.most;
            }
        }
    }
    add_sums(p.head, sum);
}

struct list_params {
    mul_i64 *begin, *end;  /* ROWS */
    mul_u32 *row, *column; /* row: LIST */
    void *value;
};

enum { LIST, ROWS, ALL };

/* Marked cells (ALL: all that have a value), as a list in any order or at their unit's place; marks are taken off. */
template <class T, int FORM>
static __global__ void __launch_bounds__(MULG_THREADS)
    emit_kernel(const __grid_constant__ closure_params p, const __grid_constant__ list_params o)
{
    typedef typename mulg_traits<T>::bits bits;
    const mul_u32 lane = threadIdx.x & 31;
    const bool falling = p.agg == MULG_MAX;
    for (mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; unit < p.units;
         unit += (mul_u64)gridDim.x * MULG_WARPS) {
        const mul_u64 row = unit / p.row_units, within = unit % p.row_units, word = within * WORDS + lane;
        const bits *cell = (const bits *)p.cell + row * p.cols;
        mul_u32 marks = FORM == ALL ? MULG_ALL : word < p.words ? p.mark[row * p.words + word] : 0;
        mul_u64 at = FORM == LIST ? 0 : p.count[unit];
        if (FORM != LIST && within == 0 && lane == 0) {
            o.begin[row] = (mul_i64)at;
            o.end[row] = (mul_i64)p.count[unit + p.row_units];
        }
        if (FORM != ALL && marks) p.mark[row * p.words + word] = 0;
        if (FORM == LIST) {
            const mul_u64 n = mulg_warp_sum(__popc(marks));
            if (n == 0) continue;
            if (lane == 0) at = atomicAdd(&p.head->listed, (mul_u32)n);
            at = __shfl_sync(MULG_ALL, at, 0);
        }
        for (mul_u32 left = __ballot_sync(MULG_ALL, marks != 0); left; left &= left - 1) {
            const int w = __ffs((int)left) - 1;
            const mul_u64 t = (within * WORDS + w) * 32 + lane;
            bool there = __shfl_sync(MULG_ALL, marks, w) >> lane & 1;
            bits b = 0;
            if (FORM == ALL) there = t < p.cols;
            if (there) b = cell[t];
            if (FORM == ALL) there = there && b != ~(bits)0;
            const mul_u32 votes = __ballot_sync(MULG_ALL, there);
            if (there) {
                const mul_u64 to = at + __popc(votes & mulg_lanes_below());
                if (FORM == LIST) o.row[to] = (mul_u32)row;
                o.column[to] = (mul_u32)t;
                ((T *)o.value)[to] = mulg_unorder<T>(b, falling);
            }
            at += __popc(votes);
        }
    }
}

/* Looks at marked cells and lists them in one, for rounds without a wait. */
template <class T>
static __global__ void __launch_bounds__(MULG_THREADS)
    list_kernel(const __grid_constant__ closure_params p, const __grid_constant__ list_params o, closure_header *head)
{
    typedef typename mulg_traits<T>::bits bits;
    const mul_u32 lane = threadIdx.x & 31;
    sums sum = {};
    for (mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; unit < p.units;
         unit += (mul_u64)gridDim.x * MULG_WARPS) {
        const mul_u64 row = unit / p.row_units, word = unit % p.row_units * WORDS + lane;
        const mul_u32 marks = word < p.words ? p.mark[row * p.words + word] : 0;
        const mul_u32 n = (mul_u32)mulg_warp_sum(__popc(marks));
        if (n == 0) continue;
        if (marks) p.mark[row * p.words + word] = 0;
        mul_u32 at = lane == 0 ? atomicAdd(&head->listed, n) : 0;
        at = __shfl_sync(MULG_ALL, at, 0);
        for (mul_u32 left = __ballot_sync(MULG_ALL, marks != 0); left; left &= left - 1) {
            const int w = __ffs((int)left) - 1;
            const mul_u64 t = (word - lane + w) * 32 + lane;
            const mul_u32 votes = __shfl_sync(MULG_ALL, marks, w);
            if (votes >> lane & 1) {
                const bits b = ((const bits *)p.cell)[row * p.cols + t];
                const mul_u32 to = at + __popc(votes & mulg_lanes_below());
                const T v = mulg_unorder<T>(b, p.agg == MULG_MAX);
                const mul_u64 x = mulg_absolute(v);
                o.row[to] = (mul_u32)row;
                o.column[to] = (mul_u32)t;
                ((T *)o.value)[to] = v;
                sum.entries++;
                sum.products += (mul_u64)(p.a_end[t] - p.a_begin[t]);
                sum.most = x > sum.most ? x : sum.most;
            }
            at += __popc(votes);
        }
    }
    add_sums(head, sum);
}

/* Cells that have a value, a unit. */
template <class T>
static __global__ void __launch_bounds__(MULG_THREADS) count_kernel(const __grid_constant__ closure_params p)
{
    typedef typename mulg_traits<T>::bits bits;
    const mul_u32 lane = threadIdx.x & 31;
    for (mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; unit < p.units;
         unit += (mul_u64)gridDim.x * MULG_WARPS) {
        const bits *cell = (const bits *)p.cell + unit / p.row_units * p.cols;
        mul_u32 n = 0;
#pragma unroll 8
        for (int w = 0; w < WORDS; w++) {
            const mul_u64 t = (unit % p.row_units * WORDS + w) * 32 + lane;
            n += t < p.cols && cell[t] != ~(bits)0;
        }
        const mul_u64 all = mulg_warp_sum(n);
        if (lane == 0) p.count[unit] = all;
    }
}

/* --- a round in one ---------------------------------------------------------------------------------- */

struct push_params {
    const mul_u32 *row, *vertex; /* what changed */
    const void *value;
    mul_u64 count;
    const mul_u32 *listed; /* not NULL: the count, on the device */
    mulg_share share;
};

template <class T>
MULG_DEVICE void push_take(const closure_params &p, mul_u64 row, T a, mul_i64 from, mul_i64 end, mul_u32 step)
{
    typedef typename mulg_traits<T>::bits bits;
    bits *cells = (bits *)p.cell + row * p.cols;
    mul_u32 *marks = p.mark + row * p.words;
#pragma unroll 4
    for (mul_i64 i = from; i < end; i += step) {
        const mul_u32 t = __ldg(p.a_column + i);
        const T v = mulg_con<T>(p.con, a, mulg_value<T>(p.a_value, (mul_u64)i));
        const bits b = mulg_order(v, p.agg == MULG_MAX);
        if (b >= *(volatile bits *)(cells + t)) continue; /* cells only get better */
        if (b < atomicMin(cells + t, b)) atomicOr(marks + t / 32, 1u << (t & 31));
    }
}

template <class T>
static __global__ void __launch_bounds__(MULG_THREADS)
    push_kernel(const __grid_constant__ closure_params p, const __grid_constant__ push_params o)
{
    const mul_u32 lanes = mulg_group_lanes(o.share), lane = threadIdx.x & (lanes - 1);
    const mul_u64 groups = (mul_u64)gridDim.x * MULG_THREADS >> o.share.shift, count = o.listed ? *o.listed : o.count;
    for (mul_u64 e = ((mul_u64)blockIdx.x * MULG_THREADS + threadIdx.x) >> o.share.shift; e < count; e += groups) {
        const mul_u32 c = o.vertex[e];
        const mul_i64 begin = p.a_begin[c], end = p.a_end[c];
        if (mulg_defer(o.share, (mul_u32)e, (mul_u64)(end - begin))) continue;
        push_take<T>(p, o.row[e], ((const T *)o.value)[e], begin + lane, end, lanes);
    }
}

template <class T>
static __global__ void __launch_bounds__(MULG_THREADS)
    push_long_kernel(const __grid_constant__ closure_params p, const __grid_constant__ push_params o)
{
    mulg_pieces(o.share, [&](const mulg_long &item, mul_u32, mul_u32 piece) {
        const mul_u32 c = o.vertex[item.item];
        const mul_i64 begin = p.a_begin[c] + (mul_i64)piece * MULG_PIECE;
        push_take<T>(p, o.row[item.item], ((const T *)o.value)[item.item], begin + (threadIdx.x & 31),
                     min(begin + MULG_PIECE, p.a_end[c]), 32);
    });
}

#endif
