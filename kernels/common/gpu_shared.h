/* SPDX-License-Identifier: Apache-2.0
 *
 * Dynamic shared memory beyond what a block has unasked, for .cu files of all families.
 *
 * What a kernel may take is a property of the kernel on a device, not of a launch: of two databases in one process
 * that each set what its own launch needs, one could launch with the other's smaller number. So a kernel is given all
 * that a block can have, once for each device, and no launch changes it.
 */
#ifndef LACIS_KERNELS_COMMON_GPU_SHARED_H
#define LACIS_KERNELS_COMMON_GPU_SHARED_H

#include <cuda_runtime.h>

#include <stdint.h>

/* What was given already, by kernel and device: a launch of some microseconds should not ask the driver again. A
 * place that two of them share is one's or the other's; the loser is given the same again. */
static inline bool lacis_gpu_shared_given(const void *kernel, int device, bool now)
{
    enum { PLACES = 256, DEVICES = 64, SHIFT = 56 };
    static uintptr_t given[PLACES];
    const uintptr_t key = (uintptr_t)kernel * DEVICES + (uintptr_t)device;
    uintptr_t *place = &given[(uint64_t)key * 0x9e3779b97f4a7c15U >> SHIFT];
    if (now) __atomic_store_n(place, key, __ATOMIC_RELEASE);
    return __atomic_load_n(place, __ATOMIC_ACQUIRE) == key;
}

/* On the device of this thread. Less than a kernel's own declarations leave of a block's memory it cannot be given.
 */
static inline cudaError_t lacis_gpu_all_shared(const void *kernel)
{
    int device = 0, most = 0;
    cudaFuncAttributes has;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess || lacis_gpu_shared_given(kernel, device, false)) return error;
    error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&has, kernel);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     most - (int)has.sharedSizeBytes);
    if (error == cudaSuccess) lacis_gpu_shared_given(kernel, device, true);
    return error;
}

#endif
