/* SPDX-License-Identifier: Apache-2.0
 *
 * What names mean to SQL: columns and row estimates of arrays and views, and their rows. Describing a view takes a
 * bind; answers are kept until the catalog changes.
 */
#include "core/grid.h"
#include "exec/exec.h"

#include <string.h>
#include <strings.h>

enum { KEPT = 64, NAME_TEXT = 64 };
struct shape {
    lacis_columns columns;
    double rows, first;
    int64_t extent[3];
};
/* Names of columns outlive the arrays that a description takes them from: they stay as long as the engine. */
struct kept_name {
    struct kept_name *next;
    char text[];
};
struct described {
    struct kept_name *names;
    uint64_t generation; /* lacis_catalog_generation */
    int count;
    struct {
        char name[NAME_TEXT];
        struct shape shape;
    } view[KEPT];
};

static bool recall(lacis_world *world, const char *name, struct shape *out)
{
    struct described *kept = world->described;
    if (kept == NULL || kept->generation != lacis_catalog_generation(world->catalog)) return false;
    for (int i = 0; i < kept->count; i++) {
        if (strcasecmp(kept->view[i].name, name) != 0) continue;
        *out = kept->view[i].shape;
        return true;
    }
    return false;
}

static struct described *descriptions(lacis_world *world)
{
    if (world->described == NULL) {
        world->described = lacis_memory_alloc(world->host->memory, sizeof *world->described);
        if (world->described == NULL) return NULL;
        world->described->names = NULL;
        world->described->count = 0;
        world->described->generation = lacis_catalog_generation(world->catalog);
    }
    return world->described;
}

static const char *keep_name(lacis_world *world, const char *name)
{
    struct described *kept = descriptions(world);
    if (kept == NULL) return NULL;
    for (struct kept_name *at = kept->names; at != NULL; at = at->next)
        if (strcmp(at->text, name) == 0) return at->text;
    size_t bytes = strlen(name) + 1;
    struct kept_name *fresh = lacis_memory_alloc(world->host->memory, sizeof *fresh + bytes);
    if (fresh == NULL) return NULL;
    memcpy(fresh->text, name, bytes);
    fresh->next = kept->names;
    kept->names = fresh;
    return fresh->text;
}

static lacis_status keep_names(lacis_world *world, lacis_run *run, lacis_columns *columns)
{
    for (int i = 0; i < columns->count; i++) {
        columns->name[i] = keep_name(world, columns->name[i]);
        if (columns->name[i] == NULL) return lacis_run_no_memory(run, 0);
    }
    return LACIS_OK;
}

/* Keeping is a convenience: without memory for it the view is described again. */
static void keep(lacis_world *world, const char *name, const struct shape *shape)
{
    struct described *kept = descriptions(world);
    if (strlen(name) >= NAME_TEXT || kept == NULL) return;
    if (kept->generation != lacis_catalog_generation(world->catalog)) {
        kept->generation = lacis_catalog_generation(world->catalog);
        kept->count = 0;
    }
    if (kept->count == KEPT) return;
    int at = kept->count++;
    memcpy(kept->view[at].name, name, strlen(name) + 1);
    kept->view[at].shape = *shape;
}

void lacis_exec_forget(lacis_world *world)
{
    struct described *kept = world->described;
    while (kept != NULL && kept->names != NULL) {
        struct kept_name *name = kept->names;
        kept->names = name->next;
        lacis_memory_free(world->host->memory, name);
    }
    lacis_memory_free(world->host->memory, kept);
    world->described = NULL;
}

/* Of a grid they are known. */
static void grid_rows(const lacis_call *call, struct shape *out)
{
    out->rows = 1;
    for (int d = 0; d < out->columns.keys; d++) {
        out->extent[d] = call->extent[d];
        out->rows *= (double)call->extent[d];
    }
    out->first = 1;
}

/* A bind that is restricted to no row at all gives the kind and type and costs next to nothing. Rows are guessed from
 * the operands: a product of graphs has several times their entries. */
static lacis_status describe_call(lacis_world *world, lacis_run *run, const char *text, struct shape *out)
{
    static const lacis_restriction nothing = {.lo = 1, .hi = 0, .lo1 = INT64_MIN, .hi1 = INT64_MAX};
    const lacis_bindings none = {NULL, 0};
    const double growth = 8;
    lacis_call *call;
    LACIS_TRY(lacis_lang_call(run, world->registry, text, &none, &call));
    lacis_status status = lacis_exec_bind(world, run, call, &nothing);
    if (status == LACIS_OK) {
        int64_t most = 1, rows = 1;
        for (int i = 0; i < call->arg_count; i++) {
            const lacis_item *item = &call->args[i].item[0];
            if (item->array == NULL) continue;
            /* Of a view nothing was computed: as if it had eight entries a column and as many rows as columns. */
            int64_t across = lacis_array_extent(item->array, 1), down = lacis_array_extent(item->array, 0);
            int64_t entries = item->partial ? 8 * across : lacis_array_entries(item->array);
            if (item->partial) down = across;
            if (entries > most) most = entries;
            if (i == 0 && down > 0) rows = down;
        }
        double estimate = growth * (double)most;
        lacis_columns_of_call(call, &out->columns);
        out->rows = estimate;
        out->first = estimate / (double)rows;
        if (call->kind == LACIS_GRID) grid_rows(call, out);
        status = keep_names(world, run, &out->columns);
    }
    lacis_exec_unbind(run, call);
    return status;
}

static lacis_status describe_view(lacis_world *world, const char *name, const char *text, lacis_relation *out)
{
    struct shape shape = {0};
    if (!recall(world, name, &shape)) {
        lacis_run inner;
        lacis_run_init(&inner, world->host);
        lacis_status status = describe_call(world, &inner, text, &shape);
        lacis_run_clear(&inner);
        LACIS_TRY(status);
        keep(world, name, &shape);
    }
    out->columns = shape.columns;
    out->rows = shape.rows;
    out->first = shape.first < 1 ? 1 : shape.first;
    memcpy(out->extent, shape.extent, sizeof out->extent);
    return LACIS_OK;
}

lacis_status lacis_exec_describe(void *context, lacis_run *run, const char *name, lacis_relation *out)
{
    lacis_world *world = context;
    lacis_entry entry;
    if (!lacis_catalog_find(world->catalog, name, &entry))
        return lacis_run_fail(run, LACIS_NAME, "there is no array or view \"%s\"", name);
    if (entry.view != NULL) return describe_view(world, name, entry.view, out);
    lacis_array *array = NULL;
    bool own = entry.kind == LACIS_TABLE || entry.kind == LACIS_INTERLEAVED || entry.kind == LACIS_BODIES ||
               entry.kind == LACIS_GRID;
    if (own) LACIS_TRY(lacis_catalog_get(run, world->catalog, name, -1, &array));
    if (own)
        lacis_columns_of(entry.kind, entry.dtype, array, &out->columns);
    else
        lacis_columns_of_shape(entry.kind, entry.dtype, entry.extent, &out->columns);
    lacis_array_release(array); /* the catalog holds it, and the names with it */
    bool rows = (entry.kind == LACIS_CSR || entry.kind == LACIS_INTERLEAVED) && entry.extent[0] > 0;
    out->rows = (double)entry.entries;
    out->first = rows ? out->rows / (double)entry.extent[0] : 1;
    if (entry.kind == LACIS_SYMMETRIC && out->rows > 0)
        out->first = out->rows / (double)entry.extent[entry.extent[1] != 1];
    if (out->first < 1) out->first = 1;
    if (entry.kind == LACIS_GRID) lacis_grid_extents(entry.extent, entry.entries, out->columns.keys, out->extent);
    return LACIS_OK;
}

lacis_status lacis_exec_open(void *context, lacis_run *run, const char *name, const lacis_filter *filter,
                             lacis_rows **out)
{
    lacis_world *world = context;
    const lacis_bindings none = {NULL, 0};
    const char *view = lacis_catalog_view(world->catalog, name);
    if (view != NULL) return lacis_exec_rows(world, run, view, &none, filter, NULL, out);
    lacis_array *array;
    LACIS_TRY(lacis_catalog_get(run, world->catalog, name, -1, &array));
    lacis_status status = lacis_rows_of_array(run, array, filter, out);
    lacis_array_release(array);
    return status;
}

lacis_status lacis_exec_totals(lacis_world *world, lacis_run *run, const char *name, lacis_totals *out)
{
    lacis_totals_init(out);
    const char *view = lacis_catalog_view(world->catalog, name);
    if (view != NULL) return lacis_exec_sum(world, run, view, out);
    lacis_array *array;
    LACIS_TRY(lacis_catalog_get(run, world->catalog, name, -1, &array));
    lacis_status status = lacis_totals_add(run, array, out);
    lacis_array_release(array);
    return status;
}

lacis_status lacis_exec_column_totals(lacis_world *world, lacis_run *run, const char *name, const char *column,
                                      lacis_totals *out)
{
    lacis_array *array;
    lacis_totals_init(out);
    LACIS_TRY(lacis_catalog_get(run, world->catalog, name, -1, &array));
    out->count = column == NULL ? lacis_array_entries(array) : 0;
    lacis_status status = column == NULL ? LACIS_OK : lacis_totals_column(run, array, column, out);
    lacis_array_release(array);
    return status;
}
