/* SPDX-License-Identifier: Apache-2.0
 *
 * The semirings that are compiled in, and their kernels. Included by gpu_count.cu and gpu_values_*.cu, one
 * accumulator type each, so that they compile beside each other.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_BUILTIN_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_BUILTIN_CUH

#include "gpu_dense.cuh"
#include "gpu_flat.cuh"
#include "gpu_middle.cuh"
#include "gpu_ordered.cuh"
#include "gpu_pair.cuh"
#include "gpu_small_hash.cuh"

/* Counts, stored as STORED; NARROW: they are below 2^16. */
template <class STORED, bool NARROW> struct mulg_counts {
    typedef int T, A, B;
    typedef STORED S;
    typedef mulg_count_cell cell;
    static constexpr bool VALUES = false, WRITTEN = false, WRITTEN_FOLD = false;
};

template <class STORED> struct mulg_narrow<mulg_counts<STORED, true>> {
    static constexpr bool value = true;
};

/* CON and AGG as given, or -1: as the parameters say. */
template <class TYPE, int AGG, int CON> struct mulg_values {
    typedef TYPE T, A, B, S;
    typedef mulg_cell<TYPE, AGG == MULG_SUM || AGG == MULG_MAX ? AGG : (int)MULG_MIN> cell;
    static constexpr bool VALUES = true, WRITTEN = false, WRITTEN_FOLD = false;
    static __device__ __forceinline__ T con(const mulg_params &p, T a, T b, mul_i64, mul_i64, mul_i64, int *bad)
    {
        if constexpr (CON >= 0)
            return mulg_con<T>(CON, a, b);
        else if constexpr (AGG >= 0)
            return mulg_con<T>(p.con, a, b);
        else
            return p.checked ? mulg_con_checked<T>(p.con, a, b, bad) : mulg_con<T>(p.con, a, b);
    }
    static __device__ __forceinline__ T start(const mulg_params &p)
    {
        return mulg_start<T>(p.agg);
    }
    static __device__ __forceinline__ T fold(const mulg_params &p, T x, T v, int *bad)
    {
        return mulg_fold<T>(p.agg, x, v, p.checked, bad);
    }
};

#define MULG_KERNEL(name, blocks, ...)                                                                               \
    template <class R>                                                                                               \
    __global__ void __launch_bounds__(MULG_THREADS, blocks) name(const __grid_constant__ mulg_params p)              \
    {                                                                                                                \
        __VA_ARGS__(p);                                                                                              \
    }
MULG_KERNEL(mulg_copy_kernel, MULG_COPY_BLOCKS, mulg_copy<R>)
MULG_KERNEL(mulg_tiny_kernel, MULG_TINY_BLOCKS, mulg_tiny<R, mul_u32>)
MULG_KERNEL(mulg_tiny_wide_kernel, MULG_WIDE_BLOCKS, mulg_tiny<R, mul_u64>)
MULG_KERNEL(mulg_pair_kernel, MULG_PAIR_BLOCKS, mulg_pair<R>)
MULG_KERNEL(mulg_flat_kernel, MULG_FLAT_BLOCKS, mulg_flat<R>)
MULG_KERNEL(mulg_small_sort_kernel, MULG_SMALL_BLOCKS, mulg_small_sort<R>)
MULG_KERNEL(mulg_small_hash_kernel, MULG_SMALL_BLOCKS, mulg_small_hash<R>)
MULG_KERNEL(mulg_middle_kernel, MULG_MIDDLE_LEAST, mulg_middle<R, false>)
MULG_KERNEL(mulg_ordered_kernel, MULG_MIDDLE_LEAST, mulg_middle<R, true>)
MULG_KERNEL(mulg_ordered_dense_kernel, MULG_ORDERED_BLOCKS, mulg_ordered_dense<R, mulg_ordered_window<R>>)
MULG_KERNEL(mulg_average_dense_kernel, MULG_ORDERED_BLOCKS, mulg_ordered_dense<R, mulg_average_window<R>>)
MULG_KERNEL(mulg_dense_kernel, MULG_DENSE_BLOCKS, mulg_dense<R, false>)
MULG_KERNEL(mulg_middle_top_kernel, MULG_MIDDLE_LEAST, mulg_middle<R, false, true>)
MULG_KERNEL(mulg_dense_top_kernel, MULG_DENSE_BLOCKS, mulg_dense<R, true>)

#endif
