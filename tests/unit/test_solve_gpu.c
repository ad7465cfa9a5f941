/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE's variants for the GPU around their kernels, on a pretended device: what they refuse and when they are
 * considered, lanes in panels where memory is short, what stays on the device, bad lanes, costs.
 */
#include "support/gpu_solve.h"

static void every_shape(parity *p, bool little)
{
    static const lacis_dtype types[] = {LACIS_F64, LACIS_F32, LACIS_C128};
    for (int t = 0; t < 3; t++)
        for (int tree = 0; tree < (types[t] == LACIS_C128 ? 1 : 2); tree++)
            for (int sharing = 0; sharing < 3; sharing++) {
                systems s = some_systems(tree == 1, types[t], sharing);
                for (int i = 0; i < LAYOUTS; i++) {
                    const named arrays[] = {{"s", systems_array(p, &s, layouts[i], true, true)}, {NULL, NULL}};
                    give_little(p, little, layouts[i]);
                    for (int n = 0; n < LACIS_COUNT(texts); n++)
                        compare_ways(p, texts[n], arrays);
                    lacis_array_release(arrays[0].array);
                    lacis_run_clear(&p->run);
                }
                systems_free(&s);
            }
}

static void test_same_as_cpu(void **state)
{
    parity *p = *state;
    every_shape(p, false);
    assert_int_equal(fake.blocks, 0);
    assert_int_equal(fake_ways, 31); /* all of them */
    assert_true(parity_figure(p, "bytes to the GPU with panels") == 0);
}

/* The device holds neither the operands nor the result: every panel brings its lanes. */
static void test_in_panels(void **state)
{
    parity *p = *state;
    every_shape(p, false);
    int whole = fake_runs;
    uint64_t sent = fake.sent;
    fake_runs = 0;
    every_shape(p, true);
    assert_true(fake_runs > 2 * whole);
    assert_true(fake.sent > 3 * sent); /* for each clause and way anew */
}

/* Some lanes of the whole, as streaming asks for them. */
static void test_ranges(void **state)
{
    parity *p = *state;
    systems s = some_systems(true, LACIS_F64, 1);
    for (int i = 0; i < LAYOUTS; i++) {
        const named arrays[] = {{"s", systems_array(p, &s, layouts[i], true, true)}, {NULL, NULL}};
        lacis_call *call = bind_on(p, texts[3], arrays, LACIS_ON_GPU);
        for (int little = 0; little < 2; little++)
            for (int64_t begin = 0; begin < call->units; begin += 29) {
                int64_t end = begin + 50 < call->units ? begin + 50 : call->units;
                lacis_array *expected, *found;
                give_little(p, little, layouts[i]);
                parity_ok(p, with_fake_variants[0]->run(&p->run, call, begin, end, &expected), "cpu");
                parity_ok(p, tested_lanes.run(&p->run, call, begin, end, &found), "gpu");
                same_batches(p, found, expected, "a range of lanes");
                lacis_array_release(expected);
                lacis_array_release(found);
            }
        parity_unbind(p, call);
        lacis_array_release(arrays[0].array);
    }
    systems_free(&s);
}

static void test_right_sides(void **state)
{
    parity *p = *state;
    for (int kind = 0; kind < 4; kind++) {
        systems s = some_systems(kind % 2 == 1, LACIS_F64, 2), m = s;
        if (kind >= 2) m.matrix_shared = false;
        for (int i = 0; i < LAYOUTS * LAYOUTS; i++) {
            const named arrays[] = {{"s", systems_array(p, &m, layouts[i / LAYOUTS], true, false)},
                                    {"r", systems_array(p, &s, layouts[i % LAYOUTS], false, true)},
                                    {NULL, NULL}};
            for (int little = 0; little < 2; little++) {
                give_little(p, little,
                            layouts[i / LAYOUTS] > layouts[i % LAYOUTS] ? layouts[i / LAYOUTS]
                                                                        : layouts[i % LAYOUTS]);
                compare_ways(p, "SOLVE s BY r RESIDUAL", arrays);
            }
            lacis_array_release(arrays[0].array);
            lacis_array_release(arrays[1].array);
        }
        systems_free(&s);
    }
}

/* What is there is not sent again, and a result may be the next one's right side. */
static void test_resident(void **state)
{
    parity *p = *state;
    systems s = some_systems(false, LACIS_F64, 0);
    named arrays[] = {{"s", systems_array(p, &s, 0, true, true)}, {"r", NULL}, {NULL, NULL}};
    lacis_call *call = bind_on(p, "SOLVE s", arrays, LACIS_ON_GPU);
    arrays[1].array = run_whole(p, call, &tested_chip);
    uint64_t sent = fake.sent;
    assert_true(sent > 0);
    lacis_array *again = run_whole(p, call, &tested_chip);
    parity_unbind(p, call);
    call = bind_on(p, "SOLVE s BY r", arrays, LACIS_ON_GPU);
    lacis_array *next = run_whole(p, call, &tested_chip), *expected = by_cpu(p, "SOLVE s BY r", arrays);
    same_batches(p, next, expected, "SOLVE s BY r");
    assert_int_equal(fake.sent, sent);
    parity_unbind(p, call);
    lacis_array_release(again);
    lacis_array_release(next);
    lacis_array_release(expected);
    lacis_array_release(arrays[0].array);
    lacis_array_release(arrays[1].array);
    systems_free(&s);
}

/* The plan of a tree is made once a way, whatever lanes are asked for; of a shape that comes with others in panels
 * each panel makes its own. One that cannot be made is a device that failed. */
static void test_plans_are_kept(void **state)
{
    parity *p = *state;
    systems one = {.tree = true, .dtype = LACIS_F64, .groups = 1, .lanes = {90}, .rows = {12}};
    systems_draw(&one, 3);
    const named arrays[] = {{"s", systems_array(p, &one, 1, true, true)}, {NULL, NULL}};
    lacis_array *out;
    for (int turn = 0; turn < 3; turn++) {
        lacis_call *call = bind_on(p, turn == 1 ? "SOLVE s STATUS" : "SOLVE s", arrays, LACIS_ON_GPU);
        lacis_array_release(run_whole(p, call, &tested_lanes));
        parity_ok(p, tested_lanes.run(&p->run, call, 7, 31, &out), "a range");
        lacis_array_release(out);
        parity_unbind(p, call);
        assert_int_equal(fake_plans, 1);
        assert_int_equal(fake_plans_used, 2 * (turn + 1));
    }
    lacis_call *call = bind_on(p, "SOLVE s", arrays, LACIS_ON_GPU);
    lacis_array_release(run_whole(p, call, &tested_thread));
    assert_int_equal(fake_plans, 2); /* another way's */
    fake_plan_error = 700;
    assert_int_equal(tested_shared.run(&p->run, call, 0, call->units, &out), LACIS_UNSUPPORTED);
    lacis_host_ok(&p->host);
    parity_unbind(p, call);
    lacis_array_release(arrays[0].array);
    lacis_run_clear(&p->run);
    systems_free(&one);
}

/* A range of one shape of several has no use for the plan of all, and leaves it unmade. */
static void test_plans_of_all_shapes(void **state)
{
    parity *p = *state;
    systems two = {.tree = true, .dtype = LACIS_F64, .groups = 2, .lanes = {20, 30}, .rows = {12, 17}};
    systems_draw(&two, 4);
    const named arrays[] = {{"s", systems_array(p, &two, 1, true, true)}, {NULL, NULL}};
    lacis_array *out;
    lacis_call *call = bind_on(p, "SOLVE s", arrays, LACIS_ON_GPU);
    parity_ok(p, tested_thread.run(&p->run, call, 22, 41, &out), "of the second shape");
    lacis_array_release(out);
    assert_true(fake_plans == 0 && fake_plans_used == 0);
    parity_ok(p, tested_thread.run(&p->run, call, 15, 41, &out), "of both");
    lacis_array_release(out);
    assert_true(fake_plans == 1 && fake_plans_used == 1);
    parity_unbind(p, call);
    lacis_array_release(arrays[0].array);
    lacis_run_clear(&p->run);
    systems_free(&two);
}

/* What ways do to Flat lanes stands in EXPLAIN once the device was thought of; LACIS_SOLVE_WAY leaves one way. */
static void test_ways_are_named(void **state)
{
    parity *p = *state;
    char reason[200];
    systems s = some_systems(false, LACIS_F64, 0);
    const named arrays[] = {{"s", systems_array(p, &s, 1, true, true)}, {NULL, NULL}};
    lacis_call *call = bind_on(p, "SOLVE s", arrays, LACIS_ON_GPU);
    assert_false(tested_cyclic.can(call, reason, sizeof reason));
    assert_non_null(strstr(reason, "LACIS_SOLVE_WAY=cr-pcr"));
    setenv("LACIS_SOLVE_WAY", "cr-pcr", 1);
    assert_true(tested_cyclic.can(call, reason, sizeof reason));
    assert_false(tested_chip.can(call, reason, sizeof reason));
    assert_non_null(strstr(reason, "another way"));
    compare_ways(p, "SOLVE s STATUS RESIDUAL", arrays);
    assert_int_equal(fake_ways, 1 << LACIS_SOLVE_GPU_CYCLIC);
    unsetenv("LACIS_SOLVE_WAY");
    lacis_cost cost;
    lacis_lines lines;
    lacis_lines_init(&lines, &p->run);
    parity_ok(p, tested_explain_layout(call->work, &lines), "explain");
    assert_int_equal(lines.count, 0);
    parity_ok(p, tested_thread.cost(&p->run, call, NULL, &cost), "cost");
    parity_ok(p, tested_explain_layout(call->work, &lines), "explain");
    assert_int_equal(lines.count, 1);
    assert_non_null(strstr(lines.line[0], "conversion by gpu thread: rows are put side by side"));
    parity_unbind(p, call);
    lacis_array_release(arrays[0].array);
    systems_free(&s);
}

/* Totals are those of the result, whatever the layout and the panels, to the last bit of the sum; only sums come
 * back. Few lanes come whole. */
static void test_totals(void **state)
{
    parity *p = *state;
    double first = 0;
    for (int tree = 0; tree < 2; tree++)
        for (int turn = 0; turn < 3 * LAYOUTS; turn++) {
            systems s = {.tree = tree == 1, .dtype = LACIS_F64, .groups = 2, .lanes = {4500, 21}, .rows = {7, 3}};
            systems_draw(&s, 8);
            const named arrays[] = {{"s", systems_array(p, &s, layouts[turn / 3], true, true)}, {NULL, NULL}};
            lacis_totals expected, found;
            lacis_totals_init(&expected);
            lacis_totals_init(&found);
            lacis_array *array = by_cpu(p, "SOLVE s", arrays);
            parity_ok(p, lacis_totals_add(&p->run, array, &expected), "totals");
            lacis_array_release(array);
            lacis_device_set_limit(&p->host, turn % 3 == 1 ? 400000 : 0);
            lacis_call *call =
                bind_on(p, turn % 3 == 2 ? "SOLVE s STATUS RESIDUAL" : "SOLVE s", arrays, LACIS_ON_GPU);
            call->totals = true;
            const int summed = fake_summed;
            parity_ok(p, tested_thread.totals(&p->run, call, 0, call->units, &found), "totals there");
            assert_true(fake_summed > summed);
            assert_int_equal(found.count, expected.count);
            assert_int_equal(found.nan, 0);
            assert_true(found.min == expected.min && found.max == expected.max);
            assert_true(fabs(found.sum - expected.sum) < 1e-9 * (fabs(expected.max) + 1) * (double)expected.count);
            if (turn == 0) first = found.sum;
            assert_true(found.sum == first);
            lacis_totals_init(&found);
            parity_ok(p, tested_thread.totals(&p->run, call, 5, 700, &found), "totals of few");
            assert_int_equal(found.count, 695 * 7);
            parity_unbind(p, call);
            lacis_array_release(arrays[0].array);
            lacis_run_clear(&p->run);
            systems_free(&s);
        }
    assert_int_equal(fake.blocks, 0);
}

/* Where memory_limit has no room for the sums of all lanes, these come in blocks, with the same bits. */
static void test_totals_in_blocks(void **state)
{
    parity *p = *state;
    for (int tree = 0; tree < 2; tree++) {
        systems s = {
            .tree = tree == 1, .dtype = LACIS_F64, .groups = 3, .lanes = {9000, 21, 30000}, .rows = {2, 3, 1}};
        systems_draw(&s, 8);
        const named arrays[] = {{"s", systems_array(p, &s, 8, true, true)}, {NULL, NULL}};
        lacis_totals whole, blocks;
        lacis_call *call = bind_on(p, "SOLVE s STATUS", arrays, LACIS_ON_GPU);
        const uint64_t limit = lacis_memory_limit(p->host.memory);
        call->totals = true;
        for (int turn = 0; turn < 2; turn++) {
            lacis_totals *totals = turn == 0 ? &whole : &blocks;
            const int summed = fake_summed;
            lacis_cost cost;
            lacis_totals_init(totals);
            if (turn == 1) lacis_memory_set_limit(p->host.memory, lacis_memory_used(p->host.memory) + 400000);
            parity_ok(p, tested_thread.cost(&p->run, call, NULL, &cost), "cost");
            assert_true(turn == 0 ? cost.peak_bytes == 39021 * 32.0 : cost.peak_bytes <= 100000);
            parity_ok(p, tested_thread.totals(&p->run, call, 0, call->units, totals), "totals");
            assert_true(turn == 0 ? fake_summed == summed + 1 : fake_summed >= summed + 12);
        }
        assert_true(blocks.count == 9000 * 2 + 21 * 3 + 30000 && blocks.count == whole.count);
        assert_true(blocks.sum == whole.sum && blocks.min == whole.min && blocks.max == whole.max);
        parity_unbind(p, call);
        lacis_memory_set_limit(p->host.memory, limit);
        lacis_array_release(arrays[0].array);
        lacis_run_clear(&p->run);
        systems_free(&s);
    }
    assert_int_equal(fake.blocks, 0);
}

static void test_totals_of_bad_lanes(void **state)
{
    parity *p = *state;
    systems s = {.dtype = LACIS_F64, .groups = 1, .lanes = {5000}, .rows = {4}};
    lacis_totals totals;
    lacis_totals_init(&totals);
    systems_draw(&s, 8);
    s.value[DIAGONAL][4 * 4321 + 2] = 1e-3;
    const named arrays[] = {{"s", systems_array(p, &s, 0, true, true)}, {NULL, NULL}};
    lacis_call *call = bind_on(p, "SOLVE s", arrays, LACIS_ON_GPU);
    call->totals = true;
    assert_int_equal(tested_chip.totals(&p->run, call, 0, call->units, &totals), LACIS_RANGE);
    assert_non_null(strstr(p->host.error.message, "lane 4321, row 2 is not diagonally dominant"));
    lacis_host_ok(&p->host);
    lacis_cost whole, sums;
    const uint64_t limit = lacis_memory_limit(p->host.memory);
    lacis_memory_set_limit(p->host.memory, lacis_memory_used(p->host.memory) + 200000); /* in blocks */
    lacis_totals_init(&totals);
    assert_int_equal(tested_chip.totals(&p->run, call, 0, call->units, &totals), LACIS_RANGE);
    assert_non_null(strstr(p->host.error.message, "lane 4321, row 2 is not diagonally dominant"));
    lacis_host_ok(&p->host);
    lacis_memory_set_limit(p->host.memory, limit);
    parity_ok(p, tested_chip.cost(&p->run, call, NULL, &sums), "cost");
    call->totals = false;
    parity_ok(p, tested_chip.cost(&p->run, call, NULL, &whole), "cost");
    assert_true(sums.peak_bytes == 5000 * 32.0 && whole.peak_bytes == 5000 * 4 * 8.0);
    parity_unbind(p, call);
    lacis_array_release(arrays[0].array);
    systems_free(&s);
}

/* ----------------------------------------------------------------------------------------- bad lanes */

static void spoil(systems *s, int64_t lane, int64_t row, double complex value)
{
    int64_t within, at, first;
    group_of_lane(s, lane, &within, &at, &first);
    s->value[DIAGONAL][at + row] = value;
}

static void expect_error(parity *p, const named *arrays, const lacis_variant *variant, const char *message)
{
    lacis_array *array = NULL;
    lacis_call *call = bind_on(p, "SOLVE s", arrays, LACIS_ON_GPU);
    assert_int_equal(variant->run(&p->run, call, 0, call->units, &array), LACIS_RANGE);
    assert_string_equal(p->host.error.message, message);
    parity_unbind(p, call);
    lacis_host_ok(&p->host);
}

/* The lowest bad lane, in panels on two devices as well. */
static void test_bad_lanes(void **state)
{
    parity *p = *state;
    for (int tree = 0; tree < 2; tree++) {
        systems s = some_systems(tree == 1, LACIS_F64, 0);
        spoil(&s, 130, 3, 1e-3);
        spoil(&s, 60, 7, NAN);
        spoil(&s, 143, 0, 0);
        const named arrays[] = {{"s", systems_array(p, &s, 8, true, true)}, {NULL, NULL}};
        for (int turn = 0; turn < 3; turn++) {
            lacis_device_set_limit(&p->host, turn == 0 ? 0 : 12000);
            fake.devices = p->host.gpus = turn == 2 ? 2 : 1;
            expect_error(p, arrays, &tested_thread, "SOLVE: lane 60, row 7 holds NaN or infinity");
        }
        compare_ways(p, "SOLVE s STATUS", arrays);
        assert_true(parity_figure(p, "bad lanes") > 0);
        lacis_array_release(arrays[0].array);
        lacis_run_clear(&p->run);
        lacis_gpu_release(p->host.gpu);
        p->host.gpu = NULL;
        systems_free(&s);
    }
}

/* ------------------------------------------------------------------------------------------- planning */

static void expect_cannot(parity *p, const lacis_variant *variant, const named *arrays, lacis_placement on,
                          const char *why)
{
    char reason[200] = "";
    lacis_call *call = bind_on(p, "SOLVE s", arrays, on);
    assert_false(variant->can(call, reason, sizeof reason));
    if (strstr(reason, why) == NULL) fail_msg("\"%s\" lacks \"%s\"", reason, why);
    parity_unbind(p, call);
}

static void test_refuses(void **state)
{
    parity *p = *state;
    systems s = some_systems(false, LACIS_F64, 0);
    const named arrays[] = {{"s", systems_array(p, &s, 1, true, true)}, {NULL, NULL}};
    expect_cannot(p, &tested_lanes, arrays, LACIS_ON_GPU, "only for trees");
    expect_cannot(p, &tested_chip, arrays, LACIS_ON_AUTO, "too little work: ");
    assert_int_equal(fake.calls, 0); /* none of it has touched the device */
    fake.absent = true;
    expect_cannot(p, &tested_chip, arrays, LACIS_ON_GPU, "no GPU in this test");
    lacis_array_release(arrays[0].array);
    systems_free(&s);
}

static bool may(const lacis_call *call, char *reason, size_t size)
{
    reason[0] = '\0';
    return tested_chip.can(call, reason, size);
}

/* Enough work for a device that runs is not enough to start one; asking starts none, unless ON GPU asks. */
static void test_worth(void **state)
{
    parity *p = *state;
    char reason[200];
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    p->host.threads = 1;
    systems few = some_systems(false, LACIS_F64, 0);
    systems many = {.dtype = LACIS_F64, .groups = 1, .lanes = {3000}, .rows = {100}};
    systems_draw(&many, 5);
    const named little[] = {{"s", systems_array(p, &few, 1, true, true)}, {NULL, NULL}};
    const named much[] = {{"s", systems_array(p, &many, 1, true, true)}, {NULL, NULL}};
    lacis_call *call = bind_on(p, "SOLVE s", much, LACIS_ON_AUTO);
    assert_false(may(call, reason, sizeof reason));
    assert_non_null(strstr(reason, "ms on the GPU at least, starting it included"));
    call->profile = &profile;
    parity_ok(p, lacis_profile_set(&profile, "solve.chain.flat", 5000), "profile");
    assert_true(may(call, reason, sizeof reason)); /* this processor would need more than a second */
    assert_false(lacis_gpu_started(&p->run));
    assert_int_equal(fake.calls, 0);
    call->profile = NULL;
    lacis_call *demanded = bind_on(p, "SOLVE s", little, LACIS_ON_GPU);
    assert_true(may(demanded, reason, sizeof reason));
    assert_true(lacis_gpu_started(&p->run));
    assert_true(may(call, reason, sizeof reason));
    expect_cannot(p, &tested_chip, little, LACIS_ON_AUTO, "too little work: ");
    p->host.threads = 64; /* so many are done before the operands are there */
    parity_unbind(p, call);
    expect_cannot(p, &tested_chip, much, LACIS_ON_AUTO, "too little work: ");
    parity_unbind(p, demanded);
    lacis_array_release(little[0].array);
    lacis_array_release(much[0].array);
    lacis_profile_clear(&profile);
    systems_free(&few);
    systems_free(&many);
}

static lacis_cost cost_of(parity *p, const char *text, const named *arrays, const lacis_profile *profile)
{
    lacis_cost cost = {0};
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_GPU);
    parity_ok(p, tested_chip.cost(&p->run, call, profile, &cost), "cost");
    parity_unbind(p, call);
    return cost;
}

/* Starting and sending cost something until they are done; what CALIBRATE measures counts. */
static void test_costs(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    systems s = some_systems(false, LACIS_F64, 0);
    const named arrays[] = {{"s", systems_array(p, &s, 1, true, true)}, {NULL, NULL}};
    lacis_cost cold = cost_of(p, "SOLVE s", arrays, &profile);
    assert_true(cold.once > 0.1 && cold.seconds > cold.once);
    lacis_call *call = bind_on(p, "SOLVE s", arrays, LACIS_ON_GPU);
    lacis_array *array = run_whole(p, call, &tested_chip);
    parity_unbind(p, call);
    lacis_cost warm = cost_of(p, "SOLVE s", arrays, &profile);
    assert_true(warm.once == 0 && warm.seconds < cold.seconds - cold.once);
    parity_ok(p, lacis_profile_set(&profile, "solve.gpu.chip.chain.flat_ns", 1e6), "profile");
    assert_true(cost_of(p, "SOLVE s", arrays, &profile).seconds > 1);
    lacis_array_release(array);
    lacis_array_release(arrays[0].array);
    lacis_profile_clear(&profile);
    systems_free(&s);
}

static void test_calibrates(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    lacis_device_set_limit(&p->host, 1000000); /* no room: nothing is set */
    parity_ok(p, tested_calibrate(&p->run, &profile), "calibrate");
    assert_int_equal(fake_runs, 0);
    fake.memory = 1000000000;
    lacis_gpu_release(p->host.gpu);
    p->host.gpu = NULL;
    lacis_device_set_limit(&p->host, 0);
    parity_ok(p, tested_calibrate(&p->run, &profile), "calibrate");
    assert_true(lacis_profile_get(&profile, "solve.gpu.call_seconds", -1) > 0);
    assert_true(lacis_profile_get(&profile, "solve.gpu.chip.chain.flat_ns", -1) > 0);
    assert_true(lacis_profile_get(&profile, "solve.gpu.lanes.tree.row_ns", -1) > 0);
    assert_true(lacis_profile_get(&profile, "solve.gpu.lanes.chain.row_ns", -1) < 0); /* refused */
    lacis_profile_clear(&profile);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_same_as_cpu),      TEST(test_in_panels),      TEST(test_ranges),
        TEST(test_right_sides),      TEST(test_resident),       TEST(test_bad_lanes),
        TEST(test_refuses),          TEST(test_worth),          TEST(test_costs),
        TEST(test_calibrates),       TEST(test_plans_are_kept), TEST(test_plans_of_all_shapes),
        TEST(test_ways_are_named),   TEST(test_totals),         TEST(test_totals_of_bad_lanes),
        TEST(test_totals_in_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
