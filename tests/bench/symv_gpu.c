/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench symv --device gpu: kernels over operands on the device, matrices rotating so that no cache holds them.
 * A line for each type, triangle, n and way to compute: ours, a plain read of the triangle's bytes in one launch and
 * cuBLAS in both its modes, in the same run; shares of the plain read and of a device copy. Answers are checked
 * first.
 */
#include "symv.h"

#include <stdio.h>

#ifdef LACIS_BENCH_SYMV_GPU

#include "symv_gpu.h"

struct bench {
    const symv_wish *wish;
    symv_gpu *g;
    double copy;  /* bytes read and written a second by a large copy */
    double fixed; /* seconds of the op "fixed" of the present type, triangle and n; negative: not measured */
};

static const double NANO = 1e-9, MICRO = 1e6;

/* The faster of two forms. */
static int time_read(struct bench *b, double *seconds)
{
    static const int loads[] = {4, 8};
    *seconds = -1;
    for (int i = 0; i < 2; i++) {
        double now;
        b->g->loads = loads[i];
        if (symv_gpu_time(b->g, symv_gpu_read, b->g->runs, &now) != 0) return 1;
        if (*seconds < 0 || now < *seconds) *seconds = now;
    }
    return 0;
}

/* Seconds of cuBLAS without and with atomics, and of gemv; negative where there is none. */
static int time_peers(struct bench *b, const symv_case *c, double *fixed, double *atomics, double *gemv)
{
    symv_gpu *g = b->g;
    *fixed = *atomics = *gemv = -1;
    if (!symv_cublas_has(g->cublas, c)) return 0;
    if (symv_cublas_atomics(g->cublas, false) != 0) return 1;
    if (symv_gpu_check(g, symv_gpu_cublas, "cuBLAS") != 0) return 1;
    if (symv_gpu_time(g, symv_gpu_cublas, g->runs, fixed) != 0) return 1;
    if (c->op->sides > 1) return 0;
    if (symv_cublas_atomics(g->cublas, true) != 0) return 1;
    if (symv_gpu_time(g, symv_gpu_cublas, g->runs, atomics) != 0) return 1;
    if (c->op->packed) return 0;
    return symv_gpu_time(g, symv_gpu_gemv, g->runs, gemv);
}

static void add_times(symv_line *line, const symv_case *c, double ours, double read, double copy)
{
    symv_line_add(line, "ours_us", "%.2f", MICRO * ours);
    symv_line_add(line, "read_us", "%.2f", MICRO * read);
    symv_line_add(line, "of_read", NULL, read / ours);
    symv_line_add(line, "share", NULL, symv_triangle_bytes(c) / ours / copy);
    symv_line_add(line, "gflops", "%.1f", NANO * symv_flops(c) / ours);
}

static void add_peers(symv_line *line, double ours, double fixed, double atomics, double gemv)
{
    symv_line_add(line, "cublas_us", "%.2f", MICRO * fixed);
    symv_line_add(line, "atomics_us", "%.2f", MICRO * atomics);
    symv_line_add(line, "gemv_us", "%.2f", MICRO * gemv);
    double best = fixed;
    if (atomics >= 0 && atomics < best) best = atomics;
    symv_line_add(line, "ratio", NULL, best < 0 ? -1 : ours / best);
}

static int add_points(const struct bench *b, const symv_case *c, double ours, double fixed, double atomics)
{
    const double flops = NANO * symv_flops(c);
    symv_points *points = b->wish->points;
    if (points == NULL || c->uplo != LACIS_SYMV_LOWER) return 0;
    int code = symv_points_add(points, c->kind, c->n, "lacis", flops / ours);
    if (code == 0 && fixed > 0) code = symv_points_add(points, c->kind, c->n, "cuBLAS", flops / fixed);
    if (code == 0 && atomics > 0) code = symv_points_add(points, c->kind, c->n, "cuBLAS atomics", flops / atomics);
    return code;
}

static int run_case(struct bench *b, const symv_case *c)
{
    symv_line line;
    symv_gpu *g = b->g;
    double ours, read, fixed, atomics, gemv;
    lacis_symv_gpu_choice tuned;
    const bool one = c->op->sides == 1 && c->op->matrices == 1; /* which tables are of */
    symv_gpu_set(g, c);
    if (one && symv_gpu_tuned(b->wish->options->database, g, &tuned) != 0) return 1;
    const char *refusal = symv_gpu_refuses(g);
    if (refusal != NULL) {
        fprintf(stderr, "lacis-bench: %s/%s, n = %lld: %s\n", c->kind->name, c->op->name, (long long)c->n, refusal);
        return 0;
    }
    if (symv_gpu_check(g, symv_gpu_ours, "ours") != 0) return 1;
    if (symv_gpu_time(g, symv_gpu_ours, g->runs, &ours) != 0) return 1;
    if (time_read(b, &read) != 0) return 1;
    if (time_peers(b, c, &fixed, &atomics, &gemv) != 0) return 1;
    symv_line_begin(&line, c, "gpu");
    add_times(&line, c, ours, read, b->copy);
    add_peers(&line, ours, fixed, atomics, gemv);
    if (c->op == symv_ops) b->fixed = ours;
    if (c->op != symv_ops && c->op->n == 0 && b->fixed > 0) symv_line_add(&line, "of_fixed", NULL, ours / b->fixed);
    symv_line_print(b->wish->options, &line);
    return add_points(b, c, ours, fixed, atomics);
}

static int run_size(struct bench *b, symv_case c, int size)
{
    b->fixed = -1;
    for (int i = 0; i < SYMV_OPS; i++) {
        c.op = &symv_ops[i];
        c.n = c.op->n != 0 ? c.op->n : b->wish->n[size];
        if (!symv_wanted(b->wish, c.op) || !symv_does(&c, false) || (c.op->n != 0 && size > 0)) continue;
        if (run_case(b, &c) != 0) return 1;
    }
    return 0;
}

static uint64_t largest(const symv_wish *wish, const symv_kind *kind)
{
    int64_t most = 4096; /* batches are smaller */
    for (int i = 0; i < wish->sizes; i++)
        if (wish->n[i] > most) most = wish->n[i];
    return (uint64_t)lacis_symv_matrix_bytes(kind->type) * (uint64_t)most * (uint64_t)most;
}

/* What an empty launch takes, and a large copy, in this run. */
static int run_floors(struct bench *b, const symv_kind *kind)
{
    double copy, empty;
    const symv_case any = {kind, symv_ops, LACIS_SYMV_LOWER, 64};
    const double bytes = 2 * (double)((uint64_t)1 << 30);
    symv_line line = {.figures = 0};
    symv_gpu_set(b->g, &any);
    if (symv_gpu_time(b->g, symv_gpu_copy, 9, &copy) != 0) return 1;
    b->copy = bytes / copy;
    b->g->loads = 0;
    if (symv_gpu_time(b->g, symv_gpu_read, b->g->runs, &empty) != 0) return 1;
    snprintf(line.name, sizeof line.name, "symv/floors/gpu");
    symv_line_add(&line, "copy_tb_s", NULL, 1e-12 * b->copy);
    symv_line_add(&line, "empty_us", "%.2f", MICRO * empty);
    symv_line_print(b->wish->options, &line);
    return 0;
}

static int run_all(struct bench *b)
{
    const symv_wish *wish = b->wish;
    for (int k = 0; k < wish->kinds; k++) {
        if (symv_gpu_load(b->g, wish->kind[k], largest(wish, wish->kind[k])) != 0) return 1;
        if (k == 0 && run_floors(b, wish->kind[k]) != 0) return 1;
        for (int uplo = 0; uplo < 2; uplo++)
            for (int size = 0; wish->uplo[uplo] && size < wish->sizes; size++) {
                const symv_case c = {.kind = wish->kind[k], .uplo = (lacis_symv_uplo)uplo};
                if (run_size(b, c, size) != 0) return 1;
            }
    }
    return 0;
}

int symv_gpu_all(const symv_wish *wish)
{
    enum { SKIPPED = 77, RUNS_A_REPEAT = 6 };
    char reason[200];
    struct bench b = {.wish = wish};
    int code = symv_gpu_open(&b.g, RUNS_A_REPEAT * wish->options->repeat, reason, sizeof reason);
    if (code == 0 && b.g == NULL) {
        bench_fail("%s", reason);
        return SKIPPED;
    }
    if (code == 0) code = symv_cublas_open(b.g->stream, wish->options->peer, &b.g->cublas);
    if (code == 0) code = wish->options->regret > 0 ? symv_regret(wish, b.g) : run_all(&b);
    symv_gpu_close(b.g);
    return code;
}

#else

int symv_gpu_all(const symv_wish *wish)
{
    enum { SKIPPED = 77 };
    (void)wish;
    bench_fail("this build has no GPU kernels for SYMV");
    return SKIPPED;
}

#endif
