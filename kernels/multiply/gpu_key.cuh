/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of every storage as unsigned keys in their order, for TOP: NaN the least, zeros equal. Used by gpu_keep.cu
 * (rows) and gpu_vector_top.cu (vectors).
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_KEY_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_KEY_CUH

#include "gpu_cell.cuh"

/* Bits that keys of V have. */
template <class V> struct mulg_key_bits {
    static constexpr int value = (int)sizeof(V) * 8;
};

template <class V> MULG_DEVICE mul_u64 mulg_key_of(V v)
{
    if constexpr (mulg_traits<V>::real) {
        typedef typename mulg_traits<V>::bits bits;
        const bits b = mulg_traits<V>::to(v + (V)0), sign = mulg_traits<V>::sign;
        return v != v ? 0 : b & sign ? (bits)~b : (bits)(b | sign);
    } else if constexpr (sizeof(V) == 4)
        return (mul_u32)v ^ 1u << 31;
    else
        return (mul_u64)v ^ 1ull << 63;
}
template <> __device__ __forceinline__ mul_u64 mulg_key_of(unsigned char v)
{
    return v;
}
template <> __device__ __forceinline__ mul_u64 mulg_key_of(unsigned short v)
{
    return v;
}
template <> __device__ __forceinline__ mul_u64 mulg_key_of(mul_u32 v)
{
    return v;
}

#endif
