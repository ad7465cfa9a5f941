/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulator's runtime as the calls that the engine makes of a GPU (engine/core/driver.h), for engine_driver.c.
 */
#include <cuda_runtime.h>
#include <stdint.h>

extern "C" {

int emulated_alloc(uint64_t bytes, void **out)
{
    return (int)cudaMalloc(out, bytes);
}

int emulated_free(void *block)
{
    return (int)cudaFree(block);
}

int emulated_copy(void *to, const void *from, uint64_t bytes, void *stream)
{
    const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
    return (int)(error != cudaSuccess ? error : cudaStreamSynchronize((cudaStream_t)stream));
}

int emulated_stream_new(void **out)
{
    return (int)cudaStreamCreate((cudaStream_t *)out);
}

int emulated_stream_free(void *stream)
{
    return (int)cudaStreamDestroy((cudaStream_t)stream);
}

int emulated_wait(void *stream)
{
    return (int)cudaStreamSynchronize((cudaStream_t)stream);
}

int emulated_pinned_new(uint64_t bytes, void **out)
{
    return (int)cudaHostAlloc(out, bytes, cudaHostAllocDefault);
}

int emulated_pinned_free(void *block)
{
    return (int)cudaFreeHost(block);
}

} /* extern "C" */
