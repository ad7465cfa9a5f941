/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench: what its families share. A family is a table entry in bench.c and a file with its cases: it checks the
 * answer first, then times ours and the peer's in turn in one process and prints one line a case.
 */
#ifndef LACIS_BENCH_H
#define LACIS_BENCH_H

#include "lacis.h"

#include <stdbool.h>

enum { BENCH_GRAPHS = 64 };
typedef struct bench_options {
    const char *graph[BENCH_GRAPHS]; /* rmat:SCALE, uniform:SCALE or a file */
    int graphs;
    const char *op;     /* one or several with commas between; NULL: all */
    const char *type;   /* f32, f64; symv: a list, NULL: the usual ones */
    const char *device; /* cpu, gpu */
    const char *peer;   /* graphblas, cusparse, none; NULL: what there is for the device */
    /* symv, nbody and sweep: a list of n; symv: triangles; a picture and its points; a tuning's file; sizes of
     * --regret (0: none) */
    const char *n, *uplo, *picture, *plot, *database;
    const char *way;        /* sweep: plain, blocked; NULL: both */
    const char *experiment; /* sweep: over ranks or GPUs; NULL: none */
    int threads, repeat, gpus, regret;
    bool json;
} bench_options;

typedef struct bench_family {
    const char *name;
    const char *help;
    int (*run)(const bench_options *options); /* exit code */
} bench_family;

int bench_multiply(const bench_options *options);
int bench_choose(const bench_options *options);
int bench_figures(const bench_options *options);
int bench_gpus(const bench_options *options);
int bench_simulate(const bench_options *options);
int bench_simulate_gpu(const bench_options *options);
int bench_solve(const bench_options *options);
int bench_symv(const bench_options *options);
int bench_nbody(const bench_options *options);
int bench_sweep(const bench_options *options);
int bench_sweep_experiment(const bench_options *options);
int bench_solve_gpu(const bench_options *options); /* solve on the GPU: 77 where there is none */

/* measure.c ------------------------------------------------------------------------------- measuring */

enum { BENCH_REPEATS = 99 };
double bench_now(void); /* seconds */
double bench_median(double *values, int count);

/* "lacis-bench: ..." on stderr; returns 1. */
int bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* timing.c ---------------------------------------------------------------------------------- lines */

typedef struct bench_timing {
    char name[160];
    const char *peer;
    double ours_s, peer_s; /* peer_s < 0: none */
    double units;          /* unknowns, compartments times steps ... of one run; < 0: not counted */
    double steps;          /* of one run; 0: there are none */
    double one_s;          /* one GPU's time, where ours_s is that of several; 0: it is one's */
} bench_timing;
void bench_print_timing(const bench_options *options, const bench_timing *timing);

/* graphs.c ----------------------------------------------------------------------------------- graphs */

typedef struct bench_graph {
    int64_t n, entries;
    int64_t *offsets; /* n + 1 */
    uint32_t *columns;
    /* Whole numbers, so that sums and orders are exact in either type: 1 to 1000, and 1 to 8 where they are
     * multiplied and summed. */
    float *value32, *small32;
    double *value64, *small64;
} bench_graph;
/* rmat:S, uniform:S, or a file that the engine loads. 0, or an exit code after a message. */
int bench_graph_make(const char *name, bench_graph *out);
void bench_graph_free(bench_graph *graph);
const char *bench_graph_label(const char *name); /* a file without its folder */

/* cases.c ------------------------------------------------------------------------------------- cases */

typedef enum bench_op {
    BENCH_PAIR,
    BENCH_MINPLUS,
    BENCH_TIMES,
    BENCH_USER,
    BENCH_TOP10,
    BENCH_FOLD16,
    BENCH_SOURCE,
    BENCH_OPS
} bench_op;
enum { BENCH_TOP = 10, BENCH_SOURCES = 16 };
extern const char *const bench_op_name[BENCH_OPS], *const bench_op_clauses[BENCH_OPS];
/* The array that an op multiplies: "g" with values from 1 to 1000, "h" from 1 to 8. */
const char *bench_op_array(bench_op op);
/* Whether `name` is in a list with commas between. */
bool bench_listed(const char *list, const char *name);
/* Whether the list of --op names it; an unknown name anywhere in it is a message and false in *good. */
bool bench_op_wanted(const bench_options *options, bench_op op);
bool bench_ops_known(const bench_options *options);
/* Rows that have entries, for BENCH_SOURCE. */
void bench_sources(const bench_graph *graph, int64_t *source);
double bench_products(const bench_graph *graph, bench_op op, const int64_t *source);
/* Arrays g and h in an engine. */
int bench_engine_open(const bench_graph *graph, const bench_options *options, const char *path, lacis_engine **out);
int bench_engine_array(lacis_engine *engine, const bench_graph *graph, bool f64, bool small);

/* digest.c ------------------------------------------------------------------------------------ answers */

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
/* Rows in memory: row r (whose number is first + r) is [begin[r], end[r]). Two parts a value (LACIS_C128: distance
 * and number of paths) count as one number. On all processors. */
typedef struct bench_rows {
    int64_t first, rows;
    const int64_t *begin, *end;
    const uint32_t *column;
    const void *value;
    lacis_dtype storage;
} bench_rows;
int bench_digest_rows(const bench_rows *rows, bench_digest *digest);
int bench_digest_array(const lacis_array *array, int64_t first, bench_digest *digest);
/* The answer by a plain loop; sources: the rows of BENCH_SOURCE. */
int bench_digest_plain(const bench_graph *graph, bench_op op, const int64_t *source, bench_digest *digest);

/* peers.c -------------------------------------------------------------------------------------- peers */

/* One library for products of graphs. Its functions answer 0, or 1 after a message. */
typedef struct bench_peer {
    const char *name;
    int (*open)(const bench_graph *graph, bool f64, int threads);
    /* The product of that op, or the nearest that the library has; false: it has none like it. */
    bool (*has)(bench_op op);
    /* Computes and finishes the product, seconds in *seconds; source: the row of BENCH_SOURCE. digest may be NULL. */
    int (*run)(bench_op op, int64_t source, double *seconds, bench_digest *digest);
    const char *(*detail)(void); /* the name with its algorithm; NULL: nothing to say */
    void (*close)(void);
} bench_peer;
/* NULL, with the reason: it is not in this build or on this machine. */
const bench_peer *bench_peer_find(const char *name, char *reason, size_t size);
#ifdef LACIS_BENCH_CUSPARSE
extern const bench_peer bench_peer_cusparse;
#endif

/* resident*.c: MULTIPLY's kernels alone on GPUs, from operands on each to the result's rows there. */
typedef struct bench_resident bench_resident;
/* On up to so many GPUs. *out is NULL where there is none; why. */
int bench_resident_open(const bench_graph *graph, bool f64, int gpus, bench_resident **out, char *reason,
                        size_t size);
int bench_resident_gpus(const bench_resident *resident); /* that it has */
/* Readies an op: compiled if it is written, operands sent. *why: the GPU does not do it. */
int bench_resident_begin(bench_resident *resident, bench_op op, char *why, size_t size);
/* Shared by the first so many of its GPUs; a source's row is one GPU's. */
int bench_resident_run(bench_resident *resident, int gpus, int64_t source, double *seconds, bench_digest *digest);
double bench_resident_bytes(const bench_resident *resident); /* of the last result's entries */
void bench_resident_end(bench_resident *resident);
/* Bytes read and written a second by a large copy on the first device; 0: it failed. */
double bench_resident_copy_rate(bench_resident *resident);
void bench_resident_close(bench_resident *resident);

#endif
