/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench sweep --experiment: what its two files share.
 */
#ifndef LACIS_BENCH_SWEEP_EXPERIMENT_H
#define LACIS_BENCH_SWEEP_EXPERIMENT_H

#include "bench.h"

#include <stdint.h>

enum { EXPERIMENT_PARTS = 64, EXPERIMENT_LINES = 1 << 15 };

typedef struct experiment {
    const bench_options *options;
    const char *name;
    lacis_engine *db;
    int ranks, parts; /* processes; ranks or GPUs of this process that there are to cut over */
    bool gpu;
} experiment;

/* A way to sweep a grid. */
typedef struct experiment_point {
    char name[60];
    int parts;
    int64_t nx, ny;
    const char *exchange, *clauses; /* of EXCHANGE; others */
} experiment_point;

typedef struct experiment_line {
    int part, exchange;
    double pack, centre, wait, unpack, rest, bytes;
} experiment_line;

typedef struct experiment_figures {
    double step, exposed, bytes; /* seconds, seconds, bytes of a step */
    int64_t steps;
} experiment_figures;

/* sweep_experiment.c. Exit codes, after a message. */
int experiment_measure(const experiment *e, const experiment_point *p, experiment_figures *f);
/* Lines of the grid that was made last. */
int experiment_times(const experiment *e, const experiment_point *p, experiment_line *line, int most, int *lines);
double experiment_exposed(const experiment_line *line); /* seconds on borders while nothing was computed */
/* sweep_experiment_list.c: the experiment of that name. */
int experiment_run(const experiment *e);

#endif
