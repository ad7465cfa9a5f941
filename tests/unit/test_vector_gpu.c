/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variants "gpu pull" and "gpu push" around their kernels, on a pretended device with kernels of plain
 * loops: what they refuse, what is sent and fetched, fallbacks, and every call of the driver failing in turn.
 * gpu_vector.c is compiled into this file, so that this works in builds without nvcc as well.
 */
#include "multiply/gpu_vector.h"
#include "support/gpu_closure.h"
#include "support/gpu_variant.h"

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_mul_gpu_pull_refuses fake_pull_refuses
#define lacis_mul_gpu_push_refuses fake_push_refuses
#define lacis_mul_gpu_pull_run     fake_pull_run
#define lacis_mul_gpu_push_run     fake_push_run
#define lacis_mul_gpu_top_run      fake_top_run
/* The library has its own. */
#define lacis_multiply_gpu_pull     tested_pull
#define lacis_multiply_gpu_push     tested_push
#define lacis_vector_job            tested_job
#define lacis_vector_begin          tested_begin
#define lacis_vector_failed         tested_failed
#define lacis_vector_sent           tested_sent
#define lacis_vector_uses           tested_uses
#define lacis_vector_type_bytes     tested_type_bytes
#define lacis_vector_tops           tested_tops
#define lacis_vector_top            tested_top
#define lacis_vector_row            tested_row
#define lacis_vector_fetch          tested_fetch
#define lacis_against_refuses       tested_against_refuses
#define lacis_against_cost          tested_against_cost
#define lacis_against_pull          tested_against_pull
#define lacis_against_push          tested_against_push
#define lacis_against_begin         tested_against_begin
#define lacis_against_turn          tested_against_turn
#define lacis_against_end           tested_against_end
#define lacis_mul_gpu_columns_make  fake_columns_make
#define lacis_mul_gpu_columns_bytes fake_columns_bytes
#define lacis_mul_gpu_columns_place fake_columns_place

static const char *fake_pull_refuses(const lacis_mul_gpu_job *job)
{
    return job->con_kind == LACIS_MUL_CON_STRIPS ? "CON is written" : NULL;
}
static const char *fake_push_refuses(const lacis_mul_gpu_job *job)
{
    return fake_pull_refuses(job);
}

static void put(const lacis_mul_gpu_job *job, void *value, uint64_t at, double n, double x)
{
    fake_set(value, job->storage, at, job->agg == LACIS_MUL_COUNT ? n : job->agg == LACIS_MUL_AVG ? x / n : x);
}

static bool in_list(const uint32_t *list, uint64_t count, int64_t wanted)
{
    for (uint64_t i = 0; i < count; i++)
        if (list[i] == wanted) return true;
    return false;
}

/* HAVING, of what n terms are folded into. */
static bool kept(const lacis_mul_gpu_job *job, double n, double x)
{
    if (job->having == LACIS_MUL_GPU_ALL) return true;
    assert_int_equal(job->having, LACIS_MUL_GPU_WITHIN);
    const double value = job->agg == LACIS_MUL_COUNT ? n : job->agg == LACIS_MUL_AVG ? x / n : x;
    if (job->type == LACIS_MUL_I32 || job->type == LACIS_MUL_I64)
        return (int64_t)value >= job->low && (int64_t)value <= job->high;
    return value >= job->low_real && value <= job->high_real;
}

/* Of a row of b among its values; -1: it has none. */
static int64_t place_of(const lacis_mul_gpu_pull *pull, int64_t c)
{
    const lacis_mul_matrix *b = &pull->job->b;
    if (pull->every) return c;
    if (b->begin != NULL) return b->end[c] > b->begin[c] ? b->begin[c] : -1;
    for (uint64_t i = 0; i < pull->listed_count; i++)
        if (pull->listed[i] == c) return (int64_t)i;
    return -1;
}

/* --- entries by column */

static uint64_t fake_columns_bytes(int64_t cols, uint64_t entries)
{
    return sizeof(int64_t) * ((uint64_t)cols + 1) + 2 * sizeof(uint32_t) * entries;
}

static void fake_columns_place(void *block, int64_t cols, uint64_t entries, lacis_mul_gpu_columns *out)
{
    out->begin = block;
    out->row = (uint32_t *)(out->begin + cols + 1);
    out->entry = out->row + entries;
}

static lacis_mul_gpu_status fake_columns_make(const lacis_mul_matrix *m, uint64_t entries,
                                              const lacis_mul_gpu_memory *memory, void *stream,
                                              lacis_mul_gpu_columns *out, int *cuda_error)
{
    assert_non_null(stream);
    if (fake_fails_now(cuda_error)) return LACIS_MUL_GPU_FAILED;
    void *block = memory->alloc(memory->context, fake_columns_bytes(m->cols, entries));
    if (block == NULL) return LACIS_MUL_GPU_NO_MEMORY;
    fake_columns_place(block, m->cols, entries, out);
    int64_t at = 0;
    for (int64_t c = 0; c < m->cols; c++) {
        out->begin[c] = at;
        for (int64_t r = 0; r < m->rows; r++)
            for (int64_t e = m->begin[r]; e < m->end[r]; e++) {
                if (m->column[e] != c) continue;
                out->row[at] = (uint32_t)r;
                out->entry[at++] = (uint32_t)e;
            }
    }
    out->begin[m->cols] = at;
    assert_int_equal(at, entries);
    return LACIS_MUL_GPU_OK;
}

static lacis_mul_gpu_status fake_pull_run(lacis_mul_gpu_pull *pull)
{
    const lacis_mul_gpu_job *job = pull->job;
    lacis_mul_storage a = fake_storage(job->a.type), b = fake_storage(job->b.type);
    assert_non_null(job->stream);
    if (fake_fails_now(&pull->cuda_error)) return LACIS_MUL_GPU_FAILED;
    for (int64_t i = 0; i < pull->count; i++) {
        int64_t row = pull->first + i;
        double n = 0, x = 0;
        bool off = job->mask != NULL && (job->mask->end[row] > job->mask->begin[row]) == job->mask_not;
        if (pull->masked) off = in_list(pull->row_mask, pull->row_mask_count, row) == job->mask_not;
        for (int64_t e = job->a.begin[row]; !off && e < job->a.end[row]; e++) {
            int64_t c = job->a.column[e], place = place_of(pull, c), at = pull->entry == NULL ? e : pull->entry[e];
            if (place < 0) continue;
            x = fake_fold(job->agg, n, x,
                          fake_con(job->con_kind, fake_get(job->a.value, a, at), fake_get(job->b.value, b, place)));
            n++;
        }
        pull->present[i] = n > 0 && kept(job, n, x);
        if (pull->present[i]) put(job, pull->value, (uint64_t)i, n, x);
    }
    return LACIS_MUL_GPU_OK;
}

static bool masked(const lacis_mul_gpu_push *push, uint32_t t)
{
    if (push->job->mask == NULL) return false;
    bool there = false;
    for (int64_t i = push->mask_begin; i < push->mask_end; i++)
        there = there || push->job->mask->column[i] == t;
    return there == push->job->mask_not;
}

static lacis_mul_gpu_status fake_push_run(lacis_mul_gpu_push *push)
{
    const lacis_mul_gpu_job *job = push->job;
    lacis_mul_storage a = fake_storage(job->a.type), b = fake_storage(job->b.type);
    uint64_t cols = (uint64_t)job->b.cols;
    if (fake_fails_now(&push->cuda_error)) return LACIS_MUL_GPU_FAILED;
    push->column = job->memory.alloc(job->memory.context, 4 * cols);
    push->value = job->memory.alloc(job->memory.context, 8 * cols);
    if (push->column == NULL || push->value == NULL) {
        if (push->column != NULL) job->memory.free(job->memory.context, push->column);
        if (push->value != NULL) job->memory.free(job->memory.context, push->value);
        return LACIS_MUL_GPU_NO_MEMORY;
    }
    double *n = calloc(2 * (cols + 1), sizeof *n), *x = n + cols;
    for (int64_t e = push->begin; e < push->end; e++)
        for (int64_t c = job->a.column[e], j = job->b.begin[c]; j < job->b.end[c]; j++) {
            uint32_t t = job->b.column[j];
            x[t] = fake_fold(job->agg, n[t], x[t],
                             fake_con(job->con_kind, fake_get(job->a.value, a, e),
                                      fake_get(job->b.value, b, push->entry == NULL ? j : push->entry[j])));
            n[t]++;
        }
    for (int64_t t = job->t_lo; t < job->t_hi; t++) {
        if (n[t] == 0 || masked(push, (uint32_t)t) || !kept(job, n[t], x[t])) continue;
        push->column[push->entries] = (uint32_t)t;
        put(job, push->value, push->entries++, n[t], x[t]);
    }
    free(n);
    return LACIS_MUL_GPU_OK;
}

static uint64_t tops_taken;

/* The greatest of those left, again and again. */
static lacis_mul_gpu_status fake_top_run(lacis_mul_gpu_top *top)
{
    const lacis_mul_gpu_job *job = top->job;
    if (fake_fails_now(&top->cuda_error)) return LACIS_MUL_GPU_FAILED;
    top->out_column = job->memory.alloc(job->memory.context, 4 * (uint64_t)job->top);
    top->out_value = job->memory.alloc(job->memory.context, 8 * (uint64_t)job->top);
    if (top->out_column == NULL || top->out_value == NULL) {
        if (top->out_column != NULL) job->memory.free(job->memory.context, top->out_column);
        if (top->out_value != NULL) job->memory.free(job->memory.context, top->out_value);
        top->out_column = NULL;
        return LACIS_MUL_GPU_NO_MEMORY;
    }
    bool *stays = calloc(top->count + 1, sizeof *stays);
    for (int64_t k = 0; k < job->top; k++) {
        uint64_t best = top->count;
        for (uint64_t i = 0; i < top->count; i++)
            if (!stays[i] && (top->present == NULL || top->present[i]) &&
                (best == top->count ||
                 fake_get(top->value, job->storage, (int64_t)i) > fake_get(top->value, job->storage, (int64_t)best)))
                best = i;
        if (best < top->count) stays[best] = true;
    }
    for (uint64_t i = 0; i < top->count; i++) {
        if (!stays[i]) continue;
        top->out_column[top->entries] = top->column == NULL ? top->first + (uint32_t)i : top->column[i];
        fake_set(top->out_value, job->storage, top->entries++, fake_get(top->value, job->storage, (int64_t)i));
    }
    free(stays);
    tops_taken++;
    return LACIS_MUL_GPU_OK;
}

#include "../../operators/multiply/gpu_against.c"
#include "../../operators/multiply/gpu_columns.c"
#include "../../operators/multiply/gpu_vector.c"
#include "../../operators/multiply/gpu_vector_top.c"

/* ----------------------------------------------------------------------------------------- fixture */

static int setup(void **state)
{
    static const lacis_variant *const under_test[] = {&tested_pull, &tested_push, NULL};
    fake_cuda_error = 0;
    fixture_setup(state, "MULTIPLY", under_test);
    return 0;
}

typedef struct three {
    graph g, x, m;
    named arrays[4];
} three;

static three three_make(parity *p, graph_kind kind, int64_t n, bool dense, lacis_dtype dtype)
{
    uint64_t random = 7;
    lacis_dtype of_vector = dtype == LACIS_PATTERN ? LACIS_F64 : dtype;
    three o = {graph_make(&random, kind, n, n, dtype),
               graph_make(&random, dense ? GRAPH_FULL : GRAPH_EMPTY_ROWS, n, 1, of_vector),
               graph_make(&random, GRAPH_EMPTY_ROWS, n, 1, LACIS_F64),
               {{0}}};
    o.x.vector = o.m.vector = true;
    o.arrays[0] = (named){"g", graph_array(p, &o.g)};
    o.arrays[1] = (named){"x", graph_array(p, &o.x)};
    o.arrays[2] = (named){"m", graph_array(p, &o.m)};
    return o;
}

static void three_free(three *o)
{
    for (int i = 0; i < 3; i++)
        lacis_array_release(o->arrays[i].array);
    graph_free(&o->g);
    graph_free(&o->x);
    graph_free(&o->m);
}

/* ------------------------------------------------------------------------------------------- tests */

static const char *const tails[] = {
    "",
    "CON nil AGG count",
    "CON a + b AGG min",
    "CON b AGG max",
    "CON a AGG last",
    "CON a + b AGG any MASK m",
    "MASK NOT m",
    "WHERE src BETWEEN 10 AND 20",
    "WHERE src IN (1, 5, 6, 30)",
    "WHERE src % 3 = 0 MASK NOT m",
    "HAVING value > 1",
    "CON a + b AGG max MASK NOT m HAVING src % 2 = 1 AND dst > 7 OR value < -2",
    "HAVING src < 0",
    "AGG max TOP 5",
    "CON a AGG max HAVING value > -3 TOP 4",
    "CON b AGG min WHERE src % 3 = 0 MASK NOT m TOP 3",
};

static void test_same_as_cpu(void **state)
{
    parity *p = *state;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64};
    char reason[200], text[200];
    for (int t = 0; t < 2 * LACIS_COUNT(types); t++) {
        three o = three_make(p, t & 2 ? GRAPH_HUB : GRAPH_SPARSE, 60, t & 1, types[t / 2]);
        for (int i = 0; i < 2 * LACIS_COUNT(tails); i++) {
            const lacis_variant *variant = i & 1 ? &tested_push : &tested_pull;
            snprintf(text, sizeof text, "MULTIPLY %s %s", i & 1 ? "x BY g" : "g BY x", tails[i / 2]);
            lacis_call *call = bind_on(p, text, o.arrays, LACIS_ON_GPU);
            if (!variant->can(call, reason, sizeof reason)) fail_msg("%s: %s", text, reason);
            parity_unbind(p, call);
            triples expected = by(p, text, o.arrays, with_fake_variants[0]), found = by(p, text, o.arrays, variant);
            triples_compare(&found, &expected, text, variant->name);
            triples_free(&expected);
            triples_free(&found);
        }
        three_free(&o);
        assert_int_equal(fake.blocks, 0);
    }
}

/* Rows of which TOP leaves out much are cut down on the device, in either direction; others, and with HAVING that the
 * host looks at, by the host. */
static void test_top_on_device(void **state)
{
    static const struct {
        const char *tail;
        bool device;
    } cases[] = {{"AGG max TOP 5", true},
                 {"CON nil AGG count TOP 40", true},
                 {"CON a AGG max HAVING value > -3 TOP 4", true},
                 {"AGG max HAVING dst % 2 = 1 TOP 7", false},
                 {"AGG max TOP 4000", false}};
    parity *p = *state;
    char text[200];
    three o = three_make(p, GRAPH_SPARSE, 6000, true, LACIS_F64);
    for (int i = 0; i < 2 * LACIS_COUNT(cases); i++) {
        const lacis_variant *variant = i & 1 ? &tested_push : &tested_pull;
        snprintf(text, sizeof text, "MULTIPLY x BY g %s", cases[i / 2].tail);
        tops_taken = 0;
        triples expected = by(p, text, o.arrays, with_fake_variants[0]), found = by(p, text, o.arrays, variant);
        assert_int_equal(tops_taken, cases[i / 2].device);
        triples_compare(&found, &expected, text, variant->name);
        triples_free(&expected);
        triples_free(&found);
    }
    three_free(&o);
    assert_int_equal(fake.blocks, 0);
}

static void test_refuses(void **state)
{
    parity *p = *state;
    three o = three_make(p, GRAPH_SPARSE, 30, true, LACIS_F64);
    expect_cannot(p, "MULTIPLY g BY g", o.arrays, &tested_push, LACIS_ON_GPU, "only for a graph and a vector");
    expect_cannot(p, "MULTIPLY g BY x WHERE src IN (1, 5)", o.arrays, &tested_push, LACIS_ON_GPU,
                  "not all of the graph");
    expect_cannot(p, "MULTIPLY g BY x", o.arrays, &tested_pull, LACIS_ON_AUTO, "too little work");
    assert_int_equal(fake.calls, 0); /* none of it has touched the device */
    fake.absent = true;
    expect_cannot(p, "MULTIPLY g BY x", o.arrays, &tested_pull, LACIS_ON_GPU, "no GPU in this test");
    three_free(&o);
}

/* Against the grain: the list of entries by column is made once, and kept. */
static void test_against(void **state)
{
    parity *p = *state;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I32, LACIS_I64, LACIS_F64};
    char reason[200], text[200];
    for (int t = 0; t < 2 * LACIS_COUNT(types); t++) {
        three o = three_make(p, t & 2 ? GRAPH_HUB : GRAPH_SPARSE, 60, t & 1, types[t / 2]);
        bool made[2] = {false, false};
        for (int i = 0; i < 2 * LACIS_COUNT(tails); i++) {
            const lacis_variant *variant = i & 1 ? &tested_pull : &tested_push;
            snprintf(text, sizeof text, "MULTIPLY %s %s", i & 1 ? "x BY g" : "g BY x", tails[i / 2]);
            lacis_call *call = bind_on(p, text, o.arrays, LACIS_ON_GPU);
            const bool can = variant->can(call, reason, sizeof reason);
            parity_unbind(p, call);
            if (!can && !(i & 1) && strstr(tails[i / 2], "WHERE") != NULL) continue; /* not all of the rows */
            if (!can) fail_msg("%s: %s", text, reason);
            triples expected = by(p, text, o.arrays, with_fake_variants[0]), found = by(p, text, o.arrays, variant);
            triples_compare(&found, &expected, text, variant->name);
            made[i & 1] |= parity_figure(p, "GPU entries by column made") > 0;
            triples_free(&expected);
            triples_free(&found);
        }
        assert_true(made[0] || made[1]);
        three_free(&o);
        assert_int_equal(fake.blocks, 0);
    }
}

/* A vector of n places, `few` of which are there. */
static graph few_elements(int64_t n, int64_t few)
{
    graph x = {.rows = n, .cols = 1, .entries = few, .dtype = LACIS_F64, .storage = LACIS_F64, .vector = true};
    x.begin = calloc((size_t)n + 1, sizeof *x.begin);
    x.column = calloc((size_t)few + 1, sizeof *x.column);
    x.value = calloc((size_t)few + 1, sizeof *x.value);
    for (int64_t i = 0; i <= n; i++)
        x.begin[i] = i < few ? i : few;
    return x;
}

static double seconds_of(parity *p, const char *text, const named *arrays, const lacis_variant *variant)
{
    lacis_profile profile;
    lacis_cost cost;
    lacis_profile_init(&profile, &p->host);
    lacis_call *call = bind_on(p, text, arrays, LACIS_ON_GPU);
    parity_ok(p, variant->cost(&p->run, call, &profile, &cost), text);
    parity_unbind(p, call);
    lacis_profile_clear(&profile);
    return cost.seconds;
}

/* Once both lists are there, the way is chosen by how much of the vector is. */
static void test_direction(void **state)
{
    enum { N = 20000 };
    parity *p = *state;
    static const char *const texts[] = {"MULTIPLY g BY x AGG max", "MULTIPLY x BY g AGG max",
                                        "MULTIPLY g BY f AGG max", "MULTIPLY f BY g AGG max"};
    three o = three_make(p, GRAPH_SPARSE, N, true, LACIS_F64);
    graph f = few_elements(N, 3);
    const named arrays[] = {o.arrays[0], o.arrays[1], {"f", graph_array(p, &f)}, {NULL, NULL}};
    for (int i = 0; i < 4; i++)
        for (int v = 0; v < 2; v++) {
            triples list = by(p, texts[i], arrays, v == 0 ? &tested_pull : &tested_push);
            triples_free(&list);
        }
    assert_true(seconds_of(p, texts[2], arrays, &tested_push) < seconds_of(p, texts[2], arrays, &tested_pull));
    assert_true(seconds_of(p, texts[3], arrays, &tested_push) < seconds_of(p, texts[3], arrays, &tested_pull));
    assert_true(seconds_of(p, texts[2], arrays, &tested_push) < seconds_of(p, texts[0], arrays, &tested_push));
    assert_true(seconds_of(p, texts[3], arrays, &tested_push) < seconds_of(p, texts[1], arrays, &tested_push));
    assert_true(seconds_of(p, texts[2], arrays, &tested_pull) >= seconds_of(p, texts[0], arrays, &tested_pull));
    lacis_array_release(arrays[2].array);
    graph_free(&f);
    three_free(&o);
}

/* HAVING of vectors longer than a strip; and what it cannot compute. */
static void test_having(void **state)
{
    enum { N = 5000 };
    parity *p = *state;
    static const char *const texts[] = {"MULTIPLY g BY x AGG max HAVING value > 0 AND src % 7 <> 2",
                                        "MULTIPLY x BY g AGG max HAVING value > 0 AND dst % 7 <> 2"};
    three o = three_make(p, GRAPH_SPARSE, N, true, LACIS_F64);
    for (int i = 0; i < 4; i++) {
        const lacis_variant *variant = i & 1 ? &tested_push : &tested_pull;
        const char *text = texts[i / 2];
        triples expected = by(p, text, o.arrays, with_fake_variants[0]), found = by(p, text, o.arrays, variant);
        assert_true(expected.count > 1000);
        triples_compare(&found, &expected, text, variant->name);
        triples_free(&expected);
        triples_free(&found);
        lacis_array *out = NULL;
        const char *bad =
            i < 2 ? "MULTIPLY g BY x HAVING 1 / (src - 3) = 0" : "MULTIPLY x BY g HAVING 1 / (src - 3) = 0";
        lacis_call *call = bind_on(p, bad, o.arrays, LACIS_ON_GPU);
        assert_int_equal(variant->run(&p->run, call, 0, call->units, &out), LACIS_OVERFLOW);
        parity_unbind(p, call);
        lacis_run_clear(&p->run);
    }
    three_free(&o);
    assert_int_equal(fake.blocks, 0);
}

/* Of a vector that has all elements only its values are sent. */
static void test_sends_little(void **state)
{
    parity *p = *state;
    enum { N = 2000 };
    three o = three_make(p, GRAPH_SPARSE, N, true, LACIS_F32);
    triples list = by(p, "MULTIPLY g BY x", o.arrays, &tested_pull);
    uint64_t edges = (uint64_t)o.g.entries, graph_bytes = 8 * (N + 1) + 8 * edges;
    assert_true(fake.sent <= graph_bytes + 4 * N + 1024);
    triples_free(&list);
    uint64_t sent = fake.sent;
    list = by(p, "MULTIPLY g BY x CON a AGG max", o.arrays, &tested_pull);
    assert_int_equal(fake.sent, sent); /* all of it is there already */
    triples_free(&list);
    three_free(&o);
}

static void falls_back(parity *p, const char *text, int variant)
{
    char reason[200];
    fake_fail(0, false);
    three o = three_make(p, GRAPH_FULL, 600, true, LACIS_F64);
    triples expected = by(p, text, o.arrays, with_fake_variants[0]);
    assert_non_null(lacis_run_gpu(&p->run, reason, sizeof reason)); /* so that little work is enough */
    lacis_device_set_limit(&p->host, 100000);
    run_planned(p, text, o.arrays, variant, LACIS_ON_AUTO, LACIS_OK, &expected);
    assert_non_null(strstr(last_note, "does not hold the operands"));
    assert_non_null(strstr(last_note, "went on with rows on the CPU"));
    lacis_device_set_limit(&p->host, 0);
    fake_cuda_error = FAKE_BROKEN;
    run_planned(p, text, o.arrays, variant, LACIS_ON_AUTO, LACIS_OK, &expected);
    assert_non_null(strstr(last_note, "Pretended 0 failed: broken; went on with ")); /* with the other way, or rows */
    every_call_fails(p, text, o.arrays, variant, false);
    triples_free(&expected);
    three_free(&o);
}

static void test_falls_back(void **state)
{
    falls_back(*state, "MULTIPLY g BY x MASK m", 1);
    falls_back(*state, "MULTIPLY x BY g MASK NOT m", 2);
    falls_back(*state, "MULTIPLY g BY x MASK m", 2);
    falls_back(*state, "MULTIPLY x BY g MASK NOT m", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_as_cpu, setup, teardown),
        cmocka_unit_test_setup_teardown(test_against, setup, teardown),
        cmocka_unit_test_setup_teardown(test_direction, setup, teardown),
        cmocka_unit_test_setup_teardown(test_having, setup, teardown),
        cmocka_unit_test_setup_teardown(test_top_on_device, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sends_little, setup, teardown),
        cmocka_unit_test_setup_teardown(test_falls_back, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
