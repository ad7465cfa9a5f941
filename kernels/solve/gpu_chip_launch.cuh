/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of the kernels on chip, for any type. Included by gpu_chip_*.cu.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_CHIP_LAUNCH_CUH
#define LACIS_KERNELS_SOLVE_GPU_CHIP_LAUNCH_CUH

#include "solve/gpu_chain.h"
#include "solve/gpu_chain_behind.cuh"
#include "solve/gpu_chain_beside.cuh"

template <int TYPE> static int chip_image()
{
    return image_bytes<typename solve_of<TYPE>::S>(SEGMENT * solve_of<TYPE>::K);
}

template <int TYPE> static uint64_t chip_bytes(solve_gpu_lie lie, const solve_gpu_cut *cut)
{
    if (lie == SOLVE_GPU_BESIDE) return beside_bytes<TYPE>(cut->chunks, cut->lanes);
    return (uint64_t)cut->warps * SOLVE_GPU_FIELDS * (uint64_t)chip_image<TYPE>();
}

static cudaError_t launch_clusters(void (*kernel)(chip_job), const chip_job &job, int64_t blocks, int threads,
                                   uint64_t bytes, cudaStream_t stream)
{
    chip_job own = job;
    void *arguments[] = {&own};
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    if (bytes > 48 << 10) {
        const cudaError_t error =
            cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (error != cudaSuccess) return error;
    }
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = (unsigned)job.blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = job.blocks > 1 ? 1 : 0;
    return cudaLaunchKernelExC(&config, (const void *)kernel, arguments);
}

template <int TYPE, bool SOME> static void (*behind_function(const solve_gpu_cut *cut))(chip_job)
{
    if (!cut->segments) return behind_kernel<TYPE, SOME>;
    return cut->blocks > 1 ? behind_segments_kernel<TYPE, SOME, true> : behind_segments_kernel<TYPE, SOME, false>;
}

template <int TYPE> static void (*beside_function(const solve_gpu_cut *cut))(chip_job)
{
    if (!cut->segments) return beside_kernel<TYPE, false, false>;
    return cut->blocks > 1 ? beside_kernel<TYPE, true, true> : beside_kernel<TYPE, true, false>;
}

template <int TYPE> static cudaError_t chip_launch(const solve_gpu_launch *l, const solve_gpu_cut *cut)
{
    const chip_job job = {l->groups, l->fields, l->flags, cut->blocks, chip_image<TYPE>(), cut->lanes, cut->chunks};
    const uint64_t bytes = chip_bytes<TYPE>(l->lie, cut);
    const int64_t tasks = l->groups.tasks;
    if (l->lie == SOLVE_GPU_BESIDE)
        return launch_clusters(beside_function<TYPE>(cut), job, tasks * cut->blocks,
                               beside_threads(cut->chunks, cut->lanes), bytes, l->stream);
    bool some = false;
    for (int field = 0; field < SOLVE_GPU_FIELDS; field++)
        some = some || l->fields.shared[field];
    const int64_t blocks = cut->segments ? tasks * cut->blocks : (tasks + cut->warps - 1) / cut->warps;
    return launch_clusters(some ? behind_function<TYPE, true>(cut) : behind_function<TYPE, false>(cut), job, blocks,
                           32 * cut->warps, bytes, l->stream);
}

#endif
