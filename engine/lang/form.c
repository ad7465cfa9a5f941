/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands behind a clause keyword: the pattern of lacis_param.form (see lacis_extend.h), read part by part and
 * matched against the statement. Callers: call.c, and usage.c for the parts.
 */
#include "lang/offer.h"

#include <string.h>

/* Copies length bytes, as many as fit. */
static void keep(char *out, size_t size, const char *text, size_t length)
{
    if (length >= size) length = size - 1;
    memcpy(out, text, length);
    out[length] = '\0';
}

bool lacis_form_next(const char **form, lacis_form_part *out)
{
    const char *at = *form + strspn(*form, " ");
    size_t length = strcspn(at, " ");
    *form = at + length;
    if (length == 0) return false;
    *out = (lacis_form_part){.kind = LACIS_FORM_WORD};
    if (at[0] == '%' && length == 2) {
        out->kind = LACIS_FORM_ITEM;
        out->item = at[1];
    } else if (at[0] == '[' && at[length - 1] == ']' && length > 2) {
        out->kind = LACIS_FORM_OPTIONAL;
        at++;
        length -= 2;
    } else if (length > 1 && memchr(at, '|', length) != NULL) {
        out->kind = LACIS_FORM_CHOICE;
    }
    keep(out->text, sizeof out->text, at, length);
    return true;
}

bool lacis_choice_next(const char **list, char *word, size_t size)
{
    const char *at = *list + strspn(*list, "|");
    size_t length = strcspn(at, "|");
    *list = at + length;
    keep(word, size, at, length);
    return length > 0;
}

static lacis_status choice(lacis_parser *parser, const char *words, lacis_item *item)
{
    lacis_offer_keywords(parser, words);
    lacis_nearest nearest;
    const lacis_token *token = &parser->lexer.token;
    lacis_nearest_begin(&nearest, token->text, token->length);
    char word[LACIS_WORD_TEXT];
    const char *list = words;
    for (int64_t i = 0; lacis_choice_next(&list, word, sizeof word); i++) {
        item->integer = i;
        if (lacis_lexer_accept(&parser->lexer, word)) return LACIS_OK;
        lacis_nearest_try(&nearest, word);
    }
    if (token->kind != LACIS_TOKEN_WORD) return lacis_lexer_expected(parser->run, &parser->lexer, words);
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, token->offset, lacis_parser_hint(parser, &nearest),
                             "expected %s, found \"%.*s\"", words, lacis_token_shown(token), token->text);
}

static lacis_status array_item(lacis_parser *parser, lacis_item *item)
{
    lacis_offer_names(parser);
    if (!lacis_lexer_accept(&parser->lexer, "(")) {
        return lacis_parser_name(parser, "an array or a call in parentheses", &item->name);
    }
    LACIS_TRY(lacis_parser_call(parser, &item->call));
    return lacis_parser_expect(parser, ")");
}

/* Where an expression breaks off at the cursor, slots and functions go on. */
static lacis_status expression_item(lacis_parser *parser, const char *slots, lacis_item *item)
{
    if (slots == NULL) slots = "";
    bool empty = parser->lexer.token.kind == LACIS_TOKEN_END;
    lacis_status status = LACIS_SYNTAX;
    if (!empty || parser->completer == NULL) {
        status = lacis_expr_parse(parser->run, &parser->lexer, slots, parser->bindings, &item->expr);
    }
    if (status != LACIS_OK) lacis_offer_expression(parser, slots);
    return status;
}

static lacis_status aggregate_item(lacis_parser *parser, lacis_item *item)
{
    lacis_offer_aggregates(parser);
    bool written = lacis_lexer_is(&parser->lexer, "(");
    lacis_status status = lacis_agg_parse(parser->run, &parser->lexer, parser->bindings, &item->agg);
    if (status != LACIS_OK && written) {
        lacis_offer_expression(parser, "x,y");
        lacis_offer_keyword(parser, "IDENTITY");
    }
    return status;
}

/* A word or a string as text, else an integer. */
static lacis_status place_item(lacis_parser *parser, lacis_item *item)
{
    const char *what = "a place: a name, a string or an integer";
    if (lacis_parser_at_name(parser)) return lacis_parser_name(parser, what, &item->text);
    if (parser->lexer.token.kind == LACIS_TOKEN_STRING) return lacis_parser_string(parser, what, &item->text);
    if (parser->lexer.token.kind == LACIS_TOKEN_END) return lacis_lexer_expected(parser->run, &parser->lexer, what);
    return lacis_parser_integer(parser, &item->integer);
}

/* flat, full or block(lanes); where a symmetric matrix may stand, packed too. */
static lacis_status layout_item(lacis_parser *parser, bool packed, lacis_item *item)
{
    int64_t offset = parser->lexer.token.offset;
    LACIS_TRY(choice(parser, packed ? "flat|full|block|packed" : "flat|full|block", item));
    if (item->integer < 2) {
        item->integer = 1 - item->integer;
        return LACIS_OK;
    }
    if (item->integer == 3) {
        item->integer = LACIS_LAYOUT_PACKED;
        return LACIS_OK;
    }
    LACIS_TRY(lacis_parser_expect(parser, "("));
    LACIS_TRY(lacis_parser_integer(parser, &item->integer));
    if (item->integer < 1 || item->integer > INT32_MAX)
        return lacis_run_fail_at(parser->run, LACIS_RANGE, offset, NULL,
                                 "a block has from 1 to 2^31 - 1 lanes side by side, not %lld",
                                 (long long)item->integer);
    return lacis_parser_expect(parser, ")");
}

static lacis_status bad_form(lacis_parser *parser, const lacis_param *param)
{
    return lacis_run_fail(parser->run, LACIS_MISUSE, "the operator's form \"%s\" has an unknown item or more than %d",
                          param->form, (int)LACIS_ITEMS);
}

static lacis_status item_of(lacis_parser *parser, const lacis_param *param, char kind, lacis_item *item)
{
    switch (kind) {
    case 'a':
        return array_item(parser, item);
    case 'e':
        return expression_item(parser, param->slots, item);
    case 'g':
        return aggregate_item(parser, item);
    case 'i':
        LACIS_TRY(lacis_parser_integer(parser, &item->integer));
        item->real = (double)item->integer;
        return LACIS_OK;
    case 'r':
        return lacis_parser_real(parser, item);
    case 'z':
        return lacis_parser_complex(parser, item);
    case 'l':
    case 'k':
        return layout_item(parser, kind == 'k', item);
    case 'n':
        return lacis_parser_name(parser, "a name", &item->text);
    case 's':
        return lacis_parser_string(parser, "a string in '...'", &item->text);
    case 'p':
        return place_item(parser, item);
    default:
        return bad_form(parser, param);
    }
}

/* A keyword in the middle of a clause. Whoever left it out is told the whole clause. */
static lacis_status expect_word(lacis_parser *parser, const lacis_param *param, const char *word)
{
    lacis_status status = lacis_parser_expect(parser, word);
    if (status == LACIS_OK || param->keyword == NULL) return status;
    const char *clause = lacis_lang_clause(parser->run, param);
    lacis_error *error = &parser->run->host->error;
    if (clause != NULL) snprintf(error->hint, sizeof error->hint, "%s", clause);
    return status;
}

lacis_status lacis_parser_form(lacis_parser *parser, const lacis_param *param, lacis_arg *arg)
{
    lacis_form_part part;
    const char *form = param->form;
    int items = 0;
    while (lacis_form_next(&form, &part)) {
        if (part.kind == LACIS_FORM_WORD) {
            LACIS_TRY(expect_word(parser, param, part.text));
            continue;
        }
        if (items == LACIS_ITEMS) return bad_form(parser, param);
        lacis_item *item = &arg->item[items++];
        item->offset = parser->lexer.token.offset;
        if (part.kind == LACIS_FORM_OPTIONAL) {
            item->integer = lacis_parser_accept(parser, part.text);
        } else if (part.kind == LACIS_FORM_CHOICE) {
            LACIS_TRY(choice(parser, part.text, item));
        } else {
            LACIS_TRY(item_of(parser, param, part.item, item));
        }
    }
    return LACIS_OK;
}
