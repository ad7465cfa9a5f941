/* SPDX-License-Identifier: Apache-2.0
 *
 * A grid of 3 x 2 cells and two fields that test_grid.c and test_grid_made.c make through the interface.
 */
#ifndef LACIS_TESTS_GRID_SAMPLES_H
#define LACIS_TESTS_GRID_SAMPLES_H

#include "support/db.h"

#include <string.h>

enum { NX = 3, NY = 2, N = NX * NY };

static inline int setup(void **state)
{
    *state = db_open(NULL);
    return 0;
}

static inline int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static const double u[N] = {0.5, 1, -2, 3, 1e300, 5}, v[N] = {0, 0, 1, 1, 2, 2};
static const int64_t shape[2] = {NX, NY}, steps[1] = {40};
static const lacis_part every[] = {{"shape", LACIS_I64, 2, shape},
                                   {"value", LACIS_F64, N, u},
                                   {"v", LACIS_F64, N, v},
                                   {"step", LACIS_I64, 1, steps}};

static inline lacis_status create(lacis_engine *engine, const char *name, const lacis_part *parts, int count)
{
    const lacis_array_spec spec = {LACIS_GRID, LACIS_F64, {NX, NY}, parts, count};
    return lacis_array_create(engine, name, &spec);
}

/* Grids of one to three dimensions, and tables of their rows whose conditions SQLite itself looks at. */
static inline void make_pairs(lacis_engine *engine)
{
    db_run(engine, "CREATE TABLE n AS WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 30)"
                   " SELECT i FROM c");
    db_run(engine, "LET g1 = SELECT i AS x, i * 7 % 5 AS value FROM n");
    db_run(engine, "LET g2 = SELECT a.i AS x, b.i AS y, (a.i * 7 + b.i * 3) % 11 / 2.0 AS value, a.i + b.i AS w"
                   " FROM n a, n b WHERE b.i < 17");
    db_run(engine, "LET g3 = SELECT a.i AS x, b.i AS y, c.i AS z, (a.i * 7 + b.i * 3 + c.i) % 13 AS value, b.i AS w"
                   " FROM n a, n b, n c WHERE a.i < 8 AND b.i < 9 AND c.i < 10");
    db_run(engine, "CREATE VIEW v3 AS CONVERT g3 AS f32");
    for (int dims = 1; dims < 4; dims++) {
        char sql[100];
        snprintf(sql, sizeof sql, "CREATE TABLE t%d AS SELECT * FROM g%d", dims, dims);
        db_run(engine, sql);
    }
}

static inline void same_as_a_table(lacis_engine *engine, int dims, const char *array, const char *rest)
{
    char sql[300];
    snprintf(sql, sizeof sql, "SELECT * FROM t%d %s", dims, rest);
    char *rows = db_rows(engine, sql);
    snprintf(sql, sizeof sql, "SELECT * FROM %s%d %s", array, dims, rest);
    char *got = db_rows(engine, sql);
    if (strcmp(rows, got) != 0) fail_msg("%s\n  table:\n%s\n  grid:\n%s", sql, rows, got);
    free(rows);
    free(got);
}

static inline void expect_plan(lacis_engine *engine, const char *sql, const char *there, const char *absent)
{
    char text[300];
    snprintf(text, sizeof text, "EXPLAIN %s", sql);
    char *plan = db_rows(engine, text);
    if (strstr(plan, there) == NULL) fail_msg("%s: \"%s\" is not in\n%s", sql, there, plan);
    if (absent != NULL && strstr(plan, absent) != NULL) fail_msg("%s: \"%s\" is in\n%s", sql, absent, plan);
    free(plan);
}

#endif
