/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of RING's kernels a launch takes. Several sides at once: not in double-double, whose arithmetic is what takes
 * the time.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_RING_START_CUH
#define LACIS_KERNELS_SYMV_GPU_RING_START_CUH

#include "symv/gpu_ring.cuh"

template <class N, bool ALIGNED> static cudaError_t symv_ring_start_sides(const symv_ring_launch *l)
{
    enum { DD = N::ATOMIC == 0, WIDE = sizeof(typename N::X) * N::V > 16 || sizeof(typename N::X) > 8 };
    if constexpr (!DD)
        if (l->count > 1) return symv_ring_launch_kernel < N, ALIGNED, SYMV_GPU_SIDES, WIDE ? 1 : 2 > (l);
    if constexpr (!DD || (sizeof(typename N::X) == 16 && N::V == 1))
        if (l->resident > 2) return symv_ring_launch_kernel<N, ALIGNED, 1, 3>(l);
    return symv_ring_launch_kernel<N, ALIGNED, 1, 2>(l);
}

template <class N> cudaError_t symv_ring_start(const symv_ring_launch *l)
{
    if (l->aligned) return symv_ring_start_sides<N, true>(l);
    return symv_ring_start_sides<N, false>(l);
}

#endif
