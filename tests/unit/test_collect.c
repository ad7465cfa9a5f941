/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries collected into arrays: which kind comes out, types, order, duplicates, and what is refused. Also the whole
 * catalog with every allocation failing once.
 */
#include "support/catalog.h"

#include <unistd.h>

static bench b;

static int setup(void **state)
{
    (void)state;
    bench_open(&b, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    bench_close(&b);
    return 0;
}

static lacis_status collect(const char *sql, lacis_array **out)
{
    sqlite3_stmt *query = NULL;
    int code = sqlite3_prepare_v2(lacis_catalog_db(b.catalog), sql, -1, &query, NULL);
    lacis_status status = code == SQLITE_OK ? lacis_catalog_collect(&b.run, query, out)
                                            : lacis_catalog_fail(&b.run, b.catalog, code, -1);
    sqlite3_finalize(query);
    return status;
}

/* The query's array under the name x reads as `rows`. */
static void gives(const char *sql, lacis_kind kind, lacis_dtype dtype, const char *rows)
{
    lacis_array *array = NULL;
    if (collect(sql, &array) != LACIS_OK) fail_msg("%s: %s", sql, b.host.error.message);
    assert_int_equal(lacis_array_kind(array), kind);
    if (kind != LACIS_TABLE) assert_int_equal(lacis_array_dtype(array), dtype);
    bench_put(&b, "x", array);
    bench_expect(&b, "SELECT * FROM x", rows);
}

static void fails(const char *sql, lacis_status expected, const char *part)
{
    lacis_array *array = NULL;
    lacis_status status = collect(sql, &array);
    if (status != expected) fail_msg("%s gave %d: %s", sql, status, b.host.error.message);
    if (strstr(b.host.error.message, part) == NULL) fail_msg("\"%s\" lacks \"%s\"", b.host.error.message, part);
}

static void graphs(void **state)
{
    (void)state;
    gives("SELECT column1 AS src, column2 AS DST FROM (VALUES (3, 1), (1, 2), (3, 1), (-4, 3))", LACIS_CSR,
          LACIS_PATTERN, "-4,3,1;1,2,1;3,1,1;");
    gives("SELECT column1 AS src, column2 AS dst, column3 AS value FROM (VALUES (3, 1, 5), (1, 2, 6), (3, 1, -7))",
          LACIS_CSR, LACIS_I64, "1,2,6;3,1,-2;");
    gives("SELECT column1 AS src, column2 AS dst, column3 AS value FROM (VALUES (3, 1, 5), (1, 2, 0.5), (3, 1.0, 2))",
          LACIS_CSR, LACIS_F64, "1,2,0.5;3,1,7.0;");
    gives("SELECT 1 AS src, 2 AS dst WHERE 0", LACIS_CSR, LACIS_PATTERN, "");
    gives("SELECT 9223372036854775807 AS src, -9223372036854775807 - 1 AS dst, 3 AS value", LACIS_CSR, LACIS_I64,
          "9223372036854775807,-9223372036854775808,3;");
    fails("SELECT 1 AS src, NULL AS dst", LACIS_TYPE, "row 1: dst is NULL");
    fails("SELECT 1.5 AS src, 1 AS dst", LACIS_TYPE, "src is 1.5");
    fails("SELECT 1 AS src, 2 AS dst, 'a' AS value", LACIS_TYPE, "value is text");
    fails("SELECT 1 AS src, 2 AS dst, 9223372036854775807 AS value UNION ALL SELECT 1, 2, 1", LACIS_OVERFLOW,
          "64 bits");
}

static void batches(void **state)
{
    (void)state;
    gives("SELECT column1 AS lane, column2 AS ROW, column3 AS d FROM (VALUES (1, 1, 4), (0, 0, 1), (1, 0, 3), (0, 1, "
          "2))",
          LACIS_INTERLEAVED, LACIS_I64, "0,0,1;0,1,2;1,0,3;1,1,4;");
    gives("SELECT column1 AS lane, column2 AS row, column3 AS a, column3 + 0.5 AS b FROM (VALUES (-7, 5, 4), (-6, 5, "
          "1),"
          " (-6, 6, 3))",
          LACIS_INTERLEAVED, LACIS_F64, "-7,5,4,4.5;-6,5,1,1.5;-6,6,3,3.5;");
    gives("SELECT column1 AS lane, column2 AS row, column3 AS parent, column4 AS d FROM (VALUES (0, 1, -1, 1), (0, "
          "2, 1, 2),"
          " (0, 3, 1, 3), (1, 1, -1, 4), (1, 3, 2, 6), (1, 2, -1, 5))",
          LACIS_INTERLEAVED, LACIS_I64, "0,1,-1,1;0,2,1,2;0,3,1,3;1,1,-1,4;1,2,-1,5;1,3,2,6;");
    gives("SELECT 0 AS lane, 0 AS row, 1 AS z, 2.5 AS z_im", LACIS_INTERLEAVED, LACIS_C128, "0,0,1.0,2.5;");
    gives("SELECT 0 AS lane, 0 AS row, 1 AS z WHERE 0", LACIS_INTERLEAVED, LACIS_I64, "");
    gives("SELECT 0 AS lane, 0 AS row", LACIS_TABLE, LACIS_I64, "0,0;");
    gives("SELECT 0 AS lane, 0 AS row, -1 AS parent", LACIS_TABLE, LACIS_I64, "0,0,-1;");
    gives("SELECT 0 AS row, 0 AS lane, -1 AS x", LACIS_TABLE, LACIS_I64, "0,0,-1;");
}

static void bad_batches(void **state)
{
    (void)state;
    static const struct {
        const char *values, *part;
    } cases[] = {
        {"(0, 0, 1), (0, 2, 1)", "lane 0 lacks row 1, and has row 2"},
        {"(0, 0, 1), (2, 0, 1)", "lane 1 is missing: lanes 0 and 2 are there"},
        {"(4, 0, 1), (9223372036854775807, 0, 1)", "lane 5 is missing"},
        {"(-9223372036854775807, 0, 1), (9223372036854775807, 0, 1)", "lane -9223372036854775806 is missing"},
        {"(0, 0, 1), (0, 9223372036854775807, 1)", "lane 0 lacks row 1"},
        {"(3, 0, 1), (3, 0, 2)", "lane 3 has row 0 twice"},
        {"(0, 0, 1), (1, 1, 2)", "lane 1 lacks row 0, and has row 1"},
        {"(0, 0, 1), (0.5, 0, 2)", "lane is 0.5, which is not an integer"},
        {"(0, 0, NULL)", "row 1: d is NULL"}};
    char sql[300];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(sql, sizeof sql, "SELECT column1 AS lane, column2 AS row, column3 AS d FROM (VALUES %s)",
                 cases[i].values);
        fails(sql, LACIS_TYPE, cases[i].part);
    }
    fails("SELECT 0 AS lane, 3 AS row, 3 AS parent, 1 AS d", LACIS_TYPE, "lane 0, row 3 has parent 3");
    fails("SELECT 0 AS lane, 3 AS row, -2 AS parent, 1 AS d", LACIS_TYPE, "lane 0, row 3 has parent -2");
    fails("SELECT 0 AS lane, 3 AS row, 1 AS block", LACIS_TYPE, "cannot be called block");
    fails("SELECT 0 AS lane, 3 AS row, 1 AS d, 1 AS parent", LACIS_TYPE, "cannot be called parent");
}

/* Lanes of one length and tree side by side are one group. */
static void groups_are_found(void **state)
{
    (void)state;
    lacis_array *array = NULL;
    lacis_batch batch;
    assert_int_equal(
        collect("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9),"
                " r(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM r WHERE k < 4)"
                " SELECT i AS lane, k AS row, CASE WHEN k = 0 THEN -1 WHEN i < 3 THEN 0 ELSE k - 1 END AS parent,"
                " i * k AS d FROM n, r WHERE i < 6 OR k < 2 ORDER BY random()",
                &array),
        LACIS_OK);
    assert_int_equal(lacis_batch_view(&b.run, array, &batch), LACIS_OK);
    assert_int_equal(batch.groups, 3);
    assert_int_equal(batch.block, 1);
    assert_int_equal(batch.group[0].lanes, 3);
    assert_int_equal(batch.group[1].lanes, 3);
    assert_int_equal(batch.group[2].lanes, 4);
    assert_int_equal(batch.group[2].rows, 2);
    assert_int_equal(batch.parent[2], 0);
    assert_int_equal(batch.parent[5 + 2], 1);
    const int64_t *d = lacis_batch_field(&batch, "d")->data;
    for (int i = 0; i < 30; i++)
        assert_int_equal(d[i], (i / 5) * (i % 5));
    lacis_array_release(array);
}

/* Every dense and sparse numbering, sorted or not, against SQL's own GROUP BY. */
static void random_graphs(void **state)
{
    (void)state;
    char sql[512];
    static const char *const ids[] = {"abs(random()) % 50", "random() % 60", "(random() % 40) * 1000003",
                                      "(random() % 9) * 1000000000000000000", "abs(random()) % 300 + 7"};
    for (int i = 0; i < LACIS_COUNT(ids); i++) {
        lacis_array *array = NULL;
        snprintf(sql, sizeof sql,
                 "CREATE TABLE t AS WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n"
                 " WHERE k < 3000) SELECT %s AS src, %s AS dst, k AS value FROM n",
                 ids[i], ids[i]);
        bench_run(&b, sql);
        assert_int_equal(collect("SELECT src, dst, value FROM t", &array), LACIS_OK);
        bench_put(&b, "x", array);
        bench_expect(&b,
                     "SELECT count(*) FROM (SELECT * FROM x EXCEPT SELECT src, dst, sum(value) FROM t GROUP BY 1, 2)",
                     "0;");
        bench_expect(&b, "SELECT (SELECT count(*) FROM x) = (SELECT count(*) FROM (SELECT DISTINCT src, dst FROM t))",
                     "1;");
        assert_int_equal(collect("SELECT src AS i, value FROM t", &array), LACIS_OK);
        bench_put(&b, "y", array);
        bench_expect(&b, "SELECT count(*) FROM (SELECT src, sum(value) FROM t GROUP BY 1 EXCEPT SELECT * FROM y)",
                     "0;");
        bench_run(&b, "DROP TABLE t");
    }
}

static void vectors_and_tables(void **state)
{
    (void)state;
    gives("SELECT column1 AS i, column2 AS value FROM (VALUES (5, 1), (4, 2), (6, 3.5), (4, 1))", LACIS_VECTOR,
          LACIS_F64, "4,3.0;5,1.0;6,3.5;");
    gives("SELECT column1 AS i, column2 AS value FROM (VALUES (50, 1), (-4, 2))", LACIS_VECTOR, LACIS_I64,
          "-4,2;50,1;");
    gives("SELECT 1 AS a, 2.5 AS \"b \"\" c\", count(*) FROM (VALUES (1), (2))", LACIS_TABLE, 0, "1,2.5,2;");
    gives("SELECT column1 AS a, column2 AS b FROM (VALUES (1, 2), (0.5, 9007199254740993), (7, 8))", LACIS_TABLE, 0,
          "1.0,2;0.5,9007199254740993;7.0,8;");
    bench_expect(&b, "SELECT type FROM pragma_table_info('x')", "REAL;INTEGER;");
    fails("SELECT 1 AS a, 2 AS A", LACIS_NAME, "two columns");
    fails("SELECT x'00' AS a", LACIS_TYPE, "a is a blob");
    fails("SELECT 5 AS a UNION ALL SELECT NULL", LACIS_TYPE, "a is NULL");
    fails("CREATE TABLE t(a)", LACIS_TYPE, "no rows");
    bench_put(&b, "g", bench_vector(&b, 0, 3, 1));
    assert_int_equal(lacis_catalog_put_view(&b.run, b.catalog, "w", "g"), LACIS_OK);
    b.open_fails = LACIS_LIMIT;
    fails("SELECT * FROM w", LACIS_LIMIT, "it went wrong");
    fails("SELECT sum(n) AS a FROM (SELECT 9223372036854775807 AS n UNION ALL SELECT 1)", LACIS_OVERFLOW, "64 bits");
}

static int refuse(void *arg, size_t bytes)
{
    (void)bytes;
    int *left = arg;
    return (*left)-- == 0;
}

static lacis_status session(void)
{
    lacis_array *array = NULL;
    LACIS_TRY(collect("SELECT 5 AS src, 7 AS dst, 1.5 AS value UNION ALL SELECT 3, 99, 2 UNION ALL SELECT 1, 1, 1",
                      &array));
    lacis_status status = lacis_catalog_put(&b.run, b.catalog, "a", array);
    lacis_array_release(array);
    LACIS_TRY(status);
    LACIS_TRY(lacis_catalog_put_view(&b.run, b.catalog, "f", "a"));
    bench_sql(&b, "SELECT * FROM f WHERE src IN (1, 5) ORDER BY value DESC LIMIT 2", &status);
    LACIS_TRY(status);
    return lacis_catalog_drop(&b.run, b.catalog, "f", -1, false);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int in_file = 0; in_file < 2; in_file++) {
        lacis_status status = LACIS_NOMEM;
        int failures = 0;
        for (int n = 0; status != LACIS_OK; n++, failures++) {
            int left = n;
            if (in_file) {
                bench_close(&b);
                unlink(LACIS_BINARY_DIR "/collect.lacis");
                bench_open(&b, LACIS_BINARY_DIR "/collect.lacis");
            }
            lacis_set_allocation_guard(refuse, &left);
            status = session();
            lacis_set_allocation_guard(NULL, NULL);
            if (status != LACIS_OK && status != LACIS_NOMEM) fail_msg("%d: %d %s", n, status, b.host.error.message);
            assert_true(sqlite3_get_autocommit(lacis_catalog_db(b.catalog)));
            bench_expect(&b, "SELECT count(*) FROM sqlite_temp_schema WHERE name = 'zz'", "0;");
            if (status != LACIS_OK && in_file) { /* what is in memory is what is in the file */
                int count = lacis_catalog_count(b.catalog);
                bench_close(&b);
                bench_open(&b, LACIS_BINARY_DIR "/collect.lacis");
                assert_int_equal(lacis_catalog_count(b.catalog), count);
            }
        }
        assert_true(failures > 15);
    }
    unlink(LACIS_BINARY_DIR "/collect.lacis");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(graphs),
        CHECK(batches),
        CHECK(bad_batches),
        CHECK(groups_are_found),
        CHECK(random_graphs),
        CHECK(vectors_and_tables),
        CHECK(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("collect", tests, NULL, NULL);
}
