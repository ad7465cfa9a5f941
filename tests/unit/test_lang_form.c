/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/lang/form.c, item.c, pattern.c: optional groups, alternatives, lists, free names, and what is said where
 * they do not fit.
 */
#include "support/parse.h"

/* The n-th argument for the keyword. */
static const lacis_arg *arg_of(const char *keyword, int n)
{
    const lacis_call *call = ast.call;
    for (int i = 0; i < call->arg_count; i++) {
        const char *found = call->op->params[call->args[i].param].keyword;
        if (found != NULL && strcmp(found, keyword) == 0 && n-- == 0) return &call->args[i];
    }
    return NULL;
}

static const lacis_item *items(const char *text, const char *keyword, int n)
{
    parse(text, LACIS_AST_CALL);
    assert_non_null(arg_of(keyword, n));
    return arg_of(keyword, n)->item;
}

static void groups_may_be_left_out(void **state)
{
    (void)state;
    const lacis_item *until = items("RELAX g STEP u UNTIL sum < 1e-3 EVERY 5", "UNTIL", 0);
    assert_int_equal(until[0].integer, 1);
    assert_true(until[1].real == 1e-3);
    assert_int_equal(until[2].integer, 1);
    assert_int_equal(until[3].integer, 5);
    until = items("RELAX g STEP u UNTIL max < 1 ON CPU", "UNTIL", 0);
    assert_int_equal(until[0].integer, 0);
    assert_int_equal(until[2].integer, 0);
    const lacis_item *keep = items("RELAX g STEP u KEEP EVERY 3 AS out", "KEEP", 0);
    assert_int_equal(keep[0].integer, 3);
    assert_int_equal(keep[1].integer, 0);
    assert_int_equal(keep[3].integer, 1);
    assert_string_equal(keep[4].text, "out"); /* behind the items of the group that is not there */
    keep = items("RELAX g STEP u KEEP EVERY 3 TO 'f' AS \"out\"", "KEEP", 0);
    assert_string_equal(keep[2].text, "f");
    assert_string_equal(keep[4].text, "out");
}

static void alternatives_share_places(void **state)
{
    (void)state;
    const lacis_item *edge = items("RELAX g STEP u EDGE fixed EDGE right robin 1 -2 3.5", "EDGE", 0);
    assert_int_equal(edge[0].integer, 0);
    assert_int_equal(edge[2].integer, 0);
    assert_int_equal(edge[3].integer, 0);
    assert_int_equal(edge[4].integer, 0);
    edge = arg_of("EDGE", 1)->item;
    assert_int_equal(edge[2].integer, 2);
    assert_int_equal(edge[3].integer, 2);
    assert_true(edge[4].real == 1 && edge[5].real == -2 && edge[6].real == 3.5);
    edge = items("RELAX g STEP u EDGE OF v left fixed -1.5 EDGE free", "EDGE", 0);
    assert_int_equal(edge[0].integer, 1);
    assert_string_equal(edge[1].text, "v");
    assert_int_equal(edge[2].integer, 1);
    assert_int_equal(edge[4].integer, 1);
    assert_string_equal(edge[5].text, "-1.5");
    assert_true(edge[5].real == -1.5 && edge[5].name == NULL);
    assert_int_equal(arg_of("EDGE", 1)->item[3].integer, 1);
}

static void optional_items_yield_to_clauses(void **state)
{
    (void)state;
    const lacis_item *edge = items("RELAX g STEP u EDGE fixed walls UNTIL max < 1", "EDGE", 0);
    assert_string_equal(edge[5].name, "walls");
    edge = items("RELAX g STEP u EDGE fixed UNTIL max < 1", "EDGE", 0);
    assert_int_equal(edge[4].integer, 0);
    edge = items("RELAX g STEP u EDGE fixed ON GPU", "EDGE", 0);
    assert_int_equal(edge[4].integer, 0);
    assert_int_equal(ast.call->on, LACIS_ON_GPU);
    edge = items("RELAX g STEP u EDGE fixed \"on\" ON GPU", "EDGE", 0);
    assert_string_equal(edge[5].name, "on");
    edge = items("RELAX (RELAX h STEP u EDGE fixed) STEP u EDGE fixed (FORMS x)", "EDGE", 0);
    assert_non_null(edge[5].call);
    const lacis_item *hint = items("RELAX g STEP u HINT -7 h + 1", "HINT", 0);
    assert_int_equal(hint[1].integer, -7);
    assert_string_equal(lacis_expr_text(hint[3].expr), "h + 1");
    hint = items("RELAX g STEP u HINT KEEP EVERY 1", "HINT", 0);
    assert_true(hint[0].integer == 0 && hint[2].integer == 0);
    assert_int_equal(items("RELAX g STEP u EDGE fixed :k", "EDGE", 0)[4].integer, 1);
}

static void names_before_an_equals_sign_are_assigned(void **state)
{
    (void)state;
    const lacis_item *step = items("RELAX g STEP u[-1] + u = 2 EDGE free", "STEP", 0);
    assert_int_equal(step[0].integer, 0);
    assert_string_equal(lacis_expr_text(step[2].expr), "u[-1] + u = 2");
    step = items("RELAX g STEP u = v = 1, \"V\" = u[0,1], w*2 EDGE free", "STEP", 0);
    assert_int_equal(step[0].integer, 1);
    assert_string_equal(step[1].text, "u");
    assert_string_equal(lacis_expr_text(step[2].expr), "v = 1");
    step = arg_of("STEP", 1)->item;
    assert_string_equal(step[1].text, "V");
    assert_string_equal(lacis_expr_text(step[2].expr), "u[0,1]");
    assert_int_equal(arg_of("STEP", 1)->offset, 24);
    assert_int_equal(arg_of("STEP", 2)->item[0].integer, 0);
    assert_null(arg_of("STEP", 3));
    assert_string_equal(lacis_expr_text(items("RELAX g STEP (u = 1)", "STEP", 0)[2].expr), "u = 1");
    parse("RELAX g STEP u COEFF k = a, c = (FORMS) COEFF d = e", LACIS_AST_CALL);
    assert_string_equal(arg_of("COEFF", 1)->item[0].text, "c");
    assert_non_null(arg_of("COEFF", 1)->item[1].call);
    assert_string_equal(arg_of("COEFF", 2)->item[1].name, "e");
}

static void errors_name_all_that_could_stand(void **state)
{
    (void)state;
    refuse("RELAX g STEP u EDGE lft fixed", LACIS_SYNTAX, "lft",
           "expected OF|left|right|fixed|free|robin|from, found", "did you mean left?");
    refuse("RELAX g STEP u EDGE left fxed", LACIS_SYNTAX, "fxed", "expected fixed|free|robin|from, found",
           "did you mean fixed?");
    refuse("RELAX g STEP u EDGE", LACIS_SYNTAX, NULL, "expected OF|left|right|fixed|free|robin|from, found the end",
           NULL);
    refuse("RELAX g STEP u EDGE robin 1 2", LACIS_SYNTAX, NULL, "expected a number, found the end", NULL);
    refuse("RELAX g STEP u UNTIL mx < 1", LACIS_SYNTAX, "mx", "expected max|sum", "did you mean max?");
    refuse("RELAX g STEP u UNTIL max 1", LACIS_SYNTAX, "1", "expected <", "UNTIL max|sum < x [EVERY n]");
    refuse("RELAX g STEP u UNTIL max < 1 EVERY", LACIS_SYNTAX, NULL, "expected an integer", NULL);
    refuse("RELAX g STEP u UNTIL max < 1 EVRY 5", LACIS_SYNTAX, "EVRY", "no clause 'EVRY'", "did you mean EVERY?");
    refuse("RELAX g STEP u KEEP EVERY 1 EVRY 5", LACIS_SYNTAX, "EVRY", "no clause 'EVRY'", "");
    refuse("RELAX g STEP u KEEP 5", LACIS_SYNTAX, "5", "expected EVERY", NULL);
    refuse("RELAX g STEP u, EDGE free", LACIS_SYNTAX, "free", "RELAX has no clause 'free'", NULL);
    refuse("RELAX g STEP = u", LACIS_SYNTAX, "=", "expected an expression", NULL);
    refuse("RELAX g STEP u = ", LACIS_SYNTAX, NULL, "expected an expression", NULL);
    refuse("RELAX g STEP u STEP v", LACIS_SYNTAX, "STEP v", "RELAX has STEP twice", NULL);
    refuse("RELAX g STEP u COEFF k", LACIS_SYNTAX, NULL, "expected =", NULL);
    refuse("RELAX g STEP u COEFF k = a,", LACIS_SYNTAX, NULL, "expected a name", NULL);
    refuse("RELAX g STEP u OPEN", LACIS_MISUSE, NULL, "an open bracket", NULL);
    refuse("RELAX g STEP u WIDE A 1 2 3 C 1 2 3 4", LACIS_MISUSE, NULL, "more than 8 items", NULL);
    refuse("RELAX g STEP u WIDE C 1 2 3 4", LACIS_MISUSE, NULL, "more than 8 items", NULL);
}

static void usage_shows_groups(void **state)
{
    (void)state;
    const char *usage = lacis_lang_usage(&run, &fake_relax);
    const char *wanted =
        "RELAX a STEP [name =] expr [, ...] [UNTIL max|sum < x [EVERY n]] [EDGE [OF name] [left|right] "
        "{fixed [x|b]|free|robin x x x|from c AT n}]... [COEFF name = d [, ...]]... "
        "[KEEP EVERY n [TO 'text'] [AS name]] ";
    if (strncmp(usage, wanted, strlen(wanted)) != 0) fail_msg("%s", usage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PARSER_TEST(groups_may_be_left_out),           PARSER_TEST(alternatives_share_places),
        PARSER_TEST(optional_items_yield_to_clauses),  PARSER_TEST(names_before_an_equals_sign_are_assigned),
        PARSER_TEST(errors_name_all_that_could_stand), PARSER_TEST(usage_shows_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
