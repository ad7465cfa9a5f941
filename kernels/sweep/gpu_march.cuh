/* SPDX-License-Identifier: Apache-2.0
 *
 * One step by rows: a warp takes 16 bytes a lane of a row and marches along the last axis (y, in three dimensions z),
 * with the rows that the rule reads in registers; cells beside a lane's own come from the lanes beside it, those
 * beside the warp's from memory. Several rows are asked for before the first is used. There are no edges here: ghosts
 * are in memory, and cells that keep their values are not written.
 *
 * With CHANGE tiles are summed as rows go by: a warp's strip is several tiles wide, and chunks end where tiles do.
 */
#ifndef LACIS_SWEEP_GPU_MARCH_CUH
#define LACIS_SWEEP_GPU_MARCH_CUH

#include "gpu_base.cuh"
#include "gpu_sums.cuh"
#include "gpu_window.cuh"

enum { SWEEP_WARPS = 8 }; /* of a block at most */

/* Where a lane is, and which vectors it reads: its own; and on a warp's rim those `far` 1 and 2 vectors beyond it. */
struct sweep_lane {
    int lane;
    long long x, middle;
    bool wanted, far[2];
};

/* A lane's cells of a row, with REACH of its neighbours on each side; out[OWN] is the first of its own. All lanes. */
template <int REACH, int OWN, class T>
__device__ __forceinline__ void sweep_row(const T *at, const sweep_lane &l, T *out)
{
    constexpr int CELLS = sweep_vector<T>::CELLS;
    T own[CELLS] = {};
    if (l.wanted) sweep_vector<T>::load(at, own);
#pragma unroll
    for (int j = 0; j < CELLS; j++)
        out[OWN + j] = own[j];
    sweep_each<1, (REACH + CELLS - 1) / CELLS + 1>([&](auto number) {
        constexpr int D = decltype(number)::value;
        T beyond[CELLS] = {};
        if (l.far[D - 1]) sweep_vector<T>::load(at + (l.lane < D ? -D * CELLS : D * CELLS), beyond);
        sweep_each<0, CELLS>([&](auto cell) {
            constexpr int J = decltype(cell)::value;
            if constexpr (D * CELLS - J <= REACH) {
                const T left = __shfl_up_sync(0xffffffffu, own[J], D);
                out[OWN - D * CELLS + J] = l.lane < D ? beyond[J] : left;
            }
            if constexpr ((D - 1) * CELLS + J < REACH) {
                const T right = __shfl_down_sync(0xffffffffu, own[J], D);
                out[OWN + D * CELLS + J] = l.lane >= 32 - D ? beyond[J] : right;
            }
        });
    });
}

/* Sums of N values get(sweep_number<FIRST>) ..., pairwise. */
template <int FIRST, int N, class F> __device__ __forceinline__ auto sweep_pairs(const F &get)
{
    if constexpr (N == 1) {
        return get(sweep_number<FIRST>{});
    } else {
        constexpr int HALF = N > 512   ? 512
                             : N > 256 ? 256
                             : N > 128 ? 128
                             : N > 64  ? 64
                             : N > 32  ? 32
                             : N > 16  ? 16
                             : N > 8   ? 8
                             : N > 4   ? 4
                             : N > 2   ? 2
                                       : 1;
        return sweep_add(sweep_pairs<FIRST, HALF>(get), sweep_pairs<FIRST + HALF, N - HALF>(get));
    }
}

/* Where field f's constant is among the weights. */
template <class S> constexpr int sweep_weight(int f)
{
    int at = 0;
    for (int k = 0; k < f; k++)
        at += S::written(k) ? 0 : 1 + S::first_group(k + 1) - S::first_group(k);
    return at;
}

/* A cell's next value: get(sweep_number<I>) is tap I. */
template <class S, int F, class G>
__device__ __forceinline__ typename S::T sweep_linear(const sweep_pass &p, const G &get)
{
    typedef typename S::T T;
    constexpr int WEIGHT = sweep_weight<S>(F), FIRST = S::first_group(F);
    T value = (T)p.weight[WEIGHT];
    sweep_each<FIRST, S::first_group(F + 1)>([&](auto group) {
        constexpr int GROUP = decltype(group)::value;
        constexpr int TAP = S::group_tap(GROUP), TAPS = S::group_end(GROUP) - TAP;
        value = sweep_fma((T)p.weight[WEIGHT + 1 + GROUP - FIRST], sweep_pairs<TAP, TAPS>(get), value);
    });
    return value;
}

/* The place of cell (x, middle, last) in the whole grid, along axis K, as a number. */
template <class T, int K> __device__ __forceinline__ T sweep_coordinate(const sweep_pass &p, long long at)
{
    return (T)sweep_place(p.origin[K] + at, p.whole[K]);
}

template <class S, int F, class G>
__device__ __forceinline__ typename S::T sweep_written(const sweep_pass &p, const G &get, long long x,
                                                       long long middle, long long last, int *bad)
{
    typedef typename S::T T;
    constexpr int FIRST = S::first_tap(F), TAPS = S::first_tap(F + 1) - FIRST;
    T v[TAPS > 0 ? TAPS : 1];
    sweep_each<0, TAPS>([&](auto tap) {
        constexpr int I = decltype(tap)::value;
        v[I] = get(sweep_number<FIRST + I>{});
    });
    const T y = sweep_coordinate<T, 1>(p, S::DIMS == 3 ? middle : last);
    const T z = sweep_coordinate<T, 2>(p, S::DIMS == 3 ? last : middle);
    return S::template rule<F>(v, sweep_coordinate<T, 0>(p, x), y, z, (T)p.t, bad);
}

/* The warp's own accumulator. */
template <int WARPS> __device__ __forceinline__ unsigned long long *sweep_digits()
{
    __shared__ unsigned long long digits[WARPS][SWEEP_COUNTERS];
    return digits[threadIdx.y + blockDim.y * threadIdx.z];
}

/* Sums of the tiles of a strip, whose columns each lane has CELLS of; cleared. All lanes. */
template <int CELLS> __device__ __forceinline__ void sweep_flush(double *column, unsigned long long *digit, int lane)
{
    constexpr int LANES = SWEEP_TILE_X / CELLS;
    double sum = __dadd_rn(column[0], column[1]);
    if constexpr (CELLS == 4) sum = __dadd_rn(sum, __dadd_rn(column[2], column[3]));
#pragma unroll
    for (int turned = 1; turned < LANES; turned *= 2)
        sum = __dadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, turned));
#pragma unroll
    for (int tile = 0; tile < CELLS; tile++)
        sweep_sums_add(digit, __shfl_sync(0xffffffffu, sum, tile * LANES), lane);
#pragma unroll
    for (int j = 0; j < CELLS; j++)
        column[j] = 0;
}

template <class S, bool CHANGE> struct sweep_marching {
    typedef typename S::T T;
    typedef sweep_window<S, CHANGE> W;
    static constexpr int CELLS = W::CELLS, UNROLL = W::unroll(), OWN = W::reach(), ROWS = W::rows(UNROLL);
    static constexpr int STREAMS = W::streams();

    const sweep_pass &p;
    sweep_lane l;
    T row[STREAMS > 0 ? STREAMS : 1][ROWS][CELLS + 2 * OWN];
    double column[CHANGE ? S::FIELDS : 1][CELLS];
    typename sweep_max<T>::bits max;
    int bad;

    /* Row `last` of stream K into its place R. */
    template <int K, int R> __device__ __forceinline__ void read(long long last)
    {
        constexpr int ARRAY = W::array(K), AT = W::between(K), X = W::x(K);
        const T *const from = static_cast<const T *>(p.from[ARRAY]) + l.x;
        sweep_row<X, OWN>(from + (l.middle + AT) * p.stride[W::MIDDLE] + last * p.stride[W::LAST], l, row[K][R]);
    }
    template <int K> __device__ __forceinline__ void begin(long long first)
    {
        constexpr int LOW = W::low(K), KEPT = W::high(K) - LOW;
        sweep_each<0, KEPT>([&](auto number) {
            constexpr int R = decltype(number)::value;
            read<K, R>(first + LOW + R);
        });
    }
    /* Rows for the steps `first` and UNROLL - 1 after it; beyond the end the last one again. */
    template <int K> __device__ __forceinline__ void next(long long first, long long end)
    {
        constexpr int HIGH = W::high(K), KEPT = HIGH - W::low(K);
        sweep_each<0, UNROLL>([&](auto number) {
            constexpr int U = decltype(number)::value;
            const long long last = first + U < end ? first + U : end - 1;
            read<K, KEPT + U>(last + HIGH);
        });
    }
    template <int K> __device__ __forceinline__ void shift()
    {
        constexpr int KEPT = W::high(K) - W::low(K);
#pragma unroll
        for (int r = 0; r < KEPT; r++)
#pragma unroll
            for (int j = 0; j < CELLS + 2 * OWN; j++)
                row[K][r][j] = row[K][r + UNROLL][j];
    }
    /* Tap I of the lane's cell j, U rows on. */
    template <int I, int U> __device__ __forceinline__ T tap(int j) const
    {
        constexpr int K = W::stream(I), R = W::last(W::tap(I)) - W::low(K) + U, X = W::tap(I).x;
        return row[K][R][OWN + X + j];
    }
    template <int F, int U> __device__ __forceinline__ T value(int j, long long last, int *failed) const
    {
        const auto get = [&](auto number) { return tap<decltype(number)::value, U>(j); };
        if constexpr (S::written(F))
            return sweep_written<S, F>(p, get, l.x + j, l.middle, last, failed);
        else
            return sweep_linear<S, F>(p, get);
    }
    template <int F, int U> __device__ __forceinline__ void step(long long last)
    {
        constexpr int M = W::MIDDLE, L = W::LAST;
        const long long low = p.begin[0] > p.keep_low[F][0] ? p.begin[0] : p.keep_low[F][0];
        const long long high = p.end[0] < p.keep_high[F][0] ? p.end[0] : p.keep_high[F][0];
        if (l.middle < p.keep_low[F][M] || l.middle >= p.keep_high[F][M]) return;
        if (last < p.keep_low[F][L] || last >= p.keep_high[F][L]) return;
        T out[CELLS];
#pragma unroll
        for (int j = 0; j < CELLS; j++) {
            int failed = 0;
            const bool inside = l.x + j >= low && l.x + j < high;
            out[j] = value<F, U>(j, last, &failed);
            if (S::written(F) && inside) bad |= failed;
            if constexpr (CHANGE) {
                const T d = inside ? sweep_difference(out[j], tap<S::TAPS + F, U>(j)) : T(0);
                sweep_greater(&max, d);
                column[F][j] = __fma_rn((double)d, (double)d, column[F][j]);
            }
        }
        T *const to = static_cast<T *>(p.to[F]) + l.x + l.middle * p.stride[M] + last * p.stride[L];
        if (l.x >= low && l.x + CELLS <= high) {
            sweep_vector<T>::store(to, out);
        } else {
#pragma unroll
            for (int j = 0; j < CELLS; j++)
                if (l.x + j >= low && l.x + j < high) to[j] = out[j];
        }
    }
    __device__ __forceinline__ void march(long long first, long long end)
    {
        unsigned long long *digit = nullptr;
        bad = 0;
        max = 0;
        if constexpr (CHANGE) {
            digit = sweep_digits<SWEEP_WARPS>();
            sweep_sums_begin(digit, l.lane);
#pragma unroll
            for (int f = 0; f < S::FIELDS; f++)
#pragma unroll
                for (int j = 0; j < CELLS; j++)
                    column[f][j] = 0;
        }
        sweep_each<0, STREAMS>([&](auto k) { begin<decltype(k)::value>(first); });
        for (; first < end; first += UNROLL) {
            sweep_each<0, STREAMS>([&](auto k) { next<decltype(k)::value>(first, end); });
            sweep_each<0, UNROLL>([&](auto u) {
                constexpr int U = decltype(u)::value;
                if (first + U < end)
                    sweep_each<0, S::FIELDS>([&](auto f) { step<decltype(f)::value, U>(first + U); });
            });
            sweep_each<0, STREAMS>([&](auto k) { shift<decltype(k)::value>(); });
            if constexpr (CHANGE) {
                if ((first + UNROLL) % SWEEP_TILE_Y == 0 || first + UNROLL >= end)
#pragma unroll
                    for (int f = 0; f < S::FIELDS; f++)
                        sweep_flush<CELLS>(column[f], digit, l.lane);
            }
        }
        if (bad) atomicOr(p.bad, 1);
        if constexpr (CHANGE) sweep_sums_end(digit, sweep_wide(max), &p.sums[blockIdx.x % SWEEP_SUMS], l.lane);
    }
};

/* n rounded down. */
__device__ __forceinline__ long long sweep_down(long long n, int to)
{
    return n >= 0 ? n / to * to : -((-n + to - 1) / to * to);
}

template <class S, bool CHANGE> __device__ __forceinline__ void sweep_march(const sweep_pass &p)
{
    typedef sweep_marching<S, CHANGE> marching;
    typedef typename marching::W W;
    constexpr int CELLS = marching::CELLS, REACH = marching::OWN;
    marching m = {p};
    const unsigned strip = blockIdx.x % p.strips, rest = blockIdx.x / p.strips;
    const long long begin = sweep_down(p.begin[0], SWEEP_TILE_X);
    const long long warp = begin + ((long long)strip * blockDim.y + threadIdx.y) * (32 * CELLS);
    m.l.lane = (int)threadIdx.x;
    m.l.x = warp + m.l.lane * CELLS;
    m.l.middle = p.begin[W::MIDDLE] + (long long)(rest % p.middles) * blockDim.z + threadIdx.z;
    if (warp >= p.end[0] || m.l.middle >= p.end[W::MIDDLE]) return;
    const long long low = p.begin[0] - REACH, high = p.end[0] + REACH;
    m.l.wanted = m.l.x + CELLS > low && m.l.x < high;
    for (int d = 1; d <= 2; d++)
        m.l.far[d - 1] = m.l.lane < d
                             ? m.l.x - d * CELLS + CELLS > low && m.l.x - d * CELLS < high
                             : m.l.lane >= 32 - d && m.l.x + d * CELLS < high && m.l.x + d * CELLS + CELLS > low;
    const long long from = sweep_down(p.begin[W::LAST], SWEEP_TILE_Y) + (long long)(rest / p.middles) * p.length;
    const long long first = from > p.begin[W::LAST] ? from : p.begin[W::LAST];
    const long long end = from + p.length < p.end[W::LAST] ? from + p.length : p.end[W::LAST];
    if (first < end) m.march(first, end);
}

#endif
