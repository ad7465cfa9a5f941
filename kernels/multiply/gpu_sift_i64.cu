/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels over i64 that store only what HAVING keeps. Called by gpu_sift.cu.
 */
#include "gpu_values.cuh"

mulg_kernels mulg_sifted_i64(lacis_mul_agg agg)
{
    return mulg_kernels_any<mul_i64, true>(agg);
}
