/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that count. Called by gpu_run.cu.
 */
#include "gpu_builtin.cuh"
#include "gpu_host.h"

template <class S> static mulg_kernels kernels()
{
    typedef mulg_counts<S> R;
    return {{(const void *)mulg_copy_kernel<R>, (const void *)mulg_tiny_kernel<R>,
             (const void *)mulg_tiny_wide_kernel<R>, (const void *)mulg_middle_kernel<R>, NULL,
             (const void *)mulg_dense_kernel<R>, NULL, (const void *)mulg_pair_kernel<R>,
             (const void *)mulg_flat_kernel<R>}};
}

mulg_kernels mulg_count_kernels(lacis_mul_storage storage)
{
    switch (storage) {
    case LACIS_MUL_TO_U8:
        return kernels<unsigned char>();
    case LACIS_MUL_TO_U16:
        return kernels<unsigned short>();
    case LACIS_MUL_TO_I64:
        return kernels<mul_i64>();
    default:
        return kernels<mul_u32>();
    }
}
