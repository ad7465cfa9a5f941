/* SPDX-License-Identifier: Apache-2.0
 *
 * Running the catalog's own SQL: small helpers of the other files here.
 */
#include "catalog/internal.h"

#include <stdarg.h>

/* How it went, where `code` is what a step or exec gave. */
static lacis_status status_of(lacis_run *run, lacis_catalog *catalog, int code)
{
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return LACIS_OK;
    return lacis_catalog_fail(run, catalog, code, -1);
}

lacis_status lacis_sql_run(lacis_run *run, lacis_catalog *catalog, const char *sql)
{
    bool outer = catalog->working;
    catalog->working = true;
    int code = sqlite3_exec(catalog->db, sql, NULL, NULL, NULL);
    catalog->working = outer;
    return status_of(run, catalog, code);
}

lacis_status lacis_sql_runf(lacis_run *run, lacis_catalog *catalog, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    if (sql == NULL) return lacis_catalog_fail(run, catalog, SQLITE_NOMEM, -1);
    lacis_status status = lacis_sql_run(run, catalog, sql);
    sqlite3_free(sql);
    return status;
}

lacis_status lacis_sql_prepare(lacis_run *run, lacis_catalog *catalog, const char *sql, sqlite3_stmt **out)
{
    bool outer = catalog->working;
    catalog->working = true;
    int code = sqlite3_prepare_v2(catalog->db, sql, -1, out, NULL);
    catalog->working = outer;
    return status_of(run, catalog, code);
}

lacis_status lacis_sql_step(lacis_run *run, lacis_catalog *catalog, sqlite3_stmt *statement, bool *row)
{
    bool outer = catalog->working;
    catalog->working = true;
    int code = sqlite3_step(statement);
    catalog->working = outer;
    *row = code == SQLITE_ROW;
    return status_of(run, catalog, code);
}

lacis_status lacis_sql_finish(lacis_run *run, lacis_catalog *catalog, sqlite3_stmt *statement)
{
    bool row;
    lacis_status status = lacis_sql_step(run, catalog, statement, &row);
    sqlite3_finalize(statement);
    return status;
}

lacis_status lacis_sql_integer(lacis_run *run, lacis_catalog *catalog, const char *sql, int64_t *out)
{
    sqlite3_stmt *query;
    bool row = false;
    LACIS_TRY(lacis_sql_prepare(run, catalog, sql, &query));
    lacis_status status = lacis_sql_step(run, catalog, query, &row);
    *out = row ? sqlite3_column_int64(query, 0) : 0;
    sqlite3_finalize(query);
    return status;
}

lacis_status lacis_sql_publish(lacis_run *run, lacis_catalog *catalog, const char *name)
{
    return lacis_sql_runf(run, catalog, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.\"%w\" USING lacis", name);
}

lacis_status lacis_sql_withdraw(lacis_run *run, lacis_catalog *catalog, const char *name)
{
    return lacis_sql_runf(run, catalog, "DROP TABLE IF EXISTS temp.\"%w\"", name);
}
