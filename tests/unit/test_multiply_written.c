/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON and AGG as far as a machine without a GPU can follow them: the whole source that MULTIPLY makes for a
 * device, given to NVRTC. Skipped in builds without GPU kernels and where NVRTC is missing.
 */
#include "multiply/bind.h"
#include "multiply/written.h"
#include "parity/parity.h"
#include "support/gpu.h"

static int setup(void **state)
{
    fake_install(100000000);
    return parity_setup(state);
}

static int teardown(void **state)
{
    parity_teardown(state);
    fake_remove();
    return 0;
}

/* False: this build or machine cannot, and has said so. */
static bool check(parity *p, const char *text, const named *arrays, bool ordered)
{
    char reason[200];
    void *none[LACIS_MUL_GPU_WRITTEN_KERNELS] = {NULL};
    lacis_mul_gpu_written written = {{NULL}};
    lacis_call *call;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    const lacis_product *product = &((const lacis_multiply *)call->work)->product;
    assert_true(lacis_written_needed(product));
    if (!lacis_written_can(product, reason, sizeof reason)) {
        parity_unbind(p, call);
        print_message("skipped: %s\n", reason);
        return false;
    }
    lacis_mul_gpu_job job = {.a = product->job.a,
                             .b = product->job.b,
                             .con_kind = product->job.con_kind,
                             .agg = product->job.agg,
                             .type = product->job.type,
                             .storage = product->job.storage,
                             .ordered = ordered,
                             .t_hi = product->job.t_hi};
    lacis_gpu *gpu = lacis_run_gpu(&p->run, reason, sizeof reason);
    parity_ok(p, lacis_written_compile(&p->run, gpu, product, &job, &written), text);
    assert_memory_not_equal(written.kernel, none, sizeof none);
    parity_unbind(p, call);
    return true;
}

static const char *const texts[] = {
    "MULTIPLY a BY a CON CASE WHEN a < b THEN a ELSE b + 1 END AGG min",
    "MULTIPLY a BY a CON a * 2 - b + s * c - t AGG sum",
    "MULTIPLY a BY a AGG (x, y) -> x + y - x * y IDENTITY 0 ASSOCIATIVE",
    "MULTIPLY a BY a CON hypot(a, b) AGG (x, y) -> max(x, 2 * y) IDENTITY -inf",
};

static void test_sources(void **state)
{
    parity *p = *state;
    uint64_t random = 3;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I64, LACIS_F32, LACIS_F64};
    bool can = true;
    for (int t = 0; t < LACIS_COUNT(types) && can; t++) {
        graph g = graph_make(&random, GRAPH_SPARSE, 30, 30, types[t]);
        named arrays[] = {{"a", graph_array(p, &g)}, {NULL, NULL}};
        for (int i = 0; i < LACIS_COUNT(texts) && can; i++)
            can = check(p, texts[i], arrays, i > 0);
        lacis_array_release(arrays[0].array);
        graph_free(&g);
    }
    if (!can) skip();
}

static void test_listed_labels(void **state)
{
    parity *p = *state;
    char reason[200] = "";
    uint64_t random = 3;
    lacis_call *call;
    graph g = graph_make(&random, GRAPH_SPARSE, 30, 30, LACIS_F64);
    g.row_label = random_labels(&random, 30, 2);
    g.col_label = random_labels(&random, 30, 2);
    named arrays[] = {{"a", graph_array(p, &g)}, {NULL, NULL}};
    parity_ok(p, parity_bind(p, "MULTIPLY a BY a CON a + t", arrays, NULL, &call), "bind");
    assert_false(lacis_written_can(&((const lacis_multiply *)call->work)->product, reason, sizeof reason));
    if (strstr(reason, "this build") == NULL) assert_non_null(strstr(reason, "listed and not counted"));
    parity_unbind(p, call);
    lacis_array_release(arrays[0].array);
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK(test_sources), CHECK(test_listed_labels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
