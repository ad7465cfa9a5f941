/* SPDX-License-Identifier: Apache-2.0
 *
 * A verb that a program gives its engine: statements, views, EXPLAIN, completion, SHOW and hints know it at once, and
 * other engines do not.
 */
#include "lacis_extend.h"

#include "support/db.h"

static lacis_status bind(lacis_run *run, lacis_call *call)
{
    (void)run;
    call->kind = LACIS_VECTOR;
    call->dtype = LACIS_I64;
    call->extent[0] = lacis_call_arg(call, "OF")->item[0].integer;
    call->units = 1;
    return LACIS_OK;
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    (void)run;
    *out = (lacis_cost){.seconds = lacis_profile_get(profile, "squares.ns", 1) * 1e-9,
                        .entries = (double)call->extent[0],
                        .bytes = 8 * (double)call->extent[0]};
    return LACIS_OK;
}

static lacis_status squares(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)begin;
    (void)end;
    int64_t n = call->extent[0];
    lacis_buffer *values;
    LACIS_TRY(lacis_buffer_new(run, 8 * (uint64_t)n, &values));
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)lacis_buffer_data(values))[i] = i * i;
    lacis_status status = lacis_array_new(run, LACIS_VECTOR, LACIS_I64, n, 0, out);
    if (status == LACIS_OK) status = lacis_array_add(run, *out, "values", LACIS_I64, n, values, 0);
    lacis_buffer_release(values);
    return status;
}

static const lacis_param params[] = {{.keyword = "OF", .form = "%i", .required = true, .help = "how many"}};
static const lacis_variant plain = {
    .name = "plain", .device = LACIS_CPU, .summary = "one after the other", .cost = cost, .run = squares};
static const lacis_variant *const variants[] = {&plain};
static const char *const examples[] = {"SQUARES OF 3", NULL};
static const lacis_op op = {.verb = "SQUARES",
                            .summary = "square numbers",
                            .help = "SQUARES OF n gives the first n.",
                            .examples = examples,
                            .params = params,
                            .param_count = 1,
                            .bind = bind,
                            .variants = variants,
                            .variant_count = 1};

static int setup(void **state)
{
    lacis_engine *engine;
    if (lacis_open(NULL, &engine) != LACIS_OK) return -1;
    *state = engine;
    return lacis_register_operator(engine, &op) == LACIS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static void note_word(void *arg, const char *word, const char *kind)
{
    (void)kind;
    if (strcmp(word, "SQUARES") == 0 || strcmp(word, "OF") == 0) ++*(int *)arg;
}

static void the_language_knows_it(void **state)
{
    db_expect(*state, "SQUARES OF 3", "0,0\n1,1\n2,4\n");
    db_run(*state, "CREATE VIEW q AS SQUARES OF 100; LET p = SQUARES OF 4; GENERATE g AS path(4);");
    db_expect(*state, "SELECT sum(value) FROM q WHERE i < 4", "14\n");
    db_expect(*state, "MULTIPLY g BY (SQUARES OF 4)", "0,1\n1,4\n2,9\n");
    db_expect(*state, "SELECT count(*) FROM p", "4\n");
    db_fails(*state, "SQUARES", LACIS_SYNTAX, "SQUARES");
    db_fails(*state, "SQUARS OF 3", LACIS_SYNTAX, "SQUARS");
    assert_non_null(strstr(lacis_error_hint(*state), "SQUARES"));
    char *text = db_rows(*state, "EXPLAIN SQUARES OF 3");
    assert_non_null(strstr(text, "plain on CPU"));
    free(text);
    text = db_rows(*state, "SHOW OPERATORS");
    assert_non_null(strstr(text, "square numbers"));
    free(text);
}

static void completion_knows_it(void **state)
{
    int words = 0;
    size_t start;
    assert_int_equal(lacis_complete(*state, "SQ", 2, &start, note_word, &words), LACIS_OK);
    assert_int_equal(words, 1);
    assert_int_equal(lacis_complete(*state, "SQUARES ", 8, &start, note_word, &words), LACIS_OK);
    assert_int_equal(words, 2);
}

static void others_do_not(void **state)
{
    lacis_engine *other = db_open(NULL);
    db_fails(other, "SQUARES OF 3", LACIS_SYNTAX, "SQUARES");
    lacis_close(other);
    assert_int_equal(lacis_register_operator(*state, &op), LACIS_NAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK(the_language_knows_it), CHECK(completion_knows_it),
                                       CHECK(others_do_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
