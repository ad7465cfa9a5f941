/* SPDX-License-Identifier: Apache-2.0
 *
 * What NVRTC compiles behind the prefix of operators/multiply/written.c (see gpu.h): the kernels over the user's CON
 * and fold, a program each. Macros: LACIS_KERNEL which, by its place in lacis_mul_gpu_kernel_name; LACIS_CON,
 * LACIS_AGG a lacis_mul_con and _agg; LACIS_CHECKED 0 or 1: integer sums that overflow are told; LACIS_MASKED 0 or 1:
 * there is a MASK;
 * LACIS_SIFTED: HAVING within the kernels (gpu_sift.cuh).
 */
#include "gpu_base.cuh"
#include "gpu_having.cuh"
#ifdef LACIS_SEMIRING
#include "gpu_flat.cuh"
#include "gpu_fold.cuh"
#include "gpu_ordered.cuh"
#include "gpu_pair.cuh"
#include "gpu_small_hash.cuh"

/* AGGs that enter cells by gpu_fold.cuh: the user's, and sums of complex numbers. */
template <class T> struct mulg_written_join {
#ifdef LACIS_IDENTITY
    static __device__ __forceinline__ T start()
    {
        return LACIS_IDENTITY;
    }
    static __device__ __forceinline__ T one(T v)
    {
        return v;
    }
    static __device__ __forceinline__ T join(T x, T y)
    {
        int bad = 0; /* folds that can fail are given kernels that keep the order */
        return lacis_fold(x, y, &bad);
    }
    static __device__ __forceinline__ T last(T x)
    {
        return join(start(), x);
    }
#else
    static __device__ __forceinline__ T one(T v)
    {
        return mulg_plus(v, (T)0);
    }
    static __device__ __forceinline__ T join(T x, T y)
    {
        return mulg_plus(x, y);
    }
    static __device__ __forceinline__ T last(T x)
    {
        return x;
    }
#endif
};
template <class T, bool TOLD> struct mulg_written_joined {
    typedef mulg_join_cell<T, mulg_written_join<T>, mulg_traits<T>::real> type;
};
template <class T> struct mulg_written_joined<T, true> {
    typedef mulg_told_cell<T, mulg_written_join<T>> type;
};
/* Sums change a cell with every value: those of complex numbers are faster by exchange, as are the ranked cells of
 * MIDDLE, which nobody has to search. */
template <class T, bool JOINED> struct mulg_written_cell {
    typedef
        typename mulg_written_joined<T, sizeof(T) == 16 && LACIS_AGG == MULG_FOLD && LACIS_KERNEL == 5>::type type;
};
template <class T> struct mulg_written_cell<T, false> {
    typedef mulg_cell<T, LACIS_AGG == MULG_SUM || LACIS_AGG == MULG_MAX ? LACIS_AGG : (int)MULG_MIN> type;
};

struct mulg_written {
    typedef mulg_value_of<lacis_t>::type T, S;
    typedef mulg_value_of<lacis_a>::type A;
    typedef mulg_value_of<lacis_b>::type B;
    static constexpr bool VALUES = true, WRITTEN = true, WRITTEN_FOLD = LACIS_AGG == MULG_FOLD;
    typedef mulg_written_cell<T, WRITTEN_FOLD || sizeof(T) == 16>::type cell;
    static __device__ __forceinline__ T con(const mulg_params &p, A a, B b, mul_i64 s, mul_i64 c, mul_i64 t, int *bad)
    {
        if (LACIS_LISTED & 1) s = __ldg(p.label[0] + s);
        if (LACIS_LISTED & 2) c = __ldg(p.label[1] + c);
        if (LACIS_LISTED & 4) t = __ldg(p.label[2] + t);
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
    static __device__ __forceinline__ T fold(const mulg_params &, T x, T v, int *bad)
    {
#ifdef LACIS_IDENTITY
        return lacis_fold(x, v, bad);
#else
        return mulg_fold<T>(LACIS_AGG, x, v, LACIS_CHECKED, bad);
#endif
    }
};

#define MULG_WRITTEN_KERNEL(name, blocks, ...)                                                                       \
    extern "C" __global__ void __launch_bounds__(MULG_THREADS, blocks) name(const __grid_constant__ mulg_params p)   \
    {                                                                                                                \
        __VA_ARGS__(p);                                                                                              \
    }

#if LACIS_KERNEL == 0
MULG_WRITTEN_KERNEL(lacis_copy, MULG_COPY_BLOCKS, mulg_copy<mulg_written>)
#elif LACIS_KERNEL == 1
MULG_WRITTEN_KERNEL(lacis_tiny, MULG_TINY_BLOCKS, mulg_tiny<mulg_written, mul_u32>)
#elif LACIS_KERNEL == 2
MULG_WRITTEN_KERNEL(lacis_tiny_wide, MULG_WIDE_BLOCKS, mulg_tiny<mulg_written, mul_u64>)
#elif LACIS_KERNEL == 3
MULG_WRITTEN_KERNEL(lacis_middle, MULG_MIDDLE_LEAST, mulg_middle<mulg_written, false>)
#elif LACIS_KERNEL == 4
MULG_WRITTEN_KERNEL(lacis_ordered, MULG_MIDDLE_LEAST, mulg_middle<mulg_written, true>)
#elif LACIS_KERNEL == 5
MULG_WRITTEN_KERNEL(lacis_dense, MULG_DENSE_BLOCKS, mulg_dense<mulg_written, false>)
#elif LACIS_KERNEL == 6
template <bool AVERAGE> struct mulg_written_window {
    typedef mulg_ordered_window<mulg_written> type;
};
template <> struct mulg_written_window<true> {
    typedef mulg_average_window<mulg_written> type;
};
MULG_WRITTEN_KERNEL(lacis_ordered_dense, MULG_ORDERED_BLOCKS,
                    mulg_ordered_dense<mulg_written, mulg_written_window<LACIS_AGG == MULG_AVG>::type>)
#elif LACIS_KERNEL == 7
MULG_WRITTEN_KERNEL(lacis_pair, MULG_PAIR_BLOCKS, mulg_pair<mulg_written>)
#elif LACIS_KERNEL == 8
MULG_WRITTEN_KERNEL(lacis_flat, MULG_FLAT_BLOCKS, mulg_flat<mulg_written>)
#elif LACIS_KERNEL == 9
MULG_WRITTEN_KERNEL(lacis_small_sort, MULG_SMALL_BLOCKS, mulg_small_sort<mulg_written>)
#elif LACIS_KERNEL == 10
MULG_WRITTEN_KERNEL(lacis_small_hash, MULG_SMALL_BLOCKS, mulg_small_hash<mulg_written>)
#endif
#endif
