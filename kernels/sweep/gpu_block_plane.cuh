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
 * Work is dealt as if all strips' rows lay in one line, weighted, and each warp gets an equal piece of it: there are
 * as many warps as the device holds, so that the slowest of them is the pass's time. A block is one warp: the
 * compiler then sees that all its lanes go the same way, and leaves out what shuffles would need otherwise.
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
template <class F>
BLOCK_INLINE int march(const Plane<typename F::number> &p, typename F::number *ring, int lane, int strip, int y,
                       int stop)
{
    const int low = p.deal.edge, high = p.ny - p.deal.edge;
    if (is_careful(p.deal, strip) || y < low || y >= high) {
        if (!is_careful(p.deal, strip) && y < low) stop = min(stop, low);
        Careful<F> with(p, ring, lane);
        with.run(strip, y, stop);
    } else {
        stop = min(stop, high);
        Quick<F> with(p, ring, lane);
        with.run(strip, y, stop);
    }
    return stop;
}

template <class F>
__global__ void __launch_bounds__(LANES, F::WARPS) plane_kernel(const __grid_constant__ Plane<typename F::number> p)
{
    __shared__ __align__(16) typename F::number ring[F::RING_CELLS];
    /* What is needed between marches alone is not to have registers in them. */
    __shared__ volatile int64_t begin, end;
    __shared__ volatile int strip;
    const int lane = (int)threadIdx.x;
    if (lane == 0) {
        begin = p.deal.total * blockIdx.x / p.deal.pieces;
        end = p.deal.total * (blockIdx.x + 1ll) / p.deal.pieces;
        const int64_t least = max((int64_t)0, begin - 3 * max((int64_t)0, p.deal.careful)) / p.deal.quick;
        strip = (int)min(least, p.deal.strips - (int64_t)1);
    }
    __syncwarp();
    while (strip < p.deal.strips && place_of(p.deal, strip) < end) {
        int y = rows_before(p.deal, strip, begin, p.ny);
        while (y < rows_before(p.deal, strip, end, p.ny))
            y = march<F>(p, ring, lane, strip, y, rows_before(p.deal, strip, end, p.ny));
        __syncwarp();
        if (lane == 0) strip = strip + 1;
        __syncwarp();
    }
}

} // namespace block
} // namespace sweep

#endif
