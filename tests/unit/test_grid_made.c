/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids: made by the interface, lent or written in SQL; what is refused; and the way through a database file.
 */
#include "grid_samples.h"

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* --- what is refused ------------------------------------------------------------------------------ */

static void refuse(lacis_engine *engine, const lacis_part *parts, int count, lacis_status status, const char *why)
{
    assert_int_equal(create(engine, "q", parts, count), status);
    if (strstr(lacis_error_message(engine), why) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", lacis_error_message(engine), why);
    db_fails(engine, "SELECT * FROM q", LACIS_NAME, "q");
}

static void parts_that_do_not_go_together(void **state)
{
    lacis_part parts[12];
    memcpy(parts, every, sizeof every);
    refuse(*state, parts, 1, LACIS_TYPE, "the grid has no field");
    refuse(*state, parts + 1, 2, LACIS_TYPE, "no part \"shape\"");
    parts[0].count = 0;
    refuse(*state, parts, 4, LACIS_TYPE, "\"shape\" of a grid must be 1 to 3 elements of i64, not 0 of i64");
    parts[0].count = 1;
    refuse(*state, parts, 4, LACIS_TYPE, "extents must be {3, 1} as its shape says, not {3, 2}");
    parts[0] = (lacis_part){"shape", LACIS_F64, 2, u};
    refuse(*state, parts, 4, LACIS_TYPE, "not 2 of f64");
    parts[0] = (lacis_part){"shape", LACIS_I64, 2, NULL};
    refuse(*state, parts, 4, LACIS_TYPE, "no data");
    const int64_t empty[] = {3, 0}, negative[] = {-3, 2}, huge[] = {(int64_t)1 << 40, (int64_t)1 << 40, 4};
    parts[0] = (lacis_part){"shape", LACIS_I64, 2, empty};
    refuse(*state, parts, 4, LACIS_RANGE, "0 cells long along y");
    parts[0].data = negative;
    refuse(*state, parts, 4, LACIS_RANGE, "-3 cells long along x");
    parts[0] = (lacis_part){"shape", LACIS_I64, 3, huge};
    refuse(*state, parts, 4, LACIS_RANGE, "more cells than can be counted");
    parts[0] = every[0];
    parts[1].count = 5;
    refuse(*state, parts, 4, LACIS_TYPE, "\"value\" of a grid must be 6 elements of f64, not 5 of f64");
    parts[1] = (lacis_part){"value", LACIS_F32, N, u};
    refuse(*state, parts, 4, LACIS_TYPE, "not 6 of f32");
    parts[1] = (lacis_part){"Z", LACIS_F64, N, u};
    refuse(*state, parts, 4, LACIS_NAME, "a field of a grid cannot be called \"Z\"");
    parts[1].name = "V";
    refuse(*state, parts, 4, LACIS_NAME, "two fields of the grid are called \"v\"");
    parts[1] = every[1];
    const int64_t before[] = {-1};
    parts[3].data = before;
    refuse(*state, parts, 4, LACIS_RANGE, "the grid's step is -1");
    parts[3] = (lacis_part){"step", LACIS_F64, 1, u};
    refuse(*state, parts, 4, LACIS_TYPE, "\"step\" of a grid must be 1 elements of i64");
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    for (int i = 0; i < 9; i++)
        parts[1 + i] = (lacis_part){names[i], LACIS_F64, N, u};
    refuse(*state, parts, 10, LACIS_RANGE, "at most 8 fields");
    assert_int_equal(create(*state, "q", parts, 9), LACIS_OK);
    const lacis_array_spec whole = {LACIS_GRID, LACIS_I64, {NX, NY}, every, 2};
    assert_int_equal(lacis_array_create(*state, "q", &whole), LACIS_TYPE);
}

/* --- where they come from ------------------------------------------------------------------------- */

static char summary[300];

static void keep_summary(void *arg, lacis_level level, const char *message)
{
    (void)arg;
    if (level == LACIS_SUMMARY) snprintf(summary, sizeof summary, "%s", message);
}

static void let(lacis_engine *engine, const char *select, const char *expected)
{
    char sql[400];
    snprintf(sql, sizeof sql, "LET q = %s", select);
    db_run(engine, sql);
    if (strncmp(summary, expected, strlen(expected)) != 0) fail_msg("%s: \"%s\", not \"%s\"", sql, summary, expected);
}

static void let_fails(lacis_engine *engine, const char *select, lacis_status status, const char *why)
{
    char sql[400];
    snprintf(sql, sizeof sql, "LET q = %s", select);
    db_fails(engine, sql, status, why);
}

static void sql_makes_them(void **state)
{
    lacis_set_log(*state, keep_summary, NULL);
    make_pairs(*state);
    let(*state, "SELECT y AS X, x AS Y, value FROM g2 ORDER BY value", "q: grid, 17 x 31, f64 (");
    db_expect(*state, "SELECT count(*), sum(q.value = g2.value) FROM q JOIN g2 ON q.x = g2.y AND q.y = g2.x",
              "527,527\n");
    let(*state, "SELECT * FROM g3", "q: grid, 8 x 9 x 10, fields value, w, f64 (");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM q EXCEPT SELECT * FROM g3)", "0\n");
    let(*state, "SELECT x, value FROM g1 ORDER BY x DESC", "q: grid, 31, f64 (");
    let(*state, "SELECT 0 AS x, 0.0 AS y, 1 AS u", "q: grid, 1 x 1, field u, f64 (");
    let(*state, "SELECT x * 1.0 AS x, value FROM g1", "q: grid, 31, f64 (");
    /* other things with such columns */
    let(*state, "SELECT value, x, y FROM g2", "q: table, 527 rows, 3 columns (");
    let(*state, "SELECT x / 2.0 AS x, y, value FROM g2", "q: table, 527 rows, 3 columns (");
    db_expect(*state, "SELECT max(x), max(y) FROM q", "15.0,16\n");
    let(*state, "SELECT x, y / 2.0 AS y, value FROM g2", "q: table, 527 rows, 3 columns (");
    db_expect(*state, "SELECT x, y FROM q WHERE x = 1 LIMIT 2", "1,0.0\n1,0.5\n");
    let(*state, "SELECT x, w FROM g2", "q: table, 527 rows, 2 columns (");
    let(*state, "SELECT x, y FROM g2", "q: table");
    let(*state, "SELECT x, y, value, 1 AS id FROM g2", "q: table");
    let(*state, "SELECT x, y, value, 1 AS t FROM g2", "q: table");
    let(*state, "SELECT 1 AS m, 0 AS x, 0 AS y, 0 AS z", "q: bodies");
    let(*state, "SELECT x, y, 1 AS a, 1 AS b, 1 AS c, 1 AS d, 1 AS e, 1 AS f, 1 AS g, 1 AS h, 1 AS i FROM g2",
        "q: table");
    let(*state, "SELECT x, y, 1 AS a, 1 AS b, 1 AS c, 1 AS d, 1 AS e, 1 AS f, 1 AS g, 1 AS h FROM g2",
        "q: grid, 31 x 17, fields a, b, c, d, e, f, g, h, f64 (");
}

static void what_sql_leaves_out(void **state)
{
    make_pairs(*state);
    db_run(*state, "LET q = SELECT 5 AS x, 1 AS other");
    let_fails(*state, "SELECT * FROM g2 WHERE x <> 4 OR y <> 3", LACIS_TYPE,
              "cell x = 4, y = 3 is missing: there are 526 rows");
    let_fails(*state, "SELECT * FROM g2 WHERE x + y > 0", LACIS_TYPE, "cell x = 0, y = 0 is missing");
    let_fails(*state, "SELECT * FROM g3 WHERE z <> 9 OR x + y < 15", LACIS_TYPE,
              "cell x = 7, y = 8, z = 9 is missing");
    let_fails(*state, "SELECT * FROM g3 UNION ALL SELECT 3, 4, 5, 0, 0", LACIS_TYPE,
              "row 721: cell x = 3, y = 4, z = 5 was there before");
    let_fails(*state, "SELECT min(x, 29) AS x, y, value FROM g2", LACIS_TYPE, "row 31: cell x = 29, y = 0 was there");
    assert_non_null(strstr(lacis_error_hint(*state), "a table has its columns in another order"));
    let_fails(*state, "SELECT x - 1 AS x, y, value FROM g2", LACIS_RANGE, "row 1: x is -1, and the cells of a grid");
    let_fails(*state, "SELECT x, 9223372036854775807 AS y, value FROM g2", LACIS_RANGE,
              "row 1: y is 9223372036854775807");
    let_fails(
        *state,
        "SELECT x * 290000000000000000 AS x, y * 500000000000000000 AS y, 9000000000000000000 AS z, value FROM g2",
        LACIS_TYPE, "is missing");
    let_fails(*state, "SELECT x, y, value FROM g2 WHERE x < 0", LACIS_TYPE, "no rows, and a grid has one cell");
    let_fails(*state, "SELECT x, y, NULL AS value FROM g2", LACIS_TYPE, "row 1: value is NULL");
    let_fails(*state, "SELECT x, 'a' AS y, value FROM g2", LACIS_TYPE, "y is text");
    let_fails(*state, "SELECT x, y, value, y AS VALUE FROM g2", LACIS_NAME, "two columns are called");
    db_expect(*state, "SELECT * FROM q", "5,1\n"); /* the one of before */
}

static void types_are_changed(void **state)
{
    assert_int_equal(create(*state, "g", every, 4), LACIS_OK);
    db_fails(*state, "LET f = CONVERT g AS f32", LACIS_RANGE,
             "cell x = 1, y = 1: value is 1e+300, which is too large for f32");
    db_run(*state, "LET g = SELECT x, y, CASE value WHEN 1e300 THEN 9e999 ELSE value / 3 END AS value, v FROM g");
    lacis_set_log(*state, keep_summary, NULL);
    db_run(*state, "LET f = CONVERT g AS f32"); /* what is infinite stays so */
    assert_non_null(strstr(summary, "f: grid, 3 x 2, fields value, v, f32 ("));
    db_run(*state, "LET d = f AS f64; CREATE VIEW w AS CONVERT g AS f32");
    db_expect(*state,
              "SELECT count(*), max(abs(f.value - g.value)) BETWEEN 1e-9 AND 1e-6 FROM f JOIN g USING (x, y)"
              " WHERE f.value < 9e99",
              "5,1\n");
    db_expect(*state, "SELECT value FROM f WHERE x = 1 AND y = 1", "inf\n");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM f EXCEPT SELECT * FROM d)", "0\n");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM f EXCEPT SELECT * FROM w)", "0\n");
    db_expect(*state, "SELECT x, v FROM w WHERE y = 1 AND x > 0", "1,2.0\n2,2.0\n");
    db_fails(*state, "LET q = CONVERT g AS c64", LACIS_TYPE, "f32 or f64, not of c64");
    db_fails(*state, "LET q = CONVERT g LAYOUT full", LACIS_TYPE, "one layout");
    db_fails(*state, "LET q = CONVERT g AS f32 SHARE", LACIS_TYPE, "one layout");
}

/* Many blocks of cells, and the first of several that are too large. */
static void large_ones_are_changed(void **state)
{
    enum { SIDE = 500, CELLS = SIDE * SIDE };
    static double value[CELLS];
    const int64_t sides[] = {SIDE, SIDE};
    const lacis_part parts[] = {{"value", LACIS_F64, CELLS, value}, {"shape", LACIS_I64, 2, sides}};
    const lacis_array_spec spec = {LACIS_GRID, LACIS_F64, {SIDE, SIDE}, parts, 2};
    for (int i = 0; i < CELLS; i++)
        value[i] = i * 0.5;
    assert_int_equal(lacis_array_create(*state, "g", &spec), LACIS_OK);
    db_run(*state, "LET f = CONVERT g AS f32");
    db_expect(*state, "SELECT count(*) FROM f JOIN g USING (x, y) WHERE f.value = g.value", "250000\n");
    value[140 * SIDE + 7] = value[400 * SIDE + 3] = -1e39;
    assert_int_equal(lacis_array_create(*state, "g", &spec), LACIS_OK);
    db_fails(*state, "LET f = CONVERT g AS f32", LACIS_RANGE, "cell x = 7, y = 140: value is -1e+39");
}

static void let_go(void *arg)
{
    ++*(int *)arg;
}

static void lent_memory_is_not_copied(void **state)
{
    int released = 0;
    lacis_array *array;
    lacis_part part;
    const lacis_array_spec spec = {LACIS_GRID, LACIS_F64, {NX, NY}, every, 4};
    lacis_set_log(*state, keep_summary, NULL);
    assert_int_equal(lacis_array_lend(*state, "g", &spec, let_go, &released), LACIS_OK);
    assert_int_equal(lacis_array_find(*state, "g", &array), LACIS_OK);
    assert_int_equal(lacis_array_kind(array), LACIS_GRID);
    assert_int_equal(lacis_array_dtype(array), LACIS_F64);
    assert_int_equal(lacis_array_extent(array, 0), NX);
    assert_int_equal(lacis_array_extent(array, 1), NY);
    assert_int_equal(lacis_array_part_count(array), 4);
    assert_int_equal(lacis_array_part(array, 1, &part), LACIS_OK);
    assert_ptr_equal(part.data, u);
    lacis_array_release(array);
    db_run(*state, "LET c = CONVERT g AS f64"); /* the same array */
    assert_non_null(strstr(summary, "c: grid, 3 x 2, fields value, v, f64, step 40 ("));
    db_run(*state, "DROP c");
    assert_int_equal(released, 0);
    db_run(*state, "DROP g");
    assert_int_equal(released, 1);
    const lacis_array_spec bad = {LACIS_GRID, LACIS_F64, {NY, NX}, every, 4};
    assert_int_equal(lacis_array_lend(*state, "g", &bad, let_go, &released), LACIS_TYPE);
    assert_int_equal(released, 2);
}

/* --- in a file ------------------------------------------------------------------------------------ */

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void fill_file(const char *path)
{
    lacis_engine *engine = db_open(path);
    make_pairs(engine);
    assert_int_equal(create(engine, "g", every, 4), LACIS_OK);
    assert_int_equal(create(engine, "p", every, 2), LACIS_OK);
    lacis_close(engine);
}

static void they_live_in_a_file(void **state)
{
    (void)state;
    static const char *const damage[] = {
        "UPDATE lacis_array SET rows = 2, cols = 3 WHERE name = 'p'",
        "UPDATE lacis_array SET rows = -3 WHERE name = 'p'",
        "UPDATE lacis_array SET entries = 5 WHERE name = 'p'",
        "UPDATE lacis_array SET dtype = 'f32' WHERE name = 'p'",
        "UPDATE lacis_part SET name = 'form' WHERE name = 'shape'",
        "UPDATE lacis_part SET name = 't' WHERE name = 'value'",
        "UPDATE lacis_part SET name = 'x' WHERE name = 'value'",
        "UPDATE lacis_part SET name = 'V' WHERE name = 'value'; UPDATE lacis_array SET dtype = 'f32'",
        "UPDATE lacis_part SET count = 0 WHERE name = 'shape'",
        "UPDATE lacis_part SET count = 9 WHERE name = 'shape'",
        "UPDATE lacis_chunk SET crc = crc + 1",
        "DELETE FROM lacis_chunk",
    };
    char path[] = "/tmp/lacis-grid-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    fill_file(path);
    lacis_engine *engine = db_open(path);
    db_expect(engine, "SHOW ARRAYS",
              "g,grid,3 x 2, fields value, v,6,f64,120,NULL\ng1,grid,31,31,f64,256,NULL\n"
              "g2,grid,31 x 17, fields value, w,527,f64,8448,NULL\n"
              "g3,grid,8 x 9 x 10, fields value, w,720,f64,11544,NULL\np,grid,3 x 2,6,f64,64,NULL\n"
              "v3,view,NULL,NULL,NULL,NULL,CONVERT g3 AS f32\n");
    expect_plan(engine, "SELECT * FROM g3 WHERE z = 5 ORDER BY y, x", "rows in order, third column =", "B-TREE");
    for (int dims = 1; dims < 4; dims++) { /* read for the first time */
        same_as_a_table(engine, dims, "g", "");
        same_as_a_table(engine, dims, "g", "WHERE x > 3 ORDER BY value DESC, x LIMIT 1");
    }
    same_as_a_table(engine, 3, "v", "WHERE z = 3 AND x = 2");
    db_expect(engine, "SELECT sum(value), sum(v), max(x) FROM g", "1e+300,6.0,2\n");
    lacis_set_log(engine, keep_summary, NULL);
    db_run(engine, "LET c = CONVERT g AS f64; DROP g1");
    assert_non_null(strstr(summary, "c: grid, 3 x 2, fields value, v, f64, step 40 ("));
    lacis_close(engine);
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        unlink(path);
        fill_file(path);
        run_sql(path, damage[i]);
        engine = db_open(path);
        db_fails(engine, "SELECT * FROM p", LACIS_CORRUPT, "array p is damaged");
        lacis_close(engine);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(parts_that_do_not_go_together), CHECK(sql_makes_them),
        CHECK(what_sql_leaves_out),           CHECK(types_are_changed),
        CHECK(large_ones_are_changed),        CHECK(lent_memory_is_not_copied),
        CHECK(they_live_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
