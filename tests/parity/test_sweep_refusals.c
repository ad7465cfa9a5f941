/* SPDX-License-Identifier: Apache-2.0
 *
 * What SWEEP must refuse, and how: operands, names and offsets in STEP, edges, clauses; whole numbers that fail at
 * some cell; memory that is not there, a cancelled run; and memory that fails at every single allocation.
 */
#include "parity/refusals.h"
#include "parity/sweeps.h"

typedef struct fixture {
    sweeps g; /* what holds the arrays: g 9 x 7, of one field */
} fixture;

static void begin(fixture *f, parity *p, int dims, int fields)
{
    static const int64_t extent[3] = {9, 7, 6};
    dice d = 5;
    sweeps_new(&f->g, p, &d, dims, extent, fields, false);
    add_coefficients(&f->g, &d, 1);
    enter(&f->g, "src", grid_array(&f->g, dims, extent, fields, fields == 1 ? NULL : field_name, f->g.n.array, 0));
}

static void refuse(fixture *f, const char *text, lacis_status wanted, const char *part)
{
    refuse_call(f->g.p, text, f->g.arrays, wanted, part);
}

static void accept(fixture *f, const char *text)
{
    accept_call(f->g.p, text, f->g.arrays);
}

static void names(void **state)
{
    fixture f;
    begin(&f, *state, 2, 1);
    accept(&f, "SWEEP g STEP u");
    accept(&f, "SWEEP g STEP value = u[1]");
    accept(&f, "SWEEP g STEP U = VALUE[1,0] + X * y - T");
    refuse(&f, "SWEEP g STEP q[1]", LACIS_NAME, "STEP: there is no q");
    refuse(&f, "SWEEP g STEP q = u", LACIS_NAME, "STEP: the grid has no field q");
    refuse(&f, "SWEEP g STEP u = u, value = u", LACIS_SYNTAX, "STEP says twice what value becomes");
    refuse(&f, "SWEEP g STEP u[5]", LACIS_RANGE, "too far off: a step reaches 4 cells");
    refuse(&f, "SWEEP g STEP u[0,-5]", LACIS_RANGE, "too far off");
    refuse(&f, "SWEEP g STEP u[0,0,1]", LACIS_SYNTAX, "u has 3 offsets; the grid has 2 dimensions");
    refuse(&f, "SWEEP g STEP t[1]", LACIS_SYNTAX, "t is the cell's own and has no offsets");
    refuse(&f, "SWEEP g STEP u + z", LACIS_NAME, "there is no z in a grid of 2 dimensions");
    refuse(&f, "SWEEP g STEP k", LACIS_NAME, "there is no k");
    accept(&f, "SWEEP g STEP k COEFF k = k0");
    refuse(&f, "SWEEP g STEP complex(u, 1)", LACIS_TYPE, "STEP gives complex numbers");
    sweeps_free(&f.g);
    begin(&f, *state, 2, 2);
    accept(&f, "SWEEP g STEP v = u, u = v");
    refuse(&f, "SWEEP g STEP u", LACIS_SYNTAX, "the grid has 2 fields: STEP says which");
    refuse(&f, "SWEEP g STEP u = u", LACIS_SYNTAX, "STEP does not say what v becomes");
    refuse(&f, "SWEEP g STEP u = value, v = v", LACIS_NAME, "there is no value");
    sweeps_free(&f.g);
}

static void arrays(void **state)
{
    fixture f;
    const int64_t other[3] = {9, 8, 1};
    dice d = 1;
    begin(&f, *state, 2, 1);
    double *value = values_new(&d, 72), *both[2] = {value, value};
    enter(&f.g, "h", grid_array(&f.g, 2, other, 1, NULL, both, 0));
    enter(&f.g, "two", grid_array(&f.g, 2, f.g.n.extent, 2, field_name, both, 0));
    enter(&f.g, "line", grid_array(&f.g, 1, other, 1, NULL, both, 0));
    graph none = {.rows = 3, .cols = 3, .begin = (int64_t[4]){0}, .dtype = LACIS_F64, .storage = LACIS_F64};
    enter(&f.g, "graph", graph_array(f.g.p, &none));
    refuse(&f, "SWEEP graph STEP u", LACIS_TYPE, "SWEEP takes a grid");
    refuse(&f, "SWEEP g STEP u COEFF k = graph", LACIS_TYPE, "COEFF takes a grid");
    refuse(&f, "SWEEP g STEP u COEFF k = h", LACIS_TYPE, "COEFF: its grid is 9 x 8, the one that is swept 9 x 7");
    refuse(&f, "SWEEP g STEP u COEFF k = line", LACIS_TYPE, "COEFF: its grid is 9, the one that is swept 9 x 7");
    refuse(&f, "SWEEP g STEP u COEFF k = two", LACIS_TYPE, "COEFF takes a grid of one field; this has 2");
    refuse(&f, "SWEEP g STEP u COEFF u = k0", LACIS_NAME, "COEFF u: there is a field of that name already");
    refuse(&f, "SWEEP g STEP u COEFF k = k0 COEFF K = k0", LACIS_NAME, "COEFF K: there is a COEFF of that name");
    refuse(&f, "SWEEP g STEP u SOURCE h", LACIS_TYPE, "SOURCE: its grid is 9 x 8");
    refuse(&f, "SWEEP g STEP u SOURCE two", LACIS_TYPE, "SOURCE has a field for each of the grid's: 1, not 2");
    accept(&f, "SWEEP g STEP u EDGE top fixed line EDGE bottom fixed line");
    refuse(&f, "SWEEP g STEP u EDGE left fixed line", LACIS_TYPE, "EDGE left fixed: a vector or a grid of one field");
    refuse(&f, "SWEEP g STEP u EDGE top fixed g", LACIS_TYPE, "of the face's 9 cells, is needed");
    free(value);
    sweeps_free(&f.g);
}

static void edges(void **state)
{
    fixture f;
    begin(&f, *state, 2, 1);
    accept(&f, "SWEEP g STEP u[4] EDGE x periodic EDGE bottom robin 1 2 3 EDGE OF u top neumann -1");
    refuse(&f, "SWEEP g STEP u EDGE left periodic", LACIS_SYNTAX,
           "EDGE periodic holds for both faces, left and right");
    refuse(&f, "SWEEP g STEP u EDGE periodic EDGE top clamp", LACIS_SYNTAX, "both faces, bottom and top");
    accept(&f, "SWEEP g STEP u EDGE left periodic EDGE right periodic");
    refuse(&f, "SWEEP g STEP u EDGE front clamp", LACIS_NAME, "EDGE front: the grid has 2 dimensions");
    refuse(&f, "SWEEP g STEP u EDGE z clamp", LACIS_NAME, "EDGE z: the grid has 2 dimensions");
    refuse(&f, "SWEEP g STEP u EDGE OF w clamp", LACIS_NAME, "EDGE OF: the grid has no field w");
    refuse(&f, "SWEEP g STEP u EDGE lft clamp", LACIS_SYNTAX, "found \"lft\"");
    refuse(&f, "SWEEP g STEP u[1] EDGE right robin 2 -1 0", LACIS_RANGE, "a / 2 + b / 1 is 0");
    accept(&f, "SWEEP g STEP u[1] EDGE right robin 2 -3 0");
    refuse(&f, "SWEEP g STEP u[2] EDGE right robin 2 -3 0", LACIS_RANGE, "a / 2 + b / 3 is 0");
    refuse(&f, "SWEEP g STEP u[1] EDGE right robin 1 1e999 1", LACIS_RANGE, "more than f");
    refuse(&f, "SWEEP g STEP u[1] EDGE right robin 1.7e308 1.7e308 1", LACIS_RANGE, "1 cell beyond the face is more");
    refuse(&f, "SWEEP g STEP u[1] EDGE right robin 1 1 1e39 TYPE f32", LACIS_RANGE, "more than f32 can hold");
    accept(&f, "SWEEP g STEP u[1] EDGE right robin 1 1 1e39 TYPE f64");
    sweeps_free(&f.g);
    begin(&f, *state, 1, 1);
    refuse(&f, "SWEEP g STEP u EDGE left fixed src", LACIS_TYPE, "a face of a grid of one dimension is one cell");
    sweeps_free(&f.g);
}

static void small_grids(void **state)
{
    static const int64_t extent[3] = {3, 40, 1};
    fixture f;
    dice d = 2;
    begin(&f, *state, 2, 1);
    sweeps_free(&f.g);
    sweeps_new(&f.g, *state, &d, 2, extent, 1, true);
    accept(&f, "SWEEP g STEP u[4] + u[-4] STEPS 3 EDGE clamp");
    refuse(&f, "SWEEP g STEP u[4] EDGE x periodic", LACIS_RANGE, "3 cells");
    refuse(&f, "SWEEP g STEP u[3] EDGE mirror", LACIS_RANGE, "3 cells");
    accept(&f, "SWEEP g STEP u[2] EDGE mirror");
    sweeps_free(&f.g);
}

static void clauses(void **state)
{
    fixture f;
    begin(&f, *state, 2, 1);
    accept(&f, "SWEEP g STEP u STEPS 0");
    accept(&f, "SWEEP g STEP u STEPS 0 CHANGE EVERY 2");
    accept(&f, "SWEEP g STEP u[1] STEPS 9 UNTIL l2 < 1e-3 EVERY 4 CHANGE EVERY 3 LEVELS 64");
    refuse(&f, "SWEEP g STEPS 3", LACIS_SYNTAX, "SWEEP needs STEP");
    refuse(&f, "SWEEP g STEP u STEPS -1", LACIS_RANGE, "STEPS must be 0 or more");
    refuse(&f, "SWEEP g STEP u UNTIL max < 1", LACIS_SYNTAX, "UNTIL needs STEPS, the most that may be done");
    refuse(&f, "SWEEP g STEP u STEPS 9 UNTIL max < 0", LACIS_RANGE, "UNTIL's bound must be above 0");
    refuse(&f, "SWEEP g STEP u STEPS 9 UNTIL max < 1 EVERY 0", LACIS_RANGE, "EVERY must be 1 or more");
    refuse(&f, "SWEEP g STEP u CHANGE EVERY 0", LACIS_RANGE, "EVERY must be 1 or more");
    refuse(&f, "SWEEP g STEP u KEEP EVERY 0", LACIS_RANGE, "EVERY must be 1 or more");
    refuse(&f, "SWEEP g STEP u KEEP EVERY 1 TO 'x.npy'", LACIS_SYNTAX, "TO needs one *");
    refuse(&f, "SWEEP g STEP u KEEP EVERY 1 TO '*_*.npy'", LACIS_SYNTAX, "TO needs one *");
    refuse(&f, "SWEEP g STEP u LEVELS 0", LACIS_RANGE, "LEVELS must be 1 or more");
    refuse(&f, "SWEEP g STEP u LEVELS 65", LACIS_RANGE, "LEVELS must be 64 or less");
    refuse(&f, "SWEEP g STEP u PARTS 0", LACIS_RANGE, "PARTS must be 1 or more");
    refuse(&f, "SWEEP g STEP u EXCHANGE EVERY 0", LACIS_RANGE, "EVERY must be 1 or more");
    refuse(&f, "SWEEP g STEP u EXCHANGE sync EVERY 65", LACIS_RANGE, "EVERY must be 64 or less");
    refuse(&f, "SWEEP g STEP u EXCHANGE TO ''", LACIS_RANGE, "TO names no file");
    enter(&f.g, "last", grid_array(&f.g, 2, f.g.n.extent, 1, NULL, f.g.n.array, INT64_MAX));
    accept(&f, "SWEEP last STEP u STEPS 0");
    refuse(&f, "SWEEP last STEP u", LACIS_RANGE, "so many steps cannot be counted");
    refuse(&f, "SWEEP last STEP u STEPS 1", LACIS_RANGE, "so many steps cannot be counted");
    sweeps_free(&f.g);
}

/* Whole numbers that fail at a cell; NaN where UNTIL has to go by it. */
static void failing_steps(void **state)
{
    fixture f;
    begin(&f, *state, 2, 1);
    refuse(&f, "SWEEP g STEP u + 5 / CAST(x AS int) EDGE clamp", LACIS_RANGE, "STEP: whole numbers in it overflow");
    refuse(&f, "SWEEP g STEP CASE WHEN x > 7 THEN 1 / 0 ELSE 2 END + u EDGE clamp", LACIS_RANGE, "divided by 0");
    accept(&f, "SWEEP g STEP u / 0 STEPS 3 EDGE clamp CHANGE EVERY 1");
    refuse(&f, "SWEEP g STEP 0 * (u / 0) STEPS 3 EDGE clamp UNTIL max < 1", LACIS_RANGE,
           "the fields left the numbers");
    sweeps_free(&f.g);
}

static void limits(void **state)
{
    static const int64_t extent[3] = {400, 300, 1};
    parity *p = *state;
    fixture f;
    dice d = 2;
    sweeps_new(&f.g, p, &d, 2, extent, 1, false);
    const char *text = "SWEEP g STEP u[1] STEPS 10 TYPE f32";
    lacis_memory_set_limit(p->host.memory, lacis_memory_used(p->host.memory) + 300000);
    refuse(&f, text, LACIS_LIMIT, "memory");
    refuse(&f, "SWEEP g STEP u[1] * u TYPE f64", LACIS_LIMIT, "memory");
    lacis_memory_set_limit(p->host.memory, (uint64_t)1 << 40);
    atomic_store(&p->host.cancel, 1);
    assert_int_equal(attempt_call(p, text, f.g.arrays), LACIS_INTERRUPT);
    lacis_run_clear(&p->run);
    atomic_store(&p->host.cancel, 0);
    accept(&f, text);
    sweeps_free(&f.g);
}

static void allocations(void **state)
{
    fixture f;
    begin(&f, *state, 3, 2);
    fail_each_allocation(f.g.p,
                         "SWEEP g STEP u = u[1] + v[-1,0,1], v = u STEPS 3 CHANGE EVERY 1 EDGE x periodic TYPE f32",
                         f.g.arrays);
    fail_each_allocation(f.g.p, "SWEEP g STEP u = u * k + t, v = v STEPS 2 COEFF k = k0 SOURCE src", f.g.arrays);
    sweeps_free(&f.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(arrays, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(edges, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(small_grids, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(clauses, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(failing_steps, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(limits, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(allocations, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
