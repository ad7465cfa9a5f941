/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_clock.h. Called by gpu_part*.cu and gpu_several*.cu.
 */
#include "sweep/gpu_clock.h"

#include <stdlib.h>

namespace sweep
{

cudaError_t clock_new(Clock *clock, int64_t exchanges)
{
    const int64_t most = exchanges < EXCHANGES_TIMED ? exchanges : EXCHANGES_TIMED;
    *clock = {};
    if (most <= 0) return cudaSuccess;
    clock->event = static_cast<cudaEvent_t *>(calloc((size_t)(most * MARKS), sizeof(cudaEvent_t)));
    if (clock->event == nullptr) return cudaErrorMemoryAllocation;
    clock->most = most;
    for (int64_t i = 0; i < most * MARKS; i++) {
        const cudaError_t code = cudaEventCreate(&clock->event[i]);
        if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
}

void clock_free(Clock *clock)
{
    for (int64_t i = 0; i < clock->most * MARKS; i++)
        if (clock->event[i]) (void)cudaEventDestroy(clock->event[i]);
    free(clock->event);
    *clock = {};
}

cudaError_t clock_mark(Clock *clock, Mark mark, cudaStream_t stream)
{
    if (clock->used >= clock->most) return cudaSuccess;
    const cudaError_t code = cudaEventRecord(clock->event[clock->used * MARKS + mark], stream);
    clock->used += mark == JOINED;
    return code;
}

static cudaError_t seconds_between(cudaEvent_t from, cudaEvent_t to, double *seconds)
{
    const double milli = 1e-3;
    float ms = 0;
    const cudaError_t code = cudaEventElapsedTime(&ms, from, to);
    *seconds = milli * (double)ms;
    return code;
}

cudaError_t clock_read(Clock *clock, lacis_sweep_times **line)
{
    for (; clock->read < clock->used; clock->read++) {
        const cudaEvent_t *const event = clock->event + clock->read * MARKS;
        lacis_sweep_times *const out = (*line)++;
        *out = {};
        cudaError_t code = cudaEventSynchronize(event[JOINED]);
        if (code == cudaSuccess) code = seconds_between(event[BEGUN], event[COMPUTED], &out->centre);
        if (code == cudaSuccess) code = seconds_between(event[COMPUTED], event[JOINED], &out->wait);
        if (code != cudaSuccess) return code;
        out->exchanges = 1;
    }
    return cudaSuccess;
}

} // namespace sweep
