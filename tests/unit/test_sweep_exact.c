/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact sums of doubles (kernels/sweep/exact.c) against sums by error-free additions (Shewchuk 1997), which are
 * rounded once at the end; ties, subnormals, overflow, many numbers, other orders, signs.
 */
#include "sweep/sweep.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint64_t draw(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15;
    uint64_t z = *seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* --- the reference: parts that do not overlap, the smallest first ------------------------------------------ */

enum { PARTS = 64 };
typedef struct expansion {
    double part[PARTS];
    int parts;
} expansion;

static void expansion_add(expansion *e, double x)
{
    int kept = 0;
    for (int i = 0; i < e->parts; i++) {
        double a = x, b = e->part[i];
        if (fabs(a) < fabs(b)) {
            const double swap = a;
            a = b;
            b = swap;
        }
        const double sum = a + b, rest = b - (sum - a);
        if (rest != 0) e->part[kept++] = rest;
        x = sum;
    }
    assert_true(kept < PARTS);
    e->part[kept] = x;
    e->parts = kept + 1;
}

static double expansion_round(const expansion *e)
{
    int i = e->parts - 1;
    double high = i >= 0 ? e->part[i] : 0, rest = 0;
    while (i > 0) {
        const double a = high, b = e->part[--i];
        high = a + b;
        rest = b - (high - a);
        if (rest != 0) break;
    }
    /* A tie that what is left decides. */
    if (i > 0 && ((rest < 0 && e->part[i - 1] < 0) || (rest > 0 && e->part[i - 1] > 0))) {
        const double twice = rest * 2, sum = high + twice;
        if (twice == sum - high) high = sum;
    }
    return high;
}

/* --- sums ------------------------------------------------------------------------------------------------- */

static double random_number(uint64_t *seed, int lowest, int span)
{
    const uint64_t bits = draw(seed);
    const double mantissa = (double)(bits >> 11) * 0x1p-53;
    const int exponent = lowest + (int)(draw(seed) % (uint64_t)span);
    return ldexp(bits & 1 ? -mantissa : mantissa, exponent);
}

static void same(double got, double wanted, const char *what)
{
    if (memcmp(&got, &wanted, sizeof got) != 0 && !(isnan(got) && isnan(wanted)) && !(got == 0 && wanted == 0))
        fail_msg("%s: %a, not %a", what, got, wanted);
}

static void random_sums_are_rounded_once(void **state)
{
    static const struct {
        int lowest, span;
    } ranges[] = {{-5, 10}, {-60, 120}, {-1080, 40}, {-1074, 2000}, {900, 120}, {-30, 1}, {-1074, 60}};
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 3000; round++) {
        const int r = round % (int)(sizeof ranges / sizeof ranges[0]), n = 1 + (int)(draw(&seed) % 60);
        lacis_sweep_exact sum = {{0}, {0}}, halves[2] = {{{0}, {0}}, {{0}, {0}}};
        expansion wanted = {.parts = 0};
        for (int i = 0; i < n; i++) {
            const double x = random_number(&seed, ranges[r].lowest, ranges[r].span);
            lacis_sweep_exact_add(&sum, x);
            lacis_sweep_exact_add(&halves[draw(&seed) % 2], x);
            expansion_add(&wanted, x);
        }
        same(lacis_sweep_exact_round(&sum), expansion_round(&wanted), "random sum");
        lacis_sweep_exact_merge(&halves[0], &halves[1]);
        lacis_sweep_exact_settle(&sum);
        assert_memory_equal(&halves[0], &sum, sizeof sum);
    }
}

static double sum_of(int n, const double *x)
{
    lacis_sweep_exact sum = {{0}, {0}};
    for (int i = 0; i < n; i++)
        lacis_sweep_exact_add(&sum, x[i]);
    return lacis_sweep_exact_round(&sum);
}
#define SUM(...) sum_of((int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

static void ties_go_to_even(void **state)
{
    (void)state;
    same(SUM(1, 0x1p-53), 1, "tie down");
    same(SUM(1, 0x1p-53, 0x1p-1074), 1 + 0x1p-52, "just above a tie");
    same(SUM(1, 0x1p-53, -0x1p-1074), 1, "just below a tie");
    same(SUM(1 + 0x1p-52, 0x1p-53), 1 + 0x1p-51, "tie up");
    same(SUM(-1, -0x1p-53), -1, "negative tie");
    same(SUM(-1 - 0x1p-52, -0x1p-53), -1 - 0x1p-51, "negative tie up");
    same(SUM(2 - 0x1p-52, 0x1p-53), 2, "carry into the next power");
}

static void ends_of_the_range_are_kept(void **state)
{
    (void)state;
    same(SUM(0x1p-1074), 0x1p-1074, "least");
    same(SUM(0x1p-1074, 0x1p-1074, 0x1p-1074), 0x3p-1074, "subnormals");
    same(SUM(DBL_MIN, -0x1p-1074), DBL_MIN - 0x1p-1074, "below the least normal");
    same(SUM(DBL_MAX, DBL_MAX), INFINITY, "overflow");
    same(SUM(DBL_MAX, DBL_MAX, -DBL_MAX), DBL_MAX, "no overflow between");
    same(SUM(-DBL_MAX, -DBL_MAX), -INFINITY, "negative overflow");
    same(SUM(DBL_MAX, 0x1p970), INFINITY, "rounds to infinity");
    same(SUM(DBL_MAX, 0x1p970, -0x1p-1074), DBL_MAX, "rounds to the greatest");
    same(SUM(DBL_MAX, 0x1p-1074, -DBL_MAX), 0x1p-1074, "cancels but for the least");
    same(SUM(0.0, -0.0), 0, "zeros");
    same(SUM(INFINITY, 1), INFINITY, "infinity");
    same(SUM(-INFINITY, DBL_MAX), -INFINITY, "minus infinity");
    same(SUM(INFINITY, -INFINITY), NAN, "both");
    same(SUM(NAN, INFINITY), NAN, "NaN");
}

static void carries_move_on_in_time(void **state)
{
    (void)state;
    lacis_sweep_exact sum = {{0}, {0}};
    const double x = 2 - 0x1p-52; /* all bits */
    for (int i = 0; i < 3000000; i++)
        lacis_sweep_exact_add(&sum, x);
    same(lacis_sweep_exact_round(&sum), fma(3000000, 2, -3000000 * 0x1p-52), "many");
    /* 2^41 of them by merging with itself; digits stay small. */
    lacis_sweep_exact one = {{0}, {0}};
    lacis_sweep_exact_add(&one, x);
    for (int i = 0; i < 41; i++)
        lacis_sweep_exact_merge(&one, &one);
    same(lacis_sweep_exact_round(&one), ldexp(x, 41), "doubled");
    /* Digits near their limit, as sums that were never settled have them. */
    lacis_sweep_exact full = {{0}, {0}};
    for (int i = 0; i < 40; i++)
        full.digit[i] = ((int64_t)1 << 61) - 1;
    lacis_sweep_exact settled = full;
    lacis_sweep_exact_settle(&settled);
    same(lacis_sweep_exact_round(&full), lacis_sweep_exact_round(&settled), "unsettled");
    for (int i = 0; i < 1000; i++) {
        lacis_sweep_exact_add(&full, 0x1.fffffffffffffp-100);
        lacis_sweep_exact_add(&settled, 0x1.fffffffffffffp-100);
    }
    for (int i = 0; i < LACIS_SWEEP_DIGITS; i++)
        assert_true(full.digit[i] < ((int64_t)1 << 61) + ((int64_t)1 << 32));
    lacis_sweep_exact_settle(&full);
    lacis_sweep_exact_settle(&settled);
    assert_memory_equal(&full, &settled, sizeof full);
}

static void changes_join_with_nan(void **state)
{
    (void)state;
    lacis_sweep_change a = {.max = 1}, b = {.max = 3}, c = {.max = NAN};
    lacis_sweep_exact_add(&a.squares, 0.5);
    lacis_sweep_exact_add(&b.squares, 0.25);
    lacis_sweep_exact_add(&c.squares, NAN);
    lacis_sweep_change_merge(&a, &b);
    same(a.max, 3, "max");
    same(lacis_sweep_exact_round(&a.squares), 0.75, "squares");
    lacis_sweep_change_merge(&a, &c);
    lacis_sweep_change_merge(&a, &b);
    same(a.max, NAN, "max");
    same(lacis_sweep_exact_round(&a.squares), NAN, "squares");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sums_are_rounded_once), cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(ends_of_the_range_are_kept),   cmocka_unit_test(carries_move_on_in_time),
        cmocka_unit_test(changes_join_with_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
