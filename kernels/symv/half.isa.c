/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a sparse symmetric matrix: each entry once for its row, once for its column. Called by half.c.
 *
 * A row's products go to LANES sums in turn, which are halved at the end, so that all instruction sets have the same
 * bits; multiplications and additions are not fused. Columns rise, so that the first and the last of LANES tell
 * whether they lie one behind the other: then so many elements of x and of the window are taken together.
 */
#include "symv/half_inside.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LANES = 4 };

/* The parts of a row: what is on the diagonal, and where the others are. */
struct row {
    int64_t from, to;
    int64_t diagonal; /* its place; -1: none */
};

static inline struct row row_of(const lacis_symv_half *half, int64_t r)
{
    struct row row = {.diagonal = -1};
    half_wanted(half, r, &row.from, &row.to);
    if (row.from == row.to) return row;
    if (half->job.uplo == LACIS_SYMV_UPPER) {
        if (half->column[row.from] == r) row.diagonal = row.from++;
    } else if (half->column[row.to - 1] == r) {
        row.diagonal = --row.to;
    }
    return row;
}

/* Zeros as far as the row reaches; false where there is no room. A little more than it needs, as the next ones will.
 */
static inline bool reach(half_rows *rows, const struct row *row, size_t bytes)
{
    enum { MORE = 128 };
    if (row->from >= row->to) return true;
    const int64_t first = rows->half->column[row->from], last = rows->half->column[row->to - 1];
    if (first >= rows->low && last < rows->high) return true;
    rows->wish = first < rows->least ? first : last;
    if (first < rows->least || last >= rows->most) return false;
    if (first < rows->low) {
        const int64_t low = first - rows->least > MORE ? first - MORE : rows->least;
        memset(rows->window + (size_t)low * bytes, 0, (size_t)(rows->low - low) * bytes);
        rows->low = low;
    }
    if (last >= rows->high) {
        const int64_t high = rows->most - last > MORE ? last + MORE : rows->most;
        memset(rows->window + (size_t)rows->high * bytes, 0, (size_t)(high - rows->high) * bytes);
        rows->high = high;
    }
    return true;
}

#define REAL(R, NAME)                                                                                                \
    static inline R with_values_##NAME(int64_t n, const R *v, const uint32_t *c, const R *x, R *w, R xi)             \
    {                                                                                                                \
        R s[LANES] = {0}, rest = 0;                                                                                  \
        int64_t i = 0;                                                                                               \
        for (; i + LANES <= n; i += LANES) {                                                                         \
            if (c[i + LANES - 1] - c[i] == LANES - 1) {                                                              \
                const R *from = x + c[i];                                                                            \
                R *to = w + c[i];                                                                                    \
                for (int k = 0; k < LANES; k++)                                                                      \
                    s[k] += v[i + k] * from[k];                                                                      \
                for (int k = 0; k < LANES; k++)                                                                      \
                    to[k] += v[i + k] * xi;                                                                          \
            } else {                                                                                                 \
                for (int k = 0; k < LANES; k++)                                                                      \
                    s[k] += v[i + k] * x[c[i + k]];                                                                  \
                for (int k = 0; k < LANES; k++)                                                                      \
                    w[c[i + k]] += v[i + k] * xi;                                                                    \
            }                                                                                                        \
        }                                                                                                            \
        for (; i < n; i++) {                                                                                         \
            rest += v[i] * x[c[i]];                                                                                  \
            w[c[i]] += v[i] * xi;                                                                                    \
        }                                                                                                            \
        return ((s[0] + s[2]) + (s[1] + s[3])) + rest;                                                               \
    }                                                                                                                \
    static inline R with_ones_##NAME(int64_t n, const uint32_t *c, const R *x, R *w, R xi)                           \
    {                                                                                                                \
        R s[2] = {0};                                                                                                \
        int64_t i = 0;                                                                                               \
        for (; i + 2 <= n; i += 2) {                                                                                 \
            for (int k = 0; k < 2; k++)                                                                              \
                s[k] += x[c[i + k]];                                                                                 \
            for (int k = 0; k < 2; k++)                                                                              \
                w[c[i + k]] += xi;                                                                                   \
        }                                                                                                            \
        if (i < n) {                                                                                                 \
            s[0] += x[c[i]];                                                                                         \
            w[c[i]] += xi;                                                                                           \
        }                                                                                                            \
        return s[0] + s[1];                                                                                          \
    }                                                                                                                \
    static int64_t rows_##NAME(half_rows *rows)                                                                      \
    {                                                                                                                \
        const lacis_symv_half *half = rows->half;                                                                    \
        const R *v = half->value, *x = rows->x;                                                                      \
        R *w = (R *)rows->window;                                                                                    \
        for (int64_t r = rows->first; r < rows->last; r++) {                                                         \
            const struct row row = row_of(half, r);                                                                  \
            if (!reach(rows, &row, sizeof(R))) return r;                                                             \
            const int64_t n = row.to - row.from;                                                                     \
            const uint32_t *c = half->column + row.from;                                                             \
            R sum =                                                                                                  \
                v != NULL ? with_values_##NAME(n, v + row.from, c, x, w, x[r]) : with_ones_##NAME(n, c, x, w, x[r]); \
            if (row.diagonal >= 0) sum += (v != NULL ? v[row.diagonal] : 1) * x[r];                                  \
            w[r] += sum;                                                                                             \
        }                                                                                                            \
        return rows->last;                                                                                           \
    }
REAL(float, f32)
REAL(double, f64)

/* Complex numbers: two sums. */
#define COMPLEX(R, NAME)                                                                                             \
    static int64_t rows_##NAME(half_rows *rows)                                                                      \
    {                                                                                                                \
        const lacis_symv_half *half = rows->half;                                                                    \
        const R *v = half->value, *x = rows->x, sign = half->job.hermitian ? -1 : 1;                                 \
        R *w = (R *)rows->window;                                                                                    \
        for (int64_t r = rows->first; r < rows->last; r++) {                                                         \
            const struct row row = row_of(half, r);                                                                  \
            if (!reach(rows, &row, 2 * sizeof(R))) return r;                                                         \
            const R xr = x[2 * r], xi = x[2 * r + 1];                                                                \
            R re[2] = {0}, im[2] = {0};                                                                              \
            for (int64_t i = row.from; i < row.to; i++) {                                                            \
                const size_t c = 2 * (size_t)half->column[i], k = (size_t)(i - row.from) % 2;                        \
                const R vr = v != NULL ? v[2 * i] : 1, vi = v != NULL ? v[2 * i + 1] : 0, vm = sign * vi;            \
                re[k] += vr * x[c] - vi * x[c + 1];                                                                  \
                im[k] += vr * x[c + 1] + vi * x[c];                                                                  \
                w[c] += vr * xr - vm * xi;                                                                           \
                w[c + 1] += vr * xi + vm * xr;                                                                       \
            }                                                                                                        \
            re[0] += re[1];                                                                                          \
            im[0] += im[1];                                                                                          \
            if (row.diagonal >= 0) {                                                                                 \
                const R vr = v != NULL ? v[2 * row.diagonal] : 1;                                                    \
                const R vi = v != NULL && !half->job.hermitian ? v[2 * row.diagonal + 1] : 0;                        \
                re[0] += vr * xr - vi * xi;                                                                          \
                im[0] += vr * xi + vi * xr;                                                                          \
            }                                                                                                        \
            w[2 * r] += re[0];                                                                                       \
            w[2 * r + 1] += im[0];                                                                                   \
        }                                                                                                            \
        return rows->last;                                                                                           \
    }
COMPLEX(float, c64)
COMPLEX(double, c128)

const half_loops HALF_ISA(lacis_half_loops) = {{rows_f32, rows_f64, rows_c64, rows_c128}};
