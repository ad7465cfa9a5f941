/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels over f32; plus-times and min-plus have their own. Called by gpu_run.cu.
 */
#include "gpu_values.cuh"

mulg_kernels mulg_f32_kernels(lacis_mul_con con, lacis_mul_agg agg)
{
    if (con == LACIS_MUL_CON_MUL && agg == LACIS_MUL_SUM) return mulg_kernels_of<float, MULG_SUM, MULG_MUL, false>();
    if (con == LACIS_MUL_CON_ADD && agg == LACIS_MUL_MIN) return mulg_kernels_of<float, MULG_MIN, MULG_ADD, false>();
    return mulg_kernels_any<float>(agg);
}
