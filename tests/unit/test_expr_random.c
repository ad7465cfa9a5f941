/* SPDX-License-Identifier: Apache-2.0
 *
 * Random expression trees: what programs give on strips against a naive recursive interpreter that shares nothing
 * with engine/expr but the text between them; and bounds, which must hold whatever the values.
 */
#include "unit/expr_naive.h"

/* ------------------------------------------------------------------------------------------- strips */

union values {
    int32_t i32[LACIS_STRIP];
    int64_t i64[LACIS_STRIP];
    float f32[LACIS_STRIP];
    double f64[LACIS_STRIP];
};
static union values slot_values[SLOTS], result;

static void set(lacis_dtype dtype, int slot, int i, int64_t integer_value, double real_value)
{
    union values *values = &slot_values[slot];
    if (dtype == LACIS_I32) values->i32[i] = (int32_t)integer_value;
    if (dtype == LACIS_I64) values->i64[i] = integer_value;
    if (dtype == LACIS_F32) values->f32[i] = (float)real_value;
    if (dtype == LACIS_F64) values->f64[i] = real_value;
}

static struct value get(lacis_dtype dtype, int slot, int i)
{
    const union values *values = &slot_values[slot];
    if (dtype == LACIS_I32) return (struct value){.i = values->i32[i]};
    if (dtype == LACIS_I64) return (struct value){.i = values->i64[i]};
    if (dtype == LACIS_F32) return real((double)values->f32[i], true);
    return real(values->f64[i], false);
}

/* Mostly small values; now and then, with `wild`, any bits at all. */
static void draw(const lacis_dtype *dtypes, bool wild)
{
    for (int k = 0; k < SLOTS * LACIS_STRIP; k++) {
        int64_t small = below(41) - 20, any = random_integer();
        double quarter = (double)(below(8001) - 4000) * 0.0078125 + 0.001;
        bool odd = wild && below(4) == 0;
        double far = (double[]){INFINITY, -INFINITY, NAN, 1e300, -1e30, 1e-30}[below(6)];
        set(dtypes[k % SLOTS], k % SLOTS, k / SLOTS, odd ? any : small, odd ? far : quarter);
    }
}

static bool same(struct value expected, lacis_dtype dtype, int i)
{
    if (!expected.real) return dtype == LACIS_I64 && result.i64[i] == expected.i;
    double got = dtype == LACIS_F32 ? (double)result.f32[i] : result.f64[i];
    return dtype != LACIS_I64 && (got == expected.d || (isnan(got) && isnan(expected.d)));
}

static struct inputs inputs_at(const lacis_dtype *dtypes, const bool *one, int i)
{
    struct inputs inputs;
    for (int s = 0; s < SLOTS; s++) {
        inputs.slot[s] = get(dtypes[s], s, one[s] ? 0 : i);
    }
    return inputs;
}

/* One strip. A tree that fails somewhere by its letter may still be saved by its canonical form (an intermediate
 * result that overflows and is not needed), so only the elements that do not fail must agree. */
static void check_strip(const struct tree *tree, const lacis_expr *expr, const lacis_program *program, int n,
                        const bool *one, void *workspace, const lacis_dtype *dtypes)
{
    lacis_strip slots[SLOTS];
    int failing = 0;
    for (int s = 0; s < SLOTS; s++) {
        slots[s] = (lacis_strip){&slot_values[s], one[s]};
    }
    bool good = lacis_program_run(program, n, slots, workspace, &result);
    for (int i = 0; i < n; i++) {
        struct inputs inputs = inputs_at(dtypes, one, i);
        struct value expected = eval(tree, &inputs);
        failing += expected.failed;
        if (expected.failed || !good || same(expected, lacis_expr_dtype(expr), i)) continue;
        fail_msg("%s (%s) of %g %g %g %g: expected %lld or %.17g, got %lld or %.17g", text, lacis_expr_text(expr),
                 number(inputs.slot[0]), number(inputs.slot[1]), number(inputs.slot[2]), number(inputs.slot[3]),
                 (long long)expected.i, expected.d, (long long)result.i64[i], result.f64[i]);
    }
    if (!good && failing == 0) fail_msg("%s (%s) was refused", text, lacis_expr_text(expr));
}

static const struct tree *random_expression(enum mode mode, lacis_expr **expr)
{
    lacis_run_clear(&run);
    int depth = 1 + below(4);
    bool truths = mode == FLOATS && below(3) == 0;
    const struct tree *tree = truths ? grow_truth(mode, 1) : grow(mode, depth);
    at = text;
    write_tree(tree);
    *expr = typed(slot_names, slot_types[mode], text);
    return tree;
}

/* The canonical text is in the language, and is its own canonical text (of reals perhaps not quite: literals that
 * were converted to meet one operand may meet another as they are). */
static void check_text(lacis_expr *expr, enum mode mode)
{
    char canonical[sizeof text];
    snprintf(canonical, sizeof canonical, "%s", lacis_expr_text(expr));
    lacis_expr *again = typed(slot_names, slot_types[mode], canonical);
    if (strcmp(lacis_expr_text(again), canonical) != 0 && mode == INTEGERS) {
        const char *x = canonical, *y = lacis_expr_text(again);
        while (*x == *y)
            x++, y++;
        fail_msg("%s BECAME %s", x - 40 > canonical ? x - 40 : canonical, y);
    }
}

static void strips_against_interpreter(void **state)
{
    (void)state;
    random_state = 88172645463325252u;
    for (int k = 0; k < 2400; k++) {
        enum mode mode = (enum mode)(k % MODES);
        lacis_expr *expr;
        lacis_program *program;
        const struct tree *tree = random_expression(mode, &expr);
        assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
        void *workspace = malloc(lacis_program_workspace(program) + 1);
        for (int strip = 0; strip < 6; strip++) {
            bool one[SLOTS];
            draw(slot_types[mode], strip % 2 != 0);
            for (int s = 0; s < SLOTS; s++) {
                one[s] = below(3) == 0;
            }
            int n = (const int[]){37, 1, 16, 511, 1, 512}[strip];
            check_strip(tree, expr, program, k % 10 == 0 || n < 100 ? n : 64, one, workspace, slot_types[mode]);
        }
        free(workspace);
        lacis_program_free(program);
        check_text(expr, mode);
    }
}

/* ------------------------------------------------------------------------------------------- bounds */

static void draw_ranges(enum mode mode, double *lo, double *hi)
{
    for (int s = 0; s < SLOTS; s++) {
        double x = below(201) - 100, y = below(201) - 100;
        if (below(4) == 0) x *= 1e7;
        if (slot_types[mode][s] == LACIS_I64 && below(6) == 0) y *= 1e16;
        if (lacis_dtype_size(slot_types[mode][s]) == 8 && mode == MIXED) y += 0.5;
        lo[s] = x < y ? x : y;
        hi[s] = x < y ? y : x;
    }
}

/* Ends more often than what lies between. */
static void draw_within(enum mode mode, const double *lo, const double *hi)
{
    for (int k = 0; k < SLOTS * LACIS_STRIP; k++) {
        int s = k % SLOTS;
        double part = below(3) == 0 ? 0 : below(2) == 0 ? 1 : below(1001) * 0.001;
        double value = lo[s] + (hi[s] - lo[s]) * part;
        if (value < lo[s]) value = lo[s];
        if (value > hi[s]) value = hi[s];
        int64_t whole = (int64_t)(value > lo[s] ? floor(value) : ceil(value));
        if ((double)whole < lo[s]) whole++;
        set(slot_types[mode][s], s, k / SLOTS, whole, value);
    }
}

static void check_within(const lacis_expr *expr, int i, double lo, double hi)
{
    lacis_dtype dtype = lacis_expr_dtype(expr);
    bool inside = dtype == LACIS_F64 ? result.f64[i] >= lo && result.f64[i] <= hi
                  : dtype == LACIS_F32
                      ? (double)result.f32[i] >= lo && (double)result.f32[i] <= hi
                      : (__float128)result.i64[i] >= (__float128)lo && (__float128)result.i64[i] <= (__float128)hi;
    if (!inside)
        fail_msg("%s (%s): %lld or %.17g is not in %.17g .. %.17g", text, lacis_expr_text(expr),
                 (long long)result.i64[i], dtype == LACIS_F32 ? (double)result.f32[i] : result.f64[i], lo, hi);
}

static void bounds_hold(void **state)
{
    (void)state;
    int known = 0;
    random_state = 1234567890123457u;
    for (int k = 0; k < 3000; k++) {
        enum mode mode = (enum mode)(k % MODES);
        lacis_expr *expr;
        lacis_program *program;
        double lo[SLOTS], hi[SLOTS], out_lo, out_hi;
        const bool one[SLOTS] = {false};
        const lacis_strip slots[SLOTS] = {
            {&slot_values[0], 0}, {&slot_values[1], 0}, {&slot_values[2], 0}, {&slot_values[3], 0}};
        const struct tree *tree = random_expression(mode, &expr);
        draw_ranges(mode, lo, hi);
        if (!lacis_expr_bounds(expr, lo, hi, &out_lo, &out_hi)) continue;
        known++;
        draw_within(mode, lo, hi);
        assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
        void *workspace = malloc(lacis_program_workspace(program) + 1);
        bool whole = lacis_program_run(program, 256, slots, workspace, &result);
        for (int i = 0; whole && i < 256; i++) {
            struct inputs inputs = inputs_at(slot_types[mode], one, i);
            if (!eval(tree, &inputs).failed) check_within(expr, i, out_lo, out_hi);
        }
        free(workspace);
        lacis_program_free(program);
    }
    assert_true(known > 1500);
}

/* How tight they are where that matters. */
static void bounds_are_tight(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double lo, hi;
        int known;
    } cases[] = {
        {"a + b", 12, 30, 1},     {"a - b", -18, 0, 1},
        {"a * b", 20, 200, 1},    {"-a", -10, -2, 1},
        {"min(a, b)", 2, 10, 1},  {"max(a, b)", 10, 20, 1},
        {"a / b", 0, 1, 1},       {"b / a", 1, 10, 1},
        {"a % b", 0, 10, 1},      {"a < b", 0, 1, 1},
        {"abs(a - b)", 0, 18, 1}, {"iif(a < b, a, 100)", 2, 100, 1},
        {"a & 7", 0, 7, 1},       {"a | 1", 2, 15, 1},
        {"a << 2", 8, 40, 1},     {"a >> 1", 1, 5, 1},
        {"sqrt(c)", 0, 2, 1},     {"c * 0.5", 0, 2, 1},
        {"1 / c", 0, 0, 0},       {"c - inf", -INFINITY, -INFINITY, 1},
        {"ln(c - 1)", 0, 0, 0},   {"nil", 1, 1, 1},
        {"7", 7, 7, 1},           {"CAST(c AS int)", 0, 4, 1},
        {"sign(a)", 1, 1, 1},     {"floor(c + 0.5)", 0, 4, 1},
        {"min(c, 3)", 0, 3, 1},   {"c % 3", 0, 3, 1},
    };
    const lacis_dtype dtypes[] = {LACIS_I64, LACIS_I32, LACIS_F64};
    const double lo[] = {2, 10, 0}, hi[] = {10, 20, 4};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        double out_lo = 0, out_hi = 0;
        bool known = lacis_expr_bounds(typed("a,b,c", dtypes, cases[i].text), lo, hi, &out_lo, &out_hi);
        bool good =
            known == cases[i].known && (!known || (fabs(out_lo - cases[i].lo) < 1e-12 || out_lo == cases[i].lo));
        good = good && (!known || fabs(out_hi - cases[i].hi) < 1e-12 || out_hi == cases[i].hi);
        if (!good) fail_msg("%s: %d, %.17g .. %.17g", cases[i].text, known, out_lo, out_hi);
    }
    double x, y;
    assert_false(lacis_expr_bounds(parse("a", "a"), lo, hi, &x, &y)); /* not typed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(strips_against_interpreter, open_run, close_run),
        cmocka_unit_test_setup_teardown(bounds_hold, open_run, close_run),
        cmocka_unit_test_setup_teardown(bounds_are_tight, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
