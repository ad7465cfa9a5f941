/* SPDX-License-Identifier: Apache-2.0
 *
 * The items of clauses, %a to %z of lacis_param.form (see lacis_extend.h): what stands in the statement for each.
 * Caller: form.c.
 */
#include "lang/offer.h"

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
static lacis_status expression_item(lacis_parser *parser, const char *slots, bool free, lacis_item *item)
{
    if (slots == NULL) slots = "";
    bool empty = parser->lexer.token.kind == LACIS_TOKEN_END;
    lacis_status status = LACIS_SYNTAX;
    if (!empty || parser->completer == NULL) {
        status = free ? lacis_expr_parse_free(parser->run, &parser->lexer, parser->bindings, &item->expr)
                      : lacis_expr_parse(parser->run, &parser->lexer, slots, parser->bindings, &item->expr);
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

bool lacis_parser_at_number(const lacis_parser *parser)
{
    lacis_token_kind kind = parser->lexer.token.kind;
    return kind == LACIS_TOKEN_INTEGER || kind == LACIS_TOKEN_REAL || kind == LACIS_TOKEN_NAME ||
           lacis_lexer_is(&parser->lexer, "-") || lacis_lexer_is(&parser->lexer, "+");
}

/* A number, else an array. */
static lacis_status value_item(lacis_parser *parser, lacis_item *item)
{
    if (lacis_parser_at_number(parser)) return lacis_parser_real(parser, item);
    return array_item(parser, item);
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
    const char *words = packed ? "flat|full|block|packed" : "flat|full|block";
    item->integer = lacis_parser_one_of(parser, words);
    if (item->integer < 0) return lacis_parser_none_of(parser, words);
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

lacis_status lacis_parser_bad_form(lacis_parser *parser, const lacis_param *param)
{
    return lacis_run_fail(parser->run, LACIS_MISUSE,
                          "the operator's form \"%s\" has an unknown item, an open "
                          "bracket or more than %d items",
                          param->form, (int)LACIS_ITEMS);
}

lacis_status lacis_parser_item(lacis_parser *parser, const lacis_param *param, char kind, lacis_item *item)
{
    switch (kind) {
    case 'a':
        return array_item(parser, item);
    case 'e':
    case 'f':
        return expression_item(parser, param->slots, kind == 'f', item);
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
    case 'v':
        return value_item(parser, item);
    default:
        return lacis_parser_bad_form(parser, param);
    }
}
