/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of TUNE share: tune.c searches, tune_ranges.c makes ranges of what was measured, tuning.c holds the
 * tables and reads and writes them as text for the catalog.
 */
#ifndef LACIS_PLAN_TUNE_H
#define LACIS_PLAN_TUNE_H

#include "plan/plan.h"

enum { LACIS_TUNE_HANDFUL = 8, LACIS_TUNE_ROUNDS = 9 };
#define LACIS_TUNE_NEVER 1e3 /* the ratio of a candidate that does not do a size */

/* Seconds of each of the handful at each size, negative: not done. At every size one of them does it. */
typedef struct lacis_tune_times {
    int sizes, hands;
    int64_t *size;
    double *seconds; /* [size][hand] */
} lacis_tune_times;

/* Fills the table but for the names: hand[i] is the candidate of range i. The sum over sizes of what is lost against
 * the best is the least there is with at most `most` ranges, of which each begins where it gains over LACIS_TUNE_GAIN
 * on the one before, and as much in all. */
lacis_status lacis_tune_ranges(lacis_run *run, const lacis_tune_times *times, int most, lacis_tune_table *table,
                               int *hand);

#endif
