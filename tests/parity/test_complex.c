/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY with complex operands, complex CON and complex AGG against the naive reference: shapes of graphs (so that
 * every class of rows occurs) x CON and AGG x types x MASK, WHERE, HAVING and SQL's restrictions; vectors; and
 * distances with the number of shortest paths, which are pairs of reals.
 */
#include "parity/reference.h"

#define CON(name, value)                                                                                             \
    static number name(number a, number b, int64_t s, int64_t c, int64_t t)                                          \
    {                                                                                                                \
        (void)a, (void)b, (void)s, (void)c, (void)t;                                                                 \
        return value;                                                                                                \
    }
CON(con_one, integer(1))
CON(con_a, a)
CON(con_b, b)
CON(con_add, add(a, b))
CON(con_mul, mul(a, b))
CON(con_conj, mul(complex_number(a.d, -a.im), widened(b, LACIS_C128)))
CON(con_mixed, sub(scaled(a, 2), b))
CON(con_labels, complex_number((double)(s - t), (double)c))
CON(con_case, a.d < b.d ? complex_number(a.d, b.im) : widened(b, LACIS_C128))
CON(con_path, complex_number(a.d + b.d, 1))
CON(con_parts, real_number(a.d *b.im, LACIS_F64))

/* The shorter distance, and how many paths have it. */
static number fold_shortest(number x, number y)
{
    if (x.d != y.d) return x.d < y.d ? x : y;
    return complex_number(x.d, x.im + y.im);
}
/* The order of values shows. */
static number fold_half(number x, number y)
{
    return complex_number(0.5 * x.d - y.im, 0.5 * x.im + y.d);
}
static number fold_real(number x, number y)
{
    return complex_number(0.5 * x.d + y.d, 0);
}

#define SHORTEST                                                                                                     \
    "(x, y) -> CASE WHEN re(x) < re(y) THEN x WHEN re(y) < re(x) THEN y ELSE complex(re(x), im(x) + im(y)) END "     \
    "IDENTITY complex(1e300, 0)"

static const functions all_functions[] = {
    {NULL, NULL, con_mul, LACIS_AGG_SUM, NULL, 0, false},
    {NULL, "count", con_one, LACIS_AGG_COUNT, NULL, 0, false},
    {"a", NULL, con_a, LACIS_AGG_SUM, NULL, 0, false},
    {"b", "first", con_b, LACIS_AGG_FIRST, NULL, 0, false},
    {"b", "avg", con_b, LACIS_AGG_AVG, NULL, 0, false},
    {"a", "last", con_a, LACIS_AGG_LAST, NULL, 0, false},
    {"a + b", "sum", con_add, LACIS_AGG_SUM, NULL, 0, false},
    {"a + b", "avg", con_add, LACIS_AGG_AVG, NULL, 0, false},
    {"a * b", "any", con_mul, LACIS_AGG_ANY, NULL, 0, false},
    {"a * b", "last", con_mul, LACIS_AGG_LAST, NULL, 0, false},
    {"conj(a) * b + complex(0, 0)", "sum", con_conj, LACIS_AGG_SUM, NULL, 0, false},
    {"2 * a - b", "sum", con_mixed, LACIS_AGG_SUM, NULL, 0, false},
    {"2 * a - b", "avg", con_mixed, LACIS_AGG_AVG, NULL, 0, false},
    {"complex(s - t, c)", "first", con_labels, LACIS_AGG_FIRST, NULL, 0, false},
    {"CASE WHEN re(a) < re(b) THEN complex(re(a), im(b)) ELSE b END", "sum", con_case, LACIS_AGG_SUM, NULL, 0, false},
    {"re(a) * im(b) + 0.0", "max", con_parts, LACIS_AGG_MAX, NULL, 0, false},
    {"complex(re(a) + re(b), 1)", SHORTEST, con_path, LACIS_AGG_FOLD, fold_shortest, 1e300, false},
    {"a * b", "(x, y) -> x * 0.5 + y * complex(0, 1) IDENTITY complex(1, -2)", con_mul, LACIS_AGG_FOLD, fold_half,
     CMPLX(1, -2), false},
    {"a + b", "(x, y) -> complex(re(x) * 0.5 + re(y), 0) IDENTITY complex(3, 1)", con_add, LACIS_AGG_FOLD, fold_real,
     CMPLX(3, 1), false},
};

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
static const lacis_restriction by_range = {3, 19, NULL, 0, 4, 30, 0};

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
        for (int f = 0; f < LACIS_COUNT(all_functions); f++) {
            if (!parity_turn(f + t, 3)) continue;
            check(p, &o, &all_functions[f], &all_extras[0]);
            check(p, &o, &all_functions[f], &all_extras[turn++ % LACIS_COUNT(all_extras)]);
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
                int f = turn++ % LACIS_COUNT(all_functions);
                if (parity_turn(f + kind, 3)) check(p, &o, &all_functions[f], &all_extras[e]);
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
            check(p, &o, &all_functions[chosen[f]], &all_extras[f % 3]);
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
            const functions *fn = &all_functions[f];
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
