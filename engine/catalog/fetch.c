/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays out of the file, as store.c wrote them: every chunk's checksum is compared, and a graph's shape is checked
 * before any kernel sees it. One statement stays open while the parts are read, so all of them are of one state of
 * the file whatever other processes write.
 */
#include "catalog/internal.h"

#include <string.h>
#include <zlib.h>

enum { PARTS = LACIS_MAX_COLUMNS };

typedef struct fetched {
    char name[LACIS_CATALOG_NAME + 1];
    lacis_dtype dtype;
    int64_t count;
    lacis_buffer *buffer;
} fetched;

typedef struct reader {
    lacis_run *run;
    lacis_catalog *catalog;
    const lacis_record *record;
    sqlite3_stmt *parts, *chunks;
    fetched *part;
    int count;
    uint64_t done;
} reader;

static lacis_status damaged(reader *from, const char *what)
{
    return lacis_run_fail_at(from->run, LACIS_CORRUPT, -1, "restore the file from a copy, or DROP and LOAD it again",
                             "array %s is damaged: %s", from->record->name, what);
}

static lacis_status damaged_chunk(reader *from, const char *part, int64_t chunk, const char *what)
{
    return lacis_run_fail_at(from->run, LACIS_CORRUPT, -1, "restore the file from a copy, or DROP and LOAD it again",
                             "array %s is damaged: part %s, chunk %lld: %s", from->record->name, part,
                             (long long)chunk, what);
}

/* ------------------------------------------------------------------------------------------- chunks */

/* Copies the present row's chunk to `to`, of which `left` bytes are still to come. */
static lacis_status take_chunk(reader *from, const char *part, int64_t number, char *to, uint64_t left,
                               uint64_t *taken)
{
    int64_t seq = sqlite3_column_int64(from->chunks, 0);
    const void *data = sqlite3_column_blob(from->chunks, 2);
    uint64_t bytes = (uint64_t)sqlite3_column_bytes(from->chunks, 2);
    if (data == NULL && bytes > 0) return lacis_catalog_fail(from->run, from->catalog, SQLITE_NOMEM, -1);
    if (seq != number) return damaged_chunk(from, part, number, "is missing");
    if (bytes > left) return damaged_chunk(from, part, number, "is longer than it was");
    if (bytes > 0) memcpy(to, data, bytes);
    if ((int64_t)crc32_z(0, (const Bytef *)to, (size_t)bytes) != sqlite3_column_int64(from->chunks, 1))
        return damaged_chunk(from, part, number, "its checksum differs");
    *taken = bytes;
    return LACIS_OK;
}

static lacis_status read_chunks(reader *from, const fetched *part, int number, uint64_t bytes)
{
    char *to = lacis_buffer_data(part->buffer);
    bool row = false;
    sqlite3_bind_int64(from->chunks, 1, from->record->id);
    sqlite3_bind_int(from->chunks, 2, number);
    for (int64_t chunk = 0;; chunk++) {
        uint64_t taken = 0;
        if (lacis_run_cancelled(from->run)) return lacis_run_interrupted(from->run);
        LACIS_TRY(lacis_sql_step(from->run, from->catalog, from->chunks, &row));
        if (!row && bytes > 0) return damaged_chunk(from, part->name, chunk, "is missing");
        if (!row) return LACIS_OK;
        LACIS_TRY(take_chunk(from, part->name, chunk, to, bytes, &taken));
        to += taken;
        bytes -= taken;
        from->done += taken;
        lacis_run_advance(from->run, "reading", (double)from->done, (double)(from->record->bytes + 1), "bytes");
    }
}

/* -------------------------------------------------------------------------------------------- parts */

static bool dtype_named(const char *name, lacis_dtype *out)
{
    for (int dtype = 0; name != NULL && dtype <= LACIS_CDD; dtype++) {
        if (strcmp(name, lacis_dtype_name((lacis_dtype)dtype)) != 0) continue;
        *out = (lacis_dtype)dtype;
        return true;
    }
    return false;
}

/* The part that from->parts stands on. What it says is believed only as far as the chunks are as long. */
static lacis_status read_part(reader *from)
{
    if (from->count == PARTS) return damaged(from, "it has too many parts");
    fetched *part = &from->part[from->count];
    const char *name = (const char *)sqlite3_column_text(from->parts, 1);
    if (name == NULL || strlen(name) >= sizeof part->name) return damaged(from, "a part has no proper name");
    memcpy(part->name, name, strlen(name) + 1);
    part->count = sqlite3_column_int64(from->parts, 3);
    bool known = dtype_named((const char *)sqlite3_column_text(from->parts, 2), &part->dtype);
    uint64_t size = known ? lacis_dtype_size(part->dtype) : 0;
    if (size == 0) return damaged(from, "a part has no known type");
    if (part->count < 0 || part->count > INT64_MAX / 16) return damaged(from, "a part has no proper length");
    uint64_t bytes = (uint64_t)part->count * size;
    if ((int64_t)bytes != sqlite3_column_int64(from->parts, 4))
        return damaged(from, "its chunks are shorter or longer than they should be");
    LACIS_TRY(lacis_buffer_new(from->run, bytes, &part->buffer));
    from->count++;
    lacis_status status = read_chunks(from, part, sqlite3_column_int(from->parts, 0), bytes);
    sqlite3_reset(from->chunks);
    return status;
}

/* Another process may have replaced or dropped the array since the catalog was read. */
static lacis_status still_there(reader *from)
{
    sqlite3_stmt *query;
    bool row = false;
    LACIS_TRY(lacis_sql_prepare(from->run, from->catalog, "SELECT 1 FROM main.lacis_array WHERE id = ?1", &query));
    sqlite3_bind_int64(query, 1, from->record->id);
    lacis_status status = lacis_sql_step(from->run, from->catalog, query, &row);
    sqlite3_finalize(query);
    if (status != LACIS_OK || row) return status;
    return lacis_run_fail(from->run, LACIS_BUSY, "another process has just replaced or dropped %s; try again",
                          from->record->name);
}

static lacis_status read_parts(reader *from)
{
    LACIS_TRY(lacis_sql_prepare(from->run, from->catalog,
                                "SELECT seq, name, dtype, count, coalesce((SELECT sum(length(bytes)) FROM"
                                " main.lacis_chunk c WHERE c.array_id = p.array_id AND c.part = p.seq), 0)"
                                " FROM main.lacis_part p WHERE array_id = ?1 ORDER BY seq",
                                &from->parts));
    LACIS_TRY(lacis_sql_prepare(from->run, from->catalog,
                                "SELECT seq, crc, bytes FROM main.lacis_chunk WHERE array_id = ?1 AND part = ?2"
                                " ORDER BY seq",
                                &from->chunks));
    sqlite3_bind_int64(from->parts, 1, from->record->id);
    for (;;) {
        bool row = false;
        LACIS_TRY(lacis_sql_step(from->run, from->catalog, from->parts, &row));
        if (!row) return LACIS_OK;
        LACIS_TRY(read_part(from));
    }
}

static const fetched *part_named(const reader *from, const char *name)
{
    for (int i = 0; i < from->count; i++)
        if (strcmp(from->part[i].name, name) == 0) return &from->part[i];
    return NULL;
}

/* -------------------------------------------------------------------------------------------- shape */

static bool rising(const int64_t *label, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (label[i] <= label[i - 1]) return false;
    return true;
}

static bool offsets_fit(const int64_t *offset, int64_t rows, int64_t entries)
{
    if (offset[0] != 0 || offset[rows] != entries) return false;
    for (int64_t row = 0; row < rows; row++)
        if (offset[row + 1] < offset[row]) return false;
    return true;
}

static bool columns_fit(const int64_t *offset, const uint32_t *column, int64_t rows, int64_t cols)
{
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = offset[row]; i < offset[row + 1]; i++) {
            if ((int64_t)column[i] >= cols) return false;
            if (i > offset[row] && column[i] <= column[i - 1]) return false;
        }
    }
    return true;
}

/* A part of this type and length; where it is not there, only `optional` is fine. */
static bool part_fits(const fetched *part, lacis_dtype dtype, int64_t count, bool optional)
{
    if (part == NULL) return optional;
    return part->dtype == dtype && part->count == count;
}

static bool labels_fit(const fetched *part, int64_t count)
{
    if (!part_fits(part, LACIS_I64, count, true)) return false;
    return part == NULL || rising(lacis_buffer_data(part->buffer), count);
}

/* Counts are kept narrower than they mean; other types as they are, or an i64 as i32. */
static bool storage_fits(const fetched *values, lacis_dtype dtype, int64_t entries)
{
    if (values == NULL) return dtype == LACIS_PATTERN;
    bool integers =
        dtype >= LACIS_U8 && dtype <= LACIS_I64 && values->dtype >= LACIS_U8 && values->dtype <= LACIS_I64;
    return values->count == entries && (integers || values->dtype == dtype);
}

static lacis_status check_csr(reader *from)
{
    const lacis_record *record = from->record;
    int64_t rows = record->extent[0], cols = record->extent[1];
    const fetched *offsets = part_named(from, "offsets"), *columns = part_named(from, "columns");
    bool fits = rows >= 0 && rows < INT64_MAX && cols >= 0 && part_fits(offsets, LACIS_I64, rows + 1, false) &&
                part_fits(columns, LACIS_U32, record->entries, false) &&
                storage_fits(part_named(from, "values"), record->dtype, record->entries) &&
                labels_fit(part_named(from, "row_labels"), rows) && labels_fit(part_named(from, "col_labels"), cols);
    if (!fits) return damaged(from, "its parts do not go together");
    const int64_t *offset = lacis_buffer_data(offsets->buffer);
    if (!offsets_fit(offset, rows, record->entries) ||
        !columns_fit(offset, lacis_buffer_data(columns->buffer), rows, cols))
        return damaged(from, "its rows do not go together");
    return LACIS_OK;
}

static lacis_status check_plain(reader *from)
{
    const lacis_record *record = from->record;
    if (record->kind == LACIS_VECTOR) {
        const fetched *values = part_named(from, "values"), *index = part_named(from, "index");
        bool fits = (values != NULL || index != NULL) && storage_fits(values, record->dtype, record->entries) &&
                    labels_fit(index, record->entries);
        return fits ? LACIS_OK : damaged(from, "its parts do not go together");
    }
    bool later = record->kind == LACIS_INTERLEAVED || record->kind == LACIS_SYMMETRIC ||
                 record->kind == LACIS_BODIES || record->kind == LACIS_GRID;
    if (later) return LACIS_OK; /* once it is built */
    for (int i = 0; i < from->count; i++)
        if (from->part[i].count != record->extent[0]) return damaged(from, "its columns are not of one length");
    return from->count == record->columns.count ? LACIS_OK : damaged(from, "a column is missing");
}

/* ------------------------------------------------------------------------------------------- arrays */

static lacis_buffer *buffer_of(const fetched *part)
{
    return part == NULL ? NULL : part->buffer;
}

/* The labels of columns, in the buffer of those of rows where they are the same, as they mostly are. */
static lacis_buffer *column_labels(const reader *from)
{
    const fetched *rows = part_named(from, "row_labels"), *cols = part_named(from, "col_labels");
    bool same = rows != NULL && cols != NULL && rows->count == cols->count &&
                memcmp(lacis_buffer_data(rows->buffer), lacis_buffer_data(cols->buffer),
                       (uint64_t)rows->count * sizeof(int64_t)) == 0;
    return buffer_of(same ? rows : cols);
}

static lacis_status build_csr(reader *from, lacis_array **out)
{
    const lacis_record *record = from->record;
    LACIS_TRY(check_csr(from));
    const fetched *values = part_named(from, "values");
    const lacis_csr_parts parts = {
        .rows = record->extent[0],
        .cols = record->extent[1],
        .entries = record->entries,
        .begin = buffer_of(part_named(from, "offsets")),
        .columns = buffer_of(part_named(from, "columns")),
        .values = buffer_of(values),
        .row_labels = buffer_of(part_named(from, "row_labels")),
        .col_labels = column_labels(from),
        .storage = values == NULL ? LACIS_PATTERN : values->dtype,
        .dtype = record->dtype,
        .row_base = record->base[0],
        .col_base = record->base[1],
    };
    return lacis_csr_new(from->run, &parts, out);
}

/* Whether the parts go together, of kinds that look at them only now. */
static bool whole(reader *from, const lacis_array *array)
{
    lacis_batch batch;
    lacis_symmetric symmetric;
    lacis_bodies bodies;
    lacis_grid grid;
    if (lacis_array_kind(array) == LACIS_INTERLEAVED) return lacis_batch_view(from->run, array, &batch) == LACIS_OK;
    if (lacis_array_kind(array) == LACIS_SYMMETRIC)
        return lacis_symmetric_view(from->run, array, &symmetric) == LACIS_OK &&
               symmetric.elements == from->record->entries;
    if (lacis_array_kind(array) == LACIS_BODIES)
        return lacis_bodies_view(from->run, array, &bodies) == LACIS_OK && bodies.count == from->record->entries;
    if (lacis_array_kind(array) == LACIS_GRID)
        return lacis_grid_view(from->run, array, &grid) == LACIS_OK && grid.cells == from->record->entries;
    return true;
}

static lacis_status build_plain(reader *from, lacis_array **out)
{
    const lacis_record *record = from->record;
    lacis_array *array;
    LACIS_TRY(check_plain(from));
    LACIS_TRY(lacis_array_new(from->run, record->kind, record->dtype, record->extent[0], record->extent[1], &array));
    lacis_array_set_base(array, 0, record->base[0]);
    lacis_array_set_base(array, 1, record->base[1]);
    lacis_status status = LACIS_OK;
    for (int i = 0; i < from->count && status == LACIS_OK; i++) {
        const fetched *part = &from->part[i];
        status = lacis_array_add(from->run, array, part->name, part->dtype, part->count, part->buffer, 0);
    }
    if (status == LACIS_OK && !whole(from, array)) status = damaged(from, "its parts do not go together");
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}

lacis_status lacis_store_read(lacis_run *run, lacis_catalog *catalog, const lacis_record *record, lacis_array **out)
{
    reader from = {.run = run, .catalog = catalog, .record = record};
    LACIS_TRY(lacis_run_alloc(run, PARTS * sizeof *from.part, &from.part));
    lacis_status status = read_parts(&from);
    if (status == LACIS_OK && from.count == 0) status = still_there(&from);
    if (status == LACIS_OK) status = record->kind == LACIS_CSR ? build_csr(&from, out) : build_plain(&from, out);
    for (int i = 0; i < from.count; i++)
        lacis_buffer_release(from.part[i].buffer);
    sqlite3_finalize(from.parts);
    sqlite3_finalize(from.chunks);
    lacis_run_free(run, from.part);
    return status;
}
