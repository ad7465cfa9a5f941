/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the present row of a statement, and lacis_exec and lacis_explain, which read whole results.
 */
#include "api/statement.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_sql(const lacis_statement *statement)
{
    return statement->sql != NULL && statement->kind == LACIS_AST_SQL;
}

int lacis_column_count(lacis_statement *statement)
{
    if (statement == NULL) return 0;
    return is_sql(statement) ? sqlite3_column_count(statement->sql) : statement->columns.count;
}

static bool there(lacis_statement *statement, int column)
{
    return statement != NULL && column >= 0 && column < lacis_column_count(statement);
}

const char *lacis_column_name(lacis_statement *statement, int column)
{
    if (!there(statement, column)) return NULL;
    return is_sql(statement) ? sqlite3_column_name(statement->sql, column) : statement->columns.name[column];
}

static lacis_type sql_type(sqlite3_stmt *sql, int column)
{
    switch (sqlite3_column_type(sql, column)) {
    case SQLITE_INTEGER:
        return LACIS_INTEGER;
    case SQLITE_FLOAT:
        return LACIS_REAL;
    case SQLITE_TEXT:
        return LACIS_TEXT;
    case SQLITE_BLOB:
        return LACIS_BLOB;
    default:
        return LACIS_NULL;
    }
}

/* Of lacis's own row sources. */
static lacis_cell cell_of(const lacis_statement *statement, int column)
{
    lacis_cell cell = {.type = LACIS_NULL};
    if (statement->rows != NULL) lacis_rows_cell(statement->rows, column, &cell);
    return cell;
}

lacis_type lacis_column_type(lacis_statement *statement, int column)
{
    if (!there(statement, column)) return LACIS_NULL;
    return is_sql(statement) ? sql_type(statement->sql, column) : cell_of(statement, column).type;
}

int64_t lacis_column_int64(lacis_statement *statement, int column)
{
    if (!there(statement, column)) return 0;
    if (is_sql(statement)) return sqlite3_column_int64(statement->sql, column);
    lacis_cell cell = cell_of(statement, column);
    if (cell.type == LACIS_INTEGER) return cell.integer;
    if (cell.type == LACIS_REAL && cell.real > -9.2e18 && cell.real < 9.2e18) return (int64_t)cell.real;
    return cell.type == LACIS_TEXT ? strtoll(cell.text, NULL, 10) : 0;
}

double lacis_column_double(lacis_statement *statement, int column)
{
    if (!there(statement, column)) return 0;
    if (is_sql(statement)) return sqlite3_column_double(statement->sql, column);
    lacis_cell cell = cell_of(statement, column);
    if (cell.type == LACIS_INTEGER) return (double)cell.integer;
    if (cell.type == LACIS_REAL) return cell.real;
    return cell.type == LACIS_TEXT ? strtod(cell.text, NULL) : 0;
}

/* The buffer for the text of a number in this column, or NULL without memory. */
static char *number_text(lacis_statement *statement, int column)
{
    if (column >= statement->numbers) {
        lacis_memory *memory = statement->engine->host.memory;
        int count = lacis_column_count(statement);
        void *fresh = lacis_memory_alloc(memory, (uint64_t)count * LACIS_NUMBER_TEXT);
        if (fresh == NULL) return NULL;
        lacis_memory_free(memory, statement->number);
        statement->number = fresh;
        statement->numbers = count;
    }
    return statement->number[column];
}

const char *lacis_column_text(lacis_statement *statement, int column)
{
    lacis_type type = lacis_column_type(statement, column);
    char *text;
    switch (type) {
    case LACIS_INTEGER:
        text = number_text(statement, column);
        if (text != NULL) snprintf(text, LACIS_NUMBER_TEXT, "%" PRId64, lacis_column_int64(statement, column));
        return text;
    case LACIS_REAL:
        text = number_text(statement, column);
        if (text != NULL) lacis_format_double(lacis_column_double(statement, column), text);
        return text;
    case LACIS_TEXT:
    case LACIS_BLOB:
        if (is_sql(statement)) return (const char *)sqlite3_column_text(statement->sql, column);
        return cell_of(statement, column).text;
    default:
        return NULL;
    }
}

const void *lacis_column_blob(lacis_statement *statement, int column, size_t *bytes)
{
    *bytes = 0;
    if (!there(statement, column)) return NULL;
    if (is_sql(statement)) {
        const void *data = sqlite3_column_blob(statement->sql, column);
        *bytes = (size_t)sqlite3_column_bytes(statement->sql, column);
        return data;
    }
    const char *text = lacis_column_text(statement, column);
    if (text != NULL) *bytes = strlen(text);
    return text;
}

/* ------------------------------------------------------------------------------------- whole results */

static lacis_status hand_row(lacis_statement *statement, lacis_row_fn fn, void *arg)
{
    const char *name[LACIS_MAX_COLUMNS], *value[LACIS_MAX_COLUMNS];
    int count = lacis_column_count(statement);
    if (count > LACIS_MAX_COLUMNS) count = LACIS_MAX_COLUMNS;
    for (int i = 0; i < count; i++) {
        name[i] = lacis_column_name(statement, i);
        value[i] = lacis_column_text(statement, i);
    }
    if (fn(arg, count, name, value) == 0) return LACIS_OK;
    return lacis_run_fail(&statement->run, LACIS_INTERRUPT, "stopped by the program that reads the rows");
}

static lacis_status exec_one(lacis_statement *statement, lacis_row_fn fn, void *arg)
{
    lacis_status status;
    while ((status = lacis_step(statement)) == LACIS_ROW)
        if (fn != NULL) LACIS_TRY(hand_row(statement, fn, arg));
    return status == LACIS_DONE ? LACIS_OK : status;
}

lacis_status lacis_exec(lacis_engine *engine, const char *text, lacis_row_fn fn, void *arg)
{
    if (!lacis_engine_usable(engine) || text == NULL) return LACIS_MISUSE;
    const char *at = text;
    while (*at != '\0') {
        lacis_statement *statement;
        const char *tail = at;
        lacis_status status = lacis_prepare(engine, at, &tail, &statement);
        if (status == LACIS_OK && statement != NULL) status = exec_one(statement, fn, arg);
        lacis_finalize(statement);
        if (status != LACIS_OK) {
            if (engine->host.error.offset >= 0) engine->host.error.offset += at - text;
            return status;
        }
        if (tail == at) break;
        at = tail;
    }
    return LACIS_OK;
}

struct text {
    char *data;
    size_t length;
};

static int add_line(void *arg, int columns, const char *const *names, const char *const *values)
{
    struct text *text = arg;
    const char *line = values[columns - 1]; /* SQLite's plans have their text last */
    (void)names;
    size_t more = line == NULL ? 0 : strlen(line);
    char *grown = realloc(text->data, text->length + more + 2);
    if (grown == NULL) return 1;
    if (more > 0) memcpy(grown + text->length, line, more);
    text->data = grown;
    text->length += more;
    text->data[text->length++] = '\n';
    text->data[text->length] = '\0';
    return 0;
}

lacis_status lacis_explain(lacis_engine *engine, const char *text, char **out)
{
    *out = NULL;
    if (!lacis_engine_usable(engine) || text == NULL) return LACIS_MISUSE;
    static const char prefix[] = "EXPLAIN ";
    struct text lines = {calloc(1, 1), 0};
    char *full = malloc(strlen(text) + sizeof prefix);
    lacis_status status = LACIS_NOMEM;
    if (full != NULL && lines.data != NULL) {
        memcpy(full, prefix, sizeof prefix);
        strcpy(full + sizeof prefix - 1, text);
        status = lacis_exec(engine, full, add_line, &lines);
        if (engine->host.error.offset >= (int64_t)sizeof prefix - 1)
            engine->host.error.offset -= (int64_t)sizeof prefix - 1;
    }
    free(full);
    if (status != LACIS_OK) {
        free(lines.data);
        return status;
    }
    *out = lines.data;
    return LACIS_OK;
}
