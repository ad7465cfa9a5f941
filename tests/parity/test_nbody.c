/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields of ACCELERATE and NBODY against sums in long double: every variant, type, order, opening and softening, each
 * instruction set, free points, hard inputs. With LACIS_PARITY=gpu in the environment the GPU's variants, with
 * LACIS_PARITY_GPUS=n on n GPUs where there are so many; LACIS_NBODY_BODIES=n asks for larger systems.
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

int main(void)
{
    unsetenv("LACIS_ISA");
    unsetenv("LACIS_NBODY_WAY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rules, stars_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(softening, stars_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(hard_inputs, stars_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(duplicates, stars_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(larger, stars_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(points, stars_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(instruction_sets, stars_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
