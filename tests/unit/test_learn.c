/* SPDX-License-Identifier: Apache-2.0
 *
 * What the planner learns from measured runs: slow runs now and then change nothing, three that agree do, and
 * CALIBRATE starts afresh; what keeps a variant from being chosen is forgotten until it has run again.
 */
#include "plan/plan.h"

#include "support/check.h"

static const lacis_variant variant = {.name = "only"};
static const lacis_op op = {.verb = "TEST"};

static void run_took(lacis_profile *profile, double ratio)
{
    lacis_call call = {.op = &op};
    lacis_plan plan = {.call = &call, .candidates = 1};
    const double predicted = 1.0;
    double factor = lacis_profile_get(profile, "tune.TEST.only", 1.0);
    plan.candidate[0] = (lacis_candidate){.variant = &variant, .can = true, .costed = true};
    plan.candidate[0].cost.seconds = predicted * factor; /* as the planner corrects it */
    lacis_plan_learn(profile, &plan, predicted * ratio);
}

static double factor_of(const lacis_profile *profile)
{
    return lacis_profile_get(profile, "tune.TEST.only", 1.0);
}

static void odd_runs_do_not_teach(void **state)
{
    (void)state;
    lacis_host host;
    lacis_profile profile;
    assert_int_equal(lacis_host_init(&host), LACIS_OK);
    lacis_profile_init(&profile, &host);
    run_took(&profile, 30);
    assert_true(factor_of(&profile) == 1);
    assert_false(profile.learned);
    run_took(&profile, 1.01);
    run_took(&profile, 0.001);
    assert_true(factor_of(&profile) > 0.99 && factor_of(&profile) < 1.02);
    run_took(&profile, 2);
    run_took(&profile, 2);
    assert_true(factor_of(&profile) < 1.02);
    run_took(&profile, 2);
    assert_true(factor_of(&profile) > 1.99 && factor_of(&profile) < 2.01);
    assert_true(profile.learned);
    run_took(&profile, 50);
    run_took(&profile, 60);
    run_took(&profile, 70);
    assert_true(factor_of(&profile) == 4); /* no factor is larger */
    lacis_profile_unlearn(&profile);
    assert_true(factor_of(&profile) == 1);
    lacis_profile_clear(&profile);
    lacis_host_clear(&host);
}

static const lacis_variant other = {.name = "other"};

/* The other one takes `seconds`; whether it is chosen over the first, which would take one. */
static bool other_runs(lacis_profile *profile, double seconds)
{
    lacis_call call = {.op = &op};
    lacis_plan plan = {.call = &call, .candidates = 2, .chosen = 1};
    plan.candidate[0] = (lacis_candidate){.variant = &variant, .can = true, .costed = true};
    plan.candidate[0].cost.seconds = factor_of(profile);
    plan.candidate[1] = (lacis_candidate){.variant = &other, .can = true, .costed = true};
    plan.candidate[1].cost.seconds = seconds;
    if (plan.candidate[0].cost.seconds < seconds) return false;
    lacis_plan_learn(profile, &plan, seconds);
    return true;
}

static void what_never_runs_is_forgiven(void **state)
{
    (void)state;
    lacis_host host;
    lacis_profile profile;
    assert_int_equal(lacis_host_init(&host), LACIS_OK);
    lacis_profile_init(&profile, &host);
    for (int i = 0; i < 3; i++)
        run_took(&profile, 4);
    assert_true(factor_of(&profile) == 4);
    assert_true(other_runs(&profile, 0.5)); /* it would lose anyway */
    assert_true(factor_of(&profile) == 4);
    int runs = 0;
    while (other_runs(&profile, 2))
        runs++;
    assert_true(runs > 5 && runs < 20);
    run_took(&profile, 4); /* it was not the machine */
    assert_true(factor_of(&profile) == 4);
    while (other_runs(&profile, 2)) {
    }
    run_took(&profile, 1);
    assert_true(factor_of(&profile) == 1);
    lacis_profile_clear(&profile);
    lacis_host_clear(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(odd_runs_do_not_teach),
                                       cmocka_unit_test(what_never_runs_is_forgiven)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
