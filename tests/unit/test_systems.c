/* SPDX-License-Identifier: Apache-2.0
 *
 * The generators of batches: sizes, trees of the numbers that were asked for, dominance, and the same systems for any
 * number of threads, layout and way of storing. Also shared values whatever the layout.
 */
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

static lacis_status generate(const char *name, const char *options, lacis_array **out)
{
    *out = NULL;
    for (int i = 0; lacis_builtin_generators[i] != NULL; i++) {
        const lacis_generator *g = lacis_builtin_generators[i];
        if (strcmp(g->name, name) == 0)
            return g->make(&bench.run, load_options(&bench, g->options, g->option_count, options), out);
    }
    fail_msg("no generator %s", name);
    return LACIS_NAME;
}

static lacis_array *made(const char *name, const char *options, lacis_batch *batch)
{
    lacis_array *array;
    if (generate(name, options, &array) != LACIS_OK) fail_msg("%s(%s): %s", name, options, bench.host.error.message);
    if (lacis_batch_view(&bench.run, array, batch) != LACIS_OK) fail_msg("%s", bench.host.error.message);
    return array;
}

static void fails(const char *name, const char *options, lacis_status status, const char *message)
{
    lacis_array *array;
    lacis_status got = generate(name, options, &array);
    lacis_array_release(array);
    assert_int_equal(got, status);
    if (strstr(bench.host.error.message, message) == NULL)
        fail_msg("'%s' lacks '%s'", bench.host.error.message, message);
}

static double magnitude(const lacis_batch_part *field, int64_t place)
{
    if (field->dtype == LACIS_C64)
        return hypot(((const float *)field->data)[2 * place], ((const float *)field->data)[2 * place + 1]);
    if (field->dtype == LACIS_C128)
        return hypot(((const double *)field->data)[2 * place], ((const double *)field->data)[2 * place + 1]);
    return fabs(lacis_value_double(field->data, field->dtype, place));
}

static double at(const lacis_batch *b, const lacis_batch_group *g, const char *name, int64_t lane, int64_t row)
{
    const lacis_batch_part *field = lacis_batch_field(b, name);
    assert_non_null(field);
    return magnitude(field, field->shared ? g->row + row : lacis_batch_place(g, lane, row));
}

/* --- trees ----------------------------------------------------------------------------------------- */

static int64_t count_branches(const int32_t *parent, int64_t rows)
{
    int64_t branches = rows > 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t children = 0;
        for (int64_t c = r + 1; c < rows; c++)
            children += parent[c] == r;
        branches += children > 1 ? children : 0;
        assert_true(r == 0 ? parent[0] == -1 : parent[r] >= 0 && parent[r] < r);
    }
    return branches;
}

static void trees_have_what_was_asked_for(void **state)
{
    (void)state;
    static const int sizes[][2] = {{76, 7}, {76, 29}, {305, 30}, {319, 157}, {695, 66}, {691, 341},
                                   {1, 1},  {3, 3},   {9, 9},    {4, 4},     {1000, 1}};
    static const char *const kinds[] = {"random", "bifurcating"};
    char options[120];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int k = 0; k < 2; k++)
            for (int seed = 1; seed < 4; seed++) {
                lacis_batch b;
                snprintf(options, sizeof options, "rows=%d;branches=%d;lanes=3;kind=%s;seed=%d", sizes[i][0],
                         sizes[i][1], kinds[k], seed);
                lacis_array *array = made("tree", options, &b);
                assert_int_equal(b.groups, 1);
                assert_int_equal(b.group[0].rows, sizes[i][0]);
                assert_int_equal(count_branches(b.parent, sizes[i][0]), sizes[i][1]);
                lacis_array_release(array);
            }
}

static void chains_and_mixtures(void **state)
{
    (void)state;
    lacis_batch b;
    lacis_array *array = made("tree", "rows=50;branches=1;lanes=2;kind=chain", &b);
    for (int32_t r = 0; r < 50; r++)
        assert_int_equal(b.parent[r], r - 1);
    lacis_array_release(array);
    array = made("trees", "shapes=12;rows=200;branches=41;lanes=125", &b);
    assert_int_equal(b.groups, 12);
    assert_int_equal(b.lanes, 125);
    int64_t different = 0;
    for (int g = 0; g < 12; g++) {
        assert_int_equal(b.group[g].lanes, g < 5 ? 11 : 10);
        assert_true(b.group[g].rows >= 100 && b.group[g].rows <= 300);
        int64_t wanted = (int64_t)(41.0 * (double)b.group[g].rows / 200 + 0.5);
        assert_int_equal(count_branches(b.parent + b.group[g].row, b.group[g].rows), wanted);
        different += g > 0 && b.group[g].rows != b.group[0].rows;
    }
    assert_true(different > 6);
    lacis_array_release(array);
    array = made("trees", "shapes=12;rows=20;branches=4;lanes=3", &b);
    assert_int_equal(b.groups, 3);
    lacis_array_release(array);
}

/* --- numbers --------------------------------------------------------------------------------------- */

static void dominant(const char *name, const char *options)
{
    lacis_batch b;
    lacis_array *array = made(name, options, &b);
    bool tree = b.parent != NULL;
    for (int64_t g = 0; g < b.groups; g++)
        for (int64_t lane = 0; lane < b.group[g].lanes; lane++) {
            const lacis_batch_group *group = &b.group[g];
            double *sum = calloc((size_t)group->rows, sizeof *sum);
            for (int64_t r = 0; r < group->rows; r++) {
                sum[r] += at(&b, group, tree ? "b" : "c", lane, r);
                int64_t parent = tree ? b.parent[group->row + r] : r;
                if (parent >= 0) sum[parent] += at(&b, group, "a", lane, r);
            }
            for (int64_t r = 0; r < group->rows; r++)
                if (at(&b, group, tree ? "d" : "b", lane, r) < sum[r] + 0.499)
                    fail_msg("%s(%s): lane %ld row %ld is not dominant", name, options, (long)lane, (long)r);
            assert_true(at(&b, group, "a", lane, 0) == 0);
            free(sum);
        }
    lacis_array_release(array);
}

static void rows_are_dominant(void **state)
{
    (void)state;
    dominant("tridiagonal", "rows=64;lanes=9");
    dominant("tridiagonal", "rows=17;lanes=70;type=f32;layout=block(8);shared=offdiagonals");
    dominant("tridiagonal", "rows=17;lanes=5;type=c128;shared=matrix;layout=full");
    dominant("tridiagonal", "rows=17;lanes=50;type=c64;shapes=4");
    dominant("tridiagonal", "rows=1;lanes=2");
    dominant("tree", "rows=76;branches=29;lanes=11;layout=block(4)");
    dominant("tree", "rows=76;branches=29;lanes=11;shared=offdiagonals;type=f32");
    dominant("trees", "shapes=5;rows=76;branches=29;lanes=11;shared=matrix;layout=full");
}

/* All elements of both, by lane and row, bit for bit. */
static void same_systems(const char *name, const char *one, const char *other)
{
    lacis_batch a, b;
    bench.host.threads = 1;
    lacis_array *first = made(name, one, &a);
    bench.host.threads = 7;
    lacis_array *second = made(name, other, &b);
    assert_int_equal(a.groups, b.groups);
    assert_int_equal(a.fields, b.fields);
    for (int f = 0; f < a.fields; f++) {
        size_t size = lacis_dtype_size(a.field[f].dtype);
        for (int64_t g = 0; g < a.groups; g++)
            for (int64_t lane = 0; lane < a.group[g].lanes; lane++)
                for (int64_t r = 0; r < a.group[g].rows; r++) {
                    int64_t p = a.field[f].shared ? a.group[g].row + r : lacis_batch_place(&a.group[g], lane, r);
                    int64_t q = b.field[f].shared ? b.group[g].row + r : lacis_batch_place(&b.group[g], lane, r);
                    assert_memory_equal((const char *)a.field[f].data + (size_t)p * size,
                                        (const char *)b.field[f].data + (size_t)q * size, size);
                }
    }
    lacis_array_release(first);
    lacis_array_release(second);
}

static void threads_and_layouts_do_not_matter(void **state)
{
    (void)state;
    same_systems("tridiagonal", "rows=100;lanes=3000", "rows=100;lanes=3000;layout=full");
    same_systems("tridiagonal", "rows=31;lanes=300;shapes=7;type=c64",
                 "rows=31;lanes=300;shapes=7;type=c64;layout=block(32)");
    same_systems("tree", "rows=319;branches=157;lanes=500;shared=offdiagonals",
                 "rows=319;branches=157;lanes=500;shared=offdiagonals;layout=block(64)");
    same_systems("trees", "shapes=40;rows=50;branches=9;lanes=500",
                 "shapes=40;rows=50;branches=9;lanes=500;layout=full");
}

/* Ours for ever: what is written down in one place must not change in another. */
static void known_values(void **state)
{
    (void)state;
    lacis_batch b;
    lacis_array *array = made("tridiagonal", "rows=3;lanes=2", &b);
    const double *a = lacis_batch_field(&b, "a")->data, *d = lacis_batch_field(&b, "d")->data;
    assert_true(a[0] == 0 && a[1] == -0.8085965003482541 && d[5] == 0.939760601937599);
    lacis_array_release(array);
    array = made("tridiagonal", "rows=3;lanes=2;seed=2", &b);
    a = lacis_batch_field(&b, "a")->data;
    assert_true(a[1] != -0.8085965003482541);
    lacis_array_release(array);
}

static void what_cannot_be(void **state)
{
    (void)state;
    fails("tree", "rows=2;branches=2;lanes=1", LACIS_RANGE, "no tree of 2 rows in 2 branches");
    fails("tree", "rows=5;branches=7;lanes=1", LACIS_RANGE, "each branch has at least one row");
    fails("tree", "rows=5;branches=0;lanes=1", LACIS_RANGE, "no tree of 5 rows in 0 branches");
    fails("tree", "rows=9;branches=3;lanes=1;kind=chain", LACIS_RANGE, "a chain is one branch");
    fails("tree", "rows=-1;branches=3;lanes=1", LACIS_RANGE, "rows = -1");
    fails("tridiagonal", "rows=9;lanes=3;layout=wide", LACIS_RANGE, "none of 'flat', 'full', 'block(n)'");
    fails("tridiagonal", "rows=9;lanes=3;layout=block(0)", LACIS_RANGE, "none of 'flat', 'full', 'block(n)'");
    fails("tridiagonal", "rows=1000000000;lanes=1000000000", LACIS_LIMIT, "memory_limit leaves");
    lacis_memory_set_limit(bench.host.memory, 1 << 20);
    fails("tridiagonal", "rows=1000;lanes=1000", LACIS_LIMIT, "tridiagonal would need 32 MB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(trees_have_what_was_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(chains_and_mixtures, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_are_dominant, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_and_layouts_do_not_matter, setup, teardown),
        cmocka_unit_test_setup_teardown(known_values, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
