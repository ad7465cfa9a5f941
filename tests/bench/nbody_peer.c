/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench nbody beside REBOUND, which is run by peer_rebound.py: its tree on bodies of ours, its time of a step
 * and its error at the same places; then ours with that error asked for.
 */
#include "nbody.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool wanted(const bench_options *options)
{
    if (options->peer != NULL && strcmp(options->peer, "rebound") != 0) return false;
    if (system("python3 -c 'import rebound' >/dev/null 2>&1") == 0) return true;
    printf("skipped: REBOUND: python3 has no module rebound\n");
    return false;
}

static int run_peer(const char *path, double *seconds, double *median, double *most99)
{
    char command[600], line[200];
    int found = 0;
    snprintf(command, sizeof command, "python3 '%s' '%s' 0.5 0.05", LACIS_BENCH_REBOUND, path);
    FILE *out = popen(command, "r");
    while (out != NULL && fgets(line, sizeof line, out) != NULL)
        if (sscanf(line, "%lf %lf %lf", seconds, median, most99) == 3) found = 1;
    if (out != NULL) pclose(out);
    return found ? 0 : bench_fail("REBOUND gave no times");
}

static int beside(const bench_options *options, lacis_engine *db, double n, const char *path)
{
    char clauses[60], text[300];
    double seconds = 0, median = 0, most99 = 0;
    nbody_result r;
    snprintf(text, sizeof text, "GENERATE g AS plummer(n = %.0f, seed = 1); SAVE g TO '%s'", n, path);
    if (lacis_exec(db, text, NULL, NULL) != LACIS_OK) return bench_fail("%s", lacis_error_message(db));
    if (run_peer(path, &seconds, &median, &most99) != 0) return 1;
    snprintf(clauses, sizeof clauses, "ERROR %.2e", most99);
    const nbody_case c = {"rebound", "", clauses};
    int code = bench_nbody_measure(options, db, &c, "f64", n, &r);
    if (code != 0) return code;
    bench_timing timing = {.peer = "rebound", .ours_s = r.step_s, .peer_s = seconds, .units = n};
    snprintf(timing.name, sizeof timing.name, "nbody/same_error/n:%.0f/ours:%.1e,%.1e/peer:%.1e,%.1e", n, r.median,
             r.most99, median, most99);
    bench_print_timing(options, &timing);
    return 0;
}

int bench_nbody_peer(const bench_options *options, lacis_engine *db)
{
    char path[] = "/tmp/lacis-bench-XXXXXX.csv";
    const double n = options->n != NULL ? atof(options->n) : 1e5;
    if (!wanted(options)) return 0;
    const int file = mkstemps(path, 4);
    if (file < 0) return bench_fail("cannot make a file in /tmp");
    close(file);
    const int code = beside(options, db, n, path);
    unlink(path);
    return code;
}
