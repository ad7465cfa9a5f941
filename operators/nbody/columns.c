/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies and points as kernels take them, columns of one type, and the bodies of results. Where the array's numbers
 * are of the run's type they are read where they lie; others are converted.
 */
#include "nbody/work.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const lacis_nbody_column_name[LACIS_NBODY_COLUMNS] = {"m",  "x",   "y",  "z",  "vx", "vy",
                                                                  "vz", "eps", "ax", "ay", "az"};

/* In the order of the columns; NULL where the bodies have none, or the run does not look at them. */
static void sources(const lacis_nbody_work *work, const void *out[LACIS_NBODY_COLUMNS])
{
    const lacis_bodies *b = &work->bodies;
    const void *all[LACIS_NBODY_COLUMNS] = {b->m, b->x, b->y, b->z, b->vx, b->vy, b->vz, b->eps, b->ax, b->ay, b->az};
    const bool moves = !work->accelerate; /* else accelerations only serve to open cells by */
    const bool known = b->ax != NULL && (moves || work->rule.opening == LACIS_NBODY_RELATIVE);
    for (int i = 0; i < LACIS_NBODY_COLUMNS; i++) {
        bool wanted = i <= LACIS_NBODY_Z || (i <= LACIS_NBODY_VZ && moves) ||
                      (i == LACIS_NBODY_EPS && (moves || !work->common)) || (i >= LACIS_NBODY_AX && known);
        out[i] = wanted ? all[i] : NULL;
    }
}

static uint64_t column_bytes(const lacis_nbody_work *work)
{
    return ((uint64_t)lacis_nbody_size(work->type) * (uint64_t)work->bodies.count + 63) / 64 * 64;
}

static bool converts(const lacis_nbody_work *work)
{
    return work->bodies.dtype != work->dtype;
}

uint64_t lacis_nbody_take_bytes(const lacis_nbody_work *work)
{
    const void *from[LACIS_NBODY_COLUMNS];
    uint64_t bytes = 0;
    sources(work, from);
    for (int i = 0; i < LACIS_NBODY_COLUMNS; i++)
        if (from[i] != NULL && converts(work)) bytes += column_bytes(work);
    return bytes;
}

/* A double may be more than a float holds. */
static lacis_status check_floats(lacis_run *run, const lacis_nbody_work *work, const char *name, const float *value)
{
    const lacis_bodies *b = &work->bodies;
    for (int64_t i = 0; i < b->count; i++)
        if (!isfinite(value[i]))
            return lacis_run_fail(run, LACIS_RANGE, "body %" PRId64 ": its %s is more than TYPE f32 holds",
                                  lacis_label(b->id, b->base, i), name);
    return LACIS_OK;
}

static lacis_status convert(lacis_run *run, const lacis_nbody_work *work, int column, const void *from, void *to)
{
    lacis_values_convert(from, work->bodies.dtype, 0, work->bodies.count, to, work->dtype);
    if (work->dtype != LACIS_F32) return LACIS_OK;
    return check_floats(run, work, lacis_nbody_column_name[column], to);
}

static lacis_status take_columns(lacis_run *run, const lacis_nbody_work *work, lacis_nbody_input *out)
{
    const void *from[LACIS_NBODY_COLUMNS];
    char *to = out->own;
    sources(work, from);
    for (int i = 0; i < LACIS_NBODY_COLUMNS; i++) {
        out->column[i] = from[i];
        out->direct[i] = from[i] != NULL && !converts(work);
        if (from[i] == NULL || out->direct[i]) continue;
        LACIS_TRY(convert(run, work, i, from[i], to));
        out->column[i] = to;
        to += column_bytes(work);
    }
    return LACIS_OK;
}

lacis_status lacis_nbody_take(lacis_run *run, const lacis_nbody_work *work, lacis_nbody_input *out)
{
    const uint64_t bytes = lacis_nbody_take_bytes(work);
    memset(out, 0, sizeof *out);
    LACIS_TRY(lacis_bodies_check(run, &work->bodies));
    if (bytes > 0) LACIS_TRY(lacis_run_alloc(run, bytes, &out->own));
    lacis_status status = take_columns(run, work, out);
    if (status != LACIS_OK) lacis_nbody_give(run, out);
    return status;
}

void lacis_nbody_give(lacis_run *run, lacis_nbody_input *input)
{
    lacis_run_free(run, input->own);
    memset(input, 0, sizeof *input);
}

/* ------------------------------------------------------------------------------------------- points */

static lacis_status check_places(lacis_run *run, const lacis_nbody_places *places, int axis, const void *value,
                                 lacis_dtype dtype)
{
    for (int64_t i = 0; i < places->count; i++)
        if (!isfinite(lacis_value_double(value, dtype, i)))
            return lacis_run_fail(run, LACIS_RANGE, "AT, point %" PRId64 ": its %c is not a finite number%s",
                                  lacis_label(places->id, places->base, i), "xyz"[axis],
                                  dtype == LACIS_F32 ? " in TYPE f32" : "");
    return LACIS_OK;
}

lacis_status lacis_nbody_take_places(lacis_run *run, const lacis_nbody_work *work, void **out)
{
    const lacis_nbody_places *places = &work->places;
    const uint64_t bytes = (uint64_t)lacis_nbody_size(work->type) * (uint64_t)places->count;
    LACIS_TRY(lacis_run_alloc(run, 3 * bytes, out));
    lacis_status status = LACIS_OK;
    for (int axis = 0; axis < 3 && status == LACIS_OK; axis++) {
        void *to = (char *)*out + bytes * (uint64_t)axis;
        lacis_values_convert(places->at[axis], places->dtype[axis], 0, places->count, to, work->dtype);
        status = check_places(run, places, axis, to, work->dtype);
    }
    if (status == LACIS_OK) return LACIS_OK;
    lacis_run_free(run, *out);
    *out = NULL;
    return status;
}

/* ------------------------------------------------------------------------------------------- results */

double lacis_nbody_result_bytes(const lacis_nbody_work *work)
{
    if (work->accelerate) {
        const double rows = (double)(work->places.array != NULL ? work->places.count : work->bodies.count);
        return rows * (8 + (double)lacis_nbody_size(work->type) * (3 + work->potential));
    }
    const double size = lacis_nbody_size(work->type), labels = work->bodies.id != NULL ? 8 : 0;
    const int columns = 10 + (work->bodies.eps != NULL) + work->potential;
    return (double)work->bodies.count * (labels + size * columns);
}

static void copy_column(const lacis_nbody_work *work, const void *from, const void *to)
{
    const size_t bytes = (size_t)lacis_nbody_size(work->type) * (size_t)work->bodies.count;
    if (to != NULL && from != NULL && bytes > 0) memcpy((void *)(uintptr_t)to, from, bytes);
}

lacis_status lacis_nbody_new_bodies(lacis_run *run, const lacis_nbody_work *work, const lacis_nbody_input *input,
                                    double time, lacis_array **array, lacis_bodies *out)
{
    static const char some = 0; /* says of a column that there is one */
    const lacis_bodies *b = &work->bodies;
    lacis_bodies like = {.count = b->count, .dtype = work->dtype, .id = b->id, .base = b->base, .time = time};
    like.m = like.x = like.y = like.z = like.vx = like.vy = like.vz = like.ax = like.ay = like.az = &some;
    like.eps = b->eps != NULL ? &some : NULL;
    like.phi = work->potential ? &some : NULL;
    LACIS_TRY(lacis_bodies_new(run, &like, array, out));
    copy_column(work, input->column[LACIS_NBODY_M], out->m);
    copy_column(work, input->column[LACIS_NBODY_EPS], out->eps);
    return LACIS_OK;
}
