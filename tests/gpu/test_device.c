/* SPDX-License-Identifier: Apache-2.0
 *
 * The real GPU, where there is one (skipped with the reason where not): MULTIPLY there against the CPU, whole, under
 * a small gpu_memory_limit, and with every call of the CUDA runtime failing in turn.
 */
#include "core/device.h"
#include "support/db.h"

static const char *const products[] = {
    "MULTIPLY g BY g CON nil AGG count",
    "MULTIPLY g BY g CON a + b AGG min",
    "MULTIPLY g BY g TOP 5",
    "MULTIPLY g BY g CON nil AGG count MASK g",
    "MULTIPLY g BY g CON a AGG max WHERE src IN (1, 5, 6, 30)",
};

static int calls, fail_at;

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

static void every_call_fails(void **state)
{
    (void)state;
    lacis_engine *engine = open_with_gpu();
    const char *text = "LET x = MULTIPLY g BY g CON a + b AGG min ON GPU";
    db_run(engine, "LET y = MULTIPLY g BY g CON a + b AGG min ON CPU");
    char *y = db_rows(engine, "SELECT count(*), sum(value) FROM y");
    lacis_close(engine);
    lacis_device_set_guard(guard, NULL);
    for (fail_at = 1; fail_at < 300; fail_at++) {
        calls = -1000000; /* not while the graph is made */
        engine = open_with_gpu();
        calls = 0;
        lacis_status status = lacis_exec(engine, text, NULL, NULL);
        bool refused = calls >= fail_at;
        calls = -1000000;
        if (status == LACIS_OK) db_expect(engine, "SELECT count(*), sum(value) FROM x", y);
        if (status != LACIS_OK) assert_int_equal(status, LACIS_UNSUPPORTED);
        lacis_close(engine);
        if (!refused) break;
    }
    lacis_device_set_guard(NULL, NULL);
    assert_true(fail_at < 300);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_cpu),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(results_stay),
        cmocka_unit_test(every_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
