/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels for one shape of rule, f32.
 */
#include "sweep/gpu_march_kernels.cuh"

const void *sweep::march_kernel_f32(const lacis_sweep_start *start, bool sums)
{
    return kernel_for<float>(start, sums);
}
