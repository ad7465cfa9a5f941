/* SPDX-License-Identifier: Apache-2.0
 *
 * Family TILES, the first pass: a block takes a chunk of tiles of one strip, each through registers (gpu_tile.cuh).
 * As soon as a column is used up, the load of the one D columns behind it is under way, in a run of tiles that of the
 * next tile. Sums of columns stay in registers over the chunk and are folded over lanes once; sums of rows go over
 * the block's groups through shared memory, tile by tile. Both go to their slots (gpu_inside.h) or, in family ATOMIC,
 * into y. Compiled for one type each by gpu_tiles_*.cu.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_TILES_CUH
#define LACIS_KERNELS_SYMV_GPU_TILES_CUH

#include "symv/gpu_tile.cuh"
#include "symv/gpu_tiles.h"

/* --- what a block shares, what a thread holds --------------------------------------------------------------------
 */

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

/* One chunk of a strip. */
struct symv_chunk {
    symv_gpu_grid grid; /* with what is known when it is compiled */
    int64_t strip, number, first, end;
    unsigned flip;
};

/* Strips f and strips - 1 - f make one row of the grid: together they have about as many tiles as any other pair. */
template <class T, bool RUN> SYMV_GPU bool symv_chunk_here(const symv_gpu_part &p, symv_chunk *chunk)
{
    symv_gpu_grid &g = chunk->grid;
    g = p.grid;
    g.tx = T::TX;
    g.ty = T::TY;
    if (!RUN) g.chunk = 1;
    const int64_t a = blockIdx.y, b = symv_gpu_strips(&g) - 1 - a, m = blockIdx.x;
    const int64_t of_a = symv_gpu_chunks(&g, a), of_b = a == b ? 0 : symv_gpu_chunks(&g, b);
    chunk->strip = m < of_a ? a : b;
    chunk->number = m < of_a ? m : m - of_a;
    chunk->first = symv_gpu_first(&g, chunk->strip) + chunk->number * g.chunk;
    const int64_t last = symv_gpu_end(&g, chunk->strip);
    chunk->end = chunk->first + g.chunk < last ? chunk->first + g.chunk : last;
    chunk->flip = p.hermitian ? SYMV_FLIP : 0;
    return m < of_a + of_b;
}

/* --- using elements ------------------------------------------------------------------------------------------------
 */

template <class T, int SIDES>
SYMV_GPU void symv_use(symv_held<T, SIDES> &h, int c, int j, typename T::M a, unsigned flip,
                       const typename T::X (&xq)[SIDES], bool in_row, bool in_column)
{
    const typename T::M mirror = T::N::mirror(a, flip);
#pragma unroll
    for (int side = 0; side < SIDES; side++) {
        const int i = j * SIDES + side;
        const typename T::X row = T::N::fma(a, xq[side], h.row[i]);
        const typename T::X column = T::N::fma(mirror, h.x[i], h.column[c * SIDES + side]);
        h.row[i] = in_row ? row : h.row[i];
        h.column[c * SIDES + side] = in_column ? column : h.column[c * SIDES + side];
    }
}

template <class T, int SIDES>
SYMV_GPU void symv_x_across(typename T::X (&xq)[SIDES], const symv_shared<T, SIDES> &shared, int column)
{
#pragma unroll
    for (int side = 0; side < SIDES; side++)
        xq[side] = shared.across[side * T::TY + column];
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
            symv_use<T, SIDES>(h, c, j, h.v[c % T::D][j / T::V][j % T::V], flip, xq, true, true);
        if (c + T::D < T::C)
            symv_read_column<T, WHOLE>(h.v[c % T::D], rows + shared.begin[at.column(c + T::D)], at);
        else if (RUN && more)
            symv_read_column<T, WHOLE>(h.v[c % T::D], rows + T::TX + shared.begin[at.column(c + T::D - T::C)], at);
    }
}

/* A tile on the diagonal or at the edge. */
template <class T, int SIDES>
SYMV_GPU void symv_use_masked(symv_held<T, SIDES> &h, const symv_shared<T, SIDES> &shared, const symv_gpu_part &p,
                              const symv_place<T> &here, const symv_chunk &chunk, int64_t tp)
{
    const symv_place<T> at = here.again();
    symv_mask mask = symv_mask_of(chunk.grid, tp * T::TX, chunk.strip * T::TY);
    const bool all = p.grid.canonical, mirrored = all && tp == chunk.strip;
    const typename T::M *const rows = (const typename T::M *)p.a + tp * T::TX;
#pragma unroll
    for (int c0 = 0; c0 < T::C; c0 += T::D) {
#pragma unroll
        for (int c = c0; c < c0 + T::D; c++)
            symv_read_masked<T>(h.v[c - c0], rows + shared.begin[at.column(c)], at, at.column(c), mask, p.hermitian);
        if (mirrored) {
#pragma unroll
            for (int c = c0; c < c0 + T::D; c++)
                symv_read_mirrored<T>(h.v[c - c0], p, chunk.strip * T::TY, at, at.column(c), mask);
        }
        mask = symv_again(mask);
#pragma unroll
        for (int c = c0; c < c0 + T::D; c++) {
            typename T::X xq[SIDES];
            symv_x_across<T, SIDES>(xq, shared, at.column(c));
#pragma unroll
            for (int j = 0; j < T::R * T::V; j++) {
                const int row = at.row(j / T::V, j % T::V), column = at.column(c);
                const bool in = all || symv_stored(mask, row, column);
                symv_use<T, SIDES>(h, c, j, h.v[c - c0][j / T::V][j % T::V], chunk.flip, xq, in,
                                   all || (in && row + mask.shift != column));
            }
        }
    }
}

/* --- handing sums over
 * ------------------------------------------------------------------------------------------------ */

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
                             const symv_chunk &chunk, int64_t tp)
{
    const int64_t s = chunk.strip, least = p.grid.upper ? 0 : s * T::TY;
    const int64_t end = p.grid.upper && (s + 1) * T::TY < p.grid.n ? (s + 1) * T::TY : p.grid.n;
    for (int o = (int)threadIdx.x; o < SIDES * T::TX; o += T::THREADS) {
        const int64_t i = tp * T::TX + o % T::TX;
        if (i < least || i >= end) continue;
        symv_put<T>(p, atomic, symv_gpu_row_slot(&chunk.grid, s, (uint32_t)i / T::TY), SIDES, o / T::TX, i,
                    symv_over_groups<T, SIDES>(rows, o));
    }
}

template <class T, int SIDES>
SYMV_GPU void symv_give_columns(symv_held<T, SIDES> &h, const symv_gpu_part &p, bool atomic, const symv_place<T> &at,
                                typename T::X *columns, const symv_chunk &chunk)
{
    enum { COUNT = T::C * SIDES, EACH = COUNT > T::L ? COUNT / T::L : 1, SAME = COUNT < T::L ? T::L / COUNT : 1 };
    const int first = symv_fold<typename T::N, COUNT, T::L>(h.column, at.lane);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int c = (first + i) / SIDES, side = (first + i) % SIDES;
        if (at.lane % SAME == 0) columns[side * T::TY + at.column(c)] = h.column[i];
    }
    __syncthreads();
    const int64_t slot = symv_gpu_column_slot(&chunk.grid, chunk.strip, chunk.number);
    for (int o = (int)threadIdx.x; o < SIDES * T::TY; o += T::THREADS) {
        const int64_t i = chunk.strip * T::TY + o % T::TY;
        if (i < p.grid.n) symv_put<T>(p, atomic, slot, SIDES, o / T::TY, i, columns[o]);
    }
}

/* --- the kernel
 * --------------------------------------------------------------------------------------------------------- */

/* x of a tile's rows; of thread o the elements o, o + THREADS ... */
template <class T, int SIDES> struct symv_x_rows {
    enum { COUNT = (SIDES * T::TX + T::THREADS - 1) / T::THREADS };
    typename T::X x[COUNT];

    __device__ __forceinline__ void read(const symv_gpu_part &p, int64_t tp)
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const int o = (int)threadIdx.x + i * T::THREADS;
            if (o < SIDES * T::TX) x[i] = symv_x<T>(p, tp * T::TX + o % T::TX, o / T::TX);
        }
    }
    __device__ __forceinline__ void share(typename T::X (&to)[SIDES * T::TX]) const
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const int o = (int)threadIdx.x + i * T::THREADS;
            if (o < SIDES * T::TX) to[o] = x[i];
        }
    }
};

/* The first D columns of a tile, before shared memory says where columns begin. */
template <class T, bool WHOLE>
SYMV_GPU void symv_read_first(typename T::M (&v)[T::D][T::R][T::V], const symv_gpu_part &p, const symv_place<T> &at,
                              const symv_chunk &chunk)
{
    const symv_columns columns = symv_columns_of<T>(p, chunk.strip * T::TY + at.group);
    const typename T::M *from = (const typename T::M *)p.a + chunk.first * T::TX + columns.first;
    int64_t step = columns.step;
#pragma unroll
    for (int c = 0; c < T::D; c++) {
        symv_read_column<T, WHOLE>(v[c], from, at);
        from += step;
        step += columns.bend;
    }
}

template <class T, int SIDES>
SYMV_GPU void symv_begin(symv_held<T, SIDES> &h, symv_shared<T, SIDES> &shared, const symv_gpu_part &p,
                         const symv_place<T> &at, const symv_chunk &chunk)
{
    symv_x_rows<T, SIDES> along;
    along.read(p, chunk.first);
    for (int o = (int)threadIdx.x; o < SIDES * T::TY; o += T::THREADS)
        shared.across[o] = symv_x<T>(p, chunk.strip * T::TY + o % T::TY, o / T::TY);
    for (int o = (int)threadIdx.x; o < T::TY; o += T::THREADS)
        shared.begin[o] = symv_gpu_column(&p, chunk.strip * T::TY + o);
    along.share(shared.along[0]);
#pragma unroll
    for (int i = 0; i < T::C * SIDES; i++)
        h.column[i] = symv_zero<typename T::X>();
    __syncthreads();
}

/* WHOLE: the matrix lies so that 16 bytes can be read at once. RUN: chunks may have several tiles. */
template <class T, int SIDES, bool WHOLE, bool RUN>
static __global__ void __launch_bounds__(T::THREADS, T::RESIDENT)
    symv_tiles_kernel(const __grid_constant__ symv_gpu_part p, const bool atomic)
{
    typedef symv_shared<T, SIDES> shared_type;
    __shared__ shared_type shared;
    symv_held<T, SIDES> h;
    symv_chunk chunk;
    symv_gpu_early();
    if (!symv_chunk_here<T, RUN>(p, &chunk)) return;
    const symv_place<T> at = symv_place<T>::here(!WHOLE && !p.grid.canonical);
    bool whole = symv_whole_tile<T>(chunk.grid, chunk.first, chunk.strip), held = whole;
    if (whole) symv_read_first<T, WHOLE>(h.v, p, at, chunk);
    symv_begin<T, SIDES>(h, shared, p, at, chunk);
    int buffer = 0;
    for (int64_t tp = chunk.first; tp < (RUN ? chunk.end : chunk.first + 1); tp++) {
        const typename T::M *const rows = (const typename T::M *)p.a + tp * T::TX;
        const bool more = RUN && tp + 1 < chunk.end;
        const bool next = more && symv_whole_tile<T>(chunk.grid, tp + 1, chunk.strip);
        symv_x_rows<T, SIDES> along;
        if (more) along.read(p, tp + 1);
        symv_begin_tile<T, SIDES>(h, shared, at, buffer);
        if (RUN && whole && !held) {
#pragma unroll
            for (int c = 0; c < T::D; c++)
                symv_read_column<T, WHOLE>(h.v[c], rows + shared.begin[at.column(c)], at);
        }
        if (whole)
            symv_use_tile<T, SIDES, WHOLE, RUN>(h, shared, rows, at, chunk.flip, next);
        else
            symv_use_masked<T, SIDES>(h, shared, p, at, chunk, tp);
        held = whole && next;
        whole = next;
        if (shared_type::BUFFERS == 1 && tp > chunk.first)
            __syncthreads(); /* what the last tile gave has been taken */
        symv_share_rows<T, SIDES>(h, at, shared.rows[buffer]);
        if (RUN && shared_type::BUFFERS == 1) __syncthreads(); /* x of this tile is in registers everywhere */
        if (more) along.share(shared.along[(buffer + 1) % shared_type::BUFFERS]);
        __syncthreads();
        symv_give_rows<T, SIDES>(shared.rows[buffer], p, atomic, chunk, tp);
        buffer = (buffer + 1) % shared_type::BUFFERS;
    }
    if (p.grid.canonical && chunk.first == chunk.strip) return; /* mirrored: its sums of rows are all */
    symv_give_columns<T, SIDES>(h, p, atomic, at, shared.columns, chunk);
}

/* --- what a type's file lists
 * ---------------------------------------------------------------------------------------------- */

template <class T, int SIDES, bool WHOLE, bool RUN>
static cudaError_t symv_launch_tiles(const symv_gpu_part *p, bool atomic, int64_t most, cudaStream_t stream)
{
    const int64_t strips = symv_gpu_strips(&p->grid);
    const dim3 grid((unsigned)most, (unsigned)((strips + 1) / 2));
    symv_tiles_kernel<T, SIDES, WHOLE, RUN><<<grid, T::THREADS, 0, stream>>>(*p, atomic);
    return cudaGetLastError();
}

/* N, the numbers; the rest as in gpu_choices.h. */
#define SYMV_TILES(N, TX, TY, WARPS, DEEP, RESIDENT, SIDES, WHOLE, RUN)                                              \
    {                                                                                                                \
        TX, TY, WARPS, RESIDENT, SIDES, WHOLE, RUN, symv_shape<N, TX, TY, WARPS, DEEP, RESIDENT>::LOADS,             \
            symv_launch_tiles<symv_shape<N, TX, TY, WARPS, DEEP, RESIDENT>, SIDES, WHOLE, RUN>                       \
    }
/* An entry of a list of gpu_choices.h, for the type NUMBER. */
#define SYMV_TILES_ENTRY(TX, TY, WARPS, DEEP, RESIDENT, RUN)                                                         \
    SYMV_TILES(NUMBER, TX, TY, WARPS, DEEP, RESIDENT, 1, true, RUN),

#endif
