/* SPDX-License-Identifier: Apache-2.0
 *
 * What NVRTC compiles behind the prefix of operators/multiply/written.c (see gpu.h): the kernels over the user's CON
 * and fold. Macros: LACIS_AGG a lacis_mul_agg; LACIS_ORDERED 0 or 1: fold in order of c; LACIS_WIDE 0 or 1: columns
 * of more than 26 bits.
 */
#include "gpu_dense.cuh"
#include "gpu_flat.cuh"
#include "gpu_ordered.cuh"
#include "gpu_pair.cuh"

struct mulg_written {
    typedef lacis_t T, S;
    typedef lacis_a A;
    typedef lacis_b B;
    typedef mulg_cell<T, LACIS_AGG == MULG_SUM || LACIS_AGG == MULG_MAX ? LACIS_AGG : (int)MULG_MIN> cell;
    static constexpr bool VALUES = true, WRITTEN = true, WRITTEN_FOLD = LACIS_AGG == MULG_FOLD;
    static __device__ __forceinline__ T con(const mulg_params &, A a, B b, mul_i64 s, mul_i64 c, mul_i64 t, int *bad)
    {
        return lacis_con(a, b, s, c, t, bad);
    }
    static __device__ __forceinline__ T start(const mulg_params &)
    {
#ifdef LACIS_IDENTITY
        return LACIS_IDENTITY;
#else
        return mulg_start<T>(LACIS_AGG);
#endif
    }
    static __device__ __forceinline__ T fold(const mulg_params &p, T x, T v, int *bad)
    {
#ifdef LACIS_IDENTITY
        (void)p;
        return lacis_fold(x, v, bad);
#else
        return mulg_fold<T>(LACIS_AGG, x, v, p.checked, bad);
#endif
    }
};

#define MULG_WRITTEN_KERNEL(name, blocks, ...)                                                                       \
    extern "C" __global__ void __launch_bounds__(MULG_THREADS, blocks) name(const __grid_constant__ mulg_params p)   \
    {                                                                                                                \
        __VA_ARGS__(p);                                                                                              \
    }

MULG_WRITTEN_KERNEL(lacis_copy, MULG_COPY_BLOCKS, mulg_copy<mulg_written>)
#if LACIS_WIDE
MULG_WRITTEN_KERNEL(lacis_tiny_wide, MULG_WIDE_BLOCKS, mulg_tiny<mulg_written, mul_u64>)
#else
MULG_WRITTEN_KERNEL(lacis_tiny, MULG_TINY_BLOCKS, mulg_tiny<mulg_written, mul_u32>)
MULG_WRITTEN_KERNEL(lacis_pair, MULG_PAIR_BLOCKS, mulg_pair<mulg_written>)
MULG_WRITTEN_KERNEL(lacis_flat, MULG_FLAT_BLOCKS, mulg_flat<mulg_written>)
#endif
#if LACIS_ORDERED
MULG_WRITTEN_KERNEL(lacis_ordered, MULG_MIDDLE_LEAST, mulg_middle<mulg_written, true>)
MULG_WRITTEN_KERNEL(lacis_ordered_dense, MULG_ORDERED_BLOCKS, mulg_ordered_dense<mulg_written>)
#else
MULG_WRITTEN_KERNEL(lacis_middle, MULG_MIDDLE_LEAST, mulg_middle<mulg_written, false>)
MULG_WRITTEN_KERNEL(lacis_dense, MULG_DENSE_BLOCKS, mulg_dense<mulg_written, false>)
#endif
