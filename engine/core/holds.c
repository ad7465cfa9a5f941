/* SPDX-License-Identifier: Apache-2.0
 *
 * What formats hold, in words; see holds.h.
 */
#include "core/holds.h"
#include "core/grid.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------- forms */

lacis_status lacis_outline_of(lacis_run *run, const lacis_array *array, lacis_outline_room *room, lacis_outline *out)
{
    lacis_grid grid;
    *out = (lacis_outline){.kind = lacis_array_kind(array), .dtype = lacis_array_dtype(array)};
    if (out->kind == LACIS_TABLE) out->fields = lacis_array_part_count(array);
    if (out->kind != LACIS_GRID) return LACIS_OK;
    LACIS_TRY(lacis_grid_view(run, array, &grid));
    memcpy(room->name, grid.name, sizeof room->name);
    out->dims = grid.dims;
    out->fields = grid.fields;
    out->name = room->name;
    return LACIS_OK;
}

void lacis_outline_of_call(const lacis_call *call, lacis_outline_room *room, lacis_outline *out)
{
    *out = (lacis_outline){.kind = call->kind, .dtype = call->dtype};
    if (out->kind == LACIS_TABLE) out->fields = call->columns;
    if (out->kind != LACIS_GRID) return;
    out->dims = lacis_grid_dims_of(call->extent);
    out->fields = call->column == NULL ? 1 : call->columns;
    for (int i = 0; call->column != NULL && i < call->columns && i < LACIS_GRID_FIELDS; i++)
        room->name[i] = call->column[i].name;
    out->name = call->column == NULL ? NULL : room->name;
}

/* ------------------------------------------------------------------------------------------- words */

static const char *const one_of[] = {[LACIS_CSR] = "a graph",
                                     [LACIS_VECTOR] = "a vector",
                                     [LACIS_TABLE] = "a table",
                                     [LACIS_INTERLEAVED] = "a batch of systems",
                                     [LACIS_SYMMETRIC] = "a symmetric matrix",
                                     [LACIS_BODIES] = "a set of bodies",
                                     [LACIS_GRID] = "a grid"};
static const char *const many_of[] = {[LACIS_CSR] = "graphs",
                                      [LACIS_VECTOR] = "vectors",
                                      [LACIS_TABLE] = "tables",
                                      [LACIS_INTERLEAVED] = "batches of systems",
                                      [LACIS_SYMMETRIC] = "symmetric matrices",
                                      [LACIS_BODIES] = "bodies",
                                      [LACIS_GRID] = "grids"};

typedef struct words {
    char *text;
    size_t size, used;
    int listed;
} words;

static void add(words *w, const char *more)
{
    const size_t length = strlen(more), left = w->size - w->used;
    const size_t take = length < left ? length : left - 1;
    memcpy(w->text + w->used, more, take);
    w->used += take;
    w->text[w->used] = '\0';
}

/* "a", "a and b", "a, b and c". */
static void list(words *w, const char *one, bool last)
{
    if (w->listed > 0) add(w, last ? " and " : ", ");
    add(w, one);
    w->listed++;
}

static words begin(char *text, size_t size, const char *name)
{
    words w = {.text = text, .size = size};
    add(&w, name);
    return w;
}

static void say_kinds(words *w, const lacis_loader *loader, lacis_kind kind)
{
    add(w, " holds ");
    for (int i = 0; i < loader->holdings; i++)
        list(w, many_of[loader->holds[i].kind], i == loader->holdings - 1);
    add(w, ", and this is ");
    add(w, one_of[kind]);
}

static void say_types(words *w, const lacis_holding *holding, lacis_dtype dtype)
{
    uint32_t left = holding->types;
    add(w, " holds ");
    add(w, many_of[holding->kind]);
    add(w, " of ");
    for (int type = 0; left != 0; type++) {
        const uint32_t bit = LACIS_TYPE_BIT(type);
        if ((left & bit) == 0) continue;
        left &= ~bit;
        list(w, lacis_dtype_name((lacis_dtype)type), left == 0);
    }
    add(w, ", and these values are ");
    add(w, lacis_dtype_name(dtype));
}

static void say_count(words *w, lacis_kind kind, const char *what, int most, int given)
{
    char text[100];
    snprintf(text, sizeof text, " holds %s of at most %d %s%s, and the %s has %d", many_of[kind], most, what,
             most == 1 ? "" : "s", kind == LACIS_TABLE ? "table" : "grid", given);
    add(w, text);
}

/* ------------------------------------------------------------------------------------------ whether */

static const lacis_holding *holding_of(const lacis_loader *loader, lacis_kind kind)
{
    for (int i = 0; i < loader->holdings; i++)
        if (loader->holds[i].kind == kind) return &loader->holds[i];
    return NULL;
}

static bool typed(const lacis_outline *form)
{
    return form->kind != LACIS_TABLE && form->kind != LACIS_INTERLEAVED;
}

static bool named_well(const lacis_holding *holding, const lacis_outline *form, words *w)
{
    for (int i = 0; holding->fault != NULL && form->name != NULL && i < form->fields; i++) {
        const char *fault = holding->fault(form->name[i]);
        if (fault == NULL) continue;
        add(w, ": field '");
        add(w, form->name[i]);
        add(w, "' ");
        add(w, fault);
        add(w, ", and no field of this format may; rename it");
        return false;
    }
    return true;
}

bool lacis_loader_holds(const lacis_loader *loader, const lacis_outline *form, lacis_status *code, char *why,
                        size_t size)
{
    words w = begin(why, size, loader->name);
    *code = LACIS_TYPE;
    if (loader->holds == NULL) return true;
    const lacis_holding *holding = holding_of(loader, form->kind);
    if (holding == NULL) {
        say_kinds(&w, loader, form->kind);
        return false;
    }
    if (holding->types != 0 && typed(form) && (holding->types & LACIS_TYPE_BIT(form->dtype)) == 0) {
        say_types(&w, holding, form->dtype);
        return false;
    }
    if (holding->dims > 0 && form->dims > holding->dims) {
        say_count(&w, form->kind, "dimension", holding->dims, form->dims);
        return false;
    }
    if (holding->fields > 0 && form->fields > holding->fields) {
        say_count(&w, form->kind, form->kind == LACIS_TABLE ? "column" : "field", holding->fields, form->fields);
        return false;
    }
    *code = LACIS_NAME;
    return named_well(holding, form, &w);
}
