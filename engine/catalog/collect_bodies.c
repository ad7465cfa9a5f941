/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies out of collected columns: m, x, y, z and whatever else bodies have, in any order. Ids that count up from row
 * to row are not kept as such.
 */
#include "catalog/collect.h"
#include "core/bodies.h"

#include <string.h>

static bool counts_up(const int64_t *id, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (id[i] != id[i - 1] + 1 || id[i - 1] == INT64_MAX) return false;
    return count == 0 || id[count - 1] < INT64_MAX;
}

static int column_named(const lacis_collected *from, const char *name)
{
    for (int c = 0; c < from->columns; c++)
        if (lacis_name_compare(from->name[c], name) == 0) return c;
    return -1;
}

/* Pointers that say what is given; nothing is read through them but ids. */
static lacis_bodies shape_of(const lacis_collected *from)
{
    lacis_bodies like = {.count = from->rows, .dtype = LACIS_F64};
    int id = column_named(from, "id");
    for (int f = 0; f < LACIS_BODIES_FIGURES; f++) {
        int column = column_named(from, lacis_bodies_figure[f]);
        if (column >= 0) lacis_bodies_set_column(&like, f, from->bits[column]);
    }
    if (id < 0) return like;
    if (!counts_up(from->bits[id], from->rows))
        like.id = from->bits[id];
    else if (from->rows > 0)
        like.base = from->bits[id][0];
    return like;
}

static void fill(const lacis_collected *from, int column, void *to)
{
    const int64_t *bits = from->bits[column];
    double *value = to;
    if (from->real[column] && from->rows > 0) memcpy(value, bits, (uint64_t)from->rows * sizeof *value);
    for (int64_t i = 0; i < from->rows && !from->real[column]; i++)
        value[i] = (double)bits[i];
}

static lacis_status fill_all(lacis_run *run, const lacis_collected *from, const lacis_array *array,
                             const lacis_bodies *bodies)
{
    for (int f = 0; f < LACIS_BODIES_FIGURES; f++) {
        int column = column_named(from, lacis_bodies_figure[f]);
        if (column < 0) continue;
        fill(from, column, lacis_buffer_data(lacis_array_part_buffer(array, lacis_bodies_figure[f], NULL)));
    }
    return lacis_bodies_check(run, bodies);
}

lacis_status lacis_collected_bodies(lacis_run *run, const lacis_collected *from, lacis_array **out)
{
    lacis_bodies like = shape_of(from), bodies;
    LACIS_TRY(lacis_bodies_new(run, &like, out, &bodies));
    lacis_status status = fill_all(run, from, *out, &bodies);
    if (status != LACIS_OK) lacis_array_release(*out);
    return status;
}
