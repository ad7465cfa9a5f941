/* SPDX-License-Identifier: Apache-2.0
 *
 * See symv_time.h.
 */
#include "symv_time.h"

#include "support.h"

#include <algorithm>
#include <cmath>

static __global__ void hold(long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

double symv_time_between(void (*call)(void *), void *context, int repeats)
{
    cudaEvent_t begin, end;
    std::vector<float> all;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    for (int i = 0; i < repeats + 2; i++) {
        float ms = 0;
        hold<<<1, 1, 0, stream>>>(60000);
        CUDA(cudaEventRecord(begin, stream));
        call(context);
        CUDA(cudaEventRecord(end, stream));
        CUDA(cudaEventSynchronize(end));
        CUDA(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 2) all.push_back(ms);
    }
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
    std::sort(all.begin(), all.end());
    return 1000.0 * (double)all[all.size() / 2];
}

static __device__ volatile double never;
enum { READERS = 512, READS = 4 };
static __global__ __launch_bounds__(READERS) void read_all(const double2 *from, int64_t n)
{
    double s = 0;
    for (int64_t i = blockIdx.x * (int64_t)(READERS * READS) + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * READERS * READS) {
        double2 v[READS];
#pragma unroll
        for (int k = 0; k < READS; k++)
            v[k] = i + k * READERS < n ? __ldcs(from + i + k * READERS) : make_double2(0, 0);
#pragma unroll
        for (int k = 0; k < READS; k++)
            s += v[k].x + v[k].y;
    }
    if (s == 1e300) never = s; /* so that the sum is wanted; it never is */
}

void symv_read_launch(const void *from, uint64_t bytes, int blocks)
{
    read_all<<<blocks, READERS, 0, stream>>>((const double2 *)from, (int64_t)(bytes / 16));
}

double symv_plain_read(const void *from, uint64_t bytes, int repeats)
{
    double best = INFINITY;
    for (const int blocks : {264, 528, 1056, 2112})
        best = std::min(best, symv_time(repeats, [&] { symv_read_launch(from, bytes, blocks); }));
    return best;
}
