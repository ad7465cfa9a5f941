/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of counts of one stored type, for gpu_count.cu and gpu_sift_count.cu.
 */
#include "gpu_builtin.cuh"
#include "gpu_host.h"

/* R counts in 32 bits, D perhaps in 16: what is computed with 32 in any case is the same kernel for both. */
template <class R, class D> static mulg_kernels mulg_kernels_that_count()
{
    return {{(const void *)mulg_copy_kernel<R>, (const void *)mulg_tiny_kernel<R>,
             (const void *)mulg_tiny_wide_kernel<R>, (const void *)mulg_middle_kernel<R>, NULL,
             (const void *)mulg_dense_kernel<D>, NULL, (const void *)mulg_pair_kernel<R>,
             (const void *)mulg_flat_kernel<R>, (const void *)mulg_small_sort_kernel<R>,
             (const void *)mulg_small_hash_kernel<R>},
            mulg_narrow<D>::value ? 2 : 4,
            (const void *)mulg_middle_top_kernel<R>,
            (const void *)mulg_dense_top_kernel<D>};
}

template <template <class> class KIND, class S, bool NARROW> static mulg_kernels mulg_kernels_stored()
{
    return mulg_kernels_that_count<KIND<mulg_counts<S, false>>, KIND<mulg_counts<S, NARROW>>>();
}

/* KIND: what is made of the semiring. */
template <template <class> class KIND>
static mulg_kernels mulg_kernels_by_storage(lacis_mul_storage storage, bool narrow)
{
    switch (storage) {
    case LACIS_MUL_TO_U8:
        return mulg_kernels_stored<KIND, unsigned char, true>();
    case LACIS_MUL_TO_U16:
        return mulg_kernels_stored<KIND, unsigned short, true>();
    case LACIS_MUL_TO_I64:
        return mulg_kernels_stored<KIND, mul_i64, false>();
    default:
        return narrow ? mulg_kernels_stored<KIND, mul_u32, true>() : mulg_kernels_stored<KIND, mul_u32, false>();
    }
}
