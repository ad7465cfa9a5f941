/* SPDX-License-Identifier: Apache-2.0
 *
 * No rule is blocked in time yet: every step is a pass of its own.
 */
#include "sweep/gpu_block.h"

int lacis_sweep_block_depth(const lacis_sweep_block *, int64_t)
{
    return 1;
}

cudaError_t lacis_sweep_block_pass(const lacis_sweep_block *, int, const void *, void *, cudaStream_t)
{
    return cudaErrorNotSupported;
}
