/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies: what SQL sees of them, with ids in any order, made by the interface, lent or written in SQL; what is
 * refused; and the way through a database file.
 */
#include "support/db.h"

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { N = 4 };

static int setup(void **state)
{
    *state = db_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static const double m[N] = {1, 0, 2.5, 0.1}, x[N] = {0, 1, -2, 3}, y[N] = {0.5, 0, 0, 1e-3}, z[N] = {0, 0, 7, -1},
                    vx[N] = {1, 2, 3, 4}, vy[N] = {-1, 0, 0, 0}, vz[N] = {0, 0, 0, 1e300}, eps[N] = {0, 0.1, 0.2, 0},
                    a[N] = {1, 1, 1, 1}, phi[N] = {-1, -2, -3, -4}, when[N] = {0.5}; /* one of when counts */
static const int64_t id[N] = {30, -7, 12, 4};

/* All that bodies can have; the first four are what they must have. */
static const lacis_part every[] = {
    {"m", LACIS_F64, N, m},     {"x", LACIS_F64, N, x},       {"y", LACIS_F64, N, y},   {"z", LACIS_F64, N, z},
    {"phi", LACIS_F64, N, phi}, {"vx", LACIS_F64, N, vx},     {"vy", LACIS_F64, N, vy}, {"vz", LACIS_F64, N, vz},
    {"ax", LACIS_F64, N, a},    {"ay", LACIS_F64, N, a},      {"az", LACIS_F64, N, a},  {"eps", LACIS_F64, N, eps},
    {"id", LACIS_I64, N, id},   {"time", LACIS_F64, 1, when},
};
enum { EVERY = sizeof every / sizeof every[0] };

static lacis_status create(lacis_engine *engine, const char *name, const lacis_part *parts, int count)
{
    const lacis_array_spec spec = {LACIS_BODIES, LACIS_F64, {N, 0}, parts, count};
    return lacis_array_create(engine, name, &spec);
}

static void bodies_at_rest_are_numbered_from_0(void **state)
{
    assert_int_equal(create(*state, "b", every, 4), LACIS_OK);
    db_expect(*state, "SELECT * FROM b",
              "0,1.0,0.0,0.5,0.0,0.0,0.0,0.0\n1,0.0,1.0,0.0,0.0,0.0,0.0,0.0\n2,2.5,-2.0,0.0,7.0,0.0,0.0,0.0\n"
              "3,0.1,3.0,0.001,-1.0,0.0,0.0,0.0\n");
    db_expect(*state, "SELECT id FROM b WHERE id > 1", "2\n3\n");
    db_expect(*state, "SELECT count(*), sum(id), min(id), max(id) FROM b", "4,6,0,3\n");
    db_expect(*state, "SHOW ARRAYS", "b,bodies,4,4,f64,128,NULL\n");
}

static void ids_may_lie_in_any_order(void **state)
{
    assert_int_equal(create(*state, "b", every, EVERY), LACIS_OK);
    db_expect(*state, "SELECT * FROM b",
              "-7,0.0,1.0,0.0,0.0,2.0,0.0,0.0,0.1,1.0,1.0,1.0,-2.0\n"
              "4,0.1,3.0,0.001,-1.0,4.0,0.0,1e+300,0.0,1.0,1.0,1.0,-4.0\n"
              "12,2.5,-2.0,0.0,7.0,3.0,0.0,0.0,0.2,1.0,1.0,1.0,-3.0\n"
              "30,1.0,0.0,0.5,0.0,1.0,-1.0,0.0,0.0,1.0,1.0,1.0,-1.0\n");
    db_expect(*state, "SELECT phi FROM b WHERE id = 30", "-1.0\n");
    db_expect(*state, "SELECT phi FROM b WHERE id = 5", "");
    db_expect(*state, "SELECT id FROM b WHERE id BETWEEN 4 AND 12", "4\n12\n");
    db_expect(*state, "SELECT id FROM b WHERE id < 12", "-7\n4\n");
    db_expect(*state, "SELECT id, eps FROM b WHERE id IN (30, 5, -7, 99, 12) AND id > -7", "12,0.2\n30,0.0\n");
    db_expect(*state, "SELECT id FROM b ORDER BY id DESC LIMIT 2", "30\n12\n");
    db_expect(*state, "SELECT id FROM b LIMIT 2", "-7\n4\n");
    db_expect(*state, "SELECT id FROM b ORDER BY m DESC LIMIT 2", "12\n30\n");
    db_expect(*state, "SELECT count(*), sum(id), min(id), max(id) FROM b", "4,39,-7,30\n");
    db_expect(*state, "SELECT count(*), sum(id), sum(m), max(vz) FROM b WHERE m > 0", "3,46,3.6,1e+300\n");
}

/* As an SQL table says it, whose conditions SQLite itself looks at. */
static void same_as_a_table(lacis_engine *engine, const char *rest)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT * FROM t %s", rest);
    char *rows = db_rows(engine, sql);
    snprintf(sql, sizeof sql, "SELECT * FROM b %s", rest);
    db_expect(engine, sql, rows);
    free(rows);
}

static void conditions_on_ids_are_those_of_sql(void **state)
{
    enum { MANY = 1000 };
    static const char *const rest[] = {
        "ORDER BY id",
        "WHERE id = 37 ORDER BY id",
        "WHERE id = 38 ORDER BY id",
        "WHERE id >= 500 AND id < 600 ORDER BY id",
        "WHERE id > 9000000000 ORDER BY id",
        "WHERE id < -9223372036854775807 ORDER BY id",
        "WHERE id IN (1, 4, 5, 7, 500, 501, 502, 503, -3, 99999) ORDER BY id",
        "WHERE id IN (7, 4, 1) AND x > 0 ORDER BY id",
        "WHERE id = 37.5 OR id = 40 ORDER BY id",
        "WHERE id BETWEEN 10 AND 30 ORDER BY x LIMIT 3",
        "ORDER BY id LIMIT 5 OFFSET 3",
        "WHERE id = '37' ORDER BY id",
    };
    static int64_t ids[MANY];
    static float place[MANY], mass[MANY];
    for (int i = 0; i < MANY; i++) {
        ids[i] = (int64_t)(i * 7919 % MANY) * 3 + 1; /* 7919 is prime to 1000 */
        place[i] = (float)(i % 17) - 8;
    }
    ids[5] = INT64_MAX;
    ids[6] = INT64_MIN;
    for (int labelled = 0; labelled < 2; labelled++) {
        const lacis_part parts[] = {{"m", LACIS_F32, MANY, mass},
                                    {"x", LACIS_F32, MANY, place},
                                    {"y", LACIS_F32, MANY, mass},
                                    {"z", LACIS_F32, MANY, place},
                                    {"id", LACIS_I64, MANY, ids}};
        const lacis_array_spec spec = {LACIS_BODIES, LACIS_F32, {MANY, 0}, parts, labelled ? 5 : 4};
        assert_int_equal(lacis_array_create(*state, "b", &spec), LACIS_OK);
        db_run(*state, "DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT * FROM b");
        for (size_t k = 0; k < sizeof rest / sizeof rest[0]; k++)
            same_as_a_table(*state, rest[k]);
        db_expect(*state, "SELECT count(*) FROM b JOIN t USING (id) WHERE b.x = t.x", "1000\n");
    }
}

static void totals_are_those_of_sql(void **state)
{
    static const char *const queries[] = {
        "SELECT count(*) AS n FROM %s",
        "SELECT sum(m), min(x), MAX(\"X\"), avg(y), total(z), count(phi) FROM %s",
        "SELECT min(eps), max(eps), sum(vx), sum(Vy), min(id), max(id), sum(id), avg(id) FROM %s",
        "SELECT sum(ax), max(ay), min(az), total(phi), sum(phi), count(*) FROM %s",
        "SELECT sum(vx), min(vz), avg(vy), count(vx), max(id), sum(id), count(id) FROM %s",
    };
    char sql[200];
    for (int labelled = 0; labelled < 2; labelled++) {
        assert_int_equal(create(*state, "b", every, labelled ? EVERY : 4), LACIS_OK);
        db_run(*state, "DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT * FROM b");
        for (int q = 0; q < 5; q++) {
            if (!labelled && q > 0 && q < 4) continue; /* columns that are not there */
            snprintf(sql, sizeof sql, queries[q], "t");
            char *rows = db_rows(*state, sql);
            snprintf(sql, sizeof sql, queries[q], "b");
            db_expect(*state, sql, rows);
            free(rows);
            snprintf(sql, sizeof sql, "EXPLAIN ");
            snprintf(sql + 8, sizeof sql - 8, queries[q], "b");
            db_expect(*state, sql, "totals of b: summed where they are computed, no row is visited by SQL\n");
        }
        db_fails(*state, "SELECT sum(charge) FROM b", LACIS_NAME, "charge");
    }
    db_run(*state, "LET e = SELECT * FROM b WHERE id = 99");
    db_expect(*state, "SELECT count(*), count(m), sum(m), total(m), max(id), sum(vx), min(vx) FROM e",
              "0,0,NULL,0.0,NULL,NULL,NULL\n");
}

static void plans_are_told(void **state)
{
    assert_int_equal(create(*state, "b", every, EVERY), LACIS_OK);
    char *text = db_rows(*state, "EXPLAIN SELECT * FROM b WHERE id IN (1, 2) AND id < 7");
    assert_non_null(strstr(text, "first column IN, first column <"));
    free(text);
    text = db_rows(*state, "EXPLAIN CONVERT b AS f32");
    assert_non_null(strstr(text, "CONVERT -> bodies of 4, f32"));
    assert_non_null(strstr(text, "b: 4 bodies, f64, softening each, accelerations known"));
    assert_non_null(strstr(text, "f64 -> f32"));
    free(text);
}

/* --- what is refused ------------------------------------------------------------------------------ */

static void refuse(lacis_engine *engine, const lacis_part *parts, int count, lacis_status status, const char *why)
{
    assert_int_equal(create(engine, "x", parts, count), status);
    if (strstr(lacis_error_message(engine), why) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", lacis_error_message(engine), why);
}

static void parts_that_do_not_go_together(void **state)
{
    lacis_part parts[EVERY + 1];
    memcpy(parts, every, sizeof every);
    refuse(*state, parts, 3, LACIS_TYPE, "no part \"z\"");
    refuse(*state, parts, 7, LACIS_TYPE, "all of vx, vy and vz");
    refuse(*state, parts, 10, LACIS_TYPE, "all of ax, ay and az");
    parts[3].count = 3;
    refuse(*state, parts, 4, LACIS_TYPE, "\"z\" of bodies must be 4 elements of f64, not 3 of f64");
    parts[3] = (lacis_part){"z", LACIS_F32, N, z};
    refuse(*state, parts, 4, LACIS_TYPE, "not 4 of f32");
    parts[3] = (lacis_part){"z", LACIS_F64, N, NULL};
    refuse(*state, parts, 4, LACIS_TYPE, "no data");
    parts[3] = (lacis_part){"z", LACIS_F64, -1, z};
    refuse(*state, parts, 4, LACIS_TYPE, "length");
    parts[3] = every[3];
    parts[12].dtype = LACIS_F64;
    refuse(*state, parts, EVERY, LACIS_TYPE, "\"id\" of bodies must be 4 elements of i64");
    parts[12] = every[12];
    parts[13].count = 4;
    refuse(*state, parts, EVERY, LACIS_TYPE, "\"time\" of bodies must be 1 elements of f64");
    parts[13] = every[13];
    parts[EVERY] = (lacis_part){"spin", LACIS_F64, N, x};
    refuse(*state, parts, EVERY + 1, LACIS_TYPE, "no part \"spin\"");
    const lacis_array_spec whole = {LACIS_BODIES, LACIS_I64, {N, 0}, every, 4};
    assert_int_equal(lacis_array_create(*state, "x", &whole), LACIS_TYPE);
}

/* One figure of one body of many, so that more than one block of rows is looked at. */
static void refuse_figure(lacis_engine *engine, const char *name, double value, bool single, const char *why)
{
    enum { MANY = 70000, AT = 66001 };
    static double f64[2][MANY];
    static float f32[2][MANY];
    static const char *const names[] = {"m", "x", "y", "z", "vx", "vy", "vz", "eps", "ax", "ay", "az", "phi"};
    lacis_part parts[12];
    f64[1][AT] = value;
    f32[1][AT] = (float)value;
    for (int i = 0; i < 12; i++) {
        int bad = strcmp(names[i], name) == 0;
        parts[i] = (lacis_part){names[i], single ? LACIS_F32 : LACIS_F64, MANY,
                                single ? (const void *)f32[bad] : (const void *)f64[bad]};
    }
    const lacis_array_spec spec = {LACIS_BODIES, parts[0].dtype, {MANY, 0}, parts, 12};
    lacis_status expected = why == NULL ? LACIS_OK : LACIS_RANGE;
    assert_int_equal(lacis_array_create(engine, "x", &spec), expected);
    if (why != NULL && strstr(lacis_error_message(engine), why) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", lacis_error_message(engine), why);
}

static void figures_that_are_none_are_named(void **state)
{
    static const char *const names[] = {"m", "x", "y", "z", "vx", "vy", "vz", "eps", "ax", "ay", "az", "phi"};
    char why[80];
    for (int i = 0; i < 12; i++) {
        bool negative = i != 0 && i != 7;
        for (int single = 0; single < 2; single++) {
            snprintf(why, sizeof why, "row 66002 (id 66001): %s is nan", names[i]);
            refuse_figure(*state, names[i], NAN, single, why);
            snprintf(why, sizeof why, "row 66002 (id 66001): %s is inf", names[i]);
            refuse_figure(*state, names[i], INFINITY, single, why);
            snprintf(why, sizeof why, "row 66002 (id 66001): %s is -inf", names[i]);
            refuse_figure(*state, names[i], -INFINITY, single, why);
            snprintf(why, sizeof why, "row 66002 (id 66001): %s is -1", names[i]);
            refuse_figure(*state, names[i], -1, single, negative ? NULL : why);
            refuse_figure(*state, names[i], -0.0, single, NULL);
        }
    }
}

static void the_first_row_is_named_with_its_id(void **state)
{
    const double bad_x[N] = {0, 1, NAN, INFINITY}, bad_m[N] = {1, 1, 1, -1};
    const int64_t twice[N] = {5, 9, 5, 9}, falling[N] = {4, 3, 2, 1}, far[N] = {INT64_MAX, -7, INT64_MIN, -7};
    lacis_part parts[EVERY];
    memcpy(parts, every, sizeof every);
    parts[0].data = bad_m;
    refuse(*state, parts, EVERY, LACIS_RANGE, "row 4 (id 4): m is -1.0, and no mass is negative");
    parts[1].data = bad_x;
    refuse(*state, parts, EVERY, LACIS_RANGE, "row 3 (id 12): x is nan, and all figures of bodies are finite");
    parts[0] = every[0];
    parts[1] = every[1];
    parts[12].data = twice;
    refuse(*state, parts, EVERY, LACIS_RANGE, "row 3 (id 5): a row before has this id, too");
    parts[12].data = far;
    refuse(*state, parts, EVERY, LACIS_RANGE, "row 4 (id -7): a row before has this id, too");
    parts[12].data = falling;
    assert_int_equal(create(*state, "x", parts, EVERY), LACIS_OK);
    db_expect(*state, "SELECT id, phi FROM x", "1,-4.0\n2,-3.0\n3,-2.0\n4,-1.0\n");
}

/* --- where they come from ------------------------------------------------------------------------- */

static char summary[200];

static void keep_summary(void *arg, lacis_level level, const char *message)
{
    (void)arg;
    if (level == LACIS_SUMMARY) snprintf(summary, sizeof summary, "%s", message);
}

static void expect_summary(const char *text)
{
    if (strncmp(summary, text, strlen(text)) != 0) fail_msg("\"%s\" is not \"%s\"", summary, text);
}

static void sql_makes_them(void **state)
{
    lacis_set_log(*state, keep_summary, NULL);
    db_run(*state, "LET b = SELECT column1 AS x, column2 AS y, 0 AS z, 1 AS m FROM (VALUES (0, 0.5), (3, -1))");
    expect_summary("b: bodies, 2, f64 (");
    db_expect(*state, "SELECT * FROM b", "0,1.0,0.0,0.5,0.0,0.0,0.0,0.0\n1,1.0,3.0,-1.0,0.0,0.0,0.0,0.0\n");
    db_run(*state, "LET b = SELECT 1 AS M, 2 AS X, 3 AS Y, 4 AS Z, 5 AS vx, 6 AS VY, 7 AS vz, 0.5 AS eps, 17 AS id, "
                   "1.5 AS ax, 2.5 AS ay, 3.5 AS az, -4 AS phi");
    expect_summary("b: bodies, 1, f64, softening each (");
    db_expect(*state, "SELECT * FROM b", "17,1.0,2.0,3.0,4.0,5.0,6.0,7.0,0.5,1.5,2.5,3.5,-4.0\n");
    db_run(*state, "LET c = SELECT * FROM b UNION ALL SELECT id - 3, m, x, y, z, vx, vy, vz, eps, ax, ay, az, phi "
                   "FROM b");
    db_expect(*state, "SELECT id, x FROM c", "14,2.0\n17,2.0\n");
    db_run(*state, "LET c = SELECT * FROM c WHERE id < 0");
    db_expect(*state, "SELECT count(*), sum(id), min(id) FROM c", "0,NULL,NULL\n");
    db_run(*state, "LET c = SELECT 1 AS m, 2 AS x, 3 AS y, 4 AS z, 5 AS charge");
    expect_summary("c: table, 1 rows, 5 columns (");
    db_run(*state, "LET c = SELECT 1 AS m, 2 AS x, 3 AS y, 4 AS id");
    expect_summary("c: table");
    db_fails(*state, "LET c = SELECT 1 AS m, 2 AS x, 3 AS y, 4 AS z, 5 AS vx", LACIS_TYPE, "all of vx, vy and vz");
    db_fails(*state, "LET c = SELECT 1 AS m, 2 AS x, 3 AS y, 4 AS z, 5 AS ax", LACIS_TYPE, "all of ax, ay and az");
    db_fails(*state, "LET c = SELECT 1 AS m, 2 AS x, 3 AS y, 4 AS z, 5.5 AS id", LACIS_TYPE, "id is 5.5");
    db_fails(*state, "LET c = SELECT 1 AS m, 2 AS x, 3 AS y, 9e999 AS z, 5 AS id", LACIS_RANGE,
             "row 1 (id 5): z is inf");
    db_fails(*state, "LET c = SELECT -1 AS m, 2 AS x, 3 AS y, 9 AS z", LACIS_RANGE, "row 1 (id 0): m is -1.0");
    db_fails(*state, "LET c = SELECT 1 AS m, 2 AS x, 3 AS y, NULL AS z", LACIS_TYPE, "z is NULL");
    db_fails(*state, "LET c = SELECT * FROM b UNION ALL SELECT * FROM b", LACIS_RANGE,
             "row 2 (id 17): a row before has this id, too");
    db_expect(*state, "SELECT id, y FROM c", "4,3\n"); /* the table of before */
}

static void types_are_changed(void **state)
{
    assert_int_equal(create(*state, "b", every, EVERY), LACIS_OK);
    db_fails(*state, "LET f = CONVERT b AS f32", LACIS_RANGE, "row 4 (id 4): vz is inf");
    db_run(*state, "LET b = SELECT id, m, x, y, z, vx, vy, 1e-40 AS vz, eps, ax, ay, az, phi FROM b; "
                   "LET f = CONVERT b AS f32; LET d = f AS f64; CREATE VIEW v AS CONVERT b AS f32");
    db_expect(*state, "SELECT id, m = 0.1, abs(m - 0.1) < 1e-8, eps FROM f WHERE id = 4", "4,0,1,0.0\n");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM f EXCEPT SELECT * FROM d)", "0\n");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM f EXCEPT SELECT * FROM v)", "0\n");
    db_expect(*state, "SELECT id, phi FROM v WHERE id > 4", "12,-3.0\n30,-1.0\n");
    db_expect(*state, "SELECT count(*), sum(id), min(id) FROM v", "4,39,-7\n");
    db_expect(*state, "CONVERT b AS f64",
              "-7,0.0,1.0,0.0,0.0,2.0,0.0,1e-40,0.1,1.0,1.0,1.0,-2.0\n"
              "4,0.1,3.0,0.001,-1.0,4.0,0.0,1e-40,0.0,1.0,1.0,1.0,-4.0\n"
              "12,2.5,-2.0,0.0,7.0,3.0,0.0,1e-40,0.2,1.0,1.0,1.0,-3.0\n"
              "30,1.0,0.0,0.5,0.0,1.0,-1.0,1e-40,0.0,1.0,1.0,1.0,-1.0\n");
    lacis_part parts[EVERY];
    memcpy(parts, every, sizeof every);
    parts[7].data = z;
    assert_int_equal(create(*state, "g", parts, EVERY), LACIS_OK);
    lacis_set_log(*state, keep_summary, NULL);
    db_run(*state, "LET q = CONVERT g AS f32");
    expect_summary("q: bodies, 4, f32, softening each, t = 0.5 (");
    db_fails(*state, "LET q = CONVERT b AS c64", LACIS_TYPE, "f32 or f64, not of c64");
    db_fails(*state, "LET q = CONVERT b LAYOUT full", LACIS_TYPE, "one layout");
    db_fails(*state, "LET q = CONVERT b AS f32 SHARE", LACIS_TYPE, "one layout");
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
    const lacis_array_spec spec = {LACIS_BODIES, LACIS_F64, {N, 0}, every, EVERY};
    lacis_set_log(*state, keep_summary, NULL);
    assert_int_equal(lacis_array_lend(*state, "b", &spec, let_go, &released), LACIS_OK);
    assert_int_equal(lacis_array_find(*state, "b", &array), LACIS_OK);
    assert_int_equal(lacis_array_kind(array), LACIS_BODIES);
    assert_int_equal(lacis_array_extent(array, 0), N);
    assert_int_equal(lacis_array_part(array, 1, &part), LACIS_OK);
    assert_ptr_equal(part.data, x);
    lacis_array_release(array);
    db_expect(*state, "SELECT id FROM b", "-7\n4\n12\n30\n");
    db_run(*state, "LET c = CONVERT b AS f64"); /* the same array */
    expect_summary("c: bodies, 4, f64, softening each, t = 0.5 (");
    db_run(*state, "DROP c");
    assert_int_equal(released, 0);
    db_run(*state, "DROP b");
    assert_int_equal(released, 1);
}

static void none_at_all(void **state)
{
    const lacis_part parts[] = {{"m", LACIS_F32, 0, NULL}, {"x", LACIS_F32, 0, NULL},   {"y", LACIS_F32, 0, NULL},
                                {"z", LACIS_F32, 0, NULL}, {"eps", LACIS_F32, 0, NULL}, {"id", LACIS_I64, 0, NULL}};
    const lacis_array_spec spec = {LACIS_BODIES, LACIS_F32, {0, 0}, parts, 6};
    int released = 0;
    assert_int_equal(lacis_array_lend(*state, "b", &spec, let_go, &released), LACIS_OK);
    db_expect(*state, "SELECT * FROM b", "");
    db_expect(*state, "SELECT count(*), sum(id), max(eps) FROM b", "0,NULL,NULL\n");
    db_run(*state, "LET c = CONVERT b AS f64");
    db_expect(*state, "SELECT * FROM c WHERE id IN (0, 1)", "");
    db_run(*state, "DROP b");
    assert_int_equal(released, 1);
}

/* --- in a file ------------------------------------------------------------------------------------ */

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void they_live_in_a_file(void **state)
{
    (void)state;
    static const char *const damage[] = {
        "UPDATE lacis_array SET rows = 5 WHERE name = 'p'", "UPDATE lacis_array SET rows = -4 WHERE name = 'p'",
        "UPDATE lacis_array SET rows = 4, entries = 3 WHERE name = 'p'",
        "UPDATE lacis_array SET entries = 4, dtype = 'f32' WHERE name = 'p'",
        "UPDATE lacis_array SET dtype = 'f64' WHERE name = 'p'; UPDATE lacis_part SET name = 'w' WHERE name = 'm'"};
    char path[] = "/tmp/lacis-bodies-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    lacis_engine *engine = db_open(path);
    assert_int_equal(create(engine, "b", every, EVERY), LACIS_OK);
    assert_int_equal(create(engine, "p", every, 4), LACIS_OK);
    char *rows = db_rows(engine, "SELECT * FROM b");
    lacis_close(engine);
    engine = db_open(path);
    db_expect(engine, "SHOW ARRAYS", "b,bodies,4,4,f64,424,NULL\np,bodies,4,4,f64,128,NULL\n");
    db_expect(engine, "SELECT * FROM b", rows);
    db_expect(engine, "SELECT sum(id), vx FROM p", "6,0.0\n");
    lacis_set_log(engine, keep_summary, NULL);
    db_run(engine, "LET c = CONVERT b AS f64");
    expect_summary("c: bodies, 4, f64, softening each, t = 0.5 (");
    lacis_close(engine);
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        run_sql(path, damage[i]);
        engine = db_open(path);
        db_fails(engine, "SELECT * FROM p", LACIS_CORRUPT, "p");
        lacis_close(engine);
    }
    free(rows);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(bodies_at_rest_are_numbered_from_0),
        CHECK(ids_may_lie_in_any_order),
        CHECK(conditions_on_ids_are_those_of_sql),
        CHECK(totals_are_those_of_sql),
        CHECK(plans_are_told),
        CHECK(parts_that_do_not_go_together),
        CHECK(figures_that_are_none_are_named),
        CHECK(the_first_row_is_named_with_its_id),
        CHECK(sql_makes_them),
        CHECK(types_are_changed),
        CHECK(lent_memory_is_not_copied),
        CHECK(none_at_all),
        CHECK(they_live_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
