/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench choose: each statement ON CPU, ON GPU and as the planner likes it, and how much longer what it chose
 * takes than the better of the two. Once in an engine that has calibrated and has used the device before (warm), once
 * each in a process of its own that has done nothing yet (cold: starting the GPU counts). Processes are forked before
 * anything else happens, so that none inherits a started device or a thread team. The statements are in
 * choose_cases.c.
 */
#include "choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum place { CPU, GPU, AUTO, PLACES } place;
static const char *const place_name[] = {"CPU", "GPU", "AUTO"};

struct tally {
    int cases, wrong, late;
    double largest, latest;
};

/* ------------------------------------------------------------------------------------------- one case */

static int run(lacis_engine *engine, const char *text)
{
    return lacis_exec(engine, text, NULL, NULL) == LACIS_OK ? 0
                                                            : bench_fail("%s: %s", text, lacis_error_message(engine));
}

static void call_text(const choose_ask *ask, place on, char *text, size_t size)
{
    snprintf(text, size, "%s ON %s", ask->call, place_name[on]);
}

/* Whether there is a variant for that place. */
static int can(lacis_engine *engine, const choose_ask *ask, place on, bool *yes)
{
    char text[600], *lines = NULL;
    call_text(ask, on, text, sizeof text);
    lacis_status status = lacis_explain(engine, text, &lines);
    lacis_free(lines);
    *yes = status == LACIS_OK;
    return status == LACIS_OK || status == LACIS_UNSUPPORTED
               ? 0
               : bench_fail("%s: %s", text, lacis_error_message(engine));
}

/* Seconds of the statement; what it made is dropped behind the clock. */
static int time_ask(lacis_engine *engine, const choose_ask *ask, place on, double *seconds)
{
    char call[500], text[600];
    call_text(ask, on, call, sizeof call);
    snprintf(text, sizeof text, ask->totals ? "CREATE VIEW v AS %s" : "LET r = %s", call);
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
    bool better = said->seconds[on] < 0 || seconds < said->seconds[on];
    if (better || mark[0] == '*') said->seconds[on] = seconds;
    if (mark[0] == '*') said->chosen = on;
}

/* Of totals what SELECT would say. */
static int explain(lacis_engine *engine, const choose_ask *ask, struct said *said)
{
    char call[500], text[600], *lines;
    *said = (struct said){CPU, {-1, -1}};
    call_text(ask, AUTO, call, sizeof call);
    snprintf(text, sizeof text, "CREATE VIEW v AS %s", call);
    int code = ask->totals ? run(engine, text) : 0;
    if (code != 0) return code;
    if (lacis_explain(engine, ask->totals ? "SELECT count(*), sum(value) FROM v" : call, &lines) != LACIS_OK)
        return bench_fail("%s: %s", call, lacis_error_message(engine));
    for (char *rest = lines, *line; (line = strsep(&rest, "\n")) != NULL;)
        read_line(line, said);
    lacis_free(lines);
    return ask->totals ? run(engine, "DROP v") : 0;
}

static void print(const choose_ground *ground, const choose_ask *ask, const char *how, const struct said *said,
                  const double *seconds, struct tally *tally)
{
    place best = seconds[GPU] < seconds[CPU] ? GPU : CPU;
    double regret = seconds[said->chosen] / seconds[best] - 1, planned = seconds[AUTO] / seconds[best] - 1;
    const double allowed = 0.15;
    tally->cases++;
    tally->wrong += regret > allowed;
    tally->late += planned > allowed;
    if (regret > tally->largest) tally->largest = regret;
    if (planned > tally->latest) tally->latest = planned;
    printf("%-14s %-8s %s cpu %9.3f (%9.3f) gpu %9.3f (%9.3f) auto %9.3f ms chosen %s best %s regret %.2f auto "
           "%+.2f%s%s\n",
           bench_graph_label(ground->name), ask->name, how, 1e3 * seconds[CPU], 1e3 * said->seconds[CPU],
           1e3 * seconds[GPU], 1e3 * said->seconds[GPU], 1e3 * seconds[AUTO], place_name[said->chosen],
           place_name[best], regret, planned, regret > allowed ? "  WRONG" : "", planned > allowed ? "  LATE" : "");
    fflush(stdout);
}

/* ---------------------------------------------------------------------------------------- every ground */

struct visit {
    int (*visit)(const struct visit *visit, const choose_family *family, const choose_ground *ground);
    lacis_engine *engine; /* warm */
    const bench_options *options;
    struct tally *tally;
};

/* Those of each family; with --graph those graphs, for families that take graphs. */
static int each_ground(const bench_options *options, const struct visit *with)
{
    int code = 0;
    for (int i = 0; i < choose_family_count; i++) {
        const choose_family *family = &choose_families[i];
        bool graphs = family->ground[0].make == NULL;
        for (int k = 0; options->graphs == 0 && code == 0 && k < family->grounds; k++)
            code = with->visit(with, family, &family->ground[k]);
        for (int k = 0; graphs && code == 0 && k < options->graphs; k++)
            code = with->visit(with, family, &(choose_ground){options->graph[k], NULL});
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ warm */

static int by_size(const void *x, const void *y)
{
    double left = *(const double *)x, right = *(const double *)y;
    return (left > right) - (left < right);
}

/* The places in turn, --repeat rounds behind a first one, and more of what takes next to nothing; the lower quartile
 * of each. What else happens on the machine only makes runs longer, mostly several in a row. */
static int warm_times(lacis_engine *engine, const bench_options *options, const choose_ask *ask, double *seconds)
{
    const double worth = 0.1;
    double times[PLACES][BENCH_REPEATS], spent = 0;
    int rounds = 0, code = 0;
    for (int on = 0; code == 0 && on < PLACES; on++)
        code = time_ask(engine, ask, (place)on, &seconds[on]);
    for (; code == 0 && rounds < BENCH_REPEATS && (rounds < options->repeat || spent < worth); rounds++)
        for (int on = 0; code == 0 && on < PLACES; on++) {
            code = time_ask(engine, ask, (place)on, &times[on][rounds]);
            spent += times[on][rounds];
        }
    for (int on = 0; code == 0 && on < PLACES; on++) {
        qsort(times[on], (size_t)rounds, sizeof(double), by_size);
        seconds[on] = times[on][rounds / 4];
    }
    return code;
}

static int warm_case(lacis_engine *engine, const bench_options *options, const choose_ground *ground,
                     const choose_ask *ask, struct tally *tally)
{
    double seconds[PLACES];
    struct said said;
    bool both;
    int code = can(engine, ask, GPU, &both);
    if (code != 0 || !both) return code;
    code = warm_times(engine, options, ask, seconds);
    if (code == 0) code = explain(engine, ask, &said);
    if (code == 0) print(ground, ask, "warm", &said, seconds, tally);
    return code;
}

/* A ground is made once something is asked of it. */
static int warm_ground(const struct visit *with, const choose_family *family, const choose_ground *ground)
{
    bool made = false;
    int code = 0;
    for (int i = 0; code == 0 && i < family->asks; i++) {
        if (!choose_wanted(with->options, &family->ask[i])) continue;
        if (!made) code = choose_make(with->engine, with->options, ground);
        made = true;
        if (code == 0) code = warm_case(with->engine, with->options, ground, &family->ask[i], with->tally);
    }
    return code == 0 && made ? run(with->engine, family->drop) : code;
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
    if (code == 0) code = each_ground(options, &(struct visit){warm_ground, engine, options, tally});
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
static void cold_run(const bench_options *options, const choose_ground *ground, const choose_ask *ask, place on,
                     struct cold *out)
{
    lacis_engine *engine = NULL;
    out->code = lacis_open(NULL, &engine) == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(engine));
    if (out->code == 0) out->code = choose_make(engine, options, ground);
    if (out->code == 0 && on == AUTO) out->code = explain(engine, ask, &out->said);
    if (out->code == 0) out->code = time_ask(engine, ask, on, &out->seconds);
    lacis_close(engine);
}

/* Runs fn's share in a child and reads what it found. */
static int apart(const bench_options *options, const choose_ground *ground, const choose_ask *ask, place on,
                 struct cold *out)
{
    int ends[2];
    if (pipe(ends) != 0) return bench_fail("no pipe");
    pid_t child = fork();
    if (child == 0) {
        struct cold found = {0};
        cold_run(options, ground, ask, on, &found);
        _exit(write(ends[1], &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
    }
    close(ends[1]);
    bool read_all = child > 0 && read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return read_all ? out->code : bench_fail("a process for %s failed", ground->name);
}

static int cold_case(const struct visit *with, const choose_ground *ground, const choose_ask *ask)
{
    struct cold found[PLACES];
    double seconds[PLACES];
    for (int on = 0; on < PLACES; on++) {
        int code = apart(with->options, ground, ask, (place)on, &found[on]);
        if (code != 0) return code;
        seconds[on] = found[on].seconds;
    }
    print(ground, ask, "cold", &found[AUTO].said, seconds, with->tally);
    return 0;
}

static int cold_ground(const struct visit *with, const choose_family *family, const choose_ground *ground)
{
    int code = 0;
    for (int i = 0; code == 0 && i < family->asks; i++)
        if (choose_wanted_cold(with->options, &family->ask[i])) code = cold_case(with, ground, &family->ask[i]);
    return code;
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

int bench_choose(const bench_options *options)
{
    struct tally tally = {0, 0, 0, 0, 0};
    if (!choose_asks_known(options)) return 2;
    printf("milliseconds (EXPLAIN's estimate)\n");
    int code = in_child(options, &tally);
    if (code == 0) code = each_ground(options, &(struct visit){cold_ground, NULL, options, &tally});
    if (code == 0)
        printf("%d cases, %d chosen more than 15 %% slower than the better device, at most %.0f %%; AUTO, planning "
               "included, in %d more than 15 %% slower, at most %.0f %%\n",
               tally.cases, tally.wrong, 100 * tally.largest, tally.late, 100 * tally.latest);
    return code;
}
