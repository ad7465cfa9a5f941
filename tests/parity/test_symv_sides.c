/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV of several vectors: right sides of one matrix in every layout, and batches of matrices of one size and of
 * many.
 */
#include "parity/symv_check.h"

/* -------------------------------------------------------------------------------------- right sides */

/* Lanes of one matrix in every layout; y in another one than x. */
static void some_sides(parity *p, const kind *k, int64_t n, int64_t count, uint64_t seed)
{
    static const int64_t layouts[] = {1, 0, 2, 4, 64};
    symmetric s = {.dtype = k->matrix, .hermitian = k->hermitian, .matrices = 1, .n = n, .seed = seed};
    const lanes like = lanes_of(&s, count);
    answer *e = calloc((size_t)like.all + 1, sizeof *e);
    for (int64_t v = 0; v < count; v++)
        multiply_one(&s, 0, seed, k->vector, seed + 1, k->vector, v, ALPHA, BETA, e + v * n);
    s.storage = (storage)(seed % STORAGES);
    s.upper = seed % 2 == 1;
    lacis_array *a = symmetric_array(p, &s);
    for (int i = 0; i < 2 * LACIS_COUNT(layouts); i++) {
        char text[120];
        const int64_t block = layouts[i / 2], other = i % 2 == 0 ? block : layouts[(i / 2 + 1) % 5];
        lacis_array *x = batch_array(p, seed, like.rows, count, block, k->vector);
        lacis_array *y = batch_array(p, seed + 1, like.rows, count, other, k->vector);
        const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
        snprintf(text, sizeof text, "SYMV a BY x" ADDS "%s%s", k->words, orders[i % 2]);
        check(p, text, arrays, &like, result_of(k), e);
        lacis_array_release(x);
        lacis_array_release(y);
    }
    lacis_array_release(a);
    free(e);
}

static void right_sides(void **state)
{
    static const int64_t n[] = {1, 7, 64, 65, 130}, count[] = {1, 2, 3, 4, 5, 8, 17};
    uint64_t seed = 1;
    for (int k = 0; k < LACIS_COUNT(kinds); k++)
        for (int i = 0; i < LACIS_COUNT(n); i++)
            some_sides(*state, &kinds[k], n[i], count[(size_t)(k + i) % 7], seed++);
    some_sides(*state, &kinds[0], 500, 4, seed++);
    some_sides(*state, &kinds[2], 300, 9, seed++);
}

/* ------------------------------------------------------------------------------------------ batches */

static void one_batch(parity *p, const kind *k, symmetric *s, uint64_t seed)
{
    static const int64_t layouts[] = {1, 0, 3};
    const lanes like = lanes_of(s, s->matrices);
    answer *e = calloc((size_t)like.all + 1, sizeof *e);
    for (int64_t m = 0, at = 0; m < s->matrices; at += rows_of(s, m++))
        multiply_one(s, m, seed, k->vector, seed + 1, k->vector, m, ALPHA, BETA, e + at);
    for (int turn = 0; turn < 2 * STORAGES; turn++) {
        char text[120];
        const int64_t block = layouts[(size_t)turn % 3];
        s->upper = turn % 2 == 1;
        s->storage = (storage)(turn / 2);
        lacis_array *a = symmetric_array(p, s);
        lacis_array *x = batch_array(p, seed, like.rows, like.count, block, k->vector);
        lacis_array *y = batch_array(p, seed + 1, like.rows, like.count, layouts[(size_t)(turn / 2) % 3], k->vector);
        const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
        for (int o = 0; o < 2; o++) {
            snprintf(text, sizeof text, "SYMV a BY x" ADDS "%s%s", k->words, orders[o]);
            check(p, text, arrays, &like, result_of(k), e);
        }
        release(a, x, y);
    }
    free(e);
}

static void batches(void **state)
{
    for (int k = 0; k < LACIS_COUNT(kinds); k++) {
        const uint64_t seed = 400 + (uint64_t)k;
        symmetric even = {.dtype = kinds[k].matrix,
                          .hermitian = kinds[k].hermitian,
                          .matrices = 7,
                          .n = 20 + 15 * k % 64,
                          .seed = seed};
        symmetric uneven = {.dtype = kinds[k].matrix,
                            .hermitian = kinds[k].hermitian,
                            .matrices = 8,
                            .several = true,
                            .order = {5, 5, 65, 1, 0, 33, 33, 128},
                            .seed = seed};
        one_batch(*state, &kinds[k], &even, seed);
        one_batch(*state, &kinds[k], &uneven, seed);
    }
}

/* A real matrix in a batch by complex vectors. */
static void complex_vectors(void **state)
{
    const kind real = {LACIS_F64, LACIS_C128, false, ""};
    symmetric s = {.dtype = LACIS_F64, .matrices = 6, .n = 19, .seed = 5};
    one_batch(*state, &real, &s, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(right_sides, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(batches, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(complex_vectors, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
