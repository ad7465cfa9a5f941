/* SPDX-License-Identifier: Apache-2.0
 *
 * How kernels of SOLVE are launched: behind each other, so that the start of one is hidden by the end of the one
 * before. Called by gpu_chip_launch.cuh and gpu_tree*.cu.
 */
#include "solve/gpu_inside.h"

/* From compute capability 9.0 on; attributes that a device does not know would fail the launch. */
static cudaError_t comes_early(bool *out)
{
    int device = 0, major = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    *out = major >= 9;
    return error;
}

cudaError_t solve_gpu_start(const solve_gpu_start_at *at, const void *kernel, void **arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[2] = {};
    bool early;
    const cudaError_t error = comes_early(&early);
    if (error != cudaSuccess) return error;
    config.gridDim = at->grid;
    config.blockDim = dim3(at->threads);
    config.dynamicSmemBytes = at->shared_bytes;
    config.stream = at->stream;
    config.attrs = attribute;
    if (early) {
        attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute[0].val.programmaticStreamSerializationAllowed = 1;
        config.numAttrs = 1;
    }
    if (at->cluster > 1) {
        cudaLaunchAttribute *cluster = &attribute[config.numAttrs++];
        cluster->id = cudaLaunchAttributeClusterDimension;
        cluster->val.clusterDim.x = at->cluster;
        cluster->val.clusterDim.y = cluster->val.clusterDim.z = 1;
    }
    return cudaLaunchKernelExC(&config, kernel, arguments);
}
