/* SPDX-License-Identifier: Apache-2.0
 *
 * The statements of lacis-bench choose, family by family, and the arrays that they work on.
 */
#include "choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

/* --- products ----------------------------------------------------------------------------------------- */

static const choose_ground graphs[] = {
    {"rmat:3", NULL},     {"rmat:8", NULL},     {"rmat:10", NULL},    {"rmat:12", NULL},    {"rmat:13", NULL},
    {"rmat:14", NULL},    {"rmat:15", NULL},    {"rmat:16", NULL},    {"uniform:12", NULL}, {"uniform:14", NULL},
    {"uniform:16", NULL}, {"uniform:17", NULL}, {"uniform:18", NULL}, {"uniform:20", NULL},
};
static const choose_ask products[] = {
    {"pair", "MULTIPLY g BY g CON nil AGG count", false, true},
    {"minplus", "MULTIPLY g BY g CON a + b AGG min", false, false},
    {"times", "MULTIPLY h BY h CON a * b AGG sum", false, false},
    /* Min-plus in words that no built-in form matches. */
    {"user", "MULTIPLY g BY g CON CASE WHEN a >= 0 THEN a + b ELSE b - a END AGG min", false, false},
    {"top10", "MULTIPLY g BY g CON nil AGG count TOP 10", false, false},
    {"totals", "MULTIPLY g BY g CON nil AGG count", true, false},
};

/* --- graphs and vectors, repeated products ------------------------------------------------------------- */

static const choose_ground some_graphs[] = {
    {"rmat:3", NULL}, {"rmat:10", NULL}, {"rmat:13", NULL}, {"rmat:16", NULL}, {"uniform:18", NULL},
};
static const choose_ask vectors[] = {
    {"pull", "MULTIPLY h BY x CON a * b AGG sum", false, false},
    {"push", "MULTIPLY x BY h CON a * b AGG sum", false, false},
};

static const choose_ground few_graphs[] = {{"rmat:3", NULL}, {"rmat:10", NULL}, {"rmat:14", NULL}, {"rmat:16", NULL}};
static const choose_ask powers[] = {
    {"reach", "POWER g UNTIL STABLE WHERE src < 64", false, false},
    {"reach1", "POWER g UNTIL STABLE WHERE src = 3", false, false},
    {"shortest", "POWER g UNTIL STABLE CON a + b AGG min WHERE src < 4", false, false},
    {"walks", "POWER g TO 3 CON nil AGG count WHERE src < 64", false, false},
};

/* --- batches ------------------------------------------------------------------------------------------ */

static const choose_ground chains[] = {
    {"chain:64x16", "GENERATE s AS tridiagonal(rows = 64, lanes = 16, seed = 1)"},
    {"chain:512x100", "GENERATE s AS tridiagonal(rows = 512, lanes = 100, seed = 1)"},
    {"chain:512x1k", "GENERATE s AS tridiagonal(rows = 512, lanes = 1000, seed = 1)"},
    {"chain:512x20k", "GENERATE s AS tridiagonal(rows = 512, lanes = 20000, seed = 1)"},
    {"tree:319x100", "GENERATE s AS tree(rows = 319, branches = 40, lanes = 100, seed = 1)"},
    {"tree:319x20k", "GENERATE s AS tree(rows = 319, branches = 40, lanes = 20000, seed = 1)"},
};
static const choose_ask solves[] = {{"solve", "SOLVE s", false, false}};

/* --- neurons ------------------------------------------------------------------------------------------ */

#define PLACE "'dend[0](0.5)'"
static const choose_ground cells[] = {
    {"cable", "GENERATE s AS cable(length = 1000, diameter = 2)"},
    {"cable:40", "GENERATE s AS cable(length = 500, diameter = 4, branches = 40, branch_length = 200, "
                 "branch_diameter = 1)"},
};
static const choose_ask simulations[] = {
    {"one", "SIMULATE s DT 0.025 STEPS 200 CLAMP " PLACE " 0.1 FROM 1 TO 4 PROBE " PLACE, false, false},
    {"passive", "SIMULATE s DT 0.025 STEPS 200 LANES 1000 CLAMP " PLACE " 0.1 FROM 1 TO 4 PROBE " PLACE " REDUCE max",
     false, false},
    {"hh", "SIMULATE s DT 0.025 STEPS 200 HH LANES 1000 CLAMP " PLACE " 0.1 FROM 1 TO 4 PROBE " PLACE " REDUCE max",
     false, false},
};

const choose_family choose_families[] = {
    {graphs, COUNT(graphs), products, COUNT(products), "DROP g; DROP h; DROP x"},
    {some_graphs, COUNT(some_graphs), vectors, COUNT(vectors), "DROP g; DROP h; DROP x"},
    {few_graphs, COUNT(few_graphs), powers, COUNT(powers), "DROP g; DROP h; DROP x"},
    {chains, COUNT(chains), solves, COUNT(solves), "DROP s"},
    {cells, COUNT(cells), simulations, COUNT(simulations), "DROP s"},
};
const int choose_family_count = COUNT(choose_families);

/* --- arrays ------------------------------------------------------------------------------------------- */

static int make_vector(lacis_engine *engine, int64_t n, bool f64)
{
    double *value = malloc(sizeof *value * (size_t)n);
    if (value == NULL) return bench_fail("no memory for a vector");
    float *small = (float *)(void *)value;
    for (int64_t i = 0; i < n; i++) {
        if (f64) value[i] = (double)(i % 8 + 1);
        if (!f64) small[i] = (float)(i % 8 + 1);
    }
    const lacis_dtype type = f64 ? LACIS_F64 : LACIS_F32;
    const lacis_part part = {"values", type, n, value};
    lacis_array_spec spec = {LACIS_VECTOR, type, {n, 0}, &part, 1};
    lacis_status status = lacis_array_create(engine, "x", &spec);
    free(value);
    return status == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(engine));
}

static int make_graph(lacis_engine *engine, const bench_options *options, const char *name)
{
    bench_graph graph;
    bool f64 = strcmp(options->type, "f64") == 0;
    int code = bench_graph_make(name, &graph);
    if (code != 0) return code;
    code = bench_engine_array(engine, &graph, f64, false);
    if (code == 0) code = bench_engine_array(engine, &graph, f64, true);
    if (code == 0) code = make_vector(engine, graph.n, f64);
    bench_graph_free(&graph);
    return code;
}

int choose_make(lacis_engine *engine, const bench_options *options, const choose_ground *ground)
{
    if (ground->make == NULL) return make_graph(engine, options, ground->name);
    lacis_status status = lacis_exec(engine, ground->make, NULL, NULL);
    return status == LACIS_OK ? 0 : bench_fail("%s: %s", ground->make, lacis_error_message(engine));
}

/* --- names -------------------------------------------------------------------------------------------- */

bool choose_wanted(const bench_options *options, const choose_ask *ask)
{
    return options->op == NULL || bench_listed(options->op, ask->name);
}

bool choose_wanted_cold(const bench_options *options, const choose_ask *ask)
{
    return ask->cold && (options->op == NULL || bench_listed(options->op, "cold"));
}

static bool known(const char *word)
{
    if (strcmp(word, "cold") == 0) return true;
    for (int i = 0; i < choose_family_count; i++)
        for (int k = 0; k < choose_families[i].asks; k++)
            if (strcmp(choose_families[i].ask[k].name, word) == 0) return true;
    return false;
}

bool choose_asks_known(const bench_options *options)
{
    char word[32];
    for (const char *at = options->op; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        if (known(word)) continue;
        bench_fail("choose: --op does not know %s", word);
        return false;
    }
    return true;
}
