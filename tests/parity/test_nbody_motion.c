/* SPDX-License-Identifier: Apache-2.0
 *
 * NBODY's motion in every variant and type: against leapfrog in long double, and bits: of runs cut in two, of bodies
 * in any order, of any number of threads. With LACIS_PARITY=gpu in the environment the GPU's variants, with
 * LACIS_PARITY_GPUS=n on n GPUs where there are so many.
 */
#include "parity/bodies.h"

/* ---------------------------------------------------------------------------------------------- motion */

/* Leapfrog in long double. */
static void steps(const stars *s, double soften, int count, double dt, real *x, real *v)
{
    stars now = stars_new(ZERO, s->n, 1);
    memcpy(now.at[M], s->at[M], sizeof(double) * (size_t)s->n);
    for (int64_t i = 0; i < s->n; i++)
        for (int k = 0; k < 3; k++) {
            x[3 * i + k] = s->at[X + k][i];
            v[3 * i + k] = s->at[VX + k][i];
            now.at[X + k][i] = s->at[X + k][i];
        }
    for (int step = 0; step <= count; step++) {
        sums *a = direct_all(&now, soften, 1);
        const real kick = dt * (step == 0 || step == count ? 0.5L : 1);
        for (int64_t i = 0; i < 3 * s->n; i++) {
            v[i] += kick * a[i / 3].a[i % 3];
            if (step < count) x[i] += dt * v[i];
            now.at[X + i % 3][i / 3] = (double)x[i];
        }
        free(a);
    }
    stars_free(&now);
}

typedef struct trajectory {
    const char *text;
    const type *type;
    int64_t n;
    const real *x, *v;
    double bound;
} trajectory;

static void check_motion(parity *p, const lacis_call *call, const lacis_variant *variant, void *context)
{
    static const char *const name[6] = {"x", "y", "z", "vx", "vy", "vz"};
    const trajectory *t = context;
    lacis_array *array = run_whole(p, call, variant, t->text);
    assert_int_equal(lacis_array_dtype(array), t->type->dtype);
    for (int c = 0; c < 6; c++)
        for (int64_t i = 0; i < t->n; i++) {
            const double found = number_at(array, name[c], i), wanted = (double)(c < 3 ? t->x : t->v)[3 * i + c % 3];
            if (!(fabs(found - wanted) <= t->bound))
                fail_msg("%s (%s): %s of body %lld is %.17g, expected %.17g", t->text, variant->name, name[c],
                         (long long)i, found, wanted);
        }
    assert_true(fabs(number_at(array, "time", 0) - 0.3) < 1e-12);
    lacis_array_release(array);
}

/* With THETA 0 a tree's sums are all pairs in another order. */
static void motion(void **state)
{
    parity *p = *state;
    stars s = stars_new(PLUMMER, 60, 31);
    real *x = calloc(3 * 60, sizeof *x), *v = calloc(3 * 60, sizeof *v);
    steps(&s, 0.1, 30, 0.01, x, v);
    lacis_array *array = stars_array(p, &s, LACIS_F64);
    const named arrays[] = {{"g", array}, {NULL, NULL}};
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        char text[160];
        snprintf(text, sizeof text, "NBODY g STEPS 30 DT 0.01 SOFTEN 0.1 THETA 0 TYPE %s", types[t].word);
        trajectory wanted = {text, &types[t], s.n, x, v, types[t].unit * 1000};
        each_variant(p, text, arrays, check_motion, &wanted);
    }
    lacis_array_release(array);
    stars_free(&s);
    free(x);
    free(v);
}

/* ------------------------------------------------------------------------------------------------- bits */

static const char *const moving[] = {
    "THETA 0.6",
    "THETA 0.6 ORDER monopole OPENING offset POTENTIAL",
    "ALPHA 0.01",
    "ALPHA 0.005 ORDER monopole",
};

/* A run in one, against the same in two. */
static void check_resume(parity *p, const lacis_call *call, const lacis_variant *variant, void *context)
{
    char first[200], second[200];
    const char *clauses = context;
    const lacis_arg *operand = lacis_call_arg(call, NULL);
    lacis_array *whole = run_whole(p, call, variant, clauses);
    const named given[] = {{"g", operand->item[0].array}, {NULL, NULL}};
    snprintf(first, sizeof first, "NBODY g STEPS 10 DT 0.013 %s", clauses);
    snprintf(second, sizeof second, "NBODY h STEPS 13 DT 0.013 %s", clauses);
    lacis_array *half = run_named(p, first, given, variant->name);
    const named made[] = {{"h", half}, {NULL, NULL}};
    lacis_array *both = run_named(p, second, made, variant->name);
    same_arrays(whole, both, clauses, variant->name);
    lacis_array_release(whole);
    lacis_array_release(half);
    lacis_array_release(both);
}

static void resume(void **state)
{
    parity *p = *state;
    p->host.deterministic = parity_on_gpu(); /* whose bits are its own without */
    stars s = stars_new(PLUMMER, 700, 41);
    for (int i = 0; i < LACIS_COUNT(moving); i++)
        for (int t = 0; t < LACIS_COUNT(types); t++) {
            char text[200], clauses[160];
            s.own_eps = i == 1;
            lacis_array *array = stars_array(p, &s, types[t].dtype);
            const named arrays[] = {{"g", array}, {NULL, NULL}};
            snprintf(clauses, sizeof clauses, "%s TYPE %s%s", moving[i], types[t].word,
                     s.own_eps ? "" : " SOFTEN 0.05");
            snprintf(text, sizeof text, "NBODY g STEPS 23 DT 0.013 %s", clauses);
            each_variant(p, text, arrays, check_resume, clauses);
            lacis_array_release(array);
        }
    p->host.deterministic = false;
    stars_free(&s);
}

/* Accelerations of the array by id. */
static void by_id(const lacis_array *array, int64_t n, double *out)
{
    static const char *const name[6] = {"x", "y", "z", "ax", "ay", "az"};
    lacis_part *id = (lacis_part *)(uintptr_t)lacis_array_part_named(array, "id");
    for (int c = 0; c < 6; c++)
        for (int64_t i = 0; i < n; i++)
            out[6 * (id == NULL ? i : ((const int64_t *)id->data)[i]) + c] = number_at(array, name[c], i);
}

typedef struct orders {
    const char *text;
    shape kind;
    lacis_array *other; /* the same bodies in another order */
    int64_t n;
} orders;

static void check_order(parity *p, const lacis_call *call, const lacis_variant *variant, void *context)
{
    const orders *o = context;
    const size_t bytes = 6 * (size_t)o->n * sizeof(double);
    double *a = calloc(1, bytes), *b = calloc(1, bytes);
    lacis_array *one = run_whole(p, call, variant, o->text);
    const named arrays[] = {{"g", o->other}, {NULL, NULL}};
    lacis_array *two = run_named(p, o->text, arrays, variant->name);
    by_id(one, o->n, a);
    by_id(two, o->n, b);
    if (memcmp(a, b, bytes) != 0)
        fail_msg("%s (%s), %s: other bits for bodies in another order", o->text, variant->name, shape_name[o->kind]);
    lacis_array_release(one);
    lacis_array_release(two);
    free(a);
    free(b);
}

static void any_order(void **state)
{
    static const shape shapes[] = {PLUMMER, HEAPS, LATTICE, TRACERS};
    parity *p = *state;
    p->host.deterministic = true;
    for (int i = 0; i < LACIS_COUNT(shapes); i++)
        for (int t = 0; t < LACIS_COUNT(types); t++) {
            char text[160];
            stars s = stars_new(shapes[i], 1200, 51), other = stars_shuffled(&s, 5);
            lacis_array *array = stars_array(p, &s, types[t].dtype),
                        *shuffled = stars_array(p, &other, types[t].dtype);
            const named arrays[] = {{"g", array}, {NULL, NULL}};
            snprintf(text, sizeof text, "NBODY g STEPS 2 DT 0.01 SOFTEN 0.1 %s TYPE %s", moving[t], types[t].word);
            orders o = {text, shapes[i], shuffled, s.n};
            each_variant(p, text, arrays, check_order, &o);
            lacis_array_release(array);
            lacis_array_release(shuffled);
            stars_free(&s);
            stars_free(&other);
        }
    p->host.deterministic = false;
}

/* On the CPU: any number of threads; again on any device. */
static void check_threads(parity *p, const lacis_call *call, const lacis_variant *variant, void *context)
{
    const char *text = context;
    const lacis_arg *operand = lacis_call_arg(call, NULL);
    const named arrays[] = {{"g", operand->item[0].array}, {NULL, NULL}};
    lacis_array *first = run_whole(p, call, variant, text);
    for (int threads = 1; threads <= 3; threads += 2) {
        if (variant->device == LACIS_CPU) p->host.threads = threads;
        lacis_array *again = run_named(p, text, arrays, variant->name);
        same_arrays(first, again, text, variant->name);
        lacis_array_release(again);
    }
    lacis_array_release(first);
}

static void threads(void **state)
{
    parity *p = *state;
    stars s = stars_new(PLUMMER, 3000, 61);
    lacis_array *array = stars_array(p, &s, LACIS_F32);
    const named arrays[] = {{"g", array}, {NULL, NULL}};
    for (int i = 0; i < LACIS_COUNT(moving); i++) {
        char text[160];
        p->host.threads = 2;
        p->host.deterministic = parity_on_gpu();
        snprintf(text, sizeof text, "NBODY g STEPS 2 DT 0.01 SOFTEN 0.1 %s", moving[i]);
        each_variant(p, text, arrays, check_threads, text);
    }
    p->host.deterministic = false;
    lacis_array_release(array);
    stars_free(&s);
}

int main(void)
{
    unsetenv("LACIS_ISA");
    unsetenv("LACIS_NBODY_WAY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(motion, stars_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(resume, stars_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(any_order, stars_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(threads, stars_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
