/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE over several pretended GPUs, and where they fail: lanes shared, a device that goes in the middle, every call
 * of the driver failing in turn, kernels that take more memory than they said.
 */
#include "support/gpu_solve.h"

/* ------------------------------------------------------------------------------------ several devices */

static int several(void **state)
{
    setup(state);
    parity *p = *state;
    fake.devices = 2;
    p->host.gpus = 2;
    fake_meet_again(3);
    return 0;
}

static void test_shared(void **state)
{
    parity *p = *state;
    systems s = some_systems(true, LACIS_F64, 1);
    for (int little = 0; little < 2; little++) {
        for (int i = 0; i < LAYOUTS; i++) {
            give_little(p, little, layouts[i]);
            const named arrays[] = {{"s", systems_array(p, &s, layouts[i], true, true)}, {NULL, NULL}};
            compare_ways(p, texts[3], arrays);
            lacis_array_release(arrays[0].array);
        }
    }
    assert_true(parity_figure(p, "GPU 0 panels") > 0);
    assert_true(parity_figure(p, "GPU 1 panels") > 0);
    assert_int_equal(fake.blocks, 0);
    systems_free(&s);
}

/* Device 1 fails at its nth call: its lanes go to device 0, and the user is told. */
static void test_one_fails(void **state)
{
    parity *p = *state;
    systems s = some_systems(false, LACIS_F64, 0);
    const named arrays[] = {{"s", systems_array(p, &s, 8, true, true)}, {NULL, NULL}};
    char reason[200];
    int told = 0;
    for (int nth = 6; nth < 40; nth += 2) {
        lacis_gpu *gpu[LACIS_GPUS];
        fake_fail(0, false);
        lacis_gpu_release(p->host.gpu);
        p->host.gpu = NULL;
        assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason));
        assert_int_equal(lacis_run_gpus(&p->run, true, gpu), 2);
        last_note[0] = '\0';
        fake_meet_again(3);
        fake.broken_at = nth;
        fake.broken = 2;
        lacis_array *expected = by_cpu(p, texts[0], arrays);
        lacis_call *call = bind_on(p, texts[0], arrays, LACIS_ON_GPU);
        lacis_array *found = run_whole(p, call, &tested_chip);
        same_batches(p, found, expected, "with a device lost");
        told += strstr(last_note, "its lanes went to the other GPUs") != NULL;
        parity_unbind(p, call);
        lacis_array_release(expected);
        lacis_array_release(found);
        lacis_run_clear(&p->run);
    }
    assert_true(told > 0);
    fake_fail(0, false);
    lacis_array_release(arrays[0].array);
    systems_free(&s);
}

/* ------------------------------------------------------------------------------------------- failures */

static void every_call_fails(parity *p, bool lost, uint64_t limit)
{
    systems s = some_systems(true, LACIS_F64, 0);
    const named arrays[] = {{"s", systems_array(p, &s, 0, true, true)}, {NULL, NULL}};
    lacis_array *expected = by_cpu(p, texts[3], arrays);
    char reason[200];
    bool good = false;
    for (int nth = 1; !good && nth < 3000; nth++) {
        fake_fail(0, false);
        lacis_gpu_release(p->host.gpu);
        p->host.gpu = NULL;
        assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason));
        lacis_device_set_limit(&p->host, limit);
        fake_fail(nth, lost);
        lacis_array *found = NULL;
        lacis_call *call = bind_on(p, texts[3], arrays, LACIS_ON_GPU);
        lacis_status status = tested_lanes.run(&p->run, call, 0, call->units, &found);
        good = fake.fails == 0;
        if (good) assert_int_equal(status, LACIS_OK);
        if (status != LACIS_OK) assert_int_equal(status, LACIS_UNSUPPORTED);
        if (status == LACIS_OK) same_batches(p, found, expected, "with a failing call");
        lacis_array_release(found);
        parity_unbind(p, call);
        lacis_run_clear(&p->run);
    }
    assert_true(good);
    fake_fail(0, false);
    lacis_array_release(expected);
    lacis_array_release(arrays[0].array);
    systems_free(&s);
}

static void test_calls_fail(void **state)
{
    every_call_fails(*state, false, 0);
    every_call_fails(*state, false, 20000);
}

static void test_device_lost(void **state)
{
    every_call_fails(*state, true, 0);
    every_call_fails(*state, true, 20000);
}

/* Kernels that take more than they said: panels are halved; where not even a lane goes, the CPU does it and says so.
 */
static void test_no_memory(void **state)
{
    parity *p = *state;
    lacis_plan plan;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    systems s = some_systems(true, LACIS_F64, 0);
    const named arrays[] = {{"s", systems_array(p, &s, 1, true, true)}, {NULL, NULL}};
    lacis_array *expected = by_cpu(p, texts[0], arrays);
    char reason[200];
    for (int turn = 0; turn < 2; turn++) {
        lacis_array *found;
        assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason));
        lacis_device_set_limit(&p->host, 60000);
        lacis_call *call = bind_on(p, texts[0], arrays, LACIS_ON_AUTO);
        parity_ok(p, lacis_plan_make(&p->run, call, &profile, LACIS_STREAM, true, &plan), "plan");
        for (int i = 0; i < plan.candidates; i++)
            plan.candidate[i].can = i == 0 || plan.candidate[i].variant == &tested_lanes;
        for (int i = 0; i < plan.candidates; i++)
            if (plan.candidate[i].variant == &tested_lanes) plan.chosen = i;
        plan.candidate[plan.chosen].cost = plan.candidate[0].cost;
        fake_takes = turn == 0 ? 1000 : 100000;
        fake_runs = 0;
        parity_ok(p, lacis_plan_run(&p->run, &plan, 0, call->units, &found), "run");
        same_batches(p, found, expected, "short of memory");
        assert_true(fake_runs > 3);
        assert_int_equal(plan.candidate[plan.chosen].variant->device, turn == 0 ? LACIS_GPU : LACIS_CPU);
        if (turn == 1) assert_non_null(strstr(last_note, "does not hold one lane's work"));
        if (turn == 1) assert_non_null(strstr(last_note, "went on with lanes on the CPU"));
        lacis_array_release(found);
        parity_unbind(p, call);
        lacis_run_clear(&p->run);
    }
    lacis_profile_clear(&profile);
    lacis_array_release(expected);
    lacis_array_release(arrays[0].array);
    systems_free(&s);
}

#define TEST(test)    cmocka_unit_test_setup_teardown(test, setup, teardown)
#define SEVERAL(test) cmocka_unit_test_setup_teardown(test, several, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SEVERAL(test_shared),   SEVERAL(test_one_fails), TEST(test_calls_fail),
        TEST(test_device_lost), TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
