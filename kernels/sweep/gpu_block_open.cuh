/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends along x that are open: of grids that are narrower than a warp, so that their last column may be any of a
 * lane's cells, and of faces whose values are given cell by cell. Those lie in memory beyond the face, where a system
 * has its ghosts. The grid has OPEN_LEAST columns, so that no lane stands at both ends.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_OPEN_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_OPEN_CUH

#include "sweep/gpu_block_cells.cuh"

namespace sweep
{
namespace block
{

enum { OPEN_LEAST = CELLS + 1 };

/* As Ends; values: what lies beyond is read. last: which of the lane's cells is the grid's last; -1: none. */
template <class T> struct OpenEnds : Ends<T> {
    bool values;
    int last;
};

template <class E> constexpr bool is_open()
{
    return false;
}
template <> constexpr bool is_open<OpenEnds<float>>()
{
    return true;
}
template <> constexpr bool is_open<OpenEnds<double>>()
{
    return true;
}

/* columns: that the grid has from the lane's first cell on. */
template <class T> BLOCK_INLINE OpenEnds<T> open_ends_of(bool left, int columns, const Edge<T> *edge)
{
    const bool right = columns >= 1 && columns <= CELLS;
    const int kind = right ? edge[1].kind : edge[0].kind;
    OpenEnds<T> out;
    static_cast<Ends<T> &>(out) = ends_of(left, right, edge);
    out.values = (left || right) && kind == LACIS_SWEEP_VALUES;
    out.last = right ? columns - 1 : -1;
    return out;
}

/* By value: a choice among a lane's cells would have to lie in memory. */
template <class T> BLOCK_INLINE T either(bool first, T a, T b)
{
    return first ? a : b;
}

/* The lane's cell at the end. */
template <class T> BLOCK_INLINE T outermost(const T (&row)[CELLS], const OpenEnds<T> &ends)
{
    T value = row[0];
#pragma unroll
    for (int k = 1; k < CELLS; k++)
        value = either(ends.last == k, row[k], value);
    return value;
}

/* All lanes. */
template <class T> BLOCK_INLINE T beside(const T (&row)[CELLS], const OpenEnds<T> &ends)
{
    const T before = __shfl_up_sync(~0U, row[CELLS - 1], 1), outer = outermost(row, ends);
    T inner = either(ends.last == 0, before, row[1]);
#pragma unroll
    for (int k = 1; k < CELLS; k++)
        inner = either(ends.last == k, row[k - 1], inner);
    T value = ends.mirror ? inner : outer;
    const T sum_of = multiply_add(ends.b, value, ends.a);
    value = ends.sum ? sum_of : value;
    return ends.fixed ? ends.a : value;
}

template <bool, class T>
BLOCK_INLINE void pairs(const T (&row)[CELLS], const OpenEnds<T> &ends, T ghost, T (&sum)[CELLS])
{
    const T before = __shfl_up_sync(~0U, row[CELLS - 1], 1), behind = __shfl_down_sync(~0U, row[0], 1);
#pragma unroll
    for (int k = 0; k < CELLS; k++) {
        const T left = k > 0 ? row[k > 0 ? k - 1 : 0] : either(ends.left, ghost, before);
        const T right = k < CELLS - 1 ? row[k < CELLS - 1 ? k + 1 : 0] : behind;
        sum[k] = add(left, either(ends.last == k, ghost, right));
    }
}

/* Cells that are held stay as they were. */
template <class T> BLOCK_INLINE void hold(const Ends<T> &ends, const T (&old)[CELLS], T (&to)[CELLS])
{
    to[0] = ends.hold_left ? old[0] : to[0];
    to[CELLS - 1] = ends.hold_right ? old[CELLS - 1] : to[CELLS - 1];
}
template <class T> BLOCK_INLINE void hold(const OpenEnds<T> &ends, const T (&old)[CELLS], T (&to)[CELLS])
{
    to[0] = either(ends.hold_left, old[0], to[0]);
#pragma unroll
    for (int k = 0; k < CELLS; k++)
        to[k] = either(ends.hold_right && ends.last == k, old[k], to[k]);
}

/* Cell or row i of n, where there is one: round and round, or else the nearest. */
BLOCK_INLINE int place_in(int i, int n, bool wraps)
{
    if (i >= 0 && i < n) return i;
    return wraps ? (i % n + n) % n : max(0, min(i, n - 1));
}

} // namespace block
} // namespace sweep

#endif
