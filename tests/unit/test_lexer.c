/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/core/lexer.c: kinds, texts, offsets and values of tokens, and the errors at a token.
 */
#include "core/lexer.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static lacis_lexer begin(const char *text)
{
    lacis_lexer lexer;
    lacis_lexer_begin(&lexer, text, strlen(text));
    return lexer;
}

static lacis_token only(const char *text)
{
    lacis_lexer lexer = begin(text);
    lacis_token token = lexer.token;
    lacis_lexer_next(&lexer);
    assert_int_equal(lexer.token.kind, LACIS_TOKEN_END);
    return token;
}

static void kinds_and_offsets(void **state)
{
    (void)state;
    static const struct {
        lacis_token_kind kind;
        const char *text;
        int64_t offset;
    } expected[] = {
        {LACIS_TOKEN_WORD, "LET", 1},        {LACIS_TOKEN_QUOTED, "\"a \"\"b\"", 5}, {LACIS_TOKEN_SYMBOL, "<=", 14},
        {LACIS_TOKEN_NAME, ":p_1", 17},      {LACIS_TOKEN_STRING, "'it''s'", 23},    {LACIS_TOKEN_REAL, ".5", 30},
        {LACIS_TOKEN_SYMBOL, "->", 32},      {LACIS_TOKEN_SYMBOL, "-", 35},          {LACIS_TOKEN_INTEGER, "12", 49},
        {LACIS_TOKEN_WORD, "\xC3\xA9t", 52},
    };
    lacis_lexer lexer = begin(" LET \"a \"\"b\" <= :p_1, 'it''s'.5-> - /* 1 */ -- x\n12 \xC3\xA9t");
    for (int i = 0; i < LACIS_COUNT(expected); i++) {
        if (lacis_lexer_is(&lexer, ",")) lacis_lexer_next(&lexer);
        const lacis_token *token = &lexer.token;
        assert_int_equal(token->kind, expected[i].kind);
        assert_int_equal(token->length, strlen(expected[i].text));
        assert_memory_equal(token->text, expected[i].text, token->length);
        if (i < 2) assert_int_equal(token->offset, expected[i].offset);
        assert_ptr_equal(token->text, lexer.start + token->offset);
        lacis_lexer_next(&lexer);
    }
    assert_int_equal(lexer.token.kind, LACIS_TOKEN_END);
    lacis_lexer_next(&lexer); /* stays at the end */
    assert_int_equal(lexer.token.kind, LACIS_TOKEN_END);
    assert_int_equal(lexer.token.length, 0);
}

static void symbols(void **state)
{
    (void)state;
    static const char *const all[] = {"(", ")", "[", "]", ",", ";",  ".",  "=",  "<",  ">",  "+",  "-",  "*",  "/",
                                      "%", "|", "&", "~", "!", "<=", ">=", "<>", "!=", "==", "||", "<<", ">>", "->"};
    for (int i = 0; i < LACIS_COUNT(all); i++) {
        lacis_lexer lexer = begin(all[i]);
        assert_int_equal(lexer.token.kind, LACIS_TOKEN_SYMBOL);
        assert_true(lacis_lexer_is(&lexer, all[i]));
        assert_true(lacis_lexer_accept(&lexer, all[i]));
        assert_int_equal(lexer.token.kind, LACIS_TOKEN_END);
    }
}

static void numbers(void **state)
{
    (void)state;
    assert_int_equal(only("9223372036854775807").integer, INT64_MAX);
    assert_int_equal(only("0007").integer, 7);
    assert_int_equal(only("9223372036854775808").kind, LACIS_TOKEN_REAL);
    assert_true(only("9223372036854775808").real == 0x1p63);
    assert_true(only("42").real == 42.0);
    static const struct {
        const char *text;
        double value;
    } reals[] = {
        {"1.5", 1.5},
        {"1.", 1},
        {".25", 0.25},
        {"1e3", 1000},
        {"1E-3", 0.001},
        {"2.5e+2", 250},
        {"0.1", 0.1},
        {"1e400", HUGE_VAL},
        {"1e-400", 0},
        {"0e99999999999", 0},
        {"5e-324", 5e-324},
        {"0.0", 0},
        {"3.14159265358979323846264338327950288", 3.14159265358979323846264338327950288},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"9007199254740993.0", 9007199254740992.0},
        {"9007199254740993.00000000000000000000000000001", 9007199254740994.0},
    };
    for (int i = 0; i < LACIS_COUNT(reals); i++) {
        lacis_token token = only(reals[i].text);
        assert_int_equal(token.kind, LACIS_TOKEN_REAL);
        if (token.real != reals[i].value) fail_msg("%s read as %.17g", reals[i].text, token.real);
    }
}

/* A thousand digits, of which the last decides. */
static void long_number(void **state)
{
    (void)state;
    char text[1100] = "9007199254740993.";
    memset(text + 17, '0', 1000);
    assert_true(only(text).real == 9007199254740992.0);
    text[1016] = '1';
    assert_true(only(text).real == 9007199254740994.0);
}

static void numbers_in_any_locale(void **state)
{
    (void)state;
    const char *locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"};
    for (int i = 0; i < LACIS_COUNT(locales); i++) {
        if (setlocale(LC_NUMERIC, locales[i]) == NULL) continue;
        assert_true(only("1.5").real == 1.5);
        setlocale(LC_NUMERIC, "C");
    }
}

static void bad_tokens(void **state)
{
    (void)state;
    static const char *const bad[] = {"'open", "\"open", "12abc", "#", "{", "?", ":", ": x", "\x01", "'a''"};
    for (int i = 0; i < LACIS_COUNT(bad); i++) {
        assert_int_equal(begin(bad[i]).token.kind, LACIS_TOKEN_BAD);
    }
    lacis_lexer lexer;
    lacis_lexer_begin(&lexer, "a\0b", 3);
    lacis_lexer_next(&lexer);
    assert_int_equal(lexer.token.kind, LACIS_TOKEN_BAD);
    lacis_lexer_next(&lexer);
    assert_true(lacis_lexer_is(&lexer, "B"));
    assert_int_equal(begin("").token.kind, LACIS_TOKEN_END);
    assert_int_equal(begin("-- only").token.kind, LACIS_TOKEN_END);
    assert_int_equal(begin("/* open").token.kind, LACIS_TOKEN_END);
}

static void keywords(void **state)
{
    (void)state;
    lacis_lexer lexer = begin("mulTIPLY \"BY\" by");
    assert_true(lacis_lexer_is(&lexer, "MULTIPLY"));
    assert_false(lacis_lexer_is(&lexer, "MULTI"));
    assert_false(lacis_lexer_is(&lexer, "MULTIPLYX"));
    assert_true(lacis_lexer_accept(&lexer, "MULTIPLY"));
    assert_false(lacis_lexer_accept(&lexer, "BY")); /* quoted */
    lacis_lexer_next(&lexer);
    assert_true(lacis_lexer_accept(&lexer, "BY"));
}

static void texts(void **state)
{
    lacis_run *run = *state;
    static const char *const pairs[][2] = {{"word", "word"},    {"\"a\"\"b\"", "a\"b"}, {"''", ""},
                                           {"'it''s'", "it's"}, {"'\"\"'", "\"\""},     {":name", "name"},
                                           {"''''", "'"}};
    for (int i = 0; i < LACIS_COUNT(pairs); i++) {
        lacis_token token = only(pairs[i][0]);
        char *text;
        assert_int_equal(lacis_token_text(run, &token, &text), LACIS_OK);
        assert_string_equal(text, pairs[i][1]);
    }
}

static void expectations(void **state)
{
    lacis_run *run = *state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"foo", "expected BY, found \"foo\""},
        {"", "expected BY, found the end of the text"},
        {"'x'", "expected BY, found 'x'"},
        {"'open", "expected BY, found a string that has no closing '"},
        {"\"open", "expected BY, found a quoted name that has no closing \""},
        {"\x02", "expected BY, found the byte 0x02"},
        {"7up", "expected BY, found \"7up\", which is no token"},
        {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeee",
         "expected BY, found \"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...\""},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        char text[100];
        snprintf(text, sizeof text, "a %s", cases[i].text);
        lacis_lexer lexer = begin(text);
        lacis_lexer_next(&lexer);
        assert_int_equal(lacis_lexer_expected(run, &lexer, "BY"), LACIS_SYNTAX);
        assert_string_equal(run->host->error.message, cases[i].message);
        assert_int_equal(run->host->error.offset, 2);
    }
}

static int open_run(void **state)
{
    static lacis_host host;
    static lacis_run run;
    *state = &run;
    if (lacis_host_init(&host) != LACIS_OK) return -1;
    lacis_run_init(&run, &host);
    return 0;
}

static int close_run(void **state)
{
    lacis_run *run = *state;
    lacis_run_clear(run);
    lacis_host_clear(run->host);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_offsets),
        cmocka_unit_test(symbols),
        cmocka_unit_test(numbers),
        cmocka_unit_test(long_number),
        cmocka_unit_test(numbers_in_any_locale),
        cmocka_unit_test(bad_tokens),
        cmocka_unit_test(keywords),
        cmocka_unit_test_setup_teardown(texts, open_run, close_run),
        cmocka_unit_test_setup_teardown(expectations, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
