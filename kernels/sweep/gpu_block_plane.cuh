/* SPDX-License-Identifier: Apache-2.0
 *
 * Two dimensions, several steps a pass. A warp marches along y over a strip of 128 columns; all levels between the
 * first and the last step lie in its registers, a few rows each, four cells a lane. Neighbours along x come by
 * shuffles, so that the outermost columns of a strip lose one with each level: strips overlap by OVERLAP on each
 * side. Nothing is shared among warps.
 *
 * Two marches: the quick one (gpu_block_quick.cuh) knows no edges, the careful one (gpu_block_careful.cuh) all.
 * Strips at the ends along x are careful, and so are the first and last LEVELS rows of all others.
 *
 * There are as many warps as the device holds, so that the slowest of them is the pass's time. Most of them go over
 * the same pieces of all strips, so that neighbours are at the same rows at the same time (the overlap is in the
 * cache, pages of memory are open); the rows that are left for the others lie at the end, and are dealt as if those
 * of all strips lay in one line. A block is one warp: the compiler then sees that all its lanes go the same way, and
 * leaves out what shuffles would need otherwise.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_PLANE_CUH
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_PLANE_CUH

#include "sweep/gpu_block_careful.cuh"
#include "sweep/gpu_block_quick.cuh"

namespace sweep
{
namespace block
{

/* Rows from y on, of those before `stop` as many as go by one kind of march. Gives the first that is left. */
template <class F, class E>
BLOCK_INLINE int march(const Plane<typename F::number> &p, typename F::number *shared, int lane, int strip, int y,
                       int stop)
{
    const int low = p.deal.edge, high = p.ny - p.deal.edge;
    if (is_careful(p.deal, strip) || y < low || y >= high) {
        if (!is_careful(p.deal, strip) && y < low) stop = min(stop, low);
        Careful<F, E> with(p, shared, lane);
        with.run(strip, y, stop);
    } else {
        stop = min(stop, high);
        Quick<F> with(p, shared, lane);
        with.run(strip, y, stop);
    }
    return stop;
}

/* E: Ends, or OpenEnds where those may be. */
template <class F, class E>
__global__ void __launch_bounds__(LANES, F::WARPS) plane_kernel(const __grid_constant__ Plane<typename F::number> p)
{
    __shared__ __align__(16) typename F::number shared[F::SHARED_CELLS];
    /* What is needed between marches alone is not to have registers in them. */
    __shared__ volatile int64_t begin, end;
    __shared__ volatile int strip, which;
    const int lane = (int)threadIdx.x;
    if (lane == 0) {
        which = blockIdx.x >= p.deal.line[0].pieces;
        const Line &line = p.deal.line[which];
        const int64_t piece = which ? blockIdx.x - p.deal.line[0].pieces : blockIdx.x;
        begin = line.total * piece / line.pieces;
        end = line.total * (piece + 1) / line.pieces;
        const int64_t least = max((int64_t)0, begin - 3 * max((int64_t)0, line.careful)) / line.quick;
        strip = (int)min(least, p.deal.strips - (int64_t)1);
    }
    __syncwarp();
    while (strip < p.deal.strips && place_of(p.deal, p.deal.line[which], strip) < end) {
        int y = row_at(p.deal, p.deal.line[which], strip, begin);
        while (y < row_at(p.deal, p.deal.line[which], strip, end)) {
            y = march<F, E>(p, shared, lane, strip, y, row_at(p.deal, p.deal.line[which], strip, end));
            __syncwarp();
        }
        __syncwarp();
        if (lane == 0) strip = strip + 1;
        __syncwarp();
    }
}

} // namespace block
} // namespace sweep

#endif
