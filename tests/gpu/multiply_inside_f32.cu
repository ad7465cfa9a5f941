/* SPDX-License-Identifier: Apache-2.0
 *
 * Written min-plus of f32 with HAVING inside, in any order and in order, for multiply_gpu.cu.
 */
#include "multiply_rings.h"

#include <cmath>

#define INSIDE(name)   inside_f32_##name
#define LACIS_BYTES    4
#define LACIS_IDENTITY INFINITY
typedef float lacis_t, lacis_a, lacis_b, lacis_stored;
struct lacis_c128 {
    double re, im;
};
static __device__ __forceinline__ lacis_c128 lacis_complex(double re, double im)
{
    return {re, im};
}
static __device__ __forceinline__ lacis_t lacis_con(lacis_a a, lacis_b b, long long, long long, long long, int *)
{
    return a + b;
}
static __device__ __forceinline__ lacis_t lacis_fold(lacis_t x, lacis_t y, int *)
{
    return y < x ? y : x;
}
static __device__ __forceinline__ bool lacis_having(lacis_stored v, long long s, long long t, int *)
{
    return v > 3 && (s + t) % 3 != 0;
}

#include "multiply_inside.cuh"

static pair plus(double a, double b, int64_t, int64_t, int64_t)
{
    return {a + b, 0};
}
static pair least(pair x, pair y)
{
    return y.x < x.x ? y : x;
}
static bool more(pair v, int64_t s, int64_t t)
{
    return v.x > 3 && (s + t) % 3 != 0;
}

void check_inside_f32(const matrix &a, const matrix &b, const matrix &mask)
{
    const ring any = {"min inside", nullptr, LACIS_MUL_F32, LACIS_MUL_FOLD, true, false,
                      false,        plus,    least,         {INFINITY, 0},  more};
    ring ordered = any;
    ordered.any_order = false;
    lacis_mul_gpu_written written[2] = {};
    inside_kernels(&written[0]);
    inside_kernels(&written[1]);
    check_ring(any, a, b, mask, written);
    check_ring(ordered, a, b, mask, written);
}
