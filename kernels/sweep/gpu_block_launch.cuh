/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass's parameters and its launch, and how a kernel becomes a Variant.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_LAUNCH_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_LAUNCH_CUH

#include "sweep/gpu_block_deal.cuh"
#include "sweep/gpu_block_inside.h"
#include "sweep/gpu_block_plane.cuh"
#include "sweep/gpu_block_space.cuh"

namespace sweep
{
namespace block
{

/* Fewer planes than these are not worth a block of a team. */
enum { LEAST_PLANES = 4 };

static inline cudaError_t processors(int *count)
{
    int device;
    const cudaError_t error = cudaGetDevice(&device);
    return error != cudaSuccess ? error : cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device);
}

template <class T> Weights<T> weights_of(const Shape *shape)
{
    return {(T)shape->constant, (T)shape->centre, (T)shape->cross, (T)shape->corners};
}

template <class T> Edge<T> edge_of(const lacis_sweep_edge *edge)
{
    return {edge->kind == LACIS_SWEEP_INNER ? (int)LACIS_SWEEP_HOLD : (int)edge->kind, (T)edge->a[0], (T)edge->b[0]};
}

template <class F, class E>
cudaError_t plane_pass(const lacis_sweep_block *block, const Shape *shape, const void *in, void *out,
                       cudaStream_t stream)
{
    typedef typename F::number T;
    int multiprocessors;
    const cudaError_t error = processors(&multiprocessors);
    if (error != cudaSuccess) return error;
    Plane<T> plane = {};
    plane.in = (const T *)in;
    plane.out = (T *)out;
    plane.pitch = block->pitch[0];
    plane.nx = (int)block->extent[0];
    plane.ny = (int)block->extent[1];
    plane.wraps_x = block->edge[0].kind == LACIS_SWEEP_PERIODIC;
    plane.wraps_y = block->edge[2].kind == LACIS_SWEEP_PERIODIC;
    for (int face = 0; face < 4; face++)
        plane.edge[face] = edge_of<T>(&block->edge[face]);
    plane.weights = weights_of<T>(shape);
    plane.deal = deal_of<F>(plane.nx, plane.ny, plane.wraps_x, is_open<E>(), multiprocessors * (int)F::WARPS);
    const int64_t pieces = plane.deal.line[0].pieces + plane.deal.line[1].pieces;
    plane_kernel<F, E><<<(unsigned)pieces, LANES, 0, stream>>>(plane);
    return cudaGetLastError();
}

template <class F> Tiles tiles_of(const int *n, const bool *wraps, int blocks)
{
    static const int step[2] = {F::STEP_X, F::STEP_Y};
    /* What the first tile leaves must begin so far from its end. */
    static const int width[2] = {WIDTH - (F::OVERLAP - F::INSET), F::ROWS};
    Tiles tiles = {};
    for (int axis = 0; axis < 2; axis++) {
        const int left = n[axis] > width[axis] ? n[axis] - width[axis] : 0;
        tiles.count[axis] =
            wraps[axis] ? (n[axis] + step[axis] - 1) / step[axis] : 1 + (left + step[axis] - 1) / step[axis];
    }
    tiles.planes = n[2];
    tiles.lead = 2 * F::LEVELS;
    tiles.total = place_of(tiles, tiles.count[0] * tiles.count[1]);
    const int64_t most = tiles.total / (INSIDE_PLANE * LEAST_PLANES);
    tiles.pieces = most < 1 ? 1 : most < blocks ? most : blocks;
    return tiles;
}

template <class F, bool OPEN>
cudaError_t space_pass(const lacis_sweep_block *block, const Shape *shape, const void *in, void *out,
                       cudaStream_t stream)
{
    typedef typename F::number T;
    int multiprocessors;
    cudaError_t error = processors(&multiprocessors);
    if (error != cudaSuccess) return error;
    error = cudaFuncSetAttribute((const void *)space_kernel<F, OPEN>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 F::BYTES);
    if (error != cudaSuccess) return error;
    Space<T> space = {};
    space.in = (const T *)in;
    space.out = (T *)out;
    space.pitch = block->pitch[0];
    space.plane = block->pitch[1];
    for (int axis = 0; axis < 3; axis++) {
        space.n[axis] = (int)block->extent[axis];
        space.wraps[axis] = block->edge[2 * axis].kind == LACIS_SWEEP_PERIODIC;
    }
    for (int face = 0; face < 6; face++)
        space.edge[face] = edge_of<T>(&block->edge[face]);
    space.weights = weights_of<T>(shape);
    space.tiles = tiles_of<F>(space.n, space.wraps, multiprocessors * (int)F::BLOCKS);
    space_kernel<F, OPEN><<<(unsigned)space.tiles.pieces, dim3(LANES, F::TEAM), F::BYTES, stream>>>(space);
    return cudaGetLastError();
}

template <class T> constexpr lacis_sweep_type type_of()
{
    return sizeof(T) == 4 ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64;
}
template <class F, class E> Variant plane_variant_with(const char *name)
{
    return {name,
            type_of<typename F::number>(),
            2,
            F::GROUPS,
            F::LEVELS,
            {is_open<E>() ? (int)OPEN_LEAST : (int)WIDTH, 1},
            0,
            is_open<E>(),
            (const void *)plane_kernel<F, E>,
            plane_pass<F, E>};
}
template <class F> Variant plane_variant(const char *name)
{
    return plane_variant_with<F, Ends<typename F::number>>(name);
}
template <class F> Variant open_plane_variant(const char *name)
{
    return plane_variant_with<F, OpenEnds<typename F::number>>(name);
}
template <class F, bool OPEN = false> Variant space_variant(const char *name)
{
    return {name,
            type_of<typename F::number>(),
            3,
            F::GROUPS,
            F::LEVELS,
            {OPEN ? (int)OPEN_LEAST : (int)WIDTH, OPEN ? 1 : (int)F::ROWS},
            F::BYTES,
            OPEN,
            (const void *)space_kernel<F, OPEN>,
            space_pass<F, OPEN>};
}

} // namespace block
} // namespace sweep

#endif
