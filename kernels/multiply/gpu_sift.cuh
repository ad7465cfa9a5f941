/* SPDX-License-Identifier: Apache-2.0
 *
 * HAVING within the kernels of the classes: what it does not keep is never stored. It is looked at once a value is
 * final, and again where it is stored, so it must not fail; one that can is a kernel of its own (gpu_having.cuh).
 * Built-in semirings have kernels of their own for it, which compare with [low, high] of the parameters, so that
 * products without HAVING keep their code; NVRTC is told by LACIS_SIFTED: 0 there is none, 1 that comparison, 2
 * lacis_having. Used by all classes.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_SIFT_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_SIFT_CUH

#include "gpu_cell.cuh"

#ifndef LACIS_SIFTED
#define LACIS_SIFTED 0
#endif

/* Whether a semiring's kernels store only what HAVING keeps. */
template <class R> struct mulg_sifts {
    static constexpr bool value = LACIS_SIFTED != 0;
};
template <class R> struct mulg_sifted : R {
};
template <class R> struct mulg_sifts<mulg_sifted<R>> {
    static constexpr bool value = true;
};

MULG_DEVICE bool mulg_within(const mulg_params &p, float v)
{
    return p.low_f32 <= v && v <= p.high_f32;
}
MULG_DEVICE bool mulg_within(const mulg_params &p, double v)
{
    return p.low_f64 <= v && v <= p.high_f64;
}
template <class V> MULG_DEVICE bool mulg_within(const mulg_params &p, V v)
{
    return p.low <= (mul_i64)v && (mul_i64)v <= p.high;
}

template <class V> MULG_DEVICE bool mulg_keeps(const mulg_params &p, mul_i64 row, mul_u32 t, V v)
{
#if LACIS_SIFTED == 2
    int bad = 0;
    const mul_i64 s = LACIS_LISTED & 1 ? __ldg(p.label[0] + row) : row;
    return lacis_having((lacis_stored)v, s, LACIS_LISTED & 4 ? __ldg(p.label[2] + t) : (mul_i64)t, &bad);
#else
    return mulg_within(p, v);
#endif
}

/* --- runs of products that are one entry ------------------------------------------------------------ */

/* Gives put() what value(0) to value(n - 1), in order of c, are folded into. */
template <class R, class V, class F>
MULG_DEVICE void mulg_fold_run(const mulg_params &p, V value, mul_u32 n, int *bad, F put)
{
    typedef typename R::T T;
    typedef mulg_mean<T> mean;
    if (p.agg == MULG_AVG) {
        typename mean::type sum = mean::none();
        for (mul_u32 i = 0; i < n; i++)
            sum = mulg_plus(sum, mean::one(value(i)));
        put(mean::over(sum, n));
    } else if (p.agg == MULG_FIRST || p.agg == MULG_LAST) {
        put(value(p.agg == MULG_FIRST ? 0 : n - 1));
    } else {
        T x = R::start(p);
        for (mul_u32 i = 0; i < n; i++)
            x = R::fold(p, x, value(i), bad);
        put(x);
    }
}

/* Each lane has a run of the row's products, or none: those that are kept are stored from `out` on, in order of the
 * lanes. Lanes of `lanes` have the same row and are answered how many that were. All lanes of the warp call it. */
template <class R, class V>
MULG_DEVICE mul_u32 mulg_sift_run(const mulg_params &p, mul_u32 lanes, bool some, mul_i64 row, mul_u32 t, V value,
                                  mul_u32 n, mul_u64 out, int *bad)
{
    bool stays = false;
    if constexpr (!R::VALUES)
        stays = some && mulg_keeps(p, row, t, n);
    else if (some)
        mulg_fold_run<R>(p, value, n, bad, [&](auto x) { stays = mulg_keeps(p, row, t, x); });
    const mul_u32 votes = __ballot_sync(MULG_ALL, stays) & lanes;
    if (stays) {
        const mul_u64 at = out + __popc(votes & mulg_lanes_below());
        p.c_column[at] = t;
        if constexpr (!R::VALUES)
            ((typename R::S *)p.c_value)[at] = (typename R::S)n;
        else
            mulg_fold_run<R>(p, value, n, bad, [&](auto x) { ((decltype(x) *)p.c_value)[at] = x; });
    }
    return __popc(votes);
}

/* A row's n products in order, column(i) and value(i), `each` at a time by the lanes of `lanes`, which are as many.
 */
template <class R, class K, class V>
MULG_DEVICE mul_u32 mulg_sift_sorted(const mulg_params &p, mul_u32 lanes, mul_u32 each, mul_i64 row, mul_u32 n,
                                     K column, V value, mul_u64 out, int *bad)
{
    mul_u32 kept = 0;
#pragma unroll 1
    for (mul_u32 place = __popc(lanes & mulg_lanes_below()); __any_sync(MULG_ALL, place < n); place += each) {
        mul_u32 t = 0, run = 1;
        bool head = place < n;
        if (head) {
            t = column(place);
            head = place == 0 || column(place - 1) != t;
        }
        while (head && place + run < n && column(place + run) == t)
            run++;
        kept += mulg_sift_run<R>(
            p, lanes, head, row, t, [&](mul_u32 i) { return value(place + i); }, run, out + kept, bad);
    }
    return kept;
}

#endif
