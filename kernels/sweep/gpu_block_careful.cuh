/* SPDX-License-Identifier: Apache-2.0
 *
 * The careful march: whatever the quick one is not for. Cells are read and written one by one, at columns and rows
 * that may wrap. Levels are chained, two rows each.
 *
 * Ghosts are not kept. Along x they are made where a neighbour is wanted. A row beyond an end along y takes the place
 * of the one that was computed of nothing there: behind the last row as soon as it would be made, before the first
 * when the second is there. PERIODIC: cells of the other side are read, and computed once more. With open ends VALUES
 * are read where they lie, beyond the faces.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_CAREFUL_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_CAREFUL_CUH

#include "sweep/gpu_block_open.cuh"
#include "sweep/gpu_block_strip.cuh"

namespace sweep
{
namespace block
{

template <class F, class E> struct Careful {
    typedef typename F::number T;
    typedef T Row[CELLS];
    static constexpr bool OPEN = is_open<E>();
    enum { RING = F::CAREFUL_RING, AHEAD = RING - 2, SIZE = (int)sizeof(T) };

    const Plane<T> &p;
    const T *ring; /* the lane's place in the first slot */
    unsigned address;
    int lane;
    Strip strip;
    int first; /* column of the lane's first cell, as in Strip */
    E ends;
    int column[OPEN ? CELLS : 1]; /* of the lane's cells, where there are such */
    int lap;                      /* the row that is read, less the one that it is in the grid */
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
            const int at = first + k, shift = at < 0 ? p.nx : at >= p.nx ? -p.nx : 0;
            const int x = OPEN ? column[OPEN ? k : 0] : at + shift;
            copy_one<SIZE>(address + (unsigned)((slot(j) + cell_place<T>(k)) * SIZE), from + x);
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

    /* What lies beside row y at the lane's end of the grid. */
    __device__ __forceinline__ T beside_of(const Row &row, int y)
    {
        T value = beside(row, ends);
        if constexpr (OPEN) {
            if (ends.values) {
                const int line = place_in(y - lap, p.ny, p.wraps_y); /* there are rows of nothing, too */
                value = p.in[line * p.pitch + (ends.left ? -1 : p.nx)];
            }
        }
        return value;
    }
    /* VALUES beyond an end along y: the row `line`, and what continues it along x. */
    __device__ __forceinline__ void given_row(int line, Row &row, T &ghost)
    {
        if constexpr (OPEN) {
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                row[k] = p.in[line * p.pitch + column[k]];
            ghost = outermost(row, ends);
        }
    }

    /* The next values of row b, of number y. ghost: beside c, where the rule asks for it. */
    __device__ __forceinline__ void inside(const Row &a, const Row &b, const Row &c, int y, T ghost, Row &sa, Row &to)
    {
        next_row<F::GROUPS, true>(p, ends, a, b, c, beside_of(b, y), ghost, sa, to);
        hold(ends, b, to);
    }

    /* The rows beside row b, which is the first or the last, or both. What lies beside them is made as they are, from
     * what lies beside rows of the grid. */
    __device__ __forceinline__ void at_end(Row &a, const Row &b, Row &c, T &ghost, Row &sa, bool first_row,
                                           bool last_row)
    {
        if (last_row) {
            if (F::SUMS) ghost = beyond(p.edge[3], beside_of(b, p.ny - 1), beside_of(a, p.ny - 2));
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                c[k] = beyond(p.edge[3], b[k], a[k]);
            if (OPEN && p.edge[3].kind == LACIS_SWEEP_VALUES) given_row(p.ny, c, ghost);
        }
        if (first_row) {
            T of_a = F::SUMS ? beyond(p.edge[2], beside_of(b, 0), beside_of(c, 1)) : (T)0;
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                a[k] = beyond(p.edge[2], b[k], c[k]);
            if (OPEN && p.edge[2].kind == LACIS_SWEEP_VALUES) given_row(-1, a, of_a);
            if (F::SUMS) pairs<true>(a, ends, of_a, sa);
        }
    }

    /* Reads row j, gives row j - LEVELS of the last level. P: where older rows are, in turn. ENDS: rows at the grid's
     * ends may be among them. */
    template <int P, bool ENDS> __device__ __forceinline__ void step(int j, Row &c)
    {
        ask(j + AHEAD);
        take(j, c);
        if (OPEN && p.wraps_y && j - lap >= p.ny) lap += p.ny;
#pragma unroll
        for (int t = 0; t < F::LEVELS; t++) {
            Row next;
            Row &a = r[t][P], &sa = s[F::SUMS ? t : 0];
            const Row &b = r[t][1 - P];
            const bool first_row = ENDS && j - t == low, last_row = ENDS && j - t == high;
            T ghost = F::SUMS ? beside_of(c, j - t) : (T)0;
            if (first_row || last_row) at_end(a, b, c, ghost, sa, first_row, last_row);
            inside(a, b, c, j - t - 1, ghost, sa, next);
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
        first = strip.x + lane * CELLS;
        if constexpr (OPEN) {
            ends = open_ends_of(!p.wraps_x && first == 0, p.wraps_x ? 0 : p.nx - first, p.edge);
#pragma unroll
            for (int k = 0; k < CELLS; k++)
                column[k] = place_in(first + k, p.nx, p.wraps_x);
        } else {
            ends = ends_of(!p.wraps_x && strip.x == 0 && lane == 0,
                           !p.wraps_x && strip.x + WIDTH == p.nx && lane == LANES - 1, p.edge);
        }
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
        lap = j - row;
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
