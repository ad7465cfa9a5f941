/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/nbody on the CPU: motion and what has to have the same bits: any number of threads, any order of the
 * bodies, steps together or one by one, runs that go on; and what happens when memory or patience ends.
 */
#include "unit/nbody_reference.h"

static const lacis_nbody_rule usual = {.way = LACIS_NBODY_TREE,
                                       .order = LACIS_NBODY_QUADRUPOLE,
                                       .opening = LACIS_NBODY_RELATIVE,
                                       .theta = 0.7,
                                       .alpha = 0.01,
                                       .expand = -1,
                                       .deterministic = true};

/* Two clusters far apart, heaps of bodies at one place, unequal masses and lengths, moving. */
static bodies crowd(int64_t n, bool own_eps, bool floats)
{
    bodies b = bodies_new(n, own_eps);
    const double far[3] = {4e6, -1e6, 2e6};
    uint64_t seed = 3;
    b.soften = 0.02;
    plummer(&b, 0, n / 2, origin, 1, 1, 1);
    plummer(&b, n / 2, n, far, 1, 2, 2);
    for (int64_t i = 0; i < n; i++) {
        if (i % 10 < 2) place_body(&b, i, 0.5, 0.25, i % 10 == 0 ? 1 : -0.0);
        b.column[M][i] *= i % 4 == 0 ? 1 : from_0_to_1(&seed);
        for (int k = 0; k < 3; k++)
            b.column[VX + k][i] = i % 20 == 0 ? 0 : 0.1 * from_1_to_1(&seed);
        if (own_eps) b.column[EPS][i] = 0.01 * (double)(1 + i % 3);
    }
    if (floats) round_to_floats(&b);
    return b;
}

/* b's body order[i] as number i. */
static bodies reordered(const bodies *b, const int64_t *order)
{
    bodies to = bodies_new(b->n, b->column[EPS] != NULL);
    to.soften = b->soften;
    to.g = b->g;
    for (int c = 0; c < COLUMNS; c++)
        for (int64_t i = 0; to.column[c] != NULL && i < b->n; i++)
            to.column[c][i] = b->column[c][order[i]];
    return to;
}

static int64_t *shuffled(int64_t n, uint64_t seed)
{
    int64_t *order = malloc(sizeof *order * (size_t)(n + 1));
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j = (int64_t)(next_bits(&seed) % (uint64_t)(i + 1)), own = order[i];
        order[i] = order[j];
        order[j] = own;
    }
    return order;
}

static lacis_nbody *started(const bodies *b, lacis_nbody_type type, const lacis_nbody_rule *rule, int threads,
                            counting_host *host)
{
    lacis_nbody *system;
    assert_int_equal(system_new(b, type, rule, threads, host, &system), LACIS_NBODY_OK);
    return system;
}

static bodies moved(const bodies *b, lacis_nbody_type type, const lacis_nbody_rule *rule, int threads,
                    lacis_nbody_figures *figures)
{
    counting_host host = {0};
    lacis_nbody *system = started(b, type, rule, threads, &host);
    assert_int_equal(lacis_nbody_steps(system, 3, 0.01, true), LACIS_NBODY_OK);
    assert_int_equal(lacis_nbody_measure(system, figures), LACIS_NBODY_OK);
    bodies result = system_read(system, b, type);
    for (int64_t i = 0; i < b->n; i++)
        assert_true(isfinite(result.column[X][i]) && isfinite(result.column[AX][i]));
    lacis_nbody_free(system);
    assert_int_equal(host.blocks, 0);
    return result;
}

static void same_bits(const bodies *a, const bodies *b)
{
    for (int c = X; c < COLUMNS; c++)
        if (a->column[c] != NULL && a->n > 0)
            assert_memory_equal(a->column[c], b->column[c], sizeof(double) * (size_t)a->n);
}

/* Bodies that are alike in all may have each other's results: compared as sets. */
static int by_columns(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(double) * COLUMNS);
}
static double *rows_of(const bodies *b)
{
    double *row = calloc((size_t)b->n * COLUMNS + 1, sizeof *row);
    for (int64_t i = 0; i < b->n; i++)
        for (int c = 0; c < COLUMNS; c++)
            if (b->column[c] != NULL) row[i * COLUMNS + c] = b->column[c][i];
    qsort(row, (size_t)b->n, sizeof(double) * COLUMNS, by_columns);
    return row;
}
static void same_sets(const bodies *a, const bodies *b)
{
    double *rows = rows_of(a), *others = rows_of(b);
    assert_memory_equal(rows, others, sizeof(double) * COLUMNS * (size_t)a->n);
    free(rows);
    free(others);
}

static void bits_depend_on_neither_threads_nor_order(void **state)
{
    (void)state;
    for (int type = 0; type < LACIS_NBODY_TYPES; type++)
        for (int own_eps = 0; own_eps < 2; own_eps++) {
            bodies b = crowd(3000, own_eps, true), first = {0};
            int64_t *order = shuffled(b.n, 5);
            bodies other = reordered(&b, order);
            lacis_nbody_figures figures, again;
            for (int way = 0; way < LACIS_NBODY_WAYS; way++) {
                lacis_nbody_rule rule = usual;
                rule.way = (lacis_nbody_way)way;
                bodies one = moved(&b, (lacis_nbody_type)type, &rule, 1, &figures);
                bodies four = moved(&b, (lacis_nbody_type)type, &rule, 4, &again);
                same_bits(&one, &four);
                assert_memory_equal(&figures, &again, sizeof figures);
                bodies mixed = moved(&other, (lacis_nbody_type)type, &rule, 2, &again);
                same_sets(&one, &mixed);
                assert_memory_equal(&figures, &again, sizeof figures);
                if (way == LACIS_NBODY_TREE) first = four;
                if (way == LACIS_NBODY_INSERT) { /* the same tree */
                    same_bits(&first, &one);
                    bodies_free(&first);
                }
                bodies_free(&one);
                if (way != LACIS_NBODY_TREE) bodies_free(&four);
                bodies_free(&mixed);
            }
            free(order);
            bodies_free(&other);
            bodies_free(&b);
        }
}

static void steps_together_and_one_by_one(void **state)
{
    (void)state;
    for (int type = 0; type < LACIS_NBODY_TYPES; type++) {
        bodies b = crowd(2000, false, true);
        counting_host host = {0};
        lacis_nbody *together = started(&b, (lacis_nbody_type)type, &usual, 2, &host),
                    *single = started(&b, (lacis_nbody_type)type, &usual, 1, &host);
        lacis_nbody_figures figures, others;
        assert_int_equal(lacis_nbody_steps(together, 6, 0.01, true), LACIS_NBODY_OK);
        for (int s = 0; s < 6; s++) {
            assert_int_equal(lacis_nbody_steps(single, 1, 0.01, s == 2), LACIS_NBODY_OK);
            if (s == 3) assert_int_equal(lacis_nbody_field(single, true), LACIS_NBODY_OK);
        }
        assert_int_equal(lacis_nbody_field(single, true), LACIS_NBODY_OK); /* potentials alone */
        bodies a = system_read(together, &b, (lacis_nbody_type)type),
               c = system_read(single, &b, (lacis_nbody_type)type);
        same_bits(&a, &c);
        assert_int_equal(lacis_nbody_measure(together, &figures), LACIS_NBODY_OK);
        assert_int_equal(lacis_nbody_measure(single, &others), LACIS_NBODY_OK);
        assert_memory_equal(&figures, &others, sizeof figures);
        /* A system that takes over where this one is goes on as it does. */
        lacis_nbody *next = started(&a, (lacis_nbody_type)type, &usual, 2, &host);
        assert_int_equal(lacis_nbody_steps(next, 2, 0.01, true), LACIS_NBODY_OK);
        assert_int_equal(lacis_nbody_steps(single, 2, 0.01, true), LACIS_NBODY_OK);
        bodies d = system_read(next, &b, (lacis_nbody_type)type), e = system_read(single, &b, (lacis_nbody_type)type);
        same_bits(&d, &e);
        lacis_nbody_free(next);
        lacis_nbody_free(together);
        lacis_nbody_free(single);
        bodies_free(&a);
        bodies_free(&c);
        bodies_free(&d);
        bodies_free(&e);
        bodies_free(&b);
    }
}

/* Accelerations that are known stay, bit for bit, when potentials are asked for. */
static void known_accelerations_stay(void **state)
{
    bodies b = crowd(1000, false, true);
    (void)state;
    for (int k = 0; k < 3; k++) {
        b.column[AX + k] = calloc((size_t)b.n, sizeof(double));
        for (int64_t i = 0; i < b.n; i++)
            b.column[AX + k][i] = (double)(i + k);
    }
    counting_host host = {0};
    lacis_nbody *system = started(&b, LACIS_NBODY_F32, &usual, 2, &host);
    assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
    bodies after = system_read(system, &b, LACIS_NBODY_F32);
    for (int k = 0; k < 3; k++)
        assert_memory_equal(after.column[AX + k], b.column[AX + k], sizeof(double) * (size_t)b.n);
    const exact e = exact_of(&b, 7);
    assert_true(fabsl(after.column[PHI][7] - e.phi) < 1e-2L * e.deep);
    bodies_free(&after);
    lacis_nbody_free(system);
    bodies_free(&b);
}

/* --- motion ---------------------------------------------------------------------------------------------------- */

/* Two bodies on an ellipse of eccentricity 0.3, half axis 1, masses 1 and 3, g 0.25: a period of 2 pi. */
static bodies pair_of_bodies(void)
{
    bodies b = bodies_new(2, false);
    const double fast = sqrt(1.3 / 0.7); /* at least distance */
    b.g = 0.25;
    b.column[M][0] = 1;
    b.column[M][1] = 3;
    b.column[X][0] = 0.7 * 0.75;
    b.column[X][1] = -0.7 * 0.25;
    b.column[VY][0] = 0.75 * fast;
    b.column[VY][1] = -0.25 * fast;
    return b;
}

static void orbit(int steps, lacis_nbody_way way, double *apart, double *drift)
{
    bodies b = pair_of_bodies();
    counting_host host = {0};
    lacis_nbody_rule rule = usual;
    rule.way = way;
    lacis_nbody *system = started(&b, LACIS_NBODY_F64, &rule, 1, &host);
    lacis_nbody_figures before, after;
    assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
    assert_int_equal(lacis_nbody_measure(system, &before), LACIS_NBODY_OK);
    assert_int_equal(lacis_nbody_steps(system, steps, 2 * 3.14159265358979324 / steps, true), LACIS_NBODY_OK);
    assert_int_equal(lacis_nbody_measure(system, &after), LACIS_NBODY_OK);
    bodies end = system_read(system, &b, LACIS_NBODY_F64);
    *apart = hypot(end.column[X][0] - b.column[X][0], end.column[Y][0] - b.column[Y][0]);
    const double energy = before.kinetic + before.potential;
    *drift = fabs((after.kinetic + after.potential - energy) / energy);
    assert_true(fabs(energy + 0.25 * 3 / 2) < 1e-14); /* - g m m / 2 a */
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(after.momentum[k]) < 1e-13);
        assert_true(fabs(after.centre[k]) < 1e-13);
        assert_true(fabs(after.angular[k] - before.angular[k]) < 1e-12);
    }
    assert_true(before.mass == 4);
    lacis_nbody_free(system);
    bodies_free(&end);
    bodies_free(&b);
}

static void leapfrog_is_of_second_order(void **state)
{
    (void)state;
    for (int way = 0; way < LACIS_NBODY_WAYS; way++) {
        double coarse, fine, coarse_drift, fine_drift;
        orbit(500, (lacis_nbody_way)way, &coarse, &coarse_drift);
        orbit(1000, (lacis_nbody_way)way, &fine, &fine_drift);
        assert_true(fabs(coarse / fine - 4) < 0.1);
        assert_true(fine < 1e-3 && fine_drift < 1e-6);
    }
}

static void energy_of_a_cluster_is_kept(void **state)
{
    bodies b = bodies_new(2000, false);
    (void)state;
    plummer(&b, 0, b.n, origin, 1, 1, 71);
    b.soften = 0.1;
    uint64_t seed = 4;
    for (int64_t i = 0; i < b.n; i++)
        for (int k = 0; k < 3; k++)
            b.column[VX + k][i] = 0.4 * from_1_to_1(&seed);
    round_to_floats(&b);
    for (int type = 0; type < LACIS_NBODY_TYPES; type++) {
        counting_host host = {0};
        lacis_nbody_rule rule = usual;
        rule.opening = LACIS_NBODY_GEOMETRIC;
        rule.theta = 0.5;
        lacis_nbody *system = started(&b, (lacis_nbody_type)type, &rule, 2, &host);
        lacis_nbody_figures before, after;
        assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
        assert_int_equal(lacis_nbody_measure(system, &before), LACIS_NBODY_OK);
        assert_int_equal(lacis_nbody_steps(system, 100, 0.01, true), LACIS_NBODY_OK);
        assert_int_equal(lacis_nbody_measure(system, &after), LACIS_NBODY_OK);
        const double energy = before.kinetic + before.potential;
        assert_true(energy < 0 && fabs((after.kinetic + after.potential - energy) / energy) < 1e-3);
        assert_true(fabs(after.kinetic / before.kinetic - 1) > 1e-2); /* it did move */
        lacis_nbody_free(system);
    }
    bodies_free(&b);
}

/* --- ends ----------------------------------------------------------------------------------------------------------
 */

static lacis_nbody_status everything(const bodies *b, const lacis_nbody_rule *rule, counting_host *host)
{
    lacis_nbody *system;
    lacis_nbody_figures figures;
    lacis_nbody_errors errors;
    float at[3] = {0.5f, 0.25f, 0}, out[4];
    lacis_nbody_status status = system_new(b, LACIS_NBODY_F32, rule, 2, host, &system);
    if (status != LACIS_NBODY_OK) return status;
    status = lacis_nbody_steps(system, 2, 0.01, true);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_measure(system, &figures);
    if (status == LACIS_NBODY_OK)
        status = lacis_nbody_points(system, 1, &at[0], &at[1], &at[2], &out[0], &out[1], &out[2], &out[3]);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_certify(system, 10, &errors);
    lacis_nbody_free(system);
    return status;
}

static void memory_ends(void **state)
{
    bodies b = crowd(1500, true, true);
    (void)state;
    for (int way = 0; way < LACIS_NBODY_WAYS; way++) {
        lacis_nbody_rule rule = usual;
        rule.way = (lacis_nbody_way)way;
        counting_host whole = {0};
        assert_int_equal(everything(&b, &rule, &whole), LACIS_NBODY_OK);
        assert_int_equal(whole.blocks, 0);
        for (int64_t nth = 1; nth <= whole.takes; nth++) {
            counting_host host = {.fail_at = nth};
            assert_int_equal(everything(&b, &rule, &host), LACIS_NBODY_NO_MEMORY);
            assert_int_equal(host.blocks, 0);
        }
    }
    bodies_free(&b);
}

static void patience_ends(void **state)
{
    bodies b = crowd(1500, true, true);
    (void)state;
    for (int way = 0; way < LACIS_NBODY_WAYS; way++) {
        lacis_nbody_rule rule = usual;
        rule.way = (lacis_nbody_way)way;
        counting_host whole = {0};
        assert_int_equal(everything(&b, &rule, &whole), LACIS_NBODY_OK);
        for (int64_t nth = 1; nth < whole.asked / 2; nth += 1 + nth / 8) {
            counting_host host = {.cancel_at = nth};
            assert_int_equal(everything(&b, &rule, &host), LACIS_NBODY_CANCELLED);
            assert_int_equal(host.blocks, 0);
        }
    }
    bodies_free(&b);
}

static void memory_is_estimated(void **state)
{
    static const int64_t sizes[] = {0, 1, 10, 3000, 40000};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int type = 0; type < LACIS_NBODY_TYPES; type++)
            for (int way = 0; way < LACIS_NBODY_WAYS; way += 2)
                for (int own_eps = 0; own_eps < 2; own_eps++) {
                    bodies b = bodies_new(sizes[s], own_eps);
                    plummer(&b, 0, b.n, origin, 1, 1, 9);
                    counting_host host = {0};
                    lacis_nbody_rule rule = usual;
                    rule.way = b.n < 20000 ? (lacis_nbody_way)way : LACIS_NBODY_INSERT;
                    lacis_nbody *system = started(&b, (lacis_nbody_type)type, &rule, 3, &host);
                    assert_int_equal(lacis_nbody_steps(system, 1, 1e-3, true), LACIS_NBODY_OK);
                    const double eps = 0;
                    const lacis_nbody_start start = {.type = (lacis_nbody_type)type,
                                                     .n = b.n,
                                                     .eps = own_eps ? &eps : NULL,
                                                     .rule = rule,
                                                     .threads = 3};
                    const uint64_t said = lacis_nbody_bytes(&start);
                    assert_true(host.most <= said);
                    assert_true(b.n < 40000 || said < 2 * host.most);
                    lacis_nbody_free(system);
                    bodies_free(&b);
                }
}

/* Every call, of a system without bodies. */
static void nothing_at_all(void **state)
{
    (void)state;
    for (int way = 0; way < LACIS_NBODY_WAYS; way++)
        for (int type = 0; type < LACIS_NBODY_TYPES; type++) {
            bodies b = bodies_new(0, false);
            counting_host host = {0};
            lacis_nbody_rule rule = usual;
            rule.way = (lacis_nbody_way)way;
            lacis_nbody *system = started(&b, (lacis_nbody_type)type, &rule, 2, &host);
            lacis_nbody_figures figures;
            lacis_nbody_errors errors;
            double at = 0, out[4] = {1, 1, 1, 1};
            assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
            assert_int_equal(lacis_nbody_steps(system, 2, 0.1, true), LACIS_NBODY_OK);
            assert_int_equal(lacis_nbody_measure(system, &figures), LACIS_NBODY_OK);
            assert_int_equal(lacis_nbody_certify(system, 5, &errors), LACIS_NBODY_OK);
            assert_int_equal(lacis_nbody_points(system, 1, &at, &at, &at, &out[0], &out[1], &out[2], &out[3]),
                             LACIS_NBODY_OK);
            assert_true(element_of(&out[0], 0, (lacis_nbody_type)type) == 0 && figures.mass == 0 &&
                        errors.sample == 0);
            bodies result = system_read(system, &b, (lacis_nbody_type)type);
            bodies_free(&result);
            lacis_nbody_free(system);
            assert_int_equal(host.blocks, 0);
            bodies_free(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_depend_on_neither_threads_nor_order),
        cmocka_unit_test(steps_together_and_one_by_one),
        cmocka_unit_test(known_accelerations_stay),
        cmocka_unit_test(leapfrog_is_of_second_order),
        cmocka_unit_test(energy_of_a_cluster_is_kept),
        cmocka_unit_test(memory_ends),
        cmocka_unit_test(patience_ends),
        cmocka_unit_test(memory_is_estimated),
        cmocka_unit_test(nothing_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
