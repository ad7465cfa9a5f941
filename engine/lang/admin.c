/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements that bring data in and out and set things: one function each, called through the table of statement.c
 * with the parser behind the statement's first word.
 */
#include "lang/offer.h"

#include <string.h>

static lacis_status known_name(lacis_parser *parser, lacis_ast *out)
{
    out->name_offset = parser->lexer.token.offset;
    lacis_offer_names(parser);
    return lacis_parser_name(parser, "a name", &out->name);
}

static lacis_status path(lacis_parser *parser, lacis_ast *out)
{
    out->string_offset = parser->lexer.token.offset;
    lacis_offer_files(parser);
    return lacis_parser_string(parser, "a file name in '...'", &out->string);
}

/* 'file' {, 'file'} */
static lacis_status paths(lacis_parser *parser, lacis_ast *out)
{
    int room = 0;
    LACIS_TRY(path(parser, out));
    while (lacis_lexer_accept(&parser->lexer, ",")) {
        if (out->mores == room) {
            const char **list;
            room = room == 0 ? 16 : 2 * room;
            LACIS_TRY(lacis_run_scratch(parser->run, (uint64_t)room * sizeof *list, &list));
            if (out->mores > 0) memcpy(list, out->more, (size_t)out->mores * sizeof *list);
            out->more = list;
        }
        lacis_offer_files(parser);
        LACIS_TRY(lacis_parser_string(parser, "a file name in '...'", &out->more[out->mores]));
        out->mores++;
    }
    return LACIS_OK;
}

/* [AS format] */
static lacis_status format(lacis_parser *parser, bool saving, lacis_ast *out)
{
    if (!lacis_parser_accept(parser, "AS")) return LACIS_OK;
    out->format_offset = parser->lexer.token.offset;
    lacis_offer_formats(parser, saving);
    return lacis_parser_name(parser, "a format", &out->format);
}

lacis_status lacis_statement_load(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    (void)context;
    out->kind = LACIS_AST_LOAD;
    LACIS_TRY(known_name(parser, out));
    LACIS_TRY(lacis_parser_expect(parser, "FROM"));
    LACIS_TRY(paths(parser, out));
    LACIS_TRY(format(parser, false, out));
    if (!lacis_parser_accept(parser, "WITH")) return LACIS_OK;
    const lacis_loader *loader = NULL;
    if (out->format != NULL) loader = lacis_registry_loader(parser->registry, out->format);
    if (loader == NULL) return lacis_parser_options(parser, NULL, -1, out);
    return lacis_parser_options(parser, loader->options, loader->option_count, out);
}

/* A generator whose options may all be left out needs no parentheses. */
lacis_status lacis_statement_generate(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    (void)context;
    out->kind = LACIS_AST_GENERATE;
    LACIS_TRY(known_name(parser, out));
    LACIS_TRY(lacis_parser_expect(parser, "AS"));
    out->format_offset = parser->lexer.token.offset;
    lacis_offer_generators(parser);
    LACIS_TRY(lacis_parser_name(parser, "a generator", &out->format));
    const lacis_generator *generator = lacis_registry_generator(parser->registry, out->format);
    if (!lacis_lexer_is(&parser->lexer, "(")) return LACIS_OK;
    if (generator == NULL) return lacis_parser_options(parser, NULL, 0, out);
    return lacis_parser_options(parser, generator->options, generator->option_count, out);
}

lacis_status lacis_statement_save(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    (void)context;
    out->kind = LACIS_AST_SAVE;
    LACIS_TRY(known_name(parser, out));
    LACIS_TRY(lacis_parser_expect(parser, "TO"));
    LACIS_TRY(path(parser, out));
    return format(parser, true, out);
}

/* A query, or an operator's call, in place of a name: what begins so and goes on. */
static bool is_query(const lacis_parser *parser)
{
    static const char *const last[] = {";", "AS", "TO"};
    lacis_lexer ahead = parser->lexer;
    bool first = lacis_lexer_is(&ahead, "SELECT") || lacis_lexer_is(&ahead, "WITH") ||
                 lacis_lexer_is(&ahead, "VALUES") || lacis_parser_verb(parser) != NULL;
    if (lacis_lexer_is(&ahead, "(")) return true;
    if (!first) return false;
    lacis_lexer_next(&ahead);
    for (int i = 0; i < LACIS_COUNT(last); i++)
        if (lacis_lexer_is(&ahead, last[i])) return false;
    return ahead.token.kind != LACIS_TOKEN_END;
}

static lacis_status plot_kind(lacis_parser *parser, lacis_ast *out)
{
    static const char *const kinds[] = {"line", "scatter", "heat", "spy", "hist", "tree"};
    out->format_offset = parser->lexer.token.offset;
    for (int i = 0; i < LACIS_COUNT(kinds) && out->format == NULL; i++)
        if (lacis_parser_accept(parser, kinds[i])) out->format = kinds[i];
    if (out->format != NULL) return LACIS_OK;
    return lacis_lexer_expected(parser->run, &parser->lexer, "line, scatter, heat, spy, hist or tree");
}

/* AS and TO in either order. */
lacis_status lacis_statement_plot(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    (void)context;
    out->kind = LACIS_AST_PLOT;
    if (is_query(parser))
        return lacis_run_fail_at(parser->run, LACIS_SYNTAX, parser->lexer.token.offset, "LET p = SELECT ...; PLOT p;",
                                 "PLOT takes the name of an array or view");
    LACIS_TRY(known_name(parser, out));
    if (lacis_parser_accept(parser, "AS")) LACIS_TRY(plot_kind(parser, out));
    if (!lacis_parser_accept(parser, "TO")) return LACIS_OK;
    LACIS_TRY(path(parser, out));
    return out->format == NULL && lacis_parser_accept(parser, "AS") ? plot_kind(parser, out) : LACIS_OK;
}

/* IF EXISTS, unless IF is a name that stands alone. */
static bool if_exists(lacis_parser *parser)
{
    lacis_offer_keyword(parser, "IF");
    lacis_lexer ahead = parser->lexer;
    if (!lacis_lexer_accept(&ahead, "IF")) return false;
    bool offered = ahead.token.kind == LACIS_TOKEN_END && parser->completer != NULL;
    if (!offered && !lacis_lexer_is(&ahead, "EXISTS")) return false;
    lacis_lexer_next(&parser->lexer);
    return lacis_parser_accept(parser, "EXISTS");
}

/* DROP TABLE | VIEW [IF EXISTS] name is ours where an array or view has the name, otherwise SQL. */
static lacis_status drop_relation(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    lacis_lexer_next(&parser->lexer);
    out->if_exists = if_exists(parser);
    bool named = lacis_parser_at_name(parser) || parser->completer != NULL;
    if (named) LACIS_TRY(known_name(parser, out));
    bool alone = lacis_lexer_is(&parser->lexer, ";") || parser->lexer.token.kind == LACIS_TOKEN_END;
    bool ours = named && alone && context->exists != NULL && context->exists(context->exists_arg, out->name);
    if (!ours) out->kind = LACIS_AST_SQL;
    return LACIS_OK;
}

lacis_status lacis_statement_drop(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    out->kind = LACIS_AST_DROP;
    lacis_offer_keywords(parser, "TABLE|VIEW|INDEX|TRIGGER");
    if (lacis_lexer_is(&parser->lexer, "TABLE") || lacis_lexer_is(&parser->lexer, "VIEW")) {
        return drop_relation(parser, context, out);
    }
    if (lacis_lexer_is(&parser->lexer, "INDEX") || lacis_lexer_is(&parser->lexer, "TRIGGER")) {
        out->kind = LACIS_AST_SQL;
        return LACIS_OK;
    }
    out->if_exists = if_exists(parser);
    return known_name(parser, out);
}

lacis_status lacis_statement_set(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    (void)context;
    out->kind = LACIS_AST_SET;
    out->name_offset = parser->lexer.token.offset;
    lacis_offer_settings(parser);
    LACIS_TRY(lacis_parser_name(parser, "an option", &out->name));
    LACIS_TRY(lacis_parser_expect(parser, "="));
    out->string_offset = parser->lexer.token.offset;
    bool string;
    return lacis_parser_literal(parser, &out->string, &string);
}

lacis_status lacis_statement_calibrate(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    (void)parser;
    (void)context;
    out->kind = LACIS_AST_CALIBRATE;
    return LACIS_OK;
}

lacis_status lacis_statement_tune(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    (void)context;
    out->kind = LACIS_AST_TUNE;
    out->name_offset = parser->lexer.token.offset;
    lacis_offer_verbs(parser);
    LACIS_TRY(lacis_parser_name(parser, "an operator's name", &out->name));
    if (lacis_parser_accept(parser, "TYPE")) {
        out->string_offset = parser->lexer.token.offset;
        LACIS_TRY(lacis_parser_name(parser, "a type", &out->string));
    }
    if (!lacis_parser_accept(parser, "SECONDS")) return LACIS_OK;
    lacis_item item = {.offset = parser->lexer.token.offset};
    LACIS_TRY(lacis_parser_real(parser, &item));
    out->seconds = item.real;
    if (out->seconds > 0) return LACIS_OK;
    return lacis_run_fail_at(parser->run, LACIS_RANGE, item.offset, NULL, "SECONDS takes a positive number");
}

lacis_status lacis_statement_show(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    static const char *const choices[] = {"ARRAYS",  "OPERATORS", "AGGREGATES", "DEVICES",
                                          "OPTIONS", "KERNELS",   "LOADERS",    "GENERATORS"};
    (void)context;
    out->kind = LACIS_AST_SHOW;
    out->string_offset = parser->lexer.token.offset;
    const lacis_token *token = &parser->lexer.token;
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, token->text, token->length);
    if (lacis_parser_accept(parser, "OPERATOR")) {
        out->string = "OPERATOR";
        out->name_offset = parser->lexer.token.offset;
        return lacis_parser_name(parser, "an operator's name", &out->name);
    }
    for (int i = 0; i < LACIS_COUNT(choices); i++) {
        out->string = choices[i];
        if (lacis_parser_accept(parser, choices[i])) return LACIS_OK;
        lacis_nearest_try(&nearest, choices[i]);
    }
    if (token->kind != LACIS_TOKEN_WORD) return lacis_lexer_expected(parser->run, &parser->lexer, "what to show");
    const char *hint =
        lacis_lexer_is(&parser->lexer, "TABLES") ? LACIS_HINT_ARRAYS : lacis_parser_hint(parser, &nearest);
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, token->offset, hint, "cannot show '%.*s'",
                             lacis_token_shown(token), token->text);
}
