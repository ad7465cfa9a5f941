/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of expressions: literals, parameters, slots, calls, CAST, CASE and parentheses -> raw tree. Called by the
 * operators in parse.c; numbers and parameters also by agg.c.
 */
#include "core/registry.h"
#include "core/word.h"
#include "expr/tree.h"

#include <math.h>
#include <string.h>

/* Constants and starts of operands, for hints. */
static const char *const words[] = {"case", "cast", "true", "false", "inf", "nan", "nil"};

lacis_status lacis_parse_expected(lacis_parser *parser, const char *what)
{
    return lacis_lexer_expected(parser->run, parser->lexer, what);
}

/* ------------------------------------------------------------------------------ numbers, parameters */

lacis_status lacis_parse_number(lacis_run *run, lacis_lexer *lexer, bool negative, int64_t offset, lacis_node **out)
{
    lacis_token token = lexer->token;
    lacis_lexer_next(lexer);
    if (token.kind == LACIS_TOKEN_INTEGER)
        return lacis_node_integer(run, offset, negative ? -token.integer : token.integer, out);
    bool least = negative && token.real == 0x1p63 && strspn(token.text, "0123456789") == token.length;
    if (least && memcmp(token.text + token.length - 19, "9223372036854775808", 19) == 0)
        return lacis_node_integer(run, offset, INT64_MIN, out);
    return lacis_node_real(run, offset, LACIS_F64, negative ? -token.real : token.real, out);
}

const lacis_binding *lacis_binding_find(const lacis_bindings *bindings, const char *name, size_t length)
{
    for (int i = 0; bindings != NULL && i < bindings->count; i++) {
        const char *candidate = bindings->value[i].name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0) return &bindings->value[i];
    }
    return NULL;
}

static lacis_status unbound(lacis_parser *parser, const lacis_token *token)
{
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, token->text + 1, token->length - 1);
    for (int i = 0; i < parser->bindings->count; i++) {
        lacis_nearest_try(&nearest, parser->bindings->value[i].name);
    }
    const char *best = lacis_nearest_result(&nearest);
    char hint[LACIS_HINT_TEXT];
    if (best != NULL) snprintf(hint, sizeof hint, "did you mean :%s?", best);
    return lacis_run_fail_at(parser->run, LACIS_NAME, token->offset, best != NULL ? hint : NULL,
                             "no value bound to %.*s", (int)token->length, token->text);
}

lacis_status lacis_parse_parameter(lacis_parser *parser, lacis_node **out)
{
    lacis_token token = parser->lexer->token;
    lacis_lexer_next(parser->lexer);
    if (parser->bindings == NULL) return lacis_node_integer(parser->run, token.offset, 0, out);
    const lacis_binding *binding = lacis_binding_find(parser->bindings, token.text + 1, token.length - 1);
    if (binding == NULL) return unbound(parser, &token);
    if (binding->type == LACIS_INTEGER) return lacis_node_integer(parser->run, token.offset, binding->integer, out);
    if (binding->type == LACIS_REAL) return lacis_node_real(parser->run, token.offset, LACIS_F64, binding->real, out);
    return lacis_run_fail_at(parser->run, LACIS_TYPE, token.offset, NULL,
                             "the value of %.*s is %s, but expressions calculate with numbers", (int)token.length,
                             token.text, binding->type == LACIS_NULL ? "NULL" : "text");
}

/* --------------------------------------------------------------------------------- names and calls */

static int find_slot(const lacis_parser *parser, const char *name, size_t length)
{
    for (int i = 0; i < parser->expr->slots; i++) {
        if (lacis_word_is(name, length, parser->expr->slot_name[i])) return i;
    }
    return -1;
}

/* The slots as "a, b, s", for messages. */
static void list_slots(const lacis_expr *expr, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < expr->slots; i++) {
        int wrote = snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", expr->slot_name[i]);
        if (wrote < 0 || (size_t)wrote >= size - used) return;
        used += (size_t)wrote;
    }
}

/* Words that cannot be operands where names are free, since all others can. */
static lacis_status no_operand(lacis_parser *parser, const char *name, int64_t offset)
{
    const lacis_function *function = lacis_function_find(name, strlen(name));
    if (function == NULL)
        return lacis_run_fail_at(parser->run, LACIS_SYNTAX, offset, NULL, "expected an expression, found \"%.60s\"",
                                 name);
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, offset, "a name may stand in double quotes",
                             "%s is a function: its arguments follow in parentheses", function->name);
}

static lacis_status unknown_name(lacis_parser *parser, const char *name, int64_t offset, bool call)
{
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, name, strlen(name));
    for (int i = 0; !call && !parser->expr->free && i < parser->expr->slots; i++) {
        lacis_nearest_try(&nearest, parser->expr->slot_name[i]);
    }
    for (int i = 0; lacis_expr_functions[i] != NULL; i++) {
        lacis_nearest_try(&nearest, lacis_expr_functions[i]);
    }
    for (int i = 0; !call && i < LACIS_COUNT(words); i++) {
        lacis_nearest_try(&nearest, words[i]);
    }
    const char *best = lacis_nearest_result(&nearest);
    char hint[LACIS_HINT_TEXT], slots[200];
    bool neighbour = call && best == NULL && parser->expr->free;
    if (best != NULL) snprintf(hint, sizeof hint, "did you mean %s?", best);
    if (neighbour) snprintf(hint, sizeof hint, "a neighbour's value is written %.40s[...]", name);
    if (call)
        return lacis_run_fail_at(parser->run, LACIS_NAME, offset, best != NULL || neighbour ? hint : NULL,
                                 "there is no function %.60s; there are abs, min, max, sqrt, exp, ln, log2, log10, "
                                 "pow, floor, ceil, round, sign, sin, cos, tan, tanh, atan2, hypot, iif, complex, "
                                 "re, im, conj, arg, CAST",
                                 name);
    if (parser->expr->free) return no_operand(parser, name, offset);
    list_slots(parser->expr, slots, sizeof slots);
    return lacis_run_fail_at(parser->run, LACIS_NAME, offset, best != NULL ? hint : NULL,
                             "there is no %.60s here; the names that may be used are %s", name,
                             slots[0] != '\0' ? slots : "none");
}

static lacis_status parse_arguments(lacis_parser *parser, lacis_nodes *kids)
{
    if (lacis_lexer_accept(parser->lexer, ")")) return LACIS_OK;
    do {
        lacis_node *kid;
        LACIS_TRY(lacis_parse_whole(parser, &kid));
        LACIS_TRY(lacis_nodes_add(parser->run, kids, kid));
    } while (lacis_lexer_accept(parser->lexer, ","));
    return lacis_lexer_accept(parser->lexer, ")") ? LACIS_OK : lacis_parse_expected(parser, "\",\" or \")\"");
}

/* Behind "name(". */
static lacis_status parse_call(lacis_parser *parser, const char *name, int64_t offset, lacis_node **out)
{
    const lacis_function *function = lacis_function_find(name, strlen(name));
    lacis_nodes kids = {0};
    if (function == NULL) return unknown_name(parser, name, offset, true);
    LACIS_TRY(parse_arguments(parser, &kids));
    if (kids.count < function->least || (function->most >= 0 && kids.count > function->most))
        return lacis_run_fail_at(parser->run, LACIS_SYNTAX, offset, NULL, "%s takes %s%d argument%s, not %d",
                                 function->name, function->most < 0 ? "at least " : "", function->least,
                                 function->least == 1 ? "" : "s", kids.count);
    return lacis_node_new(parser->run, function->op, offset, kids.count, kids.node, out);
}

/* Behind CAST and its "(": x AS type ). */
static lacis_status parse_cast(lacis_parser *parser, int64_t offset, lacis_node **out)
{
    lacis_lexer *lexer = parser->lexer;
    LACIS_TRY(lacis_parse_whole(parser, out));
    if (!lacis_lexer_accept(lexer, "AS")) return lacis_parse_expected(parser, "AS int or AS real");
    lacis_node_op op;
    if (lacis_lexer_accept(lexer, "int") || lacis_lexer_accept(lexer, "integer")) {
        op = LACIS_NODE_TO_INT;
    } else if (lacis_lexer_accept(lexer, "real")) {
        op = LACIS_NODE_TO_REAL;
    } else {
        return lacis_parse_expected(parser, "int or real");
    }
    if (!lacis_lexer_accept(lexer, ")")) return lacis_parse_expected(parser, "\")\"");
    return lacis_node_new(parser->run, op, offset, 1, out, out);
}

/* -------------------------------------------------------------------------------------------- CASE */

/* One expression behind a keyword, added to kids. */
static lacis_status parse_arm(lacis_parser *parser, const char *keyword, const char *expected, lacis_nodes *kids)
{
    lacis_node *kid;
    if (!lacis_lexer_accept(parser->lexer, keyword)) return lacis_parse_expected(parser, expected);
    LACIS_TRY(lacis_parse_whole(parser, &kid));
    return lacis_nodes_add(parser->run, kids, kid);
}

/* Behind CASE. */
static lacis_status parse_case(lacis_parser *parser, int64_t offset, lacis_node **out)
{
    lacis_lexer *lexer = parser->lexer;
    lacis_nodes kids = {0};
    lacis_node_op op = lacis_lexer_is(lexer, "WHEN") ? LACIS_NODE_CASE : LACIS_NODE_SWITCH;
    if (op == LACIS_NODE_SWITCH) {
        LACIS_TRY(lacis_parse_whole(parser, out));
        LACIS_TRY(lacis_nodes_add(parser->run, &kids, *out));
    }
    do {
        LACIS_TRY(parse_arm(parser, "WHEN", "WHEN of CASE ... WHEN ... THEN ... ELSE ... END", &kids));
        LACIS_TRY(parse_arm(parser, "THEN", "THEN of CASE ... WHEN ... THEN ... ELSE ... END", &kids));
    } while (lacis_lexer_is(lexer, "WHEN"));
    if (lacis_lexer_is(lexer, "END"))
        return lacis_run_fail_at(parser->run, LACIS_SYNTAX, lexer->token.offset, "add ELSE and a value before END",
                                 "CASE needs an ELSE: every value of an expression is a number, never NULL");
    LACIS_TRY(parse_arm(parser, "ELSE", "WHEN or ELSE of CASE ... WHEN ... THEN ... ELSE ... END", &kids));
    if (!lacis_lexer_accept(lexer, "END")) return lacis_parse_expected(parser, "END of CASE");
    return lacis_node_new(parser->run, op, offset, kids.count, kids.node, out);
}

/* ---------------------------------------------------------------------------------------- operands */

/* Where names are free a field may be called inf: it stands in quotes, as the constant does not. */
static lacis_status offsets_of_constant(lacis_parser *parser, const char *name, int64_t offset)
{
    char hint[LACIS_HINT_TEXT];
    snprintf(hint, sizeof hint, "a field of that name stands in quotes: \"%s\"[1,0]", name);
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, offset, hint,
                             "%s is a word of expressions, and has no neighbours", name);
}

static lacis_status parse_constant(lacis_parser *parser, const char *name, int64_t offset, lacis_node **out)
{
    size_t length = strlen(name);
    if (parser->expr->free && lacis_lexer_is(parser->lexer, "[")) return offsets_of_constant(parser, name, offset);
    if (lacis_word_is(name, length, "true")) return lacis_node_integer(parser->run, offset, 1, out);
    if (lacis_word_is(name, length, "false")) return lacis_node_integer(parser->run, offset, 0, out);
    if (lacis_word_is(name, length, "inf")) return lacis_node_real(parser->run, offset, LACIS_F64, INFINITY, out);
    if (lacis_word_is(name, length, "nan")) return lacis_node_real(parser->run, offset, LACIS_F64, NAN, out);
    if (lacis_word_is(name, length, "nil"))
        return lacis_run_fail_at(parser->run, LACIS_SYNTAX, offset, NULL,
                                 "nil stands alone: it has no value to calculate with");
    if (lacis_word_is(name, length, "null"))
        return lacis_run_fail_at(parser->run, LACIS_SYNTAX, offset, NULL,
                                 "NULL cannot be used here: every value of an expression is a number");
    return unknown_name(parser, name, offset, false);
}

/* Behind a name, which *slot tells to be a slot (not < 0) or not. */
static lacis_status slot_of(lacis_parser *parser, const lacis_token *token, const char *name, int *slot)
{
    lacis_lexer *lexer = parser->lexer;
    *slot = -1;
    if (parser->expr->free) {
        bool call = lacis_lexer_is(lexer, "(");
        bool slot_here = token->kind == LACIS_TOKEN_QUOTED || (!call && lacis_slot_word(name, strlen(name)));
        return slot_here ? lacis_slot_find(parser, name, token->offset, slot) : LACIS_OK;
    }
    *slot = find_slot(parser, name, strlen(name));
    if (*slot < 0 || !lacis_lexer_is(lexer, "[")) return LACIS_OK;
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, lexer->token.offset, NULL,
                             "%.60s is one value here, without neighbours to be named by offsets in [ ]", name);
}

static lacis_status parse_name(lacis_parser *parser, lacis_node **out)
{
    lacis_lexer *lexer = parser->lexer;
    lacis_token token = lexer->token;
    char *name;
    int slot;
    LACIS_TRY(lacis_token_text(parser->run, &token, &name));
    lacis_lexer_next(lexer);
    LACIS_TRY(slot_of(parser, &token, name, &slot));
    if (slot >= 0) {
        LACIS_TRY(lacis_node_new(parser->run, LACIS_NODE_SLOT, token.offset, 0, NULL, out));
        (*out)->slot = slot;
        return LACIS_OK;
    }
    if (token.kind == LACIS_TOKEN_QUOTED) return unknown_name(parser, name, token.offset, false);
    if (lacis_word_is(name, strlen(name), "case")) return parse_case(parser, token.offset, out);
    if (!lacis_lexer_accept(lexer, "(")) return parse_constant(parser, name, token.offset, out);
    if (lacis_word_is(name, strlen(name), "cast")) return parse_cast(parser, token.offset, out);
    return parse_call(parser, name, token.offset, out);
}

lacis_status lacis_parse_operand(lacis_parser *parser, lacis_node **out)
{
    lacis_lexer *lexer = parser->lexer;
    int64_t offset = lexer->token.offset;
    switch (lexer->token.kind) {
    case LACIS_TOKEN_INTEGER:
    case LACIS_TOKEN_REAL:
        return lacis_parse_number(parser->run, lexer, false, offset, out);
    case LACIS_TOKEN_NAME:
        return lacis_parse_parameter(parser, out);
    case LACIS_TOKEN_WORD:
    case LACIS_TOKEN_QUOTED:
        return parse_name(parser, out);
    case LACIS_TOKEN_STRING:
        return lacis_run_fail_at(parser->run, LACIS_TYPE, offset, NULL,
                                 "text cannot be used here: expressions calculate with numbers");
    default:
        break;
    }
    if (!lacis_lexer_accept(lexer, "(")) return lacis_parse_expected(parser, "an expression");
    LACIS_TRY(lacis_parse_whole(parser, out));
    return lacis_lexer_accept(lexer, ")") ? LACIS_OK : lacis_parse_expected(parser, "\")\"");
}
