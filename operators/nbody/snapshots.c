/* SPDX-License-Identifier: Apache-2.0
 *
 * A system read off as an array of bodies, and the files that NBODY ... EVERY k TO writes of it.
 */
#include "nbody/steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What left the numbers says that steps are too long, or that two bodies met. */
static lacis_status check_numbers(lacis_run *run, const lacis_nbody_work *work, const lacis_bodies *b, double time)
{
    const void *const column[] = {b->x, b->y, b->z, b->vx, b->vy, b->vz, b->ax, b->ay, b->az};
    for (int c = 0; c < LACIS_COUNT(column); c++)
        for (int64_t i = 0; i < b->count; i++)
            if (!isfinite(lacis_value_double(column[c], b->dtype, i)))
                return lacis_run_fail_at(run, LACIS_RANGE, -1,
                                         work->type == LACIS_NBODY_F32 ? "a shorter DT, SOFTEN, or TYPE f64"
                                                                       : "a shorter DT, or SOFTEN",
                                         "body %" PRId64 " is nowhere any more at t = %g: its figures left the "
                                         "numbers",
                                         lacis_label(b->id, b->base, i), time);
    return LACIS_OK;
}

static lacis_nbody_columns columns_of(const lacis_bodies *b)
{
    const void *const from[] = {b->x, b->y, b->z, b->vx, b->vy, b->vz, b->ax, b->ay, b->az, b->phi};
    lacis_nbody_columns to;
    void **const into[] = {&to.x, &to.y, &to.z, &to.vx, &to.vy, &to.vz, &to.ax, &to.ay, &to.az, &to.phi};
    for (int i = 0; i < LACIS_COUNT(from); i++)
        *into[i] = (void *)(uintptr_t)from[i]; /* of an array that is ours to fill */
    return to;
}

lacis_status lacis_nbody_bodies_at(lacis_nbody_system *system, const lacis_nbody_input *input, double time,
                                   lacis_array **out)
{
    lacis_bodies bodies;
    lacis_array *array = NULL;
    LACIS_TRY(lacis_nbody_new_bodies(system->run, system->work, input, time, &array, &bodies));
    const lacis_nbody_columns into = columns_of(&bodies);
    lacis_status status = system->kind->read(system, &into);
    if (status == LACIS_OK) status = check_numbers(system->run, system->work, &bodies, time);
    if (status == LACIS_OK)
        *out = array;
    else
        lacis_array_release(array);
    return status;
}

/* The file of a step: its number in place of the *, with zeros so that names sort as numbers. */
static const char *file_of(lacis_run *run, const lacis_nbody_work *work, int64_t step)
{
    char digits[32];
    const char *star = strchr(work->to, '*');
    const int width = snprintf(digits, sizeof digits, "%" PRId64, work->steps);
    return lacis_run_text(run, "%.*s%0*" PRId64 "%s", (int)(star - work->to), work->to, width, step, star + 1);
}

lacis_status lacis_nbody_snapshot(lacis_nbody_system *system, const lacis_nbody_input *input, int64_t step,
                                  double time)
{
    lacis_array *array = NULL;
    const char *path = file_of(system->run, system->work, step);
    if (path == NULL) return lacis_run_fail(system->run, LACIS_NOMEM, "out of memory");
    LACIS_TRY(lacis_nbody_bodies_at(system, input, time, &array));
    lacis_status status = lacis_run_save(system->run, array, path);
    lacis_array_release(array);
    return status;
}
