/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/expr/fuse.c: pairs of steps on reals that become one - every pair with every set of single values against
 * plain C, bit for bit, with each instruction set, and which steps are left alone.
 */
#include "unit/expr_support.h"

#include "expr/program.h"

enum { SLOTS = 3 };
static double wide[SLOTS][LACIS_STRIP];
static float narrow[SLOTS][LACIS_STRIP];

static void fill(void)
{
    uint64_t bits = 88172645463325252u;
    for (int s = 0; s < SLOTS; s++) {
        for (int i = 0; i < LACIS_STRIP; i++) {
            bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
            double value = ldexp((double)(int64_t)bits, -60 - (int)(bits % 5)); /* sums and products do round */
            if (i % 97 == 13) value = (double[]){INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e-310}[bits % 6];
            wide[s][i] = value;
            narrow[s][i] = (float)value;
        }
    }
}

static double apply(char op, double x, double y, bool single)
{
    if (single) {
        volatile float a = (float)x, b = (float)y, r = op == '+' ? a + b : op == '-' ? a - b : a * b;
        return (double)r;
    }
    volatile double r = op == '+' ? x + y : op == '-' ? x - y : x * y;
    return r;
}

static lacis_program *program_of(const char *text, lacis_dtype dtype)
{
    const lacis_dtype dtypes[] = {dtype, dtype, dtype};
    lacis_program *program;
    assert_int_equal(lacis_program_new(&run, typed("a,b,c", dtypes, text), &program), LACIS_OK);
    return program;
}

static void check(const char *text, char first, char second, bool behind, bool single, int form, int n)
{
    static union {
        float f32[LACIS_STRIP];
        double f64[LACIS_STRIP];
    } out;
    lacis_program *program = program_of(text, single ? LACIS_F32 : LACIS_F64);
    lacis_strip strip[SLOTS];
    void *workspace = malloc(lacis_program_workspace(program) + 1);
    if (program->steps != 1) fail_msg("%s has %d steps", text, program->steps);
    for (int s = 0; s < SLOTS; s++)
        strip[s] = (lacis_strip){single ? (const void *)narrow[s] : wide[s], (form >> s & 1) != 0};
    assert_true(lacis_program_run(program, n, strip, workspace, &out));
    for (int i = 0; i < n; i++) {
        double x[SLOTS];
        for (int s = 0; s < SLOTS; s++)
            x[s] = single ? (double)narrow[s][form >> s & 1 ? 0 : i] : wide[s][form >> s & 1 ? 0 : i];
        double inner = apply(first, x[0], x[1], single);
        double wanted = behind ? apply(second, x[2], inner, single) : apply(second, inner, x[2], single);
        double got = single ? (double)out.f32[i] : out.f64[i];
        bool same = memcmp(&got, &wanted, sizeof got) == 0 || (isnan(got) && isnan(wanted));
        if (!same) fail_msg("%s, form %d, element %d of %d: %a, not %a", text, form, i, n, got, wanted);
    }
    free(workspace);
    lacis_program_free(program);
}

static void every_pair(void **state)
{
    (void)state;
    static const char *const isas[] = {"baseline", "avx2", "avx512"};
    static const char first[] = "+-*", second[] = "+-*";
    static const int lengths[] = {1, 7, 33, LACIS_STRIP};
    fill();
    for (int k = 0; k < LACIS_COUNT(isas) * 3 * 3 * 2 * 2; k++) {
        char text[40], f = first[k % 3], g = second[k / 3 % 3];
        bool behind = k / 9 % 2 == 1, single = k / 18 % 2 == 1;
        setenv("LACIS_ISA", isas[k / 36], 1);
        snprintf(text, sizeof text, behind ? "c %c (a %c b)" : "(a %c b) %c c", behind ? g : f, behind ? f : g);
        for (int form = 0; form < 8; form++)
            for (int l = 0; l < LACIS_COUNT(lengths); l++)
                check(text, f, g, behind, single, form, lengths[l]);
    }
    unsetenv("LACIS_ISA");
}

static void which_are_fused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        lacis_dtype dtype;
        int steps;
    } cases[] = {
        {"a + b + c + a", LACIS_F32, 2},
        {"(a + b + c + a) / 4", LACIS_F32, 2}, /* + +, + * */
        {"(a + b) * (a + b)", LACIS_F64, 2},   /* made once, used twice */
        {"a * b + c * a", LACIS_F64, 2},
        {"(2 - a) * b", LACIS_F64, 2}, /* the constant would have to be spread out */
        {"(a - 2) * b", LACIS_F64, 1},
        {"a + b + c", LACIS_I64, 2}, /* integers are watched step by step */
        {"a / b + c", LACIS_F64, 2},
        {"sqrt(a + b + c)", LACIS_F32, 2},
        {"CASE WHEN a + b > c THEN a * b - c ELSE c - a * b END", LACIS_F64, 6}, /* + >, * made once, - twice, CASE */
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_program *program = program_of(cases[i].text, cases[i].dtype);
        if (program->steps != cases[i].steps) fail_msg("%s: %d steps", cases[i].text, program->steps);
        lacis_program_free(program);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_run, close_run)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(every_pair), TEST(which_are_fused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
