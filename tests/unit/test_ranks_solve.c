/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE dealt over two ranks, without MPI: the same bits as alone for every layout, shape and clause, operands that
 * stay on the ranks, lanes that come with their piece where memory is short, and the lowest bad lane. With real MPI
 * tests/ranks/solve.py does the same.
 */
#include "support/ranks.h"

static const char *const generators[] = {
    "GENERATE s AS tridiagonal(20, 70)",
    "GENERATE s AS tridiagonal(20, 70, layout = 'full')",
    "GENERATE s AS tridiagonal(11, 70, layout = 'block(8)', shapes = 4)",
    "GENERATE s AS tridiagonal(9, 50, type = 'c128', layout = 'block(3)', shapes = 3)",
    "GENERATE s AS tridiagonal(30, 40, type = 'f32', layout = 'full', shapes = 3)",
    "GENERATE s AS tree(21, 5, 60, shared = 'offdiagonals')",
    "GENERATE s AS trees(3, 19, 5, 70, layout = 'full')",
    "GENERATE s AS trees(5, 19, 5, 70, shared = 'offdiagonals', layout = 'block(16)')",
    "GENERATE s AS trees(4, 19, 5, 40, shared = 'matrix')",
};
static const char *const statements[] = {
    "SOLVE s",
    "SOLVE s STATUS RESIDUAL LAYOUT block(8)",
    "SOLVE s BY s LAYOUT full",
    "SOLVE s BY (s LAYOUT full) STATUS",
};

static void every_batch(lacis_engine *engine)
{
    for (int i = 0; i < LACIS_COUNT(generators); i++) {
        db_run(engine, generators[i]);
        for (int j = 0; j < LACIS_COUNT(statements); j++)
            ranks_check_same(engine, statements[j]);
    }
}

static void test_same_bits(void **state)
{
    ranks_bench *bench = *state;
    every_batch(bench->engine);
}

/* Pieces bring their lanes. */
static void test_short_of_memory(void **state)
{
    ranks_bench *bench = *state;
    db_run(bench->engine, "SET threads = 1; SET ranks_memory_limit = '1 MB'");
    db_run(bench->engine, "GENERATE s AS tridiagonal(64, 1500, layout = 'block(64)')"); /* 3 MB */
    ranks_check_same(bench->engine, "SOLVE s");
    db_run(bench->engine, "GENERATE s AS trees(4, 60, 9, 1500, layout = 'full')");
    ranks_check_same(bench->engine, "SOLVE s STATUS");
    ranks_check_same(bench->engine, "SOLVE s BY s RESIDUAL LAYOUT flat");
    db_run(bench->engine, "GENERATE s AS tridiagonal(64, 1000)");
    ranks_check_same(bench->engine, "SOLVE s");
}

/* One matrix for all lanes, and one for the lanes of each shape; the operands whole, and in pieces. */
static void test_one_matrix(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    db_run(engine, "SET threads = 1; SET ranks_memory_limit = '1 MB'");
    db_run(engine, "GENERATE m AS tridiagonal(40, 1)");
    db_run(engine, "GENERATE r AS tridiagonal(40, 300, layout = 'block(16)')");
    ranks_check_same(engine, "SOLVE m BY r RESIDUAL");
    ranks_check_same(engine, "SOLVE m BY r LAYOUT full");
    db_run(engine, "GENERATE one AS trees(6, 120, 5, 6)"); /* the same shapes as t's, a lane of each */
    db_run(engine, "GENERATE t AS trees(6, 120, 5, 60)");
    ranks_check_same(engine, "SOLVE one BY t STATUS");
    db_run(engine, "GENERATE t AS trees(6, 120, 5, 450, layout = 'full')"); /* 1.7 MB */
    ranks_check_same(engine, "SOLVE one BY t LAYOUT block(8)");
}

static void test_sent_once(void **state)
{
    ranks_bench *bench = *state;
    db_run(bench->engine, "GENERATE s AS tridiagonal(64, 1000)");
    double first = ranks_bytes(bench->engine, "EXPLAIN ANALYZE SOLVE s");
    double second = ranks_bytes(bench->engine, "EXPLAIN ANALYZE SOLVE s LAYOUT full");
    assert_true(first > 2e6 && second < 1e4);
}

static void test_views(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    db_run(engine, "GENERATE s AS trees(3, 20, 5, 90, layout = 'block(8)')");
    db_run(engine, "SET ranks = off; LET x = SOLVE s; SET ranks = all; CREATE VIEW v AS SOLVE s");
    char *rows = db_rows(engine, "SELECT count(*), 0.0 FROM x WHERE lane > 17");
    db_expect(engine,
              "SELECT count(*), max(abs(v.value - x.value)) FROM v JOIN x USING (lane, row) WHERE v.lane > 17", rows);
    free(rows);
    assert_true(bench->ranks[0].calls > 0);
}

/* Whoever hears of which first: the lowest is told. */
static void test_bad_lanes(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    db_run(engine, "GENERATE t AS tridiagonal(12, 200)");
    db_run(engine,
           "LET s = SELECT lane, row, a, CASE WHEN lane IN (23, 77, 190) AND row = 4 THEN 0.5 ELSE b END AS b, "
           "c, d FROM t");
    for (int turn = 0; turn < 5; turn++)
        db_fails(engine, "LET x = SOLVE s", LACIS_RANGE, "lane 23, row 4 is not diagonally dominant");
    ranks_check_same(engine, "SOLVE s STATUS");
}

static void test_explained(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    db_run(engine, "GENERATE s AS tridiagonal(20, 70)");
    char *plan = db_rows(engine, "EXPLAIN SOLVE s");
    assert_non_null(strstr(plan, "* ranks on CPU"));
    assert_non_null(strstr(plan, "ranks: 2; lanes in pieces of about equal elements, 4 a rank"));
    free(plan);
    db_run(engine, "SET ranks = auto");
    plan = db_rows(engine, "EXPLAIN SOLVE (s LAYOUT full) IN PLACE");
    assert_non_null(strstr(plan, "- ranks on CPU: cannot: IN PLACE is done where the right sides are"));
    free(plan);
    plan = db_rows(engine, "EXPLAIN SOLVE s");
    assert_non_null(strstr(plan, "- ranks on CPU: cannot: too little work: 1400 elements"));
    free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RANKS(test_same_bits), RANKS(test_short_of_memory), RANKS(test_one_matrix), RANKS(test_sent_once),
        RANKS(test_views),     RANKS(test_bad_lanes),       RANKS(test_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
