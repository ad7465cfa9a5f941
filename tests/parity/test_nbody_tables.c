/* SPDX-License-Identifier: Apache-2.0
 *
 * NBODY and ACCELERATE through the engine: the tables that come with a result against SQL's own sums, snapshots, runs
 * cut in two through files and through a database, views, notes, and the body files of the shared data.
 */
#include "support/db.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

static int setup(void **state)
{
    unsetenv("LACIS_NBODY_WAY");
    *state = db_open(NULL);
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

/* ------------------------------------------------------------------------------------------- figures */

/* Sums over all pairs, by SQL. */
static void figures(void **state)
{
    lacis_engine *db = *state;
    static const struct {
        const char *column, *sum;
    } cases[] = {
        {"kinetic", "SELECT sum(m * (vx*vx + vy*vy + vz*vz) / 2) FROM g"},
        {"potential", "SELECT -sum(a.m * b.m / sqrt((a.x-b.x)*(a.x-b.x) + (a.y-b.y)*(a.y-b.y) + (a.z-b.z)*(a.z-b.z) "
                      "+ 0.01)) FROM g a JOIN g b ON a.id < b.id"},
        {"px", "SELECT sum(m * vx) FROM g"},
        {"pz", "SELECT sum(m * vz) FROM g"},
        {"lx", "SELECT sum(m * (y * vz - z * vy)) FROM g"},
        {"ly", "SELECT sum(m * (z * vx - x * vz)) FROM g"},
        {"lz", "SELECT sum(m * (x * vy - y * vx)) FROM g"},
        {"cx", "SELECT sum(m * x) / sum(m) FROM g"},
        {"cz", "SELECT sum(m * z) / sum(m) FROM g"},
    };
    db_run(db, "GENERATE g AS plummer(n = 200, seed = 3); LET r = NBODY g SOFTEN 0.1;");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "SELECT %s FROM r_energy", cases[i].column);
        const double found = number(db, text), wanted = number(db, cases[i].sum);
        if (!(fabs(found - wanted) <= 1e-13)) fail_msg("%s is %.17g, expected %.17g", cases[i].column, found, wanted);
    }
    db_expect(db, "SELECT count(*), min(drift), max(abs(energy - kinetic - potential)) FROM r_energy", "1,0.0,0.0\n");
}

static void rows(void **state)
{
    lacis_engine *db = *state;
    db_run(db, "GENERATE g AS plummer(n = 50, seed = 3);");
    db_run(db, "LET r = NBODY g STEPS 7 DT 0.5 SOFTEN 0.3 EVERY 3;");
    db_expect(db, "SELECT step, t FROM r_energy", "0,0.0\n3,1.5\n6,3.0\n7,3.5\n");
    db_run(db, "LET r = NBODY g STEPS 6 DT 0.5 SOFTEN 0.3 EVERY 3;");
    db_expect(db, "SELECT step, t FROM r_energy", "0,0.0\n3,1.5\n6,3.0\n");
    db_run(db, "LET r = NBODY r STEPS 2 DT 0.5 SOFTEN 0.3;");
    db_expect(db, "SELECT step, t FROM r_energy", "0,3.0\n2,4.0\n");
    db_run(db, "LET r = NBODY g STEPS 2 DT 0.5 SOFTEN 0.3 EVERY 9;");
    db_expect(db, "SELECT step, t FROM r_energy", "0,0.0\n2,1.0\n");
    db_run(db, "LET r = NBODY g EVERY 9 CERTIFY 1000;");
    db_expect(db, "SELECT step, t FROM r_energy", "0,0.0\n");
    db_expect(db, "SELECT quantile, relative < 1e-2, scaled < 1e-2 FROM r_error",
              "0.5,1,1\n0.9,1,1\n0.99,1,1\n1.0,1,1\n");
}

/* The time of bodies that were at rest at a place far away: what a run of zero mass is. */
static void tracers(void **state)
{
    lacis_engine *db = *state;
    db_run(db, "LET g = SELECT 0 AS id, 0 AS m, 1 AS x, 2 AS y, 3 AS z, 1 AS vx, 0 AS vy, -1 AS vz;");
    db_run(db, "LET r = NBODY g STEPS 8 DT 0.25 EVERY 4 CERTIFY 1;");
    db_expect(db, "SELECT x, y, z, vx, vz, ax FROM r", "3.0,2.0,1.0,1.0,-1.0,0.0\n");
    db_expect(db, "SELECT step, energy, drift, cx FROM r_energy", "0,0.0,0.0,0.0\n4,0.0,0.0,0.0\n8,0.0,0.0,0.0\n");
    db_expect(db, "SELECT max(relative), max(scaled) FROM r_error", "0.0,0.0\n");
}

/* -------------------------------------------------------------------------------------------- resuming */

static const char same[] =
    "SELECT count(*) FROM whole a JOIN again b USING (id) WHERE a.x = b.x AND a.y = b.y AND "
    "a.z = b.z AND a.vx = b.vx AND a.vy = b.vy AND a.vz = b.vz AND a.ax = b.ax AND a.ay = b.ay "
    "AND a.az = b.az AND a.m = b.m";

static void through_files(void **state)
{
    lacis_engine *db = *state;
    char text[600], folder[] = "/tmp/lacis-nbody-XXXXXX";
    assert_non_null(mkdtemp(folder));
    db_run(db, "GENERATE g AS plummer(n = 300, seed = 5, type = 'f32');");
    db_run(db, "LET whole = NBODY g STEPS 12 DT 0.02 SOFTEN 0.1 ALPHA 0.01 TYPE mixed;");
    snprintf(text, sizeof text,
             "LET h = NBODY g STEPS 8 DT 0.02 SOFTEN 0.1 ALPHA 0.01 TYPE mixed EVERY 4 TO '%s/a_*.npy';", folder);
    db_run(db, text);
    snprintf(text, sizeof text,
             "LOAD f FROM '%s/a_4.npy'; LET again = NBODY f STEPS 8 DT 0.02 SOFTEN 0.1 ALPHA 0.01;", folder);
    db_run(db, text);
    db_expect(db, same, "0\n"); /* by default f64, not mixed */
    snprintf(text, sizeof text, "LET again = NBODY f STEPS 8 DT 0.02 SOFTEN 0.1 ALPHA 0.01 TYPE mixed;");
    db_run(db, text);
    db_expect(db, same, "300\n");
    for (int step = 0; step <= 8; step += 4) {
        snprintf(text, sizeof text, "%s/a_%d.npy", folder, step);
        assert_int_equal(unlink(text), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void through_a_database(void **state)
{
    char path[] = "/tmp/lacis-nbody-XXXXXX";
    const int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    close(file);
    lacis_engine *db = db_open(path);
    db_run(db, "GENERATE g AS plummer(n = 300, seed = 5);");
    db_run(db, "LET whole = NBODY g STEPS 12 DT 0.02 SOFTEN 0.1; LET half = NBODY g STEPS 5 DT 0.02 SOFTEN 0.1;");
    lacis_close(db);
    db = db_open(path);
    db_run(db, "LET again = NBODY half STEPS 7 DT 0.02 SOFTEN 0.1;");
    db_expect(db, same, "300\n");
    db_expect(db, "SELECT step FROM whole_energy", "0\n12\n");
    lacis_close(db);
    unlink(path);
}

/* ------------------------------------------------------------------------------------------- views, ids */

static void views(void **state)
{
    lacis_engine *db = *state;
    db_run(db,
           "LET g = SELECT 10 - value AS id, 1 AS m, value AS x, 0 AS y, 0 AS z FROM (SELECT 1 AS value UNION ALL "
           "SELECT 2 UNION ALL SELECT 4);");
    db_run(db, "CREATE VIEW a AS ACCELERATE g POTENTIAL; CREATE VIEW n AS NBODY g POTENTIAL;");
    db_expect(db, "SELECT id, round(ax, 9), round(phi, 9) FROM a ORDER BY id",
              "6,-0.361111111,-0.833333333\n8,-0.75,-1.5\n9,1.111111111,-1.333333333\n");
    db_expect(db, "SELECT a.ax = n.ax, a.phi = n.phi, n.vx FROM a JOIN n USING (id)", "1,1,0.0\n1,1,0.0\n1,1,0.0\n");
    db_expect(db, "SELECT count(*) FROM n WHERE id = 8", "1\n");
    db_run(db, "LET e = SELECT *, 0.5 AS eps FROM g; LET r = NBODY e; LET s = NBODY g SOFTEN 0.5;");
    db_expect(db, "SELECT r.ax = s.ax, eps FROM r JOIN s USING (id)", "1,0.5\n1,0.5\n1,0.5\n");
}

/* --------------------------------------------------------------------------------------------- the files */

/* Figures of expected.json. */
static void shared_files(void **state)
{
    static const struct {
        const char *file;
        double mass, kinetic, x;
    } cases[] = {
        {"planets.txt", 4.97252953775e+41, 3.8750350253125e+56, 797352.62403168},
        {"galaxy1.txt", 1.7608e+25, 3.0174736584973206e+32, -43090.786483929456},
        {"collision1.txt", 3.18126889955e+27, 8.766068475564575e+37, -866769.9660504094},
        {"galaxy10k.txt", 6e+23, 4.018921889399566e+30, 3938.571618121},
        {"galaxy_20K.bin", 130.91738161165267, 97.63939038821873, 3.9370988347739496e-07},
    };
    lacis_engine *db = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[600], path[400];
        snprintf(path, sizeof path, "%s/graphs/nbody/%s", LACIS_SHARED_DATA, cases[i].file);
        if (access(path, R_OK) != 0) {
            print_message("skipped: no %s\n", path);
            continue;
        }
        snprintf(text, sizeof text, "LOAD f FROM '%s'; LET r = NBODY f TYPE f64 G 6.674e-11 CERTIFY 100;", path);
        db_run(db, text);
        const double mass = number(db, "SELECT sum(m) FROM f"), kinetic = number(db, "SELECT kinetic FROM r_energy");
        const double x = number(db, "SELECT cx FROM r_energy"), off = number(db, "SELECT max(scaled) FROM r_error");
        if (!(fabs(mass / cases[i].mass - 1) < 1e-12 && fabs(kinetic / cases[i].kinetic - 1) < 1e-12))
            fail_msg("%s: mass %.17g, kinetic energy %.17g", path, mass, kinetic);
        if (!(fabs(x - cases[i].x) <= 1e-9 * fabs(cases[i].x) + 1e-12)) fail_msg("%s: centre %.17g", path, x);
        if (!(off < 0.02)) fail_msg("%s: accelerations off by %g of their moduli", path, off);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(figures, setup, teardown),
        cmocka_unit_test_setup_teardown(rows, setup, teardown),
        cmocka_unit_test_setup_teardown(tracers, setup, teardown),
        cmocka_unit_test_setup_teardown(through_files, setup, teardown),
        cmocka_unit_test(through_a_database),
        cmocka_unit_test_setup_teardown(views, setup, teardown),
        cmocka_unit_test_setup_teardown(shared_files, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
