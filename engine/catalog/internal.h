/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of catalog/ share. The catalog in memory is a sorted list of records (map.c); changes to it are kept
 * in a log until SQLite's transaction is over, each with a stamp that is also written to temp.user_version. SQLite
 * takes that number back with whatever it rolls back - a failed COMMIT, ROLLBACK TO, the user's own ROLLBACK - so
 * comparing it with the log's stamps says what must be undone in memory.
 */
#ifndef LACIS_CATALOG_INTERNAL_H
#define LACIS_CATALOG_INTERNAL_H

#include "catalog/catalog.h"

enum {
    LACIS_CATALOG_DEPTH = 8,  /* of begin within begin */
    LACIS_CATALOG_NAME = 200, /* bytes of a name at most */
    LACIS_CHUNK_BYTES = 4 << 20
};

/* One array or view. Texts lie behind the record, in one block with it. */
typedef struct lacis_record {
    const char *name;
    const char *view; /* text of the call, NULL for arrays */
    int64_t id;       /* of lacis_array, 0 for views and in memory */
    lacis_kind kind;
    lacis_dtype dtype;
    int64_t extent[2], base[2];
    int64_t entries;
    uint64_t bytes;
    lacis_array *array; /* NULL: not read yet */
    bool seen;          /* while the map is read again */
    lacis_columns columns;
} lacis_record;

typedef struct lacis_change {
    lacis_record *before; /* what the name was: owned by the log; NULL: nothing */
    lacis_record *after;  /* what it became: owned by the map; NULL: nothing */
    int stamp;
} lacis_change;

struct lacis_catalog {
    sqlite3 *db;
    const lacis_resolver *resolver;
    lacis_memory *memory;
    lacis_run *run;                      /* of the statement in hand, NULL between statements */
    lacis_run own;                       /* stands in for it */
    char denied[LACIS_CATALOG_NAME + 1]; /* the name that the authorizer refused */
    bool denied_own;                     /* it belongs to the catalog itself */
    bool in_file, working;               /* working: the catalog's own SQL runs, the authorizer lets it pass */
    lacis_record **record;               /* by name */
    int records, room;
    lacis_change *change;
    int changes, change_room;
    int stamp;
    uint64_t generation;
    sqlite3_stmt *stamp_query, *version_query; /* temp.user_version; main.data_version */
    int64_t data_version;                      /* the file's, when the map was read */
    double waiting_since;                      /* for the file's lock: lacis_now() at the first try */
    int depth;
    struct {
        bool whole; /* BEGIN rather than SAVEPOINT */
        int changes;
    } level[LACIS_CATALOG_DEPTH];
};

/* map.c */
int lacis_name_compare(const char *a, const char *b); /* ASCII, case ignored */
/* columns' names are copied, as are the two texts; view may be NULL. */
lacis_status lacis_record_new(lacis_run *run, lacis_catalog *catalog, const char *name, const char *view,
                              const lacis_columns *columns, lacis_record **out);
void lacis_record_free(lacis_catalog *catalog, lacis_record *record); /* NULL is fine */
lacis_record *lacis_map_find(const lacis_catalog *catalog, const char *name);
lacis_record *lacis_map_peek(const lacis_catalog *catalog, const char *name); /* without lacis_map_sync */
/* Room for one more record and change, so that lacis_map_set cannot fail. */
lacis_status lacis_map_reserve(lacis_run *run, lacis_catalog *catalog);
/* The name's record becomes `after` (NULL: none); logged with a new stamp. */
lacis_status lacis_map_change(lacis_run *run, lacis_catalog *catalog, const char *name, lacis_record *after);
void lacis_map_undo(lacis_catalog *catalog, int changes); /* down to so many */
void lacis_map_forget(lacis_catalog *catalog);            /* the log: all is committed */
/* Makes the map agree with what SQLite has committed or rolled back since. Cheap where nothing is open. */
void lacis_map_sync(const lacis_catalog *catalog);
void lacis_map_clear(lacis_catalog *catalog);

/* sql.c: the catalog's own SQL. */
lacis_status lacis_sql_run(lacis_run *run, lacis_catalog *catalog, const char *sql);
lacis_status lacis_sql_runf(lacis_run *run, lacis_catalog *catalog, const char *format, ...); /* sqlite3_mprintf's */
lacis_status lacis_sql_prepare(lacis_run *run, lacis_catalog *catalog, const char *sql, sqlite3_stmt **out);
/* Steps a statement that gives no rows, and finalizes it. */
lacis_status lacis_sql_finish(lacis_run *run, lacis_catalog *catalog, sqlite3_stmt *statement);
/* A step of a query: *row says whether there is one. */
lacis_status lacis_sql_step(lacis_run *run, lacis_catalog *catalog, sqlite3_stmt *statement, bool *row);
/* The single integer of a query without parameters. */
lacis_status lacis_sql_integer(lacis_run *run, lacis_catalog *catalog, const char *sql, int64_t *out);
/* CREATE VIRTUAL TABLE IF NOT EXISTS | DROP TABLE IF EXISTS temp."name". */
lacis_status lacis_sql_publish(lacis_run *run, lacis_catalog *catalog, const char *name);
lacis_status lacis_sql_withdraw(lacis_run *run, lacis_catalog *catalog, const char *name);

/* store.c, fetch.c: arrays to and from chunks. */
lacis_status lacis_store_write(lacis_run *run, lacis_catalog *catalog, lacis_record *record,
                               const lacis_array *array);
lacis_status lacis_store_delete(lacis_run *run, lacis_catalog *catalog, const lacis_record *record);
lacis_status lacis_store_read(lacis_run *run, lacis_catalog *catalog, const lacis_record *record, lacis_array **out);
const char *lacis_kind_text(lacis_kind kind);

/* reread.c: brings the map and the virtual tables to the state of the file's tables. */
lacis_status lacis_catalog_reread(lacis_run *run, lacis_catalog *catalog);
/* The same where another process has written since; not inside a transaction. */
lacis_status lacis_catalog_refresh(lacis_run *run, lacis_catalog *catalog);
lacis_status lacis_catalog_version(lacis_run *run, lacis_catalog *catalog, int64_t *out);
/* A view's columns as lacis_view.layout keeps them, in scratch; and back. */
char *lacis_layout_text(lacis_run *run, const lacis_columns *columns);
lacis_status lacis_layout_parse(lacis_run *run, const char *text, lacis_columns *out);

/* vtab.c: the module; pushdown.c: what of a query it takes over. */
lacis_status lacis_vtab_register(lacis_run *run, lacis_catalog *catalog);
/* functions.c */
lacis_status lacis_functions_register(lacis_run *run, lacis_catalog *catalog);
int lacis_pushdown_plan(const lacis_relation *relation, bool lazy, sqlite3_index_info *info);
/* Reads the arguments that the plan asked for. *nothing: no row can match. The list is freed by the caller with
 * sqlite3_free. */
int lacis_pushdown_filter(int number, const char *text, int count, sqlite3_value **value, lacis_filter *out,
                          int64_t **list, bool *nothing);

/* "did you mean x?" in scratch, over the names of the catalog and of SQL tables (columns: of columns), or NULL. */
const char *lacis_catalog_hint(lacis_run *run, lacis_catalog *catalog, const char *name, bool columns);

#endif
