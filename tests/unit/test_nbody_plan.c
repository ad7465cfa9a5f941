/* SPDX-License-Identifier: Apache-2.0
 *
 * What NBODY is expected to take on a GPU, without one: by the figures of gpu_cost.c against steps that were measured
 * on an H200, which of its ways is the cheaper at both ends, and whether a device is asked at all.
 */
#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_nbody_gpu_figure       tested_figure
#define lacis_nbody_gpu_call_figure  tested_call_figure
#define lacis_nbody_gpu_build_figure tested_build_figure
#define lacis_nbody_gpus_for         tested_gpus_for
#define lacis_nbody_gpu_can          tested_can
#define lacis_nbody_gpu_cost         tested_cost
#define lacis_nbody_gpu_bytes        fake_bytes
#define lacis_nbody_gpu_refuses      fake_refuses

#include "../../operators/nbody/gpu_cost.c"

#include "parity/bodies.h"
#include "support/gpu_variant.h"

uint64_t fake_bytes(const lacis_nbody_start *start)
{
    (void)start;
    return 1000;
}

const char *fake_refuses(const lacis_nbody_start *start)
{
    (void)start;
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- fixture */

static lacis_array *few;      /* bodies, which are said to be more */
static lacis_profile unknown; /* nobody has calibrated */

static int setup(void **state)
{
    static const lacis_variant *const none[] = {NULL};
    parity *p = fixture_setup(state, "NBODY", none);
    stars s = stars_new(PLUMMER, 64, 1);
    few = stars_array(p, &s, LACIS_F64);
    stars_free(&s);
    lacis_run_clear(&p->run);
    start_anew(p);
    lacis_profile_init(&unknown, &p->host);
    return 0;
}

static int give_back(void **state)
{
    lacis_profile_clear(&unknown);
    lacis_array_release(few);
    return teardown(state);
}

static lacis_call *call_of(parity *p, const char *clauses, int64_t n)
{
    char text[200];
    const named arrays[] = {{"g", few}, {NULL, NULL}};
    snprintf(text, sizeof text, "NBODY g DT 0.001 %s", clauses);
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_AUTO);
    lacis_nbody_work *work = call->work;
    work->bodies.count = n;
    call->profile = &unknown;
    return call;
}

/* A step's tree and forces. */
static double step_of(parity *p, const char *clauses, int64_t n, lacis_nbody_way way)
{
    lacis_cost cost;
    lacis_call *call = call_of(p, clauses, n);
    const lacis_nbody_work *work = call->work;
    parity_ok(p, tested_cost(&p->run, call, way, &unknown, &cost), clauses);
    const double seconds = work->gpu[way].field + work->gpu[way].build;
    assert_true(cost.seconds >= seconds);
    parity_unbind(p, call);
    return seconds;
}

/* ------------------------------------------------------------------------------------------------ tests */

/* docs/performance.md, NBODY on the GPU, 2026-11-30: motion, tree and forces of a step inside a run, us. */
static void steps_take_what_was_measured(void **state)
{
    static const struct {
        const char *clauses;
        int64_t n;
        lacis_nbody_way way;
        double measured;
    } cases[] = {
        {"TYPE f32 ALPHA 0.012", 50000, LACIS_NBODY_TREE, 446},
        {"TYPE f32 ALPHA 0.014", 500000, LACIS_NBODY_TREE, 774},
        {"TYPE f32 ALPHA 0.0026", 500000, LACIS_NBODY_TREE, 1061},
        {"TYPE f32 ALPHA 0.012", 5000000, LACIS_NBODY_TREE, 3896},
        {"TYPE f32 ALPHA 0.0026", 5000000, LACIS_NBODY_TREE, 6400},
        {"TYPE f32 ORDER monopole THETA 0.5", 5000, LACIS_NBODY_TREE, 330},
        {"TYPE f32 ORDER monopole THETA 0.5", 50000, LACIS_NBODY_TREE, 686},
        {"TYPE f32 ORDER monopole THETA 0.5", 500000, LACIS_NBODY_TREE, 1891},
        {"TYPE f32 ORDER monopole THETA 0.5", 5000000, LACIS_NBODY_TREE, 17567},
        {"TYPE f64 ALPHA 0.012", 50000, LACIS_NBODY_TREE, 519},
        {"TYPE f64 ALPHA 0.014", 500000, LACIS_NBODY_TREE, 1173},
        {"TYPE f64 ALPHA 0.00002", 500000, LACIS_NBODY_TREE, 10200},
        {"TYPE f64 ALPHA 0.012", 5000000, LACIS_NBODY_TREE, 6440},
        {"TYPE mixed ALPHA 0.012", 50000, LACIS_NBODY_TREE, 477},
        {"TYPE mixed ALPHA 0.014", 500000, LACIS_NBODY_TREE, 913},
        {"TYPE mixed ALPHA 0.012", 5000000, LACIS_NBODY_TREE, 5011},
        {"TYPE f32", 5000, LACIS_NBODY_DIRECT, 21.2},
        {"TYPE f32", 16384, LACIS_NBODY_DIRECT, 118.9},
        {"TYPE f32", 65536, LACIS_NBODY_DIRECT, 1587},
        {"TYPE f64", 5000, LACIS_NBODY_DIRECT, 39.8},
        {"TYPE f64", 65536, LACIS_NBODY_DIRECT, 4099},
        {"TYPE mixed", 50000, LACIS_NBODY_DIRECT, 1736},
    };
    parity *p = *state;
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        const double found = 1e6 * step_of(p, cases[i].clauses, cases[i].n, cases[i].way);
        if (found < cases[i].measured / 1.5 || found > 1.25 * cases[i].measured)
            fail_msg("%s, %ld bodies: %.0f us are expected, %.0f were measured", cases[i].clauses, (long)cases[i].n,
                     found, cases[i].measured);
    }
}

static bool by_pairs(parity *p, const char *clauses, int64_t n)
{
    const double pairs = step_of(p, clauses, n, LACIS_NBODY_DIRECT), tree = step_of(p, clauses, n, LACIS_NBODY_TREE);
    assert_true(tree < step_of(p, clauses, n, LACIS_NBODY_INSERT));
    return pairs < tree;
}

/* Measured in f32: 118.9 us by pairs at 16,384 and 371 at 30,000, by trees 262 at 5,000 and 379 at 50,000. */
static void all_pairs_are_for_few(void **state)
{
    static const struct {
        const char *clauses;
        int64_t pairs, tree;
    } cases[] = {
        {"TYPE f32 ALPHA 0.012", 25000, 32000},   {"TYPE f32 ORDER monopole THETA 0.5", 25000, 40000},
        {"TYPE f64 ALPHA 0.012", 15000, 21000},   {"TYPE f64 ORDER monopole THETA 0.5", 15000, 25000},
        {"TYPE mixed ALPHA 0.012", 20000, 25000},
    };
    static const int64_t few_bodies[] = {1, 1000}, many_bodies[] = {50000, 5000000};
    parity *p = *state;
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        assert_true(by_pairs(p, cases[i].clauses, cases[i].pairs));
        assert_false(by_pairs(p, cases[i].clauses, cases[i].tree));
        for (int k = 0; k < 2; k++) {
            assert_true(by_pairs(p, cases[i].clauses, few_bodies[k]));
            assert_false(by_pairs(p, cases[i].clauses, many_bodies[k]));
        }
    }
}

static bool asked(parity *p, const char *clauses, int64_t n, lacis_nbody_way way, char *reason, size_t size)
{
    lacis_call *call = call_of(p, clauses, n);
    const bool can = tested_can(call, way, reason, size);
    parity_unbind(p, call);
    return can;
}

/* A device that must be started first is asked for long runs alone; one that is there, for all but the shortest. */
static void devices_are_asked_where_they_pay(void **state)
{
    char reason[300] = "";
    parity *p = *state;
    assert_false(asked(p, "STEPS 1", 10, LACIS_NBODY_DIRECT, reason, sizeof reason));
    if (!asked(p, "STEPS 1", 50000, LACIS_NBODY_TREE, reason, sizeof reason)) fail_msg("%s", reason);
    lacis_gpu_release(p->host.gpu);
    p->host.gpu = NULL;
    assert_false(asked(p, "STEPS 1", 1000, LACIS_NBODY_DIRECT, reason, sizeof reason));
    if (!asked(p, "STEPS 100", 500000, LACIS_NBODY_TREE, reason, sizeof reason)) fail_msg("%s", reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steps_take_what_was_measured, setup, give_back),
        cmocka_unit_test_setup_teardown(all_pairs_are_for_few, setup, give_back),
        cmocka_unit_test_setup_teardown(devices_are_asked_where_they_pay, setup, give_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
