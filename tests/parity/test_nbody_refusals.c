/* SPDX-License-Identifier: Apache-2.0
 *
 * What NBODY and ACCELERATE must refuse, and how: operands, figures that are none, clauses that do not go together,
 * memory that is not there, a cancelled run; and memory that fails at every single allocation.
 */
#include "parity/bodies.h"
#include "parity/refusals.h"

static void refuse(parity *p, const char *text, lacis_array *g, lacis_status wanted, const char *part)
{
    const named arrays[] = {{"g", g}, {NULL, NULL}};
    refuse_call(p, text, arrays, wanted, part);
}

static void accept(parity *p, const char *text, lacis_array *g)
{
    const named arrays[] = {{"g", g}, {NULL, NULL}};
    accept_call(p, text, arrays);
}

static lacis_array *made(parity *p, int64_t n, lacis_dtype dtype)
{
    stars s = stars_new(PLUMMER, n, 1);
    lacis_array *array = stars_array(p, &s, dtype);
    stars_free(&s);
    return array;
}

static void clauses(void **state)
{
    parity *p = *state;
    lacis_array *g = made(p, 10, LACIS_F64);
    accept(p, "NBODY g", g);
    accept(p, "NBODY g DT 0.1", g);
    accept(p, "NBODY g STEPS 0 EVERY 5", g);
    accept(p, "NBODY g STEPS 2 DT -0.1 G 0", g);
    refuse(p, "NBODY g STEPS 2", g, LACIS_SYNTAX, "STEPS needs DT");
    refuse(p, "NBODY g STEPS -1 DT 1", g, LACIS_RANGE, "STEPS must be 0 or more");
    refuse(p, "NBODY g STEPS 1 DT 0", g, LACIS_RANGE, "DT must not be 0");
    refuse(p, "NBODY g STEPS 1 DT 1 EVERY 0", g, LACIS_RANGE, "EVERY must be 1 or more");
    refuse(p, "NBODY g STEPS 1 DT 1 TO 'x_*.npy'", g, LACIS_SYNTAX, "TO names the files of EVERY");
    refuse(p, "NBODY g STEPS 1 DT 1 EVERY 1 TO 'x.npy'", g, LACIS_SYNTAX, "TO needs one *");
    refuse(p, "NBODY g STEPS 1 DT 1 EVERY 1 TO '*_*.npy'", g, LACIS_SYNTAX, "TO needs one *");
    refuse(p, "NBODY g THETA -0.5", g, LACIS_RANGE, "THETA must be at least 0, not -0.5");
    refuse(p, "NBODY g ALPHA 0", g, LACIS_RANGE, "ALPHA must be above 0, not 0");
    refuse(p, "NBODY g OPENING geometric ALPHA 0.1", g, LACIS_SYNTAX, "ALPHA belongs to OPENING relative");
    refuse(p, "NBODY g SOFTEN -1", g, LACIS_RANGE, "SOFTEN must be at least 0, not -1");
    refuse(p, "NBODY g ERROR 1e-3 THETA 0.5", g, LACIS_SYNTAX, "ERROR finds THETA");
    refuse(p, "NBODY g ERROR 1e-3 ALPHA 0.5", g, LACIS_SYNTAX, "ERROR finds ALPHA");
    refuse(p, "NBODY g ERROR 0", g, LACIS_RANGE, "ERROR must be above 0");
    refuse(p, "NBODY g ERROR 1e-9 TYPE f32", g, LACIS_RANGE, "below what sums in TYPE f32 reach");
    refuse(p, "NBODY g ERROR 1e-9 TYPE mixed", g, LACIS_RANGE, "below what sums in TYPE mixed reach");
    refuse(p, "NBODY g CERTIFY 0", g, LACIS_RANGE, "CERTIFY must be 1 or more");
    refuse(p, "ACCELERATE g THETA -1", g, LACIS_RANGE, "THETA must be at least 0");
    lacis_array_release(g);
}

static lacis_array *a_table(parity *p, const char *const *name, int columns, double value)
{
    lacis_array *array = NULL;
    const double values[] = {1, value, 3};
    parity_ok(p, lacis_array_new(&p->run, LACIS_TABLE, LACIS_F64, 3, 0, &array), "a table");
    for (int i = 0; i < columns; i++) {
        lacis_buffer *buffer = buffer_of(p, values, sizeof values);
        parity_ok(p, lacis_array_add(&p->run, array, name[i], LACIS_F64, 3, buffer, 0), "a column");
        lacis_buffer_release(buffer);
    }
    return array;
}

static void operands(void **state)
{
    static const char *const xyz[] = {"x", "y", "z"}, *const xyw[] = {"x", "y", "w"};
    parity *p = *state;
    lacis_array *g = made(p, 10, LACIS_F64), *t = a_table(p, xyz, 3, 2), *w = a_table(p, xyw, 3, 2);
    lacis_array *nan = a_table(p, xyz, 3, NAN), *huge = a_table(p, xyz, 3, 1e300);
    const named arrays[] = {{"g", g}, {"t", t}, {"w", w}, {"nan", nan}, {"huge", huge}, {NULL, NULL}};
    refuse_call(p, "NBODY t", arrays, LACIS_TYPE, "NBODY takes bodies");
    refuse_call(p, "ACCELERATE t", arrays, LACIS_TYPE, "ACCELERATE takes bodies");
    accept_call(p, "ACCELERATE g AT t CERTIFY 9", arrays);
    accept_call(p, "ACCELERATE g AT huge", arrays);
    refuse_call(p, "ACCELERATE g AT w", arrays, LACIS_TYPE, "this table has no z of numbers");
    refuse_call(p, "ACCELERATE g AT nan", arrays, LACIS_RANGE, "AT, point 1: its x is not a finite number");
    refuse_call(p, "ACCELERATE g AT huge TYPE f32", arrays, LACIS_RANGE, "not a finite number in TYPE f32");
    for (const named *a = arrays; a->name != NULL; a++)
        lacis_array_release(a->array);
}

/* Rows that are no bodies, by their ids. */
static void figures(void **state)
{
    static const struct {
        int column;
        double value;
        const char *message;
    } cases[] = {{M, NAN, "m"},   {M, -1, "m"},    {X, INFINITY, "x"}, {Y, -INFINITY, "y"},   {Z, NAN, "z"},
                 {VX, NAN, "vx"}, {VZ, NAN, "vz"}, {EPS, -0.5, "eps"}, {EPS, INFINITY, "eps"}};
    parity *p = *state;
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        stars s = stars_new(PLUMMER, 10, 1), shuffled = stars_shuffled(&s, 3);
        char id[32];
        shuffled.own_eps = true;
        shuffled.at[cases[i].column][6] = cases[i].value;
        lacis_array *g = stars_array(p, &shuffled, i % 2 == 0 ? LACIS_F64 : LACIS_F32);
        snprintf(id, sizeof id, "%lld", (long long)shuffled.id[6]);
        refuse(p, "NBODY g STEPS 1 DT 1", g, LACIS_RANGE, id);
        refuse(p, "NBODY g STEPS 1 DT 1", g, LACIS_RANGE, cases[i].message);
        lacis_array_release(g);
        stars_free(&s);
        stars_free(&shuffled);
    }
}

static void numbers(void **state)
{
    parity *p = *state;
    stars s = stars_new(PLUMMER, 10, 1);
    s.at[X][3] = 1e39;
    lacis_array *g = stars_array(p, &s, LACIS_F64);
    refuse(p, "NBODY g TYPE f32", g, LACIS_RANGE, "body 3: its x is more than TYPE f32 holds");
    lacis_array_release(g);
    s.at[X][3] = 1;
    s.at[VY][4] = 1e300;
    g = stars_array(p, &s, LACIS_F64);
    refuse(p, "NBODY g STEPS 3 DT 1e200", g, LACIS_RANGE, "left the numbers");
    lacis_array_release(g);
    stars_free(&s);
}

static void limits(void **state)
{
    parity *p = *state;
    lacis_array *g = made(p, 20000, LACIS_F32);
    lacis_memory_set_limit(p->host.memory, lacis_memory_used(p->host.memory) + 1000000);
    refuse(p, "NBODY g", g, LACIS_LIMIT, "memory");
    refuse(p, "ACCELERATE g TYPE f64", g, LACIS_LIMIT, "memory");
    lacis_memory_set_limit(p->host.memory, (uint64_t)1 << 40);
    atomic_store(&p->host.cancel, 1);
    const named arrays[] = {{"g", g}, {NULL, NULL}};
    assert_int_equal(attempt_call(p, "NBODY g STEPS 3 DT 1", arrays), LACIS_INTERRUPT);
    lacis_run_clear(&p->run);
    assert_int_equal(attempt_call(p, "ACCELERATE g", arrays), LACIS_INTERRUPT);
    lacis_run_clear(&p->run);
    atomic_store(&p->host.cancel, 0);
    lacis_array_release(g);
}

/* Errors that are reached, and one that is not: floats cannot. */
static void errors_sought(void **state)
{
    parity *p = *state;
    lacis_array *g = made(p, 3000, LACIS_F32);
    accept(p, "NBODY g STEPS 1 DT 0.01 ERROR 1e-3 SOFTEN 0.1", g);
    accept(p, "ACCELERATE g ERROR 1e-2 ORDER monopole SOFTEN 0.1", g);
    accept(p, "ACCELERATE g ERROR 1e-9 TYPE f64", g);
    lacis_array_release(g);
}

static void allocations(void **state)
{
    parity *p = *state;
    lacis_array *g = made(p, 100, LACIS_F64), *f = made(p, 70, LACIS_F32);
    const named arrays[] = {{"g", g}, {"f", f}, {NULL, NULL}};
    fail_each_allocation(p, "NBODY g STEPS 2 DT 0.01 EVERY 1 CERTIFY 10 POTENTIAL", arrays);
    fail_each_allocation(p, "NBODY f STEPS 1 DT 0.01 TYPE mixed", arrays);
    fail_each_allocation(p, "ACCELERATE g AT f CERTIFY 5 POTENTIAL", arrays);
    lacis_array_release(g);
    lacis_array_release(f);
}

int main(void)
{
    unsetenv("LACIS_NBODY_WAY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(clauses, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(operands, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(figures, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(numbers, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(limits, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(errors_sought, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(allocations, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
