/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE as statements: results and columns, views restricted to lanes, bad lanes as errors and as a column, what is
 * refused at bind, EXPLAIN, memory_limit and cancelling.
 */
#include "support/db.h"

#include <math.h>
#include <stdbool.h>

enum { LANES = 5, ROWS = 4, PLACES = LANES * ROWS };

static int setup(void **state)
{
    *state = db_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static void create(lacis_engine *engine, const char *name, const lacis_part *parts, int count, int64_t lanes)
{
    const lacis_array_spec spec = {LACIS_INTERLEAVED, LACIS_F64, {lanes, ROWS}, parts, count};
    assert_int_equal(lacis_array_create(engine, name, &spec), LACIS_OK);
}

/* -1, 4, -1, with right sides for x = lane + 1 in every row; lane by lane. */
static void fill(double *a, double *b, double *c, double *d)
{
    for (int i = 0; i < PLACES; i++) {
        int row = i % ROWS, lane = i / ROWS;
        a[i] = c[i] = -1;
        b[i] = 4;
        d[i] = (lane + 1) * (row == 0 || row == ROWS - 1 ? 3 : 2);
    }
}

static void create_chains(lacis_engine *engine, const double *a, const double *b, const double *c, const double *d)
{
    const lacis_part parts[] = {{"a", LACIS_F64, PLACES, a},
                                {"b", LACIS_F64, PLACES, b},
                                {"c", LACIS_F64, PLACES, c},
                                {"d", LACIS_F64, PLACES, d}};
    create(engine, "s", parts, 4, LANES);
}

static void create_plain(lacis_engine *engine)
{
    double a[PLACES], b[PLACES], c[PLACES], d[PLACES];
    fill(a, b, c, d);
    create_chains(engine, a, b, c, d);
}

static void solutions_are_batches(void **state)
{
    create_plain(*state);
    db_run(*state, "LET x = SOLVE s");
    db_expect(*state, "SELECT count(*), round(sum(value), 9) FROM x", "20,60.0\n");
    db_expect(*state, "SELECT lane, row, round(value, 9) FROM x WHERE lane = 3",
              "3,0,4.0\n3,1,4.0\n3,2,4.0\n3,3,4.0\n");
    db_expect(*state, "SELECT count(*) FROM s WHERE b = 4", "20\n"); /* the input stays */
    db_run(*state, "LET s = SOLVE s");
    db_expect(*state, "SELECT count(*), round(sum(value), 9) FROM s", "20,60.0\n");
}

static void views_solve_the_lanes_that_are_read(void **state)
{
    double a[PLACES], b[PLACES], c[PLACES], d[PLACES];
    fill(a, b, c, d);
    b[2 * ROWS] = 0; /* would be an error */
    create_chains(*state, a, b, c, d);
    db_run(*state, "CREATE VIEW v AS SOLVE s");
    db_expect(*state, "SELECT lane, row, round(value, 9) FROM v WHERE lane = 1",
              "1,0,2.0\n1,1,2.0\n1,2,2.0\n1,3,2.0\n");
    db_expect(*state, "SELECT lane, round(sum(value), 9) FROM v WHERE lane >= 3 GROUP BY lane", "3,16.0\n4,20.0\n");
    db_expect(*state, "SELECT lane, round(value, 9) FROM v WHERE lane IN (4, 0, 77) AND row = 2", "0,1.0\n4,5.0\n");
    db_expect(*state, "SELECT count(*) FROM v WHERE lane = 9", "0\n");
    db_fails(*state, "SELECT count(*) FROM v", LACIS_RANGE, "lane 2, row 0");
    db_run(*state, "CREATE VIEW w AS SOLVE s STATUS RESIDUAL");
    db_expect(*state, "SELECT lane, row, status FROM w WHERE status <> 0", "2,0,2\n");
    db_expect(*state, "SELECT max(residual) < 1e-14 FROM w WHERE lane <> 2", "1\n");
    db_run(*state, "CREATE VIEW u AS SOLVE s BY v"); /* bound without computing v */
    db_expect(*state, "SELECT count(*) FROM pragma_table_info('u')", "3\n");
}

static void bad_lanes_are_named(void **state)
{
    double a[PLACES], b[PLACES], c[PLACES], d[PLACES];
    const struct bad {
        int field, at;
        double value;
        const char *message, *marks;
    } bad[] = {
        {1, 6, 0.5, "lane 1, row 2 is not diagonally dominant", "1,2,1\n"},
        {1, 0, 0, "lane 0, row 0: the pivot is zero", "0,0,2\n"},
        {3, 19, NAN, "lane 4, row 3 holds NaN or infinity", "4,3,3\n"},
        {0, 9, -INFINITY, "lane 2, row 1 holds NaN or infinity", "2,1,3\n"},
        {1, 13, INFINITY, "lane 3, row 1 holds NaN or infinity", "3,1,3\n"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double *field[] = {a, b, c, d};
        fill(a, b, c, d);
        field[bad[i].field][bad[i].at] = bad[i].value;
        create_chains(*state, a, b, c, d);
        db_fails(*state, "LET x = SOLVE s", LACIS_RANGE, bad[i].message);
        assert_non_null(strstr(lacis_error_hint(*state), "STATUS"));
        db_run(*state, "LET x = SOLVE s STATUS");
        db_expect(*state, "SELECT lane, row, status FROM x WHERE status <> 0", bad[i].marks);
    }
    fill(a, b, c, d);
    a[0] = c[3] = NAN; /* outside of the matrix */
    b[1] = 2;          /* weakly dominant */
    create_chains(*state, a, b, c, d);
    db_run(*state, "LET x = SOLVE s");
    /* 1 1; 1 1: weakly dominant and singular */
    for (int i = 0; i < PLACES; i++) {
        c[i] = i % ROWS == 0 ? 1 : 0;
        a[i] = i % ROWS == 1 ? 1 : 0;
        b[i] = 1;
    }
    create_chains(*state, a, b, c, d);
    db_fails(*state, "LET x = SOLVE s", LACIS_RANGE, "lane 0, row 1: the pivot is zero");
}

static void trees_keep_their_parents(void **state)
{
    static const int32_t parent[ROWS] = {-1, 0, 0, 2};
    static const double off[ROWS] = {NAN, -1, -1, -1}, d[ROWS] = {3, 3, 3, 3};
    double rhs[PLACES];
    /* x = 1: rhs is the sum of each row */
    static const double one[ROWS] = {1, 2, 1, 2};
    for (int i = 0; i < PLACES; i++)
        rhs[i] = one[i % ROWS] * (1 + i / ROWS);
    const lacis_part parts[] = {{"parent", LACIS_I32, ROWS, parent},
                                {"a", LACIS_F64, ROWS, off},
                                {"b", LACIS_F64, ROWS, off},
                                {"d", LACIS_F64, ROWS, d},
                                {"rhs", LACIS_F64, PLACES, rhs}};
    create(*state, "t", parts, 5, LANES);
    db_run(*state, "CREATE VIEW v AS SOLVE t");
    db_expect(*state, "SELECT lane, row, parent, round(value, 9) FROM v WHERE lane = 2",
              "2,0,-1,3.0\n2,1,0,3.0\n2,2,0,3.0\n2,3,2,3.0\n");
    db_expect(*state, "SELECT round(sum(value), 9) FROM v", "60.0\n");
    char *plan = db_rows(*state, "EXPLAIN SOLVE t");
    assert_non_null(strstr(plan, "matrix shared, factored once"));
    assert_non_null(strstr(plan, "trees, 5 lanes"));
    free(plan);
}

static void one_matrix_many_right_sides(void **state)
{
    double a[PLACES], b[PLACES], c[PLACES], d[PLACES];
    fill(a, b, c, d);
    const lacis_part matrix[] = {{"a", LACIS_F64, ROWS, a}, {"b", LACIS_F64, ROWS, b}, {"c", LACIS_F64, ROWS, c}};
    const lacis_part right[] = {{"q", LACIS_F64, PLACES, d}};
    create(*state, "m", matrix, 3, 1);
    create(*state, "r", right, 1, LANES);
    db_run(*state, "LET x = SOLVE m BY r");
    db_expect(*state, "SELECT lane, round(sum(value), 9) FROM x GROUP BY lane",
              "0,4.0\n1,8.0\n2,12.0\n3,16.0\n4,20.0\n");
    db_run(*state, "LET y = SOLVE m BY x"); /* "value" */
    db_fails(*state, "SOLVE m", LACIS_TYPE, "no field \"d\"");
    b[1] = 0.75;
    const lacis_part weak[] = {{"a", LACIS_F64, ROWS, a}, {"b", LACIS_F64, ROWS, b}, {"c", LACIS_F64, ROWS, c}};
    create(*state, "m", weak, 3, 1);
    db_fails(*state, "SOLVE m BY r", LACIS_RANGE, "lane 0, row 1 is not diagonally dominant");
}

static void what_does_not_go_together_is_refused(void **state)
{
    double a[PLACES], b[PLACES], c[PLACES], d[PLACES];
    float f[PLACES] = {0};
    int64_t n[PLACES] = {0};
    fill(a, b, c, d);
    create_plain(*state);
    const lacis_part mixed[] = {{"a", LACIS_F64, PLACES, a},
                                {"b", LACIS_F64, PLACES, b},
                                {"c", LACIS_F64, PLACES, c},
                                {"d", LACIS_F32, PLACES, f}};
    create(*state, "mixed", mixed, 4, LANES);
    db_fails(*state, "SOLVE mixed", LACIS_TYPE, "d is f32 and b is f64");
    const lacis_part whole[] = {{"a", LACIS_I64, PLACES, n},
                                {"b", LACIS_I64, PLACES, n},
                                {"c", LACIS_I64, PLACES, n},
                                {"d", LACIS_I64, PLACES, n}};
    create(*state, "whole", whole, 4, LANES);
    db_fails(*state, "SOLVE whole", LACIS_TYPE, "these fields are i64");
    const lacis_part three[] = {{"d", LACIS_F64, 3 * ROWS, d}},
                     two[] = {{"p", LACIS_F64, PLACES, d}, {"q", LACIS_F64, PLACES, d}};
    create(*state, "three", three, 1, 3);
    create(*state, "two", two, 2, LANES);
    db_fails(*state, "SOLVE s BY three", LACIS_TYPE, "3 lanes of right sides do not go with 5 lanes");
    db_fails(*state, "SOLVE s BY two", LACIS_TYPE, "no field \"value\"");
    db_fails(*state, "SOLVE s PRECISION F32", LACIS_TYPE, "PRECISION F32");
    const lacis_array_spec longer = {
        LACIS_INTERLEAVED, LACIS_F64, {2, 10}, (lacis_part[]){{"d", LACIS_F64, 20, d}}, 1};
    assert_int_equal(lacis_array_create(*state, "longer", &longer), LACIS_OK);
    db_fails(*state, "SOLVE s BY longer", LACIS_TYPE, "rows");
    db_run(*state, "GENERATE g AS path(4)");
    db_fails(*state, "SOLVE g", LACIS_TYPE, "no batch of systems");
}

static void plans_say_what_they_do(void **state)
{
    create_plain(*state);
    char *plan = db_rows(*state, "EXPLAIN ANALYZE SOLVE s STATUS");
    assert_non_null(strstr(plan, "systems: tridiagonal, 5 lanes in 1 shape, 20 elements"));
    assert_non_null(strstr(plan, "layout: matrix flat, right side flat, result flat"));
    assert_non_null(strstr(plan, "conversion by the CPU: flat lanes (one behind the other) are turned side by side in registers"));
    assert_non_null(strstr(plan, "* lanes on CPU"));
    assert_non_null(strstr(plan, "bad lanes 0"));
    assert_non_null(strstr(plan, "entries 20 (20)"));
    free(plan);
    db_run(*state, "LET f = s LAYOUT full");
    plan = db_rows(*state, "EXPLAIN SOLVE f");
    assert_null(strstr(plan, "conversion")); /* there is nothing to convert */
    free(plan);
    db_fails(*state, "SOLVE s ON GPU", LACIS_UNSUPPORTED, "GPU");
}

/* A computed operand's memory becomes the result's, which memory_limit sees; a named one stays as it is. */
static void results_in_place(void **state)
{
    lacis_engine *engine = *state;
    create_plain(engine);
    db_run(engine, "LET x = SOLVE (s LAYOUT full) IN PLACE");
    db_expect(engine, "SELECT count(*), round(sum(value), 9) FROM x", "20,60.0\n");
    db_expect(engine, "SELECT sum(d) FROM s", "150.0\n");
    db_run(engine, "LET y = SOLVE s BY (SOLVE s BY s) IN PLACE");
    db_run(engine, "LET z = SOLVE s BY x LAYOUT block(2)");
    db_expect(engine, "SELECT max(abs(y.value - z.value)) FROM y JOIN z USING (lane, row)", "0.0\n");
    db_fails(engine, "LET x = SOLVE s BY x IN PLACE", LACIS_TYPE, "in the memory of an array with a name");
    db_fails(engine, "LET x = SOLVE (s LAYOUT full) LAYOUT flat IN PLACE", LACIS_TYPE, "has the right sides' layout");
    db_run(engine, "GENERATE t AS tridiagonal(100, 40000)");
    db_run(engine, "SET memory_limit = '275 MB'");
    db_fails(engine, "LET u = SOLVE (t LAYOUT full)", LACIS_LIMIT, "memory_limit");
    db_run(engine, "LET u = SOLVE (t LAYOUT full) IN PLACE");
    db_expect(engine, "SELECT count(*) FROM u", "4000000\n");
}

/* 40,000 lanes of 256 rows are 82 MB: a view streams them within 24 MB. */
static void large_results_are_streamed(void **state)
{
    enum { MANY = 40000, LONG = 256 };
    double row[4][LONG];
    for (int i = 0; i < LONG; i++) {
        row[0][i] = row[2][i] = -1;
        row[1][i] = 4;
        row[3][i] = i == 0 || i == LONG - 1 ? 3 : 2;
    }
    const lacis_part parts[] = {{"a", LACIS_F64, LONG, row[0]},
                                {"b", LACIS_F64, LONG, row[1]},
                                {"c", LACIS_F64, LONG, row[2]},
                                {"d", LACIS_F64, LONG, row[3]}};
    const lacis_array_spec spec = {LACIS_INTERLEAVED, LACIS_F64, {MANY, LONG}, parts, 4};
    assert_int_equal(lacis_array_create(*state, "s", &spec), LACIS_OK);
    db_run(*state, "CREATE VIEW v AS SOLVE s");
    db_run(*state, "SET memory_limit = 24000000");
    db_expect(*state, "SELECT count(*), round(min(value), 9), round(max(value), 9) FROM v", "10240000,1.0,1.0\n");
    db_fails(*state, "LET x = SOLVE s", LACIS_LIMIT, "memory_limit");
    db_run(*state, "SET memory_limit = 1000000000");
}

struct countdown {
    long left;
};

static int refuse(void *arg, size_t bytes)
{
    struct countdown *countdown = arg;
    (void)bytes;
    return countdown->left-- == 0;
}

/* Each allocation of a statement may fail: it says so, and the next attempt works. */
static void any_allocation_may_fail(void **state)
{
    static const char *const text = "LET x = SOLVE s STATUS RESIDUAL";
    long failures = 0;
    create_plain(*state);
    for (bool refused = true; refused; failures++) {
        struct countdown countdown = {failures};
        lacis_set_allocation_guard(refuse, &countdown);
        lacis_status status = lacis_exec(*state, text, NULL, NULL);
        lacis_set_allocation_guard(NULL, NULL);
        refused = countdown.left < 0;
        if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
        db_run(*state, text);
    }
    assert_true(failures > 10);
}

static int interrupt(void *engine, size_t bytes)
{
    (void)bytes;
    lacis_interrupt(engine);
    return 0;
}

static void solving_can_be_stopped(void **state)
{
    create_plain(*state);
    lacis_set_allocation_guard(interrupt, *state);
    lacis_status status = lacis_exec(*state, "LET x = SOLVE s", NULL, NULL);
    lacis_set_allocation_guard(NULL, NULL);
    assert_int_equal(status, LACIS_INTERRUPT);
    db_run(*state, "LET x = SOLVE s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(solutions_are_batches, setup, teardown),
        cmocka_unit_test_setup_teardown(views_solve_the_lanes_that_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_lanes_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(trees_keep_their_parents, setup, teardown),
        cmocka_unit_test_setup_teardown(one_matrix_many_right_sides, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_go_together_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(plans_say_what_they_do, setup, teardown),
        cmocka_unit_test_setup_teardown(large_results_are_streamed, setup, teardown),
        cmocka_unit_test_setup_teardown(results_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(solving_can_be_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(any_allocation_may_fail, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
