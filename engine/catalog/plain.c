/* SPDX-License-Identifier: Apache-2.0
 *
 * Ordinary SQL tables that the engine makes: rows of its own with text among them, which arrays cannot hold. Called
 * by exec/ for <name>_files.
 */
#include "catalog/internal.h"

#include <string.h>

/* The columns of the SQL table `name`, one a line; *out is NULL where there is no such table. In scratch. */
static lacis_status columns_of(lacis_run *run, lacis_catalog *catalog, const char *name, char **out)
{
    sqlite3_stmt *query;
    bool row = false;
    *out = NULL;
    LACIS_TRY(lacis_sql_prepare(run, catalog, "SELECT name FROM pragma_table_info(?1, 'main') ORDER BY cid", &query));
    sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
    lacis_status status = lacis_sql_step(run, catalog, query, &row);
    while (status == LACIS_OK && row) {
        *out = lacis_run_text(run, "%s%s\n", *out != NULL ? *out : "", (const char *)sqlite3_column_text(query, 0));
        status = *out != NULL ? lacis_sql_step(run, catalog, query, &row)
                              : lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    }
    sqlite3_finalize(query);
    return status;
}

/* The text before, between and behind the columns: a list as SQL wants it, or as columns_of gives it. */
static char *list(lacis_run *run, const char *const *column, int columns, bool sql)
{
    char *text = lacis_run_text(run, "%s", "");
    for (int i = 0; i < columns && text != NULL; i++)
        text = sql ? lacis_run_text(run, "%s%s\"%s\"", text, i > 0 ? ", " : "", column[i])
                   : lacis_run_text(run, "%s%s\n", text, column[i]);
    return text;
}

static lacis_status make_room(lacis_run *run, lacis_catalog *catalog, const char *name, const char *const *column,
                              int columns)
{
    char *old, *wanted = list(run, column, columns, false);
    if (wanted == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    if (lacis_map_find(catalog, name) != NULL)
        return lacis_run_fail(run, LACIS_NAME, "an array or view is called %s already: DROP it, or take another name",
                              name);
    LACIS_TRY(columns_of(run, catalog, name, &old));
    if (old == NULL) return LACIS_OK;
    if (strcmp(old, wanted) != 0)
        return lacis_run_fail(run, LACIS_NAME,
                              "an SQL table is called %s already: DROP TABLE it, or take another name", name);
    return lacis_sql_runf(run, catalog, "DROP TABLE main.\"%w\"", name);
}

static void bind(sqlite3_stmt *insert, int at, const lacis_cell *cell)
{
    switch (cell->type) {
    case LACIS_INTEGER:
        sqlite3_bind_int64(insert, at, cell->integer);
        break;
    case LACIS_REAL:
        sqlite3_bind_double(insert, at, cell->real);
        break;
    case LACIS_TEXT:
        sqlite3_bind_text(insert, at, cell->text, -1, SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_bind_null(insert, at);
        break;
    }
}

static lacis_status insert_rows(lacis_run *run, lacis_catalog *catalog, sqlite3_stmt *insert, int columns,
                                lacis_rows *rows)
{
    bool more, row;
    for (;;) {
        LACIS_TRY(lacis_rows_next(rows, run, &more));
        if (!more) return LACIS_OK;
        for (int i = 0; i < columns; i++) {
            lacis_cell cell;
            lacis_rows_cell(rows, i, &cell);
            bind(insert, i + 1, &cell);
        }
        LACIS_TRY(lacis_sql_step(run, catalog, insert, &row));
        sqlite3_reset(insert);
    }
}

static lacis_status fill(lacis_run *run, lacis_catalog *catalog, const char *name, int columns, lacis_rows *rows)
{
    sqlite3_stmt *insert;
    char *marks = lacis_run_text(run, "?");
    for (int i = 1; i < columns && marks != NULL; i++)
        marks = lacis_run_text(run, "%s, ?", marks);
    if (marks == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    char *sql = sqlite3_mprintf("INSERT INTO main.\"%w\" VALUES (%s)", name, marks);
    if (sql == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    lacis_status status = lacis_sql_prepare(run, catalog, sql, &insert);
    sqlite3_free(sql);
    LACIS_TRY(status);
    status = insert_rows(run, catalog, insert, columns, rows);
    sqlite3_finalize(insert);
    return status;
}

lacis_status lacis_catalog_put_table(lacis_run *run, lacis_catalog *catalog, const char *name,
                                     const char *const *column, int columns, lacis_rows *rows)
{
    char *declared = list(run, column, columns, true);
    if (declared == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    LACIS_TRY(make_room(run, catalog, name, column, columns));
    LACIS_TRY(lacis_sql_runf(run, catalog, "CREATE TABLE main.\"%w\" (%s)", name, declared));
    return fill(run, catalog, name, columns, rows);
}
