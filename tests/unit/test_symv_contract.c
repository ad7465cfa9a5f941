/* SPDX-License-Identifier: Apache-2.0
 *
 * What symv.h promises besides products: figures, cancelling, memory that is not there, work_bytes, places beyond
 * 2^31, what is no number, and what accurate addition is for.
 */
#include "unit/symv_reference.h"

#include <sys/mman.h>

/* --- figures ----------------------------------------------------------------------------------------- */

static void close_to(double got, quad want, double slack)
{
    if (!(fabs(got - (double)want) <= slack)) fail_msg("%.17g is not %.17g within %g", got, (double)want, slack);
}

static double modulus_of(pair y)
{
    return hypot((double)y.re, (double)y.im);
}

/* Norms are of y as it was written; x^H A x is of sums rounded as the type's. */
static void check_figures(const problem *p, const laid *l, const lacis_symv_figures *figures)
{
    for (int64_t s = 0; s < p->sides; s++) {
        double norm1 = 0, squares = 0, most = 0, slack = 0;
        for (int64_t i = 0; i < p->n; i++) {
            const double modulus = modulus_of(laid_y(l, s, i));
            norm1 += modulus;
            squares += modulus * modulus;
            most = fmax(most, modulus);
            slack += (double)(p->bound[s * p->n + i] * pair_size(p->x[s * p->n + i]));
        }
        close_to(figures[s].norm1, norm1, 1e-13 * norm1);
        close_to(figures[s].norm2, sqrt(squares), 1e-13 * norm1);
        close_to(figures[s].norm_max, most, 1e-15 * most);
        slack *= unit_of(p->type) * bound_of(p->type, p->n, false);
        close_to(figures[s].dot[0], p->dot[s].re, slack + 0x1p-52 * fabs((double)p->dot[s].re));
        close_to(figures[s].dot_im[0], p->dot[s].im, slack + 0x1p-52 * fabs((double)p->dot[s].im));
    }
}

static void figures_are_of_the_products(void **state)
{
    (void)state;
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        for (int order = 0; order < 3; order++) {
            static const int64_t sizes[] = {0, 1, 100, 600};
            problem p = problem_new((lacis_symv_type)type, type == LACIS_SYMV_C64, sizes[(type + order) % 4], 3, 17);
            lacis_symv_figures figures[3], without[3];
            const storage s = {(lacis_symv_uplo)(order % 2), false, 1, -2, 3, false, 0};
            problem_solve(&p);
            laid l = laid_out(&p, &s);
            l.job.order = (lacis_symv_order)order;
            l.job.figures = figures;
            assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
            check_figures(&p, &l, figures);
            l.job.figures = without;
            l.job.y = NULL;
            assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
            assert_memory_equal(figures, without, sizeof figures);
            laid_free(&l);
            problem_free(&p);
        }
}

/* Elements of 1e300 and of 1e-300: squares are no numbers, norms are; sums that overflow are infinite, not NaN. */
static void norms_overflow_only_where_they_must(void **state)
{
    static const double scales[] = {1e300, 1e-300};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const int64_t n = 400;
        problem p = problem_new(LACIS_SYMV_F64, false, n, 1, 3);
        lacis_symv_figures figures;
        for (int64_t at = 0; at < n * n; at++)
            p.a[at] = (pair){at % (n + 1) == 0 ? scales[i] : 0, 0};
        for (int64_t at = 0; at < n; at++)
            p.x[at] = (pair){at % 2 == 0 ? 3 : 4, 0};
        const storage s = {.x_step = 1, .y_step = 1};
        laid l = laid_out(&p, &s);
        l.job.figures = &figures;
        assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
        close_to(figures.norm2 / scales[i], sqrt(200 * 25), 1e-12);
        close_to(figures.norm1 / scales[i], 1400, 1e-10);
        close_to(figures.norm_max / scales[i], 4, 1e-14);
        l.job.alpha[0] = 1e8;
        assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
        if (i == 0) assert_true(isinf(figures.norm1) && isinf(figures.norm2) && isinf(figures.norm_max));
        ((double *)l.block[1])[7] = (double)NAN;
        assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
        assert_true(isnan(figures.norm1) && isnan(figures.norm2) && isnan(figures.norm_max));
        laid_free(&l);
        problem_free(&p);
    }
}

/* --- memory and the wish to stop --------------------------------------------------------------------- */

struct host {
    int64_t left, out; /* allocations until one fails; not given back */
    uint64_t bytes;
    int64_t asked, stop; /* questions, and the one that is answered with yes */
};

static void *counted_alloc(void *context, uint64_t bytes)
{
    struct host *host = context;
    if (host->left-- == 0) return NULL;
    host->out++;
    host->bytes += bytes;
    return host_alloc(NULL, bytes);
}

static void counted_free(void *context, void *block)
{
    struct host *host = context;
    assert_non_null(block);
    host->out--;
    free(block);
}

static bool counted_cancelled(void *context)
{
    struct host *host = context;
    return host->asked++ == host->stop;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    for (int which = 0; which < 12; which++) {
        problem p =
            problem_new(which % 3 == 0 ? LACIS_SYMV_CDD : LACIS_SYMV_F64, false, which % 2 == 0 ? 60 : 500, 2, 5);
        const storage s = {.uplo = LACIS_SYMV_UPPER, .x_step = 1, .y_step = 1};
        lacis_symv_figures figures[2];
        laid l = laid_out(&p, &s);
        l.job.order = which < 6 ? LACIS_SYMV_FIXED : LACIS_SYMV_CANONICAL;
        l.job.figures = which % 4 < 2 ? figures : NULL;
        int64_t failing = 0;
        for (;; failing++) {
            struct host host = {.left = failing, .stop = -1};
            l.job.host = (lacis_symv_host){
                .alloc = counted_alloc, .free = counted_free, .cancelled = counted_cancelled, .context = &host};
            lacis_symv_status status = lacis_symv_run(&l.job);
            assert_int_equal(host.out, 0);
            if (status == LACIS_SYMV_OK) {
                assert_true(host.bytes <= lacis_symv_work_bytes(&l.job));
                assert_true(2 * host.bytes >= lacis_symv_work_bytes(&l.job));
                break;
            }
            assert_int_equal(status, LACIS_SYMV_NO_MEMORY);
        }
        assert_true(failing >= 1);
        laid_free(&l);
        problem_free(&p);
    }
}

static void a_run_can_be_cancelled(void **state)
{
    (void)state;
    for (int64_t n = 50; n <= 500; n += 450)
        for (int order = 0; order < 3; order += 2) {
            problem p = problem_new(LACIS_SYMV_F64, false, n, 1, 5);
            const storage s = {.x_step = 1, .y_step = 1};
            laid l = laid_out(&p, &s);
            struct host host = {.left = -1, .stop = n == 50 ? 0 : 2};
            l.job.order = (lacis_symv_order)order;
            l.job.host = (lacis_symv_host){
                .alloc = counted_alloc, .free = counted_free, .cancelled = counted_cancelled, .context = &host};
            assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_CANCELLED);
            assert_int_equal(host.out, 0);
            laid_free(&l);
            problem_free(&p);
        }
}

/* --- places ------------------------------------------------------------------------------------------ */

/* Three columns 2^31 elements apart, and x as far: only what is touched becomes memory. */
static void places_beyond_2_to_the_31(void **state)
{
    const int64_t apart = (int64_t)1 << 31, n = 3;
    const size_t bytes = (size_t)(2 * apart + n) * sizeof(float);
    (void)state;
    float *a = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    float *x = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a == MAP_FAILED || x == MAP_FAILED) skip();
    for (int64_t j = 0; j < n; j++) {
        x[(n - 1 - j) * apart] = (float)(j + 1);
        for (int64_t i = j; i < n; i++)
            a[j * apart + i] = (float)(10 * (j + 1) + i + 1);
    }
    for (int order = 0; order < 3; order++) {
        float y[3];
        lacis_symv_job job = {.type = LACIS_SYMV_F32, .order = (lacis_symv_order)order, .matrices = 1, .n = n};
        job.ld = apart;
        job.a = a;
        job.sides = 1;
        job.x = x + (n - 1) * apart;
        job.x_step = -apart;
        job.y = y;
        job.y_step = 1;
        job.alpha[0] = 1;
        job.threads = 1;
        job.host = (lacis_symv_host){.alloc = host_alloc, .free = host_free};
        assert_int_equal(lacis_symv_run(&job), LACIS_SYMV_OK);
        assert_true(y[0] == 11 + 2 * 12 + 3 * 13);
        assert_true(y[1] == 12 + 2 * 22 + 3 * 23);
        assert_true(y[2] == 13 + 2 * 23 + 3 * 33);
    }
    munmap(a, bytes);
    munmap(x, bytes);
}

/* --- what is no number ------------------------------------------------------------------------------- */

static bool is_number(pair y)
{
    return isfinite((double)y.re) && isfinite((double)y.im);
}

/* The high real part at (row, column) of the lower triangle. */
static void spoil(const laid *l, const storage *s, const problem *p, int64_t row, int64_t column, double value)
{
    const layout of = matrix_layout(p->type);
    const int64_t at = storage_place(s, p->n, row, column) * layout_scalars(of);
    void *a = l->block[0];
    if (of.single) {
        ((float *)a)[at] = (float)value;
    } else {
        ((double *)a)[at] = value;
    }
}

static void check_spoilt(const laid *l, const problem *p, int64_t row, int64_t column, const char *isa)
{
    assert_int_equal(setenv("LACIS_ISA", isa, 1), 0);
    assert_int_equal(lacis_symv_run(&l->job), LACIS_SYMV_OK);
    assert_int_equal(unsetenv("LACIS_ISA"), 0);
    for (int64_t i = 0; i < p->n; i++)
        if (is_number(laid_y(l, 0, i)) != (i != row && i != column))
            fail_msg("%s type %d n %ld order %d accurate %d, element (%ld, %ld): y %ld is%s a number", isa, p->type,
                     (long)p->n, l->job.order, l->job.accurate, (long)row, (long)column, (long)i,
                     i != row && i != column ? " not" : "");
}

/* An element that is NaN or infinite goes into its row's and its column's element of y, and into no other: on the
 * diagonal, beside it in the same panel of columns, and far away. */
static void what_is_no_number_goes_on(void **state)
{
    static const int64_t places[][2] = {{0, 0}, {5, 5}, {6, 3}, {33, 2}, {40, 40}, {40, 0}, {40, 39}};
    static const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    static const char *const isas[] = {"baseline", "avx2", "avx512"};
    (void)state;
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        for (int which = 0; which < 4 * (int)(sizeof places / sizeof *places); which++) {
            problem p = problem_new((lacis_symv_type)type, lacis_symv_complex((lacis_symv_type)type), 41, 1, 5);
            const storage s = {.x_step = 1, .y_step = 1};
            const int64_t *at = places[which / 4];
            laid l = laid_out(&p, &s);
            l.job.order = which % 2 == 0 ? LACIS_SYMV_FIXED : LACIS_SYMV_CANONICAL;
            l.job.accurate = which % 4 >= 2;
            for (int v = 0; v < 3; v++) {
                spoil(&l, &s, &p, at[0], at[1], values[v]);
                for (int i = 0; i < 3; i++)
                    check_spoilt(&l, &p, at[0], at[1], isas[i]);
            }
            laid_free(&l);
            problem_free(&p);
        }
}

/* --- accurate addition ------------------------------------------------------------------------------- */

/* Two terms that cancel but for their low parts, which need more than one double: accurate addition keeps them. */
static void accurate_addition_survives_cancellation(void **state)
{
    const double first[] = {1, 0x1.5555555555555p-55}, second[] = {-1, -0x1.00000008p-80};
    const quad want = (quad)first[1] + (quad)second[1];
    (void)state;
    for (int order = 0; order < 3; order++)
        for (int accurate = 0; accurate < 2; accurate++) {
            problem p = problem_new(LACIS_SYMV_DD, false, 2, 1, 5);
            const storage s = {.x_step = 1, .y_step = 1};
            p.x[0] = p.x[1] = (pair){1, 0};
            p.a[0] = (pair){(quad)first[0] + first[1], 0};
            p.a[1] = p.a[2] = (pair){(quad)second[0] + second[1], 0};
            laid l = laid_out(&p, &s);
            l.job.order = (lacis_symv_order)order;
            l.job.accurate = accurate;
            assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
            const bool exact = laid_y(&l, 0, 0).re == want;
            assert_int_equal(exact, accurate);
            laid_free(&l);
            problem_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_of_the_products), cmocka_unit_test(norms_overflow_only_where_they_must),
        cmocka_unit_test(any_allocation_may_fail),     cmocka_unit_test(a_run_can_be_cancelled),
        cmocka_unit_test(places_beyond_2_to_the_31),   cmocka_unit_test(accurate_addition_survives_cancellation),
        cmocka_unit_test(what_is_no_number_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
