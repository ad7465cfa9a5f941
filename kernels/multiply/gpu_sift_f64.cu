/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels over f64 that store only what HAVING keeps. Called by gpu_sift.cu.
 */
#include "gpu_values.cuh"

mulg_kernels mulg_sifted_f64(lacis_mul_agg agg)
{
    return mulg_kernels_any<double, true>(agg);
}
