/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/symv on the CPU against products in 113 bits: every type, triangle, storage and order at many sizes, within
 * the error bounds that symv.h states. The other triangle, places between elements, what beta = 0 does not read and
 * imaginary parts of a Hermitian diagonal are NaN all along.
 */
#include "unit/symv_reference.h"

static const int64_t sizes[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 257, 300, 1000};
static const struct {
    int64_t x, y;
} steps[] = {{1, 1}, {-1, 1}, {1, -1}, {3, -2}, {-7, 5}};

static const char *const isas[] = {"baseline", "avx2", "avx512"};
static uint64_t draws = 1;

static int64_t one_of(int64_t count)
{
    const double from_0_to_2 = drawn(&draws) + 1;
    return (int64_t)(from_0_to_2 / 2 * (double)count) % count;
}

static void choose_factors(problem *p)
{
    const layout l = vector_layout(p->type);
    const bool old = one_of(2) == 0;
    for (int i = 0; i < 4; i++) {
        const bool there = i == 0 || (i == 2 ? l.complex : l.wide && (i == 1 || l.complex));
        const double scale = i % 2 == 1 ? 0x1p-55 : 1;
        p->alpha[i] = there ? drawn(&draws) * scale : 0;
        p->beta[i] = there && old ? drawn(&draws) * scale : 0;
    }
}

static void check(const problem *p, storage s, lacis_symv_order order, bool accurate)
{
    s.more = one_of(3) * 3;
    s.x_step = steps[one_of(5)].x;
    s.y_step = steps[one_of(5)].y;
    s.in_place = one_of(2) == 0;
    s.shift = (int)one_of(2);
    laid l = laid_out(p, &s);
    l.job.order = order;
    l.job.accurate = accurate;
    l.job.threads = 1 + (int)one_of(3);
    const char *isa = isas[one_of(3)];
    assert_int_equal(setenv("LACIS_ISA", isa, 1), 0);
    assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
    assert_int_equal(unsetenv("LACIS_ISA"), 0);
    const double error = laid_error(&l, p),
                 bound = bound_of(p->type, p->n, accurate || order == LACIS_SYMV_CANONICAL);
    if (!(error <= bound))
        fail_msg("%s type %d n %ld uplo %d packed %d hermitian %d order %d accurate %d sides %ld: error %g, bound %g",
                 isa, p->type, (long)p->n, s.uplo, s.packed, p->hermitian, order, accurate, (long)p->sides, error,
                 bound);
    laid_untouched(&l, p);
    laid_free(&l);
}

static void check_problem(const problem *p)
{
    static const lacis_symv_order orders[] = {LACIS_SYMV_FIXED, LACIS_SYMV_FREE, LACIS_SYMV_CANONICAL};
    for (int uplo = 0; uplo < 2; uplo++)
        for (int packed = 0; packed < 2; packed++)
            for (int order = 0; order < 3; order++)
                for (int accurate = 0; accurate <= (vector_layout(p->type).wide ? 1 : 0); accurate++) {
                    const storage s = {.uplo = (lacis_symv_uplo)uplo, .packed = packed};
                    check(p, s, orders[order], accurate);
                }
}

static void products_are_within_their_bounds(void **state)
{
    static const int64_t sides[] = {1, 2, 3, 4, 5, 9};
    (void)state;
    for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++)
        for (int type = 0; type < LACIS_SYMV_TYPES; type++)
            for (int hermitian = 0; hermitian <= (lacis_symv_complex((lacis_symv_type)type) ? 1 : 0); hermitian++) {
                const int64_t n = sizes[size];
                problem p = problem_new((lacis_symv_type)type, hermitian, n, n < 300 ? sides[one_of(6)] : 1, ++draws);
                choose_factors(&p);
                problem_solve(&p);
                check_problem(&p);
                problem_free(&p);
            }
}

/* One NaN in the matrix reaches two elements of y; one in x, or an infinity, all of them. */
static void nan_and_infinity_go_on(void **state)
{
    const int64_t n = 150, i = 140, j = 70;
    (void)state;
    for (int which = 0; which < 4 * LACIS_SYMV_TYPES; which++) {
        const lacis_symv_type type = (lacis_symv_type)(which / 4);
        problem p = problem_new(type, false, n, 1, 7);
        const storage s = {.uplo = (lacis_symv_uplo)(which % 2), .x_step = 1, .y_step = 1};
        const bool in_x = which / 2 % 2 == 1;
        if (in_x) {
            p.x[j].re = which % 2 == 0 ? (quad)INFINITY : (quad)NAN;
        } else {
            p.a[j * n + i].re = p.a[i * n + j].re = (quad)NAN;
        }
        for (int order = 0; order < 3; order++) {
            laid l = laid_out(&p, &s);
            l.job.order = (lacis_symv_order)order;
            assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
            for (int64_t row = 0; row < n; row++) {
                const bool finite = isfinite((double)laid_y(&l, 0, row).re);
                assert_int_equal(finite, !in_x && row != i && row != j);
            }
            laid_free(&l);
        }
        problem_free(&p);
    }
}

static void batches_of_one_size(void **state)
{
    enum { MATRICES = 37, N = 12, LD = 15, PLACES = LD * N };
    static double a[MATRICES * PLACES], x[MATRICES * N], y[MATRICES * N], alone[N];
    uint64_t draw = 3;
    (void)state;
    for (size_t i = 0; i < sizeof a / sizeof a[0]; i++)
        a[i] = drawn(&draw);
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
        x[i] = drawn(&draw);
    lacis_symv_job job = {.type = LACIS_SYMV_F64, .matrices = MATRICES, .n = N, .ld = LD, .stride = PLACES, .a = a};
    job.sides = 1;
    job.x = x;
    job.y = y;
    job.x_stride = job.y_stride = N;
    job.x_step = job.y_step = 1;
    job.alpha[0] = 1;
    job.threads = 2;
    job.host = (lacis_symv_host){.alloc = host_alloc, .free = host_free};
    assert_int_equal(lacis_symv_run(&job), LACIS_SYMV_OK);
    job.matrices = 1;
    job.y = alone;
    for (int m = 0; m < MATRICES; m++) {
        job.a = a + m * PLACES;
        job.x = x + m * N;
        assert_int_equal(lacis_symv_run(&job), LACIS_SYMV_OK);
        assert_memory_equal(alone, y + m * N, sizeof alone);
    }
}

static void batches_of_many_sizes(void **state)
{
    static const int64_t n[] = {3, 300, 0, 64, 1, 700, 65};
    enum { MATRICES = sizeof n / sizeof n[0] };
    lacis_symv_one one[MATRICES];
    int64_t places = 0, rows = 0;
    (void)state;
    for (int m = 0; m < MATRICES; m++) {
        one[m] = (lacis_symv_one){n[m], n[m] + m, places, rows, rows + 1};
        places += (n[m] + m) * n[m];
        rows += n[m] + 2;
    }
    double *a = grown((size_t)places, sizeof *a), *x = grown((size_t)rows, sizeof *x);
    double *y = grown((size_t)rows + 1, sizeof *y), *alone = grown(700, sizeof *alone);
    uint64_t draw = 5;
    for (int64_t i = 0; i < places; i++)
        a[i] = drawn(&draw);
    for (int64_t i = 0; i < rows; i++)
        x[i] = drawn(&draw);
    lacis_symv_figures figures[MATRICES], figure;
    lacis_symv_job job = {.type = LACIS_SYMV_F64, .uplo = LACIS_SYMV_UPPER, .matrices = MATRICES, .one = one, .a = a};
    job.sides = 1;
    job.x = x;
    job.y = y;
    job.x_step = job.y_step = 1;
    job.alpha[0] = 2;
    job.figures = figures;
    job.threads = 3;
    job.host = (lacis_symv_host){.alloc = host_alloc, .free = host_free};
    assert_int_equal(lacis_symv_run(&job), LACIS_SYMV_OK);
    for (int m = 0; m < MATRICES; m++) {
        lacis_symv_job single = job;
        single.one = NULL;
        single.matrices = 1;
        single.n = one[m].n;
        single.ld = one[m].ld;
        single.a = a + one[m].a;
        single.x = x + one[m].x;
        single.y = alone;
        single.figures = &figure;
        assert_int_equal(lacis_symv_run(&single), LACIS_SYMV_OK);
        assert_memory_equal(alone, y + one[m].y, sizeof *y * (size_t)n[m]);
        assert_memory_equal(&figure, &figures[m], sizeof figure);
    }
    free(a);
    free(x);
    free(y);
    free(alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_within_their_bounds),
        cmocka_unit_test(nan_and_infinity_go_on),
        cmocka_unit_test(batches_of_one_size),
        cmocka_unit_test(batches_of_many_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
