/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels over i64. Called by gpu_run.cu.
 */
#include "gpu_values.cuh"

mulg_kernels mulg_i64_kernels(lacis_mul_con con, lacis_mul_agg agg)
{
    (void)con;
    return mulg_kernels_any<mul_i64>(agg);
}
