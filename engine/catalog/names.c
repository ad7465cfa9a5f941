/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies under a name: entering, finding and dropping arrays and views. In a file the data go to its tables at
 * once, within the open transaction; in memory an array is just kept.
 */
#include "catalog/internal.h"

#include "core/word.h"

#include <string.h>

/* ------------------------------------------------------------------------------------- allowed names */

static bool reserved(const char *name)
{
    return lacis_word_starts(name, "lacis_", 6) || lacis_word_starts(name, "sqlite_", 7);
}

lacis_status lacis_catalog_may_put(lacis_run *run, lacis_catalog *catalog, const char *name)
{
    if (name[0] == '\0') return lacis_run_fail(run, LACIS_NAME, "the name is empty");
    if (strlen(name) > LACIS_CATALOG_NAME)
        return lacis_run_fail(run, LACIS_NAME, "the name is longer than %d bytes", LACIS_CATALOG_NAME);
    if (reserved(name))
        return lacis_run_fail(run, LACIS_NAME,
                              "%s: names that begin with lacis_ or sqlite_ are reserved; take another", name);
    if (lacis_map_find(catalog, name) != NULL) return LACIS_OK;
    sqlite3_stmt *query;
    bool row = false;
    LACIS_TRY(lacis_sql_prepare(run, catalog,
                                "SELECT type FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE"
                                " AND type IN ('table', 'view') UNION ALL"
                                " SELECT type FROM temp.sqlite_schema WHERE name = ?1 COLLATE NOCASE"
                                " AND type IN ('table', 'view') AND sql NOT LIKE 'CREATE VIRTUAL TABLE%USING lacis'",
                                &query));
    sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
    lacis_status status = lacis_sql_step(run, catalog, query, &row);
    if (status == LACIS_OK && row)
        status = lacis_run_fail(run, LACIS_NAME, "an SQL %s is called %s: drop it with DROP %s, or take another name",
                                (const char *)sqlite3_column_text(query, 0), name,
                                sqlite3_column_text(query, 0)[0] == 't' ? "TABLE" : "VIEW");
    sqlite3_finalize(query);
    return status;
}

static lacis_status check_columns(lacis_run *run, const lacis_array *array, const lacis_columns *columns)
{
    bool batch = lacis_array_kind(array) == LACIS_INTERLEAVED;
    if (!batch && lacis_array_kind(array) != LACIS_TABLE) return LACIS_OK;
    if (!batch && lacis_array_part_count(array) > LACIS_MAX_COLUMNS)
        return lacis_run_fail(run, LACIS_RANGE, "a table has at most %d columns", LACIS_MAX_COLUMNS);
    if (columns->count == 0) return lacis_run_fail(run, LACIS_TYPE, "a table needs a column");
    for (int i = 0; i < columns->count; i++) {
        if (strlen(columns->name[i]) > LACIS_CATALOG_NAME)
            return lacis_run_fail(run, LACIS_NAME, "a column's name is longer than %d bytes", LACIS_CATALOG_NAME);
        for (int k = 0; k < i; k++)
            if (lacis_name_compare(columns->name[i], columns->name[k]) == 0)
                return lacis_run_fail(run, LACIS_NAME, "two columns are called %s: name one of them with AS",
                                      columns->name[i]);
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------ entering */

static bool same_layout(const lacis_columns *a, const lacis_columns *b)
{
    if (a->count != b->count || a->keys != b->keys || a->value != b->value || a->text != b->text) return false;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->name[i], b->name[i]) != 0 || a->real[i] != b->real[i]) return false;
    return true;
}

/* Puts the record under its name (owned from here on, whatever comes) and shows it to SQL. */
static lacis_status enter(lacis_run *run, lacis_catalog *catalog, lacis_record *record)
{
    const lacis_record *old = lacis_map_find(catalog, record->name);
    bool redeclare = old != NULL && (!same_layout(&old->columns, &record->columns) ||
                                     strcmp(old->name, record->name) != 0 || record->view != NULL);
    if (redeclare) {
        lacis_status status = lacis_sql_withdraw(run, catalog, old->name);
        if (status != LACIS_OK) {
            lacis_record_free(catalog, record);
            return status;
        }
    }
    LACIS_TRY(lacis_map_change(run, catalog, record->name, record));
    return lacis_sql_publish(run, catalog, record->name);
}

static lacis_status forget_old(lacis_run *run, lacis_catalog *catalog, const char *name)
{
    const lacis_record *old = lacis_map_find(catalog, name);
    return old == NULL || !catalog->in_file ? LACIS_OK : lacis_store_delete(run, catalog, old);
}

static void describe_array(lacis_record *record, lacis_array *array)
{
    record->kind = lacis_array_kind(array);
    record->dtype = lacis_array_dtype(array);
    for (int i = 0; i < 2; i++) {
        record->extent[i] = lacis_array_extent(array, i);
        record->base[i] = lacis_array_base(array, i);
    }
    record->entries = lacis_array_entries(array);
    record->bytes = lacis_array_bytes(array);
    record->array = lacis_array_retain(array);
}

static lacis_status put_array(lacis_run *run, lacis_catalog *catalog, const char *name, lacis_array *array)
{
    lacis_columns columns;
    lacis_record *record;
    lacis_columns_of(lacis_array_kind(array), lacis_array_dtype(array), array, &columns);
    LACIS_TRY(lacis_catalog_may_put(run, catalog, name));
    LACIS_TRY(check_columns(run, array, &columns));
    LACIS_TRY(forget_old(run, catalog, name));
    LACIS_TRY(lacis_record_new(run, catalog, name, NULL, &columns, &record));
    describe_array(record, array);
    lacis_status status = catalog->in_file ? lacis_store_write(run, catalog, record, array) : LACIS_OK;
    if (status != LACIS_OK) {
        lacis_record_free(catalog, record);
        return status;
    }
    return enter(run, catalog, record);
}

static lacis_status write_view(lacis_run *run, lacis_catalog *catalog, const lacis_record *record)
{
    sqlite3_stmt *insert;
    char *layout = lacis_layout_text(run, &record->columns);
    if (layout == NULL) return LACIS_NOMEM;
    LACIS_TRY(lacis_sql_prepare(run, catalog, "INSERT INTO main.lacis_view VALUES (?1, ?2, ?3)", &insert));
    sqlite3_bind_text(insert, 1, record->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, record->view, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, layout, -1, SQLITE_STATIC);
    return lacis_sql_finish(run, catalog, insert);
}

/* The view's columns are known once the layer above can look it up by its name, so it is entered first with those of
 * a plain graph, then as it is. */
static lacis_status put_view(lacis_run *run, lacis_catalog *catalog, const char *name, const char *text)
{
    lacis_relation relation;
    lacis_record *record;
    LACIS_TRY(lacis_catalog_may_put(run, catalog, name));
    LACIS_TRY(forget_old(run, catalog, name));
    lacis_columns_of(LACIS_CSR, LACIS_I64, NULL, &relation.columns);
    LACIS_TRY(lacis_record_new(run, catalog, name, text, &relation.columns, &record));
    LACIS_TRY(enter(run, catalog, record));
    LACIS_TRY(catalog->resolver->describe(catalog->resolver->context, run, name, &relation));
    if (!same_layout(&relation.columns, &record->columns)) {
        LACIS_TRY(lacis_record_new(run, catalog, name, text, &relation.columns, &record));
        LACIS_TRY(enter(run, catalog, record));
    }
    return catalog->in_file ? write_view(run, catalog, record) : LACIS_OK;
}

/* A change outside begin and commit is a transaction of its own. */
static lacis_status finish(lacis_run *run, lacis_catalog *catalog, bool own, lacis_status status)
{
    if (!own) return status;
    if (status == LACIS_OK) return lacis_catalog_commit(run, catalog);
    lacis_catalog_rollback(run, catalog);
    return status;
}

lacis_status lacis_catalog_put(lacis_run *run, lacis_catalog *catalog, const char *name, lacis_array *array)
{
    bool own = catalog->depth == 0;
    if (own) LACIS_TRY(lacis_catalog_begin(run, catalog));
    return finish(run, catalog, own, put_array(run, catalog, name, array));
}

lacis_status lacis_catalog_put_view(lacis_run *run, lacis_catalog *catalog, const char *name, const char *call_text)
{
    bool own = catalog->depth == 0;
    if (own) LACIS_TRY(lacis_catalog_begin(run, catalog));
    return finish(run, catalog, own, put_view(run, catalog, name, call_text));
}

/* -------------------------------------------------------------------------------------------- finding */

static lacis_status no_such_name(lacis_run *run, lacis_catalog *catalog, const char *name, int64_t offset)
{
    return lacis_run_fail_at(run, LACIS_NAME, offset, lacis_catalog_hint(run, catalog, name, false),
                             "no array or view is called %s", name);
}

/* Looks again where another process may have changed the file, unless a transaction keeps it as it is or SQL is just
 * reading: what a statement began with stays. */
static lacis_status look_up(lacis_run *run, lacis_catalog *catalog, const char *name, lacis_record **out)
{
    *out = lacis_map_find(catalog, name);
    bool settled = *out != NULL && ((*out)->view != NULL || (*out)->array != NULL);
    bool fixed = catalog->run != NULL || !sqlite3_get_autocommit(catalog->db);
    if (settled || fixed || !catalog->in_file) return LACIS_OK;
    LACIS_TRY(lacis_catalog_refresh(run, catalog));
    *out = lacis_map_find(catalog, name);
    return LACIS_OK;
}

lacis_status lacis_catalog_get(lacis_run *run, lacis_catalog *catalog, const char *name, int64_t offset,
                               lacis_array **out)
{
    lacis_record *record;
    LACIS_TRY(look_up(run, catalog, name, &record));
    if (record == NULL) return no_such_name(run, catalog, name, offset);
    if (record->view != NULL)
        return lacis_run_fail_at(run, LACIS_NAME, offset, NULL, "%s is a view: LET x = (its call) makes an array",
                                 record->name);
    if (record->array == NULL) LACIS_TRY(lacis_store_read(run, catalog, record, &record->array));
    *out = lacis_array_retain(record->array);
    return LACIS_OK;
}

lacis_status lacis_catalog_layout(lacis_run *run, lacis_catalog *catalog, const char *name, int64_t *out)
{
    const lacis_record *record = lacis_map_find(catalog, name);
    sqlite3_stmt *query;
    bool row;
    *out = 1;
    if (record == NULL) return LACIS_OK;
    if (record->array != NULL) {
        const lacis_part *part = lacis_array_part_named(record->array, "block");
        if (part != NULL) *out = *(const int64_t *)part->data;
        return LACIS_OK;
    }
    LACIS_TRY(lacis_sql_prepare(run, catalog,
                                "SELECT c.bytes FROM main.lacis_part p JOIN main.lacis_chunk c"
                                " ON c.array_id = p.array_id AND c.part = p.seq"
                                " WHERE p.array_id = ?1 AND p.name = 'block'",
                                &query));
    sqlite3_bind_int64(query, 1, record->id);
    lacis_status status = lacis_sql_step(run, catalog, query, &row);
    if (status == LACIS_OK && row && sqlite3_column_bytes(query, 0) == sizeof *out)
        memcpy(out, sqlite3_column_blob(query, 0), sizeof *out);
    sqlite3_finalize(query);
    return status;
}

const char *lacis_catalog_view(const lacis_catalog *catalog, const char *name)
{
    const lacis_record *record = lacis_map_find(catalog, name);
    return record == NULL ? NULL : record->view;
}

static void describe(const lacis_record *record, lacis_entry *out)
{
    *out = (lacis_entry){
        .name = record->name,
        .view = record->view,
        .kind = record->kind,
        .dtype = record->dtype,
        .extent = {record->extent[0], record->extent[1]},
        .entries = record->entries,
        .bytes = record->bytes,
        .resident = record->array != NULL,
        .columns = &record->columns,
    };
}

int lacis_catalog_count(const lacis_catalog *catalog)
{
    lacis_map_sync(catalog);
    return catalog->records;
}

void lacis_catalog_entry(const lacis_catalog *catalog, int index, lacis_entry *out)
{
    describe(catalog->record[index], out);
}

bool lacis_catalog_find(const lacis_catalog *catalog, const char *name, lacis_entry *out)
{
    const lacis_record *record = lacis_map_find(catalog, name);
    if (record != NULL) describe(record, out);
    return record != NULL;
}

/* ------------------------------------------------------------------------------------------- dropping */

static lacis_status drop(lacis_run *run, lacis_catalog *catalog, const char *name, int64_t offset, bool if_exists)
{
    const lacis_record *record = lacis_map_find(catalog, name);
    if (record == NULL) return if_exists ? LACIS_OK : no_such_name(run, catalog, name, offset);
    const char *known = record->name; /* the log keeps it */
    LACIS_TRY(forget_old(run, catalog, known));
    LACIS_TRY(lacis_sql_withdraw(run, catalog, known));
    return lacis_map_change(run, catalog, known, NULL);
}

lacis_status lacis_catalog_drop(lacis_run *run, lacis_catalog *catalog, const char *name, int64_t offset,
                                bool if_exists)
{
    bool own = catalog->depth == 0;
    if (own) LACIS_TRY(lacis_catalog_begin(run, catalog));
    return finish(run, catalog, own, drop(run, catalog, name, offset, if_exists));
}
