/* SPDX-License-Identifier: Apache-2.0
 *
 * See nbody_several.h.
 */
#include "nbody_several.h"

int64_t several_live, several_allocs, several_fail_at;

/* The context is the stream of a device, which is current whenever its memory is asked for. */
static void *host_alloc(void *context, uint64_t bytes)
{
    void *block = nullptr;
    if (++several_allocs == several_fail_at) return nullptr;
    if (cudaMallocAsync(&block, bytes ? bytes : 1, (cudaStream_t)context) != cudaSuccess) return nullptr;
    CUDA(cudaMemsetAsync(block, 0xff, bytes ? bytes : 1, (cudaStream_t)context));
    several_live++;
    return block;
}
static void host_free(void *context, void *block)
{
    if (block == nullptr) return;
    several_live--;
    CUDA(cudaFreeAsync(block, (cudaStream_t)context));
}

/* Memory of this device's pool for the other devices. */
static void share_pool(int device, int devices)
{
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    for (int other = 0; other < devices; other++) {
        int can = 0;
        if (other == device) continue;
        CUDA(cudaDeviceCanAccessPeer(&can, other, device));
        cudaMemAccessDesc access = {};
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = other;
        access.flags = cudaMemAccessFlagsProtReadWrite;
        if (can) CUDA(cudaMemPoolSetAccess(pool, &access, 1));
    }
}

Devices::Devices(int many_, const nbody_set &set, lacis_nbody_type type, const lacis_nbody_rule &rule) : many(many_)
{
    int there = 0;
    CUDA(cudaGetDeviceCount(&there));
    for (int k = 0; k < many; k++) {
        device[k] = k % there;
        CUDA(cudaSetDevice(device[k]));
        if (k < there) share_pool(device[k], there < many ? there : many);
        CUDA(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking));
    }
    CUDA(cudaSetDevice(device[0]));
    nbody_begin(&columns, set, type, rule);
    for (int k = 0; k < many; k++) {
        starts[k] = columns.start;
        starts[k].stream = streams[k];
        starts[k].start.host = {host_alloc, host_free, nullptr, nullptr, streams[k]};
        CUDA(cudaHostAlloc(&starts[k].pinned, LACIS_NBODY_GPU_PINNED_BYTES, cudaHostAllocPortable));
    }
    CUDA(cudaStreamSynchronize(stream));
}

Devices::~Devices()
{
    for (int k = 0; k < many; k++) {
        CUDA(cudaSetDevice(device[k]));
        CUDA(cudaStreamSynchronize(streams[k]));
        CUDA(cudaStreamDestroy(streams[k]));
        CUDA(cudaFreeHost(starts[k].pinned));
    }
    CUDA(cudaSetDevice(device[0]));
}
