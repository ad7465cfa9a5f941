/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench: what its families share. A family is a table entry in bench.c and a file with its cases: it checks the
 * answer first, then times ours and the peer's in turn in one process and prints one line a case.
 */
#ifndef LACIS_BENCH_H
#define LACIS_BENCH_H

#include "lacis.h"

#include <stdbool.h>

typedef struct bench_options {
    const char *graph; /* rmat:SCALE, uniform:SCALE or a file */
    const char *op;
    const char *type;   /* f32, f64 */
    const char *device; /* cpu, gpu */
    const char *peer;   /* graphblas, lapack, none */
    int threads, repeat;
    bool json;
} bench_options;

typedef struct bench_family {
    const char *name;
    const char *help;
    int (*run)(const bench_options *options); /* exit code */
} bench_family;

int bench_multiply(const bench_options *options);
int bench_solve(const bench_options *options);

/* ---------------------------------------------------------------------------------------- measuring */

enum { BENCH_REPEATS = 99 };
typedef struct bench_times {
    double ours[BENCH_REPEATS], peer[BENCH_REPEATS];
    int count;
    bool has_peer;
} bench_times;

double bench_now(void); /* seconds */
double bench_median(double *values, int count);

/* One line. Figures below zero are left out. */
typedef struct bench_line {
    char name[160];
    const char *peer;
    double ours_s, peer_s, products, entries, peak_mb, entry_bytes;
    double entry_ns; /* 0: left out */
} bench_line;
void bench_print(const bench_options *options, const bench_line *line);

/* "lacis-bench: ..." on stderr; returns 1. */
int bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------------------------------- graphs */

typedef struct bench_graph {
    int64_t n, entries;
    int64_t *offsets; /* n + 1 */
    uint32_t *columns;
    float *value32; /* small whole numbers, so that sums and orders are exact in either type */
    double *value64;
} bench_graph;
/* rmat:S, uniform:S, or a file that the engine loads. 0, or an exit code after a message. */
int bench_graph_make(const char *name, bench_graph *out);
void bench_graph_free(bench_graph *graph);

/* -------------------------------------------------------------------------------------------- peers */

/* What two sides must agree in: the number of entries, and a sum over them that does not depend on order. */
typedef struct bench_digest {
    uint64_t entries, sum;
} bench_digest;
static inline void bench_digest_add(bench_digest *digest, uint64_t row, uint64_t column, double value)
{
    union {
        double real;
        uint64_t bits;
    } v = {.real = value + 0.0};
    uint64_t z = (row << 32 ^ column) * 0x9e3779b97f4a7c15u + v.bits;
    z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
    digest->entries++;
    digest->sum += z ^ (z >> 32);
}

typedef enum bench_op { BENCH_PAIR, BENCH_MINPLUS, BENCH_USER, BENCH_TOP10, BENCH_SOURCE, BENCH_OPS } bench_op;

/* One peer library for products of graphs. */
const char *bench_peer_name(void); /* NULL: none is linked */
int bench_peer_open(const bench_graph *graph, bool f64, int threads);
/* Computes and finishes (sorts) the product, seconds in *seconds; source: the row of BENCH_SOURCE. digest may be
 * NULL. */
int bench_peer_run(bench_op op, int64_t source, double *seconds, bench_digest *digest);
void bench_peer_close(void);

#endif
