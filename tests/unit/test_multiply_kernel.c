/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/multiply against the definition (multiply_reference.h): every class, CON, AGG, type, filter, instruction
 * set and number of threads on random matrices with rows in any order in memory; room that just suffices; allocations
 * that fail; cancelling; overflow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

#include "multiply_jobs.h"

typedef struct shape {
    int64_t rows, inner, cols, most, long_row;
    int jobs;
} shape;

static void check_shape(const shape *s)
{
    heap h = {.left = -1};
    const lacis_mul_type type_a = (lacis_mul_type)draw(5), type_b = draw(3) ? type_a : (lacis_mul_type)draw(5);
    const int odd = draw(2) != 0;
    const lacis_mul_matrix a = make_matrix(s->rows, s->inner, s->most, s->long_row, type_a, draw(5), odd);
    const lacis_mul_matrix b = make_matrix(s->inner, s->cols, s->most, s->long_row, type_b, draw(5), odd);
    const lacis_mul_matrix mask = make_matrix(s->rows, s->cols, s->most * 4, 0, LACIS_MUL_I32, false, 0);
    int64_t *rows = malloc(sizeof *rows * (size_t)(s->rows + 1)), count = 0;
    for (int64_t r = 0; r < s->rows; r++)
        if (draw(3)) rows[count++] = r;
    lacis_mul_job job = make_job(&h, a, b);
    job.type = type_a > type_b ? type_a : type_b;
    for (int i = 0; i < s->jobs; i++) {
        draw_job(&job, &mask, !odd);
        job.user = &job;
        const bool all = draw(3) != 0;
        check(&job, all ? NULL : rows, all ? s->rows : count);
    }
    free(rows);
    free_matrix(&a);
    free_matrix(&b);
    free_matrix(&mask);
}

static const char *const isas[] = {"baseline", "avx2", "avx512"};

static void check_shapes(uint64_t from, const shape *shapes, int count, int repeats)
{
    for (int isa = 0; isa < 3; isa++) {
        seed = from;
        setenv("LACIS_ISA", isas[isa], 1);
        for (int i = 0; i < count * repeats; i++)
            check_shape(&shapes[i % count]);
    }
    unsetenv("LACIS_ISA");
}

static void test_small(void **unused)
{
    static const shape shapes[] = {
        {1, 1, 1, 1, 0, 30},       {5, 1, 7, 3, 0, 30},         {4, 6, 1, 3, 0, 30},
        {30, 20, 40, 6, 0, 40},    {64, 64, 64, 20, 60, 40},    {100, 100, 200, 10, 100, 40},
        {1, 300, 500, 200, 0, 40}, {40, 400, 129, 30, 400, 40}, {3, 0, 5, 0, 0, 3}};
    (void)unused;
    check_shapes(12345, shapes, 9, 4);
}

static void test_middle(void **unused)
{
    static const shape shapes[] = {{300, 300, 5000, 12, 800, 40},
                                   {20, 700, 70000, 40, 3000, 30},
                                   {2000, 2000, 2000, 5, 40, 20},
                                   {9000, 300, 300, 2, 0, 8},
                                   {12, 600, 4096, 300, 0, 20}};
    (void)unused;
    check_shapes(777, shapes, 5, 2);
}

/* More columns than one dense window holds, or than keys of 32 bits have room for. */
static void test_wide(void **unused)
{
    static const shape shapes[] = {
        {6, 60, 300000, 60, 20000, 16}, {4, 40, 1200000, 40, 60000, 6}, {4, 30, 17000000, 20, 2000, 5}};
    (void)unused;
    check_shapes(99, shapes, 3, 1);
}

/* Rows whose degree passes 255 and 65535, so that counts need wider cells. */
static void test_counts(void **unused)
{
    heap h = {.left = -1};
    (void)unused;
    const lacis_mul_matrix a = make_matrix(40, 70000, 600, 400000, LACIS_MUL_I32, false, 0);
    const lacis_mul_matrix b = make_matrix(70000, 50, 8, 0, LACIS_MUL_I32, false, 0);
    for (int isa = 0; isa < 3; isa++) {
        setenv("LACIS_ISA", isas[isa], 1);
        for (int class = 0; class < LACIS_MUL_CLASSES; class ++) {
            lacis_mul_job job = make_job(&h, a, b);
            job.storage = LACIS_MUL_TO_U32;
            job.force = (lacis_mul_class) class;
            job.top = class % 2 * 5;
            check(&job, NULL, a.rows);
        }
    }
    unsetenv("LACIS_ISA");
    free_matrix(&a);
    free_matrix(&b);
}

/* Heavy rows of B, which counts sum as bits: any filter and window, counts of one byte and two, forced and by cost.
 */
static void test_heavy(void **unused)
{
    heap h = {.left = -1};
    (void)unused;
    for (int isa = 0; isa < 3; isa++) {
        seed = 2024;
        setenv("LACIS_ISA", isas[isa], 1);
        for (int round = 0; round < 6; round++) {
            static const int64_t cols[] = {3000, 512, 70, 9001, 20000, 4096};
            const int64_t n = cols[round];
            const lacis_mul_matrix a = make_matrix(20, 600, round % 2 ? 12 : 200, 2000, LACIS_MUL_I32, false, 0);
            const lacis_mul_matrix b = make_matrix(600, n, 90, n / 2, LACIS_MUL_I32, false, 0);
            const lacis_mul_matrix mask = make_matrix(20, n, n / 8, n, LACIS_MUL_I32, false, 0);
            lacis_mul_job job = make_job(&h, a, b);
            for (int i = 0; i < 12; i++) {
                draw_job(&job, &mask, true);
                job.user = &job;
                job.agg = LACIS_MUL_COUNT;
                job.storage = natural_storage(&job);
                job.force = i % 3 == 0 ? LACIS_MUL_EMPTY : i % 3 == 1 ? LACIS_MUL_DENSE : LACIS_MUL_HUB;
                if (i % 4 == 0) job.mask = NULL, job.having = NULL, job.top = i / 4 + 1;
                check(&job, NULL, a.rows);
            }
            free_matrix(&a);
            free_matrix(&b);
            free_matrix(&mask);
        }
    }
    unsetenv("LACIS_ISA");
}

/* Without memory for bitmaps the same counts are scattered. */
static void test_heavy_failures(void **unused)
{
    heap h = {.left = -1};
    int scattered = 0;
    (void)unused;
    seed = 31;
    const lacis_mul_matrix a = make_matrix(400, 400, 200, 0, LACIS_MUL_I32, false, 0);
    lacis_mul_job job = make_job(&h, a, a);
    job.storage = LACIS_MUL_TO_U16;
    result all = compute(&job, NULL, a.rows);
    assert_int_equal(all.status, LACIS_MUL_OK);
    for (int nth = 0;; nth++) {
        h.left = nth;
        result r = compute(&job, NULL, a.rows);
        const bool failed = atomic_load(&h.left) < 0;
        assert_int_equal(atomic_load(&h.live), 0);
        if (r.status == LACIS_MUL_OK) {
            scattered += failed;
            assert_int_equal(r.out.entries, all.out.entries);
            for (int64_t row = 0; row < a.rows; row++) {
                const int64_t x = r.out.begin[row], y = all.out.begin[row], n = all.out.end[row] - y;
                assert_int_equal(r.out.end[row] - x, n);
                assert_memory_equal(r.out.column + x, all.out.column + y, (size_t)n * sizeof(uint32_t));
                assert_memory_equal((uint16_t *)r.out.value + x, (uint16_t *)all.out.value + y,
                                    (size_t)n * sizeof(uint16_t));
            }
        } else
            assert_int_equal(r.status, LACIS_MUL_NO_MEMORY);
        free_result(&r);
        if (!failed) break;
    }
    assert_int_equal(scattered, strcmp(lacis_mul_isa(), "avx512") == 0);
    free_result(&all);
    free_matrix(&a);
}

static void test_overflow(void **unused)
{
    heap h = {.left = -1};
    (void)unused;
    const int64_t begin[] = {0, 2}, end[] = {2, 3}, begin_b[] = {0, 1}, end_b[] = {1, 2};
    const uint32_t column[] = {0, 1, 0}, column_b[] = {0, 0};
    const int64_t values[] = {INT64_MAX, INT64_MAX, 5}, ones[] = {1, 1};
    const lacis_mul_matrix a = {2, 2, begin, end, column, values, LACIS_MUL_I64};
    const lacis_mul_matrix b = {2, 1, begin_b, end_b, column_b, ones, LACIS_MUL_I64};
    for (int class = 0; class < LACIS_MUL_CLASSES; class ++) {
        for (int con = LACIS_MUL_CON_A; con <= LACIS_MUL_CON_MUL; con++) {
            lacis_mul_job job = make_job(&h, a, b);
            job.con_kind = (lacis_mul_con)con;
            job.agg = LACIS_MUL_SUM;
            job.checked = true;
            job.storage = LACIS_MUL_TO_I64;
            job.force = (lacis_mul_class) class;
            check(&job, NULL, 2);
        }
    }
}

/* Fails each allocation in turn; then refuses output; then cancels. */
static void test_failures(void **unused)
{
    heap h = {.left = -1};
    (void)unused;
    const lacis_mul_matrix a = make_matrix(300, 300, 20, 200, LACIS_MUL_F64, true, 0);
    for (int class = 0; class < LACIS_MUL_CLASSES; class ++) {
        lacis_mul_job job = make_job(&h, a, a);
        job.user = &job;
        job.type = LACIS_MUL_F64;
        job.storage = LACIS_MUL_TO_F64;
        job.con_kind = LACIS_MUL_CON_ADD;
        job.agg = LACIS_MUL_MIN;
        job.top = class % 2 * 3;
        job.force = (lacis_mul_class) class;
        job.threads = 2;
        for (int nth = 0;; nth++) {
            h.left = nth;
            result r = compute(&job, NULL, a.rows);
            free_result(&r);
            assert_int_equal(atomic_load(&h.live), 0);
            if (atomic_load(&h.left) >= 0) {
                assert_int_equal(r.status, LACIS_MUL_OK);
                break;
            }
            assert_int_equal(r.status, LACIS_MUL_NO_MEMORY);
        }
        h.left = -1;
        h.no_charge = true;
        result r = compute(&job, NULL, a.rows);
        assert_int_equal(r.status, LACIS_MUL_NO_MEMORY);
        free_result(&r);
        h.no_charge = false;
        h.cancel = true;
        r = compute(&job, NULL, a.rows);
        assert_int_equal(r.status, LACIS_MUL_CANCELLED);
        free_result(&r);
        h.cancel = false;
        assert_int_equal(atomic_load(&h.live), 0);
    }
    free_matrix(&a);
}

static void test_symbolic(void **unused)
{
    heap h = {.left = -1};
    (void)unused;
    seed = 4242;
    const lacis_mul_matrix a = make_matrix(200, 300, 20, 200, LACIS_MUL_I32, false, 0);
    const lacis_mul_matrix b = make_matrix(300, 700, 20, 200, LACIS_MUL_I32, false, 0);
    const lacis_mul_matrix mask = make_matrix(200, 700, 60, 200, LACIS_MUL_I32, false, 0);
    state *states = calloc(701, sizeof *states);
    uint64_t entries[200];
    for (int i = 0; i < 12; i++) {
        lacis_mul_job job = make_job(&h, a, b);
        job.storage = LACIS_MUL_TO_U32;
        job.mask = i % 3 ? &mask : NULL;
        job.mask_not = i % 3 == 1;
        job.t_lo = i % 2 * 100;
        job.t_hi = 700 - i % 4 * 77;
        job.threads = 2;
        assert_int_equal(lacis_mul_symbolic(&job, NULL, 200, entries), LACIS_MUL_OK);
        for (int64_t row = 0; row < 200; row++) {
            answer want = reference_row(&job, row, states);
            assert_int_equal(entries[row], want.n);
            free(want.t);
            free(want.value);
        }
    }
    free(states);
    free_matrix(&a);
    free_matrix(&b);
    free_matrix(&mask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),    cmocka_unit_test(test_middle),   cmocka_unit_test(test_wide),
        cmocka_unit_test(test_counts),   cmocka_unit_test(test_heavy),    cmocka_unit_test(test_heavy_failures),
        cmocka_unit_test(test_overflow), cmocka_unit_test(test_failures), cmocka_unit_test(test_symbolic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
