/* SPDX-License-Identifier: Apache-2.0
 *
 * ACCELERATE and NBODY against sums and steps in long double: every variant, type, order, opening and softening, free
 * points, hard inputs; bits of runs cut in two, of any number of threads, and of bodies in any order. With
 * LACIS_PARITY=gpu in the environment the GPU's variants, with LACIS_PARITY_GPUS=n on n GPUs where there are so many;
 * LACIS_NBODY_BODIES=n asks for larger systems.
 */
#include "parity/bodies.h"

/* Where every access is looked at, fewer bodies take as long. */
#if defined(__SANITIZE_ADDRESS__)
enum { FEW = 400, MANY = 5000, HARD = 150 };
#else
enum { FEW = 1300, MANY = 20000, HARD = 250 };
#endif

static int64_t bodies_asked(int64_t otherwise)
{
    const char *text = getenv("LACIS_NBODY_BODIES");
    return text != NULL && *text != '\0' ? atoll(text) : otherwise;
}

/* Which bodies a test is at, for messages. */
static char at_bodies[80];

static void at(shape kind, int64_t n)
{
    snprintf(at_bodies, sizeof at_bodies, "%s of %lld", shape_name[kind], (long long)n);
}

/* ---------------------------------------------------------------------------------------------- fields */

/* What forces may be off. Sums of n terms in one type: some units of their moduli; a tree's error is its own. */
static double rounding(const type *of, int64_t n)
{
    return of->unit * (60 + 4 * sqrt((double)n));
}

typedef struct expected {
    const char *text;
    const type *type;
    const sums *sums;
    int64_t n;
    bool potential;
    double median, most99, scaled; /* of trees */
} expected;

static void judge(const expected *e, const char *how, bool tree, const errors *found)
{
    const double bound = rounding(e->type, e->n), scaled = tree ? e->scaled + bound : bound;
    if (!(found->scaled <= scaled && (!e->potential || found->phi <= scaled)))
        fail_msg("%s (%s), %s: accelerations are off by %.3g of their moduli, potentials by %.3g; bound %.3g",
                 e->text, how, at_bodies, found->scaled, found->phi, scaled);
    if (tree && !(found->median <= e->median + 4 * bound && found->most99 <= e->most99 + 100 * bound))
        fail_msg("%s (%s), %s: relative errors %.3g (median), %.3g (99 %%); bounds %.3g, %.3g", e->text, how,
                 at_bodies, found->median, found->most99, e->median, e->most99);
}

static void check_field(parity *p, const lacis_call *call, const lacis_variant *variant, void *context)
{
    const expected *e = context;
    lacis_array *array = run_whole(p, call, variant, e->text);
    const lacis_part *ax = lacis_array_part_named(array, "ax");
    assert_non_null(ax);
    assert_int_equal(ax->dtype, e->type->dtype);
    assert_int_equal(ax->count, e->n);
    const errors found = errors_of(array, e->sums, e->n, e->potential);
    judge(e, variant->name, is_tree(variant), &found);
    lacis_array_release(array);
}

/* Every variant and type, from arrays of floats and of doubles by turns. */
static void fields_of(parity *p, const stars *s, const char *clauses, double soften, double g, double median,
                      double most99, double scaled)
{
    char text[256];
    sums *exact = direct_all(s, soften, g);
    for (int t = 0; t < LACIS_COUNT(types); t++)
        for (int from = 0; from < 2; from++) {
            lacis_array *array = stars_array(p, s, from == 0 ? LACIS_F32 : LACIS_F64);
            const named arrays[] = {{"g", array}, {NULL, NULL}};
            const bool motion = (t + from) % 2 == 1;
            snprintf(text, sizeof text, "%s g %s TYPE %s POTENTIAL", motion ? "NBODY" : "ACCELERATE", clauses,
                     types[t].word);
            expected e = {text, &types[t], exact, s->n, true, median, most99, scaled};
            each_variant(p, text, arrays, check_field, &e);
            lacis_array_release(array);
        }
    free(exact);
}

/* Each rule by about what it promises. So few bodies are grouped coarsely: the gates, (1e-3, 5e-3) and
 * (2.5e-4, 1e-3) at theta 0.5, are of 500,000 and more (larger); without quadrupoles, moments or the trace all of
 * these bounds break. */
static void rules(void **state)
{
    static const struct {
        const char *clauses;
        double median, most99;
    } cases[] = {
        {"THETA 0.5 ORDER monopole", 1.5e-3, 1.2e-2},
        {"THETA 0.5 ORDER quadrupole", 5e-4, 4e-3},
        {"", 5e-4, 4e-3},
        {"THETA 0.5 OPENING offset ORDER monopole", 1.5e-3, 1.2e-2},
        {"THETA 0.5 OPENING offset", 5e-4, 4e-3},
        {"ALPHA 0.002 ORDER monopole", 2e-3, 6e-3},
        {"ALPHA 0.002", 1e-3, 4e-3},
        {"OPENING relative ALPHA 1e-5 THETA 0.6", 1e-4, 5e-4},
        {"THETA 0", 0, 0},
    };
    const int64_t n = FEW;
    for (int kind = PLUMMER; kind <= RANGE; kind++) {
        stars s = stars_new((shape)kind, n, 7 + (uint64_t)kind);
        at((shape)kind, n);
        for (int i = 0; i < LACIS_COUNT(cases); i++) {
            char clauses[128];
            snprintf(clauses, sizeof clauses, "%s SOFTEN 0.05", cases[i].clauses);
            const double cancel = kind == SPHERE ? 4 : 1; /* forces inside it do */
            fields_of(*state, &s, clauses, 0.05, 1, cancel * cases[i].median, cancel * cases[i].most99, 4e-2);
        }
        stars_free(&s);
    }
}

static void softening(void **state)
{
    stars s = stars_new(PLUMMER, FEW, 3);
    at(PLUMMER, FEW);
    fields_of(*state, &s, "THETA 0.5", 0, 1, 7e-4, 6e-3, 3e-2);
    fields_of(*state, &s, "THETA 0.5 SOFTEN 1 G 6.674e-11", 1, 6.674e-11, 5e-4, 4e-3, 3e-2);
    fields_of(*state, &s, "THETA 0.5 SOFTEN 0.05 G -2", 0.05, -2, 5e-4, 4e-3, 3e-2);
    s.own_eps = true;
    fields_of(*state, &s, "THETA 0.5", 0, 1, 5e-4, 4e-3, 3e-2);
    fields_of(*state, &s, "THETA 0.5 ORDER monopole", 0, 1, 1.5e-3, 1.2e-2, 4e-2);
    s.own_eps = false;
    fields_of(*state, &s, "THETA 0.5 SOFTEN 0", 0, 1, 7e-4, 6e-3, 3e-2);
    stars_free(&s);
}

static void hard_inputs(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 9, 65, HARD};
    for (int kind = 0; kind < SHAPES; kind++)
        for (int i = 0; i < LACIS_COUNT(sizes); i++) {
            stars s = stars_new((shape)kind, sizes[i], 11);
            at((shape)kind, sizes[i]);
            fields_of(*state, &s, "THETA 0", 0, 1, 0, HUGE_VAL, 0);
            fields_of(*state, &s, "THETA 0.4", 0, 1, HUGE_VAL, HUGE_VAL, 4e-2);
            fields_of(*state, &s, "THETA 0.4 SOFTEN 0.1", 0.1, 1, HUGE_VAL, HUGE_VAL, 4e-2);
            stars_free(&s);
        }
}

/* So many bodies at one place that no tree tells them apart; sums are known without a reference. */
static void duplicates(void **state)
{
    parity *p = *state;
    const int64_t n = bodies_asked(MANY);
    stars s = stars_new(POINT, n, 1);
    lacis_array *array = stars_array(p, &s, LACIS_F64);
    const named arrays[] = {{"g", array}, {NULL, NULL}};
    sums *exact = calloc((size_t)n, sizeof *exact);
    for (int64_t i = 0; i < n; i++) {
        const real phi = (real)s.at[M][0] * (real)(n - 1) / 0.5L;
        exact[i] = (sums){{0, 0, 0}, -phi, 0, phi};
    }
    expected e = {"ACCELERATE g SOFTEN 0.5 POTENTIAL", &types[1], exact, n, true, 0, 0, 0};
    each_variant(p, e.text, arrays, check_field, &e);
    free(exact);
    lacis_array_release(array);
    stars_free(&s);
}

/* The gates on a larger system, against the certificate, which the smaller ones check. */
static void certified(parity *p, const lacis_call *call, const lacis_variant *variant, void *context)
{
    const expected *e = context;
    lacis_array *array = run_whole(p, call, variant, e->text);
    errors found;
    double *relative = calloc(500, sizeof *relative);
    const int64_t sample = 500;
    const stars *s = (const stars *)e->sums; /* of which a sample is summed here */
    for (int64_t t = 0; t < sample; t++) {
        const int64_t i = t * s->n / sample;
        double at[3];
        place_of(s, i, at);
        const sums one = direct(s, 0.05, 1, at, i);
        real off = 0, size = 0;
        static const char *const axis[3] = {"ax", "ay", "az"};
        for (int k = 0; k < 3; k++) {
            const real d = (real)number_at(array, axis[k], i) - one.a[k];
            off += d * d;
            size += one.a[k] * one.a[k];
        }
        relative[t] = (double)sqrtl(off / size);
    }
    qsort(relative, (size_t)sample, sizeof *relative, by_value);
    found = (errors){.median = quantile(relative, sample, 0.5), .most99 = quantile(relative, sample, 0.99)};
    if (!(found.median <= e->median && found.most99 <= e->most99))
        fail_msg("%s (%s): relative errors %.3g (median), %.3g (99 %%) of %lld bodies", e->text, variant->name,
                 found.median, found.most99, (long long)s->n);
    free(relative);
    lacis_array_release(array);
}

static void larger(void **state)
{
    parity *p = *state;
    stars s = stars_new(PLUMMER, bodies_asked(MANY), 5);
    lacis_array *array = stars_array(p, &s, LACIS_F32);
    const named arrays[] = {{"g", array}, {NULL, NULL}};
    const double few = s.n < 500000 ? 2.5 : 1; /* bodies a group are many of them */
    expected monopole = {"ACCELERATE g THETA 0.5 ORDER monopole SOFTEN 0.05", &types[0], NULL, s.n, false, 0, 0, 0};
    expected quadrupole = {"ACCELERATE g THETA 0.5 SOFTEN 0.05", &types[0], NULL, s.n, false, 0, 0, 0};
    monopole.median = few * 1e-3;
    monopole.most99 = few * 5e-3;
    quadrupole.median = few * 2.5e-4;
    quadrupole.most99 = few * 1e-3;
    monopole.sums = quadrupole.sums = (const sums *)&s;
    each_variant(p, monopole.text, arrays, certified, &monopole);
    each_variant(p, quadrupole.text, arrays, certified, &quadrupole);
    lacis_array_release(array);
    stars_free(&s);
}

/* ---------------------------------------------------------------------------------------------- points */

enum { POINTS = 300 };

static sums *direct_points(const stars *s, const stars *points, double soften)
{
    sums *out = calloc((size_t)points->n + 1, sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < points->n; i++) {
        double at[3];
        place_of(points, i, at);
        out[i] = direct(s, soften, 1, at, -1);
    }
    return out;
}

/* Points of every kind: apart from the bodies, far away, and at places of bodies. */
static stars some_points(const stars *s)
{
    stars points = stars_new(SPHERE, POINTS, 99);
    for (int64_t i = 0; i < POINTS; i++)
        for (int k = 0; k < 3; k++) {
            if (i % 3 == 1) points.at[X + k][i] = (float)(points.at[X + k][i] * 100);
            if (i % 3 == 2) points.at[X + k][i] = s->at[X + k][i % s->n];
        }
    return points;
}

static void points_of(parity *p, const stars *s, const char *clauses, double soften)
{
    char text[256];
    stars points = some_points(s);
    sums *exact = direct_points(s, &points, soften);
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        lacis_array *g = stars_array(p, s, LACIS_F64), *at = stars_array(p, &points, t == 1 ? LACIS_F32 : LACIS_F64);
        const named arrays[] = {{"g", g}, {"p", at}, {NULL, NULL}};
        snprintf(text, sizeof text, "ACCELERATE g AT p %s TYPE %s POTENTIAL CERTIFY 7", clauses, types[t].word);
        expected e = {text, &types[t], exact, points.n, true, 5e-4, HUGE_VAL, 2e-2};
        each_variant(p, text, arrays, check_field, &e);
        lacis_array_release(g);
        lacis_array_release(at);
    }
    free(exact);
    stars_free(&points);
}

static void points(void **state)
{
    stars s = stars_new(PLUMMER, 1200, 21);
    points_of(*state, &s, "SOFTEN 0.05", 0.05);
    points_of(*state, &s, "", 0);
    s.own_eps = true;
    points_of(*state, &s, "", 0);
    stars_free(&s);
}

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
        fail_msg("%s (%s), %s: other bits for bodies in another order", o->text, variant->name, at_bodies);
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
            at(shapes[i], 1200);
            lacis_array *array = stars_array(p, &s, types[t].dtype),
                        *shuffled = stars_array(p, &other, types[t].dtype);
            const named arrays[] = {{"g", array}, {NULL, NULL}};
            snprintf(text, sizeof text, "NBODY g STEPS 2 DT 0.01 SOFTEN 0.1 %s TYPE %s", moving[t], types[t].word);
            orders o = {text, shuffled, s.n};
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

/* Each instruction set keeps the bounds; which ones there are is the processor's. */
static void instruction_sets(void **state)
{
    static const char *const isa[] = {"baseline", "avx2", "avx512"};
    stars s = stars_new(PLUMMER, 777, 71);
    for (int i = 0; i < LACIS_COUNT(isa) && !parity_on_gpu(); i++) {
        setenv("LACIS_ISA", isa[i], 1);
        fields_of(*state, &s, "THETA 0.5 SOFTEN 0.05", 0.05, 1, 5e-4, 5e-3, 3e-2);
        s.own_eps = true;
        fields_of(*state, &s, "THETA 0.5 ORDER monopole", 0, 1, 1.5e-3, 1.2e-2, 4e-2);
        s.own_eps = false;
    }
    unsetenv("LACIS_ISA");
    stars_free(&s);
}

static int setup(void **state)
{
    const char *gpus = getenv("LACIS_PARITY_GPUS");
    const int code = parity_setup(state);
    parity *p = *state;
    if (code == 0 && gpus != NULL) p->host.gpus = atoi(gpus);
    return code;
}

int main(void)
{
    unsetenv("LACIS_ISA");
    unsetenv("LACIS_NBODY_WAY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rules, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(softening, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(hard_inputs, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(duplicates, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(larger, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(points, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(motion, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(resume, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(any_order, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(threads, setup, parity_teardown),
        cmocka_unit_test_setup_teardown(instruction_sets, setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
