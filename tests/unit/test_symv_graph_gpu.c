/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV of graphs on a GPU around its kernels, on a pretended device whose kernels are the CPU's: results, the plan
 * that stays and is not made again, and goes with its graph; what does not fit, refusals, costs, kernels that fail,
 * and every call of the driver failing in turn.
 */
#include "support/gpu_symv_graph.h"

/* ----------------------------------------------------------------------------------------- fixture */

enum { ROWS = 60 };
static const lacis_variant *const under_test[] = {&tested_gpu, NULL};

static lacis_array *square(parity *p, uint64_t seed, lacis_dtype dtype)
{
    graph g = graph_make(&seed, GRAPH_SPARSE, ROWS, ROWS, dtype);
    lacis_array *array = graph_array(p, &g);
    graph_free(&g);
    return array;
}

static lacis_array *numbers(parity *p, uint64_t seed, lacis_dtype dtype)
{
    graph g = graph_make(&seed, GRAPH_FULL, ROWS, 1, dtype);
    g.vector = true;
    lacis_array *array = graph_array(p, &g);
    graph_free(&g);
    return array;
}

static int setup(void **state)
{
    fake_anew();
    fake_plans = 0;
    parity *p = fixture_setup(state, "SYMV", under_test);
    const lacis_op *op = lacis_registry_op(&p->registry, "SYMV", 4);
    with_fake_variants[0] = NULL;
    for (int i = 0; i < op->variant_count; i++) /* the CPU's one of graphs */
        if (strcmp(op->variants[i]->name, "half") == 0) with_fake_variants[0] = op->variants[i];
    assert_non_null(with_fake_variants[0]);
    int at = 0;
    arrays[at++] = (named){"a", square(p, 1, LACIS_F64)};
    arrays[at++] = (named){"p", square(p, 2, LACIS_PATTERN)};
    arrays[at++] = (named){"n", square(p, 3, LACIS_I32)};
    arrays[at++] = (named){"x", numbers(p, 4, LACIS_F64)};
    arrays[at++] = (named){NULL, NULL};
    lacis_run_clear(&p->run);
    return 0;
}

/* ------------------------------------------------------------------------------------------- tests */

static const char *const texts[] = {
    "SYMV a BY x",
    "SYMV a BY x UPPER ADD x ALPHA 2 BETA -0.5",
    "SYMV p BY x",
    "SYMV n BY x LOWER",
    "SYMV a BY x ORDER free",
};

static void test_same_as_cpu(void **state)
{
    for (int i = 0; i < LACIS_COUNT(texts); i++)
        check_same(*state, texts[i]);
    assert_int_equal(fake_runs, LACIS_COUNT(texts));
}

/* One a graph, triangle and type; the graph's copy and its plan are there the next time. */
static void test_plan_stays(void **state)
{
    parity *p = *state;
    lacis_array_release(run_by(p, "SYMV a BY x ORDER free", &tested_gpu));
    assert_int_equal(fake_plans, 0);
    assert_false(fake_planned);
    lacis_array_release(run_by(p, "SYMV a BY x LOWER", &tested_gpu));
    assert_int_equal(fake_plans, 1);
    const uint64_t sent = fake.sent;
    lacis_array_release(run_by(p, "SYMV a BY x LOWER", &tested_gpu));
    lacis_array_release(run_by(p, "SYMV a BY x LOWER ORDER free", &tested_gpu));
    assert_true(fake_planned);
    assert_int_equal(fake_plans, 1);
    assert_int_equal(fake.sent, sent);
    lacis_array_release(run_by(p, "SYMV a BY x UPPER", &tested_gpu));
    assert_int_equal(fake_plans, 2);
    lacis_array_release(run_by(p, "SYMV p BY x LOWER", &tested_gpu));
    assert_int_equal(fake_plans, 3);
}

/* Another graph with the same columns, but other rows, has a plan of its own; and one that took its memory's place.
 */
static void test_plan_goes(void **state)
{
    parity *p = *state;
    uint64_t at;
    const lacis_part *rows = lacis_array_part_named(arrays[0].array, "offsets");
    int64_t *shifted = malloc(sizeof *shifted * (ROWS + 1));
    lacis_array_release(run_by(p, "SYMV a BY x LOWER", &tested_gpu));
    for (int round = 0; round < 3; round++) {
        memcpy(shifted, rows->data, sizeof *shifted * (ROWS + 1));
        for (int64_t r = ROWS - round; r <= ROWS; r++)
            shifted[r] = shifted[ROWS - 1 - round]; /* without the last rows' entries */
        lacis_csr_parts parts = {
            .rows = ROWS, .cols = ROWS, .entries = shifted[ROWS], .storage = LACIS_F64, .dtype = LACIS_F64};
        parts.begin = buffer_of(p, shifted, sizeof *shifted * (ROWS + 1));
        parts.columns = lacis_array_part_buffer(arrays[0].array, "columns", &at);
        parts.values = lacis_array_part_buffer(arrays[0].array, "values", &at);
        lacis_array *other = NULL, *whole = arrays[0].array;
        parity_ok(p, lacis_csr_new(&p->run, &parts, &other), "a graph");
        lacis_buffer_release(parts.begin);
        arrays[0].array = other;
        lacis_array_release(run_by(p, "SYMV a BY x LOWER", &tested_gpu));
        assert_int_equal(fake_plans, round + 2);
        arrays[0].array = whole;
        lacis_array_release(other);
    }
    free(shifted);
}

static void test_refuses(void **state)
{
    parity *p = *state;
    check_refusals(p);
    lacis_device_set_limit(&p->host, 2000);
    expect_cannot(p, "SYMV a BY x", arrays, &tested_gpu, LACIS_ON_GPU, "graph, plan and vectors take");
}

static void test_failing_kernels(void **state)
{
    check_failing_kernels(*state, texts[0], texts[2], "the graph, its plan and vectors");
}

static void test_faults(void **state)
{
    static char text[] = "SYMV n BY x ADD x";
    fail_every_call(*state, false, check_fault, text);
    fail_every_call(*state, true, check_fault, text);
}

/* Making a plan costs something until it is there. */
static void test_costs(void **state)
{
    lacis_cost cold = {0}, warm = {0};
    costs_of(*state, texts[0], &cold, &warm);
    assert_true(warm.seconds < cold.seconds - cold.once - PLAN_SECONDS / 2);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_same_as_cpu), TEST(test_plan_stays), TEST(test_plan_goes),
                                       TEST(test_refuses),     TEST(test_faults),     TEST(test_failing_kernels),
                                       TEST(test_costs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
