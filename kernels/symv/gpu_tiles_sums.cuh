/* SPDX-License-Identifier: Apache-2.0
 *
 * Family TILES: what a thread does with the elements that it holds, for the sums of its rows and of its columns.
 * Included by gpu_tiles.cuh.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_TILES_SUMS_CUH
#define LACIS_KERNELS_SYMV_GPU_TILES_SUMS_CUH

#include "symv/gpu_tiles_block.cuh"

/* How a sum takes a product: added to what there is; as the first, the sum being 0; or as the first of a sum of its
 * own that is then added (the canonical order of types with one element in 16 bytes). */
enum symv_taking { SYMV_ADDED, SYMV_FIRST, SYMV_APART };

template <class N>
SYMV_GPU typename N::X symv_take(typename N::X sum, typename N::M a, typename N::X x, symv_taking how)
{
    if (how == SYMV_ADDED) return N::fma(a, x, sum);
    return how == SYMV_FIRST ? N::first(a, x) : N::add(sum, N::first(a, x));
}

/* Element j of the thread's rows in column c. */
template <class T, int SIDES>
SYMV_GPU void symv_use(symv_held<T, SIDES> &h, int c, int j, typename T::M a, unsigned flip,
                       const typename T::X (&xq)[SIDES], symv_taking column_takes, bool in_row, bool in_column)
{
    typedef typename T::X X;
    const typename T::M mirror = T::N::mirror(a, flip);
#pragma unroll
    for (int side = 0; side < SIDES; side++) {
        X &sum = h.column[c * SIDES + side], &row = h.row[j * SIDES + side];
        const X of_row = symv_take<typename T::N>(row, a, xq[side], c == 0 ? SYMV_FIRST : SYMV_ADDED);
        const X of_column = symv_take<typename T::N>(sum, mirror, h.x[j * SIDES + side], column_takes);
        row = in_row ? of_row : row;
        sum = in_column ? of_column : sum;
    }
}
/* In a column that began with this tile. */
template <class T> SYMV_GPU symv_taking symv_from_0(int j)
{
    return j == 0 ? SYMV_FIRST : j >= T::V ? SYMV_APART : SYMV_ADDED;
}

template <class T, int SIDES>
SYMV_GPU void symv_x_across(typename T::X (&xq)[SIDES], const symv_shared<T, SIDES> &shared, int column)
{
#pragma unroll
    for (int side = 0; side < SIDES; side++)
        xq[side] = shared.across[column * SIDES + side];
}

template <class T, int SIDES>
SYMV_GPU void symv_begin_tile(symv_held<T, SIDES> &h, const symv_shared<T, SIDES> &shared, const symv_place<T> &at,
                              int buffer)
{
#pragma unroll
    for (int r = 0; r < T::R; r++)
#pragma unroll
        for (int k = 0; k < T::V; k++)
#pragma unroll
            for (int side = 0; side < SIDES; side++) {
                h.row[(r * T::V + k) * SIDES + side] = symv_zero<typename T::X>();
                h.x[(r * T::V + k) * SIDES + side] = shared.along[buffer][side * T::TX + at.row(r, k)];
            }
}

template <class T, bool WHOLE>
SYMV_GPU void symv_read_column(typename T::M (&v)[T::R][T::V], const typename T::M *from, const symv_place<T> &at)
{
#pragma unroll
    for (int r = 0; r < T::R; r++)
        symv_read<T, WHOLE>(v[r], from, at, r);
}

/* A whole tile. rows: its first row within a column. more: the tile behind it is whole too, and its first D columns
 * are read meanwhile. */
template <class T, int SIDES, bool WHOLE, bool RUN>
SYMV_GPU void symv_use_tile(symv_held<T, SIDES> &h, const symv_shared<T, SIDES> &shared, const typename T::M *rows,
                            const symv_place<T> &at, unsigned flip, bool more)
{
#pragma unroll
    for (int c = 0; c < T::C; c++) {
        typename T::X xq[SIDES];
        symv_x_across<T, SIDES>(xq, shared, at.column(c));
#pragma unroll
        for (int j = 0; j < T::R * T::V; j++)
            symv_use<T, SIDES>(h, c, j, h.v[c % T::D][j / T::V][j % T::V], flip, xq,
                               RUN ? SYMV_ADDED : symv_from_0<T>(j), true, true);
        if (c + T::D < T::C)
            symv_read_column<T, WHOLE>(h.v[c % T::D], rows + shared.begin[at.column(c + T::D)], at);
        else if (RUN && more)
            symv_read_column<T, WHOLE>(h.v[c % T::D], rows + T::TX + shared.begin[at.column(c + T::D - T::C)], at);
    }
}

/* A tile on the diagonal or at the edge. */
template <class T, int SIDES, bool RUN>
SYMV_GPU void symv_use_masked(symv_held<T, SIDES> &h, const symv_shared<T, SIDES> &shared, const symv_gpu_part &p,
                              const symv_place<T> &here, const symv_chunk &chunk, int tp)
{
    const symv_place<T> at = here.again();
    symv_mask mask = symv_mask_of(chunk.grid, (int64_t)tp * T::TX, (int64_t)chunk.strip * T::TY);
    const bool all = chunk.grid.canonical;
    const typename T::M *const rows = (const typename T::M *)p.a + (int64_t)tp * T::TX;
#pragma unroll
    for (int c0 = 0; c0 < T::C; c0 += T::D) {
#pragma unroll
        for (int c = c0; c < c0 + T::D; c++)
            symv_read_masked<T>(h.v[c - c0], rows + shared.begin[at.column(c)], at, at.column(c), mask, p.hermitian);
        mask = symv_again(mask);
#pragma unroll
        for (int c = c0; c < c0 + T::D; c++) {
            typename T::X xq[SIDES];
            symv_x_across<T, SIDES>(xq, shared, at.column(c));
#pragma unroll
            for (int j = 0; j < T::R * T::V; j++) {
                const int row = at.row(j / T::V, j % T::V), column = at.column(c);
                const bool in = all || symv_stored(mask, row, column);
                symv_use<T, SIDES>(h, c, j, h.v[c - c0][j / T::V][j % T::V], chunk.flip, xq,
                                   RUN ? SYMV_ADDED : symv_from_0<T>(j), in,
                                   all || (in && row + mask.shift != column));
            }
        }
    }
}

/* The canonical order's tile on the diagonal: the half that is not stored as mirror images, out of shared memory.
 * Sums of rows alone. */
template <class T, int SIDES>
SYMV_GPU void symv_use_mirrored(symv_held<T, SIDES> &h, const symv_shared<T, SIDES> &shared, const symv_gpu_part &p,
                                const symv_place<T> &here, const symv_chunk &chunk)
{
    enum { AT_ONCE = T::D < 4 ? T::D : 4 }; /* columns: the registers' sake */
    extern __shared__ int4 symv_mirror_memory[];
    typename T::M *const tile = (typename T::M *)symv_mirror_memory;
    const symv_place<T> at = here.again();
    const int64_t q0 = (int64_t)chunk.strip * T::TY;
    const symv_mask mask = symv_mask_of(chunk.grid, q0, q0), later = symv_again(mask);
#pragma unroll
    for (int c0 = 0; c0 < T::C; c0 += AT_ONCE) {
#pragma unroll
        for (int c = c0; c < c0 + AT_ONCE; c++)
            symv_read_masked<T>(h.v[c - c0], (const typename T::M *)p.a + q0 + shared.begin[at.column(c)], at,
                                at.column(c), mask, p.hermitian);
#pragma unroll
        for (int j = 0; j < AT_ONCE * T::R * T::V; j++) {
            const int row = at.row(j / T::V % T::R, j % T::V), column = at.column(c0 + j / (T::R * T::V));
            if (symv_stored(later, row, column))
                tile[symv_in_triangle(row, column)] = h.v[j / (T::R * T::V)][j / T::V % T::R][j % T::V];
        }
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < T::C; c++) {
        typename T::X xq[SIDES];
        symv_x_across<T, SIDES>(xq, shared, at.column(c));
#pragma unroll
        for (int j = 0; j < T::R * T::V; j++) {
            const int row = at.row(j / T::V, j % T::V), column = at.column(c);
            typename T::M a = symv_zero<typename T::M>();
            if (symv_within(later, row, column)) a = tile[symv_in_triangle(row, column)];
            if (!symv_stored(later, row, column) && symv_within(later, row, column)) a = T::N::mirror(a, chunk.flip);
            symv_use<T, SIDES>(h, c, j, a, chunk.flip, xq, SYMV_FIRST, true, false);
        }
    }
}

#endif
