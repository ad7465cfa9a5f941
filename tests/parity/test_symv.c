/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV of one dense matrix by one vector against sums in __float128: types, triangles, storage and sizes; everything
 * that must not be read is NaN. The bound on errors is c n u sum |a| |x| (symmetric.h). In canonical order every
 * device and thread count gives the same bits.
 */
#include "parity/symv_check.h"

/* One matrix by a vector, in all orders: both triangles, storage by turns where it is large. */
static void one_size(parity *p, const kind *k, int64_t n, uint64_t seed)
{
    symmetric s = {.dtype = k->matrix, .hermitian = k->hermitian, .matrices = 1, .n = n, .seed = seed, .base = 1};
    const lanes like = lanes_of(&s, 1);
    answer *e = calloc((size_t)n + 1, sizeof *e);
    lacis_array *x = vector_array(p, seed, n, k->vector, 1), *y = vector_array(p, seed + 1, n, k->vector, 1);
    multiply_one(&s, 0, seed, k->vector, seed + 1, k->vector, 0, ALPHA, BETA, e);
    for (int turn = 0; turn < 2 * STORAGES; turn++) {
        char text[120];
        s.upper = turn % 2 == 1;
        s.storage = (storage)(turn / 2);
        s.beside = turn % 3;
        if (n > 200 && s.storage != (storage)((uint64_t)(n + s.upper) % STORAGES)) continue;
        lacis_array *a = symmetric_array(p, &s);
        const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
        for (int o = 0; o < LACIS_COUNT(orders); o++) {
            snprintf(text, sizeof text, "SYMV a BY x" ADDS "%s%s", k->words, orders[o]);
            check(p, text, arrays, &like, result_of(k), e);
        }
        lacis_array_release(a);
    }
    lacis_array_release(x);
    lacis_array_release(y);
    free(e);
}

static void sizes(parity *p, const int64_t *n, int count)
{
    for (int k = 0; k < LACIS_COUNT(kinds); k++)
        for (int i = 0; i < count; i++)
            one_size(p, &kinds[k], n[i], 1000 * (uint64_t)k + (uint64_t)n[i]);
}

static void small_sizes(void **state)
{
    static const int64_t n[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    sizes(*state, n, LACIS_COUNT(n));
}

/* Where every access is looked at, what is read past an end shows at one of these sizes as well as at all. */
#if defined(__SANITIZE_ADDRESS__)
#define MIDDLE 1025
#else
#define MIDDLE 1000, 1023, 1024, 1025
#endif

static void middle_sizes(void **state)
{
    static const int64_t n[] = {MIDDLE};
    sizes(*state, n, LACIS_COUNT(n));
}

static void large_sizes(void **state)
{
#if defined(__SANITIZE_ADDRESS__)
    static const int few[] = {1};
#else
    static const int few[] = {0, 1, 2, 4, 6, 10, 13};
#endif
    for (int i = 0; i < LACIS_COUNT(few); i++)
        one_size(*state, &kinds[few[i]], 4097, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_sizes, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(middle_sizes, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(large_sizes, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
