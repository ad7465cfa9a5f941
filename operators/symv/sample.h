/* SPDX-License-Identifier: Apache-2.0
 *
 * What SYMV's two shares of CALIBRATE, calibrate.c and gpu_calibrate.c, have in common.
 */
#ifndef LACIS_OPERATORS_SYMV_SAMPLE_H
#define LACIS_OPERATORS_SYMV_SAMPLE_H

#include "lacis_extend.h"

#include "symv/symv.h"

#include <time.h>

/* Seconds, from any beginning. */
static inline double lacis_symv_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* No figure is less than what a plan can count with. */
static inline lacis_status lacis_symv_set_figure(lacis_profile *profile, const char *name, double value, double least)
{
    return lacis_profile_set(profile, name, value > least ? value : least);
}

/* A packed lower triangle of n rows by vectors one behind the other: all but how many, and memory to work in. */
static inline lacis_symv_job lacis_symv_sample(lacis_symv_type type, int64_t n, const void *a, const void *x, void *y)
{
    return (lacis_symv_job){.type = type,
                            .uplo = LACIS_SYMV_LOWER,
                            .hermitian = lacis_symv_complex(type),
                            .packed = true,
                            .matrices = 1,
                            .n = n,
                            .ld = n,
                            .a = a,
                            .x = x,
                            .y = y,
                            .x_side = n,
                            .x_step = 1,
                            .y_side = n,
                            .y_step = 1,
                            .alpha = {1},
                            .threads = 1};
}

#endif
