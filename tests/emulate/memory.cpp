/* SPDX-License-Identifier: Apache-2.0
 *
 * Device and pinned memory: blocks of the CPU's, filled with garbage, with a gap behind each that must stay as it is
 * (where there is no AddressSanitizer to watch it). No more than EMULATE_MEGABYTES is given. Handles of CUDA IPC work
 * within the one process, as EMULATE_IPC says.
 */
#include "memory.h"

#include "scheduler.h"

#include "emulate/device_wide.h"

#include <map>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace emulate
{

enum { GAP = 64, GAP_BYTE = 0xa9 };

struct owned {
    size_t bytes;
    bool pinned;
};
static std::map<const char *, owned> blocks;
static uint64_t in_use, most_in_use;
static std::mutex lock;

static uint64_t device_bytes()
{
    static const char *const text = getenv("EMULATE_MEGABYTES");
    return (text ? strtoull(text, NULL, 0) : 2048) << 20;
}

static cudaError_t take(void **out, size_t bytes, bool pinned)
{
#ifdef __SANITIZE_ADDRESS__
    const size_t gap = 0;
#else
    const size_t gap = GAP;
#endif
    const std::lock_guard<std::mutex> guard(lock);
    *out = NULL;
    if (bytes == 0) return cudaSuccess;
    if (bytes > device_bytes() - in_use) return cudaErrorMemoryAllocation;
    void *at = NULL;
    if (posix_memalign(&at, 256, bytes + gap) != 0) return cudaErrorMemoryAllocation;
    memset(at, seeded ? (int)random_below(256) : 0xb5, bytes);
    memset((char *)at + bytes, GAP_BYTE, gap);
    blocks[(const char *)at] = {bytes, pinned};
    in_use += bytes;
    if (in_use > most_in_use) most_in_use = in_use;
    *out = at;
    return cudaSuccess;
}

static void give(void *block)
{
    const std::lock_guard<std::mutex> guard(lock);
    const auto found = blocks.find((const char *)block);
    if (found == blocks.end()) fail({"memory", 0}, "%p is freed, but is no block, or was freed before", block);
#ifndef __SANITIZE_ADDRESS__
    for (size_t i = 0; i < GAP; i++)
        if (((unsigned char *)block)[found->second.bytes + i] != GAP_BYTE)
            fail({"memory", 0}, "the byte %zu behind a block of %zu bytes was written", i, found->second.bytes);
    memset(block, 0xdd, found->second.bytes);
#endif
    in_use -= found->second.bytes;
    blocks.erase(found);
    free(block);
}

static bool lies_in(const void *p, bool pinned)
{
    const std::lock_guard<std::mutex> guard(lock);
    auto next = blocks.upper_bound((const char *)p);
    if (next == blocks.begin()) return false;
    --next;
    return next->second.pinned == pinned && (const char *)p < next->first + next->second.bytes;
}

/* Whether a copy can be put off: the host's side is pinned or it has none. */
static bool may_be_late(const void *p)
{
    return lies_in(p, false) || lies_in(p, true);
}

} /* namespace emulate */

using namespace emulate;

/* --- blocks ------------------------------------------------------------------------------------------- */

cudaError_t cudaMalloc(void **block, size_t bytes)
{
    return take(block, bytes, false);
}

cudaError_t cudaMallocAsync(void **block, size_t bytes, cudaStream_t)
{
    return take(block, bytes, false);
}

cudaError_t cudaMallocHost(void **block, size_t bytes, unsigned)
{
    return take(block, bytes, true);
}

cudaError_t cudaHostAlloc(void **block, size_t bytes, unsigned)
{
    return take(block, bytes, true);
}

cudaError_t cudaFree(void *block)
{
    drain_all();
    if (block) give(block);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *block)
{
    return cudaFree(block);
}

cudaError_t cudaFreeAsync(void *block, cudaStream_t stream)
{
    if (block) do_on(stream, [block] { give(block); });
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *total = device_bytes();
    *free_bytes = device_bytes() - in_use;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    *pool = NULL;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void *)
{
    if (attribute == cudaMemPoolAttrUsedMemHigh) most_in_use = in_use;
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void *value)
{
    const bool high = attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh;
    *(uint64_t *)value = attribute == cudaMemPoolAttrReleaseThreshold ? 0 : high ? most_in_use : in_use;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *, size_t)
{
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t)
{
    return cudaSuccess;
}

/* --- copies ------------------------------------------------------------------------------------------- */

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    if (bytes) do_on(stream, [=] { memset(to, value, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return cudaMemsetAsync(to, value, bytes, 0);
}

/* --- CUDA IPC ------------------------------------------------------------------------------------------ */

namespace emulate
{

static std::map<char *, size_t> opened; /* what the emulated neighbour writes to */
static long ipc_copies;                 /* so far */

static const char *ipc()
{
    const char *const text = getenv("EMULATE_IPC");
    return text ? text : "";
}

/* Whether the copy is one of those that EMULATE_IPC=N lets fail. */
static bool ipc_fails(const void *to)
{
    const char *const text = ipc();
    const std::lock_guard<std::mutex> guard(lock);
    auto next = opened.upper_bound((char *)to);
    if (text[0] < '0' || text[0] > '9' || next == opened.begin()) return false;
    --next;
    return (char *)to < next->first + next->second && ++ipc_copies > strtol(text, NULL, 0);
}

} /* namespace emulate */

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *block)
{
    const std::lock_guard<std::mutex> guard(lock);
    if (strcmp(ipc(), "none") == 0) return cudaErrorNotSupported;
    if (blocks.find((const char *)block) == blocks.end()) return cudaErrorInvalidValue;
    memcpy(handle->reserved, &block, sizeof block);
    return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void **block, cudaIpcMemHandle_t handle, unsigned)
{
    void *at = NULL;
    memcpy(&at, handle.reserved, sizeof at);
    lock.lock();
    const auto found = blocks.find((const char *)at);
    const size_t bytes = found == blocks.end() ? 0 : found->second.bytes;
    lock.unlock();
    if (bytes == 0) return cudaErrorInvalidValue;
    *block = at;
    if (strcmp(ipc(), "lost") == 0 && take(block, bytes, false) != cudaSuccess) return cudaErrorMemoryAllocation;
    const std::lock_guard<std::mutex> guard(lock);
    if (opened.empty()) ipc_copies = 0;
    opened[(char *)*block] = bytes;
    return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void *block)
{
    drain_all();
    lock.lock();
    opened.erase((char *)block);
    lock.unlock();
    if (strcmp(ipc(), "lost") == 0) give(block);
    return cudaSuccess;
}

/* From memory that is not pinned the copy is taken now; into it, the copy waits. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream)
{
    if (bytes == 0) return cudaSuccess;
    if (ipc_fails(to)) return cudaErrorInvalidValue;
    if (!may_be_late(from)) {
        const std::vector<char> staged((const char *)from, (const char *)from + bytes);
        do_on(stream, [=] { memcpy(to, staged.data(), bytes); });
    } else
        do_on(stream, [=] { memcpy(to, from, bytes); });
    if (!may_be_late(to)) drain(stream);
    return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind, 0);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
    for (size_t y = 0; y < height; y++)
        cudaMemcpyAsync((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width, kind, stream);
    return cudaSuccess;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, 0);
}
