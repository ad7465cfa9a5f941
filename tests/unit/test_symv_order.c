/* SPDX-License-Identifier: Apache-2.0
 *
 * The bits of y: the canonical order against symv.h's text taken literally, element by element, in every instruction
 * set; and that neither threads nor storage change any bit of y or of the figures.
 */
#include "unit/symv_reference.h"

#include "common/dd.h"

enum { TILE = 64, WAYS = 8, TILES = 5, MOST = TILE * TILES };

/* An element as its parts; floats as doubles that hold them. */
typedef struct num {
    double v[4];
} num;

/* --- the text, literally ----------------------------------------------------------------------------- */

typedef struct text {
    const problem *p;
    bool lower, accurate, narrow; /* narrow: a has no low part */
    layout vector;
    int v;
    num vectors[TILES][TILES][TILE]; /* of part r from tile row t */
} text;

static lacis_dd dd_plus(const text *t, lacis_dd s, lacis_dd b)
{
    return t->accurate ? lacis_dd_add_accurate(s, b) : lacis_dd_add_sloppy(s, b);
}

/* One fma of a component. */
static void fuse(const text *t, const double *a, double sign, const double *x, double *s, bool narrow)
{
    if (t->vector.single) {
        *s = (double)fmaf((float)(sign * a[0]), (float)x[0], (float)*s);
    } else if (!t->vector.wide) {
        *s = fma(sign * a[0], x[0], *s);
    } else {
        const lacis_dd xs = {x[0], x[1]}, as = {sign * a[0], sign * a[1]};
        lacis_dd product = narrow ? lacis_dd_mul_raw_by(as.hi, xs) : lacis_dd_mul_raw(as, xs);
        lacis_dd r = dd_plus(t, (lacis_dd){s[0], s[1]}, product);
        s[0] = r.hi;
        s[1] = r.lo;
    }
}

static void step(const text *t, num a, num x, num *s, bool narrow)
{
    const int im = t->vector.wide ? 2 : 1;
    fuse(t, a.v, 1, x.v, s->v, narrow);
    if (!t->vector.complex) return;
    fuse(t, a.v + im, -1, x.v + im, s->v, narrow);
    fuse(t, a.v, 1, x.v + im, s->v + im, narrow);
    fuse(t, a.v + im, 1, x.v, s->v + im, narrow);
}

static num plus(const text *t, num s, num b)
{
    const int parts = (int)layout_scalars(t->vector);
    for (int i = 0; i < parts; i += t->vector.wide ? 2 : 1) {
        if (t->vector.wide) {
            lacis_dd r = dd_plus(t, (lacis_dd){s.v[i], s.v[i + 1]}, (lacis_dd){b.v[i], b.v[i + 1]});
            s.v[i] = r.hi;
            s.v[i + 1] = r.lo;
        } else {
            s.v[i] = t->vector.single ? (double)((float)s.v[i] + (float)b.v[i]) : s.v[i] + b.v[i];
        }
    }
    return s;
}

static num halved(const text *t, num *s, int k)
{
    for (int h = k / 2; h >= 1; h /= 2)
        for (int g = 0; g < h; g++)
            s[g] = plus(t, s[g], s[g + h]);
    return s[0];
}

static num element(const text *t, int64_t i, int64_t j)
{
    num out = {{0}};
    if (i < t->p->n && j < t->p->n) layout_split(t->vector, t->p->a[j * t->p->n + i], out.v);
    return out;
}

static num x_of(const text *t, int64_t i)
{
    num out = {{0}};
    if (i < t->p->n) layout_split(t->vector, t->p->x[i], out.v);
    return out;
}

static num conjugate(const text *t, num a)
{
    for (int i = 0; i < 4; i++)
        if (t->p->hermitian && i >= (t->vector.wide ? 2 : 1)) a.v[i] = -a.v[i];
    return a;
}

static num across(const text *t, int64_t r, int64_t c, int p)
{
    num s[WAYS] = {0};
    for (int w = 0; w < WAYS; w++)
        for (int q = w; q < TILE; q += WAYS)
            step(t, element(t, r * TILE + p, c * TILE + q), x_of(t, c * TILE + q), &s[w], t->narrow);
    return halved(t, s, WAYS);
}

/* Of the mirrored tile (c, r): the columns' part. */
static num along(const text *t, int64_t r, int64_t c, int q)
{
    num s[TILE] = {0};
    for (int g = 0; g < TILE / t->v; g++)
        for (int p = g * t->v; p < (g + 1) * t->v; p++) {
            const num a = conjugate(t, element(t, r * TILE + p, c * TILE + q));
            step(t, a, x_of(t, r * TILE + p), &s[g], t->narrow);
        }
    return halved(t, s, TILE / t->v);
}

static num row_of(const text *t, int64_t i)
{
    const problem *p = t->p;
    num s[WAYS] = {0}, y = {{0}}, alpha = {{0}}, beta = {{0}}, y0;
    for (int64_t tile = 0; tile < (p->n + TILE - 1) / TILE; tile++)
        s[tile % WAYS] = plus(t, s[tile % WAYS], t->vectors[i / TILE][tile][i % TILE]);
    layout_split(t->vector, problem_factor(t->vector, p->alpha), alpha.v);
    layout_split(t->vector, problem_factor(t->vector, p->beta), beta.v);
    layout_split(t->vector, p->y0[i], y0.v);
    step(t, alpha, halved(t, s, WAYS), &y, false);
    if (p->beta[0] != 0) step(t, beta, y0, &y, false);
    return y;
}

static void text_run(const problem *p, bool lower, bool accurate, num *y)
{
    static text t;
    const int64_t tiles = (p->n + TILE - 1) / TILE, bytes = lacis_symv_matrix_bytes(p->type);
    t = (text){.p = p, .lower = lower, .accurate = accurate, .vector = vector_layout(p->type)};
    t.narrow = t.vector.wide && !matrix_layout(p->type).wide;
    t.v = bytes >= 16 ? 1 : (int)(16 / bytes);
    for (int64_t c = 0; c < tiles; c++)
        for (int64_t r = lower ? c : 0; r < (lower ? tiles : c + 1); r++)
            for (int k = 0; k < TILE; k++) {
                t.vectors[r][c][k] = across(&t, r, c, k);
                if (r != c) t.vectors[c][r][k] = along(&t, r, c, k);
            }
    for (int64_t i = 0; i < p->n; i++)
        y[i] = row_of(&t, i);
}

/* --- tests ------------------------------------------------------------------------------------------- */

static void same_bits(const laid *l, const problem *p, const num *want, const char *isa)
{
    for (int64_t i = 0; i < p->n; i++) {
        double y[8] = {0}, expected[4] = {0};
        layout_put(vector_layout(p->type), expected, 0, (pair){0, 0});
        const size_t bytes = layout_bytes(vector_layout(p->type));
        memcpy(y, (const char *)l->job.y + i * (int64_t)bytes, bytes);
        for (int64_t k = 0; k < layout_scalars(vector_layout(p->type)); k++) {
            if (vector_layout(p->type).single) {
                ((float *)expected)[k] = (float)want[i].v[k];
            } else {
                expected[k] = want[i].v[k];
            }
        }
        if (memcmp(y, expected, bytes) != 0)
            fail_msg("type %d n %ld row %ld uplo %d accurate %d: not as written in %s: %.17g, %.17g", p->type,
                     (long)p->n, (long)i, l->job.uplo, l->job.accurate, isa, y[0], expected[0]);
    }
}

static void check_canonical(const problem *p, int uplo, bool accurate)
{
    static const char *const isa[] = {"baseline", "avx2", "avx512"};
    static num want[MOST];
    text_run(p, uplo == 0, accurate, want);
    for (int i = 0; i < 3; i++) {
        const storage s = {(lacis_symv_uplo)uplo, i == 1, i, 1, 1, false, i == 2};
        laid l = laid_out(p, &s);
        l.job.order = LACIS_SYMV_CANONICAL;
        l.job.accurate = accurate;
        l.job.threads = i + 1;
        assert_int_equal(setenv("LACIS_ISA", isa[i], 1), 0);
        assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
        same_bits(&l, p, want, isa[i]);
        laid_free(&l);
    }
    assert_int_equal(unsetenv("LACIS_ISA"), 0);
}

static void canonical_bits_are_as_written(void **state)
{
    static const int64_t sizes[] = {1, 7, 64, 65, 130, 200, MOST};
    (void)state;
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++)
            for (int hermitian = 0; hermitian <= (lacis_symv_complex((lacis_symv_type)type) ? 1 : 0); hermitian++) {
                problem p = problem_new((lacis_symv_type)type, hermitian, sizes[size], 1, size + 11);
                p.alpha[0] = 1.25;
                p.beta[0] = size % 2 == 0 ? 0 : -0.75;
                if (lacis_symv_complex(p.type)) p.alpha[2] = 0.5;
                for (int uplo = 0; uplo < 2; uplo++)
                    for (int accurate = 0; accurate <= (vector_layout(p.type).wide ? 1 : 0); accurate++)
                        check_canonical(&p, uplo, accurate);
                problem_free(&p);
            }
}

/* y and figures of several sides, with so many threads. */
static void run_of(const problem *p, lacis_symv_order order, const storage *s, int threads, char *y,
                   lacis_symv_figures *figures)
{
    const size_t bytes = layout_bytes(vector_layout(p->type));
    laid l = laid_out(p, s);
    l.job.order = order;
    l.job.threads = threads;
    l.job.figures = figures;
    assert_int_equal(lacis_symv_run(&l.job), LACIS_SYMV_OK);
    for (int64_t side = 0; side < p->sides; side++)
        for (int64_t i = 0; i < p->n; i++)
            memcpy(y + (size_t)(side * p->n + i) * bytes,
                   (const char *)l.job.y + (side * l.job.y_side + i * l.job.y_step) * (int64_t)bytes, bytes);
    laid_free(&l);
}

static void compare(const problem *p, lacis_symv_order order, lacis_symv_uplo uplo)
{
    static const int threads[] = {2, 3, 8};
    const size_t bytes = layout_bytes(vector_layout(p->type)) * (size_t)(p->n * p->sides);
    const storage plain = {uplo, false, 0, 1, 1, false, 0}, other = {uplo, true, 0, -3, 2, false, 1};
    char *one = grown(bytes, 1), *more = grown(bytes, 1);
    lacis_symv_figures of_one[8], of_more[8];
    run_of(p, order, &plain, 1, one, of_one);
    for (int i = 0; i < 3; i++) {
        run_of(p, order, i == 2 ? &other : &plain, threads[i], more, of_more);
        assert_memory_equal(one, more, bytes);
        assert_memory_equal(of_one, of_more, sizeof of_one[0] * (size_t)p->sides);
    }
    free(one);
    free(more);
}

static void threads_and_storage_change_no_bit(void **state)
{
    (void)state;
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        for (int size = 0; size < 3; size++) {
            static const int64_t sizes[] = {129, 700, 1300}, sides[] = {3, 6, 1};
            problem p = problem_new((lacis_symv_type)type, type == LACIS_SYMV_C128, sizes[size], sides[size], 99);
            for (int uplo = 0; uplo < 2; uplo++) {
                compare(&p, LACIS_SYMV_FIXED, (lacis_symv_uplo)uplo);
                compare(&p, LACIS_SYMV_CANONICAL, (lacis_symv_uplo)uplo);
            }
            problem_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_bits_are_as_written),
        cmocka_unit_test(threads_and_storage_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
