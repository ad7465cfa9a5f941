/* SPDX-License-Identifier: Apache-2.0
 *
 * What a GPU copies within its memory: the floor that results are held against.
 */
#include "bench.h"

#ifdef LACIS_BENCH_GPU

#include "resident.h"

#include <cuda_runtime_api.h>

double bench_resident_copy_rate(bench_resident *r)
{
    const uint64_t bytes = (uint64_t)1 << 30;
    enum { ROUNDS = 7 };
    double seconds[ROUNDS], rate = 0;
    lacis_gpu *gpu = r->device[0].gpu;
    void *from = lacis_gpu_alloc(gpu, bytes), *to = lacis_gpu_alloc(gpu, bytes);
    cudaStream_t stream = lacis_gpu_stream(gpu);
    bool good = from != NULL && to != NULL;
    for (int i = 0; good && i < ROUNDS; i++) {
        good = cudaStreamSynchronize(stream) == cudaSuccess;
        double start = bench_now();
        good = good && cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess &&
               cudaStreamSynchronize(stream) == cudaSuccess;
        seconds[i] = bench_now() - start;
    }
    if (good) rate = 2 * (double)bytes / bench_median(seconds, ROUNDS);
    lacis_gpu_free(gpu, from);
    lacis_gpu_free(gpu, to);
    return rate;
}

#else

double bench_resident_copy_rate(bench_resident *resident)
{
    (void)resident;
    return 0;
}

#endif
