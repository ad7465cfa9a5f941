/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that count and store only what HAVING keeps. Called by gpu_sift.cu.
 */
#include "gpu_count.cuh"

mulg_kernels mulg_sifted_counts(lacis_mul_storage storage, bool narrow)
{
    return mulg_kernels_by_storage<mulg_sifted>(storage, narrow);
}
