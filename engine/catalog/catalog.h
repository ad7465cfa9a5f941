/* SPDX-License-Identifier: Apache-2.0
 *
 * The catalog: one SQLite database with arrays (checksummed chunks), views, options and the machine's profile; in
 * memory or in a file. Also the virtual tables through which SQL reads arrays and views.
 */
#ifndef LACIS_CATALOG_CATALOG_H
#define LACIS_CATALOG_CATALOG_H

#include "core/rows.h"

#include <sqlite3.h>

typedef struct lacis_catalog lacis_catalog;

/* How the layers above answer for what a name means when SQL reads it: arrays and lazy views alike. */
typedef struct lacis_relation {
    lacis_columns columns;
    double rows;       /* estimate */
    double first;      /* estimate of rows for one value of the first column */
    int64_t extent[3]; /* of a grid: how many values each key has */
} lacis_relation;
typedef struct lacis_resolver {
    lacis_status (*describe)(void *context, lacis_run *run, const char *name, lacis_relation *out);
    lacis_status (*open)(void *context, lacis_run *run, const char *name, const lacis_filter *filter,
                         lacis_rows **out);
    void *context;
} lacis_resolver;

/* path NULL: in memory. Creates the schema in a new file; LACIS_CANTOPEN for what is not a lacis database,
 * LACIS_CORRUPT, LACIS_BUSY as it finds. Views and arrays become virtual tables at once; arrays' data are read when
 * first asked for. The resolver must outlive the catalog. */
lacis_status lacis_catalog_open(lacis_run *run, const char *path, const lacis_resolver *resolver,
                                lacis_catalog **out);
void lacis_catalog_close(lacis_catalog *catalog); /* NULL is fine */
/* Takes over what other processes have written since, unless a transaction keeps the state it began with, or one of
 * theirs is just being committed. To be called while no statement runs. */
lacis_status lacis_catalog_follow(lacis_run *run, lacis_catalog *catalog);
sqlite3 *lacis_catalog_db(lacis_catalog *catalog);
/* Changes whenever names or what lies under them change, rollbacks included: for what callers keep about them. */
uint64_t lacis_catalog_generation(const lacis_catalog *catalog);
/* The run of the statement in hand, which virtual tables report errors to: to be set around sqlite3_prepare and
 * sqlite3_step, NULL afterwards. An error inside a virtual table stands in its host; lacis_catalog_fail gives its
 * code. */
void lacis_catalog_set_run(lacis_catalog *catalog, lacis_run *run);
bool lacis_catalog_in_file(const lacis_catalog *catalog);

/* Work statements change the catalog between begin and commit | rollback; both the file and what is in memory follow.
 * Inside a user's own BEGIN ... COMMIT they nest (savepoints). Commit failing (LACIS_FULL, LACIS_IO ...) rolls back.
 */
lacis_status lacis_catalog_begin(lacis_run *run, lacis_catalog *catalog);
lacis_status lacis_catalog_commit(lacis_run *run, lacis_catalog *catalog);
void lacis_catalog_rollback(lacis_run *run, lacis_catalog *catalog);

/* Enters the array (retained) under a name: replaces an array or view of that name; LACIS_NAME if an SQL table has
 * it. */
lacis_status lacis_catalog_put(lacis_run *run, lacis_catalog *catalog, const char *name, lacis_array *array);
/* Whether it could be: what is wrong with the name, or has it already. */
lacis_status lacis_catalog_may_put(lacis_run *run, lacis_catalog *catalog, const char *name);
/* The array (to be released), read from the file if need be and checked; LACIS_NAME with the nearest name as hint. */
lacis_status lacis_catalog_get(lacis_run *run, lacis_catalog *catalog, const char *name, int64_t offset,
                               lacis_array **out);
lacis_status lacis_catalog_put_view(lacis_run *run, lacis_catalog *catalog, const char *name, const char *call_text);
/* "table" or "view" where SQL has one of that name, or NULL. */
const char *lacis_catalog_sql(lacis_catalog *catalog, const char *name);
/* The text of a view, or NULL if the name is not one. */
const char *lacis_catalog_view(const lacis_catalog *catalog, const char *name);
lacis_status lacis_catalog_drop(lacis_run *run, lacis_catalog *catalog, const char *name, int64_t offset,
                                bool if_exists);

/* What is known of an array without reading it. */
typedef struct lacis_entry {
    const char *name;
    const char *view; /* text of the call, NULL for arrays */
    lacis_kind kind;
    lacis_dtype dtype;
    int64_t extent[2];
    int64_t entries; /* csr: entries; vector: values; table: rows; grid: cells */
    uint64_t bytes;
    bool resident; /* its data are in memory */
    const lacis_columns *columns;
} lacis_entry;
int lacis_catalog_count(const lacis_catalog *catalog);
void lacis_catalog_entry(const lacis_catalog *catalog, int index, lacis_entry *out); /* by name */
bool lacis_catalog_find(const lacis_catalog *catalog, const char *name, lacis_entry *out);

/* The layout of a batch (as lacis_batch.block), read from the file where it is not in memory. */
lacis_status lacis_catalog_layout(lacis_run *run, lacis_catalog *catalog, const char *name, int64_t *out);

/* Options set by SET that are kept in the file, and named figures (the profile): plain name -> text. group: "option",
 * "profile". */
lacis_status lacis_catalog_keep(lacis_run *run, lacis_catalog *catalog, const char *group, const char *name,
                                const char *value);
typedef void (*lacis_kept_fn)(void *arg, const char *name, const char *value);
lacis_status lacis_catalog_kept(lacis_run *run, lacis_catalog *catalog, const char *group, lacis_kept_fn fn,
                                void *arg);

/* An ordinary SQL table of these rows (closed by the caller), in the place of one with the same columns; LACIS_NAME
 * where something else has the name. */
lacis_status lacis_catalog_put_table(lacis_run *run, lacis_catalog *catalog, const char *name,
                                     const char *const *column, int columns, lacis_rows *rows);

/* Turns SQLite's present error into a lacis status with message; offset is that of the SQL in the statement. */
lacis_status lacis_catalog_fail(lacis_run *run, lacis_catalog *catalog, int code, int64_t offset);

/* What "0:0=LL" in SQLite's plan of one of our tables asks of it, in words. */
void lacis_pushdown_text(const char *code, char *text, size_t size);

/* The rows of an SQL query as an array: (src, dst [, value]) gives a csr, (i, value) a vector, (lane, row [, parent],
 * fields) a batch, m, x, y, z and others of theirs bodies, (x [, y [, z]], fields) a grid, else a table of its
 * numeric columns. */
lacis_status lacis_catalog_collect(lacis_run *run, sqlite3_stmt *query, lacis_array **out);

#endif
