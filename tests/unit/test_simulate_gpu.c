/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's GPU variants around their kernels, on pretended devices whose kernels are the CPU's: when they are
 * considered, what they refuse, panels where memory is short, several devices, fallbacks, interrupts, progress,
 * CALIBRATE, and every call of the driver failing in turn.
 */
#include "support/gpu_simulate.h"

/* ----------------------------------------------------------------------------------------- fixture */

static named arrays[4];
static const lacis_variant *const under_test[] = {&tested_thread, &tested_chip, &tested_power, NULL};
enum { THREAD_VARIANT = 1, WAYS = 3 };

static int setup(void **state)
{
    fake_cuda_error = fake_tables = 0;
    fake_meet_again(0);
    parity *p = fixture_setup(state, "SIMULATE", under_test);
    arrays[0] = (named){"cell", cells_make(p, 1)};
    arrays[1] = (named){"three", cells_make(p, 3)};
    arrays[2] = (named){"parameters", parameters_make(p, 29)};
    return 0;
}

static int two_devices(void **state)
{
    setup(state);
    fake.devices = 2;
    ((parity *)*state)->host.gpus = 2;
    return 0;
}

static int clear(void **state)
{
    for (int i = 0; i < 3; i++)
        lacis_array_release(arrays[i].array);
    assert_int_equal(fake_tables, 0);
    return teardown(state);
}

static lacis_array *run_by(parity *p, const char *text, const lacis_variant *variant, int64_t begin, int64_t end)
{
    lacis_array *array;
    lacis_call *call = bind_on(p, text, arrays, variant->device == LACIS_GPU ? LACIS_ON_GPU : LACIS_ON_CPU);
    if (end > call->units) end = call->units;
    parity_ok(p, variant->run(&p->run, call, begin, end, &array), text);
    parity_unbind(p, call);
    return array;
}

/* All lanes, or some where there are so many. */
static void compare_run(parity *p, const char *text, const lacis_variant *variant, int64_t begin, int64_t end)
{
    lacis_array *expected = run_by(p, text, with_fake_variants[0], begin, end);
    lacis_array *found = run_by(p, text, variant, begin, end);
    cells_same(found, expected, text);
    lacis_array_release(expected);
    lacis_array_release(found);
}

/* ------------------------------------------------------------------------------------------- tests */

#define BASE " DT 0.025 STEPS 60 LENGTH 20 CLAMP soma 0.3 FROM 0.5 TO 1 PROBE soma PROBE 'axon[0](1)' "
static const char *const texts[] = {
    "SIMULATE cell" BASE,
    "SIMULATE cell" BASE "LANES 40 EVERY 7",
    "SIMULATE cell" BASE "LANES 40 METHOD crank_nicolson REDUCE max",
    "SIMULATE cell" BASE "LANES 33 HH REDUCE mean",
    "SIMULATE cell" BASE "HH EVERY 4 LANES 9 REDUCE spikes",
    "SIMULATE three" BASE "LANES 11 EVERY 20",
    "SIMULATE three" BASE "LANES 11 HH REDUCE min",
    "SIMULATE cell" BASE "PARAMETERS parameters EVERY 30",
    "SIMULATE three" BASE "PARAMETERS parameters REDUCE max",
};

static void same_as_cpu(parity *p)
{
    char reason[200];
    for (int i = 0; i < LACIS_COUNT(texts); i++)
        for (int way = 0; way < WAYS; way++) {
            lacis_call *call = bind_on(p, texts[i], arrays, LACIS_ON_GPU);
            bool can = under_test[way]->can(call, reason, sizeof reason);
            parity_unbind(p, call);
            if (!can && way != 2) fail_msg("%s: %s", texts[i], reason);
            if (!can) continue;
            compare_run(p, texts[i], under_test[way], 0, INT64_MAX);
            if (strstr(texts[i], "LANES") != NULL) compare_run(p, texts[i], under_test[way], 3, 8);
            lacis_run_clear(&p->run);
        }
    assert_int_equal(fake.blocks, 0);
}

static void test_same_as_cpu(void **state)
{
    same_as_cpu(*state);
}

static void test_two_devices(void **state)
{
    parity *p = *state;
    const char *text = "SIMULATE cell" BASE "LANES 400 REDUCE max";
    same_as_cpu(p);
    fake_meet_again(3);
    compare_run(p, text, &tested_thread, 0, INT64_MAX);
    assert_int_equal(parity_figure(p, "GPU 0 panels"), 1);
    assert_int_equal(parity_figure(p, "GPU 1 panels"), 1);
}

static void test_refuses(void **state)
{
    parity *p = *state;
    const lacis_variant *way = &tested_power;
    expect_cannot(p, texts[3], arrays, way, LACIS_ON_GPU, "its matrix is another in every step");
    expect_cannot(p, texts[7], arrays, way, LACIS_ON_GPU, "the lanes' matrices differ");
    p->host.deterministic = true;
    expect_cannot(p, texts[0], arrays, way, LACIS_ON_GPU, "SET deterministic = on");
    p->host.deterministic = false;
    setenv("LACIS_SIMULATE_WAY", "chip", 1);
    expect_cannot(p, texts[0], arrays, way, LACIS_ON_GPU, "LACIS_SIMULATE_WAY asks for another way");
    unsetenv("LACIS_SIMULATE_WAY");
    int calls = fake.calls;
    expect_cannot(p, texts[0], arrays, &tested_chip, LACIS_ON_AUTO, "too little work: ");
    assert_int_equal(fake.calls, calls); /* the device was left alone */
    fake.absent = true;
    expect_cannot(p, texts[0], arrays, &tested_chip, LACIS_ON_GPU, "no GPU in this test");
}

/* Enough work for a device that runs is not enough to start one; asking starts none, unless ON GPU asks. */
static void test_worth(void **state)
{
    parity *p = *state;
    char reason[200];
    static const struct {
        const char *text;
        bool cold, warm;
    } cases[] = {{"SIMULATE cell DT 0.025 STEPS 2 PROBE soma REDUCE max", false, false},
                 {"SIMULATE cell DT 0.025 STEPS 2000 HH PROBE soma LANES 50 REDUCE max", false, true},
                 {"SIMULATE cell DT 0.025 STEPS 2000 HH PROBE soma LANES 256000 REDUCE max", true, true}};
    p->host.threads = 1;
    for (int warm = 0; warm < 2; warm++) {
        for (int i = 0; i < LACIS_COUNT(cases); i++) {
            bool wanted = warm ? cases[i].warm : cases[i].cold;
            lacis_call *call = bind_on(p, cases[i].text, arrays, LACIS_ON_AUTO);
            bool can = tested_chip.can(call, reason, sizeof reason);
            if (can != wanted) fail_msg("%s: %s", cases[i].text, can ? "may" : reason);
            if (!can) assert_non_null(strstr(reason, "too little work: "));
            if (!can) assert_int_equal(strstr(reason, "starting it included") == NULL, warm);
            assert_int_equal(lacis_gpu_started(&p->run), warm);
            parity_unbind(p, call);
        }
        lacis_call *call = bind_on(p, cases[0].text, arrays, LACIS_ON_GPU);
        assert_true(tested_chip.can(call, reason, sizeof reason));
        assert_true(lacis_gpu_started(&p->run));
        parity_unbind(p, call);
    }
}

/* One cell for some steps stays on the CPU; many lanes go to the GPU, even though it must be started. */
static void test_plan(void **state)
{
    parity *p = *state;
    static const struct {
        const char *text;
        bool gpu;
    } cases[] = {
        {"SIMULATE cell DT 0.025 STEPS 2000 PROBE soma", false},
        {"SIMULATE cell DT 0.025 STEPS 2000 HH PROBE soma REDUCE max", false},
        {"SIMULATE cell DT 0.025 STEPS 2000 PROBE soma LANES 256000 REDUCE max", true},
        {"SIMULATE cell DT 0.025 STEPS 2000 HH PROBE soma LANES 256000 REDUCE spikes", true},
    };
    for (int started = 0; started < 2; started++) {
        for (int i = 0; i < LACIS_COUNT(cases); i++) {
            lacis_plan plan;
            lacis_profile profile;
            lacis_profile_init(&profile, &p->host);
            lacis_call *call = bind_on(p, cases[i].text, arrays, LACIS_ON_AUTO);
            parity_ok(p, lacis_plan_make(&p->run, call, &profile, LACIS_STORE, true, &plan), cases[i].text);
            bool gpu = plan.candidate[plan.chosen].variant->device == LACIS_GPU;
            if (gpu != cases[i].gpu) fail_msg("%s: chosen is %s", cases[i].text, gpu ? "the GPU" : "the CPU");
            if (started == 0) assert_false(lacis_gpu_started(&p->run));
            parity_unbind(p, call);
            lacis_profile_clear(&profile);
        }
        if (started == 0) start_anew(p);
    }
}

/* POWER's products as its kernels cut the steps. */
static void test_products(void **state)
{
    (void)state;
    const neuron_clamp clamp = {.from = 0.5, .to = 3};
    static const struct {
        int64_t steps, every, clamps, products;
    } cases[] = {
        {1000, 100, 0, 10},       /* a sample a block */
        {1000, 1, 0, 15 + 2},     /* blocks of 64, then 32 and 8 */
        {1000, 1, 1, 2 + 3 + 15}, /* to step 20: 16, 4; 64, 32, 4; 13 x 64, 32, 16 */
        {1000, 2000, 0, 3 + 4},   /* no sample: 256s, and 232 = 128 + 64 + 32 + 8 */
        {200, 50, 0, 2},          {1, 1, 0, 1}, {0, 1, 0, 0},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        const neuron_plan plan = {.dt = 0.025,
                                  .steps = cases[i].steps,
                                  .every = cases[i].every,
                                  .clamp = &clamp,
                                  .clamps = cases[i].clamps};
        int64_t products = products_of(&plan);
        if (products != cases[i].products) fail_msg("case %d: %lld products", i, (long long)products);
    }
}

static void test_explain(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_lines lines;
    lacis_cost cost;
    lacis_lines_init(&lines, &p->run);
    lacis_profile_init(&profile, &p->host);
    lacis_call *call = bind_on(p, texts[1], arrays, LACIS_ON_GPU);
    parity_ok(p, tested_explain(call->work, &lines), "explain");
    assert_int_equal(lines.count, 0); /* nobody asked for costs */
    parity_ok(p, tested_chip.cost(&p->run, call, &profile, &cost), texts[1]);
    assert_true(cost.once > 0 && cost.seconds > cost.once);
    parity_ok(p, tested_explain(call->work, &lines), "explain");
    assert_int_equal(lines.count, 1);
    assert_non_null(strstr(lines.line[0], "gpu chip: "));
    assert_non_null(strstr(lines.line[0], "steps a launch"));
    parity_unbind(p, call);
    lacis_profile_clear(&profile);
}

/* The state does not fit: panels of lanes; not even one lane's: the CPU, with a note. */
static void test_little_memory(void **state)
{
    parity *p = *state;
    const char *text = "SIMULATE cell" BASE "LANES 300 EVERY 5";
    lacis_array *expected = run_by(p, text, with_fake_variants[0], 0, INT64_MAX), *found;
    lacis_device_set_limit(&p->host, 100000);
    found = run_by(p, text, &tested_thread, 0, INT64_MAX);
    cells_same(found, expected, text);
    assert_true(parity_figure(p, "GPU panels") > 3);
    assert_true(p->host.gpu->peak <= 100000);
    lacis_array_release(found);
    static const uint64_t limit[] = {6000, 100};
    static const char *const why[] = {"does not hold one lane's work", "does not hold the cells"};
    for (int i = 0; i < LACIS_COUNT(limit); i++) {
        lacis_device_set_limit(&p->host, limit[i]);
        p->host.threads = 1;
        plan_and_run(p, "SIMULATE cell" BASE "LANES 300 HH EVERY 5", arrays, THREAD_VARIANT, LACIS_ON_AUTO, LACIS_OK,
                     &found);
        lacis_array_release(found);
        if (strstr(last_note, why[i]) == NULL) fail_msg("%s", last_note);
        assert_non_null(strstr(last_note, "went on with lanes on the CPU"));
        plan_and_run(p, text, arrays, THREAD_VARIANT, LACIS_ON_GPU, LACIS_UNSUPPORTED, &found);
    }
    lacis_array_release(expected);
}

static void test_kernels_fail(void **state)
{
    parity *p = *state;
    lacis_array *found;
    start_anew(p);
    fake_cuda_error = FAKE_BROKEN;
    plan_and_run(p, "SIMULATE cell" BASE "LANES 3000 HH EVERY 5", arrays, THREAD_VARIANT, LACIS_ON_AUTO, LACIS_OK,
                 &found);
    assert_non_null(strstr(last_note, "Pretended 0 failed: broken; went on with gpu chip on the GPU"));
    lacis_array_release(found);
}

static const char *const failing = "SIMULATE three" BASE "LANES 200 HH EVERY 20";
static void check_failing(parity *p, void *context)
{
    lacis_array *found;
    plan_and_run(p, failing, arrays, THREAD_VARIANT, LACIS_ON_AUTO, LACIS_OK, &found);
    cells_same(found, context, failing);
    lacis_array_release(found);
}

static void calls_fail(parity *p, bool lost)
{
    lacis_array *expected = run_by(p, failing, with_fake_variants[0], 0, INT64_MAX);
    fail_every_call(p, lost, check_failing, expected);
    lacis_array_release(expected);
}

static void test_calls_fail(void **state)
{
    calls_fail(*state, false);
}

static void test_device_lost(void **state)
{
    calls_fail(*state, true);
}

/* Device 1 fails in the middle: its lanes go to device 0, and the user is told. */
static void test_one_fails(void **state)
{
    parity *p = *state;
    lacis_array *expected = run_by(p, failing, with_fake_variants[0], 0, INT64_MAX);
    int told = 0;
    for (int nth = 4; nth < 24; nth++) {
        lacis_gpu *gpu[LACIS_GPUS];
        start_anew(p);
        assert_int_equal(lacis_run_gpus(&p->run, true, gpu), 2);
        last_note[0] = '\0';
        fake_meet_again(3);
        fake.broken_at = nth;
        fake.broken = 2;
        lacis_array *found = run_by(p, failing, &tested_chip, 0, INT64_MAX);
        cells_same(found, expected, failing);
        lacis_array_release(found);
        told += strstr(last_note, "its lanes went to the other GPUs") != NULL;
        lacis_run_clear(&p->run);
    }
    assert_true(told > 0);
    fake_fail(0, false);
    lacis_array_release(expected);
}

static int reports;
static void count_reports(void *arg, const char *phase, double fraction)
{
    parity *p = arg;
    reports += strcmp(phase, "SIMULATE") == 0 && fraction >= 0 && fraction <= 1;
    p->host.last_progress = 0; /* every one */
}

static void test_progress_and_interrupt(void **state)
{
    parity *p = *state;
    lacis_array *array = NULL;
    reports = 0;
    p->host.progress = count_reports;
    p->host.progress_arg = p;
    lacis_array_release(run_by(p, texts[1], &tested_chip, 0, INT64_MAX));
    assert_true(reports > 0);
    p->host.progress = NULL;
    lacis_call *call = bind_on(p, texts[1], arrays, LACIS_ON_GPU);
    atomic_store(&p->host.cancel, 1);
    assert_int_equal(tested_chip.run(&p->run, call, 0, call->units, &array), LACIS_INTERRUPT);
    assert_null(array);
    atomic_store(&p->host.cancel, 0);
    parity_unbind(p, call);
}

/* A bad amplitude ends with the same words as on the CPU. */
static void test_not_finite(void **state)
{
    parity *p = *state;
    char message[LACIS_MESSAGE_TEXT];
    lacis_array *array = NULL;
    for (int i = 0; i < 2; i++) {
        const lacis_variant *variant = i == 0 ? with_fake_variants[0] : &tested_thread;
        lacis_call *call =
            bind_on(p, "SIMULATE cell DT 0.025 STEPS 20 CLAMP soma 1e308 FROM 0 TO 9 HH PROBE soma LANES 3", arrays,
                    i == 0 ? LACIS_ON_CPU : LACIS_ON_GPU);
        assert_int_equal(variant->run(&p->run, call, 0, call->units, &array), LACIS_RANGE);
        if (i == 0) snprintf(message, sizeof message, "%s", p->host.error.message);
        assert_string_equal(p->host.error.message, message);
        assert_null(array);
        parity_unbind(p, call);
    }
}

static void test_calibrate(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    lacis_device_set_limit(&p->host, 3000000); /* many lanes do not fit */
    parity_ok(p, tested_calibrate(&p->run, &profile), "CALIBRATE");
    for (int way = 0; way < WAYS; way++) {
        assert_true(lacis_profile_get(&profile, tested_figure(way, false, true), -1) > 0);
        assert_int_equal(lacis_profile_get(&profile, tested_figure(way, false, false), -1), -1);
    }
    assert_int_equal(lacis_profile_get(&profile, tested_figure(LACIS_NEURON_GPU_POWER, true, true), -1), -1);
    lacis_profile_clear(&profile);
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, clear)
#define TWO(test) cmocka_unit_test_setup_teardown(test, two_devices, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(test_same_as_cpu),
        TWO(test_two_devices),
        ONE(test_refuses),
        ONE(test_worth),
        ONE(test_plan),
        ONE(test_explain),
        cmocka_unit_test(test_products),
        ONE(test_little_memory),
        ONE(test_kernels_fail),
        ONE(test_calls_fail),
        ONE(test_device_lost),
        TWO(test_calls_fail),
        TWO(test_one_fails),
        ONE(test_progress_and_interrupt),
        ONE(test_not_finite),
        ONE(test_calibrate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
