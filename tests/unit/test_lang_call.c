/* SPDX-License-Identifier: Apache-2.0
 *
 * The parser of calls: forms, clauses, numbers, parameters, errors, usage lines.
 */
#include "support/parse.h"

/* The argument of the fake operator's parameter, or NULL. */
static const lacis_arg *arg_of(const lacis_call *call, const char *keyword)
{
    for (int i = 0; i < call->arg_count; i++) {
        const char *found = call->op->params[call->args[i].param].keyword;
        bool same = keyword == NULL ? found == NULL : found != NULL && strcmp(found, keyword) == 0;
        if (same) return &call->args[i];
    }
    return NULL;
}

static const lacis_item *item_of(const char *keyword, int index)
{
    const lacis_arg *arg = arg_of(ast.call, keyword);
    assert_non_null(arg);
    return &arg->item[index];
}

static void reads_a_call(void **state)
{
    (void)state;
    const char *text = "  multiply wiki By \"my graph\" AGG count top 10 CON a + b MASK NOT m on cpu ; SELECT 1";
    parse(text, LACIS_AST_CALL);
    assert_string_equal(tail, " SELECT 1");
    assert_ptr_equal(ast.call->op, &fake_multiply);
    assert_int_equal(ast.call->offset, 2);
    assert_int_equal(ast.call->on, LACIS_ON_CPU);
    assert_int_equal(ast.call->arg_count, 6);
    assert_string_equal(item_of(NULL, 0)->name, "wiki");
    assert_int_equal(item_of(NULL, 0)->offset, 11);
    assert_string_equal(item_of("BY", 0)->name, "my graph");
    assert_non_null(item_of("AGG", 0)->agg);
    assert_non_null(item_of("CON", 0)->expr);
    assert_int_equal(item_of("TOP", 0)->integer, 10);
    assert_int_equal(item_of("MASK", 0)->integer, 1);
    assert_string_equal(item_of("MASK", 1)->name, "m");
    assert_int_equal(arg_of(ast.call, "TOP")->offset, strstr(text, "top") - text);
}

static void keywords_are_not_reserved(void **state)
{
    (void)state;
    parse("MULTIPLY by BY by", LACIS_AST_CALL);
    assert_string_equal(item_of(NULL, 0)->name, "by");
    assert_string_equal(item_of("BY", 0)->name, "by");
    parse("MULTIPLY load BY on ON GPU", LACIS_AST_CALL);
    assert_string_equal(item_of("BY", 0)->name, "on");
    assert_int_equal(ast.call->on, LACIS_ON_GPU);
    parse("LET let = MULTIPLY set BY multiply", LACIS_AST_LET);
    assert_string_equal(ast.name, "let");
    parse("MULTIPLY a BY b MASK m", LACIS_AST_CALL);
    assert_int_equal(item_of("MASK", 0)->integer, 0);
    assert_string_equal(item_of("MASK", 1)->name, "m");
}

static void reads_every_form(void **state)
{
    (void)state;
    const char *text = "FORMS cell CLAMP soma 0.1 FROM -5 TO 25 CLAMP \"FROM\" 2 FROM 1e-3 TO 2 UNTIL STABLE "
                       "EDGE periodic WRAP -3 SET dest = (FORMS x FLAG) NAMED 'it''s' FLAG";
    parse(text, LACIS_AST_CALL);
    assert_int_equal(ast.call->arg_count, 8);
    const lacis_arg *clamp = &ast.call->args[1], *second = &ast.call->args[2];
    assert_string_equal(clamp->item[0].text, "soma");
    assert_true(clamp->item[1].real == 0.1 && clamp->item[2].real == -5 && clamp->item[3].real == 25);
    assert_string_equal(second->item[0].text, "FROM");
    assert_true(second->item[2].real == 1e-3);
    assert_int_equal(item_of("EDGE", 0)->integer, 1);
    assert_int_equal(item_of("EDGE", 1)->integer, 1);
    assert_int_equal(item_of("EDGE", 2)->integer, -3);
    assert_string_equal(item_of("SET", 0)->text, "dest");
    assert_ptr_equal(item_of("SET", 1)->call->op, &fake_forms);
    assert_string_equal(arg_of(item_of("SET", 1)->call, NULL)->item[0].name, "x");
    assert_string_equal(item_of("NAMED", 0)->text, "it's");
    assert_non_null(arg_of(ast.call, "FLAG"));
    assert_non_null(arg_of(ast.call, "UNTIL"));
}

static void an_operand_may_be_optional(void **state)
{
    (void)state;
    parse("FORMS", LACIS_AST_CALL);
    assert_int_equal(ast.call->arg_count, 0);
    parse("FORMS FLAG ON AUTO", LACIS_AST_CALL);
    assert_null(arg_of(ast.call, NULL));
    parse("FORMS ON GPU", LACIS_AST_CALL);
    assert_int_equal(ast.call->on, LACIS_ON_GPU);
    parse("FORMS \"FLAG\"", LACIS_AST_CALL);
    assert_string_equal(item_of(NULL, 0)->name, "FLAG");
}

static void nests_calls_to_a_depth(void **state)
{
    (void)state;
    parse("MULTIPLY (MULTIPLY a BY b TOP 3) BY (FORMS) CON nil", LACIS_AST_CALL);
    assert_ptr_equal(item_of(NULL, 0)->call->op, &fake_multiply);
    assert_ptr_equal(item_of("BY", 0)->call->op, &fake_forms);
    char text[4000];
    for (int depth = 32; depth <= 300; depth += 268) {
        text[0] = '\0';
        for (int i = 1; i < depth; i++) {
            strcat(text, "FORMS (");
        }
        strcat(text, "FORMS");
        for (int i = 1; i < depth; i++) {
            strcat(text, ")");
        }
        if (depth == 32) parse(text, LACIS_AST_CALL);
        if (depth > 32) refuse(text, LACIS_SYNTAX, NULL, "more than 32 deep", NULL);
    }
    assert_int_equal(host.error.offset, 32 * 7);
}

static void integers_may_be_written_many_ways(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"7", 7},
                {"+7", 7},
                {"-7", -7},
                {"1e6", 1000000},
                {"2.50e1", 25},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {":k", 0}};
    static const struct {
        const char *text;
        lacis_status status;
    } bad[] = {{"1.5", LACIS_RANGE},
               {"9223372036854775808", LACIS_RANGE},
               {"-9223372036854775809", LACIS_RANGE},
               {"1e300", LACIS_RANGE},
               {"ten", LACIS_SYNTAX},
               {"'10'", LACIS_SYNTAX},
               {"", LACIS_SYNTAX}};
    char text[100];
    for (int i = 0; i < LACIS_COUNT(good); i++) {
        snprintf(text, sizeof text, "MULTIPLY a BY b TOP %s;", good[i].text);
        parse(text, LACIS_AST_CALL);
        assert_true(item_of("TOP", 0)->integer == good[i].value);
        assert_true(item_of("TOP", 0)->real == (double)good[i].value);
    }
    for (int i = 0; i < LACIS_COUNT(bad); i++) {
        snprintf(text, sizeof text, "MULTIPLY a BY b TOP %s;", bad[i].text);
        assert_int_equal(parse_with(text, NULL), bad[i].status);
    }
}

static void parameters_stand_for_values(void **state)
{
    (void)state;
    static const lacis_binding values[] = {
        {"k", LACIS_INTEGER, 5, 0, NULL},    {"whole", LACIS_REAL, 0, 8.0, NULL},
        {"half", LACIS_REAL, 0, 0.5, NULL},  {"path", LACIS_TEXT, 0, 0, "a file.txt"},
        {"nothing", LACIS_NULL, 0, 0, NULL}, {"least", LACIS_INTEGER, INT64_MIN, 0, NULL}};
    static const lacis_bindings bindings = {values, LACIS_COUNT(values)};
    assert_int_equal(parse_with("MULTIPLY a BY b TOP :k", &bindings), LACIS_OK);
    assert_int_equal(item_of("TOP", 0)->integer, 5);
    assert_int_equal(parse_with("MULTIPLY a BY b TOP -:whole", &bindings), LACIS_OK);
    assert_int_equal(item_of("TOP", 0)->integer, -8);
    assert_int_equal(parse_with("FORMS CLAMP x :half FROM :k TO -:k", &bindings), LACIS_OK);
    assert_true(item_of("CLAMP", 1)->real == 0.5 && item_of("CLAMP", 3)->real == -5);
    assert_int_equal(parse_with("LOAD g FROM :path WITH (base = :k, header = :half, x = :path)", &bindings),
                     LACIS_OK);
    assert_string_equal(ast.string, "a file.txt");
    assert_string_equal(ast.option[0].text, "5");
    assert_string_equal(ast.option[1].text, "0.5");
    assert_true(ast.option[2].string && !ast.option[0].string);
    assert_int_equal(parse_with("MULTIPLY a BY b TOP :half", &bindings), LACIS_RANGE);
    assert_int_equal(parse_with("MULTIPLY a BY b TOP -:least", &bindings), LACIS_RANGE);
    assert_int_equal(parse_with("MULTIPLY a BY b TOP :path", &bindings), LACIS_TYPE);
    assert_int_equal(parse_with("LOAD g FROM :k", &bindings), LACIS_TYPE);
    assert_int_equal(parse_with("MULTIPLY a BY b TOP :nothing", &bindings), LACIS_NAME);
    assert_int_equal(parse_with("MULTIPLY a BY b TOP :missing", &bindings), LACIS_NAME);
    assert_string_equal(host.error.message, "the parameter :missing has no value");
    assert_int_equal(host.error.offset, 20);
}

/* item.wide against these four words. */
static void expect_words(double a, double b, double c, double d)
{
    const lacis_item *item = item_of("TIMES", 0);
    const double *w = item->wide;
    assert_true(item->real == a && item->imag == c);
    if (w[0] != a || w[1] != b || w[2] != c || w[3] != d) fail_msg("%a %a %a %a", w[0], w[1], w[2], w[3]);
}

static void numbers_keep_their_digits(void **state)
{
    (void)state;
    static const lacis_binding values[] = {{"half", LACIS_REAL, 0, 0.5, NULL},
                                           {"long", LACIS_TEXT, 0, 0, "-0.1"},
                                           {"large", LACIS_INTEGER, 9007199254740993, 0, NULL},
                                           {"word", LACIS_TEXT, 0, 0, "x"}};
    static const lacis_bindings bindings = {values, LACIS_COUNT(values)};
    const double rest = -0x1.999999999999ap-58; /* of 0.1 */
    assert_int_equal(parse_with("FORMS TIMES 0.1", NULL), LACIS_OK);
    expect_words(0.1, rest, 0, 0);
    assert_string_equal(item_of("TIMES", 0)->text, "0.1");
    assert_int_equal(parse_with("FORMS TIMES -0.1 -- a tenth", NULL), LACIS_OK);
    expect_words(-0.1, -rest, 0, 0);
    assert_string_equal(item_of("TIMES", 0)->text, "-0.1");
    assert_int_equal(parse_with("FORMS TIMES complex(0.1, - 0.1) FLAG", NULL), LACIS_OK);
    expect_words(0.1, rest, -0.1, -rest);
    assert_string_equal(item_of("TIMES", 0)->text, "complex(0.1, - 0.1)");
    assert_int_equal(parse_with("FORMS TIMES 18014398509481985", NULL), LACIS_OK); /* 2^54 + 1 */
    expect_words(0x1p54, 1, 0, 0);
    assert_int_equal(parse_with("FORMS TIMES complex(:half, :long)", &bindings), LACIS_OK);
    expect_words(0.5, 0, -0.1, -rest);
    assert_int_equal(parse_with("FORMS TIMES -:large", &bindings), LACIS_OK);
    expect_words(-0x1p53, -1, 0, 0);
    assert_int_equal(parse_with("FORMS CLAMP x 0.1 FROM :half TO 2", &bindings), LACIS_OK);
    assert_true(item_of("CLAMP", 1)->wide[1] == rest && item_of("CLAMP", 1)->imag == 0);
    assert_int_equal(parse_with("FORMS TIMES :word", &bindings), LACIS_TYPE);
    refuse("FORMS TIMES complex(1)", LACIS_SYNTAX, ")", "expected ,", NULL);
    refuse("FORMS TIMES complex 1", LACIS_SYNTAX, "1", "expected (", NULL);
    refuse("FORMS TIMES inf", LACIS_SYNTAX, "inf", "expected a number", NULL);
}

static void says_what_is_wrong_with_a_call(void **state)
{
    (void)state;
    refuse("MULTIPLY a CON nil", LACIS_SYNTAX, "MULTIPLY", "MULTIPLY needs BY: MULTIPLY a BY b [CON expr]", NULL);
    refuse("MULTIPLY;", LACIS_SYNTAX, "MULTIPLY", "MULTIPLY needs an operand: MULTIPLY a", NULL);
    refuse("MULTIPLY a BYE b", LACIS_SYNTAX, "BYE", "MULTIPLY has no clause 'BYE'", "did you mean BY?");
    refuse("MULTIPLY a BY b AGGR min", LACIS_SYNTAX, "AGGR", "no clause", "did you mean AGG?");
    refuse("MULTIPLY a BY b TOP 3 TOP 4", LACIS_SYNTAX, "TOP 4", "MULTIPLY has TOP twice", NULL);
    refuse("MULTIPLY a BY b ON CPU ON GPU", LACIS_SYNTAX, "ON GPU", "MULTIPLY has ON twice", NULL);
    refuse("MULTIPLY a BY b ON CPUS", LACIS_SYNTAX, "CPUS", "expected AUTO|CPU|GPU", "did you mean CPU?");
    refuse("MULTIPLY a BY (MULTIPYL b BY c)", LACIS_SYNTAX, "MULTIPYL", "unknown operator 'MULTIPYL'",
           "did you mean MULTIPLY?");
    refuse("MULTIPLY a BY (FORMS", LACIS_SYNTAX, NULL, "expected )", NULL);
    refuse("MULTIPLY a BY (FORMS;", LACIS_SYNTAX, ";", "expected )", NULL);
    refuse("MULTIPLY a BY b)", LACIS_SYNTAX, ")", "expected ';'", NULL);
    refuse("MULTIPLY a BY b + c", LACIS_SYNTAX, "+", "expected a clause of MULTIPLY", NULL);
    refuse("MULTIPLY [1, 2] BY b", LACIS_SYNTAX, "[", "expected an array or a call in parentheses", NULL);
    refuse("FORMS UNTIL STABEL", LACIS_SYNTAX, "STABEL", "expected STABLE", "UNTIL STABLE");
    refuse("FORMS EDGE opn 3", LACIS_SYNTAX, "opn", "expected fixed|periodic|open", "did you mean open?");
    refuse("FORMS CLAMP a 1 FROM 2", LACIS_SYNTAX, NULL, "expected TO", "CLAMP name x FROM x TO x");
    refuse("FORMS MANY 1 2 3 4 5 6 7 8 9", LACIS_MISUSE, NULL, "%i %i", NULL);
    refuse("FORMS ODD 1", LACIS_MISUSE, NULL, "%q", NULL);
    refuse("MULTIPLY \"\" BY b", LACIS_SYNTAX, "\"\"", "expected an array", NULL);
}

static void a_view_text_parses_alone(void **state)
{
    (void)state;
    lacis_call *call;
    const char *text = "MULTIPLY a BY (MULTIPLY b BY c) TOP 3";
    assert_int_equal(lacis_lang_call(&run, &fake_registry, text, NULL, &call), LACIS_OK);
    assert_int_equal(call->arg_count, 3);
    assert_int_equal(lacis_lang_call(&run, &fake_registry, "SELECT 1", NULL, &call), LACIS_SYNTAX);
    assert_int_equal(lacis_lang_call(&run, &fake_registry, "FORMS; FORMS", NULL, &call), LACIS_SYNTAX);
}

static void usage_comes_from_the_descriptor(void **state)
{
    (void)state;
    assert_string_equal(lacis_lang_usage(&run, &fake_multiply),
                        "MULTIPLY a BY b [CON expr] [AGG agg] [MASK [NOT] c] [WHERE expr] [TOP n] [ON AUTO|CPU|GPU]");
    const char *forms = lacis_lang_usage(&run, &fake_forms);
    assert_non_null(strstr(forms, "FORMS [a] [CLAMP name x FROM x TO x]... [UNTIL STABLE] "
                                  "[EDGE fixed|periodic|open [WRAP] n] [SET name = b] [NAMED 'text'] [FLAG]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PARSER_TEST(reads_a_call),
        PARSER_TEST(keywords_are_not_reserved),
        PARSER_TEST(reads_every_form),
        PARSER_TEST(an_operand_may_be_optional),
        PARSER_TEST(nests_calls_to_a_depth),
        PARSER_TEST(integers_may_be_written_many_ways),
        PARSER_TEST(parameters_stand_for_values),
        PARSER_TEST(numbers_keep_their_digits),
        PARSER_TEST(says_what_is_wrong_with_a_call),
        PARSER_TEST(a_view_text_parses_alone),
        PARSER_TEST(usage_comes_from_the_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
