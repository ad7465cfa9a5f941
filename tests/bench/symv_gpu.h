/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU's part of lacis-bench symv: symv_device.c (operands on the device, runs and their times), peer_cublas.c,
 * symv_gpu.c (cases, lines), symv_regret.c (defaults and tables against an exhaustive search). Functions answer 0, or
 * 1 after a message.
 */
#ifndef LACIS_BENCH_SYMV_GPU_H
#define LACIS_BENCH_SYMV_GPU_H

#include "symv.h"

#include "symv/gpu.h"
#include "symv/measure.h"

typedef struct symv_cublas symv_cublas;

/* The operands of one type: a pool of the stretch over and over, in which the matrices of a case lie behind each
 * other as often as it takes for no cache to hold them. */
typedef struct symv_gpu {
    void *stream;
    lacis_symv_clock *clock;
    symv_cublas *cublas; /* NULL: none */
    int processors, runs;
    symv_data data;
    void *pool, *x, *y, *never, *host_y, *copy; /* copy: where symv_gpu_copy writes */
    uint64_t pool_bytes, vector_bytes;
    symv_case present;
    symv_reference *reference;
    int turns;       /* the matrices that rotate */
    uint64_t stride; /* bytes from one to the next */
    const lacis_symv_gpu_choice *choice;
    int loads; /* of the plain read */
} symv_gpu;

int symv_gpu_open(symv_gpu **out, int runs, char *reason, size_t size); /* *out NULL: there is no GPU */
void symv_gpu_close(symv_gpu *g);                                       /* NULL is fine */
/* Operands for matrices up to so many bytes. */
int symv_gpu_load(symv_gpu *g, const symv_kind *kind, uint64_t largest);
void symv_gpu_set(symv_gpu *g, const symv_case *c); /* the present case; the default choice */
const void *symv_gpu_matrix(const symv_gpu *g, int turn);

/* One run of something with the matrix of that turn, put onto the stream. A cudaError_t, or negative: another
 * failure, after its message. */
typedef int (*symv_gpu_launch)(symv_gpu *g, int turn);
int symv_gpu_ours(symv_gpu *g, int turn);
int symv_gpu_read(symv_gpu *g, int turn);
int symv_gpu_copy(symv_gpu *g, int turn);
/* The median of runs, the first of which are not counted. */
int symv_gpu_time(symv_gpu *g, symv_gpu_launch launch, int runs, double *seconds);
/* Runs once into a y of NaN, and holds y against the reference. */
int symv_gpu_check(symv_gpu *g, symv_gpu_launch launch, const char *who);
const char *symv_gpu_refuses(const symv_gpu *g); /* the present case with the present choice */

int symv_cublas_open(void *stream, const char *wanted, symv_cublas **out); /* *out NULL: it is not here */
void symv_cublas_close(symv_cublas *cublas);                               /* NULL is fine */
bool symv_cublas_has(const symv_cublas *cublas, const symv_case *c);
int symv_cublas_atomics(symv_cublas *cublas, bool allowed);
int symv_gpu_cublas(symv_gpu *g, int turn); /* symv, hemv, spmv, hpmv, symm, as the case says */
int symv_gpu_gemv(symv_gpu *g, int turn);
int symv_cublas_run(symv_cublas *cublas, const symv_case *c, const void *a, const void *x, void *y);
int symv_cublas_gemv(symv_cublas *cublas, const symv_case *c, const void *a, const void *x, void *y);

/* symv_regret.c. Takes the choice that the database's table has for the present case, if it can do it; nothing where
 * the database is NULL. */
int symv_gpu_tuned(const char *database, symv_gpu *g, lacis_symv_gpu_choice *out);
int symv_regret(const symv_wish *wish, symv_gpu *g);

#endif
