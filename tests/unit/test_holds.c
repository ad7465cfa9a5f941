/* SPDX-License-Identifier: Apache-2.0
 *
 * What formats say that they hold: statements that save what the format cannot hold are refused before anything is
 * computed or opened, with the formats that would do; what a format says it holds it does save.
 */
#include "support/db.h"

#include <unistd.h>

static const char *const formats[] = {"csv", "jsonl", "npy", "raw", "pgm", "png", "swc", "tipsy", "mtx", "snap"};
enum { FORMATS = sizeof formats / sizeof formats[0] };

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

static const char *path_of(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "/tmp/lacis-holds-%ld-%s", (long)getpid(), name);
    return path;
}

static void hints(lacis_engine *engine, const char *hint)
{
    if (strstr(lacis_error_hint(engine), hint) == NULL)
        fail_msg("hint \"%s\" lacks \"%s\"", lacis_error_hint(engine), hint);
}

/* --- SAVE: each kind in each format */

static void arrays(lacis_engine *engine)
{
    db_run(engine, "GENERATE graph AS path(3); GENERATE flat AS constant(4, 3); GENERATE deep AS constant(4, 3, 2); "
                   "GENERATE two AS constant(4, 3, fields = 'u,v'); GENERATE stars AS plummer(5); "
                   "GENERATE lines AS tridiagonal(lanes = 2, rows = 3); "
                   "LET tab = SELECT 1 AS a, 2 AS b UNION SELECT 3, 4; LET column = SELECT 1 AS a UNION SELECT 2; "
                   "LET vec = SELECT x AS i, value FROM flat WHERE y = 0; "
                   "LET odd = SELECT x, y, value AS \"a'b\" FROM flat");
}

/* '1': saved, '0': refused. */
static void kinds_and_formats(void **state)
{
    static const struct {
        const char *name, *held;
    } cases[] = {
        /*         csv  jsonl npy raw pgm png swc tipsy mtx snap */
        {"graph", "1100000011"}, {"flat", "1111110000"},   {"deep", "1111000000"},
        {"two", "1111000000"},   {"stars", "1110000100"},  {"lines", "1110000000"},
        {"tab", "1100000000"},   {"column", "1110000000"}, {"vec", "1110000000"},
    };
    char sql[300];
    arrays(*state);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int f = 0; f < FORMATS; f++) {
            const char *path = path_of("x");
            snprintf(sql, sizeof sql, "SAVE %s TO '%s' AS %s", cases[i].name, path, formats[f]);
            const lacis_status status = lacis_exec(*state, sql, NULL, NULL);
            if (status == LACIS_UNSUPPORTED && strcmp(formats[f], "png") == 0) continue; /* a build without libpng */
            if ((status == LACIS_OK) != (cases[i].held[f] == '1'))
                fail_msg("%s: %s (%s)", sql, lacis_status_name(status), lacis_error_message(*state));
            if (status != LACIS_OK) assert_int_equal(status, LACIS_TYPE);
            assert_int_equal(access(path, F_OK) == 0, status == LACIS_OK);
            unlink(path);
        }
}

static void what_and_where(void **state)
{
    arrays(*state);
    db_fails(*state, "SAVE vec TO 'v.raw'", LACIS_TYPE, "raw holds grids, and this is a vector");
    hints(*state, "csv or jsonl would do"); /* npy has no indices, which vectors may have */
    db_fails(*state, "SAVE deep TO 'd.png'", LACIS_TYPE,
             "png holds grids of at most 2 dimensions, and the grid has 3");
    hints(*state, "csv, jsonl, npy or raw would do; LET plane = ");
    db_fails(*state, "SAVE two TO 't.pgm'", LACIS_TYPE, "pgm holds grids of at most 1 field, and the grid has 2");
    db_fails(*state, "SAVE tab TO 't.npy'", LACIS_TYPE, "npy holds tables of at most 1 column, and the table has 2");
    hints(*state, "csv or jsonl would do"); /* swc wants certain columns */
    db_fails(*state, "SAVE odd TO 'o.npy'", LACIS_NAME, "npy: field 'a'b'");
    db_fails(*state, "SAVE stars TO 's.mtx'", LACIS_TYPE,
             "mtx holds graphs and symmetric matrices, and this is a set of bodies");
}

/* A view is refused by what it will be. Computing it would take the file's name as well: nothing is there. */
static void views(void **state)
{
    char sql[300];
    arrays(*state);
    db_run(*state, "CREATE VIEW later AS SWEEP deep STEP u STEPS 1000000000");
    snprintf(sql, sizeof sql, "SAVE later TO '%s'", path_of("later.png"));
    db_fails(*state, sql, LACIS_TYPE, "png holds grids of at most 2 dimensions");
    db_run(*state, "CREATE VIEW product AS MULTIPLY graph BY graph CON a * b AGG sum");
    db_fails(*state, "SAVE product TO 'p.raw'", LACIS_TYPE, "raw holds grids, and this is a graph");
    /* A view over a view is known once it is there. */
    db_run(*state, "CREATE VIEW single AS CONVERT odd AS f32; CREATE VIEW again AS CONVERT single AS f64");
    snprintf(sql, sizeof sql, "SAVE again TO '%s'", path_of("again.npy"));
    db_fails(*state, sql, LACIS_NAME, "npy: field 'a'b'");
    assert_int_not_equal(access(path_of("again.npy"), F_OK), 0);
}

static void count_warnings(void *arg, lacis_level level, const char *message)
{
    if (level == LACIS_WARNING && strstr(message, "STEP does not read it") != NULL) ++*(int *)arg;
}

/* A view is bound once to know what it will be and once to compute it: it has its say once. */
static void views_warn_once(void **state)
{
    char sql[300];
    int warnings = 0;
    arrays(*state);
    db_run(*state, "CREATE VIEW idle AS SWEEP flat STEP u COEFF k = flat");
    lacis_set_log(*state, count_warnings, &warnings);
    for (int i = 1; i <= 2; i++) {
        snprintf(sql, sizeof sql, "SAVE idle TO '%s'", path_of(i == 1 ? "idle.npy" : "idle.csv"));
        db_run(*state, sql);
        assert_int_equal(warnings, i);
        unlink(path_of(i == 1 ? "idle.npy" : "idle.csv"));
    }
    lacis_set_log(*state, NULL, NULL);
}

/* --- operators' files: so many steps would never end */

static void kept(void **state)
{
    static const char deep[] = "LET h = SWEEP deep STEP u STEPS 1000000000 KEEP EVERY 500000000 TO '/tmp/h_*.pgm'";
    arrays(*state);
    db_fails(*state, deep, LACIS_TYPE, "pgm holds grids of at most 2 dimensions, and the grid has 3");
    hints(*state, "csv, jsonl, npy or raw would do");
    assert_int_equal(lacis_error_offset(*state), strstr(deep, "'/tmp") - deep);
    db_fails(*state, "LET h = SWEEP two STEP u = u, v = v STEPS 1000000000 KEEP EVERY 500000000 TO '/tmp/h_*.png'",
             LACIS_TYPE, "png holds grids of at most 1 field, and the grid has 2");
    db_fails(*state, "LET h = SWEEP flat STEP u STEPS 1000000000 KEEP EVERY 500000000 TO '/tmp/h_*.mtx'", LACIS_TYPE,
             "mtx holds graphs and symmetric matrices, and this is a grid");
    hints(*state, "csv, jsonl, npy, pgm, png or raw would do");
    /* Where no step is kept no file is written, whatever could be in it. */
    db_run(*state, "LET h = SWEEP deep STEP u STEPS 9 KEEP EVERY 10 TO '/tmp/h_*.pgm'; "
                   "LET h = SWEEP h STEP u STEPS 0 KEEP EVERY 9 TO '/tmp/h_*.pgm'");
    db_fails(*state, "LET h = SWEEP h STEP u STEPS 1 KEEP EVERY 10 TO '/tmp/h_*.pgm'", LACIS_TYPE,
             "pgm holds grids of at most 2 dimensions");
    db_fails(*state, "LET h = SWEEP odd STEP u STEPS 1000000000 KEEP EVERY 500000000", LACIS_NAME,
             "npy: field 'a'b'");
    db_fails(*state, "LET s = NBODY stars STEPS 1000000000 DT 0.1 EVERY 500000000 TO '/tmp/s_*.raw'", LACIS_TYPE,
             "raw holds grids, and this is a set of bodies");
    hints(*state, "csv, jsonl, npy or tipsy would do");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kinds_and_formats, setup, teardown),
        cmocka_unit_test_setup_teardown(what_and_where, setup, teardown),
        cmocka_unit_test_setup_teardown(views, setup, teardown),
        cmocka_unit_test_setup_teardown(views_warn_once, setup, teardown),
        cmocka_unit_test_setup_teardown(kept, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
