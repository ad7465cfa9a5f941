/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual table module "lacis": every array and view as a read-only SQL table, temp."name". Rows come from the
 * resolver's sources; what SQLite need not do itself is decided in pushdown.c. SQLite alone calls this file.
 */
#include "catalog/internal.h"
#include "core/grid.h"

#include <string.h>

typedef struct table {
    sqlite3_vtab base;
    lacis_catalog *catalog;
    char name[]; /* as the record has it */
} table;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    lacis_rows *rows; /* NULL: at the end */
    sqlite3_int64 number;
    lacis_filter filter; /* what rows was opened with */
    int64_t *list;       /* the filter's, owned */
} cursor;

static lacis_run *run_of(lacis_catalog *catalog)
{
    return catalog->run != NULL ? catalog->run : &catalog->own;
}

/* Hands a lacis error through SQLite in SQLite's terms; lacis_catalog_fail knows it again by its message. */
static int pass_on(table *self, lacis_status status)
{
    lacis_catalog *catalog = self->catalog;
    sqlite3_free(self->base.zErrMsg);
    self->base.zErrMsg = sqlite3_mprintf("%s", run_of(catalog)->host->error.message);
    switch (status) {
    case LACIS_NOMEM:
        return SQLITE_NOMEM;
    case LACIS_INTERRUPT:
        return SQLITE_INTERRUPT;
    default:
        return SQLITE_ERROR;
    }
}

/* ------------------------------------------------------------------------------------------- tables */

/* Keys are the primary key, and there is no rowid: which number a row has depends on the conditions it was asked
 * with, and SQLite joins the halves of an OR by rowids where it can. Tables without keys are always read whole. */
static int declare(sqlite3 *db, const lacis_columns *columns)
{
    sqlite3_str *text = sqlite3_str_new(db);
    sqlite3_str_appendall(text, "CREATE TABLE x");
    for (int i = 0; i < columns->count; i++)
        sqlite3_str_appendf(text, "%c\"%w\" %s", i == 0 ? '(' : ',', columns->name[i],
                            i == columns->text ? "TEXT"
                            : columns->real[i] ? "REAL"
                                               : "INTEGER");
    for (int i = 0; i < columns->keys; i++)
        sqlite3_str_appendf(text, "%s\"%w\"", i == 0 ? ", PRIMARY KEY (" : ",", columns->name[i]);
    sqlite3_str_appendall(text, columns->keys > 0 ? ")) WITHOUT ROWID" : ")");
    char *sql = sqlite3_str_finish(text);
    if (sql == NULL) return SQLITE_NOMEM;
    int code = sqlite3_declare_vtab(db, sql);
    sqlite3_free(sql);
    return code;
}

static int connect_table(sqlite3 *db, void *context, int count, const char *const *args, sqlite3_vtab **out,
                         char **error)
{
    (void)count;
    lacis_catalog *catalog = context;
    const lacis_record *record = lacis_map_find(catalog, args[2]);
    if (record == NULL) {
        *error = sqlite3_mprintf("no array or view is called %s", args[2]);
        return SQLITE_ERROR;
    }
    int code = declare(db, &record->columns);
    if (code != SQLITE_OK) {
        *error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
        return code;
    }
    size_t length = strlen(record->name) + 1;
    table *self = sqlite3_malloc64(sizeof *self + length);
    if (self == NULL) return SQLITE_NOMEM;
    memset(self, 0, sizeof *self);
    self->catalog = catalog;
    memcpy(self->name, record->name, length);
    *out = &self->base;
    return SQLITE_OK;
}

/* The same as connecting; a function of its own, since SQLite lets a module whose two are one be read by its name. */
static int create_table(sqlite3 *db, void *context, int count, const char *const *args, sqlite3_vtab **out,
                        char **error)
{
    return connect_table(db, context, count, args, out, error);
}

static int disconnect(sqlite3_vtab *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

static int refuse_rename(sqlite3_vtab *base, const char *name)
{
    table *self = (table *)base;
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = sqlite3_mprintf("%s is an array or view of lacis and cannot be renamed: LET %s = (SELECT ...) "
                                    "makes a copy",
                                    self->name, name);
    return SQLITE_ERROR;
}

/* Arrays answer from their record, without being read; views are described by the layer above. */
static lacis_status relation_of(table *self, lacis_relation *out, bool *lazy)
{
    lacis_catalog *catalog = self->catalog;
    lacis_run *run = run_of(catalog);
    const lacis_record *record = lacis_map_find(catalog, self->name);
    if (record == NULL) return lacis_run_fail(run, LACIS_NAME, "there is no array or view called %s", self->name);
    *lazy = record->view != NULL;
    if (*lazy) return catalog->resolver->describe(catalog->resolver->context, run, self->name, out);
    out->columns = record->columns;
    out->rows = (double)record->entries;
    double units = record->kind == LACIS_CSR && record->extent[0] > 0 ? (double)record->extent[0] : out->rows;
    if (record->kind == LACIS_SYMMETRIC) units = (double)record->extent[record->extent[1] != 1];
    out->first = units > 0 && out->rows > units ? out->rows / units : 1;
    if (record->kind == LACIS_GRID)
        lacis_grid_extents(record->extent, record->entries, record->columns.keys, out->extent);
    return LACIS_OK;
}

/* A view whose operands have changed may have other columns than SQLite was told. */
static lacis_status check_layout(table *self, const lacis_columns *now)
{
    lacis_run *run = run_of(self->catalog);
    const lacis_record *record = lacis_map_find(self->catalog, self->name);
    bool same = record != NULL && record->columns.count == now->count;
    for (int i = 0; same && i < now->count; i++)
        same = lacis_name_compare(record->columns.name[i], now->name[i]) == 0;
    if (same) return LACIS_OK;
    return lacis_run_fail(run, LACIS_TYPE,
                          "the columns of view %s are others than when it was made, since its "
                          "operands changed: DROP it and create it again",
                          self->name);
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    table *self = (table *)base;
    lacis_relation relation;
    bool lazy = false;
    lacis_status status = relation_of(self, &relation, &lazy);
    if (status == LACIS_OK) status = check_layout(self, &relation.columns);
    if (status != LACIS_OK) return pass_on(self, status);
    return lacis_pushdown_plan(&relation, lazy, info);
}

/* ------------------------------------------------------------------------------------------ cursors */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    cursor *self = sqlite3_malloc64(sizeof *self);
    if (self == NULL) return SQLITE_NOMEM;
    memset(self, 0, sizeof *self);
    *out = &self->base;
    return SQLITE_OK;
}

static void end_rows(cursor *self)
{
    lacis_rows_close(self->rows);
    self->rows = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    cursor *self = (cursor *)base;
    end_rows(self);
    sqlite3_free(self->list);
    sqlite3_free(self);
    return SQLITE_OK;
}

static lacis_status open_rows(cursor *self)
{
    table *owner = (table *)self->base.pVtab;
    const lacis_resolver *resolver = owner->catalog->resolver;
    lacis_status status =
        resolver->open(resolver->context, run_of(owner->catalog), owner->name, &self->filter, &self->rows);
    if (status != LACIS_OK) self->rows = NULL;
    return status;
}

/* SQLite (3.40 at least) offers a LIMIT also where it keeps conditions to itself that compare two columns of the
 * table. It then asks for more rows than the limit, and gets the others of the same order. */
static lacis_status go_beyond_limit(cursor *self, bool *more)
{
    table *owner = (table *)self->base.pVtab;
    int64_t seen = self->filter.limit;
    end_rows(self);
    self->filter.limit = INT64_MAX;
    LACIS_TRY(open_rows(self));
    for (*more = true; *more && seen >= 0; seen--)
        LACIS_TRY(lacis_rows_next(self->rows, run_of(owner->catalog), more));
    return LACIS_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    cursor *self = (cursor *)base;
    table *owner = (table *)base->pVtab;
    bool more = false;
    lacis_status status = lacis_rows_next(self->rows, run_of(owner->catalog), &more);
    bool cut = !more && self->filter.by_value && self->number == self->filter.limit;
    if (status == LACIS_OK && cut) status = go_beyond_limit(self, &more);
    self->number++;
    if (more && status == LACIS_OK) return SQLITE_OK;
    end_rows(self);
    return status == LACIS_OK ? SQLITE_OK : pass_on(owner, status);
}

static int filter_rows(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **value)
{
    cursor *self = (cursor *)base;
    bool nothing = false;
    end_rows(self);
    sqlite3_free(self->list);
    self->list = NULL;
    self->number = 0;
    int code = lacis_pushdown_filter(number, text, count, value, &self->filter, &self->list, &nothing);
    if (code != SQLITE_OK || nothing) return code;
    lacis_status status = open_rows(self);
    return status == LACIS_OK ? next_row(base) : pass_on((table *)base->pVtab, status);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((cursor *)base)->rows == NULL;
}

static int column_value(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    lacis_cell cell;
    lacis_rows_cell(((cursor *)base)->rows, column, &cell);
    switch (cell.type) {
    case LACIS_INTEGER:
        sqlite3_result_int64(out, cell.integer);
        break;
    case LACIS_REAL:
        sqlite3_result_double(out, cell.real);
        break;
    case LACIS_TEXT:
        sqlite3_result_text(out, cell.text, -1, SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_result_null(out);
        break;
    }
    return SQLITE_OK;
}

static int row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((cursor *)base)->number;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = create_table,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter_rows,
    .xNext = next_row,
    .xEof = at_end,
    .xColumn = column_value,
    .xRowid = row_number,
    .xRename = refuse_rename,
};

lacis_status lacis_vtab_register(lacis_run *run, lacis_catalog *catalog)
{
    int code = sqlite3_create_module_v2(catalog->db, "lacis", &module, catalog, NULL);
    return code == SQLITE_OK ? LACIS_OK : lacis_catalog_fail(run, catalog, code, -1);
}
