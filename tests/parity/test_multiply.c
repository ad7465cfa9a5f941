/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY of graphs by graphs against the naive reference: shapes of graphs (so that every class of rows occurs) x
 * CON and AGG x types x MASK, WHERE, TOP, HAVING and SQL's restrictions.
 */
#include "parity/functions.h"

/* ------------------------------------------------------------------------------------------- extras */

static bool where_seven(int64_t src)
{
    return src == 7;
}
static bool where_list(int64_t src)
{
    return src == 1 || src == 3 || src == 4 || src == 33;
}
static bool where_range(int64_t src)
{
    return src >= 5 && src < 29;
}
static bool where_odd(int64_t src)
{
    return src % 2 == 1;
}
static bool having_positive(number value, int64_t src, int64_t dst)
{
    (void)src, (void)dst;
    return value.type == LACIS_I64 ? value.i > 0 : value.d > 0;
}
static bool having_off(number value, int64_t src, int64_t dst)
{
    return src != dst && (value.type == LACIS_I64 ? (double)value.i : value.d) < 6;
}
static bool having_between(number value, int64_t src, int64_t dst)
{
    const double v = value.type == LACIS_I64 ? (double)value.i : value.d;
    (void)src, (void)dst;
    return v >= 1.5 && v <= 7;
}
static const int64_t some_rows[] = {0, 2, 3, 11, 500};
static const lacis_restriction by_list = {
    .lo = INT64_MIN, .hi = INT64_MAX, .list = some_rows, .count = 5, .lo1 = INT64_MIN, .hi1 = INT64_MAX};
static const lacis_restriction by_range = {.lo = 3, .hi = 19, .lo1 = 4, .hi1 = 30, .top = 4};
static const lacis_restriction by_top = {.lo = 3, .hi = 19, .lo1 = INT64_MIN, .hi1 = INT64_MAX, .top = 4};
static const lacis_restriction by_nothing = {.lo = 1, .lo1 = INT64_MIN, .hi1 = INT64_MAX};

static const extras all_extras[] = {
    {.text = ""},
    {.text = "MASK m", .mask = true},
    {.text = "MASK NOT m", .mask = true, .mask_not = true},
    {.text = "WHERE src = 7", .where = where_seven},
    {.text = "WHERE src IN (33, 1, 4, 3)", .where = where_list},
    {.text = "WHERE src >= 5 AND src < 29", .where = where_range},
    {.text = "WHERE src % 2 = 1", .where = where_odd},
    {.text = "TOP 3", .top = 3},
    {.text = "TOP 1", .top = 1},
    {.text = "HAVING value > 0", .having = having_positive},
    {.text = "HAVING src <> dst AND value < 6", .having = having_off},
    {.text = "HAVING value BETWEEN 1.5 AND 7", .having = having_between},
    {.text = "TOP 2 HAVING value BETWEEN 1.5 AND 7", .top = 2, .having = having_between},
    {.text = "MASK m HAVING value >= 1.5 AND value <= 7", .mask = true, .having = having_between},
    {.text = "MASK NOT m TOP 3 HAVING src <> dst AND value < 6",
     .mask = true,
     .mask_not = true,
     .top = 3,
     .having = having_off},
    {.text = "MASK m TOP 2", .mask = true, .top = 2},
    {.text = "MASK NOT m WHERE src % 2 = 1 TOP 2 HAVING value > 0",
     .mask = true,
     .mask_not = true,
     .where = where_odd,
     .top = 2,
     .having = having_positive},
    {.text = "", .restriction = &by_list},
    {.text = "", .restriction = &by_range},
    {.text = "WHERE src % 2 = 1 TOP 9", .where = where_odd, .top = 9, .restriction = &by_range},
    {.text = "TOP 2", .top = 2, .restriction = &by_range},
    {.text = "TOP 9", .top = 9, .restriction = &by_top},
    {.text = "TOP 2", .top = 2, .restriction = &by_top},
    {.text = "WHERE src IN (33, 1, 4, 3)", .where = where_list, .restriction = &by_list},
    {.text = "", .restriction = &by_nothing},
};

/* ------------------------------------------------------------------------------------------- checks */

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

static operands operands_make(parity *p, uint64_t *state, graph_kind kind, int64_t n, lacis_dtype a, lacis_dtype b)
{
    operands o = {graph_make(state, kind, n, n, a),
                  graph_make(state, kind, n, n, b),
                  graph_make(state, GRAPH_SPARSE, n, n, LACIS_PATTERN),
                  {0}};
    operands_finish(p, &o);
    return o;
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
static const char *const cpu_figures[] = {"rows copied", "rows sorted", "rows hashed", "rows dense", "rows hub"};
static const char *const gpu_figures[] = {"GPU rows copy", "GPU rows tiny", "GPU rows middle", "GPU rows dense",
                                          "GPU rows empty"};
enum { FIGURES = 5 };
static double seen[FIGURES];

static const char *class_figure(int k)
{
    return parity_on_gpu() ? gpu_figures[k] : cpu_figures[k];
}

static void check(parity *p, const operands *o, const functions *f, const extras *e)
{
    char text[400];
    snprintf(text, sizeof text, "MULTIPLY a BY b %s %s %s %s %s", f->con != NULL ? "CON" : "",
             f->con != NULL ? f->con : "", f->agg != NULL ? "AGG" : "", f->agg != NULL ? f->agg : "", e->text);
    named arrays[] = {{"a", o->array[0]}, {"b", o->array[1]}, {"m", o->array[2]}, {NULL, NULL}};
    triples expected = reference_product(&o->a, &o->b, &o->mask, f, e);
    parity_check(p, text, arrays, e->restriction, &expected);
    triples_free(&expected);
    for (int k = 0; k < FIGURES; k++)
        seen[k] += parity_figure(p, class_figure(k));
    lacis_run_clear(&p->run);
}

static bool suits(const functions *f, lacis_dtype a, lacis_dtype b)
{
    return !f->integers_only || (!dtype_real(a) && !dtype_real(b));
}

/* Whether it is the turn of function `f` of all of them. */
static bool turn_of(int f, int turn, int of)
{
    return !functions_written(&real_functions[f]) || parity_turn(f + turn, of);
}

static const lacis_dtype types[][2] = {
    {LACIS_PATTERN, LACIS_PATTERN}, {LACIS_I32, LACIS_I32},     {LACIS_I64, LACIS_I64},
    {LACIS_F32, LACIS_F32},         {LACIS_F64, LACIS_F64},     {LACIS_I32, LACIS_F32},
    {LACIS_F32, LACIS_F64},         {LACIS_PATTERN, LACIS_F64}, {LACIS_I64, LACIS_PATTERN},
};

/* Every CON and AGG x every type, the other clauses taken in turn. */
static void test_functions_types(void **state)
{
    parity *p = *state;
    uint64_t random = 1;
    int turn = 0;
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        operands o = operands_make(p, &random, GRAPH_SPARSE, 40, types[t][0], types[t][1]);
        for (int f = 0; f < LACIS_COUNT(real_functions); f++) {
            if (!suits(&real_functions[f], types[t][0], types[t][1]) || !turn_of(f, t, 3)) continue;
            check(p, &o, &real_functions[f], &all_extras[0]);
            check(p, &o, &real_functions[f], &all_extras[turn++ % LACIS_COUNT(all_extras)]);
        }
        operands_free(&o);
    }
}

/* Every kind of graph x every other clause, functions and types taken in turn. */
static void test_graphs_clauses(void **state)
{
    parity *p = *state;
    uint64_t random = 2;
    int turn = 0;
    for (int kind = 0; kind < GRAPH_KINDS; kind++) {
        const lacis_dtype *type = types[kind % LACIS_COUNT(types)];
        operands o = operands_make(p, &random, (graph_kind)kind, 60, type[0], type[1]);
        for (int e = 0; e < LACIS_COUNT(all_extras); e++)
            for (int i = 0; i < 6; i++) {
                int f = turn++ % LACIS_COUNT(real_functions);
                if (suits(&real_functions[f], type[0], type[1]) && turn_of(f, kind, 3))
                    check(p, &o, &real_functions[f], &all_extras[e]);
            }
        operands_free(&o);
    }
}

static void test_real_folds(void **state)
{
    parity *p = *state;
    uint64_t random = 3;
    const lacis_dtype own[][2] = {{LACIS_I32, LACIS_I64}, {LACIS_F32, LACIS_F32}, {LACIS_F64, LACIS_F64}};
    for (int t = 0; t < 3; t++) {
        operands o = operands_make(p, &random, GRAPH_POWER, 30, own[t][0], own[t][1]);
        for (int f = 0; f < LACIS_COUNT(real_folds); f++)
            for (int e = 0; e < 12; e += 3)
                if (!(t == 0 && f == 2)) check(p, &o, &real_folds[f], &all_extras[e]);
        operands_free(&o);
    }
}

/* Counts as they lie in memory, and integers in 32 bits, are operands like any other. */
static void test_narrow_storage(void **state)
{
    parity *p = *state;
    uint64_t random = 4;
    const lacis_dtype storage[] = {LACIS_U8, LACIS_U16, LACIS_U32, LACIS_I32};
    for (int t = 0; t < LACIS_COUNT(storage); t++) {
        operands o = {graph_make(&random, GRAPH_SPARSE, 40, 40, LACIS_I64),
                      graph_make(&random, GRAPH_SPARSE, 40, 40, LACIS_I64),
                      graph_make(&random, GRAPH_SPARSE, 40, 40, LACIS_PATTERN),
                      {0}};
        o.a.storage = storage[t];
        o.b.storage = storage[(t + 1) % LACIS_COUNT(storage)];
        for (int64_t i = 0; i < o.a.entries; i++)
            o.a.value[i] = fabs(o.a.value[i]);
        for (int64_t i = 0; i < o.b.entries; i++)
            o.b.value[i] = fabs(o.b.value[i]);
        operands_finish(p, &o);
        for (int f = 0; f < LACIS_COUNT(real_functions); f++)
            if (turn_of(f, t, LACIS_COUNT(storage)))
                check(p, &o, &real_functions[f], &all_extras[(f + t) % LACIS_COUNT(all_extras)]);
        operands_free(&o);
    }
}

/* Operands that count differently are joined by label. */
static void test_labels(void **state)
{
    parity *p = *state;
    uint64_t random = 5;
    for (int round = 0; round < 24; round++) {
        const lacis_dtype *type = types[round % LACIS_COUNT(types)];
        int64_t rows = 20 + random_below(&random, 30), middle = 30, middle_b = 30 + 5 * (round % 3), cols = 25;
        operands o = {graph_make(&random, GRAPH_SPARSE, rows, middle, type[0]),
                      graph_make(&random, GRAPH_SPARSE, middle_b, cols, type[1]),
                      graph_make(&random, GRAPH_SPARSE, 45, 31, LACIS_PATTERN),
                      {0}};
        if (round & 1) o.a.row_label = random_labels(&random, rows, 3);
        if (round & 2 || middle_b != middle) o.a.col_label = random_labels(&random, middle, 2);
        if (round & 4) o.b.row_label = random_labels(&random, middle_b, 2);
        if (round & 8) o.b.col_label = random_labels(&random, cols, 2);
        o.mask.row_label = random_labels(&random, 45, 2);
        o.mask.col_label = random_labels(&random, 31, 2);
        if (!(round & 4)) o.b.row_base = 1;
        operands_finish(p, &o);
        for (int i = 0; i < 10; i++) {
            int f = (round * 7 + i * 3) % LACIS_COUNT(real_functions);
            if (suits(&real_functions[f], type[0], type[1]) && turn_of(f, round, 3))
                check(p, &o, &real_functions[f], &all_extras[(round + i) % LACIS_COUNT(all_extras)]);
        }
        operands_free(&o);
    }
}

/* Graphs large enough for every class of rows. The reference ranks rows of thousands slowly, so no TOP here. */
static void test_classes(void **state)
{
    parity *p = *state;
    uint64_t random = 6;
    memset(seen, 0, sizeof seen);
    const struct {
        graph_kind a, b;
        int64_t rows, middle, cols;
    } shape[] = {{GRAPH_HUB, GRAPH_HUB, 3000, 3000, 3000},  {GRAPH_POWER, GRAPH_POWER, 1500, 1500, 1500},
                 {GRAPH_WIDE, GRAPH_WIDE, 60, 500, 200000}, {GRAPH_SINGLES, GRAPH_SPARSE, 500, 500, 500},
                 {GRAPH_WIDE, GRAPH_WIDE, 40, 300, 3000},   {GRAPH_FULL, GRAPH_FULL, 90, 90, 90},
                 {GRAPH_HUB, GRAPH_FULL, 3, 2100, 2100}};
    static const int chosen[] = {1, 11, 25, 13, 18, 22, 8};
    for (int i = 0; i < LACIS_COUNT(shape); i++) {
        lacis_dtype type = types[1 + i % 4][0];
        operands o = {graph_make(&random, shape[i].a, shape[i].rows, shape[i].middle, type),
                      graph_make(&random, shape[i].b, shape[i].middle, shape[i].cols, type),
                      graph_make(&random, GRAPH_WIDE, shape[i].rows, shape[i].cols, LACIS_PATTERN),
                      {0}};
        operands_finish(p, &o);
        for (int f = 0; f < (o.b.entries > 1000000 ? 3 : LACIS_COUNT(chosen)); f++) /* count, min, fold */
            if (turn_of(chosen[f], i, 2)) check(p, &o, &real_functions[chosen[f]], &all_extras[f % 3]);
        operands_free(&o);
    }
    for (int k = 0; k < FIGURES; k++)
        if (seen[k] == 0) fail_msg("no graph of this test had %s", class_figure(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_functions_types, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_graphs_clauses, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_real_folds, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_narrow_storage, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_labels, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_classes, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
