/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids: what SQL sees of them, conditions, totals and plans.
 */
#include "grid_samples.h"

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

/* --- what SQL sees -------------------------------------------------------------------------------- */

static void cells_are_rows(void **state)
{
    assert_int_equal(create(*state, "g", every, 2), LACIS_OK);
    assert_int_equal(create(*state, "h", every, 4), LACIS_OK);
    db_expect(*state, "SELECT * FROM g", "0,0,0.5\n1,0,1.0\n2,0,-2.0\n0,1,3.0\n1,1,1e+300\n2,1,5.0\n");
    db_expect(*state, "SELECT v, y FROM h WHERE x = 1", "0.0,0\n2.0,1\n");
    db_expect(*state, "SHOW ARRAYS", "g,grid,3 x 2,6,f64,64,NULL\nh,grid,3 x 2, fields value, v,6,f64,120,NULL\n");
    db_expect(*state, "SELECT name, type, pk FROM pragma_table_info('g')",
              "x,INTEGER,1\ny,INTEGER,2\nvalue,REAL,0\n");
    db_expect(*state, "SELECT x, y FROM g ORDER BY value DESC LIMIT 2", "1,1\n2,1\n");
    const double nan[N] = {NAN, 1, INFINITY, 0, 0, 0};
    const lacis_part parts[] = {{"value", LACIS_F64, N, nan}, {"shape", LACIS_I64, 2, shape}};
    assert_int_equal(create(*state, "g", parts, 2), LACIS_OK); /* values may be anything */
    db_expect(*state, "SELECT value FROM g WHERE y = 0", "NULL\n1.0\ninf\n");
    db_expect(*state, "SELECT count(*), count(value), max(value) FROM g", "6,5,inf\n");
    db_run(*state, "DROP g");
    db_fails(*state, "SELECT * FROM g", LACIS_NAME, "g");
}

static void conditions_are_those_of_sql(void **state)
{
    static const char *const rest[][2] = {
        {"1", ""},
        {"1", "WHERE x = 7"},
        {"1", "WHERE x BETWEEN 4 AND 6 OR x > 28.5"},
        {"1", "WHERE x IN (3, 1, 29, 30, -1, 5.0, '8', 'a', NULL, 1) ORDER BY x"},
        {"1", "ORDER BY x DESC LIMIT 3"},
        {"2", ""},
        {"2", "WHERE y = 5 AND x BETWEEN 2 AND 9"},
        {"2", "WHERE y >= 4.5 AND y < 7 AND x > 27"},
        {"2", "WHERE y IN (16, 3, 17, 3) AND x IN (4, 2)"},
        {"2", "WHERE x IN (16, 3, 17, 3) AND y IN (4, 2) ORDER BY y, x"},
        {"2", "WHERE x IN (16, 3, 17, 3) ORDER BY x, y"},
        {"2", "WHERE y = 3 ORDER BY y, x DESC LIMIT 4"},
        {"2", "WHERE x = 3 ORDER BY x DESC, y LIMIT 4 OFFSET 2"},
        {"2", "WHERE w = 12 AND x < y"},
        {"2", "ORDER BY x, y LIMIT 40"},
        {"2", "ORDER BY y, x LIMIT 40"},
        {"2", "ORDER BY value DESC, y, x LIMIT 25"},
        {"2", "ORDER BY value DESC, x, y LIMIT 25"},
        {"2", "WHERE y > 'a' OR x < -9223372036854775808.0"},
        {"2", "WHERE x IS 4 AND y <= '3'"},
        {"2", "WHERE (x, y) = (4, 5)"},
        {"2", "WHERE x = (SELECT max(i) FROM n) AND y = 0"},
        {"3", ""},
        {"3", "WHERE z = 4"},
        {"3", "WHERE z = 4 AND x = 2"},
        {"3", "WHERE z = 4 AND y = 2"},
        {"3", "WHERE z = 9 AND y = 8 AND x = 7"},
        {"3", "WHERE z > 3 AND z <= 5 AND y BETWEEN 2 AND 4 AND x <> 3"},
        {"3", "WHERE z IN (9, 0, 40) AND y > 6 AND x < 2"},
        {"3", "WHERE z IN (9, 0, 40, 5) AND z < 6 AND x = 1 ORDER BY z, y"},
        {"3", "WHERE y IN (0, 8) AND z IN (1, 2) AND x IN (3, 4)"},
        {"3", "WHERE y = 4 ORDER BY z, x LIMIT 30"},
        {"3", "WHERE y = 4 ORDER BY x, z LIMIT 30"},
        {"3", "ORDER BY z, y, x LIMIT 100 OFFSET 300"},
        {"3", "ORDER BY value DESC, z, y, x LIMIT 70"},
        {"3", "WHERE z > 2 ORDER BY value DESC, z, y, x LIMIT 70"},
        {"3", "WHERE z > 9 OR y < 0 OR x = 2.5"},
        {"3", "WHERE z = NULL"},
    };
    make_pairs(*state);
    for (size_t k = 0; k < sizeof rest / sizeof rest[0]; k++) {
        same_as_a_table(*state, atoi(rest[k][0]), "g", rest[k][1]);
        if (rest[k][0][0] == '3') same_as_a_table(*state, 3, "v", rest[k][1]);
    }
    db_expect(*state, "SELECT count(*), sum(g2.value = t2.value) FROM g2 JOIN t2 USING (x, y)", "527,527\n");
    db_expect(*state, "SELECT count(*) FROM t3 JOIN v3 USING (x, y, z) WHERE v3.w = t3.w", "720\n");
}

static void random_conditions(void **state)
{
    static const char *const op[] = {"=", "<", "<=", ">", ">="};
    uint64_t seed = 5;
    make_pairs(*state);
    for (int round = 0; round < 400; round++) {
        char rest[200] = "";
        int dims = 1 + round % 3, used = 0;
        for (int d = 0; d < dims; d++) {
            for (int k = 0; k < 2; k++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                unsigned bits = (unsigned)(seed >> 40);
                if (bits % 3 == 0) continue;
                used += snprintf(rest + used, sizeof rest - (size_t)used, " %s %c ", used == 0 ? "WHERE" : "AND",
                                 'x' + d);
                if (bits % 11 == 0)
                    used += snprintf(rest + used, sizeof rest - (size_t)used, "IN (%u, %u, 3)", bits / 16 % 9,
                                     bits / 256 % 9);
                else
                    used += snprintf(rest + used, sizeof rest - (size_t)used, "%s %d", op[bits / 16 % 5],
                                     (int)(bits / 256 % 11) - 1);
            }
        }
        same_as_a_table(*state, dims, "g", rest);
    }
}

static void totals_are_those_of_sql(void **state)
{
    static const char *const queries[] = {
        "SELECT count(*) AS n FROM %s",
        "SELECT sum(value), min(value), MAX(\"VALUE\"), avg(value), total(value), count(value) FROM %s",
        "SELECT sum(x), min(x), max(X), avg(x), count(x), total(x) FROM %s",
        "SELECT sum(y), max(Y), sum(w), avg(w), min(w) FROM %s",
        "SELECT sum(z), min(z), max(z), avg(z) FROM %s",
    };
    char sql[200];
    make_pairs(*state);
    for (int dims = 1; dims < 4; dims++) {
        for (int q = 0; q < 3 + (dims > 1) + (dims > 2); q++) {
            char name[8];
            snprintf(name, sizeof name, "t%d", dims);
            snprintf(sql, sizeof sql, queries[q], name);
            char *rows = db_rows(*state, sql);
            name[0] = 'g';
            snprintf(sql, sizeof sql, queries[q], name);
            db_expect(*state, sql, rows);
            free(rows);
            snprintf(sql, sizeof sql, "EXPLAIN ");
            snprintf(sql + 8, sizeof sql - 8, queries[q], name);
            char *plan = db_rows(*state, sql);
            assert_non_null(strstr(plan, "summed where they are computed, no row is visited by SQL"));
            free(plan);
        }
    }
    char *of_table = db_rows(*state, "SELECT count(*), sum(value), max(value), sum(z), max(x) FROM t3");
    db_expect(*state, "SELECT count(*), sum(value), max(value), sum(z), max(x) FROM v3", of_table);
    free(of_table);
    of_table = db_rows(*state, "SELECT count(*), sum(value), avg(value) FROM t3");
    db_expect(*state, "SELECT count(*), sum(value), avg(value) FROM v3", of_table);
    free(of_table);
    db_fails(*state, "SELECT sum(z) FROM g2", LACIS_NAME, "z");
    db_fails(*state, "SELECT sum(shape) FROM g2", LACIS_NAME, "shape");
}

static void plans_are_told(void **state)
{
    make_pairs(*state);
    expect_plan(*state, "SELECT * FROM g2 WHERE y = 5 AND x BETWEEN 2 AND 9",
                "second column =, first column >=, first column <=", NULL);
    expect_plan(*state, "SELECT * FROM g3 WHERE z > 5 AND y IN (1, 2)", "third column >, second column IN", NULL);
    expect_plan(*state, "SELECT * FROM g3 ORDER BY z, y, x", "rows in order", "B-TREE");
    expect_plan(*state, "SELECT * FROM g3 WHERE y = 3 ORDER BY z, x", "rows in order", "B-TREE");
    expect_plan(*state, "SELECT * FROM g3 ORDER BY x, y, z", "B-TREE", NULL);
    expect_plan(*state, "SELECT * FROM g2 ORDER BY value DESC LIMIT 3", "greatest values", "B-TREE");
    /* A view is computed once, not for each row of another table. */
    expect_plan(*state, "SELECT * FROM n JOIN v3 ON x = i AND y = i AND z = i", "SCAN v3: rows in order\n", NULL);
    expect_plan(*state, "SELECT * FROM n JOIN g3 ON x = i AND y = i AND z = i", "SCAN g3: rows in order, first",
                NULL);
    expect_plan(*state, "CONVERT g3 AS f32", "CONVERT -> grid 8 x 9 x 10, f32", NULL);
    expect_plan(*state, "CONVERT g3 AS f32", "g3: grid 8 x 9 x 10, fields value, w, f64", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(cells_are_rows),    CHECK(conditions_are_those_of_sql),
        CHECK(random_conditions), CHECK(totals_are_those_of_sql),
        CHECK(plans_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
