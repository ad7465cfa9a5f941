/* SPDX-License-Identifier: Apache-2.0
 *
 * Results entered in the catalog under a name, with the tables that go with them, and what the summary says of them.
 * LET, LOAD and GENERATE end here.
 */
#include "core/attached.h"
#include "core/grid.h"
#include "exec/load.h"

#include <inttypes.h>
#include <string.h>

/* "symmetric, 1000 x 1000, lower, f64", "Hermitian, 20 matrices of up to 64 x 64, upper, packed, c128" */
static void describe_symmetric(const lacis_array *array, char *text, size_t size)
{
    const int64_t *shape = lacis_array_part_named(array, "shape")->data;
    int64_t n = lacis_array_extent(array, 0), matrices = lacis_array_extent(array, 1);
    char sizes[64];
    const char *most = lacis_array_part_named(array, "orders") != NULL ? "up to " : "";
    if (matrices == 1)
        snprintf(sizes, sizeof sizes, "%" PRId64 " x %" PRId64, n, n);
    else
        snprintf(sizes, sizeof sizes, "%" PRId64 " matrices of %s%" PRId64 " x %" PRId64, matrices, most, n, n);
    snprintf(text, size, "%s, %s, %s, %s%s", shape[1] != 0 ? "Hermitian" : "symmetric", sizes,
             shape[0] != 0 ? "upper" : "lower", shape[2] == 0 ? "packed, " : "",
             lacis_dtype_name(lacis_array_dtype(array)));
}

/* "bodies, 1000000, f32, softening each, t = 0.5" */
static void describe_bodies(const lacis_array *array, char *text, size_t size)
{
    const lacis_part *time = lacis_array_part_named(array, "time");
    double at = time == NULL ? 0 : *(const double *)time->data;
    char number[LACIS_NUMBER_TEXT];
    lacis_format_double(at, number);
    snprintf(text, size, "bodies, %" PRId64 ", %s%s%s%s", lacis_array_extent(array, 0),
             lacis_dtype_name(lacis_array_dtype(array)),
             lacis_array_part_named(array, "eps") == NULL ? "" : ", softening each",
             at == 0 ? "" : ", t = ", at == 0 ? "" : number);
}

/* "grid, 256 x 256, fields u, v, f32, step 500" */
static lacis_status describe_grid(lacis_run *run, const lacis_array *array, char *text, size_t size)
{
    lacis_grid grid;
    char shape[LACIS_GRID_SHAPE_TEXT], fields[LACIS_GRID_FIELDS_TEXT], step[32] = "";
    LACIS_TRY(lacis_grid_view(run, array, &grid));
    if (grid.step != 0) snprintf(step, sizeof step, ", step %" PRId64, grid.step);
    snprintf(text, size, "grid, %s, %s%s%s", lacis_grid_shape_text(grid.extent, grid.dims, shape),
             lacis_grid_fields_text(grid.name, grid.fields, fields), lacis_dtype_name(grid.dtype), step);
    return LACIS_OK;
}

static lacis_status describe(lacis_run *run, const lacis_array *array, char *text, size_t size)
{
    const char *type = lacis_dtype_name(lacis_array_dtype(array));
    int64_t rows = lacis_array_extent(array, 0), cols = lacis_array_extent(array, 1);
    bool pattern = lacis_array_dtype(array) == LACIS_PATTERN;
    int64_t entries = lacis_array_entries(array);
    switch (lacis_array_kind(array)) {
    case LACIS_CSR:
        if (rows == cols) {
            snprintf(text, size, "graph, %" PRId64 " vertices, %" PRId64 " edges%s%s", rows, entries,
                     pattern ? "" : ", values ", pattern ? "" : type);
        } else {
            snprintf(text, size, "matrix, %" PRId64 " x %" PRId64 ", %" PRId64 " entries%s%s", rows, cols, entries,
                     pattern ? "" : ", ", pattern ? "" : type);
        }
        break;
    case LACIS_VECTOR:
        snprintf(text, size, "vector of %" PRId64 ", %" PRId64 " values, %s", rows, entries, type);
        break;
    case LACIS_TABLE:
        snprintf(text, size, "table, %" PRId64 " rows, %d columns", rows, lacis_array_part_count(array));
        break;
    case LACIS_SYMMETRIC:
        describe_symmetric(array, text, size);
        break;
    case LACIS_BODIES:
        describe_bodies(array, text, size);
        break;
    case LACIS_GRID:
        return describe_grid(run, array, text, size);
    case LACIS_INTERLEAVED:
        snprintf(text, size, "batch, %" PRId64 " lanes of up to %" PRId64 " rows, %" PRId64 " elements, %s", rows,
                 cols, entries, type);
        break;
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------ tables that go with it */

/* Its name in scratch, where a table may be put under it: in the place of another table, but of nothing else. */
static lacis_status table_name(lacis_world *world, lacis_run *run, const char *name, const char *suffix,
                               const char **out)
{
    lacis_entry entry;
    *out = lacis_run_text(run, "%s_%s", name, suffix);
    if (*out == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    LACIS_TRY(lacis_catalog_may_put(run, world->catalog, *out));
    if (!lacis_catalog_find(world->catalog, *out, &entry)) return LACIS_OK;
    if (entry.view == NULL && entry.kind == LACIS_TABLE) return LACIS_OK;
    return lacis_run_fail(run, LACIS_NAME,
                          "%s comes with a table %s, and that name is another %s's: DROP it, or take another name "
                          "than %s",
                          name, entry.name, entry.view != NULL ? "view" : lacis_kind_shown(entry.kind), name);
}

lacis_status lacis_exec_check_tables(lacis_world *world, lacis_run *run, const lacis_op *op, const char *name)
{
    const char *table;
    for (int i = 0; op->tables != NULL && op->tables[i] != NULL; i++)
        LACIS_TRY(table_name(world, run, name, op->tables[i], &table));
    return LACIS_OK;
}

static lacis_status put_tables(lacis_world *world, lacis_run *run, const char *name, lacis_array *array)
{
    const char *table;
    for (const lacis_attached *at = *lacis_array_attached(array); at != NULL; at = at->next) {
        LACIS_TRY(table_name(world, run, name, at->suffix, &table));
        LACIS_TRY(lacis_catalog_put(run, world->catalog, table, at->table));
    }
    lacis_array_detach(array);
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- all */

static lacis_status put(lacis_world *world, lacis_run *run, const char *name, lacis_array *array, const char *more,
                        double started)
{
    char text[LACIS_GRID_FIELDS_TEXT + 160];
    LACIS_TRY(lacis_catalog_put(run, world->catalog, name, array));
    LACIS_TRY(put_tables(world, run, name, array));
    LACIS_TRY(describe(run, array, text, sizeof text));
    world->summary = lacis_run_text(run, "%s: %s%s (%.2f s)", name, text, more, lacis_now() - started);
    return world->summary == NULL ? lacis_run_fail(run, LACIS_NOMEM, "out of memory") : LACIS_OK;
}

lacis_status lacis_exec_put(lacis_world *world, lacis_run *run, const char *name, lacis_array *array, double started)
{
    return put(world, run, name, array, "", started);
}

/* Whatever a file says: bodies hold what bodies may. */
static lacis_status check_values(lacis_run *run, const lacis_array *array)
{
    lacis_bodies bodies;
    if (lacis_array_kind(array) != LACIS_BODIES) return LACIS_OK;
    LACIS_TRY(lacis_bodies_view(run, array, &bodies));
    return lacis_bodies_check(run, &bodies);
}

lacis_status lacis_load_put(lacis_world *world, lacis_run *run, const char *name, lacis_array *array,
                            const char *more, double started)
{
    LACIS_TRY(check_values(run, array));
    return put(world, run, name, array, more, started);
}
