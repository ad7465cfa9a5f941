/* SPDX-License-Identifier: Apache-2.0
 *
 * Neurons rule by rule: how samples become sections, sections compartments; and what the statements over cells
 * refuse.
 */
#include "support/db.h"

#include <math.h>

static int setup(void **state)
{
    *state = db_open(NULL);
    db_run(*state, "CREATE TABLE s(cell, id, type, x, y, z, radius, parent)");
    return 0;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

/* Makes `cell` of these samples. */
static void samples(lacis_engine *db, const char *values)
{
    char text[2000];
    snprintf(text, sizeof text,
             "DELETE FROM s; INSERT INTO s VALUES %s; LET cell = SELECT * FROM s ORDER BY cell, rowid;", values);
    db_run(db, text);
}

static void sections(lacis_engine *db, const char *values, const char *rows)
{
    samples(db, values);
    db_run(db, "LET t = SECTIONS cell");
    db_expect(db, "SELECT section, type, number, parent, parent_x, points, round(length_um, 6) FROM t", rows);
}

/* One point: a sphere, as a cylinder as long as wide; neurites are joined to its middle by wires. */
static void test_one_point_soma(void **state)
{
    sections(*state, "(0,1,1,0,0,0,5,-1)", "0,1,0,-1,0.0,3,10.0\n");
    sections(*state, "(0,1,1,0,0,0,5,-1),(0,2,3,9,0,0,1,1),(0,3,3,29,0,0,1,2)",
             "0,1,0,-1,0.0,3,10.0\n1,3,0,0,0.5,2,20.0\n");
    /* A neurite of a single sample keeps the centre as its beginning. */
    sections(*state, "(0,1,1,0,0,0,5,-1),(0,2,3,9,0,0,1,1)", "0,1,0,-1,0.0,3,10.0\n1,3,0,0,0.5,2,9.0\n");
}

/* NeuroMorpho's three points are one point; three points otherwise are a contour of their own length. */
static void test_three_point_soma(void **state)
{
    sections(*state, "(0,1,1,0,0,0,5,-1),(0,2,1,0,-5,0,5,1),(0,3,1,0,5,0,5,1),(0,4,3,6,0,0,1,1),(0,5,3,16,0,0,1,4)",
             "0,1,0,-1,0.0,3,10.0\n1,3,0,0,0.5,2,10.0\n");
    sections(*state, "(0,1,1,0,0,0,5,-1),(0,2,1,0,-9,0,5,1),(0,3,1,0,9,0,5,1)",
             "0,1,0,-1,0.0,2,9.0\n1,1,1,0,0.0,2,9.0\n");
    sections(*state, "(0,1,1,0,0,0,5,-1),(0,2,1,4,0,0,6,1),(0,3,1,8,0,0,5,2)", "0,1,0,-1,0.0,3,8.0\n");
}

/* Off the middle of a long soma: joined to 0.5; off its end: to 1. */
static void test_long_soma(void **state)
{
    sections(*state,
             "(0,1,1,0,0,0,5,-1),(0,2,1,4,0,0,6,1),(0,3,1,8,0,0,5,2),(0,4,3,4,9,0,1,2),(0,5,3,4,29,0,1,4),"
             "(0,6,3,18,0,0,1,3)",
             "0,1,0,-1,0.0,3,8.0\n1,3,0,0,0.5,2,20.0\n2,3,1,0,1.0,2,10.0\n");
}

static void test_soma_under_neurite(void **state)
{
    sections(*state, "(0,1,3,0,0,0,1,-1),(0,2,3,4,0,0,1,1),(0,3,1,9,0,0,3,2)",
             "0,3,0,-1,0.0,2,4.0\n1,1,0,0,1.0,2,5.0\n");
}

/* Later trees of a forest join the first sample. */
static void test_forest(void **state)
{
    sections(*state, "(0,1,1,0,0,0,5,-1),(0,2,3,9,0,0,1,-1),(0,3,3,19,0,0,1,2)",
             "0,1,0,-1,0.0,3,10.0\n1,3,0,0,0.5,2,10.0\n");
}

/* A section whose two points coincide is left out, and what hung on it passes on. */
static void test_zero_length(void **state)
{
    sections(*state,
             "(0,1,3,0,0,0,1,-1),(0,2,3,8,0,0,1,1),(0,3,3,8,0,0,1,2),(0,4,3,12,0,0,1,3),(0,5,3,8,7,0,1,3),"
             "(0,6,3,8,-3,0,1,2)",
             "0,3,0,-1,0.0,2,8.0\n1,3,1,0,1.0,2,4.0\n2,3,2,0,1.0,2,7.0\n3,3,3,0,1.0,2,3.0\n");
}

static void test_types_and_names(void **state)
{
    lacis_engine *db = *state;
    sections(db,
             "(0,1,1,0,0,0,5,-1),(0,2,-3,9,0,0,1,1),(0,3,-3,19,0,0,1,2),(0,4,70000,9,9,0,1,1),(0,5,70000,9,19,0,1,4)",
             "0,1,0,-1,0.0,3,10.0\n1,-3,0,0,0.5,2,10.0\n2,70000,0,0,0.5,2,10.0\n");
    db_run(db, "SIMULATE cell DT 0.1 STEPS 1 PROBE 'minus_3(1)' PROBE 'dend_70000[0](0.2)' PROBE 'SOMA'");
}

static void test_cuts(void **state)
{
    lacis_engine *db = *state;
    db_run(db, "GENERATE cell AS cable(100, 2); LET n = COMPARTMENTS cell NSEG 4;");
    db_expect(db, "SELECT count(*), round(sum(area_um2) / (200 * 3.141592653589793), 12) FROM n", "6,1.0\n");
    db_expect(db, "SELECT node, x, parent FROM n", "0,0.0,-1\n1,0.125,0\n2,0.375,1\n3,0.625,2\n4,0.875,3\n5,1.0,4\n");
    db_run(db, "LET n = COMPARTMENTS cell LENGTH 30"); /* 4 would do; the next odd number is 5 */
    db_expect(db, "SELECT count(*) FROM n", "7\n");
    db_run(db, "LET n = COMPARTMENTS cell LENGTH 20");
    db_expect(db, "SELECT count(*) FROM n", "7\n");
    db_run(db, "LET n = COMPARTMENTS cell LENGTH 100");
    db_expect(db, "SELECT count(*) FROM n", "3\n");
    /* ri of a whole cylinder: 0.01 ra L / (pi r2) megaohm */
    db_expect(db, "SELECT round(sum(ri_megaohm) / (0.01 * 100 * 100 / 3.141592653589793), 12) FROM n", "1.0\n");
    db_run(db, "LET m = COMPARTMENTS cell RA 200 LENGTH 100");
    db_expect(db, "SELECT m.ri_megaohm / n.ri_megaohm FROM n JOIN m USING (node) WHERE node = 1", "2.0\n");
}

static void test_cable(void **state)
{
    lacis_engine *db = *state;
    db_run(db,
           "GENERATE y AS cable(length = 50, diameter = 3, branches = 5, branch_length = 20, branch_diameter = 0.7);"
           "LET t = SECTIONS y EXACT;");
    db_expect(db, "SELECT count(*), sum(length_um), max(parent_x), sum(abs(diam_um - 0.7) < 1e-12) FROM t",
              "6,150.0,1.0,5\n");
    db_fails(db, "GENERATE z AS cable(length = 0, diameter = 1)", LACIS_RANGE, "length");
    db_fails(db, "GENERATE z AS cable(length = 1, diameter = 1, branches = -1)", LACIS_RANGE, "branches");
}

static void test_bad_cells(void **state)
{
    lacis_engine *db = *state;
    samples(db, "(0,1,1,0,0,0,5,-1),(0,2,3,9,0,0,1,7)");
    db_fails(db, "SECTIONS cell", LACIS_TYPE, "sample 2: its parent 7 is not there");
    samples(db, "(0,1,1,0,0,0,5,-1),(0,2,3,9,0,0,1,3),(0,3,3,9,1,0,1,1)");
    db_fails(db, "SECTIONS cell", LACIS_TYPE, "sample 2: its parent 3 comes after it");
    samples(db, "(0,1,1,0,0,0,5,1)");
    db_fails(db, "SECTIONS cell", LACIS_TYPE, "is the sample itself");
    samples(db, "(0,1,1,0,0,0,5,-1),(0,1,3,9,0,0,1,1)");
    db_fails(db, "SECTIONS cell", LACIS_TYPE, "sample 1 twice");
    samples(db, "(0,1,1,0,0,0,5,-1),(4,1,1,0,0,0,5,-1),(4,2,3,9,0,0,-1,1)");
    db_fails(db, "SECTIONS cell", LACIS_RANGE, "cell 4, sample 2: its radius is negative");
    samples(db, "(0,1,1,0,0,0,5,-1),(0,2,3,9,0,0,0,1),(0,3,3,19,0,0,0,2)");
    db_run(db, "SECTIONS cell");
    db_fails(db, "COMPARTMENTS cell", LACIS_RANGE, "section dend[0]: d_lambda needs diameters above 0");
    db_fails(db, "COMPARTMENTS cell NSEG 1", LACIS_RANGE, "section dend[0]: a compartment has no area");
    samples(db, "(0,1,3,0,0,0,5,-1),(0,2,3,0,0,0,5,1)");
    db_fails(db, "COMPARTMENTS cell", LACIS_RANGE, "section dend[0]: has no length");
    db_run(db, "LET t = SELECT 1 AS id, 2 AS type");
    db_fails(db, "SECTIONS t", LACIS_TYPE, "no column 'x'");
    db_run(db, "GENERATE g AS path(3)");
    db_fails(db, "SECTIONS g", LACIS_TYPE, "tables of samples");
}

static void test_bad_clauses(void **state)
{
    static const struct {
        const char *text;
        lacis_status status;
        const char *part;
    } bad[] = {
        {"DT 0 STEPS 1 PROBE soma", LACIS_RANGE, "DT must be above 0"},
        {"DT 0.1 STEPS -1 PROBE soma", LACIS_RANGE, "STEPS"},
        {"DT 0.1 STEPS 1", LACIS_SYNTAX, "needs PROBE"},
        {"DT 0.1 STEPS 1 PROBE axon", LACIS_NAME, "has no section axon[0]"},
        {"DT 0.1 STEPS 1 PROBE 'dend[0](1.5)'", LACIS_SYNTAX, "is no place"},
        {"DT 0.1 STEPS 1 PROBE 'dend[0'", LACIS_SYNTAX, "is no place"},
        {"DT 0.1 STEPS 1 PROBE 99", LACIS_NAME, "has no sample 99"},
        {"DT 0.1 STEPS 1 PROBE soma EVERY 0", LACIS_RANGE, "EVERY"},
        {"DT 0.1 STEPS 1 PROBE soma LANES 0", LACIS_RANGE, "LANES"},
        {"DT 0.1 STEPS 1 PROBE soma CLAMP soma 1 FROM 3 TO 2", LACIS_RANGE, "FROM a time TO a later one"},
        {"DT 0.1 STEPS 1 PROBE soma G -1", LACIS_RANGE, "G must not be negative"},
        {"DT 0.1 STEPS 1 PROBE soma CM 0", LACIS_RANGE, "CM must be above 0"},
        {"DT 0.1 STEPS 1 PROBE soma GNA 1", LACIS_SYNTAX, "GNA belongs to HH"},
        {"DT 0.1 STEPS 1 PROBE soma HH G 1", LACIS_SYNTAX, "G belongs to passive"},
        {"DT 0.1 STEPS 1 PROBE soma CELSIUS 20", LACIS_SYNTAX, "CELSIUS belongs to HH"},
        {"DT 0.1 STEPS 1 PROBE soma THRESHOLD 1", LACIS_SYNTAX, "THRESHOLD belongs to"},
        {"DT 0.1 STEPS 1 PROBE soma TYPE 3 CM 0", LACIS_RANGE, "TYPE 3: CM cannot be 0"},
        {"DT 0.1 STEPS 1 PROBE soma NSEG 3 LENGTH 2", LACIS_SYNTAX, "one of NSEG"},
        {"DT 0.1 STEPS 1 PROBE soma NSEG 3 AT 2", LACIS_SYNTAX, "AT belongs to DLAMBDA"},
        {"DT 0.1 STEPS 1 PROBE soma PARAMETERS odd", LACIS_NAME, "column 'nonsense'"},
        {"DT 0.1 STEPS 1 PROBE soma PARAMETERS low", LACIS_RANGE, "lane 1: g cannot be -1"},
        {"DT 0.1 STEPS 1 PROBE soma PARAMETERS low LANES 3", LACIS_TYPE, "2 rows for 3 lanes"},
        {"DT 0.1 STEPS 1 PROBE soma PARAMETERS twice", LACIS_TYPE, "lane 0 is there twice"},
        {"DT 0.1 STEPS 100 PROBE soma CLAMP soma 1e308 FROM 0 TO 9", LACIS_RANGE, "not a finite number"},
        {"DT 0.1 STEPS 1000000000000 LANES 1000000 PROBE soma", LACIS_LIMIT, "rows, more than can be numbered"},
        {"DT 0.1 STEPS 1000000000 LANES 1000 PROBE soma", LACIS_LIMIT, "memory_limit"},
    };
    lacis_engine *db = *state;
    samples(db, "(0,1,1,0,0,0,5,-1),(0,2,3,9,0,0,1,1),(0,3,3,29,0,0,1,2)");
    db_run(db,
           "LET odd = SELECT 0 AS lane, 1 AS nonsense; LET low = SELECT 0 AS lane, 1.0 AS g UNION ALL SELECT 1, -1;"
           "LET twice = SELECT 0 AS lane, 1.0 AS g UNION ALL SELECT 0, 2;");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[300];
        snprintf(text, sizeof text, "LET v = SIMULATE cell %s", bad[i].text);
        db_fails(db, text, bad[i].status, bad[i].part);
    }
}

/* What REDUCE keeps agrees with the trace. */
static void test_reduce(void **state)
{
    lacis_engine *db = *state;
    static const char form[] =
        "LET r = SIMULATE cell DT 0.025 STEPS 1600 NSEG 1 HH CLAMP soma 0.5 FROM 1 TO 30 LANES 3 "
        "PROBE soma PROBE 3 EVERY 2 REDUCE ";
    char text[300];
    samples(db, "(0,1,1,0,0,0,8,-1),(0,2,3,9,0,0,1,1),(0,3,3,99,0,0,1,2)");
    snprintf(text, sizeof text, "%.*s", (int)(strlen(form) - strlen("REDUCE ")), form);
    text[4] = 'v';
    db_run(db, text);
    snprintf(text, sizeof text, "%smax", form);
    db_run(db, text);
    db_expect(db,
              "SELECT count(*) FROM r JOIN v USING (probe, lane, t, v) WHERE (probe, lane, v) IN "
              "(SELECT probe, lane, max(v) FROM v GROUP BY 1, 2)",
              "6\n");
    snprintf(text, sizeof text, "%smin", form);
    db_run(db, text);
    db_expect(db,
              "SELECT count(*) FROM r JOIN v USING (probe, lane, t, v) WHERE (probe, lane, v) IN "
              "(SELECT probe, lane, min(v) FROM v GROUP BY 1, 2)",
              "6\n");
    snprintf(text, sizeof text, "%smean", form);
    db_run(db, text);
    db_expect(
        db,
        "SELECT count(*) FROM r JOIN (SELECT probe, lane, avg(v) AS a FROM v GROUP BY 1, 2) USING (probe, lane) "
        "WHERE abs(a - v) < 1e-9",
        "6\n");
    snprintf(text, sizeof text, "%sspikes", form);
    db_run(db, text);
    db_expect(db,
              "WITH o AS (SELECT t, probe, lane, v, lag(v) OVER (PARTITION BY probe, lane ORDER BY t) AS w FROM v), "
              "c AS (SELECT probe, lane, count(*) AS n, min(t) AS f FROM o WHERE v >= 0 AND w < 0 GROUP BY 1, 2) "
              "SELECT count(*), min(n) > 1 FROM c JOIN r USING (probe, lane) WHERE n = v AND f = r.t",
              "6,1\n");
    db_run(db, "LET r = SIMULATE cell DT 0.025 STEPS 100 PROBE soma REDUCE spikes");
    db_expect(db, "SELECT t, v FROM r", "NULL,0.0\n");
}

/* TYPE sets figures of one type; the same as PARAMETERS where there is one type only. */
static void test_types(void **state)
{
    lacis_engine *db = *state;
    db_run(
        db,
        "GENERATE cell AS cable(300, 2); LET p = SELECT 2.0 AS cm, 0.0003 AS g, -60.0 AS e;"
        "LET a = SIMULATE cell DT 0.025 STEPS 50 CLAMP dend 0.1 FROM 0 TO 9 PROBE dend NSEG 5 TYPE 3 G 0.0003 "
        "TYPE 3 CM 2 TYPE 3 E -60 TYPE 4 G 7;"
        "LET b = SIMULATE cell DT 0.025 STEPS 50 CLAMP dend 0.1 FROM 0 TO 9 PROBE dend NSEG 5 PARAMETERS p;"
        "LET c = SIMULATE cell DT 0.025 STEPS 50 CLAMP dend 0.1 FROM 0 TO 9 PROBE dend NSEG 5 G 0.0003 CM 2 E -60");
    db_expect(db, "SELECT count(*) FROM a JOIN b USING (t, v) JOIN c USING (t, v)", "51\n");
}

static void test_explain(void **state)
{
    lacis_engine *db = *state;
    char *text;
    db_run(db, "GENERATE cell AS cable(300, 2)");
    assert_int_equal(lacis_explain(db, "SIMULATE cell DT 0.1 STEPS 10 PROBE dend LANES 20 NSEG 3", &text), LACIS_OK);
    assert_non_null(strstr(text, "nodes 5 (compartments: 3 a section)"));
    assert_non_null(strstr(text, "lanes 20 of each cell, compartments 100, times 10 steps of 0.1 ms"));
    assert_non_null(strstr(text, "membrane: passive, its matrix eliminated once, for all lanes"));
    assert_non_null(strstr(text, "table of 220"));
    lacis_free(text);
    db_run(db, "LET p = SELECT 1.0 AS cm UNION ALL SELECT 2.0");
    assert_int_equal(lacis_explain(db, "SIMULATE cell DT 0.1 STEPS 10 PROBE dend PARAMETERS p", &text), LACIS_OK);
    assert_non_null(strstr(text, "eliminated once, for each lane"));
    lacis_free(text);
    assert_int_equal(lacis_explain(db, "SIMULATE cell DT 0.1 STEPS 10 PROBE dend HH", &text), LACIS_OK);
    assert_non_null(strstr(text, "Hodgkin-Huxley, its matrix eliminated in every step"));
    lacis_free(text);
}

/* A view is read in blocks of lanes; all blocks together are the whole. */
static void test_view(void **state)
{
    lacis_engine *db = *state;
    db_run(
        db,
        "GENERATE cell AS cable(300, 2); CREATE TABLE q(lane, amplitude);"
        "WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 99) "
        "INSERT INTO q SELECT i, i * 0.01 FROM k; LET p = SELECT * FROM q;"
        "CREATE VIEW w AS SIMULATE cell DT 0.025 STEPS 1000 NSEG 5 CLAMP dend 1 FROM 0 TO 9 PARAMETERS p PROBE dend;"
        "LET v = SIMULATE cell DT 0.025 STEPS 1000 NSEG 5 CLAMP dend 1 FROM 0 TO 9 PARAMETERS p PROBE dend;");
    db_expect(db, "SELECT count(*), count(DISTINCT lane) FROM w", "100100,100\n");
    db_run(db, "CREATE TABLE y AS SELECT * FROM w; CREATE TABLE z AS SELECT * FROM v;");
    db_expect(db, "SELECT count(*) FROM (SELECT * FROM y EXCEPT SELECT * FROM z)", "0\n");
}

static int interrupt(void *arg)
{
    lacis_interrupt(arg);
    return 0;
}

static void stop_it(void *arg, const char *phase, double fraction)
{
    assert_memory_equal(phase, "SIMULATE ", strlen("SIMULATE "));
    assert_non_null(strstr(phase, " of 1e+09 steps of a lane"));
    assert_true(fraction >= 0 && fraction <= 1);
    interrupt(arg);
}

/* Progress is told while it runs, and it can be stopped. */
static void test_interrupt(void **state)
{
    lacis_engine *db = *state;
    db_run(db, "GENERATE cell AS cable(300, 2)");
    lacis_set_progress(db, stop_it, db);
    db_fails(db, "LET v = SIMULATE cell DT 0.025 STEPS 1000000000 NSEG 99 PROBE dend REDUCE max", LACIS_INTERRUPT,
             "interrupt");
    lacis_set_progress(db, NULL, NULL);
    db_run(db, "LET v = SIMULATE cell DT 0.025 STEPS 10 PROBE dend");
}

/* A chain a million samples deep, and a comb: no recursion, no time lost. */
static void test_deep(void **state)
{
    lacis_engine *db = *state;
    db_run(db, "LET cell = WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 299999) "
               "SELECT 0 AS cell, i AS id, 3 AS type, i / 2 AS x, i % 2 AS y, 0 AS z, 1.0 AS radius, "
               "CASE WHEN i = 0 THEN -1 WHEN i % 2 = 0 THEN i - 2 ELSE i - 1 END AS parent FROM k;"
               "LET t = SECTIONS cell; LET n = COMPARTMENTS cell NSEG 1;");
    db_expect(db, "SELECT count(*), max(parent_x) FROM t", "299998,1.0\n");
    db_expect(db, "SELECT count(*), sum(parent >= node) FROM n", "599997,0\n");
    db_run(db, "LET v = SIMULATE cell DT 0.1 STEPS 2 NSEG 1 PROBE 299999");
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK(test_one_point_soma),
                                       CHECK(test_three_point_soma),
                                       CHECK(test_long_soma),
                                       CHECK(test_soma_under_neurite),
                                       CHECK(test_forest),
                                       CHECK(test_zero_length),
                                       CHECK(test_types_and_names),
                                       CHECK(test_cuts),
                                       CHECK(test_cable),
                                       CHECK(test_bad_cells),
                                       CHECK(test_bad_clauses),
                                       CHECK(test_reduce),
                                       CHECK(test_types),
                                       CHECK(test_explain),
                                       CHECK(test_view),
                                       CHECK(test_interrupt),
                                       CHECK(test_deep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
