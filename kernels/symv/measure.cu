/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of single runs (measure.h): events around each, behind a kernel that holds the stream.
 */
#include "symv/measure.h"

#include <cuda_runtime.h>

#include <stdint.h>
#include <stdlib.h>

static const uint64_t MOST_NS = 20000000; /* held at most: nothing ever hangs on the host */

struct lacis_symv_clock {
    cudaEvent_t event[LACIS_SYMV_CLOCK_RUNS][2];
    volatile uint32_t *gate; /* pinned: the turn up to which the device may go on */
    uint32_t turn;
};

__device__ static uint64_t device_now()
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ static void hold(const volatile uint32_t *gate, uint32_t turn, uint64_t most)
{
    const uint64_t start = device_now();
    while (*gate != turn && device_now() - start < most) {
    }
}

extern "C" int lacis_symv_clock_new(lacis_symv_clock **out)
{
    void *gate = NULL;
    lacis_symv_clock *clock = static_cast<lacis_symv_clock *>(calloc(1, sizeof *clock));
    *out = clock;
    if (clock == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaHostAlloc(&gate, sizeof(uint32_t), cudaHostAllocDefault);
    clock->gate = static_cast<volatile uint32_t *>(gate);
    if (error == cudaSuccess) *clock->gate = 0;
    for (int i = 0; error == cudaSuccess && i < 2 * LACIS_SYMV_CLOCK_RUNS; i++)
        error = cudaEventCreate(&clock->event[i / 2][i % 2]);
    if (error == cudaSuccess) return cudaSuccess;
    lacis_symv_clock_free(clock);
    *out = NULL;
    return error;
}

extern "C" void lacis_symv_clock_free(lacis_symv_clock *clock)
{
    if (clock == NULL) return;
    for (int i = 0; i < 2 * LACIS_SYMV_CLOCK_RUNS; i++)
        if (clock->event[i / 2][i % 2] != NULL) cudaEventDestroy(clock->event[i / 2][i % 2]);
    cudaFreeHost(const_cast<uint32_t *>(clock->gate));
    free(clock);
}

extern "C" int lacis_symv_clock_hold(lacis_symv_clock *clock, void *stream)
{
    hold<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(clock->gate, ++clock->turn, MOST_NS);
    return cudaGetLastError();
}

extern "C" int lacis_symv_clock_begin(lacis_symv_clock *clock, int run, void *stream)
{
    return cudaEventRecord(clock->event[run][0], static_cast<cudaStream_t>(stream));
}

extern "C" int lacis_symv_clock_end(lacis_symv_clock *clock, int run, void *stream)
{
    return cudaEventRecord(clock->event[run][1], static_cast<cudaStream_t>(stream));
}

extern "C" int lacis_symv_clock_read(lacis_symv_clock *clock, int runs, void *stream, double *seconds)
{
    *clock->gate = clock->turn;
    cudaError_t error = cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
    for (int i = 0; error == cudaSuccess && i < runs; i++) {
        float ms = 0;
        error = cudaEventElapsedTime(&ms, clock->event[i][0], clock->event[i][1]);
        seconds[i] = 1e-3 * static_cast<double>(ms);
    }
    return error;
}
