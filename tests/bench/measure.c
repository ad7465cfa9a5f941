/* SPDX-License-Identifier: Apache-2.0
 *
 * Clock, median and messages of lacis-bench and of the peers that it loads.
 */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int bench_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("lacis-bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return 1;
}

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *x, const void *y)
{
    double left = *(const double *)x, right = *(const double *)y;
    return (left > right) - (left < right);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
