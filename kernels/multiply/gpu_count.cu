/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that count. Called by gpu_job.cu.
 */
#include "gpu_count.cuh"

template <class R> using plain = R;

mulg_kernels mulg_count_kernels(lacis_mul_storage storage, bool narrow)
{
    return mulg_kernels_by_storage<plain>(storage, narrow);
}
