/* SPDX-License-Identifier: Apache-2.0
 *
 * One lane at a time by plain loops, in the steps of solve.h: which row is bad and why, where the loops over tiles
 * said that some lane may be; the factors of a shared matrix; residuals. Called from run.c.
 */
#include "solve/inside.h"

#include <math.h>

typedef struct number {
    double re, im; /* im: complex types only */
} number;

/* A double in which one step of arithmetic on floats was done, rounded, is what floats would have given. */
static double rounded(lacis_solve_type type, double value)
{
    return type == LACIS_SOLVE_F32 ? (double)(float)value : value;
}

static number load(lacis_solve_type type, const void *data, int64_t at)
{
    if (type == LACIS_SOLVE_F64) return (number){((const double *)data)[at], 0};
    if (type == LACIS_SOLVE_C128) return (number){((const double *)data)[2 * at], ((const double *)data)[2 * at + 1]};
    return (number){(double)((const float *)data)[at], 0};
}

static number element(const lacis_solve_job *job, const lacis_solve_field *field, const lacis_solve_side *side,
                      int64_t rows, int64_t lane, int64_t row)
{
    int64_t at = field->shared ? side->row + row * side->step : lacis_solve_place(side, rows, lane, row);
    return load(job->type, field->data, at);
}

static number times(lacis_solve_type type, number x, number y)
{
    if (type != LACIS_SOLVE_C128) return (number){rounded(type, x.re * y.re), 0};
    return (number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static number minus(lacis_solve_type type, number x, number y)
{
    return (number){rounded(type, x.re - y.re), x.im - y.im};
}

static number plus(lacis_solve_type type, number x, number y)
{
    return (number){rounded(type, x.re + y.re), x.im + y.im};
}

static number inverse(lacis_solve_type type, number z)
{
    if (type != LACIS_SOLVE_C128) return (number){rounded(type, 1 / z.re), 0};
    double re = fabs(z.re), im = fabs(z.im), m = re > im ? re : im, u = z.re / m, v = z.im / m;
    double t = (u * u + v * v) * m;
    return (number){u / t, -v / t};
}

static double modulus(lacis_solve_type type, number z)
{
    return type == LACIS_SOLVE_C128 ? hypot(z.re, z.im) : fabs(z.re);
}

static bool finite_number(number z)
{
    return isfinite(z.re) && isfinite(z.im);
}

/* The lowest row of each cause; of zero pivots the one met first: others follow from it. */
typedef struct finding {
    int64_t row[4]; /* by cause; -1: none */
} finding;

static void found(finding *f, lacis_solve_cause cause, int64_t row)
{
    if (f->row[cause] < 0 || (cause != LACIS_SOLVE_ZERO_PIVOT && row < f->row[cause])) f->row[cause] = row;
}

static int64_t word_of(const finding *f)
{
    for (int cause = LACIS_SOLVE_NOT_FINITE; cause > LACIS_SOLVE_FINE; cause--)
        if (f->row[cause] >= 0) return f->row[cause] * 4 + cause;
    return 0;
}

typedef struct row_of {
    number lower, diagonal, upper, rhs;
} row_of;

/* One row's w; sq as in solve.h, off the sum of the moduli of the row's other elements. */
static number pivot(const lacis_solve_job *job, finding *f, int64_t row, const row_of *x, number sq, double off)
{
    const lacis_solve_type type = job->type;
    const double slack = type == LACIS_SOLVE_F32 ? (double)SOLVE_SLACK_F32 : SOLVE_SLACK_F64;
    number w = inverse(type, minus(type, x->diagonal, sq));
    double size = rounded(type, modulus(type, x->diagonal) * slack);
    if (!finite_number(x->lower) || !finite_number(x->diagonal) || !finite_number(x->upper) || !finite_number(x->rhs))
        found(f, LACIS_SOLVE_NOT_FINITE, row);
    if (!finite_number(w)) found(f, LACIS_SOLVE_ZERO_PIVOT, row);
    if (size - off < 0) found(f, LACIS_SOLVE_NOT_DOMINANT, row);
    return w;
}

static void keep(const lacis_solve_job *job, const solve_factor *factor, int64_t row, number off, number w, number q)
{
    if (factor == NULL) return;
    if (job->type == LACIS_SOLVE_F32) {
        ((float *)factor->off)[row] = (float)off.re;
        ((float *)factor->w)[row] = (float)w.re;
        ((float *)factor->q)[row] = (float)q.re;
    } else {
        ((double *)factor->off)[row] = off.re;
        ((double *)factor->w)[row] = w.re;
        ((double *)factor->q)[row] = q.re;
    }
}

/* `whole`: with its right side. */
static row_of take(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, int64_t row, bool whole)
{
    row_of x = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    const int64_t rows = group->rows;
    const bool chain = job->parent == NULL, root = !chain && job->parent[group->tree + row] < 0;
    if (chain ? row > 0 : !root) x.lower = element(job, &job->lower, &group->matrix, rows, lane, row);
    if (chain ? row < rows - 1 : !root) x.upper = element(job, &job->upper, &group->matrix, rows, lane, row);
    x.diagonal = element(job, &job->diagonal, &group->matrix, rows, lane, row);
    if (whole) x.rhs = element(job, &job->rhs, &group->rhs, rows, lane, row);
    return x;
}

static void scan_chain(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, bool whole,
                       const solve_factor *factor, finding *f)
{
    const lacis_solve_type type = job->type;
    number q = {0, 0};
    for (int64_t r = 0; r < group->rows; r++) {
        row_of x = take(job, group, lane, r, whole);
        double off = rounded(type, modulus(type, x.lower) + modulus(type, x.upper));
        number w = pivot(job, f, r, &x, times(type, x.lower, q), off);
        q = times(type, x.upper, w);
        keep(job, factor, r, x.lower, w, q);
    }
}

static void scan_tree(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, bool whole,
                      const solve_factor *factor, finding *f, double *scratch)
{
    const lacis_solve_type type = job->type;
    const int32_t *parent = job->parent + group->tree;
    double *sum = scratch, *off = scratch + group->rows;
    for (int64_t r = 0; r < 2 * group->rows; r++)
        scratch[r] = 0;
    for (int64_t r = group->rows - 1; r >= 0; r--) {
        row_of x = take(job, group, lane, r, whole);
        number w = pivot(job, f, r, &x, (number){sum[r], 0}, rounded(type, fabs(x.lower.re) + off[r]));
        number q = times(type, x.lower, w);
        keep(job, factor, r, x.upper, w, q);
        if (parent[r] < 0) continue;
        sum[parent[r]] = rounded(type, sum[parent[r]] + times(type, x.upper, q).re);
        off[parent[r]] = rounded(type, off[parent[r]] + fabs(x.upper.re));
    }
}

static int64_t scan(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, bool whole,
                    const solve_factor *factor, double *scratch)
{
    finding f = {{-1, -1, -1, -1}};
    if (job->parent == NULL) {
        scan_chain(job, group, lane, whole, factor, &f);
    } else {
        scan_tree(job, group, lane, whole, factor, &f, scratch);
    }
    return word_of(&f);
}

int64_t lacis_solve_find(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, double *scratch)
{
    return scan(job, group, lane, true, NULL, scratch);
}

int64_t lacis_solve_factor(const lacis_solve_job *job, const lacis_solve_group *group, const solve_factor *out,
                           double *scratch)
{
    return scan(job, group, 0, false, out, scratch);
}

/* --- residuals -------------------------------------------------------------------------------------- */

/* As computed in doubles, also of floats: what the rounding of x leaves shows. */
static void put_residual(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, int64_t row,
                         number r)
{
    double size = job->type == LACIS_SOLVE_C128 ? hypot(r.re, r.im) : fabs(r.re);
    job->residual[lacis_solve_place(&group->x, group->rows, lane, row)] = size;
}

static void residual_chain(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane)
{
    const lacis_solve_type type = job->type == LACIS_SOLVE_C128 ? LACIS_SOLVE_C128 : LACIS_SOLVE_F64;
    const lacis_solve_field solved = {job->x, false};
    number before = {0, 0}, x = {0, 0};
    if (group->rows > 0) x = element(job, &solved, &group->x, group->rows, lane, 0);
    for (int64_t r = 0; r < group->rows; r++) {
        row_of a = take(job, group, lane, r, true);
        number behind = {0, 0};
        if (r < group->rows - 1) behind = element(job, &solved, &group->x, group->rows, lane, r + 1);
        number left = minus(type, a.rhs, times(type, a.diagonal, x));
        left = minus(type, left, times(type, a.lower, before));
        put_residual(job, group, lane, r, minus(type, left, times(type, a.upper, behind)));
        before = x;
        x = behind;
    }
}

static void residual_tree(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, double *sum)
{
    const lacis_solve_type type = LACIS_SOLVE_F64;
    const lacis_solve_field solved = {job->x, false};
    const int32_t *parent = job->parent + group->tree;
    for (int64_t r = 0; r < group->rows; r++)
        sum[r] = 0;
    for (int64_t r = group->rows - 1; r >= 0; r--) {
        row_of a = take(job, group, lane, r, true);
        number x = element(job, &solved, &group->x, group->rows, lane, r), up = {0, 0};
        if (parent[r] >= 0) up = element(job, &solved, &group->x, group->rows, lane, parent[r]);
        number left = minus(type, a.rhs, times(type, a.diagonal, x));
        left = minus(type, left, times(type, a.lower, up));
        put_residual(job, group, lane, r, minus(type, left, (number){sum[r], 0}));
        if (parent[r] >= 0) sum[parent[r]] = plus(type, (number){sum[parent[r]], 0}, times(type, a.upper, x)).re;
    }
}

void lacis_solve_residual(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, double *scratch)
{
    if (job->parent == NULL) {
        residual_chain(job, group, lane);
    } else {
        residual_tree(job, group, lane, scratch);
    }
}
