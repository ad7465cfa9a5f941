/* SPDX-License-Identifier: Apache-2.0
 *
 * The quick march: a strip inside the grid, rows that are LEVELS away from its ends, 16 bytes a time. Rows' places in
 * the arrays turn with the steps, so that nothing is moved: a turn of ROWS steps is the loop's body.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_QUICK_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_QUICK_CUH

#include "sweep/gpu_block_strip.cuh"

namespace sweep
{
namespace block
{

template <class F> struct Quick {
    typedef typename F::number T;
    typedef T Row[CELLS];
    enum { SLOT = WIDTH * (int)sizeof(T) };

    const Plane<T> &p;
    T *shared; /* slots of the ring, then a row on its way out: cells in their order */
    unsigned address;
    int lane;
    const T *from; /* the row to be read next */
    T *to;         /* the row that the next step may write */
    int slot;      /* of the row that the turn reads first: bytes */
    int write_from, write_rows, read_stop;
    enum { HELD = F::MARCH == PAIRS ? F::LEVELS / 2 : F::LEVELS };
    Row r[HELD][F::TURN];
    enum { KEPT = F::KEPT ? F::KEPT : 1 };
    Row s[F::SUMS ? F::LEVELS : 1][KEPT]; /* pairs of the rows at the same places; one: of the oldest row */
    Row soon[2];
    Row late; /* level SPLIT's newest row but one step */

    __device__ __forceinline__ Quick(const Plane<T> &plane, T *of_block, int of_warp) : p(plane), lane(of_warp)
    {
        shared = of_block;
        address = shared_address(shared + lane * F::V);
    }

    /* Row j + AHEAD, in the turn's step P. */
    template <int P> __device__ __forceinline__ void ask(int j)
    {
        int at = slot + F::AHEAD * (int)SLOT;
        if (at >= F::RING * (int)SLOT) at -= F::RING * (int)SLOT;
        if (j + F::AHEAD < read_stop) {
#pragma unroll
            for (int k = 0; k < CELLS; k += F::V) {
                if (F::RING) /* all lanes' side by side, so not a lane's own cells where it takes several */
                    copy_16(address + (unsigned)(at + P * (int)SLOT + k * LANES * (int)sizeof(T)),
                            from + k * (int)LANES);
                else
                    load(from + k, &soon[P & 1][k]);
            }
        }
        if (F::RING) commit();
        from += p.pitch;
    }

    template <int P> __device__ __forceinline__ void take(Row &row)
    {
        if (F::RING) {
            wait<F::AHEAD>();
            if (F::OUT_CELLS) __syncwarp();
#pragma unroll
            for (int k = 0; k < CELLS; k += F::V)
                load((const T *)((const char *)shared + slot + P * (int)SLOT) + lane * CELLS + k, &row[k]);
        } else {
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                row[k] = soon[P & 1][k];
        }
    }

    /* One level of a chain: c is level t's newest row, and becomes the next level's. */
    template <int P> __device__ __forceinline__ void link(int t, Row &c)
    {
        Row next;
        Row(&kept)[KEPT] = s[F::SUMS ? t : 0];
        if constexpr (F::LEAN)
            next_row<F::GROUPS, false>(p, Ends<T>{}, r[t][P], r[t][1 - P], c, (T)0, (T)0, kept[0], next);
        else
            next_row<F::GROUPS, false>(p, Ends<T>{}, r[t][P], r[t][1 - P], c, kept[P % KEPT], kept[(1 - P) % KEPT],
                                       kept[P % KEPT], next);
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            r[t][P][k] = c[k];
            c[k] = next[k];
        }
    }

    template <int P> __device__ __forceinline__ void chained(Row &last)
    {
        constexpr int FIRST = F::SPLIT ? F::SPLIT : F::LEVELS, SECOND = F::LEVELS - FIRST;
        Row c;
        take<P>(c);
#pragma unroll
        for (int k = 0; k < CELLS; k++)
            last[k] = late[k];
#pragma unroll
        for (int t = 0; t < (FIRST > SECOND ? FIRST : SECOND); t++) {
            if (t < FIRST) link<P>(t, c);
            if (t < SECOND) link<P>(t + FIRST < F::LEVELS ? t + FIRST : 0, last);
        }
#pragma unroll
        for (int k = 0; k < CELLS; k++)
            (F::SPLIT ? late : last)[k] = c[k];
    }

    template <int P> __device__ __forceinline__ void apart(Row &last)
    {
        constexpr int B = (P + 1) % 3, C = (P + 2) % 3;
#pragma unroll
        for (int t = F::LEVELS - 1; t >= 0; t--) {
            Row(&kept)[KEPT] = s[F::SUMS ? t : 0];
            next_row<F::GROUPS, false>(p, Ends<T>{}, r[t][P], r[t][B % F::ROWS], r[t][C % F::ROWS], kept[P % KEPT],
                                       kept[B % KEPT], kept[C % KEPT],
                                       t + 1 < F::LEVELS ? r[t + 1 < F::LEVELS ? t + 1 : 0][P] : last);
        }
        take<P>(r[0][P]);
    }

    /* Where a pair's rows are in step P: the first level's older and newer row, the second's, the one that comes in.
     */
    static constexpr int place(int role, int p)
    {
        constexpr int next[5] = {1, 4, 3, 0, 2}; /* what is there in the step after */
        int at = role;
        for (int i = 0; i < p; i++)
            at = next[at];
        return at;
    }

    template <int P> __device__ __forceinline__ void pairs_apart(Row &last)
    {
        constexpr int A0 = place(0, P), B0 = place(1, P), A1 = place(2, P), B1 = place(3, P), C = place(4, P);
        constexpr int COUNT = F::LEVELS / 2;
#pragma unroll
        for (int g = COUNT - 1; g >= 0; g--) {
            Row(&q)[F::TURN] = r[g];
            next_row<F::GROUPS, false>(p, Ends<T>{}, q[A0], q[B0], q[C % F::TURN], (T)0, (T)0,
                                       s[F::SUMS ? 2 * g : 0][0], q[A0]);
            next_row<F::GROUPS, false>(p, Ends<T>{}, q[A1], q[B1 % F::TURN], q[A0], (T)0, (T)0,
                                       s[F::SUMS ? 2 * g + 1 : 0][0],
                                       g + 1 < COUNT ? r[g + 1 < COUNT ? g + 1 : 0][A1] : last);
        }
        take<P>(r[0][A1]);
    }

    /* Whole sectors at once: by way of shared memory where a lane's cells are more than 16 bytes. */
    __device__ __forceinline__ void write(bool wanted, const Row &last)
    {
        if (F::OUT_CELLS) {
#pragma unroll
            for (int k = 0; k < CELLS; k += F::V)
                store(shared + F::RING_CELLS + lane * CELLS + k, &last[k]);
            __syncwarp();
        }
#pragma unroll
        for (int k = 0; k < CELLS; k += F::V) {
            const int x = lane * F::V + k * (int)LANES;
            Row out;
            if (F::OUT_CELLS) load(shared + F::RING_CELLS + x, out);
            if (wanted && x >= F::OVERLAP && x < WIDTH - F::OVERLAP)
                store(to + k * (int)LANES, F::OUT_CELLS ? out : last);
        }
        if (F::OUT_CELLS && !F::RING) __syncwarp(); /* else the next row's wait has one */
    }

    /* Step P of a turn: reads row j. */
    template <int P> __device__ __forceinline__ void step(int j)
    {
        Row last;
        if (F::RING) ask<P>(j);
        if constexpr (F::MARCH == CHAIN)
            chained<P>(last);
        else if constexpr (F::MARCH == PAIRS)
            pairs_apart<P>(last);
        else
            apart<P>(last);
        if (!F::RING) ask<P>(j);
        write((unsigned)(j - write_from) < (unsigned)write_rows, last);
        to += p.pitch;
    }

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            late[k] = 0;
#pragma unroll
            for (int t = 0; t < F::LEVELS; t++) {
#pragma unroll
                for (int i = 0; i < F::TURN; i++) {
                    if (t < HELD) r[t < HELD ? t : 0][i][k] = 0;
                    if (i < F::KEPT) s[F::SUMS ? t : 0][i < KEPT ? i : 0][k] = 0;
                }
            }
        }
    }

    /* The rows before the march: as `ask` would have, turn after turn. */
    __device__ __forceinline__ void begin(int j)
    {
        slot = F::RING ? (F::RING - F::AHEAD) * (int)SLOT : 0;
        for (int i = -F::AHEAD; i < 0; i += F::TURN) {
            ask<0>(j + i);
            ask<1>(j + i + 1);
            if (F::TURN > 2) ask<2>(j + i + 2);
            if (F::TURN > 3) ask<3>(j + i + 3);
            if (F::TURN > 4) ask<4>(j + i + 4);
            turn();
        }
    }

    __device__ __forceinline__ void turn()
    {
        if (!F::RING) return;
        slot += F::TURN * (int)SLOT;
        if (slot == F::RING * (int)SLOT) slot = 0;
    }

    /* Rows y .. stop - 1 of a strip. */
    __device__ __forceinline__ void run(int strip, int y, int stop)
    {
        const int x = strip_of<F>(p, strip).x;
        int j = y - F::LEVELS;
        from = p.in + j * p.pitch + x + lane * (F::RING ? (int)F::V : (int)CELLS);
        to = p.out + (int64_t)(j - F::DELAY) * p.pitch + x + lane * F::V;
        write_from = y + F::DELAY;
        write_rows = stop - y;
        read_stop = stop + F::LEVELS;
        clear();
        begin(j);
        for (; j < stop + F::DELAY; j += F::TURN) {
            step<0>(j);
            step<1>(j + 1);
            if constexpr (F::TURN > 2) step<2>(j + 2);
            if constexpr (F::TURN > 3) step<3>(j + 3);
            if constexpr (F::TURN > 4) step<4>(j + 4);
            turn();
        }
        if (F::RING) wait<0>();
    }
};

} // namespace block
} // namespace sweep

#endif
