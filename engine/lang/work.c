/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements that name a result: LET (computed now) and CREATE VIEW (computed when read). Caller: the table of
 * statement.c.
 */
#include "lang/offer.h"

/* The statement's SQL begins at the present token. */
static void rest_is_sql(lacis_parser *parser, lacis_ast *out)
{
    out->sql = parser->lexer.token.text;
    out->sql_offset = parser->lexer.token.offset;
    lacis_offer_sql(parser);
}

lacis_status lacis_parser_call_text(lacis_parser *parser, lacis_ast *out)
{
    const char *begin = parser->lexer.token.text;
    LACIS_TRY(lacis_parser_call(parser, &out->call));
    const char *end = parser->lexer.token.text;
    while (end > begin && (unsigned char)end[-1] <= ' ') {
        end--;
    }
    return lacis_text_copy(parser->run, begin, (size_t)(end - begin), &out->text);
}

static void offer_queries(const lacis_parser *parser)
{
    lacis_offer_keywords(parser, "SELECT|WITH|VALUES");
}

lacis_status lacis_statement_let(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    (void)context;
    out->kind = LACIS_AST_LET;
    out->name_offset = parser->lexer.token.offset;
    lacis_offer_names(parser);
    LACIS_TRY(lacis_parser_name(parser, "a name", &out->name));
    LACIS_TRY(lacis_parser_expect(parser, "="));
    offer_queries(parser);
    if (lacis_parser_verb(parser) == NULL && lacis_sql_query_word(&parser->lexer.token)) {
        rest_is_sql(parser, out);
        return LACIS_OK;
    }
    return lacis_parser_call_text(parser, out);
}

/* A view is kept as its text, and values are bound to statements. */
static lacis_status refuse_parameters(lacis_parser *parser, const lacis_lexer *begin)
{
    lacis_lexer ahead = *begin;
    const char *end = parser->lexer.token.text;
    for (; ahead.token.text < end && ahead.token.kind != LACIS_TOKEN_END; lacis_lexer_next(&ahead)) {
        if (ahead.token.kind != LACIS_TOKEN_NAME) continue;
        return lacis_run_fail_at(parser->run, LACIS_SYNTAX, ahead.token.offset, "write the value itself, or use LET",
                                 "a view is computed when it is read, and %.*s has no value then",
                                 lacis_token_shown(&ahead.token), ahead.token.text);
    }
    return LACIS_OK;
}

/* Ours is CREATE VIEW name AS verb ...; SQLite wants a query behind AS, so any other word there is a misspelt verb.
 * All else that begins with CREATE is SQL. */
lacis_status lacis_statement_create(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out)
{
    (void)context;
    out->kind = LACIS_AST_SQL;
    lacis_offer_keywords(parser, "TABLE|INDEX|TRIGGER");
    if (!lacis_parser_accept(parser, "VIEW") || !lacis_parser_at_name(parser)) return LACIS_OK;
    int64_t name_offset = parser->lexer.token.offset;
    const char *name;
    LACIS_TRY(lacis_parser_name(parser, "a name", &name));
    if (!lacis_parser_accept(parser, "AS")) return LACIS_OK;
    offer_queries(parser);
    lacis_offer_verbs(parser);
    const lacis_token *token = &parser->lexer.token;
    if (token->kind != LACIS_TOKEN_WORD) return LACIS_OK;
    if (lacis_parser_verb(parser) == NULL && lacis_sql_query_word(token)) return LACIS_OK;
    out->kind = LACIS_AST_VIEW;
    out->name = name;
    out->name_offset = name_offset;
    const lacis_lexer begin = parser->lexer;
    LACIS_TRY(lacis_parser_call_text(parser, out));
    return refuse_parameters(parser, &begin);
}
