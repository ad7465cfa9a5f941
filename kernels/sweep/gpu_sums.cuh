/* SPDX-License-Identifier: Apache-2.0
 *
 * The change of a step on the device: squares of tiles, added exactly. A warp has an accumulator of its own in shared
 * memory, to which its lanes add the pieces of one sum at different digits; when it ends it adds that to global
 * memory. Included by what NVRTC compiles.
 */
#ifndef LACIS_SWEEP_GPU_SUMS_CUH
#define LACIS_SWEEP_GPU_SUMS_CUH

#include "gpu_base.cuh"

/* Bits of |d| as a double's: NaN is greater than all numbers. */
__device__ __forceinline__ unsigned long long sweep_bits(double d)
{
    return (unsigned long long)__double_as_longlong(d) & 0x7fffffffffffffffull;
}
__device__ __forceinline__ void sweep_greater(unsigned *max, float d)
{
    const unsigned bits = (unsigned)__float_as_int(d) & 0x7fffffffu;
    *max = bits > *max ? bits : *max;
}
__device__ __forceinline__ void sweep_greater(unsigned long long *max, double d)
{
    const unsigned long long bits = sweep_bits(d);
    *max = bits > *max ? bits : *max;
}
__device__ __forceinline__ unsigned long long sweep_wide(unsigned max)
{
    return sweep_bits((double)__int_as_float((int)max));
}
__device__ __forceinline__ unsigned long long sweep_wide(unsigned long long max)
{
    return max;
}
template <class T> struct sweep_max;
template <> struct sweep_max<float> {
    typedef unsigned bits;
};
template <> struct sweep_max<double> {
    typedef unsigned long long bits;
};

/* All lanes of a warp: an empty accumulator. */
__device__ __forceinline__ void sweep_sums_begin(unsigned long long *digit, int lane)
{
    for (int i = lane; i < SWEEP_COUNTERS; i += 32)
        digit[i] = 0;
    __syncwarp();
}

/* All lanes: adds `sum` (of one lane, >= 0 or NaN), the same for all of them: m 2^(32 i - 1088 + shift), in three
 * pieces of 32 bits at digits i, i + 1, i + 2. */
__device__ __forceinline__ void sweep_sums_add(unsigned long long *digit, double sum, int lane)
{
    const unsigned long long bits = sweep_bits(sum);
    const int exponent = (int)(bits >> 52);
    if (exponent == 0x7ff) {
        if (lane == 0) digit[SWEEP_DIGITS + (bits << 12 != 0)]++;
    } else if (bits != 0) {
        const unsigned long long fraction = bits & 0xfffffffffffffull;
        const unsigned long long m = exponent > 0 ? fraction | 0x10000000000000ull : fraction;
        const int place = (exponent > 0 ? exponent : 1) + 13, shift = place & 31;
        const unsigned long long low = m << shift, high = shift > 0 ? m >> (64 - shift) : 0;
        const unsigned long long piece = lane == 0 ? low & 0xffffffffull : lane == 1 ? low >> 32 : high;
        if (lane < 3) digit[(place >> 5) + lane] += piece;
    }
    __syncwarp();
}

/* All lanes: the accumulator and each lane's greatest difference into global memory. */
__device__ __forceinline__ void sweep_sums_end(const unsigned long long *digit, unsigned long long max,
                                               sweep_sums *to, int lane)
{
    for (int i = lane; i < SWEEP_COUNTERS; i += 32)
        if (digit[i] != 0) atomicAdd(&to->digit[i], digit[i]);
    for (int turned = 16; turned > 0; turned /= 2) {
        const unsigned long long other = __shfl_xor_sync(0xffffffffu, max, turned);
        max = other > max ? other : max;
    }
    if (lane == 0 && max != 0) atomicMax(&to->max, max);
}

#endif
