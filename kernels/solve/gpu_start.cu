/* SPDX-License-Identifier: Apache-2.0
 *
 * How kernels of SOLVE are launched: behind each other, so that the start of one is hidden by the end of the one
 * before. Called by gpu_chip_launch.cuh and gpu_tree*.cu.
 */
#include "solve/gpu_inside.h"

#include <atomic>

static cudaError_t ask(int device, solve_gpu_device *out)
{
    const cudaError_t error = cudaDeviceGetAttribute(&out->major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return error;
    return cudaDeviceGetAttribute(&out->shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
}

/* What a device has answered is kept: a small batch is solved in the time of a few calls. */
cudaError_t solve_gpu_device_at_hand(solve_gpu_device *out)
{
    enum { KEPT = 64 };
    static std::atomic<uint64_t> kept[KEPT]; /* major and bytes; 0: not asked yet */
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess) return error;
    const uint64_t known = device < KEPT ? kept[device].load(std::memory_order_relaxed) : 0;
    if (known != 0) {
        *out = {(int)(known >> 32), (int)(known & UINT32_MAX)};
        return cudaSuccess;
    }
    error = ask(device, out);
    if (error == cudaSuccess && device < KEPT)
        kept[device].store((uint64_t)out->major << 32 | (uint32_t)out->shared_bytes, std::memory_order_relaxed);
    return error;
}

cudaError_t solve_gpu_start(const solve_gpu_start_at *at, const void *kernel, void **arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[2] = {};
    solve_gpu_device device;
    const cudaError_t error = solve_gpu_device_at_hand(&device);
    if (error != cudaSuccess) return error;
    config.gridDim = at->grid;
    config.blockDim = dim3(at->threads);
    config.dynamicSmemBytes = at->shared_bytes;
    config.stream = at->stream;
    config.attrs = attribute;
    if (device.major >= 9) { /* others would refuse */
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
