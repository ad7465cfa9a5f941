/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench symv on the CPU: for each type, triangle, n and way to compute a line with matrices in cache (one of
 * them, again and again) and one with matrices from memory (more of them by turns than any cache holds), each beside
 * a plain read of as many bytes and a peer in the same run, medians and least times: of processor time with one
 * thread, else of the clock. Answers are checked first.
 */
#include "symv.h"

#include "common/parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t ROTATE = (uint64_t)256 << 20; /* several times any shared cache */

struct bench {
    const symv_wish *wish;
    symv_blas *blas;
    int threads;
    symv_data data;
    char *pool;
    uint64_t pool_bytes;
    void *y;
    symv_case present;
    bool cold;
    int turns, turn;
    uint64_t stride;
    uint64_t sum; /* of what the plain read saw */
};
typedef int (*launch_fn)(struct bench *b, int turn);

/* ----------------------------------------------------------------------------------------- operands */

static void *host_alloc(void *context, uint64_t bytes)
{
    (void)context;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void host_free(void *context, void *block)
{
    (void)context;
    free(block);
}

static void unload(struct bench *b)
{
    free(b->pool);
    free(b->y);
    symv_data_free(&b->data);
    b->pool = NULL;
    b->y = NULL;
}

static uint64_t largest(const symv_wish *wish, const symv_kind *kind)
{
    uint64_t most = 4096;
    for (int i = 0; i < wish->sizes; i++)
        if (wish->n[i] > (int64_t)most) most = (uint64_t)wish->n[i];
    return most * most * (uint64_t)lacis_symv_matrix_bytes(kind->type);
}

static int load(struct bench *b, const symv_kind *kind)
{
    const uint64_t stretch = (uint64_t)lacis_symv_matrix_bytes(kind->type) * SYMV_STRETCH;
    const uint64_t most = largest(b->wish, kind);
    unload(b);
    if (symv_data_make(kind, &b->data) != 0) return 1;
    b->pool_bytes = most > ROTATE ? most : ROTATE;
    b->pool = host_alloc(NULL, b->pool_bytes);
    b->y = host_alloc(NULL, (uint64_t)lacis_symv_vector_bytes(kind->type) * SYMV_STRETCH);
    if (b->pool == NULL || b->y == NULL) return bench_fail("out of memory");
    for (uint64_t at = 0; at < b->pool_bytes; at += stretch)
        memcpy(b->pool + at, b->data.matrix, b->pool_bytes - at < stretch ? b->pool_bytes - at : stretch);
    return 0;
}

static void set(struct bench *b, const symv_case *c, bool cold)
{
    const uint64_t bytes =
        (uint64_t)symv_elements(c) * (uint64_t)c->op->matrices * (uint64_t)lacis_symv_matrix_bytes(c->kind->type);
    b->present = *c;
    b->cold = cold;
    b->stride = (bytes + 63) / 64 * 64;
    b->turns = cold ? (int)(b->pool_bytes / b->stride) : 1;
    if (b->turns < 1) b->turns = 1;
}

static const char *matrix(const struct bench *b, int turn)
{
    return b->pool + (uint64_t)(turn % b->turns) * b->stride;
}

/* --------------------------------------------------------------------------------------------- runs */

static int ours(struct bench *b, int turn)
{
    lacis_symv_job job = symv_job(&b->present);
    job.a = matrix(b, turn);
    job.x = b->data.vector;
    job.y = b->y;
    job.threads = b->threads;
    job.host = (lacis_symv_host){.alloc = host_alloc, .free = host_free};
    lacis_symv_status status = lacis_symv_run(&job);
    return status == LACIS_SYMV_OK ? 0 : bench_fail("the kernel answered %d", (int)status);
}

static int peer(struct bench *b, int turn)
{
    symv_blas_run(b->blas, &b->present, matrix(b, turn), b->data.vector, b->y);
    return 0;
}

/* Several lines at a time, as wide as this processor takes them. */
__attribute__((target_clones("avx512f", "avx2", "default"))) static uint64_t words_of(const uint64_t *word,
                                                                                      int64_t count)
{
    enum { TOGETHER = 32 };
    uint64_t sum[TOGETHER] = {0};
    int64_t i = 0;
    for (; i + TOGETHER <= count; i += TOGETHER)
        for (int k = 0; k < TOGETHER; k++)
            sum[k] ^= word[i + k];
    for (; i < count; i++)
        sum[0] ^= word[i];
    for (int k = 1; k < TOGETHER; k++)
        sum[0] ^= sum[k];
    return sum[0];
}

struct reading {
    const uint64_t *from;
    int64_t words;
    _Atomic uint64_t sum;
};

enum { PARTS = 64 };

static int read_part(void *context, int64_t task, int worker)
{
    struct reading *r = context;
    const int64_t part = (r->words + PARTS - 1) / PARTS, first = task * part;
    (void)worker;
    if (first < r->words) r->sum ^= words_of(r->from + first, first + part < r->words ? part : r->words - first);
    return 0;
}

/* As many bytes as the triangle has, one behind the other: column by column they would come slower. */
static int read_bytes(struct bench *b, int turn)
{
    struct reading r = {(const uint64_t *)matrix(b, turn), (int64_t)(symv_triangle_bytes(&b->present) / 8), 0};
    int code = lacis_parallel(b->threads, PARTS, read_part, &r);
    b->sum ^= r.sum;
    return code;
}

/* --------------------------------------------------------------------------------------------- times */

/* One side of a case: how many runs are timed together, those that are too short for the clock, and each time. */
struct side {
    launch_fn launch;
    int each;
    double seconds[BENCH_REPEATS];
};

/* Of one thread the time that it had a processor, as others may want it as well. */
static double seconds_now(const struct bench *b)
{
    struct timespec now;
    if (b->threads > 1 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return bench_now();
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ready(struct bench *b, struct side *side)
{
    const double enough = 2e-3, least = 1e-7;
    if (side->launch(b, 0) != 0 || side->launch(b, 0) != 0) return 1;
    double start = seconds_now(b);
    if (side->launch(b, 0) != 0) return 1;
    double once = seconds_now(b) - start;
    side->each = once > enough ? 1 : (int)(enough / (once + least)) + 1;
    return 0;
}

/* Sides by turns, so that what else the machine does falls on all of them; the medians in their order. */
static int time_sides(struct bench *b, struct side *side, int sides, double *seconds)
{
    const int repeat = b->wish->options->repeat;
    for (int i = 0; i < sides; i++)
        if (ready(b, &side[i]) != 0) return 1;
    for (int round = 0; round < repeat; round++) {
        const int first = b->turn;
        for (int i = 0; i < sides; i++) {
            double start = seconds_now(b);
            for (int j = 0; j < side[i].each; j++)
                if (side[i].launch(b, b->turn++) != 0) return 1;
            side[i].seconds[round] = (seconds_now(b) - start) / side[i].each;
        }
        if ((b->turn - first) % b->turns == 0) b->turn++; /* no side has a matrix of its own */
    }
    for (int i = 0; i < sides; i++)
        seconds[i] = bench_median(side[i].seconds, repeat);
    return 0;
}

static int check(struct bench *b, const symv_reference *reference, launch_fn launch, const char *who)
{
    const symv_case *c = &b->present;
    const uint64_t vectors = (uint64_t)(c->n * c->op->sides * c->op->matrices);
    memset(b->y, 0xff, vectors * (uint64_t)lacis_symv_vector_bytes(c->kind->type)); /* NaN in every type */
    if (launch(b, 0) != 0) return 1;
    return symv_check(c, reference, b->y, who);
}

static int check_all(struct bench *b, const symv_case *c)
{
    symv_reference *reference;
    int code = symv_reference_make(c, &b->data, &reference);
    if (code == 0) code = check(b, reference, ours, "ours");
    if (code == 0 && symv_blas_has(b->blas, c)) code = check(b, reference, peer, "the peer");
    symv_reference_free(reference);
    return code;
}

static int add_points(const struct bench *b, const symv_case *c, double own, double other)
{
    const double flops = 1e-9 * symv_flops(c);
    symv_points *points = b->wish->points;
    if (points == NULL || c->uplo != LACIS_SYMV_LOWER || !b->cold) return 0;
    int code = symv_points_add(points, c->kind, c->n, "lacis", flops / own);
    if (code != 0 || other < 0) return code;
    return symv_points_add(points, c->kind, c->n, c->kind->type == LACIS_SYMV_DD ? "QD" : "OpenBLAS", flops / other);
}

static double least(const struct bench *b, const struct side *side)
{
    double out = side->seconds[0];
    for (int i = 1; i < b->wish->options->repeat; i++)
        if (side->seconds[i] < out) out = side->seconds[i];
    return out;
}

/* The least times beside the medians: on a machine that others use they are what it can do. */
static void add_least(const struct bench *b, symv_line *line, const struct side *side, bool peer_too)
{
    const double own = least(b, &side[0]);
    symv_line_add(line, "least_us", "%.2f", 1e6 * own);
    symv_line_add(line, "least_of_read", NULL, least(b, &side[1]) / own);
    symv_line_add(line, "least_ratio", NULL, peer_too ? own / least(b, &side[2]) : -1);
}

static int time_case(struct bench *b, const symv_case *c)
{
    symv_line line;
    char device[32];
    struct side side[] = {{.launch = ours}, {.launch = read_bytes}, {.launch = peer}};
    double seconds[3] = {-1, -1, -1};
    if (time_sides(b, side, symv_blas_has(b->blas, c) ? 3 : 2, seconds) != 0) return 1;
    const double own = seconds[0], read = seconds[1], other = seconds[2];
    snprintf(device, sizeof device, "cpu%d/%s", b->threads, b->cold ? "memory" : "cache");
    symv_line_begin(&line, c, device);
    symv_line_add(&line, "ours_us", "%.2f", 1e6 * own);
    symv_line_add(&line, "read_us", "%.2f", 1e6 * read);
    symv_line_add(&line, "of_read", NULL, read / own);
    symv_line_add(&line, "gflops", "%.3f", 1e-9 * symv_flops(c) / own);
    symv_line_add(&line, c->kind->type == LACIS_SYMV_DD ? "qd_us" : "openblas_us", "%.2f", 1e6 * other);
    symv_line_add(&line, "ratio", NULL, other < 0 ? -1 : own / other);
    add_least(b, &line, side, other >= 0);
    symv_line_print(b->wish->options, &line);
    return add_points(b, c, own, other);
}

static int run_case(struct bench *b, const symv_case *c)
{
    const double cache = 1.5e6; /* bytes, on one core */
    set(b, c, false);
    if (check_all(b, c) != 0) return 1;
    if (b->wish->points == NULL && symv_triangle_bytes(c) < cache && time_case(b, c) != 0) return 1;
    set(b, c, true);
    return time_case(b, c);
}

static int run_size(struct bench *b, symv_case c, int size)
{
    for (int i = 0; i < SYMV_OPS; i++) {
        c.op = &symv_ops[i];
        c.n = c.op->n != 0 ? c.op->n : b->wish->n[size];
        if (!symv_wanted(b->wish, c.op) || !symv_does(&c, true) || (c.op->n != 0 && size > 0)) continue;
        if (run_case(b, &c) != 0) return 1;
    }
    return 0;
}

int symv_cpu(const symv_wish *wish)
{
    struct bench b = {.wish = wish, .threads = wish->options->threads > 0 ? wish->options->threads : 1};
    int code = symv_blas_open(wish->options->peer, &b.blas);
    symv_blas_threads(b.blas, b.threads);
    for (int k = 0; code == 0 && k < wish->kinds; k++) {
        code = load(&b, wish->kind[k]);
        for (int uplo = 0; code == 0 && uplo < 2; uplo++)
            for (int size = 0; code == 0 && wish->uplo[uplo] && size < wish->sizes; size++)
                code = run_size(&b, (symv_case){.kind = wish->kind[k], .uplo = (lacis_symv_uplo)uplo}, size);
    }
    unload(&b);
    symv_blas_close(b.blas);
    return code;
}
