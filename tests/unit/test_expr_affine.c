/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/expr/affine.c, exact.c, pitfall.c: what operators ask of whole expressions.
 */
#include "unit/expr_support.h"

#include <float.h>

enum { SLOTS = 3 };
static const lacis_dtype reals[] = {LACIS_F64, LACIS_F64, LACIS_F64}, floats[] = {LACIS_F32, LACIS_F32, LACIS_F32},
                         integers[] = {LACIS_I64, LACIS_I64, LACIS_I64},
                         complexes[] = {LACIS_C128, LACIS_C128, LACIS_C128},
                         mixed[] = {LACIS_F32, LACIS_F64, LACIS_I64};

static void linear_forms_are_seen(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double constant, weight[SLOTS];
    } cases[] = {
        {"a", 0, {1, 0, 0}},
        {"(a + b + c) / 4", 0, {0.25, 0.25, 0.25}},
        {"a + 0.25 * (b + c - 2 * a)", 0, {0.5, 0.25, 0.25}},
        {"-(a - b) * 3 + 2 - c / (1 + 1)", 2, {-3, 3, -0.5}},
        {"a - -b", 0, {1, 1, 0}},
        {"2 * (3 - a) * sqrt(4)", 12, {-4, 0, 0}},
        {"a + a + a", 0, {3, 0, 0}},
        {"a - a + b", 0, {0, 1, 0}}, /* used, with weight 0 */
        {"0 * a + b", 0, {0, 1, 0}},
        {"5", 5, {0, 0, 0}},
        {"CASE WHEN 1 < 2 THEN a ELSE b * c END", 0, {1, 0, 0}},
        {"pow(2, 3) * a - exp(0)", -1, {8, 0, 0}},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        for (int narrow = 0; narrow < 2; narrow++) {
            double constant, weight[SLOTS];
            lacis_expr *expr = typed("a,b,c", narrow ? floats : reals, cases[i].text);
            if (i == 9) continue; /* an integer is no real, as below */
            if (!lacis_expr_affine(expr, &constant, weight)) fail_msg("%s is linear", cases[i].text);
            assert_true(constant == cases[i].constant);
            for (int k = 0; k < SLOTS; k++)
                assert_true(weight[k] == cases[i].weight[k]);
        }
    }
    double constant, weight[SLOTS];
    lacis_expr *expr = typed("a,b,c", reals, "a / 3 + b / 3 / 5");
    assert_true(lacis_expr_affine(expr, &constant, weight));
    assert_true(weight[0] == 1.0 / 3 && weight[1] == 1.0 / 5 / 3);
    expr = typed("a,b,c", reals, "a - a + b");
    assert_true(lacis_expr_uses(expr, 0));
}

static void others_are_not(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "a * b",       "1 / a",     "a / b",         "abs(a)",    "a + sqrt(b)",
        "a < b",       "min(a, b)", "a % 2",         "5",         "a * INF",
        "a + NAN",     "a / 0.0",   "floor(a)",      "pow(a, 1)", "1e308 * (1e308 * a)",
        "a * b * 0.0", "a & 1",     "CAST(a AS int)"};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        double constant, weight[SLOTS];
        const lacis_dtype *types = strchr(cases[i], '&') != NULL ? integers : reals;
        if (lacis_expr_affine(typed("a,b,c", types, cases[i]), &constant, weight)) fail_msg("%s", cases[i]);
    }
    double constant, weight[SLOTS];
    assert_false(lacis_expr_affine(typed("a,b,c", integers, "a + b"), &constant, weight));
    assert_false(lacis_expr_affine(typed("a,b,c", complexes, "a + b"), &constant, weight));
    assert_false(lacis_expr_affine(typed("a,b,c", mixed, "a + b"), &constant, weight)); /* a is rounded differently */
    assert_false(lacis_expr_affine(parse("a,b,c", "a + b"), &constant, weight));        /* not typed */
}

/* Random sums: the weights are those by which the expression was made. */
static void random_sums(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 300; round++) {
        char text[2000] = "0.0";
        double wanted[SLOTS] = {0}, constant = 0, got, weight[SLOTS];
        for (int term = 0; term < 12; term++) {
            int slot = rand() % (SLOTS + 1), number = rand() % 64 - 32, over = 1 << rand() % 5;
            bool minus = rand() % 2, nested = rand() % 2;
            char piece[100];
            double factor = (minus ? -1.0 : 1.0) * number / over;
            snprintf(piece, sizeof piece, nested ? " %c (%d * %s) / %d.0" : " %c %d.0 * %s / %d", minus ? '-' : '+',
                     number, slot < SLOTS ? (const char *[]){"a", "b", "c"}[slot] : "1.0", over);
            strcat(text, piece);
            *(slot < SLOTS ? &wanted[slot] : &constant) += factor;
        }
        lacis_expr *expr = typed("a,b,c", round % 2 ? floats : reals, text);
        bool linear = lacis_expr_affine(expr, &got, weight);
        bool none = !lacis_expr_uses(expr, 0) && !lacis_expr_uses(expr, 1) && !lacis_expr_uses(expr, 2);
        if (!linear && !none) fail_msg("%s", text);
        if (!linear) continue;
        assert_true(got == constant);
        for (int k = 0; k < SLOTS; k++)
            assert_true(weight[k] == wanted[k]);
    }
}

static void exactness(void **state)
{
    (void)state;
    static const char *const exact[] = {"a + b * c / 3 - sqrt(a)",
                                        "floor(a) + ceil(b) + round(c) + sign(a) + abs(b)",
                                        "min(a, max(b, c))",
                                        "CASE WHEN a < b OR NOT c THEN a % b ELSE 2 END",
                                        "CAST(a AS int) << 2",
                                        "a IN (1, 2) AND b BETWEEN a AND c",
                                        "exp(1) * a"};
    static const char *const rough[] = {
        "exp(a)", "1 + ln(a)", "log2(a)", "log10(a)",    "pow(a, 2)",   "sin(a)",
        "cos(a)", "tan(a)",    "tanh(a)", "atan2(a, b)", "hypot(a, b)", "a * b + CASE WHEN a THEN 1 ELSE exp(b) END"};
    for (int i = 0; i < LACIS_COUNT(exact); i++)
        if (!lacis_expr_exact(typed("a,b,c", reals, exact[i]))) fail_msg("%s", exact[i]);
    for (int i = 0; i < LACIS_COUNT(rough); i++)
        if (lacis_expr_exact(typed("a,b,c", reals, rough[i]))) fail_msg("%s", rough[i]);
    assert_true(lacis_expr_exact(typed("a,b,c", complexes, "a * b / c - conj(a)")));
    assert_false(lacis_expr_exact(typed("a,b,c", complexes, "abs(a)")));
    assert_false(lacis_expr_exact(typed("a,b,c", complexes, "arg(a)")));
    assert_false(lacis_expr_exact(parse("a,b,c", "a + b")));
}

static void divisions_that_lose_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
        int64_t place;
    } cases[] = {
        {"1/4 * a", "1/4 divides integers and is 0: write 1.0/4", 1},
        {"a + 3 / 2 * b", "3/2 divides integers and is 1: write 3.0/2", 6},
        {"a * (1 + 2) / 4", NULL, 0},
        {"(1 + 2) / 4 * a", "3/4 divides integers and is 0: write 3.0/4", 8},
        {"-1 / 3 + a", "-1/3 divides integers and is 0: write -1.0/3", 3},
        {"min(a, -(5) / (2 * 3), b)", "-5/6 divides integers and is 0: write -5.0/6", 12},
        {"1/4 + 1/3", "1/4 divides integers and is 0: write 1.0/4", 1},
        {"1.0/4 * a", NULL, 0},
        {"4/2 * a", NULL, 0},
        {"a / 4", NULL, 0},
        {"1/0 + a", NULL, 0},
        {"-9223372036854775808 / -1 + a", NULL, 0},
        {"(9223372036854775807 + 1) / 3", NULL, 0},
        {"CASE WHEN a > 0 THEN 2/3 ELSE 0 END", "2/3 divides integers and is 0: write 2.0/3", 22},
        {"7 % 2 / 3", NULL, 0},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        int64_t place = -1;
        const char *said = lacis_expr_pitfall(&run, parse("a,b", cases[i].text), &place);
        if (cases[i].said == NULL) {
            if (said != NULL) fail_msg("%s: %s", cases[i].text, said);
            continue;
        }
        if (said == NULL) fail_msg("%s", cases[i].text);
        assert_string_equal(said, cases[i].said);
        assert_int_equal(place, cases[i].place);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_run, close_run)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(linear_forms_are_seen),        TEST(others_are_not), TEST(random_sums), TEST(exactness),
        TEST(divisions_that_lose_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
