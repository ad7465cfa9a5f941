/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators of expressions: tokens -> raw tree, by recursive descent, loosest operators first as in SQLite. Operands
 * (literals, slots, calls, CASE ...) are in operand.c. Called by the statement parser through lacis_expr_parse.
 */
#include "core/word.h"
#include "expr/tree.h"

#include <string.h>

static lacis_status parse_unary(lacis_parser *parser, lacis_node **out);

/* ------------------------------------------------------------------------------- binary operators */

struct infix {
    const char *symbol;
    lacis_node_op op;
    int level; /* higher binds tighter */
};
enum { RELATIONAL, TIGHTEST = 3 };

static const struct infix infixes[] = {
    {"<", LACIS_NODE_LT, RELATIONAL},  {"<=", LACIS_NODE_LE, RELATIONAL}, {">", LACIS_NODE_GT, RELATIONAL},
    {">=", LACIS_NODE_GE, RELATIONAL}, {"&", LACIS_NODE_BITAND, 1},       {"|", LACIS_NODE_BITOR, 1},
    {"<<", LACIS_NODE_SHL, 1},         {">>", LACIS_NODE_SHR, 1},         {"+", LACIS_NODE_ADD, 2},
    {"-", LACIS_NODE_SUB, 2},          {"*", LACIS_NODE_MUL, 3},          {"/", LACIS_NODE_DIV, 3},
    {"%", LACIS_NODE_MOD, 3},
};

static const struct infix *infix_here(const lacis_lexer *lexer, int level)
{
    if (lexer->token.kind != LACIS_TOKEN_SYMBOL) return NULL;
    for (int i = 0; i < LACIS_COUNT(infixes); i++) {
        if (infixes[i].level == level && lacis_lexer_is(lexer, infixes[i].symbol)) return &infixes[i];
    }
    return NULL;
}

static lacis_status parse_level(lacis_parser *parser, int level, lacis_node **out)
{
    lacis_node *kid[2];
    LACIS_TRY(level == TIGHTEST ? parse_unary(parser, &kid[0]) : parse_level(parser, level + 1, &kid[0]));
    const struct infix *infix;
    while ((infix = infix_here(parser->lexer, level)) != NULL) {
        int64_t offset = parser->lexer->token.offset;
        lacis_lexer_next(parser->lexer);
        LACIS_TRY(level == TIGHTEST ? parse_unary(parser, &kid[1]) : parse_level(parser, level + 1, &kid[1]));
        LACIS_TRY(lacis_node_new(parser->run, infix->op, offset, 2, kid, &kid[0]));
    }
    *out = kid[0];
    return LACIS_OK;
}

/* ------------------------------------------------------------------- equality, IN, BETWEEN, IS NULL */

static lacis_status negate_if(lacis_parser *parser, bool negative, int64_t offset, lacis_node **node)
{
    return negative ? lacis_node_new(parser->run, LACIS_NODE_NOT, offset, 1, node, node) : LACIS_OK;
}

static lacis_status parse_in(lacis_parser *parser, bool negative, int64_t offset, lacis_node **out)
{
    lacis_nodes kids = {0};
    LACIS_TRY(lacis_nodes_add(parser->run, &kids, *out));
    if (!lacis_lexer_accept(parser->lexer, "(")) return lacis_parse_expected(parser, "\"(\" and a list after IN");
    do {
        lacis_node *kid;
        LACIS_TRY(lacis_parse_whole(parser, &kid));
        LACIS_TRY(lacis_nodes_add(parser->run, &kids, kid));
    } while (lacis_lexer_accept(parser->lexer, ","));
    if (!lacis_lexer_accept(parser->lexer, ")"))
        return lacis_parse_expected(parser, "\",\" or \")\" in the list of IN");
    LACIS_TRY(lacis_node_new(parser->run, LACIS_NODE_IN, offset, kids.count, kids.node, out));
    return negate_if(parser, negative, offset, out);
}

static lacis_status parse_between(lacis_parser *parser, bool negative, int64_t offset, lacis_node **out)
{
    lacis_node *kid[3] = {*out};
    LACIS_TRY(parse_level(parser, RELATIONAL, &kid[1]));
    if (!lacis_lexer_accept(parser->lexer, "AND")) return lacis_parse_expected(parser, "AND of BETWEEN ... AND");
    LACIS_TRY(parse_level(parser, RELATIONAL, &kid[2]));
    LACIS_TRY(lacis_node_new(parser->run, LACIS_NODE_BETWEEN, offset, 3, kid, out));
    return negate_if(parser, negative, offset, out);
}

/* Values in expressions are never NULL, so the answer is known. */
static lacis_status parse_is(lacis_parser *parser, int64_t offset, lacis_node **out)
{
    bool negative = lacis_lexer_accept(parser->lexer, "NOT");
    if (!lacis_lexer_accept(parser->lexer, "NULL"))
        return lacis_parse_expected(parser, negative ? "NULL after IS NOT" : "NULL or NOT NULL after IS");
    return lacis_node_integer(parser->run, offset, negative, out);
}

/* NOT IN and NOT BETWEEN, but not the NOT of a clause that follows the expression. */
static bool accept_not(lacis_lexer *lexer)
{
    lacis_lexer ahead = *lexer;
    if (!lacis_lexer_accept(&ahead, "NOT")) return false;
    if (!lacis_lexer_is(&ahead, "IN") && !lacis_lexer_is(&ahead, "BETWEEN")) return false;
    *lexer = ahead;
    return true;
}

static bool accept_equal(lacis_lexer *lexer, lacis_node_op *op)
{
    *op = LACIS_NODE_EQ;
    if (lacis_lexer_accept(lexer, "=") || lacis_lexer_accept(lexer, "==")) return true;
    *op = LACIS_NODE_NE;
    return lacis_lexer_accept(lexer, "<>") || lacis_lexer_accept(lexer, "!=");
}

static lacis_status parse_equality(lacis_parser *parser, lacis_node **out)
{
    lacis_lexer *lexer = parser->lexer;
    lacis_node *kid[2];
    LACIS_TRY(parse_level(parser, RELATIONAL, &kid[0]));
    for (;;) {
        int64_t offset = lexer->token.offset;
        lacis_node_op op;
        bool negative = accept_not(lexer);
        if (lacis_lexer_accept(lexer, "IN")) {
            LACIS_TRY(parse_in(parser, negative, offset, &kid[0]));
        } else if (lacis_lexer_accept(lexer, "BETWEEN")) {
            LACIS_TRY(parse_between(parser, negative, offset, &kid[0]));
        } else if (lacis_lexer_accept(lexer, "IS")) {
            LACIS_TRY(parse_is(parser, offset, &kid[0]));
        } else if (accept_equal(lexer, &op)) {
            LACIS_TRY(parse_level(parser, RELATIONAL, &kid[1]));
            LACIS_TRY(lacis_node_new(parser->run, op, offset, 2, kid, &kid[0]));
        } else {
            break;
        }
    }
    *out = kid[0];
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------ NOT, AND, OR, unary */

static lacis_status enter(lacis_parser *parser)
{
    if (++parser->nesting <= LACIS_EXPR_NESTING) return LACIS_OK;
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, parser->lexer->token.offset, NULL,
                             "the expression is nested more than %d levels deep; split it", LACIS_EXPR_NESTING);
}

static lacis_status parse_not(lacis_parser *parser, lacis_node **out)
{
    int64_t offset = parser->lexer->token.offset;
    if (!lacis_lexer_accept(parser->lexer, "NOT")) return parse_equality(parser, out);
    LACIS_TRY(enter(parser));
    LACIS_TRY(parse_not(parser, out));
    parser->nesting--;
    return lacis_node_new(parser->run, LACIS_NODE_NOT, offset, 1, out, out);
}

/* One node for the whole of `x AND y AND z`. */
static lacis_status parse_and(lacis_parser *parser, lacis_node **out)
{
    lacis_nodes kids = {0};
    int64_t offset = 0;
    for (;;) {
        LACIS_TRY(parse_not(parser, out));
        if (!lacis_lexer_is(parser->lexer, "AND")) break;
        if (kids.count == 0) offset = parser->lexer->token.offset;
        lacis_lexer_next(parser->lexer);
        LACIS_TRY(lacis_nodes_add(parser->run, &kids, *out));
    }
    if (kids.count == 0) return LACIS_OK;
    LACIS_TRY(lacis_nodes_add(parser->run, &kids, *out));
    return lacis_node_new(parser->run, LACIS_NODE_AND, offset, kids.count, kids.node, out);
}

static lacis_status parse_or(lacis_parser *parser, lacis_node **out)
{
    lacis_nodes kids = {0};
    int64_t offset = 0;
    for (;;) {
        LACIS_TRY(parse_and(parser, out));
        if (!lacis_lexer_is(parser->lexer, "OR")) break;
        if (kids.count == 0) offset = parser->lexer->token.offset;
        lacis_lexer_next(parser->lexer);
        LACIS_TRY(lacis_nodes_add(parser->run, &kids, *out));
    }
    if (kids.count == 0) return LACIS_OK;
    LACIS_TRY(lacis_nodes_add(parser->run, &kids, *out));
    return lacis_node_new(parser->run, LACIS_NODE_OR, offset, kids.count, kids.node, out);
}

static lacis_status parse_unary(lacis_parser *parser, lacis_node **out)
{
    lacis_lexer *lexer = parser->lexer;
    int64_t offset = lexer->token.offset;
    bool minus = lacis_lexer_is(lexer, "-"), plus = lacis_lexer_is(lexer, "+");
    if (!minus && !plus && !lacis_lexer_is(lexer, "~")) return lacis_parse_operand(parser, out);
    lacis_lexer_next(lexer);
    if (minus && (lexer->token.kind == LACIS_TOKEN_INTEGER || lexer->token.kind == LACIS_TOKEN_REAL))
        return lacis_parse_number(parser->run, lexer, true, offset, out);
    LACIS_TRY(enter(parser));
    LACIS_TRY(parse_unary(parser, out));
    parser->nesting--;
    if (plus) return LACIS_OK;
    return lacis_node_new(parser->run, minus ? LACIS_NODE_NEG : LACIS_NODE_BITNOT, offset, 1, out, out);
}

lacis_status lacis_parse_whole(lacis_parser *parser, lacis_node **out)
{
    LACIS_TRY(enter(parser));
    LACIS_TRY(parse_or(parser, out));
    parser->nesting--;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------- expressions */

static int count_slots(const char *slots)
{
    int count = slots[0] != '\0';
    for (; *slots != '\0'; slots++) {
        count += *slots == ',';
    }
    return count;
}

lacis_status lacis_expr_new(lacis_run *run, const char *slots, lacis_expr **out)
{
    int count = count_slots(slots);
    lacis_expr *expr;
    const char **name;
    char *text;
    LACIS_TRY(lacis_run_scratch(run, sizeof *expr, &expr));
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)(count + 1) * sizeof *name, &name));
    LACIS_TRY(lacis_run_scratch(run, strlen(slots) + 1, &text));
    *expr = (lacis_expr){.slots = count, .slot_name = name};
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)(count + 1) * sizeof *expr->slot_dtype, &expr->slot_dtype));
    memcpy(text, slots, strlen(slots) + 1);
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(text, ",");
        text[length] = '\0';
        name[i] = text;
        expr->slot_dtype[i] = LACIS_PATTERN;
        text += length + 1;
    }
    *out = expr;
    return LACIS_OK;
}

lacis_status lacis_expr_reset(lacis_run *run, lacis_expr *expr)
{
    expr->root = expr->raw;
    return lacis_node_print(run, expr, expr->raw, &expr->text);
}

/* nil, if it stands here and no slot has that name. */
static lacis_status parse_nil(lacis_parser *parser, lacis_node **out)
{
    lacis_lexer *lexer = parser->lexer;
    int64_t offset = lexer->token.offset;
    *out = NULL;
    for (int i = 0; i < parser->expr->slots; i++) {
        if (lacis_word_is("nil", 3, parser->expr->slot_name[i])) return LACIS_OK;
    }
    if (!lacis_lexer_accept(lexer, "nil")) return LACIS_OK;
    bool ends = lacis_lexer_is(lexer, ")") || lacis_lexer_is(lexer, ",") || lacis_lexer_is(lexer, ";");
    if (lexer->token.kind == LACIS_TOKEN_SYMBOL && !ends)
        return lacis_run_fail_at(parser->run, LACIS_SYNTAX, offset, NULL,
                                 "nil stands alone: it has no value to calculate with");
    return lacis_node_new(parser->run, LACIS_NODE_NIL, offset, 0, NULL, out);
}

lacis_status lacis_expr_parse_free(lacis_run *run, lacis_lexer *lexer, const lacis_bindings *bindings,
                                   lacis_expr **out)
{
    lacis_expr *expr;
    LACIS_TRY(lacis_expr_new(run, "", &expr));
    expr->free = true;
    lacis_parser parser = {run, lexer, bindings, expr, 0};
    LACIS_TRY(lacis_parse_whole(&parser, &expr->raw));
    LACIS_TRY(lacis_slots_name(run, expr));
    LACIS_TRY(lacis_expr_reset(run, expr));
    *out = expr;
    return LACIS_OK;
}

lacis_status lacis_expr_parse(lacis_run *run, lacis_lexer *lexer, const char *slots, const lacis_bindings *bindings,
                              lacis_expr **out)
{
    lacis_expr *expr;
    LACIS_TRY(lacis_expr_new(run, slots == NULL ? "" : slots, &expr));
    lacis_parser parser = {run, lexer, bindings, expr, 0};
    LACIS_TRY(parse_nil(&parser, &expr->raw));
    if (expr->raw == NULL) LACIS_TRY(lacis_parse_whole(&parser, &expr->raw));
    LACIS_TRY(lacis_expr_reset(run, expr));
    *out = expr;
    return LACIS_OK;
}

lacis_dtype lacis_expr_dtype(const lacis_expr *expr)
{
    return expr->root == expr->raw ? LACIS_PATTERN : expr->root->dtype;
}

const char *lacis_expr_text(const lacis_expr *expr)
{
    return expr->text;
}

static bool uses(const lacis_node *node, int slot)
{
    if (node->op == LACIS_NODE_SLOT) return node->slot == slot;
    for (int i = 0; i < node->count; i++) {
        if (uses(node->kid[i], slot)) return true;
    }
    return false;
}

bool lacis_expr_uses(const lacis_expr *expr, int slot)
{
    return uses(expr->root, slot);
}
