/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of one type of values, for gpu_values_*.cu. CON is read from the parameters, but for pairs worth their
 * own kernels (MULG_OWN). SUM, MIN and MAX have kernels that fold in any order; all else folds in order.
 */
#include "gpu_builtin.cuh"
#include "gpu_host.h"

/* SIFTED: kernels that store only what HAVING keeps. */
template <class R, bool SIFTED> struct mulg_perhaps_sifted {
    typedef R type;
};
template <class R> struct mulg_perhaps_sifted<R, true> {
    typedef mulg_sifted<R> type;
};

template <class T, int AGG, int CON, bool SIFTED> static mulg_kernels mulg_kernels_of()
{
    typedef typename mulg_perhaps_sifted<mulg_values<T, -1, -1>, SIFTED>::type any;
    typedef typename mulg_perhaps_sifted<mulg_values<T, AGG, CON>, SIFTED>::type R;
    mulg_kernels k = {{(const void *)mulg_copy_kernel<any>, (const void *)mulg_tiny_kernel<any>,
                       (const void *)mulg_tiny_wide_kernel<any>, NULL, (const void *)mulg_ordered_kernel<any>, NULL,
                       (const void *)mulg_ordered_dense_kernel<any>, (const void *)mulg_pair_kernel<any>,
                       (const void *)mulg_flat_kernel<any>, (const void *)mulg_small_sort_kernel<any>},
                      0,
                      NULL,
                      NULL};
    if constexpr (AGG == MULG_AVG) k.kernel[MULG_ORDERED_DENSE] = (const void *)mulg_average_dense_kernel<any>;
    if constexpr (CON >= 0) {
        k.kernel[MULG_PAIR] = (const void *)mulg_pair_kernel<R>;
        k.kernel[MULG_FLAT] = (const void *)mulg_flat_kernel<R>;
    }
    if constexpr (AGG >= 0 && AGG != MULG_AVG) {
        k.kernel[MULG_MIDDLE] = (const void *)mulg_middle_kernel<R>;
        k.kernel[MULG_SMALL_HASH] = (const void *)mulg_small_hash_kernel<R>;
        k.kernel[MULG_DENSE] = (const void *)mulg_dense_kernel<R>;
        if constexpr (sizeof(T) == 4 && !R::cell::marked) {
            k.middle_top = (const void *)mulg_middle_top_kernel<R>;
            k.dense_top = (const void *)mulg_dense_top_kernel<R>;
        }
    }
    return k;
}

template <class T, bool SIFTED = false> static mulg_kernels mulg_kernels_any(lacis_mul_agg agg)
{
    switch (agg) {
    case LACIS_MUL_SUM:
        return mulg_kernels_of<T, MULG_SUM, -1, SIFTED>();
    case LACIS_MUL_MIN:
        return mulg_kernels_of<T, MULG_MIN, -1, SIFTED>();
    case LACIS_MUL_MAX:
        return mulg_kernels_of<T, MULG_MAX, -1, SIFTED>();
    case LACIS_MUL_AVG:
        return mulg_kernels_of<T, MULG_AVG, -1, SIFTED>();
    default:
        return mulg_kernels_of<T, -1, -1, SIFTED>();
    }
}
