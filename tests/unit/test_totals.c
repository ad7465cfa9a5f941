/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of whole arrays: every storage type, loose and tight rows, labels and bases, and the edges of 64 bits.
 */
#include "support/rows.h"

static void check_totals(lacis_array *array, const rows *all, bool integer)
{
    lacis_totals totals;
    double sum = 0, low = INFINITY, high = -INFINITY;
    int64_t src = 0, dst = 0, least = INT64_MAX, most = INT64_MIN;
    for (int i = 0; i < all->count; i++) {
        const row *r = &all->at[i];
        sum += r->value;
        low = fmin(low, r->value);
        high = fmax(high, r->value);
        src += r->src;
        dst += r->dst;
        least = r->dst < least ? r->dst : least;
        most = r->dst > most ? r->dst : most;
    }
    lacis_totals_init(&totals);
    assert_int_equal(lacis_totals_add(&run, array, &totals), LACIS_OK);
    assert_int_equal(totals.count, all->count);
    assert_int_equal(totals.integer, integer);
    assert_true(totals.sum == sum && totals.min == low && totals.max == high);
    if (integer) assert_true(!totals.overflow && totals.sum_int == (int64_t)sum && totals.min_int == (int64_t)low);
    assert_true(totals.sum_src == src && totals.sum_dst == dst);
    assert_int_equal(totals.min_src, all->at[0].src);
    assert_int_equal(totals.max_src, all->at[all->count - 1].src);
    assert_int_equal(totals.min_dst, least);
    assert_int_equal(totals.max_dst, most);
}

static void totals_of_graphs(void **state)
{
    (void)state;
    static rows all;
    static const lacis_dtype types[] = {LACIS_PATTERN, LACIS_U8,  LACIS_U16, LACIS_U32,  LACIS_I32, LACIS_I64,
                                        LACIS_F32,     LACIS_F64, LACIS_C64, LACIS_C128, LACIS_DD};
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        for (int form = 0; form < 4; form++) {
            lacis_dtype dtype = types[t] >= LACIS_U8 && types[t] <= LACIS_U32 ? LACIS_I64 : types[t];
            lacis_array *array = random_csr(form & 1, form & 2, dtype, types[t], &all);
            check_totals(array, &all, types[t] < LACIS_F32);
            lacis_array_release(array);
        }
    }
}

static void totals_at_the_edges(void **state)
{
    (void)state;
    static const int64_t large[] = {INT64_MAX, 7, 5, INT64_MIN};
    static const double reals[] = {1, NAN, -3, INFINITY};
    lacis_totals totals;
    lacis_array *array = vector(NULL, 0, large, LACIS_I64, 3);
    lacis_totals_init(&totals);
    assert_int_equal(lacis_totals_add(&run, array, &totals), LACIS_OK);
    assert_true(totals.overflow);
    lacis_array *rest = vector(NULL, 3, large + 3, LACIS_I64, 1);
    assert_int_equal(lacis_totals_add(&run, rest, &totals), LACIS_OK); /* and now it fits again */
    assert_true(!totals.overflow);
    assert_int_equal(totals.sum_int, 11);
    assert_true(totals.min_int == INT64_MIN && totals.max_int == INT64_MAX);
    assert_int_equal(totals.max_src, 3);
    lacis_array_release(rest);
    lacis_array_release(array);
    array = vector(NULL, 0, reals, LACIS_F64, 4);
    lacis_totals_init(&totals);
    assert_int_equal(lacis_totals_add(&run, array, &totals), LACIS_OK);
    assert_int_equal(totals.count, 4);
    assert_int_equal(totals.nan, 1);
    assert_true(totals.min == -3 && totals.max == INFINITY && !totals.integer);
    lacis_array_release(array);
}

static void totals_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { N = 100003 };
    static double values[N];
    lacis_totals one, many;
    for (int i = 0; i < N; i++)
        values[i] = (double)random_bits() * 1e-3 * (random_bits() % 2 ? 1 : -1e6);
    lacis_array *array = vector(NULL, -9, values, LACIS_F64, N);
    host.threads = 1;
    lacis_totals_init(&one);
    assert_int_equal(lacis_totals_add(&run, array, &one), LACIS_OK);
    host.threads = 4;
    lacis_totals_init(&many);
    assert_int_equal(lacis_totals_add(&run, array, &many), LACIS_OK);
    assert_memory_equal(&one.sum, &many.sum, sizeof one.sum);
    assert_int_equal(one.count, N);
    assert_true(one.sum_src == (__int128)N * (N - 1) / 2 - (__int128)9 * N);
    lacis_array_release(array);
}

static void totals_of_tables(void **state)
{
    (void)state;
    lacis_array *array;
    lacis_totals totals;
    assert_int_equal(lacis_array_new(&run, LACIS_TABLE, LACIS_F64, 3, 0, &array), LACIS_OK);
    lacis_totals_init(&totals);
    assert_int_equal(lacis_totals_add(&run, array, &totals), LACIS_OK);
    assert_int_equal(totals.count, 3);
    lacis_array_release(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(totals_of_graphs),
        CHECK(totals_at_the_edges),
        CHECK(totals_do_not_depend_on_threads),
        CHECK(totals_of_tables),
    };
    return cmocka_run_group_tests_name("totals", tests, NULL, NULL);
}
