/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements: text -> lacis_ast, driven by the descriptors in the registry. What is not one of lacis's own statements
 * is SQL and is passed on untouched. Completion walks the same grammar.
 */
#ifndef LACIS_LANG_LANG_H
#define LACIS_LANG_LANG_H

#include "core/registry.h"
#include "expr/expr.h"

typedef enum lacis_ast_kind {
    LACIS_AST_EMPTY,
    LACIS_AST_CALL,     /* call */
    LACIS_AST_LET,      /* name, call | sql */
    LACIS_AST_VIEW,     /* name, call; text = the call's source */
    LACIS_AST_LOAD,     /* name, string (the path) and more, format (or NULL), options */
    LACIS_AST_GENERATE, /* name, format (the generator), options */
    LACIS_AST_SAVE,     /* name, string, format (or NULL) */
    LACIS_AST_PLOT,     /* name, format (the kind, in lower case, or NULL), string (the path, or NULL) */
    LACIS_AST_DROP,     /* name, if_exists; also DROP TABLE|VIEW name where `exists` (below) says so */
    LACIS_AST_SET,      /* name, string (the literal as text) */
    LACIS_AST_CALIBRATE,
    LACIS_AST_TUNE, /* name (the operator), string (a type, or NULL), seconds (0: not said) */
    LACIS_AST_SHOW, /* string: ARRAYS OPERATORS AGGREGATES DEVICES OPTIONS KERNELS LOADERS GENERATORS */
    LACIS_AST_SQL   /* sql: from here SQLite parses; it finds the statement's end itself */
} lacis_ast_kind;

/* One name = value of WITH (...) or of a generator; name is NULL where only a value stands. */
typedef struct lacis_ast_option {
    const char *name;
    const char *text; /* the value as text, quotes undone */
    bool string;      /* it stood in quotes */
    int64_t offset, value_offset;
} lacis_ast_option;

typedef struct lacis_ast {
    lacis_ast_kind kind;
    bool explain, analyze;
    const char *name;
    int64_t name_offset;
    lacis_call *call;
    const char *text; /* source of `call`, zero-terminated */
    const char *sql;  /* in the caller's text */
    int64_t sql_offset;
    const char *string;
    int64_t string_offset;
    const char **more; /* further paths */
    int mores;
    const char *format;
    int64_t format_offset;
    lacis_ast_option *option;
    int options;
    bool if_exists;
    double seconds;
} lacis_ast;

/* Names that are arrays or views, for deciding whose DROP TABLE it is. */
typedef bool (*lacis_exists_fn)(void *arg, const char *name);

/* Parses the first statement of text (length bytes). *tail: behind its ';' (for SQL: untouched, NULL). All memory is
 * the run's scratch. */
lacis_status lacis_lang_parse(lacis_run *run, const lacis_registry *registry, const char *text, size_t length,
                              const lacis_bindings *bindings, lacis_exists_fn exists, void *exists_arg,
                              lacis_ast *out, const char **tail);

/* Parses a call alone (a view's text). */
lacis_status lacis_lang_call(lacis_run *run, const lacis_registry *registry, const char *text,
                             const lacis_bindings *bindings, lacis_call **out);

/* A SELECT that only asks for totals of one array: SELECT list FROM name [;] where each item of the list is count(*),
 * count(c), sum(c), min(c), max(c), avg(c) or total(c) with an optional alias, c a column's name, as it is written.
 * Anything else: false. Items' heading as SQLite would give it. */
typedef enum lacis_total_kind {
    LACIS_TOTAL_COUNT,
    LACIS_TOTAL_SUM,
    LACIS_TOTAL_MIN,
    LACIS_TOTAL_MAX,
    LACIS_TOTAL_AVG,
    LACIS_TOTAL_TOTAL
} lacis_total_kind;
enum { LACIS_TOTAL_ITEMS = 32 };
typedef struct lacis_total_query {
    const char *name;
    int items;
    struct {
        lacis_total_kind kind;
        const char *column, *heading;
    } item[LACIS_TOTAL_ITEMS];
    const char *tail;
} lacis_total_query;
bool lacis_lang_totals(lacis_run *run, const char *sql, lacis_total_query *out);

/* Whether text ends inside a statement (lacis_incomplete). */
bool lacis_lang_incomplete(const char *text);

/* Names for completion. */
typedef struct lacis_completion_source {
    const lacis_registry *registry;
    /* Calls add(arg, word, kind) for names of arrays and views, and for options. */
    void (*names)(void *context, lacis_complete_fn add, void *arg);
    void (*options)(void *context, lacis_complete_fn add, void *arg);
    void *context;
} lacis_completion_source;
lacis_status lacis_lang_complete(lacis_run *run, const lacis_completion_source *source, const char *text,
                                 size_t cursor, size_t *start, lacis_complete_fn fn, void *arg);

/* One-line usage of an operator from its descriptor ("MULTIPLY a BY b [CON expr] ..."), in scratch. */
char *lacis_lang_usage(lacis_run *run, const lacis_op *op);
/* Its parameter of that index alone, as it stands in the usage: "[CON expr]", in scratch. NULL: no memory. */
char *lacis_lang_param(lacis_run *run, const lacis_op *op, int index);
/* One clause: "CLAMP place x FROM x TO x: a current into a place ...". NULL: no memory. */
char *lacis_lang_clause(lacis_run *run, const lacis_param *param);

#endif
