/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY over several pretended GPUs, and its totals on them: panels dealt, results in order, sums of reals with
 * the same bits however they were dealt, devices that fail in the middle, and every call of the driver failing in
 * turn.
 */
#include "support/gpu_multiply.h"

#include <math.h>

static const char *const texts[] = {
    "MULTIPLY a BY b",        "MULTIPLY a BY b CON nil AGG count",          "MULTIPLY a BY b CON a + b AGG min",
    "MULTIPLY a BY b MASK m", "MULTIPLY a BY b WHERE src IN (1, 5, 6, 30)",
};

static int several(void **state)
{
    setup(state);
    parity *p = *state;
    fake.devices = 2;
    p->host.gpus = 2;
    return 0;
}

/* So that one device does not do it all before the other has begun. */
static int slow(void **state)
{
    several(state);
    fake_meet_again(3);
    return 0;
}

static double gpu_panels(parity *p, int number)
{
    char what[40];
    snprintf(what, sizeof what, "GPU %d panels", number);
    return parity_figure(p, what);
}

static void run_and_compare(parity *p, const char *text, const pair *o, const triples *expected, lacis_status wanted)
{
    lacis_array *array = NULL;
    triples found = {0};
    lacis_call *call = bind_on(p, text, o->arrays, LACIS_ON_GPU);
    lacis_status status = tested.run(&p->run, call, 0, call->units, &array);
    if (status != wanted) fail_msg("%s: %s: %s", text, lacis_status_name(status), p->host.error.message);
    if (status == LACIS_OK) {
        triples_take(&found, array);
        triples_compare(&found, expected, text, "over several GPUs");
    }
    triples_free(&found);
    lacis_array_release(array);
    parity_unbind(p, call);
}

static void test_shared(void **state)
{
    parity *p = *state;
    pair o = pair_make(p, GRAPH_SPARSE, 400, LACIS_F64);
    for (int i = 0; i < LACIS_COUNT(texts); i++) {
        triples expected = by_cpu(p, texts[i], o.arrays);
        run_and_compare(p, texts[i], &o, &expected, LACIS_OK);
        triples_free(&expected);
    }
    assert_int_equal(p->host.gpu->next->number, 1);
    assert_true(parity_figure(p, "GPU panels") > 2 * LACIS_COUNT(texts));
    assert_true(gpu_panels(p, 1) > 0);
    assert_true(gpu_panels(p, 0) + gpu_panels(p, 1) == parity_figure(p, "GPU panels"));
    pair_free(&o);
    assert_int_equal(fake.blocks, 0);
}

/* Rows lie one behind the other, whoever computed them. */
static void test_in_order(void **state)
{
    parity *p = *state;
    pair o = pair_make(p, GRAPH_SPARSE, 300, LACIS_F32);
    lacis_array *array;
    lacis_csr csr;
    lacis_call *call = bind_on(p, texts[0], o.arrays, LACIS_ON_GPU);
    parity_ok(p, tested.run(&p->run, call, 0, call->units, &array), texts[0]);
    lacis_csr_view(array, &csr);
    for (int64_t r = 0; r < csr.rows; r++)
        assert_int_equal(csr.begin[r], r == 0 ? 0 : csr.end[r - 1]);
    lacis_array_release(array);
    parity_unbind(p, call);
    pair_free(&o);
}

/* Device 1 fails at its nth call: its rows go to device 0, and the user is told. */
static void test_one_fails(void **state)
{
    parity *p = *state;
    pair o = pair_make(p, GRAPH_SPARSE, 400, LACIS_F64);
    triples expected = by_cpu(p, texts[0], o.arrays);
    int told = 0;
    for (int nth = 10; nth < 40; nth += 2) {
        lacis_gpu *gpu[LACIS_GPUS];
        start_anew(p);
        assert_int_equal(lacis_run_gpus(&p->run, true, gpu), 2);
        last_note[0] = '\0';
        fake_meet_again(3);
        fake.broken_at = nth;
        fake.broken = 2;
        run_and_compare(p, texts[0], &o, &expected, LACIS_OK);
        if (strstr(last_note, "its rows went to the other GPUs") != NULL) {
            assert_non_null(strstr(last_note, "GPU 1: Pretended 1 is lost: broken"));
            assert_int_equal(lacis_run_gpus(&p->run, true, gpu), 1);
            told++;
        }
        lacis_run_clear(&p->run);
    }
    assert_true(told > 0);
    fake_fail(0, false);
    triples_free(&expected);
    pair_free(&o);
}

typedef struct direct {
    const pair *o;
    const triples *expected;
} direct;

/* The variant itself: it answers with the right entries or says that it cannot. */
static void check_direct(parity *p, void *context)
{
    const direct *run = context;
    triples found = {0};
    lacis_array *array = NULL;
    lacis_call *call = bind_on(p, texts[0], run->o->arrays, LACIS_ON_GPU);
    lacis_status status = tested.run(&p->run, call, 0, call->units, &array);
    if (fake.fails == 0) assert_int_equal(status, LACIS_OK);
    if (status == LACIS_OK) {
        triples_take(&found, array);
        triples_compare(&found, run->expected, texts[0], "with a failing call");
        triples_free(&found);
    } else {
        assert_int_equal(status, LACIS_UNSUPPORTED);
    }
    lacis_array_release(array);
    parity_unbind(p, call);
}

static void calls_fail(parity *p, bool lost)
{
    pair o = pair_make(p, GRAPH_FULL, 60, LACIS_F64);
    triples expected = by_cpu(p, texts[0], o.arrays);
    direct run = {&o, &expected};
    fail_every_call(p, lost, check_direct, &run);
    triples_free(&expected);
    pair_free(&o);
}

static void test_calls_fail(void **state)
{
    calls_fail(*state, false);
}

static void test_devices_lost(void **state)
{
    calls_fail(*state, true);
}

/* ------------------------------------------------------------------------------------------ totals */

static lacis_totals totals_on(parity *p, const char *text, const named *arrays)
{
    lacis_totals totals;
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_GPU);
    call->totals = true;
    lacis_totals_init(&totals);
    parity_ok(p, tested.totals(&p->run, call, 0, call->units, &totals), text);
    parity_unbind(p, call);
    return totals;
}

static lacis_totals totals_by_cpu(parity *p, const char *text, const named *arrays)
{
    lacis_totals totals;
    lacis_array *array;
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_CPU);
    lacis_totals_init(&totals);
    parity_ok(p, with_fake_variants[0]->run(&p->run, call, 0, call->units, &array), text);
    parity_ok(p, lacis_totals_add(&p->run, array, &totals), text);
    lacis_array_release(array);
    parity_unbind(p, call);
    return totals;
}

static void compare_totals(const lacis_totals *x, const lacis_totals *y, const char *text)
{
    if (x->count != y->count) fail_msg("%s: %lld entries of %lld", text, (long long)x->count, (long long)y->count);
    assert_int_equal(x->integer, y->integer);
    if (x->integer) {
        assert_int_equal(x->sum_int, y->sum_int);
        assert_int_equal(x->min_int, y->min_int);
        assert_int_equal(x->max_int, y->max_int);
    }
    assert_true(x->min == y->min && x->max == y->max && x->nan == y->nan);
    double most = (fabs(y->min) > fabs(y->max) ? fabs(y->min) : fabs(y->max)) * (double)y->count;
    assert_true(fabs(x->sum - y->sum) <= 1e-12 * most);
    assert_true(x->sum_src == y->sum_src && x->sum_dst == y->sum_dst);
    assert_int_equal(x->min_src, y->min_src);
    assert_int_equal(x->max_src, y->max_src);
    assert_int_equal(x->min_dst, y->min_dst);
    assert_int_equal(x->max_dst, y->max_dst);
}

static void test_totals(void **state)
{
    parity *p = *state;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I64, LACIS_F32, LACIS_F64};
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        pair o = pair_make(p, GRAPH_SPARSE, 900, types[t]);
        for (int i = 0; i < LACIS_COUNT(texts); i++) {
            lacis_totals expected = totals_by_cpu(p, texts[i], o.arrays);
            p->host.gpus = 1;
            lacis_totals one = totals_on(p, texts[i], o.arrays);
            p->host.gpus = 2;
            lacis_totals two = totals_on(p, texts[i], o.arrays);
            lacis_device_set_limit(&p->host, 2000000);
            lacis_totals little = totals_on(p, texts[i], o.arrays);
            lacis_device_set_limit(&p->host, 0);
            compare_totals(&one, &expected, texts[i]);
            compare_totals(&two, &expected, texts[i]);
            compare_totals(&little, &expected, texts[i]);
            assert_true(one.sum == two.sum && one.sum == little.sum); /* bit for bit */
        }
        pair_free(&o);
    }
    assert_int_equal(fake.blocks, 0);
}

/* Nothing of the product comes to the host. */
static void test_totals_alone(void **state)
{
    parity *p = *state;
    pair o = pair_make(p, GRAPH_FULL, 200, LACIS_F32);
    fake.fetched = 0;
    lacis_totals totals = totals_on(p, texts[0], o.arrays);
    assert_true(totals.count > 10000);
    assert_int_equal(fake.fetched, 0);
    pair_free(&o);
}

/* A plan's totals: the GPU's, and where that fails the next best variant's blocks. */
static void test_totals_planned(void **state)
{
    parity *p = *state;
    lacis_plan plan;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    pair o = pair_make(p, GRAPH_FULL, 120, LACIS_F64);
    lacis_totals expected = totals_by_cpu(p, texts[0], o.arrays);
    char reason[200];
    for (int fails = 0; fails < 2; fails++) {
        lacis_totals totals;
        bool done;
        assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason));
        lacis_call *call = bind_on(p, texts[0], o.arrays, LACIS_ON_AUTO);
        call->totals = true;
        parity_ok(p, lacis_plan_make(&p->run, call, &profile, LACIS_STREAM, true, &plan), "plan");
        plan.chosen = 1;
        plan.candidate[1].can = true;
        fake_fail(fails ? 1 : 0, true);
        lacis_totals_init(&totals);
        parity_ok(p, lacis_plan_totals(&p->run, &plan, 0, call->units, &totals, &done), "totals");
        fake_fail(0, false);
        assert_int_equal(done, !fails);
        assert_int_equal(plan.chosen, fails ? 0 : 1);
        if (done) compare_totals(&totals, &expected, texts[0]);
        if (!done) assert_int_equal(totals.count, 0);
        parity_unbind(p, call);
    }
    lacis_profile_clear(&profile);
    pair_free(&o);
}

#define SEVERAL(test) cmocka_unit_test_setup_teardown(test, several, teardown)
#define SLOW(test)    cmocka_unit_test_setup_teardown(test, slow, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SLOW(test_shared),          SEVERAL(test_in_order), SLOW(test_one_fails),       SEVERAL(test_calls_fail),
        SEVERAL(test_devices_lost), SEVERAL(test_totals),   SEVERAL(test_totals_alone), SEVERAL(test_totals_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
