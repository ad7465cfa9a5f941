/* SPDX-License-Identifier: Apache-2.0
 *
 * The products that lacis-bench times, as clauses and by name, and the engine with the arrays that they multiply.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

const char *const bench_op_name[BENCH_OPS] = {
    [BENCH_PAIR] = "pair",   [BENCH_MINPLUS] = "minplus", [BENCH_TIMES] = "times",   [BENCH_USER] = "user",
    [BENCH_TOP10] = "top10", [BENCH_FOLD16] = "fold16",   [BENCH_SOURCE] = "source",
};
const char *const bench_op_clauses[BENCH_OPS] = {
    [BENCH_PAIR] = "CON nil AGG count",
    [BENCH_MINPLUS] = "CON a + b AGG min",
    [BENCH_TIMES] = "CON a * b AGG sum",
    /* Min-plus in words that no built-in form matches. */
    [BENCH_USER] = "CON CASE WHEN a >= 0 THEN a + b ELSE b - a END AGG min",
    [BENCH_TOP10] = "CON nil AGG count TOP 10",
    /* 16 bytes: a distance, and how many paths have it. */
    [BENCH_FOLD16] = "CON complex(a + b, 1) AGG (x, y) -> CASE WHEN re(x) < re(y) THEN x WHEN re(y) < re(x) THEN y "
                     "ELSE complex(re(x), im(x) + im(y)) END IDENTITY complex(1e300, 0)",
    [BENCH_SOURCE] = "CON nil AGG count",
};

const char *bench_op_array(bench_op op)
{
    return op == BENCH_TIMES ? "h" : "g";
}

bool bench_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

bool bench_op_wanted(const bench_options *options, bench_op op)
{
    return options->op == NULL || bench_listed(options->op, bench_op_name[op]);
}

bool bench_ops_known(const bench_options *options)
{
    char word[32];
    for (const char *at = options->op; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        int op = 0;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        while (op < BENCH_OPS && strcmp(bench_op_name[op], word) != 0)
            op++;
        if (op < BENCH_OPS) continue;
        bench_fail("--op knows pair, minplus, times, user, top10, fold16 and source, not %s", word);
        return false;
    }
    return true;
}

void bench_sources(const bench_graph *graph, int64_t *source)
{
    uint64_t state = 12345;
    for (int i = 0; i < BENCH_SOURCES; i++) {
        int64_t row = 0;
        for (int tries = 0; tries < 1000; tries++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            row = (int64_t)((state >> 33) % (uint64_t)graph->n);
            if (graph->offsets[row + 1] > graph->offsets[row]) break;
        }
        source[i] = row;
    }
}

double bench_products(const bench_graph *graph, bench_op op, const int64_t *source)
{
    double sum = 0;
    for (int64_t k = 0; k < (op == BENCH_SOURCE ? BENCH_SOURCES : graph->n); k++) {
        int64_t r = op == BENCH_SOURCE ? source[k] : k;
        for (int64_t i = graph->offsets[r]; i < graph->offsets[r + 1]; i++)
            sum += (double)(graph->offsets[graph->columns[i] + 1] - graph->offsets[graph->columns[i]]);
    }
    return op == BENCH_SOURCE ? sum / BENCH_SOURCES : sum;
}

int bench_engine_array(lacis_engine *engine, const bench_graph *graph, bool f64, bool small)
{
    const void *value32 = small ? graph->small32 : graph->value32, *value64 = small ? graph->small64 : graph->value64;
    const lacis_part parts[] = {
        {"offsets", LACIS_I64, graph->n + 1, graph->offsets},
        {"columns", LACIS_U32, graph->entries, graph->columns},
        {"values", f64 ? LACIS_F64 : LACIS_F32, graph->entries, f64 ? value64 : value32},
    };
    lacis_array_spec spec = {LACIS_CSR, f64 ? LACIS_F64 : LACIS_F32, {graph->n, graph->n}, parts, 3};
    lacis_status status = lacis_array_create(engine, small ? "h" : "g", &spec);
    return status == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(engine));
}

int bench_engine_open(const bench_graph *graph, const bench_options *options, const char *path, lacis_engine **out)
{
    char text[64];
    bool f64 = strcmp(options->type, "f64") == 0;
    lacis_status status = lacis_open(path, out);
    if (status == LACIS_OK && options->threads > 0) {
        snprintf(text, sizeof text, "SET threads = %d", options->threads);
        status = lacis_exec(*out, text, NULL, NULL);
    }
    if (status != LACIS_OK) return bench_fail("%s", lacis_error_message(*out));
    int code = bench_engine_array(*out, graph, f64, false);
    return code != 0 ? code : bench_engine_array(*out, graph, f64, true);
}
