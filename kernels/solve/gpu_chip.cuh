/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of chains on chip, the same for every layout. Rows are cut into chunks of K, one thread's business each;
 * 32 chunks are a segment, one warp's; up to 32 segments are a chain.
 *
 *   chunk    is eliminated forwards, the last unknown of the chunk before (xl) left in:  x = y - q x' - f xl
 *            (' : of the row behind), and along with it  x0 = Y - Q x - F xl  of the chunk's first row
 *   ends     y, q, f of its last row and Y, Q, F of its first: with those of the chunk behind, a tridiagonal row of
 * the last unknowns of chunks (`coupled`), which are solved by parallel cyclic reduction (Hockney 1965): step s takes
 * out the unknowns s places away segment  if there are several: its 31 first chunks by reduction with both neighbours
 * left in, which gives ends of the segment of the same form; then as above back     x = y - q x' - f xl from the last
 * row of each chunk up
 *
 * (Substructuring as of Wang 1981 and of Laszlo, Giles, Appleyard 2016, with PCR for what is left.)
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_CHIP_CUH
#define LACIS_KERNELS_SOLVE_GPU_CHIP_CUH

#include "solve/gpu_place.cuh"

enum {
    SEGMENT = 32,     /* chunks; segments of a chain as well */
    SEGMENT_WARPS = 8 /* of a block where a warp has a segment */
};

struct chip_job {
    solve_gpu_groups groups;
    solve_gpu_fields fields;
    solve_gpu_flags flags;
    int blocks; /* of a cluster */
    int image;  /* behind: bytes of one */
    int beside; /* lanes of a block */
    int chunks; /* beside: of a block */
};

template <class T> struct row_of {
    T lower, diagonal, upper, rhs;
};

template <class T> struct ends_of {
    T y, q, f, first_y, first_q, first_f;
};

/* lower X- + X + upper X+ = rhs */
template <class T> struct coupled {
    T lower, upper, rhs;
};

/* What makes a lane doubtful: the greatest upper half of sums and inverses; a row that is not dominant. */
struct watch {
    unsigned top, sign;
};

template <class T> SOLVE_FN bool in_doubt(const watch &w)
{
    return w.top >= great_bits(T()) || (w.sign >> 31) != 0;
}

SOLVE_FN unsigned sign_bits(double x)
{
    return (unsigned)__double2hiint(x);
}
SOLVE_FN unsigned sign_bits(float x)
{
    return __float_as_uint(x);
}

/* Never misses a row which is bad by solve.h: rounding once instead of twice, only more rows are looked at. */
SOLVE_FN void look(watch *w, double lower, double diagonal, double upper, double rhs)
{
    const double off = fabs(lower) + fabs(upper), size = fabs(diagonal);
    w->sign |= sign_bits(__fma_rn(size, SOLVE_GPU_SLACK_F64, -off));
    w->top = max(w->top, max(high_bits(off + size), high_bits(rhs)));
}
SOLVE_FN void look(watch *w, float lower, float diagonal, float upper, float rhs)
{
    const float off = fabsf(lower) + fabsf(upper), size = fabsf(diagonal);
    w->sign |= sign_bits(__fmaf_rn(size, SOLVE_GPU_SLACK_F32, -off));
    w->top = max(w->top, max(high_bits(off + size), high_bits(rhs)));
}
/* Moduli by squares: good where they are not very small. */
SOLVE_FN void look(watch *w, solve_complex lower, solve_complex diagonal, solve_complex upper, solve_complex rhs)
{
    const double least = 1e-140, slack = 1 + 5e-13;
    const double off = sqrt(__fma_rn(lower.re, lower.re, lower.im * lower.im)) +
                       sqrt(__fma_rn(upper.re, upper.re, upper.im * upper.im));
    const double size = sqrt(__fma_rn(diagonal.re, diagonal.re, diagonal.im * diagonal.im));
    w->sign |= sign_bits(__fma_rn(size, slack, -off)) | sign_bits(size - least);
    w->top = max(w->top, max(high_bits(off + size), high_bits(rhs)));
}

/* get(i) gives the chunk's row i. keep(i, row, inverse, ends so far) takes what `back` needs. */
template <class T, int K, class G, class P> SOLVE_FN ends_of<T> eliminate(const G &get, const P &keep, watch *w)
{
    ends_of<T> e;
#pragma unroll
    for (int i = 0; i < K; i++) {
        const row_of<T> r = get(i);
        look(w, r.lower, r.diagonal, r.upper, r.rhs);
        const T inv = quick_inverse(i == 0 ? r.diagonal : less(r.diagonal, r.lower, e.q));
        w->top = max(w->top, high_bits(inv));
        e.y = times(i == 0 ? r.rhs : less(r.rhs, r.lower, e.y), inv);
        e.q = times(r.upper, inv);
        e.f = i == 0 ? times(r.lower, inv) : times(negative(times(r.lower, e.f)), inv);
        if (i == 0) {
            e.first_y = e.y, e.first_q = e.q, e.first_f = e.f;
        } else if (i < K - 1) {
            e.first_y = less(e.first_y, e.first_q, e.y);
            e.first_f = less(e.first_f, e.first_q, e.f);
            e.first_q = negative(times(e.first_q, e.q));
        }
        keep(i, r, inv, e);
    }
    return e;
}

template <class T> SOLVE_FN ends_of<T> no_ends()
{
    const T none = number<T>(0);
    return {none, none, none, none, none, none};
}

/* Takes no notes. */
struct no_note {
    template <class T> __device__ __forceinline__ void operator()(int, const coupled<T> &, T) const
    {
    }
};

/* first_*: of the chunk behind; of the last chunk q is 0 and they do not matter if they are finite.
 * note(step, row, inverse): what the matrix alone gives, step -1 here (q in place of the row's upper), then those of
 * `reduce`. */
template <class T, class N>
SOLVE_FN coupled<T> couple(const ends_of<T> &e, T first_y, T first_q, T first_f, watch *w, const N &note)
{
    const T inv = quick_inverse(less(number<T>(1), e.q, first_f));
    w->top = max(w->top, high_bits(inv));
    note(-1, coupled<T>{e.f, e.q, e.y}, inv);
    return {times(e.f, inv), times(negative(times(e.q, first_q)), inv), times(less(e.y, e.q, first_y), inv)};
}

/* Of `count` rows side by side in the lanes of a warp this lane has row `place`, or (place < 0) none. Rows of one
 * chain never take in values of another, which may be NaN: beyond the ends a lane reads itself, times 0. */
template <class T, class N> SOLVE_FN T reduce(coupled<T> c, int place, int count, watch *w, const N &note)
{
    const int me = threadIdx.x % 32;
    for (int s = 1, step = 0; s < count; s *= 2, step++) {
        const int low = place >= s ? me - s : me, high = place >= 0 && place + s < count ? me + s : me;
        const T low_lower = shuffle(c.lower, low), low_upper = shuffle(c.upper, low), low_rhs = shuffle(c.rhs, low);
        const T high_lower = shuffle(c.lower, high), high_upper = shuffle(c.upper, high),
                high_rhs = shuffle(c.rhs, high);
        const T inv = quick_inverse(less(less(number<T>(1), c.lower, low_upper), c.upper, high_lower));
        w->top = max(w->top, high_bits(inv));
        note(step, c, inv);
        c.rhs = times(less(less(c.rhs, c.lower, low_rhs), c.upper, high_rhs), inv);
        c.lower = times(negative(times(c.lower, low_lower)), inv);
        c.upper = times(negative(times(c.upper, high_upper)), inv);
    }
    return c.rhs;
}

/* A segment's chunks 0..30 with both neighbours left in: X = rhs - before L - behind X31. */
template <class T> struct segment_of {
    T rhs, before, behind;
};

template <class T> SOLVE_FN segment_of<T> reduce_segment(coupled<T> c, watch *w)
{
    const int me = threadIdx.x % 32, count = SEGMENT - 1;
    const T none = number<T>(0);
    segment_of<T> r = {c.rhs, me == 0 ? c.lower : none, me == count - 1 ? c.upper : none};
    if (me == 0) c.lower = none;
    if (me == count - 1) c.upper = none;
    for (int s = 1; s < count; s *= 2) {
        const int low = me >= s ? me - s : me, high = me + s < count ? me + s : me;
        const T low_lower = shuffle(c.lower, low), low_upper = shuffle(c.upper, low);
        const T high_lower = shuffle(c.lower, high), high_upper = shuffle(c.upper, high);
        const T inv = quick_inverse(less(less(number<T>(1), c.lower, low_upper), c.upper, high_lower));
        if (me < count) w->top = max(w->top, high_bits(inv));
#define STEP(v) times(less(less(v, c.lower, shuffle(v, low)), c.upper, shuffle(v, high)), inv)
        r = {STEP(r.rhs), STEP(r.before), STEP(r.behind)};
#undef STEP
        c.lower = times(negative(times(c.lower, low_lower)), inv);
        c.upper = times(negative(times(c.upper, high_upper)), inv);
    }
    return r;
}

/* The segment's own ends, in every lane. */
template <class T> SOLVE_FN ends_of<T> ends_of_segment(const ends_of<T> &e, const segment_of<T> &r, watch *w)
{
    const int last = SEGMENT - 1;
    const T y = shuffle(e.y, last), q = shuffle(e.q, last), f = shuffle(e.f, last);
    const T inv = quick_inverse(less(number<T>(1), f, shuffle(r.behind, last - 1)));
    w->top = max(w->top, high_bits(inv));
    ends_of<T> s;
    s.y = times(less(y, f, shuffle(r.rhs, last - 1)), inv);
    s.q = times(q, inv);
    s.f = times(negative(times(f, shuffle(r.before, last - 1))), inv);
    const T first_y = shuffle(e.first_y, 0), first_q = shuffle(e.first_q, 0), first_f = shuffle(e.first_f, 0);
    s.first_y = less(first_y, first_q, shuffle(r.rhs, 0));
    s.first_f = less(first_f, first_q, shuffle(r.before, 0));
    s.first_q = negative(times(first_q, shuffle(r.behind, 0)));
    return s;
}

/* Ends side by side in the lanes of a warp, as in `reduce`: the last unknown of each. */
template <class T, class N = no_note>
SOLVE_FN T unknowns(const ends_of<T> &e, int place, int count, watch *w, const N &note = N())
{
    const int me = threadIdx.x % 32, next = place >= 0 && place + 1 < count ? me + 1 : me;
    const T first_y = shuffle(e.first_y, next), first_q = shuffle(e.first_q, next),
            first_f = shuffle(e.first_f, next);
    return reduce(couple(e, first_y, first_q, first_f, w, note), place, count, w, note);
}

/* The chunks of one segment among others, one a lane. */
template <class T> SOLVE_FN segment_of<T> segment_unknowns(ends_of<T> e, watch *w)
{
    const int me = threadIdx.x % 32, next = me + 1 < SEGMENT ? me + 1 : me;
    const T first_y = shuffle(e.first_y, next), first_q = shuffle(e.first_q, next),
            first_f = shuffle(e.first_f, next);
    if (me == SEGMENT - 1) e.q = number<T>(0); /* has no part in it */
    return reduce_segment(couple(e, first_y, first_q, first_f, w, no_note()), w);
}

/* A segment's own unknown of a lane's chunk, with those of all segments (in lane l that of segment l). */
template <class T> SOLVE_FN T unknown_of(const segment_of<T> &r, T of_segments, int segment)
{
    const T before = segment > 0 ? shuffle(of_segments, segment - 1) : number<T>(0);
    const T own = shuffle(of_segments, segment);
    return threadIdx.x % 32 == SEGMENT - 1 ? own : less(less(r.rhs, r.before, before), r.behind, own);
}

#endif
