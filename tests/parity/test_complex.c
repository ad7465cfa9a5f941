/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY with complex operands, complex CON and complex AGG against the naive reference: shapes of graphs (so that
 * every class of rows occurs) x CON and AGG x types x MASK, WHERE, HAVING and SQL's restrictions; vectors; and
 * distances with the number of shortest paths, which are pairs of reals.
 */
#include "parity/functions.h"

static bool where_odd(int64_t src)
{
    return src % 2 == 1;
}
static bool where_list(int64_t src)
{
    return src == 1 || src == 3 || src == 4 || src == 33;
}
static bool having_parts(number value, int64_t src, int64_t dst)
{
    return src != dst && (value.type == LACIS_I64 ? (double)value.i : value.d) + value.im > 0;
}
static bool having_long(number value, int64_t src, int64_t dst)
{
    (void)src, (void)dst;
    return hypot(value.d, value.im) > 3;
}
static const lacis_restriction by_range = {.lo = 3, .hi = 19, .lo1 = 4, .hi1 = 30};

static const extras all_extras[] = {
    {.text = ""},
    {.text = "MASK m", .mask = true},
    {.text = "MASK NOT m", .mask = true, .mask_not = true},
    {.text = "WHERE src IN (33, 1, 4, 3)", .where = where_list},
    {.text = "HAVING src <> dst AND re(value) + im(value) > 0", .having = having_parts},
    {.text = "MASK NOT m WHERE src % 2 = 1 HAVING abs(value) > 3",
     .mask = true,
     .mask_not = true,
     .where = where_odd,
     .having = having_long},
    {.text = "", .restriction = &by_range},
};

/* One of them is complex; {other, other} for CON that is complex over any values. */
static const lacis_dtype types[][2] = {
    {LACIS_C128, LACIS_C128}, {LACIS_C64, LACIS_C64}, {LACIS_C64, LACIS_C128},     {LACIS_F64, LACIS_C128},
    {LACIS_C128, LACIS_I32},  {LACIS_C64, LACIS_F32}, {LACIS_PATTERN, LACIS_C128},
};

typedef struct operands {
    graph a, b, mask;
    lacis_array *array[3];
} operands;

static void operands_finish(parity *p, operands *o)
{
    o->array[0] = graph_array(p, &o->a);
    o->array[1] = graph_array(p, &o->b);
    o->array[2] = graph_array(p, &o->mask);
}

static void operands_free(operands *o)
{
    for (int i = 0; i < 3; i++)
        lacis_array_release(o->array[i]);
    graph_free(&o->a);
    graph_free(&o->b);
    graph_free(&o->mask);
}

/* Rows of each class that have been computed so far. */
static const char *const figures[] = {"rows copied", "rows sorted", "rows hashed", "rows dense", "rows hub"};
static double seen[5];

static void check(parity *p, const operands *o, const functions *f, const extras *e)
{
    char text[500];
    snprintf(text, sizeof text, "MULTIPLY a BY b %s %s %s %s %s", f->con != NULL ? "CON" : "",
             f->con != NULL ? f->con : "", f->agg != NULL ? "AGG" : "", f->agg != NULL ? f->agg : "", e->text);
    named arrays[] = {{"a", o->array[0]}, {"b", o->array[1]}, {"m", o->array[2]}, {NULL, NULL}};
    triples expected = reference_product(&o->a, &o->b, &o->mask, f, e);
    parity_check(p, text, arrays, e->restriction, &expected);
    triples_free(&expected);
    for (int k = 0; k < LACIS_COUNT(figures); k++)
        seen[k] += parity_figure(p, figures[k]);
    lacis_run_clear(&p->run);
}

/* Every CON and AGG x every type, the other clauses taken in turn. */
static void test_functions_types(void **state)
{
    parity *p = *state;
    uint64_t random = 1;
    int turn = 0;
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        operands o = {graph_make(&random, GRAPH_SPARSE, 40, 40, types[t][0]),
                      graph_make(&random, GRAPH_SPARSE, 40, 40, types[t][1]),
                      graph_make(&random, GRAPH_SPARSE, 40, 40, LACIS_PATTERN),
                      {0}};
        operands_finish(p, &o);
        for (int f = 0; f < LACIS_COUNT(complex_functions); f++) {
            if (!parity_turn(f + t, 3)) continue;
            check(p, &o, &complex_functions[f], &all_extras[0]);
            check(p, &o, &complex_functions[f], &all_extras[turn++ % LACIS_COUNT(all_extras)]);
        }
        operands_free(&o);
    }
}

/* Every kind of graph, empty rows, hubs and full ones among them, x every other clause. */
static void test_graphs_clauses(void **state)
{
    parity *p = *state;
    uint64_t random = 2;
    int turn = 0;
    for (int kind = 0; kind < GRAPH_KINDS; kind++) {
        const lacis_dtype *type = types[kind % LACIS_COUNT(types)];
        operands o = {graph_make(&random, (graph_kind)kind, 60, 60, type[0]),
                      graph_make(&random, (graph_kind)kind, 60, 60, type[1]),
                      graph_make(&random, GRAPH_SPARSE, 60, 60, LACIS_PATTERN),
                      {0}};
        operands_finish(p, &o);
        for (int e = 0; e < LACIS_COUNT(all_extras); e++)
            for (int i = 0; i < 6; i++) {
                int f = turn++ % LACIS_COUNT(complex_functions);
                if (parity_turn(f + kind, 3)) check(p, &o, &complex_functions[f], &all_extras[e]);
            }
        operands_free(&o);
    }
}

/* Labels that differ, and graphs large enough for every class of rows. */
static void test_classes(void **state)
{
    static const int chosen[] = {0, 7, 10, 16, 9, 17};
    parity *p = *state;
    uint64_t random = 3;
    memset(seen, 0, sizeof seen);
    const struct {
        graph_kind a, b;
        int64_t rows, middle, cols;
    } shape[] = {{GRAPH_POWER, GRAPH_POWER, 1500, 1500, 1500},
                 {GRAPH_WIDE, GRAPH_WIDE, 60, 500, 200000},
                 {GRAPH_SINGLES, GRAPH_SPARSE, 500, 500, 500},
                 {GRAPH_HUB, GRAPH_FULL, 3, 2100, 2100}};
    for (int i = 0; i < LACIS_COUNT(shape); i++) {
        operands o = {graph_make(&random, shape[i].a, shape[i].rows, shape[i].middle, types[i][0]),
                      graph_make(&random, shape[i].b, shape[i].middle, shape[i].cols, types[i][1]),
                      graph_make(&random, GRAPH_WIDE, shape[i].rows, shape[i].cols, LACIS_PATTERN),
                      {0}};
        if (shape[i].rows == 500) o.b.col_label = random_labels(&random, shape[i].cols, 2);
        operands_finish(p, &o);
        for (int f = 0; f < (o.b.entries > 1000000 ? 2 : LACIS_COUNT(chosen)); f++)
            check(p, &o, &complex_functions[chosen[f]], &all_extras[f % 3]);
        operands_free(&o);
    }
    for (int k = 0; k < LACIS_COUNT(figures) && !parity_on_gpu(); k++)
        if (seen[k] == 0) fail_msg("no graph of this test had %s", figures[k]);
}

/* Complex values from real graphs: distances of two edges and how many paths are as short. */
static void test_shortest_paths(void **state)
{
    parity *p = *state;
    uint64_t random = 4;
    const functions shortest = {"complex(a + b, 1)", SHORTEST, con_path, LACIS_AGG_FOLD, fold_shortest, 1e300, false};
    const lacis_dtype own[] = {LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64, LACIS_PATTERN};
    for (int t = 0; t < LACIS_COUNT(own); t++) {
        graph_kind kind = t % 2 == 0 ? GRAPH_POWER : GRAPH_HUB;
        operands o = {graph_make(&random, kind, 90, 90, own[t]),
                      graph_make(&random, kind, 90, 90, own[t]),
                      graph_make(&random, GRAPH_SPARSE, 90, 90, LACIS_PATTERN),
                      {0}};
        operands_finish(p, &o);
        for (int e = 0; e < LACIS_COUNT(all_extras); e++)
            check(p, &o, &shortest, &all_extras[e]);
        operands_free(&o);
    }
}

/* graph BY vector, dense and sparse. */
static void test_vectors(void **state)
{
    parity *p = *state;
    uint64_t random = 5;
    for (int round = 0; round < 6; round++) {
        const lacis_dtype *type = types[round % LACIS_COUNT(types)];
        operands o = {graph_make(&random, GRAPH_POWER, 50, 50, type[0]),
                      graph_make(&random, round % 2 == 0 ? GRAPH_FULL : GRAPH_SPARSE, 50, 1, type[1]),
                      graph_make(&random, GRAPH_SPARSE, 50, 1, LACIS_F64),
                      {0}};
        o.b.vector = o.mask.vector = true;
        operands_finish(p, &o);
        named arrays[] = {{"a", o.array[0]}, {"b", o.array[1]}, {"m", o.array[2]}, {NULL, NULL}};
        for (int f = 0; f < 10; f++) {
            char text[200];
            const functions *fn = &complex_functions[f];
            snprintf(text, sizeof text, "MULTIPLY a BY b CON %s AGG %s", fn->con == NULL ? "a * b" : fn->con,
                     fn->agg == NULL ? "sum" : fn->agg);
            triples expected = reference_product(&o.a, &o.b, &o.mask, fn, &all_extras[0]);
            for (int64_t i = 0; i < expected.count; i++)
                expected.at[i].dst = expected.at[i].src;
            parity_check(p, text, arrays, NULL, &expected);
            triples_free(&expected);
            lacis_run_clear(&p->run);
        }
        operands_free(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_functions_types, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_graphs_clauses, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_classes, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_shortest_paths, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_vectors, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
