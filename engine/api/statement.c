/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a statement: prepared, bound, stepped, reset, finalized.
 */
#include "api/statement.h"

#include "core/lexer.h"

#include <ctype.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------- prepare */

static lacis_status keep_text(lacis_statement *statement, const char *text, size_t length)
{
    LACIS_TRY(lacis_run_scratch(&statement->kept, length + 1, &statement->text));
    memcpy(statement->text, text, length);
    statement->text[length] = '\0';
    return LACIS_OK;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_';
}

/* SQLite does not say where a missing table stands: where its name first stands as a word. */
static void place_missing(lacis_error *error, const char *sql, int64_t offset)
{
    const char *name = strrchr(error->message, ' ');
    if (error->code != LACIS_NAME || error->offset >= 0 || offset < 0 || name == NULL || name[1] == '\0') return;
    size_t length = strlen(++name);
    for (const char *at = strstr(sql, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at > sql && in_word(at[-1])) || in_word(at[length])) continue;
        error->offset = offset + (at - sql);
        return;
    }
}

static lacis_status prepare_sqlite(lacis_statement *statement, const char *sql, int64_t offset, const char **tail)
{
    lacis_catalog *catalog = statement->engine->catalog;
    lacis_catalog_set_run(catalog, &statement->run);
    int code =
        sqlite3_prepare_v3(lacis_catalog_db(catalog), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement->sql, tail);
    lacis_status status = code == SQLITE_OK ? LACIS_OK : lacis_catalog_fail(&statement->run, catalog, code, offset);
    if (status != LACIS_OK) place_missing(&statement->engine->host.error, sql, offset);
    lacis_catalog_set_run(catalog, NULL);
    statement->sql_offset = offset;
    return status;
}

/* Whether SELECT totals can be answered without visiting rows; anything odd goes to SQLite, which also words the
 * error. */
static bool totals_apply(lacis_statement *statement, const char *sql)
{
    lacis_engine *engine = statement->engine;
    lacis_relation *relation;
    if (!lacis_lang_totals(&statement->kept, sql, &statement->query)) return false;
    if (!lacis_engine_has(engine, statement->query.name)) return false;
    if (lacis_run_scratch(&statement->run, sizeof *relation, &relation) != LACIS_OK ||
        lacis_exec_describe(&engine->world, &statement->run, statement->query.name, relation) != LACIS_OK) {
        lacis_host_ok(&engine->host);
        return false;
    }
    return lacis_totals_fit(&statement->query, relation);
}

static lacis_status prepare_totals(lacis_statement *statement)
{
    const lacis_total_query *query = &statement->query;
    statement->totals = true;
    LACIS_TRY(lacis_run_scratch(&statement->kept, sizeof(char *) * (uint64_t)query->items, &statement->heading));
    statement->columns.count = query->items;
    for (int i = 0; i < query->items; i++)
        statement->columns.name[i] = statement->heading[i] = query->item[i].heading;
    return LACIS_OK;
}

static lacis_status prepare_sql(lacis_statement *statement, const lacis_ast *ast, const char **tail)
{
    bool plain = ast->kind == LACIS_AST_SQL;
    if (plain && totals_apply(statement, ast->sql)) {
        *tail = statement->query.tail;
        return prepare_totals(statement);
    }
    LACIS_TRY(prepare_sqlite(statement, ast->sql, ast->sql_offset, tail));
    if (!plain || !ast->explain) return LACIS_OK;
    sqlite3_finalize(statement->sql); /* it is sound, and where it ends is known: work.c explains it */
    statement->sql = NULL;
    return LACIS_OK;
}

static lacis_status prepare(lacis_statement *statement, const char *text, const char **tail, bool *empty)
{
    lacis_ast ast;
    lacis_engine *engine = statement->engine;
    if (engine->running == 0) LACIS_TRY(lacis_catalog_follow(&statement->run, engine->catalog));
    LACIS_TRY(lacis_lang_parse(&statement->run, &engine->registry, text, strlen(text), NULL, lacis_engine_has, engine,
                               &ast, tail));
    *empty = ast.kind == LACIS_AST_EMPTY;
    statement->kind = ast.kind;
    statement->explain = ast.explain;
    if (*empty) return LACIS_OK;
    if (ast.sql != NULL) LACIS_TRY(prepare_sql(statement, &ast, tail));
    return keep_text(statement, text, (size_t)(*tail - text));
}

static void link_statement(lacis_statement *statement)
{
    lacis_engine *engine = statement->engine;
    statement->next = engine->statements;
    if (engine->statements != NULL) engine->statements->previous = statement;
    engine->statements = statement;
}

lacis_status lacis_prepare(lacis_engine *engine, const char *text, const char **tail, lacis_statement **out)
{
    *out = NULL;
    if (!lacis_engine_usable(engine) || text == NULL) return LACIS_MISUSE;
    lacis_host_ok(&engine->host);
    if (engine->running == 0) atomic_store(&engine->host.cancel, 0);
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    lacis_statement *statement;
    LACIS_TRY(lacis_run_alloc(&run, sizeof *statement, &statement));
    memset(statement, 0, sizeof *statement);
    statement->engine = engine;
    lacis_run_init(&statement->run, &engine->host);
    lacis_run_init(&statement->kept, &engine->host);
    link_statement(statement);
    const char *end = text;
    bool empty = false;
    lacis_status status = prepare(statement, text, &end, &empty);
    lacis_run_clear(&statement->run);
    if (tail != NULL) *tail = status == LACIS_OK ? end : text;
    if (status != LACIS_OK || empty) {
        lacis_finalize(statement);
        return status;
    }
    *out = statement;
    return LACIS_OK;
}

/* -------------------------------------------------------------------------------------------- bind */

static lacis_status binding_room(lacis_statement *statement)
{
    if (statement->bindings < statement->binding_room) return LACIS_OK;
    int room = statement->binding_room == 0 ? 8 : 2 * statement->binding_room;
    lacis_binding *grown;
    LACIS_TRY(lacis_run_alloc(&statement->kept, sizeof *grown * (uint64_t)room, &grown));
    if (statement->bindings > 0) memcpy(grown, statement->binding, sizeof *grown * (size_t)statement->bindings);
    lacis_run_free(&statement->kept, statement->binding);
    statement->binding = grown;
    statement->binding_room = room;
    return LACIS_OK;
}

static lacis_binding *find_binding(lacis_statement *statement, const char *name)
{
    for (int i = 0; i < statement->bindings; i++)
        if (strcmp(statement->binding[i].name, name) == 0) return &statement->binding[i];
    return NULL;
}

static bool has_parameter(const lacis_statement *statement, const char *name)
{
    lacis_lexer lexer;
    lacis_lexer_begin(&lexer, statement->text, strlen(statement->text));
    for (; lexer.token.kind != LACIS_TOKEN_END; lacis_lexer_next(&lexer)) {
        const lacis_token *token = &lexer.token;
        bool same = token->kind == LACIS_TOKEN_NAME && token->length == strlen(name) + 1;
        if (same && memcmp(token->text + 1, name, token->length - 1) == 0) return true;
    }
    return false;
}

static lacis_status unknown_parameter(lacis_statement *statement, const char *name)
{
    return lacis_run_fail(&statement->run, LACIS_NAME, "the statement has no parameter :%s", name);
}

static lacis_status bind_own(lacis_statement *statement, const char *name, const lacis_binding *value)
{
    if (!has_parameter(statement, name)) return unknown_parameter(statement, name);
    lacis_binding *binding = find_binding(statement, name);
    if (binding == NULL) {
        LACIS_TRY(binding_room(statement));
        char *copy = lacis_run_text(&statement->kept, "%s", name);
        if (copy == NULL) return LACIS_NOMEM;
        binding = &statement->binding[statement->bindings++];
        binding->name = copy;
    }
    const char *kept_name = binding->name;
    *binding = *value;
    binding->name = kept_name;
    if (value->text == NULL) return LACIS_OK;
    binding->text = lacis_run_text(&statement->kept, "%s", value->text);
    return binding->text == NULL ? LACIS_NOMEM : LACIS_OK;
}

static int bind_sqlite(sqlite3_stmt *sql, int at, const lacis_binding *value)
{
    switch (value->type) {
    case LACIS_INTEGER:
        return sqlite3_bind_int64(sql, at, value->integer);
    case LACIS_REAL:
        return sqlite3_bind_double(sql, at, value->real);
    case LACIS_TEXT:
        return sqlite3_bind_text(sql, at, value->text, -1, SQLITE_TRANSIENT);
    default:
        return sqlite3_bind_null(sql, at);
    }
}

lacis_status lacis_statement_bind_query(lacis_statement *statement, sqlite3_stmt *query)
{
    for (int at = 1; at <= sqlite3_bind_parameter_count(query); at++) {
        const char *name = sqlite3_bind_parameter_name(query, at);
        const lacis_binding *value = name == NULL ? NULL : find_binding(statement, name + 1);
        int code = value == NULL ? SQLITE_OK : bind_sqlite(query, at, value);
        if (code != SQLITE_OK) return LACIS_SQL;
    }
    return LACIS_OK;
}

static lacis_status bind(lacis_statement *statement, const char *name, const lacis_binding *value)
{
    if (statement == NULL || name == NULL) return LACIS_MISUSE;
    if (statement->state != READY)
        return lacis_run_fail(&statement->run, LACIS_MISUSE,
                              "values are bound before the first step or after a reset");
    if (statement->sql == NULL) return bind_own(statement, name, value);
    char *full = lacis_run_text(&statement->run, ":%s", name);
    int at = full == NULL ? 0 : sqlite3_bind_parameter_index(statement->sql, full);
    lacis_run_clear(&statement->run);
    if (at == 0) return unknown_parameter(statement, name);
    int code = bind_sqlite(statement->sql, at, value);
    if (code == SQLITE_OK) return LACIS_OK;
    return lacis_catalog_fail(&statement->run, statement->engine->catalog, code, -1);
}

lacis_status lacis_bind_int64(lacis_statement *statement, const char *name, int64_t value)
{
    const lacis_binding binding = {.type = LACIS_INTEGER, .integer = value, .real = (double)value};
    return bind(statement, name, &binding);
}

lacis_status lacis_bind_double(lacis_statement *statement, const char *name, double value)
{
    const lacis_binding binding = {.type = LACIS_REAL, .real = value};
    return bind(statement, name, &binding);
}

lacis_status lacis_bind_text(lacis_statement *statement, const char *name, const char *value)
{
    if (value == NULL) return lacis_bind_null(statement, name);
    const lacis_binding binding = {.type = LACIS_TEXT, .text = value};
    return bind(statement, name, &binding);
}

lacis_status lacis_bind_null(lacis_statement *statement, const char *name)
{
    const lacis_binding binding = {.type = LACIS_NULL};
    return bind(statement, name, &binding);
}

/* -------------------------------------------------------------------------------------------- step */

static void finish(lacis_statement *statement)
{
    lacis_rows_close(statement->rows);
    statement->rows = NULL;
    if (statement->sql != NULL) sqlite3_reset(statement->sql);
    lacis_run_clear(&statement->run);
    if (statement->state == ACTIVE) statement->engine->running--;
    statement->state = FINISHED;
}

static void begin(lacis_statement *statement)
{
    lacis_engine *engine = statement->engine;
    lacis_host_ok(&engine->host);
    /* An interrupt is for what runs, not for what comes after. */
    if (engine->running == 0) atomic_store(&engine->host.cancel, 0);
    engine->running++;
    statement->state = ACTIVE;
}

static lacis_status step_sqlite(lacis_statement *statement)
{
    lacis_engine *engine = statement->engine;
    lacis_catalog_set_run(engine->catalog, &statement->run);
    int code = sqlite3_step(statement->sql);
    lacis_status status = code == SQLITE_ROW ? LACIS_ROW
                          : code == SQLITE_DONE
                              ? LACIS_DONE
                              : lacis_catalog_fail(&statement->run, engine->catalog, code, statement->sql_offset);
    lacis_catalog_set_run(engine->catalog, NULL);
    return status;
}

static lacis_status step_rows(lacis_statement *statement)
{
    bool more = false;
    if (statement->rows == NULL) return LACIS_DONE;
    LACIS_TRY(lacis_rows_next(statement->rows, &statement->run, &more));
    return more ? LACIS_ROW : LACIS_DONE;
}

lacis_status lacis_step(lacis_statement *statement)
{
    if (statement == NULL) return LACIS_MISUSE;
    if (statement->state == FINISHED) return LACIS_DONE;
    lacis_status status = LACIS_OK;
    bool sqlite = statement->sql != NULL && statement->kind == LACIS_AST_SQL;
    if (statement->state == READY) {
        lacis_engine *engine = statement->engine;
        begin(statement);
        if (engine->running == 1) status = lacis_catalog_follow(&statement->run, engine->catalog);
        if (status == LACIS_OK && !sqlite) status = lacis_statement_work(statement);
    }
    if (status == LACIS_OK) status = sqlite ? step_sqlite(statement) : step_rows(statement);
    if (status != LACIS_ROW) finish(statement);
    return status;
}

lacis_status lacis_reset(lacis_statement *statement)
{
    if (statement == NULL) return LACIS_MISUSE;
    finish(statement);
    statement->state = READY;
    return LACIS_OK;
}

void lacis_finalize(lacis_statement *statement)
{
    if (statement == NULL) return;
    lacis_engine *engine = statement->engine;
    finish(statement);
    sqlite3_finalize(statement->sql);
    if (statement->previous != NULL) {
        statement->previous->next = statement->next;
    } else {
        engine->statements = statement->next;
    }
    if (statement->next != NULL) statement->next->previous = statement->previous;
    lacis_memory_free(engine->host.memory, statement->binding);
    lacis_memory_free(engine->host.memory, statement->number);
    lacis_run_clear(&statement->kept);
    lacis_memory_free(engine->host.memory, statement);
}
