/* SPDX-License-Identifier: Apache-2.0
 *
 * A statement's first words decide whose it is: a verb's call, one of the statements in the table below, or SQL,
 * which is passed on as it stands. Callers: api/ through lacis_lang_parse, and complete.c.
 */
#include "lang/offer.h"

#include <stdio.h>
#include <string.h>

/* How a statement reads, shown where it is written wrongly and nothing better is known. */
static const struct statement_form {
    const char *word;
    lacis_statement_fn parse;
    const char *help;
} forms[] = {
    {"LET", lacis_statement_let, "LET name = OPERATOR ... | SELECT ..."},
    {"CREATE", lacis_statement_create, "CREATE VIEW name AS OPERATOR ..."},
    {"LOAD", lacis_statement_load, "LOAD name FROM 'file' [AS format] [WITH (option = value, ...)]"},
    {"GENERATE", lacis_statement_generate, "GENERATE name AS generator(option = value, ...)"},
    {"SAVE", lacis_statement_save, "SAVE name TO 'file' [AS format]"},
    {"PLOT", lacis_statement_plot, "PLOT name [AS line|scatter|heat|spy|hist|tree] [TO 'file.png' | 'file.svg']"},
    {"DROP", lacis_statement_drop, "DROP [IF EXISTS] name"},
    {"SET", lacis_statement_set, "SET option = value"},
    {"CALIBRATE", lacis_statement_calibrate, "CALIBRATE"},
    {"TUNE", lacis_statement_tune, "TUNE operator [TYPE type] [SECONDS number]"},
    {"SHOW", lacis_statement_show,
     "SHOW ARRAYS | OPERATORS | AGGREGATES | DEVICES | OPTIONS | KERNELS | LOADERS | GENERATORS"},
};

static bool is_sql(const lacis_parser *parser)
{
    for (int i = 0; lacis_sql_statements[i] != NULL; i++) {
        if (lacis_lexer_is(&parser->lexer, lacis_sql_statements[i])) return true;
    }
    return false;
}

static void offer_first_words(const lacis_parser *parser)
{
    lacis_offer_verbs(parser);
    for (int i = 0; i < LACIS_COUNT(forms); i++) {
        lacis_offer_keyword(parser, forms[i].word);
    }
    for (int i = 0; lacis_sql_statements[i] != NULL; i++) {
        lacis_offer_keyword(parser, lacis_sql_statements[i]);
    }
}

/* Words of other programs, and what is meant here; NULL: nothing is known. */
static const char *habit(const lacis_lexer *lexer)
{
    static const char *const meant[][2] = {
        {"DESCRIBE", LACIS_HINT_ARRAYS},
        {"DESC", LACIS_HINT_ARRAYS},
        {"HELP", "the shell has .help, and .help WORD about one thing"},
        {"QUIT", "the shell has .quit"},
        {"EXIT", "the shell has .quit"},
        {"IMPORT", "LOAD name FROM 'file' reads one"},
        {"COPY", "LOAD name FROM 'file' reads one, SAVE name TO 'file' writes one"},
        {"READ", "LOAD name FROM 'file' reads one; the shell's .read FILE runs a script"},
        {"EXPORT", "SAVE name TO 'file' writes one"},
        {"DRAW", "PLOT name draws one"},
        {"PRINT", "SELECT * FROM x LIMIT 10 shows some of x, PLOT x draws it"},
    };
    for (int i = 0; i < LACIS_COUNT(meant); i++)
        if (lacis_lexer_is(lexer, meant[i][0])) return meant[i][1];
    return NULL;
}

static lacis_status unknown_statement(lacis_parser *parser)
{
    const lacis_token *token = &parser->lexer.token;
    if (token->kind != LACIS_TOKEN_WORD) return lacis_lexer_expected(parser->run, &parser->lexer, "a statement");
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, token->text, token->length);
    for (int i = 0; i < parser->registry->ops; i++) {
        lacis_nearest_try(&nearest, parser->registry->op[i]->verb);
    }
    for (int i = 0; i < LACIS_COUNT(forms); i++) {
        lacis_nearest_try(&nearest, forms[i].word);
    }
    for (int i = 0; lacis_sql_statements[i] != NULL; i++) {
        lacis_nearest_try(&nearest, lacis_sql_statements[i]);
    }
    lacis_nearest_try(&nearest, "EXPLAIN");
    const char *hint = habit(&parser->lexer);
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, token->offset,
                             hint != NULL ? hint : lacis_parser_hint(parser, &nearest), "unknown statement '%.*s'",
                             lacis_token_shown(token), token->text);
}

/* Gives a syntax error without a hint the statement's form as one. */
static lacis_status with_help(lacis_parser *parser, lacis_status status, const char *help)
{
    lacis_error *error = &parser->run->host->error;
    if (status == LACIS_SYNTAX && error->hint[0] == '\0') {
        snprintf(error->hint, sizeof error->hint, "the form is %s", help);
    }
    return status;
}

/* What stands behind EXPLAIN [ANALYZE], or at the statement's start. */
static lacis_status plain_statement(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    out->sql = parser->lexer.token.text;
    out->sql_offset = parser->lexer.token.offset;
    offer_first_words(parser);
    if (lacis_parser_verb(parser) != NULL) {
        out->kind = LACIS_AST_CALL;
        return lacis_parser_call_text(parser, out);
    }
    for (int i = 0; i < LACIS_COUNT(forms); i++) {
        if (!lacis_lexer_accept(&parser->lexer, forms[i].word)) continue;
        return with_help(parser, forms[i].parse(parser, context, out), forms[i].help);
    }
    if (!is_sql(parser)) return unknown_statement(parser);
    out->kind = LACIS_AST_SQL;
    return LACIS_OK;
}

static bool explainable(lacis_ast_kind kind)
{
    return kind == LACIS_AST_CALL || kind == LACIS_AST_LET || kind == LACIS_AST_VIEW || kind == LACIS_AST_SQL;
}

static lacis_status explained(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    if (!lacis_lexer_accept(&parser->lexer, "EXPLAIN")) return plain_statement(parser, context, out);
    out->explain = true;
    out->analyze = lacis_lexer_accept(&parser->lexer, "ANALYZE"); /* offered among SQL's statements */
    lacis_token first = parser->lexer.token;
    LACIS_TRY(plain_statement(parser, context, out));
    if (explainable(out->kind)) return LACIS_OK;
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, first.offset, NULL,
                             "EXPLAIN shows the plans of calls, LET, CREATE VIEW and SQL, not of %.*s",
                             lacis_token_shown(&first), first.text);
}

/* SQLite's own EXPLAIN QUERY PLAN. */
static bool query_plan(const lacis_parser *parser)
{
    lacis_lexer ahead = parser->lexer;
    return lacis_lexer_accept(&ahead, "EXPLAIN") && lacis_lexer_is(&ahead, "QUERY");
}

lacis_status lacis_parser_statement(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    lacis_ast ast = {.kind = LACIS_AST_SQL, .sql = parser->lexer.token.text};
    ast.sql_offset = parser->lexer.token.offset;
    lacis_offer_keyword(parser, "EXPLAIN");
    if (!query_plan(parser)) LACIS_TRY(explained(parser, context, &ast));
    bool sql = ast.kind == LACIS_AST_SQL || (ast.kind == LACIS_AST_LET && ast.call == NULL);
    if (!sql) ast.sql = NULL, ast.sql_offset = 0;
    if (ast.kind == LACIS_AST_SQL) {
        ast.name = NULL;
        ast.if_exists = false;
        lacis_offer_sql(parser);
    }
    *out = ast;
    return LACIS_OK;
}

lacis_status lacis_lang_parse(lacis_run *run, const lacis_registry *registry, const char *text, size_t length,
                              const lacis_bindings *bindings, lacis_exists_fn exists, void *exists_arg,
                              lacis_ast *out, const char **tail)
{
    lacis_parser parser = {.run = run, .registry = registry, .bindings = bindings};
    lacis_statement_context context = {exists, exists_arg};
    *out = (lacis_ast){.kind = LACIS_AST_EMPTY};
    *tail = NULL;
    lacis_lexer_begin(&parser.lexer, text, length);
    bool empty = parser.lexer.token.kind == LACIS_TOKEN_END || lacis_lexer_is(&parser.lexer, ";");
    if (!empty) LACIS_TRY(lacis_parser_statement(&parser, &context, out));
    if (out->sql != NULL) return LACIS_OK;
    const lacis_token *token = &parser.lexer.token;
    bool ended = token->kind == LACIS_TOKEN_END || lacis_lexer_is(&parser.lexer, ";");
    if (!ended) return lacis_lexer_expected(run, &parser.lexer, "';' or the end of the statement");
    *tail = token->text + token->length;
    return LACIS_OK;
}
