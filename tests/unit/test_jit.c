/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels compiled at run time on a pretended GPU: by NVRTC where there is one (skipped where not), kept in memory
 * and in the database file, and an emitted expression through the compiler that it is meant for.
 */
#include "jit/nvrtc.h"
#include "support/gpu.h"
#include "unit/expr_trees.h"

static lacis_gpu *gpu;
enum { KEPT = 16 };
static char kept_group[KEPT][100], *kept_text[KEPT];
static int keeps, looks;

static lacis_status keep(void *context, lacis_run *of, const char *group, const char *name, const char *value)
{
    (void)context, (void)of;
    assert_string_equal(name, "image");
    assert_true(keeps < KEPT);
    snprintf(kept_group[keeps], sizeof kept_group[keeps], "%s", group);
    kept_text[keeps++] = strdup(value);
    return LACIS_OK;
}

static lacis_status kept(void *context, lacis_run *of, const char *group,
                         void (*fn)(void *arg, const char *name, const char *value), void *arg)
{
    (void)context, (void)of;
    looks++;
    for (int i = 0; i < keeps; i++)
        if (strcmp(group, kept_group[i]) == 0) fn(arg, "image", kept_text[i]);
    return LACIS_OK;
}

static void start(void)
{
    char reason[200];
    gpu = lacis_run_gpu(&run, reason, sizeof reason);
    assert_non_null(gpu);
}

static int setup(void **state)
{
    fake_install(1000000);
    keeps = looks = 0;
    if (open_run(state) != 0) return -1;
    host.keeper = (lacis_keeper){NULL, keep, kept};
    start();
    return 0;
}

static void stop(void)
{
    lacis_gpu_release(host.gpu);
    host.gpu = NULL;
}

static int teardown(void **state)
{
    stop();
    for (int i = 0; i < keeps; i++)
        free(kept_text[i]);
    fake_remove();
    return close_run(state);
}

static void need_compiler(void)
{
    char reason[200];
    if (lacis_gpu_compiles(reason, sizeof reason)) return;
    print_message("skipped: %s\n", reason);
    skip();
}

static const char *const plain_text[] = {"extern \"C\" __global__ void twice(float *x)", "{ x[threadIdx.x] *= 2; }"};
static const char *const names[] = {"twice", "missing"};

static void test_kept(void **state)
{
    (void)state;
    need_compiler();
    const char *const option[] = {"-DX=1"};
    lacis_gpu_source source = {plain_text, 2, option, 1, names, 2, 0, 0};
    void *kernel[2] = {NULL, NULL};
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_OK);
    assert_non_null(kernel[0]);
    assert_null(kernel[1]);
    assert_int_equal(keeps, 2);                             /* a program each */
    assert_true(strncmp(kept_text[0], "7f454c46", 8) == 0); /* an ELF file */
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_OK);
    assert_int_equal(looks, 2); /* in memory */
    stop();
    start();
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_OK);
    assert_int_equal(looks, 4); /* in the file */
    assert_int_equal(keeps, 2);
    stop();
    start();
    kept_text[0][11] = 'g'; /* no hexadecimal number: as good as nothing */
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_OK);
    assert_int_equal(keeps, 3);
    const char *const other[] = {"-DX=2"};
    source.option = other;
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_OK);
    assert_int_equal(keeps, 5);
}

/* Only what is asked for is compiled, the rest once it is asked for, with the option that tells them apart. */
static void test_wanted(void **state)
{
    (void)state;
    need_compiler();
    const char *const text_of[] = {"#if LACIS_KERNEL == 0\nextern \"C\" __global__ void a() {}\n#endif",
                                   "#if LACIS_KERNEL == 1\nextern \"C\" __global__ void b() {}\n#endif"};
    static const char *const both[] = {"a", "b"};
    lacis_gpu_source source = {text_of, 2, NULL, 0, both, 2, 2, 0};
    int mark;
    void *kernel[2] = {&mark, NULL};
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_OK);
    assert_ptr_equal(kernel[0], &mark);
    assert_non_null(kernel[1]);
    assert_int_equal(keeps, 1);
    source.wanted = 3;
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_OK);
    assert_ptr_not_equal(kernel[0], &mark);
    assert_non_null(kernel[0]);
    assert_int_equal(keeps, 2);
    source.quick = 1; /* another image of the first alone */
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_OK);
    assert_int_equal(keeps, 3);
}

static void test_refused(void **state)
{
    (void)state;
    need_compiler();
    const char *const text_of[] = {"extern \"C\" __global__ void twice(float *x) { x = y; }"};
    lacis_gpu_source source = {text_of, 1, NULL, 0, names, 1, 0, 0};
    void *kernel[1];
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_UNSUPPORTED);
    assert_non_null(strstr(host.error.message, "\"y\" is undefined"));
    assert_int_equal(keeps, 0);
}

static void test_calls_fail(void **state)
{
    (void)state;
    need_compiler();
    lacis_gpu_source source = {plain_text, 2, NULL, 0, names, 1, 0, 0};
    void *kernel[1];
    fake_fail(1, false);
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_UNSUPPORTED);
    fake_fail(0, false);
    assert_int_equal(lacis_gpu_compile(&run, gpu, &source, kernel), LACIS_OK);
}

/* One kernel that calls f, which is emitted from a rule or written by hand, as the engine compiles it. */
static lacis_nvrtc_program image_of(const char *type, const char *f)
{
    lacis_nvrtc_program program = {.option = "-DX=1"};
    const char *source = lacis_run_text(
        &run,
        "#define LACIS_DEVICE static __device__\n#define lacis_high(a, b) __mul64hi(a, b)\n%s\n%s\n"
        "extern \"C\" __global__ void use(const %s *x, %s *out, int *bad) { *out = f(x[0], x[1], x[2], bad); }",
        lacis_expr_functions_text(), f, type, type);
    assert_non_null(source);
    if (lacis_nvrtc_compile(&run, source, NULL, 0, 90, &program, 1) != LACIS_OK) fail_msg("%s", host.error.message);
    return program;
}

/* Rules have the bits of the CPU on a GPU: the machine code is that of the functions that round each operation to the
 * nearest, without contraction, division and square root included. */
static void test_rounding(void **state)
{
    (void)state;
    need_compiler();
    static const char rule[] = "a * sqrt(c) + (a * b + c - a * c) / b + c / 3"; /* as it is printed: canonical */
    static const struct {
        lacis_dtype dtype;
        const char *type, *by_hand;
    } cases[] = {{LACIS_F32, "float",
                  "__fadd_rn(__fadd_rn(__fmul_rn(a, __fsqrt_rn(c)), __fdiv_rn(__fsub_rn(__fadd_rn(__fmul_rn(a, b), "
                  "c), __fmul_rn(a, c)), b)), __fdiv_rn(c, 3.0f))"},
                 {LACIS_F64, "double",
                  "__dadd_rn(__dadd_rn(__dmul_rn(a, __dsqrt_rn(c)), __ddiv_rn(__dsub_rn(__dadd_rn(__dmul_rn(a, b), "
                  "c), __dmul_rn(a, c)), b)), __ddiv_rn(c, 3.0))"}};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        const lacis_dtype dtypes[] = {cases[i].dtype, cases[i].dtype, cases[i].dtype};
        const char *emitted, *t = cases[i].type;
        lacis_expr *expr = typed("a,b,c", dtypes, rule);
        assert_true(lacis_expr_exact(expr));
        assert_int_equal(strncmp(lacis_expr_text(expr), rule, strlen(rule)), 0);
        assert_int_equal(lacis_expr_emit(&run, expr, "f", &emitted), LACIS_OK);
        const char *by_hand = lacis_run_text(
            &run, "static __device__ %s f(%s a, %s b, %s c, int *bad) { return %s; }", t, t, t, t, cases[i].by_hand);
        lacis_nvrtc_program of_rule = image_of(t, emitted), of_hand = image_of(t, by_hand);
        assert_int_equal(of_rule.bytes, of_hand.bytes);
        assert_memory_equal(of_rule.image, of_hand.image, of_rule.bytes);
        lacis_run_free(&run, of_rule.image);
        lacis_run_free(&run, of_hand.image);
    }
}

/* Random expressions: what C takes (test_expr_emit.c), CUDA takes as well. */
static void test_emitted(void **state)
{
    (void)state;
    need_compiler();
    enum { COUNT = 120 };
    static const char head[] = "#define LACIS_DEVICE static __device__\n"
                               "#define lacis_high(a, b) __mul64hi(a, b)\n"
                               "#define LACIS_INFINITY __longlong_as_double(0x7ff0000000000000ll)\n"
                               "#define LACIS_NAN __longlong_as_double(0x7ff8000000000000ll)\n";
    const char *all[2 * COUNT + 4] = {head, lacis_expr_functions_text()}, *const kernels[] = {"use"};
    int count = 2;
    random_state = 99;
    for (int k = 0; k < COUNT; k++) {
        enum mode mode = (enum mode)(k % MODES);
        at = text;
        write_tree(mode == FLOATS && below(3) == 0 ? grow_truth(mode, 1) : grow(mode, 1 + below(4)));
        lacis_expr *expr = typed(slot_names, slot_types[mode], text);
        assert_int_equal(lacis_expr_emit(&run, expr, lacis_run_text(&run, "f%d", k), &all[count++]), LACIS_OK);
    }
    all[count++] = "extern \"C\" __global__ void use(double *x, int *bad) {";
    for (int k = 0; k < COUNT; k++)
        all[count++] = lacis_run_text(&run, "x[%d] = (double)f%d(x[0], x[1], x[2], x[3], bad);", k, k);
    all[count++] = "}";
    lacis_gpu_source source = {all, count, NULL, 0, kernels, 1, 0, 0};
    void *kernel[1];
    if (lacis_gpu_compile(&run, gpu, &source, kernel) != LACIS_OK) fail_msg("%s", host.error.message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK(test_kept),       CHECK(test_wanted),  CHECK(test_refused),
                                       CHECK(test_calls_fail), CHECK(test_emitted), CHECK(test_rounding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
