/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of lacis-bench nbody: nbody.c has the cases, nbody_case.c measures one, nbody_peer.c holds REBOUND
 * beside.
 */
#ifndef LACIS_BENCH_NBODY_H
#define LACIS_BENCH_NBODY_H

#include "bench.h"

typedef struct nbody_case {
    const char *name;
    const char *way; /* of LACIS_NBODY_WAY; "": the planner's */
    const char *clauses;
} nbody_case;

/* What a case came to. */
typedef struct nbody_result {
    double step_s;         /* of a step inside a run */
    double median, most99; /* relative errors of accelerations at the end */
    double build_s, force_s, move_s;
    double p2p, m2p, expanded, visits; /* a body and evaluation */
} nbody_result;

/* Of the bodies g. 0, an exit code after a message, or 77: there is no GPU. */
int bench_nbody_measure(const bench_options *options, lacis_engine *db, const nbody_case *c, const char *type,
                        double n, nbody_result *out);
int bench_nbody_case(const bench_options *options, lacis_engine *db, const nbody_case *c, const char *type, double n);
int bench_nbody_peer(const bench_options *options, lacis_engine *db);

#endif
