/* SPDX-License-Identifier: Apache-2.0
 *
 * engine/expr/interval.c: which predicates over reals are an interval, and that it holds exactly where they do.
 */
#include "unit/expr_support.h"

static const char *const intervals[] = {"v > 2",
                                        "v >= 2",
                                        "v < -1.5",
                                        "v <= 0",
                                        "v = 3",
                                        "2 < v",
                                        "2 <= v",
                                        "0.1 > v",
                                        "0.1 >= v",
                                        "v > 0.1",
                                        "v >= 0.1",
                                        "v BETWEEN 0.1 AND 2",
                                        "v BETWEEN 2 AND 0.1",
                                        "v > 0 AND v < 3",
                                        "v > 0 AND v <= 3 AND v >= 0.1",
                                        "v > 2 AND v < 1",
                                        "v > inf",
                                        "v >= inf",
                                        "v < -inf",
                                        "v <= -inf",
                                        "v > -inf",
                                        "v = nan",
                                        "v > nan AND v < 3",
                                        "v >= -0.0",
                                        "v > 0",
                                        "v = 0"};

/* Values beside every constant above, and those that are none. */
static const double around[] = {2, -1.5, 0, 3, 0.1, 1, -0.0, INFINITY, -INFINITY, NAN, 1e300, -1e300, 5e-324};

static void check_value(const lacis_program *program, void *workspace, lacis_dtype dtype, const char *text, double x,
                        double lo, double hi)
{
    const float f = (float)x;
    const lacis_strip slot = {dtype == LACIS_F32 ? (const void *)&f : &x, true};
    int64_t result = 0;
    assert_true(lacis_program_run(program, 1, &slot, workspace, &result));
    const double v = dtype == LACIS_F32 ? (double)f : x;
    if ((result != 0) != (lo <= v && v <= hi))
        fail_msg("%s of %.17g: %d, but the interval is %.17g to %.17g", text, v, result != 0, lo, hi);
}

static void check_values(const lacis_expr *expr, lacis_dtype dtype, const char *text, double lo, double hi)
{
    lacis_program *program;
    assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
    void *workspace = malloc(lacis_program_workspace(program) + 1);
    assert_non_null(workspace);
    for (int i = 0; i < LACIS_COUNT(around); i++) {
        const double x = around[i];
        check_value(program, workspace, dtype, text, x, lo, hi);
        check_value(program, workspace, dtype, text, nextafter(x, INFINITY), lo, hi);
        check_value(program, workspace, dtype, text, nextafter(x, -INFINITY), lo, hi);
        check_value(program, workspace, dtype, text, (double)nextafterf((float)x, INFINITY), lo, hi);
        check_value(program, workspace, dtype, text, (double)nextafterf((float)x, -INFINITY), lo, hi);
    }
    free(workspace);
    lacis_program_free(program);
}

static void are_where_the_predicate_holds(void **state)
{
    (void)state;
    static const lacis_dtype dtypes[] = {LACIS_F32, LACIS_F64};
    for (int i = 0; i < LACIS_COUNT(intervals); i++)
        for (int d = 0; d < 2; d++) {
            double lo = 0, hi = 0;
            const lacis_expr *expr = typed("v", &dtypes[d], intervals[i]);
            if (!lacis_expr_interval(expr, 0, &lo, &hi)) fail_msg("%s: no interval", intervals[i]);
            check_values(expr, dtypes[d], intervals[i], lo, hi);
        }
}

static void are_not_everything(void **state)
{
    (void)state;
    static const char *const others[] = {
        "v <> 2",    "v > w",      "w > 2",       "v > 2 AND w > 1",       "v > 2 OR v < 1",   "NOT v > 2",
        "v + 1 > 2", "abs(v) > 2", "v IN (1, 2)", "v NOT BETWEEN 1 AND 2", "v BETWEEN 1 AND w"};
    static const lacis_dtype dtypes[] = {LACIS_F64, LACIS_F64}, whole[] = {LACIS_I64, LACIS_F64};
    double lo, hi;
    for (int i = 0; i < LACIS_COUNT(others); i++)
        if (lacis_expr_interval(typed("v,w", dtypes, others[i]), 0, &lo, &hi)) fail_msg("%s", others[i]);
    assert_false(lacis_expr_interval(typed("v,w", whole, "v > 2"), 0, &lo, &hi));
    assert_false(lacis_expr_interval(typed("v,w", whole, "v > 2.5"), 0, &lo, &hi));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_where_the_predicate_holds),
                                       cmocka_unit_test(are_not_everything)};
    return cmocka_run_group_tests(tests, open_run, close_run);
}
