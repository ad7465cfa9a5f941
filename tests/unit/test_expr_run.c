/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/expr/compile.c, program.c, steps.c: every operator and function over all types against plain C, on strips of
 * several lengths with single and many values mixed, with each instruction set; errors of integers and where they
 * count.
 */
#include "unit/expr_support.h"

static const char *const isas[] = {"baseline", "avx2", "avx512"};

/* Values with the awkward ones early. */
static int64_t integer_at(int slot, int i)
{
    static const int64_t first[] = {0, 1, -1, 2, -2, 7, -7, 63, 64, 65, -64, 1000003, INT32_MAX, INT32_MIN};
    int64_t scattered =
        (int64_t)((uint32_t)(i + 1) * 2654435761u >> (slot == 0 ? 8 : 12)) - (slot == 0 ? 1 << 23 : 1 << 19);
    int k = (i * (slot == 0 ? 1 : 5) + slot) % 37;
    return k < LACIS_COUNT(first) ? first[k] : scattered;
}

static double real_at(int slot, int i)
{
    static const double first[] = {0.5, 1, -1, 2.5, -2.5, 3, NAN, INFINITY, -INFINITY, 1e10, -1e-3, 0};
    int k = (i * (slot == 0 ? 1 : 5) + slot) % 31;
    return k < LACIS_COUNT(first) ? first[k] : (double)(float)((double)integer_at(slot, i) / 4096.0);
}

union values {
    int32_t i32[LACIS_STRIP];
    int64_t i64[LACIS_STRIP];
    float f32[LACIS_STRIP];
    double f64[LACIS_STRIP];
};

static void fill(union values *values, lacis_dtype dtype, int slot)
{
    for (int i = 0; i < LACIS_STRIP; i++) {
        if (dtype == LACIS_I32) values->i32[i] = (int32_t)integer_at(slot, i);
        if (dtype == LACIS_I64) values->i64[i] = integer_at(slot, i);
        if (dtype == LACIS_F32) values->f32[i] = (float)real_at(slot, i);
        if (dtype == LACIS_F64) values->f64[i] = real_at(slot, i);
    }
}

/* Runs text over slots a and b, of which each may be one value, on n elements. */
static bool evaluate(const char *text, lacis_dtype dtype, bool a_one, bool b_one, int n, union values *out)
{
    static union values a, b;
    const lacis_dtype dtypes[] = {dtype, dtype};
    lacis_program *program;
    fill(&a, dtype, 0);
    fill(&b, dtype, 1);
    memset(out, 0x55, sizeof *out);
    lacis_expr *expr = typed("a,b", dtypes, text);
    assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
    void *workspace = malloc(lacis_program_workspace(program) + 1);
    size_t offset = lacis_dtype_size(dtype) * 3; /* single values: the fourth, which is harmless */
    const lacis_strip slots[] = {{(char *)&a + (a_one ? offset : 0), a_one},
                                 {(char *)&b + (b_one ? offset : 0), b_one}};
    bool good = lacis_program_run(program, n, slots, workspace, out);
    size_t size = lacis_dtype_size(lacis_expr_dtype(expr));
    for (size_t i = (size_t)n * size; i < sizeof *out; i++) {
        assert_int_equal(((unsigned char *)out)[i], 0x55); /* nothing is written past n */
    }
    free(workspace);
    lacis_program_free(program);
    return good;
}

static bool same(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

struct integer_case {
    const char *text;
    int64_t (*expected)(int64_t a, int64_t b);
};
#define INTEGER_CASES(X)                                                                                             \
    X(add, "a + b", a + b)                                                                                           \
    X(sub, "a - b", a - b)                                                                                           \
    X(mul, "a * b", a *b)                                                                                            \
    X(div, "CASE WHEN b <> 0 THEN a / b ELSE -99 END", b != 0 ? a / b : -99)                                         \
    X(mod, "CASE WHEN b <> 0 THEN a % b ELSE -99 END", b != 0 ? a % b : -99)                                         \
    X(neg, "-a", -a)                                                                                                 \
    X(bitnot, "~a", ~a)                                                                                              \
    X(bitand, "a & b", a &b)                                                                                         \
    X(bitor, "a | b", a | b)                                                                                         \
    X(shl, "a << (b & 31)", (int64_t)((uint64_t)a << (b & 31)))                                                      \
    X(shr, "a >> (b & 63)", a >> (b & 63))                                                                           \
    X(shift_back, "a << -(b & 31)", a >> (b & 31))                                                                   \
    X(shift_far, "(a << 64) + (a >> 64) + (a >> 1000)", 2 * (a < 0 ? -1 : 0))                                        \
    X(eq, "a = b", a == b)                                                                                           \
    X(ne, "a <> b", a != b)                                                                                          \
    X(lt, "a < b", a < b)                                                                                            \
    X(le, "a <= b", a <= b)                                                                                          \
    X(gt, "a > b", a > b)                                                                                            \
    X(ge, "a >= b", a >= b)                                                                                          \
    X(and_, "a AND b", a != 0 && b != 0)                                                                             \
    X(or_, "a > 5 OR b", a > 5 || b != 0)                                                                            \
    X(not_, "NOT a", a == 0)                                                                                         \
    X(in_, "a IN (7, 1, -1, 65)", a == 7 || a == 1 || a == -1 || a == 65)                                            \
    X(in_long, "a IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 65)",                            \
      (a >= 0 && a <= 17) || a == 65)                                                                                \
    X(in_values, "a IN (b, b + 1)", a == b || a == b + 1)                                                            \
    X(between, "a + b BETWEEN -5 AND b", a + b >= -5 && a + b <= b)                                                  \
    X(not_between, "a NOT BETWEEN -5 AND 5", a<-5 || a> 5)                                                           \
    X(abs_, "abs(a)", a < 0 ? -a : a)                                                                                \
    X(min_, "min(a, b)", a < b ? a : b)                                                                              \
    X(max_, "max(a, b, 3)", (a > b ? a : b) > 3 ? (a > b ? a : b) : 3)                                               \
    X(sign_, "sign(a)", (a > 0) - (a < 0))                                                                           \
    X(case_, "CASE WHEN a < 0 THEN b WHEN a < 5 THEN 7 ELSE a + b END", a < 0 ? b : a < 5 ? 7 : a + b)               \
    X(case_one, "CASE WHEN a < 0 THEN 3 ELSE b END", a < 0 ? 3 : b)                                                  \
    X(case_other, "CASE WHEN a < 0 THEN b ELSE 3 END", a < 0 ? b : 3)                                                \
    X(case_both, "CASE WHEN a < 0 THEN 3 ELSE 4 END", a < 0 ? 3 : 4)                                                 \
    X(switch_, "CASE a + 1 WHEN 1 THEN b WHEN b THEN 5 ELSE 6 END", a == 0 ? b : a + 1 == b ? 5 : 6)                 \
    X(iif_, "iif(b, a, 1)", b != 0 ? a : 1)                                                                          \
    X(cast_, "CAST(CAST(a AS real) * 0.5 AS int)", a / 2)                                                            \
    X(slot, "a", a)                                                                                                  \
    X(literal, "42", (void)a, (void)b, 42)                                                                           \
    X(shared, "(a + b) * 2 + (a + b)", 3 * (a + b))
#define X(name, text, ...)                                                                                           \
    static int64_t int_##name(int64_t a, int64_t b)                                                                  \
    {                                                                                                                \
        (void)a, (void)b;                                                                                            \
        return __VA_ARGS__;                                                                                          \
    }
INTEGER_CASES(X)
#undef X
static const struct integer_case integer_cases[] = {
#define X(name, text, ...) {text, int_##name},
    INTEGER_CASES(X)
#undef X
};

struct real_case {
    const char *text;
    double (*f64)(double a, double b);
    float (*f32)(float a, float b); /* in float arithmetic */
};
#define REAL_CASES(X)                                                                                                \
    X(add, "a + b", a + b, a + b)                                                                                    \
    X(sub, "a - b", a - b, a - b)                                                                                    \
    X(mul, "a * b", a *b, a *b)                                                                                      \
    X(div, "a / b", a / b, a / b)                                                                                    \
    X(mod, "a % b", fmod(a, b), fmodf(a, b))                                                                         \
    X(neg, "-a", -a, -a)                                                                                             \
    X(literal, "a * 0.1 + 3", a * 0.1 + 3, a * 0.1f + 3)                                                             \
    X(left, "2 / a", 2 / a, 2 / a)                                                                                   \
    X(less, "1.5 - b", 1.5 - b, 1.5f - b)                                                                            \
    X(abs_, "abs(a)", fabs(a), fabsf(a))                                                                             \
    X(min_, "min(a, b)", fmin(a, b), fminf(a, b))                                                                    \
    X(max_, "max(a, b)", fmax(a, b), fmaxf(a, b))                                                                    \
    X(sqrt_, "sqrt(a)", sqrt(a), sqrtf(a))                                                                           \
    X(exp_, "exp(a)", exp(a), expf(a))                                                                               \
    X(ln_, "ln(a)", log(a), logf(a))                                                                                 \
    X(log2_, "log2(a)", log2(a), log2f(a))                                                                           \
    X(log10_, "log10(a)", log10(a), log10f(a))                                                                       \
    X(pow_, "pow(a, b)", pow(a, b), powf(a, b))                                                                      \
    X(floor_, "floor(a)", floor(a), floorf(a))                                                                       \
    X(ceil_, "ceil(a)", ceil(a), ceilf(a))                                                                           \
    X(round_, "round(a)", round(a), roundf(a))                                                                       \
    X(sign_, "sign(a)", (a > 0) - (a < 0), (float)((a > 0) - (a < 0)))                                               \
    X(sin_, "sin(a)", sin(a), sinf(a))                                                                               \
    X(cos_, "cos(a)", cos(a), cosf(a))                                                                               \
    X(tan_, "tan(a)", tan(a), tanf(a))                                                                               \
    X(tanh_, "tanh(a)", tanh(a), tanhf(a))                                                                           \
    X(atan2_, "atan2(a, b)", atan2(a, b), atan2f(a, b))                                                              \
    X(hypot_, "hypot(a, b)", hypot(a, b), hypotf(a, b))                                                              \
    X(case_, "CASE WHEN a < b THEN a ELSE b END", a < b ? a : b, a < b ? a : b)                                      \
    X(case_one, "CASE WHEN a >= b THEN 0.5 ELSE b END", a >= b ? 0.5 : b, a >= b ? 0.5f : b)                         \
    X(case_other, "iif(a, a, 2)", a != 0 ? a : 2, a != 0 ? a : 2)                                                    \
    X(switch_, "CASE a * 2 WHEN b THEN a WHEN 1 THEN b ELSE -1.5 END",                                               \
      a * 2 == b   ? a                                                                                               \
      : a * 2 == 1 ? b                                                                                               \
                   : -1.5,                                                                                           \
      a * 2 == b   ? a                                                                                               \
      : a * 2 == 1 ? b                                                                                               \
                   : -1.5f)                                                                                          \
    X(slot, "b", b, b)
#define X(name, text, wide, narrow)                                                                                  \
    static double f64_##name(double a, double b)                                                                     \
    {                                                                                                                \
        (void)a, (void)b;                                                                                            \
        return (wide);                                                                                               \
    }                                                                                                                \
    static float f32_##name(float a, float b)                                                                        \
    {                                                                                                                \
        (void)a, (void)b;                                                                                            \
        return (narrow);                                                                                             \
    }
REAL_CASES(X)
#undef X
static const struct real_case real_cases[] = {
#define X(name, text, wide, narrow) {text, f64_##name, f32_##name},
    REAL_CASES(X)
#undef X
};

static const int lengths[] = {1, 2, 7, 511, 512};

static void integer_operations(void **state)
{
    const lacis_dtype dtypes[] = {LACIS_I32, LACIS_I64};
    static union values out;
    (void)state;
    for (int k = 0; k < LACIS_COUNT(integer_cases) * 2 * 4 * LACIS_COUNT(lengths); k++) {
        const struct integer_case *c = &integer_cases[k / (8 * LACIS_COUNT(lengths))];
        lacis_dtype dtype = dtypes[k & 1];
        bool a_one = (k & 2) != 0, b_one = (k & 4) != 0;
        int n = lengths[k / 8 % LACIS_COUNT(lengths)];
        bool good = evaluate(c->text, dtype, a_one, b_one, n, &out);
        if (!good) fail_msg("%s failed", c->text);
        for (int i = 0; i < n; i++) {
            int64_t a = integer_at(0, a_one ? 3 : i), b = integer_at(1, b_one ? 3 : i);
            if (out.i64[i] != c->expected(a, b))
                fail_msg("%s of %lld, %lld (%d of %d, %d%d): %lld", c->text, (long long)a, (long long)b, i, n, a_one,
                         b_one, (long long)out.i64[i]);
        }
    }
}

static void real_operations(void **state)
{
    static union values out;
    (void)state;
    for (int k = 0; k < LACIS_COUNT(real_cases) * 2 * 4 * LACIS_COUNT(lengths); k++) {
        const struct real_case *c = &real_cases[k / (8 * LACIS_COUNT(lengths))];
        bool narrow = (k & 1) != 0, a_one = (k & 2) != 0, b_one = (k & 4) != 0;
        int n = lengths[k / 8 % LACIS_COUNT(lengths)];
        assert_true(evaluate(c->text, narrow ? LACIS_F32 : LACIS_F64, a_one, b_one, n, &out));
        for (int i = 0; i < n; i++) {
            double a = real_at(0, a_one ? 3 : i), b = real_at(1, b_one ? 3 : i);
            double got = narrow ? (double)out.f32[i] : out.f64[i];
            double expected = narrow ? (double)c->f32((float)a, (float)b) : c->f64(a, b);
            if (!same(got, expected))
                fail_msg("%s of %g, %g (%d of %d, %d%d%d): %.17g, not %.17g", c->text, a, b, i, n, narrow, a_one,
                         b_one, got, expected);
        }
    }
}

/* Comparisons of reals give integers; NaN is unequal to all and less than nothing. */
static void real_comparisons(void **state)
{
    static const char *const texts[] = {"a = b", "a <> b", "a < b", "a <= b", "a > b", "a >= b", "a AND b"};
    static union values out;
    (void)state;
    for (int k = 0; k < LACIS_COUNT(texts) * 8; k++) {
        bool narrow = (k & 1) != 0, a_one = (k & 2) != 0, b_one = (k & 4) != 0;
        assert_true(evaluate(texts[k / 8], narrow ? LACIS_F32 : LACIS_F64, a_one, b_one, 511, &out));
        for (int i = 0; i < 511; i++) {
            double a = real_at(0, a_one ? 3 : i), b = real_at(1, b_one ? 3 : i);
            if (narrow) a = (double)(float)a, b = (double)(float)b;
            const bool expected[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, a != 0 && b != 0};
            assert_int_equal(out.i64[i], expected[k / 8]);
        }
    }
}

/* Each instruction set that this machine has, by the environment variable that names a lesser one. */
static void every_instruction_set(void **state)
{
    for (int i = 0; i < LACIS_COUNT(isas); i++) {
        setenv("LACIS_ISA", isas[i], 1);
        integer_operations(state);
        real_operations(state);
        real_comparisons(state);
    }
    unsetenv("LACIS_ISA");
}

/* ------------------------------------------------------------------------------------------- errors */

/* text over one a and b in each of n elements, or only in the last one with harmless ones before. */
static bool runs(const char *text, int64_t a, int64_t b, int n, bool last_only, int64_t *out)
{
    static int64_t as[LACIS_STRIP], bs[LACIS_STRIP], outs[LACIS_STRIP];
    const lacis_dtype dtypes[] = {LACIS_I64, LACIS_I64};
    lacis_program *program;
    for (int i = 0; i < n; i++) {
        as[i] = last_only && i < n - 1 ? 1 : a;
        bs[i] = last_only && i < n - 1 ? 1 : b;
    }
    assert_int_equal(lacis_program_new(&run, typed("a,b", dtypes, text), &program), LACIS_OK);
    void *workspace = malloc(lacis_program_workspace(program) + 1);
    bool good = lacis_program_run(program, n, (lacis_strip[]){{as, false}, {bs, false}}, workspace, outs);
    bool single = lacis_program_run(program, n, (lacis_strip[]){{&a, true}, {bs, false}}, workspace, outs);
    bool both = lacis_program_run(program, n, (lacis_strip[]){{&a, true}, {&b, true}}, workspace, outs);
    assert_int_equal(both, good);
    if (!last_only) assert_int_equal(single, good);
    if (out != NULL) *out = outs[n - 1];
    free(workspace);
    lacis_program_free(program);
    return good;
}

static void overflow_is_found(void **state)
{
    (void)state;
    const int64_t big = INT64_MAX, least = INT64_MIN;
    const struct {
        const char *text;
        int64_t a, b;
        bool good;
    } cases[] = {
        {"a + b", big, 1, false},
        {"a + b", big, 0, true},
        {"a + b", least, -1, false},
        {"a + b", big, least, true},
        {"a - b", least, 1, false},
        {"a - b", 0, least, false},
        {"a - b", -1, least, true},
        {"a * b", 3037000500, 3037000500, false},
        {"a * b", 3037000499, 3037000499, true},
        {"a * b", least, -1, false},
        {"a * b", -4294967296, 2147483648, true},
        {"a * b", 4294967296, 2147483648, false},
        {"a * b", 2147483648, 2147483648, true},
        {"a / b", 1, 0, false},
        {"a / b", least, -1, false},
        {"a / b", least, 1, true},
        {"a % b", 1, 0, false},
        {"a % b", least, -1, true},
        {"-a", least, 0, false},
        {"-a", big, 0, true},
        {"abs(a)", least, 0, false},
        {"abs(a)", least + 1, 0, true},
        {"CAST(CAST(a AS real) * 2 AS int)", big, 0, false},
        {"CAST(CAST(a AS real) / b AS int)", 0, 0, false}, /* NaN */
        {"a + 1 > b", big, 0, false},
        {"a * 2 * b", big, 0, false}, /* an intermediate result */
        {"1 / 0 + a", 1, 1, false},
    };
    for (int k = 0; k < LACIS_COUNT(cases) * 6; k++) {
        int i = k / 6;
        bool good = runs(cases[i].text, cases[i].a, cases[i].b, (const int[]){1, 5, 512}[k % 3], k % 6 > 2, NULL);
        if (good != cases[i].good)
            fail_msg("%s of %lld, %lld: %s", cases[i].text, (long long)cases[i].a, (long long)cases[i].b,
                     good ? "accepted" : "refused");
    }
}

/* What fails where it is not reached does not count. */
static void errors_only_where_reached(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t a, b;
        bool good;
        int64_t value;
    } cases[] = {
        {"CASE WHEN b <> 0 THEN a / b ELSE -1 END", 6, 0, true, -1},
        {"CASE WHEN b <> 0 THEN a / b ELSE -1 END", 6, 3, true, 2},
        {"CASE WHEN b = 0 THEN a / b ELSE -1 END", 6, 0, false, 0},
        {"CASE WHEN b = 0 THEN -1 ELSE a / b END", 6, 0, true, -1},
        {"CASE WHEN a > 5 THEN 1 WHEN a / b > 1 THEN 2 ELSE 3 END", 6, 0, true, 1},
        {"CASE WHEN a > 5 THEN 1 WHEN a / b > 1 THEN 2 ELSE 3 END", 5, 0, false, 0},
        {"CASE WHEN a > 5 THEN CASE WHEN b > 0 THEN a / b ELSE 7 END ELSE a / b END", 6, 0, true, 7},
        {"CASE WHEN a > 5 THEN CASE WHEN b > 0 THEN a / b ELSE 7 END ELSE a / b END", 1, 0, false, 0},
        {"CASE b + 0 * a WHEN 0 THEN 4 ELSE a / b END", 6, 0, true, 4},
        {"CASE a + b WHEN 6 THEN 4 ELSE a / b END", 6, 0, true, 4},
        {"b <> 0 AND a / b > 1", 6, 0, true, 0},
        {"b = 0 AND a / b > 1", 6, 0, false, 0},
        {"b = 0 OR a / b > 1", 6, 0, true, 1},
        {"b <> 0 OR a / b > 1", 6, 0, false, 0},
        {"iif(b <> 0, a % b, 5) + 1", 6, 0, true, 6},
        {"iif(a < 100, a + 1, 0)", INT64_MAX, 0, true, 0},
        {"iif(a < 100, 0, a * 2)", INT64_MAX, 0, false, 0},
        {"iif(b <> 0, a / b, 0) + iif(b = 0, 1, a / b)", 6, 0, true, 1},
        {"iif(b <> 0, a / b, 0) + a / b", 6, 0, false, 0},
        {"iif(a > 10, 1 / 0, 3)", 6, 0, true, 3},
        {"b IN (0, a / 1) OR a / b", 6, 0, true, 1},
    };
    for (int k = 0; k < LACIS_COUNT(cases) * 6; k++) {
        int i = k / 6;
        int64_t value;
        bool good = runs(cases[i].text, cases[i].a, cases[i].b, (const int[]){1, 5, 512}[k % 3], k % 6 > 2, &value);
        if (good != cases[i].good) fail_msg("%s: %s", cases[i].text, good ? "accepted" : "refused");
        if (good && value != cases[i].value) fail_msg("%s: %lld", cases[i].text, (long long)value);
    }
}

/* Slots of different types in one expression; a pattern counts 1. */
static void mixed_slots(void **state)
{
    (void)state;
    const lacis_dtype dtypes[] = {LACIS_I32, LACIS_F32, LACIS_F64, LACIS_PATTERN, LACIS_I64};
    lacis_program *program;
    lacis_expr *expr = typed("a,b,c,d,e", dtypes, "a + b * 0.5 + c * d + e");
    assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
    int32_t a[] = {1, 2, 3};
    float b[] = {0.5f, 1, 2};
    double c[] = {1e10, 2, 0.25}, out[3];
    int64_t e = 1LL << 40;
    void *workspace = malloc(lacis_program_workspace(program));
    const lacis_strip slots[] = {{a, false}, {b, false}, {c, false}, {NULL, true}, {&e, true}};
    assert_true(lacis_program_run(program, 3, slots, workspace, out));
    for (int i = 0; i < 3; i++) {
        assert_true(out[i] == (double)a[i] + (double)(b[i] * 0.5f) + c[i] + (double)e);
    }
    assert_true(lacis_program_run(program, 0, slots, workspace, out));
    free(workspace);
    lacis_program_free(program);
    lacis_program_free(NULL);
}

/* The result may overwrite a slot of its own type: x := fold(x, y). */
static void in_place(void **state)
{
    (void)state;
    const lacis_dtype dtypes[] = {LACIS_F64, LACIS_F64};
    lacis_program *program;
    double x[LACIS_STRIP], y[LACIS_STRIP];
    assert_int_equal(
        lacis_program_new(&run, typed("x,y", dtypes, "CASE WHEN x < y THEN x * 2 ELSE x + y END"), &program),
        LACIS_OK);
    void *workspace = malloc(lacis_program_workspace(program));
    for (int i = 0; i < LACIS_STRIP; i++) {
        x[i] = i;
        y[i] = 100;
    }
    assert_true(lacis_program_run(program, LACIS_STRIP, (lacis_strip[]){{x, false}, {y, false}}, workspace, x));
    for (int i = 0; i < LACIS_STRIP; i++) {
        assert_true(x[i] == (i < 100 ? 2 * i : i + 100));
    }
    free(workspace);
    lacis_program_free(program);
}

/* x over a power of two is computed as a product; the bits are those of the quotient. */
static void division_by_powers_of_two(void **state)
{
    (void)state;
    static const int exponents[] = {1,    2,    -1,   -3,   20,   100,  126,   127,
                                    -126, -127, -149, 1000, 1022, 1023, -1022, -1074};
    static union values x, out;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < LACIS_STRIP; i++, bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17)
        x.i64[i] = (int64_t)bits;
    for (int k = 0; k < 2 * LACIS_COUNT(exponents); k++) {
        bool narrow = k % 2 == 0;
        double by = ldexp(k % 4 < 2 ? 1 : -1, exponents[k / 2]);
        const lacis_dtype dtypes[] = {narrow && fabs(by) <= 0x1p127 ? LACIS_F32 : LACIS_F64};
        narrow = dtypes[0] == LACIS_F32;
        char text[LACIS_NUMBER_TEXT + 8], number[LACIS_NUMBER_TEXT];
        lacis_format_double(by, number);
        snprintf(text, sizeof text, "a / %s", number);
        lacis_program *program;
        assert_int_equal(lacis_program_new(&run, typed("a", dtypes, text), &program), LACIS_OK);
        assert_int_equal(lacis_program_workspace(program), 0);
        const lacis_strip slot = {&x, false};
        assert_true(lacis_program_run(program, LACIS_STRIP, &slot, NULL, &out));
        for (int i = 0; i < LACIS_STRIP; i++) {
            volatile float narrow_by = (float)by, f32 = x.f32[i] / narrow_by;
            volatile double wide_by = by, f64 = x.f64[i] / wide_by;
            float got32 = out.f32[i], want32 = f32;
            double got64 = out.f64[i], want64 = f64;
            bool same = narrow ? memcmp(&got32, &want32, sizeof got32) == 0 || (isnan(got32) && isnan(want32))
                               : memcmp(&got64, &want64, sizeof got64) == 0 || (isnan(got64) && isnan(want64));
            if (!same) fail_msg("%s of element %d", text, i);
        }
        lacis_program_free(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_instruction_set, open_run, close_run),
        cmocka_unit_test_setup_teardown(overflow_is_found, open_run, close_run),
        cmocka_unit_test_setup_teardown(errors_only_where_reached, open_run, close_run),
        cmocka_unit_test_setup_teardown(mixed_slots, open_run, close_run),
        cmocka_unit_test_setup_teardown(in_place, open_run, close_run),
        cmocka_unit_test_setup_teardown(division_by_powers_of_two, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
