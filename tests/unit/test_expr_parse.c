/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/expr/parse.c, operand.c, print.c: precedence, where an expression ends, parameters, errors with place and
 * hint.
 */
#include "unit/expr_support.h"

/* What is printed before typing is the tree as it was parsed. */
static void precedence(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a+b*s", "a + b * s"},
        {"(a+b)*s", "(a + b) * s"},
        {"a-b-s", "a - b - s"},
        {"a-(b-s)", "a - (b - s)"},
        {"a-(b+s)", "a - (b + s)"},
        {"a/(b*s)%2", "a / (b * s) % 2"},
        {"a<b=s", "a < b = s"},
        {"a<(b=s)", "a < (b = s)"},
        {"a=b<s", "a = b < s"},
        {"(a=b)<s", "(a = b) < s"},
        {"a|b+1&s<<2", "a | b + 1 & s << 2"},
        {"a|(b&s)", "a | (b & s)"},
        {"not a = b and s or a", "NOT a = b AND s OR a"},
        {"not (a and b) or (s or a)", "NOT (a AND b) OR (s OR a)"},
        {"(not a) = b", "(NOT a) = b"},
        {"- a * b", "-a * b"},
        {"-(a*b)", "-(a * b)"},
        {"- -a", "-(-a)"},
        {"a - -5", "a - -5"},
        {"(-5)*a", "-5 * a"},
        {"+a", "a"},
        {"~~a", "~~a"},
        {"a between 1 and 2 and b", "a BETWEEN 1 AND 2 AND b"},
        {"a not between b+1 and s*2", "a NOT BETWEEN b + 1 AND s * 2"},
        {"a in (1,b,3)", "a IN (1, b, 3)"},
        {"a NOT IN (1)", "a NOT IN (1)"},
        {"(a in (1)) in (0, 1)", "(a IN (1)) IN (0, 1)"},
        {"case when a<b then 1 else 2.5 end+1", "CASE WHEN a < b THEN 1 ELSE 2.5 END + 1"},
        {"CASE a WHEN 1 THEN b WHEN 2 THEN s ELSE 0 END", "CASE a WHEN 1 THEN b WHEN 2 THEN s ELSE 0 END"},
        {"iif(a, b, s)", "CASE WHEN a THEN b ELSE s END"},
        {"MIN(a,b,s)", "min(a, b, s)"},
        {"cast(a as real)+CAST(b AS integer)", "CAST(a AS real) + CAST(b AS int)"},
        {"a is null or a is not null", "0 OR 1"},
        {"inf + -INF + nan", "INF + -INF + NAN"},
        {"true != false", "1 <> 0"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"1e3+.5", "1000.0 + 0.5"},
        {"NIL", "nil"},
        {"A + \"b\"", "a + b"},
        {"a == b", "a = b"},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_expr *expr = parse("a,b,s", cases[i][0]);
        if (expr == NULL) fail_msg("%s: %s", cases[i][0], host.error.message);
        assert_string_equal(lacis_expr_text(expr), cases[i][1]);
        assert_int_equal(lacis_expr_dtype(expr), LACIS_PATTERN);
        lacis_expr *again = parse("a,b,s", cases[i][1]); /* what is printed parses to the same */
        assert_non_null(again);
        assert_string_equal(lacis_expr_text(again), cases[i][1]);
    }
}

/* Clause keywords need not be reserved. */
static void ends_where_it_cannot_go_on(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"a + b AGG min", "AGG"},
                                           {"a MASK NOT m", "MASK"},
                                           {"a NOT m", "NOT"},
                                           {"a) x", ")"},
                                           {"nil AGG count", "AGG"},
                                           {"a END", "END"},
                                           {"nil;", ";"},
                                           {"a b", "b"},
                                           {"1 , 2", ","}};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_lexer lexer;
        lacis_expr *expr;
        lacis_lexer_begin(&lexer, cases[i][0], strlen(cases[i][0]));
        assert_int_equal(lacis_expr_parse(&run, &lexer, "a,b", NULL, &expr), LACIS_OK);
        assert_true(lacis_lexer_is(&lexer, cases[i][1]));
    }
}

static void slots_are_found(void **state)
{
    (void)state;
    lacis_expr *expr = parse("a,b,s,c,t", "a + t * 2");
    assert_true(lacis_expr_uses(expr, 0));
    assert_false(lacis_expr_uses(expr, 1));
    assert_true(lacis_expr_uses(expr, 4));
    assert_false(lacis_expr_uses(parse("a,b", "nil"), 0));
    assert_non_null(parse("nil", "nil + 1")); /* a slot's name wins */
    assert_non_null(parse("", "1 + 2"));
}

static void errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        lacis_status code;
        int64_t offset;
        const char *message, *hint; /* parts of them */
    } cases[] = {
        {"a + ", LACIS_SYNTAX, 4, "expected an expression, found the end", ""},
        {"a + )", LACIS_SYNTAX, 4, "expected an expression, found \")\"", ""},
        {"(a + b", LACIS_SYNTAX, 6, "expected \")\"", ""},
        {"a + valeu", LACIS_NAME, 4, "there is no valeu here; the names that may be used are a, b, value", "value"},
        {"a + zzz", LACIS_NAME, 4, "a, b, value", ""},
        {"sqtr(a)", LACIS_NAME, 0, "there is no function sqtr", "did you mean sqrt?"},
        {"coalesce(a, b)", LACIS_NAME, 0, "there is no function coalesce", ""},
        {"pow(a)", LACIS_SYNTAX, 0, "pow takes 2 arguments, not 1", ""},
        {"1+min(a)", LACIS_SYNTAX, 2, "min takes at least 2 arguments, not 1", ""},
        {"abs()", LACIS_SYNTAX, 0, "abs takes 1 argument, not 0", ""},
        {"CASE WHEN a THEN b END", LACIS_SYNTAX, 19, "CASE needs an ELSE", "add ELSE"},
        {"CASE WHEN a b", LACIS_SYNTAX, 12, "expected THEN", ""},
        {"CASE a b", LACIS_SYNTAX, 7, "expected WHEN", ""},
        {"CASE WHEN a THEN b ELSE 1 ", LACIS_SYNTAX, 26, "expected END", ""},
        {"nil + 1", LACIS_SYNTAX, 0, "nil stands alone", ""},
        {"1 + nil", LACIS_SYNTAX, 4, "nil stands alone", ""},
        {"a = NULL", LACIS_SYNTAX, 4, "NULL cannot be used", ""},
        {"a = 'x'", LACIS_TYPE, 4, "text cannot be used", ""},
        {"a IN 5", LACIS_SYNTAX, 5, "after IN", ""},
        {"a IN (1, 2", LACIS_SYNTAX, 10, "in the list of IN", ""},
        {"a BETWEEN 1 OR 2", LACIS_SYNTAX, 12, "expected AND of BETWEEN", ""},
        {"a IS 5", LACIS_SYNTAX, 5, "NULL or NOT NULL", ""},
        {"CAST(a AS text)", LACIS_SYNTAX, 10, "expected int or real, found \"text\"", ""},
        {"CAST(a, b)", LACIS_SYNTAX, 6, "expected AS int or AS real", ""},
        {"a + 'open", LACIS_SYNTAX, 4, "has no closing '", ""},
        {"a + 12x", LACIS_SYNTAX, 4, "\"12x\", which is no token", ""},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        if (parse("a,b,value", cases[i].text) != NULL) fail_msg("%s was accepted", cases[i].text);
        const lacis_error *error = &host.error;
        bool good = error->code == cases[i].code && error->offset == cases[i].offset &&
                    strstr(error->message, cases[i].message) != NULL && strstr(error->hint, cases[i].hint) != NULL;
        if (!good)
            fail_msg("%s: code %d at %lld, \"%s\", hint \"%s\"", cases[i].text, error->code, (long long)error->offset,
                     error->message, error->hint);
    }
}

/* Offsets count from the start of the statement, not of the expression. */
static void offsets_in_the_statement(void **state)
{
    (void)state;
    const char *text = "MULTIPLY w BY w CON a + q";
    lacis_lexer lexer;
    lacis_expr *expr;
    lacis_lexer_begin(&lexer, text, strlen(text));
    while (!lacis_lexer_accept(&lexer, "CON")) {
        lacis_lexer_next(&lexer);
    }
    assert_int_equal(lacis_expr_parse(&run, &lexer, "a,b", NULL, &expr), LACIS_NAME);
    assert_int_equal(host.error.offset, 24);
}

static void fill(char *text, const char *open, int count, const char *middle, const char *close)
{
    text[0] = '\0';
    char *at = text;
    for (int i = 0; i < count; i++) {
        at = stpcpy(at, open);
    }
    at = stpcpy(at, middle);
    for (int i = 0; i < count; i++) {
        at = stpcpy(at, close);
    }
}

static void depth_is_limited(void **state)
{
    (void)state;
    static const struct {
        const char *open, *close;
        int good, bad;
        const char *message;
    } cases[] = {
        {"(", ")", 199, 200, "nested more than 200 levels"},
        {"- ", "", 199, 200, "nested more than 200 levels"},
        {"NOT ", "", 199, 200, "nested more than 200 levels"},
        {"CASE WHEN a THEN ", " ELSE 0 END", 190, 200, "nested more than 200 levels"},
        {"abs(", ")", 199, 100000, "nested more than 200 levels"},
        {"a + ", "", 999, 1000, "more than 1000 operators"},
        {"a = ", "", 499, 100000, "more than 1000 operators"},
    };
    char *text = malloc(3000000);
    const lacis_dtype dtype = LACIS_F64;
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        fill(text, cases[i].open, cases[i].good, "a", cases[i].close);
        lacis_program *program;
        assert_int_equal(lacis_program_new(&run, typed("a", &dtype, text), &program), LACIS_OK);
        lacis_program_free(program);
        fill(text, cases[i].open, cases[i].bad, "a", cases[i].close);
        assert_null(parse("a", text));
        assert_int_equal(host.error.code, LACIS_SYNTAX);
        assert_non_null(strstr(host.error.message, cases[i].message));
    }
    free(text);
}

/* AND, OR, IN, CASE and min take any number without growing deep. */
static void lists_are_not_deep(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"a AND ", ""}, {"a = 7 OR ", ""}, {"min(", ", 1)"}};
    char *text = malloc(300000);
    const lacis_dtype dtype = LACIS_I64;
    for (int i = 0; i < 2; i++) {
        fill(text, cases[i][0], 5000, "a", cases[i][1]);
        assert_int_equal(lacis_expr_dtype(typed("a", &dtype, text)), LACIS_I64);
    }
    char *at = stpcpy(text, "a IN (0");
    for (int i = 1; i < 5000; i++) {
        at += sprintf(at, ",%d", i);
    }
    strcpy(at, ")");
    assert_int_equal(lacis_expr_dtype(typed("a", &dtype, text)), LACIS_I64);
    at = stpcpy(text, "CASE a");
    for (int i = 1; i < 2000; i++) {
        at += sprintf(at, " WHEN %d THEN %d", i, -i);
    }
    strcpy(at, " ELSE 0 END");
    lacis_expr *expr = typed("a", &dtype, text);
    lacis_program *program;
    assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
    int64_t value = 1234, out;
    void *workspace = malloc(lacis_program_workspace(program));
    assert_true(lacis_program_run(program, 1, &(lacis_strip){&value, false}, workspace, &out));
    assert_int_equal(out, -1234);
    free(workspace);
    lacis_program_free(program);
    free(text);
}

static void parameters(void **state)
{
    (void)state;
    const lacis_binding values[] = {{.name = "limit", .type = LACIS_INTEGER, .integer = -7},
                                    {.name = "Scale", .type = LACIS_REAL, .real = 0.5},
                                    {.name = "name", .type = LACIS_TEXT, .text = "x"},
                                    {.name = "none", .type = LACIS_NULL}};
    const lacis_bindings bindings = {values, LACIS_COUNT(values)};
    static const struct {
        const char *text, *canonical;
        lacis_status code;
        const char *message, *hint;
    } cases[] = {
        {"a * :limit + :Scale", "a * -7 + 0.5", LACIS_OK, NULL, NULL},
        {"a + :limitt", NULL, LACIS_NAME, "no value bound to :limitt", "did you mean :limit?"},
        {"a + :scale", NULL, LACIS_NAME, "no value bound to :scale", "did you mean :Scale?"},
        {"a + :other", NULL, LACIS_NAME, "no value bound to :other", ""},
        {"a + :name", NULL, LACIS_TYPE, "the value of :name is text", ""},
        {"a + :none", NULL, LACIS_TYPE, "the value of :none is NULL", ""},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_lexer lexer;
        lacis_expr *expr;
        lacis_lexer_begin(&lexer, cases[i].text, strlen(cases[i].text));
        assert_int_equal(lacis_expr_parse(&run, &lexer, "a", &bindings, &expr), cases[i].code);
        if (cases[i].code == LACIS_OK) {
            assert_string_equal(lacis_expr_text(expr), cases[i].canonical);
            continue;
        }
        assert_non_null(strstr(host.error.message, cases[i].message));
        assert_string_equal(host.error.hint, cases[i].hint);
        assert_int_equal(host.error.offset, 4);
    }
    assert_non_null(parse("a", "a + :anything")); /* without bindings parameters stand for 0 */
    assert_ptr_equal(lacis_binding_find(&bindings, "limit!", 5), &values[0]);
    assert_null(lacis_binding_find(&bindings, "limi", 4));
    assert_null(lacis_binding_find(NULL, "limit", 5));
}

static void functions_are_listed(void **state)
{
    (void)state;
    for (int i = 0; lacis_expr_functions[i] != NULL; i++) {
        char text[100];
        const char *name = lacis_expr_functions[i];
        bool two = strcmp(name, "min") == 0 || strcmp(name, "max") == 0 || strcmp(name, "pow") == 0 ||
                   strcmp(name, "atan2") == 0 || strcmp(name, "hypot") == 0 || strcmp(name, "complex") == 0;
        const char *arguments = strcmp(name, "iif") == 0    ? "a,a,a"
                                : strcmp(name, "cast") == 0 ? "a AS int"
                                : two                       ? "a,a"
                                                            : "a";
        snprintf(text, sizeof text, "%s(%s)", name, arguments);
        if (parse("a", text) == NULL) fail_msg("%s: %s", text, host.error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(precedence, open_run, close_run),
        cmocka_unit_test_setup_teardown(ends_where_it_cannot_go_on, open_run, close_run),
        cmocka_unit_test_setup_teardown(slots_are_found, open_run, close_run),
        cmocka_unit_test_setup_teardown(errors, open_run, close_run),
        cmocka_unit_test_setup_teardown(offsets_in_the_statement, open_run, close_run),
        cmocka_unit_test_setup_teardown(depth_is_limited, open_run, close_run),
        cmocka_unit_test_setup_teardown(lists_are_not_deep, open_run, close_run),
        cmocka_unit_test_setup_teardown(parameters, open_run, close_run),
        cmocka_unit_test_setup_teardown(functions_are_listed, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
