/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays into the file: one row of lacis_array, one of lacis_part a part, and the parts' bytes in checksummed chunks.
 * Loose graph rows are compacted on the way, through one chunk's buffer. names.c calls this within a transaction;
 * fetch.c reads it back.
 */
#include "catalog/internal.h"

#include <string.h>
#include <zlib.h>

const char *lacis_kind_text(lacis_kind kind)
{
    static const char *const text[] = {
        [LACIS_CSR] = "csr",
        [LACIS_VECTOR] = "vector",
        [LACIS_TABLE] = "table",
        [LACIS_INTERLEAVED] = "interleaved",
        [LACIS_SYMMETRIC] = "symmetric",
        [LACIS_BODIES] = "bodies",
        [LACIS_GRID] = "grid",
    };
    return text[kind];
}

typedef struct writer {
    lacis_run *run;
    lacis_catalog *catalog;
    int64_t id;
    sqlite3_stmt *part, *chunk; /* the INSERTs */
    int parts;
    int64_t seq;  /* of the next chunk */
    char *buffer; /* LACIS_CHUNK_BYTES, `used` of them filled */
    uint64_t used;
    uint64_t done, total; /* bytes of the whole array */
} writer;

/* ------------------------------------------------------------------------------------------- chunks */

/* Runs a bound INSERT and readies it for the next one. */
static lacis_status insert(writer *to, sqlite3_stmt *statement)
{
    bool row;
    lacis_status status = lacis_sql_step(to->run, to->catalog, statement, &row);
    sqlite3_reset(statement);
    return status;
}

static lacis_status write_chunk(writer *to, const void *data, uint64_t bytes)
{
    if (lacis_run_cancelled(to->run)) return lacis_run_interrupted(to->run);
    sqlite3_bind_int64(to->chunk, 1, to->id);
    sqlite3_bind_int(to->chunk, 2, to->parts - 1);
    sqlite3_bind_int64(to->chunk, 3, to->seq++);
    sqlite3_bind_int64(to->chunk, 4, (sqlite3_int64)crc32_z(0, data, (size_t)bytes));
    sqlite3_bind_blob64(to->chunk, 5, data, bytes, SQLITE_STATIC);
    LACIS_TRY(insert(to, to->chunk));
    to->done += bytes;
    lacis_run_advance(to->run, "saving", (double)to->done, (double)to->total, "bytes");
    return LACIS_OK;
}

static lacis_status flush(writer *to)
{
    uint64_t bytes = to->used;
    to->used = 0;
    return bytes == 0 ? LACIS_OK : write_chunk(to, to->buffer, bytes);
}

/* Whole chunks go from where they lie, the rest through the buffer. */
static lacis_status write_bytes(writer *to, const void *data, uint64_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        uint64_t room = LACIS_CHUNK_BYTES - to->used;
        uint64_t now = bytes < room ? bytes : room;
        if (now == LACIS_CHUNK_BYTES) {
            LACIS_TRY(write_chunk(to, from, now));
        } else {
            memcpy(to->buffer + to->used, from, now);
            to->used += now;
            if (to->used == LACIS_CHUNK_BYTES) LACIS_TRY(flush(to));
        }
        from += now;
        bytes -= now;
    }
    return LACIS_OK;
}

/* Ends the part before. */
static lacis_status begin_part(writer *to, const char *name, lacis_dtype dtype, int64_t count)
{
    LACIS_TRY(flush(to));
    sqlite3_bind_int64(to->part, 1, to->id);
    sqlite3_bind_int(to->part, 2, to->parts++);
    sqlite3_bind_text(to->part, 3, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(to->part, 4, lacis_dtype_name(dtype), -1, SQLITE_STATIC);
    sqlite3_bind_int64(to->part, 5, count);
    to->seq = 0;
    return insert(to, to->part);
}

static lacis_status write_part(writer *to, const lacis_part *part)
{
    LACIS_TRY(begin_part(to, part->name, part->dtype, part->count));
    return write_bytes(to, part->data, (uint64_t)part->count * lacis_dtype_size(part->dtype));
}

/* ------------------------------------------------------------------------------------------- graphs */

static lacis_status write_offsets(writer *to, const lacis_csr *csr)
{
    int64_t batch[512], at = 0, used = 0;
    LACIS_TRY(begin_part(to, "offsets", LACIS_I64, csr->rows + 1));
    for (int64_t row = 0; row < csr->rows; row++) {
        batch[used++] = at;
        at += csr->end[row] - csr->begin[row];
        if (used < LACIS_COUNT(batch)) continue;
        LACIS_TRY(write_bytes(to, batch, sizeof batch));
        used = 0;
    }
    batch[used++] = at;
    return write_bytes(to, batch, (uint64_t)used * sizeof batch[0]);
}

/* The entries of all rows, `size` bytes each at `data`; rows behind one another in memory in one go. */
static lacis_status write_entries(writer *to, const lacis_csr *csr, const void *data, uint64_t size)
{
    const char *base = data;
    int64_t row = 0;
    while (row < csr->rows) {
        int64_t begin = csr->begin[row], end = csr->end[row++];
        while (row < csr->rows && csr->begin[row] == end)
            end = csr->end[row++];
        LACIS_TRY(write_bytes(to, base + (uint64_t)begin * size, (uint64_t)(end - begin) * size));
    }
    return LACIS_OK;
}

static lacis_status write_labels(writer *to, const char *name, const int64_t *label, int64_t count)
{
    const lacis_part part = {name, LACIS_I64, count, label};
    return label == NULL ? LACIS_OK : write_part(to, &part);
}

static lacis_status write_csr(writer *to, const lacis_array *array)
{
    lacis_csr csr;
    lacis_csr_view(array, &csr);
    LACIS_TRY(write_offsets(to, &csr));
    LACIS_TRY(begin_part(to, "columns", LACIS_U32, csr.entries));
    LACIS_TRY(write_entries(to, &csr, csr.column, sizeof *csr.column));
    if (csr.value != NULL && csr.storage != LACIS_PATTERN) {
        LACIS_TRY(begin_part(to, "values", csr.storage, csr.entries));
        LACIS_TRY(write_entries(to, &csr, csr.value, lacis_dtype_size(csr.storage)));
    }
    LACIS_TRY(write_labels(to, "row_labels", csr.row_label, csr.rows));
    return write_labels(to, "col_labels", csr.col_label, csr.cols);
}

static lacis_status write_plain(writer *to, const lacis_array *array)
{
    for (int i = 0; i < lacis_array_part_count(array); i++) {
        lacis_part part;
        LACIS_TRY(lacis_array_part(array, i, &part));
        LACIS_TRY(write_part(to, &part));
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- arrays */

/* What the parts take in the file: graphs without the gaps and the second offset of loose rows. */
static uint64_t stored_bytes(const lacis_array *array)
{
    lacis_csr csr;
    if (lacis_array_kind(array) != LACIS_CSR) return lacis_array_bytes(array);
    lacis_csr_view(array, &csr);
    uint64_t entry = sizeof *csr.column + (csr.value == NULL ? 0 : lacis_dtype_size(csr.storage));
    uint64_t row = sizeof(int64_t) * (csr.row_label == NULL ? 1 : 2);
    uint64_t labels = csr.col_label == NULL ? 0 : sizeof(int64_t) * (uint64_t)csr.cols;
    return sizeof(int64_t) + row * (uint64_t)csr.rows + entry * (uint64_t)csr.entries + labels;
}

static lacis_status write_record(writer *to, lacis_record *record)
{
    sqlite3_stmt *insert_array;
    LACIS_TRY(lacis_sql_prepare(to->run, to->catalog,
                                "INSERT INTO main.lacis_array (name, kind, dtype, rows, cols, row_base, col_base,"
                                " entries, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                                &insert_array));
    sqlite3_bind_text(insert_array, 1, record->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert_array, 2, lacis_kind_text(record->kind), -1, SQLITE_STATIC);
    sqlite3_bind_text(insert_array, 3, lacis_dtype_name(record->dtype), -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert_array, 4, record->extent[0]);
    sqlite3_bind_int64(insert_array, 5, record->extent[1]);
    sqlite3_bind_int64(insert_array, 6, record->base[0]);
    sqlite3_bind_int64(insert_array, 7, record->base[1]);
    sqlite3_bind_int64(insert_array, 8, record->entries);
    sqlite3_bind_int64(insert_array, 9, (sqlite3_int64)record->bytes);
    LACIS_TRY(lacis_sql_finish(to->run, to->catalog, insert_array));
    record->id = sqlite3_last_insert_rowid(to->catalog->db);
    to->id = record->id;
    to->total = record->bytes > 0 ? record->bytes : 1;
    return LACIS_OK;
}

static lacis_status write_all(writer *to, lacis_record *record, const lacis_array *array)
{
    record->bytes = stored_bytes(array);
    LACIS_TRY(write_record(to, record));
    LACIS_TRY(lacis_sql_prepare(to->run, to->catalog, "INSERT INTO main.lacis_part VALUES (?1, ?2, ?3, ?4, ?5)",
                                &to->part));
    LACIS_TRY(lacis_sql_prepare(to->run, to->catalog, "INSERT INTO main.lacis_chunk VALUES (?1, ?2, ?3, ?4, ?5)",
                                &to->chunk));
    LACIS_TRY(record->kind == LACIS_CSR ? write_csr(to, array) : write_plain(to, array));
    return flush(to);
}

lacis_status lacis_store_write(lacis_run *run, lacis_catalog *catalog, lacis_record *record, const lacis_array *array)
{
    writer to = {.run = run, .catalog = catalog};
    LACIS_TRY(lacis_run_alloc(run, LACIS_CHUNK_BYTES, &to.buffer));
    lacis_status status = write_all(&to, record, array);
    sqlite3_finalize(to.part);
    sqlite3_finalize(to.chunk);
    lacis_run_free(run, to.buffer);
    return status;
}

lacis_status lacis_store_delete(lacis_run *run, lacis_catalog *catalog, const lacis_record *record)
{
    if (record->view != NULL)
        return lacis_sql_runf(run, catalog, "DELETE FROM main.lacis_view WHERE name = %Q", record->name);
    if (record->id == 0) return LACIS_OK;
    return lacis_sql_runf(run, catalog,
                          "DELETE FROM main.lacis_chunk WHERE array_id = %lld;"
                          "DELETE FROM main.lacis_part WHERE array_id = %lld;"
                          "DELETE FROM main.lacis_array WHERE id = %lld",
                          (long long)record->id, (long long)record->id, (long long)record->id);
}
