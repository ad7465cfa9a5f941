/* SPDX-License-Identifier: Apache-2.0
 *
 * CON and AGG as the parity programs write them, each with what it means: test_multiply.c and test_complex.c compute
 * with them, and unit/test_multiply_sources.c compiles what they become for a GPU.
 */
#ifndef LACIS_TESTS_FUNCTIONS_H
#define LACIS_TESTS_FUNCTIONS_H

#include "parity/reference.h"

#define CON(name, value)                                                                                             \
    static number name(number a, number b, int64_t s, int64_t c, int64_t t)                                          \
    {                                                                                                                \
        (void)a, (void)b, (void)s, (void)c, (void)t;                                                                 \
        return value;                                                                                                \
    }
CON(con_one, integer(1))
CON(con_a, a)
CON(con_b, b)
CON(con_add, add(a, b))
CON(con_mul, mul(a, b))
CON(con_conj, mul(complex_number(a.d, -a.im), widened(b, LACIS_C128)))
CON(con_mixed, sub(scaled(a, 2), b))
CON(con_labels, integer(s * 3 + c - t))
CON(con_case, less(a, b) ? widened(mul(a, b), meet(a, b)) : widened(b, meet(a, b)))
CON(con_complex_labels, complex_number((double)(s - t), (double)c))
CON(con_complex_case, a.d < b.d ? complex_number(a.d, b.im) : widened(b, LACIS_C128))
CON(con_path, complex_number(a.d + b.d, 1))
CON(con_parts, real_number(a.d *b.im, LACIS_F64))

static number fold_max(number x, number y)
{
    return less(y, x) ? x : y;
}
static number fold_mix(number x, number y)
{
    return x.type == LACIS_I64 ? integer((x.i * 3 + y.i) % 1009) : x;
}
static number fold_half(number x, number y)
{
    number half = x.type == LACIS_I64 ? real_number(0.5 * x.d, LACIS_F64) : real_number(0.5 * x.d, x.type);
    return add(half, y);
}

static const functions real_functions[] = {
    {NULL, NULL, con_mul, LACIS_AGG_SUM, NULL, 0, false},
    {"nil", NULL, con_one, LACIS_AGG_COUNT, NULL, 0, false},
    {NULL, "count", con_one, LACIS_AGG_COUNT, NULL, 0, false},
    {"a * b", "count", con_one, LACIS_AGG_COUNT, NULL, 0, false},
    {"1", "sum", con_one, LACIS_AGG_SUM, NULL, 0, false},
    {"1", "max", con_one, LACIS_AGG_MAX, NULL, 0, false},
    {"a", "sum", con_a, LACIS_AGG_SUM, NULL, 0, false},
    {"a", "last", con_a, LACIS_AGG_LAST, NULL, 0, false},
    {"b", NULL, con_b, LACIS_AGG_SUM, NULL, 0, false},
    {"b", "first", con_b, LACIS_AGG_FIRST, NULL, 0, false},
    {"b", "max", con_b, LACIS_AGG_MAX, NULL, 0, false},
    {"a + b", "min", con_add, LACIS_AGG_MIN, NULL, 0, false},
    {"b + a", "max", con_add, LACIS_AGG_MAX, NULL, 0, false},
    {"a + b", "sum", con_add, LACIS_AGG_SUM, NULL, 0, false},
    {"a + b", "avg", con_add, LACIS_AGG_AVG, NULL, 0, false},
    {"a * b", "min", con_mul, LACIS_AGG_MIN, NULL, 0, false},
    {"a * b", "avg", con_mul, LACIS_AGG_AVG, NULL, 0, false},
    {"a * b", "any", con_mul, LACIS_AGG_ANY, NULL, 0, false},
    {"2 * a - b", "sum", con_mixed, LACIS_AGG_SUM, NULL, 0, false},
    {"2 * a - b", "min", con_mixed, LACIS_AGG_MIN, NULL, 0, false},
    {"a * 2 - b", "last", con_mixed, LACIS_AGG_LAST, NULL, 0, false},
    {"CASE WHEN a < b THEN a * b ELSE b END", "max", con_case, LACIS_AGG_MAX, NULL, 0, false},
    {"CASE WHEN a < b THEN a * b ELSE b END", "avg", con_case, LACIS_AGG_AVG, NULL, 0, false},
    {"s * 3 + c - t", "sum", con_labels, LACIS_AGG_SUM, NULL, 0, false},
    {"s * 3 + c - t", "first", con_labels, LACIS_AGG_FIRST, NULL, 0, false},
    {"a + b", "(x, y) -> CASE WHEN y < x THEN x ELSE y END IDENTITY -1000000", con_add, LACIS_AGG_FOLD, fold_max,
     -1000000, false},
    {"a + b", "(x, y) -> CASE WHEN y < x THEN x ELSE y END IDENTITY -1000000 ASSOCIATIVE", con_add, LACIS_AGG_FOLD,
     fold_max, -1000000, false},
    {"a", "(x, y) -> (x * 3 + y) % 1009 IDENTITY 7", con_a, LACIS_AGG_FOLD, fold_mix, 7, true},
    {"2 * a - b", "(x, y) -> (x * 3 + y) % 1009 IDENTITY 7", con_mixed, LACIS_AGG_FOLD, fold_mix, 7, true},
};
/* Folds that turn integers into reals, and one that is a named aggregate written out. */
static const functions real_folds[] = {
    {"a * b", "(x, y) -> x * 0.5 + y IDENTITY 0", con_mul, LACIS_AGG_FOLD, fold_half, 0, false},
    {"a * b", "(x, y) -> x + y IDENTITY 0", con_mul, LACIS_AGG_SUM, NULL, 0, false},
    {"a + b", "(x, y) -> min(x, y) IDENTITY 1e300", con_add, LACIS_AGG_MIN, NULL, 0, false},
};

/* -------------------------------------------------------------------------------- of complex values */

/* The shorter distance, and how many paths have it. */
static number fold_shortest(number x, number y)
{
    if (x.d != y.d) return x.d < y.d ? x : y;
    return complex_number(x.d, x.im + y.im);
}
/* The order of values shows. */
static number fold_turn(number x, number y)
{
    return complex_number(0.5 * x.d - y.im, 0.5 * x.im + y.d);
}
static number fold_real(number x, number y)
{
    return complex_number(0.5 * x.d + y.d, 0);
}

#define SHORTEST                                                                                                     \
    "(x, y) -> CASE WHEN re(x) < re(y) THEN x WHEN re(y) < re(x) THEN y ELSE complex(re(x), im(x) + im(y)) END "     \
    "IDENTITY complex(1e300, 0)"

static const functions complex_functions[] = {
    {NULL, NULL, con_mul, LACIS_AGG_SUM, NULL, 0, false},
    {NULL, "count", con_one, LACIS_AGG_COUNT, NULL, 0, false},
    {"a", NULL, con_a, LACIS_AGG_SUM, NULL, 0, false},
    {"b", "first", con_b, LACIS_AGG_FIRST, NULL, 0, false},
    {"b", "avg", con_b, LACIS_AGG_AVG, NULL, 0, false},
    {"a", "last", con_a, LACIS_AGG_LAST, NULL, 0, false},
    {"a + b", "sum", con_add, LACIS_AGG_SUM, NULL, 0, false},
    {"a + b", "avg", con_add, LACIS_AGG_AVG, NULL, 0, false},
    {"a * b", "any", con_mul, LACIS_AGG_ANY, NULL, 0, false},
    {"a * b", "last", con_mul, LACIS_AGG_LAST, NULL, 0, false},
    {"conj(a) * b + complex(0, 0)", "sum", con_conj, LACIS_AGG_SUM, NULL, 0, false},
    {"2 * a - b", "sum", con_mixed, LACIS_AGG_SUM, NULL, 0, false},
    {"2 * a - b", "avg", con_mixed, LACIS_AGG_AVG, NULL, 0, false},
    {"complex(s - t, c)", "first", con_complex_labels, LACIS_AGG_FIRST, NULL, 0, false},
    {"CASE WHEN re(a) < re(b) THEN complex(re(a), im(b)) ELSE b END", "sum", con_complex_case, LACIS_AGG_SUM, NULL, 0,
     false},
    {"re(a) * im(b) + 0.0", "max", con_parts, LACIS_AGG_MAX, NULL, 0, false},
    {"complex(re(a) + re(b), 1)", SHORTEST, con_path, LACIS_AGG_FOLD, fold_shortest, 1e300, false},
    {"a * b", "(x, y) -> x * 0.5 + y * complex(0, 1) IDENTITY complex(1, -2)", con_mul, LACIS_AGG_FOLD, fold_turn,
     CMPLX(1, -2), false},
    {"a + b", "(x, y) -> complex(re(x) * 0.5 + re(y), 0) IDENTITY complex(3, 1)", con_add, LACIS_AGG_FOLD, fold_real,
     CMPLX(3, 1), false},
};

#endif
