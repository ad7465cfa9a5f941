/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench nbody: steps of Plummer spheres by all pairs and by trees, on either device and in each type. A line a
 * case: milliseconds of a step inside a run (the difference of two runs of different lengths), of its phases, terms a
 * body, and how far off accelerations are (1,000 of them against direct sums), so that no time stands without its
 * error. The peer is REBOUND through tests/bench/peer_rebound.py where Python has it: its tree first, with its error;
 * then ours with that error asked for.
 */
#include "nbody.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const nbody_case cases[] = {
    {"pairs", "pairs", ""},
    {"monopole", "tree", "THETA 0.5 ORDER monopole"},
    {"quadrupole", "tree", "THETA 0.75 ORDER quadrupole"},
    {"relative", "tree", "ALPHA 0.012 ORDER quadrupole"},
    {"insertion", "insertion", "THETA 0.5 ORDER monopole"},
    {"error", "", "ERROR 3.7e-3"},
    {"fine", "", "ERROR 1e-3"},
};
enum { CASES = sizeof cases / sizeof cases[0], SIZES = 16 };

/* All pairs of so many take minutes; they are run where --op asks for them. */
static bool too_long(const bench_options *options, const nbody_case *c, double n)
{
    const double most = strcmp(options->device, "gpu") == 0 ? 1e13 : 2e10;
    return strcmp(c->name, "pairs") == 0 && options->op == NULL && n * n > most;
}

static int sizes(const bench_options *options, double *n)
{
    const bool gpu = strcmp(options->device, "gpu") == 0;
    const char *list = options->n != NULL ? options->n : gpu ? "5000,50000,500000,5000000" : "5000,50000";
    int count = 0;
    while (count < SIZES && *list != '\0') {
        char *end;
        n[count] = strtod(list, &end);
        if (end == list || !(n[count] >= 1)) return -bench_fail("--n takes numbers of bodies, not %s", list) - 1;
        count++;
        list = *end == ',' ? end + 1 : end;
    }
    return count;
}

static int run_size(const bench_options *options, lacis_engine *db, const char *type, double n)
{
    char text[200];
    snprintf(text, sizeof text, "GENERATE g AS plummer(n = %.0f, seed = 1, type = '%s')", n,
             strcmp(type, "f32") == 0 ? "f32" : "f64");
    if (lacis_exec(db, text, NULL, NULL) != LACIS_OK) return bench_fail("%s", lacis_error_message(db));
    for (int i = 0; i < CASES; i++) {
        const nbody_case *c = &cases[i];
        if (options->op != NULL && !bench_listed(options->op, c->name)) continue;
        if (too_long(options, c, n)) {
            printf("case=nbody/%s/%s/n:%.0f skipped: --op pairs runs it\n", c->name, type, n);
            continue;
        }
        int code = bench_nbody_case(options, db, c, type, n);
        if (code != 0) return code;
    }
    return 0;
}

static int run_type(const bench_options *options, lacis_engine *db, const char *type)
{
    double n[SIZES];
    const int count = sizes(options, n);
    if (count < 0) return 2;
    for (int i = 0; i < count; i++) {
        int code = run_size(options, db, type, n[i]);
        if (code != 0) return code;
    }
    return 0;
}

int bench_nbody(const bench_options *options)
{
    static const char *const types[] = {"f32", "f64", "mixed"};
    lacis_engine *db;
    char threads[40];
    int code = 0;
    if (lacis_open(NULL, &db) != LACIS_OK) return bench_fail("cannot open an engine");
    snprintf(threads, sizeof threads, "%d", options->threads);
    if (options->threads > 0 && lacis_set_option(db, "threads", threads) != LACIS_OK)
        code = bench_fail("%s", lacis_error_message(db));
    for (size_t i = 0; i < sizeof types / sizeof types[0] && code == 0; i++)
        if (options->type == NULL || bench_listed(options->type, types[i])) code = run_type(options, db, types[i]);
    if (code == 0 && strcmp(options->device, "cpu") == 0) code = bench_nbody_peer(options, db);
    lacis_close(db);
    return code;
}
