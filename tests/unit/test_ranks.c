/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls dealt over two ranks, without MPI: the same rows as alone, operands sent once, blocks where memory is short,
 * errors in the words and at the place that one process gives them, a rank that is gone, interrupting. With real MPI
 * tests/ranks does the same.
 */
#include "support/ranks.h"

#include <sys/wait.h>
#include <time.h>

static void graphs(lacis_engine *engine)
{
    db_run(engine, "GENERATE g AS rmat(scale = 9, edge_factor = 6, seed = 3, weights = int);"
                   "GENERATE h AS rmat(scale = 9, edge_factor = 5, seed = 5, weights = real);"
                   "GENERATE m AS uniform(n = 512, degree = 40, seed = 1);");
}

static const char *const statements[] = {
    "MULTIPLY g BY g CON nil AGG count",
    "MULTIPLY g BY h CON a + b AGG min TOP 2",
    "MULTIPLY h BY h CON a * b AGG sum WHERE src < 40",
    "MULTIPLY g BY h CON a * b AGG sum MASK m",
    "MULTIPLY h BY g CON a * b + s - t + c AGG max MASK NOT m HAVING value > 500 AND src <> dst TOP 3",
    "MULTIPLY g BY g CON a * b AGG (x, y) -> x + 3 * y IDENTITY 0 WHERE src IN (1, 5, 77, 300)",
    "MULTIPLY g BY h CON b AGG avg WHERE src % 7 = 3",
    "MULTIPLY g BY h CON b AGG first WHERE src BETWEEN 30 AND 50 HAVING s + t > 60",
    "MULTIPLY (MULTIPLY g BY g CON nil AGG count TOP 3) BY h CON a * b AGG sum",
    "MULTIPLY g BY g CON nil AGG count WHERE src > 9999",
};

static void test_same_rows(void **state)
{
    ranks_bench *bench = *state;
    graphs(bench->engine);
    for (int i = 0; i < LACIS_COUNT(statements); i++)
        ranks_check_same(bench->engine, statements[i]);
}

static const char *const simulations[] = {
    "SIMULATE cell DT 0.025 STEPS 80 CLAMP 'dend(0)' 0.1 FROM 0.5 TO 1 LANES 37 PROBE dend PROBE 'dend(1)' EVERY 9",
    "SIMULATE cell DT 0.025 STEPS 80 HH CLAMP 'dend(0)' 0.1 FROM 0.5 TO 1 LANES 21 PROBE dend REDUCE max",
    "SIMULATE cell DT 0.05 STEPS 40 METHOD crank_nicolson PARAMETERS p PROBE dend REDUCE mean",
    "SIMULATE three DT 0.05 STEPS 40 LANES 7 HH PROBE dend EVERY 10",
    "SIMULATE three DT 0.05 STEPS 40 PARAMETERS p PROBE dend REDUCE min",
    "SIMULATE three DT 0.05 STEPS 40 PROBE dend",
};

/* Lanes of one cell, of several, with parameters; each rank has the cells and the parameters whole. */
static void test_simulate(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    db_run(engine,
           "GENERATE cell AS cable(300, 2);"
           "LET p = WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 30) "
           "SELECT i AS lane, 0.8 + 0.01 * i AS cm, -65.0 + 0.1 * i AS v FROM k;"
           "LET three = SELECT k.column1 AS cell, id, type, x * k.column2 AS x, y, z, radius, parent FROM cell, "
           "(VALUES (0, 1.0), (1, 5.0), (2, 2.0)) AS k ORDER BY 1, id;");
    for (int i = 0; i < LACIS_COUNT(simulations); i++)
        ranks_check_same(engine, simulations[i]);
    char *plan = db_rows(engine, "EXPLAIN SIMULATE cell DT 0.025 STEPS 9 LANES 40 PROBE dend");
    assert_non_null(strstr(plan, "ranks: 2; lanes in pieces of about equal compartments, 8 a rank"));
    assert_non_null(strstr(plan, "* ranks on CPU"));
    free(plan);
    plan = db_rows(engine, "EXPLAIN SIMULATE cell DT 0.025 STEPS 9 PROBE dend");
    assert_non_null(strstr(plan, "ranks on CPU: cannot: there is one lane"));
    free(plan);
    db_run(engine, "SET ranks = auto");
    plan = db_rows(engine, "EXPLAIN SIMULATE cell DT 0.025 STEPS 9 LANES 40 PROBE dend");
    assert_non_null(strstr(plan, "ranks on CPU: cannot: too little work"));
    free(plan);
    db_run(engine, "SET ranks = all");
    db_fails(engine, "SIMULATE cell DT 0.025 STEPS 20 HH CLAMP 'dend(0)' 1e308 FROM 0 TO 9 LANES 40 PROBE dend",
             LACIS_RANGE, "the voltage is not a finite number any more");
    db_run(engine, "GENERATE many AS cable(300, 2, 4000); SET ranks_memory_limit = '2 MB'");
    db_fails(engine, "SIMULATE many DT 0.025 STEPS 20 LANES 40 PROBE 'soma' REDUCE max", LACIS_UNSUPPORTED,
             "the cells do not fit the memory of every rank");
}

static void test_views_parameters(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    lacis_statement *statement;
    graphs(engine);
    db_run(engine, "CREATE VIEW v AS MULTIPLY h BY g CON a * b AGG sum");
    static const char query[] = "SELECT * FROM v WHERE src = 12 AND dst > 100 ORDER BY value DESC LIMIT 5";
    char *dealt = db_rows(engine, query);
    db_run(engine, "SET ranks = off");
    db_expect(engine, query, dealt);
    db_run(engine, "SET ranks = all");
    free(dealt);
    assert_int_equal(lacis_prepare(engine, "MULTIPLY g BY g CON :k AGG sum WHERE src = :s TOP 1", NULL, &statement),
                     LACIS_OK);
    assert_int_equal(lacis_bind_int64(statement, "k", 1000), LACIS_OK);
    assert_int_equal(lacis_bind_int64(statement, "s", 0), LACIS_OK);
    assert_int_equal(lacis_step(statement), LACIS_ROW);
    assert_int_equal(lacis_column_int64(statement, 2) % 1000, 0);
    assert_true(bench->ranks[0].calls > 0);
    lacis_finalize(statement);
}

static void test_operands_sent_once(void **state)
{
    ranks_bench *bench = *state;
    static const char statement[] = "EXPLAIN ANALYZE MULTIPLY g BY g CON nil AGG count";
    graphs(bench->engine);
    double first = ranks_bytes(bench->engine, statement), second = ranks_bytes(bench->engine, statement);
    assert_true(first > second + 10000);
    /* A new g is not taken for the old one. */
    db_run(bench->engine, "GENERATE g AS rmat(scale = 9, edge_factor = 6, seed = 4, weights = int)");
    assert_true(ranks_bytes(bench->engine, statement) > second + 10000);
    ranks_check_same(bench->engine, "MULTIPLY g BY g CON nil AGG count");
}

static void check_says(lacis_engine *engine, const char *statement, const char *part)
{
    char *said = db_rows(engine, statement);
    if (strstr(said, part) == NULL) fail_msg("\"%s\" is not in %s", part, said);
    free(said);
}

static void test_blocks(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    static const char *const fitting[] = {
        "MULTIPLY g BY g CON a - b AGG sum WHERE src < 900 HAVING value > 4 AND src <> dst TOP 5",
        "MULTIPLY g BY g CON a * 0.25 + b AGG max TOP 4",
        "MULTIPLY g BY g CON s - t + a AGG min MASK NOT m",
    };
    db_run(engine, "GENERATE g AS uniform(n = 16000, degree = 8, seed = 3, weights = int);"
                   "GENERATE m AS uniform(n = 16000, degree = 4, seed = 1);"
                   "SET threads = 1; SET ranks_memory_limit = '5 MB'");
    for (int i = 0; i < LACIS_COUNT(fitting); i++)
        ranks_check_same(engine, fitting[i]);
    static const char sum[] = "EXPLAIN ANALYZE MULTIPLY g BY g CON a - b AGG sum";
    static const char count[] = "EXPLAIN ANALYZE MULTIPLY g BY g CON nil AGG count";
    check_says(engine, sum, "  blocks of b ");
    db_run(engine, "SET ranks_memory_limit = '2.2 MB'");
    check_says(engine, count, "  blocks of b ");
    ranks_check_same(engine, count + strlen("EXPLAIN ANALYZE "));
    db_fails(engine, "MULTIPLY g BY g CON a * 0.5 AGG avg", LACIS_UNSUPPORTED,
             "b does not fit the memory of every rank, and parts combine exactly only for count");
}

static void test_errors(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    db_run(engine, "GENERATE k AS complete(n = 40)");
    static const char overflow[] = "LET x = MULTIPLY k BY k CON 9223372036854775807 * (c + 1) AGG max";
    db_fails(engine, overflow, LACIS_OVERFLOW, "integer overflow");
    int64_t offset = lacis_error_offset(engine);
    db_run(engine, "SET ranks = off");
    db_fails(engine, overflow, LACIS_OVERFLOW, "integer overflow");
    assert_int_equal(lacis_error_offset(engine), offset);
    db_run(engine, "SET ranks = all");
    db_fails(engine, "SET ranks = sometimes", LACIS_RANGE, "auto, off or all");
    ranks_check_same(engine, "MULTIPLY k BY k CON nil AGG count"); /* and both go on */
}

static void test_explain(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    graphs(engine);
    char *plan = db_rows(engine, "EXPLAIN MULTIPLY g BY h");
    assert_non_null(strstr(plan, "ranks: 2; rows of a in pieces of about equal products, 2 a rank"));
    assert_non_null(strstr(plan, "* ranks on CPU"));
    assert_non_null(strstr(plan, "rows on CPU: cannot: not wanted: SET ranks = all"));
    free(plan);
    db_run(engine, "SET ranks = auto");
    plan = db_rows(engine, "EXPLAIN MULTIPLY g BY h");
    assert_non_null(strstr(plan, "- ranks on CPU: cannot: too little work"));
    free(plan);
    db_run(engine, "SET ranks = off");
    plan = db_rows(engine, "EXPLAIN MULTIPLY g BY h");
    assert_non_null(strstr(plan, "- ranks on CPU: cannot: SET ranks = off"));
    assert_null(strstr(plan, "ranks: 2"));
    free(plan);
}

/* ------------------------------------------------------------------------------------- what goes wrong */

static void test_alone_without_ranks(void **state)
{
    (void)state;
    lacis_engine *engine = db_open(NULL);
    graphs(engine);
    db_run(engine, "SET ranks = all");
    char *plan = db_rows(engine, "EXPLAIN MULTIPLY g BY h");
    assert_null(strstr(plan, "ranks"));
    free(plan);
    assert_int_equal(lacis_ranks_size(NULL), 1);
    assert_int_equal(lacis_ranks_rank(NULL), 0);
    lacis_close(engine);
}

/* Rank 1 is gone: rank 0 says so, and later statements run without it. */
static void test_rank_gone(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    static const char query[] = "MULTIPLY g BY g CON nil AGG count TOP 1";
    graphs(engine);
    db_run(engine, "SET ranks = off");
    char *alone = db_rows(engine, query);
    db_run(engine, "SET ranks = all");
    for (int tag = 0; tag < RANKS_TAGS; tag++)
        shutdown(ranks_socket[tag][1], SHUT_RDWR);
    db_fails(engine, query, LACIS_UNSUPPORTED, "rank 1");
    db_expect(engine, query, alone);
    char *plan = db_rows(engine, "EXPLAIN MULTIPLY g BY g");
    assert_non_null(strstr(plan, "- ranks on CPU: cannot: the other ranks are gone"));
    free(plan);
    free(alone);
}

static void test_process_gone(void **state)
{
    ranks_bench *bench = *state;
    pid_t child = fork();
    if (child == 0) _exit(0);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    bench->peer[0][1].process = getpid();
    assert_true(lacis_ranks_alive(&bench->ranks[0], 1));
    bench->peer[0][1].process = child;
    assert_false(lacis_ranks_alive(&bench->ranks[0], 1));
    assert_non_null(strstr(bench->ranks[0].reason, "rank 1 has ended"));
}

static void *interrupt_soon(void *arg)
{
    const struct timespec a_while = {0, 200000000};
    nanosleep(&a_while, NULL);
    lacis_interrupt(arg);
    return NULL;
}

static void test_interrupt(void **state)
{
    ranks_bench *bench = *state;
    lacis_engine *engine = bench->engine;
    pthread_t thread;
    db_run(engine, "GENERATE g AS rmat(scale = 16, edge_factor = 16, seed = 3); SET threads = 1");
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, engine), 0);
    db_fails(engine, "MULTIPLY g BY g CON s * a + t AGG max TOP 3", LACIS_INTERRUPT, "interrupted");
    pthread_join(thread, NULL);
    db_run(engine, "GENERATE g AS rmat(scale = 9, edge_factor = 6, seed = 3)");
    ranks_check_same(engine, "MULTIPLY g BY g CON nil AGG count"); /* rank 1 is there for the next one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RANKS(test_same_rows),        RANKS(test_simulate),
        RANKS(test_views_parameters), RANKS(test_operands_sent_once),
        RANKS(test_blocks),           RANKS(test_errors),
        RANKS(test_explain),          cmocka_unit_test(test_alone_without_ranks),
        RANKS(test_rank_gone),        RANKS(test_process_gone),
        RANKS(test_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
