/* SPDX-License-Identifier: Apache-2.0
 *
 * The catalog in memory as the file's tables have it: when the database is opened, and whenever another process has
 * written it since. Arrays that are still the same keep their data; virtual tables come and go with the names.
 */
#include "catalog/internal.h"
#include "core/batch.h"
#include "core/cells.h"
#include "core/grid.h"

#include <string.h>

/* ------------------------------------------------------------------------------------ views' columns */

char *lacis_layout_text(lacis_run *run, const lacis_columns *columns)
{
    char *text = lacis_run_text(run, "%d %d\n", columns->keys, columns->value);
    for (int i = 0; i < columns->count && text != NULL; i++)
        text = lacis_run_text(run, "%s%c%s\n", text,
                              i == columns->text ? 'T'
                              : columns->real[i] ? 'R'
                                                 : 'I',
                              columns->name[i]);
    return text;
}

/* One line of *text into scratch; false at the end. */
static bool next_line(lacis_run *run, const char **text, char **line)
{
    const char *end = strchr(*text, '\n');
    if (end == NULL) return false;
    *line = lacis_run_text(run, "%.*s", (int)(end - *text), *text);
    *text = end + 1;
    return *line != NULL;
}

lacis_status lacis_layout_parse(lacis_run *run, const char *text, lacis_columns *out)
{
    char *line;
    *out = (lacis_columns){.value = -1, .text = -1};
    bool good = next_line(run, &text, &line) && sscanf(line, "%d %d", &out->keys, &out->value) == 2;
    while (good && out->count < LACIS_MAX_COLUMNS && next_line(run, &text, &line) && line[0] != '\0') {
        out->real[out->count] = line[0] != 'I';
        if (line[0] == 'T') out->text = out->count;
        out->name[out->count++] = line + 1;
    }
    good = good && out->count > 0 && out->keys >= 0 && out->keys <= out->count && out->value < out->count;
    return good ? LACIS_OK : lacis_run_fail(run, LACIS_CORRUPT, "a view's columns are damaged");
}

/* ------------------------------------------------------------------------------------------- records */

/* Enters the record, unless an equal one is there: then that one stays, marked. */
static lacis_status enter(lacis_run *run, lacis_catalog *catalog, lacis_record *fresh)
{
    lacis_record *old = lacis_map_find(catalog, fresh->name);
    bool same = old != NULL && old->id == fresh->id &&
                (fresh->view == NULL || (old->view != NULL && strcmp(old->view, fresh->view) == 0));
    if (same) {
        old->seen = true;
        lacis_record_free(catalog, fresh);
        return LACIS_OK;
    }
    fresh->seen = true;
    if (old != NULL) LACIS_TRY(lacis_sql_withdraw(run, catalog, old->name));
    LACIS_TRY(lacis_map_change(run, catalog, fresh->name, fresh));
    return lacis_sql_publish(run, catalog, fresh->name);
}

static bool kind_named(const char *text, lacis_kind *out)
{
    for (int kind = LACIS_CSR; text != NULL && kind <= LACIS_GRID; kind++) {
        if (strcmp(text, lacis_kind_text((lacis_kind)kind)) != 0) continue;
        *out = (lacis_kind)kind;
        return true;
    }
    return false;
}

static bool dtype_named(const char *text, lacis_dtype *out)
{
    for (int dtype = 0; text != NULL && dtype <= LACIS_CDD; dtype++) {
        if (strcmp(text, lacis_dtype_name((lacis_dtype)dtype)) != 0) continue;
        *out = (lacis_dtype)dtype;
        return true;
    }
    return false;
}

/* Whether a grid's part is one field more. Of names that no field may have fetch.c complains: as columns they would
 * keep the whole file from being opened. */
static bool new_field(const lacis_columns *columns, const char *name)
{
    for (int i = columns->keys; i < columns->count; i++)
        if (lacis_name_compare(columns->name[i], name) == 0) return false;
    return lacis_grid_field_name(name);
}

/* One more part's columns: a table's are its parts, a batch's or grid's its fields behind the keys, those of bodies
 * what they need not have. */
static lacis_status add_part(lacis_run *run, lacis_kind kind, const char *name, lacis_dtype dtype, lacis_columns *out)
{
    int cells = kind == LACIS_INTERLEAVED ? lacis_cells_of(dtype) : 1;
    bool tree = kind == LACIS_INTERLEAVED && strcmp(name, "parent") == 0;
    if (kind == LACIS_INTERLEAVED && lacis_batch_structure(name) && !tree) return LACIS_OK;
    if (kind == LACIS_GRID && !new_field(out, name)) return LACIS_OK;
    for (int i = 0; i < cells && out->count < LACIS_MAX_COLUMNS; i++) {
        char *copy = lacis_run_text(run, "%s%s", name, i == 0 ? "" : lacis_field_ending(dtype, i));
        if (copy == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
        bool fields = kind == LACIS_INTERLEAVED || kind == LACIS_GRID;
        if (fields && cells == 1 && strcmp(name, "value") == 0) out->value = out->count;
        out->real[out->count] = dtype >= LACIS_F32;
        out->name[out->count++] = copy;
    }
    return LACIS_OK;
}

/* The coordinates of a grid; `dims` as the file says it. */
static void grid_keys(int64_t dims, lacis_columns *out)
{
    *out = (lacis_columns){.value = -1, .text = -1, .last_first = true};
    for (; out->keys < 3 && out->keys < dims; out->keys++)
        out->name[out->count++] = lacis_grid_axis[out->keys];
}

/* Of a table, batch, bodies or grid: from its parts. */
static lacis_status part_columns(lacis_run *run, lacis_catalog *catalog, int64_t id, lacis_kind kind,
                                 lacis_columns *out)
{
    static const char in_order[] = "SELECT name, dtype FROM main.lacis_part WHERE array_id = ?1 ORDER BY seq";
    static const char parent_first[] = "SELECT name, dtype FROM main.lacis_part WHERE array_id = ?1"
                                       " ORDER BY name <> 'parent', seq";
    static const char shape_first[] = "SELECT name, dtype, count FROM main.lacis_part WHERE array_id = ?1"
                                      " ORDER BY name <> 'shape', seq";
    static const char known_figures[] = "SELECT name, dtype FROM main.lacis_part WHERE array_id = ?1"
                                        " AND name IN ('eps', 'ax', 'ay', 'az', 'phi')"
                                        " ORDER BY instr('eps ax ay az phi', name)";
    sqlite3_stmt *query;
    bool row = false;
    LACIS_TRY(lacis_sql_prepare(run, catalog,
                                kind == LACIS_BODIES        ? known_figures
                                : kind == LACIS_INTERLEAVED ? parent_first
                                : kind == LACIS_GRID        ? shape_first
                                                            : in_order,
                                &query));
    sqlite3_bind_int64(query, 1, id);
    *out = (lacis_columns){.value = -1, .text = -1};
    if (kind == LACIS_BODIES) lacis_columns_of(kind, LACIS_F64, NULL, out);
    if (kind == LACIS_INTERLEAVED)
        *out = (lacis_columns){.count = 2, .name = {"lane", "row"}, .keys = 2, .value = -1, .text = -1};
    lacis_status status = lacis_sql_step(run, catalog, query, &row);
    while (status == LACIS_OK && row) {
        lacis_dtype dtype = LACIS_PATTERN;
        const char *name = (const char *)sqlite3_column_text(query, 0);
        (void)dtype_named((const char *)sqlite3_column_text(query, 1), &dtype); /* fetch.c complains */
        if (kind == LACIS_GRID && out->count == 0) grid_keys(sqlite3_column_int64(query, 2), out);
        status = add_part(run, kind, name == NULL ? "" : name, dtype, out);
        if (status == LACIS_OK) status = lacis_sql_step(run, catalog, query, &row);
    }
    sqlite3_finalize(query);
    return status;
}

/* The array in the query's present row. */
static lacis_status array_record(lacis_run *run, lacis_catalog *catalog, sqlite3_stmt *query)
{
    lacis_columns columns;
    lacis_record *record;
    lacis_kind kind;
    lacis_dtype dtype;
    const char *name = (const char *)sqlite3_column_text(query, 1);
    bool good = name != NULL && strlen(name) <= LACIS_CATALOG_NAME &&
                kind_named((const char *)sqlite3_column_text(query, 2), &kind) &&
                dtype_named((const char *)sqlite3_column_text(query, 3), &dtype);
    if (!good)
        return lacis_run_fail(run, LACIS_CORRUPT,
                              "the database is damaged: lacis_array has a row that no "
                              "lacis wrote");
    int64_t id = sqlite3_column_int64(query, 0);
    const int64_t extent[2] = {sqlite3_column_int64(query, 4), sqlite3_column_int64(query, 5)};
    if (kind == LACIS_TABLE || kind == LACIS_INTERLEAVED || kind == LACIS_BODIES || kind == LACIS_GRID) {
        LACIS_TRY(part_columns(run, catalog, id, kind, &columns));
    } else {
        lacis_columns_of_shape(kind, dtype, extent, &columns);
    }
    LACIS_TRY(lacis_record_new(run, catalog, name, NULL, &columns, &record));
    record->id = id;
    record->kind = kind;
    record->dtype = dtype;
    record->extent[0] = extent[0];
    record->extent[1] = extent[1];
    record->base[0] = sqlite3_column_int64(query, 6);
    record->base[1] = sqlite3_column_int64(query, 7);
    record->entries = sqlite3_column_int64(query, 8);
    record->bytes = (uint64_t)sqlite3_column_int64(query, 9);
    return enter(run, catalog, record);
}

static lacis_status view_record(lacis_run *run, lacis_catalog *catalog, sqlite3_stmt *query)
{
    lacis_columns columns;
    lacis_record *record;
    const char *name = (const char *)sqlite3_column_text(query, 0);
    const char *text = (const char *)sqlite3_column_text(query, 1);
    const char *layout = (const char *)sqlite3_column_text(query, 2);
    if (name == NULL || text == NULL || layout == NULL || strlen(name) > LACIS_CATALOG_NAME)
        return lacis_run_fail(run, LACIS_CORRUPT,
                              "the database is damaged: lacis_view has a row that no lacis wrote");
    LACIS_TRY(lacis_layout_parse(run, layout, &columns));
    LACIS_TRY(lacis_record_new(run, catalog, name, text, &columns, &record));
    return enter(run, catalog, record);
}

/* ------------------------------------------------------------------------------------------- reading */

typedef lacis_status (*row_fn)(lacis_run *run, lacis_catalog *catalog, sqlite3_stmt *query);

static lacis_status each_row(lacis_run *run, lacis_catalog *catalog, const char *sql, row_fn fn)
{
    sqlite3_stmt *query;
    bool row = false;
    LACIS_TRY(lacis_sql_prepare(run, catalog, sql, &query));
    lacis_status status = lacis_sql_step(run, catalog, query, &row);
    while (status == LACIS_OK && row) {
        status = fn(run, catalog, query);
        if (status == LACIS_OK) status = lacis_sql_step(run, catalog, query, &row);
    }
    sqlite3_finalize(query);
    return status;
}

static lacis_status drop_unseen(lacis_run *run, lacis_catalog *catalog)
{
    for (int i = catalog->records - 1; i >= 0; i--) {
        if (catalog->record[i]->seen) continue;
        const char *name = catalog->record[i]->name; /* the log keeps it */
        LACIS_TRY(lacis_map_change(run, catalog, name, NULL));
        LACIS_TRY(lacis_sql_withdraw(run, catalog, name));
    }
    return LACIS_OK;
}

lacis_status lacis_catalog_reread(lacis_run *run, lacis_catalog *catalog)
{
    for (int i = 0; i < catalog->records; i++)
        catalog->record[i]->seen = false;
    LACIS_TRY(each_row(run, catalog,
                       "SELECT id, name, kind, dtype, rows, cols, row_base, col_base, entries, bytes"
                       " FROM main.lacis_array",
                       array_record));
    LACIS_TRY(each_row(run, catalog, "SELECT name, text, layout FROM main.lacis_view", view_record));
    return drop_unseen(run, catalog);
}

lacis_status lacis_catalog_version(lacis_run *run, lacis_catalog *catalog, int64_t *out)
{
    bool row = false;
    lacis_status status = lacis_sql_step(run, catalog, catalog->version_query, &row);
    if (row) *out = sqlite3_column_int64(catalog->version_query, 0);
    sqlite3_reset(catalog->version_query);
    return status;
}

/* All in one transaction, so that map, virtual tables and version are of one state. */
lacis_status lacis_catalog_refresh(lacis_run *run, lacis_catalog *catalog)
{
    int64_t version = 0;
    LACIS_TRY(lacis_catalog_version(run, catalog, &version));
    if (version == catalog->data_version) return LACIS_OK;
    int changes = catalog->changes;
    LACIS_TRY(lacis_sql_run(run, catalog, "BEGIN"));
    lacis_status status = lacis_catalog_reread(run, catalog);
    if (status == LACIS_OK) status = lacis_catalog_version(run, catalog, &version);
    if (status == LACIS_OK) status = lacis_sql_run(run, catalog, "COMMIT");
    if (status != LACIS_OK) {
        sqlite3_exec(catalog->db, "ROLLBACK", NULL, NULL, NULL);
        lacis_map_undo(catalog, changes);
        return status;
    }
    lacis_map_forget(catalog);
    catalog->data_version = version;
    return LACIS_OK;
}

lacis_status lacis_catalog_follow(lacis_run *run, lacis_catalog *catalog)
{
    if (!catalog->in_file || !sqlite3_get_autocommit(catalog->db)) return LACIS_OK;
    lacis_status status = lacis_catalog_refresh(run, catalog);
    if (status != LACIS_BUSY) return status;
    lacis_host_ok(run->host);
    return LACIS_OK;
}
