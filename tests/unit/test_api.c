/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis.h as an embedding program uses it: statements, bindings, columns, arrays lent and found, options, errors,
 * threads.
 */
#include "support/db.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

static int setup(void **state)
{
    *state = db_open(NULL);
    db_run(*state, "GENERATE g AS path(n = 5);");
    return 0;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static void statements_step_and_reset(void **state)
{
    lacis_statement *statement;
    const char *tail;
    const char *text = "-- nothing\nSELECT src, dst FROM g WHERE src = :s; SELECT 2";
    assert_int_equal(lacis_prepare(*state, text, &tail, &statement), LACIS_OK);
    assert_string_equal(tail, " SELECT 2");
    assert_int_equal(lacis_column_count(statement), 2);
    assert_string_equal(lacis_column_name(statement, 1), "dst");
    for (int64_t s = 1; s <= 3; s++) {
        assert_int_equal(lacis_bind_int64(statement, "s", s), LACIS_OK);
        assert_int_equal(lacis_step(statement), LACIS_ROW);
        assert_int_equal(lacis_column_type(statement, 0), LACIS_INTEGER);
        assert_int_equal(lacis_column_int64(statement, 0), s);
        while (lacis_step(statement) == LACIS_ROW) {
        }
        assert_int_equal(lacis_reset(statement), LACIS_OK);
    }
    assert_int_equal(lacis_bind_int64(statement, "nosuch", 1), LACIS_NAME);
    lacis_finalize(statement);
    assert_int_equal(lacis_prepare(*state, "  -- comment alone", &tail, &statement), LACIS_OK);
    assert_null(statement);
    assert_int_equal(lacis_prepare(*state, "", NULL, &statement), LACIS_OK);
    assert_null(statement);
}

static void own_statements_take_parameters(void **state)
{
    lacis_statement *statement;
    assert_int_equal(lacis_prepare(*state, "MULTIPLY g BY g CON nil AGG count WHERE src = :s", NULL, &statement),
                     LACIS_OK);
    assert_int_equal(lacis_bind_int64(statement, "other", 1), LACIS_NAME);
    assert_int_equal(lacis_bind_int64(statement, "s", 1), LACIS_OK);
    assert_int_equal(lacis_step(statement), LACIS_ROW);
    assert_string_equal(lacis_column_name(statement, 2), "value");
    assert_int_equal(lacis_column_int64(statement, 0), 1);
    assert_int_equal(lacis_bind_int64(statement, "s", 1), LACIS_MISUSE);
    lacis_reset(statement);
    assert_int_equal(lacis_bind_int64(statement, "s", 99), LACIS_OK);
    assert_int_equal(lacis_step(statement), LACIS_DONE);
    assert_int_equal(lacis_step(statement), LACIS_DONE);
    lacis_finalize(statement);
    db_fails(*state, "MULTIPLY g BY g WHERE src = :s", LACIS_NAME, ":s");
}

static void columns_answer_for_what_is_not_there(void **state)
{
    lacis_statement *statement;
    size_t bytes = 7;
    assert_int_equal(lacis_prepare(*state, "SELECT 0.1 + 0.2, NULL, 'text', x'00ff'", NULL, &statement), LACIS_OK);
    assert_int_equal(lacis_step(statement), LACIS_ROW);
    assert_string_equal(lacis_column_text(statement, 0), "0.30000000000000004");
    assert_null(lacis_column_text(statement, 1));
    assert_int_equal(lacis_column_type(statement, 3), LACIS_BLOB);
    assert_non_null(lacis_column_blob(statement, 3, &bytes));
    assert_int_equal(bytes, 2);
    assert_null(lacis_column_text(statement, 9));
    assert_int_equal(lacis_column_int64(statement, -1), 0);
    assert_null(lacis_column_name(statement, 4));
    lacis_finalize(statement);
    assert_int_equal(lacis_step(NULL), LACIS_MISUSE);
    lacis_finalize(NULL);
    lacis_array_release(NULL);
    lacis_close(NULL);
}

static void views_take_no_parameters(void **state)
{
    lacis_statement *statement;
    db_fails(*state, "CREATE VIEW bound AS MULTIPLY g BY g WHERE src = :x", LACIS_SYNTAX, ":x has no value then");
    assert_int_equal(lacis_error_offset(*state), 49);
    assert_int_equal(lacis_prepare(*state, "EXPLAIN ANALYZE SELECT * FROM g WHERE src = :x", NULL, &statement),
                     LACIS_OK);
    assert_int_equal(lacis_bind_int64(statement, "x", 1), LACIS_OK);
    int found = 0;
    while (lacis_step(statement) == LACIS_ROW)
        found += strstr(lacis_column_text(statement, 0), "actual: 1 rows") != NULL;
    assert_int_equal(found, 1);
    lacis_finalize(statement);
}

static void errors_carry_place_and_hint(void **state)
{
    db_fails(*state, "SELECT 1; MULTIPLY g BYE g;", LACIS_SYNTAX, "BYE");
    assert_int_equal(lacis_error_offset(*state), 21);
    db_fails(*state, "MULTIPLY gg BY g", LACIS_NAME, "gg");
    assert_int_equal(lacis_error_offset(*state), 9);
    assert_non_null(strstr(lacis_error_hint(*state), "g"));
    db_fails(*state, "SELECT * FROM nowhere", LACIS_NAME, "nowhere");
    db_fails(*state, "SELECT 1 +", LACIS_SQL, "");
    db_fails(*state, "LOAD x FROM '/nowhere/at/all'", LACIS_IO, "/nowhere/at/all");
    db_fails(*state, "SET thread = 2", LACIS_NAME, "thread");
    assert_non_null(strstr(lacis_error_hint(*state), "threads"));
    db_fails(*state, "SET threads = 0", LACIS_RANGE, "threads");
    db_fails(*state, "GENERATE x AS rmatt(3)", LACIS_NAME, "rmatt");
    db_fails(*state, "GENERATE x AS path(n = 'much')", LACIS_RANGE, "n takes");
    db_expect(*state, "SELECT 1", "1\n"); /* and goes on */
    assert_string_equal(lacis_error_message(*state), "");
}

struct lent {
    int released;
};

static void count_release(void *arg)
{
    ((struct lent *)arg)->released++;
}

static void arrays_are_lent_without_copying(void **state)
{
    static const int64_t offsets[] = {0, 2, 3, 3};
    static const uint32_t columns[] = {1, 2, 0};
    static const double values[] = {0.5, 1.5, 2.5};
    static const int64_t labels[] = {100, 200, 300};
    const lacis_part parts[] = {
        {"offsets", LACIS_I64, 4, offsets},   {"columns", LACIS_U32, 3, columns},   {"values", LACIS_F64, 3, values},
        {"row_labels", LACIS_I64, 3, labels}, {"col_labels", LACIS_I64, 3, labels},
    };
    lacis_array_spec spec = {LACIS_CSR, LACIS_F64, {3, 3}, parts, 5};
    struct lent lent = {0};
    assert_int_equal(lacis_array_lend(*state, "m", &spec, count_release, &lent), LACIS_OK);
    db_expect(*state, "SELECT * FROM m", "100,200,0.5\n100,300,1.5\n200,100,2.5\n");
    lacis_array *array;
    lacis_part part;
    assert_int_equal(lacis_array_find(*state, "m", &array), LACIS_OK);
    assert_int_equal(lacis_array_kind(array), LACIS_CSR);
    assert_int_equal(lacis_array_extent(array, 1), 3);
    assert_int_equal(lacis_array_part(array, 2, &part), LACIS_OK);
    assert_ptr_equal(part.data, values);
    assert_int_equal(lacis_array_part(array, 5, &part), LACIS_RANGE);
    db_run(*state, "DROP m");
    assert_int_equal(lent.released, 0);
    lacis_array_release(array);
    assert_int_equal(lent.released, 1);
    assert_int_equal(lacis_array_find(*state, "m", &array), LACIS_NAME);
}

static void bad_arrays_are_refused(void **state)
{
    static const int64_t offsets[] = {0, 2, 1, 3}, good[] = {0, 1, 2, 3};
    static const uint32_t columns[] = {1, 7, 0};
    lacis_part parts[] = {{"offsets", LACIS_I64, 4, offsets}, {"columns", LACIS_U32, 3, columns}};
    lacis_array_spec spec = {LACIS_CSR, LACIS_PATTERN, {3, 3}, parts, 2};
    struct lent lent = {0};
    assert_int_equal(lacis_array_lend(*state, "m", &spec, count_release, &lent), LACIS_RANGE);
    assert_int_equal(lent.released, 1);
    parts[0].data = good;
    assert_int_equal(lacis_array_create(*state, "m", &spec), LACIS_RANGE);
    assert_non_null(strstr(lacis_error_message(*state), "row 1"));
    spec.dtype = LACIS_F64;
    assert_int_equal(lacis_array_create(*state, "m", &spec), LACIS_TYPE);
    spec.part_count = 1;
    assert_int_equal(lacis_array_create(*state, "m", &spec), LACIS_TYPE);
    spec.extent[0] = -1;
    assert_int_equal(lacis_array_create(*state, "m", &spec), LACIS_RANGE);
    assert_int_equal(lacis_array_create(*state, NULL, &spec), LACIS_MISUSE);
}

static void vectors_and_tables_are_seen_by_sql(void **state)
{
    static const int64_t index[] = {2, 5};
    static const float values[] = {1.5f, -2};
    static const int64_t x[] = {1, 2, 3};
    static const double y[] = {0.5, 0.25, 0};
    const lacis_part vector[] = {{"index", LACIS_I64, 2, index}, {"values", LACIS_F32, 2, values}};
    const lacis_part table[] = {{"x", LACIS_I64, 3, x}, {"y", LACIS_F64, 3, y}};
    const lacis_array_spec vector_spec = {LACIS_VECTOR, LACIS_F32, {9, 0}, vector, 2};
    const lacis_array_spec table_spec = {LACIS_TABLE, LACIS_PATTERN, {3, 0}, table, 2};
    assert_int_equal(lacis_array_create(*state, "v", &vector_spec), LACIS_OK);
    assert_int_equal(lacis_array_create(*state, "t", &table_spec), LACIS_OK);
    db_expect(*state, "SELECT i, value FROM v", "2,1.5\n5,-2.0\n");
    db_expect(*state, "SELECT sum(x), max(y) FROM t", "6,0.5\n");
}

static void totals_equal_plain_sql(void **state)
{
    db_run(*state, "GENERATE r AS uniform(200, 7, seed = 3); CREATE VIEW f AS MULTIPLY r BY r CON nil AGG count;");
    db_run(*state, "LET stored = MULTIPLY r BY r CON nil AGG count;");
    char *totals = db_rows(*state, "SELECT count(*), sum(value), max(value), min(src), max(dst), avg(value) FROM f");
    /* WHERE true sends the same question row by row through SQLite. */
    char *plain =
        db_rows(*state, "SELECT count(*), sum(value), max(value), min(src), max(dst), avg(value) FROM f WHERE 1 = 1");
    char *stored =
        db_rows(*state, "SELECT count(*), sum(value), max(value), min(src), max(dst), avg(value) FROM stored");
    assert_string_equal(totals, plain);
    assert_string_equal(totals, stored);
    free(totals);
    free(plain);
    free(stored);
    db_run(*state, "CREATE TABLE none(src, dst, value); LET empty = SELECT src, dst, value FROM g WHERE src > 100;");
    db_expect(*state, "SELECT count(*), sum(value), min(src), avg(value), total(value) FROM empty",
              "0,NULL,NULL,NULL,0.0\n");
}

/* Every column of a table, of any type; and what a statement says whose table has become another. */
static void totals_of_any_column(void **state)
{
    static const int64_t large[] = {INT64_MAX, 5, -7};
    static const double real[] = {0.5, NAN, -2};
    static const uint8_t small[] = {200, 100, 7};
    const lacis_part table[] = {
        {"large", LACIS_I64, 3, large}, {"A b", LACIS_F64, 3, real}, {"select", LACIS_U8, 3, small}};
    const lacis_array_spec spec = {LACIS_TABLE, LACIS_PATTERN, {3, 0}, table, 3};
    assert_int_equal(lacis_array_create(*state, "t", &spec), LACIS_OK);
    db_expect(*state, "SELECT count(*), max(large), min(LARGE), avg(large) FROM t",
              "3,9223372036854775807,-7,3.0744573456182584e+18\n");
    db_expect(*state, "SELECT count(\"a B\"), sum(\"A b\"), min(\"A b\"), sum(\"select\"), max(\"select\") FROM t",
              "2,-1.5,-2.0,307,200\n");
    const lacis_array_spec less = {
        LACIS_TABLE, LACIS_PATTERN, {2, 0}, (const lacis_part[]){{"large", LACIS_I64, 2, large}}, 1};
    assert_int_equal(lacis_array_create(*state, "s", &less), LACIS_OK);
    db_fails(*state, "SELECT sum(large) FROM s", LACIS_OVERFLOW, "total()");
    lacis_statement *statement;
    assert_int_equal(lacis_prepare(*state, "SELECT max(\"A b\") FROM t", NULL, &statement), LACIS_OK);
    assert_int_equal(lacis_step(statement), LACIS_ROW);
    assert_true(lacis_column_double(statement, 0) == 0.5);
    lacis_reset(statement);
    db_run(*state, "LET t = SELECT 1 AS other");
    assert_int_equal(lacis_step(statement), LACIS_NAME);
    lacis_finalize(statement);
}

static void options_are_read_and_set(void **state)
{
    char value[40];
    assert_int_equal(lacis_set_option(*state, "memory_limit", "300 MB"), LACIS_OK);
    assert_int_equal(lacis_get_option(*state, "MEMORY_LIMIT", value, sizeof value), LACIS_OK);
    assert_string_equal(value, "300000000");
    db_run(*state, "SET threads = 3; SET deterministic = on; SET memory_limit = 2GB;");
    db_expect(
        *state, "SHOW OPTIONS", /* name, value, what it takes, help */
        "memory_limit,2000000000,bytes, or with kB, MB, GB, KiB, MiB, GiB; at least 1 MB,what arrays, results "
        "and work may take together\ngpu_memory_limit,auto,like memory_limit, or auto (nine tenths of the card),"
        "what operands, results and work may take on each GPU\ngpus,auto,1 .. 16, or auto (all, where the work is "
        "worth "
        "it),GPUs of this machine that work on one statement\nthreads,3,1 .. 1024, or auto,threads that work on one "
        "statement\n"
        "deterministic,on,on or off,the same bits on every run and any number of threads\n"
        "ranks,auto,auto, off or all,whether the other ranks of an mpirun share work: where it pays, never, always\n"
        "ranks_memory_limit,auto,like memory_limit, or auto (each rank's share of its machine),what operands, "
        "results "
        "and work may take on each other rank\n");
    assert_int_equal(lacis_set_option(*state, "nosuch", "1"), LACIS_NAME);
    assert_int_equal(lacis_get_option(*state, "nosuch", value, sizeof value), LACIS_NAME);
}

static void *work_alone(void *arg)
{
    int seed = *(int *)arg;
    char text[200];
    lacis_engine *engine = db_open(NULL);
    snprintf(text, sizeof text, "GENERATE r AS uniform(500, 5, seed = %d); SET threads = 2;", seed);
    db_run(engine, text);
    for (int i = 0; i < 20; i++)
        db_expect(engine, "CREATE VIEW f AS MULTIPLY r BY r CON nil AGG count; SELECT sum(value) FROM f; DROP f;",
                  "12500\n");
    lacis_close(engine);
    return NULL;
}

static void two_engines_in_two_threads(void **state)
{
    (void)state;
    pthread_t thread[2];
    int seed[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work_alone, &seed[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void *interrupt_soon(void *arg)
{
    usleep(100000);
    lacis_interrupt(arg);
    return NULL;
}

static void interrupted(lacis_engine *engine, const char *text)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, engine), 0);
    db_fails(engine, text, LACIS_INTERRUPT, "interrupt");
    pthread_join(thread, NULL);
    db_expect(engine, "SELECT 1", "1\n");
}

static void other_threads_interrupt(void **state)
{
    db_run(*state, "GENERATE big AS uniform(400000, 16, seed = 1);");
    db_run(*state, "CREATE VIEW f AS MULTIPLY big BY big CON a + b AGG min;");
    interrupted(*state, "SELECT count(*) FROM g x, g y, big z, big w");
    interrupted(*state, "LET c = MULTIPLY big BY big CON nil AGG count;");
    interrupted(*state, "SELECT count(*), sum(value) FROM f;");
    interrupted(*state, "SELECT count(*) FROM f WHERE value > 1;");
    interrupted(*state, "GENERATE huge AS rmat(scale = 22, edge_factor = 32);");
    db_fails(*state, "SELECT * FROM c", LACIS_NAME, "c");
}

static int stop_at_once(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)columns;
    (void)names;
    (void)values;
    ++*(int *)arg;
    return 1;
}

static void readers_may_stop(void **state)
{
    int rows = 0;
    assert_int_equal(lacis_exec(*state, "SELECT * FROM g", stop_at_once, &rows), LACIS_INTERRUPT);
    assert_int_equal(rows, 1);
}

static void explain_gives_text(void **state)
{
    char *text;
    assert_int_equal(lacis_explain(*state, "MULTIPLY g BY g CON nil AGG count", &text), LACIS_OK);
    assert_non_null(strstr(text, "MULTIPLY -> graph 5 x 5"));
    assert_non_null(strstr(text, "rows on CPU"));
    lacis_free(text);
    assert_int_equal(lacis_explain(*state, "MULTIPLY g BYE g", &text), LACIS_SYNTAX);
    assert_int_equal(lacis_error_offset(*state), 11);
    db_fails(*state, "MULTIPLY g BY g ON GPU", LACIS_UNSUPPORTED, "GPU");
}

static void open_reports_what_it_cannot(void **state)
{
    (void)state;
    lacis_engine *engine;
    assert_int_equal(lacis_open("/nowhere/at/all.lacis", &engine), LACIS_CANTOPEN);
    assert_non_null(strstr(lacis_error_message(engine), "/nowhere/at/all.lacis"));
    assert_int_equal(lacis_exec(engine, "SELECT 1", NULL, NULL), LACIS_MISUSE);
    lacis_close(engine);
}

/* ------------------------------------------------------------------------------------------- plots */

typedef struct drawn {
    int calls;
    char name[20], kind[20], path[20];
    lacis_kind array;
    lacis_status answer;
} drawn;

static lacis_status draw(void *arg, const lacis_plot *plot, char *message, size_t size)
{
    drawn *d = arg;
    d->calls++;
    d->array = lacis_array_kind(plot->array);
    snprintf(d->name, sizeof d->name, "%s", plot->name);
    snprintf(d->kind, sizeof d->kind, "%s", plot->kind == NULL ? "none" : plot->kind);
    snprintf(d->path, sizeof d->path, "%s", plot->path == NULL ? "none" : plot->path);
    snprintf(message, size, "no %s today", d->kind);
    return d->answer;
}

static void plots_are_the_programs(void **state)
{
    drawn d = {0};
    db_fails(*state, "PLOT g", LACIS_UNSUPPORTED, "lacis_set_plot");
    lacis_set_plot(*state, draw, &d);
    db_run(*state, "PLOT g AS Spy TO 'g.svg'");
    assert_string_equal(d.name, "g");
    assert_string_equal(d.kind, "spy");
    assert_string_equal(d.path, "g.svg");
    assert_int_equal(d.array, LACIS_CSR);
    db_run(*state, "CREATE VIEW w AS MULTIPLY g BY g; LET l = SELECT 1 AS a, 2 AS b; PLOT l; PLOT w");
    assert_int_equal(d.calls, 3);
    assert_string_equal(d.name, "w");
    assert_string_equal(d.kind, "none");
    assert_string_equal(d.path, "none");
    assert_int_equal(d.array, LACIS_CSR);
    d.answer = LACIS_IO;
    db_fails(*state, "  PLOT g AS hist", LACIS_IO, "no hist today");
    assert_int_equal(lacis_error_offset(*state), 7);
    db_fails(*state, "PLOT nobody", LACIS_NAME, "nobody");
    lacis_set_plot(*state, NULL, NULL);
    db_fails(*state, "PLOT g", LACIS_UNSUPPORTED, "lacis_set_plot");
    assert_int_equal(d.calls, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(statements_step_and_reset),
        CHECK(own_statements_take_parameters),
        CHECK(views_take_no_parameters),
        CHECK(errors_carry_place_and_hint),
        CHECK(columns_answer_for_what_is_not_there),
        CHECK(bad_arrays_are_refused),
        CHECK(arrays_are_lent_without_copying),
        CHECK(totals_equal_plain_sql),
        CHECK(totals_of_any_column),
        CHECK(plots_are_the_programs),
        CHECK(vectors_and_tables_are_seen_by_sql),
        CHECK(options_are_read_and_set),
        CHECK(two_engines_in_two_threads),
        CHECK(other_threads_interrupt),
        CHECK(readers_may_stop),
        CHECK(explain_gives_text),
        CHECK(open_reports_what_it_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
