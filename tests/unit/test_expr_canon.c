/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/expr/type.c, canon.c, case.c, set.c: types, canonical forms, integer sets, type errors, memory running out.
 */
#include "unit/expr_support.h"

static const lacis_dtype integers[] = {LACIS_I64, LACIS_I64, LACIS_I64};
static const lacis_dtype reals[] = {LACIS_F64, LACIS_F64, LACIS_F64};
static const lacis_dtype floats[] = {LACIS_F32, LACIS_F32, LACIS_F32};
static const lacis_dtype mixed[] = {LACIS_I32, LACIS_F32, LACIS_F64};
static const lacis_dtype pattern[] = {LACIS_PATTERN, LACIS_I64, LACIS_F32};

struct form {
    const char *text, *canonical;
};

static void check(const struct form *form, int count, const lacis_dtype *dtypes)
{
    for (int i = 0; i < count; i++) {
        lacis_expr *expr = typed("a,b,c", dtypes, form[i].text);
        if (strcmp(lacis_expr_text(expr), form[i].canonical) != 0)
            fail_msg("%s became %s, not %s", form[i].text, lacis_expr_text(expr), form[i].canonical);
    }
}

static void canonical_of_integers(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"b + a", "a + b"},
        {"a + b", "a + b"},
        {"1 + a", "a + 1"},
        {"b * 2 + a", "a + b * 2"},
        {"c * b + b * a", "a * b + b * c"},
        {"a * b + a", "a + a * b"},
        {"(c + b) + a", "a + (b + c)"},
        {"a + b + c", "a + b + c"},
        {"b - a", "b - a"},
        {"a + 0", "a"},
        {"0 + a * 1", "a"},
        {"a - 0", "a"},
        {"a / 1", "a"},
        {"a * -1", "-a"},
        {"-(-a)", "a"},
        {"a + -b", "a - b"},
        {"-a + b", "b - a"},
        {"a - -b", "a + b"},
        {"a - -5", "a + 5"},
        {"a + -5", "a - 5"},
        {"a * 0", "0"},
        {"(b / a) * 0", "b / a * 0"}, /* may fail */
        {"1 + 2 * 3", "7"},
        {"7 / 2 + 7 % 4 + -7 / 2", "3"},
        {"7.0 / 2", "3.5"},
        {"1 / 0", "1 / 0"}, /* fails when run */
        {"9223372036854775807 + 1", "1 + 9223372036854775807"},
        {"1 << 70 | 6 & 3", "2"},
        {"-8 >> 1", "-4"},
        {"min(b, a)", "min(a, b)"},
        {"max(c, max(a, b), a)", "max(a, b, c)"},
        {"min(3, a, 5)", "min(a, 3)"},
        {"min(a, a)", "a"},
        {"CASE WHEN a < b THEN a ELSE b END", "min(a, b)"},
        {"CASE WHEN b > a THEN a ELSE b END", "min(a, b)"},
        {"CASE WHEN a >= b THEN a ELSE b END", "max(a, b)"},
        {"iif(a < b, b, a)", "max(a, b)"},
        {"iif(a < 0, 0, a)", "max(a, 0)"},
        {"iif(a < b, 1, 0)", "a < b"},
        {"iif(a, b, c)", "CASE WHEN a <> 0 THEN b ELSE c END"},
        {"CASE WHEN 0 THEN a WHEN 1 THEN b ELSE c END", "b"},
        {"CASE WHEN a > b THEN 1 WHEN 2 THEN 2 ELSE 3 END", "CASE WHEN a > b THEN 1 ELSE 2 END"},
        {"CASE a WHEN 1 THEN b ELSE c END", "CASE WHEN a = 1 THEN b ELSE c END"},
        {"CASE a + b WHEN 1 THEN b ELSE c END", "CASE a + b WHEN 1 THEN b ELSE c END"},
        {"CASE 2 WHEN 1 THEN a WHEN 2 THEN b ELSE c END", "b"},
        {"b > a", "a < b"},
        {"5 < a", "a > 5"},
        {"5 = a", "a = 5"},
        {"NOT a < b", "a >= b"},
        {"NOT NOT a = b", "a = b"},
        {"NOT a", "a = 0"},
        {"c AND a AND b", "a <> 0 AND b <> 0 AND c <> 0"},
        {"b = 1 OR a = 1 OR b = 1", "a = 1 OR b = 1"},
        {"a AND 1", "a <> 0"},
        {"a AND 0", "0"},
        {"a OR 5", "1"},
        {"a IS NULL OR b", "b <> 0"},
        {"b <> 0 AND a / b > 2", "b <> 0 AND a / b > 2"}, /* order kept: the right side can fail */
        {"a BETWEEN 1 AND 5", "a >= 1 AND a <= 5"},
        {"a NOT BETWEEN 1 AND 5", "NOT (a >= 1 AND a <= 5)"},
        {"a + b BETWEEN 1 AND 5", "a + b BETWEEN 1 AND 5"},
        {"a IN (3, 1, 2, 3)", "a IN (1, 2, 3)"},
        {"a IN (3)", "a = 3"},
        {"a NOT IN (3)", "a <> 3"},
        {"a IN (b)", "a = b"},
        {"2 IN (1, 2)", "1"},
        {"a = 3.0", "a = 3"},
        {"3.0 < a", "a > 3"},
        {"a IN (1.0, 2)", "a IN (1, 2)"},
        {"a = 2.5", "a = 2.5"},
        {"floor(a) + round(b)", "a + b"},
        {"CAST(a AS int)", "a"},
        {"CAST(a AS real)", "CAST(a AS real)"},
        {"a * 1.0 / b", "CAST(a AS real) / b"},
        {"a + 0.5", "a + 0.5"},
        {"CAST(2.9 AS int)", "2"},
        {"CAST(1e30 AS int)", "CAST(1e+30 AS int)"},
        {"abs(-a) + abs(abs(b))", "abs(a) + abs(b)"},
        {"b & a", "a & b"},
        {"a | a", "a"},
        {"~~a", "a"},
        {"sqrt(4) + sign(-3)", "1.0"},
    };
    check(forms, LACIS_COUNT(forms), integers);
}

static void canonical_of_reals(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"b + a", "a + b"},
        {"a + 0", "a + 0.0"}, /* -0.0 + 0.0 is 0.0 */
        {"a - 0", "a"},
        {"1 * a", "a"},
        {"a * 0", "a * 0.0"},
        {"CASE WHEN a < b THEN a ELSE b END", "CASE WHEN a < b THEN a ELSE b END"}, /* NaN */
        {"NOT a < b", "NOT a < b"},
        {"NOT a = b", "a <> b"},
        {"2 + a", "a + 2.0"},
        {"min(b, a, 1, inf)", "min(a, b, 1.0)"},
        {"max(-inf, a)", "max(a, -INF)"},
        {"a + -1.5", "a - 1.5"},
        {"hypot(b, a)", "hypot(a, b)"},
        {"a > 0.1 + 0.2", "a > 0.30000000000000004"},
        {"nan", "NAN"},
        {"CAST(a AS real)", "a"},
    };
    check(forms, LACIS_COUNT(forms), reals);
    static const struct form narrow[] = {{"a + 0.1", "a + 0.1"}, {"a * (1.0 / 3.0)", "a * 0.33333334"}};
    check(narrow, LACIS_COUNT(narrow), floats);
    static const struct form patterns[] = {{"a + a", "2"}, {"a * b", "b"}, {"b + a", "b + 1"}, {"c + a", "c + 1.0"}};
    check(patterns, LACIS_COUNT(patterns), pattern);
}

static void result_types(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const lacis_dtype *dtypes;
        lacis_dtype result;
    } cases[] = {
        {"a", mixed, LACIS_I64},
        {"a + a", mixed, LACIS_I64},
        {"b", mixed, LACIS_F32},
        {"b * b", mixed, LACIS_F32},
        {"b * 2", mixed, LACIS_F32},
        {"b * 0.5 + 1", mixed, LACIS_F32},
        {"b * 1e300", mixed, LACIS_F64},
        {"b + a", mixed, LACIS_F64},
        {"b + c", mixed, LACIS_F64},
        {"c", mixed, LACIS_F64},
        {"a / 2", mixed, LACIS_I64},
        {"a / 2.0", mixed, LACIS_F64},
        {"a < b", mixed, LACIS_I64},
        {"b AND c", mixed, LACIS_I64},
        {"sqrt(a)", mixed, LACIS_F64},
        {"sqrt(b)", mixed, LACIS_F32},
        {"pow(b, 2)", mixed, LACIS_F32},
        {"floor(b)", mixed, LACIS_F32},
        {"sign(c)", mixed, LACIS_F64},
        {"CAST(c AS int)", mixed, LACIS_I64},
        {"CAST(a AS real)", mixed, LACIS_F64},
        {"iif(a, a, b)", mixed, LACIS_F64},
        {"iif(a, 1, b)", mixed, LACIS_F32},
        {"iif(a, 1, 2.5)", mixed, LACIS_F64},
        {"min(a, 2)", mixed, LACIS_I64},
        {"min(a, 2.5)", mixed, LACIS_F64},
        {"2.5", mixed, LACIS_F64},
        {"nil", mixed, LACIS_PATTERN},
        {"a", pattern, LACIS_I64},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_expr *expr = typed("a,b,c", cases[i].dtypes, cases[i].text);
        if (lacis_expr_dtype(expr) != cases[i].result)
            fail_msg("%s has type %s", cases[i].text, lacis_dtype_name(lacis_expr_dtype(expr)));
    }
}

/* A prepared statement may be run again on arrays of other types. */
static void typing_again(void **state)
{
    (void)state;
    lacis_expr *expr = parse("a,b,c", "iif(a < b, a, b) / 2");
    assert_string_equal(lacis_expr_text(expr), "CASE WHEN a < b THEN a ELSE b END / 2");
    assert_int_equal(lacis_expr_type(&run, expr, integers, 3), LACIS_OK);
    assert_string_equal(lacis_expr_text(expr), "min(a, b) / 2");
    assert_int_equal(lacis_expr_type(&run, expr, reals, 3), LACIS_OK);
    assert_string_equal(lacis_expr_text(expr), "CASE WHEN a < b THEN a ELSE b END / 2.0");
    assert_int_equal(lacis_expr_type(&run, expr, integers, 2), LACIS_MISUSE);
}

static void type_errors(void **state)
{
    (void)state;
    static const lacis_dtype dtypes[] = {LACIS_F64, LACIS_I64, LACIS_DD};
    static const struct {
        const char *text;
        int64_t offset;
        const char *message;
    } cases[] = {
        {"a & b", 2, "& works on integers, but its left operand is real"},
        {"b << 1.5", 2, "<< works on integers, but its right operand is real"},
        {"b + ~a", 4, "~ works on integers, but its operand is real"},
        {"b + c", 4, "c is "},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_expr *expr = parse("a,b,c", cases[i].text);
        assert_int_equal(lacis_expr_type(&run, expr, dtypes, 3), LACIS_TYPE);
        assert_int_equal(host.error.offset, cases[i].offset);
        assert_non_null(strstr(host.error.message, cases[i].message));
    }
    lacis_program *program;
    assert_int_equal(lacis_program_new(&run, parse("a", "a"), &program), LACIS_MISUSE);
    assert_int_equal(lacis_program_new(&run, parse("a", "nil"), &program), LACIS_TYPE);
}

/* ---------------------------------------------------------------------------------------------- sets */

static void integer_sets(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t lo, hi;
        int64_t count; /* -1: a range */
        int64_t list[5];
    } cases[] = {
        {"src = 5", 5, 5, 1, {5}},
        {"5 = src", 5, 5, 1, {5}},
        {"src = -5", -5, -5, 1, {-5}},
        {"src = 5.0", 5, 5, 1, {5}},
        {"src = 5.5", 1, 0, -1, {0}},
        {"src IN (7, 3, 3, 9)", 3, 9, 3, {3, 7, 9}},
        {"src IN (7, 2.5)", 7, 7, 1, {7}},
        {"src BETWEEN 3 AND 8", 3, 8, -1, {0}},
        {"src BETWEEN 2.5 AND 8.5", 3, 8, -1, {0}},
        {"src < 10", INT64_MIN, 9, -1, {0}},
        {"src <= 10", INT64_MIN, 10, -1, {0}},
        {"src > 10", 11, INT64_MAX, -1, {0}},
        {"10 > src", INT64_MIN, 9, -1, {0}},
        {"10 <= src", 10, INT64_MAX, -1, {0}},
        {"src >= 10.5", 11, INT64_MAX, -1, {0}},
        {"src < 10.5", INT64_MIN, 10, -1, {0}},
        {"src < 1e30", INT64_MIN, INT64_MAX, -1, {0}},
        {"src > 1e30", 1, 0, -1, {0}},
        /* Integers are compared with reals that are no whole int64 as reals: some round to 2^63. */
        {"src < 9223372036854775808.0", INT64_MIN, INT64_MAX - 512, -1, {0}},
        {"src >= 9223372036854775808.0", INT64_MAX - 511, INT64_MAX, -1, {0}},
        {"src <= 9223372036854775808.0", INT64_MIN, INT64_MAX, -1, {0}},
        {"src > 9223372036854775808.0", 1, 0, -1, {0}},
        {"src = 9223372036854775808.0", INT64_MAX - 511, INT64_MAX, -1, {0}},
        {"src = 9007199254740996.0", 9007199254740996, 9007199254740996, 1, {9007199254740996}},
        {"src > 9007199254740996.0", 9007199254740997, INT64_MAX, -1, {0}},
        {"src BETWEEN 9223372036854774784.0 AND 1e30", INT64_MAX - 1534, INT64_MAX, -1, {0}},
        {"src <= -9223372036854775808.0", INT64_MIN, INT64_MIN + 512, -1, {0}},
        {"src < -9223372036854775808.0", 1, 0, -1, {0}},
        {"src > 9223372036854775807", 1, 0, -1, {0}},
        {"src < -9223372036854775808", 1, 0, -1, {0}},
        {"src > 2 AND src <= 8 AND src < 7", 3, 6, -1, {0}},
        {"src > 8 AND src < 3", 1, 0, -1, {0}},
        {"src = 1 OR src = 9 OR src = 4 OR src = 1", 1, 9, 3, {1, 4, 9}},
        {"src IN (1, 5) OR src = 3", 1, 5, 3, {1, 3, 5}},
        {"src IN (1, 5, 9) AND src > 2", 5, 9, 2, {5, 9}},
        {"src > 2 AND src IN (1, 5, 9)", 5, 9, 2, {5, 9}},
        {"src IN (1, 2, 3) AND src IN (2, 3, 4)", 2, 3, 2, {2, 3}},
        {"src IN (1, 2) AND src IN (3, 4)", 1, 0, -1, {0}},
        {"(src = 1 OR src = 2) AND src <> 5 IS NOT NULL", 1, 2, 2, {1, 2}},
        {"TRUE", INT64_MIN, INT64_MAX, -1, {0}},
        {"1 > 2", 1, 0, -1, {0}},
        {"src = 2 + 3", 5, 5, 1, {5}},
    };
    const lacis_dtype dtype = LACIS_I64;
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_expr *expr = typed("src", &dtype, cases[i].text);
        int64_t lo, hi, count;
        const int64_t *list;
        if (!lacis_expr_integer_set(&run, expr, 0, &lo, &hi, &list, &count)) fail_msg("%s: no set", cases[i].text);
        if (lo != cases[i].lo || hi != cases[i].hi)
            fail_msg("%s: %lld .. %lld", cases[i].text, (long long)lo, (long long)hi);
        assert_true((list == NULL) == (cases[i].count < 0));
        if (list == NULL) continue;
        assert_int_equal(count, cases[i].count);
        assert_memory_equal(list, cases[i].list, (size_t)count * sizeof *list);
    }
}

static bool holds(const lacis_expr *expr, int64_t value)
{
    static _Alignas(64) char workspace[1 << 20], out[LACIS_STRIP * 16];
    lacis_program *program;
    assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
    assert_true(lacis_program_workspace(program) <= sizeof workspace);
    const lacis_strip slot = {&value, true};
    assert_true(lacis_program_run(program, 1, &slot, workspace, out));
    lacis_program_free(program);
    assert_int_equal(lacis_expr_dtype(expr), LACIS_I64);
    int64_t result;
    memcpy(&result, out, sizeof result);
    return result != 0;
}

/* Sets have the integers for which the predicate holds, at the ends of the type too, where reals are far apart. */
static void sets_hold(void **state)
{
    (void)state;
    static const char *const cases[] = {"src < 9223372036854775808.0",
                                        "src >= 9223372036854775808.0",
                                        "src = 9223372036854775808.0",
                                        "9223372036854775808.0 > src AND src > 3",
                                        "src BETWEEN 9223372036854774784.0 AND 1e30",
                                        "src BETWEEN -1e30 AND -9223372036854774784.0",
                                        "src BETWEEN 2.5 AND 9007199254740993.0",
                                        "src > -9223372036854775808.0",
                                        "src <= 9007199254740993",
                                        "src < 4503599627370497.5"};
    static const int64_t at[] = {INT64_MIN,        INT64_MIN + 512,  INT64_MIN + 1536, 0,        3, 4503599627370497,
                                 9007199254740993, INT64_MAX - 1535, INT64_MAX - 511,  INT64_MAX};
    const lacis_dtype dtype = LACIS_I64;
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_expr *expr = typed("src", &dtype, cases[i]);
        int64_t lo, hi, count;
        const int64_t *list;
        if (!lacis_expr_integer_set(&run, expr, 0, &lo, &hi, &list, &count)) fail_msg("%s: no set", cases[i]);
        assert_null(list);
        for (int k = 0; k < 5 * LACIS_COUNT(at); k++) {
            const int64_t step = k % 5 - 2, from = at[k / 5];
            if (step < 0 ? from < INT64_MIN - step : from > INT64_MAX - step) continue;
            const int64_t value = from + step;
            if (holds(expr, value) != (lo <= value && value <= hi)) fail_msg("%s: %lld", cases[i], (long long)value);
        }
    }
}

static void not_integer_sets(void **state)
{
    (void)state;
    static const char *const cases[] = {"src <> 5",
                                        "src % 2 = 0",
                                        "NOT src = 5",
                                        "src = dst",
                                        "dst = 5",
                                        "src = 5 AND dst = 3",
                                        "src = nan",
                                        "src < nan",
                                        "src > 5 OR src < 3",
                                        "src NOT IN (1, 2)",
                                        "src + 1 = 5",
                                        "src IN (1, dst)",
                                        "src = 1 OR dst = 2",
                                        "src BETWEEN 1 AND dst",
                                        "src IN (1, 9223372036854775808.0)",
                                        "src = 1 OR src = 9223372036854775808.0"};
    const lacis_dtype dtypes[] = {LACIS_I64, LACIS_I64};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        int64_t lo, hi, count;
        const int64_t *list;
        bool is = lacis_expr_integer_set(&run, typed("src,dst", dtypes, cases[i]), 0, &lo, &hi, &list, &count);
        bool nothing = strstr(cases[i], "= nan") != NULL; /* is a set: the empty one */
        if (is != nothing) fail_msg("%s: %d", cases[i], is);
    }
}

/* Also before typing, and written in every way. */
static void sets_of_raw_trees(void **state)
{
    (void)state;
    int64_t lo, hi, count;
    const int64_t *list;
    assert_true(
        lacis_expr_integer_set(&run, parse("src", "3 <= src AND src BETWEEN 0 AND 9"), 0, &lo, &hi, &list, &count));
    assert_int_equal(lo, 3);
    assert_int_equal(hi, 9);
    assert_null(list);
    assert_false(lacis_expr_integer_set(&run, parse("src", "nil"), 0, &lo, &hi, &list, &count));
}

/* ------------------------------------------------------------------------------------- out of memory */

struct refusal {
    int after, asked;
};

static int refuse(void *arg, size_t bytes)
{
    struct refusal *refusal = arg;
    (void)bytes;
    return refusal->asked++ >= refusal->after;
}

static lacis_status session(const char *text, bool agg)
{
    lacis_lexer lexer;
    lacis_expr *expr;
    lacis_agg *fold;
    lacis_program *program = NULL;
    lacis_lexer_begin(&lexer, text, strlen(text));
    if (agg) LACIS_TRY(lacis_agg_parse(&run, &lexer, NULL, &fold));
    if (agg) lacis_lexer_begin(&lexer, "x", 1);
    LACIS_TRY(lacis_expr_parse(&run, &lexer, agg ? "x,y" : "a,b,c", NULL, &expr));
    LACIS_TRY(lacis_expr_type(&run, expr, integers, 3));
    LACIS_TRY(lacis_program_new(&run, expr, &program));
    lacis_program_free(program);
    return LACIS_OK;
}

/* The nth allocation fails, for every n: the right code, and nothing is left. Scratch comes in large blocks, so the
 * texts are long. */
static void every_allocation_fails(void **state)
{
    (void)state;
    char *text = malloc(50000), *at = text;
    for (int i = 0; i < 300; i++) {
        at += sprintf(at, "%sCASE WHEN a IN (%d, %d, b) THEN min(b, a, c) / c ELSE b + %d.5 END > %d",
                      i > 0 ? " OR " : "", i, i + 1, i, i);
    }
    const char *folds = "(x, y) -> CASE WHEN x < y THEN x ELSE y END IDENTITY 5";
    for (int agg = 0; agg < 2; agg++) {
        lacis_status status = LACIS_NOMEM;
        int n = 0;
        for (; status != LACIS_OK; n++) {
            struct refusal refusal = {n, 0};
            lacis_set_allocation_guard(refuse, &refusal);
            status = session(agg ? folds : text, agg);
            lacis_set_allocation_guard(NULL, NULL);
            if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
            lacis_run_clear(&run);
            assert_int_equal(lacis_memory_used(host.memory), 0);
        }
        assert_true(n > (agg ? 2 : 20));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(canonical_of_integers, open_run, close_run),
        cmocka_unit_test_setup_teardown(canonical_of_reals, open_run, close_run),
        cmocka_unit_test_setup_teardown(result_types, open_run, close_run),
        cmocka_unit_test_setup_teardown(typing_again, open_run, close_run),
        cmocka_unit_test_setup_teardown(type_errors, open_run, close_run),
        cmocka_unit_test_setup_teardown(integer_sets, open_run, close_run),
        cmocka_unit_test_setup_teardown(sets_hold, open_run, close_run),
        cmocka_unit_test_setup_teardown(not_integer_sets, open_run, close_run),
        cmocka_unit_test_setup_teardown(sets_of_raw_trees, open_run, close_run),
        cmocka_unit_test_setup_teardown(every_allocation_fails, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
