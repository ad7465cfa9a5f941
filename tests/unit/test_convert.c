/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts into one another: the kernel against the formula for every pair, size and instruction set; CONVERT against
 * what SQL sees, with groups, trees, shared fields, types, and lanes alone; its place in the language.
 */
#include "convert/inside.h"
#include "support/db.h"

#include <unistd.h>

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

/* --- kernel --------------------------------------------------------------------------------------- */

enum { MOST_LANES = 150, MOST_ROWS = 37 };

/* The k-th byte of the element of lane and row. */
static unsigned char byte_of(int64_t lane, int64_t row, size_t k)
{
    return (unsigned char)(lane * 31 + row * 7 + (int64_t)k * 101 + (lane >> 3) + 1);
}

static int64_t place_of(int64_t block, int64_t rows, int64_t lane, int64_t row)
{
    return lane / block * block * rows + row * block + lane % block;
}

static int64_t places(int64_t block, int64_t lanes, int64_t rows)
{
    return (lanes + block - 1) / block * block * rows;
}

static void fill(unsigned char *data, int64_t block, int64_t lanes, int64_t rows, size_t size)
{
    for (int64_t lane = 0; lane < lanes; lane++)
        for (int64_t row = 0; row < rows; row++)
            for (size_t k = 0; k < size; k++)
                data[(size_t)place_of(block, rows, lane, row) * size + k] = byte_of(lane, row, k);
}

/* Lanes skip .. lanes of `from` become lanes 0 .. of `to`; nothing else is written but what pads. */
static void one_conversion(int64_t from, int64_t to, int64_t lanes, int64_t skip, int64_t rows, size_t size)
{
    int64_t count = lanes - skip, all = places(to, count, rows);
    unsigned char *source = calloc((size_t)places(from, lanes, rows) + 1, size);
    unsigned char *target = malloc((size_t)all * size + 1);
    memset(target, 0xee, (size_t)all * size + 1);
    fill(source, from, lanes, rows, size);
    const lacis_convert_side left = {source, from, skip}, right = {target, to, 0};
    lacis_convert_lanes(&left, &right, count, rows, size);
    lacis_convert_pad(&right, count, rows, size);
    assert_int_equal(target[(size_t)all * size], 0xee);
    unsigned char *seen = calloc((size_t)all + 1, 1);
    for (int64_t lane = 0; lane < count; lane++)
        for (int64_t row = 0; row < rows; row++) {
            int64_t at = place_of(to, rows, lane, row);
            seen[at] = 1;
            for (size_t k = 0; k < size; k++)
                if (target[(size_t)at * size + k] != byte_of(lane + skip, row, k))
                    fail_msg("%ld -> %ld, lane %ld of %ld, row %ld of %ld, size %zu", (long)from, (long)to,
                             (long)lane, (long)count, (long)row, (long)rows, size);
        }
    for (int64_t at = 0; at < all; at++)
        for (size_t k = 0; k < size && seen[at] == 0; k++)
            assert_int_equal(target[(size_t)at * size + k], 0);
    free(seen);
    free(target);
    free(source);
}

static void every_pair_of_layouts(void **state)
{
    (void)state;
    static const int64_t blocks[] = {1, 0, 2, 7, 8, 64, 200}, lane_counts[] = {1, 2, 33, 64, MOST_LANES};
    static const int64_t row_counts[] = {0, 1, 16, MOST_ROWS};
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    for (int i = 0; i < 7 * 7; i++)
        for (int l = 0; l < 5; l++)
            for (int r = 0; r < 4; r++)
                for (int s = 0; s < 5; s++)
                    for (int64_t skip = 0; skip < 6 && skip < lane_counts[l]; skip += 5) {
                        int64_t from = blocks[i / 7], to = blocks[i % 7], lanes = lane_counts[l];
                        one_conversion(from == 0 ? lanes : from, to == 0 ? lanes - skip : to, lanes, skip,
                                       row_counts[r], sizes[s]);
                    }
}

static void transpositions_agree(void **state)
{
    (void)state;
    static unsigned char from[64 * 64 * 16], one[64 * 64 * 16], other[64 * 64 * 16];
    convert_transpose_fn fast[2] = {NULL, NULL};
    if (__builtin_cpu_supports("avx2")) fast[0] = lacis_convert_transpose_avx2;
    if (__builtin_cpu_supports("avx512bw")) fast[1] = lacis_convert_transpose_avx512;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t size = 1; size <= 16; size *= 2)
        for (int64_t m = 0; m <= 50; m += 7)
            for (int64_t n = 0; n <= 64; n += 9)
                for (int i = 0; i < 2; i++) {
                    if (fast[i] == NULL) continue;
                    memset(one, 0, sizeof one);
                    memset(other, 0, sizeof other);
                    lacis_convert_transpose_baseline(from, 64, one, 60, m, n, size);
                    fast[i](from, 64, other, 60, m, n, size);
                    assert_memory_equal(one, other, sizeof one);
                }
}

/* --- the statement -------------------------------------------------------------------------------- */

static void same(lacis_engine *engine, const char *one, const char *other)
{
    char sql[300];
    for (int turn = 0; turn < 2; turn++) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM (SELECT * FROM %s EXCEPT SELECT * FROM %s)",
                 turn == 0 ? one : other, turn == 0 ? other : one);
        db_expect(engine, sql, "0\n");
    }
    snprintf(sql, sizeof sql, "SELECT (SELECT count(*) FROM %s) = (SELECT count(*) FROM %s)", one, other);
    db_expect(engine, sql, "1\n");
}

static const char *const batches[] = {
    "GENERATE x AS tridiagonal(37, 150)",
    "GENERATE x AS tridiagonal(5, 9, type = 'c64', shared = 'offdiagonals')",
    "GENERATE x AS tridiagonal(9, 40, type = 'c128', shapes = 6)",
    "GENERATE x AS tree(76, 29, 33, type = 'f32')",
    "GENERATE x AS trees(7, 50, 9, 40, shared = 'matrix')",
    "GENERATE x AS tridiagonal(1, 1)",
    "GENERATE x AS tridiagonal(4, 0)",
    "LET x = SELECT column1 + 10 AS lane, column2 + 5 AS row, column3 AS n FROM (VALUES "
    "(0,0,1),(0,1,2),(1,0,3),(2,0,4))",
};
static const char *const layouts[] = {"flat", "full", "block(1)", "block(4)", "block(64)"};

static void sql_sees_no_layout(void **state)
{
    char sql[200];
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
        db_run(*state, batches[b]);
        for (int i = 0; i < 5; i++) {
            snprintf(sql, sizeof sql, "LET y = x LAYOUT %s", layouts[i]);
            db_run(*state, sql);
            same(*state, "x", "y");
            snprintf(sql, sizeof sql, "CREATE VIEW v AS CONVERT y LAYOUT %s", layouts[(i * 3 + 2) % 5]);
            db_run(*state, sql);
            same(*state, "x", "v");
            same(*state, "(SELECT * FROM x WHERE lane IN (2, 5, 7, 31))",
                 "(SELECT * FROM v WHERE lane IN (2, 5, 7, 31))");
            same(*state, "(SELECT * FROM x WHERE lane BETWEEN 11 AND 34 AND row > 2)",
                 "(SELECT * FROM v WHERE lane BETWEEN 11 AND 34 AND row > 2)");
            db_run(*state, "DROP v");
        }
    }
}

static void pieces_of_a_view(void **state)
{
    db_run(*state, "GENERATE x AS trees(5, 300, 31, 2000, layout = 'block(8)')");
    db_run(*state, "CREATE VIEW v AS x LAYOUT block(64)");
    same(*state, "x", "v");
    db_expect(*state, "SELECT (SELECT sum(d) FROM x) = (SELECT sum(d) FROM v)", "1\n");
}

static void types(void **state)
{
    db_run(*state, "LET x = SELECT column1 AS lane, column2 AS row, column3 AS r, column4 AS n FROM "
                   "(VALUES (0,0,0.1,1),(0,1,1e300,16777217),(1,0,-2.5,3))");
    db_run(*state, "LET y = x LAYOUT full AS f32");
    db_expect(*state, "SELECT * FROM y", "0,0,0.10000000149011612,1.0\n0,1,inf,16777216.0\n1,0,-2.5,3.0\n");
    db_run(*state, "LET z = x AS c128");
    db_expect(*state, "SELECT * FROM z WHERE lane = 1", "1,0,-2.5,0.0,3.0,0.0\n");
    db_run(*state, "LET w = z AS c64 LAYOUT block(2)");
    db_expect(*state, "SELECT * FROM w WHERE lane = 1", "1,0,-2.5,0.0,3.0,0.0\n");
    db_fails(*state, "LET q = z AS f64", LACIS_TYPE, "field r is complex");
    db_run(*state, "LET y = y AS f64");
    db_expect(*state, "SELECT r FROM y WHERE lane = 0", "0.10000000149011612\ninf\n");
}

static void in_the_language(void **state)
{
    db_run(*state, "GENERATE x AS tridiagonal(3, 70)");
    db_run(*state, "LET y = x LAYOUT BLOCK(64)");
    db_expect(*state, "SHOW ARRAYS",
              "x,batch,70 x 3, flat,210,f64,6728,NULL\n"
              "y,batch,70 x 3, block(64),210,f64,12296,NULL\n");
    db_run(*state, "LET \"select\" = CONVERT (y LAYOUT full) LAYOUT flat");
    same(*state, "x", "\"select\"");
    db_run(*state, "LET u = \"select\" LAYOUT full");
    same(*state, "x", "u");
    char *plan;
    assert_int_equal(lacis_explain(*state, "LET z = y LAYOUT full", &plan), LACIS_OK);
    assert_non_null(strstr(plan, "batch of 70 lanes of up to 3 rows, f64, full"));
    assert_non_null(strstr(plan, "y: 70 x 3, block(64)"));
    assert_non_null(strstr(plan, "layout block(64) -> full"));
    lacis_free(plan);
    db_fails(*state, "LET z = x LAYOUT block(0)", LACIS_RANGE, "from 1 to 2^31 - 1 lanes");
    db_fails(*state, "LET z = x LAYOUT block", LACIS_SYNTAX, "(");
    db_fails(*state, "LET z = x LAYOUT wide", LACIS_SYNTAX, "flat|full|block");
    db_fails(*state, "LET z = nobody LAYOUT full", LACIS_NAME, "nobody");
    db_fails(*state, "CONVERT x", LACIS_SYNTAX, "LAYOUT, AS or SHARE");
    db_run(*state, "GENERATE g AS path(4)");
    db_fails(*state, "LET z = g LAYOUT full", LACIS_TYPE, "a batch of systems");
    db_fails(*state, "LET z = x BY y", LACIS_SYNTAX, "unknown operator");
}

/* What lanes agree on is stored once; one lane that differs in one bit keeps a field apart. */
static void sharing(void **state)
{
    static const char *const query =
        "SELECT lane, row, parent, a, b, d, rhs, (lane = 30 AND row = 5) * 1e-300 AS e FROM x";
    char sql[300];
    db_run(*state, "GENERATE x AS trees(3, 40, 7, 77, shared = 'offdiagonals')");
    for (int i = 0; i < 5; i++) {
        snprintf(sql, sizeof sql, "LET q = %s; LET q = q LAYOUT %s; LET y = q SHARE LAYOUT %s", query, layouts[i],
                 layouts[(i + 2) % 5]);
        db_run(*state, sql);
        same(*state, "q", "y");
        lacis_array *array;
        lacis_part part;
        int shared = 0;
        assert_int_equal(lacis_array_find(*state, "y", &array), LACIS_OK);
        for (int k = 0; lacis_array_part(array, k, &part) == LACIS_OK; k++) {
            int once = strlen(part.name) == 1 && part.count < 200;
            shared += once;
            if (once) assert_true(part.name[0] == 'a' || part.name[0] == 'b');
        }
        assert_int_equal(shared, 2);
        lacis_array_release(array);
        snprintf(sql, sizeof sql, "CREATE VIEW v AS q SHARE LAYOUT %s AS f32", layouts[4 - i]);
        db_run(*state, sql);
        db_expect(*state,
                  "SELECT (SELECT group_concat(lane || ' ' || row || ' ' || round(1000 * d)) FROM v WHERE lane IN "
                  "(3, 50)) = (SELECT group_concat(lane || ' ' || row || ' ' || round(1000 * d)) FROM q WHERE lane "
                  "IN (3, 50))",
                  "1\n");
        db_run(*state, "DROP v");
    }
}

static void layouts_live_in_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/lacis-convert-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    lacis_engine *engine = db_open(path);
    db_run(engine, "GENERATE x AS tree(7, 3, 5, layout = 'block(4)', shared = 'offdiagonals');"
                   "CREATE VIEW v AS x LAYOUT full");
    char *rows = db_rows(engine, "SELECT * FROM v");
    lacis_close(engine);
    engine = db_open(path);
    db_expect(engine, "SHOW ARRAYS",
              "v,view,NULL,NULL,NULL,NULL,x LAYOUT full\n"
              "x,batch,5 x 7, block(4),35,f64,1044,NULL\n");
    db_expect(engine, "SELECT * FROM v", rows);
    free(rows);
    lacis_close(engine);
    unlink(path);
}

static void totals(void **state)
{
    char sql[300];
    db_run(*state, "GENERATE x AS trees(9, 40, 7, 77, shared = 'offdiagonals')");
    db_run(*state, "LET s = SELECT lane, row, CAST(1000 * rhs AS INTEGER) AS value, a FROM x");
    char *rows = db_rows(*state, "SELECT count(*), sum(v), min(v), max(v), avg(v), total(v), count(v) "
                                 "FROM (SELECT +value AS v FROM s)");
    for (int i = 0; i < 5; i++) {
        snprintf(sql, sizeof sql, "LET y = s LAYOUT %s", layouts[i]);
        db_run(*state, sql);
        db_expect(*state,
                  "SELECT count(*), sum(value), min(value), max(value), avg(value), total(value), "
                  "count(value) FROM y",
                  rows);
        snprintf(sql, sizeof sql, "CREATE VIEW v AS y LAYOUT %s", layouts[4 - i]);
        db_run(*state, sql);
        db_expect(*state,
                  "SELECT count(*), sum(value), min(value), max(value), avg(value), total(value), "
                  "count(value) FROM v",
                  rows);
        db_run(*state, "DROP v");
    }
    free(rows);
    db_expect(*state, "SELECT count(*) FROM x", "2734\n");
    db_expect(*state, "SELECT sum(row) = (SELECT sum(+row) FROM y), max(lane), count(a) FROM y", "1,76,2734\n");
    db_expect(*state, "EXPLAIN SELECT max(value) FROM y",
              "totals of y: summed where they are computed, no row is visited by SQL\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_layouts),
        cmocka_unit_test(transpositions_agree),
        cmocka_unit_test_setup_teardown(sql_sees_no_layout, setup, teardown),
        cmocka_unit_test_setup_teardown(pieces_of_a_view, setup, teardown),
        cmocka_unit_test_setup_teardown(types, setup, teardown),
        cmocka_unit_test_setup_teardown(in_the_language, setup, teardown),
        cmocka_unit_test_setup_teardown(totals, setup, teardown),
        cmocka_unit_test_setup_teardown(sharing, setup, teardown),
        cmocka_unit_test(layouts_live_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
