/* SPDX-License-Identifier: Apache-2.0
 *
 * The statement TUNE with an operator made here, on a pretended GPU: what it hands over, what SHOW KERNELS prints,
 * what the database file keeps for which GPU, and that nothing stays of one that fails.
 */
#include "support/db.h"
#include "support/gpu.h"

#include <sqlite3.h>
#include <unistd.h>

static struct {
    bool fail;
    bool more; /* curves of another type besides */
    char type[32];
    double seconds;
    char seen[LACIS_TUNE_TEXT]; /* the choice for size 500 */
} told;

/* Two sizes; the second candidate does not do the first. */
static lacis_status keep_curves(lacis_run *run, lacis_profile *profile)
{
    static const int64_t size[] = {64, 4096};
    static const double seconds[] = {2e-6, -1, 3e-3, 2e-3};
    static const char *const name[] = {"small", "large one"};
    const lacis_tune_curves curves = {2, 2, size, seconds, name};
    if (told.more) LACIS_TRY(lacis_tune_keep(run, profile, "TEST f32", &curves));
    return lacis_tune_keep(run, profile, "TEST f64", &curves);
}

static lacis_status tune(lacis_run *run, lacis_profile *profile, const lacis_tune_wish *wish)
{
    char reason[200];
    lacis_tune_table table = {2, {{1, "small"}, {1000, "large"}}};
    lacis_gpu *gpu = lacis_run_gpu(run, reason, sizeof reason);
    assert_non_null(gpu);
    snprintf(told.type, sizeof told.type, "%s", wish->type == NULL ? "" : wish->type);
    told.seconds = wish->seconds;
    snprintf(told.seen, sizeof told.seen, "%s", lacis_tune_choice(lacis_tuned(profile, gpu, "TEST f64"), 500));
    if (told.fail) table.ranges = 1;
    LACIS_TRY(lacis_tune_put(profile, gpu, "TEST f64", &table));
    LACIS_TRY(keep_curves(run, profile));
    return told.fail ? lacis_run_fail(run, LACIS_UNSUPPORTED, "it broke") : LACIS_OK;
}

static lacis_status bind(lacis_run *run, lacis_call *call)
{
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s is for tuning alone", call->op->verb);
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    (void)profile, (void)out;
    return bind(run, (lacis_call *)call);
}

static lacis_status compute(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)begin, (void)end, (void)out;
    return bind(run, (lacis_call *)call);
}

static const lacis_variant plain = {.name = "plain", .device = LACIS_CPU, .cost = cost, .run = compute};
static const lacis_variant *const variants[] = {&plain};
static const lacis_op op = {.verb = "TEST",
                            .summary = "a test",
                            .help = "None.",
                            .bind = bind,
                            .tune = tune,
                            .variants = variants,
                            .variant_count = 1};

static char folder[64], file[128];

static int setup(void **state)
{
    (void)state;
    memset(&told, 0, sizeof told);
    fake_install(100000000);
    snprintf(folder, sizeof folder, "/tmp/lacis-tune-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/test.lacis", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(file);
    rmdir(folder);
    fake_remove();
    return 0;
}

static lacis_engine *opened(void)
{
    lacis_engine *engine = db_open(file);
    assert_int_equal(lacis_register_operator(engine, &op), LACIS_OK);
    return engine;
}

/* Past the engine, which lets nobody change its own tables. */
static void change_file(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static const char shown[] = "TEST f64 from 1 (Pretended 0, driver CUDA 0.0),small\n"
                            "TEST f64 from 1000 (Pretended 0, driver CUDA 0.0),large\n";

static void tables_outlive_the_engine(void **state)
{
    (void)state;
    lacis_engine *engine = opened();
    db_expect(engine, "SHOW KERNELS", "");
    db_run(engine, "TUNE TEST TYPE f64 SECONDS 2.5");
    assert_string_equal(told.type, "f64");
    assert_true(told.seconds == 2.5);
    assert_string_equal(told.seen, "");
    db_expect(engine, "SHOW KERNELS", shown);
    lacis_close(engine);
    engine = opened();
    db_expect(engine, "SHOW KERNELS", shown);
    db_run(engine, "tune test");
    assert_string_equal(told.type, "");
    assert_true(told.seconds == 0);
    assert_string_equal(told.seen, "small");
    lacis_close(engine);
}

static void curves_are_a_table(void **state)
{
    (void)state;
    lacis_engine *engine = opened();
    told.fail = true;
    db_fails(engine, "TUNE TEST", LACIS_UNSUPPORTED, "it broke");
    db_fails(engine, "SELECT * FROM tuned_test_f64", LACIS_NAME, "no such table");
    told.fail = false;
    db_run(engine, "TUNE TEST");
    db_expect(engine, "SELECT * FROM tuned_test_f64", "64,1.0,NULL\n4096,1.5,1.0\n");
    db_expect(engine, "SELECT \"large one\" FROM tuned_test_f64 WHERE n > 100", "1.0\n");
    db_run(engine, "TUNE TEST"); /* in the place of the former */
    db_expect(engine, "SELECT count(*) FROM tuned_test_f64", "2\n");
    lacis_close(engine);
}

static void keep_note(void *arg, lacis_level level, const char *message)
{
    db_text *said = arg;
    db_add(said, level == LACIS_WARNING ? "warning: " : "");
    db_add(said, message);
    db_add(said, "\n");
}

static void curves_whose_name_is_taken(void **state)
{
    (void)state;
    db_text said = {NULL, 0, 0, 0};
    lacis_engine *engine = opened();
    lacis_set_log(engine, keep_note, &said);
    told.more = true;
    db_run(engine, "CREATE TABLE tuned_test_f64(a); INSERT INTO tuned_test_f64 VALUES (7)");
    db_run(engine, "TUNE TEST");
    assert_int_equal(lacis_error_status(engine), LACIS_OK);
    assert_non_null(strstr(said.data, "warning: curves not kept: an SQL table is called tuned_test_f64"));
    assert_non_null(strstr(said.data, "\ntuned_test_f32: table"));
    db_expect(engine, "SHOW KERNELS", shown);
    db_expect(engine, "SELECT * FROM tuned_test_f64", "7\n");
    db_expect(engine, "SELECT count(*) FROM tuned_test_f32", "2\n");
    db_run(engine, "DROP TABLE tuned_test_f64; LET tuned_test_f64 = SELECT 1 AS mine; TUNE TEST");
    db_expect(engine, "SELECT count(n) FROM tuned_test_f64", "2\n"); /* an array's place is taken */
    if (strstr(said.data, "\ntuned_test_f64, tuned_test_f32: tables (") == NULL &&
        strstr(said.data, "\ntuned_test_f32, tuned_test_f64: tables (") == NULL)
        fail_msg("no summary has both: %s", said.data);
    lacis_close(engine);
    free(said.data);
}

static void another_gpu_has_none(void **state)
{
    (void)state;
    lacis_engine *engine = opened();
    db_run(engine, "TUNE TEST");
    lacis_close(engine);
    change_file("UPDATE lacis_kept SET name = replace(name, 'CUDA 0.0', 'CUDA 1.0') WHERE grp = 'tuned'");
    engine = opened();
    db_run(engine, "TUNE TEST");
    assert_string_equal(told.seen, "");
    char *rows = db_rows(engine, "SHOW KERNELS");
    assert_non_null(strstr(rows, "driver CUDA 0.0"));
    assert_non_null(strstr(rows, "driver CUDA 1.0"));
    free(rows);
    lacis_close(engine);
}

static void nothing_stays_of_one_that_fails(void **state)
{
    (void)state;
    lacis_engine *engine = opened();
    told.fail = true;
    db_fails(engine, "TUNE TEST", LACIS_UNSUPPORTED, "it broke");
    db_expect(engine, "SHOW KERNELS", "");
    told.fail = false;
    db_run(engine, "TUNE TEST");
    told.fail = true;
    db_fails(engine, "TUNE TEST", LACIS_UNSUPPORTED, "it broke");
    db_expect(engine, "SHOW KERNELS", shown);
    lacis_close(engine);
    engine = opened();
    db_expect(engine, "SHOW KERNELS", shown);
    lacis_close(engine);
}

static void damaged_texts_are_passed_over(void **state)
{
    (void)state;
    lacis_engine *engine = opened();
    db_run(engine, "TUNE TEST");
    lacis_close(engine);
    change_file("UPDATE lacis_kept SET value = 'nonsense' WHERE grp = 'tuned';"
                "INSERT INTO lacis_kept VALUES ('tuned', 'no device', '1 a')");
    engine = opened();
    db_expect(engine, "SHOW KERNELS", "");
    lacis_close(engine);
}

static void errors_say_what_is_wrong(void **state)
{
    (void)state;
    lacis_engine *engine = opened();
    db_fails(engine, "TUNE", LACIS_SYNTAX, "expected an operator's name");
    db_fails(engine, "TUNE TSET", LACIS_NAME, "there is no operator \"TSET\"");
    assert_string_equal(lacis_error_hint(engine), "did you mean TEST?");
    db_fails(engine, "TUNE MULTIPLY", LACIS_UNSUPPORTED, "MULTIPLY has nothing to tune");
    db_fails(engine, "TUNE TEST SECONDS 0", LACIS_RANGE, "SECONDS takes a positive number");
    db_fails(engine, "TUNE TEST TYPE", LACIS_SYNTAX, "expected a type");
    db_fails(engine, "TUNE TEST nonsense", LACIS_SYNTAX, "expected ';' or the end of the statement");
    lacis_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables_outlive_the_engine, setup, teardown),
        cmocka_unit_test_setup_teardown(curves_are_a_table, setup, teardown),
        cmocka_unit_test_setup_teardown(curves_whose_name_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(another_gpu_has_none, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_stays_of_one_that_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_texts_are_passed_over, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_say_what_is_wrong, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
