/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/nbody/essential.c: fields computed domain by domain, each from the essential part of the tree alone, keep
 * to the errors of one tree; bodies that stand for cells have the cells' moments; and inputs that trees find hard.
 */
#include "unit/nbody_reference.h"

static const lacis_nbody_rule usual = {
    .way = LACIS_NBODY_TREE, .order = LACIS_NBODY_QUADRUPOLE, .theta = 0.4, .alpha = 0.005, .expand = 0.1};

/* --- a system whose field comes from others ------------------------------------------------------------------- */

typedef struct sharing {
    const bodies *b;
    lacis_nbody_type type;
    lacis_nbody_rule rule;
    int domains;
    counting_host *host;
    int64_t sent;                     /* bodies in all */
    double mass, place[3], second[6]; /* of what the last domain was sent, in all */
} sharing;

static void weigh(sharing *s, const lacis_nbody_sources *from, int64_t n)
{
    const void *const column[3] = {from->x, from->y, from->z};
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    s->mass = 0;
    memset(s->place, 0, sizeof s->place);
    memset(s->second, 0, sizeof s->second);
    for (int64_t i = 0; i < n; i++) {
        const double m = element_of(from->m, i, s->type);
        s->mass += m;
        for (int d = 0; d < 3; d++)
            s->place[d] += m * element_of(column[d], i, s->type);
        for (int q = 0; q < 6; q++)
            s->second[q] +=
                m * element_of(column[pairs[q][0]], i, s->type) * element_of(column[pairs[q][1]], i, s->type);
    }
}

static void *poisoned(int64_t n)
{
    const size_t bytes = sizeof(double) * (size_t)(n + 1);
    void *block = malloc(bytes);
    memset(block, 0xff, bytes); /* NaN */
    return block;
}

/* What another process would do with what it is sent. */
static lacis_nbody_status compute(sharing *s, const lacis_nbody_essential *e, const lacis_nbody_sources *from,
                                  bool potential, void *const out[4])
{
    lacis_nbody *system;
    void *still = calloc((size_t)e->n + 1, sizeof(double));
    const lacis_nbody_start start = {.type = s->type,
                                     .n = e->n,
                                     .wanted = e->end - e->begin,
                                     .m = from->m,
                                     .x = from->x,
                                     .y = from->y,
                                     .z = from->z,
                                     .eps = from->eps,
                                     .ax = from->old,
                                     .ay = e->old ? still : NULL,
                                     .az = e->old ? still : NULL,
                                     .soften = s->b->soften,
                                     .g = s->b->g,
                                     .rule = s->rule,
                                     .threads = 1,
                                     .host = {host_alloc, host_free, host_cancelled, NULL, s->host}};
    lacis_nbody_status status = lacis_nbody_new(&start, &system);
    if (status == LACIS_NBODY_OK && e->old) lacis_nbody_set_rule(system, &s->rule);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_field(system, potential);
    const lacis_nbody_columns into = {.ax = out[0], .ay = out[1], .az = out[2], .phi = potential ? out[3] : NULL};
    if (status == LACIS_NBODY_OK) status = lacis_nbody_read(system, &into);
    lacis_nbody_free(system);
    free(still);
    return status;
}

static lacis_nbody_status share_domain(sharing *s, lacis_nbody *system, int64_t begin, int64_t end, bool potential)
{
    lacis_nbody_essential e;
    lacis_nbody_status status = lacis_nbody_essential_new(system, begin, end, &e);
    if (status != LACIS_NBODY_OK) return status;
    void *const block[6] = {poisoned(e.n),
                            poisoned(e.n),
                            poisoned(e.n),
                            poisoned(e.n),
                            e.eps ? poisoned(e.n) : NULL,
                            e.old ? poisoned(e.n) : NULL};
    void *const out[4] = {poisoned(e.n), poisoned(e.n), poisoned(e.n), poisoned(e.n)};
    const lacis_nbody_sources to = {block[0], block[1], block[2], block[3], block[4], block[5]};
    lacis_nbody_essential_fill(&e, &to);
    weigh(s, &to, e.n);
    s->sent += e.n;
    status = compute(s, &e, &to, potential, out);
    const void *const a[3] = {out[0], out[1], out[2]};
    if (status == LACIS_NBODY_OK) lacis_nbody_put(system, begin, end, a, potential ? out[3] : NULL);
    lacis_nbody_essential_free(&e);
    for (int c = 0; c < 6; c++)
        free(block[c]);
    for (int c = 0; c < 4; c++)
        free(out[c]);
    return status;
}

static lacis_nbody_status share(void *context, lacis_nbody *system, bool potential)
{
    sharing *s = context;
    lacis_nbody_status status = LACIS_NBODY_OK;
    for (int d = 0; d < s->domains && status == LACIS_NBODY_OK; d++)
        status = share_domain(s, system, s->b->n * d / s->domains, s->b->n * (d + 1) / s->domains, potential);
    return status;
}

/* The field, and (relative) once more, with what it was the time before. */
static bodies shared_field(sharing *s, counting_host *host)
{
    lacis_nbody *system;
    s->host = host;
    assert_int_equal(system_new(s->b, s->type, &s->rule, 1, host, &system), LACIS_NBODY_OK);
    lacis_nbody_share_with(system, share, s);
    assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
    if (s->rule.opening == LACIS_NBODY_RELATIVE) {
        s->sent = 0;
        lacis_nbody_set_rule(system, &s->rule);
        assert_int_equal(lacis_nbody_field(system, true), LACIS_NBODY_OK);
    }
    bodies result = system_read(system, s->b, s->type);
    lacis_nbody_free(system);
    assert_int_equal(host->blocks, 0);
    return result;
}

static sharing sharing_of(const bodies *b, lacis_nbody_type type, const lacis_nbody_rule *rule, int domains)
{
    return (sharing){.b = b, .type = type, .rule = *rule, .domains = domains};
}

static distance shared_distance(sharing *s)
{
    counting_host host = {0};
    bodies result = shared_field(s, &host);
    const distance off = distance_of(s->b, &result, 400);
    bodies_free(&result);
    return off;
}

/* --- errors ---------------------------------------------------------------------------------------------------- */

static bodies sphere(int64_t n, bool own_eps)
{
    bodies b = bodies_new(n, own_eps);
    plummer(&b, 0, b.n, origin, 1, 1, 5);
    b.soften = 0.05;
    b.g = 1.5;
    for (int64_t i = 0; own_eps && i < b.n; i++)
        b.column[EPS][i] = i % 2 == 0 ? 0.02 : 0.08;
    round_to_floats(&b);
    return b;
}

static distance alone(const bodies *b, lacis_nbody_type type, const lacis_nbody_rule *rule)
{
    sharing s = sharing_of(b, type, rule, 1); /* one domain: the bodies themselves, nothing stands for them */
    const distance off = shared_distance(&s);
    assert_int_equal(s.sent, b->n);
    return off;
}

/* Within bounds that a wrong moment breaks, and hardly more than what one tree gives. */
static void errors_are_those_of_one_tree(void **state)
{
    static const int domains[] = {2, 7};
    static const double bound[2][2] = {{1e-3, 7e-3}, {5e-4, 3e-3}};
    const double hardly = 1.2, tails = 1.5; /* of 400: the greatest four */
    (void)state;
    for (int own_eps = 0; own_eps < 2; own_eps++) {
        bodies b = sphere(8000, own_eps);
        for (int order = 0; order < 2; order++)
            for (int opening = 0; opening < 3; opening++) {
                const lacis_nbody_type type = (lacis_nbody_type)opening;
                lacis_nbody_rule rule = usual;
                rule.order = (lacis_nbody_order)order;
                rule.opening = (lacis_nbody_opening)opening;
                if (opening == LACIS_NBODY_RELATIVE) rule.theta = 1;
                const distance one = alone(&b, type, &rule);
                for (int d = 0; d < 2; d++) {
                    sharing s = sharing_of(&b, type, &rule, domains[d]);
                    const distance off = shared_distance(&s);
                    if (!(off.median <= bound[order][0]) || !(off.ninety_nine <= bound[order][1]) ||
                        !(off.median <= hardly * one.median) || !(off.ninety_nine <= tails * one.ninety_nine) ||
                        !(off.potential <= bound[order][1]))
                        fail_msg("own eps %d, order %d, opening %d, %d domains: %g, %g, potential %g; alone %g, %g",
                                 own_eps, order, opening, domains[d], off.median, off.ninety_nine, off.potential,
                                 one.median, one.ninety_nine);
                }
            }
        bodies_free(&b);
    }
}

/* Mass, centre and second moments of all that a domain is sent are those of all bodies (by monopoles: but the last).
 */
static void moments_are_kept(void **state)
{
    const double close = 1e-12;
    (void)state;
    bodies b = sphere(6000, true);
    for (int order = 0; order < 2; order++) {
        lacis_nbody_rule rule = usual;
        rule.order = (lacis_nbody_order)order;
        rule.theta = 1;
        sharing one = sharing_of(&b, LACIS_NBODY_F64, &rule, 1), some = sharing_of(&b, LACIS_NBODY_F64, &rule, 40);
        shared_distance(&one);
        shared_distance(&some);
        assert_true(some.sent < 40 * b.n / 2); /* cells have been taken */
        assert_true(fabs(some.mass - one.mass) < close);
        for (int d = 0; d < 3; d++)
            assert_true(fabs(some.place[d] - one.place[d]) < close);
        for (int q = 0; q < 6; q++)
            assert_true((fabs(some.second[q] - one.second[q]) < close * fabs(one.second[0])) == (order == 1));
    }
    bodies_free(&b);
}

/* --- inputs that trees find hard ----------------------------------------------------------------------------------
 */

static void check_direct(const bodies *b, const lacis_nbody_rule *rule, int domains, double bound, const char *what)
{
    for (int type = 0; type < LACIS_NBODY_TYPES; type++) {
        sharing s = sharing_of(b, (lacis_nbody_type)type, rule, domains);
        const distance off = shared_distance(&s);
        if (!(off.field <= bound) || !(off.potential <= bound))
            fail_msg("%s, type %d, %d domains: field %g, potential %g of %g", what, type, domains, off.field,
                     off.potential, bound);
    }
}

static void few_bodies_and_all_pairs(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 300};
    const double rounding = 3e-6;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bodies b = sphere(sizes[i], i % 2 == 0);
        lacis_nbody_rule rule = usual;
        rule.theta = 0;
        rule.expand = 0;
        check_direct(&b, &rule, 5, rounding, "theta 0");
        rule.way = LACIS_NBODY_DIRECT;
        check_direct(&b, &rule, 5, rounding, "pairs");
        bodies_free(&b);
    }
}

static void all_at_one_place(void **state)
{
    const double rounding = 3e-6;
    (void)state;
    bodies b = sphere(1000, false);
    for (int64_t i = 0; i < b.n; i++)
        place_body(&b, i, i < 990 ? 0.5 : 0.25, 0.25, i < 990 ? 0 : 0.125);
    check_direct(&b, &usual, 4, rounding, "heap");
    bodies_free(&b);
}

/* As far apart as floats allow: each is but a few of their steps wide. And lines, planes and bodies without mass. */
static void clusters_lines_and_tracers(void **state)
{
    const double tail = 4e-3, away[3] = {1e6, 0, 0};
    (void)state;
    bodies b = bodies_new(4000, false);
    b.soften = 0.01;
    plummer(&b, 0, b.n / 2, origin, 1, 1, 3);
    plummer(&b, b.n / 2, b.n, away, 1, 1, 4);
    round_to_floats(&b);
    check_direct(&b, &usual, 3, tail, "two clusters");
    for (int64_t i = 0; i < b.n; i++) {
        place_body(&b, i, b.column[Y][i], i % 2 == 0 ? b.column[Z][i] : 0, 0);
        if (i % 3 == 0) b.column[M][i] = 0;
    }
    check_direct(&b, &usual, 6, tail, "a plane");
    bodies_free(&b);
}

/* Each allocation fails once: an error, and nothing is left. */
static void memory_that_fails(void **state)
{
    (void)state;
    bodies b = sphere(600, true);
    for (int64_t at = 1, failed = 1; failed > 0; at++) {
        counting_host host = {.fail_at = at};
        lacis_nbody *system = NULL;
        lacis_nbody_rule rule = usual;
        rule.theta = 1;
        sharing s = sharing_of(&b, LACIS_NBODY_F32, &rule, 3);
        s.host = &host;
        lacis_nbody_status status = system_new(&b, s.type, &rule, 1, &host, &system);
        if (status == LACIS_NBODY_OK) lacis_nbody_share_with(system, share, &s);
        if (status == LACIS_NBODY_OK) status = lacis_nbody_field(system, true);
        lacis_nbody_free(system);
        assert_int_equal(host.blocks, 0);
        assert_int_equal(status, host.takes >= at ? LACIS_NBODY_NO_MEMORY : LACIS_NBODY_OK);
        failed = status != LACIS_NBODY_OK;
    }
    bodies_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_one_tree), cmocka_unit_test(moments_are_kept),
        cmocka_unit_test(few_bodies_and_all_pairs),     cmocka_unit_test(all_at_one_place),
        cmocka_unit_test(clusters_lines_and_tracers),   cmocka_unit_test(memory_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
