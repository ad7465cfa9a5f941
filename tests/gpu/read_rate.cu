/* SPDX-License-Identifier: Apache-2.0
 *
 * For lacis-bench: a plain read of contiguous bytes in one launch, which kernels that read a matrix once are held
 * against, and an empty launch.
 */
#include "read_rate.h"

#include <cuda_runtime.h>

enum { THREADS = 256 };

template <int LOADS>
__global__ static void __launch_bounds__(THREADS) read_all(const uint4 *from, uint64_t count, uint32_t *never)
{
    const uint64_t first = static_cast<uint64_t>(blockIdx.x) * THREADS * LOADS + threadIdx.x;
    uint4 piece[LOADS];
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        if (first + i * THREADS < count)
            piece[i] = __ldcs(from + first + i * THREADS);
        else
            piece[i] = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        sum ^= piece[i].x ^ piece[i].y ^ piece[i].z ^ piece[i].w;
    if (sum == 0x9e3779b9u) *never = sum; /* so that the loads are wanted; as good as never true */
}

__global__ static void nothing()
{
}

extern "C" int bench_gpu_read(const void *from, uint64_t bytes, int loads, void *never, void *stream)
{
    const uint64_t count = bytes / sizeof(uint4), each = static_cast<uint64_t>(THREADS) * (loads == 4 ? 4 : 8);
    const unsigned blocks = static_cast<unsigned>((count + each - 1) / each);
    cudaStream_t on = static_cast<cudaStream_t>(stream);
    if (blocks == 0)
        nothing<<<1, 32, 0, on>>>();
    else if (loads == 4)
        read_all<4>
            <<<blocks, THREADS, 0, on>>>(static_cast<const uint4 *>(from), count, static_cast<uint32_t *>(never));
    else
        read_all<8>
            <<<blocks, THREADS, 0, on>>>(static_cast<const uint4 *>(from), count, static_cast<uint32_t *>(never));
    return cudaGetLastError();
}
