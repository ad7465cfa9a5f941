/* SPDX-License-Identifier: Apache-2.0
 *
 * The device that is emulated, a small one of compute capability 9.0; errors; launches, checked as a device would.
 */
#include "scheduler.h"

#include "emulate/device_wide.h"

#include <map>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>

namespace emulate
{

enum { SHARED_BLOCK = 48 << 10, SHARED_OPTIN = 232448, SHARED_PROCESSOR = 233472, THREADS = 1024 };

void run(const shape &s, const std::function<void()> &body); /* scheduler.cpp */

static cudaError_t last_error;
static std::map<const void *, size_t> dynamic_most;

struct known {
    const char *name;
    binder bind;
};
/* Made when it is first asked for: tables of kernels are filled before main begins, in whatever order. */
static std::map<const void *, known> &kernels()
{
    static std::map<const void *, known> all;
    return all;
}
static std::mutex lock;

static cudaError_t answer(cudaError_t error)
{
    if (error != cudaSuccess) last_error = error;
    return error;
}

const void *remember(const void *kernel, const char *name, binder bind)
{
    const std::lock_guard<std::mutex> guard(lock);
    known &k = kernels()[kernel];
    if (!k.name) k = {name, bind};
    return kernel;
}

static cudaError_t wrong(const shape &s)
{
    const uint64_t threads = (uint64_t)s.block.x * s.block.y * s.block.z;
    const uint64_t blocks = (uint64_t)s.grid.x * s.grid.y * s.grid.z;
    if (threads == 0 || threads > THREADS || s.block.z > 64 || blocks == 0) return cudaErrorInvalidConfiguration;
    if (s.grid.x > 0x7fffffffu || s.grid.y > 65535 || s.grid.z > 65535) return cudaErrorInvalidConfiguration;
    if (s.cluster.x > 8 || s.cluster.y != 1 || s.cluster.z != 1 || s.grid.x % s.cluster.x)
        return cudaErrorInvalidConfiguration;
    const auto found = dynamic_most.find(s.function);
    return s.shared > (found == dynamic_most.end() ? (size_t)SHARED_BLOCK : found->second) ? cudaErrorInvalidValue
                                                                                           : cudaSuccess;
}

cudaError_t launch(const shape &given, std::function<void()> body)
{
    shape s = given;
    {
        const std::lock_guard<std::mutex> guard(lock);
        const auto found = kernels().find(s.function);
        if (!s.name && found != kernels().end()) s.name = found->second.name;
    }
    const cudaError_t error = wrong(s);
    if (error == cudaSuccess) do_on(s.stream, [s, body] { run(s, body); });
    return answer(error);
}

} /* namespace emulate */

using namespace emulate;

static cudaError_t launch_address(const shape &s, void **arguments)
{
    binder bind;
    {
        const std::lock_guard<std::mutex> guard(lock);
        bind = kernels()[s.function].bind;
    }
    if (!bind)
        fail(s.where, "a kernel whose parameters are not known: its address was not taken as (const void *)kernel");
    return launch(s, bind(arguments));
}

shape emulate::shape_of(const cudaLaunchConfig_t *c, const void *kernel, place here)
{
    shape s = {c->gridDim, c->blockDim, dim3(), c->dynamicSmemBytes, c->stream, kernel, NULL, here};
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            s.cluster =
                dim3(c->attrs[i].val.clusterDim.x, c->attrs[i].val.clusterDim.y, c->attrs[i].val.clusterDim.z);
    return s;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream, place here)
{
    return launch_address({grid, block, dim3(), shared, stream, kernel, NULL, here}, arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments, place here)
{
    return launch_address(shape_of(config, kernel, here), arguments);
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || value > SHARED_OPTIN) return answer(cudaErrorInvalidValue);
    const std::lock_guard<std::mutex> guard(lock);
    dynamic_most[kernel] = (size_t)value;
    return cudaSuccess;
}

/* What a kernel declares itself is not counted here. */
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *has, const void *)
{
    *has = {};
    return cudaSuccess;
}

/* --- errors ------------------------------------------------------------------------------------------- */

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "cudaSuccess";
    case cudaErrorInvalidValue:
        return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
        return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
        return "cudaErrorInvalidConfiguration";
    case cudaErrorNotReady:
        return "cudaErrorNotReady";
    default:
        return "another error of CUDA";
    }
}

const char *cudaGetErrorString(cudaError_t error)
{
    return cudaGetErrorName(error);
}

cudaError_t cudaPeekAtLastError()
{
    return last_error;
}

cudaError_t cudaGetLastError()
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

/* --- the device ---------------------------------------------------------------------------------------- */

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return answer(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
    *can = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned)
{
    return answer(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

static int processors()
{
    static const char *const text = getenv("EMULATE_PROCESSORS");
    return text ? atoi(text) : 2;
}

static int attribute_of(cudaDeviceAttr attribute)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        return THREADS;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        return SHARED_BLOCK;
    case cudaDevAttrMultiProcessorCount:
        return processors();
    case cudaDevAttrL2CacheSize:
        return 1 << 20;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        return 2048;
    case cudaDevAttrComputeCapabilityMajor:
        return 9;
    case cudaDevAttrComputeCapabilityMinor:
        return 0;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return SHARED_PROCESSOR;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return SHARED_OPTIN;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        return 65536;
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrClusterLaunch:
        return 1;
    }
    return -1;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    *value = attribute_of(attribute);
    return answer(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "emulated");
    p->totalGlobalMem = (size_t)2 << 30;
    p->sharedMemPerBlock = SHARED_BLOCK;
    p->sharedMemPerBlockOptin = SHARED_OPTIN;
    p->sharedMemPerMultiprocessor = SHARED_PROCESSOR;
    p->multiProcessorCount = processors();
    p->maxThreadsPerBlock = THREADS;
    p->maxThreadsPerMultiProcessor = 2048;
    p->major = 9;
    p->warpSize = 32;
    p->l2CacheSize = 1 << 20;
    return answer(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

/* The texts for NVRTC, which is not emulated: jobs with written functions end with an error of CUDA's. */
extern "C" __attribute__((weak)) const char lacis_text_gpu_written_cuh[1] = "";
extern "C" __attribute__((weak)) const char lacis_text_gpu_sweep_written_cuh[1] = "";
