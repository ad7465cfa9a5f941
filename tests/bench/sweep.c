/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench sweep: steps of SWEEP through whole statements, one step a pass (plain) and several (blocked). A step
 * is what further steps add to a statement, so that copies and the making of grids do not count; beside it stands its
 * share of a streaming copy of the same run: the bytes that a step alone has to move, over what a copy moves a
 * second. Bits are compared with those of plain steps on the CPU on a small grid of odd size before anything is
 * timed.
 */
#include "sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CROSS "(u[-1,0] + u[1,0] + u[0,-1] + u[0,1])"
#define FACES "(u[-1,0,0] + u[1,0,0] + u[0,-1,0] + u[0,1,0] + u[0,0,-1] + u[0,0,1])"
static const sweep_op ops[] = {
    {"five", 2, 2, CROSS " / 4", "", 8192, 16384},
    {"norm", 2, 2, CROSS " / 4", "CHANGE EVERY 1", 8192, 16384},
    {"norm100", 2, 2, CROSS " / 4", "CHANGE EVERY 100", 8192, 16384},
    {"weights5", 2, 2, "0.1*u[-1,0] + 0.2*u[1,0] + 0.15*u[0,-1] + 0.25*u[0,1] + 0.3*u", "", 8192, 16384},
    {"nine", 2, 2, "(4*" CROSS " + (u[-1,-1] + u[1,-1] + u[-1,1] + u[1,1])) / 20", "", 8192, 16384},
    {"periodic", 2, 2, CROSS " / 4", "EDGE periodic", 8192, 16384},
    {"mirror", 2, 2, CROSS " / 4", "EDGE mirror", 8192, 16384},
    {"mixed", 2, 2, CROSS " / 4", "EDGE x periodic EDGE bottom neumann 0.1 EDGE top robin 1 2 0.5", 8192, 16384},
    {"written", 2, 2, CROSS " * 0.25 + 0 * t", "", 8192, 16384},
    {"coefficients", 2, 7, "a*u[-1,0] + b*u[1,0] + c*u[0,-1] + d*u[0,1] + e*u",
     "COEFF a = k COEFF b = k1 COEFF c = k2 COEFF d = k3 COEFF e = k4", 4096, 16384},
    {"seven", 3, 2, FACES " / 6", "", 384, 1024},
    {"heat7", 3, 2, "u + 0.1 * (" FACES " - 6*u)", "", 384, 1024},
};
enum { OPS = sizeof ops / sizeof ops[0], FEW = 24, LEAST_STEPS = 8, MOST_STEPS = 1 << 17 };
static const double LONG_ENOUGH = 0.3; /* seconds */

/* -------------------------------------------------------------------------------------- statements */

static int run(const sweep_case *c, const char *text, lacis_row_fn fn, void *arg)
{
    if (lacis_exec(c->db, text, fn, arg) == LACIS_OK) return 0;
    return bench_fail("%s: %s", text, lacis_error_message(c->db));
}

static bool on_gpu(const sweep_case *c)
{
    return strcmp(c->options->device, "gpu") == 0;
}

static int make_grids(const sweep_case *c, int64_t n)
{
    char text[300], shape[120];
    snprintf(shape, sizeof shape, c->op->dims == 3 ? "nx = %lld, ny = %lld, nz = %lld" : "nx = %lld, ny = %lld",
             (long long)n, (long long)n, (long long)n);
    snprintf(text, sizeof text, "GENERATE g AS noise(%s, seed = 1, type = '%s')", shape, c->options->type);
    int code = run(c, text, NULL, NULL);
    for (int i = 0; i < 5 && code == 0 && strstr(c->op->clauses, "COEFF") != NULL; i++) {
        char name[8] = "k";
        if (i > 0) snprintf(name, sizeof name, "k%d", i);
        snprintf(text, sizeof text, "GENERATE %s AS noise(%s, seed = %d, low = 0.1, high = 0.2, type = '%s')", name,
                 shape, i + 2, c->options->type);
        code = run(c, text, NULL, NULL);
    }
    return code;
}

static int sweep(const sweep_case *c, const char *to, int64_t steps, const char *more, const char *where,
                 double *seconds)
{
    char text[700];
    snprintf(text, sizeof text, "LET %s = SWEEP g STEP %s STEPS %" PRId64 " %s %s ON %s", to, c->op->step, steps,
             c->op->clauses, more, where);
    const double begin = bench_now();
    const int code = run(c, text, NULL, NULL);
    if (seconds != NULL) *seconds = bench_now() - begin;
    return code;
}

static int keep(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)columns, (void)names;
    *(double *)arg = strtod(values[0] == NULL ? "nan" : values[0], NULL);
    return 0;
}

/* A small grid of odd size by this way and by plain steps on the CPU. */
static int check(const sweep_case *c)
{
    double unequal = NAN;
    char text[200];
    int code = make_grids(c, c->op->dims == 3 ? 37 : 203);
    if (code == 0) code = sweep(c, "wanted", FEW + 1, "LEVELS 1", "CPU", NULL);
    if (code == 0) code = sweep(c, "found", FEW + 1, c->blocked ? "" : "LEVELS 1", on_gpu(c) ? "GPU" : "CPU", NULL);
    snprintf(text, sizeof text, "SELECT sum(a.value <> b.value) FROM wanted a JOIN found b USING (x, y%s)",
             c->op->dims == 3 ? ", z" : "");
    if (code == 0) code = run(c, text, keep, &unequal);
    if (code == 0 && unequal != 0)
        code = bench_fail("sweep/%s: %g cells differ from plain steps", c->op->name, unequal);
    return code;
}

/* ----------------------------------------------------------------------------------------- figures */

/* Lines of EXPLAIN ANALYZE: levels of the last pass. */
static int keep_levels(void *arg, int columns, const char *const *names, const char *const *values)
{
    static const char what[] = "levels of a pass ";
    (void)columns, (void)names;
    const char *line = values[0] == NULL ? "" : values[0] + strspn(values[0], " ");
    if (strncmp(line, what, strlen(what)) == 0) *(double *)arg = strtod(line + strlen(what), NULL);
    return 0;
}

static int take_levels(const sweep_case *c, double *levels)
{
    char text[700];
    *levels = 1;
    if (!c->blocked) return 0;
    snprintf(text, sizeof text, "EXPLAIN ANALYZE SWEEP g STEP %s STEPS 96 %s ON %s", c->op->step, c->op->clauses,
             on_gpu(c) ? "GPU" : "CPU");
    return run(c, text, keep_levels, levels);
}

static int take_step(const sweep_case *c, sweep_figures *f)
{
    const char *where = on_gpu(c) ? "GPU" : "CPU", *more = c->blocked ? "" : "LEVELS 1";
    double few[BENCH_REPEATS], many[BENCH_REPEATS], rate[BENCH_REPEATS];
    int code = sweep(c, "h", FEW, more, where, &few[0]); /* the first of all starts a device, or compiles */
    if (code == 0) code = sweep(c, "h", FEW, more, where, &few[0]);
    for (f->steps = LEAST_STEPS; code == 0 && f->steps < MOST_STEPS; f->steps *= 4) {
        code = sweep(c, "h", FEW + f->steps, more, where, &many[0]);
        if (many[0] - few[0] >= LONG_ENOUGH) break;
    }
    for (int i = 0; i < c->options->repeat && code == 0; i++) {
        rate[i] = on_gpu(c) ? sweep_gpu_copy_rate() : sweep_copy_rate(c->options->threads);
        code = sweep(c, "h", FEW, more, where, &few[i]);
        if (code == 0) code = sweep(c, "h", FEW + f->steps, more, where, &many[i]);
    }
    if (code != 0) return code;
    const double added = bench_median(many, c->options->repeat) - bench_median(few, c->options->repeat);
    f->step = added > 0 ? added / (double)f->steps : 0;
    f->whole = bench_median(many, c->options->repeat);
    f->copy_rate = bench_median(rate, c->options->repeat); /* asked between the others: what else runs is shared */
    return 0;
}

static void print(const sweep_case *c, const sweep_figures *f)
{
    const double side = (double)c->n, cells = c->op->dims == 3 ? side * side * side : side * side;
    const double bytes = cells * c->op->arrays * (strcmp(c->options->type, "f32") == 0 ? 4 : 8);
    const double share = f->copy_rate > 0 && f->step > 0 ? bytes / f->copy_rate / f->step : -1;
    const double rate = f->step > 0 ? 1e-9 * cells / f->step : -1;
    const char *way = c->blocked ? "blocked" : "plain";
    if (c->options->json) {
        printf(
            "{\"case\": \"sweep/%s/%s/%s/%" PRId64 "\", \"device\": \"%s\", \"step_ms\": %.5f, \"GCells_s\": %.4g, "
            "\"of_copy\": %.4f, \"copy_GB_s\": %.4g, \"levels\": %.0f, \"steps\": %" PRId64 ", \"whole_s\": %.4f}\n",
            c->op->name, c->options->type, way, c->n, c->options->device, 1e3 * f->step, rate, share,
            1e-9 * f->copy_rate, f->levels, f->steps, f->whole);
        return;
    }
    printf("sweep/%s/%s/%s/%" PRId64 ": step_ms=%.5f GCells_s=%.4g", c->op->name, c->options->type, way, c->n,
           1e3 * f->step, rate);
    if (share >= 0) printf(" of_copy=%.3f copy_GB_s=%.4g", share, 1e-9 * f->copy_rate);
    printf(" levels=%.0f steps=%" PRId64 " whole_s=%.4f\n", f->levels, f->steps, f->whole);
}

/* ------------------------------------------------------------------------------------------- cases */

static int measure(const sweep_case *c)
{
    sweep_figures f = {.levels = 1};
    int code = check(c);
    if (code == 0) code = make_grids(c, c->n);
    if (code == 0) code = take_levels(c, &f.levels);
    if (code == 0) code = take_step(c, &f);
    if (code == 0) print(c, &f);
    return code;
}

/* The next number of a list; false: there is none. */
static bool next_number(const char **list, int64_t *out)
{
    char *end;
    if (**list == '\0') return false;
    const double value = strtod(*list, &end);
    if (end == *list || !(value >= 4 && value <= 1e6)) return false;
    *out = (int64_t)value;
    *list = *end == ',' ? end + 1 : end;
    return true;
}

/* --way plain or blocked leaves one. Where each step is measured there are no blocks. */
static bool way_wanted(const sweep_case *c)
{
    const char *way = c->options->way;
    if (c->blocked && strcmp(c->op->clauses, "CHANGE EVERY 1") == 0) return false;
    return way == NULL || strcmp(way, c->blocked ? "blocked" : "plain") == 0;
}

static int measure_op(const bench_options *options, const sweep_op *op, lacis_engine *db)
{
    char usual[32];
    const bool gpu = strcmp(options->device, "gpu") == 0;
    int code = 0;
    snprintf(usual, sizeof usual, "%" PRId64, gpu ? op->usual_on_gpu : op->usual_on_cpu);
    for (int blocked = 0; blocked < 2; blocked++) {
        const char *list = options->n != NULL ? options->n : usual;
        sweep_case c = {.options = options, .op = op, .blocked = blocked == 1, .db = db};
        if (!way_wanted(&c)) continue;
        while (code == 0 && next_number(&list, &c.n))
            code = measure(&c);
        if (code == 0 && *list != '\0') code = bench_fail("--n takes numbers with commas between, not %s", list) + 1;
    }
    return code;
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
    const char *text =
        "GENERATE g AS noise(nx = 64, ny = 64, type = 'f32'); LET r = SWEEP g STEP u[1] STEPS 1 ON GPU";
    if (lacis_exec(db, text, NULL, NULL) == LACIS_OK) return 0;
    printf("skipped: %s\n", lacis_error_message(db));
    return 77;
}

int bench_sweep(const bench_options *options)
{
    if (options->experiment != NULL) return bench_sweep_experiment(options);
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
