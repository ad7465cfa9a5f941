/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/expr/slots.c: free names and their offsets - what becomes a slot, how it is printed, computed and refused.
 */
#include "unit/expr_support.h"

/* Parses all of text over free names; NULL after an error. */
static lacis_expr *parse_free(const char *text)
{
    lacis_lexer lexer;
    lacis_expr *expr;
    lacis_lexer_begin(&lexer, text, strlen(text));
    if (lacis_expr_parse_free(&run, &lexer, NULL, &expr) != LACIS_OK) return NULL;
    if (lexer.token.kind != LACIS_TOKEN_END) {
        lacis_lexer_expected(&run, &lexer, "the end");
        return NULL;
    }
    return expr;
}

static lacis_expr *good(const char *text)
{
    lacis_expr *expr = parse_free(text);
    if (expr == NULL) fail_msg("%s: %s", text, host.error.message);
    return expr;
}

static void check_slot(const lacis_expr *expr, int index, const char *name, int offsets, int x, int y, int z,
                       int64_t place)
{
    const lacis_expr_slot *slot;
    assert_true(index < lacis_expr_slots(expr, &slot));
    slot += index;
    assert_string_equal(slot->name, name);
    assert_int_equal(slot->offsets, offsets);
    assert_true(slot->offset[0] == x && slot->offset[1] == y && slot->offset[2] == z);
    assert_int_equal(slot->place, place);
}

static void each_name_with_offsets_is_a_slot(void **state)
{
    (void)state;
    const lacis_expr_slot *slot;
    lacis_expr *expr = good("u[-1] + U[+1, 0] + v[0,0,-3] + u + u[0] + v[ 0 , 0 , -3 ] * u[1] - \"u\"[0,0]");
    assert_int_equal(lacis_expr_slots(expr, &slot), 4);
    check_slot(expr, 0, "u", 1, -1, 0, 0, 0);
    check_slot(expr, 1, "U", 2, 1, 0, 0, 8);
    check_slot(expr, 2, "v", 3, 0, 0, -3, 19);
    check_slot(expr, 3, "u", 2, 0, 0, 0, 67); /* u, u[0], "u"[0,0]: where most offsets stand */
    for (int i = 0; i < 4; i++)
        assert_true(lacis_expr_uses(expr, i));
    assert_int_equal(lacis_expr_slots(good("1 + 2"), &slot), 0);
    assert_int_equal(lacis_expr_slots(parse("a,b", "a + b"), &slot), 0); /* the operator's own are known to it */
}

static void prints_what_parses_again(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"U[ -1 , +2 ]*2", "U[-1,2] * 2"},
        {"u[1] + u[1,0] + u[0,0,0]", "u[1,0] + u[1,0] + u"},
        {"\"u\"[3,-4,5]", "u[3,-4,5]"},
        {"\"my field\"[1] + \"a\"\"b\" + \"and\" + \"Exp\" + \"1\"",
         "\"my field\"[1] + \"a\"\"b\" + \"and\" + \"Exp\" + \"1\""},
        {"exp(u) + t", "exp(u) + t"},
        {"CASE WHEN u THEN v ELSE w END", "CASE WHEN u THEN v ELSE w END"},
        {"u BETWEEN v[1] AND w[2] AND x", "u BETWEEN v[1] AND w[2] AND x"},
        {"inf + INF - nan + true", "INF + INF - NAN + 1"},
        {"CAST(u[-9] AS int)", "CAST(u[-9] AS int)"},
        {"u = v", "u = v"},
        {"\"inf\" + \"\xc3\xa4\"", "\"inf\" + \xc3\xa4"},
        {"u[-100,100]", "u[-100,100]"},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        assert_string_equal(lacis_expr_text(good(cases[i][0])), cases[i][1]);
        assert_string_equal(lacis_expr_text(good(cases[i][1])), cases[i][1]);
    }
}

static void ends_where_it_cannot_go_on(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"u + v EDGE", "EDGE"}, {"u[1], v = u", ","}, {"u) STEPS", ")"},
                                           {"u[1][2]", "["},       {"\"u\"(3)", "("},    {"u END", "END"}};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_lexer lexer;
        lacis_expr *expr;
        lacis_lexer_begin(&lexer, cases[i][0], strlen(cases[i][0]));
        assert_int_equal(lacis_expr_parse_free(&run, &lexer, NULL, &expr), LACIS_OK);
        assert_true(lacis_lexer_is(&lexer, cases[i][1]));
    }
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
        {"u[", LACIS_SYNTAX, 2, "expected an offset, such as -1, found the end", ""},
        {"u[]", LACIS_SYNTAX, 2, "expected an offset", ""},
        {"u[1", LACIS_SYNTAX, 3, "expected \",\" or \"]\"", ""},
        {"u[1,", LACIS_SYNTAX, 4, "expected an offset", ""},
        {"u[1;2]", LACIS_SYNTAX, 3, "expected \",\" or \"]\"", ""},
        {"u[1.0]", LACIS_SYNTAX, 2, "expected an offset", ""},
        {"u[dx]", LACIS_SYNTAX, 2, "expected an offset", ""},
        {"u[:k]", LACIS_SYNTAX, 2, "expected an offset", ""},
        {"u[1,2,3,4]", LACIS_SYNTAX, 8, "at most three dimensions", ""},
        {"u[101]", LACIS_RANGE, 2, "an offset lies between -100 and 100", ""},
        {"u[0,-101]", LACIS_RANGE, 4, "an offset lies between -100 and 100", ""},
        {"u[99999999999999999999]", LACIS_RANGE, 2, "an offset lies between", ""},
        {"u + AND", LACIS_SYNTAX, 4, "expected an expression, found \"AND\"", ""},
        {"u + end", LACIS_SYNTAX, 4, "expected an expression, found \"end\"", ""},
        {"Exp + 1", LACIS_SYNTAX, 0, "exp is a function", "double quotes"},
        {"u(1, 0)", LACIS_NAME, 0, "there is no function u", "a neighbour's value is written u[...]"},
        {"sqtr(u)", LACIS_NAME, 0, "there is no function sqtr", "did you mean sqrt?"},
        {"nil", LACIS_SYNTAX, 0, "nil stands alone", ""},
        {"u + NULL", LACIS_SYNTAX, 4, "NULL cannot be used", ""},
        {"[1]", LACIS_SYNTAX, 0, "expected an expression", ""},
        {"2[1]", LACIS_SYNTAX, 1, "expected the end", ""},
        {"u[--1]", LACIS_SYNTAX, 6, "expected an offset", ""}, /* a comment */
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        if (parse_free(cases[i].text) != NULL) fail_msg("%s was accepted", cases[i].text);
        const lacis_error *error = &host.error;
        bool same = error->code == cases[i].code && error->offset == cases[i].offset &&
                    strstr(error->message, cases[i].message) != NULL && strstr(error->hint, cases[i].hint) != NULL;
        if (!same)
            fail_msg("%s: %d at %lld, %s (%s)", cases[i].text, error->code, (long long)error->offset, error->message,
                     error->hint);
        lacis_host_ok(&host);
    }
    assert_null(parse("a,b", "a + b[1]")); /* where slots are the operator's */
    assert_int_equal(host.error.offset, 5);
    assert_non_null(strstr(host.error.message, "b is one value here"));
}

static void there_is_an_end_to_slots(void **state)
{
    (void)state;
    char text[40 * LACIS_EXPR_SLOTS];
    size_t length = 0;
    length += (size_t)sprintf(text, "max(u");
    for (int i = 1; i < LACIS_EXPR_SLOTS; i++)
        length += (size_t)sprintf(text + length, ", u[%d,%d]", i % 50 - 25, i / 50 + 1);
    sprintf(text + length, ", u[-25,2])");
    const lacis_expr_slot *slot;
    lacis_expr *expr = parse_free(text);
    assert_non_null(expr); /* the last one was there already */
    assert_int_equal(lacis_expr_slots(expr, &slot), LACIS_EXPR_SLOTS);
    sprintf(text + length, ", w)");
    assert_null(parse_free(text));
    assert_int_equal(host.error.code, LACIS_LIMIT);
    assert_int_equal(host.error.offset, (int64_t)length + 2);
    lacis_host_ok(&host);
    size_t deep = 0;
    for (int i = 0; i < 100000; i += 2)
        text[deep = (size_t)i % 30000] = '(', text[deep + 1] = '-';
    text[30000] = '\0';
    assert_null(parse_free(text));
    assert_non_null(strstr(host.error.message, "nested"));
}

/* Typed and run: slots are numbered as they come, and may begin at any element of a field. */
static void computes(void **state)
{
    (void)state;
    lacis_expr *expr = good("(u[-1] + u[1]) / 4 + u * (2 - v) - t");
    static const lacis_dtype f32[5] = {LACIS_F32, LACIS_F32, LACIS_F32, LACIS_F32, LACIS_F32};
    assert_int_equal(lacis_expr_type(&run, expr, f32, 4), LACIS_MISUSE);
    lacis_host_ok(&host);
    assert_int_equal(lacis_expr_type(&run, expr, f32, 5), LACIS_OK);
    assert_int_equal(lacis_expr_dtype(expr), LACIS_F32);
    float u[LACIS_STRIP + 2], v[LACIS_STRIP], out[LACIS_STRIP], t = 0.3f;
    for (int i = 0; i < LACIS_STRIP + 2; i++)
        u[i] = sinf((float)i);
    for (int i = 0; i < LACIS_STRIP; i++)
        v[i] = cosf((float)i);
    lacis_program *program;
    assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
    lacis_strip strips[] = {{u, false}, {u + 2, false}, {u + 1, false}, {v, false}, {&t, true}};
    void *workspace = malloc(lacis_program_workspace(program));
    assert_true(lacis_program_run(program, LACIS_STRIP, strips, workspace, out));
    for (int i = 0; i < LACIS_STRIP; i++) {
        float sum = u[i] + u[i + 2], quarter = sum / 4, rest = 2 - v[i], product = u[i + 1] * rest;
        float both = quarter + product, wanted = both - t;
        assert_memory_equal(&out[i], &wanted, sizeof wanted);
    }
    free(workspace);
    lacis_program_free(program);
}

static int refuse_after(void *left, size_t bytes)
{
    (void)bytes;
    return (*(int *)left)-- <= 0;
}

/* The nth allocation fails while a rule with many slots is parsed, typed, asked and emitted. */
static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    static char text[60000];
    static lacis_dtype types[LACIS_EXPR_SLOTS];
    double constant, weight[LACIS_EXPR_SLOTS];
    size_t length = (size_t)sprintf(text, "u");
    for (int i = 0; i < 900; i++) {
        types[i] = LACIS_F32;
        length += (size_t)sprintf(text + length, " + 2 * \"a long name of one field\"[%d,%d]", i % 60 - 30, i / 60);
    }
    types[900] = LACIS_F32;
    lacis_status status = LACIS_NOMEM;
    int n = 0;
    for (; status != LACIS_OK && n < 200; n++) {
        lacis_run own = {0};
        lacis_lexer lexer;
        lacis_expr *expr;
        const char *emitted;
        int left = n;
        lacis_run_init(&own, &host);
        lacis_set_allocation_guard(refuse_after, &left);
        lacis_lexer_begin(&lexer, text, length);
        status = lacis_expr_parse_free(&own, &lexer, NULL, &expr);
        if (status == LACIS_OK) status = lacis_expr_type(&own, expr, types, 901);
        if (status == LACIS_OK) assert_true(lacis_expr_affine(expr, &constant, weight));
        if (status == LACIS_OK) status = lacis_expr_emit(&own, expr, "f", &emitted);
        lacis_set_allocation_guard(NULL, NULL);
        if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
        lacis_run_clear(&own);
    }
    assert_true(n > 2);
    assert_int_equal(status, LACIS_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_run, close_run)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_name_with_offsets_is_a_slot),
        TEST(prints_what_parses_again),
        TEST(ends_where_it_cannot_go_on),
        TEST(errors),
        TEST(there_is_an_end_to_slots),
        TEST(computes),
        TEST(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
