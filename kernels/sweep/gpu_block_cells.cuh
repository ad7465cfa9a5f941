/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels blocked in time share: a lane's four cells of a row, the rule's arithmetic on them (its order is that
 * of sweep.h), what lies beyond the grid's ends.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_CELLS_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_CELLS_CUH

#include "sweep/sweep.h"

#include <cuda_runtime.h>

#include <stdint.h>

namespace sweep
{
namespace block
{

#define BLOCK_INLINE static __device__ __forceinline__

/* Of a lane in a row, and of a warp. */
enum { CELLS = 4, LANES = 32, WIDTH = CELLS * LANES };

/* Groups of the rule besides the cross of the nearest cells, which is always there. */
enum { CENTRE = 1, CORNERS = 2 };

/* constant is -0 where the rule has none: fma(w, s, -0) is w s to the last bit. */
template <class T> struct Weights {
    T constant, centre, cross, corners;
};

template <class T> struct Edge {
    int kind;
    T a, b;
};

BLOCK_INLINE float add(float a, float b)
{
    return __fadd_rn(a, b);
}
BLOCK_INLINE double add(double a, double b)
{
    return __dadd_rn(a, b);
}
BLOCK_INLINE float multiply_add(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}
BLOCK_INLINE double multiply_add(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

/* The cell beyond an end whose outermost cells are `outer` and, behind it, `inner`. */
template <class T> BLOCK_INLINE T beyond(const Edge<T> &edge, T outer, T inner)
{
    T value = edge.kind == LACIS_SWEEP_MIRROR ? inner : outer;
    if (edge.kind == LACIS_SWEEP_AFFINE) value = edge.b == 0 ? edge.a : multiply_add(edge.b, value, edge.a);
    return value;
}

/* Where a lane stands: whether its first cell is the grid's first, or its last the grid's last (not both), whether
 * that cell is held, and what lies beyond: in registers, as it is asked for with each row. */
template <class T> struct Ends {
    bool left, right, hold_left, hold_right;
    bool mirror, sum, fixed; /* fixed: a sum of a alone */
    T a, b;
};
template <class T> BLOCK_INLINE Ends<T> ends_of(bool left, bool right, const Edge<T> *edge)
{
    Ends<T> out;
    const int kind = right ? edge[1].kind : edge[0].kind;
    out.left = left;
    out.right = right;
    out.hold_left = left && kind == LACIS_SWEEP_HOLD;
    out.hold_right = right && kind == LACIS_SWEEP_HOLD;
    out.mirror = kind == LACIS_SWEEP_MIRROR;
    out.sum = kind == LACIS_SWEEP_AFFINE;
    out.a = right ? edge[1].a : edge[0].a;
    out.b = right ? edge[1].b : edge[0].b;
    out.fixed = out.sum && out.b == 0;
    return out;
}

/* Left and right neighbour of each cell, added. EDGES: the warp may stand at the grid's ends along x. */
template <bool EDGES, class T> BLOCK_INLINE void pairs(const T (&row)[CELLS], const Ends<T> &ends, T (&sum)[CELLS])
{
    T left = __shfl_up_sync(~0U, row[CELLS - 1], 1);
    T right = __shfl_down_sync(~0U, row[0], 1);
    if (EDGES) {
        const T outer = ends.right ? row[CELLS - 1] : row[0], inner = ends.right ? row[CELLS - 2] : row[1];
        T value = ends.mirror ? inner : outer;
        const T sum_of = multiply_add(ends.b, value, ends.a);
        value = ends.sum ? sum_of : value;
        value = ends.fixed ? ends.a : value;
        left = ends.left ? value : left;
        right = ends.right ? value : right;
    }
    sum[0] = add(left, row[1]);
#pragma unroll
    for (int k = 1; k < CELLS - 1; k++)
        sum[k] = add(row[k - 1], row[k + 1]);
    sum[CELLS - 1] = add(row[CELLS - 2], right);
}

/* Of 16 bytes. */
BLOCK_INLINE void load(const float *from, float *to)
{
    const float4 v = *(const float4 *)from;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
BLOCK_INLINE void load(const double *from, double *to)
{
    const double2 v = *(const double2 *)from;
    to[0] = v.x, to[1] = v.y;
}
BLOCK_INLINE void store(float *to, const float *v)
{
    *(float4 *)to = make_float4(v[0], v[1], v[2], v[3]);
}
BLOCK_INLINE void store(double *to, const double *v)
{
    *(double2 *)to = make_double2(v[0], v[1]);
}
template <class T> struct Vector {
    enum { CELLS = 16 / sizeof(T) };
};

/* --- asynchronous copies to the lane's own place in shared memory: it alone reads them */

BLOCK_INLINE unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
BLOCK_INLINE void copy_16(unsigned to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
template <int BYTES> BLOCK_INLINE void copy_one(unsigned to, const void *from)
{
    if (BYTES == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}
BLOCK_INLINE void commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int LEFT> BLOCK_INLINE void wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

} // namespace block
} // namespace sweep

#endif
