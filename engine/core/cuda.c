/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA runtime as a lacis_driver: the one file of the engine that calls it. Built without nvcc it only says so.
 * The runtime is linked statically and finds the driver itself (libcuda) at the first call.
 */
#include "core/driver.h"

#ifdef LACIS_HAVE_CUDA

#include <ctype.h>
#include <cuda_runtime_api.h>
#include <dirent.h>
#include <string.h>

/* A node of a GPU, /dev/nvidia0 ..., or what WSL has instead. Looking costs microseconds; asking the runtime on a
 * machine without any loads the driver's library first. */
static bool possible(char *reason, size_t size)
{
    bool found = false;
    DIR *folder = opendir("/dev");
    for (struct dirent *entry; folder != NULL && !found && (entry = readdir(folder)) != NULL;) {
        bool numbered = strncmp(entry->d_name, "nvidia", 6) == 0 && strspn(entry->d_name + 6, "0123456789") > 0;
        found = numbered || strcmp(entry->d_name, "dxg") == 0;
    }
    if (folder != NULL) closedir(folder);
    if (!found) snprintf(reason, size, "there is no GPU here (no /dev/nvidia*)");
    return found;
}

static int count(int *out)
{
    return (int)cudaGetDeviceCount(out);
}

static int describe(int device, lacis_gpu_facts *out)
{
    struct cudaDeviceProp about;
    cudaError_t code = cudaGetDeviceProperties(&about, device);
    if (code != cudaSuccess) return (int)code;
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, about.name);
    out->arch = about.major * 10 + about.minor;
    out->processors = about.multiProcessorCount;
    out->memory = about.totalGlobalMem;
    if (cudaDeviceGetPCIBusId(out->address, (int)sizeof out->address, device) != cudaSuccess) out->address[0] = '\0';
    for (char *at = out->address; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    int driver = 0;
    code = cudaDriverGetVersion(&driver);
    snprintf(out->driver, sizeof out->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    return (int)code;
}

static int enter(int device)
{
    return (int)cudaSetDevice(device);
}

static int stream_new(void **out)
{
    cudaStream_t stream = NULL;
    cudaError_t code = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    *out = stream;
    return (int)code;
}

static int stream_free(void *stream)
{
    return (int)cudaStreamDestroy(stream);
}

static int stream_wait(void *stream)
{
    return (int)cudaStreamSynchronize(stream);
}

static int stream_follow(void *stream, void *event)
{
    return (int)cudaStreamWaitEvent(stream, event, 0);
}

static int event_new(void **out)
{
    cudaEvent_t event = NULL;
    cudaError_t code = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    *out = event;
    return (int)code;
}

static int event_free(void *event)
{
    return (int)cudaEventDestroy(event);
}

static int event_record(void *event, void *stream)
{
    return (int)cudaEventRecord(event, stream);
}

static int event_wait(void *event)
{
    return (int)cudaEventSynchronize(event);
}

/* Other devices that can read this one's memory do so directly: copies between devices are ten times as fast. Where
 * they cannot, or are not let, copies take another way. */
static void share_pool(cudaMemPool_t pool, int device)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) return;
    for (int other = 0; other < devices; other++) {
        int can = 0;
        if (other == device || cudaDeviceCanAccessPeer(&can, other, device) != cudaSuccess || !can) continue;
        struct cudaMemAccessDesc access;
        memset(&access, 0, sizeof access);
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = other;
        access.flags = cudaMemAccessFlagsProtReadWrite;
        (void)cudaMemPoolSetAccess(pool, &access, 1);
    }
    (void)cudaGetLastError();
}

static int pool_new(int device, void **out)
{
    struct cudaMemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    cudaMemPool_t pool = NULL;
    cudaError_t code = cudaMemPoolCreate(&pool, &props);
    uint64_t keep = UINT64_MAX;
    if (code == cudaSuccess) code = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    if (code == cudaSuccess) share_pool(pool, device);
    *out = pool;
    return (int)code;
}

static int pool_free(void *pool)
{
    return (int)cudaMemPoolDestroy(pool);
}

static int pool_trim(void *pool)
{
    return (int)cudaMemPoolTrimTo(pool, 0);
}

static int device_alloc(uint64_t bytes, void *pool, void *stream, void **out)
{
    return (int)cudaMallocFromPoolAsync(out, bytes, pool, stream);
}

static int device_free(void *block, void *stream)
{
    return (int)cudaFreeAsync(block, stream);
}

static int pinned_new(uint64_t bytes, void **out)
{
    return (int)cudaHostAlloc(out, bytes, cudaHostAllocDefault);
}

static int pinned_free(void *block)
{
    return (int)cudaFreeHost(block);
}

static int copy(void *to, const void *from, uint64_t bytes, bool upload, void *stream)
{
    return (int)cudaMemcpyAsync(to, from, bytes, upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream);
}

#if CUDART_VERSION >= 13000
static int library_new(const void *image, void **out)
{
    cudaLibrary_t library = NULL;
    cudaError_t code = cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0);
    *out = library;
    return (int)code;
}

static int library_free(void *library)
{
    return (int)cudaLibraryUnload(library);
}

static int library_kernel(void *library, const char *name, void **out)
{
    cudaKernel_t kernel = NULL;
    cudaError_t code = cudaLibraryGetKernel(&kernel, library, name);
    *out = kernel;
    return (int)code;
}
#else /* the runtime learned to load libraries in CUDA 13 */
static int library_new(const void *image, void **out)
{
    (void)image, (void)out;
    return (int)cudaErrorNotSupported;
}

static int library_free(void *library)
{
    (void)library;
    return (int)cudaErrorNotSupported;
}

static int library_kernel(void *library, const char *name, void **out)
{
    (void)library, (void)name, (void)out;
    return (int)cudaErrorNotSupported;
}
#endif

static const char *text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}

static bool full(int code)
{
    return code == (int)cudaErrorMemoryAllocation;
}

static void forget(void)
{
    cudaGetLastError();
}

static const lacis_driver cuda = {
    .possible = possible,
    .count = count,
    .describe = describe,
    .enter = enter,
    .stream_new = stream_new,
    .stream_free = stream_free,
    .stream_wait = stream_wait,
    .stream_follow = stream_follow,
    .event_new = event_new,
    .event_free = event_free,
    .event_record = event_record,
    .event_wait = event_wait,
    .pool_new = pool_new,
    .pool_free = pool_free,
    .pool_trim = pool_trim,
    .alloc = device_alloc,
    .free = device_free,
    .pinned_new = pinned_new,
    .pinned_free = pinned_free,
    .copy = copy,
    .library_new = library_new,
    .library_free = library_free,
    .library_kernel = library_kernel,
    .text = text,
    .full = full,
    .forget = forget,
};

#else

static bool possible(char *reason, size_t size)
{
    snprintf(reason, size, "this build has no GPU part (it was made without nvcc, or with LACIS_CUDA=OFF)");
    return false;
}

static const lacis_driver cuda = {.possible = possible};

#endif

const lacis_driver *lacis_driver_cuda(void)
{
    return &cuda;
}
