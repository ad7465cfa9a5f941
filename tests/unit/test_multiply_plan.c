/* SPDX-License-Identifier: Apache-2.0
 *
 * When MULTIPLY's planner considers a GPU, what it thinks that it costs, and what EXPLAIN says of it, on a pretended
 * device. gpu_cost.c is compiled into this file, so that this works in builds without nvcc as well; nothing is
 * computed on the device.
 */
#include "multiply/gpu.h"
#include "parity/parity.h"
#include "plan/plan.h"
#include "support/gpu.h"

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_mul_gpu_refuses         fake_refuses
#define lacis_multiply_gpu_job        tested_job
#define lacis_multiply_gpu_can        tested_can
#define lacis_multiply_gpu_cost       tested_cost
#define lacis_multiply_gpu_explain    tested_explain
#define lacis_multiply_gpu_figure     tested_figure
#define lacis_multiply_room_choose    tested_room_choose
#define lacis_multiply_room_counting  tested_room_counting
#define lacis_multiply_room_countable tested_room_countable
#define lacis_multiply_room_explain   tested_room_explain

static const char *fake_refuses(const lacis_mul_gpu_job *job)
{
    return job->a.rows < 0 ? "that is nothing" : NULL;
}

#include "../../operators/multiply/gpu_cost.c"
#include "../../operators/multiply/gpu_room.c"

static lacis_op with_gpu; /* MULTIPLY with rows and a GPU that is never run */
static const lacis_variant gpu = {.name = "gpu", .device = LACIS_GPU, .can = tested_can, .cost = tested_cost};
static const lacis_variant *variants[2] = {NULL, &gpu};

static lacis_status explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    lacis_multiply *work = call->work;
    LACIS_TRY(lacis_product_explain(run, &work->product, lines));
    return tested_explain(work, lines);
}

typedef struct world {
    lacis_profile profile;
    graph a;
    named arrays[2];
} world;
static world w;

static int setup(void **state)
{
    fake_install(100000000);
    parity_setup(state);
    parity *p = *state;
    lacis_profile_init(&w.profile, &p->host);
    with_gpu = *lacis_registry_op(&p->registry, "MULTIPLY", 8);
    variants[0] = with_gpu.variants[0];
    with_gpu.variants = variants;
    with_gpu.variant_count = 2;
    with_gpu.explain = explain;
    return 0;
}

static int teardown(void **state)
{
    lacis_profile_clear(&w.profile);
    parity_teardown(state);
    fake_remove();
    return 0;
}

static void make(parity *p, graph_kind kind, int64_t n)
{
    uint64_t random = 7;
    w.a = graph_make(&random, kind, n, n, LACIS_F32);
    w.arrays[0] = (named){"a", graph_array(p, &w.a)};
}

static void drop(void)
{
    lacis_array_release(w.arrays[0].array);
    graph_free(&w.a);
}

static lacis_call *bind_auto(parity *p)
{
    lacis_call *call;
    parity_ok(p, parity_bind(p, "MULTIPLY a BY a", w.arrays, NULL, &call), "bind");
    call->op = &with_gpu;
    return call;
}

static void start_gpu(parity *p)
{
    char reason[200];
    assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason));
}

static lacis_plan planned(parity *p, lacis_call *call, bool closely)
{
    lacis_plan plan;
    parity_ok(p, lacis_plan_make(&p->run, call, &w.profile, LACIS_STORE, closely, &plan), "plan");
    return plan;
}

/* Whoever multiplies ten vertices does not wait for a device, and a plan that keeps to the processor starts none. */
static void test_left_alone(void **state)
{
    parity *p = *state;
    p->host.threads = 2;
    const int64_t sizes[] = {10, 300}; /* 1000 products; 27 million, for which it could be started */
    for (int i = 0; i < LACIS_COUNT(sizes); i++) {
        make(p, GRAPH_FULL, sizes[i]);
        for (int closely = 0; closely < 2; closely++) {
            lacis_call *call = bind_auto(p);
            lacis_plan plan = planned(p, call, closely);
            assert_int_equal(plan.chosen, 0);
            assert_int_equal(plan.candidate[1].can, i == 1);
            assert_int_equal(fake.calls, 0);
            assert_null(p->host.gpu);
            if (i == 0) assert_non_null(strstr(plan.candidate[1].reason, "too little work: "));
            if (i == 1) assert_true(plan.candidate[1].cost.once > 0.1);
            parity_unbind(p, call);
        }
        drop();
    }
}

/* Not even ten vertices that stay on the device, and ten that never met one, are sent there. */
static void test_little_work(void **state)
{
    parity *p = *state;
    start_gpu(p);
    make(p, GRAPH_FULL, 10);
    int calls = fake.calls;
    lacis_call *call = bind_auto(p);
    lacis_plan plan = planned(p, call, false);
    assert_int_equal(plan.chosen, 0);
    assert_int_equal(fake.calls, calls);
    parity_unbind(p, call);
    drop();
}

/* Cheap and dear figures; those of some other GPU do not hold. */
static void test_figures(void **state)
{
    parity *p = *state;
    const double nothing = 1e-9, much = 1e3;
    p->host.threads = 1;
    start_gpu(p);
    make(p, GRAPH_FULL, 120);
    lacis_profile_set(&w.profile, "multiply.dense.value_ns", 100);
    for (int dear = 0; dear < 2; dear++) {
        for (int i = 0; i < LACIS_GPU_SIZES; i++)
            lacis_profile_set(&w.profile, tested_figure((lacis_gpu_size)i, LACIS_WORK_FLOAT), dear ? much : nothing);
        lacis_call *call = bind_auto(p);
        assert_int_equal(planned(p, call, false).chosen, dear ? 0 : 1);
        parity_unbind(p, call);
    }
    lacis_call *call = bind_auto(p);
    lacis_profile_set(&w.profile, LACIS_PROFILE_GPU, lacis_profile_gpu(p->host.gpu));
    assert_int_equal(planned(p, call, false).chosen, 0);
    lacis_profile_set(&w.profile, LACIS_PROFILE_GPU, 1);
    assert_int_equal(planned(p, call, false).chosen, 1);
    parity_unbind(p, call);
    drop();
}

/* At a glance and closely the estimates are of one size; entries are counted where the choice hangs on them. */
static void test_glance(void **state)
{
    parity *p = *state;
    p->host.threads = 1;
    make(p, GRAPH_SPARSE, 4000);
    lacis_call *call = bind_auto(p);
    lacis_product *product = &((lacis_multiply *)call->work)->product;
    lacis_cost quick, close;
    parity_ok(p, lacis_product_cost(&p->run, product, &w.profile, false, &quick), "at a glance");
    assert_null(product->estimate);
    assert_true(product->glance->least <= quick.entries && quick.entries <= product->glance->most);
    parity_ok(p, lacis_product_glance_entries(&p->run, product), "counted");
    double counted = product->glance->entries;
    parity_ok(p, lacis_product_cost(&p->run, product, &w.profile, true, &close), "closely");
    assert_true(counted > 0.7 * close.entries && counted < 1.4 * close.entries);
    assert_true(quick.seconds > 0.5 * close.seconds && quick.seconds < 2 * close.seconds);
    assert_true(quick.products == close.products && quick.products > 0);
    parity_unbind(p, call);
    drop();
}

static bool any_line_has(const lacis_lines *lines, const char *text)
{
    for (int i = 0; i < lines->count; i++)
        if (strstr(lines->line[i], text) != NULL) return true;
    return false;
}

static void test_explain(void **state)
{
    parity *p = *state;
    lacis_lines lines;
    p->host.threads = 1;
    start_gpu(p);
    make(p, GRAPH_FULL, 120);
    lacis_call *call = bind_auto(p);
    lacis_plan plan = planned(p, call, true);
    lacis_lines_init(&lines, &p->run);
    parity_ok(p, lacis_plan_explain(&plan, &lines), "explain");
    assert_true(any_line_has(&lines, "on the GPU, rows of few (to 512), some (to 8192) and many products"));
    assert_true(any_line_has(&lines, "many              120          1728000"));
    assert_true(any_line_has(&lines, "MB there"));
    assert_true(any_line_has(&lines, "gpu on GPU: about"));
    double whole = plan.candidate[1].cost.seconds;
    parity_unbind(p, call);
    call = bind_auto(p);
    call->totals = true;
    plan = planned(p, call, true);
    assert_true(plan.candidate[1].cost.seconds < whole); /* nothing comes back */
    parity_unbind(p, call);
    drop();
}

/* What many threads might leave unfilled does not leave a block of a streamed result without rows. */
static void test_many_threads(void **state)
{
    parity *p = *state;
    const uint64_t block = (uint64_t)64 << 20;
    p->host.threads = 128;
    make(p, GRAPH_SPARSE, 70000);
    lacis_call *call = bind_auto(p);
    const lacis_product *product = &((lacis_multiply *)call->work)->product;
    assert_true(lacis_mul_slack(&product->job) * lacis_product_entry_bytes(product) > 2 * block);
    int64_t first = call->op->fit(call, 0, block), second = call->op->fit(call, first, block);
    assert_true(first > 1000 && (second == call->units || second > first + 1000));
    uint64_t entries = 0;
    for (int64_t r = 0; r < first; r++)
        entries += lacis_mul_bound(&product->job, r, product->products[r]);
    assert_true(entries * lacis_product_entry_bytes(product) <= block);
    lacis_memory_set_limit(p->host.memory, lacis_memory_used(p->host.memory) + block); /* then it counts whole */
    assert_int_equal(call->op->fit(call, 0, block / 4), 0);
    parity_unbind(p, call);
    drop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_little_work, setup, teardown),
        cmocka_unit_test_setup_teardown(test_figures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_glance, setup, teardown),
        cmocka_unit_test_setup_teardown(test_explain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_threads, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
