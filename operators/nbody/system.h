/* SPDX-License-Identifier: Apache-2.0
 *
 * A system of bodies in motion, wherever it lives: on the CPU (system_cpu.c), on a GPU (system_gpu.c) or spread over
 * ranks (ranks.c). What runs do with one is the same (steps.c, field.c, search.c). Functions are those of
 * kernels/nbody/nbody.h, with the engine's codes and messages.
 */
#ifndef LACIS_OPERATORS_NBODY_SYSTEM_H
#define LACIS_OPERATORS_NBODY_SYSTEM_H

#include "nbody/work.h"

typedef struct lacis_nbody_system lacis_nbody_system;
typedef struct lacis_nbody_kind {
    lacis_status (*field)(lacis_nbody_system *system, bool potential);
    lacis_status (*steps)(lacis_nbody_system *system, int64_t steps, double dt, bool potential);
    /* Columns of the host behind each other: x, y, z of the points; ax, ay, az (and phi) of the answer. */
    lacis_status (*points)(lacis_nbody_system *system, int64_t points, const void *at, void *out, bool potential);
    lacis_status (*measure)(lacis_nbody_system *system, lacis_nbody_figures *out);
    lacis_status (*certify)(lacis_nbody_system *system, int64_t sample, lacis_nbody_errors *out);
    lacis_status (*read)(lacis_nbody_system *system, const lacis_nbody_columns *into); /* columns of the host */
    void (*set_rule)(lacis_nbody_system *system, const lacis_nbody_rule *rule);
    void (*counted)(lacis_nbody_system *system, lacis_nbody_counts *out);
    void (*free)(lacis_nbody_system *system);
} lacis_nbody_kind;

/* The beginning of each kind's own. */
struct lacis_nbody_system {
    const lacis_nbody_kind *kind;
    lacis_run *run;
    const lacis_call *call;
    const lacis_nbody_work *work;
    lacis_nbody_rule rule;
    bool felt;           /* accelerations of some time are there, which OPENING relative goes by */
    lacis_status failed; /* what a part of its field that was computed elsewhere failed with, and has said; else OK */
};

/* A start with all columns; `threads` and `host` are still to be said. */
lacis_nbody_start lacis_nbody_start_with(const lacis_nbody_work *work, const lacis_nbody_input *input,
                                         lacis_nbody_way way);
/* Codes of kernels on the CPU in the user's words. */
lacis_status lacis_nbody_said(lacis_run *run, lacis_nbody_status status, uint64_t bytes);

/* Makes a system of a call's bodies. */
typedef lacis_status (*lacis_nbody_maker)(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                          lacis_nbody_way way, lacis_nbody_system **out);
lacis_status lacis_nbody_cpu_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                    lacis_nbody_way way, lacis_nbody_system **out);
/* The kernels' own of one on the CPU. */
lacis_nbody *lacis_nbody_cpu_of(lacis_nbody_system *system);
lacis_status lacis_nbody_gpu_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                    lacis_nbody_way way, lacis_nbody_system **out);
/* system.c: another rule from here on. */
void lacis_nbody_rule_set(lacis_nbody_system *system, const lacis_nbody_rule *rule);
/* Brings accelerations up to date. Those of OPENING relative are computed with what a first, crude evaluation gave,
 * where nothing is known from before. */
lacis_status lacis_nbody_refresh(lacis_nbody_system *system, bool potential);
/* Tells EXPLAIN ANALYZE what was done. */
void lacis_nbody_tell_counts(lacis_nbody_system *system);

/* search.c: finds a rule that keeps ERROR, and says which it was. */
lacis_status lacis_nbody_search(lacis_nbody_system *system);

/* run.c: a variant's run. */
lacis_status lacis_nbody_run(lacis_run *run, const lacis_call *call, lacis_nbody_way way, lacis_nbody_maker make,
                             int64_t begin, int64_t end, lacis_array **out);
/* steps.c: NBODY. field.c: ACCELERATE. */
lacis_status lacis_nbody_run_steps(lacis_nbody_system *system, const lacis_nbody_input *input, lacis_array **out);
lacis_status lacis_nbody_run_field(lacis_nbody_system *system, int64_t begin, int64_t end, lacis_array **out);
/* certificate.c: the table NAME_error. */
lacis_status lacis_nbody_attach_errors(lacis_run *run, lacis_array *array, const lacis_nbody_errors *errors);

/* tables.c: a table of `rows` rows; data[i] is where column i is to be written. */
lacis_status lacis_nbody_new_table(lacis_run *run, const lacis_column *column, const lacis_dtype *dtype, int columns,
                                   int64_t rows, lacis_array **out, void **data);

#endif
