/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening and closing the database behind a catalog, its transactions, and the named texts it keeps. api/ opens one
 * an engine; statements that change the catalog run between begin and commit.
 */
#include "catalog/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const char lacis_text_schema_sql[]; /* schema.sql, embedded by CMake */

enum { APPLICATION = 0x4c414349, FORMAT = 1, BUSY_SECONDS = 5 };

/* ------------------------------------------------------------------------------------------- opening */

static int deny(lacis_catalog *catalog, const char *name, bool own)
{
    snprintf(catalog->denied, sizeof catalog->denied, "%s", name);
    catalog->denied_own = own;
    return SQLITE_DENY;
}

/* The table that an action would change, or NULL. ALTER TABLE names its schema first; CREATE INDEX and CREATE TRIGGER
 * name what they make first. */
static const char *changed_table(int action, const char *first, const char *second)
{
    switch (action) {
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_DROP_TABLE:
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_VIEW:
        return first;
    case SQLITE_ALTER_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_TRIGGER:
        return second;
    default:
        return NULL;
    }
}

/* The two numbers that say what the file is; temp's user_version is the log's stamp (internal.h). */
static bool marks_file(int action, const char *pragma, const char *value, const char *schema)
{
    if (action != SQLITE_PRAGMA || value == NULL) return false;
    if (schema != NULL && sqlite3_stricmp(schema, "main") != 0 && sqlite3_stricmp(schema, "temp") != 0) return false;
    return sqlite3_stricmp(pragma, "user_version") == 0 || sqlite3_stricmp(pragma, "application_id") == 0;
}

/* Refuses statements that would write the catalog's own tables, and CREATE TABLE x and CREATE VIEW x where they would
 * hide behind the virtual table x, or the other way round. Nothing here may run SQL. */
static int authorize(void *context, int action, const char *first, const char *second, const char *schema,
                     const char *trigger)
{
    lacis_catalog *catalog = context;
    (void)trigger;
    if (catalog->working || catalog->run == NULL || first == NULL) return SQLITE_OK;
    if (marks_file(action, first, second, schema)) return deny(catalog, first, true);
    bool vacuum = schema != NULL && strcmp(schema, "vacuum_db") == 0; /* SQLite copies all tables there */
    const char *table = vacuum ? NULL : changed_table(action, first, second);
    if (table != NULL && sqlite3_strnicmp(table, "lacis_", 6) == 0) return deny(catalog, table, true);
    bool creates = action == SQLITE_CREATE_TABLE || action == SQLITE_CREATE_VIEW ||
                   action == SQLITE_CREATE_TEMP_TABLE || action == SQLITE_CREATE_TEMP_VIEW ||
                   action == SQLITE_CREATE_VTABLE;
    const lacis_record *record = creates ? lacis_map_peek(catalog, first) : NULL;
    return record == NULL ? SQLITE_OK : deny(catalog, record->name, false);
}

/* SQLite's last try was to open the file as it is; where it is not there the folder says why it could not be made. */
static int reason_of(lacis_run *run, sqlite3 *db, const char *path)
{
    int reason = sqlite3_system_errno(db);
    if (reason != ENOENT) return reason;
    const char *slash = strrchr(path, '/');
    const char *folder = slash == NULL ? "." : lacis_run_text(run, "%.*s/", (int)(slash - path), path);
    if (folder == NULL || access(folder, F_OK) != 0) return reason;
    return access(folder, W_OK) == 0 ? reason : errno;
}

/* Until the lock is free, the time is over, or the statement is cancelled (fail.c then says so). */
static int wait_for_lock(void *context, int tries)
{
    lacis_catalog *catalog = context;
    double now = lacis_now();
    if (tries == 0) catalog->waiting_since = now;
    if (lacis_run_cancelled(&catalog->own) || now - catalog->waiting_since > BUSY_SECONDS) return 0;
    (void)poll(NULL, 0, tries < 5 ? 1 : tries < 10 ? 5 : 20);
    return 1;
}

static lacis_status open_database(lacis_run *run, lacis_catalog *catalog, const char *path)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int code = sqlite3_open_v2(path, &catalog->db, flags, NULL);
    if (catalog->db == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    if (code != SQLITE_OK) {
        int reason = reason_of(run, catalog->db, path);
        return lacis_run_fail(run, (code & 0xff) == SQLITE_NOMEM ? LACIS_NOMEM : LACIS_CANTOPEN,
                              "cannot open the database %s: %s", path,
                              reason != 0 ? strerror(reason) : sqlite3_errmsg(catalog->db));
    }
    sqlite3_busy_handler(catalog->db, wait_for_lock, catalog);
    /* No SQL may make the file unreadable, nor take away the journal that rolls back. */
    sqlite3_db_config(catalog->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return lacis_sql_run(run, catalog, "PRAGMA temp_store = MEMORY; PRAGMA secure_delete = OFF");
}

static lacis_status make_schema(lacis_run *run, lacis_catalog *catalog)
{
    LACIS_TRY(lacis_sql_run(run, catalog, "BEGIN IMMEDIATE"));
    int64_t tables = 0;
    lacis_status status = lacis_sql_integer(run, catalog, "SELECT count(*) FROM main.sqlite_schema", &tables);
    /* Another process may have made it since we looked. */
    if (status == LACIS_OK && tables == 0) status = lacis_sql_run(run, catalog, lacis_text_schema_sql);
    if (status == LACIS_OK) status = lacis_sql_run(run, catalog, "COMMIT");
    if (status != LACIS_OK) sqlite3_exec(catalog->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

typedef struct marks {
    int64_t application, format, tables;
} marks;

/* All of one state: another process may be making the file just now. */
static lacis_status read_marks(lacis_run *run, lacis_catalog *catalog, marks *out)
{
    *out = (marks){0};
    LACIS_TRY(lacis_sql_run(run, catalog, "BEGIN"));
    lacis_status status = lacis_sql_integer(run, catalog, "PRAGMA main.application_id", &out->application);
    if (status == LACIS_OK) status = lacis_sql_integer(run, catalog, "PRAGMA main.user_version", &out->format);
    if (status == LACIS_OK)
        status = lacis_sql_integer(run, catalog, "SELECT count(*) FROM main.sqlite_schema", &out->tables);
    sqlite3_exec(catalog->db, "ROLLBACK", NULL, NULL, NULL); /* nothing was written */
    return status;
}

/* Whether the file is ours, of a format we read, or new: then it becomes ours. */
static lacis_status identify(lacis_run *run, lacis_catalog *catalog, const char *path)
{
    marks found;
    lacis_status status = read_marks(run, catalog, &found);
    if (status == LACIS_OK && found.application == 0 && found.tables == 0) {
        LACIS_TRY(lacis_sql_run(run, catalog, "PRAGMA page_size = 16384"));
        lacis_status made = make_schema(run, catalog);
        /* The lock may be held by whoever has made the file meanwhile. */
        status = made == LACIS_OK || made == LACIS_BUSY ? read_marks(run, catalog, &found) : made;
        if (status == LACIS_OK && found.application == 0 && found.tables == 0) status = made;
        if (status == LACIS_OK) lacis_host_ok(run->host);
    }
    if (status == LACIS_CANTOPEN)
        return lacis_run_fail(run, LACIS_CANTOPEN,
                              "%s is not a lacis database, nor any SQLite database: give a "
                              "new file's name, or LOAD it if it holds data",
                              path);
    LACIS_TRY(status);
    if (found.application != APPLICATION)
        return lacis_run_fail(run, LACIS_CANTOPEN,
                              "%s is an SQLite database of another program, not one of lacis: "
                              "ATTACH '%s' AS other reads its tables",
                              path, path);
    if (found.format != FORMAT)
        return lacis_run_fail(run, LACIS_CANTOPEN, "%s has database format %lld, %s; this lacis reads format %d",
                              path, (long long)found.format,
                              found.format > FORMAT ? "made by a newer lacis" : "which never existed", FORMAT);
    return LACIS_OK;
}

static lacis_status start(lacis_run *run, lacis_catalog *catalog, const char *path)
{
    LACIS_TRY(open_database(run, catalog, path));
    LACIS_TRY(identify(run, catalog, path));
    sqlite3_set_authorizer(catalog->db, authorize, catalog);
    LACIS_TRY(lacis_vtab_register(run, catalog));
    LACIS_TRY(lacis_functions_register(run, catalog));
    LACIS_TRY(lacis_sql_prepare(run, catalog, "PRAGMA temp.user_version", &catalog->stamp_query));
    LACIS_TRY(lacis_sql_prepare(run, catalog, "PRAGMA main.data_version", &catalog->version_query));
    return catalog->in_file ? lacis_catalog_refresh(run, catalog) : LACIS_OK;
}

lacis_status lacis_catalog_open(lacis_run *run, const char *path, const lacis_resolver *resolver, lacis_catalog **out)
{
    lacis_catalog *catalog;
    LACIS_TRY(lacis_run_alloc(run, sizeof *catalog, &catalog));
    memset(catalog, 0, sizeof *catalog);
    catalog->memory = lacis_memory_retain(run->host->memory);
    catalog->resolver = resolver;
    catalog->in_file = path != NULL && strcmp(path, ":memory:") != 0;
    catalog->data_version = -1;
    lacis_run_init(&catalog->own, run->host);
    lacis_status status = start(run, catalog, catalog->in_file ? path : ":memory:");
    if (status != LACIS_OK) {
        lacis_catalog_close(catalog);
        return status;
    }
    *out = catalog;
    return LACIS_OK;
}

void lacis_catalog_close(lacis_catalog *catalog)
{
    if (catalog == NULL) return;
    lacis_memory *memory = catalog->memory;
    sqlite3_finalize(catalog->stamp_query);
    sqlite3_finalize(catalog->version_query);
    lacis_map_clear(catalog);
    sqlite3_close_v2(catalog->db);
    lacis_run_clear(&catalog->own);
    lacis_memory_free(memory, catalog);
    lacis_memory_release(memory);
}

sqlite3 *lacis_catalog_db(lacis_catalog *catalog)
{
    return catalog->db;
}

bool lacis_catalog_in_file(const lacis_catalog *catalog)
{
    return catalog->in_file;
}

uint64_t lacis_catalog_generation(const lacis_catalog *catalog)
{
    lacis_map_sync(catalog);
    return catalog->generation;
}

void lacis_catalog_set_run(lacis_catalog *catalog, lacis_run *run)
{
    catalog->run = run;
    if (run == NULL) return;
    catalog->denied[0] = '\0';
    lacis_map_sync(catalog); /* the authorizer cannot */
}

/* -------------------------------------------------------------------------------------- transactions */

/* The lock is taken only on what this process has last read. */
static lacis_status begin_whole(lacis_run *run, lacis_catalog *catalog)
{
    if (!catalog->in_file) return lacis_sql_run(run, catalog, "BEGIN");
    for (int tries = 0; tries < 100; tries++) {
        int64_t version;
        LACIS_TRY(lacis_catalog_refresh(run, catalog));
        LACIS_TRY(lacis_sql_run(run, catalog, "BEGIN IMMEDIATE"));
        lacis_status status = lacis_catalog_version(run, catalog, &version);
        if (status == LACIS_OK && version == catalog->data_version) return LACIS_OK;
        sqlite3_exec(catalog->db, "ROLLBACK", NULL, NULL, NULL);
        LACIS_TRY(status);
    }
    return lacis_run_fail(run, LACIS_BUSY, "other processes keep writing the database; try again");
}

lacis_status lacis_catalog_begin(lacis_run *run, lacis_catalog *catalog)
{
    if (catalog->depth == LACIS_CATALOG_DEPTH)
        return lacis_run_fail(run, LACIS_MISUSE, "transactions nest at most %d deep", LACIS_CATALOG_DEPTH);
    lacis_map_sync(catalog);
    bool whole = sqlite3_get_autocommit(catalog->db) != 0;
    LACIS_TRY(whole ? begin_whole(run, catalog) : lacis_sql_run(run, catalog, "SAVEPOINT lacis"));
    catalog->level[catalog->depth].whole = whole;
    catalog->level[catalog->depth++].changes = catalog->changes;
    return LACIS_OK;
}

lacis_status lacis_catalog_commit(lacis_run *run, lacis_catalog *catalog)
{
    if (catalog->depth == 0) return lacis_run_fail(run, LACIS_MISUSE, "no transaction is open");
    bool whole = catalog->level[catalog->depth - 1].whole;
    lacis_status status = lacis_sql_run(run, catalog, whole ? "COMMIT" : "RELEASE lacis");
    if (status != LACIS_OK) {
        lacis_catalog_rollback(run, catalog);
        return status;
    }
    catalog->depth--;
    if (whole) lacis_map_forget(catalog);
    return LACIS_OK;
}

/* SQLite may have rolled back by itself (a full disk), and an interrupt may stop the first tries. */
static void roll_back_sql(lacis_catalog *catalog, bool whole)
{
    const char *sql = whole ? "ROLLBACK" : "ROLLBACK TO lacis; RELEASE lacis";
    for (int tries = 0; tries < 3 && !sqlite3_get_autocommit(catalog->db); tries++)
        if (sqlite3_exec(catalog->db, sql, NULL, NULL, NULL) == SQLITE_OK) return;
}

void lacis_catalog_rollback(lacis_run *run, lacis_catalog *catalog)
{
    (void)run;
    if (catalog->depth == 0) return;
    catalog->depth--;
    roll_back_sql(catalog, catalog->level[catalog->depth].whole);
    lacis_map_undo(catalog, catalog->level[catalog->depth].changes);
    lacis_map_sync(catalog);
}

/* ----------------------------------------------------------------------------------------- kept texts */

lacis_status lacis_catalog_keep(lacis_run *run, lacis_catalog *catalog, const char *group, const char *name,
                                const char *value)
{
    sqlite3_stmt *write;
    LACIS_TRY(lacis_sql_prepare(run, catalog,
                                value == NULL ? "DELETE FROM main.lacis_kept WHERE grp = ?1 AND name = ?2"
                                              : "INSERT OR REPLACE INTO main.lacis_kept VALUES (?1, ?2, ?3)",
                                &write));
    sqlite3_bind_text(write, 1, group, -1, SQLITE_STATIC);
    sqlite3_bind_text(write, 2, name, -1, SQLITE_STATIC);
    if (value != NULL) sqlite3_bind_text(write, 3, value, -1, SQLITE_STATIC);
    return lacis_sql_finish(run, catalog, write);
}

lacis_status lacis_catalog_kept(lacis_run *run, lacis_catalog *catalog, const char *group, lacis_kept_fn fn,
                                void *arg)
{
    sqlite3_stmt *query;
    bool row = false;
    LACIS_TRY(lacis_sql_prepare(run, catalog, "SELECT name, value FROM main.lacis_kept WHERE grp = ?1 ORDER BY name",
                                &query));
    sqlite3_bind_text(query, 1, group, -1, SQLITE_STATIC);
    lacis_status status = lacis_sql_step(run, catalog, query, &row);
    while (status == LACIS_OK && row) {
        const char *name = (const char *)sqlite3_column_text(query, 0);
        const char *value = (const char *)sqlite3_column_text(query, 1);
        if (name != NULL && value != NULL) fn(arg, name, value);
        status = lacis_sql_step(run, catalog, query, &row);
    }
    sqlite3_finalize(query);
    return status;
}
