/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench sweep --experiment: which points each experiment has, and their tables. Called by sweep_experiment.c.
 */
#include "sweep_experiment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_ON_CPU = 2048, USUAL_ON_GPU = 16384, WIDER = 8 };

/* --------------------------------------------------------------------------------------------- lines */

static void head(const experiment *e, const char *what)
{
    if (e->options->json) return;
    printf("%s: 5-point average, %s, %s\n%-34s %10s %10s %9s %12s %8s %12s\n", e->name, e->options->type, what, "",
           "step_ms", "GCells_s", "speedup", "exposed_us", "share", "halo_KB");
}

/* base: the step of the point that it is held against, times its cells over this one's; 0: there is none. */
static void print(const experiment *e, const experiment_point *p, const experiment_figures *f, double base)
{
    const double rate = f->step > 0 ? 1e-9 * (double)p->nx * (double)p->ny / f->step : 0;
    const double share = f->step > 0 ? f->exposed / f->step : 0,
                 speedup = base > 0 && f->step > 0 ? base / f->step : 0;
    if (e->options->json) {
        printf("{\"case\": \"sweep/%s/%s\", \"type\": \"%s\", \"device\": \"%s\", \"parts\": %d, \"nx\": %" PRId64
               ", \"ny\": %" PRId64
               ", \"step_ms\": %.5f, \"GCells_s\": %.4g, \"speedup\": %.3f, \"exposed_us\": %.3f, "
               "\"share\": %.4f, \"halo_KB\": %.4g, \"steps\": %" PRId64 "}\n",
               e->name, p->name, e->options->type, e->options->device, p->parts, p->nx, p->ny, 1e3 * f->step, rate,
               speedup, 1e6 * f->exposed, share, 1e-3 * f->bytes, f->steps);
        return;
    }
    printf("%-34s %10.5f %10.4g", p->name, 1e3 * f->step, rate);
    if (speedup > 0)
        printf(" %9.3f", speedup);
    else
        printf(" %9s", "-");
    printf(" %12.3f %7.2f%% %12.4g\n", 1e6 * f->exposed, 1e2 * share, 1e-3 * f->bytes);
}

static bool wanted(const experiment *e, const experiment_point *p)
{
    return e->options->way == NULL || strstr(p->name, e->options->way) != NULL;
}

/* Points in turn (--way: those that have it in their names); of each the speed-up over the first, cell by cell. */
static int print_all(const experiment *e, const char *what, const experiment_point *point, int points)
{
    double base = 0;
    int code = 0, many = 0;
    for (int i = 0; i < points; i++)
        many += wanted(e, &point[i]);
    if (many == 0) return bench_fail("no point of %s has \"%s\" in its name", e->name, e->options->way) + 1;
    head(e, what);
    for (int i = 0; i < points && code == 0; i++) {
        const experiment_point *p = &point[i];
        experiment_figures f;
        if (!wanted(e, p)) continue;
        code = experiment_measure(e, p, &f);
        if (base == 0) base = f.step / ((double)p->nx * (double)p->ny);
        if (code == 0) print(e, p, &f, base * (double)p->nx * (double)p->ny);
    }
    return code;
}

/* --- experiments */

static const double LEAST_SIDE = 64, MOST_SIDE = 1e6;

static bool side_can_be(const experiment *e)
{
    char *end;
    if (e->options->n == NULL) return true;
    const double value = strtod(e->options->n, &end);
    return end != e->options->n && *end == '\0' && value >= LEAST_SIDE && value <= MOST_SIDE;
}

static int64_t side_of(const experiment *e)
{
    return e->options->n != NULL ? (int64_t)strtod(e->options->n, NULL) : e->gpu ? USUAL_ON_GPU : USUAL_ON_CPU;
}

/* Borders waited for, or overlapped, with halos of one step and of several. */
static int exchange(const experiment *e)
{
    static const struct {
        const char *exchange, *clauses;
    } way[] = {{"sync EVERY 1", "LEVELS 1"},
               {"async EVERY 1", "LEVELS 1"},
               {"", "LEVELS 1"},
               {"sync EVERY 4", ""},
               {"async EVERY 4", ""},
               {"sync EVERY 12", ""},
               {"async EVERY 12", ""},
               {"sync EVERY 48", ""},
               {"async EVERY 48", ""},
               {"", ""},
               /* of ranks' GPUs alone */
               {"BY host", "LEVELS 1"},
               {"async EVERY 12 BY host", ""},
               {"async EVERY 48 BY host", ""},
               {"BY host", ""}};
    enum { WAYS = sizeof way / sizeof way[0], OF_RANKS = 4 };
    const int ways = e->gpu && e->ranks > 1 ? WAYS : WAYS - OF_RANKS;
    experiment_point point[WAYS];
    const int64_t n = side_of(e);
    for (int i = 0; i < ways; i++) {
        point[i] = (experiment_point){"", e->parts, n, n, way[i].exchange, way[i].clauses};
        snprintf(point[i].name, sizeof point[i].name, "%d parts, %s%s%s", e->parts,
                 way[i].exchange[0] == '\0' ? "as is best" : way[i].exchange, way[i].clauses[0] == '\0' ? "" : ", ",
                 way[i].clauses);
    }
    return print_all(e, "synchronous against asynchronous", point, ways);
}

/* A grid so wide that it is cut along x, where borders are columns. */
static int pack(const experiment *e)
{
    const int64_t nx = WIDER * side_of(e), ny = side_of(e) / WIDER;
    const experiment_point point[] = {
        {"by kernel", e->parts, nx, ny, "async EVERY 1 BY kernel", "LEVELS 1"},
        {"by copy of two dimensions", e->parts, nx, ny, "async EVERY 1 BY copy", "LEVELS 1"},
        {"by kernel, waited for", e->parts, nx, ny, "sync EVERY 1 BY kernel", "LEVELS 1"},
        {"by copy, waited for", e->parts, nx, ny, "sync EVERY 1 BY copy", "LEVELS 1"}};
    if (!e->gpu || e->ranks == 1)
        return bench_fail(
                   "pack is about borders that ranks' GPUs send: mpirun -n N lacis-bench sweep --experiment pack "
                   "--device gpu") +
               1;
    return print_all(e, "borders along x packed by kernels against copies of two dimensions", point,
                     sizeof point / sizeof point[0]);
}

static int scaling(const experiment *e, bool weak)
{
    experiment_point point[EXPERIMENT_PARTS];
    const int64_t n = side_of(e);
    int points = 0;
    for (int parts = 1; points < EXPERIMENT_PARTS; parts = 2 * parts < e->parts ? 2 * parts : e->parts) {
        experiment_point *p = &point[points++];
        *p = (experiment_point){"", parts, n, weak ? n * parts : n, "", ""};
        snprintf(p->name, sizeof p->name, "%d part%s, %" PRId64 " x %" PRId64, parts, parts == 1 ? "" : "s", p->nx,
                 p->ny);
        if (parts == e->parts) break;
    }
    return print_all(e, weak ? "as many cells for each part (speedup: by the cell)" : "one grid over more parts",
                     point, points);
}

static int strong(const experiment *e)
{
    return scaling(e, false);
}

static int weak(const experiment *e)
{
    return scaling(e, true);
}

static void print_line(const experiment *e, const experiment_line *line)
{
    const double us = 1e6;
    if (e->options->json)
        printf(
            "{\"case\": \"sweep/timeline\", \"exchange\": %d, \"part\": %d, \"pack_us\": %.3f, \"centre_us\": %.3f, "
            "\"wait_us\": %.3f, \"unpack_us\": %.3f, \"rest_us\": %.3f, \"exposed_us\": %.3f}\n",
            line->exchange, line->part, us * line->pack, us * line->centre, us * line->wait, us * line->unpack,
            us * line->rest, us * experiment_exposed(line));
    else
        printf("%8d %8d %10.1f %10.1f %10.1f %10.1f %10.1f %12.1f\n", line->exchange, line->part, us * line->pack,
               us * line->centre, us * line->wait, us * line->unpack, us * line->rest, us * experiment_exposed(line));
}

/* Some exchanges of each part, one after the other. */
static int timeline(const experiment *e)
{
    enum { FROM = 8, SHOWN = 6 };
    static experiment_line line[EXPERIMENT_LINES];
    const int64_t n = side_of(e);
    const experiment_point point = {"async EVERY 1", e->parts, n, n, "async EVERY 1", "LEVELS 1"};
    int lines = 0, code = print_all(e, "async EVERY 1", &point, 1);
    if (code == 0) code = experiment_times(e, &point, line, EXPERIMENT_LINES, &lines);
    if (code == 0 && !e->options->json)
        printf("\n%8s %8s %10s %10s %10s %10s %10s %12s  (us)\n", "exchange", "part", "pack", "centre", "wait",
               "unpack", "rest", "exposed");
    for (int at = FROM; at < FROM + SHOWN && code == 0; at++)
        for (int i = 0; i < lines; i++)
            if (line[i].exchange == at) print_line(e, &line[i]);
    return code;
}

static const struct {
    const char *name;
    int (*run)(const experiment *e);
} all[] = {{"exchange", exchange}, {"pack", pack}, {"strong", strong}, {"weak", weak}, {"timeline", timeline}};

int experiment_run(const experiment *e)
{
    if (e->parts < 2 || e->parts > EXPERIMENT_PARTS)
        return bench_fail("an experiment is cut over ranks (mpirun -n N lacis-bench sweep --experiment ...) or GPUs "
                          "(--device gpu --gpus N), 2 to %d of them",
                          EXPERIMENT_PARTS) +
               1;
    if (!side_can_be(e)) return bench_fail("--n is a side of 64 to 1000000 cells, not %s", e->options->n) + 1;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(e->name, all[i].name) == 0) return all[i].run(e);
    return bench_fail("--experiment is exchange, pack, strong, weak or timeline, not %s", e->name) + 1;
}
