/* SPDX-License-Identifier: Apache-2.0
 *
 * The careful march: whatever the quick one is not for. Cells are read and written one by one, at columns and rows
 * that may wrap. Levels are chained, two rows each.
 *
 * Ghosts are not kept. Along x they are made where a neighbour is wanted. A row beyond an end along y takes the place
 * of the one that was computed of nothing there: behind the last row as soon as it would be made, before the first
 * when the second is there. PERIODIC: cells of the other side are read, and computed once more.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_CAREFUL_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_CAREFUL_CUH

#include "sweep/gpu_block_strip.cuh"

namespace sweep
{
namespace block
{

template <class F> struct Careful {
    typedef typename F::number T;
    typedef T Row[CELLS];
    enum { RING = F::CAREFUL_RING, AHEAD = RING - 2, SIZE = (int)sizeof(T) };

    const Plane<T> &p;
    const T *ring; /* the lane's place in the first slot */
    unsigned address;
    int lane;
    Strip strip;
    int first; /* column of the lane's first cell, as in Strip */
    Ends<T> ends;
    int low,
        high; /* a level whose newest row is this has the first row, or the last, to be given to the next level */
    int row;  /* to be read next, wrapped */
    Row r[F::LEVELS][2];
    Row s[F::SUMS ? F::LEVELS : 1]; /* pairs of the older row */

    __device__ __forceinline__ Careful(const Plane<T> &plane, const T *mine, int of_warp) : p(plane), lane(of_warp)
    {
        ring = mine + lane * F::V;
        address = shared_address(ring);
    }

    __device__ __forceinline__ static int slot(int j)
    {
        return (j & (RING - 1)) * WIDTH;
    }

    __device__ __forceinline__ void ask(int j)
    {
        const T *from = p.in + row * p.pitch;
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            const int x = first + k, shift = x < 0 ? p.nx : x >= p.nx ? -p.nx : 0;
            copy_one<SIZE>(address + (unsigned)((slot(j) + cell_place<T>(k)) * SIZE), from + (x + shift));
        }
        commit();
        if (row < p.ny - 1)
            row++;
        else if (p.wraps_y)
            row = 0;
    }

    __device__ __forceinline__ void take(int j, Row &to)
    {
        wait<AHEAD>();
#pragma unroll
        for (int k = 0; k < CELLS; k += F::V)
            load(ring + slot(j) + cell_place<T>(k), &to[k]);
    }

    /* Row b's next values. */
    __device__ __forceinline__ void inside(const Row &a, const Row &b, const Row &c, Row &sa, Row &to)
    {
        next_row<F::GROUPS, true>(p, ends, a, b, c, sa, to);
        to[0] = ends.hold_left ? b[0] : to[0];
        to[CELLS - 1] = ends.hold_right ? b[CELLS - 1] : to[CELLS - 1];
    }

    /* The rows beside row b, which is the first or the last, or both. */
    __device__ __forceinline__ void at_end(Row &a, const Row &b, Row &c, Row &sa, bool first_row, bool last_row)
    {
        if (last_row) {
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                c[k] = beyond(p.edge[3], b[k], a[k]);
        }
        if (first_row) {
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                a[k] = beyond(p.edge[2], b[k], c[k]);
            if (F::SUMS) pairs<true>(a, ends, sa);
        }
    }

    /* Reads row j, gives row j - LEVELS of the last level. P: where older rows are, in turn. ENDS: rows at the grid's
     * ends may be among them. */
    template <int P, bool ENDS> __device__ __forceinline__ void step(int j, Row &c)
    {
        ask(j + AHEAD);
        take(j, c);
#pragma unroll
        for (int t = 0; t < F::LEVELS; t++) {
            Row next;
            Row &a = r[t][P], &sa = s[F::SUMS ? t : 0];
            const Row &b = r[t][1 - P];
            const bool first_row = ENDS && j - t == low, last_row = ENDS && j - t == high;
            if (first_row || last_row) at_end(a, b, c, sa, first_row, last_row);
            inside(a, b, c, sa, next);
            if ((first_row && p.edge[2].kind == LACIS_SWEEP_HOLD) ||
                (last_row && p.edge[3].kind == LACIS_SWEEP_HOLD)) {
#pragma unroll
                for (int k = 0; k < CELLS; k++)
                    next[k] = b[k];
            }
#pragma unroll
            for (int k = 0; k < CELLS; k++) {
                a[k] = c[k];
                c[k] = next[k];
            }
        }
    }

    template <int P, bool ENDS> __device__ __forceinline__ void step_and_write(int j, int from)
    {
        Row last;
        step<P, ENDS>(j, last);
        if (j - F::LEVELS >= from) write(j - F::LEVELS, last);
    }

    __device__ __forceinline__ void write(int y, const Row &last)
    {
        T *to = p.out + y * p.pitch;
#pragma unroll
        for (int k = 0; k < CELLS; k++)
            if (first + k >= strip.begin && first + k < strip.end) to[first + k] = last[k];
    }

    /* What was newer becomes older. */
    __device__ __forceinline__ void swap()
    {
#pragma unroll
        for (int t = 0; t < F::LEVELS; t++)
#pragma unroll
            for (int k = 0; k < CELLS; k++) {
                const T older = r[t][1][k];
                r[t][1][k] = r[t][0][k];
                r[t][0][k] = older;
            }
    }

    __device__ __forceinline__ void begin(int number)
    {
        strip = strip_of<F>(p, number);
        ends = ends_of(!p.wraps_x && strip.x == 0 && lane == 0,
                       !p.wraps_x && strip.x + WIDTH == p.nx && lane == LANES - 1, p.edge);
        first = strip.x + lane * CELLS;
        low = p.wraps_y ? INT32_MIN : 1;
        high = p.wraps_y ? INT32_MIN : p.ny;
#pragma unroll
        for (int t = 0; t < F::LEVELS; t++)
#pragma unroll
            for (int k = 0; k < CELLS; k++) {
                r[t][0][k] = r[t][1][k] = 0;
                if (F::SUMS) s[F::SUMS ? t : 0][k] = 0;
            }
    }

    /* Rows y .. stop - 1 of a strip. */
    __device__ __forceinline__ void run(int number, int y, int stop)
    {
        begin(number);
        int j = y - F::LEVELS;
        if (!p.wraps_y && j < 0) j = 0;
        row = j < 0 ? (j % p.ny + p.ny) % p.ny : j;
        for (int i = 0; i < AHEAD; i++)
            ask(j + i);
        const int behind = stop + F::LEVELS;
        while (j < behind) {
            /* Until then no level has one of the grid's ends before it. */
            const int quick = p.wraps_y ? behind : j > F::LEVELS ? min(behind, p.ny) : j;
            for (; j + 1 < quick; j += 2) {
                step_and_write<0, false>(j, y);
                step_and_write<1, false>(j + 1, y);
            }
            if (j >= behind) break;
            step_and_write<0, true>(j++, y);
            swap();
        }
        wait<0>();
    }
};

} // namespace block
} // namespace sweep

#endif
