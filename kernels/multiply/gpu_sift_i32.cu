/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels over i32 that store only what HAVING keeps. Called by gpu_sift.cu.
 */
#include "gpu_values.cuh"

mulg_kernels mulg_sifted_i32(lacis_mul_agg agg)
{
    return mulg_kernels_any<int, true>(agg);
}
