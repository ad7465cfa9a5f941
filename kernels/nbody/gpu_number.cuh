/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the device's n-body kernels: fused steps and inverse roots by name (the build fuses nothing by itself),
 * loads and stores of four at once.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_NUMBER_CUH
#define LACIS_KERNELS_NBODY_GPU_NUMBER_CUH

#include "nbody/gpu_tree.h"

namespace nbody
{

__device__ __forceinline__ float fused(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}
__device__ __forceinline__ double fused(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

/* 1 / sqrt(x): floats to 2 units in the last place, with subnormals taken as 0 (infinity). */
__device__ __forceinline__ float inverse_root(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/* A start of 20 bits or more and one step of third order. 0 gives infinity: the step is left out there. */
__device__ __forceinline__ double inverse_root(double x)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fused(-x * y, y, 1.0);
    const double better = fused(y * e, fused(0.375, e, 0.5), y);
    return x > 0 ? better : y;
}

__device__ __forceinline__ Four<float> load(const Four<float> *at)
{
    const float4 v = *reinterpret_cast<const float4 *>(at);
    return {v.x, v.y, v.z, v.w};
}
__device__ __forceinline__ Four<double> load(const Four<double> *at)
{
    const double2 a = reinterpret_cast<const double2 *>(at)[0], b = reinterpret_cast<const double2 *>(at)[1];
    return {a.x, a.y, b.x, b.y};
}
__device__ __forceinline__ void store(Four<float> *at, const Four<float> &v)
{
    *reinterpret_cast<float4 *>(at) = make_float4(v.x, v.y, v.z, v.w);
}
__device__ __forceinline__ void store(Four<double> *at, const Four<double> &v)
{
    reinterpret_cast<double2 *>(at)[0] = make_double2(v.x, v.y);
    reinterpret_cast<double2 *>(at)[1] = make_double2(v.z, v.w);
}

} // namespace nbody

#endif
