/* SPDX-License-Identifier: Apache-2.0
 *
 * The nth allocation fails, for all n over session scripts, a subject each: the statement in hand ends with
 * LACIS_NOMEM (or, where the memory was a convenience, goes on), the engine can be used afterwards, and nothing is
 * left behind.
 */
#include "support/db.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const graphs[] = {
    "GENERATE g AS uniform(60, 4, seed = 2)",
    "LOAD e FROM '%s/datasets/friends.txt'",
    "CREATE VIEW f AS MULTIPLY g BY g CON nil AGG count",
    "SELECT count(*), sum(value) FROM f",
    "SELECT * FROM f WHERE src = 3 ORDER BY value DESC LIMIT 4",
    "LET h = MULTIPLY g BY g CON a + b AGG min",
    "LET k = MULTIPLY g BY g CON a + b + s AGG (x, y) -> CASE WHEN x < y THEN x ELSE y END IDENTITY 1000000",
    "LET p = POWER g TO 3",
    "LET r = SELECT src, dst, value FROM h WHERE value > 1",
    "SELECT count(*) FROM f JOIN h USING (src, dst)",
    "MULTIPLY g BY g TOP 2 HAVING value > 0",
    "EXPLAIN ANALYZE MULTIPLY g BY g CON nil AGG count",
    "SHOW OPERATORS",
    "SHOW LOADERS",
    "SAVE h TO '/tmp/lacis-fault.csv'",
    "DROP h",
    NULL,
};

static const char *const neurons[] = {
    "LOAD c FROM '%1$s/datasets/cell.swc', '%1$s/datasets/cell.swc'",
    "SELECT count(*) FROM c JOIN c_files USING (cell)",
    "GENERATE t AS cable(100, 2, branches = 2)",
    "LET n = COMPARTMENTS t NSEG 1",
    "LET lanes = SELECT 0 AS lane, 2.0 AS cm UNION ALL SELECT 1, 1.5",
    "LET leaks = SELECT node, 0.1 AS gl FROM n WHERE node < 2",
    "LET w = SIMULATE t DT 0.1 STEPS 4 PROBE soma CLAMP soma 1 FROM 0 TO 1 PARAMETERS lanes NODES leaks HH",
    NULL,
};

static const char *const systems[] = {
    "GENERATE t AS trees(3, 9, 3, 7, shared = 'offdiagonals', layout = 'block(2)')",
    "LET q = SELECT lane, row, parent, rhs AS value FROM t",
    "CREATE VIEW w AS CONVERT (q LAYOUT full) AS f32",
    "SELECT count(*), sum(value) FROM w",
    "SELECT * FROM w WHERE lane IN (2, 5)",
    "LET u = SOLVE t STATUS RESIDUAL LAYOUT full",
    "LET u = SOLVE (t LAYOUT full) IN PLACE RESIDUAL",
    "CREATE VIEW v AS SOLVE t BY u PRECISION F64",
    "SELECT max(value) FROM v WHERE lane > 1",
    "EXPLAIN SOLVE t",
    "SAVE t TO '/tmp/lacis-fault.jsonl'",
    "LOAD t FROM '/tmp/lacis-fault.jsonl'",
    NULL,
};

static const char *const matrices[] = {
    "GENERATE a AS symmetric(n = 90)",
    "GENERATE x AS random(n = 90, lanes = 3)",
    "LET d = SYMV a BY (x LAYOUT block(2)) ADD x BETA 0.5",
    "CREATE VIEW s AS SYMV a BY d PRECISION dd FIGURES",
    "SELECT lane, dot, dot_lo FROM s",
    "EXPLAIN SYMV a BY d ORDER canonical",
    "GENERATE s AS symmetric(5, type = 'cdd', matrices = 3, least = 2)",
    "LET m = SELECT * FROM s",
    "SELECT lane, sum(re) FROM m WHERE i < 3 GROUP BY lane",
    "SELECT count(*), sum(lane) FROM s",
    "GENERATE s AS symmetric(4, type = 'dd', packed = true)",
    "SELECT text FROM s ORDER BY value DESC LIMIT 2",
    "SAVE s TO '/tmp/lacis-fault.mtx'",
    "LOAD s FROM '/tmp/lacis-fault.mtx' WITH (dense = true, type = 'dd')",
    "GENERATE s AS symmetric(9)",
    "SAVE s TO '/tmp/lacis-fault.npy'",
    "LOAD s FROM '/tmp/lacis-fault.npy' WITH (matrix = 'symmetric')",
    "GENERATE x AS random(5, type = 'cdd')",
    "LET x = SELECT * FROM x",
    NULL,
};

static const char *const bodies[] = {
    "LET b = SELECT 9 - column1 AS id, 1 AS m, column1 AS x, 0 AS y, 0 AS z, 0.5 AS eps FROM (VALUES (1), (2), (3))",
    "SELECT * FROM b WHERE id IN (6, 8) OR id > 7",
    "LET y = CONVERT b AS f32",
    "EXPLAIN CONVERT b AS f32",
    "SELECT count(*), sum(id) FROM y",
    "CREATE VIEW z AS CONVERT b AS f32",
    "SELECT eps FROM z WHERE id < 8 LIMIT 1",
    "GENERATE k AS galaxies(40, model = 'disk', type = 'f32')",
    "SAVE k TO '/tmp/lacis-fault.tipsy'",
    "LOAD k FROM '/tmp/lacis-fault.tipsy' WITH (kinds = 'dark, gas')",
    "SAVE b TO '/tmp/lacis-fault.npy'",
    "LOAD b FROM '/tmp/lacis-fault.npy'",
    "SAVE b TO '/tmp/lacis-fault.csv'",
    "LOAD b FROM '/tmp/lacis-fault.csv' AS bodies WITH (type = 'f32')",
    NULL,
};

static const char *const grids[] = {
    "LET n = SELECT a.column1 AS x, b.column1 AS y, a.column1 AS value, 1 AS v"
    " FROM (VALUES (0), (1), (2)) a, (VALUES (0), (1)) b",
    "SELECT * FROM n WHERE y IN (0, 1) AND x > 0 ORDER BY y, x",
    "SELECT x FROM n ORDER BY value DESC LIMIT 2",
    "SELECT count(*), sum(v), max(y), avg(value) FROM n",
    "LET o = CONVERT n AS f32",
    "EXPLAIN CONVERT n AS f32",
    "CREATE VIEW c AS CONVERT n AS f32",
    "SELECT v FROM c WHERE x = 1 AND y = 1",
    "SHOW ARRAYS",
    NULL,
};

static const char *const *const sessions[] = {graphs, neurons, systems, matrices, bodies, grids};

struct countdown {
    long left;
    long asked;
};

static int refuse(void *arg, size_t bytes)
{
    struct countdown *countdown = arg;
    (void)bytes;
    countdown->asked++;
    return countdown->left-- == 0;
}

/* Reads a row's texts, which takes memory too. */
static int read_row(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)arg;
    (void)names;
    (void)values;
    return columns < 0;
}

/* Runs a session with one allocation refused, or none where fail_at is less than 0; the number of those asked for. */
static long run_session(const char *const *session, const char *path, long fail_at)
{
    struct countdown countdown = {fail_at, 0};
    lacis_engine *engine;
    lacis_set_allocation_guard(refuse, &countdown);
    lacis_status status = lacis_open(path, &engine);
    for (size_t i = 0; status == LACIS_OK && session[i] != NULL; i++) {
        char text[600];
        snprintf(text, sizeof text, session[i], LACIS_SOURCE_DIR);
        lacis_status one = lacis_exec(engine, text, read_row, NULL);
        if (one == LACIS_NOMEM) one = lacis_exec(engine, text, NULL, NULL); /* once is enough */
        if (one != LACIS_OK && (one != LACIS_NAME || fail_at < 0))
            fail_msg("allocation %ld: %s\n  %s: %s", fail_at, text, lacis_status_name(one),
                     lacis_error_message(engine));
    }
    if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
    lacis_close(engine);
    lacis_set_allocation_guard(NULL, NULL);
    return countdown.asked;
}

/* Every `step`th of all allocations; with 1, each one. */
static void allocations_may_fail(const char *path, long step)
{
    for (size_t i = 0; i < sizeof sessions / sizeof sessions[0]; i++) {
        if (path != NULL) unlink(path);
        long total = run_session(sessions[i], path, -1);
        assert_true(total > 100);
        for (long n = 0; n < total; n += step) {
            if (path != NULL) unlink(path);
            run_session(sessions[i], path, n);
        }
    }
    if (path != NULL) unlink(path);
    unlink("/tmp/lacis-fault.csv");
    unlink("/tmp/lacis-fault.jsonl");
    unlink("/tmp/lacis-fault.mtx");
    unlink("/tmp/lacis-fault.npy");
    unlink("/tmp/lacis-fault.tipsy");
}

static void in_memory(void **state)
{
    (void)state;
    allocations_may_fail(NULL, 1);
}

static void in_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/lacis-fault-XXXXXX";
    close(mkstemp(path));
    allocations_may_fail(path, 13); /* the disk is slow, and what differs is the catalog alone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_memory), cmocka_unit_test(in_a_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
