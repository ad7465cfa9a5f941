/* SPDX-License-Identifier: Apache-2.0
 *
 * Family TILES, the first pass: a block takes a chunk of tiles of one strip, each through registers (gpu_tile.cuh).
 * As soon as a column is used up, the load of the one D columns behind it is under way, in a run of tiles that of the
 * next tile. Sums of columns stay in registers over the chunk and are folded over lanes once; sums of rows go over
 * the block's groups through shared memory, tile by tile. Both go to their slots (gpu_inside.h) or, in family ATOMIC,
 * into y. Compiled for one type each by gpu_type_*.cu.
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

/* --- using elements ------------------------------------------------------------------------------------------------
 */

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

/* --- the kernel
 * --------------------------------------------------------------------------------------------------------- */

/* x of COUNT rows or columns from one on, a thread's share of it: elements o, o + THREADS .. of all sides, which lie
 * NEXT to each other or each apart. */
template <class T, int SIDES, int COUNT, bool NEXT> struct symv_x_share {
    enum { EACH = (SIDES * COUNT + T::THREADS - 1) / T::THREADS };
    typename T::X x[EACH];

    __device__ __forceinline__ void read(const symv_gpu_part &p, int64_t first)
    {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int o = (int)threadIdx.x + i * T::THREADS;
            if (o < SIDES * COUNT)
                x[i] = symv_x<T>(p, first + (NEXT ? o / SIDES : o % COUNT), NEXT ? o % SIDES : o / COUNT);
        }
    }
    __device__ __forceinline__ void share(typename T::X (&to)[SIDES * COUNT]) const
    {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int o = (int)threadIdx.x + i * T::THREADS;
            if (o < SIDES * COUNT) to[o] = x[i];
        }
    }
};

/* The first D columns of a tile, before shared memory says where columns begin. */
template <class T, bool WHOLE>
SYMV_GPU void symv_read_first(typename T::M (&v)[T::D][T::R][T::V], const symv_gpu_part &p, const symv_place<T> &at,
                              const symv_chunk &chunk)
{
    const symv_columns columns = symv_columns_of<T>(p, (int64_t)chunk.strip * T::TY + at.group);
    const typename T::M *from = (const typename T::M *)p.a + (int64_t)chunk.whole * T::TX + columns.first;
    int64_t step = columns.step;
#pragma unroll
    for (int c = 0; c < T::D; c++) {
        symv_read_column<T, WHOLE>(v[c], from, at);
        from += step;
        step += columns.bend;
    }
}

template <class T, int SIDES>
SYMV_GPU void symv_begin(symv_shared<T, SIDES> &shared, const symv_gpu_part &p, const symv_chunk &chunk)
{
    symv_x_share<T, SIDES, T::TX, false> along;
    symv_x_share<T, SIDES, T::TY, true> across;
    along.read(p, (int64_t)chunk.whole * T::TX);
    across.read(p, (int64_t)chunk.strip * T::TY);
#pragma unroll
    for (int i = 0; i < (T::TY + T::THREADS - 1) / T::THREADS; i++) {
        const int o = (int)threadIdx.x + i * T::THREADS;
        if (o < T::TY) shared.begin[o] = symv_gpu_column(&p, (int64_t)chunk.strip * T::TY + o);
    }
    along.share(shared.along[0]);
    across.share(shared.across);
    __syncthreads();
}

template <class T, int SIDES> SYMV_GPU void symv_no_columns(symv_held<T, SIDES> &h)
{
#pragma unroll
    for (int i = 0; i < T::C * SIDES; i++)
        h.column[i] = symv_zero<typename T::X>();
}

/* The chunk's whole tiles; the first one's first columns are on their way, its x is shared. */
template <class T, int SIDES, bool WHOLE, bool RUN>
SYMV_GPU void symv_whole_tiles(symv_held<T, SIDES> &h, symv_shared<T, SIDES> &shared, const symv_gpu_part &p,
                               bool atomic, const symv_place<T> &at, const symv_chunk &chunk)
{
    enum { BUFFERS = symv_shared<T, SIDES>::BUFFERS };
    const typename T::M *rows = (const typename T::M *)p.a + (int64_t)chunk.whole * T::TX;
    int buffer = 0;
    symv_no_columns<T, SIDES>(h);
    for (int tp = chunk.whole; tp < (RUN ? chunk.whole_end : chunk.whole + 1); tp++) {
        const bool more = RUN && tp + 1 < chunk.whole_end;
        symv_x_share<T, SIDES, T::TX, false> along;
        if (more) along.read(p, (int64_t)(tp + 1) * T::TX);
        symv_begin_tile<T, SIDES>(h, shared, at, buffer);
        symv_use_tile<T, SIDES, WHOLE, RUN>(h, shared, rows, at, chunk.flip, more);
        if (BUFFERS == 1 && RUN) __syncthreads(); /* the last tile's sums and this one's x have been taken */
        symv_share_rows<T, SIDES>(h, at, shared.rows[buffer]);
        if (more) along.share(shared.along[(buffer + 1) % BUFFERS]);
        __syncthreads();
        symv_give_rows<T, SIDES>(shared.rows[buffer], p, atomic, chunk, tp);
        buffer = (buffer + 1) % BUFFERS;
        rows += T::TX;
    }
    symv_share_columns<T, SIDES>(h, at, shared.columns, true);
}

/* Tile tp, which is masked. */
template <class T, int SIDES, bool RUN>
SYMV_GPU void symv_masked_tile(symv_held<T, SIDES> &h, symv_shared<T, SIDES> &shared, const symv_gpu_part &p,
                               bool atomic, const symv_place<T> &at, const symv_chunk &chunk, int tp, bool first)
{
    if (RUN && !(first && tp == chunk.first)) { /* else its x is shared already */
        symv_x_share<T, SIDES, T::TX, false> along;
        along.read(p, (int64_t)tp * T::TX);
        __syncthreads();
        along.share(shared.along[0]);
        __syncthreads();
    }
    symv_no_columns<T, SIDES>(h);
    symv_begin_tile<T, SIDES>(h, shared, at, 0);
    symv_use_masked<T, SIDES, RUN>(h, shared, p, at, chunk, tp);
    symv_share_rows<T, SIDES>(h, at, shared.rows[0]);
    symv_share_columns<T, SIDES>(h, at, shared.columns, first);
    __syncthreads();
    symv_give_rows<T, SIDES>(shared.rows[0], p, atomic, chunk, tp);
}

/* The canonical order's tile on the diagonal, whose x is shared. */
template <class T, int SIDES>
SYMV_GPU void symv_mirrored_tile(symv_held<T, SIDES> &h, symv_shared<T, SIDES> &shared, const symv_gpu_part &p,
                                 const symv_place<T> &at, const symv_chunk &chunk)
{
    symv_begin_tile<T, SIDES>(h, shared, at, 0);
    symv_use_mirrored<T, SIDES>(h, shared, p, at, chunk);
    symv_share_rows<T, SIDES>(h, at, shared.rows[0]);
    __syncthreads();
    symv_give_rows<T, SIDES>(shared.rows[0], p, false, chunk, chunk.first);
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
    const bool any = chunk.whole < chunk.whole_end;
    if (any) symv_read_first<T, WHOLE>(h.v, p, at, chunk);
    symv_begin<T, SIDES>(shared, p, chunk);
    if (any) symv_whole_tiles<T, SIDES, WHOLE, RUN>(h, shared, p, atomic, at, chunk);
    if constexpr (T::CANONICAL && !RUN)
        if (chunk.grid.canonical && chunk.first == chunk.strip) {
            symv_mirrored_tile<T, SIDES>(h, shared, p, at, chunk);
            return;
        }
    if constexpr (RUN) {
        bool first = !any;
        for (int tp = chunk.first; tp < chunk.end; tp++) {
            if (tp >= chunk.whole && tp < chunk.whole_end) continue;
            symv_masked_tile<T, SIDES, RUN>(h, shared, p, atomic, at, chunk, tp, first);
            first = false;
        }
    } else if (!any) {
        symv_masked_tile<T, SIDES, RUN>(h, shared, p, atomic, at, chunk, chunk.first, true);
    }
    __syncthreads();
    symv_give_columns<T, SIDES>(p, atomic, shared.columns, chunk);
}

/* --- what a type's file lists
 * ---------------------------------------------------------------------------------------------- */

template <class T, int SIDES, bool WHOLE, bool RUN>
static cudaError_t symv_launch_tiles(const symv_gpu_part *p, bool atomic, int64_t most, cudaStream_t stream)
{
    enum { TRIANGLE = T::CANONICAL && !RUN ? T::TX * (T::TX + 1) / 2 * (int)sizeof(typename T::M) : 0 };
    const int64_t strips = symv_gpu_strips(&p->grid);
    const int on_diagonal = symv_rows_on_diagonal<T, RUN>((int)strips, (int)most);
    const dim3 grid((unsigned)most, (unsigned)((strips + 1) / 2 + on_diagonal));
    const size_t mirrored = p->grid.canonical ? TRIANGLE : 0;
    if (mirrored > 0) {
        const cudaError_t error = cudaFuncSetAttribute(symv_tiles_kernel<T, SIDES, WHOLE, RUN>,
                                                       cudaFuncAttributeMaxDynamicSharedMemorySize, (int)mirrored);
        if (error != cudaSuccess) return error;
    }
    symv_tiles_kernel<T, SIDES, WHOLE, RUN><<<grid, T::THREADS, mirrored, stream>>>(*p, atomic);
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
