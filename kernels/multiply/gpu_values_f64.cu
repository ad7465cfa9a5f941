/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels over f64. Called by gpu_run.cu.
 */
#include "gpu_values.cuh"

mulg_kernels mulg_f64_kernels(lacis_mul_con con, lacis_mul_agg agg)
{
    (void)con;
    return mulg_kernels_any<double>(agg);
}
