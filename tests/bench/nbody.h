/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench nbody: what its files share.
 */
#ifndef LACIS_BENCH_NBODY_H
#define LACIS_BENCH_NBODY_H

#include "bench.h"

enum { NBODY_SAMPLE = 1000 }; /* accelerations that are certified */

typedef struct nbody_op {
    const char *name, *model, *way, *clauses;
    const char *type;                 /* NULL: of --type */
    int64_t most_on_cpu, most_on_gpu; /* bodies, without --n */
} nbody_op;

typedef struct nbody_case {
    const bench_options *options;
    const nbody_op *op;
    int64_t n;
    const char *type;
    lacis_engine *db;
} nbody_case;

/* Figures of one case; below 0: not measured. Times in seconds. */
typedef struct nbody_figures {
    double step, first, peer;          /* a step inside a run; accelerations from nothing; a step of the peer */
    double build, force, move;         /* of an evaluation, as the operator measures them */
    double p2p, m2p, expanded, visits; /* of an evaluation, a body */
    double median, tail, most;         /* relative errors of accelerations: median, 99 %, greatest */
    double drift;                      /* of the energy */
    double peer_median, peer_tail;     /* its errors, of 60 accelerations: median and 95 % */
    int64_t steps;                     /* that drift is of */
    double free, one;                  /* a step without deterministic; on one GPU */
} nbody_figures;
extern const nbody_figures nbody_unknown;

void nbody_print(const nbody_case *c, const nbody_figures *f);

/* nbody_peer.c: REBOUND's tree code (where Python can import rebound), with this opening angle, on the bodies of
 * array g: seconds a step, and its errors. False: it is not there or failed. */
bool nbody_has_peer(const bench_options *options);
bool nbody_peer(const nbody_case *c, double theta, nbody_figures *f);

#endif
