/* SPDX-License-Identifier: Apache-2.0
 *
 * Lazy views as SQL sees them: a view's own clauses come before SQL's conditions, views over views compute only the
 * rows that are asked for, vectors meet graphs by id, and EXPLAIN says what is passed down.
 */
#include "support/db.h"

static int setup(void **state)
{
    lacis_engine *engine;
    if (lacis_open(NULL, &engine) != LACIS_OK) return -1;
    *state = engine;
    return lacis_exec(engine,
                      "LET g = SELECT * FROM (SELECT 1 AS src, 2 AS dst, 5 AS value UNION ALL SELECT 1, 3, 4 "
                      "UNION ALL SELECT 2, 1, 1 UNION ALL SELECT 2, 3, 7 UNION ALL SELECT 3, 1, 2 UNION ALL "
                      "SELECT 3, 4, 3 UNION ALL SELECT 4, 1, 9 UNION ALL SELECT 4, 2, 6);"
                      "CREATE VIEW two AS MULTIPLY g BY g CON a + b AGG min;",
                      NULL, NULL) == LACIS_OK
               ? 0
               : -1;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static void top_comes_before_sql(void **state)
{
    db_run(*state, "CREATE VIEW best AS MULTIPLY g BY g CON b AGG max TOP 1;");
    db_run(*state, "LET kept = MULTIPLY g BY g CON b AGG max TOP 1;");
    db_expect(*state, "SELECT * FROM best", "1,3,7\n2,2,5\n3,1,9\n4,3,7\n");
    db_expect(*state, "SELECT * FROM best WHERE dst = 1", "3,1,9\n");
    db_expect(*state, "SELECT * FROM best WHERE dst >= 3 ORDER BY value DESC, src, dst LIMIT 1", "1,3,7\n");
    db_expect(*state, "SELECT count(*) FROM best JOIN kept USING (src, dst, value)", "4\n");
}

static void top_of_a_vector_counts_what_where_leaves(void **state)
{
    db_run(*state, "LET v = SELECT 1 AS i, 1 AS value UNION ALL SELECT 4, 1;");
    db_expect(*state, "MULTIPLY v BY g CON b AGG sum", "1,9\n2,11\n3,4\n");
    db_expect(*state, "MULTIPLY v BY g CON b AGG sum TOP 2", "1,9\n2,11\n");
    db_expect(*state, "MULTIPLY v BY g CON b AGG sum WHERE src IN (1, 3) TOP 1", "1,9\n");
    db_expect(*state, "MULTIPLY v BY g CON b AGG sum WHERE src % 2 = 1 TOP 5", "1,9\n3,4\n");
    db_run(*state, "CREATE VIEW w AS MULTIPLY v BY g CON b AGG sum TOP 2;");
    db_expect(*state, "SELECT * FROM w WHERE i <> 2", "1,9\n");
    db_expect(*state, "SELECT * FROM w WHERE i >= 3", "");
}

/* Of b only what two rows reach is converted to the type that CON computes in. */
static void few_rows_of_a_large_product(void **state)
{
    db_run(*state, "GENERATE large AS rmat(scale = 13, edge_factor = 12, seed = 3, weights = int);");
    db_run(*state, "LET all_rows = MULTIPLY large BY large CON a - b AGG sum;");
    db_run(*state, "LET few = MULTIPLY large BY large CON a - b AGG sum WHERE src IN (5, 77);");
    char *rows = db_rows(*state, "SELECT * FROM all_rows WHERE src IN (5, 77)");
    assert_true(strlen(rows) > 0);
    db_expect(*state, "SELECT * FROM few", rows);
    free(rows);
}

static void views_over_views(void **state)
{
    db_run(*state, "CREATE VIEW three AS MULTIPLY two BY g CON a + b AGG min;"
                   "LET all_two = MULTIPLY g BY g CON a + b AGG min;"
                   "LET all_three = MULTIPLY all_two BY g CON a + b AGG min;");
    db_expect(*state, "SELECT count(*) FROM three JOIN all_three USING (src, dst, value)", "16\n");
    db_expect(*state, "SELECT count(*) FROM three WHERE src = 2", "4\n");
    db_expect(*state,
              "SELECT t.value = a.value FROM three t JOIN all_three a ON t.src = 3 AND a.src = 3 AND "
              "t.dst = a.dst ORDER BY t.dst LIMIT 1",
              "1\n");
    db_run(*state, "CREATE VIEW masked AS MULTIPLY two BY g MASK NOT three;");
    db_expect(*state, "SELECT count(*) FROM masked WHERE src = 1", "0\n");
    db_fails(*state, "CREATE VIEW own AS MULTIPLY own BY own;", LACIS_RANGE, "does a view use itself");
}

/* Only row 5 of the first product is asked for: all of it would not fit. */
static void rows_pass_through_views(void **state)
{
    db_run(*state, "GENERATE big AS uniform(20000, 16, seed = 1);"
                   "CREATE VIEW near AS MULTIPLY big BY big CON nil AGG count;"
                   "CREATE VIEW far AS MULTIPLY near BY big CON a AGG sum;"
                   "SET memory_limit = '12MB';");
    db_expect(*state, "SELECT sum(value) FROM far WHERE src = 5", "4096\n");
    db_fails(*state, "LET x = MULTIPLY near BY big CON a AGG sum;", LACIS_LIMIT, "memory_limit");
}

static void vectors_and_graphs_meet_by_id(void **state)
{
    db_run(*state, "LET one = SELECT 1 AS i, 10 AS value;"
                   "LET part = SELECT src, dst, value FROM g WHERE src < 3 AND dst < 3;");
    db_expect(*state, "MULTIPLY one BY g", "2,50\n3,40\n");
    db_expect(*state, "MULTIPLY g BY one", "2,10\n3,20\n4,90\n");
    db_expect(*state, "MULTIPLY g BY part", "1,1,5\n2,2,5\n3,2,10\n4,1,6\n4,2,45\n");
    db_expect(*state, "MULTIPLY part BY g MASK NOT part WHERE src = 1", "1,1,5\n1,3,35\n");
    db_run(*state, "LET first = MULTIPLY g BY g WHERE src <= 2;");
    db_expect(*state, "SELECT count(*) FROM first", "7\n");
    db_expect(*state, "MULTIPLY g BY first CON nil AGG count WHERE src = 4", "4,1,2\n4,2,1\n4,3,2\n4,4,2\n");
}

static void count_warnings(void *arg, lacis_level level, const char *message)
{
    if (level == LACIS_WARNING && strstr(message, "matched by id") != NULL) ++*(int *)arg;
}

static void vectors_that_count_otherwise_are_noticed(void **state)
{
    int warnings = 0;
    lacis_set_log(*state, count_warnings, &warnings);
    db_run(*state, "LET zero = SELECT 0 AS i, 1 AS value UNION ALL SELECT 1, 1 UNION ALL SELECT 2, 1 UNION ALL "
                   "SELECT 3, 1; LET y = MULTIPLY g BY zero;");
    assert_int_equal(warnings, 1);
    db_run(*state,
           "LET one = SELECT i + 1 AS i, value FROM zero; LET y = MULTIPLY g BY one; LET y = MULTIPLY one BY g;");
    assert_int_equal(warnings, 1);
    lacis_set_log(*state, NULL, NULL);
}

static char *explained(lacis_engine *engine, const char *text)
{
    return db_rows(engine, text);
}

static void has(lacis_engine *engine, const char *text, const char *part)
{
    char *out = explained(engine, text);
    if (strstr(out, part) == NULL) fail_msg("%s\n  does not say '%s' but\n%s", text, part, out);
    free(out);
}

static void explain_says_what_is_passed_down(void **state)
{
    has(*state, "EXPLAIN SELECT dst FROM two WHERE src = 1 ORDER BY value DESC LIMIT 2",
        "two: greatest values, first column =, limit");
    has(*state, "EXPLAIN SELECT * FROM two WHERE src IN (1, 2) AND dst > 1", "first column IN, second column >");
    has(*state, "EXPLAIN LET x = SELECT * FROM two", "two: rows in order");
    has(*state, "EXPLAIN ANALYZE SELECT * FROM two WHERE src = 1", "actual: 3 rows");
    has(*state, "EXPLAIN ANALYZE MULTIPLY g BY g", "products 16");
    db_fails(*state, "MULTIPLY g BY g ON GPU", LACIS_UNSUPPORTED, "GPU"); /* none built in, or none here */
    db_fails(*state, "LET gone = MULTIPLY g BY g WHERE src IN (SELECT 1);", LACIS_NAME, "SELECT");
}

static void count_progress(void *arg, const char *phase, double fraction)
{
    if (strcmp(phase, "MULTIPLY") == 0 && fraction < 0) ++*(int *)arg;
}

static void one_long_product_reports(void **state)
{
    int calls = 0;
    db_run(*state, "GENERATE big AS uniform(150000, 16, seed = 1);");
    lacis_set_progress(*state, count_progress, &calls);
    db_run(*state, "LET x = MULTIPLY big BY big CON nil AGG count;");
    lacis_set_progress(*state, NULL, NULL);
    assert_true(calls > 0);
}

/* Of a large graph only what the row reaches is touched: for reals and graphs with labels alike. */
static void one_row_of_a_large_graph(void **state)
{
    db_run(*state, "GENERATE big AS uniform(20000, 8, seed = 1);"
                   "LET far = SELECT src + 7 AS src, dst + 7 AS dst, 1 + src % 5 AS value FROM big WHERE src < 15000;"
                   "LET all_paths = MULTIPLY far BY far;"
                   "CREATE VIEW few AS MULTIPLY far BY far WHERE src IN (9, 100);"
                   "CREATE VIEW one AS MULTIPLY far BY far;");
    char *rows = db_rows(*state, "SELECT * FROM all_paths WHERE src IN (9, 100)");
    assert_true(strlen(rows) > 300);
    db_expect(*state, "SELECT * FROM few", rows);
    free(rows);
    rows = db_rows(*state, "SELECT * FROM all_paths WHERE src = 100");
    db_expect(*state, "SELECT * FROM one WHERE src = 100", rows);
    free(rows);
}

/* Totals of a table's column v, or value, are taken without visiting rows; NULL and types as SQLite has them. */
static void totals_of_tables(void **state)
{
    lacis_engine *db = *state;
    db_run(db,
           "CREATE TABLE s(t, v, n); WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 9999) "
           "INSERT INTO s SELECT i, i * 0.5, i FROM k; LET traces = SELECT t, v, n FROM s ORDER BY t;"
           "LET whole = SELECT t, n AS v FROM s ORDER BY t;"
           "LET both = SELECT t, v, n AS value FROM s ORDER BY t;");
    static const char *const totals = "min(v), max(v), sum(v), avg(v), count(v), count(*)";
    static const char *const table[] = {"traces", "whole"};
    for (int i = 0; i < 2; i++) {
        char quick[200], slow[200];
        snprintf(quick, sizeof quick, "SELECT %s FROM %s", totals, table[i]);
        snprintf(slow, sizeof slow, "SELECT %s FROM %s WHERE t >= 0", totals, table[i]);
        char *expected = db_rows(db, slow);
        db_expect(db, quick, expected);
        free(expected);
    }
    db_expect(db, "SELECT max(value) FROM both", "9999\n");
    db_expect(db, "SELECT max(v) FROM both", "4999.5\n");
    db_expect(db, "SELECT max(n), max(t) FROM traces", "9999,9999\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(top_comes_before_sql),
        CHECK(top_of_a_vector_counts_what_where_leaves),
        CHECK(few_rows_of_a_large_product),
        CHECK(views_over_views),
        CHECK(rows_pass_through_views),
        CHECK(vectors_and_graphs_meet_by_id),
        CHECK(vectors_that_count_otherwise_are_noticed),
        CHECK(explain_says_what_is_passed_down),
        CHECK(one_long_product_reports),
        CHECK(one_row_of_a_large_graph),
        CHECK(totals_of_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
