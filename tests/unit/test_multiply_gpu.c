/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" around its kernels, on a pretended device whose kernels are the CPU's: what it refuses and
 * when it is considered, copies and what stays on the device, panels where memory is short, fallbacks, and every call
 * of the driver failing in turn.
 */
#include "support/gpu_multiply.h"

/* ------------------------------------------------------------------------------------------- tests */

static const char *const texts[] = {
    "MULTIPLY a BY b",
    "MULTIPLY a BY b CON nil AGG count",
    "MULTIPLY a BY b CON a + b AGG min",
    "MULTIPLY a BY a CON a AGG last",
    "MULTIPLY a BY b AGG avg",
    "MULTIPLY a BY b MASK m",
    "MULTIPLY a BY b MASK NOT m TOP 3",
    "MULTIPLY a BY b WHERE src IN (1, 5, 6, 30)",
    "MULTIPLY a BY b WHERE src BETWEEN 10 AND 20",
    "MULTIPLY a BY b WHERE src < 0",
};

static void test_same_as_cpu(void **state)
{
    parity *p = *state;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64};
    char reason[200];
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        pair o = pair_make(p, t == 1 ? GRAPH_HUB : GRAPH_SPARSE, 60, types[t]);
        for (int i = 0; i < LACIS_COUNT(texts); i++) {
            triples expected = by_cpu(p, texts[i], o.arrays), whole = {0}, panels = {0};
            lacis_call *call = bind_on(p, texts[i], o.arrays, LACIS_ON_GPU);
            if (!tested.can(call, reason, sizeof reason)) fail_msg("%s: %s", texts[i], reason);
            run_units(p, call, &tested, 0, call->units, texts[i], &whole);
            triples_compare(&whole, &expected, texts[i], "whole");
            run_panels(p, call, &tested, 2000, texts[i], &panels);
            triples_compare(&panels, &expected, texts[i], "in blocks");
            parity_unbind(p, call);
            triples_free(&expected);
            triples_free(&whole);
            triples_free(&panels);
        }
        pair_free(&o);
        assert_int_equal(fake.blocks, 0);
    }
}

static void test_refuses(void **state)
{
    parity *p = *state;
    pair o = pair_make(p, GRAPH_SPARSE, 30, LACIS_F64);
    expect_cannot(p, "MULTIPLY a BY b CON a + 2 * b", o.arrays, &tested, LACIS_ON_GPU, "CON is written");
    expect_cannot(p, "MULTIPLY a BY b", o.arrays, &tested, LACIS_ON_AUTO, "too little work");
    assert_int_equal(fake.calls, 0); /* none of it has touched the device */
    fake.absent = true;
    expect_cannot(p, "MULTIPLY a BY b", o.arrays, &tested, LACIS_ON_GPU, "no GPU in this test");
    pair_free(&o);
}

/* How SMALL rows are done is as the environment says, also where nobody has planned. */
static void test_small_way(void **state)
{
    parity *p = *state;
    pair o = pair_make(p, GRAPH_SPARSE, 60, LACIS_F32);
    static const struct {
        const char *wanted;
        lacis_mul_gpu_small way;
    } cases[] = {{"hash", LACIS_MUL_GPU_HASH}, {"sort", LACIS_MUL_GPU_SORT}, {"bitmap", LACIS_MUL_GPU_BITMAP}};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_array *result = NULL;
        setenv("LACIS_MULTIPLY_SMALL", cases[i].wanted, 1);
        lacis_call *call = bind_on(p, texts[0], o.arrays, LACIS_ON_GPU);
        parity_ok(p, tested.run(&p->run, call, 0, call->units, &result), texts[0]);
        assert_int_equal(fake_small, cases[i].way);
        lacis_array_release(result);
        parity_unbind(p, call);
    }
    unsetenv("LACIS_MULTIPLY_SMALL");
    pair_free(&o);
}

/* Operands are sent once, and a result's copies stay for what comes next. */
static void test_stays(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    pair o = pair_make(p, GRAPH_SPARSE, 2000, LACIS_F32);
    lacis_array *result = NULL, *next = NULL;
    const char *text = "MULTIPLY a BY b";
    lacis_call *call = bind_on(p, text, o.arrays, LACIS_ON_GPU);
    lacis_cost cost;
    parity_ok(p, tested.cost(&p->run, call, &profile, &cost), text);
    parity_ok(p, tested.run(&p->run, call, 0, call->units, &result), text);
    uint64_t sent = fake.sent;
    lacis_array *again = NULL;
    parity_ok(p, tested.run(&p->run, call, 0, call->units, &again), text);
    assert_int_equal(fake.sent, sent);
    lacis_cost later;
    parity_ok(p, tested.cost(&p->run, call, &profile, &later), text);
    assert_true(later.seconds < cost.seconds);
    parity_unbind(p, call);
    named arrays[] = {{"a", result}, {"b", o.arrays[1].array}, {NULL, NULL}};
    lacis_call *second = bind_on(p, text, arrays, LACIS_ON_GPU);
    parity_ok(p, tested.run(&p->run, second, 0, second->units, &next), text);
    assert_int_equal(fake.sent, sent);
    parity_unbind(p, second);
    lacis_array_release(result);
    lacis_array_release(again);
    lacis_array_release(next);
    lacis_profile_clear(&profile);
    pair_free(&o);
}

/* The result does not fit the device beside the operands: panels of rows. */
static void test_panels(void **state)
{
    parity *p = *state;
    const char *text = "MULTIPLY a BY b";
    pair o = pair_make(p, GRAPH_FULL, 120, LACIS_F64);
    triples expected = by_cpu(p, text, o.arrays), found = {0};
    lacis_device_set_limit(&p->host, 500000);
    lacis_call *call = bind_on(p, text, o.arrays, LACIS_ON_GPU);
    run_units(p, call, &tested, 0, call->units, text, &found);
    triples_compare(&found, &expected, text, "in panels");
    assert_true(parity_figure(p, "GPU panels") > 1);
    assert_true(p->host.gpu->peak <= 500000);
    parity_unbind(p, call);
    triples_free(&expected);
    triples_free(&found);
    pair_free(&o);
}

static void test_falls_back(void **state)
{
    parity *p = *state;
    char reason[200];
    const char *text = "MULTIPLY a BY b";
    pair o = pair_make(p, GRAPH_FULL, 120, LACIS_F64);
    triples expected = by_cpu(p, text, o.arrays);
    assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason)); /* so that few products are enough */
    lacis_device_set_limit(&p->host, 100000);
    run_planned(p, text, o.arrays, 1, LACIS_ON_AUTO, LACIS_OK, &expected);
    assert_non_null(strstr(last_note, "does not hold the operands"));
    assert_non_null(strstr(last_note, "went on with rows on the CPU"));
    run_planned(p, text, o.arrays, 1, LACIS_ON_GPU, LACIS_UNSUPPORTED, &expected);
    assert_non_null(strstr(p->host.error.message, "MULTIPLY cannot run on a GPU here (gpu: the GPU's memory"));
    lacis_device_set_limit(&p->host, 0);
    fake_cuda_error = FAKE_BROKEN;
    run_planned(p, text, o.arrays, 1, LACIS_ON_AUTO, LACIS_OK, &expected);
    assert_non_null(strstr(last_note, "Pretended 0 failed: broken; went on with rows"));
    last_note[0] = '\0';
    run_planned(p, text, o.arrays, 1, LACIS_ON_AUTO, LACIS_OK, &expected);
    assert_string_equal(last_note, ""); /* it was not lost */
    triples_free(&expected);
    pair_free(&o);
}

static void calls_fail(parity *p, bool lost)
{
    pair o = pair_make(p, GRAPH_FULL, 120, LACIS_F64);
    every_call_fails(p, "MULTIPLY a BY b MASK m", o.arrays, 1, lost);
    pair_free(&o);
}

static void test_calls_fail(void **state)
{
    calls_fail(*state, false);
}

static void test_device_lost(void **state)
{
    calls_fail(*state, true);
}

/* EXPLAIN tells why, and the plan takes what is cheaper. */
static void test_plan(void **state)
{
    parity *p = *state;
    char reason[200];
    lacis_plan plan;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    pair o = pair_make(p, GRAPH_FULL, 120, LACIS_F64);
    lacis_call *call = bind_on(p, "MULTIPLY a BY b", o.arrays, LACIS_ON_AUTO);
    parity_ok(p, lacis_plan_make(&p->run, call, &profile, LACIS_STORE, false, &plan), "plan");
    assert_false(plan.candidate[1].can);
    assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason));
    const double nothing = 1e-9, much = 1e3;
    for (int dear = 0; dear < 2; dear++) {
        for (int i = 0; i < LACIS_GPU_SIZES; i++)
            assert_int_equal(lacis_profile_set(&profile, figure[i][LACIS_WORK_FLOAT], dear ? much : nothing),
                             LACIS_OK);
        lacis_profile_set(&profile, "multiply.dense.value_ns", 100);
        parity_ok(p, lacis_plan_make(&p->run, call, &profile, LACIS_STORE, false, &plan), "plan");
        assert_true(plan.candidate[1].can && plan.candidate[1].costed);
        assert_int_equal(plan.chosen, dear ? 0 : 1);
    }
    parity_unbind(p, call);
    lacis_profile_clear(&profile);
    pair_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(test_same_as_cpu), CHECK(test_refuses),    CHECK(test_stays),
        CHECK(test_panels),      CHECK(test_falls_back), CHECK(test_calls_fail),
        CHECK(test_device_lost), CHECK(test_plan),       CHECK(test_small_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
