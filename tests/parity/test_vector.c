/* SPDX-License-Identifier: Apache-2.0
 *
 * graph BY vector and vector BY graph against the naive reference, vectors dense and sparse; and breadth-first
 * search, shortest paths and PageRank as a user would write them.
 */
#include "parity/reference.h"

static number con_mul(number a, number b, int64_t s, int64_t c, int64_t t)
{
    (void)s, (void)c, (void)t;
    return mul(a, b);
}
static number con_add(number a, number b, int64_t s, int64_t c, int64_t t)
{
    (void)s, (void)c, (void)t;
    return add(a, b);
}
static number con_a(number a, number b, int64_t s, int64_t c, int64_t t)
{
    (void)b, (void)s, (void)c, (void)t;
    return a;
}
static number con_b(number a, number b, int64_t s, int64_t c, int64_t t)
{
    (void)a, (void)s, (void)c, (void)t;
    return b;
}
static number con_one(number a, number b, int64_t s, int64_t c, int64_t t)
{
    (void)a, (void)b, (void)s, (void)c, (void)t;
    return integer(1);
}
static number con_mixed(number a, number b, int64_t s, int64_t c, int64_t t)
{
    (void)s, (void)c, (void)t;
    return sub(scaled(a, 2), b);
}

static const functions all_functions[] = {
    {NULL, NULL, con_mul, LACIS_AGG_SUM, NULL, 0, false},
    {"a + b", "min", con_add, LACIS_AGG_MIN, NULL, 0, false},
    {"nil", NULL, con_one, LACIS_AGG_COUNT, NULL, 0, false},
    {"2 * a - b", "max", con_mixed, LACIS_AGG_MAX, NULL, 0, false},
    {"a * b", "avg", con_mul, LACIS_AGG_AVG, NULL, 0, false},
    {"a * b", "last", con_mul, LACIS_AGG_LAST, NULL, 0, false},
    {"a + b", "any", con_add, LACIS_AGG_FIRST, NULL, 0, false},
    {"b", "sum", con_b, LACIS_AGG_SUM, NULL, 0, false},
    {"a", "max", con_a, LACIS_AGG_MAX, NULL, 0, false},
};

static bool where_odd(int64_t src)
{
    return src % 2 == 1;
}
static bool where_few(int64_t src)
{
    return src == 4 || src == 9 || src == 21;
}
static bool having_positive(number value, int64_t src, int64_t dst)
{
    return value.d > 0 && src == dst;
}
static const lacis_restriction by_range = {.lo = 3, .hi = 17, .lo1 = INT64_MIN, .hi1 = INT64_MAX};

static const extras all_extras[] = {
    {.text = ""},
    {.text = "MASK m", .mask = true},
    {.text = "MASK NOT m", .mask = true, .mask_not = true},
    {.text = "WHERE src % 2 = 1", .where = where_odd},
    {.text = "WHERE src IN (21, 9, 4)", .where = where_few},
    {.text = "HAVING value > 0 AND src = dst AND s = t", .having = having_positive},
    {.text = "", .restriction = &by_range},
    {.text = "TOP 2", .top = 2},
    {.text = "WHERE src % 2 = 1 TOP 2", .where = where_odd, .top = 2},
    {.text = "WHERE src IN (21, 9, 4) TOP 2", .where = where_few, .top = 2},
    {.text = "MASK NOT m WHERE src % 2 = 1 TOP 1", .mask = true, .mask_not = true, .where = where_odd, .top = 1},
    {.text = "TOP 2", .top = 2, .restriction = &by_range},
};

/* TOP k of the whole vector, where it is one row: the greatest values, of equal ones the smaller label. */
static void keep_top_labels(triples *all, int64_t k)
{
    bool *drop = calloc((size_t)all->count + 1, sizeof *drop);
    int64_t kept = 0;
    for (int64_t i = 0; i < all->count; i++) {
        int64_t rank = 0;
        for (int64_t j = 0; j < all->count; j++)
            rank += all->at[j].value > all->at[i].value || (all->at[j].value == all->at[i].value && j < i);
        drop[i] = rank >= k;
    }
    for (int64_t i = 0; i < all->count; i++)
        if (!drop[i]) all->at[kept++] = all->at[i];
    all->count = kept;
    free(drop);
}

/* What a product of two graphs, one of which is a vector, leaves of its labels when the clauses have had their say.
 */
static triples reference_vector(const graph *a, const graph *b, const graph *mask, const functions *f,
                                const extras *e, bool row)
{
    const extras none = {.text = ""};
    triples all = reference_product(a, b, NULL, f, &none), out = {0};
    for (int64_t i = 0; i < all.count; i++) {
        int64_t label = row ? all.at[i].dst : all.at[i].src;
        number value = real_number(all.at[i].value, LACIS_F64);
        if (e->where != NULL && !e->where(label)) continue;
        bool later = row && e->top > 0; /* SQL's conditions come after TOP */
        if (e->restriction != NULL && !later && (label < e->restriction->lo || label > e->restriction->hi)) continue;
        if (e->mask && (find_row(mask, label) >= 0 &&
                        mask->begin[find_row(mask, label) + 1] > mask->begin[find_row(mask, label)]) == e->mask_not)
            continue;
        if (e->having != NULL && !e->having(value, label, label)) continue;
        triples_add(&out, label, label, all.at[i].value);
    }
    triples_free(&all);
    if (row && e->top > 0) keep_top_labels(&out, e->top);
    return out;
}

/* The column x as a row. */
static graph transposed(const graph *x)
{
    graph row = {.rows = 1, .cols = x->rows, .entries = x->entries, .dtype = x->dtype, .storage = x->storage};
    row.col_base = x->row_base;
    row.begin = calloc(2, sizeof *row.begin);
    row.begin[1] = x->entries;
    row.column = malloc(sizeof(uint32_t) * (size_t)(x->entries + 1));
    row.value = x->value;
    row.col_label = x->row_label;
    int64_t n = 0;
    for (int64_t r = 0; r < x->rows; r++)
        if (x->begin[r + 1] > x->begin[r]) row.column[n++] = (uint32_t)r;
    return row;
}

static graph vector_make(uint64_t *random, int64_t n, bool dense, lacis_dtype dtype)
{
    graph x = graph_make(random, dense ? GRAPH_FULL : GRAPH_EMPTY_ROWS, n, 1, dtype);
    x.vector = true;
    return x;
}

static void check_one(parity *p, const graph *g, const graph *x, const graph *mask, lacis_array *const *array,
                      const functions *f, const extras *e)
{
    char text[300];
    named arrays[] = {{"g", array[0]}, {"x", array[1]}, {"m", array[2]}, {NULL, NULL}};
    graph as_row = transposed(x);
    for (int row = 0; row < 2; row++) {
        snprintf(text, sizeof text, "MULTIPLY %s %s %s %s %s %s", row ? "x BY g" : "g BY x",
                 f->con != NULL ? "CON" : "", f->con != NULL ? f->con : "", f->agg != NULL ? "AGG" : "",
                 f->agg != NULL ? f->agg : "", e->text);
        triples expected =
            row ? reference_vector(&as_row, g, mask, f, e, true) : reference_vector(g, x, mask, f, e, false);
        parity_check(p, text, arrays, e->restriction, &expected);
        triples_free(&expected);
        lacis_run_clear(&p->run);
    }
    free(as_row.begin);
    free(as_row.column);
}

static void test_vectors(void **state)
{
    parity *p = *state;
    uint64_t random = 11;
    static const lacis_dtype types[] = {LACIS_F64, LACIS_F32, LACIS_I64, LACIS_I32};
    for (int round = 0; round < 8; round++) {
        lacis_dtype type = types[round % 4];
        graph g = graph_make(&random, round & 1 ? GRAPH_POWER : GRAPH_EMPTY_ROWS, 40, 40, type);
        graph x = vector_make(&random, 40, round & 2, type), mask = vector_make(&random, 40, false, LACIS_F64);
        if (round & 4) {
            g.row_label = random_labels(&random, 40, 2);
            g.col_label = random_labels(&random, 40, 2);
            x.row_label = random_labels(&random, 40, 2);
        }
        lacis_array *array[] = {graph_array(p, &g), graph_array(p, &x), graph_array(p, &mask)};
        for (int f = 0; f < LACIS_COUNT(all_functions); f++)
            for (int e = 0; e < LACIS_COUNT(all_extras); e++)
                if (parity_turn(round + f + e, 3))
                    check_one(p, &g, &x, &mask, array, &all_functions[f], &all_extras[e]);
        for (int i = 0; i < 3; i++)
            lacis_array_release(array[i]);
        graph_free(&g);
        graph_free(&x);
        graph_free(&mask);
    }
}

/* Larger than the reference could be, with rows that are cut into pieces: what the CPU gives. Only where there is
 * something to compare it with. */
static void test_large(void **state)
{
    parity *p = *state;
    uint64_t random = 13;
    enum { N = 3000 };
    static const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64};
    static const char *const functions_of[] = {"",
                                               "CON nil AGG count",
                                               "CON a + b AGG min",
                                               "CON a * b AGG max",
                                               "CON a * b AGG avg",
                                               "CON a + b AGG any",
                                               "CON b AGG last",
                                               "CON a AGG sum MASK m",
                                               "AGG min MASK NOT m WHERE src % 3 = 1"};
    if (!parity_on_gpu()) skip();
    for (int t = 0; t < 2 * LACIS_COUNT(types); t++) {
        lacis_dtype type = types[t / 2], of_vector = type == LACIS_PATTERN ? LACIS_F64 : type;
        graph g = graph_make(&random, t & 1 ? GRAPH_HUB : GRAPH_POWER, N, N, type);
        graph x = vector_make(&random, N, t & 1, of_vector), m = vector_make(&random, N, false, LACIS_F64);
        named arrays[] = {
            {"g", graph_array(p, &g)}, {"x", graph_array(p, &x)}, {"m", graph_array(p, &m)}, {NULL, NULL}};
        for (int i = 0; i < 2 * LACIS_COUNT(functions_of); i++) {
            char text[200];
            triples expected = {0};
            lacis_call *call;
            snprintf(text, sizeof text, "MULTIPLY %s %s", i & 1 ? "x BY g" : "g BY x", functions_of[i / 2]);
            parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
            run_units(p, call, call->op->variants[0], 0, call->units, text, &expected);
            parity_unbind(p, call);
            parity_check(p, text, arrays, NULL, &expected);
            triples_free(&expected);
            lacis_run_clear(&p->run);
        }
        for (int i = 0; i < 3; i++)
            lacis_array_release(arrays[i].array);
        graph_free(&g);
        graph_free(&x);
        graph_free(&m);
    }
}

/* Computes text over arrays into a new array. */
static lacis_array *compute(parity *p, const char *text, const named *arrays)
{
    lacis_call *call;
    lacis_array *out = NULL;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    parity_ok(p, call->op->variants[0]->run(&p->run, call, 0, call->units, &out), text);
    parity_unbind(p, call);
    return out;
}

/* Breadth-first search by hand, and as vector BY graph with a mask of what was seen. */
static void test_breadth_first(void **state)
{
    parity *p = *state;
    uint64_t random = 12;
    enum { N = 200 };
    graph g = graph_make(&random, GRAPH_SPARSE, N, N, LACIS_PATTERN);
    int depth[N], queue[N], head = 0, tail = 0;
    memset(depth, -1, sizeof depth);
    depth[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        int at = queue[head++];
        for (int64_t i = g.begin[at]; i < g.begin[at + 1]; i++)
            if (depth[g.column[i]] < 0) {
                depth[g.column[i]] = depth[at] + 1;
                queue[tail++] = (int)g.column[i];
            }
    }
    bool seen[N] = {true};
    graph front = {.rows = N, .cols = 1, .dtype = LACIS_F64, .storage = LACIS_F64, .vector = true};
    front.begin = calloc(N + 1, sizeof *front.begin);
    front.column = calloc(N, sizeof *front.column);
    front.value = calloc(N, sizeof *front.value);
    lacis_array *graph_a = graph_array(p, &g);
    bool front_at[N] = {true};
    for (int level = 0; level < N; level++) {
        /* seen and front as sparse vectors */
        lacis_array *array[2];
        for (int which = 0; which < 2; which++) {
            const bool *in = which == 0 ? front_at : seen;
            front.entries = 0;
            for (int i = 0; i < N; i++) {
                front.entries += in[i];
                front.begin[i + 1] = front.entries;
            }
            array[which] = graph_array(p, &front);
        }
        named arrays[] = {{"g", graph_a}, {"x", array[0]}, {"seen", array[1]}, {NULL, NULL}};
        lacis_array *next = compute(p, "MULTIPLY x BY g CON nil AGG any MASK NOT seen", arrays);
        triples list = {0};
        triples_take(&list, next);
        memset(front_at, 0, sizeof front_at);
        for (int64_t i = 0; i < list.count; i++) {
            assert_int_equal(depth[list.at[i].src], level + 1);
            front_at[list.at[i].src] = seen[list.at[i].src] = true;
        }
        int64_t found = list.count;
        triples_free(&list);
        lacis_array_release(next);
        lacis_array_release(array[0]);
        lacis_array_release(array[1]);
        if (found == 0) break;
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], depth[i] >= 0);
    lacis_array_release(graph_a);
    graph_free(&front);
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_vectors, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_large, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_breadth_first, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
