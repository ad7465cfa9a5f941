/* SPDX-License-Identifier: Apache-2.0
 *
 * The certificate of ACCELERATE ... AT points: kernels certify bodies, so that points are summed here, plainly and in
 * double, over the threads of the run.
 */
#include "nbody/field.h"

#include <math.h>
#include <stdlib.h>

typedef struct check {
    lacis_nbody_system *system;
    const void *places, *const *a;
    int64_t begin, end, sample;
    double *relative, *scaled;
} check;

static double number(const lacis_nbody_work *work, const void *column, int64_t i)
{
    return work->type == LACIS_NBODY_F32 ? (double)((const float *)column)[i] : ((const double *)column)[i];
}

typedef struct sums {
    double a[3], modulus;
} sums;

/* As kernels/nbody/nbody.h has it: a point has the common softening length, and none beside bodies' own. */
static sums direct(const check *c, const double at[3])
{
    const lacis_nbody_work *work = c->system->work;
    const lacis_bodies *b = &work->bodies;
    const bool own = b->eps != NULL && !work->common;
    sums s = {{0, 0, 0}, 0};
    for (int64_t j = 0; j < b->count; j++) {
        const double d[3] = {lacis_value_double(b->x, b->dtype, j) - at[0],
                             lacis_value_double(b->y, b->dtype, j) - at[1],
                             lacis_value_double(b->z, b->dtype, j) - at[2]};
        const double eps = own ? lacis_value_double(b->eps, b->dtype, j) : work->soften;
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], soft = r2 + (own ? eps * eps / 2 : eps * eps);
        if (!(soft > 0)) continue;
        const double factor = work->g * lacis_value_double(b->m, b->dtype, j) / (soft * sqrt(soft));
        for (int k = 0; k < 3; k++)
            s.a[k] += factor * d[k];
        s.modulus += fabs(factor) * sqrt(r2);
    }
    return s;
}

static double ratio(double off, double size)
{
    return off == 0 ? 0 : size > 0 ? off / size : HUGE_VAL;
}

static lacis_status check_point(void *context, int64_t task, int worker)
{
    const check *c = context;
    const lacis_nbody_work *work = c->system->work;
    const int64_t points = c->end - c->begin, i = task * points / c->sample, all = work->places.count;
    double at[3], off = 0, size = 0;
    (void)worker;
    if (lacis_run_cancelled(c->system->run)) return LACIS_INTERRUPT;
    for (int k = 0; k < 3; k++)
        at[k] = number(work, c->places, k * all + c->begin + i);
    const sums s = direct(c, at);
    for (int k = 0; k < 3; k++) {
        const double d = number(work, c->a[k], i) - s.a[k];
        off += d * d;
        size += s.a[k] * s.a[k];
    }
    c->relative[task] = ratio(sqrt(off), sqrt(size));
    c->scaled[task] = ratio(sqrt(off), s.modulus);
    return LACIS_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void quantiles(double *value, int64_t count, double out[4])
{
    static const double at[4] = {0.5, 0.9, 0.99, 1};
    qsort(value, (size_t)count, sizeof *value, by_value);
    for (int i = 0; i < 4; i++) {
        const int64_t place = (int64_t)ceil(at[i] * (double)count) - 1;
        out[i] = count == 0 ? 0 : value[place < 0 ? 0 : place];
    }
}

lacis_status lacis_nbody_certify_points(lacis_nbody_system *system, const void *places, int64_t begin, int64_t end,
                                        void *const a[3], lacis_nbody_errors *out)
{
    lacis_run *run = system->run;
    const void *columns[3] = {a[0], a[1], a[2]};
    check c = {.system = system, .places = places, .a = columns, .begin = begin, .end = end};
    c.sample = system->work->certify < end - begin ? system->work->certify : end - begin;
    LACIS_TRY(lacis_run_alloc(run, 2 * (uint64_t)c.sample * sizeof *c.relative, &c.relative));
    c.scaled = c.relative + c.sample;
    lacis_status status = lacis_run_parallel(run, c.sample, check_point, &c);
    if (status == LACIS_INTERRUPT) status = lacis_run_interrupted(run);
    *out = (lacis_nbody_errors){.sample = c.sample};
    quantiles(c.relative, c.sample, out->relative);
    quantiles(c.scaled, c.sample, out->scaled);
    lacis_run_free(run, c.relative);
    return status;
}
