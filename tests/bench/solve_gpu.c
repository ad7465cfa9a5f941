/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench solve --device gpu: batches on a GPU, in both layouts. For each way to solve: the kernels from operands
 * on the device to the result there, against the faster of cuSPARSE's two calls for tridiagonal systems, each on the
 * layout that it wants. Then the whole statement, the result on the host: with operands from the host ("cold") and
 * with operands on the device ("warm"). Residuals and the peers' answers are checked before anything is timed.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LACIS_BENCH_GPU

#include "solve_gpu.h"

#include "lang/lang.h"

enum { MOST_CASES = 64, LAYOUTS = 2 };
static const char *const layout_name[LAYOUTS] = {"flat", "full"};

struct kind {
    char name[64];
    char generator[160]; /* with a place for the layout */
    bool chain, peer;
    int64_t rows, lanes;
};

static int list_kinds(struct kind *kind)
{
    static const int64_t lanes[] = {256, 2560, 25600, 256000};
    static const int64_t rows[] = {64, 128, 256, 512, 1024};
    static const int64_t tree[][2] = {{76, 7}, {319, 157}, {691, 341}};
    static const char *const sharing[] = {"none", "offdiagonals"};
    const double most = 2.2e9 / 32; /* elements: four fields of them */
    int count = 0;
    for (int n = 0; n < 5; n++)
        for (int m = 0; m < 4; m++) {
            if ((double)rows[n] * (double)lanes[m] > most) continue;
            struct kind *k = &kind[count++];
            *k = (struct kind){.chain = true, .peer = true, .rows = rows[n], .lanes = lanes[m]};
            snprintf(k->name, sizeof k->name, "chain/%lldx%lld", (long long)rows[n], (long long)lanes[m]);
            snprintf(k->generator, sizeof k->generator, "tridiagonal(%lld, %lld", (long long)rows[n],
                     (long long)lanes[m]);
        }
    for (int n = 0; n < 3; n++)
        for (int m = 0; m < 8; m++) {
            if ((double)tree[n][0] * (double)lanes[m / 2] > (m % 2 ? 3 : 1) * most) continue;
            struct kind *k = &kind[count++];
            *k = (struct kind){.rows = tree[n][0], .lanes = lanes[m / 2]};
            snprintf(k->name, sizeof k->name, "tree%s/%lldx%lld", m % 2 ? "-offdiagonals-shared" : "",
                     (long long)tree[n][0], (long long)lanes[m / 2]);
            snprintf(k->generator, sizeof k->generator, "tree(%lld, %lld, %lld, shared = '%s'", (long long)tree[n][0],
                     (long long)tree[n][1], (long long)lanes[m / 2], sharing[m % 2]);
        }
    return count;
}

/* --- whole statements --------------------------------------------------------------------------------- */

struct bench {
    const bench_options *options;
    const struct kind *kind;
    lacis_engine *engine;
    bench_gtsv *gtsv; /* NULL: no peer */
};

static int exec(const struct bench *bench, const char *text, double *seconds)
{
    double start = bench_now();
    lacis_status status = lacis_exec(bench->engine, text, NULL, NULL);
    *seconds = bench_now() - start;
    return status == LACIS_OK ? 0 : bench_fail("%s: %s", text, lacis_error_message(bench->engine));
}

static int keep_real(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)names;
    if (columns == 1 && values[0] != NULL) *(double *)arg = atof(values[0]);
    return 0;
}

static int check_residual(const struct bench *bench)
{
    double seconds, worst = INFINITY, most = strcmp(bench->options->type, "f32") == 0 ? 1e-4 : 1e-12;
    int code = exec(bench, "LET x = SOLVE s RESIDUAL ON GPU", &seconds);
    if (code != 0) return code;
    if (lacis_exec(bench->engine, "SELECT max(residual) FROM x", keep_real, &worst) != LACIS_OK)
        return bench_fail("%s", lacis_error_message(bench->engine));
    return worst <= most ? 0 : bench_fail("%s: the answer is wrong: residual %g", bench->kind->name, worst);
}

static void print_line(const struct bench *bench, int layout, const char *what, double ours, const char *name,
                       double peer)
{
    bench_timing timing = {
        .peer = name, .ours_s = ours, .peer_s = peer, .units = (double)(bench->kind->rows * bench->kind->lanes)};
    snprintf(timing.name, sizeof timing.name, "solve/%s/%s/%s/gpu/%s", bench->kind->name, layout_name[layout],
             bench->options->type, what);
    bench_print_timing(bench->options, &timing);
}

/* Lanes shared by several, with operands on each, against one: results come over several links. */
static int time_several(const struct bench *bench, int layout, double one)
{
    double seconds[BENCH_REPEATS];
    char text[40];
    snprintf(text, sizeof text, "SET gpus = %d", bench->options->gpus);
    int code = exec(bench, text, &seconds[0]);
    if (code == 0) code = exec(bench, "LET x = SOLVE s ON GPU", &seconds[0]); /* sends */
    for (int i = 0; code == 0 && i < bench->options->repeat; i++)
        code = exec(bench, "LET x = SOLVE s ON GPU", &seconds[i]);
    if (code != 0) return code;
    snprintf(text, sizeof text, "warm/%d-gpus", bench->options->gpus);
    print_line(bench, layout, text, bench_median(seconds, bench->options->repeat), "one-gpu", one);
    return exec(bench, "SET gpus = 1", &seconds[0]);
}

static int time_statements(const struct bench *bench, int layout)
{
    double cold, warm[BENCH_REPEATS];
    int code = exec(bench, "LET x = SOLVE s ON GPU", &cold);
    for (int i = 0; code == 0 && i < bench->options->repeat; i++)
        code = exec(bench, "LET x = SOLVE s ON GPU", &warm[i]);
    if (code != 0) return code;
    double median = bench_median(warm, bench->options->repeat);
    print_line(bench, layout, "cold", cold, NULL, -1);
    print_line(bench, layout, "warm", median, NULL, -1);
    return bench->options->gpus > 1 ? time_several(bench, layout, median) : 0;
}

/* --- kernels ------------------------------------------------------------------------------------------ */

static int time_kernels(const struct bench *bench, bench_solve_resident *resident, double *peer)
{
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (int way = 0; way < LACIS_SOLVE_GPU_WAYS; way++) {
            char what[40];
            double seconds[BENCH_REPEATS];
            bool can = true;
            int code = bench_solve_run(resident, layout, (lacis_solve_gpu_way)way, &can, &seconds[0]);
            for (int i = 0; code == 0 && can && i < bench->options->repeat; i++)
                code = bench_solve_run(resident, layout, (lacis_solve_gpu_way)way, &can, &seconds[i]);
            if (code != 0) return code;
            if (!can) continue;
            code = bench_solve_check(resident);
            if (code != 0) return code;
            snprintf(what, sizeof what, "%s", lacis_solve_gpu_way_name[way]);
            print_line(bench, layout, what, bench_median(seconds, bench->options->repeat), "cusparse", *peer);
        }
    return 0;
}

/* The faster of the two; -1: there is none. */
static int time_peer(const struct bench *bench, bench_solve_resident *resident, double *out)
{
    *out = -1;
    if (bench->gtsv == NULL || !bench->kind->peer) return 0;
    for (int layout = 0; layout < LAYOUTS; layout++) {
        double seconds[BENCH_REPEATS];
        int code = bench_solve_peer(resident, bench->gtsv, layout, &seconds[0]);
        for (int i = 0; code == 0 && i < bench->options->repeat; i++)
            code = bench_solve_peer(resident, bench->gtsv, layout, &seconds[i]);
        if (code != 0) return code;
        double median = bench_median(seconds, bench->options->repeat);
        if (layout == 0 || median < *out) *out = median;
    }
    return 0;
}

static int run_kind(struct bench *bench)
{
    const struct kind *kind = bench->kind;
    lacis_array *array[LAYOUTS] = {NULL};
    bench_solve_resident *resident = NULL;
    char text[300];
    double seconds, peer;
    int code = 0;
    for (int layout = 0; code == 0 && layout < LAYOUTS; layout++) {
        snprintf(text, sizeof text, "GENERATE s AS %s, type = '%s', layout = '%s')", kind->generator,
                 bench->options->type, layout_name[layout]);
        code = exec(bench, text, &seconds);
        if (code == 0) code = check_residual(bench);       /* starts the device and loads kernels */
        if (code == 0) code = exec(bench, text, &seconds); /* anew: nothing of it is there */
        if (code == 0) code = time_statements(bench, layout);
        if (code == 0 && lacis_array_find(bench->engine, "s", &array[layout]) != LACIS_OK)
            code = bench_fail("%s", lacis_error_message(bench->engine));
    }
    if (code == 0) code = exec(bench, "DROP s; DROP x", &seconds);
    if (code == 0) code = bench_solve_begin(array, &resident);
    if (code == 0) code = time_peer(bench, resident, &peer);
    if (code == 0) code = time_kernels(bench, resident, &peer);
    bench_solve_end(resident);
    for (int layout = 0; layout < LAYOUTS; layout++)
        lacis_array_release(array[layout]);
    return code;
}

/* --- all ---------------------------------------------------------------------------------------------- */

int bench_solve_gpu(const bench_options *options)
{
    enum { SKIPPED = 77 };
    struct kind kind[MOST_CASES];
    struct bench bench = {.options = options};
    char reason[200];
    const char *peer = options->peer == NULL ? "cusparse" : options->peer;
    int count = list_kinds(kind), code = 0, known = 0;
    if (strcmp(peer, "cusparse") != 0 && strcmp(peer, "none") != 0)
        return bench_fail("solve on the GPU has no peer \"%s\"", peer);
    if (!bench_solve_gpu_here(reason, sizeof reason)) {
        bench_fail("%s", reason);
        return SKIPPED;
    }
    if (strcmp(peer, "cusparse") == 0) code = bench_gtsv_open(strcmp(options->type, "f64") == 0, &bench.gtsv);
    if (code == 0 && lacis_open(NULL, &bench.engine) != LACIS_OK) code = bench_fail("out of memory");
    for (int i = 0; code == 0 && i < count; i++) {
        if (options->op == NULL ? kind[i].lanes > 2560 : strstr(kind[i].name, options->op) == NULL) continue;
        known = 1;
        bench.kind = &kind[i];
        code = run_kind(&bench);
    }
    if (code == 0 && !known)
        code = bench_fail("--op is part of a case's name (chain/256x25600), not %s", options->op);
    bench_gtsv_close(bench.gtsv);
    lacis_close(bench.engine);
    return code;
}

#else

int bench_solve_gpu(const bench_options *options)
{
    enum { SKIPPED = 77 };
    (void)options;
    bench_fail("this build has no GPU kernels");
    return SKIPPED;
}

#endif
