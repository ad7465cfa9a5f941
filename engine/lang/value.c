/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest pieces of statements: keywords, names, strings, numbers, and the :parameters that may stand for them.
 * Callers: the other files of lang/.
 */
#include "lang/offer.h"

#include <math.h>
#include <string.h>

bool lacis_parser_accept(lacis_parser *parser, const char *word)
{
    lacis_offer_keyword(parser, word);
    return lacis_lexer_accept(&parser->lexer, word);
}

lacis_status lacis_parser_expect(lacis_parser *parser, const char *word)
{
    if (lacis_parser_accept(parser, word)) return LACIS_OK;
    return lacis_lexer_expected(parser->run, &parser->lexer, word);
}

bool lacis_parser_at_name(const lacis_parser *parser)
{
    const lacis_token *token = &parser->lexer.token;
    return token->kind == LACIS_TOKEN_WORD || (token->kind == LACIS_TOKEN_QUOTED && token->length > 2);
}

/* The present token's text; moves on. */
static lacis_status take(lacis_parser *parser, const char **out)
{
    char *text;
    LACIS_TRY(lacis_token_text(parser->run, &parser->lexer.token, &text));
    *out = text;
    lacis_lexer_next(&parser->lexer);
    return LACIS_OK;
}

lacis_status lacis_parser_name(lacis_parser *parser, const char *what, const char **out)
{
    if (!lacis_parser_at_name(parser)) return lacis_lexer_expected(parser->run, &parser->lexer, what);
    return take(parser, out);
}

lacis_status lacis_text_copy(lacis_run *run, const char *text, size_t length, const char **out)
{
    char *copy;
    LACIS_TRY(lacis_run_scratch(run, length + 1, &copy));
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = copy;
    return LACIS_OK;
}

/* The value of the parameter at the present token; moves on. Where only the syntax is of interest it is 0, or the
 * text "0". */
static lacis_status parameter(lacis_parser *parser, lacis_binding *out)
{
    lacis_token token = parser->lexer.token;
    lacis_lexer_next(&parser->lexer);
    *out = (lacis_binding){.type = LACIS_INTEGER, .text = "0"};
    if (parser->bindings == NULL) return LACIS_OK;
    const lacis_binding *found = lacis_binding_find(parser->bindings, token.text + 1, token.length - 1);
    if (found == NULL || found->type == LACIS_NULL) {
        return lacis_run_fail_at(parser->run, LACIS_NAME, token.offset, NULL, "the parameter %.*s has no value",
                                 lacis_token_shown(&token), token.text);
    }
    *out = *found;
    return LACIS_OK;
}

static lacis_status wrong_parameter(lacis_parser *parser, const lacis_token *token, const char *what)
{
    return lacis_run_fail_at(parser->run, LACIS_TYPE, token->offset, NULL, "the parameter %.*s is not %s",
                             (int)token->length, token->text, what);
}

lacis_status lacis_parser_string(lacis_parser *parser, const char *what, const char **out)
{
    lacis_token token = parser->lexer.token;
    if (token.kind == LACIS_TOKEN_STRING) return take(parser, out);
    if (token.kind != LACIS_TOKEN_NAME) return lacis_lexer_expected(parser->run, &parser->lexer, what);
    lacis_binding value;
    LACIS_TRY(parameter(parser, &value));
    if (parser->bindings != NULL && value.type != LACIS_TEXT) return wrong_parameter(parser, &token, "a text");
    return lacis_text_copy(parser->run, value.text, strlen(value.text), out);
}

/* Accepts + or - and tells which. */
static bool minus_sign(lacis_parser *parser)
{
    if (lacis_lexer_accept(&parser->lexer, "-")) return true;
    lacis_lexer_accept(&parser->lexer, "+");
    return false;
}

static lacis_status beyond(lacis_parser *parser, const lacis_token *token)
{
    return lacis_run_fail_at(parser->run, LACIS_RANGE, token->offset, NULL, "%.*s does not fit 64 bits",
                             lacis_token_shown(token), token->text);
}

/* A whole real as an integer. A token of digits alone is here because it is too large: only 2^63 can still be meant,
 * as -2^63. */
static lacis_status whole(lacis_parser *parser, const lacis_token *token, double value, int64_t *out)
{
    if (isnan(value) || value != trunc(value)) {
        return lacis_run_fail_at(parser->run, LACIS_RANGE, token->offset, NULL, "%.*s is not a whole number",
                                 lacis_token_shown(token), token->text);
    }
    if (value < -0x1p63 || value >= 0x1p63) return beyond(parser, token);
    bool digits = token->kind == LACIS_TOKEN_REAL;
    for (size_t i = 0; i < token->length && digits; i++) {
        digits = token->text[i] >= '0' && token->text[i] <= '9';
    }
    static const char smallest[] = "9223372036854775808";
    if (digits && !lacis_word_is(token->text, token->length, smallest)) return beyond(parser, token);
    *out = (int64_t)value;
    return LACIS_OK;
}

lacis_status lacis_parser_integer(lacis_parser *parser, int64_t *out)
{
    bool minus = minus_sign(parser);
    lacis_token token = parser->lexer.token;
    lacis_binding value = {.type = LACIS_INTEGER, .integer = token.integer};
    if (token.kind == LACIS_TOKEN_REAL) value = (lacis_binding){.type = LACIS_REAL, .real = token.real};
    if (token.kind == LACIS_TOKEN_NAME) {
        LACIS_TRY(parameter(parser, &value));
    } else if (token.kind == LACIS_TOKEN_INTEGER || token.kind == LACIS_TOKEN_REAL) {
        lacis_lexer_next(&parser->lexer);
    } else {
        return lacis_lexer_expected(parser->run, &parser->lexer, "an integer");
    }
    if (value.type == LACIS_REAL) return whole(parser, &token, minus ? -value.real : value.real, out);
    if (value.type != LACIS_INTEGER) return wrong_parameter(parser, &token, "an integer");
    if (minus && value.integer == INT64_MIN) return beyond(parser, &token);
    *out = minus ? -value.integer : value.integer;
    return LACIS_OK;
}

/* A number as a double and as a double-double. */
typedef struct wide_number {
    double real, wide[2];
    const char *end; /* of its source */
} wide_number;

/* A text is taken too where it is a number: so one can be given to more digits than a double has. */
static lacis_status number_of_parameter(lacis_parser *parser, wide_number *out)
{
    lacis_token token = parser->lexer.token;
    lacis_binding bound;
    LACIS_TRY(parameter(parser, &bound));
    *out = (wide_number){0};
    if (bound.type == LACIS_TEXT && lacis_parse_dd(bound.text, strlen(bound.text), &out->wide[0], &out->wide[1])) {
        out->real = out->wide[0];
        return LACIS_OK;
    }
    if (bound.type != LACIS_INTEGER && bound.type != LACIS_REAL) return wrong_parameter(parser, &token, "a number");
    if (bound.type == LACIS_REAL)
        out->wide[0] = bound.real;
    else
        lacis_values_convert(&bound.integer, LACIS_I64, 0, 1, out->wide, LACIS_DD);
    out->real = out->wide[0];
    return LACIS_OK;
}

static lacis_status number_of_token(lacis_parser *parser, wide_number *out)
{
    lacis_token token = parser->lexer.token;
    if (token.kind != LACIS_TOKEN_INTEGER && token.kind != LACIS_TOKEN_REAL)
        return lacis_lexer_expected(parser->run, &parser->lexer, "a number");
    (void)lacis_parse_dd(token.text, token.length, &out->wide[0], &out->wide[1]); /* the lexer knows numbers */
    out->real = out->wide[0];
    lacis_lexer_next(&parser->lexer);
    return LACIS_OK;
}

static const char *token_end(const lacis_parser *parser)
{
    return parser->lexer.token.text + parser->lexer.token.length;
}

static lacis_status wide_number_of(lacis_parser *parser, wide_number *out)
{
    bool minus = minus_sign(parser), bound = parser->lexer.token.kind == LACIS_TOKEN_NAME;
    const char *end = token_end(parser);
    LACIS_TRY(bound ? number_of_parameter(parser, out) : number_of_token(parser, out));
    if (minus) *out = (wide_number){-out->real, {-out->wide[0], 0 - out->wide[1]}, NULL};
    out->end = end;
    return LACIS_OK;
}

/* The item's numbers, and its text: the source from `from` to `to`. */
static lacis_status keep_number(lacis_parser *parser, const wide_number *real, const wide_number *imag,
                                const char *from, const char *to, lacis_item *item)
{
    item->real = real->real;
    item->imag = imag->real;
    for (int k = 0; k < 2; k++) {
        item->wide[k] = real->wide[k];
        item->wide[2 + k] = imag->wide[k];
    }
    return lacis_text_copy(parser->run, from, (size_t)(to - from), &item->text);
}

lacis_status lacis_parser_real(lacis_parser *parser, lacis_item *item)
{
    const char *from = parser->lexer.token.text;
    const wide_number zero = {0};
    wide_number real;
    LACIS_TRY(wide_number_of(parser, &real));
    return keep_number(parser, &real, &zero, from, real.end, item);
}

lacis_status lacis_parser_complex(lacis_parser *parser, lacis_item *item)
{
    const char *from = parser->lexer.token.text;
    wide_number real, imag;
    if (!lacis_parser_accept(parser, "complex")) return lacis_parser_real(parser, item);
    LACIS_TRY(lacis_parser_expect(parser, "("));
    LACIS_TRY(wide_number_of(parser, &real));
    LACIS_TRY(lacis_parser_expect(parser, ","));
    LACIS_TRY(wide_number_of(parser, &imag));
    const char *to = token_end(parser);
    LACIS_TRY(lacis_parser_expect(parser, ")"));
    return keep_number(parser, &real, &imag, from, to, item);
}

static lacis_status parameter_text(lacis_parser *parser, const char **out, bool *string)
{
    lacis_binding value;
    lacis_token token = parser->lexer.token;
    LACIS_TRY(parameter(parser, &value));
    *string = value.type == LACIS_TEXT;
    if (value.type == LACIS_BLOB) return wrong_parameter(parser, &token, "a number or a text");
    char number[LACIS_NUMBER_TEXT];
    if (value.type == LACIS_REAL) lacis_format_double(value.real, number);
    if (value.type == LACIS_INTEGER) snprintf(number, sizeof number, "%lld", (long long)value.integer);
    const char *text = value.type == LACIS_TEXT ? value.text : number;
    return lacis_text_copy(parser->run, text, strlen(text), out);
}

/* A word, or a number with its sign. The lexer knows no token for a number with a unit (2GB), but it is one here. */
static lacis_status plain_text(lacis_parser *parser, const char **out)
{
    bool minus = minus_sign(parser);
    const lacis_token *token = &parser->lexer.token;
    bool number = token->length > 0 && token->text[0] >= '0' && token->text[0] <= '9';
    bool word = token->kind == LACIS_TOKEN_WORD && !minus;
    if (!number && !word && token->kind != LACIS_TOKEN_REAL) {
        return lacis_lexer_expected(parser->run, &parser->lexer, "a value");
    }
    char *text;
    LACIS_TRY(lacis_run_scratch(parser->run, token->length + 2, &text));
    text[0] = '-';
    memcpy(text + minus, token->text, token->length);
    text[minus + token->length] = '\0';
    *out = text;
    lacis_lexer_next(&parser->lexer);
    return LACIS_OK;
}

lacis_status lacis_parser_literal(lacis_parser *parser, const char **out, bool *string)
{
    *string = parser->lexer.token.kind == LACIS_TOKEN_STRING;
    switch (parser->lexer.token.kind) {
    case LACIS_TOKEN_STRING:
    case LACIS_TOKEN_QUOTED:
        return take(parser, out);
    case LACIS_TOKEN_NAME:
        return parameter_text(parser, out, string);
    default:
        return plain_text(parser, out);
    }
}

const char *lacis_parser_hint(lacis_parser *parser, const lacis_nearest *nearest)
{
    const char *best = lacis_nearest_result(nearest);
    return best == NULL ? NULL : lacis_run_text(parser->run, "did you mean %s?", best);
}
