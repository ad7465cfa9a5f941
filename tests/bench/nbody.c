/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench nbody: steps of NBODY through whole statements. A step inside a run is what further steps add to a
 * statement that takes accelerations over, so that copies, first fields and tables of energies do not count; beside
 * it stand the accelerations from nothing, the times and terms that the operator counts itself, and the error against
 * direct sums, measured on the same bodies. The peer is REBOUND's tree code (nbody_peer.c), with monopoles.
 */
#include "nbody.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GATE "ALPHA 0.012 ORDER quadrupole"
static const nbody_op ops[] = {
    {"pairs", "plummer", "pairs", "", NULL, 50000, 262144},
    {"monopole", "plummer", "tree", "THETA 0.5 ORDER monopole", NULL, 500000, 5000000},
    {"quadrupole", "plummer", "tree", "THETA 0.7 ORDER quadrupole", NULL, 500000, 5000000},
    {"relative", "plummer", "tree", GATE, NULL, 500000, 5000000},
    {"fine", "plummer", "tree", "ALPHA 0.003 ORDER quadrupole", NULL, 500000, 5000000},
    {"insertion", "plummer", "insertion", GATE, NULL, 500000, 5000000},
    {"clusters", "clusters", "tree", GATE, NULL, 500000, 5000000},
    {"deterministic", "plummer", "tree", GATE, NULL, 500000, 5000000},
    {"precise", "plummer", "tree", "ALPHA 1.5e-6 ORDER quadrupole", "f64", 50000, 500000},
    {"drift", "plummer", "tree", GATE, NULL, 5000, 500000},
};
enum { OPS = sizeof ops / sizeof ops[0], LEAST_STEPS = 2, MOST_STEPS = 32768 };
static const double LONG_ENOUGH = 0.05; /* seconds */
#define MOTION "DT 0.001 SOFTEN 0.05"

/* -------------------------------------------------------------------------------------- statements */

static int run(const nbody_case *c, const char *text, lacis_row_fn fn, void *arg)
{
    if (lacis_exec(c->db, text, fn, arg) == LACIS_OK) return 0;
    return bench_fail("%s: %s", text, lacis_error_message(c->db));
}

static const char *on(const nbody_case *c)
{
    return strcmp(c->options->device, "gpu") == 0 ? "GPU" : "CPU";
}

static int timed(const nbody_case *c, const char *text, double *seconds)
{
    double since = bench_now();
    int code = run(c, text, NULL, NULL);
    *seconds = bench_now() - since;
    return code;
}

static const char *steps_of(const nbody_case *c, const char *from, int64_t steps, const char *more)
{
    static char text[400];
    const char *to = strcmp(from, "g") == 0 ? "h" : "r"; /* h has accelerations */
    snprintf(text, sizeof text, "LET %s = NBODY %s STEPS %lld " MOTION " %s TYPE %s %s ON %s", to, from,
             (long long)steps, c->op->clauses, c->type, more, on(c));
    return text;
}

/* ----------------------------------------------------------------------------------------- figures */

static int keep(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)names;
    for (int i = 0; i < columns; i++)
        ((double *)arg)[i] = strtod(values[i] == NULL ? "nan" : values[i], NULL);
    return 0;
}

/* Lines of EXPLAIN ANALYZE. */
static int keep_counts(void *arg, int columns, const char *const *names, const char *const *values)
{
    static const char *const what[] = {"evaluations",     "seconds of build", "seconds of force", "seconds of move",
                                       "pairs of bodies", "cells at bodies",  "cells at groups",  "visits"};
    double *count = arg;
    (void)names;
    for (int column = 0; column < columns; column++) {
        const char *line = values[column] == NULL ? "" : values[column] + strspn(values[column], " ");
        for (size_t i = 0; i < sizeof what / sizeof what[0]; i++) {
            size_t length = strlen(what[i]);
            char *end;
            if (strncmp(line, what[i], length) != 0 || line[length] != ' ') continue;
            double value = strtod(line + length, &end);
            if (end != line + length && *end == '\0') count[i] = value;
        }
    }
    return 0;
}

static int take_counts(const nbody_case *c, nbody_figures *f)
{
    double count[8] = {0};
    char text[440];
    snprintf(text, sizeof text, "EXPLAIN ANALYZE %s", strstr(steps_of(c, "h", 3, ""), "NBODY"));
    if (run(c, text, keep_counts, count) != 0) return 1;
    if (!(count[0] > 0)) return bench_fail("EXPLAIN ANALYZE counts no evaluations");
    const double each = 1 / count[0], body = each / (double)c->n;
    f->build = count[1] * each;
    f->force = count[2] * each;
    f->move = count[3] * each;
    f->p2p = count[4] * body;
    f->m2p = count[5] * body;
    f->expanded = count[6] * body;
    f->visits = count[7] * body;
    return 0;
}

/* Of the last accelerations, after two further steps. */
static int take_errors(const nbody_case *c, nbody_figures *f)
{
    char more[40];
    double value[3] = {NAN, NAN, NAN};
    snprintf(more, sizeof more, "CERTIFY %d", NBODY_SAMPLE);
    if (run(c, steps_of(c, "h", 2, more), NULL, NULL) != 0) return 1;
    if (run(c,
            "SELECT max(relative) FILTER (WHERE quantile = 0.5), max(relative) FILTER (WHERE quantile = 0.99), "
            "max(relative) FROM r_error",
            keep, value) != 0)
        return 1;
    f->median = value[0];
    f->tail = value[1];
    f->most = value[2];
    return f->most < 0.5 ? 0 : bench_fail("nbody/%s: an acceleration is off by %g", c->op->name, f->most);
}

/* How many further steps take long enough to be told from what varies between statements. */
static int choose_steps(const nbody_case *c, int64_t *out)
{
    double few, many;
    int code = timed(c, steps_of(c, "h", 1, ""), &few); /* the first of all starts a device */
    for (*out = LEAST_STEPS; code == 0 && *out < MOST_STEPS; *out *= 4) {
        code = timed(c, steps_of(c, "h", 1, ""), &few);
        if (code == 0) code = timed(c, steps_of(c, "h", 1 + *out, ""), &many);
        if (many - few >= LONG_ENOUGH) break;
    }
    return code;
}

static int take_steps(const nbody_case *c, double *step)
{
    double few[BENCH_REPEATS], many[BENCH_REPEATS];
    int64_t steps;
    if (choose_steps(c, &steps) != 0) return 1;
    for (int i = 0; i < c->options->repeat; i++) {
        if (timed(c, steps_of(c, "h", 1, ""), &few[i]) != 0) return 1;
        if (timed(c, steps_of(c, "h", 1 + steps, ""), &many[i]) != 0) return 1;
    }
    double more = bench_median(many, c->options->repeat) - bench_median(few, c->options->repeat);
    *step = more > 0 ? more / (double)steps : 0;
    return 0;
}

/* What the same step takes without `deterministic`, or on one GPU instead of several. */
static int take_other(const nbody_case *c, nbody_figures *f)
{
    char back[40];
    snprintf(back, sizeof back, "SET gpus = %d", c->options->gpus);
    int code = 0;
    if (strcmp(c->op->name, "deterministic") == 0) {
        code = run(c, "SET deterministic = off", NULL, NULL);
        if (code == 0) code = take_steps(c, &f->free);
    } else if (c->options->gpus > 1) {
        code = run(c, "SET gpus = 1", NULL, NULL);
        if (code == 0) code = take_steps(c, &f->one);
        if (code == 0) code = run(c, back, NULL, NULL);
    }
    return code;
}

/* Accelerations of bodies that have none, copies included. */
static int take_first(const nbody_case *c, nbody_figures *f)
{
    double seconds[BENCH_REPEATS];
    char text[400];
    snprintf(text, sizeof text, "LET r = ACCELERATE g SOFTEN 0.05 %s TYPE %s ON %s", c->op->clauses, c->type, on(c));
    for (int i = 0; i < c->options->repeat; i++)
        if (timed(c, text, &seconds[i]) != 0) return 1;
    f->first = bench_median(seconds, c->options->repeat);
    return 0;
}

static int take_drift(const nbody_case *c, nbody_figures *f)
{
    f->steps = strcmp(c->options->device, "gpu") == 0 ? 1000 : 200;
    char more[40];
    snprintf(more, sizeof more, "EVERY %lld", (long long)f->steps / 10);
    if (run(c, steps_of(c, "g", f->steps, more), NULL, NULL) != 0) return 1;
    return run(c, "SELECT max(abs(drift)) FROM h_energy", keep, &f->drift);
}

/* ------------------------------------------------------------------------------------------- cases */

static int measure(const nbody_case *c)
{
    nbody_figures f = nbody_unknown;
    char text[200];
    snprintf(text, sizeof text, "GENERATE g AS %s(n = %lld, seed = 1, type = '%s')", c->op->model, (long long)c->n,
             strcmp(c->type, "f32") == 0 ? "f32" : "f64");
    setenv("LACIS_NBODY_WAY", c->op->way, 1);
    int code = run(c, text, NULL, NULL);
    bool fixed = strcmp(c->op->name, "deterministic") == 0;
    if (code == 0) code = run(c, fixed ? "SET deterministic = on" : "SET deterministic = off", NULL, NULL);
    if (code == 0 && strcmp(c->op->name, "drift") == 0) {
        code = take_drift(c, &f);
    } else if (code == 0) {
        code = run(c, steps_of(c, "g", 2, ""), NULL, NULL);
        if (code == 0) code = take_errors(c, &f);
        if (code == 0) code = take_first(c, &f);
        if (code == 0) code = take_steps(c, &f.step);
        if (code == 0) code = take_counts(c, &f);
        if (code == 0) code = take_other(c, &f);
        if (code == 0 && strcmp(c->op->name, "monopole") == 0 && nbody_has_peer(c->options) &&
            !nbody_peer(c, 0.5, &f))
            code = bench_fail("REBOUND gave no times");
    }
    if (code == 0) nbody_print(c, &f);
    return code;
}

/* The next number of a list; false: there is none. */
static bool next_number(const char **list, int64_t *out)
{
    char *end;
    if (**list == '\0') return false;
    double value = strtod(*list, &end);
    if (end == *list || !(value >= 1 && value <= 1e9)) return false;
    *out = (int64_t)value;
    *list = *end == ',' ? end + 1 : end;
    return true;
}

static int measure_op(const bench_options *options, const nbody_op *op, lacis_engine *db)
{
    const bool gpu = strcmp(options->device, "gpu") == 0;
    const char *list = options->n != NULL ? options->n
                       : gpu              ? "5000,16384,50000,65536,262144,500000,5e6"
                                          : "5000,50000,500000";
    nbody_case c = {.options = options, .op = op, .type = op->type != NULL ? op->type : options->type, .db = db};
    int code = 0;
    while (code == 0 && next_number(&list, &c.n)) {
        if (options->n == NULL && c.n > (gpu ? op->most_on_gpu : op->most_on_cpu)) continue;
        code = measure(&c);
    }
    return code != 0 || *list == '\0' ? code : bench_fail("--n takes numbers with commas between, not %s", list) + 1;
}

static int open_engine(const bench_options *options, lacis_engine **db)
{
    char threads[40], gpus[40];
    if (lacis_open(NULL, db) != LACIS_OK) return bench_fail("cannot open an engine");
    snprintf(threads, sizeof threads, "%d", options->threads);
    snprintf(gpus, sizeof gpus, "%d", options->gpus);
    lacis_status status = options->threads > 0 ? lacis_set_option(*db, "threads", threads) : LACIS_OK;
    if (status == LACIS_OK) status = lacis_set_option(*db, "gpus", gpus);
    return status == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(*db));
}

/* 77 where there is no GPU that can do it. */
static int find_gpu(lacis_engine *db)
{
    const char *text = "GENERATE g AS plummer(n = 64, type = 'f32'); LET r = NBODY g STEPS 1 DT 0.01 ON GPU";
    if (lacis_exec(db, text, NULL, NULL) == LACIS_OK) return 0;
    printf("skipped: %s\n", lacis_error_message(db));
    return 77;
}

int bench_nbody(const bench_options *options)
{
    lacis_engine *db;
    int code = open_engine(options, &db), done = 0;
    if (code == 0 && strcmp(options->device, "gpu") == 0) code = find_gpu(db);
    for (int i = 0; i < OPS && code == 0; i++) {
        if (options->op != NULL && !bench_listed(options->op, ops[i].name)) continue;
        code = measure_op(options, &ops[i], db);
        done++;
    }
    lacis_close(db);
    return code == 0 && done == 0 ? bench_fail("no case is called %s", options->op) + 1 : code;
}
