/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields read off as a grid, and the files that SWEEP ... KEEP EVERY k writes of it.
 */
#include "sweep/system.h"

#include <inttypes.h>
#include <string.h>

static lacis_status fill(lacis_sweep_system *system, bool leave, const lacis_array *array, const lacis_grid *grid)
{
    void *field[LACIS_GRID_FIELDS] = {NULL};
    if (leave && system->kind->leave != NULL) return system->kind->leave(system, array, grid);
    for (int i = 0; i < grid->fields; i++)
        field[i] = (void *)(uintptr_t)grid->field[i]; /* of an array that is ours to fill */
    return system->kind->read(system, field);
}

lacis_status lacis_sweep_grid_at(lacis_sweep_system *system, int64_t step, bool leave, lacis_array **out)
{
    lacis_grid like = system->work->grid, grid;
    lacis_array *array = NULL;
    like.dtype = system->work->dtype;
    like.step = step;
    LACIS_TRY(lacis_grid_new(system->run, &like, &array, &grid));
    const lacis_status status = fill(system, leave, array, &grid);
    if (status == LACIS_OK)
        *out = array;
    else
        lacis_array_release(array);
    return status;
}

/* Zeros before the number of the last step's width, so that names sort as numbers. */
static const char *file_of(const lacis_sweep_system *system, int64_t step)
{
    char digits[32];
    const lacis_sweep_work *work = system->work;
    const char *star = strchr(work->to, '*');
    const int width = snprintf(digits, sizeof digits, "%" PRId64, work->grid.step + work->steps);
    return lacis_run_text(system->run, "%.*s%0*" PRId64 "%s", (int)(star - work->to), work->to, width, step,
                          star + 1);
}

lacis_status lacis_sweep_keep(lacis_sweep_system *system, int64_t step)
{
    lacis_array *array = NULL;
    const char *path = file_of(system, step);
    if (path == NULL) return lacis_run_fail(system->run, LACIS_NOMEM, "out of memory");
    LACIS_TRY(lacis_sweep_grid_at(system, step, false, &array));
    const lacis_status status = lacis_run_save(system->run, array, path);
    lacis_array_release(array);
    return status;
}
