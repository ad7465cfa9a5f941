/* SPDX-License-Identifier: Apache-2.0
 *
 * Written shortest paths and their number, pairs of f64, with HAVING inside, in any order and in order, for
 * multiply_gpu.cu.
 */
#include "multiply_rings.h"

#include <cmath>

#define INSIDE(name)   inside_c128_##name
#define LACIS_BYTES    16
#define LACIS_IDENTITY lacis_complex(INFINITY, 0)
struct lacis_c128 {
    double re, im;
};
static __device__ __forceinline__ lacis_c128 lacis_complex(double re, double im)
{
    return {re, im};
}
typedef lacis_c128 lacis_t, lacis_stored;
typedef float lacis_a, lacis_b;
static __device__ __forceinline__ lacis_t lacis_con(lacis_a a, lacis_b b, long long, long long, long long, int *)
{
    return lacis_complex(a + b, 1);
}
static __device__ __forceinline__ lacis_t lacis_fold(lacis_t x, lacis_t y, int *)
{
    return x.re < y.re ? x : y.re < x.re ? y : lacis_complex(x.re, x.im + y.im);
}
static __device__ __forceinline__ bool lacis_having(lacis_stored v, long long s, long long t, int *)
{
    return v.re > 3 && v.im < 4 && (s + t) % 3 != 0;
}

#include "multiply_inside.cuh"

static pair one_path(double a, double b, int64_t, int64_t, int64_t)
{
    return {a + b, 1};
}
static pair paths(pair x, pair y)
{
    return x.x < y.x ? x : y.x < x.x ? y : pair{x.x, x.y + y.y};
}
static bool few(pair v, int64_t s, int64_t t)
{
    return v.x > 3 && v.y < 4 && (s + t) % 3 != 0;
}

void check_inside_c128(const matrix &a, const matrix &b, const matrix &mask)
{
    const ring any = {"paths inside", nullptr,  LACIS_MUL_C128, LACIS_MUL_FOLD, true, false,
                      false,          one_path, paths,          {INFINITY, 0},  few};
    ring ordered = any;
    ordered.any_order = false;
    lacis_mul_gpu_written written[2] = {};
    inside_kernels(&written[0]);
    inside_kernels(&written[1]);
    check_ring(any, a, b, mask, written);
    check_ring(ordered, a, b, mask, written);
}
