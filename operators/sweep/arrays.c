/* SPDX-License-Identifier: Apache-2.0
 *
 * COEFF and SOURCE: the grids that a step reads and that stay. They stand behind the moving fields in work->array.
 * And what names mean. Called by bind.c, rules.c and edges.c.
 */
#include "sweep/work.h"

#include <inttypes.h>
#include <string.h>

static const char added[] = "SOURCE"; /* in place of a name, which is no word that an expression could have */

/* ------------------------------------------------------------------------------------------- names */

int lacis_sweep_field(const lacis_sweep_work *work, const char *name)
{
    for (int i = 0; i < work->grid.fields; i++)
        if (lacis_sweep_same_word(name, work->grid.name[i])) return i;
    return work->grid.fields == 1 && lacis_sweep_same_word(name, "u") ? 0 : -1;
}

int lacis_sweep_array(const lacis_sweep_work *work, const char *name)
{
    const int field = lacis_sweep_field(work, name);
    if (field >= 0) return field;
    for (int i = work->grid.fields; i < work->grid.fields + work->coefficients; i++)
        if (work->array[i].name != added && lacis_sweep_same_word(name, work->array[i].name)) return i;
    return -1;
}

int lacis_sweep_added(const lacis_sweep_work *work, int field)
{
    for (int i = work->grid.fields; i < work->grid.fields + work->coefficients; i++)
        if (work->array[i].name == added) return i + field;
    return -1;
}

const char *lacis_sweep_hint(lacis_run *run, const lacis_sweep_work *work, const char *word, bool expression)
{
    const char *name[LACIS_SWEEP_ARRAYS] = {NULL}, *all = "";
    const int arrays = work->grid.fields + (expression ? work->coefficients : 0);
    int names = 0;
    for (int i = 0; i < arrays && all != NULL; i++) {
        if (work->array[i].name == added) continue;
        name[names++] = work->array[i].name;
        all = lacis_run_text(run, "%s%s%s", all, *all != '\0' ? ", " : "", work->array[i].name);
    }
    const char *nearest = lacis_name_nearest(word, name, names);
    if (nearest != NULL) return lacis_run_text(run, "did you mean %s?", nearest);
    return all == NULL ? NULL
                       : lacis_run_text(run, "there are %s%s%s", all, work->grid.fields == 1 ? " (or u)" : "",
                                        expression ? ", x, y, z, t; COEFF name = grid brings more" : "");
}

/* ------------------------------------------------------------------------------------------- arrays */

static const char *shape_text(lacis_run *run, const lacis_grid *grid)
{
    static const char none[] = "?";
    const char *text = grid->dims == 1 ? lacis_run_text(run, "%" PRId64, grid->extent[0])
                       : grid->dims == 2
                           ? lacis_run_text(run, "%" PRId64 " x %" PRId64, grid->extent[0], grid->extent[1])
                           : lacis_run_text(run, "%" PRId64 " x %" PRId64 " x %" PRId64, grid->extent[0],
                                            grid->extent[1], grid->extent[2]);
    return text != NULL ? text : none;
}

/* A grid of this one's shape. */
static lacis_status view(lacis_run *run, const lacis_item *item, const char *clause, const lacis_sweep_work *work,
                         lacis_grid *out)
{
    const int64_t *extent = work->grid.extent;
    if (lacis_array_kind(item->array) != LACIS_GRID)
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL, "%s takes a grid", clause);
    LACIS_TRY(lacis_grid_view(run, item->array, out));
    if (out->dims == work->grid.dims && memcmp(out->extent, extent, sizeof out->extent) == 0) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL, "%s: its grid is %s, the one that is swept %s",
                             clause, shape_text(run, out), shape_text(run, &work->grid));
}

static lacis_status add(lacis_run *run, const lacis_item *item, const lacis_grid *grid, int field, const char *name,
                        lacis_sweep_work *work)
{
    const int at = work->grid.fields + work->coefficients;
    if (at == LACIS_SWEEP_ARRAYS)
        return lacis_run_fail_at(run, LACIS_LIMIT, item->offset, NULL,
                                 "SWEEP reads at most %d fields, COEFF and SOURCE", (int)LACIS_SWEEP_ARRAYS);
    work->array[at] = (lacis_sweep_source){item->array, name, grid->field[field], grid->dtype, grid->cells};
    work->coefficients++;
    return LACIS_OK;
}

static lacis_status bind_coefficient(lacis_run *run, const lacis_arg *arg, lacis_sweep_work *work)
{
    lacis_grid grid;
    const lacis_item *item = &arg->item[1];
    const char *name = arg->item[0].text;
    if (lacis_sweep_array(work, name) >= 0)
        return lacis_run_fail_at(run, LACIS_NAME, arg->item[0].offset, "take another name",
                                 "COEFF %s: there is a %s of that name already", name,
                                 lacis_sweep_field(work, name) >= 0 ? "field" : "COEFF");
    LACIS_TRY(view(run, item, "COEFF", work, &grid));
    if (grid.fields != 1)
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL, "COEFF takes a grid of one field; this has %d",
                                 grid.fields);
    return add(run, item, &grid, 0, name, work);
}

/* One field for each of the grid's, in their order. */
static lacis_status bind_source(lacis_run *run, const lacis_arg *arg, lacis_sweep_work *work)
{
    lacis_grid grid;
    const lacis_item *item = &arg->item[0];
    LACIS_TRY(view(run, item, "SOURCE", work, &grid));
    if (grid.fields != work->grid.fields)
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL,
                                 "SOURCE has a field for each of the grid's: %d, not %d", work->grid.fields,
                                 grid.fields);
    for (int i = 0; i < grid.fields; i++)
        LACIS_TRY(add(run, item, &grid, i, added, work));
    return LACIS_OK;
}

lacis_status lacis_sweep_bind_arrays(lacis_run *run, const lacis_call *call, lacis_sweep_work *work)
{
    const lacis_arg *arg, *source = lacis_call_arg(call, "SOURCE");
    for (int from = 0; (arg = lacis_sweep_next(call, "COEFF", &from)) != NULL;)
        LACIS_TRY(bind_coefficient(run, arg, work));
    return source != NULL ? bind_source(run, source, work) : LACIS_OK;
}
