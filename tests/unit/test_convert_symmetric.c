/* SPDX-License-Identifier: Apache-2.0
 *
 * CONVERT of dense symmetric matrices: storage and types, batches, views, what is refused; and batches of systems
 * with double-double fields.
 */
#include "support/db.h"

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

static void storage_is_changed(void **state)
{
    static const char *const kinds[] = {
        "n = 9", "n = 9, uplo = 'upper', type = 'c128'", "n = 70, type = 'cdd', uplo = 'upper'",
        "n = 6, matrices = 40, least = 1, type = 'c64'", "n = 5, matrices = 3, ld = 8"};
    for (int k = 0; k < 5; k++) {
        char sql[200];
        snprintf(sql, sizeof sql, "GENERATE a AS symmetric(%s); LET p = a LAYOUT packed; LET f = p LAYOUT full",
                 kinds[k]);
        db_run(*state, sql);
        db_expect(*state, "SELECT count(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM p)", "0\n");
        db_expect(*state, "SELECT count(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM f)", "0\n");
        db_expect(*state, "SELECT (SELECT count(*) FROM a) = (SELECT count(*) FROM f)", "1\n");
    }
}

static void types_are_changed(void **state)
{
    db_run(*state,
           "GENERATE a AS symmetric(n = 5, type = 'dd'); GENERATE b AS symmetric(n = 5); GENERATE c AS symmetric(n = "
           "5, type = 'f32'); GENERATE d AS symmetric(n = 5, type = 'c64', hermitian = false)");
    db_run(*state, "LET x = a AS f64; LET y = CONVERT b LAYOUT packed AS f32; LET z = b AS dd; LET u = a AS cdd; "
                   "LET v = d AS c128");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM x EXCEPT SELECT * FROM b)", "0\n");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM y EXCEPT SELECT * FROM c)", "0\n");
    db_expect(*state, "SELECT count(*), max(abs(lo)) FROM z JOIN b USING (i, j) WHERE z.value = b.value", "15,0.0\n");
    db_expect(*state, "SELECT count(*) FROM (SELECT i, j, re, re_lo FROM u EXCEPT SELECT i, j, value, lo FROM a)",
              "0\n");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM v EXCEPT SELECT * FROM d)", "0\n");
    db_fails(*state, "LET w = d AS f64", LACIS_TYPE, "cannot become f64");
}

static void views_and_explain(void **state)
{
    db_run(*state,
           "GENERATE a AS symmetric(n = 5); CREATE VIEW v AS a LAYOUT packed AS f32; CREATE VIEW w AS a AS cdd");
    db_expect(*state, "SELECT i, j FROM v WHERE i = 2 AND j > 0", "2,1\n2,2\n");
    db_expect(*state, "SELECT count(*), max(i), max(j) FROM v", "15,4,4\n");
    db_expect(*state, "SELECT count(*) FROM w WHERE text LIKE 'complex(%, 0.0)' AND typeof(text) = 'text'", "15\n");
    char *greatest = db_rows(*state, "SELECT i, j FROM a ORDER BY value DESC LIMIT 1");
    db_expect(*state, "SELECT i, j FROM v ORDER BY value DESC LIMIT 1", greatest);
    free(greatest);
    char *plan = db_rows(*state, "EXPLAIN CONVERT a LAYOUT packed");
    assert_non_null(strstr(plan, "symmetric 5 x 5, f64"));
    assert_non_null(strstr(plan, "a: 5 x 5, symmetric, lower triangle, columns 5 elements apart, f64"));
    assert_non_null(strstr(plan, "storage full -> packed"));
    free(plan);
}

static void what_is_refused(void **state)
{
    db_run(*state, "GENERATE a AS symmetric(n = 5); GENERATE t AS tridiagonal(3, 2); GENERATE x AS random(4)");
    db_fails(*state, "LET b = a LAYOUT flat", LACIS_TYPE, "full or packed");
    db_fails(*state, "LET b = a LAYOUT block(4)", LACIS_TYPE, "full or packed");
    db_fails(*state, "LET b = a SHARE", LACIS_TYPE, "SHARE");
    db_fails(*state, "LET b = t LAYOUT packed", LACIS_TYPE, "flat, full or block(n)");
    db_fails(*state, "LET b = SOLVE t LAYOUT packed", LACIS_SYNTAX, "expected flat|full|block");
    db_fails(*state, "LET b = CONVERT x AS f32", LACIS_TYPE, "symmetric matrix");
    db_fails(*state, "LET b = MULTIPLY a BY a", LACIS_TYPE, "");
    db_run(*state, "SET memory_limit = '100MB'; GENERATE a AS symmetric(n = 3000, packed = true)");
    db_fails(*state, "LET b = a AS cdd", LACIS_LIMIT, "memory_limit");
}

/* Elements of 16 and 32 bytes are moved as the others are. */
static void fields_of_double_doubles(void **state)
{
    static const char *const types[] = {"dd", "cdd"};
    for (int t = 0; t < 2; t++) {
        char sql[200];
        snprintf(sql, sizeof sql, "GENERATE x AS random(n = 37, lanes = 21, type = '%s')", types[t]);
        db_run(*state, sql);
        db_run(*state, "LET y = x LAYOUT full; LET z = y LAYOUT block(4); LET u = z LAYOUT flat");
        db_expect(*state, "SELECT count(*) FROM (SELECT * FROM x INTERSECT SELECT * FROM y)", "777\n");
        db_expect(*state, "SELECT count(*) FROM (SELECT * FROM x INTERSECT SELECT * FROM z)", "777\n");
        db_expect(*state, "SELECT count(*) FROM (SELECT * FROM x INTERSECT SELECT * FROM u)", "777\n");
    }
    db_run(*state, "CREATE VIEW v AS x LAYOUT full; LET w = x AS c128; LET s = w AS cdd");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM v INTERSECT SELECT * FROM x)", "777\n");
    db_expect(*state,
              "SELECT count(*) FROM s JOIN x USING (lane, row) WHERE s.value = x.value AND s.value_im = x.value_im",
              "777\n");
    db_fails(*state, "LET w = x AS dd", LACIS_TYPE, "cannot become dd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(storage_is_changed), CHECK(types_are_changed),        CHECK(views_and_explain),
        CHECK(what_is_refused),    CHECK(fields_of_double_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
