/* SPDX-License-Identifier: Apache-2.0
 *
 * Closures on a CUDA device: the state of a block of sources (a cell for every end vertex), what changed in the last
 * round, and the two ways in which a round goes on from there. Also what POWER needs of loose rows between rounds.
 * Called by operators/power's variant "gpu"; gpu.h says what memory and streams mean, and does the products.
 *
 * A round, semi-naive: what changed is multiplied by the graph and offered to the cells; a cell takes what is new or
 * better and is marked. Either lacis_mul_gpu_closure_rows gives what changed as a matrix, lacis_mul_gpu_run
 * multiplies it, and lacis_mul_gpu_closure_offer offers the product; or lacis_mul_gpu_closure_push does all of it at
 * once, each path by one atomic, which pays while few paths start from what changed. lacis_mul_gpu_closure_look, in
 * between, says how many those are. MIN and MAX: the better value; FIRST: the one that is there stays.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_CLOSURE_H
#define LACIS_KERNELS_MULTIPLY_GPU_CLOSURE_H

#include "multiply/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lacis_mul_gpu_closure {
    /* The caller's: */
    int64_t rows;          /* sources */
    lacis_mul_matrix a;    /* the graph; device pointers; values of `type` or none */
    uint64_t entries;      /* of a, or more */
    lacis_mul_con con;     /* built in, or LACIS_MUL_CON_STRIPS: then push cannot */
    lacis_mul_agg agg;     /* MIN, MAX or FIRST */
    lacis_mul_type type;   /* of cells; greatest (MIN) or least (MAX) integers cannot be told from none */
    void *stream, *pinned; /* as a job's */
    lacis_mul_gpu_memory memory;
    /* lacis_mul_gpu_closure's own: */
    char *block; /* cells, marks, counts ... */
    uint64_t units, scan_bytes;
    int processors, cuda_error;
} lacis_mul_gpu_closure;

/* What changed in the last round. */
typedef struct lacis_mul_gpu_changes {
    uint64_t entries, products; /* cells; entries of the graph behind them */
    uint64_t most;              /* integers: the greatest absolute value among them */
} lacis_mul_gpu_changes;

/* Bytes of device memory a source takes, cells and marks. */
uint64_t lacis_mul_gpu_closure_row_bytes(int64_t cols, lacis_mul_type type);
/* Takes and clears the block; end gives it back. On a failure of any call the caller calls end as well. */
lacis_mul_gpu_status lacis_mul_gpu_closure_begin(lacis_mul_gpu_closure *closure);
void lacis_mul_gpu_closure_end(lacis_mul_gpu_closure *closure);
/* Candidates: loose rows, at most one for a cell; value of `type`, NULL: all 1. Only launches. */
lacis_mul_gpu_status lacis_mul_gpu_closure_offer(lacis_mul_gpu_closure *closure, const int64_t *begin,
                                                 const int64_t *end, const uint32_t *column, const void *value);
/* Waits. */
lacis_mul_gpu_status lacis_mul_gpu_closure_look(lacis_mul_gpu_closure *closure, lacis_mul_gpu_changes *out);
/* Both take the marks off. rows: changes as rows, columns rising, one behind the other, in *out, whose blocks are one
 * allocation that begins at out->begin and now the caller's. Both only launch. */
lacis_mul_gpu_status lacis_mul_gpu_closure_rows(lacis_mul_gpu_closure *closure, const lacis_mul_gpu_changes *changes,
                                                lacis_mul_matrix *out);
lacis_mul_gpu_status lacis_mul_gpu_closure_push(lacis_mul_gpu_closure *closure, const lacis_mul_gpu_changes *changes);
/* Several rounds pushed one after the other without a wait in between, for small blocks: no round may have more than
 * LACIS_MUL_GPU_FEW paths (sources times edges) or cells. before[i]: what changed before round i; none: it and those
 * behind it did nothing. Waits. */
enum { LACIS_MUL_GPU_ROUNDS = 4, LACIS_MUL_GPU_FEW = 1 << 25 };
lacis_mul_gpu_status lacis_mul_gpu_closure_pushes(lacis_mul_gpu_closure *closure, int rounds,
                                                  lacis_mul_gpu_changes *before);
/* All cells as rows: begin and end (the caller's, of closure.rows each); column and value become the caller's. Waits.
 */
lacis_mul_gpu_status lacis_mul_gpu_closure_result(lacis_mul_gpu_closure *closure, int64_t *begin, int64_t *end,
                                                  uint32_t **column, void **value, uint64_t *entries);

/* Figures of loose rows. */
typedef struct lacis_mul_gpu_facts {
    uint64_t entries, degree; /* of all rows; of the longest */
    uint64_t most;            /* integers: the greatest absolute value */
    bool finite;              /* reals: every value is */
    int cuda_error;
} lacis_mul_gpu_facts;
/* value NULL: all 1. Waits. memory as a job's. */
lacis_mul_gpu_status lacis_mul_gpu_rows_look(const lacis_mul_matrix *rows, const lacis_mul_gpu_memory *memory,
                                             void *stream, lacis_mul_gpu_facts *out);
/* count values, from one storage to another; NULL becomes 1. Only launches; answers a cudaError_t. */
int lacis_mul_gpu_convert(const void *from, lacis_mul_storage from_type, uint64_t count, void *to,
                          lacis_mul_storage to_type, void *stream);

#ifdef __cplusplus
}
#endif

#endif
