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

#include "common/gpu_shared.h"
#include "symv/gpu_tiles_slots.cuh"
#include "symv/gpu_tiles_sums.cuh"

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
        const cudaError_t error = lacis_gpu_all_shared((const void *)symv_tiles_kernel<T, SIDES, WHOLE, RUN>);
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
