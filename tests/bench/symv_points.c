/* SPDX-License-Identifier: Apache-2.0
 *
 * The points of lacis-bench symv --picture as CSV: type, n, whose product, GFLOPS.
 */
#include "symv.h"

#include <stdio.h>

/* A symv_points is the open file. */
int symv_points_open(const char *csv, symv_points **out)
{
    FILE *file = fopen(csv, "w");
    *out = (symv_points *)file;
    if (file == NULL) return bench_fail("%s cannot be written", csv);
    fputs("type,n,who,GFLOPS\n", file);
    return 0;
}

int symv_points_add(symv_points *points, const symv_kind *kind, int64_t n, const char *who, double gflops)
{
    FILE *file = (FILE *)points;
    fprintf(file, "%s,%lld,%s,%.3f\n", kind->letter, (long long)n, who, gflops);
    return fflush(file) == 0 ? 0 : bench_fail("the picture's points cannot be written");
}

int symv_points_close(symv_points *points)
{
    if (points == NULL) return 0;
    return fclose((FILE *)points) == 0 ? 0 : bench_fail("the picture's points cannot be written");
}
