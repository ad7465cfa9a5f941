/* SPDX-License-Identifier: Apache-2.0
 *
 * Family TILES: what a block shares, what a thread holds, and which chunk of tiles a block has. Included by
 * gpu_tiles_sums.cuh and gpu_tiles_slots.cuh.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_TILES_BLOCK_CUH
#define LACIS_KERNELS_SYMV_GPU_TILES_BLOCK_CUH

#include "symv/gpu_tile.cuh"
#include "symv/gpu_tiles.h"

template <class T, int SIDES> struct symv_shared {
    enum { BUFFERS = SIDES > 1 ? 1 : 2 };
    typename T::X rows[BUFFERS][T::G][SIDES * T::TX]; /* sums of rows */
    typename T::X columns[SIDES * T::TY];             /* sums of columns */
    typename T::X across[SIDES * T::TY];              /* x of the strip's columns */
    typename T::X along[BUFFERS][SIDES * T::TX];      /* x of a tile's rows */
    int64_t begin[T::TY];                             /* of the strip's columns, in elements */
};

template <class T, int SIDES> struct symv_held {
    typename T::M v[T::D][T::R][T::V];
    typename T::X column[T::C * SIDES];     /* sums of columns, of the chunk so far */
    typename T::X row[T::R * T::V * SIDES]; /* sums of rows, of this tile */
    typename T::X x[T::R * T::V * SIDES];   /* x of rows */
};

/* One chunk of a strip: tiles first .. end - 1, of which those from whole to whole_end - 1 are whole and beside the
 * diagonal; the others are masked. */
struct symv_chunk {
    symv_gpu_grid grid; /* with what is known when it is compiled */
    int strip, number, first, end, whole, whole_end;
    unsigned flip;
};

/* Rows of the grid, `across` blocks each, of tiles on the diagonal. Where tiles are square and a block takes one,
 * each strip has just one such tile; as they take longest, they come first. */
template <class T, bool RUN> SYMV_BOTH int symv_rows_on_diagonal(int strips, int across)
{
    return T::SQUARE && !RUN ? (strips + across - 1) / across : 0;
}

/* Which chunk of which strip; false: none. Strips f and strips - 1 - f make one row of the grid: together they have
 * about as many tiles as any other pair. */
template <class T, bool RUN> SYMV_GPU bool symv_chunk_number(const symv_gpu_grid &g, int *strip, int *number)
{
    const int strips = (int)symv_gpu_strips(&g), m = (int)blockIdx.x, apart = T::SQUARE && !RUN ? 1 : 0;
    const int a = (int)blockIdx.y - symv_rows_on_diagonal<T, RUN>(strips, (int)gridDim.x), b = strips - 1 - a;
    if (a < 0) {
        *strip = (int)(blockIdx.y * gridDim.x) + m;
        *number = g.upper ? *strip : 0;
        return *strip < strips;
    }
    const int of_a = (int)symv_gpu_chunks(&g, a) - apart, of_b = a == b ? 0 : (int)symv_gpu_chunks(&g, b) - apart;
    *strip = m < of_a ? a : b;
    *number = (m < of_a ? m : m - of_a) + (g.upper ? 0 : apart);
    return m < of_a + of_b;
}

template <class T, bool RUN> SYMV_GPU bool symv_chunk_here(const symv_gpu_part &p, symv_chunk *chunk)
{
    symv_gpu_grid &g = chunk->grid;
    g = p.grid;
    g.tx = T::TX;
    g.ty = T::TY;
    g.canonical = T::CANONICAL && !RUN && p.grid.canonical;
    if (!RUN) g.chunk = 1;
    if (!symv_chunk_number<T, RUN>(g, &chunk->strip, &chunk->number)) return false;
    const int n = (int)g.n, s = chunk->strip, last = (int)symv_gpu_end(&g, s);
    chunk->first = (int)symv_gpu_first(&g, s) + chunk->number * g.chunk;
    chunk->end = min(chunk->first + g.chunk, last);
    const bool narrow = (s + 1) * (int64_t)T::TY > n;
    const int from = g.upper ? 0 : ((s + 1) * T::TY + T::TX - 1) / T::TX;
    const int to = narrow ? 0 : g.upper ? s * T::TY / T::TX : n / T::TX;
    chunk->whole = max(from, chunk->first);
    chunk->whole_end = max(min(to, chunk->end), chunk->whole);
    if (chunk->whole == chunk->whole_end) chunk->whole = chunk->whole_end = chunk->first;
    chunk->flip = p.hermitian ? SYMV_FLIP : 0;
    return true;
}

#endif
