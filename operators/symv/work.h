/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV: symmetric and Hermitian matrices times vectors. What bind finds out of a call, and what the files of this
 * folder share.
 */
#ifndef LACIS_OPERATORS_SYMV_WORK_H
#define LACIS_OPERATORS_SYMV_WORK_H

#include "lacis_extend.h"

#include "symv/symv.h"

/* The matrix, or batch of matrices, taken apart (matrix.c). */
typedef struct lacis_symv_matrix {
    const lacis_array *array;
    int64_t offset;   /* in the statement */
    const char *part; /* of the array, that holds the elements */
    const void *data;
    lacis_dtype dtype;
    lacis_symv_uplo uplo;
    bool hermitian, packed;
    int64_t matrices, most; /* most: rows of the largest */
    int64_t n, ld, stride;  /* of each matrix where `one` is NULL */
    const lacis_symv_one *one;
    const int64_t *label; /* of rows and columns; NULL: base, base + 1 ... */
    int64_t base;
    double elements; /* of the triangles */
    bool sparse;     /* a graph (sparse.c) */
} lacis_symv_matrix;

/* x, or the y of ADD, taken apart (vectors.c). A vector is a group of one lane. */
typedef struct lacis_symv_vectors {
    const lacis_array *array; /* NULL: there is none */
    int64_t offset;           /* in the statement */
    const char *part;
    const void *data;
    lacis_dtype storage;
    bool batch;
    bool shared;          /* by the lanes of a group */
    int64_t lanes, block; /* block: the layout, of a batch */
    int64_t groups;
    const lacis_batch_group *group; /* in the run's scratch */
    int64_t count;                  /* of a vector's elements, with labels or from base on */
    const int64_t *label;
    int64_t base;
    bool direct; /* kernels read it where it lies */
} lacis_symv_vectors;

/* A run of the kernels: matrices from `first` on by the vectors from `vector` on. Places and strides count elements
 * as kernels see them. */
typedef struct lacis_symv_piece {
    int64_t first, matrices, sides, vector;
    int64_t place, stride, side, step;
    const lacis_symv_one *one; /* places from the beginning of matrices and vectors; NULL: all are alike */
} lacis_symv_piece;

/* What the planner found that the GPU would take. */
typedef struct lacis_symv_estimate {
    bool known;
    double kernels, copies, once; /* seconds */
    double to_device, to_host;    /* bytes */
} lacis_symv_estimate;

enum { LACIS_SYMV_COLUMNS = 9 };

typedef struct lacis_symv_work {
    lacis_run *run; /* that bound it, for variants' `can` */
    lacis_symv_matrix matrix;
    lacis_symv_vectors x, y;
    bool blank;   /* nothing is wanted, operands may be views of which nothing was computed: only described */
    bool figures; /* in place of the product */
    bool accurate;
    lacis_symv_order order;
    lacis_symv_type type;
    lacis_dtype dtype; /* of x, y and sums */
    bool split;        /* a real matrix and complex vectors: real and imaginary parts are vectors to the kernels */
    double alpha[4], beta[4];
    bool adds; /* beta is not 0 */
    /* Where kernels find elements of x and of y, both lying alike: in x and in the result, or in copies. */
    bool scattered; /* copies, lane beside lane, since no stride goes through x */
    int64_t groups, places;
    const lacis_batch_group *group;
    lacis_symv_piece *piece;
    int64_t pieces;
    lacis_column column[LACIS_SYMV_COLUMNS];
    lacis_symv_estimate gpu;
} lacis_symv_work;

/* bind.c */
lacis_status lacis_symv_bind(lacis_run *run, lacis_call *call);

/* types.c: of sums and vectors, from the operands' and PRECISION. */
lacis_status lacis_symv_bind_types(lacis_run *run, const lacis_call *call, lacis_symv_work *work);
bool lacis_symv_is_complex(lacis_dtype dtype);
bool lacis_symv_is_wide(lacis_dtype dtype); /* dd or cdd */

/* matrix.c */
lacis_status lacis_symv_bind_matrix(lacis_run *run, const lacis_call *call, lacis_symv_matrix *out);
int64_t lacis_symv_rows_of(const lacis_symv_matrix *matrix, int64_t m);

/* vectors.c */
lacis_status lacis_symv_take_vectors(lacis_run *run, const lacis_item *item, const char *role,
                                     lacis_symv_vectors *out);
/* Whether x and y go with the matrix, and which of them lie as kernels can read them. */
lacis_status lacis_symv_bind_shapes(lacis_run *run, lacis_symv_work *work);
/* Elements of x or y, converted, to where kernels want them: all of work->places, zero where there is none. */
lacis_status lacis_symv_gather(lacis_run *run, const lacis_symv_work *work, const lacis_symv_vectors *from, void *to);
/* What kernels wrote lane beside lane into the result, which lies as x does. */
void lacis_symv_scatter(const lacis_symv_work *work, const void *from, void *to);

/* pieces.c */
lacis_status lacis_symv_cut(lacis_run *run, lacis_symv_work *work);
/* The job of a piece, all but pointers; then pointers into memory of either device. */
void lacis_symv_job_of(const lacis_symv_work *work, const lacis_symv_piece *piece, lacis_symv_job *out);
void lacis_symv_point(const lacis_symv_work *work, const lacis_symv_piece *piece, const void *a, const void *x,
                      const void *y0, void *y, lacis_symv_figures *figures, lacis_symv_job *job);

/* run.c: a result to be filled. */
typedef struct lacis_symv_task {
    lacis_run *run;
    const lacis_call *call;
    const lacis_symv_work *work;
    lacis_array *array;          /* the vector or batch; NULL while figures are wanted */
    const void *x, *y0;          /* as kernels read them, on the host; y0 NULL: not read */
    void *y;                     /* for kernels to write; NULL: only figures are wanted */
    void *own_x, *own_y;         /* copies */
    lacis_symv_figures *figures; /* one a vector of the kernels; NULL: not wanted */
    uint64_t y_bytes;            /* of what kernels write */
} lacis_symv_task;
typedef lacis_status (*lacis_symv_compute)(lacis_symv_task *task);
/* Memory for the result, operands as kernels want them, what `compute` makes of them. */
lacis_status lacis_symv_by(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                           lacis_symv_compute compute, lacis_array **out);
/* For the CPU's kernels: memory of the run, and whether it is to stop. What they say of that, and of `bytes` that
 * they asked for, to the user. */
lacis_symv_host lacis_symv_host_of(lacis_run *run);
lacis_status lacis_symv_said(lacis_run *run, lacis_symv_status status, uint64_t bytes);
extern const lacis_variant lacis_symv_cpu;

/* result.c */
lacis_status lacis_symv_describe(lacis_run *run, lacis_call *call, lacis_symv_work *work);
lacis_status lacis_symv_new_result(lacis_run *run, const lacis_symv_work *work, lacis_array **out, void **data);
lacis_status lacis_symv_new_nothing(lacis_run *run, const lacis_call *call, lacis_array **out);
lacis_status lacis_symv_new_table(lacis_run *run, const lacis_symv_work *work, const lacis_symv_figures *figures,
                                  lacis_array **out);

/* cost.c */
lacis_status lacis_symv_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out);
void lacis_symv_vector_memory(const lacis_symv_work *work, lacis_cost *out); /* entries, bytes, peak without work */
double lacis_symv_triangle_bytes(const lacis_symv_work *work);
const char *lacis_symv_figure(lacis_symv_type type, bool side); /* its name in the profile */
const char *lacis_symv_gain_figure(void);
int lacis_symv_threads(const lacis_run *run, const lacis_symv_work *work);
/* calibrate.c */
lacis_status lacis_symv_calibrate(lacis_run *run, lacis_profile *profile);

#endif
