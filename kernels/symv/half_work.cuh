/* SPDX-License-Identifier: Apache-2.0
 *
 * What making a plan holds meanwhile: memory, the first error. Included by half_plan.cu and its parts.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_WORK_CUH
#define LACIS_KERNELS_SYMV_HALF_WORK_CUH

#include "half_columns.cuh"

#include <cub/device/device_scan.cuh>

struct work {
    const lacis_symv_half_gpu *job;
    lacis_symv_half_plan *plan;
    cudaStream_t stream;
    csr a;
    void *held[16];
    int count;
    bool full; /* alloc answered NULL */
    cudaError_t error;
};

static void *take(work *w, half_u64 bytes)
{
    const lacis_symv_host *host = &w->job->half.job.host;
    void *block = w->full || w->error != cudaSuccess ? NULL : host->alloc(host->context, bytes + 256);
    if (block == NULL)
        w->full = w->full || w->error == cudaSuccess;
    else
        w->held[w->count++] = block;
    return block;
}

static bool good(work *w, cudaError_t error)
{
    if (w->error == cudaSuccess) w->error = error;
    return w->error == cudaSuccess && !w->full;
}

static unsigned blocks_of(half_i64 count)
{
    return (unsigned)(count / THREADS + 1);
}

/* Sums before each of count numbers, in place. */
static bool scan(work *w, half_i64 *numbers, half_i64 count)
{
    size_t bytes = 0;
    if (!good(w, cub::DeviceScan::ExclusiveSum(NULL, bytes, numbers, numbers, count, w->stream))) return false;
    void *room = take(w, bytes);
    return good(w, cudaSuccess) &&
           good(w, cub::DeviceScan::ExclusiveSum(room, bytes, numbers, numbers, count, w->stream));
}

static bool read_back(work *w, void *to, const void *from, size_t bytes)
{
    return good(w, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, w->stream)) &&
           good(w, cudaStreamSynchronize(w->stream));
}

#endif
