/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of lacis-bench symv share: cases, operands and answers (symv_data.c), lines (symv_line.c), the CPU's
 * part (symv_cpu.c, symv_blas.c) and the GPU's (symv_gpu.h).
 */
#ifndef LACIS_BENCH_SYMV_H
#define LACIS_BENCH_SYMV_H

#include "bench.h"

#include "symv/symv.h"

typedef struct symv_kind {
    const char *name, *letter;
    lacis_symv_type type;
    double unit; /* of rounding */
} symv_kind;
extern const symv_kind symv_kinds[LACIS_SYMV_TYPES];

/* A way to compute: what a line is about. */
typedef struct symv_op {
    const char *name;
    lacis_symv_order order;
    bool packed, accurate, symmetric;
    int sides;
    int64_t matrices, n;   /* n: not 0 where the op has its own */
    bool cpu, complex, dd; /* on the CPU as well; for complex types, for double-double alone */
} symv_op;
enum { SYMV_OPS = 8 };
extern const symv_op symv_ops[SYMV_OPS]; /* "fixed" first */

typedef struct symv_case {
    const symv_kind *kind;
    const symv_op *op;
    lacis_symv_uplo uplo;
    int64_t n;
} symv_case;
bool symv_does(const symv_case *c, bool cpu);   /* whether the op is for the type and device */
int64_t symv_elements(const symv_case *c);      /* of one matrix as stored */
double symv_triangle_bytes(const symv_case *c); /* of all matrices of a run */
double symv_flops(const symv_case *c);
bool symv_hermitian(const symv_case *c);
/* The job but for pointers: contiguous vectors, side behind side, matrix behind matrix. */
lacis_symv_job symv_job(const symv_case *c);

/* symv_data.c: random numbers that matrices and vectors repeat over and over, both triangles full of them, so that
 * whoever reads a wrong element has a wrong answer. */
enum { SYMV_STRETCH = 1048573 }; /* elements; prime */
typedef struct symv_data {
    const symv_kind *kind;
    void *matrix, *vector; /* SYMV_STRETCH elements of either type; a vector begins with the stretch */
} symv_data;
int symv_data_make(const symv_kind *kind, symv_data *out);
void symv_data_free(symv_data *data);
/* Some rows of the first matrix's product with the first vector in __float128, to hold answers against. */
typedef struct symv_reference symv_reference;
int symv_reference_make(const symv_case *c, const symv_data *data, symv_reference **out);
void symv_reference_free(symv_reference *reference);
/* y lies contiguous, side behind side, matrix behind matrix; all of it is looked at for what was not written, which
 * held NaN. `who` for the message. */
int symv_check(const symv_case *c, const symv_reference *reference, const void *y, const char *who);

/* symv_line.c */
typedef struct symv_line {
    char name[120];
    struct {
        const char *name, *format;
        double value;
    } figure[20];
    int figures;
} symv_line;
void symv_line_begin(symv_line *line, const symv_case *c, const char *device);
/* format NULL: "%.3f". A negative value is left out. */
void symv_line_add(symv_line *line, const char *name, const char *format, double value);
void symv_line_print(const bench_options *options, const symv_line *line);

/* The picture's points: GFLOPS of a type at n. */
typedef struct symv_points symv_points;
int symv_points_open(const char *csv, symv_points **out);
int symv_points_add(symv_points *points, const symv_kind *kind, int64_t n, const char *who, double gflops);
int symv_points_close(symv_points *points); /* NULL is fine */

/* symv_cpu.c, symv_gpu.c: every wanted case; points NULL: no picture. */
typedef struct symv_wish {
    const bench_options *options;
    const symv_kind *kind[LACIS_SYMV_TYPES];
    int kinds;
    int64_t n[64];
    int sizes;
    bool uplo[2];
    symv_points *points;
} symv_wish;
bool symv_wanted(const symv_wish *wish, const symv_op *op);
int symv_cpu(const symv_wish *wish);
int symv_gpu_all(const symv_wish *wish); /* 77: there is none */
int symv_statements(const symv_wish *wish);

/* symv_blas.c: OpenBLAS, where it is. */
typedef struct symv_blas symv_blas;
int symv_blas_open(const char *wanted, symv_blas **out); /* *out NULL: it is not here */
void symv_blas_threads(symv_blas *blas, int threads);
bool symv_blas_has(const symv_blas *blas, const symv_case *c);
void symv_blas_run(const symv_blas *blas, const symv_case *c, const void *a, const void *x, void *y);
void symv_blas_close(symv_blas *blas);

#endif
