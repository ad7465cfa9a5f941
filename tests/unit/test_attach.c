/* SPDX-License-Identifier: Apache-2.0
 *
 * What an operator gives besides its result: tables that LET enters with it, and files that it writes itself.
 */
#include "lacis_extend.h"

#include "support/db.h"

#include <unistd.h>

/* COUNTED OF n [TWICE] [KEEP path]: the vector 0, 1 ... n - 1 with a table "sums" of their sum, and with TWICE also
 * one of "more", which the descriptor does not tell of. */
static int runs;

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
    (void)profile;
    *out = (lacis_cost){.seconds = 1e-9 * (double)call->extent[0], .entries = (double)call->extent[0]};
    return LACIS_OK;
}

static lacis_status add(lacis_run *run, lacis_array *array, const char *name, int64_t first, int64_t count)
{
    lacis_buffer *values;
    LACIS_TRY(lacis_buffer_new(run, 8 * (uint64_t)count, &values));
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)lacis_buffer_data(values))[i] = first + i;
    lacis_status status = lacis_array_add(run, array, name, LACIS_I64, count, values, 0);
    lacis_buffer_release(values);
    return status;
}

static lacis_status attach(lacis_run *run, lacis_array *array, const char *suffix, const char *column, int64_t value)
{
    lacis_array *table;
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_I64, 1, 0, &table));
    lacis_status status = add(run, table, column, value, 1);
    if (status == LACIS_OK) status = lacis_array_attach(run, array, suffix, table);
    lacis_array_release(table);
    return status;
}

static lacis_status fill(lacis_run *run, const lacis_call *call, lacis_array *array)
{
    int64_t n = call->extent[0];
    const lacis_arg *keep = lacis_call_arg(call, "KEEP");
    LACIS_TRY(add(run, array, "values", 0, n));
    LACIS_TRY(attach(run, array, "sums", "wrong", 0));
    LACIS_TRY(attach(run, array, "sums", "total", n * (n - 1) / 2)); /* in the place of the first */
    if (lacis_call_arg(call, "TWICE") != NULL) LACIS_TRY(attach(run, array, "more", "least", 0));
    return keep == NULL ? LACIS_OK : lacis_run_save(run, array, keep->item[0].text);
}

static lacis_status counted(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)begin;
    (void)end;
    runs++;
    LACIS_TRY(lacis_array_new(run, LACIS_VECTOR, LACIS_I64, call->extent[0], 0, out));
    lacis_status status = fill(run, call, *out);
    if (status != LACIS_OK) lacis_array_release(*out);
    return status;
}

static const lacis_param params[] = {{.keyword = "OF", .form = "%i", .required = true, .help = "how many"},
                                     {.keyword = "TWICE", .form = "", .help = "one more table"},
                                     {.keyword = "KEEP", .form = "%s", .help = "a file"}};
static const lacis_variant plain = {
    .name = "plain", .device = LACIS_CPU, .summary = "one after the other", .cost = cost, .run = counted};
static const lacis_variant *const variants[] = {&plain};
static const char *const tables[] = {"sums", NULL};
static const lacis_op op = {.verb = "COUNTED",
                            .summary = "numbers",
                            .help = "COUNTED OF n gives the first n.",
                            .params = params,
                            .param_count = LACIS_COUNT(params),
                            .bind = bind,
                            .variants = variants,
                            .variant_count = 1,
                            .tables = tables};

static int setup(void **state)
{
    *state = db_open(NULL);
    runs = 0;
    return lacis_register_operator(*state, &op) == LACIS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static void let_enters_the_tables(void **state)
{
    db_run(*state, "LET c = COUNTED OF 4");
    db_expect(*state, "SELECT * FROM c_sums", "6\n");
    db_run(*state, "LET c = COUNTED OF 5 TWICE");
    db_expect(*state, "SELECT total FROM c_sums", "10\n");
    db_expect(*state, "SELECT least FROM c_more", "0\n");
    db_run(*state, "DROP c");
    db_expect(*state, "SHOW ARRAYS", "c_more,table,1,1,i64,8,NULL\nc_sums,table,1,1,i64,8,NULL\n");
    db_run(*state, "LET c_sums = SELECT 1 AS a, 2 AS b; LET c = COUNTED OF 3"); /* a table with other columns */
    db_expect(*state, "SELECT * FROM c_sums", "3\n");
}

static void results_without_a_name_have_none(void **state)
{
    db_expect(*state, "COUNTED OF 2", "0,0\n1,1\n");
    db_run(*state, "CREATE VIEW v AS COUNTED OF 3");
    db_expect(*state, "SELECT sum(value) FROM v", "3\n");
    char *text = db_rows(*state, "EXPLAIN ANALYZE COUNTED OF 3");
    assert_non_null(strstr(text, "entries 3"));
    free(text);
    db_run(*state, "GENERATE g AS path(4); LET m = MULTIPLY g BY (COUNTED OF 4)");
    db_expect(*state, "SELECT count(*) FROM m", "3\n");
    db_run(*state, "DROP g; DROP m; DROP v");
    db_expect(*state, "SHOW ARRAYS", "");
}

/* Names that are taken by what is no table: known before anything runs, and nothing is lost. */
static void names_that_are_taken(void **state)
{
    db_run(*state, "LET c = COUNTED OF 3; DROP c_sums; GENERATE c_sums AS path(4)");
    runs = 0;
    db_fails(*state, "LET c = COUNTED OF 9", LACIS_NAME,
             "c comes with a table c_sums, and that name is another graph's");
    assert_int_equal(runs, 0);
    db_expect(*state, "SELECT count(*) FROM c", "3\n");
    db_expect(*state, "SELECT count(*) FROM c_sums", "3\n");
    db_run(*state, "DROP c_sums; CREATE VIEW c_sums AS COUNTED OF 3");
    db_fails(*state, "LET c = COUNTED OF 9", LACIS_NAME, "another view's");
    db_run(*state, "DROP c_sums; CREATE TABLE c_sums(a)");
    db_fails(*state, "LET c = COUNTED OF 9", LACIS_NAME, "an SQL table is called c_sums");
    assert_int_equal(runs, 0);
    db_run(*state, "DROP TABLE c_sums; GENERATE c_more AS path(4); LET c_sums = SELECT 7 AS total");
    db_fails(*state, "LET c = COUNTED OF 9 TWICE", LACIS_NAME, "c comes with a table c_more");
    assert_int_equal(runs, 1);
    db_expect(*state, "SELECT count(*), (SELECT total FROM c_sums) FROM c", "3,7\n");
}

static void they_stay_in_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/lacis-attach-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    lacis_engine *engine = db_open(path);
    assert_int_equal(lacis_register_operator(engine, &op), LACIS_OK);
    db_run(engine, "LET c = COUNTED OF 4; BEGIN; LET c = COUNTED OF 6 TWICE; ROLLBACK");
    db_expect(engine, "SELECT total FROM c_sums", "6\n");
    lacis_close(engine);
    engine = db_open(path);
    db_expect(engine, "SELECT total, (SELECT count(*) FROM c) FROM c_sums", "6,4\n");
    db_fails(engine, "SELECT * FROM c_more", LACIS_NAME, "c_more");
    lacis_close(engine);
    unlink(path);
}

/* --- files of its own ----------------------------------------------------------------------------- */

static void operators_save_as_save_does(void **state)
{
    static const char path[] = "/tmp/lacis-attach.csv";
    char line[80];
    db_run(*state, "LET c = COUNTED OF 2 KEEP '/tmp/lacis-attach.csv'");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "i,value\n");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "0,0\n");
    fclose(file);
    db_fails(*state, "LET c = COUNTED OF 9 KEEP '/tmp/lacis-attach.what'", LACIS_NAME, "says no format");
    db_fails(*state, "LET c = COUNTED OF 9 KEEP '/nowhere/x.csv'", LACIS_IO, "cannot write \"/nowhere/x.csv\"");
    db_expect(*state, "SELECT count(*) FROM c", "2\n");
    unlink(path);
}

struct countdown {
    long left, asked;
};

static int refuse_one(void *arg, size_t bytes)
{
    struct countdown *countdown = arg;
    (void)bytes;
    countdown->asked++;
    return countdown->left-- == 0;
}

/* Each allocation fails once: the statement says so, and both the array and its tables are those of before or of now.
 */
static void memory_may_run_out(void **state)
{
    static const char text[] = "LET c = COUNTED OF 5 TWICE KEEP '/tmp/lacis-attach.csv'";
    struct countdown countdown = {-1, 0};
    long all = 0;
    for (long n = -1; n < all; n++) {
        db_run(*state, "LET c = COUNTED OF 3 TWICE");
        countdown = (struct countdown){n, 0};
        lacis_set_allocation_guard(refuse_one, &countdown);
        lacis_status status = lacis_exec(*state, text, NULL, NULL);
        lacis_set_allocation_guard(NULL, NULL);
        if (n < 0) all = countdown.asked;
        if (n < 0) assert_int_equal(status, LACIS_OK);
        if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
        db_expect(*state, "SELECT total, (SELECT count(*) FROM c) FROM c_sums",
                  status == LACIS_OK ? "10,5\n" : "3,3\n");
    }
    assert_true(all > 20);
    unlink("/tmp/lacis-attach.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK(let_enters_the_tables),       CHECK(results_without_a_name_have_none),
                                       CHECK(names_that_are_taken),        CHECK(they_stay_in_a_file),
                                       CHECK(operators_save_as_save_does), CHECK(memory_may_run_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
