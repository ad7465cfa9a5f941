/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/expr/agg.c: named aggregates, written folds, which of them are a named one, errors.
 */
#include "unit/expr_support.h"

static lacis_status parse_agg(const char *text, const lacis_bindings *bindings, lacis_agg **out, lacis_lexer *lexer)
{
    lacis_lexer_begin(lexer, text, strlen(text));
    return lacis_agg_parse(&run, lexer, bindings, out);
}

static void named(void **state)
{
    (void)state;
    static const lacis_agg_kind kinds[] = {LACIS_AGG_COUNT, LACIS_AGG_SUM, LACIS_AGG_MIN,   LACIS_AGG_MAX,
                                           LACIS_AGG_ANY,   LACIS_AGG_AVG, LACIS_AGG_FIRST, LACIS_AGG_LAST};
    int i = 0;
    for (; lacis_agg_names[i][0] != NULL; i++) {
        char text[100];
        lacis_agg *agg;
        lacis_lexer lexer;
        snprintf(text, sizeof text, "  %s MASK", lacis_agg_names[i][0]);
        text[2] = (char)(text[2] - 'a' + 'A');
        assert_int_equal(parse_agg(text, NULL, &agg, &lexer), LACIS_OK);
        assert_int_equal(agg->kind, kinds[i]);
        assert_string_equal(agg->text, lacis_agg_names[i][0]);
        assert_int_equal(agg->offset, 2);
        assert_int_equal(agg->associative, kinds[i] != LACIS_AGG_AVG);
        assert_true(lacis_lexer_is(&lexer, "MASK"));
        assert_true(strlen(lacis_agg_names[i][1]) > 0);
    }
    assert_int_equal(i, LACIS_COUNT(kinds));
}

static void folds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        lacis_agg_kind kind;
        bool associative, real;
        double identity;
        const char *shown;
    } cases[] = {
        {"(x, y) -> x + y IDENTITY 0", LACIS_AGG_SUM, true, false, 0, "sum"},
        {"(p, q) -> q + p IDENTITY 0.0", LACIS_AGG_SUM, true, true, 0, "sum"},
        {"(x, y) -> x + y IDENTITY 1", LACIS_AGG_FOLD, true, false, 1, "(x, y) -> x + y IDENTITY 1"},
        {"(x, y) -> MIN(y, x) IDENTITY inf", LACIS_AGG_MIN, true, true, INFINITY, "min"},
        {"(x, y) -> min(x, y) IDENTITY 9223372036854775807", LACIS_AGG_MIN, true, false, 0x1p63, "min"},
        {"(x, y) -> min(x, y) IDENTITY 100", LACIS_AGG_FOLD, true, false, 100, "(x, y) -> min(x, y) IDENTITY 100"},
        {"(x, y) -> max(x, y) IDENTITY -INF", LACIS_AGG_MAX, true, true, -INFINITY, "max"},
        {"(x, y) -> max(x, y) IDENTITY -9223372036854775808", LACIS_AGG_MAX, true, false, -0x1p63, "max"},
        {"(x, y) -> max(x, y) IDENTITY INF", LACIS_AGG_FOLD, true, true, INFINITY,
         "(x, y) -> max(x, y) IDENTITY INF"},
        {"(x, y) -> x * y IDENTITY 1", LACIS_AGG_FOLD, true, false, 1, "(x, y) -> x * y IDENTITY 1"},
        {"(x, y) -> x OR y IDENTITY 0", LACIS_AGG_FOLD, true, false, 0, "(x, y) -> x OR y IDENTITY 0"},
        {"(x, y) -> x - y IDENTITY 0", LACIS_AGG_FOLD, false, false, 0, "(x, y) -> x - y IDENTITY 0"},
        {"(x, y) -> x + x IDENTITY 0", LACIS_AGG_FOLD, false, false, 0, "(x, y) -> x + x IDENTITY 0"},
        {"(x, y) -> x + y * y IDENTITY -0.5", LACIS_AGG_FOLD, false, true, -0.5, "(x, y) -> x + y * y IDENTITY -0.5"},
        {"(x, y) -> x + y * y IDENTITY +2 ASSOCIATIVE", LACIS_AGG_FOLD, true, false, 2,
         "(x, y) -> x + y * y IDENTITY 2"},
        {"(x, y) -> hypot(x, y) IDENTITY :zero associative", LACIS_AGG_FOLD, true, true, 0.25,
         "(x, y) -> hypot(x, y) IDENTITY 0.25"},
        {"(x, y) -> x IDENTITY 0", LACIS_AGG_FOLD, false, false, 0, "(x, y) -> x IDENTITY 0"},
    };
    const lacis_binding zero = {.name = "zero", .type = LACIS_REAL, .real = 0.25};
    const lacis_bindings bindings = {&zero, 1};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_agg *agg;
        lacis_lexer lexer;
        if (parse_agg(cases[i].text, &bindings, &agg, &lexer) != LACIS_OK)
            fail_msg("%s: %s", cases[i].text, host.error.message);
        assert_int_equal(lexer.token.kind, LACIS_TOKEN_END);
        assert_string_equal(agg->text, cases[i].shown);
        assert_int_equal(agg->kind, cases[i].kind);
        assert_int_equal(agg->associative, cases[i].associative);
        assert_int_equal(agg->identity_real, cases[i].real);
        assert_true(agg->identity == cases[i].identity);
        assert_int_equal(lacis_expr_dtype(agg->fold), LACIS_PATTERN); /* the operator types it */
    }
}

/* The fold's slots are its two names in their order. */
static void fold_runs(void **state)
{
    (void)state;
    lacis_agg *agg;
    lacis_lexer lexer;
    lacis_program *program;
    const lacis_dtype dtypes[] = {LACIS_I64, LACIS_I64};
    assert_int_equal(parse_agg("(there, new) -> there * 10 + new IDENTITY 7", NULL, &agg, &lexer), LACIS_OK);
    assert_int_equal(agg->identity_int, 7);
    assert_int_equal(lacis_expr_type(&run, agg->fold, dtypes, 2), LACIS_OK);
    assert_int_equal(lacis_program_new(&run, agg->fold, &program), LACIS_OK);
    int64_t x[] = {1, 2, 3}, y[] = {4, 5, 6};
    void *workspace = malloc(lacis_program_workspace(program) + 1);
    assert_true(lacis_program_run(program, 3, (lacis_strip[]){{x, false}, {y, false}}, workspace, x));
    assert_int_equal(x[0], 14);
    assert_int_equal(x[2], 36);
    free(workspace);
    lacis_program_free(program);
}

static void errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        lacis_status code;
        int64_t offset;
        const char *message, *hint;
    } cases[] = {
        {"smu", LACIS_NAME, 0, "there is no aggregate smu; there are count, sum", "did you mean sum?"},
        {"median", LACIS_NAME, 0, "there is no aggregate median", ""},
        {"5", LACIS_SYNTAX, 0, "expected an aggregate", ""},
        {"", LACIS_SYNTAX, 0, "expected an aggregate", ""},
        {"(x) -> x IDENTITY 0", LACIS_SYNTAX, 2, "expected \",\" in (x, y)", ""},
        {"(x, X) -> x IDENTITY 0", LACIS_NAME, 4, "two names", ""},
        {"(x, case) -> x IDENTITY 0", LACIS_SYNTAX, 4, "case has a meaning of its own", ""},
        {"(x, y) x + y", LACIS_SYNTAX, 7, "expected \"->\"", ""},
        {"(x, y) -> x + y", LACIS_SYNTAX, 15, "expected IDENTITY", ""},
        {"(x, y) -> x + y IDENTITY", LACIS_SYNTAX, 24, "the fold's identity", ""},
        {"(x, y) -> x + y IDENTITY x", LACIS_SYNTAX, 25, "the fold's identity", ""},
        {"(x, y) -> x + y IDENTITY - :p", LACIS_SYNTAX, 27, "the fold's identity", ""},
        {"(x, y) -> x + z IDENTITY 0", LACIS_NAME, 14, "the names that may be used are x, y", ""},
        {"(x, y) -> nil IDENTITY 0", LACIS_TYPE, 10, "nil has no value", ""},
        {"(x, y) -> x + IDENTITY 0", LACIS_NAME, 14, "there is no IDENTITY here", ""},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_agg *agg;
        lacis_lexer lexer;
        assert_int_equal(parse_agg(cases[i].text, NULL, &agg, &lexer), cases[i].code);
        bool good = host.error.offset == cases[i].offset && strstr(host.error.message, cases[i].message) != NULL &&
                    strcmp(host.error.hint, cases[i].hint) == 0;
        if (!good)
            fail_msg("%s: at %lld, \"%s\", hint \"%s\"", cases[i].text, (long long)host.error.offset,
                     host.error.message, host.error.hint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(named, open_run, close_run),
        cmocka_unit_test_setup_teardown(folds, open_run, close_run),
        cmocka_unit_test_setup_teardown(fold_runs, open_run, close_run),
        cmocka_unit_test_setup_teardown(errors, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
