/* SPDX-License-Identifier: Apache-2.0
 *
 * The insides of a statement, shared by statement.c (its life), work.c (what lacis's own statements do) and column.c
 * (reading its rows).
 */
#ifndef LACIS_API_STATEMENT_H
#define LACIS_API_STATEMENT_H

#include "api/engine.h"

enum statement_state { READY, ACTIVE, FINISHED };

struct lacis_statement {
    lacis_engine *engine;
    lacis_statement *next, *previous;
    lacis_run run;  /* of the present execution */
    lacis_run kept; /* its scratch lives as long as the statement */
    char *text;     /* in kept */
    lacis_ast_kind kind;
    bool explain;
    sqlite3_stmt *sql; /* SQL, and LET name = SQL */
    int64_t sql_offset;
    bool totals; /* answered by lacis_exec_totals */
    lacis_total_query query;
    const char **heading;
    lacis_binding *binding; /* in memory of the host */
    int bindings, binding_room;
    enum statement_state state;
    lacis_rows *rows; /* of lacis's own statements */
    lacis_columns columns;
    char (*number)[LACIS_NUMBER_TEXT]; /* one for each column: text of numbers */
    int numbers;
};

/* work.c: does what the statement says; row-producing ones set statement->rows and columns. */
lacis_status lacis_statement_work(lacis_statement *statement);
/* statement.c: gives another query of the statement's text the values bound to it; LACIS_SQL where SQLite refuses. */
lacis_status lacis_statement_bind_query(lacis_statement *statement, sqlite3_stmt *query);

#endif
