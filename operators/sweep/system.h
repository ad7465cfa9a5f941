/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields that are swept, wherever they live: on the CPU (system_cpu.c), on a GPU (system_gpu.c), spread over ranks or
 * several GPUs. What a run does with them is the same: run.c begins and ends it, steps.c goes from one check or file
 * to the next. Functions are those of kernels/sweep/sweep.h, with the engine's codes and messages.
 */
#ifndef LACIS_OPERATORS_SWEEP_SYSTEM_H
#define LACIS_OPERATORS_SWEEP_SYSTEM_H

#include "sweep/work.h"

typedef struct lacis_sweep_system lacis_sweep_system;
typedef struct lacis_sweep_kind {
    /* change: of the last step; NULL: not wanted. steps > 0. */
    lacis_status (*steps)(lacis_sweep_system *system, int64_t steps, lacis_sweep_change *change);
    lacis_status (*read)(lacis_sweep_system *system, void *const *field); /* whole fields, to the host */
    /* The same into a grid's fields, of which copies may stay where they were computed; NULL: there are none. */
    lacis_status (*leave)(lacis_sweep_system *system, const lacis_array *array, const lacis_grid *grid);
    void (*counted)(lacis_sweep_system *system, lacis_sweep_counts *out);
    void (*free)(lacis_sweep_system *system); /* of one half made, too */
    bool parts;                               /* the grid is cut over ranks or GPUs */
} lacis_sweep_kind;

/* The beginning of each kind's own. */
struct lacis_sweep_system {
    const lacis_sweep_kind *kind;
    lacis_run *run;
    const lacis_call *call;
    const lacis_sweep_work *work;
};

/* Makes a system of a call's fields; `levels` steps in a pass, 0: as is best. What it answers in *out is freed by the
 * caller, whatever came of it. */
typedef lacis_status (*lacis_sweep_maker)(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                          int levels, lacis_sweep_system **out);
lacis_status lacis_sweep_cpu_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                    int levels, lacis_sweep_system **out);
lacis_status lacis_sweep_gpu_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                    int levels, lacis_sweep_system **out);
/* Memory of the run for kernels on the CPU. */
lacis_sweep_host lacis_sweep_host_of(lacis_run *run);
/* Codes of kernels in the user's words; bytes: what they take at most. */
lacis_status lacis_sweep_said(lacis_run *run, const lacis_sweep_work *work, lacis_sweep_status status,
                              uint64_t bytes);

/* cells.c: written rules on the CPU, as kernels call them. */
typedef struct lacis_sweep_programs lacis_sweep_programs;
/* *out is NULL where no rule is written. In scratch; _free gives back what is not. */
lacis_status lacis_sweep_programs_new(lacis_run *run, const lacis_sweep_work *work, int threads,
                                      lacis_sweep_programs **out);
void lacis_sweep_programs_free(lacis_run *run, lacis_sweep_programs *programs); /* NULL is fine */
uint64_t lacis_sweep_programs_bytes(const lacis_sweep_work *work, int threads);
bool lacis_sweep_program_cells(void *context, int worker, int field, int n, const void *const *tap, int64_t x,
                               int64_t y, int64_t z, int64_t t, void *out);

/* run.c: a variant's run. */
lacis_status lacis_sweep_run_call(lacis_run *run, const lacis_call *call, lacis_sweep_maker make, int levels,
                                  lacis_array **out);

/* --- change.c: the table NAME_change. */
typedef struct lacis_sweep_changes {
    int64_t count, room;
    struct lacis_sweep_change_row {
        int64_t step;
        double max, l2;
    } * row;
} lacis_sweep_changes;
lacis_status lacis_sweep_changes_add(lacis_run *run, lacis_sweep_changes *changes, int64_t step,
                                     const lacis_sweep_change *change);
void lacis_sweep_changes_free(lacis_run *run, lacis_sweep_changes *changes);
lacis_status lacis_sweep_changes_attach(lacis_run *run, const lacis_sweep_changes *changes, lacis_array *array);

/* --- steps.c: how far a run has come, and how it goes on. */
enum { LACIS_SWEEP_SOME = 24 }; /* steps at once, at least */
typedef struct lacis_sweep_motion {
    lacis_sweep_system *system;
    int64_t step; /* of the grid */
    lacis_sweep_changes changes;
    bool measured, reached;
    double max, l2; /* of the step that was measured last */
    int64_t some;   /* steps that kernels are asked for at once */
} lacis_sweep_motion;
lacis_status lacis_sweep_go(lacis_sweep_motion *motion);
double lacis_sweep_now(void); /* seconds, of a clock that only goes on */

/* --- keep.c: the fields as a grid (leave: one that later statements will read), and as a file of KEEP. */
lacis_status lacis_sweep_grid_at(lacis_sweep_system *system, int64_t step, bool leave, lacis_array **out);
lacis_status lacis_sweep_keep(lacis_sweep_system *system, int64_t step);

#endif
