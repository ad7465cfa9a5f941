/* SPDX-License-Identifier: Apache-2.0
 *
 * What lacis's own statements do when they are first stepped: one function for each kind, in a table. Those that
 * change the catalog run inside a transaction.
 */
#include "api/statement.h"

#include <string.h>
#include <strings.h>

static lacis_status let_call(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_world *world = &statement->engine->world;
    lacis_run *run = &statement->run;
    lacis_array *array;
    double started = lacis_now();
    LACIS_TRY(lacis_exec_check_tables(world, run, ast->call->op, ast->name));
    lacis_status status = lacis_exec_bind(world, run, ast->call, NULL);
    if (status == LACIS_OK) status = lacis_exec_store(world, run, ast->call, false, NULL, &array);
    lacis_exec_unbind(run, ast->call);
    LACIS_TRY(status);
    status = lacis_exec_put(world, run, ast->name, array, started);
    lacis_array_release(array);
    if (status == LACIS_OK && world->profile->learned) status = lacis_exec_keep_profile(world, run);
    return status;
}

static lacis_status let_sql(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_engine *engine = statement->engine;
    lacis_array *array;
    double started = lacis_now();
    lacis_status status = lacis_catalog_collect(&statement->run, statement->sql, &array);
    sqlite3_reset(statement->sql);
    LACIS_TRY(status);
    status = lacis_exec_put(&engine->world, &statement->run, ast->name, array, started);
    lacis_array_release(array);
    return status;
}

static lacis_status do_let(lacis_statement *statement, const lacis_ast *ast)
{
    return ast->call != NULL ? let_call(statement, ast) : let_sql(statement, ast);
}

static lacis_status do_view(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_engine *engine = statement->engine;
    LACIS_TRY(lacis_catalog_put_view(&statement->run, engine->catalog, ast->name, ast->text));
    const char *summary = lacis_run_text(&statement->run, "%s: view, computed when it is read", ast->name);
    engine->world.summary = summary;
    return summary == NULL ? lacis_run_fail(&statement->run, LACIS_NOMEM, "out of memory") : LACIS_OK;
}

static lacis_status do_load(lacis_statement *statement, const lacis_ast *ast)
{
    return lacis_exec_load(&statement->engine->world, &statement->run, ast);
}

static lacis_status do_generate(lacis_statement *statement, const lacis_ast *ast)
{
    return lacis_exec_generate(&statement->engine->world, &statement->run, ast);
}

static lacis_status do_drop(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_engine *engine = statement->engine;
    LACIS_TRY(lacis_catalog_drop(&statement->run, engine->catalog, ast->name, ast->name_offset, ast->if_exists));
    return LACIS_OK;
}

static lacis_status do_set(lacis_statement *statement, const lacis_ast *ast)
{
    return lacis_exec_set(&statement->engine->world, &statement->run, ast->name, ast->string, ast->string_offset);
}

static lacis_status do_calibrate(lacis_statement *statement, const lacis_ast *ast)
{
    (void)ast;
    return lacis_exec_calibrate(&statement->engine->world, &statement->run);
}

static lacis_status do_tune(lacis_statement *statement, const lacis_ast *ast)
{
    return lacis_exec_tune(&statement->engine->world, &statement->run, ast);
}

static lacis_status do_save(lacis_statement *statement, const lacis_ast *ast)
{
    return lacis_exec_save(&statement->engine->world, &statement->run, ast);
}

static lacis_status draw(lacis_statement *statement, const lacis_ast *ast, const lacis_array *array)
{
    const lacis_engine *engine = statement->engine;
    const lacis_plot plot = {.name = ast->name, .array = array, .kind = ast->format, .path = ast->string};
    char message[400] = "";
    lacis_status status = engine->plot(engine->plot_arg, &plot, message, sizeof message);
    if (status == LACIS_OK) return LACIS_OK;
    return lacis_run_fail_at(&statement->run, status, ast->name_offset, NULL, "%s", message);
}

/* Of SQL's tables and views there is more to say than that they are no arrays. */
static lacis_status not_of_sql(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_run *run = &statement->run;
    const char *kind = lacis_catalog_sql(statement->engine->catalog, ast->name);
    if (kind == NULL) return LACIS_NAME;
    const char *hint = lacis_run_text(run, "LET p = SELECT * FROM %s; PLOT p;", ast->name);
    return lacis_run_fail_at(run, LACIS_NAME, ast->name_offset, hint, "%s is a %s of SQL, and PLOT takes an array",
                             ast->name, kind);
}

static lacis_status do_plot(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_engine *engine = statement->engine;
    const char *view = lacis_catalog_view(engine->catalog, ast->name);
    lacis_array *array;
    lacis_status status = LACIS_OK;
    if (engine->plot == NULL)
        return lacis_run_fail(&statement->run, LACIS_UNSUPPORTED,
                              "this program draws no plots (lacis_set_plot); the lacis shell does");
    if (view != NULL)
        LACIS_TRY(lacis_exec_view_array(&engine->world, &statement->run, view, &array));
    else
        status = lacis_catalog_get(&statement->run, engine->catalog, ast->name, ast->name_offset, &array);
    if (status == LACIS_NAME) return not_of_sql(statement, ast);
    LACIS_TRY(status);
    status = draw(statement, ast, array);
    lacis_array_release(array);
    return status;
}

static lacis_status do_call(lacis_statement *statement, const lacis_ast *ast)
{
    const lacis_bindings bindings = {statement->binding, statement->bindings};
    lacis_status status = lacis_exec_rows(&statement->engine->world, &statement->run, ast->text, &bindings,
                                          &lacis_filter_all, &statement->columns, &statement->rows);
    /* The call was read by itself: its offsets count from its verb. */
    lacis_error *error = &statement->engine->host.error;
    if (status != LACIS_OK && error->offset >= 0) error->offset += ast->call->offset;
    return status;
}

/* ---------------------------------------------------------------------- tables made up on the spot */

static void show_table(lacis_statement *statement, lacis_table *table)
{
    const char *const *names;
    statement->rows = lacis_table_rows(table);
    statement->columns.count = lacis_table_columns(statement->rows, &names);
    for (int i = 0; i < statement->columns.count; i++)
        statement->columns.name[i] = names[i];
}

static lacis_status do_show(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_table *table;
    LACIS_TRY(lacis_exec_show(&statement->engine->world, &statement->run, ast, &table));
    show_table(statement, table);
    return LACIS_OK;
}

static lacis_status show_lines(lacis_statement *statement, const lacis_lines *lines)
{
    lacis_table *table;
    LACIS_TRY(lacis_table_of_lines(&statement->run, lines, &table));
    show_table(statement, table);
    return LACIS_OK;
}

static lacis_status do_explain(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_lines lines;
    lacis_lines_init(&lines, &statement->run);
    LACIS_TRY(lacis_exec_explain(&statement->engine->world, &statement->run, ast->call, ast->analyze, &lines));
    return show_lines(statement, &lines);
}

static lacis_status explain_totals(lacis_statement *statement, bool analyze)
{
    lacis_engine *engine = statement->engine;
    lacis_run *run = &statement->run;
    lacis_lines lines;
    lacis_lines_init(&lines, run);
    const char *name = statement->query.name;
    const char *view = lacis_catalog_view(engine->catalog, name);
    LACIS_TRY(
        lacis_lines_add(&lines, "totals of %s: summed where they are computed, no row is visited by SQL", name));
    if (view != NULL) {
        const lacis_bindings none = {NULL, 0};
        lacis_call *call;
        LACIS_TRY(lacis_lang_call(run, &engine->registry, view, &none, &call));
        call->totals = true;
        lines.indent += 2;
        LACIS_TRY(lacis_exec_explain(&engine->world, run, call, analyze, &lines));
    }
    return show_lines(statement, &lines);
}

/* A step as SQLite names it; of a read of ours, what it asks for stands instead of a code. */
static lacis_status add_step(const char *step, lacis_lines *lines)
{
    static const char mark[] = " VIRTUAL TABLE INDEX ";
    const char *code = strstr(step, mark);
    if (code == NULL) return lacis_lines_add(lines, "%s", step);
    char asked[200];
    lacis_pushdown_text(code + sizeof mark - 1, asked, sizeof asked);
    LACIS_TRY(lacis_lines_add(lines, "%.*s: %s", (int)(code - step), step, asked));
    if (strchr(asked, ',') == NULL) return LACIS_OK;
    return lacis_lines_add(lines, "  asked of it alone; a view computes no more than that");
}

/* The steps of SQLite's plan, indented under the steps that they belong to. */
static lacis_status add_steps(sqlite3_stmt *query, lacis_lines *lines)
{
    enum { DEPTH = 64 };
    int parent[DEPTH] = {0}, depth = 0, code;
    while ((code = sqlite3_step(query)) == SQLITE_ROW) {
        int over = sqlite3_column_int(query, 1);
        while (depth > 0 && parent[depth] != over)
            depth--;
        lines->indent = 2 * depth;
        const char *step = (const char *)sqlite3_column_text(query, 3);
        LACIS_TRY(add_step(step == NULL ? "" : step, lines));
        if (depth < DEPTH - 1) parent[++depth] = sqlite3_column_int(query, 0);
    }
    return code == SQLITE_DONE ? LACIS_OK : LACIS_SQL;
}

/* Runs the query and counts its rows. */
static lacis_status add_actual(sqlite3_stmt *query, lacis_lines *lines)
{
    int64_t rows = 0;
    double started = lacis_now();
    int code;
    while ((code = sqlite3_step(query)) == SQLITE_ROW)
        rows++;
    if (code != SQLITE_DONE) return LACIS_SQL;
    lines->indent = 0;
    return lacis_lines_add(lines, "actual: %lld rows, %.3g s", (long long)rows, lacis_now() - started);
}

/* Prepares `text` and hands it to fn. */
static lacis_status with_query(lacis_statement *statement, const char *text,
                               lacis_status (*fn)(sqlite3_stmt *query, lacis_lines *lines), lacis_lines *lines)
{
    lacis_catalog *catalog = statement->engine->catalog;
    lacis_run *run = &statement->run;
    sqlite3_stmt *query = NULL;
    lacis_catalog_set_run(catalog, run);
    lacis_status status = LACIS_SQL;
    if (sqlite3_prepare_v2(lacis_catalog_db(catalog), text, -1, &query, NULL) == SQLITE_OK)
        status = lacis_statement_bind_query(statement, query);
    if (query != NULL && status == LACIS_OK) status = fn(query, lines);
    if (status == LACIS_SQL)
        status = lacis_catalog_fail(run, catalog, sqlite3_errcode(lacis_catalog_db(catalog)), -1);
    sqlite3_finalize(query);
    lacis_catalog_set_run(catalog, NULL);
    return status;
}

static lacis_status explain_sql(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_run *run = &statement->run;
    lacis_lines lines;
    lacis_lines_init(&lines, run);
    char *text = lacis_run_text(run, "EXPLAIN QUERY PLAN %s", ast->sql);
    if (text == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    LACIS_TRY(with_query(statement, text, add_steps, &lines));
    if (ast->analyze) LACIS_TRY(with_query(statement, ast->sql, add_actual, &lines));
    return show_lines(statement, &lines);
}

static bool same_column(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcasecmp(a, b) == 0;
}

/* The array or view may have become another since the statement was prepared. */
static lacis_status still_fits(lacis_statement *statement, bool *each)
{
    lacis_engine *engine = statement->engine;
    const char *name = statement->query.name;
    lacis_relation *relation;
    LACIS_TRY(lacis_run_scratch(&statement->run, sizeof *relation, &relation));
    LACIS_TRY(lacis_exec_describe(&engine->world, &statement->run, name, relation));
    *each = relation->columns.each;
    if (lacis_totals_fit(&statement->query, relation)) return LACIS_OK;
    return lacis_run_fail(&statement->run, LACIS_NAME, "%s has other columns than when the statement was prepared",
                          name);
}

/* One pass for all items, or one for each column. */
static lacis_status sum_up(lacis_statement *statement, bool each, lacis_totals *totals)
{
    lacis_world *world = &statement->engine->world;
    const lacis_total_query *query = &statement->query;
    if (!each) return lacis_exec_totals(world, &statement->run, query->name, totals);
    for (int i = 0; i < query->items; i++) {
        int before = 0;
        while (before < i && !same_column(query->item[before].column, query->item[i].column))
            before++;
        if (before < i)
            totals[i] = totals[before];
        else
            LACIS_TRY(
                lacis_exec_column_totals(world, &statement->run, query->name, query->item[i].column, &totals[i]));
    }
    return LACIS_OK;
}

static lacis_status do_totals(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_totals *totals;
    lacis_table *table;
    lacis_run *run = &statement->run;
    bool each;
    if (statement->explain) return explain_totals(statement, ast->analyze);
    LACIS_TRY(still_fits(statement, &each));
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)statement->query.items * sizeof *totals, &totals));
    LACIS_TRY(sum_up(statement, each, totals));
    LACIS_TRY(lacis_totals_table(run, &statement->query, totals, each, statement->heading, &table));
    show_table(statement, table);
    return LACIS_OK;
}

/* SQL that SQLite does not run itself. */
static lacis_status do_sql(lacis_statement *statement, const lacis_ast *ast)
{
    return statement->totals ? do_totals(statement, ast) : explain_sql(statement, ast);
}

/* ------------------------------------------------------------------------------------------ the table */

static const struct work {
    lacis_status (*run)(lacis_statement *statement, const lacis_ast *ast);
    bool writes; /* the catalog */
} work[] = {
    [LACIS_AST_CALL] = {do_call, false},        [LACIS_AST_LET] = {do_let, true},
    [LACIS_AST_VIEW] = {do_view, true},         [LACIS_AST_LOAD] = {do_load, true},
    [LACIS_AST_GENERATE] = {do_generate, true}, [LACIS_AST_SAVE] = {do_save, false},
    [LACIS_AST_PLOT] = {do_plot, false},        [LACIS_AST_DROP] = {do_drop, true},
    [LACIS_AST_SET] = {do_set, true},           [LACIS_AST_CALIBRATE] = {do_calibrate, true},
    [LACIS_AST_TUNE] = {do_tune, true},         [LACIS_AST_SHOW] = {do_show, false},
    [LACIS_AST_SQL] = {do_sql, false},
};

static lacis_status in_transaction(lacis_statement *statement, const lacis_ast *ast)
{
    lacis_engine *engine = statement->engine;
    lacis_run *run = &statement->run;
    lacis_catalog_set_run(engine->catalog, run);
    engine->world.summary = NULL;
    lacis_status status = lacis_catalog_begin(run, engine->catalog);
    if (status == LACIS_OK) {
        status = work[ast->kind].run(statement, ast);
        if (status == LACIS_OK) {
            status = lacis_catalog_commit(run, engine->catalog);
        } else {
            lacis_catalog_rollback(run, engine->catalog);
        }
    }
    if (status == LACIS_OK && engine->world.summary != NULL)
        lacis_run_note(run, LACIS_SUMMARY, "%s", engine->world.summary);
    engine->world.summary = NULL;
    lacis_catalog_set_run(engine->catalog, NULL);
    return status;
}

lacis_status lacis_statement_work(lacis_statement *statement)
{
    lacis_engine *engine = statement->engine;
    const lacis_bindings bindings = {statement->binding, statement->bindings};
    const char *tail;
    lacis_ast ast;
    LACIS_TRY(lacis_lang_parse(&statement->run, &engine->registry, statement->text, strlen(statement->text),
                               &bindings, lacis_engine_has, engine, &ast, &tail));
    if (ast.explain && ast.call != NULL) return do_explain(statement, &ast);
    if (ast.explain && ast.kind == LACIS_AST_LET) return explain_sql(statement, &ast);
    return work[ast.kind].writes ? in_transaction(statement, &ast) : work[ast.kind].run(statement, &ast);
}
