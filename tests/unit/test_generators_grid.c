/* SPDX-License-Identifier: Apache-2.0
 *
 * Generators of grids: the values that they say, fields that are filled and the others, the same bits for any number
 * of threads and for ever, options that are refused.
 */
#include "core/grid.h"
#include "support/load.h"

#include <math.h>

static load_bench bench;

static int setup(void **state)
{
    (void)state;
    load_open(&bench, 2);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    load_close(&bench);
    return 0;
}

static lacis_status generate(load_bench *b, const char *name, const char *options, lacis_array **out)
{
    const lacis_generator *const *g = lacis_builtin_generators;
    while (*g != NULL && strcmp((*g)->name, name) != 0)
        g++;
    if (*g == NULL) fail_msg("no generator %s", name);
    *out = NULL;
    return (*g)->make(&b->run, load_options(b, (*g)->options, (*g)->option_count, options), out);
}

static lacis_array *make(const char *name, const char *options, lacis_grid *grid)
{
    lacis_array *array;
    if (generate(&bench, name, options, &array) != LACIS_OK)
        fail_msg("%s(%s): %s", name, options, bench.host.error.message);
    assert_int_equal(lacis_grid_view(&bench.run, array, grid), LACIS_OK);
    return array;
}

static double at(const lacis_grid *g, int field, int64_t x, int64_t y, int64_t z)
{
    return lacis_value_double(g->field[field], g->dtype, (z * g->extent[1] + y) * g->extent[0] + x);
}

static void shapes(void **state)
{
    (void)state;
    lacis_grid g;
    lacis_array *a = make("constant", "nx=7;value=2.5", &g);
    assert_int_equal(g.dims, 1);
    assert_int_equal(g.cells, 7);
    assert_int_equal(g.dtype, LACIS_F64);
    assert_string_equal(g.name[0], "value");
    lacis_array_release(a);
    a = make("constant", "nx=7;ny=1;value=2.5;type=f32", &g);
    assert_int_equal(g.dims, 2);
    assert_int_equal(g.dtype, LACIS_F32);
    lacis_array_release(a);
    a = make("constant", "nx=700;ny=30;nz=20;value=0.1;type=f32", &g);
    assert_int_equal(g.dims, 3);
    for (int64_t i = 0; i < g.cells; i++)
        assert_true(((const float *)g.field[0])[i] == 0.1F);
    lacis_array_release(a);
}

/* As reaction and diffusion, or a wave with its step before, begin. */
static void fields(void **state)
{
    (void)state;
    lacis_grid g;
    lacis_array *a = make("checker", "nx=10;ny=6;size=3;fields=u, v,w;fill=v;rest=1", &g);
    assert_int_equal(g.fields, 3);
    for (int64_t y = 0; y < 6; y++)
        for (int64_t x = 0; x < 10; x++) {
            assert_true(at(&g, 0, x, y, 0) == 1 && at(&g, 2, x, y, 0) == 1);
            assert_true(at(&g, 1, x, y, 0) == (double)((x / 3 + y / 3) % 2));
        }
    lacis_array_release(a);
    a = make("gaussian", "nx=9;ny=9;fields=u,before;fill=before u", &g);
    assert_memory_equal(g.field[0], g.field[1], 81 * sizeof(double));
    assert_true(at(&g, 0, 4, 4, 0) == 1);
    lacis_array_release(a);
    a = make("noise", "nx=1000;fields=u,v;fill=u,v", &g);
    assert_memory_not_equal(g.field[0], g.field[1], 1000 * sizeof(double));
    lacis_array_release(a);
}

static void bumps(void **state)
{
    (void)state;
    lacis_grid g;
    lacis_array *a = make("gaussian", "nx=65;ny=40;nz=9;width=5;height=-3;base=2;x=10;z=0", &g);
    for (int64_t z = 0; z < 9; z++)
        for (int64_t y = 0; y < 40; y++)
            for (int64_t x = 0; x < 65; x++) {
                double dx = (double)x - 10, dy = (double)y - 19.5, dz = (double)z;
                double expected = 2 - 3 * exp(-(dx * dx + dy * dy + dz * dz) / 50);
                assert_true(fabs(at(&g, 0, x, y, z) - expected) < 1e-13);
            }
    lacis_array_release(a);
    a = make("gaussian", "nx=100000;width=1e-3", &g); /* far away nothing is left, and nothing is denormal */
    assert_true(at(&g, 0, 0, 0, 0) == 0 && at(&g, 0, 99999, 0, 0) == 0);
    lacis_array_release(a);
}

static void noises(void **state)
{
    (void)state;
    lacis_grid g, other;
    double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
    lacis_array *a = make("noise", "nx=400;ny=250;low=-2;high=4;seed=3", &g);
    for (int64_t i = 0; i < g.cells; i++) {
        double value = at(&g, 0, i, 0, 0);
        sum += value;
        squares += (value - 1) * (value - 1);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    assert_true(low >= -2 && low < -1.99 && high <= 4 && high > 3.99);
    assert_true(fabs(sum / 1e5 - 1) < 0.03 && fabs(squares / 1e5 - 3) < 0.03);
    /* the cell alone counts, whatever the grid's shape */
    lacis_array *b = make("noise", "nx=100000;low=-2;high=4;seed=3", &other);
    assert_memory_equal(g.field[0], other.field[0], 100000 * sizeof(double));
    lacis_array_release(b);
    b = make("noise", "nx=100000;low=-2;high=4;seed=4", &other);
    assert_memory_not_equal(g.field[0], other.field[0], 100000 * sizeof(double));
    lacis_array_release(b);
    lacis_array_release(a);
}

/* FNV-1a of all bytes. */
static uint64_t digest(const lacis_grid *g)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (int f = 0; f < g->fields; f++)
        for (int64_t i = 0; i < g->cells * (int64_t)lacis_dtype_size(g->dtype); i++)
            sum = (sum ^ ((const unsigned char *)g->field[f])[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static void same_bits(void **state)
{
    static const struct {
        const char *name, *options;
        uint64_t digest;
    } cases[] = {
        {"noise", "nx=301;ny=203;fields=u,v;fill=u,v;type=f32", UINT64_C(0x2c457f87ad41eeaa)},
        {"noise", "nx=31;ny=20;nz=17;low=-1e3;seed=77", UINT64_C(0x30f91ba8cc7bdf57)},
        {"gaussian", "nx=301;ny=203;height=100", UINT64_C(0xdc79fb583ed42dc)},
        {"gaussian", "nx=31;ny=20;nz=17;type=f32;x=0.3;width=2.5", UINT64_C(0x5b126375ef128bcd)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int threads = 1; threads < 5; threads++) {
            lacis_grid g;
            bench.host.threads = threads;
            lacis_array *a = make(cases[i].name, cases[i].options, &g);
            if (digest(&g) != cases[i].digest)
                fail_msg("%s(%s): %llx", cases[i].name, cases[i].options, (unsigned long long)digest(&g));
            lacis_array_release(a);
        }
    bench.host.threads = 2;
}

static void refused(void **state)
{
    static const struct {
        const char *name, *options;
        lacis_status status;
        const char *message;
    } wrong[] = {
        {"constant", "nx=0", LACIS_RANGE, "nx = 0 is not between 1"},
        {"constant", "nx=5;ny=-1", LACIS_RANGE, "ny = -1"},
        {"constant", "nx=5;nz=5", LACIS_RANGE, "ny is not"},
        {"constant", "nx=5;value=inf", LACIS_RANGE, "value must be a finite number"},
        {"constant", "nx=5;rest=nan", LACIS_RANGE, "rest must be a finite number"},
        {"constant", "nx=5;fields=u,u", LACIS_RANGE, "there twice"},
        {"constant", "nx=5;fields=x", LACIS_RANGE, "means something else"},
        {"constant", "nx=5;fields=a-b", LACIS_RANGE, "is not a plain name"},
        {"constant", "nx=5;fields=u,v;fill=w", LACIS_NAME, "no field 'w' among 'u,v'"},
        {"constant", "nx=5;fields=u,v;fill=, ", LACIS_RANGE, "no field is named"},
        {"constant", "nx=5000000000;ny=5000000000", LACIS_RANGE, "more cells than can be counted"},
        {"gaussian", "nx=5;width=0", LACIS_RANGE, "width = 0"},
        {"gaussian", "nx=5;width=nan", LACIS_RANGE, "width must be"},
        {"gaussian", "nx=5;y=2", LACIS_RANGE, "the grid has 1 dimensions"},
        {"noise", "nx=5;low=2", LACIS_RANGE, "low = 2 is above high = 1"},
        {"checker", "nx=5;size=0", LACIS_RANGE, "size = 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        lacis_array *array;
        lacis_status status = generate(&bench, wrong[i].name, wrong[i].options, &array);
        if (status != wrong[i].status || strstr(bench.host.error.message, wrong[i].message) == NULL)
            fail_msg("%s(%s): %d, %s", wrong[i].name, wrong[i].options, (int)status,
                     status == LACIS_OK ? "taken" : bench.host.error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(fields, setup, teardown),
        cmocka_unit_test_setup_teardown(bumps, setup, teardown),
        cmocka_unit_test_setup_teardown(noises, setup, teardown),
        cmocka_unit_test_setup_teardown(same_bits, setup, teardown),
        cmocka_unit_test_setup_teardown(refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
