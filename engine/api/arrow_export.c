/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays given to other programs through Arrow's C data interface. Nothing is copied: every ArrowArray's private data
 * holds the lacis_array, so a child that its consumer has moved out stays good when the parent is released.
 */
#include "api/arrow.h"
#include "api/engine.h"
#include "core/cells.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_NOTES = 4 };

/* What is to be exported: columns of one length, or (alone) the only one as it is. */
struct view {
    const lacis_part *column;
    int columns;
    bool alone;
    int64_t length;
    lacis_arrow_note note[MOST_NOTES];
    int notes;
};

/* ------------------------------------------------------------------------------------------ schemas */

struct schema_block {
    lacis_memory *memory;
};

static void schema_release(struct ArrowSchema *schema)
{
    struct schema_block *block = schema->private_data;
    lacis_memory *memory = block->memory;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
    lacis_memory_free(memory, block);
    lacis_memory_release(memory);
    schema->release = NULL;
}

/* One block holds what the schema points to: its children, its name, its notes. The children are yet to be filled. */
lacis_status lacis_arrow_schema_new(lacis_run *run, const char *format, const char *name,
                                    const lacis_arrow_note *note, int notes, int children, struct ArrowSchema *out)
{
    uint64_t child_bytes = (uint64_t)children * (sizeof(struct ArrowSchema) + sizeof(struct ArrowSchema *));
    uint64_t name_bytes = strlen(name) + 1, note_bytes = notes > 0 ? lacis_arrow_notes_size(note, notes) : 0;
    struct schema_block *block;
    LACIS_TRY(lacis_run_alloc(run, sizeof *block + child_bytes + name_bytes + note_bytes, &block));
    block->memory = lacis_memory_retain(run->host->memory);
    struct ArrowSchema *child = (struct ArrowSchema *)(block + 1);
    struct ArrowSchema **pointer = (struct ArrowSchema **)(child + children);
    char *text = (char *)(pointer + children);
    memset(child, 0, sizeof *child * (size_t)children);
    for (int i = 0; i < children; i++)
        pointer[i] = &child[i];
    memcpy(text, name, name_bytes);
    if (notes > 0) lacis_arrow_notes_write(note, notes, text + name_bytes);
    *out = (struct ArrowSchema){.format = format,
                                .name = text,
                                .metadata = notes > 0 ? text + name_bytes : NULL,
                                .n_children = children,
                                .children = children > 0 ? pointer : NULL,
                                .release = schema_release,
                                .private_data = block};
    return LACIS_OK;
}

static lacis_status schema_of_column(lacis_run *run, const lacis_part *column, const char *name,
                                     struct ArrowSchema *out)
{
    const char *number = lacis_arrow_number(column->dtype), *list = lacis_arrow_list(column->dtype);
    if (list == NULL) return lacis_arrow_schema_new(run, number, name, NULL, 0, 0, out);
    const lacis_arrow_note note = {LACIS_ARROW_TYPE, lacis_dtype_name(column->dtype)};
    LACIS_TRY(lacis_arrow_schema_new(run, list, name, &note, 1, 1, out));
    return lacis_arrow_schema_new(run, number, "item", NULL, 0, 0, out->children[0]);
}

static lacis_status schema_of(lacis_run *run, const struct view *view, struct ArrowSchema *out)
{
    if (view->alone) return schema_of_column(run, view->column, "", out);
    LACIS_TRY(lacis_arrow_schema_new(run, "+s", "", view->note, view->notes, view->columns, out));
    for (int i = 0; i < view->columns; i++)
        LACIS_TRY(schema_of_column(run, &view->column[i], view->column[i].name, out->children[i]));
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- arrays */

struct array_block {
    lacis_memory *memory;
    lacis_array *held;
    const void *buffer[2]; /* validity, which nobody needs; values */
};

static void array_release(struct ArrowArray *array)
{
    struct array_block *block = array->private_data;
    lacis_memory *memory = block->memory;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
    lacis_array_release(block->held);
    lacis_memory_free(memory, block);
    lacis_memory_release(memory);
    array->release = NULL;
}

static lacis_status array_new(lacis_run *run, const lacis_array *held, int64_t length, const void *data, int children,
                              struct ArrowArray *out)
{
    uint64_t child_bytes = (uint64_t)children * (sizeof(struct ArrowArray) + sizeof(struct ArrowArray *));
    struct array_block *block;
    LACIS_TRY(lacis_run_alloc(run, sizeof *block + child_bytes, &block));
    *block = (struct array_block){lacis_memory_retain(run->host->memory), lacis_array_retain(held), {NULL, data}};
    struct ArrowArray *child = (struct ArrowArray *)(block + 1);
    struct ArrowArray **pointer = (struct ArrowArray **)(child + children);
    memset(child, 0, sizeof *child * (size_t)children);
    for (int i = 0; i < children; i++)
        pointer[i] = &child[i];
    *out = (struct ArrowArray){.length = length,
                               .n_buffers = children > 0 ? 1 : 2,
                               .n_children = children,
                               .buffers = block->buffer,
                               .children = children > 0 ? pointer : NULL,
                               .release = array_release,
                               .private_data = block};
    return LACIS_OK;
}

static lacis_status array_of_column(lacis_run *run, const lacis_array *held, const lacis_part *column,
                                    struct ArrowArray *out)
{
    int numbers = lacis_cells_of(column->dtype);
    if (numbers == 1) return array_new(run, held, column->count, column->data, 0, out);
    LACIS_TRY(array_new(run, held, column->count, NULL, 1, out));
    return array_new(run, held, column->count * numbers, column->data, 0, out->children[0]);
}

static lacis_status array_of(lacis_run *run, const lacis_array *held, const struct view *view, struct ArrowArray *out)
{
    if (view->alone) return array_of_column(run, held, view->column, out);
    LACIS_TRY(array_new(run, held, view->length, NULL, view->columns, out));
    out->n_buffers = 1; /* of a table without columns as well */
    for (int i = 0; i < view->columns; i++)
        LACIS_TRY(array_of_column(run, held, &view->column[i], out->children[i]));
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------- what is exported */

static lacis_status note(lacis_run *run, struct view *view, const char *key, const char *value)
{
    if (value == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    view->note[view->notes++] = (lacis_arrow_note){key, value};
    return LACIS_OK;
}

/* Parts that say something of the whole array are notes, not columns. */
static lacis_status note_part(lacis_run *run, lacis_kind kind, const lacis_part *part, struct view *view, bool *noted)
{
    const int64_t *whole = part->data;
    *noted = true;
    if (kind == LACIS_BODIES && strcmp(part->name, "time") == 0)
        return note(run, view, "lacis.time", lacis_run_text(run, "%.17g", *(const double *)part->data));
    if (kind == LACIS_GRID && strcmp(part->name, "step") == 0)
        return note(run, view, "lacis.step", lacis_run_text(run, "%" PRId64, whole[0]));
    *noted = kind == LACIS_GRID && strcmp(part->name, "shape") == 0;
    if (!*noted) return LACIS_OK;
    const char *text = lacis_run_text(run, "%" PRId64, whole[0]);
    for (int64_t i = 1; text != NULL && i < part->count; i++)
        text = lacis_run_text(run, "%s,%" PRId64, text, whole[i]);
    return note(run, view, "lacis.shape", text);
}

static lacis_status add_column(lacis_run *run, const lacis_part *part, struct view *view, lacis_part *column)
{
    if (lacis_arrow_number(part->dtype) == NULL)
        return lacis_run_fail(run, LACIS_TYPE, "column \"%s\" is of type %s, which Arrow has no counterpart of",
                              part->name, lacis_dtype_name(part->dtype));
    if (view->columns > 0 && part->count != view->length)
        return lacis_run_fail(run, LACIS_TYPE, "column \"%s\" has %" PRId64 " elements, the others %" PRId64,
                              part->name, part->count, view->length);
    view->length = part->count;
    column[view->columns++] = *part;
    return LACIS_OK;
}

static const char *kind_name(lacis_kind kind)
{
    static const char *const name[] = {"graph",  "vector", "table", "batch of systems", "symmetric matrix",
                                       "bodies", "grid"};
    return name[kind];
}

static lacis_status view_of(lacis_run *run, const lacis_array *array, struct view *view)
{
    lacis_kind kind = lacis_array_kind(array);
    int parts = lacis_array_part_count(array);
    lacis_part *column, part;
    *view = (struct view){.length = lacis_array_extent(array, 0)};
    if (kind == LACIS_CSR || kind == LACIS_SYMMETRIC || kind == LACIS_INTERLEAVED)
        return lacis_run_fail_at(run, LACIS_TYPE, -1, "LET t = SELECT * FROM it; makes a table of it, which fits",
                                 "a %s has no columns of one length for Arrow", kind_name(kind));
    LACIS_TRY(lacis_run_scratch(run, sizeof *column * (uint64_t)(parts + 1), &column));
    view->column = column;
    if (kind != LACIS_VECTOR) LACIS_TRY(note(run, view, "lacis.kind", kind_name(kind)));
    for (int i = 0; i < parts && lacis_array_part(array, i, &part) == LACIS_OK; i++) {
        bool noted;
        LACIS_TRY(note_part(run, kind, &part, view, &noted));
        if (!noted) LACIS_TRY(add_column(run, &part, view, column));
    }
    view->alone = kind == LACIS_VECTOR && view->columns == 1;
    for (int i = 0; kind == LACIS_VECTOR && i < view->columns; i++)
        column[i].name = strcmp(column[i].name, "index") == 0 ? "i" : "value";
    return LACIS_OK;
}

static lacis_status export(lacis_run *run, const lacis_array *array, struct ArrowSchema *schema,
                           struct ArrowArray *out)
{
    struct view view;
    LACIS_TRY(view_of(run, array, &view));
    LACIS_TRY(schema_of(run, &view, schema));
    return array_of(run, array, &view, out);
}

lacis_status lacis_array_export_arrow(lacis_engine *engine, const lacis_array *array, struct ArrowSchema *schema,
                                      struct ArrowArray *out)
{
    if (schema != NULL) schema->release = NULL;
    if (out != NULL) out->release = NULL;
    if (!lacis_engine_usable(engine) || array == NULL || schema == NULL || out == NULL) return LACIS_MISUSE;
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_status status = export(&run, array, schema, out);
    if (status != LACIS_OK && schema->release != NULL) schema->release(schema);
    if (status != LACIS_OK && out->release != NULL) out->release(out);
    lacis_run_clear(&run);
    return status;
}
