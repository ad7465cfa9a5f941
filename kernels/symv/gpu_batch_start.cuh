/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of BATCH's kernels a launch takes.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_BATCH_START_CUH
#define LACIS_KERNELS_SYMV_GPU_BATCH_START_CUH

#include "common/gpu_shared.h"
#include "symv/gpu_batch.cuh"
#include "symv/gpu_batch_lanes.cuh"

template <class N, bool ALIGNED, int K> static cudaError_t symv_batch_start_block(const symv_batch_launch *l)
{
    const cudaError_t rc = lacis_gpu_all_shared((const void *)symv_batch_block<N, ALIGNED, K>);
    if (rc != cudaSuccess) return rc;
    symv_batch_block<N, ALIGNED, K><<<(unsigned)l->matrices, 32 * SYMV_BATCH_WARPS, l->shared, l->stream>>>(*l);
    return cudaGetLastError();
}

template <class N, int K> static cudaError_t symv_batch_start_sides(const symv_batch_launch *l)
{
    enum { EACH = SYMV_BATCH_LANE_WARPS * 32 };
    if (l->most <= 8) {
        const int64_t blocks = (l->matrices + EACH / 8 - 1) / (EACH / 8);
        symv_batch_lanes<N, 8, K><<<(unsigned)blocks, EACH, 0, l->stream>>>(*l);
        return cudaGetLastError();
    }
    if (l->most <= SYMV_BATCH_LANES) {
        const int64_t blocks = (l->matrices + EACH / 32 - 1) / (EACH / 32);
        symv_batch_lanes<N, 32, K><<<(unsigned)blocks, EACH, 0, l->stream>>>(*l);
        return cudaGetLastError();
    }
    if (l->aligned) return symv_batch_start_block<N, true, K>(l);
    return symv_batch_start_block<N, false, K>(l);
}

template <class N> cudaError_t symv_batch_start(const symv_batch_launch *l)
{
    if constexpr (N::ATOMIC != 0) /* in double-double the arithmetic is what takes the time */
        if (l->count > 1) return symv_batch_start_sides<N, SYMV_GPU_SIDES>(l);
    return symv_batch_start_sides<N, 1>(l);
}

#endif
