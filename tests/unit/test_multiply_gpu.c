/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" around its kernels, on a pretended device whose kernels are the CPU's: what it refuses and
 * when it is considered, copies and what stays on the device, panels where memory is short, fallbacks, and every call
 * of the driver failing in turn. gpu.c and gpu_cost.c are compiled into this file, so that this works in builds
 * without nvcc as well.
 */
#include "multiply/gpu.h"
#include "parity/parity.h"
#include "plan/plan.h"
#include "support/gpu.h"

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_mul_gpu_run        fake_kernels
#define lacis_mul_gpu_refuses    fake_refuses
#define lacis_mul_gpu_work_bytes fake_work_bytes
#define lacis_mul_gpu_class_name fake_class_name
#define lacis_multiply_gpu       tested
/* And of gpu_cost.c. */
#define lacis_multiply_gpu_job      tested_job
#define lacis_multiply_gpu_can      tested_can
#define lacis_multiply_gpu_cost     tested_cost
#define lacis_multiply_gpu_explain  tested_explain
#define lacis_multiply_gpu_figure   tested_figure
#define lacis_multiply_gpu_identity tested_identity

static const char *const fake_class_name[LACIS_MUL_GPU_CLASSES] = {"empty", "copy", "tiny", "middle", "dense", "hub"};
static int fake_cuda_error; /* not 0: the next run of the kernels fails with it */

static const char *fake_refuses(const lacis_mul_gpu_job *job)
{
    return job->con_kind == LACIS_MUL_CON_STRIPS ? "CON is written" : NULL;
}
static uint64_t fake_work_bytes(const lacis_mul_gpu_job *job, int64_t count)
{
    (void)job;
    return (uint64_t)count * 16;
}
static lacis_mul_gpu_status fake_kernels(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                         int64_t count, lacis_mul_gpu_output *out);

#include "../../operators/multiply/gpu.c"
#include "../../operators/multiply/gpu_cost.c"

static void *plain_alloc(void *context, uint64_t bytes)
{
    (void)context;
    return aligned_alloc(64, (bytes + 127) / 64 * 64);
}
static void plain_free(void *context, void *block)
{
    (void)context;
    free(block);
}
static bool plain_charge(void *context, uint64_t bytes)
{
    (void)context, (void)bytes;
    return true;
}
static bool never(void *context)
{
    (void)context;
    return false;
}

static size_t storage_bytes(lacis_mul_storage storage)
{
    const size_t bytes[] = {1, 2, 4, 4, 8, 4, 8};
    return bytes[storage];
}

static lacis_mul_job host_job(const lacis_mul_gpu_job *job)
{
    return (lacis_mul_job){.a = job->a,
                           .b = job->b,
                           .con_kind = job->con_kind,
                           .agg = job->agg,
                           .type = job->type,
                           .storage = job->storage,
                           .checked = job->checked,
                           .max_degree_a = job->max_degree_a,
                           .mask = job->mask,
                           .mask_not = job->mask_not,
                           .top = job->top,
                           .t_lo = job->t_lo,
                           .t_hi = job->t_hi,
                           .threads = 1,
                           .memory = {plain_alloc, plain_free, plain_charge, never, NULL}};
}

/* The rows' entries one behind the other, in blocks of the job's memory. */
static bool move_together(const lacis_mul_gpu_job *job, const lacis_mul_output *from, int64_t first, int64_t count,
                          lacis_mul_gpu_output *out)
{
    size_t size = storage_bytes(job->storage);
    out->column = job->memory.alloc(job->memory.context, from->entries * 4);
    out->value = job->memory.alloc(job->memory.context, from->entries * size);
    if (out->column == NULL || out->value == NULL) {
        job->memory.free(job->memory.context, out->column);
        job->memory.free(job->memory.context, out->value);
        return false;
    }
    int64_t at = 0;
    for (int64_t r = first; r < first + count; r++) {
        int64_t n = from->end[r] - from->begin[r];
        memcpy(out->column + at, from->column + from->begin[r], 4 * (size_t)n);
        memcpy((char *)out->value + (size_t)at * size, (const char *)from->value + (size_t)from->begin[r] * size,
               size * (size_t)n);
        out->begin[r] = at;
        out->end[r] = at += n;
    }
    out->entries = from->entries;
    return true;
}

static lacis_mul_gpu_status fake_kernels(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                         int64_t count, lacis_mul_gpu_output *out)
{
    assert_null(rows);
    assert_non_null(job->stream);
    if (fake_cuda_error != 0) {
        out->cuda_error = fake_cuda_error;
        fake_cuda_error = 0;
        return LACIS_MUL_GPU_FAILED;
    }
    lacis_mul_job host = host_job(job);
    int64_t *list = malloc(sizeof *list * (size_t)(count + 1)), total = job->a.rows;
    uint64_t *products = malloc(sizeof *products * (size_t)(count + 1)), room = lacis_mul_slack(&host);
    for (int64_t i = 0; i < count; i++)
        list[i] = first + i;
    out->products = lacis_mul_products(&host, list, count, products);
    for (int64_t i = 0; i < count; i++)
        room += lacis_mul_bound(&host, list[i], products[i]);
    lacis_mul_output loose = {.begin = malloc(8 * (size_t)(total + 1)),
                              .end = malloc(8 * (size_t)(total + 1)),
                              .column = malloc(4 * room),
                              .value = malloc(8 * room),
                              .room = room};
    lacis_mul_status status = lacis_mul_run(&host, list, count, products, &loose);
    lacis_mul_gpu_status answer = status == LACIS_MUL_OVERFLOW ? LACIS_MUL_GPU_OVERFLOW : LACIS_MUL_GPU_OK;
    if (status == LACIS_MUL_OK && !move_together(job, &loose, first, count, out)) answer = LACIS_MUL_GPU_NO_MEMORY;
    out->class_rows[LACIS_MUL_GPU_TINY] = (uint64_t)count;
    free(list);
    free(products);
    free(loose.begin);
    free(loose.end);
    free(loose.column);
    free(loose.value);
    return answer;
}

/* ----------------------------------------------------------------------------------------- fixture */

static lacis_op with_fake; /* MULTIPLY with rows and the variant under test */
static const lacis_variant *with_fake_variants[2];
static char last_note[400];

static void take_note(void *arg, lacis_level level, const char *message)
{
    (void)arg, (void)level;
    snprintf(last_note, sizeof last_note, "%s", message);
}

static int setup(void **state)
{
    fake_install(100000000);
    fake_cuda_error = 0;
    last_note[0] = '\0';
    parity_setup(state);
    parity *p = *state;
    p->host.log = take_note;
    with_fake = *lacis_registry_op(&p->registry, "MULTIPLY", 8);
    with_fake_variants[0] = with_fake.variants[0];
    with_fake_variants[1] = &tested;
    with_fake.variants = with_fake_variants;
    with_fake.variant_count = 2;
    return 0;
}

static int teardown(void **state)
{
    parity_teardown(state);
    fake_remove();
    return 0;
}

typedef struct pair {
    graph a, b, m;
    named arrays[4];
} pair;

static pair pair_make(parity *p, graph_kind kind, int64_t n, lacis_dtype dtype)
{
    uint64_t random = 7;
    pair o = {graph_make(&random, kind, n, n, dtype),
              graph_make(&random, kind, n, n, dtype),
              graph_make(&random, GRAPH_SPARSE, n, n, LACIS_PATTERN),
              {{0}}};
    o.arrays[0] = (named){"a", graph_array(p, &o.a)};
    o.arrays[1] = (named){"b", graph_array(p, &o.b)};
    o.arrays[2] = (named){"m", graph_array(p, &o.m)};
    return o;
}

static void pair_free(pair *o)
{
    for (int i = 0; i < 3; i++)
        lacis_array_release(o->arrays[i].array);
    graph_free(&o->a);
    graph_free(&o->b);
    graph_free(&o->m);
}

static lacis_call *bind_on(parity *p, const char *text, const named *arrays, lacis_placement on)
{
    lacis_call *call;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    call->op = &with_fake;
    call->on = on;
    return call;
}

/* What the CPU's rows give, to compare with. */
static triples by_cpu(parity *p, const char *text, const named *arrays)
{
    triples list = {0};
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_CPU);
    run_units(p, call, with_fake_variants[0], 0, call->units, text, &list);
    parity_unbind(p, call);
    return list;
}

/* ------------------------------------------------------------------------------------------- tests */

static const char *const texts[] = {
    "MULTIPLY a BY b",
    "MULTIPLY a BY b CON nil AGG count",
    "MULTIPLY a BY b CON a + b AGG min",
    "MULTIPLY a BY a CON a AGG last",
    "MULTIPLY a BY b AGG avg",
    "MULTIPLY a BY b MASK m",
    "MULTIPLY a BY b MASK NOT m TOP 3",
    "MULTIPLY a BY b WHERE src IN (1, 5, 6, 30)",
    "MULTIPLY a BY b WHERE src BETWEEN 10 AND 20",
    "MULTIPLY a BY b WHERE src < 0",
};

static void test_same_as_cpu(void **state)
{
    parity *p = *state;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64};
    char reason[200];
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        pair o = pair_make(p, t == 1 ? GRAPH_HUB : GRAPH_SPARSE, 60, types[t]);
        for (int i = 0; i < LACIS_COUNT(texts); i++) {
            triples expected = by_cpu(p, texts[i], o.arrays), whole = {0}, panels = {0};
            lacis_call *call = bind_on(p, texts[i], o.arrays, LACIS_ON_GPU);
            if (!tested.can(call, reason, sizeof reason)) fail_msg("%s: %s", texts[i], reason);
            run_units(p, call, &tested, 0, call->units, texts[i], &whole);
            triples_compare(&whole, &expected, texts[i], "whole");
            run_panels(p, call, &tested, 2000, texts[i], &panels);
            triples_compare(&panels, &expected, texts[i], "in blocks");
            parity_unbind(p, call);
            triples_free(&expected);
            triples_free(&whole);
            triples_free(&panels);
        }
        pair_free(&o);
        assert_int_equal(fake.blocks, 0);
    }
}

static void expect_cannot(parity *p, const char *text, const pair *o, lacis_placement on, const char *why)
{
    char reason[200] = "";
    lacis_call *call = bind_on(p, text, o->arrays, on);
    assert_false(tested.can(call, reason, sizeof reason));
    if (strstr(reason, why) == NULL) fail_msg("%s: \"%s\" lacks \"%s\"", text, reason, why);
    parity_unbind(p, call);
}

static void test_refuses(void **state)
{
    parity *p = *state;
    pair o = pair_make(p, GRAPH_SPARSE, 30, LACIS_F64);
    expect_cannot(p, "MULTIPLY a BY b CON a + 2 * b", &o, LACIS_ON_GPU, "CON is written");
    expect_cannot(p, "MULTIPLY a BY b HAVING value > 1", &o, LACIS_ON_GPU, "HAVING");
    expect_cannot(p, "MULTIPLY a BY b", &o, LACIS_ON_AUTO, "too little work");
    assert_int_equal(fake.calls, 0); /* none of it has touched the device */
    fake.absent = true;
    expect_cannot(p, "MULTIPLY a BY b", &o, LACIS_ON_GPU, "no GPU in this test");
    pair_free(&o);
}

/* Operands are sent once, and a result's copies stay for what comes next. */
static void test_stays(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    pair o = pair_make(p, GRAPH_SPARSE, 2000, LACIS_F32);
    lacis_array *result = NULL, *next = NULL;
    const char *text = "MULTIPLY a BY b";
    lacis_call *call = bind_on(p, text, o.arrays, LACIS_ON_GPU);
    lacis_cost cost;
    parity_ok(p, tested.cost(&p->run, call, &profile, &cost), text);
    parity_ok(p, tested.run(&p->run, call, 0, call->units, &result), text);
    uint64_t sent = fake.sent;
    lacis_array *again = NULL;
    parity_ok(p, tested.run(&p->run, call, 0, call->units, &again), text);
    assert_int_equal(fake.sent, sent);
    lacis_cost later;
    parity_ok(p, tested.cost(&p->run, call, &profile, &later), text);
    assert_true(later.seconds < cost.seconds);
    parity_unbind(p, call);
    named arrays[] = {{"a", result}, {"b", o.arrays[1].array}, {NULL, NULL}};
    lacis_call *second = bind_on(p, text, arrays, LACIS_ON_GPU);
    parity_ok(p, tested.run(&p->run, second, 0, second->units, &next), text);
    assert_int_equal(fake.sent, sent);
    parity_unbind(p, second);
    lacis_array_release(result);
    lacis_array_release(again);
    lacis_array_release(next);
    lacis_profile_clear(&profile);
    pair_free(&o);
}

/* The result does not fit the device beside the operands: panels of rows. */
static void test_panels(void **state)
{
    parity *p = *state;
    const char *text = "MULTIPLY a BY b";
    pair o = pair_make(p, GRAPH_FULL, 120, LACIS_F64);
    triples expected = by_cpu(p, text, o.arrays), found = {0};
    lacis_device_set_limit(&p->host, 500000);
    lacis_call *call = bind_on(p, text, o.arrays, LACIS_ON_GPU);
    run_units(p, call, &tested, 0, call->units, text, &found);
    triples_compare(&found, &expected, text, "in panels");
    assert_true(parity_figure(p, "GPU panels") > 1);
    assert_true(p->host.gpu->peak <= 500000);
    parity_unbind(p, call);
    triples_free(&expected);
    triples_free(&found);
    pair_free(&o);
}

/* Runs text through a plan on AUTO whose GPU is made the cheapest; the answer must be right wherever it ran. */
static void run_planned(parity *p, const pair *o, const char *text, const triples *expected, lacis_placement on,
                        lacis_status wanted)
{
    lacis_plan plan;
    lacis_profile profile;
    lacis_array *array = NULL;
    triples found = {0};
    lacis_profile_init(&profile, &p->host);
    lacis_call *call = bind_on(p, text, o->arrays, on);
    lacis_status status = lacis_plan_make(&p->run, call, &profile, LACIS_STORE, true, &plan);
    if (status == LACIS_OK) {
        if (plan.candidate[1].can) plan.chosen = 1;
        status = lacis_plan_run(&p->run, &plan, 0, call->units, &array);
    }
    assert_int_equal(status, wanted);
    if (status == LACIS_OK) {
        triples_take(&found, array);
        triples_compare(&found, expected, text, "planned");
    }
    triples_free(&found);
    lacis_array_release(array);
    parity_unbind(p, call);
    lacis_profile_clear(&profile);
}

static void start_anew(parity *p)
{
    fake_fail(0, false);
    lacis_gpu_release(p->host.gpu);
    p->host.gpu = NULL;
}

static void test_falls_back(void **state)
{
    parity *p = *state;
    char reason[200];
    const char *text = "MULTIPLY a BY b";
    pair o = pair_make(p, GRAPH_FULL, 120, LACIS_F64);
    triples expected = by_cpu(p, text, o.arrays);
    assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason)); /* so that few products are enough */
    lacis_device_set_limit(&p->host, 100000);
    run_planned(p, &o, text, &expected, LACIS_ON_AUTO, LACIS_OK);
    assert_non_null(strstr(last_note, "does not hold the operands"));
    assert_non_null(strstr(last_note, "went on with rows on the CPU"));
    run_planned(p, &o, text, &expected, LACIS_ON_GPU, LACIS_UNSUPPORTED);
    assert_non_null(strstr(p->host.error.message, "MULTIPLY cannot run on a GPU here (gpu: the GPU's memory"));
    lacis_device_set_limit(&p->host, 0);
    fake_cuda_error = FAKE_BROKEN;
    run_planned(p, &o, text, &expected, LACIS_ON_AUTO, LACIS_OK);
    assert_non_null(strstr(last_note, "Pretended 0 failed: broken; went on with rows"));
    last_note[0] = '\0';
    run_planned(p, &o, text, &expected, LACIS_ON_AUTO, LACIS_OK);
    assert_string_equal(last_note, ""); /* it was not lost */
    triples_free(&expected);
    pair_free(&o);
}

static void every_call_fails(parity *p, bool lost)
{
    char reason[200];
    const char *text = "MULTIPLY a BY b MASK m";
    pair o = pair_make(p, GRAPH_FULL, 120, LACIS_F64);
    triples expected = by_cpu(p, text, o.arrays);
    bool good = false;
    for (int nth = 1; !good && nth < 1000; nth++) {
        start_anew(p);
        assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason));
        fake_fail(nth, lost);
        run_planned(p, &o, text, &expected, LACIS_ON_AUTO, LACIS_OK);
        good = fake.fails == 0;
        lacis_run_clear(&p->run);
    }
    assert_true(good);
    triples_free(&expected);
    pair_free(&o);
}

static void test_calls_fail(void **state)
{
    every_call_fails(*state, false);
}

static void test_device_lost(void **state)
{
    every_call_fails(*state, true);
}

/* EXPLAIN tells why, and the plan takes what is cheaper. */
static void test_plan(void **state)
{
    parity *p = *state;
    char reason[200];
    lacis_plan plan;
    lacis_profile profile;
    lacis_profile_init(&profile, &p->host);
    pair o = pair_make(p, GRAPH_FULL, 120, LACIS_F64);
    lacis_call *call = bind_on(p, "MULTIPLY a BY b", o.arrays, LACIS_ON_AUTO);
    parity_ok(p, lacis_plan_make(&p->run, call, &profile, LACIS_STORE, false, &plan), "plan");
    assert_false(plan.candidate[1].can);
    assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason));
    const double nothing = 1e-9, much = 1e3;
    for (int dear = 0; dear < 2; dear++) {
        for (int i = 0; i < LACIS_GPU_SIZES; i++)
            assert_int_equal(lacis_profile_set(&profile, figure[i][LACIS_WORK_FLOAT], dear ? much : nothing),
                             LACIS_OK);
        lacis_profile_set(&profile, "multiply.dense.value_ns", 100);
        parity_ok(p, lacis_plan_make(&p->run, call, &profile, LACIS_STORE, false, &plan), "plan");
        assert_true(plan.candidate[1].can && plan.candidate[1].costed);
        assert_int_equal(plan.chosen, dear ? 0 : 1);
    }
    parity_unbind(p, call);
    lacis_profile_clear(&profile);
    pair_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(test_same_as_cpu), CHECK(test_refuses),    CHECK(test_stays),       CHECK(test_panels),
        CHECK(test_falls_back),  CHECK(test_calls_fail), CHECK(test_device_lost), CHECK(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
