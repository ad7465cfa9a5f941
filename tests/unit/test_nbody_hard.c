/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/nbody on the CPU: inputs that trees find hard, against direct sums in long double: points, lines, planes,
 * clusters far apart, duplicates, far units, no mass, and numbers that are none.
 */
#include "unit/nbody_reference.h"

static void check_hard(const bodies *b, double bound, const char *what)
{
    for (int type = 0; type < LACIS_NBODY_TYPES; type++)
        for (int way = LACIS_NBODY_TREE; way < LACIS_NBODY_WAYS; way++) {
            lacis_nbody_rule rule = gate_rule;
            rule.way = (lacis_nbody_way)way;
            rule.expand = 0.15;
            bodies result = field_of(b, (lacis_nbody_type)type, &rule, 2, true);
            check_distance(b, &result, (lacis_nbody_type)type, bound, what);
            bodies_free(&result);
        }
}

static void lines_planes_and_places(void **state)
{
    (void)state;
    for (int softened = 0; softened < 2; softened++)
        for (int shape = 0; shape < 4; shape++) {
            bodies b = bodies_new(4000, false);
            uint64_t seed = 17;
            b.soften = softened == 1 ? 0.01 : 0;
            for (int64_t i = 0; i < b.n; i++) {
                const double u = from_1_to_1(&seed), v = from_1_to_1(&seed);
                if (shape == 0) place_body(&b, i, 3, -2, 5);         /* a point */
                if (shape == 1) place_body(&b, i, u, 2 * u + 1, -u); /* a line */
                if (shape == 2) place_body(&b, i, u, v, u - v);      /* a plane */
                if (shape == 3) place_body(&b, i, i % 3 == 0 ? 1 : u, i % 3 == 0 ? 1 : v, i % 3 == 0 ? 1 : u * v);
                b.column[M][i] = from_0_to_1(&seed);
            }
            round_to_floats(&b);
            check_hard(&b, 4e-3, "shape");
            bodies_free(&b);
        }
}

/* 1e6 radii apart, and a third one a million times smaller still: each as exact as if it were alone. */
static void clusters_far_apart(void **state)
{
    bodies b = bodies_new(9000, false);
    const double far[3] = {1e6, 1e6, 1e6}, aside[3] = {3, 0, 0};
    (void)state;
    plummer(&b, 0, 3000, origin, 1, 1, 31);
    plummer(&b, 3000, 6000, far, 1, 100, 32);
    plummer(&b, 6000, 9000, aside, 1e-6, 1e-3, 33);
    round_to_floats(&b);
    check_hard(&b, 4e-3, "clusters");
    counting_host host = {0};
    lacis_nbody *system;
    lacis_nbody_counts counts;
    lacis_nbody_rule rule = gate_rule;
    rule.leaf = 8;
    rule.group = 16;
    assert_int_equal(system_new(&b, LACIS_NBODY_F64, &rule, 2, &host, &system), LACIS_NBODY_OK);
    assert_int_equal(lacis_nbody_field(system, false), LACIS_NBODY_OK);
    lacis_nbody_counted(system, &counts, false);
    if (!(counts.p2p + counts.m2p < 1200.0 * (double)b.n)) /* resolved, not summed pair by pair */
        fail_msg("%g pairs, %g cells a body", counts.p2p / (double)b.n, counts.m2p / (double)b.n);
    lacis_nbody_free(system);
    bodies_free(&b);
}

static void a_million_duplicates(void **state)
{
    bodies b = bodies_new(1000100, false);
    (void)state;
    uint64_t seed = 41;
    for (int64_t i = 0; i < b.n; i++) {
        if (i % 10001 == 0) {
            place_body(&b, i, from_1_to_1(&seed), from_1_to_1(&seed), from_1_to_1(&seed));
        } else {
            place_body(&b, i, 0.25, 0.25, 0.25);
        }
        b.column[M][i] = 1e-6 * (double)(1 + i % 3);
        b.column[VX][i] = from_1_to_1(&seed);
    }
    b.soften = 0.01;
    round_to_floats(&b);
    for (int way = LACIS_NBODY_TREE; way < LACIS_NBODY_WAYS; way++) {
        lacis_nbody_rule rule = gate_rule;
        rule.way = (lacis_nbody_way)way;
        counting_host host = {0};
        lacis_nbody *system;
        lacis_nbody_counts counts;
        assert_int_equal(system_new(&b, LACIS_NBODY_F32, &rule, 2, &host, &system), LACIS_NBODY_OK);
        assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
        lacis_nbody_counted(system, &counts, false);
        assert_true(counts.p2p < 1e3 * (double)b.n);
        bodies result = system_read(system, &b, LACIS_NBODY_F32);
        const distance off = distance_of(&b, &result, 20);
        assert_true(off.field < 1e-3 && off.potential < 1e-5);
        bodies_free(&result);
        lacis_nbody_free(system);
    }
    bodies_free(&b);
}

/* Metres and kilograms: products of moments would overflow floats. */
static void any_units(void **state)
{
    static const double length[] = {1e12, 1e-12}, mass[] = {1e30, 1e-25};
    (void)state;
    for (int u = 0; u < 2; u++) {
        bodies b = bodies_new(5000, false);
        plummer(&b, 0, b.n, origin, length[u], mass[u], 51);
        b.soften = 0.01 * length[u];
        b.g = 6.674e-11;
        round_to_floats(&b);
        check_hard(&b, 4e-3, "units");
        bodies_free(&b);
    }
}

static void bodies_without_mass(void **state)
{
    bodies b = bodies_new(3000, false);
    (void)state;
    plummer(&b, 0, b.n, origin, 1, 1, 61);
    for (int64_t i = 0; i < b.n; i++)
        b.column[M][i] = i % 100 == 0 ? 1 : 0;
    round_to_floats(&b);
    check_hard(&b, 4e-3, "tracers");
    for (int64_t i = 0; i < b.n; i++)
        b.column[M][i] = 0;
    bodies result = field_of(&b, LACIS_NBODY_F32, &gate_rule, 2, true);
    for (int64_t i = 0; i < b.n; i++)
        assert_true(result.column[AX][i] == 0 && result.column[AY][i] == 0 && result.column[PHI][i] == 0);
    bodies_free(&result);
    bodies_free(&b);
}

/* What a run may come to: it ends soon, and says so by what is not finite. */
static void bodies_beyond_all_numbers(void **state)
{
    (void)state;
    for (int type = 0; type < LACIS_NBODY_TYPES; type++)
        for (int all = 0; all < 2; all++) {
            bodies b = bodies_new(50000, false);
            plummer(&b, 0, b.n, origin, 1, 1, 81);
            for (int64_t i = 0; i < b.n; i += all == 1 ? 1 : 25000)
                place_body(&b, i, i % 50000 == 0 ? NAN : INFINITY, -INFINITY, 1);
            counting_host host = {0};
            lacis_nbody *system;
            lacis_nbody_counts counts;
            assert_int_equal(system_new(&b, (lacis_nbody_type)type, &gate_rule, 2, &host, &system), LACIS_NBODY_OK);
            assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
            lacis_nbody_counted(system, &counts, false);
            assert_true(counts.p2p < 2000.0 * (double)b.n);
            bodies result = system_read(system, &b, (lacis_nbody_type)type);
            assert_false(isfinite(result.column[AX][0]));
            bodies_free(&result);
            lacis_nbody_free(system);
            bodies_free(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_planes_and_places), cmocka_unit_test(clusters_far_apart),
        cmocka_unit_test(a_million_duplicates),    cmocka_unit_test(any_units),
        cmocka_unit_test(bodies_without_mass),     cmocka_unit_test(bodies_beyond_all_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
