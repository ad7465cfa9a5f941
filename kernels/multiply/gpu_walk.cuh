/* SPDX-License-Identifier: Apache-2.0
 *
 * A block's walk over the products of a row, for the kernels of MIDDLE and DENSE rows.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_WALK_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_WALK_CUH

#include "gpu_cell.cuh"

/* --- a walk over the products of a row --------------------------------------------------------------
 * A block takes up to 256 entries of the row of A at a time, one a thread. Their slices of B are laid end to end in a
 * line, empty ones left out, and each warp walks an equal part of the line: no warp waits long for another. */

template <class A> struct mulg_line {
    mul_u32 end[MULG_THREADS];   /* of the slice, in the line */
    mul_u32 shift[MULG_THREADS]; /* index into B minus place in the line */
    A a[MULG_THREADS];
    mul_u32 c[MULG_THREADS];
    uint2 warp_sum[MULG_WARPS];
};
/* The same where c is not needed. */
template <class A> struct mulg_line_plain {
    mul_u32 end[MULG_THREADS], shift[MULG_THREADS];
    A a[MULG_THREADS];
    uint2 warp_sum[MULG_WARPS];
};
template <class R, bool WRITTEN> struct mulg_line_choice {
    typedef mulg_line_plain<typename R::A> line;
};
template <class R> struct mulg_line_choice<R, true> {
    typedef mulg_line<typename R::A> line;
};
template <class R> struct mulg_line_of {
    typedef typename mulg_line_choice<R, R::WRITTEN>::line line;
};

struct mulg_extent {
    mul_u32 total, slices; /* products and slices of a line */
};

/* Lays the slices [lo, hi) that the threads hold in line. The line must be free; a barrier makes it ready at the end.
 */
template <class R, class LINE>
MULG_DEVICE mulg_extent mulg_lay(LINE &line, mul_u32 lo, mul_u32 hi, typename R::A a, mul_u32 c)
{
    const mul_u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32, length = hi - lo;
    const mul_u32 full = __ballot_sync(MULG_ALL, length != 0), upto = mulg_scan(length);
    if (lane == 31) line.warp_sum[warp] = make_uint2(upto, __popc(full));
    __syncthreads();
    mulg_extent all = {0, 0};
    mul_u32 before = 0, rank = 0;
#pragma unroll
    for (int w = 0; w < MULG_WARPS; w++) {
        const uint2 x = line.warp_sum[w];
        if (w == warp) {
            before = all.total;
            rank = all.slices;
        }
        all.total += x.x;
        all.slices += x.y;
    }
    if (length) {
        rank += __popc(full & mulg_lanes_below());
        line.end[rank] = before + upto;
        line.shift[rank] = lo - (before + upto - length);
        if constexpr (R::VALUES) line.a[rank] = a;
        if constexpr (R::WRITTEN) line.c[rank] = c;
    }
    __syncthreads();
    return all;
}

/* The slice in which `place` lies: two steps, of 32 and of 8. */
template <class LINE> MULG_DEVICE mul_u32 mulg_slice_at(const LINE &line, mul_u32 slices, mul_u32 place)
{
    const mul_u32 lane = threadIdx.x & 31, last = lane * 8 + 7;
    const mul_u32 group = __popc(__ballot_sync(MULG_ALL, last < slices && line.end[last] <= place)) * 8,
                  at = group + lane;
    return group + __popc(__ballot_sync(MULG_ALL, lane < 8 && at < slices && line.end[at] <= place));
}

/* Values of B without asking for each whether there are any: else every index leads to a 1. */
template <class B> static __device__ const B mulg_one = (B)1;

template <class B> struct mulg_values_of {
    const B *value;
    mul_u32 bytes; /* from one to the next */
    __device__ __forceinline__ B at(mul_u32 i) const
    {
        if constexpr (sizeof(B) == 16) /* no constant of such a class can be had */
            return mulg_value<B>(value, i);
        else
            return __ldg((const B *)((const char *)value + (mul_u64)i * bytes));
    }
};

template <class B> MULG_DEVICE mulg_values_of<B> mulg_values_at(const void *value)
{
    const mulg_values_of<B> some = {(const B *)value, sizeof(B)};
    if constexpr (sizeof(B) == 16)
        return some;
    else {
        const mulg_values_of<B> none = {&mulg_one<B>, 0};
        return value ? some : none;
    }
}

/* Slice after slice: fewer instructions a product where slices are longer than a warp. */
template <class R, class LINE, class F, class G>
MULG_DEVICE void mulg_walk_long(const mulg_params &p, const void *b_value, const LINE &line, mul_u32 slice,
                                mul_u32 place, mul_u32 stop, F f, G g)
{
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 lane = threadIdx.x & 31;
    const mulg_values_of<B> values = mulg_values_at<B>(b_value);
    for (; place < stop; slice++) {
        const mul_u32 upto = line.end[slice], end = upto < stop ? upto : stop;
        const mul_u32 shift = line.shift[slice];
        A a = A();
        mul_u32 c = 0;
        if constexpr (R::VALUES) a = line.a[slice];
        if constexpr (R::WRITTEN) c = line.c[slice];
        const mul_u32 last = end + shift;
        for (mul_u32 i = place + shift + lane; i < last; i += 64) {
            const bool more = i + 32 < last;
            mul_u32 t0, t1 = 0;
            B b0 = B(), b1 = B();
            t0 = __ldg(p.b_column + i);
            if (more) t1 = __ldg(p.b_column + i + 32);
            if constexpr (R::VALUES) {
                b0 = values.at(i);
                if (more) b1 = values.at(i + 32);
            }
            if constexpr (sizeof(typename R::T) == 16) { /* two at a time would take more registers than there are */
                f(t0, a, b0, c);
                if (more) f(t1, a, b1, c);
            } else if (more)
                g(t0, t1, a, b0, b1, c);
            else
                f(t0, a, b0, c);
        }
        place = end;
    }
}

/* Any lane may stand in any slice. Calls f(place, column, a, b, c). */
template <class R, class LINE, class F>
MULG_DEVICE void mulg_walk_placed(const mulg_params &p, const void *b_value, const LINE &line, mul_u32 slices,
                                  mul_u32 slice, mul_u32 place, mul_u32 stop, F f)
{
    typedef typename R::A A;
    typedef typename R::B B;
    const mul_u32 lane = threadIdx.x & 31;
    const mulg_values_of<B> values = mulg_values_at<B>(b_value);
    for (; place < stop; place += 32) {
        const mul_u32 end = slice + lane < slices ? line.end[slice + lane] : MULG_ALL;
        const mul_u32 step = end - place;
        const mul_u32 marks = __reduce_or_sync(MULG_ALL, step < 32 ? 1u << step : 0u);
        const mul_u32 mine = slice + __popc(marks & mulg_lanes_upto()), i = place + lane;
        slice += __popc(marks) + (__ballot_sync(MULG_ALL, step == 32) != 0);
        if (i < stop) {
            const mul_u32 index = line.shift[mine] + i;
            const mul_u32 t = __ldg(p.b_column + index);
            A a = A();
            B b = B();
            mul_u32 c = 0;
            if constexpr (R::VALUES) {
                a = line.a[mine];
                b = values.at(index);
            }
            if constexpr (R::WRITTEN) c = line.c[mine];
            f(i, t, a, b, c);
        }
    }
}

template <class R, class LINE, class F>
MULG_DEVICE void mulg_walk_short(const mulg_params &p, const void *b_value, const LINE &line, mul_u32 slices,
                                 mul_u32 slice, mul_u32 place, mul_u32 stop, F f)
{
    typedef typename R::A A;
    typedef typename R::B B;
    mulg_walk_placed<R>(p, b_value, line, slices, slice, place, stop,
                        [&](mul_u32, mul_u32 t, A a, B b, mul_u32 c) { f(t, a, b, c); });
}

/* Calls f(column, a, b, c) for each product in line, the warp's share, or g for two of one slice. b_value: B's values
 * (NULL: 1). BOTH: long slices are walked in a way of their own, which NVRTC has to compile as well. All threads call
 * it. */
template <class R, bool BOTH, class LINE, class F, class G>
MULG_DEVICE void mulg_walk(const mulg_params &p, const void *b_value, const LINE &line, mulg_extent all, F f, G g)
{
    enum {
        LONG = 40
    }; /* products a slice from which lanes idle at ends of slices cost less than looking slices up */
    const mul_u32 share = (all.total / MULG_WARPS + 32) & ~31u, place = threadIdx.x / 32 * share;
    if (place >= all.total) return;
    const mul_u32 stop = place + share < all.total ? place + share : all.total;
    const mul_u32 slice = mulg_slice_at(line, all.slices, place);
    if constexpr (BOTH)
        if (all.total >= LONG * all.slices) {
            mulg_walk_long<R>(p, b_value, line, slice, place, stop, f, g);
            return;
        }
    mulg_walk_short<R>(p, b_value, line, all.slices, slice, place, stop, f);
}

#endif
