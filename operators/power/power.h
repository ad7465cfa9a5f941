/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER: repeated products R := R BY a, a given number of times (rounds.c) or until nothing changes (closure.c). Each
 * starts from the selected rows of a alone, so that few sources cost only what their own paths cost.
 */
#ifndef LACIS_OPERATORS_POWER_H
#define LACIS_OPERATORS_POWER_H

#include "multiply/bind.h"

typedef struct lacis_power {
    lacis_csr a;         /* the graph; without values where only paths count */
    lacis_product start; /* its selected rows: start.a, with labels start.s */
    lacis_product first; /* the first product, for checks and EXPLAIN; empty where there is none */
    bool stable;
    int64_t rounds;          /* TO k; UNTIL STABLE: WITHIN k, or 0 */
    bool walks;              /* AGG count: later rounds add counts up */
    lacis_product_spec spec; /* of a round, but for its a */
    lacis_dtype type;        /* UNTIL STABLE: of values between rounds */
    lacis_dtype dtype;       /* of the result */
    lacis_buffer *row_labels, *col_labels;
    lacis_run *run;         /* for the GPU's can, which is asked without one */
    lacis_sent sent;        /* to the GPU */
    const int64_t *aligned; /* likewise (gpu_graph.c): begins and ends of rows where columns are; NULL: not made */
    const void *wide;       /* likewise: complex values in double precision */
    bool costed;            /* cost and expected_rounds are known */
    lacis_cost cost;
    double expected_rounds;
} lacis_power;

/* A result on its way: rows as of the start, with columns of a. */
typedef struct lacis_power_rows {
    lacis_product_result rows;
    lacis_dtype storage;
    int64_t done; /* rounds */
    double share; /* of the sources that are settled, for progress */
    uint64_t products;
} lacis_power_rows;

/* Both take rows of a (any view with labels) and fill *out; released with lacis_product_release(&out->rows). */
lacis_status lacis_power_rounds(lacis_run *run, const lacis_power *work, const lacis_csr *start,
                                lacis_power_rows *out);
lacis_status lacis_power_closure(lacis_run *run, const lacis_power *work, const lacis_csr *start,
                                 lacis_power_rows *out);

/* A view of selected rows [begin, end), to start from. */
lacis_csr lacis_power_start(const lacis_power *work, int64_t begin, int64_t end);
/* The call's result out of *rows, which is released. */
lacis_status lacis_power_array(lacis_run *run, const lacis_power *work, int64_t begin, int64_t end,
                               lacis_power_rows *rows, lacis_array **out);
/* closure.c: errors that all variants tell. */
lacis_status lacis_power_endless(lacis_run *run, const lacis_power *work, int64_t rounds);
lacis_status lacis_power_too_large(lacis_run *run, lacis_status status);

/* bind.c */
lacis_status lacis_power_bind(lacis_run *run, lacis_call *call);
void lacis_power_unbind(lacis_run *run, lacis_call *call);

/* cost.c: runs a few of the rows, once a call; where few are wanted and a GPU might take them, it only guesses. */
lacis_status lacis_power_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out);

/* gpu.c */
extern const lacis_variant lacis_power_gpu_variant;
bool lacis_power_gpu_can(const lacis_call *call, char *reason, size_t size);
/* Seconds there, of a work whose rounds (expected_rounds), paths, entries and bytes are known or guessed. */
double lacis_power_gpu_seconds(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                               const lacis_cost *work_of);

/* Seconds on the processor at most, so that a GPU is not asked for what it could not win. */
double lacis_power_most_seconds(const lacis_power *work, const lacis_profile *profile);
/* Nanoseconds a path of a closure on one processor: its name, and what it was on an H200's host, rmat 10 to 16. */
#define LACIS_POWER_PATH_FIGURE "power.path_ns"
#define LACIS_POWER_PATH_NS     12.0

#endif
