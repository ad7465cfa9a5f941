/* SPDX-License-Identifier: Apache-2.0
 *
 * QD's double-double numbers as the peer of SYMV on W: the plain loop over a triangle, column by column, that its
 * operators are made for. A module beside lacis-bench, loaded by symv_blas.c.
 */
#include <cstdint>

#include <qd/dd_real.h>

static_assert(sizeof(dd_real) == 2 * sizeof(double), "high and low, as ours");

extern "C" __attribute__((visibility("default"))) void bench_qd_symv(int upper, int64_t n, const double *matrix,
                                                                     const double *vector, double *result)
{
    const dd_real *a = reinterpret_cast<const dd_real *>(matrix), *x = reinterpret_cast<const dd_real *>(vector);
    dd_real *y = reinterpret_cast<dd_real *>(result);
    for (int64_t i = 0; i < n; i++)
        y[i] = 0.0;
    for (int64_t j = 0; j < n; j++) {
        const dd_real *column = a + j * n;
        const int64_t begin = upper ? 0 : j + 1, end = upper ? j : n;
        dd_real sum = column[j] * x[j];
        for (int64_t i = begin; i < end; i++) {
            y[i] += column[i] * x[j];
            sum += column[i] * x[i];
        }
        y[j] += sum;
    }
}
