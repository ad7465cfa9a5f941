/* SPDX-License-Identifier: Apache-2.0
 *
 * What exchanges take on a device, by events on its stream: when the steps of a part began, when they were computed,
 * and when the halos were there as well. The time between the last two is communication that nothing hides.
 */
#ifndef LACIS_SWEEP_GPU_CLOCK_H
#define LACIS_SWEEP_GPU_CLOCK_H

#include "sweep/parts.h"

#include <cuda_runtime.h>

namespace sweep
{

enum Mark { BEGUN, COMPUTED, JOINED, MARKS };
enum { EXCHANGES_TIMED = 1024 }; /* at most; later ones have no line */

struct Clock {
    int64_t most, used, read; /* exchanges */
    cudaEvent_t *event;
};

cudaError_t clock_new(Clock *clock, int64_t exchanges); /* 0: none; to be freed also where it fails */
void clock_free(Clock *clock);
cudaError_t clock_mark(Clock *clock, Mark mark, cudaStream_t stream); /* in their order */
/* Lines of the exchanges since the last time, from *line on, which moves; waits for the last one. */
cudaError_t clock_read(Clock *clock, lacis_sweep_times **line);

} // namespace sweep

#endif
