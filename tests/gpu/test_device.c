/* SPDX-License-Identifier: Apache-2.0
 *
 * The real GPU, where there is one (skipped with the reason where not): MULTIPLY there against the CPU, whole, under
 * a small gpu_memory_limit, its totals, on several GPUs (or one that counts twice), and with every call of the CUDA
 * runtime failing in turn.
 */
#include "core/device.h"
#include "support/db.h"

#include <stdatomic.h>

static const char *const products[] = {
    "MULTIPLY g BY g CON nil AGG count",
    "MULTIPLY g BY g CON a + b AGG min",
    "MULTIPLY g BY g TOP 5",
    "MULTIPLY g BY g CON nil AGG count MASK g",
    "MULTIPLY g BY g CON a AGG max WHERE src IN (1, 5, 6, 30)",
};

static atomic_int calls;
static int fail_at;

static int guard(void *arg)
{
    (void)arg;
    return ++calls == fail_at;
}

static lacis_engine *open_with_gpu(void)
{
    lacis_engine *engine = db_open(NULL);
    char *rows = db_rows(engine, "SHOW DEVICES");
    const char *gpu = strstr(rows, "\nGPU 0,");
    if (gpu == NULL) {
        print_message("skipped: %s", strstr(rows, "\nGPU,") + 1);
        free(rows);
        lacis_close(engine);
        skip();
    }
    free(rows);
    db_run(engine, "GENERATE g AS rmat(scale = 10, edge_factor = 8, seed = 1)");
    return engine;
}

static void compare(lacis_engine *engine, const char *product, const char *on)
{
    char text[300];
    snprintf(text, sizeof text, "%s ON CPU", product);
    char *cpu = db_rows(engine, text);
    snprintf(text, sizeof text, "%s%s", product, on);
    if (lacis_exec(engine, text, NULL, NULL) == LACIS_UNSUPPORTED &&
        strstr(lacis_error_message(engine), "not done on the GPU") != NULL) {
        print_message("skipped: %s\n", lacis_error_message(engine));
        free(cpu);
        return;
    }
    char *gpu = db_rows(engine, text);
    if (strcmp(cpu, gpu) != 0) fail_msg("%s differs", text);
    free(cpu);
    free(gpu);
}

static void same_as_cpu(void **state)
{
    (void)state;
    lacis_engine *engine = open_with_gpu();
    for (int i = 0; i < LACIS_COUNT(products); i++)
        compare(engine, products[i], " ON GPU");
    lacis_close(engine);
}

static void little_memory(void **state)
{
    (void)state;
    lacis_engine *engine = open_with_gpu();
    db_run(engine, "SET gpu_memory_limit = '3MB'");
    for (int i = 0; i < LACIS_COUNT(products); i++)
        compare(engine, products[i], " ON GPU");
    db_run(engine, "LET x = MULTIPLY g BY g CON nil AGG count ON GPU");
    db_run(engine, "LET y = MULTIPLY g BY g CON nil AGG count ON CPU");
    char *x = db_rows(engine, "SELECT count(*), sum(value) FROM x");
    db_expect(engine, "SELECT count(*), sum(value) FROM y", x);
    free(x);
    lacis_close(engine);
}

/* A result that stayed on the device is an operand like any other. */
static void results_stay(void **state)
{
    (void)state;
    lacis_engine *engine = open_with_gpu();
    db_run(engine, "LET x = MULTIPLY g BY g CON a + b AGG min ON GPU;"
                   "LET y = MULTIPLY x BY g CON a + b AGG min ON GPU;"
                   "LET z = MULTIPLY x BY g CON a + b AGG min ON CPU");
    char *y = db_rows(engine, "SELECT count(*), sum(value), min(value), max(value) FROM y");
    db_expect(engine, "SELECT count(*), sum(value), min(value), max(value) FROM z", y);
    free(y);
    lacis_close(engine);
}

/* Values of all types, since each has a kernel of its own for totals; reals that any order sums exactly. */
static void make_values(lacis_engine *engine)
{
    db_run(engine, "LET i = SELECT src, dst, 1 + (src * 7 + dst * 13) % 9 - 3 AS value FROM g;"
                   "LET r = SELECT src, dst, (src * 7 + dst * 13) % 9 - 2.5 AS value FROM g;"
                   "LET l = SELECT src * 3 + 5 AS src, dst * 3 + 5 AS dst, 100000000000 + src AS value FROM g");
}

static const char *const summed[] = {
    "MULTIPLY g BY g CON nil AGG count",
    "MULTIPLY i BY i",
    "MULTIPLY i BY i CON a + b AGG max",
    "MULTIPLY r BY r",
    "MULTIPLY r BY r CON a + b AGG min",
    "MULTIPLY l BY l CON a + b AGG min",
    "MULTIPLY r BY r MASK g",
    "MULTIPLY i BY i WHERE src IN (3, 5, 900)",
    "MULTIPLY l BY l CON b AGG first TOP 3",
    "MULTIPLY g BY g CON nil AGG count WHERE src < 0",
};

static void compare_totals(lacis_engine *engine, const char *product)
{
    static const char query[] = "SELECT count(*), sum(value), min(value), max(value), sum(src), min(src), max(src), "
                                "sum(dst), min(dst), max(dst) FROM v";
    char text[300];
    db_run(engine, "DROP IF EXISTS v");
    snprintf(text, sizeof text, "CREATE VIEW v AS %s ON CPU", product);
    db_run(engine, text);
    char *cpu = db_rows(engine, query);
    db_run(engine, "DROP v");
    snprintf(text, sizeof text, "CREATE VIEW v AS %s ON GPU", product);
    db_run(engine, text);
    char *gpu = db_rows(engine, query);
    if (strcmp(cpu, gpu) != 0) fail_msg("totals of %s differ:\n%s%s", product, cpu, gpu);
    free(cpu);
    free(gpu);
}

static void totals(void **state)
{
    (void)state;
    lacis_engine *engine = open_with_gpu();
    make_values(engine);
    for (int i = 0; i < LACIS_COUNT(summed); i++)
        compare_totals(engine, summed[i]);
    db_run(engine, "SET gpu_memory_limit = '3MB'");
    for (int i = 0; i < LACIS_COUNT(summed); i++)
        compare_totals(engine, summed[i]);
    lacis_close(engine);
}

/* Where the machine has only one it counts twice. */
static void several(void **state)
{
    (void)state;
    lacis_device_set_copies(2);
    lacis_engine *engine = open_with_gpu();
    make_values(engine);
    db_run(engine, "SET gpus = 2");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < LACIS_COUNT(products); i++)
            compare(engine, products[i], " ON GPU");
        for (int i = 0; i < LACIS_COUNT(summed); i++)
            compare_totals(engine, summed[i]);
        db_run(engine, "SET gpu_memory_limit = '6MB'");
    }
    char *lines = db_rows(engine, "EXPLAIN ANALYZE MULTIPLY g BY g CON nil AGG count ON GPU");
    assert_non_null(strstr(lines, "GPU 1 panels"));
    free(lines);
    lacis_close(engine);
    lacis_device_set_copies(1);
}

/* Runs text with its nth call of the driver failing, for every n, or for `places` of them where there are more:
 * right, or refused. How many calls there are is known from a run without failures, and differs a little from run to
 * run. */
static void every_call(const char *before, const char *text, const char *query, int places)
{
    char *expected = NULL;
    int step = 1, most = 1;
    for (fail_at = 0; fail_at < most; fail_at += step) {
        calls = -1000000; /* not while the graph is made */
        lacis_engine *engine = open_with_gpu();
        db_run(engine, before);
        lacis_device_set_guard(guard, NULL);
        calls = 0;
        lacis_status status = lacis_exec(engine, text, NULL, NULL);
        int made = calls;
        bool refused = fail_at > 0 && made >= fail_at;
        lacis_device_set_guard(NULL, NULL);
        if (status != LACIS_OK) assert_int_equal(status, LACIS_UNSUPPORTED);
        if (fail_at == 0) {
            expected = db_rows(engine, query);
            step = made > places ? made / places : 1;
            most = 2 * made + 2 * step;
        }
        if (status == LACIS_OK) db_expect(engine, query, expected);
        lacis_close(engine);
        if (fail_at > 0 && !refused) break;
    }
    assert_true(fail_at < most);
    free(expected);
}

enum { ALL = 600 };

static void every_call_fails(void **state)
{
    (void)state;
    every_call("SELECT 1", "LET x = MULTIPLY g BY g CON a + b AGG min ON GPU", "SELECT count(*), sum(value) FROM x",
               ALL);
    every_call("SET gpu_memory_limit = '4MB'", "LET x = MULTIPLY g BY g CON a + b AGG min ON GPU",
               "SELECT count(*), sum(value) FROM x", ALL);
    every_call("CREATE VIEW v AS MULTIPLY g BY g CON nil AGG count ON GPU", "SELECT count(*), sum(value) FROM v",
               "SELECT count(*), sum(value) FROM g", ALL);
}

static void every_call_of_two_fails(void **state)
{
    (void)state;
    lacis_device_set_copies(2);
    every_call("SET gpus = 2", "LET x = MULTIPLY g BY g CON a + b AGG min ON GPU",
               "SELECT count(*), sum(value) FROM x", ALL);
    every_call("SET gpus = 2; CREATE VIEW v AS MULTIPLY g BY g CON nil AGG count ON GPU",
               "LET x = SELECT 1 AS src, 1 AS dst, sum(value) AS value FROM v", "SELECT value FROM x", 100);
    lacis_device_set_copies(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_cpu),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(results_stay),
        cmocka_unit_test(totals),
        cmocka_unit_test(several),
        cmocka_unit_test(every_call_fails),
        cmocka_unit_test(every_call_of_two_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
