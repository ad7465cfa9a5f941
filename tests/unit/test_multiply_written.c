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

/* The kernels that a run may ask for: which AGGs fold in order, and what is written at all, is said twice, here and
 * in gpu_job.cu, which builds without CUDA lack. */
static uint32_t kernels_of(const lacis_mul_gpu_job *job)
{
    bool real = job->type != LACIS_MUL_I32 && job->type != LACIS_MUL_I64;
    bool wide = job->type == LACIS_MUL_C128;
    bool plain = job->agg == LACIS_MUL_MIN || job->agg == LACIS_MUL_MAX ||
                 (job->agg == LACIS_MUL_SUM && !(real ? job->ordered : job->checked)) ||
                 (job->agg == LACIS_MUL_FOLD && job->any_order);
    bool complex =
        job->agg != LACIS_MUL_COUNT && (wide || job->a.type == LACIS_MUL_C128 || job->b.type == LACIS_MUL_C128);
    bool written = complex || job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_FOLD;
    uint32_t semiring = (wide ? 0x87u : 0x187u) | (plain ? 0x28u : 0x50u);
    return (written ? semiring : 0) | (job->having ? 0x200u : 0);
}

/* False: this build or machine cannot, and has said so. */
static bool check(parity *p, const char *text, const named *arrays, bool ordered)
{
    char reason[200];
    lacis_mul_gpu_written written;
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
                             .checked = product->job.checked,
                             .having = product->job.having != NULL,
                             .ordered = ordered,
                             .t_hi = product->job.t_hi};
    lacis_gpu *gpu = lacis_run_gpu(&p->run, reason, sizeof reason);
    parity_ok(p, lacis_written_prepare(&p->run, gpu, product, &job, &written), text);
    if (!written.compile(&written, kernels_of(&job))) parity_ok(p, lacis_written_failed(&written), text);
    for (int i = 0; i < LACIS_MUL_GPU_WRITTEN_KERNELS; i++)
        assert_int_equal(written.kernel[i] != NULL, kernels_of(&job) >> i & 1);
    parity_unbind(p, call);
    return true;
}

static const char *const texts[] = {
    "MULTIPLY a BY a CON CASE WHEN a < b THEN a ELSE b + 1 END AGG min",
    "MULTIPLY a BY a CON a * 2 - b + s * c - t AGG sum",
    "MULTIPLY a BY a AGG (x, y) -> x + y - x * y IDENTITY 0 ASSOCIATIVE",
    "MULTIPLY a BY a CON hypot(a, b) AGG (x, y) -> max(x, 2 * y) IDENTITY -inf",
    "MULTIPLY a BY a CON a * b AGG (x, y) -> CASE WHEN x > y THEN x ELSE y END IDENTITY -1 ASSOCIATIVE",
    "MULTIPLY a BY a AGG avg HAVING value > 1 AND src <> dst",
    "MULTIPLY a BY a AGG count HAVING value / (src - 3) > 0 TOP 3",
    "MULTIPLY a BY a CON complex(a, b) AGG sum",
    "MULTIPLY a BY a CON complex(a + b, 1) AGG (x, y) -> CASE WHEN re(x) < re(y) THEN x WHEN re(y) < re(x) THEN y "
    "ELSE "
    "complex(re(x), im(x) + im(y)) END IDENTITY complex(inf, 0) ASSOCIATIVE HAVING im(value) > 1",
    "MULTIPLY a BY a CON a * b + complex(0, c) AGG last HAVING abs(value) < 1e9",
};

static void test_sources(void **state)
{
    parity *p = *state;
    uint64_t random = 3;
    const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I64, LACIS_F32, LACIS_F64};
    bool can = true;
    for (int i = 0; i < LACIS_COUNT(texts) && can; i++) { /* NVRTC takes a second for each */
        graph g = graph_make(&random, GRAPH_SPARSE, 30, 30, types[i % LACIS_COUNT(types)]);
        named arrays[] = {{"a", graph_array(p, &g)}, {NULL, NULL}};
        can = check(p, texts[i], arrays, i > 0);
        lacis_array_release(arrays[0].array);
        graph_free(&g);
    }
    if (!can) skip();
}

/* Labels that are listed are read from lists. */
static void test_listed_labels(void **state)
{
    parity *p = *state;
    uint64_t random = 3;
    graph g = graph_make(&random, GRAPH_SPARSE, 30, 30, LACIS_F64);
    g.row_label = random_labels(&random, 30, 2);
    g.col_label = random_labels(&random, 30, 2);
    named arrays[] = {{"a", graph_array(p, &g)}, {NULL, NULL}};
    static const char *const listed[] = {"MULTIPLY a BY a CON a + t * s - c AGG max",
                                         "MULTIPLY a BY a AGG count HAVING src < dst"};
    bool can = true;
    for (int i = 0; i < LACIS_COUNT(listed) && can; i++)
        can = check(p, listed[i], arrays, true);
    lacis_array_release(arrays[0].array);
    graph_free(&g);
    if (!can) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK(test_sources), CHECK(test_listed_labels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
