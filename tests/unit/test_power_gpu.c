/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER's variant "gpu" around its kernels, on a pretended device: what it refuses and when it is considered, blocks
 * of sources where memory is short, both directions of a closure's rounds, fallbacks, and every call of the driver
 * failing in turn. Its files are compiled into this one, so that this works in builds without nvcc as well.
 */
#include "support/gpu_closure.h"
#include "support/gpu_variant.h"

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_mul_gpu_run               fake_product
#define lacis_mul_gpu_rows_look         fake_rows_look
#define lacis_mul_gpu_convert           fake_convert
#define lacis_mul_gpu_closure_row_bytes fake_row_bytes
#define lacis_mul_gpu_closure_begin     fake_begin
#define lacis_mul_gpu_closure_end       fake_end
#define lacis_mul_gpu_closure_offer     fake_offer
#define lacis_mul_gpu_closure_look      fake_look
#define lacis_mul_gpu_closure_rows      fake_closure_rows
#define lacis_mul_gpu_closure_push      fake_push
#define lacis_mul_gpu_closure_pushes    fake_pushes_of
#define lacis_mul_gpu_closure_result    fake_result

/* The library has its own. */
#define lacis_power_gpu_variant      tested
#define lacis_power_gpu_can          tested_can
#define lacis_power_gpu_status       tested_status
#define lacis_power_gpu_alloc        tested_alloc
#define lacis_power_gpu_drop         tested_drop
#define lacis_power_gpu_guard        tested_guard
#define lacis_power_gpu_values       tested_values
#define lacis_power_gpu_look         tested_look
#define lacis_power_gpu_graph_facts  tested_graph_facts
#define lacis_power_gpu_rounds       tested_rounds
#define lacis_power_gpu_closure      tested_closure
#define lacis_power_gpu_closure_rows tested_closure_rows
#define lacis_power_gpu_compile      tested_compile
#define lacis_power_gpu_seconds      tested_seconds
#define lacis_power_host_graph       tested_host_graph
#define lacis_power_gpu_cost         tested_cost
#define lacis_power_gpu_result       tested_result
#define lacis_power_gpu_fetch        tested_fetch
#define lacis_power_gpu_send         tested_send

#include "../../operators/power/gpu.c"
#define types_of types_of_closure
#include "../../operators/power/gpu_closure.c"
#undef types_of
#include "../../operators/power/gpu_cost.c"
#include "../../operators/power/gpu_graph.c"
#include "../../operators/power/gpu_result.c"
#include "../../operators/power/gpu_rounds.c"

/* ----------------------------------------------------------------------------------------- fixture */

static int setup(void **state)
{
    static const lacis_variant *const under_test[] = {&tested, NULL};
    fake_cuda_error = fake_pushes = fake_rows_taken = 0;
    fixture_setup(state, "POWER", under_test);
    return 0;
}

typedef struct one {
    graph g;
    named arrays[2];
} one;

static one one_make(parity *p, graph_kind kind, int64_t n, lacis_dtype dtype)
{
    uint64_t random = 7;
    one o = {graph_make(&random, kind, n, n, dtype), {{0}}};
    o.arrays[0] = (named){"g", graph_array(p, &o.g)};
    return o;
}

static void one_free(one *o)
{
    lacis_array_release(o->arrays[0].array);
    graph_free(&o->g);
}

/* ------------------------------------------------------------------------------------------- tests */

static const char *const texts[] = {
    "POWER g TO 2",
    "POWER g TO 2 AGG count",
    "POWER g TO 4 AGG count",
    "POWER g TO 3 CON a + b AGG max WHERE src IN (1, 5, 6)",
    "POWER g TO 3 AGG avg",
    "POWER g TO 2 WHERE src < 0",
    "POWER g UNTIL STABLE",
    "POWER g UNTIL STABLE WITHIN 4 CON a + b AGG min",
    "POWER g UNTIL STABLE WITHIN 3 CON a + b AGG max WHERE src BETWEEN 10 AND 20",
    "POWER g UNTIL STABLE CON a AGG any",
    "POWER g UNTIL STABLE WITHIN 1 CON a + b AGG min",
};

/* Whole, and in blocks of sources. */
static void check_same(parity *p, const char *text, const named *arrays)
{
    char reason[200];
    triples expected = by_cpu(p, text, arrays), whole = {0}, panels = {0};
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_GPU);
    if (!tested.can(call, reason, sizeof reason)) fail_msg("%s: %s", text, reason);
    run_units(p, call, &tested, 0, call->units, text, &whole);
    triples_compare(&whole, &expected, text, "whole");
    run_panels(p, call, &tested, 8000, text, &panels);
    triples_compare(&panels, &expected, text, "in blocks");
    parity_unbind(p, call);
    triples_free(&expected);
    triples_free(&whole);
    triples_free(&panels);
    lacis_run_clear(&p->run);
}

static void test_same_as_cpu(void **state)
{
    parity *p = *state;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64};
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        one o = one_make(p, t == 1 ? GRAPH_HUB : GRAPH_SPARSE, 40, types[t]);
        for (int i = 0; i < LACIS_COUNT(texts); i++)
            check_same(p, texts[i], o.arrays);
        one_free(&o);
        assert_int_equal(fake.blocks, 0);
    }
    assert_true(fake_pushes > 0);     /* of little change */
    assert_true(fake_rows_taken > 0); /* AGG any of values keeps an order */
}

/* Rows and columns of different vertices, some of them the same. */
static void test_labels_differ(void **state)
{
    parity *p = *state;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I64};
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        uint64_t random = 7;
        graph g = graph_make(&random, GRAPH_SPARSE, 40, 60, types[t]);
        g.row_label = random_labels(&random, g.rows, 2);
        g.col_label = random_labels(&random, g.cols, 2);
        const named arrays[] = {{"g", graph_array(p, &g)}, {NULL, NULL}};
        for (int i = 0; i < LACIS_COUNT(texts); i++)
            check_same(p, texts[i], arrays);
        lacis_array_release(arrays[0].array);
        graph_free(&g);
        assert_int_equal(fake.blocks, 0);
    }
}

/* ----------------------------------------------------------------------------------- written functions */

static double times(double a, double b, int64_t s, int64_t c, int64_t t)
{
    (void)s, (void)c, (void)t;
    return a * b;
}
static double plus(double a, double b, int64_t s, int64_t c, int64_t t)
{
    (void)s, (void)c, (void)t;
    return a + b;
}
static double labels(double a, double b, int64_t s, int64_t c, int64_t t)
{
    return a + 2 * b + (double)(3 * s + c - 2 * t);
}
static double doubled(double x, double y)
{
    return x > 2 * y ? x : 2 * y;
}
static double minus(double x, double y)
{
    return x - y;
}
static double halves(double x, double y)
{
    return x * 0.5 + y;
}

static const struct {
    const char *text;
    double (*con)(double a, double b, int64_t s, int64_t c, int64_t t), (*fold)(double x, double y), identity;
    bool listed;
} writings[] = {
    {"POWER g TO 2 AGG (x, y) -> max(x, 2 * y) IDENTITY -1000 ASSOCIATIVE", times, doubled, -1000, false},
    {"POWER g TO 3 CON a + b AGG (x, y) -> x - y IDENTITY 5", plus, minus, 5, false},
    {"POWER g TO 3 CON a AGG (x, y) -> x - y IDENTITY 5 WHERE src IN (1, 5, 6)", NULL, minus, 5, false},
    {"POWER g TO 4 CON nil AGG (x, y) -> x * 0.5 + y IDENTITY 1", NULL, halves, 1, false},
    {"POWER g TO 3 CON a + 2 * b + (3 * s + c - 2 * t) AGG max", labels, NULL, 0, true},
    {"POWER g TO 3 CON a + 2 * b + (3 * s + c - 2 * t) AGG (x, y) -> x - y IDENTITY 5 WHERE src > 20", labels, minus,
     5, true},
    {"POWER g UNTIL STABLE WITHIN 3 CON a + 2 * b + (3 * s + c - 2 * t) AGG min WHERE src > 20", labels, NULL, 0,
     true},
};

/* Rows and columns carry the same labels, listed. */
static void list_labels(graph *g)
{
    uint64_t random = 5;
    g->row_label = random_labels(&random, g->rows, 2);
    random = 5;
    g->col_label = random_labels(&random, g->cols, 2);
}

static void test_written(void **state)
{
    parity *p = *state;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I32, LACIS_I64, LACIS_F64};
    char reason[200];
    if (!lacis_written_can(NULL, reason, sizeof reason)) skip();
    for (int i = 0; i < LACIS_COUNT(writings); i++)
        for (int t = 0; t < LACIS_COUNT(types); t++) {
            uint64_t random = 7;
            graph g = graph_make(&random, t == 1 ? GRAPH_HUB : GRAPH_SPARSE, 40, 40, types[t]);
            if (writings[i].listed) list_labels(&g);
            const named arrays[] = {{"g", graph_array(p, &g)}, {NULL, NULL}};
            fake_written.con = writings[i].con;
            fake_written.fold = writings[i].fold;
            fake_written.identity = writings[i].identity;
            fake_written.compiled = types[t] == LACIS_I64; /* NVRTC takes a third of a second for each */
            check_same(p, writings[i].text, arrays);
            lacis_array_release(arrays[0].array);
            graph_free(&g);
            assert_int_equal(fake.blocks, 0);
        }
}

/* Where a round has many paths they are multiplied, not pushed. */
static void test_direction(void **state)
{
    parity *p = *state;
    const char *text = "POWER g UNTIL STABLE CON b AGG min";
    one o = one_make(p, GRAPH_FULL, 330, LACIS_I32);
    triples expected = by_cpu(p, text, o.arrays), found = {0};
    lacis_call *call = bind_on(p, text, o.arrays, LACIS_ON_GPU);
    run_units(p, call, &tested, 0, call->units, text, &found);
    triples_compare(&found, &expected, text, "multiplied");
    assert_true(parity_figure(p, "GPU rounds multiplied") >= 1); /* the first: 330^3 paths */
    assert_true(parity_figure(p, "rounds") >= 2);
    parity_unbind(p, call);
    triples_free(&expected);
    triples_free(&found);
    one_free(&o);
}

static void test_refuses(void **state)
{
    parity *p = *state;
    one o = one_make(p, GRAPH_SPARSE, 30, LACIS_F64);
    expect_cannot(p, "POWER g TO 1", o.arrays, &tested, LACIS_ON_GPU, "nothing to multiply");
    expect_cannot(p, "POWER g UNTIL STABLE", o.arrays, &tested, LACIS_ON_AUTO, "too little work");
    assert_int_equal(fake.calls, 0); /* none of it has touched the device */
    fake.absent = true;
    expect_cannot(p, "POWER g TO 2", o.arrays, &tested, LACIS_ON_GPU, "no GPU in this test");
    one_free(&o);
}

/* Not all sources fit the device at once. */
static void test_blocks(void **state)
{
    parity *p = *state;
    one o = one_make(p, GRAPH_FULL, 100, LACIS_F64);
    static const char *const both[] = {"POWER g TO 2", "POWER g UNTIL STABLE WITHIN 3 CON a + b AGG min"};
    lacis_device_set_limit(&p->host, 200000);
    for (int i = 0; i < LACIS_COUNT(both); i++) {
        triples expected = by_cpu(p, both[i], o.arrays), found = {0};
        lacis_run_clear(&p->run); /* the figures before */
        lacis_call *call = bind_on(p, both[i], o.arrays, LACIS_ON_GPU);
        run_units(p, call, &tested, 0, call->units, both[i], &found);
        triples_compare(&found, &expected, both[i], "in blocks of sources");
        assert_true(parity_figure(p, "GPU blocks of sources") > 1);
        assert_true(p->host.gpu->peak <= 200000);
        parity_unbind(p, call);
        triples_free(&expected);
        triples_free(&found);
    }
    one_free(&o);
}

static void test_falls_back(void **state)
{
    parity *p = *state;
    char reason[200];
    const char *text = "POWER g UNTIL STABLE WITHIN 3 CON a + b AGG min";
    one o = one_make(p, GRAPH_FULL, 100, LACIS_F64);
    triples expected = by_cpu(p, text, o.arrays);
    assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason)); /* so that little work is enough */
    lacis_device_set_limit(&p->host, 50000);
    run_planned(p, text, o.arrays, 1, LACIS_ON_AUTO, LACIS_OK, &expected);
    assert_non_null(strstr(last_note, "does not hold the graph"));
    assert_non_null(strstr(last_note, "went on with rounds on the CPU"));
    run_planned(p, text, o.arrays, 1, LACIS_ON_GPU, LACIS_UNSUPPORTED, &expected);
    assert_non_null(strstr(p->host.error.message, "POWER cannot run on a GPU here (gpu: the GPU's memory"));
    lacis_device_set_limit(&p->host, 0);
    fake_cuda_error = FAKE_BROKEN;
    run_planned(p, text, o.arrays, 1, LACIS_ON_AUTO, LACIS_OK, &expected);
    assert_non_null(strstr(last_note, "Pretended 0 failed: broken; went on with rounds"));
    triples_free(&expected);
    one_free(&o);
}

/* Integers that could leave 64 bits in CON are left to the CPU. */
static void test_overflow(void **state)
{
    parity *p = *state;
    static const char *const grow[] = {"POWER g TO 40 AGG max", "POWER g UNTIL STABLE WITHIN 40 AGG max"};
    one o = one_make(p, GRAPH_FULL, 30, LACIS_I64);
    for (int i = 0; i < LACIS_COUNT(grow); i++) {
        lacis_array *out = NULL;
        lacis_call *call = bind_on(p, grow[i], o.arrays, LACIS_ON_GPU);
        assert_int_equal(tested.run(&p->run, call, 0, call->units, &out), LACIS_UNSUPPORTED);
        assert_non_null(strstr(p->host.error.message, "could overflow 64 bits"));
        parity_unbind(p, call);
    }
    one_free(&o);
}

static void calls_fail(parity *p, const char *text, bool lost)
{
    one o = one_make(p, GRAPH_FULL, 80, LACIS_F64);
    every_call_fails(p, text, o.arrays, 1, lost);
    one_free(&o);
}

static void test_calls_fail(void **state)
{
    calls_fail(*state, "POWER g TO 3 CON b AGG min", false);
    calls_fail(*state, "POWER g UNTIL STABLE CON b AGG min", false);
}

static void test_device_lost(void **state)
{
    calls_fail(*state, "POWER g UNTIL STABLE CON a AGG any", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_as_cpu, setup, teardown),
        cmocka_unit_test_setup_teardown(test_labels_differ, setup, teardown),
        cmocka_unit_test_setup_teardown(test_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_direction, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_falls_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overflow, setup, teardown),
        cmocka_unit_test_setup_teardown(test_calls_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(test_device_lost, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
