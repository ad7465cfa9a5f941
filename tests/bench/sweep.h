/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench sweep: what its files share.
 */
#ifndef LACIS_BENCH_SWEEP_H
#define LACIS_BENCH_SWEEP_H

#include "bench.h"

typedef struct sweep_op {
    const char *name;
    int dims, arrays; /* read or written once in a step */
    const char *step, *clauses;
    int64_t usual_on_cpu, usual_on_gpu; /* sides, without --n */
} sweep_op;

typedef struct sweep_case {
    const bench_options *options;
    const sweep_op *op;
    int64_t n;
    bool blocked;
    lacis_engine *db;
} sweep_case;

typedef struct sweep_figures {
    double step, whole; /* seconds: of a further step; of the statement of FEW + steps */
    double copy_rate;   /* bytes read and written a second; 0: not known */
    double levels;
    int64_t steps;
} sweep_figures;

/* sweep_copy.c: bytes read and written a second by a large copy, on so many threads (0: all processors); on a GPU, 0
 * where the build has no kernels to ask it with. */
double sweep_copy_rate(int threads);
double sweep_gpu_copy_rate(void);

#endif
