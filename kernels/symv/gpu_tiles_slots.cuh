/* SPDX-License-Identifier: Apache-2.0
 *
 * Family TILES: how sums come together, over lanes and over a block's groups, and go to their slots (gpu_inside.h)
 * or, in family ATOMIC, into y. Included by gpu_tiles.cuh.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_TILES_SLOTS_CUH
#define LACIS_KERNELS_SYMV_GPU_TILES_SLOTS_CUH

#include "symv/gpu_tiles_block.cuh"

SYMV_GPU void symv_atomic(float *to, float x)
{
    atomicAdd(to, x);
}
SYMV_GPU void symv_atomic(double *to, double x)
{
    atomicAdd(to, x);
}
template <class C> SYMV_GPU void symv_atomic(C *to, C x)
{
    atomicAdd(&to->re, x.re);
    atomicAdd(&to->im, x.im);
}

template <class T>
SYMV_GPU void symv_put(const symv_gpu_part &p, bool atomic, int64_t slot, int sides, int side, int64_t i,
                       typename T::X sum)
{
    typedef typename T::X X;
    if constexpr (T::N::ATOMIC) {
        if (atomic) {
            const X part = T::N::step(T::N::number(p.alpha), sum, symv_zero<X>());
            symv_atomic((X *)p.y + side * p.y_side + i * p.y_step, part);
            return;
        }
    }
    ((X *)p.sums)[(slot * sides + side) * p.row + i] = sum;
}

template <class T, int SIDES>
SYMV_GPU typename T::X symv_over_groups(const typename T::X (&rows)[T::G][SIDES * T::TX], int o)
{
    typename T::X s[T::G];
#pragma unroll
    for (int w = 0; w < T::G; w++)
        s[w] = rows[w][o];
    return symv_halve<typename T::N, T::G>(s);
}

template <class T, int SIDES>
SYMV_GPU void symv_share_rows(const symv_held<T, SIDES> &h, const symv_place<T> &at,
                              typename T::X (&rows)[T::G][SIDES * T::TX])
{
#pragma unroll
    for (int r = 0; r < T::R; r++)
#pragma unroll
        for (int k = 0; k < T::V; k++)
#pragma unroll
            for (int side = 0; side < SIDES; side++)
                rows[at.group][side * T::TX + at.row(r, k)] = h.row[(r * T::V + k) * SIDES + side];
}

template <class T, int SIDES>
SYMV_GPU void symv_give_rows(const typename T::X (&rows)[T::G][SIDES * T::TX], const symv_gpu_part &p, bool atomic,
                             const symv_chunk &chunk, int tp)
{
    const int n = (int)p.grid.n, s = chunk.strip, least = p.grid.upper ? 0 : s * T::TY;
    const int end = p.grid.upper && (s + 1) * (int64_t)T::TY < n ? (s + 1) * T::TY : n;
#pragma unroll
    for (int k = 0; k < (SIDES * T::TX + T::THREADS - 1) / T::THREADS; k++) {
        const int o = (int)threadIdx.x + k * T::THREADS, i = tp * T::TX + o % T::TX;
        if (o >= SIDES * T::TX || i < least || i >= end) continue;
        symv_put<T>(p, atomic, symv_gpu_row_slot(&chunk.grid, s, i / T::TY), SIDES, o / T::TX, i,
                    symv_over_groups<T, SIDES>(rows, o));
    }
}

/* The thread's sums of columns to the block's, the first ones or after others. */
template <class T, int SIDES>
SYMV_GPU void symv_share_columns(symv_held<T, SIDES> &h, const symv_place<T> &at, typename T::X *columns, bool first)
{
    enum { COUNT = T::C * SIDES, EACH = COUNT > T::L ? COUNT / T::L : 1, SAME = COUNT < T::L ? T::L / COUNT : 1 };
    const int index = symv_fold<typename T::N, COUNT, T::L>(h.column, at.lane);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int c = (index + i) / SIDES, side = (index + i) % SIDES;
        typename T::X &to = columns[side * T::TY + at.column(c)];
        if (at.lane % SAME == 0) to = first ? h.column[i] : T::N::add(to, h.column[i]);
    }
}

template <class T, int SIDES>
SYMV_GPU void symv_give_columns(const symv_gpu_part &p, bool atomic, const typename T::X *columns,
                                const symv_chunk &chunk)
{
    const int64_t slot = symv_gpu_column_slot(&chunk.grid, chunk.strip, chunk.number);
#pragma unroll
    for (int k = 0; k < (SIDES * T::TY + T::THREADS - 1) / T::THREADS; k++) {
        const int o = (int)threadIdx.x + k * T::THREADS;
        const int64_t i = (int64_t)chunk.strip * T::TY + o % T::TY;
        if (o < SIDES * T::TY && i < p.grid.n) symv_put<T>(p, atomic, slot, SIDES, o / T::TY, i, columns[o]);
    }
}

#endif
