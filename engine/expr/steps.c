/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of loops.h for each instruction set, and the choice among them. Called by program.c and canon.c.
 */
#include "expr/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------- one element of what is not a plain C expression */

/* b, or 1 where a / b would fail. */
static inline int64_t divisor(int64_t a, int64_t b)
{
    return b == 0 || (b == -1 && a == INT64_MIN) ? 1 : b;
}

static inline bool product_overflows(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product);
}

/* As in SQLite: b < 0 shifts to the right; bits that leave are lost. */
static inline int64_t shift(int64_t a, int64_t b)
{
    if (b >= 0) return b > 63 ? 0 : (int64_t)((uint64_t)a << b);
    return a >> (b < -63 ? 63 : -b);
}

static inline bool fits_int64(double a)
{
    return a >= -0x1p63 && a < 0x1p63;
}

static inline int64_t truncated(double a)
{
    return fits_int64(a) ? (int64_t)a : 0;
}

/* Whether x is among rising values. */
static inline int64_t listed(int64_t x, const int64_t *value, int64_t count)
{
    int64_t first = 0;
    while (count > 1) {
        int64_t half = count / 2;
        first += value[first + half] <= x ? half : 0;
        count -= half;
    }
    return count == 1 && value[first] == x;
}

struct narrow_pair { /* C64 in memory */
    float re, im;
};

/* Written with sums alone: of a difference in one part and a sum in the other gcc 12 makes one fused operation with
 * AVX-512, in spite of -ffp-contract=off (vfmaddsub), and results would depend on the processor. */
static inline lacis_pair pair_times(lacis_pair a, lacis_pair b)
{
    return (lacis_pair){a.re * b.re + -a.im * b.im, a.re * b.im + a.im * b.re};
}

/* After Smith (CACM 5(8), 1962): no square of b overflows. */
static inline lacis_pair pair_over(lacis_pair a, lacis_pair b)
{
    bool wide = fabs(b.re) >= fabs(b.im);
    double most = wide ? b.re : b.im, least = wide ? b.im : b.re;
    double ratio = least / most, size = most + least * ratio;
    double p = wide ? 1 : ratio, q = wide ? ratio : 1, minus = -q;
    return (lacis_pair){(a.re * p + a.im * q) / size, (a.im * p + a.re * minus) / size};
}

#define ISA_NAME  "baseline"
#define ISA(name) name##_baseline
#include "expr/loops.h"
#undef ISA
#undef ISA_NAME

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#define ISA_NAME  "avx2"
#define ISA(name) name##_avx2
#include "expr/loops.h"
#undef ISA
#undef ISA_NAME
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi,bmi2,lzcnt,popcnt,prefer-vector-width=512")
#define ISA_NAME  "avx512"
#define ISA(name) name##_avx512
#include "expr/loops.h"
#undef ISA
#undef ISA_NAME
#pragma GCC pop_options
#endif

const lacis_steps *lacis_steps_here(void)
{
#if defined(__x86_64__)
    const char *most = getenv("LACIS_ISA");
    bool avx2 = most == NULL || strcmp(most, "baseline") != 0;
    bool avx512 = avx2 && (most == NULL || strcmp(most, "avx2") != 0);
    avx512 = avx512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512cd");
    avx2 = avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (avx512 && avx2) return &steps_avx512;
    if (avx2) return &steps_avx2;
#endif
    return &steps_baseline;
}

lacis_step_fn lacis_step_find(const lacis_steps *steps, lacis_node_op op, lacis_dtype operands)
{
    return steps->fn[op][operands == LACIS_F32 ? 1 : operands == LACIS_F64 ? 2 : operands == LACIS_C128 ? 3 : 0];
}

lacis_dtype lacis_step_result(lacis_node_op op, lacis_dtype operands)
{
    if (op >= LACIS_NODE_OR && op <= LACIS_NODE_BETWEEN) return LACIS_I64;
    if (op == LACIS_NODE_TO_INT || op == LACIS_STEP_MEMBER) return LACIS_I64;
    if (op == LACIS_NODE_COMPLEX) return LACIS_C128;
    bool part = op == LACIS_NODE_RE || op == LACIS_NODE_IM || op == LACIS_NODE_ARG || op == LACIS_NODE_ABS;
    if (part && operands == LACIS_C128) return LACIS_F64;
    return op == LACIS_NODE_TO_REAL ? LACIS_F64 : operands;
}

bool lacis_step_fails(lacis_node_op op, lacis_dtype operands, const void *x, const void *y)
{
    int64_t out;
    lacis_step_fn fn = lacis_step_find(&steps_baseline, op, operands);
    return fn(1, 0, x, y, NULL, &out) != 0;
}
