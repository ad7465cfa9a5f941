/* SPDX-License-Identifier: Apache-2.0
 *
 * How much room MULTIPLY's entries get on a GPU (operators/multiply/gpu_room.c): the choice between bounds in one
 * pass, entries counted first, and panels as long as a sample says; on a pretended device whose memory does not hold
 * the bounds of a graph of small full blocks, whose products are many times its entries; estimates that are far too
 * small; and every call of the driver failing in turn.
 */
#include "support/gpu_multiply.h"

#include <math.h>

enum { BLOCK = 20, BLOCKS = 60, MANY = 100, MEMORY = 3000000, LITTLE = 900000, LESS = 1300000 };

/* A row of 400 products and 20 entries for each of 1200 vertices. */
static pair blocks_make(parity *p, int blocks)
{
    uint64_t random = 11;
    const int64_t n = (int64_t)BLOCK * blocks;
    pair o = {{0}, {0}, {0}, {{0}}};
    graph *const both[] = {&o.a, &o.b};
    for (int i = 0; i < 2; i++) {
        graph *g = both[i];
        *g = (graph){.rows = n, .cols = n, .dtype = LACIS_F64, .storage = LACIS_F64, .entries = n * BLOCK};
        g->begin = calloc((size_t)n + 1, sizeof *g->begin);
        g->column = malloc(sizeof *g->column * (size_t)g->entries);
        g->value = malloc(sizeof *g->value * (size_t)g->entries);
        for (int64_t e = 0; e < g->entries; e++) {
            g->begin[e / BLOCK + 1] = (e / BLOCK + 1) * BLOCK;
            g->column[e] = (uint32_t)(e / BLOCK / BLOCK * BLOCK + e % BLOCK);
            g->value[e] = random_value(&random, LACIS_F64);
        }
    }
    o.m = graph_make(&random, GRAPH_SPARSE, n, n, LACIS_PATTERN);
    o.arrays[0] = (named){"a", graph_array(p, &o.a)};
    o.arrays[1] = (named){"b", graph_array(p, &o.b)};
    o.arrays[2] = (named){"m", graph_array(p, &o.m)};
    return o;
}

/* ------------------------------------------------------------------------------------------ the choice */

static lacis_gpu_room choice(lacis_gpu_room_facts facts)
{
    lacis_gpu_room room;
    lacis_multiply_room_choose(&facts, &room);
    return room;
}

static void test_choice(void **state)
{
    (void)state;
    lacis_gpu_room_facts facts = {.products = 1e9,
                                  .bound = 8e8,
                                  .entries = 7e8,
                                  .most = 7.5e8,
                                  .entry = 16,
                                  .left = 2e10,
                                  .kernels = 7e-3,
                                  .panel = 6e-5,
                                  .countable = true};
    lacis_gpu_room room = choice(facts);
    assert_int_equal(room.way, LACIS_ROOM_BOUNDS); /* they fit: nothing is counted, however few entries there are */
    assert_true(room.panels[LACIS_ROOM_BOUNDS] == 1);
    facts.entries = facts.most = 1e6;
    assert_int_equal(choice(facts).way, LACIS_ROOM_BOUNDS);

    facts.entries = 7e8; /* compression near 1: counting would not make panels fewer */
    facts.most = 7.5e8;
    facts.left = 4e9;
    assert_int_equal(choice(facts).way, LACIS_ROOM_BOUNDS);
    assert_true(choice(facts).panels[LACIS_ROOM_BOUNDS] == 4);

    facts.left = 5e7; /* 256 panels by bounds, one of what there is */
    facts.entries = 1e6;
    facts.most = 1.1e6;
    room = choice(facts);
    assert_int_equal(room.way, LACIS_ROOM_COUNTED);
    assert_true(room.panels[room.way] == 1 && room.bytes[room.way] == 1.1e6 * 16);
    assert_true(room.bytes[LACIS_ROOM_BOUNDS] == 8e8 * 16);

    facts.left = 1e7; /* 1280 and 2 */
    room = choice(facts);
    assert_int_equal(room.way, LACIS_ROOM_SAMPLED);
    assert_true(room.panels[room.way] == 2 && isinf(room.seconds[LACIS_ROOM_COUNTED]));

    facts.countable = false;
    assert_int_equal(choice(facts).way, LACIS_ROOM_BOUNDS);
}

/* Where copies take longer than kernels they hide them in panels, and not behind a single one. */
static void test_choice_copies(void **state)
{
    (void)state;
    const lacis_gpu_room_facts facts = {.products = 1e10,
                                        .bound = 8e9,
                                        .entries = 5e9,
                                        .most = 5.2e9,
                                        .entry = 24,
                                        .left = 1.3e11,
                                        .kernels = 0.07,
                                        .back = 1.2,
                                        .panel = 6e-5,
                                        .countable = true};
    const lacis_gpu_room room = choice(facts);
    assert_int_equal(room.way, LACIS_ROOM_BOUNDS);
    assert_true(room.seconds[LACIS_ROOM_BOUNDS] < room.seconds[LACIS_ROOM_COUNTED]);
}

/* ----------------------------------------------------------------------------------------------- runs */

static const char *const texts[] = {
    "MULTIPLY a BY b",
    "MULTIPLY a BY b CON nil AGG count",
    "MULTIPLY a BY a CON a AGG last",
    "MULTIPLY a BY b WHERE src < 500",
    "MULTIPLY a BY b MASK NOT m",
};

static void run_text(parity *p, const char *text, const pair *o, double *panels, double *sampled, double *counted)
{
    triples expected = by_cpu(p, text, o->arrays), found = {0};
    const double before[] = {parity_figure(p, "GPU panels"), parity_figure(p, "GPU rows counted for a sample"),
                             parity_figure(p, "GPU rows counted first")};
    lacis_call *call = bind_on(p, text, o->arrays, LACIS_ON_GPU);
    run_units(p, call, &tested, 0, call->units, text, &found);
    triples_compare(&found, &expected, text, "with little room");
    *panels = parity_figure(p, "GPU panels") - before[0];
    *sampled = parity_figure(p, "GPU rows counted for a sample") - before[1];
    *counted = parity_figure(p, "GPU rows counted first") - before[2];
    parity_unbind(p, call);
    triples_free(&expected);
    triples_free(&found);
}

/* What bounds would need several panels for comes in one. */
static void test_counted(void **state)
{
    parity *p = *state;
    double panels, sampled, counted;
    pair o = blocks_make(p, BLOCKS);
    for (int i = 0; i < LACIS_COUNT(texts); i++) {
        start_anew(p);
        lacis_device_set_limit(&p->host, MEMORY);
        run_text(p, texts[i], &o, &panels, &sampled, &counted);
        assert_true(panels == 1 && sampled > 0 && counted > 0);
        assert_true(p->host.gpu->peak <= MEMORY);
    }
    lacis_device_set_limit(&p->host, 0); /* room for bounds: nothing is sampled */
    start_anew(p);
    run_text(p, texts[0], &o, &panels, &sampled, &counted);
    assert_true(panels == 1 && sampled == 0 && counted == 0);
    pair_free(&o);
    assert_int_equal(fake.blocks, 0);
}

/* MASK and TOP have bounds of their own. */
static void test_not_counted(void **state)
{
    static const char *const texts_bound[] = {"MULTIPLY a BY b MASK m", "MULTIPLY a BY b TOP 3"};
    parity *p = *state;
    double panels, sampled, counted;
    pair o = blocks_make(p, BLOCKS);
    for (int i = 0; i < LACIS_COUNT(texts_bound); i++) {
        start_anew(p);
        lacis_device_set_limit(&p->host, LITTLE);
        run_text(p, texts_bound[i], &o, &panels, &sampled, &counted);
        assert_true(sampled == 0 && counted == 0);
    }
    pair_free(&o);
}

/* A sample that says a twentieth of what there is: panels are halved until they fit, and later ones made shorter. */
static void test_too_small(void **state)
{
    parity *p = *state;
    double panels, sampled, counted;
    pair o = blocks_make(p, MANY);
    start_anew(p);
    lacis_device_set_limit(&p->host, LESS);
    fake_share = 5;
    run_text(p, texts[0], &o, &panels, &sampled, &counted);
    assert_true(panels > 1 && sampled > 0 && counted == BLOCK * MANY); /* each row once, though panels were halved */
    assert_true(p->host.gpu->peak <= LESS);
    pair_free(&o);
    assert_int_equal(fake.blocks, 0);
}

/* Totals: rows stay where they are, so that half as much room does. */
static void test_totals(void **state)
{
    parity *p = *state;
    pair o = blocks_make(p, BLOCKS);
    lacis_totals whole, totals;
    lacis_totals_init(&whole);
    lacis_totals_init(&totals);
    for (int little = 0; little < 2; little++) {
        start_anew(p);
        lacis_device_set_limit(&p->host, little ? MEMORY / 2 : 0);
        lacis_call *call = bind_on(p, texts[0], o.arrays, LACIS_ON_GPU);
        parity_ok(p, tested.totals(&p->run, call, 0, call->units, little ? &totals : &whole), "totals");
        parity_unbind(p, call);
    }
    assert_true(parity_figure(p, "GPU rows counted for a sample") > 0);
    assert_true(whole.count == totals.count && whole.count == (int64_t)BLOCK * BLOCK * BLOCKS);
    assert_true(whole.sum_dst == totals.sum_dst && whole.min == totals.min && whole.max == totals.max);
    pair_free(&o);
}

/* The sample's own failure is the statement's; the CPU goes on. */
static void test_sample_fails(void **state)
{
    parity *p = *state;
    pair o = blocks_make(p, BLOCKS);
    triples expected = by_cpu(p, texts[0], o.arrays);
    start_anew(p);
    lacis_device_set_limit(&p->host, MEMORY);
    fake_cuda_error = FAKE_BROKEN;
    run_planned(p, texts[0], o.arrays, 1, LACIS_ON_AUTO, LACIS_OK, &expected);
    assert_non_null(strstr(last_note, "went on with rows"));
    assert_int_equal(fake_cuda_error, 0);
    triples_free(&expected);
    pair_free(&o);
}

static void calls_fail(parity *p, bool lost)
{
    pair o = blocks_make(p, BLOCKS);
    lacis_device_set_limit(&p->host, MEMORY);
    every_call_fails(p, texts[0], o.arrays, 1, lost);
    pair_free(&o);
}

static void test_calls_fail(void **state)
{
    calls_fail(*state, false);
}

static void test_device_lost(void **state)
{
    calls_fail(*state, true);
}

static bool any_line_has(const lacis_lines *lines, const char *text)
{
    for (int i = 0; i < lines->count; i++)
        if (strstr(lines->line[i], text) != NULL) return true;
    return false;
}

/* EXPLAIN says which way, what room and what compression is expected. */
static void test_explain(void **state)
{
    parity *p = *state;
    lacis_profile profile;
    lacis_cost cost;
    lacis_profile_init(&profile, &p->host);
    pair o = blocks_make(p, BLOCKS);
    for (int little = 0; little < 2; little++) {
        lacis_lines lines;
        start_anew(p);
        lacis_device_set_limit(&p->host, little ? MEMORY : 0);
        lacis_call *call = bind_on(p, texts[0], o.arrays, LACIS_ON_GPU);
        call->closely = true;
        parity_ok(p, tested.cost(&p->run, call, &profile, &cost), texts[0]);
        const lacis_multiply *work = call->work;
        assert_int_equal(work->gpu.room.way, little ? LACIS_ROOM_COUNTED : LACIS_ROOM_BOUNDS);
        assert_true(work->gpu.room.entries == (double)BLOCK * BLOCK * BLOCKS);
        lacis_lines_init(&lines, &p->run);
        parity_ok(p, tested_explain(work, &lines), "EXPLAIN");
        assert_true(
            any_line_has(&lines, little ? "which a symbolic pass counts first: " : "for bounds, without counting: "));
        assert_true(any_line_has(&lines, "compression 20.00: 4.8e+05 products"));
        parity_unbind(p, call);
    }
    lacis_profile_clear(&profile);
    pair_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice), cmocka_unit_test(test_choice_copies),
        CHECK(test_counted),           CHECK(test_not_counted),
        CHECK(test_too_small),         CHECK(test_totals),
        CHECK(test_sample_fails),      CHECK(test_calls_fail),
        CHECK(test_device_lost),       CHECK(test_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
