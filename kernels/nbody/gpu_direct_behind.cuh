/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches behind each other.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_DIRECT_BEHIND_CUH
#define LACIS_KERNELS_NBODY_GPU_DIRECT_BEHIND_CUH

#include "nbody/gpu_direct.h"

namespace nbody
{

/* Kernels here come behind each other: the next one's blocks may come while this one's last are at work, and wait for
 * it at their top (programmatic dependent launch, from 9.0 on). */
__device__ __forceinline__ void begin()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
struct Behind {
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    Behind(const Pairs &p, dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
    {
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        config.gridDim = grid;
        config.blockDim = block;
        config.dynamicSmemBytes = shared;
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = p.early ? 1 : 0;
    }
};

} // namespace nbody

#endif
