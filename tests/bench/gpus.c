/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench gpus: whole statements, from operands on the devices to what the statement gives, on one GPU and on
 * --gpus N: totals, the top 10 of each row, and a result that is stored on the host. Answers are compared first.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

static const struct whole {
    const char *name, *view, *text, *check; /* view NULL: text stores r, of which check asks */
} statements[] = {
    {"count totals", "CREATE VIEW v AS MULTIPLY g BY g CON nil AGG count ON GPU",
     "SELECT count(*), sum(value), max(value) FROM v", "SELECT count(*), sum(value), max(value) FROM v"},
    {"times totals", "CREATE VIEW v AS MULTIPLY h BY h CON a * b AGG sum ON GPU",
     "SELECT count(*), sum(value), max(value) FROM v", "SELECT count(*), sum(value), max(value) FROM v"},
    {"top 10", NULL, "LET r = MULTIPLY g BY g CON nil AGG count TOP 10 ON GPU",
     "SELECT count(*), sum(value), sum(dst) FROM r"},
    {"stored", NULL, "LET r = MULTIPLY g BY g CON nil AGG count ON GPU",
     "SELECT count(*), sum(value), max(value) FROM r"},
};
enum { STATEMENTS = sizeof statements / sizeof statements[0], ANSWER_TEXT = 120 };

static int run(lacis_engine *engine, const char *text)
{
    return lacis_exec(engine, text, NULL, NULL) == LACIS_OK ? 0
                                                            : bench_fail("%s: %s", text, lacis_error_message(engine));
}

static int take_row(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)names;
    char *text = arg;
    text[0] = '\0';
    for (int i = 0; i < columns; i++)
        snprintf(text + strlen(text), ANSWER_TEXT - strlen(text), "%s%s", i > 0 ? " " : "", values[i]);
    return 0;
}

/* The first run's answer, then the median of --repeat more. */
static int time_whole(lacis_engine *engine, const bench_options *options, const struct whole *whole, char *answer,
                      double *median)
{
    double times[BENCH_REPEATS];
    int code = whole->view != NULL ? run(engine, whole->view) : 0;
    for (int i = -1; code == 0 && i < options->repeat; i++) {
        double start = bench_now();
        code = run(engine, whole->text);
        if (i >= 0) times[i] = bench_now() - start;
        if (code == 0 && i < 0 && lacis_exec(engine, whole->check, take_row, answer) != LACIS_OK)
            code = bench_fail("%s", lacis_error_message(engine));
        if (code == 0 && whole->view == NULL) code = run(engine, "DROP r");
    }
    if (code == 0) *median = bench_median(times, options->repeat);
    return code == 0 && whole->view != NULL ? run(engine, "DROP v") : code;
}

static int compare(lacis_engine *engine, const bench_options *options, const char *graph, const struct whole *whole)
{
    char answer[2][ANSWER_TEXT], text[64];
    double seconds[2] = {0, 0};
    int code = 0;
    for (int several = 0; code == 0 && several < 2; several++) {
        snprintf(text, sizeof text, "SET gpus = %d", several ? options->gpus : 1);
        code = run(engine, text);
        if (code == 0) code = time_whole(engine, options, whole, answer[several], &seconds[several]);
    }
    if (code != 0) return code;
    if (strcmp(answer[0], answer[1]) != 0)
        return bench_fail("%s: %s on one GPU, %s on %d", whole->name, answer[0], answer[1], options->gpus);
    printf("%-12s %-14s one GPU %9.3f ms, %d GPUs %9.3f ms, speedup %.2f\n", bench_graph_label(graph), whole->name,
           1e3 * seconds[0], options->gpus, 1e3 * seconds[1], seconds[0] / seconds[1]);
    return 0;
}

/* How many GPUs of `wanted` there are; 0 with the reason. */
static int gpus_here(int wanted, char *reason, size_t size, int *count)
{
    bench_resident *resident = NULL;
    bench_graph graph;
    int code = bench_graph_make("rmat:4", &graph);
    if (code == 0) code = bench_resident_open(&graph, false, wanted, &resident, reason, size);
    bench_graph_free(&graph);
    *count = code == 0 && resident != NULL ? bench_resident_gpus(resident) : 0;
    if (*count == 1) snprintf(reason, size, "there is one GPU");
    bench_resident_close(resident);
    return code;
}

static int compare_all(const bench_options *options, const char *name)
{
    bench_graph graph;
    lacis_engine *engine = NULL;
    int code = bench_graph_make(name, &graph);
    if (code != 0) return code;
    code = bench_engine_open(&graph, options, NULL, &engine);
    for (int k = 0; code == 0 && k < STATEMENTS; k++)
        code = compare(engine, options, name, &statements[k]);
    lacis_close(engine);
    bench_graph_free(&graph);
    return code;
}

int bench_gpus(const bench_options *given)
{
    bench_options options = *given;
    char reason[300] = "";
    int wanted = given->gpus < 2 ? 2 : given->gpus, code = gpus_here(wanted, reason, sizeof reason, &options.gpus);
    if (code == 0 && options.gpus < 2) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    for (int i = 0; code == 0 && i < options.graphs; i++)
        code = compare_all(&options, options.graph[i]);
    return code;
}
