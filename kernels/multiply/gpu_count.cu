/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that count. Called by gpu_run.cu.
 */
#include "gpu_builtin.cuh"
#include "gpu_host.h"

/* What is computed with 32 bits in any case is the same kernel for both. */
template <class S, bool NARROW> static mulg_kernels kernels()
{
    typedef mulg_counts<S, false> R;
    typedef mulg_counts<S, NARROW> D;
    return {{(const void *)mulg_copy_kernel<R>, (const void *)mulg_tiny_kernel<R>,
             (const void *)mulg_tiny_wide_kernel<R>, (const void *)mulg_middle_kernel<R>, NULL,
             (const void *)mulg_dense_kernel<D>, NULL, (const void *)mulg_pair_kernel<R>,
             (const void *)mulg_flat_kernel<R>},
            NARROW ? 2 : 4,
            (const void *)mulg_middle_top_kernel<R>,
            (const void *)mulg_dense_top_kernel<D>};
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
