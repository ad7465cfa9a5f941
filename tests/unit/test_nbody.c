/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/nbody on the CPU: fields against direct sums in long double. All types, ways, orders, openings and
 * softenings in each instruction set; error gates; free points; certificates. Hard inputs: test_nbody_hard.c.
 */
#include "unit/nbody_reference.h"

#if defined(__SANITIZE_ADDRESS__)
#define SLOW 1 /* a third of the cases will do: the sanitizer's build is not optimised */
#else
#define SLOW 0
#endif

static const char *const isas[] = {"baseline", "avx2", "avx512"};
/* What direct sums of a type may be off, by the moduli of their terms. */
static double rounding_of(lacis_nbody_type type)
{
    return type == LACIS_NBODY_F64 ? 4e-15 : 2e-6;
}

static void use_isa(int isa)
{
    assert_int_equal(setenv("LACIS_ISA", isas[isa], 1), 0);
}

/* Bodies in a ball, some at one place, some without mass. kind: how softened. */
static bodies mixed_bodies(int64_t n, int kind, uint64_t seed)
{
    bodies b = bodies_new(n, kind == 2);
    b.soften = kind == 1 ? 0.03 : 0;
    b.g = 1.5;
    for (int64_t i = 0; i < n; i++) {
        place_body(&b, i, from_1_to_1(&seed), from_1_to_1(&seed), from_1_to_1(&seed));
        b.column[M][i] = i % 5 == 4 ? 0 : from_0_to_1(&seed);
        if (kind == 2) b.column[EPS][i] = i % 3 == 0 ? 0 : 0.05 * from_0_to_1(&seed);
        if (i % 7 == 6) place_body(&b, i, b.column[X][i - 3], b.column[Y][i - 3], b.column[Z][i - 3]);
    }
    round_to_floats(&b);
    return b;
}

static void all_pairs_are_direct_sums(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 200, 1500};
    (void)state;
    for (int isa = 0; isa < 3; isa++)
        for (int type = 0; type < LACIS_NBODY_TYPES; type++)
            for (int kind = 0; kind < 3; kind++)
                for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                    bodies b = mixed_bodies(sizes[s], kind, s + 1);
                    use_isa(isa);
                    const lacis_nbody_rule rule = {.way = LACIS_NBODY_DIRECT};
                    bodies result = field_of(&b, (lacis_nbody_type)type, &rule, 1 + isa, true);
                    check_distance(&b, &result, (lacis_nbody_type)type, rounding_of((lacis_nbody_type)type), "pairs");
                    bodies_free(&result);
                    bodies_free(&b);
                }
    unsetenv("LACIS_ISA");
}

/* With an opening that takes nothing but cells at one place a tree is a direct sum, too. */
static void trees_that_open_everything_are_direct_sums(void **state)
{
    (void)state;
    for (int isa = 0; isa < 3; isa++)
        for (int type = 0; type < LACIS_NBODY_TYPES; type++)
            for (int kind = 0; kind < 2; kind++) /* cells have a mean of their bodies' own lengths */
                for (int way = LACIS_NBODY_TREE; way < LACIS_NBODY_WAYS; way++) {
                    bodies b = mixed_bodies(1500, kind, 3);
                    use_isa(isa);
                    lacis_nbody_rule rule = gate_rule;
                    rule.way = (lacis_nbody_way)way;
                    rule.theta = 0;
                    rule.expand = 0;
                    rule.leaf = 5;
                    bodies result = field_of(&b, (lacis_nbody_type)type, &rule, 2, true);
                    check_distance(&b, &result, (lacis_nbody_type)type, rounding_of((lacis_nbody_type)type), "tree");
                    bodies_free(&result);
                    bodies_free(&b);
                }
    unsetenv("LACIS_ISA");
}

enum { SAMPLE = 200 };

static void check_tree(const bodies *b, const exact *reference, lacis_nbody_type type, const lacis_nbody_rule *rule,
                       double median, double tail)
{
    bodies result = field_of(b, type, rule, 2, true);
    const distance off = distance_from(reference, &result, SAMPLE);
    if (!(off.median <= median) || !(off.ninety_nine <= tail) || !(off.potential <= tail))
        fail_msg("type %d way %d order %d opening %d expand %g group %d: median %g, 99 %% %g, potential %g", type,
                 rule->way, rule->order, rule->opening, rule->expand, rule->group, off.median, off.ninety_nine,
                 off.potential);
    bodies_free(&result);
}

/* Errors fall with theta as the orders say: bounds that a wrong sign or factor of any term breaks. */
static void trees_keep_their_errors(void **state)
{
    static const struct {
        double median, tail;
    } bound[2] = {{1e-3, 7e-3}, {2.5e-4, 2e-3}};
    (void)state;
    for (int own_eps = 0; own_eps < 2; own_eps++) {
        bodies b = bodies_new(20000, own_eps);
        plummer(&b, 0, b.n, origin, 1, 1, 5);
        b.soften = 0.05;
        for (int64_t i = 0; own_eps && i < b.n; i++)
            b.column[EPS][i] = i % 2 == 0 ? 0.02 : 0.08;
        round_to_floats(&b);
        int64_t sample = SAMPLE;
        exact *reference = exacts_of(&b, &sample);
        for (int isa = 0; isa < 3; isa++)
            for (int type = 0; type < LACIS_NBODY_TYPES; type++)
                for (int order = 0; order < 2; order++)
                    for (int opening = 0; opening < 2; opening++)
                        for (int expand = 0; expand < 2; expand++) {
                            if (SLOW && isa != (type + own_eps) % 3) continue;
                            lacis_nbody_rule rule = gate_rule;
                            rule.way = isa == type ? LACIS_NBODY_INSERT : LACIS_NBODY_TREE;
                            rule.order = (lacis_nbody_order)order;
                            rule.opening = (lacis_nbody_opening)opening;
                            rule.expand = expand == 0 ? 0 : 0.2;
                            rule.group = isa == 0 ? 24 : 0;
                            use_isa(isa);
                            check_tree(&b, reference, (lacis_nbody_type)type, &rule, bound[order].median,
                                       bound[order].tail);
                        }
        free(reference);
        bodies_free(&b);
    }
    unsetenv("LACIS_ISA");
}

/* The gates at theta 0.5, which is of the cube's side there: 0.43 of its half-diagonal. The tail is
 * longer than that of the 500,000 bodies. */
static void error_gates(void **state)
{
    bodies b = bodies_new(20000, false);
    (void)state;
    plummer(&b, 0, b.n, origin, 1, 1, 7);
    b.soften = 0.05;
    round_to_floats(&b);
    int64_t sample = SAMPLE;
    exact *reference = exacts_of(&b, &sample);
    lacis_nbody_rule rule = gate_rule;
    rule.expand = 0;
    rule.theta = 0.43;
    check_tree(&b, reference, LACIS_NBODY_F32, &rule, 2.5e-4, 1.6e-3);
    rule.order = LACIS_NBODY_MONOPOLE;
    check_tree(&b, reference, LACIS_NBODY_F32, &rule, 1e-3, 5e-3);
    free(reference);
    bodies_free(&b);
}

/* The second field goes by the accelerations of the first. */
static void relative_opening(void **state)
{
    bodies b = bodies_new(20000, false);
    (void)state;
    plummer(&b, 0, b.n, origin, 1, 1, 9);
    b.soften = 0.05;
    round_to_floats(&b);
    for (int order = 0; order < 2; order++)
        for (int expand = 0; expand < 2; expand++) {
            counting_host host = {0};
            lacis_nbody *system;
            lacis_nbody_rule rule = gate_rule;
            rule.order = (lacis_nbody_order)order;
            rule.alpha = order == 0 ? 2.5e-3 : 1e-2;
            assert_int_equal(system_new(&b, LACIS_NBODY_F32, &rule, 2, &host, &system), LACIS_NBODY_OK);
            assert_int_equal(lacis_nbody_field(system, false), LACIS_NBODY_OK);
            lacis_nbody_counts first, second;
            lacis_nbody_counted(system, &first, true);
            rule.opening = LACIS_NBODY_RELATIVE;
            rule.theta = 1.2;
            rule.expand = expand == 0 ? 0 : 0.2;
            lacis_nbody_set_rule(system, &rule);
            assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
            lacis_nbody_counted(system, &second, true);
            bodies result = system_read(system, &b, LACIS_NBODY_F32);
            const distance off = distance_of(&b, &result, 400);
            if (!(off.median < 1.2e-3) || !(off.ninety_nine < 3.7e-3)) fail_msg("%g %g", off.median, off.ninety_nine);
            assert_true(second.visits < first.visits); /* and is cheaper */
            assert_true(expand == 0 ? second.expanded == 0 : second.expanded > 0);
            bodies_free(&result);
            lacis_nbody_free(system);
        }
    bodies_free(&b);
}

static void certificates_say_what_is(void **state)
{
    bodies b = mixed_bodies(3000, 2, 11);
    (void)state;
    for (int type = 0; type < LACIS_NBODY_TYPES; type++) {
        counting_host host = {0};
        lacis_nbody *system;
        lacis_nbody_errors errors;
        assert_int_equal(system_new(&b, (lacis_nbody_type)type, &gate_rule, 2, &host, &system), LACIS_NBODY_OK);
        assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
        lacis_nbody_counts before, after;
        lacis_nbody_counted(system, &before, false);
        assert_int_equal(lacis_nbody_certify(system, 300, &errors), LACIS_NBODY_OK);
        lacis_nbody_counted(system, &after, false);
        assert_memory_equal(&before, &after, sizeof before);
        bodies result = system_read(system, &b, (lacis_nbody_type)type);
        const distance off = distance_of(&b, &result, 300);
        assert_int_equal(errors.sample, 300);
        assert_true(fabs(errors.relative[0] / off.median - 1) < 1e-6);
        assert_true(fabs(errors.relative[2] / off.ninety_nine - 1) < 1e-6);
        assert_true(fabs(errors.scaled[3] / off.field - 1) < 1e-6);
        bodies_free(&result);
        lacis_nbody_free(system);
    }
    bodies_free(&b);
}

static void check_points(const bodies *b, lacis_nbody_type type, const lacis_nbody_rule *rule, double bound)
{
    enum { POINTS = 150 };
    double place[3][POINTS];
    uint64_t seed = 21;
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < 3; k++) /* the last hundred at bodies */
            place[k][i] = i < 50 ? (double)(float)(3 * from_1_to_1(&seed)) : b->column[X + k][i];
    void *in[3], *out[4];
    for (int k = 0; k < 3; k++)
        in[k] = column_in(place[k], POINTS, type);
    for (int k = 0; k < 4; k++)
        out[k] = calloc(POINTS, sizeof(double));
    counting_host host = {0};
    lacis_nbody *system;
    assert_int_equal(system_new(b, type, rule, 2, &host, &system), LACIS_NBODY_OK);
    assert_int_equal(lacis_nbody_points(system, POINTS, in[0], in[1], in[2], out[0], out[1], out[2], out[3]),
                     LACIS_NBODY_OK);
    assert_int_equal(lacis_nbody_points(system, 0, in[0], in[1], in[2], out[0], out[1], out[2], NULL),
                     LACIS_NBODY_OK);
    const double eps = b->column[EPS] != NULL ? 0 : b->soften;
    for (int i = 0; i < POINTS; i++) {
        const double at[3] = {place[0][i], place[1][i], place[2][i]};
        const exact e = exact_at(b, at, eps * eps, -1);
        for (int k = 0; k < 3; k++)
            assert_true(fabsl(element_of(out[k], i, type) - e.a[k]) <= bound * e.modulus);
        assert_true(fabsl(element_of(out[3], i, type) - e.phi) <= bound * e.deep);
    }
    lacis_nbody_free(system);
    assert_int_equal(host.blocks, 0);
    for (int k = 0; k < 4; k++)
        free(out[k]);
    for (int k = 0; k < 3; k++)
        free(in[k]);
}

static void free_points(void **state)
{
    (void)state;
    for (int type = 0; type < LACIS_NBODY_TYPES; type++)
        for (int kind = 0; kind < 3; kind++) {
            bodies b = mixed_bodies(2000, kind, 13);
            lacis_nbody_rule rule = {.way = LACIS_NBODY_DIRECT};
            check_points(&b, (lacis_nbody_type)type, &rule, rounding_of((lacis_nbody_type)type));
            check_points(&b, (lacis_nbody_type)type, &gate_rule, 3e-3);
            bodies_free(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_are_direct_sums),
        cmocka_unit_test(trees_that_open_everything_are_direct_sums),
        cmocka_unit_test(trees_keep_their_errors),
        cmocka_unit_test(error_gates),
        cmocka_unit_test(relative_opening),
        cmocka_unit_test(certificates_say_what_is),
        cmocka_unit_test(free_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
