/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's variant for the GPU around its kernels, on a pretended device whose kernels are the CPU's: results, what
 * stays on the device and is not sent again, what does not fit, refusals, costs, CALIBRATE, kernels that fail, and
 * every call of the driver failing in turn.
 */
#include "support/gpu_symv.h"

/* ----------------------------------------------------------------------------------------- fixture */

enum { LANES = 5, ROWS = 60 };
static const lacis_variant *const under_test[] = {&tested_gpu, NULL};

static int setup(void **state)
{
    int64_t rows[LANES] = {ROWS, ROWS, ROWS, ROWS, ROWS};
    fake_anew();
    parity *p = fixture_setup(state, "SYMV", under_test);
    const symmetric a = {.dtype = LACIS_F64, .matrices = 1, .n = ROWS, .seed = 1};
    const symmetric b = {.dtype = LACIS_C128,
                         .hermitian = true,
                         .matrices = LANES,
                         .several = true,
                         .order = {10, 20, 20, 1, 33},
                         .storage = PACKED,
                         .seed = 2};
    int at = 0;
    arrays[at++] = (named){"a", symmetric_array(p, &a)};
    arrays[at++] = (named){"b", symmetric_array(p, &b)};
    arrays[at++] = (named){"x", vector_array(p, 3, ROWS, LACIS_F64, 0)};
    arrays[at++] = (named){"s", vector_array(p, 4, ROWS, LACIS_F32, 0)};
    arrays[at++] = (named){"xs", batch_array(p, 5, rows, LANES, 0, LACIS_F64)};
    arrays[at++] = (named){"flocks", batch_array(p, 6, rows, LANES, 2, LACIS_F64)};
    arrays[at++] = (named){"bs", batch_array(p, 7, b.order, LANES, 0, LACIS_C128)};
    lacis_run_clear(&p->run);
    return 0;
}

/* ------------------------------------------------------------------------------------------- tests */

static const char *const texts[] = {
    "SYMV a BY x",
    "SYMV a BY x ADD x ALPHA 2 BETA -0.5",
    "SYMV a BY x ADD s",
    "SYMV a BY s PRECISION dd ACCURATE",
    "SYMV a BY xs",
    "SYMV a BY xs ADD flocks BETA 2",
    "SYMV a BY flocks ADD xs",
    "SYMV a BY flocks FIGURES",
    "SYMV a BY xs ADD flocks FIGURES",
    "SYMV a BY x ADD x FIGURES",
    "SYMV b BY bs ADD bs",
    "SYMV b BY bs ORDER canonical FIGURES",
};

static void test_same_as_cpu(void **state)
{
    for (int i = 0; i < LACIS_COUNT(texts); i++)
        check_same(*state, texts[i]);
    assert_true(fake_runs >= LACIS_COUNT(texts));
}

/* Operands stay there, and so does a result that comes next. */
static void test_resident(void **state)
{
    parity *p = *state;
    lacis_array *first = run_by(p, "SYMV a BY x ADD x", &tested_gpu);
    const uint64_t sent = fake.sent;
    assert_true(sent > 0);
    arrays[7] = (named){"first", first};
    lacis_array *next = run_by(p, "SYMV a BY first ADD x", &tested_gpu);
    assert_int_equal(fake.sent, sent);
    lacis_array *expected = run_by(p, "SYMV a BY first ADD x", with_fake_variants[0]);
    same_arrays(next, expected, "a result as operand");
    arrays[7] = (named){NULL, NULL};
    lacis_array_release(first);
    lacis_array_release(next);
    lacis_array_release(expected);
}

static void test_refuses(void **state)
{
    parity *p = *state;
    check_refusals(p);
    fake_takes = 200000000;
    expect_cannot(p, "SYMV a BY x", arrays, &tested_gpu, LACIS_ON_GPU, "matrix and vectors take");
    fake_takes = 1000;
    lacis_gpu_release(p->host.gpu);
    p->host.gpu = NULL;
    fake.absent = true;
    expect_cannot(p, "SYMV a BY x", arrays, &tested_gpu, LACIS_ON_GPU, "no GPU in this test");
}

/* What turns out not to fit is done by the CPU, which is said. */
static void test_no_room(void **state)
{
    parity *p = *state;
    lacis_array *found, *expected = run_by(p, texts[1], with_fake_variants[0]);
    lacis_device_set_limit(&p->host, 20000);
    plan_and_run(p, texts[1], arrays, 1, LACIS_ON_AUTO, LACIS_OK, &found);
    same_arrays(found, expected, texts[1]);
    lacis_array_release(found);
    plan_and_run(p, texts[1], arrays, 1, LACIS_ON_GPU, LACIS_UNSUPPORTED, &found);
    assert_null(found);
    lacis_array_release(expected);
}

static void test_failing_kernels(void **state)
{
    check_failing_kernels(*state, texts[0], texts[0], "the matrix and its vectors");
}

static void test_faults(void **state)
{
    static char one[] = "SYMV a BY s ADD x FIGURES", two[] = "SYMV a BY flocks ADD xs";
    fail_every_call(*state, false, check_fault, one);
    fail_every_call(*state, true, check_fault, two);
}

/* Starting and sending cost something until they are done; what CALIBRATE measures counts. */
static void test_costs(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_cost cold = {0}, warm = {0}, slow = {0};
    costs_of(p, texts[0], &cold, &warm);
    assert_true(warm.seconds < cold.seconds - cold.once);
    lacis_profile_init(&profile, &p->host);
    lacis_call *call = bind_on(p, texts[0], arrays, LACIS_ON_GPU);
    parity_ok(p, lacis_profile_set(&profile, "symv.gpu.f64.element_ns", 1e6), "profile");
    parity_ok(p, tested_gpu.cost(&p->run, call, &profile, &slow), "cost");
    assert_true(slow.seconds > 1);
    parity_unbind(p, call);
    lacis_profile_clear(&profile);
}

static void test_calibrates(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    parity_ok(p, tested_calibrate(&p->run, &profile), "calibrate"); /* no room: nothing is set */
    assert_int_equal(fake_runs, 0);
    fake.memory = 1000000000;
    lacis_gpu_release(p->host.gpu);
    p->host.gpu = NULL;
    parity_ok(p, tested_calibrate(&p->run, &profile), "calibrate");
    assert_true(lacis_profile_get(&profile, "symv.gpu.call_seconds", -1) > 0);
    assert_true(lacis_profile_get(&profile, "symv.gpu.f64.element_ns", -1) > 0);
    assert_true(lacis_profile_get(&profile, "symv.gpu.cdd.side_ns", -1) > 0);
    lacis_profile_clear(&profile);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_same_as_cpu),     TEST(test_resident),  TEST(test_refuses),
                                       TEST(test_no_room),         TEST(test_faults),    TEST(test_costs),
                                       TEST(test_failing_kernels), TEST(test_calibrates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
