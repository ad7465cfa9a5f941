/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench sweep --experiment NAME: what it costs to cut a grid over the ranks of an mpirun, or over several GPUs
 * of one process. Each point is the 5-point average by a way to exchange borders (SWEEP's EXCHANGE and PARTS); a
 * step's time is the statement's own, without copies and the making of grids. Exposed communication is read from the
 * file that EXCHANGE TO writes: what a part spent on its borders while it computed nothing. Bits are compared with
 * plain steps on one CPU first. Called by sweep.c.
 */
#include "sweep_experiment.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_STEPS = 64, MOST_STEPS = 1 << 16, TIMED_STEPS = 401, CHECK_X = 403, CHECK_Y = 331, CHECK_STEPS = 37 };
static const double LONG_ENOUGH = 0.2; /* seconds */
#define AVERAGE "(u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4"

/* ------------------------------------------------------------------------------------- statements */

static int run(const experiment *e, const char *text)
{
    if (lacis_exec(e->db, text, NULL, NULL) == LACIS_OK) return 0;
    return bench_fail("%s: %s", text, lacis_error_message(e->db));
}

static int keep(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)columns, (void)names;
    *(double *)arg = strtod(values[0] == NULL ? "nan" : values[0], NULL);
    return 0;
}

static int make_grid(const experiment *e, int64_t nx, int64_t ny)
{
    char text[200];
    snprintf(text, sizeof text, "GENERATE g AS noise(nx = %" PRId64 ", ny = %" PRId64 ", seed = 1, type = '%s')", nx,
             ny, e->options->type);
    return run(e, text);
}

/* As many ranks, each with one GPU, or as many GPUs of this process as the point has parts. */
static int set_parts(const experiment *e, int parts)
{
    char text[80];
    snprintf(text, sizeof text, "SET gpus = %d; SET ranks = %s", e->ranks > 1 ? 1 : parts,
             e->ranks > 1 && parts > 1 ? "all" : "off");
    return run(e, text);
}

/* first: EXPLAIN ANALYZE or LET ... = */
static void statement(const experiment *e, const experiment_point *p, const char *first, int64_t steps,
                      const char *file, char *text, size_t size)
{
    const bool norms = e->options->op != NULL && strcmp(e->options->op, "norm100") == 0;
    char exchange[400] = "";
    if (p->parts > 1 && (p->exchange[0] != '\0' || file != NULL))
        snprintf(exchange, sizeof exchange, "EXCHANGE %s%s%s%s", p->exchange, file == NULL ? "" : " TO '",
                 file == NULL ? "" : file, file == NULL ? "" : "'");
    snprintf(text, size,
             "%s SWEEP g STEP " AVERAGE " STEPS %" PRId64 " CHANGE EVERY %" PRId64 " %s PARTS %d %s ON %s", first,
             steps, norms ? 100 : steps, p->clauses, p->parts, exchange, e->gpu ? "GPU" : "CPU");
}

/* Lines of EXPLAIN ANALYZE. */
static int keep_seconds(void *arg, int columns, const char *const *names, const char *const *values)
{
    static const char what[] = "seconds in steps ";
    (void)columns, (void)names;
    const char *line = values[0] == NULL ? "" : values[0] + strspn(values[0], " ");
    if (strncmp(line, what, strlen(what)) == 0) *(double *)arg = strtod(line + strlen(what), NULL);
    return 0;
}

static int sweep(const experiment *e, const experiment_point *p, int64_t steps, const char *file, double *seconds)
{
    char text[900];
    *seconds = 0;
    statement(e, p, "EXPLAIN ANALYZE", steps, file, text, sizeof text);
    if (lacis_exec(e->db, text, keep_seconds, seconds) != LACIS_OK)
        return bench_fail("%s: %s", text, lacis_error_message(e->db));
    return *seconds > 0 ? 0 : bench_fail("%s: no seconds in steps are told", text);
}

/* A small grid by this way and by plain steps on one CPU. */
static int check(const experiment *e, const experiment_point *p)
{
    double unequal = NAN;
    char text[160], statement_text[900];
    int code = make_grid(e, CHECK_X, CHECK_Y);
    if (code == 0) code = run(e, "SET ranks = off");
    snprintf(text, sizeof text, "LET wanted = SWEEP g STEP " AVERAGE " STEPS %d LEVELS 1 ON CPU", CHECK_STEPS);
    if (code == 0) code = run(e, text);
    if (code == 0) code = set_parts(e, p->parts);
    statement(e, p, "LET found =", CHECK_STEPS, NULL, statement_text, sizeof statement_text);
    if (code == 0) code = run(e, statement_text);
    if (code == 0 && lacis_exec(e->db, "SELECT sum(a.value <> b.value) FROM wanted a JOIN found b USING (x, y)", keep,
                                &unequal) != LACIS_OK)
        code = bench_fail("%s", lacis_error_message(e->db));
    if (code == 0 && unequal != 0)
        code = bench_fail("sweep/%s, %s: %g cells differ from plain steps", e->name, p->name, unequal);
    return code;
}

/* ----------------------------------------------------------------------------------------- figures */

/* Seconds of a step, by the statement's own clock; as many steps as last long enough. */
static int take_step(const experiment *e, const experiment_point *p, int64_t *steps, double *step)
{
    double seconds[BENCH_REPEATS] = {0};
    int code = sweep(e, p, LEAST_STEPS, NULL, &seconds[0]);
    if (code == 0) code = sweep(e, p, LEAST_STEPS, NULL, &seconds[0]); /* the first starts devices */
    if (code != 0) return code;
    const double wanted = LONG_ENOUGH / seconds[0] * LEAST_STEPS;
    *steps = wanted < LEAST_STEPS  ? LEAST_STEPS
             : wanted > MOST_STEPS ? MOST_STEPS
                                   : (int64_t)wanted / 100 * 100 + 100;
    for (int i = 0; i < e->options->repeat && code == 0; i++)
        code = sweep(e, p, *steps, NULL, &seconds[i]);
    *step = code == 0 ? bench_median(seconds, e->options->repeat) / (double)*steps : 0;
    return code;
}

/* The file of EXCHANGE TO; parts in the order of the file. */
static int read_lines(const char *path, experiment_line *line, int most, int *lines)
{
    char text[300];
    FILE *file = fopen(path, "r");
    *lines = 0;
    if (file == NULL) return bench_fail("SWEEP wrote no times of its exchanges");
    while (fgets(text, sizeof text, file) != NULL && *lines < most) {
        experiment_line *l = &line[*lines];
        *lines += sscanf(text, "%d,%d,%lf,%lf,%lf,%lf,%lf,%lf", &l->part, &l->exchange, &l->pack, &l->centre,
                         &l->wait, &l->unpack, &l->rest, &l->bytes) == 8;
    }
    fclose(file);
    if (*lines == most) return bench_fail("SWEEP wrote times of more exchanges than there is room for, %d", most);
    return *lines > 0 ? 0 : bench_fail("SWEEP wrote no times of its exchanges");
}

int experiment_times(const experiment *e, const experiment_point *p, experiment_line *line, int most, int *lines)
{
    char path[] = "/tmp/lacis-bench-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return bench_fail("no file in /tmp can be made");
    close(file);
    double seconds;
    int code = sweep(e, p, TIMED_STEPS, path, &seconds);
    if (code == 0) code = read_lines(path, line, most, lines);
    unlink(path);
    return code;
}

double experiment_exposed(const experiment_line *line)
{
    return line->pack + line->wait + line->unpack;
}

/* Of a step, of the part that spent most; bytes that all parts sent. */
static void add_up(const experiment_line *line, int lines, experiment_figures *f)
{
    double spent[EXPERIMENT_PARTS] = {0};
    for (int i = 0; i < lines; i++) {
        if (line[i].part < EXPERIMENT_PARTS) spent[line[i].part] += experiment_exposed(&line[i]);
        f->bytes += line[i].bytes / TIMED_STEPS;
    }
    for (int part = 0; part < EXPERIMENT_PARTS; part++)
        if (spent[part] / TIMED_STEPS > f->exposed) f->exposed = spent[part] / TIMED_STEPS;
}

int experiment_measure(const experiment *e, const experiment_point *p, experiment_figures *f)
{
    static experiment_line line[EXPERIMENT_LINES];
    int lines = 0;
    *f = (experiment_figures){.step = 0};
    int code = check(e, p);
    if (code == 0) code = make_grid(e, p->nx, p->ny);
    if (code == 0) code = take_step(e, p, &f->steps, &f->step);
    if (code == 0 && p->parts > 1) code = experiment_times(e, p, line, EXPERIMENT_LINES, &lines);
    if (code == 0) add_up(line, lines, f);
    return code;
}

/* -------------------------------------------------------------------------------------------- begun */

static int open_engine(experiment *e)
{
    char threads[40];
    if (lacis_open(NULL, &e->db) != LACIS_OK) return bench_fail("cannot open an engine");
    snprintf(threads, sizeof threads, "%d", e->options->threads);
    if (e->options->threads > 0 && lacis_set_option(e->db, "threads", threads) != LACIS_OK)
        return bench_fail("%s", lacis_error_message(e->db));
    return 0;
}

/* 77 where there is no GPU. */
static int find_gpu(const experiment *e)
{
    if (!e->gpu) return 0;
    if (lacis_exec(e->db, "GENERATE g AS noise(nx = 64, ny = 64); LET r = SWEEP g STEP u[1] ON GPU", NULL, NULL) ==
        LACIS_OK)
        return 0;
    printf("skipped: %s\n", lacis_error_message(e->db));
    return 77;
}

static int rank_0(experiment *e, lacis_ranks *ranks)
{
    if (ranks != NULL && lacis_set_ranks(e->db, ranks) != LACIS_OK)
        return bench_fail("%s", lacis_error_message(e->db));
    if (e->ranks > 1 && run(e, "SET ranks = off") != 0) return 1;
    const int code = find_gpu(e);
    return code != 0 ? code : experiment_run(e);
}

int bench_sweep_experiment(const bench_options *options)
{
    char message[400];
    lacis_ranks *ranks;
    if (lacis_ranks_join(&ranks, message, sizeof message) != LACIS_OK) return bench_fail("%s", message);
    experiment e = {.options = options,
                    .name = options->experiment,
                    .ranks = lacis_ranks_size(ranks),
                    .gpu = strcmp(options->device, "gpu") == 0};
    e.parts = e.ranks > 1 ? e.ranks : e.gpu ? options->gpus : 1;
    int code = open_engine(&e);
    if (code == 0)
        code = lacis_ranks_rank(ranks) == 0 ? rank_0(&e, ranks) : lacis_ranks_serve(ranks, e.db) != LACIS_OK;
    lacis_close(e.db);
    lacis_ranks_leave(ranks);
    return code;
}
