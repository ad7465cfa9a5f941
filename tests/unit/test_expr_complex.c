/* SPDX-License-Identifier: Apache-2.0
 *
 * Complex numbers in expressions: random trees against a naive interpreter, on strips of every form and instruction
 * set; types, canonical texts, refusals; identities of folds.
 */
#include "unit/expr_complex.h"
#include "unit/expr_naive.h"

/* ------------------------------------------------------------------------------------- interpreter */

/* A number (v), or where `complex` re and im. v.failed counts for both. */
struct mixed {
    bool complex;
    struct value v;
    double re, im;
};

static struct mixed mixed_of(struct value v)
{
    return (struct mixed){.v = v, .re = number(v)};
}

static struct mixed complex_of(double re, double im, bool failed)
{
    return (struct mixed){.complex = true, .re = re, .im = im, .v = {.failed = failed}};
}

/* By its definition: b's larger part divides the smaller one first. */
static struct mixed quotient(struct mixed a, struct mixed b, bool failed)
{
    if (fabs(b.re) >= fabs(b.im)) {
        double r = b.im / b.re, d = b.re + b.im * r;
        return complex_of((a.re + a.im * r) / d, (a.im - a.re * r) / d, failed);
    }
    double r = b.re / b.im, d = b.im + b.re * r;
    return complex_of((a.re * r + a.im) / d, (a.im * r - a.re) / d, failed);
}

static struct mixed complex_binary(const char *name, struct mixed a, struct mixed b)
{
    bool failed = a.v.failed || b.v.failed;
    if (strcmp(name, "complex") == 0) return complex_of(a.re, b.re, failed);
    if (!a.complex && !b.complex) return mixed_of(binary(name, a.v, b.v));
    switch (name[0]) {
    case '+':
        return complex_of(a.re + b.re, a.im + b.im, failed);
    case '-':
        return complex_of(a.re - b.re, a.im - b.im, failed);
    case '*':
        return complex_of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, failed);
    default:
        return quotient(a, b, failed);
    }
}

static struct mixed complex_unary(const char *name, struct mixed a)
{
    bool failed = a.v.failed, minus = strcmp(name, "-") == 0;
    struct value part = real(0, false);
    if (!a.complex && strcmp(name, "im") == 0) {
        part.literal = true;
        return mixed_of(part);
    }
    if (!a.complex && (strcmp(name, "re") == 0 || strcmp(name, "conj") == 0)) return a;
    if (!a.complex && strcmp(name, "arg") != 0) return mixed_of(unary(name, a.v));
    if (minus || strcmp(name, "conj") == 0) return complex_of(minus ? -a.re : a.re, -a.im, failed);
    part.d = strcmp(name, "re") == 0    ? a.re
             : strcmp(name, "im") == 0  ? a.im
             : strcmp(name, "abs") == 0 ? hypot(a.re, a.im)
                                        : atan2(a.im, a.re);
    part.failed = failed;
    return mixed_of(part);
}

static struct mixed eval_complex(const struct tree *tree, const struct mixed *slots);

static bool equal(struct mixed a, struct mixed b)
{
    return a.re == b.re && a.im == b.im;
}

static struct mixed eval_choice(const struct tree *tree, const struct mixed *slots)
{
    int i = tree->kind == SWITCH;
    struct mixed x = {0}, out;
    bool failed = false;
    if (i > 0) x = eval_complex(tree->kid[0], slots);
    failed = x.v.failed;
    for (; i + 1 < tree->count; i += 2) {
        struct mixed when = eval_complex(tree->kid[i], slots);
        failed = failed || when.v.failed;
        if (tree->kind == SWITCH ? equal(x, when) : truth(when.v)) break;
    }
    out = eval_complex(tree->kid[i + 1 < tree->count ? i + 1 : i], slots);
    return complex_of(out.re, out.im, out.v.failed || failed);
}

static struct mixed eval_complex(const struct tree *tree, const struct mixed *slots)
{
    struct mixed kid[3];
    if (tree->kind == SLOT) return slots[tree->slot];
    if (tree->kind == INTEGER) return mixed_of((struct value){.i = tree->integer, .literal = true});
    if (tree->kind == REAL) return mixed_of((struct value){.real = true, .d = tree->real, .literal = true});
    if (tree->kind == CASE || tree->kind == SWITCH) return eval_choice(tree, slots);
    bool failed = false;
    for (int i = 0; i < tree->count; i++) {
        kid[i] = eval_complex(tree->kid[i], slots);
        failed = failed || kid[i].v.failed;
    }
    if (tree->kind == UNARY) return complex_unary(tree->name, kid[0]);
    if (tree->kind == BINARY) return complex_binary(tree->name, kid[0], kid[1]);
    if (tree->kind == IN) return mixed_of(integer(equal(kid[0], kid[1]) || equal(kid[0], kid[2]), failed));
    if (strcmp(tree->name, "<") == 0) return mixed_of(integer(compared("<", order(kid[0].v, kid[1].v)), failed));
    return mixed_of(integer(equal(kid[0], kid[1]) == (tree->name[0] == '='), failed));
}

/* ------------------------------------------------------------------------------------------- strips */

static struct {
    double a[LACIS_STRIP][2];
    float b[LACIS_STRIP][2];
    double c[LACIS_STRIP];
    int32_t d[LACIS_STRIP];
} in;
static double result[LACIS_STRIP][2];

static double draw_real(bool wild)
{
    static const double far[] = {INFINITY, -INFINITY, NAN, 1e300, -1e30, 1e-30, 0, -0.0};
    return wild && below(4) == 0 ? far[below(8)] : (double)(below(81) - 40) * 0.125;
}

static void draw_slots(bool wild)
{
    for (int i = 0; i < LACIS_STRIP; i++) {
        for (int part = 0; part < 2; part++) {
            in.a[i][part] = draw_real(wild);
            in.b[i][part] = (float)draw_real(wild);
        }
        in.c[i] = draw_real(wild);
        in.d[i] = wild && below(4) == 0 ? (int32_t)random_bits() : below(21) - 10;
    }
}

static void slots_at(const bool *one, int i, struct mixed *out)
{
    int k[SLOTS];
    for (int s = 0; s < SLOTS; s++)
        k[s] = one[s] ? 0 : i;
    out[0] = complex_of(in.a[k[0]][0], in.a[k[0]][1], false);
    out[1] = complex_of((double)in.b[k[1]][0], (double)in.b[k[1]][1], false);
    out[2] = mixed_of(real(in.c[k[2]], false));
    out[3] = mixed_of((struct value){.i = in.d[k[3]]});
}

static bool same(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

static bool agrees(struct mixed expected, lacis_dtype dtype, int i)
{
    const double *reals = result[0];
    const void *words = result;
    if (dtype == LACIS_C128)
        return expected.complex && same(result[i][0], expected.re) && same(result[i][1], expected.im);
    if (expected.complex) return false;
    return dtype == LACIS_I64 ? !expected.v.real && ((const int64_t *)words)[i] == expected.v.i
                              : expected.v.real && same(reals[i], expected.v.d);
}

static void check_complex(const struct tree *tree, const lacis_expr *expr, const lacis_program *program, int n,
                          const bool *one, void *workspace)
{
    lacis_strip slots[SLOTS] = {{in.a, one[0]}, {in.b, one[1]}, {in.c, one[2]}, {in.d, one[3]}};
    struct mixed at_i[SLOTS];
    int failing = 0;
    bool good = lacis_program_run(program, n, slots, workspace, result);
    for (int i = 0; i < n; i++) {
        slots_at(one, i, at_i);
        struct mixed expected = eval_complex(tree, at_i);
        failing += expected.v.failed;
        if (expected.v.failed || !good || agrees(expected, lacis_expr_dtype(expr), i)) continue;
        fail_msg("%s (%s) of (%g, %g) (%g, %g) %g %d: expected (%.17g, %.17g), got (%.17g, %.17g)", text,
                 lacis_expr_text(expr), at_i[0].re, at_i[0].im, at_i[1].re, at_i[1].im, at_i[2].re, (int)at_i[3].v.i,
                 expected.re, expected.im, result[i][0], result[i][1]);
    }
    if (!good && failing == 0) fail_msg("%s (%s) was refused", text, lacis_expr_text(expr));
}

static void check_random(const struct tree *tree, lacis_expr *expr)
{
    lacis_program *program;
    assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
    void *workspace = malloc(lacis_program_workspace(program) + 1);
    for (int strip = 0; strip < 6; strip++) {
        bool one[SLOTS];
        draw_slots(strip % 2 != 0);
        for (int s = 0; s < SLOTS; s++)
            one[s] = below(3) == 0;
        check_complex(tree, expr, program, (const int[]){37, 1, 16, 67, 5, 512}[strip], one, workspace);
    }
    free(workspace);
    lacis_program_free(program);
}

static void strips_against_interpreter(void **state)
{
    (void)state;
    static const char *const isas[] = {"baseline", "avx2", "avx512"};
    for (int k = 0; k < 1800; k++) {
        lacis_run_clear(&run);
        setenv("LACIS_ISA", isas[k % 3], 1);
        if (k % 3 == 0) random_state = 88172645463325252u + (uint64_t)k; /* the same trees for all three */
        uint64_t before = random_state;
        const struct tree *tree = below(4) == 0 ? grow_part(1 + below(4)) : grow_complex(1 + below(4));
        at = text;
        write_tree(tree);
        lacis_expr *expr = typed(slot_names, complex_types, text);
        check_random(tree, expr);
        char canonical[sizeof text];
        snprintf(canonical, sizeof canonical, "%s", lacis_expr_text(expr));
        check_random(tree, typed(slot_names, complex_types, canonical)); /* the text says the same */
        random_state = before;
    }
    unsetenv("LACIS_ISA");
}

/* -------------------------------------------------------------------------------------------- texts */

static void canonical_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
        lacis_dtype dtype;
    } cases[] = {
        {"b + a", "a + b", LACIS_C128},
        {"b * a", "a * b", LACIS_C128},
        {"a - -b", "a + b", LACIS_C128},
        {"2 * a", "a * complex(2.0, 0.0)", LACIS_C128},
        {"a * 1", "a * complex(1.0, 0.0)", LACIS_C128},
        {"a - 0", "a", LACIS_C128},
        {"a + d", "a + d", LACIS_C128},
        {"complex(1, 2) * complex(3, 4)", "complex(-5.0, 10.0)", LACIS_C128},
        {"complex(1, 2) / complex(0, 1)", "complex(2.0, -1.0)", LACIS_C128},
        {"re(complex(c, d))", "c", LACIS_F64},
        {"im(complex(c, d))", "CAST(d AS real)", LACIS_F64},
        {"conj(conj(a))", "a", LACIS_C128},
        {"abs(-a)", "abs(a)", LACIS_F64},
        {"re(d)", "d", LACIS_I64},
        {"conj(c)", "c", LACIS_F64},
        {"im(c)", "0.0", LACIS_F64},
        {"arg(c)", "arg(c)", LACIS_F64},
        {"abs(complex(3, 4))", "5.0", LACIS_F64},
        {"a = c", "a = c", LACIS_I64},
        {"NOT a = b", "a <> b", LACIS_I64},
        {"complex(0, 1) <> 0", "1", LACIS_I64},
        {"CASE WHEN a THEN c ELSE b END", "CASE WHEN a <> complex(0.0, 0.0) THEN c ELSE b END", LACIS_C128},
        {"iif(c < 1, a, 0)", "CASE WHEN c < 1.0 THEN a ELSE complex(0.0, 0.0) END", LACIS_C128},
        {"a IN (b, 1)", "a IN (b, complex(1.0, 0.0))", LACIS_I64},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_expr *expr = typed(slot_names, complex_types, cases[i].text);
        assert_string_equal(lacis_expr_text(expr), cases[i].shown);
        assert_int_equal(lacis_expr_dtype(expr), cases[i].dtype);
    }
    double lo[SLOTS] = {0}, hi[SLOTS] = {1, 1, 1, 1}, least, most;
    assert_false(lacis_expr_bounds(typed(slot_names, complex_types, "a * b"), lo, hi, &least, &most));
    assert_false(lacis_expr_bounds(typed(slot_names, complex_types, "re(a)"), lo, hi, &least, &most));
    assert_true(lacis_expr_bounds(typed(slot_names, complex_types, "d + 1"), lo, hi, &least, &most));
}

static void refusals(void **state)
{
    (void)state;
    static const char order_text[] = "complex numbers have no order; compare re(z), im(z) or abs(z)";
    static const struct {
        const char *text;
        int64_t offset;
        const char *message;
    } cases[] = {
        {"a < b", 2, order_text},
        {"c >= b", 2, order_text},
        {"min(c, a)", 0, order_text},
        {"c BETWEEN 0 AND a", 2, order_text},
        {"a % 2", 2, "% does not take complex numbers"},
        {"1 + ~a", 4, "~ does not take complex numbers"},
        {"d | a", 2, "| does not take complex numbers"},
        {"sqrt(a)", 0, "sqrt does not take complex numbers"},
        {"round(a)", 0, "round does not take complex numbers"},
        {"complex(a, 1)", 0, "complex does not take complex numbers"},
        {"CAST(a AS int)", 0, "CAST does not take complex numbers"},
        {"CAST(a AS real)", 0, "CAST does not take complex numbers"},
    };
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        lacis_expr *expr = parse(slot_names, cases[i].text);
        assert_non_null(expr);
        assert_int_equal(lacis_expr_type(&run, expr, complex_types, SLOTS), LACIS_TYPE);
        assert_int_equal(host.error.offset, cases[i].offset);
        assert_string_equal(host.error.message, cases[i].message);
    }
}

/* ------------------------------------------------------------------------------------------- folds */

static lacis_status parse_agg(const char *written, lacis_agg **agg)
{
    static const lacis_binding half = {.name = "half", .type = LACIS_REAL, .real = 0.5};
    static const lacis_bindings bindings = {&half, 1};
    lacis_lexer lexer;
    lacis_lexer_begin(&lexer, written, strlen(written));
    return lacis_agg_parse(&run, &lexer, &bindings, agg);
}

static void identities(void **state)
{
    (void)state;
    lacis_agg *agg;
    assert_int_equal(parse_agg("(x, y) -> x * y IDENTITY complex(1e300, -INF)", &agg), LACIS_OK);
    assert_string_equal(agg->text, "(x, y) -> x * y IDENTITY complex(1e+300, -INF)");
    assert_true(agg->identity_complex && agg->identity_real && agg->associative);
    assert_true(agg->identity == 1e300 && agg->identity_imag == -INFINITY);
    assert_int_equal(agg->kind, LACIS_AGG_FOLD);
    assert_int_equal(parse_agg("(x, y) -> x + y IDENTITY Complex(:half, -2)", &agg), LACIS_OK);
    assert_true(agg->identity == 0.5 && agg->identity_imag == -2);
    assert_int_equal(parse_agg("(x, y) -> x + y IDENTITY complex(0, 0)", &agg), LACIS_OK);
    assert_int_equal(agg->kind, LACIS_AGG_FOLD); /* over real values it is no sum of theirs */
    assert_int_equal(parse_agg("(x, y) -> x + y IDENTITY 0", &agg), LACIS_OK);
    assert_int_equal(agg->kind, LACIS_AGG_SUM);
    assert_false(agg->identity_complex);
    static const char *const wrong[] = {"(x, y) -> x IDENTITY complex", "(x, y) -> x IDENTITY complex(1)",
                                        "(x, y) -> x IDENTITY complex(1, 2", "(x, y) -> x IDENTITY complex(1, x)",
                                        "(x, y) -> x IDENTITY -complex(1, 2)"};
    for (int i = 0; i < LACIS_COUNT(wrong); i++)
        assert_int_equal(parse_agg(wrong[i], &agg), LACIS_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(strips_against_interpreter, open_run, close_run),
        cmocka_unit_test_setup_teardown(canonical_texts, open_run, close_run),
        cmocka_unit_test_setup_teardown(refusals, open_run, close_run),
        cmocka_unit_test_setup_teardown(identities, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
