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

template <class F>
__global__ void __launch_bounds__(LANES, F::WARPS) plane_kernel(const __grid_constant__ Plane<typename F::number> p)
{
    __shared__ __align__(16) typename F::number ring[F::RING_CELLS];
    const int lane = (int)threadIdx.x;
    const int64_t begin = p.deal.total * blockIdx.x / p.deal.pieces;
    const int64_t end = p.deal.total * (blockIdx.x + 1ll) / p.deal.pieces;
    int strip = (int)(max((int64_t)0, begin - 3 * max((int64_t)0, p.deal.careful)) / p.deal.quick);
    strip = min(strip, p.deal.strips - 1);
    for (; strip < p.deal.strips && place_of(p.deal, strip) < end; strip++) {
        int y = rows_before(p.deal, strip, begin, p.ny);
        const int stop = rows_before(p.deal, strip, end, p.ny);
        const int low = p.deal.edge, high = p.ny - p.deal.edge;
        while (y < stop) {
            int until = stop;
            if (!is_careful(p.deal, strip)) {
                if (y >= low && y < high) {
                    until = min(stop, high);
                    Quick<F> march(p, ring, lane);
                    march.run(strip, y, until);
                    y = until;
                    continue;
                }
                if (y < low) until = min(stop, low);
            }
            Careful<F> march(p, ring, lane);
            march.run(strip, y, until);
            y = until;
        }
    }
}

} // namespace block
} // namespace sweep

#endif
