/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph generators: shapes, weights, the same graph for any number of threads, sizes that are refused.
 */
#include "support/load.h"

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

static const lacis_generator *generator(const char *name)
{
    for (int i = 0; lacis_builtin_generators[i] != NULL; i++) {
        if (strcmp(lacis_builtin_generators[i]->name, name) == 0) return lacis_builtin_generators[i];
    }
    fail_msg("no generator %s", name);
    return NULL;
}

static lacis_status generate(const char *name, const char *options, lacis_array **out)
{
    const lacis_generator *g = generator(name);
    *out = NULL;
    return g->make(&bench.run, load_options(&bench, g->options, g->option_count, options), out);
}

static lacis_array *made(const char *name, const char *options)
{
    lacis_array *array;
    if (generate(name, options, &array) != LACIS_OK) fail_msg("%s(%s): %s", name, options, bench.host.error.message);
    return array;
}

static void is(const char *name, const char *options, const char *expected)
{
    lacis_array *array = made(name, options);
    char *shown = load_show(&bench, array);
    lacis_array_release(array);
    if (strcmp(shown, expected) != 0) fail_msg("%s(%s) is\n%s\nnot\n%s", name, options, shown, expected);
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

static void plain_shapes(void **state)
{
    (void)state;
    is("path", "n=4", "4x4 0-1 1-2 2-3");
    is("path", "n=3;directed=false", "3x3 0-1 1-0 1-2 2-1");
    is("path", "n=0", "0x0");
    is("path", "n=1", "1x1");
    is("grid2d", "rows=2;cols=3", "6x6 0-1 0-3 1-0 1-2 1-4 2-1 2-5 3-0 3-4 4-1 4-3 4-5 5-2 5-4");
    is("grid2d", "rows=0;cols=0", "0x0");
    is("grid2d", "rows=1;cols=1", "1x1");
    is("complete", "n=3", "3x3 0-1 0-2 1-0 1-2 2-0 2-1");
    is("complete", "n=3;weights=unit", "3x3 i64/i32 0-1=1 0-2=1 1-0=1 1-2=1 2-0=1 2-1=1");
    is("uniform", "n=3;degree=3", "3x3 0-0 0-1 0-2 1-0 1-1 1-2 2-0 2-1 2-2");
    is("uniform", "n=0;degree=0", "0x0");
}

static void uniform_has_its_degree(void **state)
{
    (void)state;
    lacis_csr g;
    lacis_array *array = made("uniform", "n=5000;degree=8");
    lacis_csr_view(array, &g);
    int64_t in[5000] = {0}, most = 0;
    for (int64_t r = 0; r < g.rows; r++) {
        assert_int_equal(g.end[r] - g.begin[r], 8);
        for (int64_t i = g.begin[r]; i < g.end[r]; i++) {
            most = ++in[g.column[i]] > most ? in[g.column[i]] : most;
        }
    }
    assert_true(most > 14 && most < 40); /* a Poisson law of mean 8 */
    lacis_array_release(array);
}

static void rmat_is_skewed(void **state)
{
    (void)state;
    lacis_csr g;
    lacis_array *array = made("rmat", "scale=12");
    lacis_csr_view(array, &g);
    assert_int_equal(g.rows, 4096);
    assert_int_equal(g.row_base, 0);
    assert_true(g.entries > 40000 && g.entries < 65536);
    int64_t most = 0, hub = 0, loops = 0;
    for (int64_t r = 0; r < g.rows; r++) {
        if (g.end[r] - g.begin[r] > most) hub = r;
        most = g.end[r] - g.begin[r] > most ? g.end[r] - g.begin[r] : most;
        for (int64_t i = g.begin[r]; i < g.end[r]; i++) {
            loops += g.column[i] == r;
            assert_true(i == g.begin[r] || g.column[i] > g.column[i - 1]);
        }
    }
    assert_true(most > 300 && loops > 0);
    assert_int_not_equal(hub, 0); /* names are permuted */
    lacis_array_release(array);
}

static bool equal(const lacis_array *one, const lacis_array *other)
{
    lacis_csr a, b;
    lacis_csr_view(one, &a);
    lacis_csr_view(other, &b);
    if (a.rows != b.rows || a.entries != b.entries) return false;
    if (memcmp(a.begin, b.begin, (size_t)a.rows * sizeof *a.begin) != 0) return false;
    if (memcmp(a.column, b.column, (size_t)a.entries * sizeof *a.column) != 0) return false;
    if (a.value == NULL || b.value == NULL) return a.value == b.value;
    return a.storage == b.storage && memcmp(a.value, b.value, (size_t)a.entries * lacis_dtype_size(a.storage)) == 0;
}

static void threads_do_not_matter_seeds_do(void **state)
{
    (void)state;
    static const struct {
        const char *name, *options, *other;
    } cases[] = {
        {"rmat", "scale=13;weights=real", "scale=13;weights=real;seed=2"},
        {"uniform", "n=20000;weights=int", "n=20000;weights=int;seed=2"},
        {"grid2d", "rows=200;cols=300;weights=real;type=f32", "rows=200;cols=300;weights=real;type=f32;seed=2"},
        {"path", "n=50000;weights=int", "n=50000;weights=int;seed=2"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench.host.threads = 1;
        lacis_array *one = made(cases[i].name, cases[i].options);
        bench.host.threads = 7;
        lacis_array *many = made(cases[i].name, cases[i].options), *other = made(cases[i].name, cases[i].other);
        assert_true(equal(one, many));
        assert_false(equal(one, other));
        lacis_array_release(one);
        lacis_array_release(many);
        lacis_array_release(other);
    }
}

static void weights_lie_in_their_range(void **state)
{
    (void)state;
    lacis_csr g;
    int64_t low = 1000, high = 0;
    lacis_array *array = made("complete", "n=120;weights=int");
    lacis_csr_view(array, &g);
    assert_int_equal(g.dtype, LACIS_I64);
    assert_int_equal(g.storage, LACIS_I32);
    for (int64_t i = 0; i < g.entries; i++) {
        int64_t w = lacis_value_int64(g.value, g.storage, i);
        low = w < low ? w : low;
        high = w > high ? w : high;
    }
    assert_int_equal(low, 1);
    assert_int_equal(high, 100);
    lacis_array_release(array);
    array = made("complete", "n=50;weights=real");
    lacis_csr_view(array, &g);
    assert_int_equal(g.storage, LACIS_F64);
    double sum = 0;
    for (int64_t i = 0; i < g.entries; i++) {
        double w = lacis_value_double(g.value, g.storage, i);
        assert_true(w > 0 && w < 1);
        sum += w;
    }
    assert_true(sum > 0.45 * (double)g.entries && sum < 0.55 * (double)g.entries);
    lacis_array_release(array);
}

static void absurd_sizes(void **state)
{
    (void)state;
    fails("rmat", "scale=31;edge_factor=1000000", LACIS_LIMIT, "memory_limit leaves");
    fails("rmat", "scale=60", LACIS_RANGE, "scale = 60 is not between 1 and 31");
    fails("rmat", "scale=10;a=0.9;b=0.9", LACIS_RANGE, "are no chances");
    fails("rmat", "scale=10;a=nan", LACIS_RANGE, "are no chances");
    fails("uniform", "n=10;degree=11", LACIS_RANGE, "degree = 11 is not between 0 and 10");
    fails("uniform", "n=-1", LACIS_RANGE, "n = -1");
    fails("complete", "n=4000000000", LACIS_LIMIT, "would need");
    fails("grid2d", "rows=4000000000;cols=4000000000", LACIS_RANGE, "more than 2^32 - 1 vertices");
    fails("path", "n=9000000000", LACIS_RANGE, "n = 9000000000");
    lacis_memory_set_limit(bench.host.memory, 1 << 20);
    fails("path", "n=1000000", LACIS_LIMIT, "path would need 12 MB for 1e+06 edges");
    atomic_store(&bench.host.cancel, 1);
    fails("path", "n=10", LACIS_INTERRUPT, "interrupted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(plain_shapes),
        CHECK(uniform_has_its_degree),
        CHECK(rmat_is_skewed),
        CHECK(threads_do_not_matter_seeds_do),
        CHECK(weights_lie_in_their_range),
        CHECK(absurd_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
