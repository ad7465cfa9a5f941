/* SPDX-License-Identifier: Apache-2.0
 *
 * How a block holds a tile in registers, and how it gets there. Of a tile of TX rows and TY columns, a column belongs
 * to a group of L neighbouring lanes, column q to group q mod G; a lane has R times V rows of each of its C columns.
 * Whole tiles beside the diagonal are read without a mask, by 16 bytes where the matrix lies so; all others element
 * by element, and never an element of the other triangle. Included by gpu_tiles.cuh.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_TILE_CUH
#define LACIS_KERNELS_SYMV_GPU_TILE_CUH

#include "symv/gpu_inside.h"
#include "symv/gpu_number.cuh"

/* DEEP_: of the C columns of a thread so many are held (or on their way) at a time. */
template <class NUMBER, int TX_, int TY_, int WARPS_, int DEEP_, int RESIDENT_> struct symv_shape {
    typedef NUMBER N;
    typedef typename N::M M;
    typedef typename N::X X;
    typedef typename N::S S;
    enum {
        TX = TX_,
        TY = TY_,
        WARPS = WARPS_,
        RESIDENT = RESIDENT_,
        THREADS = WARPS * 32,
        V = N::V,
        L = TX / V < 32 ? TX / V : 32,
        R = TX / V / L,
        G = THREADS / L,
        C = TY / G,
        D = DEEP_,
        LOADS = D * R * ((int)sizeof(M) * V / 16),
        SQUARE = TX == TY,
        CANONICAL = TX == 64 && TY == 64 && G == 8 /* what that order wants */
    };
    static_assert(C % D == 0, "columns come D at a time");
    static_assert(R * L * V == TX && C * G == TY && L >= 8, "a tile falls into whole lanes");
    static_assert(sizeof(M) * V % 16 == 0, "16 bytes a load");
};

/* Where a thread stands in its block, and which rows are its. Lanes that read 16 bytes have V rows next to each
 * other, as the canonical order wants; lanes that read element by element have rows L apart, so that a warp reads a
 * line. */
template <class T> struct symv_place {
    int lane, group;
    int row_lane, row_k; /* factors of the lane and of k = 0 .. V - 1 in the row */

    SYMV_GPU symv_place here(bool apart)
    {
        symv_place at;
        at.lane = (int)threadIdx.x % T::L;
        at.group = (int)threadIdx.x / T::L;
        at.row_lane = apart ? 1 : T::V;
        at.row_k = apart ? T::L : 1;
        return at;
    }
    /* The same place, of which the compiler knows nothing: what follows from it is not kept across a loop. */
    __device__ __forceinline__ symv_place again() const
    {
        symv_place at = *this;
#ifndef LACIS_EMULATED
        asm volatile("" : "+r"(at.lane), "+r"(at.group));
#endif
        return at;
    }
    __device__ __forceinline__ int row(int r, int k) const
    {
        return r * T::L * T::V + lane * row_lane + k * row_k;
    }
    __device__ __forceinline__ int column(int c) const
    {
        return group + c * T::G;
    }
};

/* The thread's columns of a strip: column c begins at first + c step + c (c - 1) / 2 bend, in elements. */
struct symv_columns {
    int64_t first, step, bend;
};
template <class T> SYMV_GPU symv_columns symv_columns_of(const symv_gpu_part &p, int64_t q)
{
    symv_columns out = {symv_gpu_column(&p, q), T::G * p.ld, 0};
    if (p.packed) {
        out.step = symv_gpu_column(&p, q + T::G) - out.first;
        out.bend = p.grid.upper ? T::G * T::G : -T::G * T::G;
    }
    return out;
}

template <class T, bool WHOLE>
SYMV_GPU void symv_read(typename T::M (&v)[T::V], const typename T::M *column, const symv_place<T> &at, int r)
{
    if (WHOLE) {
        symv_load_whole(v, column + at.row(r, 0));
    } else {
#pragma unroll
        for (int k = 0; k < T::V; k++)
            v[k] = symv_load(column + at.row(r, k));
    }
}

/* --- tiles on the diagonal and at the edge -------------------------------------------------------------------- */

/* Which elements of a tile are stored; rows and columns counted within the tile. */
struct symv_mask {
    int rows, columns; /* of the tile, within the matrix */
    int shift;         /* the first row less the first column, as far as it matters */
    int sign;          /* LOWER 1, UPPER -1 */
};
SYMV_GPU symv_mask symv_mask_of(const symv_gpu_grid &g, int64_t p0, int64_t q0)
{
    const int64_t far = 1024, rows = g.n - p0, columns = g.n - q0, shift = p0 - q0;
    symv_mask m;
    m.rows = (int)(rows < far ? rows : far);
    m.columns = (int)(columns < far ? columns : far);
    m.shift = (int)(shift < -far ? -far : shift < far ? shift : far);
    m.sign = g.upper ? -1 : 1;
    return m;
}
/* The same mask, in a form of which the compiler knows nothing: it compares again rather than keep what it found. */
SYMV_GPU symv_mask symv_again(symv_mask m)
{
#ifndef LACIS_EMULATED
    asm volatile("" : "+r"(m.rows), "+r"(m.columns), "+r"(m.shift), "+r"(m.sign));
#endif
    return m;
}
SYMV_GPU bool symv_within(const symv_mask &m, int row, int column)
{
    return row < m.rows && column < m.columns;
}
SYMV_GPU bool symv_stored(const symv_mask &m, int row, int column)
{
    return symv_within(m, row, column) && (row + m.shift - column) * m.sign >= 0;
}

/* The stored elements of column `column` of a tile, the others 0. */
template <class T>
SYMV_GPU void symv_read_masked(typename T::M (&v)[T::R][T::V], const typename T::M *from, const symv_place<T> &at,
                               int column, const symv_mask &mask, bool hermitian)
{
#pragma unroll
    for (int r = 0; r < T::R; r++)
#pragma unroll
        for (int k = 0; k < T::V; k++) {
            const int row = at.row(r, k);
            v[r][k] = symv_zero<typename T::M>();
            if (symv_stored(mask, row, column)) v[r][k] = symv_load(from + row);
            if (T::N::COMPLEX && hermitian && row + mask.shift == column) v[r][k] = T::N::real(v[r][k]);
        }
}

/* Where an element of a square tile on the diagonal, or its mirror image, lies among those of one triangle. */
SYMV_GPU int symv_in_triangle(int row, int column)
{
    const int high = max(row, column), low = min(row, column);
    return high * (high + 1) / 2 + low;
}

/* Element i of side r of x, 0 beyond n. */
template <class T> SYMV_GPU typename T::X symv_x(const symv_gpu_part &p, int64_t i, int side)
{
    typename T::X out = symv_zero<typename T::X>();
    if (i < p.grid.n) out = symv_load((const typename T::X *)p.x + side * p.x_side + i * p.x_step);
    return out;
}

#endif
