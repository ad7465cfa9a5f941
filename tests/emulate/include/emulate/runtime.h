/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of CUDA's runtime that kernels/ and tests/gpu call, over the CPU's memory (runtime.cpp, memory.cpp). With
 * a seed, work on streams is done late, at random times that the API allows, so that missing waits show.
 */
#ifndef LACIS_EMULATE_RUNTIME_H
#define LACIS_EMULATE_RUNTIME_H

#include "types.h"

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorNotSupported = 801
};
typedef cudaError_t cudaError;
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

/* --- the device --------------------------------------------------------------------------------------- */

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrClusterLaunch = 120
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int multiProcessorCount, maxThreadsPerBlock, maxThreadsPerMultiProcessor, major, minor, warpSize, l2CacheSize;
};
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int other); /* there is one device: never */
cudaError_t cudaDeviceEnablePeerAccess(int other, unsigned flags);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);

/* --- memory ------------------------------------------------------------------------------------------- */

typedef struct emulate_stream *cudaStream_t;
typedef struct emulate_event *cudaEvent_t;
typedef struct emulate_pool *cudaMemPool_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaMemPoolAttr {
    cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrReservedMemHigh,
    cudaMemPoolAttrUsedMemCurrent,
    cudaMemPoolAttrUsedMemHigh
};
enum { cudaMemLocationTypeDevice = 1, cudaMemAccessFlagsProtReadWrite = 3 };
struct cudaMemAccessDesc {
    struct {
        int type, id;
    } location;
    int flags;
};
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
cudaError_t cudaMalloc(void **block, size_t bytes);
cudaError_t cudaFree(void *block);
cudaError_t cudaMallocAsync(void **block, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *block, cudaStream_t stream);
cudaError_t cudaMallocHost(void **block, size_t bytes, unsigned flags = 0);
cudaError_t cudaHostAlloc(void **block, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *block);
/* Handles work within the one process: EMULATE_IPC=none: none are given; =lost: what is written does not come; =N:
 * that of copies into opened memory the first N do and others fail. */
struct cudaIpcMemHandle_t {
    char reserved[64];
};
enum { cudaIpcMemLazyEnablePeerAccess = 1 };
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *block);
cudaError_t cudaIpcOpenMemHandle(void **block, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void *block);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream = 0);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access, size_t count);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep);

#define EMULATE_TYPED(call, ...)                                                                                     \
    {                                                                                                                \
        void *p_ = NULL;                                                                                             \
        const cudaError_t e_ = call(&p_, __VA_ARGS__);                                                               \
        if (e_ == cudaSuccess) *block = (T *)p_;                                                                     \
        return e_;                                                                                                   \
    }
template <class T>
cudaError_t cudaMalloc(T **block, size_t bytes) EMULATE_TYPED(cudaMalloc, bytes) template <class T>
cudaError_t cudaMallocAsync(T **block, size_t bytes, cudaStream_t stream)
    EMULATE_TYPED(cudaMallocAsync, bytes, stream) template <class T>
    cudaError_t cudaMallocHost(T **block, size_t bytes, unsigned flags = 0)
        EMULATE_TYPED(cudaMallocHost, bytes, flags) template <class T>
        cudaError_t cudaHostAlloc(T **block, size_t bytes, unsigned flags) EMULATE_TYPED(cudaHostAlloc, bytes, flags)
#undef EMULATE_TYPED

    /* A variable marked __device__ or __constant__ lies in the program's own memory. */
    template <class T>
    cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                   cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpy((char *)&symbol + offset, from, bytes, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T &symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t stream = 0)
{
    return cudaMemcpyAsync((char *)&symbol + offset, from, bytes, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cudaMemcpy(to, (const char *)&symbol + offset, bytes, kind);
}
template <class T> cudaError_t cudaGetSymbolAddress(void **address, const T &symbol)
{
    *address = (void *)&symbol;
    return cudaSuccess;
}

/* --- streams and events ------------------------------------------------------------------------------- */

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
enum { cudaEventRecordDefault = 0, cudaEventRecordExternal = 1 };
static inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned)
{
    return cudaEventRecord(event, stream);
}

/* Streams cannot be recorded: callers do without. */
typedef struct emulate_graph *cudaGraph_t, *cudaGraphExec_t;
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1, cudaStreamCaptureModeRelaxed = 2 };
static inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode)
{
    return cudaErrorNotSupported;
}
static inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *)
{
    return cudaErrorNotSupported;
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long)
{
    return cudaErrorNotSupported;
}
static inline cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t)
{
    return cudaErrorNotSupported;
}
static inline cudaError_t cudaGraphDestroy(cudaGraph_t)
{
    return cudaErrorNotSupported;
}
static inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t)
{
    return cudaErrorNotSupported;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
typedef void (*cudaHostFn_t)(void *);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument);

/* --- kernels ------------------------------------------------------------------------------------------ */

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 13
};
enum { cudaSharedmemCarveoutMaxShared = 100, cudaSharedmemCarveoutMaxL1 = 0 };
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *has, const void *kernel);

enum cudaLaunchAttributeID {
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeProgrammaticStreamSerialization =
        6 /* allowed, never taken: kernels of a stream run one by one */
};
union cudaLaunchAttributeValue {
    struct {
        unsigned x, y, z;
    } clusterDim;
    int cooperative;
    int programmaticStreamSerializationAllowed;
};
static inline void cudaGridDependencySynchronize()
{
}
static inline void cudaTriggerProgrammaticLaunchCompletion()
{
}
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

/* What code is compiled against but never reached: compiled kernels. */
typedef struct emulate_library *cudaLibrary_t;
typedef struct emulate_kernel *cudaKernel_t;

#endif
