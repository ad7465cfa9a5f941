/* SPDX-License-Identifier: Apache-2.0
 *
 * SWEEP's variants for the GPU around their kernels, on a pretended device whose kernels are the CPU's: results, what
 * stays on the device and is not sent again, what does not fit, refusals, costs, CALIBRATE, kernels that fail, the
 * text of written rules, and every call of the driver failing in turn.
 */
#include "support/gpu_sweep.h"

enum { SINGLE = 1, BLOCKED = 2 }; /* in with_fake */
static const lacis_variant *under_test[3];
static sweeps grids; /* of the fixture */
static dice seed;

static int setup(void **state)
{
    static const int64_t extent[3] = {60, 41, 1};
    fake_cuda_error = fake_systems = 0;
    fake_takes = 50000;
    fake_refusal = NULL;
    fake_levels = 6;
    under_test[0] = tested_variants[2];
    under_test[1] = tested_variants[3];
    assert_string_equal(under_test[0]->name, "gpu sweep");
    assert_string_equal(under_test[1]->name, "gpu blocked");
    parity *p = fixture_setup(state, "SWEEP", under_test);
    seed = 12;
    sweeps_new(&grids, p, &seed, 2, extent, 2, false);
    add_coefficients(&grids, &seed, 1);
    add_source(&grids, &seed);
    add_face(&grids, &seed, 0, 3);
    lacis_run_clear(&p->run);
    return 0;
}

static int finish(void **state)
{
    sweeps_free(&grids);
    return teardown(state);
}

/* ------------------------------------------------------------------------------------------- results */

static const char *const texts[] = {
    "SWEEP g STEP u = 0.25 * (u[-1] + u[1] + v[0,1] + u[0,-1]), v = u STEPS 30 COEFF k = k0",
    "SWEEP g STEP u = 0.25 * (u[-1] + u[1] + v[0,1] + k), v = u STEPS 30 COEFF k = k0 SOURCE src TYPE f32 EDGE x "
    "periodic",
    "SWEEP g STEP u = 0.25 * (u[-1] + u[1] + v[0,1] + k), v = u STEPS 30 COEFF k = k0 SOURCE src TYPE f64 CHANGE "
    "EVERY 7",
    "SWEEP g STEP u = 0.5 * u[0,1], v = v STEPS 9 UNTIL l2 < 1 TYPE f64 EDGE OF u top fixed f0 EDGE OF u bottom "
    "fixed f0",
    "SWEEP g STEP u = u, v = v STEPS 0",
};

static lacis_array *run_by(parity *p, const char *text, const lacis_variant *variant)
{
    lacis_array *array = NULL;
    lacis_call *call = bind_on(p, text, grids.arrays, variant->device == LACIS_GPU ? LACIS_ON_GPU : LACIS_ON_CPU);
    parity_ok(p, variant->run(&p->run, call, 0, call->units, &array), text);
    parity_unbind(p, call);
    return array;
}

static void same_grids(parity *p, const lacis_array *found, const lacis_array *wanted, const char *text)
{
    lacis_grid one, other;
    parity_ok(p, lacis_grid_view(&p->run, found, &one), text);
    parity_ok(p, lacis_grid_view(&p->run, wanted, &other), text);
    assert_true(one.dtype == other.dtype && one.fields == other.fields && one.step == other.step);
    for (int i = 0; i < one.fields; i++)
        if (memcmp(one.field[i], other.field[i], lacis_dtype_size(one.dtype) * (size_t)one.cells) != 0)
            fail_msg("%s: field %s differs", text, one.name[i]);
}

static void same_as_cpu(void **state)
{
    parity *p = *state;
    for (int i = 0; i < LACIS_COUNT(texts); i++) {
        lacis_array *wanted = run_by(p, texts[i], with_fake.variants[0]);
        for (int way = SINGLE; way <= BLOCKED; way++) {
            lacis_array *found = run_by(p, texts[i], with_fake.variants[way]);
            same_grids(p, found, wanted, texts[i]);
            lacis_array_release(found);
        }
        lacis_array_release(wanted);
        lacis_run_clear(&p->run);
    }
    assert_int_equal(fake_systems, 2 * LACIS_COUNT(texts));
}

/* Operands stay for later statements, and so do results. */
static void what_stays(void **state)
{
    parity *p = *state;
    const char *text =
        grids.dtype == LACIS_F32 ? "SWEEP g STEP u = u[1], v = v TYPE f32" : "SWEEP g STEP u = u[1], v = v TYPE f64";
    const uint64_t field = lacis_dtype_size(grids.dtype) * 60 * 41;
    start_anew(p);
    fake.sent = 0;
    lacis_array *first = run_by(p, text, with_fake.variants[SINGLE]);
    assert_int_equal(fake.sent, 2 * field);
    lacis_array *again = run_by(p, text, with_fake.variants[SINGLE]);
    assert_int_equal(fake.sent, 2 * field);
    lacis_array *g = grids.arrays[0].array;
    grids.arrays[0].array = first;
    lacis_array *next = run_by(p, text, with_fake.variants[SINGLE]);
    lacis_array *wanted = run_by(p, text, with_fake.variants[0]);
    assert_int_equal(fake.sent, 2 * field);
    same_grids(p, next, wanted, text);
    grids.arrays[0].array = g;
    lacis_array_release(first);
    lacis_array_release(again);
    lacis_array_release(next);
    lacis_array_release(wanted);
}

/* ------------------------------------------------------------------------------------------- refusals */

static void refusals(void **state)
{
    parity *p = *state;
    const lacis_variant *single = with_fake.variants[SINGLE], *several = with_fake.variants[BLOCKED];
    fake.absent = true;
    expect_cannot(p, texts[0], grids.arrays, single, LACIS_ON_GPU, "there is no GPU in this test");
    fake.absent = false;
    fake_refusal = "no reason at all";
    expect_cannot(p, texts[0], grids.arrays, single, LACIS_ON_GPU, "no reason at all");
    fake_refusal = NULL;
    fake_takes = 200000000;
    expect_cannot(p, texts[0], grids.arrays, single, LACIS_ON_GPU, "the fields take");
    fake_gpus = 2; /* slabs of two fit */
    char reason[200];
    lacis_call *call = bind_on(p, texts[0], grids.arrays, LACIS_ON_GPU);
    assert_true(single->can(call, reason, sizeof reason));
    parity_unbind(p, call);
    fake_gpus = 1;
    fake_takes = 50000;
    fake_levels = 1;
    expect_cannot(p, texts[0], grids.arrays, several, LACIS_ON_GPU, "its kernels do one step in a pass");
    fake_levels = 6;
    expect_cannot(p, "SWEEP g STEP u = u, v = v STEPS 9 LEVELS 1", grids.arrays, several, LACIS_ON_GPU, "LEVELS 1");
    expect_cannot(p, "SWEEP g STEP u = u, v = v STEPS 9 LEVELS 3", grids.arrays, single, LACIS_ON_GPU,
                  "LEVELS asks for 3");
    expect_cannot(p, "SWEEP g STEP u = u, v = v STEPS 9 CHANGE EVERY 1", grids.arrays, several, LACIS_ON_GPU,
                  "each step is looked at");
}

static void kernels_that_fail(void **state)
{
    parity *p = *state;
    lacis_array *array = NULL;
    start_anew(p);
    lacis_call *call = bind_on(p, texts[0], grids.arrays, LACIS_ON_GPU);
    fake_cuda_error = 700;
    assert_int_equal(with_fake.variants[SINGLE]->run(&p->run, call, 0, 1, &array), LACIS_UNSUPPORTED);
    fake_cuda_error = 0;
    start_anew(p);
    fake_takes = 200000000;
    assert_int_equal(with_fake.variants[SINGLE]->run(&p->run, call, 0, 1, &array), LACIS_UNSUPPORTED);
    assert_non_null(strstr(p->host.error.message, "the fields"));
    fake_takes = 50000;
    parity_unbind(p, call);
}

/* ------------------------------------------------------------------------------------- costs and figures */

static void costs(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_cost one, several, cold;
    lacis_profile_init(&profile, &p->host);
    lacis_call *call = bind_on(p, texts[0], grids.arrays, LACIS_ON_GPU);
    parity_ok(p, with_fake.variants[SINGLE]->cost(&p->run, call, &profile, &cold), texts[0]);
    start_anew(p);
    parity_ok(p, with_fake.variants[SINGLE]->cost(&p->run, call, &profile, &one), texts[0]);
    parity_ok(p, with_fake.variants[BLOCKED]->cost(&p->run, call, &profile, &several), texts[0]);
    assert_true(one.seconds > several.seconds && several.seconds > 0 && cold.once > one.once);
    const lacis_sweep_work *work = call->work;
    assert_int_equal(work->gpu[LACIS_SWEEP_BLOCKED].levels, 6);
    assert_true(work->gpu[LACIS_SWEEP_SINGLE].bytes == 6 * work->gpu[LACIS_SWEEP_BLOCKED].bytes);
    parity_unbind(p, call);
    lacis_profile_clear(&profile);
}

/* What the device is asked to have room for is what is taken on it, of arrays that are sent as they are and of those
 * that are converted. */
static void room(void **state)
{
    parity *p = *state;
    for (int i = 0; i < LACIS_COUNT(texts); i++)
        for (int way = SINGLE; way <= BLOCKED; way++) {
            lacis_sweep_start start;
            start_anew(p);
            lacis_call *call = bind_on(p, texts[i], grids.arrays, LACIS_ON_GPU);
            start_of(call->work, way - SINGLE, &start);
            const double least = room_for(call->work, &start);
            parity_unbind(p, call);
            lacis_array_release(run_by(p, texts[i], with_fake.variants[way]));
            const double taken = (double)p->host.gpu->peak;
            if (taken > least || taken < least - 20 * 256)
                fail_msg("%s: %.0f bytes are taken, %.0f were asked for", texts[i], taken, least);
        }
}

static void text_of_rules(void **state)
{
    parity *p = *state;
    const char *text =
        "SWEEP g STEP u = u[1] * k + x / 2 + t, v = CASE WHEN y > 3 THEN 1 ELSE 2 END COEFF k = k0 SOURCE src "
        "TYPE f32";
    lacis_call *call = bind_on(p, text, grids.arrays, LACIS_ON_GPU);
    const char *one, *other;
    parity_ok(p, rule_text(&p->run, call->work, 0, &one), text);
    parity_ok(p, rule_text(&p->run, call->work, 1, &other), text);
    if (strstr(
            one,
            "LACIS_DEVICE float lacis_rule_0(float v0, float v1, float v2, float x, float y, float z, float t, int "
            "*bad)\n{ return (float)lacis_step_0(v0, v1, x, t, bad) + v2; }\n") == NULL)
        fail_msg("%s", one);
    if (strstr(other, "LACIS_DEVICE float lacis_rule_1(float v0, float x, float y, float z, float t, int *bad)\n"
                      "{ return (float)lacis_step_1(y, bad) + v0; }\n") == NULL)
        fail_msg("%s", other);
    parity_unbind(p, call);
}

/* --------------------------------------------------------------------------------------------- failures */

static lacis_array *expected;

static void check(parity *p, void *context)
{
    const char *text = context;
    lacis_array *array;
    plan_and_run(p, text, grids.arrays, BLOCKED, LACIS_ON_AUTO, LACIS_OK, &array);
    same_grids(p, array, expected, text);
    lacis_array_release(array);
}

static void every_call(void **state)
{
    parity *p = *state;
    for (int lost = 0; lost < 2; lost++) {
        expected = run_by(p, texts[1], with_fake.variants[0]);
        fail_every_call(p, lost == 1, check, (void *)(uintptr_t)texts[1]);
        lacis_array_release(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_as_cpu, setup, finish),
        cmocka_unit_test_setup_teardown(what_stays, setup, finish),
        cmocka_unit_test_setup_teardown(refusals, setup, finish),
        cmocka_unit_test_setup_teardown(kernels_that_fail, setup, finish),
        cmocka_unit_test_setup_teardown(costs, setup, finish),
        cmocka_unit_test_setup_teardown(room, setup, finish),
        cmocka_unit_test_setup_teardown(text_of_rules, setup, finish),
        cmocka_unit_test_setup_teardown(every_call, setup, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
