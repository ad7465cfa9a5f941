/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER against plain loops: powers as repeated naive products, walks counted, closures against Floyd and Warshall,
 * and what must be refused.
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
static number con_far(number a, number b, int64_t s, int64_t c, int64_t t)
{
    (void)s;
    return add(add(a, b), integer(c - t));
}

static const functions all_functions[] = {
    {NULL, NULL, con_mul, LACIS_AGG_SUM, NULL, 0, false},
    {NULL, "count", con_mul, LACIS_AGG_SUM, NULL, 0, false}, /* over a pattern */
    {"a + b", "min", con_add, LACIS_AGG_MIN, NULL, 0, false},
    {"a + b + (c - t)", "max", con_far, LACIS_AGG_MAX, NULL, 0, true},
    {"a + b", "avg", con_add, LACIS_AGG_AVG, NULL, 0, false},
};

static const extras none = {.text = ""};

/* The list as a graph shaped like `like`, to be multiplied again. */
static graph graph_of(const triples *list, const graph *like, bool real)
{
    graph g = {.rows = like->rows, .cols = like->cols, .entries = list->count};
    g.dtype = g.storage = real ? LACIS_F64 : LACIS_I64;
    g.begin = calloc((size_t)like->rows + 1, sizeof *g.begin);
    g.column = malloc(sizeof(uint32_t) * (size_t)(list->count + 1));
    g.value = malloc(sizeof(double) * (size_t)(list->count + 1));
    for (int64_t i = 0; i < list->count; i++) {
        g.begin[list->at[i].src - like->row_base + 1]++;
        g.column[i] = (uint32_t)(list->at[i].dst - like->col_base);
        g.value[i] = list->at[i].value;
    }
    for (int64_t r = 0; r < like->rows; r++)
        g.begin[r + 1] += g.begin[r];
    g.row_base = like->row_base;
    g.col_base = like->col_base;
    return g;
}

static triples reference_power(const graph *a, int64_t k, const functions *f, bool walks)
{
    graph plain = *a;
    if (walks) {
        plain.value = NULL;
        plain.dtype = LACIS_PATTERN;
    }
    triples list = {0};
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t i = a->begin[r]; i < a->begin[r + 1]; i++)
            triples_add(&list, row_label(a, r), col_label(a, a->column[i]), plain.value == NULL ? 1 : a->value[i]);
    bool real = dtype_real(plain.dtype) || f->kind == LACIS_AGG_AVG;
    for (int64_t round = 2; round <= k; round++) {
        graph present = graph_of(&list, a, real && (round > 2 || dtype_real(plain.dtype)));
        triples_free(&list);
        list = reference_product(&present, &plain, NULL, f, &none);
        graph_free(&present);
    }
    return list;
}

/* Those with src among the wanted. */
static triples only(const triples *list, bool (*where)(int64_t src))
{
    triples out = {0};
    for (int64_t i = 0; i < list->count; i++)
        if (where == NULL || where(list->at[i].src))
            triples_add(&out, list->at[i].src, list->at[i].dst, list->at[i].value);
    return out;
}

static bool where_few(int64_t src)
{
    return src == 3 || src == 8;
}

static void check(parity *p, const char *text, lacis_array *array, const triples *list, bool (*where)(int64_t src))
{
    named arrays[] = {{"g", array}, {NULL, NULL}};
    triples expected = only(list, where);
    parity_check(p, text, arrays, NULL, &expected);
    triples_free(&expected);
    lacis_run_clear(&p->run);
}

static void test_powers(void **state)
{
    parity *p = *state;
    uint64_t random = 21;
    static const lacis_dtype types[] = {LACIS_I64, LACIS_F64, LACIS_PATTERN, LACIS_I32};
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        graph g = graph_make(&random, GRAPH_EMPTY_ROWS, 25, 25, types[t]);
        g.row_base = g.col_base = 1;
        lacis_array *array = graph_array(p, &g);
        for (int f = 0; f < LACIS_COUNT(all_functions); f++)
            for (int64_t k = 1; k <= 4; k++) {
                const functions *fn = &all_functions[f];
                if (fn->integers_only && dtype_real(types[t])) continue;
                bool walks = fn->agg != NULL && strcmp(fn->agg, "count") == 0;
                char text[200];
                snprintf(text, sizeof text, "POWER g TO %d %s %s %s %s", (int)k, fn->con ? "CON" : "",
                         fn->con ? fn->con : "", fn->agg ? "AGG" : "", fn->agg ? fn->agg : "");
                triples expected = reference_power(&g, k, fn, walks);
                check(p, text, array, &expected, NULL);
                strcat(text, " WHERE src IN (3, 8, 400)");
                check(p, text, array, &expected, where_few);
                triples_free(&expected);
            }
        lacis_array_release(array);
        graph_free(&g);
    }
}

/* ----------------------------------------------------------------------------------------- closures */

enum { N = 40 };
static const double NONE = 1e300; /* no path */

typedef double (*step_fn)(double a, double b);
static double plus(double a, double b)
{
    return a + b;
}
static double widest(double a, double b)
{
    return a > b ? a : b;
}
static double reach(double a, double b)
{
    (void)a, (void)b;
    return 1;
}

static double last_edge(double a, double b)
{
    (void)a;
    return b;
}

/* Least value over all paths of one edge or more, by relaxing until nothing changes. */
static triples reference_closure(const graph *g, step_fn step, int64_t edges)
{
    static double d[N][N];
    triples out = {0};
    for (int s = 0; s < N; s++)
        for (int t = 0; t < N; t++)
            d[s][t] = NONE;
    for (int s = 0; s < N; s++)
        for (int64_t i = g->begin[s]; i < g->begin[s + 1]; i++)
            d[s][g->column[i]] = step == reach ? 1 : g->value[i];
    for (int64_t round = 1; round < edges; round++) {
        static double next[N][N];
        memcpy(next, d, sizeof d);
        for (int s = 0; s < N; s++)
            for (int c = 0; c < N; c++)
                for (int64_t i = g->begin[c]; d[s][c] != NONE && i < g->begin[c + 1]; i++) {
                    double v = step(d[s][c], g->value == NULL ? 1 : g->value[i]);
                    if (v < next[s][g->column[i]]) next[s][g->column[i]] = v;
                }
        memcpy(d, next, sizeof d);
    }
    for (int s = 0; s < N; s++)
        for (int t = 0; t < N; t++)
            if (d[s][t] != NONE) triples_add(&out, s, t, d[s][t]);
    return out;
}

static void test_closures(void **state)
{
    parity *p = *state;
    uint64_t random = 22;
    static const lacis_dtype types[] = {LACIS_F64, LACIS_I32, LACIS_F32, LACIS_I64};
    static const struct {
        const char *text;
        step_fn step;
        int64_t edges;
    } closure[] = {{"CON a + b AGG min", plus, N + 1},     {"CON max(a, b) AGG min", widest, N + 1},
                   {"CON b AGG min", last_edge, N + 1},    {"", reach, N + 1},
                   {"CON nil AGG any", reach, N + 1},      {"WITHIN 1 CON a + b AGG min", plus, 1},
                   {"WITHIN 3 CON a + b AGG min", plus, 3}};
    for (int t = 0; t < 8; t++) {
        graph g = graph_make(&random, t & 4 ? GRAPH_SINGLES : GRAPH_EMPTY_ROWS, N, N, types[t % 4]);
        for (int64_t i = 0; i < g.entries; i++)
            g.value[i] = fabs(g.value[i]);
        lacis_array *array = graph_array(p, &g);
        for (int c = 0; c < LACIS_COUNT(closure); c++) {
            char text[200];
            snprintf(text, sizeof text, "POWER g UNTIL STABLE %s", closure[c].text);
            triples expected = reference_closure(&g, closure[c].step, closure[c].edges);
            check(p, text, array, &expected, NULL);
            strcat(text, " WHERE src = 3 OR src = 8");
            check(p, text, array, &expected, where_few);
            triples_free(&expected);
        }
        lacis_array_release(array);
        graph_free(&g);
    }
}

/* AGG any keeps the value that a pair had first: of the fewest edges, and of those by the least vertex before the
 * end. */
static triples reference_first(const graph *g)
{
    static double d[N][N];
    static int found[N][N]; /* the round; 0: not yet */
    triples out = {0};
    memset(found, 0, sizeof found);
    for (int s = 0; s < N; s++)
        for (int64_t i = g->begin[s]; i < g->begin[s + 1]; i++) {
            d[s][g->column[i]] = g->value[i];
            found[s][g->column[i]] = 1;
        }
    for (int round = 1; round < N; round++)
        for (int s = 0; s < N; s++)
            for (int c = 0; c < N; c++)
                for (int64_t i = g->begin[c]; found[s][c] == round && i < g->begin[c + 1]; i++) {
                    if (found[s][g->column[i]] != 0) continue;
                    d[s][g->column[i]] = d[s][c];
                    found[s][g->column[i]] = round + 1;
                }
    for (int s = 0; s < N; s++)
        for (int t = 0; t < N; t++)
            if (found[s][t] != 0) triples_add(&out, s, t, d[s][t]);
    return out;
}

static void test_first(void **state)
{
    parity *p = *state;
    uint64_t random = 24;
    static const lacis_dtype types[] = {LACIS_F64, LACIS_I32, LACIS_F32, LACIS_I64};
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        graph g = graph_make(&random, t & 1 ? GRAPH_SINGLES : GRAPH_EMPTY_ROWS, N, N, types[t]);
        lacis_array *array = graph_array(p, &g);
        triples expected = reference_first(&g);
        check(p, "POWER g UNTIL STABLE CON a AGG any", array, &expected, NULL);
        triples_free(&expected);
        lacis_array_release(array);
        graph_free(&g);
    }
}

static void check_by_cpu(parity *p, const char *text, const named *arrays)
{
    triples expected = {0};
    lacis_call *call;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    run_units(p, call, call->op->variants[0], 0, call->units, text, &expected);
    parity_unbind(p, call);
    parity_check(p, text, arrays, NULL, &expected);
    triples_free(&expected);
    lacis_run_clear(&p->run);
}

/* Larger than the reference could be: what the CPU gives. Only where there is something to compare it with. */
static void test_large(void **state)
{
    parity *p = *state;
    uint64_t random = 25;
    static const char *const texts[] = {
        "POWER g TO 2 AGG count",
        "POWER g TO 3 AGG count",
        "POWER g TO 3 WHERE src < 40",
        "POWER g TO 4 CON a + b AGG max WHERE src IN (1, 2, 700)",
        "POWER g TO 2 AGG avg",
        "POWER g UNTIL STABLE",
        "POWER g UNTIL STABLE WHERE src = 5",
        "POWER g UNTIL STABLE WITHIN 3 CON a + b AGG min",
        "POWER g UNTIL STABLE WITHIN 5 CON a + b AGG max WHERE src < 9",
        "POWER g UNTIL STABLE WITHIN 3 CON a * b AGG min WHERE src < 100",
        "POWER g UNTIL STABLE WITHIN 4 CON a AGG any",
        "POWER g TO 3 CON a + b AGG (x, y) -> max(x, y) IDENTITY -1000000 ASSOCIATIVE WHERE src < 100",
        "POWER g TO 3 CON b AGG (x, y) -> x * 0.5 - y IDENTITY 3 WHERE src < 100",
        "POWER g TO 3 CON a + b - s + c AGG min WHERE src IN (1, 20, 700)",
    };
    static const lacis_dtype types[] = {LACIS_PATTERN, LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64};
    if (!parity_on_gpu()) skip();
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        graph g = graph_make(&random, t & 1 ? GRAPH_POWER : GRAPH_SPARSE, 1500, 1500, types[t]);
        named arrays[] = {{"g", graph_array(p, &g)}, {NULL, NULL}};
        for (int i = 0; i < LACIS_COUNT(texts); i++)
            check_by_cpu(p, texts[i], arrays);
        lacis_array_release(arrays[0].array);
        graph_free(&g);
    }
}

/* The same of complex values, and of a graph whose rows and columns are different vertices. */
static void test_large_others(void **state)
{
    parity *p = *state;
    uint64_t random = 26;
    static const char *const texts[] = {
        "POWER g TO 3 WHERE src < 40",
        "POWER g TO 2 AGG avg WHERE src < 200",
        "POWER g TO 3 CON a + b AGG last WHERE src < 100",
        "POWER g TO 2 CON a * b + complex(s, c) AGG sum WHERE src < 100",
        "POWER g TO 3 CON b AGG (x, y) -> x * 0.5 + y IDENTITY complex(1, -1) WHERE src < 100",
    };
    static const lacis_dtype types[] = {LACIS_C64, LACIS_C128, LACIS_F64};
    if (!parity_on_gpu()) skip();
    for (int t = 0; t < LACIS_COUNT(types); t++) {
        graph g = graph_make(&random, GRAPH_SPARSE, 700, 700, types[t]);
        if (t > 0) {
            g.row_label = random_labels(&random, g.rows, 2);
            g.col_label = random_labels(&random, g.cols, 2);
        }
        named arrays[] = {{"g", graph_array(p, &g)}, {NULL, NULL}};
        for (int i = 0; i < LACIS_COUNT(texts); i++)
            check_by_cpu(p, texts[i], arrays);
        lacis_array_release(arrays[0].array);
        graph_free(&g);
    }
}

/* A long chain takes as many rounds as it has edges; values along it are exact. */
static void test_chain(void **state)
{
    parity *p = *state;
    graph g = {.rows = 300, .cols = 300, .entries = 299, .dtype = LACIS_I64, .storage = LACIS_I64};
    g.begin = calloc(301, sizeof *g.begin);
    g.column = malloc(300 * sizeof *g.column);
    g.value = malloc(300 * sizeof *g.value);
    for (int i = 0; i < 299; i++) {
        g.begin[i + 1] = i + 1;
        g.column[i] = (uint32_t)i + 1;
        g.value[i] = i;
    }
    g.begin[300] = 299;
    lacis_array *array = graph_array(p, &g);
    triples expected = {0};
    for (int t = 1; t < 300; t++)
        triples_add(&expected, 0, t, (double)t * (t - 1) / 2);
    check(p, "POWER g UNTIL STABLE CON a + b AGG min WHERE src = 0", array, &expected, NULL);
    triples_free(&expected);
    lacis_array_release(array);
    graph_free(&g);
}

/* ------------------------------------------------------------------------------------------ refusals */

static void refuse(parity *p, const char *text, lacis_array *array, lacis_status expected, const char *part)
{
    named arrays[] = {{"g", array}, {NULL, NULL}};
    lacis_call *call;
    lacis_array *out = NULL;
    lacis_status status = parity_bind(p, text, arrays, NULL, &call);
    if (status == LACIS_OK) {
        status = call->op->variants[0]->run(&p->run, call, 0, call->units, &out);
        parity_unbind(p, call);
    }
    lacis_array_release(out);
    if (status != expected || strstr(p->host.error.message, part) == NULL)
        fail_msg("%s\n  gave %s: %s", text, lacis_status_name(status), p->host.error.message);
    lacis_run_clear(&p->run);
}

/* Runs, and gives `value` everywhere. */
static void accept(parity *p, const char *text, lacis_array *array, double value)
{
    triples expected = {0};
    for (int64_t s = 0; s < lacis_array_extent(array, 0); s++)
        for (int64_t t = 0; t < lacis_array_extent(array, 1); t++)
            triples_add(&expected, s, t, value);
    check(p, text, array, &expected, NULL);
    triples_free(&expected);
}

static void test_refusals(void **state)
{
    parity *p = *state;
    uint64_t random = 23;
    graph g = graph_make(&random, GRAPH_FULL, 6, 6, LACIS_I64);
    for (int64_t i = 0; i < g.entries; i++)
        g.value[i] = -1;
    graph wide = graph_make(&random, GRAPH_FULL, 3, 5, LACIS_F64);
    lacis_array *array = graph_array(p, &g), *wide_array = graph_array(p, &wide);
    refuse(p, "POWER g UNTIL STABLE CON a + b AGG min", array, LACIS_RANGE, "still change after");
    accept(p, "POWER g UNTIL STABLE WITHIN 9 CON a + b AGG min", array, -9); /* more rounds than vertices */
    accept(p, "POWER g TO 3 CON a + 7 AGG count", array, 36);                /* whatever CON says */
    refuse(p, "POWER g UNTIL STABLE CON a + b AGG sum", array, LACIS_TYPE, "settles");
    refuse(p, "POWER g UNTIL STABLE AGG (x, y) -> x * y + 1 IDENTITY 1", array, LACIS_TYPE, "settles");
    refuse(p, "POWER g", array, LACIS_SYNTAX, "TO k or UNTIL STABLE");
    refuse(p, "POWER g TO 2 WITHIN 3", array, LACIS_SYNTAX, "WITHIN");
    refuse(p, "POWER g TO 0", array, LACIS_RANGE, "1 or more");
    refuse(p, "POWER g TO 2", wide_array, LACIS_TYPE, "3 x 5");
    refuse(p, "POWER g TO 40 AGG count", array, LACIS_OVERFLOW, "64 bits");
    lacis_array_release(array);
    lacis_array_release(wide_array);
    graph_free(&g);
    graph_free(&wide);
}

/* test_power [NAMES | -NAMES]: those tests alone, or all but those ("test_large*"). */
int main(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] == '-')
        cmocka_set_skip_filter(argv[1] + 1);
    else if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_powers, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_closures, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_first, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_large, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_large_others, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_chain, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
