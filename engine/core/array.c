/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays: a kind, a type, extents and named parts that point into counted buffers. Built once, then immutable and
 * shared.
 */
#include "core/attached.h"
#include "core/batch.h"
#include "core/cells.h"
#include "core/device.h"
#include "core/grid.h"
#include "core/run.h"
#include "core/symmetric.h"

#include <string.h>

enum { NAME_TEXT = 64 };

struct part {
    lacis_part shown;
    lacis_buffer *buffer;
    uint64_t offset;
    char name[NAME_TEXT];
    char further[3][NAME_TEXT + 6]; /* of the columns of its other numbers, where it is a field */
};

struct lacis_array {
    atomic_int holders;
    uint64_t number;
    lacis_memory *memory;
    lacis_kind kind;
    lacis_dtype dtype;
    int64_t extent[2];
    int64_t base[2];
    int64_t entries; /* of a loose csr, whose columns part is longer; -1: the part says */
    struct part **part;
    int parts, room;
    lacis_attached *attached;      /* tables that go with it, until it is entered in the catalog */
    _Atomic(lacis_buffer *) aside; /* what was found out about it later; NULL: nothing */
};

/* Arrays made so far: arrays may go from one engine to another, and must not be taken for each other then. */
static _Atomic uint64_t made;

lacis_status lacis_array_new(lacis_run *run, lacis_kind kind, lacis_dtype dtype, int64_t extent0, int64_t extent1,
                             lacis_array **out)
{
    lacis_array *array;
    LACIS_TRY(lacis_run_alloc(run, sizeof *array, &array));
    memset(array, 0, sizeof *array);
    array->holders = 1;
    array->number = atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) + 1;
    array->memory = lacis_memory_retain(run->host->memory);
    array->kind = kind;
    array->dtype = dtype;
    array->extent[0] = extent0;
    array->extent[1] = extent1;
    array->entries = -1;
    *out = array;
    return LACIS_OK;
}

static lacis_status make_room(lacis_run *run, lacis_array *array)
{
    if (array->parts < array->room) return LACIS_OK;
    int room = array->room == 0 ? 8 : 2 * array->room;
    struct part **grown;
    LACIS_TRY(lacis_run_alloc(run, sizeof(struct part *) * (uint64_t)room, &grown));
    if (array->parts > 0) memcpy(grown, array->part, sizeof(struct part *) * (size_t)array->parts);
    lacis_run_free(run, array->part);
    array->part = grown;
    array->room = room;
    return LACIS_OK;
}

lacis_status lacis_array_add(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                             lacis_buffer *buffer, uint64_t offset)
{
    if (strlen(name) >= NAME_TEXT)
        return lacis_run_fail(run, LACIS_RANGE, "the column name \"%.20s...\" is longer than %d bytes", name,
                              NAME_TEXT - 1);
    LACIS_TRY(make_room(run, array));
    struct part *part;
    LACIS_TRY(lacis_run_alloc(run, sizeof *part, &part));
    memcpy(part->name, name, strlen(name) + 1);
    for (int k = 1; k < lacis_cells_of(dtype); k++)
        snprintf(part->further[k - 1], sizeof part->further[0], "%s%s", name, lacis_field_ending(dtype, k));
    part->buffer = lacis_buffer_retain(buffer);
    part->offset = offset;
    part->shown = (lacis_part){part->name, dtype, count, (const char *)lacis_buffer_data(buffer) + offset};
    array->part[array->parts++] = part;
    return LACIS_OK;
}

void lacis_array_set_base(lacis_array *array, int dimension, int64_t base)
{
    if (dimension == 0 || dimension == 1) array->base[dimension] = base;
}

int64_t lacis_array_base(const lacis_array *array, int dimension)
{
    return dimension == 0 || dimension == 1 ? array->base[dimension] : 0;
}

lacis_array *lacis_array_retain(const lacis_array *array)
{
    lacis_array *held;
    memcpy(&held, &array, sizeof held); /* counting holders does not change what the array is */
    atomic_fetch_add_explicit(&held->holders, 1, memory_order_relaxed);
    return held;
}

void lacis_array_release(lacis_array *array)
{
    if (array == NULL || atomic_fetch_sub(&array->holders, 1) != 1) return;
    lacis_memory *memory = array->memory;
    for (int i = 0; i < array->parts; i++) {
        lacis_buffer_release(array->part[i]->buffer);
        lacis_memory_free(memory, array->part[i]);
    }
    lacis_array_detach(array);
    lacis_buffer_release(atomic_load(&array->aside));
    lacis_memory_free(memory, array->part);
    lacis_memory_free(memory, array);
    lacis_memory_release(memory);
}

uint64_t lacis_array_number(const lacis_array *array)
{
    return array->number;
}

lacis_kind lacis_array_kind(const lacis_array *array)
{
    return array->kind;
}

lacis_dtype lacis_array_dtype(const lacis_array *array)
{
    return array->dtype;
}

int64_t lacis_array_extent(const lacis_array *array, int dimension)
{
    return dimension == 0 || dimension == 1 ? array->extent[dimension] : 0;
}

int lacis_array_part_count(const lacis_array *array)
{
    return array->parts;
}

lacis_status lacis_array_part(const lacis_array *array, int index, lacis_part *part)
{
    if (index < 0 || index >= array->parts) return LACIS_RANGE;
    *part = array->part[index]->shown;
    return LACIS_OK;
}

const char *lacis_field_ending(lacis_dtype dtype, int component)
{
    static const char *const ending[] = {"", "_lo", "_im", "_im_lo"};
    return ending[dtype == LACIS_C64 || dtype == LACIS_C128 ? 2 * component : component];
}

const char *lacis_array_further_name(const lacis_array *array, int index, int component)
{
    return array->part[index]->further[component - 1];
}

static const struct part *named(const lacis_array *array, const char *name)
{
    for (int i = 0; i < array->parts; i++)
        if (strcmp(array->part[i]->name, name) == 0) return array->part[i];
    return NULL;
}

const lacis_part *lacis_array_part_named(const lacis_array *array, const char *name)
{
    const struct part *part = named(array, name);
    return part == NULL ? NULL : &part->shown;
}

lacis_buffer *lacis_array_part_buffer(const lacis_array *array, const char *name, uint64_t *offset)
{
    const struct part *part = named(array, name);
    if (part == NULL) return NULL;
    if (offset != NULL) *offset = part->offset;
    return part->buffer;
}

lacis_buffer *lacis_array_part_own(const lacis_array *array, const char *name, uint64_t *offset)
{
    lacis_buffer *buffer = lacis_array_part_buffer(array, name, offset);
    bool own = buffer != NULL && atomic_load(&array->holders) == 1 && lacis_buffer_alone(buffer);
    return own ? buffer : NULL;
}

lacis_attached **lacis_array_attached(lacis_array *array)
{
    return &array->attached;
}

lacis_buffer *lacis_array_aside(const lacis_array *array)
{
    return atomic_load(&array->aside);
}

lacis_buffer *lacis_array_set_aside(const lacis_array *array, lacis_buffer *buffer)
{
    lacis_array *kept;
    lacis_buffer *first = NULL;
    memcpy(&kept, &array, sizeof kept); /* what is known of it does not change what the array is */
    if (atomic_compare_exchange_strong(&kept->aside, &first, buffer)) return buffer;
    lacis_buffer_release(buffer);
    return first;
}

/* ---------------------------------------------------------------------------------------------- csr */

int64_t lacis_array_entries(const lacis_array *array)
{
    if (array->entries >= 0) return array->entries;
    const char *name = array->kind == LACIS_CSR ? "columns" : array->kind == LACIS_VECTOR ? "values" : NULL;
    if (array->kind == LACIS_INTERLEAVED) return lacis_batch_elements(array);
    if (array->kind == LACIS_SYMMETRIC) return lacis_symmetric_elements(array);
    if (array->kind == LACIS_GRID) return lacis_grid_cells(array);
    if (name == NULL) return array->extent[0];
    const lacis_part *part = lacis_array_part_named(array, name);
    return part == NULL ? 0 : part->count;
}

uint64_t lacis_array_bytes(const lacis_array *array)
{
    uint64_t bytes = 0;
    for (int i = 0; i < array->parts; i++) {
        const lacis_part *part = &array->part[i]->shown;
        bool per_entry = strcmp(part->name, "columns") == 0 || strcmp(part->name, "values") == 0;
        int64_t count = array->kind == LACIS_CSR && per_entry ? lacis_array_entries(array) : part->count;
        bytes += (uint64_t)count * lacis_dtype_size(part->dtype);
    }
    return bytes;
}

static const void *part_data(const lacis_array *array, const char *name)
{
    const lacis_part *part = lacis_array_part_named(array, name);
    return part == NULL ? NULL : part->data;
}

void lacis_csr_view(const lacis_array *array, lacis_csr *out)
{
    const lacis_part *values = lacis_array_part_named(array, "values");
    const int64_t *offsets = part_data(array, "offsets");
    *out = (lacis_csr){
        .rows = array->extent[0],
        .cols = array->extent[1],
        .entries = lacis_array_entries(array),
        .begin = offsets != NULL ? offsets : part_data(array, "begin"),
        .end = offsets != NULL ? offsets + 1 : part_data(array, "end"),
        .column = part_data(array, "columns"),
        .value = values == NULL ? NULL : values->data,
        .storage = values == NULL ? LACIS_PATTERN : values->dtype,
        .dtype = array->dtype,
        .row_label = part_data(array, "row_labels"),
        .col_label = part_data(array, "col_labels"),
        .row_base = array->base[0],
        .col_base = array->base[1],
    };
}

static lacis_status add_part(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                             lacis_buffer *buffer)
{
    if (buffer == NULL) return LACIS_OK;
    return lacis_array_add(run, array, name, dtype, count, buffer, 0);
}

static lacis_status add_csr_parts(lacis_run *run, lacis_array *array, const lacis_csr_parts *parts)
{
    bool loose = parts->end != NULL;
    /* The columns of loose rows lie scattered over the whole buffer. */
    int64_t places = loose ? (int64_t)(lacis_buffer_size(parts->columns) / sizeof(uint32_t)) : parts->entries;
    LACIS_TRY(
        add_part(run, array, loose ? "begin" : "offsets", LACIS_I64, parts->rows + (loose ? 0 : 1), parts->begin));
    LACIS_TRY(add_part(run, array, "end", LACIS_I64, parts->rows, parts->end));
    LACIS_TRY(add_part(run, array, "columns", LACIS_U32, places, parts->columns));
    if (parts->dtype != LACIS_PATTERN)
        LACIS_TRY(add_part(run, array, "values", parts->storage, places, parts->values));
    LACIS_TRY(add_part(run, array, "row_labels", LACIS_I64, parts->rows, parts->row_labels));
    return add_part(run, array, "col_labels", LACIS_I64, parts->cols, parts->col_labels);
}

lacis_status lacis_csr_new(lacis_run *run, const lacis_csr_parts *parts, lacis_array **out)
{
    lacis_array *array;
    LACIS_TRY(lacis_array_new(run, LACIS_CSR, parts->dtype, parts->rows, parts->cols, &array));
    array->base[0] = parts->row_base;
    array->base[1] = parts->col_base;
    array->entries = parts->entries;
    lacis_status status = add_csr_parts(run, array, parts);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}
