/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite's errors as lacis's: code, message, place in the text, and a hint where a name is misspelt. Errors that
 * arose inside a virtual table come back as what they were.
 */
#include "catalog/internal.h"

#include "core/registry.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

/* ------------------------------------------------------------------------------------------- hints */

/* Of a column that is like none, and of one that only another array has. */
#define HINT_COLUMNS "SELECT * FROM x LIMIT 1 shows what columns x has"
#define HINT_ANOTHER "another array has it; complex values have re and im instead; " HINT_COLUMNS

static void try_columns(lacis_catalog *catalog, lacis_nearest *nearest)
{
    for (int i = 0; i < catalog->records; i++)
        for (int k = 0; k < catalog->record[i]->columns.count; k++)
            lacis_nearest_try(nearest, catalog->record[i]->columns.name[k]);
}

static void try_tables(lacis_run *run, lacis_catalog *catalog, lacis_nearest *nearest)
{
    sqlite3_stmt *query;
    (void)run;
    for (int i = 0; i < catalog->records; i++)
        lacis_nearest_try(nearest, catalog->record[i]->name);
    const char *sql = "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')"
                      " AND name NOT LIKE 'lacis\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    if (sqlite3_prepare_v2(catalog->db, sql, -1, &query, NULL) != SQLITE_OK) return;
    while (sqlite3_step(query) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(query, 0);
        if (name != NULL) lacis_nearest_try(nearest, name);
    }
    sqlite3_finalize(query);
}

const char *lacis_catalog_sql(lacis_catalog *catalog, const char *name)
{
    sqlite3_stmt *query;
    const char *kind = NULL, *sql = "SELECT type = 'view' FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE"
                                    " AND type IN ('table', 'view') UNION ALL SELECT type = 'view' FROM"
                                    " temp.sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')"
                                    " AND sql NOT LIKE 'CREATE VIRTUAL TABLE%USING lacis'";
    if (sqlite3_prepare_v2(catalog->db, sql, -1, &query, NULL) != SQLITE_OK) return NULL;
    sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
    if (sqlite3_step(query) == SQLITE_ROW) kind = sqlite3_column_int(query, 0) ? "view" : "table";
    sqlite3_finalize(query);
    return kind;
}

const char *lacis_catalog_hint(lacis_run *run, lacis_catalog *catalog, const char *name, bool columns)
{
    lacis_nearest nearest;
    const char *kind = columns ? NULL : lacis_catalog_sql(catalog, name);
    if (kind != NULL)
        return lacis_run_text(run, "it is a %s of SQL: LET x = SELECT ... FROM it makes an array, DROP %s drops it",
                              kind, kind[0] == 't' ? "TABLE" : "VIEW");
    lacis_nearest_begin(&nearest, name, strlen(name));
    if (columns) {
        try_columns(catalog, &nearest);
    } else {
        try_tables(run, catalog, &nearest);
    }
    const char *best = lacis_nearest_result(&nearest);
    if (best == NULL) return NULL;
    if (columns && strcasecmp(best, name) == 0) return HINT_ANOTHER;
    return lacis_run_text(run, "did you mean %s?", best);
}

/* ------------------------------------------------------------------------------------------- codes */

/* Where in the statement: the SQL's place plus SQLite's within it, if it knows. */
static int64_t place(lacis_catalog *catalog, int64_t offset)
{
    int within = catalog->db == NULL ? -1 : sqlite3_error_offset(catalog->db);
    return offset < 0 || within < 0 ? -1 : offset + within;
}

static bool no_room(int reason)
{
    return reason == EFBIG || reason == ENOSPC || reason == EDQUOT;
}

/* What SQLite did after a failed write may have hidden its reason: then the file's own record of it is asked, and
 * whether a limit is set at all. */
static bool disk_is_full(sqlite3 *db, int code)
{
    int reason = 0;
    struct rlimit limit;
    if (no_room(sqlite3_system_errno(db))) return true;
    if (code != SQLITE_IOERR_WRITE) return false;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &reason) == SQLITE_OK && no_room(reason))
        return true;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Text behind `prefix` in message, or NULL. */
static const char *behind(const char *message, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(message, prefix, length) == 0 ? message + length : NULL;
}

static lacis_status missing_table(lacis_run *run, lacis_catalog *catalog, const char *name, int64_t offset)
{
    const char *plain = behind(name, "main.");
    if (plain != NULL && lacis_map_find(catalog, plain) != NULL)
        return lacis_run_fail_at(run, LACIS_NAME, offset, "make the SQL view with CREATE TEMP VIEW",
                                 "no such table: %s (an array or view of lacis has this name, and stands in the "
                                 "schema temp)",
                                 name);
    plain = plain == NULL ? name : plain;
    const char *hint = lacis_catalog_hint(run, catalog, plain, false);
    if (hint == NULL && strpbrk(plain, "./") != NULL) hint = "LOAD x FROM 'file' makes a table of a file: FROM x";
    return lacis_run_fail_at(run, LACIS_NAME, offset, hint, "no such table, array or view: %s", plain);
}

/* Whether SQL was to change an array or a view of lacis. */
static bool changes_array(const char *message)
{
    return strncmp(message, "table ", 6) == 0 && strstr(message, " may not be modified") != NULL;
}

/* What SQLite itself says: names it does not know, overflow, or anything else. */
static lacis_status plain_error(lacis_run *run, lacis_catalog *catalog, int64_t offset)
{
    const char *message = lacis_run_text(run, "%s", sqlite3_errmsg(catalog->db)); /* hints run other SQL */
    int64_t at = place(catalog, offset);
    if (message == NULL) return LACIS_NOMEM;
    const char *name = behind(message, "no such table: ");
    if (name != NULL) return missing_table(run, catalog, name, at);
    name = behind(message, "no such column: ");
    if (name != NULL) {
        const char *dot = strrchr(name, '.');
        const char *hint = lacis_catalog_hint(run, catalog, dot == NULL ? name : dot + 1, true);
        return lacis_run_fail_at(run, LACIS_NAME, at, hint != NULL ? hint : HINT_COLUMNS, "%s", message);
    }
    if (changes_array(message) || strcmp(message, "virtual tables may not be altered") == 0)
        return lacis_run_fail_at(run, LACIS_SQL, at,
                                 "arrays stay as they are: LET y = SELECT ... FROM x makes another", "%s", message);
    if (strcmp(message, "integer overflow") == 0)
        return lacis_run_fail_at(run, LACIS_OVERFLOW, at, "total() adds as reals",
                                 "integer overflow: the result does not fit 64 bits");
    return lacis_run_fail_at(run, LACIS_SQL, at, NULL, "%s", message);
}

static lacis_status io_error(lacis_run *run, lacis_catalog *catalog, int code)
{
    if (code == SQLITE_IOERR_NOMEM) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    if (disk_is_full(catalog->db, code))
        return lacis_run_fail(run, LACIS_FULL,
                              "the disk is full or a file size limit was reached; the database "
                              "is as it was before");
    int reason = sqlite3_system_errno(catalog->db);
    return lacis_run_fail(run, LACIS_IO, "reading or writing the database failed: %s%s%s",
                          sqlite3_errmsg(catalog->db), reason == 0 ? "" : ": ", reason == 0 ? "" : strerror(reason));
}

/* Whether SQLite only passes on what a virtual table said (vtab.c), which the host still knows in full. */
static bool passed_on(const lacis_host *host, sqlite3 *db, int code)
{
    if (code == SQLITE_NOMEM) return host->error.code == LACIS_NOMEM;
    if (code == SQLITE_INTERRUPT) return host->error.code == LACIS_INTERRUPT;
    return host->error.code != LACIS_OK && strcmp(host->error.message, sqlite3_errmsg(db)) == 0;
}

lacis_status lacis_catalog_fail(lacis_run *run, lacis_catalog *catalog, int code, int64_t offset)
{
    if (code != SQLITE_OK && passed_on(run->host, catalog->db, code)) return run->host->error.code;
    switch (code & 0xff) {
    case SQLITE_OK:
        return LACIS_OK;
    case SQLITE_FULL:
        return lacis_run_fail(run, LACIS_FULL, "the disk is full; the database is as it was before");
    case SQLITE_IOERR:
        return io_error(run, catalog, code);
    case SQLITE_NOMEM:
        return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    case SQLITE_INTERRUPT:
        return lacis_run_interrupted(run);
    case SQLITE_BUSY:
    case SQLITE_PROTOCOL:
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        return lacis_run_fail(run, LACIS_BUSY, "another process or statement holds the database; try again");
    case SQLITE_LOCKED:
        return lacis_run_fail(run, LACIS_BUSY, "another statement is still reading: finish or reset it first (%s)",
                              sqlite3_errmsg(catalog->db));
    case SQLITE_CORRUPT:
        return lacis_run_fail(run, LACIS_CORRUPT, "the database is damaged: %s", sqlite3_errmsg(catalog->db));
    case SQLITE_NOTADB:
    case SQLITE_CANTOPEN:
        return lacis_run_fail(run, LACIS_CANTOPEN, "cannot open the database: %s", sqlite3_errmsg(catalog->db));
    case SQLITE_READONLY:
        return lacis_run_fail(run, LACIS_IO, "the database cannot be written: its file or folder is read-only");
    case SQLITE_AUTH:
        if (catalog->denied[0] == '\0') break;
        if (catalog->denied_own)
            return lacis_run_fail_at(run, LACIS_NAME, -1, "LOAD, LET, CREATE VIEW, SET and DROP change what it holds",
                                     "%s belongs to the database itself and is not changed by SQL", catalog->denied);
        return lacis_run_fail_at(run, LACIS_NAME, -1, "DROP it first, or take another name",
                                 "an array or view called %s is there already", catalog->denied);
    default:
        break;
    }
    return plain_error(run, catalog, offset);
}
