/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of SWEEP as bind leaves it: the grid, what its fields become (rules.c, canonical.c), edges (edges.c), how
 * many steps and what is watched on the way. Costs (cost.c, gpu_cost.c) and runs (system.h) go by it.
 */
#ifndef LACIS_OPERATORS_SWEEP_WORK_H
#define LACIS_OPERATORS_SWEEP_WORK_H

#include "lacis_extend.h"
#include "sweep/sweep.h"

/* An array that kernels read, as it lies in the catalog: a field of a grid, or a vector for a face. */
typedef struct lacis_sweep_source {
    const lacis_array *array; /* NULL: there is none */
    const char *name;         /* in the statement */
    const void *data;
    lacis_dtype dtype;
    int64_t count;
} lacis_sweep_source;

/* Places in expressions that are no cells; slots of a formula have taps, or these below 0. */
enum { LACIS_SWEEP_PLACES = 4, LACIS_SWEEP_X = -1, LACIS_SWEEP_T = -4 };

/* What a field becomes. */
typedef struct lacis_sweep_formula {
    lacis_sweep_rule rule;
    const lacis_expr *expr; /* typed */
    int slots;
    const int *slot; /* a tap, or LACIS_SWEEP_X .. LACIS_SWEEP_T; LACIS_SWEEP_UNUSED */
    int source;      /* tap of SOURCE, or -1 */
    char shape[32];  /* of a linear one */
    int64_t offset;  /* in the statement */
} lacis_sweep_formula;
enum { LACIS_SWEEP_UNUSED = -5 };

/* What a way is expected to take. */
typedef struct lacis_sweep_estimate {
    bool known;
    double step, copies, once; /* seconds */
    double bytes;              /* over memory, each step */
    double memory;             /* held while it runs */
    int levels;
} lacis_sweep_estimate;
enum { LACIS_SWEEP_SINGLE, LACIS_SWEEP_BLOCKED, LACIS_SWEEP_WAYS };

/* How parts of a grid on ranks or GPUs exchange their borders, where it is asked for (EXCHANGE, PARTS). */
typedef enum lacis_sweep_overlap { LACIS_SWEEP_AS_BEST, LACIS_SWEEP_SYNC, LACIS_SWEEP_ASYNC } lacis_sweep_overlap;
typedef struct lacis_sweep_exchange {
    bool asked; /* there is an EXCHANGE */
    lacis_sweep_overlap overlap;
    int parts, every;                /* at most; steps on an exchange; 0: as is best */
    bool copy;                       /* borders by copies of two dimensions */
    bool host;                       /* through the host's memory, also where GPUs reach each other's */
    const char *to;                  /* a file that gets times of each exchange; NULL: none */
    int64_t every_offset, to_offset; /* in the statement */
} lacis_sweep_exchange;

typedef struct lacis_sweep_work {
    lacis_run *run;
    const char *operand; /* its name; NULL: a call */
    lacis_grid grid;
    lacis_sweep_type type;
    lacis_dtype dtype;
    int coefficients;                                /* behind the fields */
    lacis_sweep_source array[LACIS_SWEEP_ARRAYS];    /* fields, then coefficients */
    lacis_sweep_formula formula[LACIS_SWEEP_FIELDS]; /* of each field */
    lacis_sweep_edge edge[LACIS_SWEEP_FIELDS][LACIS_SWEEP_FACES];
    lacis_sweep_source face[LACIS_SWEEP_FIELDS][LACIS_SWEEP_FACES]; /* of VALUES */
    int64_t steps;
    int64_t check; /* UNTIL looks after each step whose number divides by it; 0: there is no UNTIL */
    int64_t rows;  /* NAME_change has a row of each such step; 0: there is none */
    bool l2;
    double tolerance;
    int64_t keep; /* files after each such step; 0: none */
    const char *to;
    int levels; /* LEVELS; 0: as is best */
    lacis_sweep_exchange exchange;
    lacis_sweep_estimate cpu[LACIS_SWEEP_WAYS], gpu[LACIS_SWEEP_WAYS];
} lacis_sweep_work;

/* --- bind.c */
lacis_status lacis_sweep_bind(lacis_run *run, lacis_call *call);
/* The argument of this call at or behind *from (counted up) that is for `keyword`, or NULL. */
const lacis_arg *lacis_sweep_next(const lacis_call *call, const char *keyword, int *from);
/* --- arrays.c: COEFF and SOURCE; what they are called. */
lacis_status lacis_sweep_bind_arrays(lacis_run *run, const lacis_call *call, lacis_sweep_work *work);
/* Index of a field (a single one is also `u`) or coefficient of that name, or -1. */
int lacis_sweep_field(const lacis_sweep_work *work, const char *name);
int lacis_sweep_array(const lacis_sweep_work *work, const char *name);
/* SOURCE's array for a field, or -1. */
int lacis_sweep_added(const lacis_sweep_work *work, int field);
bool lacis_sweep_same_word(const char *a, const char *b); /* in any case */
/* Names that a word may have been meant as, in a line for hints. */
const char *lacis_sweep_hint(lacis_run *run, const lacis_sweep_work *work, const char *word, bool expression);
/* --- rules.c: STEP. */
lacis_status lacis_sweep_bind_rules(lacis_run *run, const lacis_call *call, lacis_sweep_work *work);
/* --- edges.c: EDGE. Rules are there, for their reach. */
lacis_status lacis_sweep_bind_edges(lacis_run *run, const lacis_call *call, lacis_sweep_work *work);
const char *lacis_sweep_face_name(int face);
const char *lacis_sweep_edge_text(lacis_run *run, const lacis_sweep_work *work, int field, int face);

/* --- input.c: the arrays in the type of the run. */
typedef struct lacis_sweep_input {
    const void *array[LACIS_SWEEP_ARRAYS];
    const void *face[LACIS_SWEEP_FIELDS][LACIS_SWEEP_FACES];
    void *own; /* of those that were converted */
} lacis_sweep_input;
lacis_status lacis_sweep_take(lacis_run *run, const lacis_sweep_work *work, lacis_sweep_input *out);
void lacis_sweep_give(lacis_run *run, lacis_sweep_input *input);
uint64_t lacis_sweep_take_bytes(const lacis_sweep_work *work);
/* What kernels begin with, but for host and, of written rules, cells_context. input NULL: without arrays, for what
 * kernels say of bytes, reach and refusals. */
void lacis_sweep_start_of(const lacis_sweep_work *work, const lacis_sweep_input *input, lacis_sweep_start *out);

/* --- cost.c, gpu_cost.c */
double lacis_sweep_result_bytes(const lacis_sweep_work *work);
double lacis_sweep_rows_bytes(const lacis_sweep_work *work);
/* Bytes that one step moves over memory by itself, and the taps of all rules. */
double lacis_sweep_step_bytes(const lacis_sweep_work *work);
double lacis_sweep_taps(const lacis_sweep_work *work);
/* Steps between two places where the blocks of steps are cut: a check, a file, the end. */
double lacis_sweep_stretch(const lacis_sweep_work *work);
bool lacis_sweep_written(const lacis_sweep_work *work);
bool lacis_sweep_can(const lacis_call *call, int way, char *reason, size_t size);
lacis_status lacis_sweep_cost(lacis_run *run, const lacis_call *call, int way, const lacis_profile *profile,
                              lacis_cost *out);
bool lacis_sweep_gpu_can(const lacis_call *call, int way, char *reason, size_t size);
/* The same, wherever the fields lie: whether there is room is another question. */
bool lacis_sweep_gpu_could(const lacis_call *call, int way, char *reason, size_t size);
lacis_status lacis_sweep_gpu_cost(lacis_run *run, const lacis_call *call, int way, const lacis_profile *profile,
                                  lacis_cost *out);
const char *lacis_sweep_rate_figure(void);
const char *lacis_sweep_tap_figure(lacis_sweep_type type);
/* calibrate.c */
lacis_status lacis_sweep_calibrate(lacis_run *run, lacis_profile *profile);
lacis_status lacis_sweep_gpu_calibrate(lacis_run *run, lacis_profile *profile);
/* explain.c */
lacis_status lacis_sweep_explain(lacis_run *run, const lacis_call *call, lacis_lines *lines);

/* --- variants.c. Those that deal a grid over ranks have their place behind the others. */
enum { LACIS_SWEEP_VARIANTS = 6 };
extern const lacis_variant *const lacis_sweep_variants[LACIS_SWEEP_VARIANTS];

#endif
