/* SPDX-License-Identifier: Apache-2.0
 *
 * SWEEP through the engine: its table of changes against SQL's own differences, the step at which UNTIL stops for any
 * threads and levels, runs cut in two through a name and through a database, views, notes and names of fields.
 */
#include "support/db.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#define HEAT "u + 0.2 * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4 * u)"

static int setup(void **state)
{
    *state = db_open(NULL);
    db_run(*state,
           "CREATE VIEW numbers AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 36) "
           "SELECT i FROM n;");
    db_run(*state, "LET plate = SELECT a.i AS x, b.i AS y, CASE WHEN b.i = 20 THEN 1.0 ELSE 0.0 END AS value "
                   "FROM numbers a, numbers b WHERE b.i <= 20;");
    db_run(
        *state,
        "LET waves = SELECT a.i AS x, b.i AS y, sin(a.i * 0.3) AS u, cos(b.i * 0.2) AS v FROM numbers a, numbers b;");
    return 0;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static double number(lacis_engine *db, const char *text)
{
    char *rows = db_rows(db, text);
    const double value = atof(rows);
    free(rows);
    return value;
}

/* ------------------------------------------------------------------------------------------- changes */

static void changes(void **state)
{
    lacis_engine *db = *state;
    db_run(db, "LET a = SWEEP plate STEP " HEAT " STEPS 6; LET b = SWEEP a STEP " HEAT " STEPS 1 CHANGE EVERY 1;");
    const double max = number(db, "SELECT max FROM b_change"), l2 = number(db, "SELECT l2 FROM b_change");
    const double own_max = number(db, "SELECT max(abs(a.value - b.value)) FROM a JOIN b USING (x, y)");
    const double own_l2 =
        number(db, "SELECT sqrt(sum((a.value - b.value) * (a.value - b.value))) FROM a JOIN b USING (x, y)");
    assert_true(max > 0 && max == own_max);
    assert_true(fabs(l2 - own_l2) <= 1e-14 * l2);
    db_run(db, "LET b = SWEEP plate STEP " HEAT " STEPS 11 CHANGE EVERY 4;");
    db_expect(db, "SELECT step FROM b_change", "4\n8\n11\n");
    db_run(db, "LET b = SWEEP a STEP " HEAT " STEPS 7 CHANGE EVERY 4;"); /* counted as the grid does */
    db_expect(db, "SELECT step FROM b_change", "8\n12\n13\n");
    db_run(db, "LET b = SWEEP a STEP " HEAT " STEPS 0 CHANGE EVERY 4;");
    db_expect(db, "SELECT count(*) FROM b_change", "0\n");
}

/* The same step and bits, however it is done. */
static void until(void **state)
{
    lacis_engine *db = *state;
    char text[400], *rows = NULL;
    for (int threads = 1; threads <= 3; threads++)
        for (int levels = 0; levels <= 5; levels++) {
            char clause[32] = "";
            if (levels > 0) snprintf(clause, sizeof clause, "LEVELS %d", levels);
            snprintf(text, sizeof text,
                     "SET threads = %d; LET h = SWEEP plate STEP " HEAT
                     " STEPS 5000 UNTIL l2 < 1e-4 EVERY 6 CHANGE EVERY "
                     "100 %s ON CPU;",
                     threads, clause);
            db_run(db, text);
            char *now = db_rows(db, "SELECT * FROM h_change ORDER BY step DESC LIMIT 2");
            if (rows == NULL) rows = strdup(now);
            assert_string_equal(now, rows);
            free(now);
        }
    const double last = number(db, "SELECT max(step) FROM h_change");
    assert_true(last > 100 && last < 5000 && (int)last % 6 == 0);
    assert_true(number(db, "SELECT l2 FROM h_change ORDER BY step DESC LIMIT 1") < 1e-4);
    free(rows);
}

/* One step before the one that it stops at, the change was not yet below. */
static void until_stops_at_once(void **state)
{
    lacis_engine *db = *state;
    db_run(db, "LET h = SWEEP plate STEP " HEAT " STEPS 5000 UNTIL max < 1e-3;");
    db_expect(db, "SELECT count(*) = max(step), sum(max < 1e-3), min(max) < 1e-3 FROM h_change", "1,1,1\n");
    db_run(db, "LET h = SWEEP plate STEP " HEAT " STEPS 3 UNTIL max < 1e-9;");
    db_expect(db, "SELECT count(*), max(step) FROM h_change", "3,3\n");
}

/* ------------------------------------------------------------------------------------------- cut in two */

static const char same[] = "SELECT count(*), sum(a.value = b.value) FROM whole a JOIN again b USING (x, y)";

static void through_a_database(void **state)
{
    char path[] = "/tmp/lacis-sweep-XXXXXX";
    const int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    close(file);
    lacis_engine *db = db_open(path);
    db_run(db, "LET g = WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 30) "
               "SELECT a.i AS x, b.i AS y, sin(a.i * b.i) AS value FROM n a, n b;");
    db_run(db, "LET whole = SWEEP g STEP " HEAT " + sin(t) / (x + 1) STEPS 12;");
    db_run(db, "LET half = SWEEP g STEP " HEAT " + sin(t) / (x + 1) STEPS 5;");
    lacis_close(db);
    db = db_open(path);
    db_run(db, "LET again = SWEEP half STEP " HEAT " + sin(t) / (x + 1) STEPS 7 LEVELS 3 ON CPU;");
    db_expect(db, same, "961,961\n");
    lacis_close(db);
    unlink(path);
}

static void through_files(void **state)
{
    lacis_engine *db = *state;
    char text[600], folder[] = "/tmp/lacis-sweep-XXXXXX";
    assert_non_null(mkdtemp(folder));
    db_run(db, "LET start = SWEEP waves STEP u = v, v = u STEPS 7;"); /* from step 7 on, of two fields */
    db_run(db,
           "LET whole = SWEEP start STEP u = 0.2 * u + 0.3 * v[1] + t, v = u[0,-1] STEPS 12 TYPE f32 EDGE periodic;");
    snprintf(text, sizeof text,
             "LET h = SWEEP start STEP u = 0.2 * u + 0.3 * v[1] + t, v = u[0,-1] STEPS 8 TYPE f32 EDGE periodic KEEP "
             "EVERY 5 "
             "TO '%s/a_*.npy';",
             folder);
    db_run(db, text);
    snprintf(text, sizeof text,
             "LOAD f FROM '%s/a_10.npy'; LET again = SWEEP f STEP u = 0.2 * u + 0.3 * v[1] + t, v = u[0,-1] STEPS 9 "
             "EDGE periodic LEVELS 4 ON CPU;",
             folder);
    db_run(db, text);
    db_expect(db, "SELECT count(*), sum(a.u = b.u AND a.v = b.v) FROM whole a JOIN again b USING (x, y)",
              "1369,1369\n");
    for (int step = 10; step <= 15; step += 5) {
        snprintf(text, sizeof text, "%s/a_%d.npy", folder, step);
        assert_int_equal(unlink(text), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* ------------------------------------------------------------------------------------------- the rest */

static void views(void **state)
{
    lacis_engine *db = *state;
    db_run(
        db,
        "CREATE VIEW later AS SWEEP waves STEP u = 2*u - v + 0.5*(u[-1] - 2*u + u[1]), v = u STEPS 4 EDGE mirror;");
    db_run(db, "LET now = SWEEP waves STEP u = 2*u - v + 0.5*(u[-1] - 2*u + u[1]), v = u STEPS 4 EDGE mirror;");
    db_expect(db, "SELECT count(*), sum(later.u = now.u AND later.v = now.v) FROM later JOIN now USING (x, y)",
              "1369,1369\n");
    db_expect(db, "SELECT count(*) FROM later WHERE y = 2 AND x BETWEEN 3 AND 5", "3\n");
    db_run(db, "LET twice = SWEEP (SWEEP plate STEP " HEAT " STEPS 3) STEP " HEAT " STEPS 2;");
    db_run(db, "LET once = SWEEP plate STEP " HEAT " STEPS 5;");
    db_expect(db, "SELECT count(*), sum(twice.value = once.value) FROM twice JOIN once USING (x, y)", "777,777\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changes, setup, teardown),
        cmocka_unit_test_setup_teardown(until, setup, teardown),
        cmocka_unit_test_setup_teardown(until_stops_at_once, setup, teardown),
        cmocka_unit_test(through_a_database),
        cmocka_unit_test_setup_teardown(through_files, setup, teardown),
        cmocka_unit_test_setup_teardown(views, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
