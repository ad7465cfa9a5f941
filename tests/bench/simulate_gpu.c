/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench simulate --device gpu: LET statements of many lanes through the whole engine, from the cells on the
 * host to the table there, passive and with channels, on a binary and on a random tree. The voltage of the last lane
 * is compared with the CPU's first. With --gpus several GPUs share each case, in turn with one of them. The
 * environment's LACIS_SIMULATE_WAY (thread, chip, power) asks for one way through the steps.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gpu_case {
    const char *tree, *clauses;
    int lanes, steps;
} gpu_case;

#define MAX "REDUCE max"
static const gpu_case cases[] = {
    {"binary319", MAX, 1, 20000},
    {"binary319", MAX, 256, 10000},
    {"binary319", MAX, 2560, 10000},
    {"binary319", MAX, 25600, 4000},
    {"binary319", MAX, 256000, 1000},
    {"random319", MAX, 256000, 1000},
    {"binary75", MAX, 256000, 4000},
    {"binary691", MAX, 256000, 400},
    {"binary319", "EVERY 100", 256000, 1000},
    {"binary319", "HH " MAX, 256, 2000},
    {"binary319", "HH " MAX, 25600, 1000},
    {"binary319", "HH " MAX, 256000, 200},
    {"random319", "HH " MAX, 256000, 200},
};
enum { CASES = sizeof cases / sizeof cases[0] };

struct bench {
    const bench_options *options;
    lacis_engine *db;
    int gpus; /* that there are, of those asked for */
};

static int run(struct bench *bench, const char *text)
{
    if (lacis_exec(bench->db, text, NULL, NULL) == LACIS_OK) return 0;
    return bench_fail("%s: %s", text, lacis_error_message(bench->db));
}

/* Samples whose edges are sections: with NSEG 1 a tree of n samples has 2 n - 1 nodes where every sample forks or
 * ends, fewer where some go on. */
static int make_trees(struct bench *bench)
{
    static const struct {
        const char *name, *parent;
        int samples;
    } trees[] = {
        {"binary75", "i / 2", 38},
        {"binary319", "i / 2", 160},
        {"binary691", "i / 2", 346},
        {"random319", "(i * 7919 + i * i * 104729) % (i - 1) + 1", 161},
    };
    char text[600];
    int code = 0;
    for (size_t i = 0; i < sizeof trees / sizeof trees[0] && code == 0; i++) {
        snprintf(
            text, sizeof text,
            "LET %s = WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < %d) SELECT 0 AS "
            "cell, i AS id, 3 AS type, 40.0 * (i %% 16) AS x, 25.0 * (i %% 9) AS y, 3.0 * i AS z, 0.5 AS radius, "
            "CASE WHEN i = 1 THEN -1 ELSE %s END AS parent FROM k",
            trees[i].name, trees[i].samples, trees[i].parent);
        code = run(bench, text);
    }
    return code;
}

static void statement(const gpu_case *c, int lanes, const char *on, char *text, size_t size)
{
    snprintf(text, size,
             "LET v = SIMULATE %s DT 0.025 STEPS %d NSEG 1 %s LANES %d CLAMP 7 0.05 FROM 0.5 TO 3 PROBE 9 ON %s",
             c->tree, c->steps, c->clauses, lanes, on);
}

static int keep(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)names;
    for (int i = 0; i < columns; i++)
        ((double *)arg)[i] = strtod(values[i] == NULL ? "nan" : values[i], NULL);
    return 0;
}

static int ask(struct bench *bench, const char *text, double *out)
{
    if (lacis_exec(bench->db, text, keep, out) == LACIS_OK) return 0;
    return bench_fail("%s: %s", text, lacis_error_message(bench->db));
}

/* The last lane against one lane on the CPU. */
static int check(struct bench *bench, const gpu_case *c)
{
    static const char *const query = "SELECT sum(v), count(*) FROM v WHERE lane = (SELECT max(lane) FROM v)";
    char text[400];
    double found[2] = {0, 0}, expected[2] = {0, 0};
    bool hh = strstr(c->clauses, "HH") != NULL;
    statement(c, c->lanes, "GPU", text, sizeof text);
    int code = run(bench, text);
    if (code == 0) code = ask(bench, query, found);
    statement(c, 1, "CPU", text, sizeof text);
    if (code == 0) code = run(bench, text);
    if (code == 0) code = ask(bench, query, expected);
    double worst = fabs(found[0] - expected[0]) / expected[1];
    if (code == 0 && !(worst <= (hh ? 1e-7 : 1e-9)))
        code = bench_fail("%s %s: %.15g, on the CPU %.15g", c->tree, c->clauses, found[0], expected[0]);
    return code;
}

static int time_once(struct bench *bench, const gpu_case *c, int gpus, double *seconds)
{
    char text[400];
    snprintf(text, sizeof text, "SET gpus = %d", gpus);
    int code = run(bench, text);
    statement(c, c->lanes, "GPU", text, sizeof text);
    double since = bench_now();
    if (code == 0) code = run(bench, text);
    *seconds = bench_now() - since;
    return code;
}

static void print(const struct bench *bench, const gpu_case *c, double nodes, int gpus, double seconds, double one)
{
    bench_timing timing = {.peer = "none", .ours_s = seconds, .peer_s = -1, .one_s = gpus > 1 ? one : 0};
    timing.units = nodes * c->lanes * c->steps;
    timing.steps = c->steps;
    snprintf(timing.name, sizeof timing.name, "simulate/%s/%s/lanes:%d/gpus:%d", c->tree, c->clauses, c->lanes, gpus);
    for (char *at = timing.name; *at != '\0'; at++)
        if (*at == ' ') *at = '_';
    bench_print_timing(bench->options, &timing);
}

static int measure(struct bench *bench, const gpu_case *c)
{
    double one[BENCH_REPEATS], all[BENCH_REPEATS], nodes = 0;
    char text[200];
    snprintf(text, sizeof text, "LET n = COMPARTMENTS %s NSEG 1; SELECT count(*) FROM n", c->tree);
    int code = ask(bench, text, &nodes);
    if (code == 0) code = check(bench, c);
    if (code == 0 && bench->gpus > 1) code = time_once(bench, c, bench->gpus, &all[0]); /* starts the others */
    for (int i = 0; i < bench->options->repeat && code == 0; i++) {
        code = time_once(bench, c, 1, &one[i]);
        if (code == 0 && bench->gpus > 1) code = time_once(bench, c, bench->gpus, &all[i]);
    }
    if (code != 0) return code;
    double alone = bench_median(one, bench->options->repeat);
    print(bench, c, nodes, 1, alone, 0);
    if (bench->gpus > 1) print(bench, c, nodes, bench->gpus, bench_median(all, bench->options->repeat), alone);
    return 0;
}

static int count_gpu(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)columns, (void)names;
    *(int *)arg += values[0] != NULL && strncmp(values[0], "GPU ", 4) == 0;
    return 0;
}

/* 77 where there is no GPU. */
static int open_engine(struct bench *bench)
{
    int found = 0;
    if (lacis_open(NULL, &bench->db) != LACIS_OK) return bench_fail("cannot open an engine");
    int code = make_trees(bench);
    if (code != 0) return code;
    if (lacis_exec(bench->db, "LET v = SIMULATE binary75 DT 0.025 STEPS 1 NSEG 1 PROBE 9 ON GPU", NULL, NULL) !=
        LACIS_OK) {
        printf("skipped: %s\n", lacis_error_message(bench->db));
        return 77;
    }
    if (lacis_exec(bench->db, "SHOW DEVICES", count_gpu, &found) != LACIS_OK)
        return bench_fail("%s", lacis_error_message(bench->db));
    if (bench->gpus > found) bench->gpus = found;
    return 0;
}

int bench_simulate_gpu(const bench_options *options)
{
    struct bench bench = {.options = options, .gpus = options->gpus};
    int code = open_engine(&bench);
    bool known = options->op == NULL;
    for (int i = 0; i < CASES && code == 0; i++) {
        char name[120];
        snprintf(name, sizeof name, "%s %s %d", cases[i].tree, cases[i].clauses, cases[i].lanes);
        if (options->op != NULL && strstr(name, options->op) == NULL) continue;
        known = true;
        code = measure(&bench, &cases[i]);
    }
    if (code == 0 && !known)
        code =
            bench_fail("--op is part of a case's name (binary319, random, HH, 256000 ...), not %s", options->op) + 1;
    lacis_close(bench.db);
    return code;
}
