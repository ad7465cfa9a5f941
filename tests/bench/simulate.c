/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench simulate: a cable of 1023 nodes over 2000 steps, passive and with channels, one lane and many. The peer
 * is NEURON's nrniv where it is installed (Debian: neuron), run as a program that times its own steps, in turn with
 * ours; the last voltage is compared first. NEURON runs one cell on one thread, so ratios are of the time a node and
 * step.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NSEG = 1021, NODES = NSEG + 2, STEPS = 2000 };
enum { ROUNDS = 8 }; /* of the peer, whose clock counts hundredths of a second */

typedef struct simulate_case {
    const char *name, *clauses;
    int lanes, steps;
    bool hh;
} simulate_case;

static const simulate_case cases[] = {
    {"passive", "", 1, STEPS, false},       {"passive, Crank-Nicolson", "METHOD crank_nicolson", 1, STEPS, false},
    {"passive", "", 256, STEPS / 8, false}, {"hh", "HH", 1, STEPS, true},
    {"hh", "HH", 256, STEPS / 40, true},
};

/* The peer's script: rate tables off, so that both compute the same. */
static const char script[] =
    "{load_file(\"stdrun.hoc\")}\n"
    "create c\naccess c\nL=1000\ndiam=2\nnseg=%d\nRa=100\ncm=1\n"
    "insert %s\n%s\n"
    "objref s, cv\ns=new IClamp(0)\ns.amp=0.1\ns.del=1\ns.dur=1e9\n"
    "cv=new CVode()\n{cv.cache_efficient(1)}\nsecondorder=%d\ndt=0.025\n"
    "proc once() { local i, k, t0\n t0=startsw()\n for i=1,%d { finitialize(-65)\n for k=1,%d { fadvance() } }\n"
    " printf(\"%%.9f %%.17g\\n\", startsw()-t0, v(0.5)) }\n";

static bool has_peer(const bench_options *options)
{
    return (options->peer == NULL || strcmp(options->peer, "neuron") == 0) &&
           system("command -v nrniv >/dev/null 2>&1") == 0;
}

/* Seconds of NEURON's steps, and its last voltage at x = 0.5. */
static int peer_run(const simulate_case *c, double *seconds, double *v)
{
    char path[] = "/tmp/lacis-bench-XXXXXX.hoc", command[200];
    int file = mkstemps(path, 4);
    if (file < 0) return bench_fail("cannot make a file in /tmp");
    FILE *hoc = fdopen(file, "w");
    const char *membrane = c->hh ? "usetable_hh=0" : "g_pas=1e-4\ne_pas=-65";
    int order = strstr(c->clauses, "crank") != NULL ? 1 : 0;
    fprintf(hoc, script, NSEG, c->hh ? "hh" : "pas", membrane, order, ROUNDS, c->steps);
    fputs("once()\nquit()\n", hoc);
    fclose(hoc);
    snprintf(command, sizeof command, "nrniv -nogui -nobanner -nopython %s 2>/dev/null </dev/null", path);
    FILE *out = popen(command, "r");
    double took, last;
    char line[200];
    *seconds = INFINITY;
    while (out != NULL && fgets(line, sizeof line, out) != NULL) {
        if (sscanf(line, "%lf %lf", &took, &last) != 2 || took <= 0) continue;
        *seconds = took / ROUNDS;
        *v = last;
    }
    if (out != NULL) pclose(out);
    unlink(path);
    return isfinite(*seconds) ? 0 : bench_fail("nrniv gave no times");
}

static int keep(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)columns, (void)names;
    *(double *)arg = atof(values[0]);
    return 0;
}

static int ours_run(lacis_engine *db, const simulate_case *c, double *seconds, double *v)
{
    char text[400];
    snprintf(text, sizeof text,
             "LET v = SIMULATE cell DT 0.025 STEPS %d NSEG %d EXACT %s LANES %d CLAMP 'dend(0)' 0.1 FROM 1 TO 1e9 "
             "PROBE dend EVERY %d",
             c->steps, NSEG, c->clauses, c->lanes, c->steps);
    double since = bench_now();
    lacis_status status = lacis_exec(db, text, NULL, NULL);
    *seconds = bench_now() - since;
    if (status == LACIS_OK)
        status = lacis_exec(db, "SELECT v FROM v WHERE t > 0 ORDER BY lane DESC LIMIT 1", keep, v);
    return status == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(db));
}

static int measure(const bench_options *options, lacis_engine *db, const simulate_case *c, bool peer)
{
    double ours[BENCH_REPEATS], theirs[BENCH_REPEATS], v = 0, w = 0;
    for (int i = 0; i < options->repeat; i++) {
        if (ours_run(db, c, &ours[i], &v) != 0) return 1;
        if (peer && peer_run(c, &theirs[i], &w) != 0) return 1;
        if (peer && !(fabs(v - w) <= (c->hh ? 1e-7 : 1e-9)))
            return bench_fail("%s: %.15g mV, NEURON %.15g", c->name, v, w);
    }
    double work = (double)NODES * c->steps * c->lanes;
    bench_timing timing = {.peer = "neuron", .units = work};
    timing.ours_s = bench_median(ours, options->repeat);
    timing.peer_s = peer ? bench_median(theirs, options->repeat) * c->lanes : -1;
    snprintf(timing.name, sizeof timing.name, "simulate/%s/lanes:%d", c->name, c->lanes);
    bench_print_timing(options, &timing);
    return 0;
}

int bench_simulate(const bench_options *options)
{
    lacis_engine *db;
    char threads[40];
    if (strcmp(options->device, "gpu") == 0) return bench_simulate_gpu(options);
    bool peer = has_peer(options);
    if (lacis_open(NULL, &db) != LACIS_OK) return bench_fail("cannot open an engine");
    snprintf(threads, sizeof threads, "%d", options->threads > 0 ? options->threads : 1);
    lacis_status status = lacis_set_option(db, "threads", threads);
    if (status == LACIS_OK) status = lacis_exec(db, "GENERATE cell AS cable(1000, 2)", NULL, NULL);
    int failed = status == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(db));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !failed; i++)
        failed = measure(options, db, &cases[i], peer);
    lacis_close(db);
    return failed;
}
