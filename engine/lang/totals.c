/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises SELECTs that ask for totals of one array and nothing else, which need no rows to be visited. Whatever is
 * not surely such a query, or could mean something else to SQLite, is left to SQLite. Caller: api/.
 */
#include "lang/parser.h"

#include <string.h>

static bool total_kind(const lacis_token *token, lacis_total_kind *out)
{
    static const struct {
        const char *name;
        lacis_total_kind kind;
    } functions[] = {{"count", LACIS_TOTAL_COUNT}, {"sum", LACIS_TOTAL_SUM}, {"min", LACIS_TOTAL_MIN},
                     {"max", LACIS_TOTAL_MAX},     {"avg", LACIS_TOTAL_AVG}, {"total", LACIS_TOTAL_TOTAL}};
    for (int i = 0; i < LACIS_COUNT(functions); i++) {
        *out = functions[i].kind;
        if (token->kind == LACIS_TOKEN_WORD && lacis_word_is(token->text, token->length, functions[i].name))
            return true;
    }
    return false;
}

/* The column named by the present token; NULL: it is no name. */
static const char *column_at(lacis_run *run, const lacis_token *token)
{
    bool word = token->kind == LACIS_TOKEN_WORD && !lacis_sql_keyword(token->text, token->length);
    char *text;
    if (!word && token->kind != LACIS_TOKEN_QUOTED) return NULL;
    return lacis_token_text(run, token, &text) == LACIS_OK ? text : NULL;
}

/* [AS] alias. The words that SQLite keeps for itself are refused, so that none is taken for an alias that goes on as
 * something else (count(*) OVER ...). False: not a query of ours. */
static bool alias(lacis_run *run, lacis_lexer *lexer, const char **out)
{
    bool must = lacis_lexer_accept(lexer, "AS");
    const lacis_token *token = &lexer->token;
    bool quoted = token->kind == LACIS_TOKEN_QUOTED || token->kind == LACIS_TOKEN_STRING;
    bool word = token->kind == LACIS_TOKEN_WORD && !lacis_sql_keyword(token->text, token->length);
    if (!quoted && !word) return !must;
    char *text;
    if (lacis_token_text(run, token, &text) != LACIS_OK) return false;
    *out = text;
    lacis_lexer_next(lexer);
    return true;
}

static bool item(lacis_run *run, lacis_lexer *lexer, lacis_total_query *out)
{
    if (out->items == LACIS_TOTAL_ITEMS) return false;
    lacis_total_kind kind;
    const char *begin = lexer->token.text, *column = NULL;
    if (!total_kind(&lexer->token, &kind)) return false;
    lacis_lexer_next(lexer);
    if (!lacis_lexer_accept(lexer, "(")) return false;
    if (lacis_lexer_is(lexer, "*")) {
        if (kind != LACIS_TOTAL_COUNT) return false;
    } else {
        column = column_at(run, &lexer->token);
        if (column == NULL) return false;
    }
    lacis_lexer_next(lexer);
    if (!lacis_lexer_is(lexer, ")")) return false;
    const char *end = lexer->token.text + 1, *heading = NULL;
    lacis_lexer_next(lexer);
    /* SQLite's heading is the text up to the next token without blanks at its end: a comment there is left to it. */
    if (end + strspn(end, " \t\n\r\f") < lexer->token.text) return false;
    if (!alias(run, lexer, &heading)) return false;
    if (heading == NULL && lacis_text_copy(run, begin, (size_t)(end - begin), &heading) != LACIS_OK) return false;
    out->item[out->items].kind = kind;
    out->item[out->items].column = column;
    out->item[out->items++].heading = heading;
    return true;
}

static bool query(lacis_run *run, lacis_lexer *lexer, lacis_total_query *out)
{
    if (!lacis_lexer_accept(lexer, "SELECT")) return false;
    do {
        if (!item(run, lexer, out)) return false;
    } while (lacis_lexer_accept(lexer, ","));
    if (!lacis_lexer_accept(lexer, "FROM")) return false;
    const lacis_token *token = &lexer->token;
    bool word = token->kind == LACIS_TOKEN_WORD && !lacis_sql_keyword(token->text, token->length);
    if (!word && token->kind != LACIS_TOKEN_QUOTED) return false;
    char *name;
    if (lacis_token_text(run, token, &name) != LACIS_OK) return false;
    out->name = name;
    lacis_lexer_next(lexer);
    if (token->kind != LACIS_TOKEN_END && !lacis_lexer_is(lexer, ";")) return false;
    out->tail = token->text + token->length;
    return true;
}

bool lacis_lang_totals(lacis_run *run, const char *sql, lacis_total_query *out)
{
    lacis_lexer lexer;
    *out = (lacis_total_query){0};
    lacis_lexer_begin(&lexer, sql, strlen(sql));
    return query(run, &lexer, out);
}
