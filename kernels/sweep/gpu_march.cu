/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels for one shape of rule: there are none yet, all rules take the one of gpu_general.cu.
 */
#include "sweep/gpu_inside.h"

namespace sweep
{

const void *march_kernel(const lacis_sweep_start *, bool)
{
    return nullptr;
}

lacis_sweep_status march(lacis_sweep_gpu *, const void *, const Box &, bool, cudaStream_t)
{
    return LACIS_SWEEP_UNSUPPORTED;
}

} // namespace sweep

uint64_t lacis_sweep_gpu_prefix(const lacis_sweep_start *, char *, uint64_t)
{
    return 0;
}
