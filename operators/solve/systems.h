/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE: batches of tridiagonal systems and of trees (Hines). What bind finds out of a call, and what the files of
 * this folder share.
 */
#ifndef LACIS_OPERATORS_SOLVE_SYSTEMS_H
#define LACIS_OPERATORS_SOLVE_SYSTEMS_H

#include "lacis_extend.h"

#include "solve/solve.h"

/* An operand: its array taken apart. */
typedef struct lacis_systems {
    const lacis_array *array;
    lacis_batch batch;
} lacis_systems;

/* What the planner found that the GPU would take, by the way that takes its kernels least. */
typedef struct lacis_solve_estimate {
    bool known;
    double kernels, copies, once; /* seconds */
    double to_device, to_host;    /* bytes */
    double traffic, floor;        /* bytes of the GPU's memory that move; that must */
} lacis_solve_estimate;

enum { LACIS_SOLVE_COLUMNS = 5 }; /* parent, value, value_im, status, residual */

enum { LACIS_SOLVE_LOWER, LACIS_SOLVE_DIAGONAL, LACIS_SOLVE_UPPER, LACIS_SOLVE_RIGHT, LACIS_SOLVE_ROLES };

typedef struct lacis_solve {
    lacis_run *run;            /* that bound it, for variants' `can` */
    lacis_systems matrix, rhs; /* the same without BY */
    const lacis_systems *like; /* whose lanes, groups and labels the result has */
    bool tree;
    bool one;   /* one matrix for all lanes of rhs (of each group) */
    bool blank; /* an operand is a view of which nothing was computed: the call is only described */
    bool status, residual;
    bool in_place; /* the right side's memory is the result's, where that is asked for whole */
    lacis_solve_type type;
    lacis_solve_field lower, diagonal, upper, right;
    const char *part[LACIS_SOLVE_ROLES]; /* their names, in this order */
    int64_t block;                       /* layout of the result */
    const int64_t *chosen;               /* lanes wanted, rising; NULL: those from `first` on */
    int64_t first;
    lacis_column column[LACIS_SOLVE_COLUMNS];
    lacis_solve_estimate gpu;
    const lacis_solve_job *whole; /* lacis_solve_whole_job's */
} lacis_solve;

/* bind.c */
lacis_status lacis_solve_bind(lacis_run *run, lacis_call *call);
/* The lane, counted in `like`, of a unit. */
static inline int64_t lacis_solve_lane(const lacis_solve *work, int64_t unit)
{
    return work->chosen != NULL ? work->chosen[unit] : work->first + unit;
}
int64_t lacis_solve_fit(const lacis_call *call, int64_t begin, uint64_t bytes);

/* result.c: an array for lanes [begin, end) of `like`, without fields, and taken apart. */
lacis_status lacis_solve_shape(lacis_run *run, const lacis_solve *work, int64_t begin, int64_t end, lacis_array **out,
                               lacis_batch *batch);

/* job.c: the kernel's view of lanes [begin, end): groups in the run's scratch, x where `result` has its places. */
lacis_status lacis_solve_job_of(lacis_run *run, const lacis_solve *work, int64_t begin, int64_t end,
                                const lacis_batch *result, lacis_solve_job *out);

/* Of all lanes, x as if it lay like `like`: what estimates go by. Made once a call. */
lacis_status lacis_solve_whole_job(lacis_run *run, lacis_solve *work, const lacis_solve_job **out);
const lacis_batch_group *lacis_solve_matrix_group(const lacis_solve *work, int64_t g); /* for group g of `like` */

/* run.c: a result to be filled, lanes [first, stop) of `like`. */
typedef struct lacis_solve_task {
    lacis_run *run;
    const lacis_call *call;
    const lacis_solve *work;
    int64_t first, stop;
    lacis_array *array;
    lacis_buffer *right;  /* IN PLACE: the right sides' memory, which is x's as well; NULL: x has its own */
    lacis_batch shape;    /* of the array, its fields not yet among them */
    lacis_solve_job job;  /* x, residual, status: memory for them, the last in words by lane */
    unsigned char *marks; /* the column status: made from the words, unless compute has filled it */
    bool marked;
} lacis_solve_task;
typedef lacis_status (*lacis_solve_compute)(lacis_solve_task *task);
/* Memory for the result of units [begin, end), what `compute` makes of it, the status column. */
lacis_status lacis_solve_by(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                            lacis_solve_compute compute, lacis_array **out);
/* inplace.c: solves task->job in blocks of lanes, each written over its right sides. */
lacis_status lacis_solve_in_place(lacis_solve_task *task, lacis_buffer *right);
uint64_t lacis_solve_in_place_bytes(const lacis_solve *work); /* that it takes besides */
/* One run on the CPU with its errors; lanes of the job are those of the task from `lane` on. */
lacis_status lacis_solve_on_cpu(lacis_solve_task *task, int64_t lane, lacis_solve_job *job, lacis_solve_output *out);
extern const lacis_variant lacis_solve_cpu;
/* ranks.c */
extern const lacis_variant lacis_solve_ranks, lacis_solve_ranks_gpu;
lacis_status lacis_solve_explain_ranks(lacis_run *run, const lacis_solve *work, lacis_lines *lines);
/* The error that a lane of `like` is, and how it is bad. */
lacis_status lacis_solve_say_bad(lacis_run *run, const lacis_call *call, int64_t lane, int64_t word);

/* cost.c */
lacis_status lacis_solve_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out);
const char *lacis_solve_figure(bool tree, bool flat, bool factored); /* its name in the profile */
/* Bytes a second that all threads read and write where systems are beyond the caches. */
#define LACIS_SOLVE_MEMORY_FIGURE "solve.memory_bytes_a_second"
/* calibrate.c */
lacis_status lacis_solve_calibrate(lacis_run *run, lacis_profile *profile);
/* Seconds for pages of a result that are touched for the first time. */
double lacis_solve_touches(const lacis_run *run, double bytes);

#endif
