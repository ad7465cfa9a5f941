/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of GPU variants on a pretended device (gpu.h) share: an operator whose variants are the CPU's and those
 * under test, which the including file compiles into itself with pretended kernels; runs through a plan that is made
 * to choose the GPU; and every call of the driver failing in turn.
 */
#ifndef LACIS_TESTS_GPU_VARIANT_H
#define LACIS_TESTS_GPU_VARIANT_H

#include "parity/parity.h"
#include "plan/plan.h"
#include "support/gpu.h"

enum { FAKE_VARIANTS = 8 };
static lacis_op with_fake; /* variant 0 is the CPU's, the others are under test */
static const lacis_variant *with_fake_variants[FAKE_VARIANTS];
static char last_note[400];

static inline void take_note(void *arg, lacis_level level, const char *message)
{
    (void)arg, (void)level;
    snprintf(last_note, sizeof last_note, "%s", message);
}

/* A device of 100 MB. tested: up to NULL. */
static inline parity *fixture_setup(void **state, const char *verb, const lacis_variant *const *tested)
{
    fake_install(100000000);
    last_note[0] = '\0';
    parity_setup(state);
    parity *p = *state;
    p->host.log = take_note;
    with_fake = *lacis_registry_op(&p->registry, verb, strlen(verb));
    with_fake_variants[0] = with_fake.variants[0];
    with_fake.variant_count = 1;
    for (int i = 0; tested[i] != NULL; i++)
        with_fake_variants[with_fake.variant_count++] = tested[i];
    with_fake.variants = with_fake_variants;
    return p;
}

/* Nothing may be left on the device. */
static inline int teardown(void **state)
{
    parity_teardown(state);
    fake_remove();
    return 0;
}

static inline lacis_call *bind_on(parity *p, const char *text, const named *arrays, lacis_placement on)
{
    lacis_call *call;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    call->op = &with_fake;
    call->on = on;
    return call;
}

static inline triples by(parity *p, const char *text, const named *arrays, const lacis_variant *variant)
{
    triples list = {0};
    lacis_call *call = bind_on(p, text, arrays, variant->device == LACIS_GPU ? LACIS_ON_GPU : LACIS_ON_CPU);
    run_units(p, call, variant, 0, call->units, text, &list);
    parity_unbind(p, call);
    return list;
}

/* What the CPU gives, to compare with. */
static inline triples by_cpu(parity *p, const char *text, const named *arrays)
{
    return by(p, text, arrays, with_fake_variants[0]);
}

static inline void expect_cannot(parity *p, const char *text, const named *arrays, const lacis_variant *variant,
                                 lacis_placement on, const char *why)
{
    char reason[200] = "";
    lacis_call *call = bind_on(p, text, arrays, on);
    assert_false(variant->can(call, reason, sizeof reason));
    if (strstr(reason, why) == NULL) fail_msg("%s: \"%s\" lacks \"%s\"", text, reason, why);
    parity_unbind(p, call);
}

/* The device started afresh, nothing on it, no call failing. */
static inline void start_anew(parity *p)
{
    char reason[200];
    fake_fail(0, false);
    lacis_gpu_release(p->host.gpu);
    p->host.gpu = NULL;
    assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason));
}

/* Runs text through a plan whose variant number `variant` is made the cheapest if it can run at all. *out is NULL
 * where that does not end well, which must be `wanted`. */
static inline void plan_and_run(parity *p, const char *text, const named *arrays, int variant, lacis_placement on,
                                lacis_status wanted, lacis_array **out)
{
    lacis_plan plan;
    lacis_profile profile;
    *out = NULL;
    lacis_profile_init(&profile, &p->host);
    lacis_call *call = bind_on(p, text, arrays, on);
    lacis_status status = lacis_plan_make(&p->run, call, &profile, LACIS_STORE, true, &plan);
    if (status == LACIS_OK) {
        if (plan.candidate[variant].can) plan.chosen = variant;
        status = lacis_plan_run(&p->run, &plan, 0, call->units, out);
    }
    if (status != wanted) fail_msg("%s: %s: %s", text, lacis_status_name(status), p->host.error.message);
    parity_unbind(p, call);
    lacis_profile_clear(&profile);
}

/* The same, and what it gives, wherever it ran, is what is expected. */
static inline void run_planned(parity *p, const char *text, const named *arrays, int variant, lacis_placement on,
                               lacis_status wanted, const triples *expected)
{
    lacis_array *array;
    triples found = {0};
    plan_and_run(p, text, arrays, variant, on, wanted, &array);
    if (array == NULL) return;
    triples_take(&found, array);
    triples_compare(&found, expected, text, "planned");
    triples_free(&found);
    lacis_array_release(array);
}

/* Every call of the driver fails in turn, alone or with all behind it: check must find nothing wrong. */
static inline void fail_every_call(parity *p, bool lost, void (*check)(parity *p, void *context), void *context)
{
    bool good = false;
    for (int nth = 1; !good && nth < 2000; nth++) {
        start_anew(p);
        fake_fail(nth, lost);
        check(p, context);
        good = fake.fails == 0;
        lacis_run_clear(&p->run);
    }
    assert_true(good);
    fake_fail(0, false);
}

/* A plan that chose a variant of the GPU, for fail_every_call. */
typedef struct planned {
    const char *text;
    const named *arrays;
    int variant;
    const triples *expected;
} planned;
static inline void check_planned(parity *p, void *context)
{
    const planned *run = context;
    run_planned(p, run->text, run->arrays, run->variant, LACIS_ON_AUTO, LACIS_OK, run->expected);
}
static inline void every_call_fails(parity *p, const char *text, const named *arrays, int variant, bool lost)
{
    triples expected = by_cpu(p, text, arrays);
    planned run = {text, arrays, variant, &expected};
    fail_every_call(p, lost, check_planned, &run);
    triples_free(&expected);
}

#endif
