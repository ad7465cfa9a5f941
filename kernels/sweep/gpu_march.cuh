/* SPDX-License-Identifier: Apache-2.0
 *
 * One step by rows: a warp takes 16 bytes a lane of a row and marches along the last axis (y, in three dimensions z),
 * with the rows that the rule reads in registers; cells beside a lane's own come from the lanes beside it, those
 * beside the warp's from memory. Several rows are asked for before the first is used. There are no edges here: ghosts
 * are in memory, those of the next level put when a warp is done, and cells that keep their values are not written.
 *
 * With CHANGE tiles are summed as rows go by (gpu_tiles.cuh): a warp's strip is several tiles wide, and chunks end
 * where tiles do.
 */
#ifndef LACIS_SWEEP_GPU_MARCH_CUH
#define LACIS_SWEEP_GPU_MARCH_CUH

#include "gpu_base.cuh"
#include "gpu_march_ghosts.cuh"
#include "gpu_tiles.cuh"
#include "gpu_window.cuh"

enum { SWEEP_REACH = 4 }; /* cells that a rule reaches */

/* Which cells beside the warp a lane on its rim reads: the e-th on its side, `beyond[e]` from its first one. */
struct sweep_lane {
    int lane;
    bool rim[SWEEP_REACH];
    int beyond[SWEEP_REACH];
};

/* Of a lane whose first cell is x: rules that read `reach` cells beside those of begin .. end - 1. */
template <int CELLS>
__device__ __forceinline__ sweep_lane sweep_lane_at(int lane, long long x, long long begin, long long end, int reach)
{
    sweep_lane l;
    l.lane = lane;
#pragma unroll
    for (int e = 0; e < SWEEP_REACH; e++) {
        const int vectors = e / CELLS + 1;
        const bool left = lane < 16;
        l.beyond[e] = left ? -1 - e : CELLS + e;
        l.rim[e] = left ? lane < vectors && x - 1 - e >= begin - reach && x - 1 - e < end + reach
                        : lane >= 32 - vectors && x + CELLS + e < end + reach && x + CELLS + e >= begin - reach;
    }
    return l;
}

/* A lane's cells of a row, own[0] the first; and on the warp's rim the REACH cells beside it, own[-1 - E] the E-th.
 */
template <int REACH, class T> __device__ __forceinline__ void sweep_row(const T *at, const sweep_lane &l, T *own)
{
    sweep_vector<T>::load(at, own);
    sweep_each<0, REACH>([&](auto number) {
        constexpr int E = decltype(number)::value;
        own[-1 - E] = T(0);
        if (l.rim[E]) own[-1 - E] = at[l.beyond[E]];
    });
}

/* Such a row with REACH cells of its neighbours on each side, out[OWN] the first of its own; it may be the same row.
 * All lanes. */
template <int REACH, int OWN, class T>
__device__ __forceinline__ void sweep_beside(const T *own, const sweep_lane &l, T *out)
{
    constexpr int CELLS = sweep_vector<T>::CELLS;
    sweep_each<0, REACH>([&](auto number) {
        constexpr int E = decltype(number)::value, D = E / CELLS + 1, J = E % CELLS;
        const T beyond = own[-1 - E];
        const T left = __shfl_up_sync(0xffffffffu, own[CELLS - 1 - J], D);
        const T right = __shfl_down_sync(0xffffffffu, own[J], D);
        out[OWN - 1 - E] = l.lane < D ? beyond : left;
        out[OWN + CELLS + E] = l.lane >= 32 - D ? beyond : right;
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

template <class S, bool CHANGE> struct sweep_marching {
    typedef typename S::T T;
    typedef sweep_window<S, CHANGE> W;
    static constexpr int CELLS = W::CELLS, UNROLL = W::unroll(), OWN = W::reach(), ROWS = W::rows(UNROLL);
    static constexpr int STREAMS = W::streams(), FIELDS = S::FIELDS;
    static constexpr int M = W::MIDDLE, L = W::LAST;
    static constexpr bool BY_ROWS = CHANGE && S::DIMS < 3, BY_PLANES = CHANGE && S::DIMS == 3; /* tiles are summed */

    const sweep_pass &p;
    sweep_lane l;
    long long x, middle;
    unsigned cells[FIELDS];         /* which of its cells the lane writes: a bit each */
    int first[FIELDS], end[FIELDS]; /* and rows */
    /* Rows of streams; cells beside a lane's stand in a stream's rows where several of them are read beside, else in
     * `beside`, of the row at hand. */
    T row[STREAMS > 0 ? STREAMS : 1][ROWS][CELLS + 2 * OWN];
    T beside[STREAMS > 0 ? STREAMS : 1][CELLS + 2 * OWN];
    sweep_columns<T> columns[BY_ROWS ? FIELDS : 1];
    sweep_planes<T, BY_PLANES ? UNROLL : 1> planes;
    typename sweep_max<T>::bits max;
    int bad;

    /* Into place R of stream K: its row that is AHEAD further than cell `at`. */
    template <int K, int R, int AHEAD> __device__ __forceinline__ void read(long long at)
    {
        constexpr int ARRAY = W::array(K), BETWEEN = W::between(K), X = W::x(K);
        const T *const from = static_cast<const T *>(p.from[ARRAY]) + (BETWEEN * p.stride[M] + AHEAD * p.stride[L]);
        sweep_row<X>(from + at, l, row[K][R] + OWN);
        if constexpr (!W::one_beside(K)) sweep_beside<X, OWN>(row[K][R] + OWN, l, row[K][R]);
    }
    template <int K> __device__ __forceinline__ void begin(long long at)
    {
        constexpr int LOW = W::low(K), KEPT = W::high(K) - LOW;
        sweep_each<0, KEPT>([&](auto number) {
            constexpr int R = decltype(number)::value;
            read<K, R, LOW + R>(at);
        });
    }
    /* left: rows from `at` to the end; beyond it the last one again. */
    template <int K> __device__ __forceinline__ void next(long long at, int left)
    {
        constexpr int HIGH = W::high(K), KEPT = HIGH - W::low(K);
        sweep_each<0, UNROLL>([&](auto number) {
            constexpr int U = decltype(number)::value;
            read<K, KEPT + U, HIGH>(at + (U < left ? U : left - 1) * p.stride[L]);
        });
    }
    /* What is beside the row of stream K that field F reads U rows on. */
    template <int K, int F, int U> __device__ __forceinline__ void look_beside()
    {
        if constexpr (W::one_beside(K) && W::reads_beside(F, K))
            sweep_beside<W::x(K), OWN>(row[K][W::beside(K) - W::low(K) + U] + OWN, l, beside[K]);
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
        const bool own = j + X >= 0 && j + X < CELLS;
        return own || !W::one_beside(K) ? row[K][R][OWN + X + j] : beside[K][OWN + X + j];
    }
    template <int F, int U> __device__ __forceinline__ T value(int j, int last, int *failed) const
    {
        const auto get = [&](auto number) { return tap<decltype(number)::value, U>(j); };
        if constexpr (S::written(F))
            return sweep_written<S, F>(p, get, x + j, middle, last, failed);
        else
            return sweep_linear<S, F>(p, get);
    }
    /* The lane's differences of field F, U rows on. */
    template <int F, int U> __device__ __forceinline__ void take(const T *difference)
    {
        if constexpr (BY_ROWS) columns[F].take(difference);
        if constexpr (BY_PLANES) planes.take(U, difference, l.lane);
    }
    template <int F, int U> __device__ __forceinline__ void step(int last, long long at)
    {
        T out[CELLS], difference[CELLS] = {};
        if (last < first[F] || last >= end[F]) {
            if constexpr (BY_PLANES) take<F, U>(difference);
            return;
        }
#pragma unroll
        for (int j = 0; j < CELLS; j++) {
            int failed = 0;
            const bool inside = cells[F] >> j & 1;
            out[j] = value<F, U>(j, last, &failed);
            if (S::written(F) && inside) bad |= failed;
            if constexpr (CHANGE) {
                difference[j] = inside ? sweep_difference(out[j], tap<S::TAPS + F, U>(j)) : T(0);
                sweep_greater(&max, difference[j]);
            }
        }
        take<F, U>(difference);
        T *const to = static_cast<T *>(p.to[F]) + at;
        if (cells[F] == (1u << CELLS) - 1) {
            sweep_vector<T>::store(to, out);
        } else {
#pragma unroll
            for (int j = 0; j < CELLS; j++)
                if (cells[F] >> j & 1) to[j] = out[j];
        }
    }
    /* Which cells of each field are written, of those of the rows from .. until - 1. */
    __device__ __forceinline__ void place(int from, int until)
    {
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            const long long left = (p.begin[0] > p.keep_low[f][0] ? p.begin[0] : p.keep_low[f][0]) - x;
            const long long right = (p.end[0] < p.keep_high[f][0] ? p.end[0] : p.keep_high[f][0]) - x;
            const bool kept = middle < p.keep_low[f][M] || middle >= p.keep_high[f][M];
            cells[f] = 0;
#pragma unroll
            for (int j = 0; j < CELLS; j++)
                if (j >= left && j < right) cells[f] |= 1u << j;
            first[f] = from > p.keep_low[f][L] ? from : (int)p.keep_low[f][L];
            end[f] = kept ? first[f] : until < p.keep_high[f][L] ? until : (int)p.keep_high[f][L];
        }
    }
    /* What is summed, of rows that end before row `next`. */
    template <int F> __device__ __forceinline__ void flush(unsigned long long *digit, int next, int until)
    {
        if constexpr (BY_PLANES) planes.flush(digit, l.lane);
        if constexpr (BY_ROWS) {
            if (next % SWEEP_TILE_Y == 0 || next >= until) columns[F].flush(digit, l.lane);
        }
    }
    __device__ __forceinline__ unsigned long long *begin_sums()
    {
        unsigned long long *const digit = sweep_digits();
        sweep_sums_begin(digit, l.lane);
        if constexpr (BY_PLANES) planes.begin();
        if constexpr (BY_ROWS) sweep_each<0, FIELDS>([&](auto f) { columns[decltype(f)::value].clear(); });
        return digit;
    }
    __device__ __forceinline__ void march(int from, int until)
    {
        unsigned long long *digit = nullptr;
        bad = 0;
        max = 0;
        if constexpr (CHANGE) digit = begin_sums();
        long long at = x + middle * p.stride[M] + from * p.stride[L];
        sweep_each<0, STREAMS>([&](auto k) { begin<decltype(k)::value>(at); });
        for (; from < until; from += UNROLL, at += UNROLL * p.stride[L]) {
            sweep_each<0, STREAMS>([&](auto k) { next<decltype(k)::value>(at, until - from); });
            sweep_each<0, FIELDS>([&](auto f) {
                constexpr int F = decltype(f)::value;
                sweep_each<0, UNROLL>([&](auto u) {
                    constexpr int U = decltype(u)::value;
                    sweep_each<0, STREAMS>([&](auto k) { look_beside<decltype(k)::value, F, U>(); });
                    step<F, U>(from + U, at + U * p.stride[L]);
                });
                if constexpr (CHANGE) flush<F>(digit, from + UNROLL, until);
            });
            sweep_each<0, STREAMS>([&](auto k) { shift<decltype(k)::value>(); });
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

/* What a warp marches over: from .. until - 1 of the last axis. */
struct sweep_piece {
    long long warp, middle; /* its first cell, which may lie before the pass's */
    int from, until;
    bool none; /* a row of no cells, of a block that meets */
    bool away; /* not even that */
};
template <class S, bool CHANGE> __device__ __forceinline__ sweep_piece sweep_piece_of(const sweep_pass &p)
{
    typedef sweep_marching<S, CHANGE> marching;
    constexpr int CELLS = marching::CELLS, M = marching::M, L = marching::L;
    sweep_piece piece;
    const unsigned strip = blockIdx.x % p.strips, rest = blockIdx.x / p.strips;
    const unsigned chunk = rest / p.slab % p.chunks, between = rest / p.slab / p.chunks * p.slab + rest % p.slab;
    const long long begin = sweep_down(p.begin[0], SWEEP_TILE_X);
    piece.warp = begin + ((long long)strip * blockDim.y + threadIdx.y) * (32 * CELLS);
    const long long middles = marching::BY_PLANES ? sweep_down(p.begin[M], SWEEP_TILE_Y) : p.begin[M];
    piece.middle = middles + (long long)between * blockDim.z + threadIdx.z;
    piece.none = piece.middle < p.begin[M] || piece.middle >= p.end[M];
    piece.away =
        piece.warp >= p.end[0] || piece.middle - threadIdx.z >= p.end[M] || (piece.none && !marching::BY_PLANES);
    const long long last = marching::BY_ROWS ? sweep_down(p.begin[L], SWEEP_TILE_Y) : p.begin[L];
    const long long from = last + (long long)chunk * p.length;
    piece.from = (int)(from > p.begin[L] ? from : p.begin[L]);
    piece.until = (int)(from + p.length < p.end[L] ? from + p.length : p.end[L]);
    return piece;
}
template <class S, bool CHANGE>
__device__ __forceinline__ sweep_marched sweep_marched_by(const sweep_pass &p, const sweep_piece &piece)
{
    typedef sweep_marching<S, CHANGE> marching;
    constexpr int M = marching::M, L = marching::L;
    const long long behind = piece.warp + 32 * marching::CELLS;
    sweep_marched box;
    box.begin[0] = piece.warp > p.begin[0] ? piece.warp : p.begin[0];
    box.end[0] = behind < p.end[0] ? behind : p.end[0];
    box.begin[M] = piece.middle;
    box.end[M] = piece.middle + 1;
    box.begin[L] = piece.from;
    box.end[L] = piece.until;
    return box;
}

/* Not inlined, and the piece once more: registers are the march's. */
template <class S, bool CHANGE> static __device__ __noinline__ void sweep_ghosts(const sweep_pass &p)
{
    const sweep_marched box = sweep_marched_by<S, CHANGE>(p, sweep_piece_of<S, CHANGE>(p));
    sweep_put_ghosts<typename S::T, S::FIELDS, S::DIMS>(p, box);
}

template <class S, bool CHANGE> __device__ __forceinline__ void sweep_march(const sweep_pass &p)
{
    typedef sweep_marching<S, CHANGE> marching;
    constexpr int CELLS = marching::CELLS;
    const sweep_piece piece = sweep_piece_of<S, CHANGE>(p);
    if (piece.away) return;
    const bool near = !piece.none && sweep_near_faces(p, sweep_marched_by<S, CHANGE>(p, piece));
    marching m = {p};
    const int lane = (int)threadIdx.x;
    m.x = piece.warp + lane * CELLS;
    m.middle = piece.middle;
    m.place(piece.from, piece.none ? piece.from : piece.until);
    m.l = sweep_lane_at<CELLS>(lane, m.x, p.begin[0], p.end[0], marching::OWN);
    /* Lanes whose cells nobody wants read some that there are. */
    if (m.x + CELLS <= p.begin[0] - marching::OWN || m.x >= p.end[0] + marching::OWN)
        m.x = sweep_down(p.begin[0], CELLS);
    if (piece.none) m.middle = p.begin[marching::M];
    if (piece.from >= piece.until) return;
    m.march(piece.from, piece.until);
    if (near) sweep_ghosts<S, CHANGE>(p);
}

#endif
