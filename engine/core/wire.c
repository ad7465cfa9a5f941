/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements wire.h. An array: kind, dtype, extents, bases, parts; then each part's name, type and count, and its
 * elements from the next multiple of 64 bytes on.
 */
#include "core/wire.h"
#include "core/bodies.h"
#include "core/symmetric.h"

#include <string.h>

enum { ALIGN = 64, WORD = 8, MOST_PARTS = 4096 };

static uint64_t padding(uint64_t at, uint64_t align)
{
    return (align - at % align) % align;
}

/* ------------------------------------------------------------------------------------------ writing */

static void grow(lacis_wire *wire, uint64_t room)
{
    char *grown;
    wire->status = lacis_run_alloc(wire->run, room, &grown);
    if (wire->status != LACIS_OK) return;
    if (wire->bytes > 0) memcpy(grown, wire->data, wire->bytes);
    lacis_run_free(wire->run, wire->data);
    wire->data = grown;
    wire->room = room;
}

/* Room for `bytes` more, not filled; NULL: none. */
static char *extend(lacis_wire *wire, uint64_t bytes)
{
    const uint64_t least = 4096;
    if (wire->status == LACIS_OK && bytes > UINT64_MAX / 4) wire->status = lacis_run_no_memory(wire->run, bytes);
    if (wire->status != LACIS_OK) return NULL;
    if (bytes > wire->room - wire->bytes) {
        uint64_t room = wire->bytes + bytes + wire->bytes / 2;
        grow(wire, room < least ? least : room);
        if (wire->status != LACIS_OK) return NULL;
    }
    char *at = wire->data + wire->bytes;
    wire->bytes += bytes;
    return at;
}

void lacis_wire_bytes(lacis_wire *wire, const void *data, uint64_t bytes)
{
    char *to = extend(wire, bytes);
    if (to != NULL && bytes > 0) memcpy(to, data, bytes);
}

static void pad(lacis_wire *wire, uint64_t align)
{
    uint64_t bytes = padding(wire->bytes, align);
    char *to = extend(wire, bytes);
    if (to != NULL) memset(to, 0, bytes);
}

void lacis_wire_aligned(lacis_wire *wire, const void *data, uint64_t bytes)
{
    pad(wire, ALIGN);
    lacis_wire_bytes(wire, data, bytes);
    pad(wire, WORD);
}

void lacis_wire_int(lacis_wire *wire, int64_t value)
{
    lacis_wire_bytes(wire, &value, sizeof value);
}

void lacis_wire_text(lacis_wire *wire, const char *text)
{
    uint64_t bytes = text == NULL ? 0 : strlen(text) + 1;
    lacis_wire_int(wire, (int64_t)bytes);
    lacis_wire_bytes(wire, text, bytes);
    pad(wire, WORD);
}

void lacis_wire_free(lacis_wire *wire)
{
    lacis_run_free(wire->run, wire->data);
    wire->data = NULL;
    wire->bytes = wire->room = 0;
}

/* Heads a part; its elements follow. */
static void part_head(lacis_wire *wire, const char *name, lacis_dtype dtype, int64_t count)
{
    lacis_wire_text(wire, name);
    lacis_wire_int(wire, dtype);
    lacis_wire_int(wire, count);
    pad(wire, ALIGN);
}

static void put_part(lacis_wire *wire, const char *name, lacis_dtype dtype, int64_t count, const void *data)
{
    part_head(wire, name, dtype, count);
    lacis_wire_bytes(wire, data, (uint64_t)count * lacis_dtype_size(dtype));
    pad(wire, WORD);
}

/* Elements of rows that may lie anywhere: neighbours that lie behind each other are copied at once. */
static void put_rows(lacis_wire *wire, const char *name, const lacis_csr *csr, const void *data, lacis_dtype dtype,
                     int64_t entries)
{
    uint64_t size = lacis_dtype_size(dtype);
    part_head(wire, name, dtype, entries);
    char *to = extend(wire, (uint64_t)entries * size);
    for (int64_t r = 0; to != NULL && r < csr->rows;) {
        int64_t begin = csr->begin[r], end = csr->end[r];
        for (r++; r < csr->rows && (csr->begin[r] == end || csr->begin[r] == csr->end[r]); r++)
            if (csr->begin[r] == end) end = csr->end[r];
        if (end == begin) continue;
        memcpy(to, (const char *)data + (uint64_t)begin * size, (uint64_t)(end - begin) * size);
        to += (uint64_t)(end - begin) * size;
    }
    pad(wire, WORD);
}

static void put_offsets(lacis_wire *wire, const lacis_csr *csr)
{
    part_head(wire, "offsets", LACIS_I64, csr->rows + 1);
    char *to = extend(wire, sizeof(int64_t) * (uint64_t)(csr->rows + 1));
    int64_t at = 0;
    for (int64_t r = 0; r <= csr->rows; r++) {
        if (to != NULL) memcpy(to + sizeof at * (uint64_t)r, &at, sizeof at);
        if (r < csr->rows) at += csr->end[r] - csr->begin[r];
    }
}

static int64_t entries_of(const lacis_csr *csr)
{
    int64_t entries = 0;
    for (int64_t r = 0; r < csr->rows; r++)
        entries += csr->end[r] - csr->begin[r];
    return entries;
}

static void put_graph(lacis_wire *wire, const lacis_array *array)
{
    lacis_csr csr;
    lacis_csr_view(array, &csr);
    int64_t entries = entries_of(&csr);
    int parts = 2 + (csr.value != NULL) + (csr.row_label != NULL) + (csr.col_label != NULL);
    lacis_wire_int(wire, parts);
    put_offsets(wire, &csr);
    put_rows(wire, "columns", &csr, csr.column, LACIS_U32, entries);
    if (csr.value != NULL) put_rows(wire, "values", &csr, csr.value, csr.storage, entries);
    if (csr.row_label != NULL) put_part(wire, "row_labels", LACIS_I64, csr.rows, csr.row_label);
    if (csr.col_label != NULL) put_part(wire, "col_labels", LACIS_I64, csr.cols, csr.col_label);
}

/* Room for all of it, so that it is not moved while it is written. Of a graph's entries only those of its rows count.
 */
static void make_room(lacis_wire *wire, const lacis_array *array)
{
    const uint64_t a_part = 256; /* name, numbers, padding */
    uint64_t bytes = a_part * (uint64_t)(lacis_array_part_count(array) + 1);
    int64_t entries = -1;
    if (lacis_array_kind(array) == LACIS_CSR) {
        lacis_csr csr;
        lacis_csr_view(array, &csr);
        entries = entries_of(&csr);
        bytes += sizeof(int64_t);
    }
    for (int i = 0; i < lacis_array_part_count(array); i++) {
        lacis_part part;
        lacis_array_part(array, i, &part);
        bool per_entry = strcmp(part.name, "columns") == 0 || strcmp(part.name, "values") == 0;
        bytes += (uint64_t)(entries >= 0 && per_entry ? entries : part.count) * lacis_dtype_size(part.dtype);
    }
    if (wire->status == LACIS_OK && bytes > wire->room - wire->bytes) grow(wire, wire->bytes + bytes);
}

void lacis_wire_array(lacis_wire *wire, const lacis_array *array)
{
    lacis_kind kind = lacis_array_kind(array);
    make_room(wire, array);
    pad(wire, WORD);
    lacis_wire_int(wire, kind);
    lacis_wire_int(wire, lacis_array_dtype(array));
    for (int i = 0; i < 2; i++)
        lacis_wire_int(wire, lacis_array_extent(array, i));
    for (int i = 0; i < 2; i++)
        lacis_wire_int(wire, lacis_array_base(array, i));
    if (kind == LACIS_CSR) {
        put_graph(wire, array);
        return;
    }
    lacis_wire_int(wire, lacis_array_part_count(array));
    for (int i = 0; i < lacis_array_part_count(array); i++) {
        lacis_part part;
        lacis_array_part(array, i, &part);
        put_part(wire, part.name, part.dtype, part.count, part.data);
    }
}

/* ------------------------------------------------------------------------------------------ reading */

const void *lacis_unwire_bytes(lacis_unwire *wire, uint64_t bytes)
{
    if (wire->bad || bytes > wire->bytes - wire->at) {
        wire->bad = true;
        return NULL;
    }
    const char *data = wire->data + wire->at;
    wire->at += bytes;
    return data;
}

const void *lacis_unwire_aligned(lacis_unwire *wire, uint64_t bytes)
{
    lacis_unwire_bytes(wire, padding(wire->at, ALIGN));
    const void *data = lacis_unwire_bytes(wire, bytes);
    lacis_unwire_bytes(wire, padding(wire->at, WORD));
    return data;
}

int64_t lacis_unwire_int(lacis_unwire *wire)
{
    int64_t value = 0;
    const void *data = lacis_unwire_bytes(wire, sizeof value);
    if (data != NULL) memcpy(&value, data, sizeof value);
    return value;
}

const char *lacis_unwire_text(lacis_unwire *wire)
{
    uint64_t bytes = (uint64_t)lacis_unwire_int(wire);
    const char *text = lacis_unwire_bytes(wire, bytes);
    lacis_unwire_bytes(wire, padding(wire->at, WORD));
    if (wire->bad || bytes == 0) return NULL;
    if (text[bytes - 1] != '\0') wire->bad = true;
    return wire->bad ? NULL : text;
}

static bool element_type(int64_t dtype)
{
    return dtype >= LACIS_PATTERN && dtype <= LACIS_CDD;
}

static lacis_status read_part(lacis_run *run, lacis_unwire *wire, lacis_buffer *whole, lacis_array *array)
{
    const char *name = lacis_unwire_text(wire);
    int64_t dtype = lacis_unwire_int(wire), count = lacis_unwire_int(wire);
    lacis_unwire_bytes(wire, padding(wire->at, ALIGN));
    uint64_t offset = wire->at, size = element_type(dtype) ? lacis_dtype_size((lacis_dtype)dtype) : 0;
    if (name == NULL || !element_type(dtype) || count < 0) wire->bad = true;
    if (size > 0 && (uint64_t)count > wire->bytes / size) wire->bad = true;
    if (!wire->bad) lacis_unwire_bytes(wire, (uint64_t)count * size);
    lacis_unwire_bytes(wire, padding(wire->at, WORD));
    if (wire->bad) return LACIS_OK;
    return lacis_array_add(run, array, name, (lacis_dtype)dtype, count, whole, offset);
}

static bool has(const lacis_array *array, const char *name, lacis_dtype dtype, int64_t count)
{
    const lacis_part *part = lacis_array_part_named(array, name);
    return part != NULL && part->dtype == dtype && part->count == count;
}

static bool absent_or(const lacis_array *array, const char *name, lacis_dtype dtype, int64_t count)
{
    return lacis_array_part_named(array, name) == NULL || has(array, name, dtype, count);
}

/* What else reads of it may lie outside. */
static bool sound_graph(const lacis_array *array)
{
    int64_t rows = lacis_array_extent(array, 0), cols = lacis_array_extent(array, 1);
    if (rows < 0 || rows == INT64_MAX || cols < 0 || !has(array, "offsets", LACIS_I64, rows + 1)) return false;
    const int64_t *offset = lacis_array_part_named(array, "offsets")->data;
    const lacis_part *values = lacis_array_part_named(array, "values");
    for (int64_t r = 0; r < rows; r++)
        if (offset[r] > offset[r + 1]) return false;
    int64_t entries = offset[rows];
    if (offset[0] != 0 || !has(array, "columns", LACIS_U32, entries)) return false;
    const uint32_t *column = lacis_array_part_named(array, "columns")->data;
    bool inside = true;
    for (int64_t i = 0; i < entries; i++)
        inside &= column[i] < cols;
    return inside && (values == NULL || values->count == entries) &&
           absent_or(array, "row_labels", LACIS_I64, rows) && absent_or(array, "col_labels", LACIS_I64, cols);
}

static bool sound(lacis_run *run, const lacis_array *array)
{
    lacis_batch batch;
    lacis_symmetric symmetric;
    lacis_bodies bodies;
    lacis_grid grid;
    if (lacis_array_kind(array) == LACIS_CSR) return sound_graph(array);
    if (lacis_array_kind(array) == LACIS_SYMMETRIC) return lacis_symmetric_view(run, array, &symmetric) == LACIS_OK;
    if (lacis_array_kind(array) == LACIS_BODIES) return lacis_bodies_view(run, array, &bodies) == LACIS_OK;
    if (lacis_array_kind(array) == LACIS_INTERLEAVED) return lacis_batch_view(run, array, &batch) == LACIS_OK;
    if (lacis_array_kind(array) == LACIS_GRID) return lacis_grid_view(run, array, &grid) == LACIS_OK;
    const lacis_part *values = lacis_array_part_named(array, "values");
    if (lacis_array_kind(array) == LACIS_VECTOR)
        return values != NULL && absent_or(array, "index", LACIS_I64, values->count);
    for (int i = 0; i < lacis_array_part_count(array); i++) {
        lacis_part part;
        lacis_array_part(array, i, &part);
        if (part.count != lacis_array_extent(array, 0)) return false;
    }
    return true;
}

static lacis_status no_array(lacis_run *run)
{
    return lacis_run_fail(run, LACIS_FORMAT, "a message between ranks is damaged: it holds no array");
}

lacis_status lacis_unwire_array(lacis_run *run, lacis_unwire *wire, lacis_buffer *whole, lacis_array **out)
{
    lacis_unwire_bytes(wire, padding(wire->at, WORD));
    int64_t head[7]; /* kind, dtype, extents, bases, parts */
    for (int i = 0; i < LACIS_COUNT(head); i++)
        head[i] = lacis_unwire_int(wire);
    bool kind = head[0] >= LACIS_CSR && head[0] <= LACIS_GRID, parts = head[6] >= 0 && head[6] <= MOST_PARTS;
    if (wire->bad || !kind || !parts || !element_type(head[1])) return no_array(run);
    lacis_array *array;
    LACIS_TRY(lacis_array_new(run, (lacis_kind)head[0], (lacis_dtype)head[1], head[2], head[3], &array));
    lacis_array_set_base(array, 0, head[4]);
    lacis_array_set_base(array, 1, head[5]);
    lacis_status status = LACIS_OK;
    for (int64_t i = 0; i < head[6] && status == LACIS_OK && !wire->bad; i++)
        status = read_part(run, wire, whole, array);
    if (status == LACIS_OK && (wire->bad || !sound(run, array))) status = no_array(run);
    if (status == LACIS_OK) {
        *out = array;
    } else {
        lacis_array_release(array);
    }
    return status;
}
