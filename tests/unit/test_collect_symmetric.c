/* SPDX-License-Identifier: Apache-2.0
 *
 * LET from rows of i, j and a value: symmetric and Hermitian matrices, batches, which triangle is the stored one,
 * what does not agree; and vectors and fields of complex and double-double values.
 */
#include "support/db.h"

static char notes[1000];

static void keep_note(void *arg, lacis_level level, const char *message)
{
    (void)arg;
    size_t used = strlen(notes);
    if (level == LACIS_NOTE) snprintf(notes + used, sizeof notes - used, "%s\n", message);
}

static int setup(void **state)
{
    *state = db_open(NULL);
    lacis_set_log(*state, keep_note, NULL);
    notes[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

/* LET a from VALUES under these names of columns; how SHOW ARRAYS names its kind, shape and type. */
static void let(lacis_engine *engine, const char *columns, const char *values)
{
    char sql[600];
    snprintf(sql, sizeof sql, "LET a = WITH t(%s) AS (VALUES %s) SELECT * FROM t", columns, values);
    db_run(engine, sql);
}

static void refuses(lacis_engine *engine, const char *columns, const char *values, lacis_status status,
                    const char *message)
{
    char sql[600];
    snprintf(sql, sizeof sql, "LET a = WITH t(%s) AS (VALUES %s) SELECT * FROM t", columns, values);
    db_fails(engine, sql, status, message);
}

static void the_triangle_given_is_stored(void **state)
{
    let(*state, "i, j, value", "(3, 1, 0.5), (2, 2, 7), (1, 1, 1)");
    db_expect(*state, "SELECT * FROM a", "1,1,1.0\n2,1,0.0\n2,2,7.0\n3,1,0.5\n3,2,0.0\n3,3,0.0\n");
    let(*state, "i, j, value", "(-1, 1, 0.5), (0, 0, 7)");
    db_expect(*state, "SELECT * FROM a WHERE value <> 0", "-1,1,0.5\n0,0,7.0\n");
    db_expect(*state, "SELECT count(*), sum(i), sum(j) FROM a WHERE i < j OR i = j", "6,-2,2\n");
    let(*state, "i, j, value", "(0, 1, 5), (1, 0, 5), (2, 1, 4)");
    db_expect(*state, "SELECT * FROM a WHERE value <> 0", "1,0,5.0\n2,1,4.0\n");
    let(*state, "i, j, value", "(0, 1, 5), (2, 1, 4)"); /* some of both: what is missing is the other's mirror */
    db_expect(*state, "SELECT * FROM a WHERE value <> 0", "1,0,5.0\n2,1,4.0\n");
    let(*state, "I, J, VALUE", "(4, 4, 2)");
    db_expect(*state, "SELECT * FROM a", "4,4,2.0\n");
    db_run(*state, "LET a = SELECT i, j, value FROM a WHERE value > 9");
    db_expect(*state, "SELECT * FROM a", "");
    db_expect(*state, "SHOW ARRAYS", "a,symmetric,0 x 0,0,f64,32,NULL\n");
    assert_string_equal(notes, "");
}

static void complex_matrices(void **state)
{
    let(*state, "i, j, re, im", "(0, 0, 1, 0), (1, 0, 2, 3), (1, 1, 4, 0)");
    assert_string_equal(notes, "taken for Hermitian: its diagonal is real\n");
    notes[0] = '\0';
    let(*state, "i, j, re, im", "(0, 0, 1, 9), (1, 0, 2, 3), (1, 1, 4, 0)"); /* complex symmetric */
    assert_string_equal(notes, "");
    db_expect(*state, "SELECT * FROM a WHERE i = 0", "0,0,1.0,9.0\n");
    let(*state, "i, j, re, im", "(0, 1, 2, 3), (1, 0, 2, 3)");
    assert_string_equal(notes, "");
    let(*state, "i, j, re, im", "(0, 1, 2, 3), (1, 0, 2, -3)");
    assert_non_null(strstr(notes, "the conjugate of (i, j)"));
    db_expect(*state, "SELECT * FROM a WHERE im <> 0", "1,0,2.0,-3.0\n");
    refuses(*state, "i, j, re, im", "(0, 1, 2, 3), (1, 0, 2, 4)", LACIS_TYPE, "nor Hermitian");
    refuses(*state, "i, j, re, im", "(0, 1, 2, 3), (1, 0, 2, 3), (2, 0, 1, 1), (0, 2, 1, -1)", LACIS_TYPE,
            "element (2, 0) is given in both triangles");
    let(*state, "i, j, re, re_lo, im, im_lo", "(0, 0, 0.1, 1e-18, 2, 0)");
    db_expect(*state, "SELECT re, re_lo, im, im_lo FROM a", "0.1,1e-18,2.0,0.0\n");
}

static void double_double_matrices(void **state)
{
    let(*state, "i, j, value, lo", "(0, 0, 0.1, 1e-18), (1, 1, 2, 0)");
    db_expect(*state, "SELECT i, value, lo FROM a WHERE i = j", "0,0.1,1e-18\n1,2.0,0.0\n");
    let(*state, "i, j, text", "(0, 0, '0.1'), (1, 0, 5), (1, 1, -0.25)");
    db_expect(*state, "SELECT text FROM a", "0.1\n5.0\n-0.25\n");
    db_run(*state, "LET b = SELECT * FROM a");
    db_expect(*state, "SELECT count(*) FROM (SELECT * FROM a INTERSECT SELECT * FROM b)", "3\n");
    refuses(*state, "i, j, text", "(0, 0, 'one')", LACIS_TYPE, "text is 'one', which is not a number");
    refuses(*state, "i, j, text", "(0, 0, NULL)", LACIS_TYPE, "NULL");
}

static void batches(void **state)
{
    let(*state, "lane, i, j, value", "(5, 0, 0, 1), (5, 1, 0, 2), (7, 0, 0, 3)");
    db_expect(*state, "SELECT * FROM a", "5,0,0,1.0\n5,1,0,2.0\n5,1,1,0.0\n7,0,0,3.0\n");
    db_expect(*state, "SHOW ARRAYS", "a,symmetric,3 of 2 x 2,4,f64,96,NULL\n");
    let(*state, "lane, i, j, value", "(0, 0, 1, 1), (1, 0, 1, 2)");
    db_expect(*state, "SELECT * FROM a WHERE i < j", "0,0,1,1.0\n1,0,1,2.0\n");
    let(*state, "lane, i, j, value", "(4, 1, 1, 6)"); /* one lane is no batch */
    db_expect(*state, "SELECT * FROM a", "1,1,6.0\n");
    refuses(*state, "lane, i, j, value", "(4, 1, 2, 6), (4, 2, 1, 7)", LACIS_TYPE, "element (2, 1) of lane 4");
    db_run(*state,
           "LET a = SELECT lane, i, j, value FROM (SELECT 0 AS lane, 0 AS i, 0 AS j, 1 AS value) WHERE i > 5");
    db_expect(*state, "SELECT count(*) FROM a", "0\n");
}

static void what_is_refused(void **state)
{
    refuses(*state, "i, j, value", "(0, 1, 5), (1, 0, 6)", LACIS_TYPE,
            "element (1, 0) is given in both triangles, and differs: the matrix is not symmetric");
    refuses(*state, "i, j, value", "(0, 1, 5), (0, 1, 5)", LACIS_TYPE, "element (0, 1) is given twice");
    refuses(*state, "i, j, value", "(0, 0.5, 5)", LACIS_TYPE, "not an integer");
    refuses(*state, "i, j, value", "(0, 1000000, 5)", LACIS_LIMIT, "1000001 rows would need");
    refuses(*state, "i, j, value", "(0, 4000000000, 5)", LACIS_RANGE, "2^31 - 1");
    refuses(*state, "i, j, value", "(-9223372036854775807, 9223372036854775807, 5)", LACIS_RANGE, "2^31 - 1");
    refuses(*state, "lane, i, j, value", "(0, 0, 0, 5), (4000000000, 0, 0, 1)", LACIS_RANGE, "lanes");
}

static void other_names_make_tables(void **state)
{
    let(*state, "i, j", "(0, 1)");
    db_expect(*state, "SHOW ARRAYS", "a,table,1,1,f64,16,NULL\n");
    let(*state, "i, j, value, more", "(0, 1, 2, 3)");
    db_expect(*state, "SELECT more FROM a", "3\n");
    let(*state, "i, j, weight", "(0, 1, 2)");
    db_expect(*state, "SELECT weight FROM a", "2\n");
}

static void vectors(void **state)
{
    let(*state, "i, re, im", "(3, 1, 2), (1, 5, 0.5)");
    db_expect(*state, "SELECT * FROM a", "1,5.0,0.5\n3,1.0,2.0\n");
    let(*state, "i, value, lo", "(1, 0.1, 1e-18), (2, 3, 0)");
    db_expect(*state, "SELECT i, value, lo FROM a WHERE i > 0", "1,0.1,1e-18\n2,3.0,0.0\n");
    let(*state, "i, text", "(1, '0.1'), (0, '1e-3')");
    db_expect(*state, "SELECT i, text FROM a", "0,0.001\n1,0.1\n");
    db_run(*state, "LET b = SELECT * FROM a");
    db_expect(*state, "SELECT i, text FROM b", "0,0.001\n1,0.1\n");
    let(*state, "i, re, re_lo, im, im_lo, text", "(0, 1, 0, 2, 0, 'ignored')");
    db_expect(*state, "SELECT text FROM a", "complex(1.0, 2.0)\n");
    refuses(*state, "i, re, im", "(3, 1, 2), (3, 5, 0.5)", LACIS_TYPE, "element 3 is given twice");
}

static void fields(void **state)
{
    let(*state, "lane, row, x, x_lo, y, y_im, z, z_lo, z_im, z_im_lo, u, v_lo",
        "(0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)");
    db_expect(*state, "SELECT * FROM a", "0,0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9,10\n");
    db_expect(*state, "SHOW ARRAYS", "a,batch,1 x 1, flat,1,cdd,88,NULL\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(the_triangle_given_is_stored),
        CHECK(complex_matrices),
        CHECK(double_double_matrices),
        CHECK(batches),
        CHECK(what_is_refused),
        CHECK(other_names_make_tables),
        CHECK(vectors),
        CHECK(fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
