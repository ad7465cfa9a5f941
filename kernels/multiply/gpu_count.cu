/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that count. Called by gpu_job.cu.
 */
#include "gpu_count.cuh"

template <class S, bool NARROW> static mulg_kernels kernels()
{
    return mulg_kernels_that_count<mulg_counts<S, false>, mulg_counts<S, NARROW>>();
}

mulg_kernels mulg_count_kernels(lacis_mul_storage storage, bool narrow)
{
    switch (storage) {
    case LACIS_MUL_TO_U8:
        return kernels<unsigned char, true>();
    case LACIS_MUL_TO_U16:
        return kernels<unsigned short, true>();
    case LACIS_MUL_TO_I64:
        return kernels<mul_i64, false>();
    default:
        return narrow ? kernels<mul_u32, true>() : kernels<mul_u32, false>();
    }
}
