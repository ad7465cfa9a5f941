/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench figures: what a written CON costs on the GPU when it is first used, when it is compiled already, and
 * when it comes from a database file; and a result three times as large as gpu_memory_limit, streamed to totals,
 * against the same within the limit.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run(lacis_engine *engine, const char *text, double *seconds)
{
    double start = bench_now();
    if (lacis_exec(engine, text, NULL, NULL) != LACIS_OK)
        return bench_fail("%s: %s", text, lacis_error_message(engine));
    *seconds = bench_now() - start;
    return 0;
}

static int median_of(lacis_engine *engine, const char *text, int repeat, double *seconds)
{
    double times[BENCH_REPEATS];
    for (int i = 0; i < repeat; i++) {
        int code = run(engine, text, &times[i]);
        if (code != 0) return code;
    }
    *seconds = bench_median(times, repeat);
    return 0;
}

/* ------------------------------------------------------------------------------------------- compiling */

/* Milliseconds beyond the built-in product of a graph that is as good as nothing. */
static int compile_case(const char *path, const char *what, double *seconds)
{
    static const char built_in[] = "LET r = MULTIPLY t BY t CON a + b AGG min ON GPU; DROP r";
    static const char written[] = "LET r = MULTIPLY t BY t CON CASE WHEN a >= 0 THEN a + b ELSE b - a END AGG min "
                                  "ON GPU; DROP r";
    lacis_engine *engine;
    double once = 0, plain = 0;
    if (lacis_open(path, &engine) != LACIS_OK) return bench_fail("%s", lacis_error_message(engine));
    bool made = lacis_exec(engine, "SELECT count(*) FROM t", NULL, NULL) == LACIS_OK;
    int code = made ? 0 : run(engine, "GENERATE t AS rmat(scale = 6, edge_factor = 4, seed = 1)", &once);
    if (code == 0) code = run(engine, built_in, &once); /* starts the device */
    if (code == 0) code = median_of(engine, built_in, 5, &plain);
    if (code == 0) code = run(engine, written, &once);
    if (code == 0) printf("compile %-28s %8.2f ms (bar %s)\n", what, 1e3 * (once - plain), made ? "1" : "300");
    if (code == 0) code = median_of(engine, written, 5, seconds);
    if (code == 0) *seconds -= plain;
    lacis_close(engine);
    return code;
}

static int compiling(void)
{
    char path[] = "/tmp/lacis-bench-XXXXXX", side[64];
    double cached = 0;
    int file = mkstemp(path);
    if (file < 0) return bench_fail("no temporary file");
    close(file);
    unlink(path);
    int code = compile_case(path, "first use", &cached);
    if (code == 0) printf("compile %-28s %8.2f ms (bar 1)\n", "cached in memory", 1e3 * cached);
    if (code == 0) code = compile_case(path, "cached in the database file", &cached);
    unlink(path);
    snprintf(side, sizeof side, "%s-journal", path);
    unlink(side);
    return code;
}

/* ------------------------------------------------------------------------------------------- streaming */

static int take_first(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)columns, (void)names;
    *(double *)arg = atof(values[0]);
    return 0;
}

/* Operands stay on the device and count against the limit as well. */
static double limit_for(const bench_graph *graph, double entries)
{
    const double entry = 8; /* a column and a value, wider than they may be */
    double operands = 8.0 * (double)graph->n + 12.0 * (double)graph->entries;
    return operands + entries * entry / 3;
}

static int streaming(const bench_options *options, const char *name)
{
    static const char totals[] = "SELECT count(*), sum(value) FROM v";
    bench_graph graph;
    lacis_engine *engine = NULL;
    double within = 0, beyond = 0, entries = 0, once;
    char text[80];
    int code = bench_graph_make(name, &graph);
    if (code == 0) code = bench_engine_open(&graph, options, NULL, &engine);
    if (code == 0) code = run(engine, "CREATE VIEW v AS MULTIPLY g BY g CON a + b AGG min ON GPU", &once);
    if (code == 0 && lacis_exec(engine, totals, take_first, &entries) != LACIS_OK)
        code = bench_fail("%s", lacis_error_message(engine));
    if (code == 0) code = median_of(engine, totals, options->repeat, &within);
    snprintf(text, sizeof text, "SET gpu_memory_limit = %.0f", limit_for(&graph, entries));
    if (code == 0) code = run(engine, text, &once);
    if (code == 0) code = run(engine, totals, &once);
    if (code == 0) code = median_of(engine, totals, options->repeat, &beyond);
    if (code == 0)
        printf("stream  %-12s %.0f entries: within the limit %.3f ms, a result of 3x the limit %.3f ms, ratio %.3f "
               "(bar 1.5, beyond 1.1)\n",
               bench_graph_label(name), entries, 1e3 * within, 1e3 * beyond, beyond / within);
    lacis_close(engine);
    bench_graph_free(&graph);
    return code;
}

int bench_figures(const bench_options *options)
{
    bench_resident *resident;
    bench_graph graph;
    char reason[300] = "";
    int code = bench_graph_make("rmat:4", &graph);
    if (code == 0) code = bench_resident_open(&graph, false, 1, &resident, reason, sizeof reason);
    bench_graph_free(&graph);
    if (code != 0) return code;
    if (resident == NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    bench_resident_close(resident);
    code = compiling();
    for (int i = 0; code == 0 && i < options->graphs; i++)
        code = streaming(options, options->graph[i]);
    return code;
}
