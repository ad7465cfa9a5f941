/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench choose: each statement ON CPU, ON GPU and as the planner likes it, and how much longer what it chose
 * takes than the better of the two. Once in an engine that has calibrated and has used the device before (warm), once
 * each in a process of its own that has done nothing yet (cold: starting the GPU counts). Processes are forked before
 * anything else happens, so that none inherits a started device or a thread team.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const default_graphs[] = {"rmat:8",     "rmat:10",    "rmat:12",    "rmat:13",    "rmat:14",
                                             "rmat:15",    "rmat:16",    "uniform:12", "uniform:14", "uniform:16",
                                             "uniform:17", "uniform:18", "uniform:20"};
enum { DEFAULT_GRAPHS = sizeof default_graphs / sizeof default_graphs[0] };

/* What is asked of a product: all of it, or totals that leave nothing to be stored. */
struct ask {
    bench_op op;
    bool totals;
};
static const struct ask asks[] = {{BENCH_PAIR, false}, {BENCH_MINPLUS, false}, {BENCH_TIMES, false},
                                  {BENCH_USER, false}, {BENCH_TOP10, false},   {BENCH_PAIR, true}};
enum { ASKS = sizeof asks / sizeof asks[0] };

typedef enum place { CPU, GPU, AUTO, PLACES } place;
static const char *const place_name[] = {"CPU", "GPU", "AUTO"};

struct tally {
    int cases, wrong, late;
    double largest;
};

/* ------------------------------------------------------------------------------------------- one case */

static int run(lacis_engine *engine, const char *text)
{
    return lacis_exec(engine, text, NULL, NULL) == LACIS_OK ? 0
                                                            : bench_fail("%s: %s", text, lacis_error_message(engine));
}

static void product_text(const struct ask *ask, place on, char *text, size_t size)
{
    const char *array = bench_op_array(ask->op);
    snprintf(text, size, "MULTIPLY %s BY %s %s ON %s", array, array, bench_op_clauses[ask->op], place_name[on]);
}

/* Seconds of the statement; what it made is dropped behind the clock. */
static int time_ask(lacis_engine *engine, const struct ask *ask, place on, double *seconds)
{
    char product[500], text[600];
    product_text(ask, on, product, sizeof product);
    snprintf(text, sizeof text, ask->totals ? "CREATE VIEW v AS %s" : "LET r = %s", product);
    double start = bench_now();
    int code = run(engine, text);
    if (code == 0 && ask->totals) code = run(engine, "SELECT count(*), sum(value) FROM v");
    *seconds = bench_now() - start;
    if (code == 0) code = run(engine, ask->totals ? "DROP v" : "DROP r");
    return code;
}

/* What EXPLAIN says: the device chosen, and both devices' estimates (< 0: none). */
struct said {
    place chosen;
    double seconds[2];
};

static void read_line(const char *line, struct said *said)
{
    const char *mark = line + strspn(line, " "), *about = strstr(mark, ": about ");
    place on = strstr(mark, " on GPU:") != NULL ? GPU : CPU;
    if (about == NULL || (mark[0] != '*' && mark[0] != '-') || strstr(mark, " on ") == NULL) return;
    double seconds = atof(about + strlen(": about "));
    if (said->seconds[on] < 0 || mark[0] == '*') said->seconds[on] = seconds;
    if (mark[0] == '*') said->chosen = on;
}

static int explain(lacis_engine *engine, const struct ask *ask, struct said *said)
{
    char product[500], *lines;
    *said = (struct said){CPU, {-1, -1}};
    product_text(ask, AUTO, product, sizeof product);
    if (lacis_explain(engine, product, &lines) != LACIS_OK)
        return bench_fail("%s: %s", product, lacis_error_message(engine));
    for (char *rest = lines, *line; (line = strsep(&rest, "\n")) != NULL;)
        read_line(line, said);
    lacis_free(lines);
    return 0;
}

static void print(const char *graph, const struct ask *ask, const char *how, const struct said *said,
                  const double *seconds, struct tally *tally)
{
    place best = seconds[GPU] < seconds[CPU] ? GPU : CPU;
    double regret = seconds[said->chosen] / seconds[best] - 1, planned = seconds[AUTO] / seconds[best] - 1;
    const double allowed = 0.15;
    tally->cases++;
    tally->wrong += regret > allowed;
    tally->late += planned > allowed;
    if (regret > tally->largest) tally->largest = regret;
    printf("%-12s %-7s%-7s %s cpu %9.3f (%9.3f) gpu %9.3f (%9.3f) auto %9.3f ms chosen %s best %s regret %.2f auto "
           "%+.2f%s\n",
           graph, bench_op_name[ask->op], ask->totals ? " totals" : "", how, 1e3 * seconds[CPU],
           1e3 * said->seconds[CPU], 1e3 * seconds[GPU], 1e3 * said->seconds[GPU], 1e3 * seconds[AUTO],
           place_name[said->chosen], place_name[best], regret, planned, regret > allowed ? "  WRONG" : "");
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------------------ warm */

static int warm_case(lacis_engine *engine, const bench_options *options, const char *graph, const struct ask *ask,
                     struct tally *tally)
{
    double times[PLACES][BENCH_REPEATS], median[PLACES], first;
    struct said said;
    for (int on = 0; on < PLACES; on++) { /* one after the other, each with its pages warm */
        int code = time_ask(engine, ask, (place)on, &first);
        for (int i = 0; code == 0 && i < options->repeat; i++)
            code = time_ask(engine, ask, (place)on, &times[on][i]);
        if (code != 0 && on == GPU && lacis_error_status(engine) == LACIS_UNSUPPORTED) return 0;
        if (code == 0 && on == GPU) code = explain(engine, ask, &said);
        if (code != 0) return code;
    }
    for (int on = 0; on < PLACES; on++)
        median[on] = bench_median(times[on], options->repeat);
    print(graph, ask, "warm", &said, median, tally);
    return 0;
}

static int warm_graph(lacis_engine *engine, const bench_options *options, const char *name, struct tally *tally)
{
    bench_graph graph;
    bool f64 = strcmp(options->type, "f64") == 0;
    int code = bench_graph_make(name, &graph);
    if (code != 0) return code;
    code = bench_engine_array(engine, &graph, f64, false);
    if (code == 0) code = bench_engine_array(engine, &graph, f64, true);
    for (int i = 0; code == 0 && i < ASKS; i++)
        if (bench_op_wanted(options, asks[i].op))
            code = warm_case(engine, options, bench_graph_label(name), &asks[i], tally);
    if (code == 0) code = run(engine, "DROP g; DROP h");
    bench_graph_free(&graph);
    return code;
}

static void tell(void *arg, lacis_level level, const char *message)
{
    (void)arg, (void)level;
    printf("  %s\n", message);
}

static bool there_is_a_gpu(lacis_engine *engine)
{
    char *lines = NULL;
    bool there = false;
    /* ON GPU without one says why. */
    if (lacis_exec(engine, "GENERATE tiny AS rmat(scale = 4, edge_factor = 2, seed = 1)", NULL, NULL) == LACIS_OK)
        there = lacis_explain(engine, "MULTIPLY tiny BY tiny ON GPU", &lines) == LACIS_OK;
    if (!there) printf("skipped: %s\n", lacis_error_message(engine));
    lacis_free(lines);
    return there;
}

static int warm(const bench_options *options, struct tally *tally)
{
    lacis_engine *engine;
    if (lacis_open(NULL, &engine) != LACIS_OK) return bench_fail("%s", lacis_error_message(engine));
    int code = there_is_a_gpu(engine) ? 0 : 77;
    lacis_set_log(engine, tell, NULL);
    if (code == 0) code = run(engine, "CALIBRATE; DROP tiny");
    lacis_set_log(engine, NULL, NULL);
    for (int i = 0; code == 0 && i < options->graphs; i++)
        code = warm_graph(engine, options, options->graph[i], tally);
    lacis_close(engine);
    return code;
}

/* ------------------------------------------------------------------------------------------------ cold */

struct cold {
    int code;
    double seconds;
    struct said said;
};

/* In a process of its own. */
static void cold_run(const bench_options *options, const char *name, const struct ask *ask, place on,
                     struct cold *out)
{
    bench_graph graph;
    lacis_engine *engine = NULL;
    out->code = bench_graph_make(name, &graph);
    if (out->code == 0) out->code = bench_engine_open(&graph, options, NULL, &engine);
    if (out->code == 0 && on == AUTO) out->code = explain(engine, ask, &out->said);
    if (out->code == 0) out->code = time_ask(engine, ask, on, &out->seconds);
    lacis_close(engine);
    bench_graph_free(&graph);
}

/* Runs fn's share in a child and reads what it found. */
static int apart(const bench_options *options, const char *name, const struct ask *ask, place on, struct cold *out)
{
    int ends[2];
    if (pipe(ends) != 0) return bench_fail("no pipe");
    pid_t child = fork();
    if (child == 0) {
        struct cold found = {0};
        cold_run(options, name, ask, on, &found);
        _exit(write(ends[1], &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
    }
    close(ends[1]);
    bool read_all = child > 0 && read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return read_all ? out->code : bench_fail("a process for %s failed", name);
}

static int cold_case(const bench_options *options, const char *name, const struct ask *ask, struct tally *tally)
{
    struct cold found[PLACES];
    double seconds[PLACES];
    for (int on = 0; on < PLACES; on++) {
        int code = apart(options, name, ask, (place)on, &found[on]);
        if (code != 0) return code;
        seconds[on] = found[on].seconds;
    }
    print(bench_graph_label(name), ask, "cold", &found[AUTO].said, seconds, tally);
    return 0;
}

static int cold(const bench_options *options, struct tally *tally)
{
    const struct ask *const ask = &asks[0];
    for (int i = 0; i < options->graphs; i++) {
        int code = cold_case(options, options->graph[i], ask, tally);
        if (code != 0) return code;
    }
    return 0;
}

/* --------------------------------------------------------------------------------------------- family */

static int in_child(const bench_options *options, struct tally *tally)
{
    int ends[2], status = 1;
    if (pipe(ends) != 0) return bench_fail("no pipe");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int code = warm(options, tally);
        fflush(stdout);
        _exit(write(ends[1], tally, sizeof *tally) == (ssize_t)sizeof *tally ? code : 1);
    }
    close(ends[1]);
    bool good = child > 0 && read(ends[0], tally, sizeof *tally) == (ssize_t)sizeof *tally;
    close(ends[0]);
    if (child > 0) waitpid(child, &status, 0);
    return good && WIFEXITED(status) ? WEXITSTATUS(status) : bench_fail("the process of warm runs failed");
}

int bench_choose(const bench_options *given)
{
    bench_options options = *given;
    struct tally tally = {0, 0, 0, 0};
    for (int i = 0; given->graphs == 0 && i < DEFAULT_GRAPHS; i++)
        options.graph[options.graphs++] = default_graphs[i];
    if (!bench_ops_known(&options)) return 2;
    printf("milliseconds (EXPLAIN's estimate)\n");
    int code = in_child(&options, &tally);
    if (code == 0) code = cold(&options, &tally);
    if (code == 0)
        printf("%d cases, %d chosen more than 15 %% slower than the better device, at most %.0f %%; AUTO, planning "
               "included, in %d more than 15 %% slower\n",
               tally.cases, tally.wrong, 100 * tally.largest, tally.late);
    return code;
}
