/* SPDX-License-Identifier: Apache-2.0
 *
 * What lacis-bench choose runs: a family is grounds (arrays from small to large) and asks (calls over them). Another
 * one is a line in choose_cases.c's table of families and its two lists; a call that has no variant on the GPU is
 * left out.
 */
#ifndef LACIS_BENCH_CHOOSE_H
#define LACIS_BENCH_CHOOSE_H

#include "bench.h"

typedef struct choose_ask {
    const char *name; /* what --op calls it */
    const char *call; /* without ON */
    bool totals;      /* of a view on it, so that nothing is stored; otherwise it is LET */
    bool cold;        /* also in processes of its own */
} choose_ask;

typedef struct choose_ground {
    const char *name;
    const char *make; /* statements; NULL: the graph of that name as g (values to 1000) and h (to 8), a vector as x */
} choose_ground;

typedef struct choose_family {
    const choose_ground *ground;
    int grounds;
    const choose_ask *ask;
    int asks;
    const char *drop; /* statements that undo `make` */
} choose_family;

extern const choose_family choose_families[];
extern const int choose_family_count;

/* The arrays of a ground. 0, or an exit code after a message. */
int choose_make(lacis_engine *engine, const bench_options *options, const choose_ground *ground);
bool choose_wanted(const bench_options *options, const choose_ask *ask);
bool choose_wanted_cold(const bench_options *options, const choose_ask *ask); /* --op cold */
/* Whether every name of --op is an ask's; a message where not. */
bool choose_asks_known(const bench_options *options);

#endif
