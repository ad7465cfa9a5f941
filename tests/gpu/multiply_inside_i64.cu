/* SPDX-License-Identifier: Apache-2.0
 *
 * Written sums of i64, as a fold with an identity, with HAVING inside, in any order and in order, for
 * multiply_gpu.cu: cells that are marked, since no integer is left to say that there is nothing.
 */
#include "multiply_rings.h"

#define INSIDE(name)   inside_i64_##name
#define LACIS_BYTES    8
#define LACIS_IDENTITY 0ll
typedef float lacis_a, lacis_b;
typedef long long lacis_t, lacis_stored;
struct lacis_c128 {
    double re, im;
};
static __device__ __forceinline__ lacis_c128 lacis_complex(double re, double im)
{
    return {re, im};
}
static __device__ __forceinline__ lacis_t lacis_con(lacis_a a, lacis_b b, long long, long long, long long, int *)
{
    return (lacis_t)a + (lacis_t)b;
}
static __device__ __forceinline__ lacis_t lacis_fold(lacis_t x, lacis_t y, int *)
{
    return x + y;
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
static pair total(pair x, pair y)
{
    return {x.x + y.x, 0};
}
static bool more(pair v, int64_t s, int64_t t)
{
    return v.x > 3 && (s + t) % 3 != 0;
}

void check_inside_i64(const matrix &a, const matrix &b, const matrix &mask)
{
    const ring any = {"sum inside", nullptr, LACIS_MUL_I64, LACIS_MUL_FOLD, true, false,
                      false,        plus,    total,         {0, 0},         more};
    ring ordered = any;
    ordered.any_order = false;
    lacis_mul_gpu_written written[2] = {};
    inside_kernels(&written[0]);
    inside_kernels(&written[1]);
    check_ring(any, a, b, mask, written);
    check_ring(ordered, a, b, mask, written);
}
