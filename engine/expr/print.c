/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees as text with no more parentheses than needed: lacis_expr_text, EXPLAIN, and the names under which operators
 * know their built-in forms ("a + b").
 */
#include "expr/tree.h"

#include <math.h>
#include <string.h>

struct text {
    lacis_run *run;
    const lacis_expr *expr;
    char *at;
    size_t length, room;
};

/* How tightly a node's text holds together. */
enum { LOOSE, OR, AND, NOT, EQUAL, RELATION, BITS, SUM, PRODUCT, SIGN, WHOLE };

static const struct {
    lacis_node_op op;
    const char *text;
    int tight;
} infixes[] = {
    {LACIS_NODE_OR, " OR ", OR},      {LACIS_NODE_AND, " AND ", AND},    {LACIS_NODE_EQ, " = ", EQUAL},
    {LACIS_NODE_NE, " <> ", EQUAL},   {LACIS_NODE_LT, " < ", RELATION},  {LACIS_NODE_LE, " <= ", RELATION},
    {LACIS_NODE_GT, " > ", RELATION}, {LACIS_NODE_GE, " >= ", RELATION}, {LACIS_NODE_BITAND, " & ", BITS},
    {LACIS_NODE_BITOR, " | ", BITS},  {LACIS_NODE_SHL, " << ", BITS},    {LACIS_NODE_SHR, " >> ", BITS},
    {LACIS_NODE_ADD, " + ", SUM},     {LACIS_NODE_SUB, " - ", SUM},      {LACIS_NODE_MUL, " * ", PRODUCT},
    {LACIS_NODE_DIV, " / ", PRODUCT}, {LACIS_NODE_MOD, " % ", PRODUCT},
};

static lacis_status put(struct text *text, const char *more)
{
    size_t length = strlen(more);
    if (text->length + length + 1 > text->room) {
        size_t room = 2 * (text->room + length) + 64;
        char *grown;
        LACIS_TRY(lacis_run_scratch(text->run, room, &grown));
        if (text->length > 0) memcpy(grown, text->at, text->length);
        text->at = grown;
        text->room = room;
    }
    memcpy(text->at + text->length, more, length + 1);
    text->length += length;
    return LACIS_OK;
}

static lacis_status put_node(struct text *text, const lacis_node *node, int tight);

static void format_real(double value, bool narrow, char *number)
{
    if (isnan(value)) {
        snprintf(number, LACIS_NUMBER_TEXT, "NAN");
    } else if (isinf(value)) {
        snprintf(number, LACIS_NUMBER_TEXT, value < 0 ? "-INF" : "INF");
    } else if (narrow) {
        lacis_format_float((float)value, number);
    } else {
        lacis_format_double(value, number);
    }
}

static lacis_status put_complex(struct text *text, const lacis_node *node)
{
    char number[LACIS_NUMBER_TEXT];
    LACIS_TRY(put(text, "complex("));
    format_real(node->real, false, number);
    LACIS_TRY(put(text, number));
    LACIS_TRY(put(text, ", "));
    format_real(node->imag, false, number);
    LACIS_TRY(put(text, number));
    return put(text, ")");
}

static lacis_status put_const(struct text *text, const lacis_node *node, int tight)
{
    char number[LACIS_NUMBER_TEXT];
    if (node->dtype == LACIS_C128) return put_complex(text, node);
    bool negative = node->dtype == LACIS_I64 ? node->integer < 0 : signbit(node->real) && !isnan(node->real);
    if (node->dtype == LACIS_I64) {
        snprintf(number, sizeof number, "%lld", (long long)node->integer);
    } else {
        format_real(node->real, node->dtype == LACIS_F32, number);
    }
    bool open = negative && tight > SIGN;
    if (open) LACIS_TRY(put(text, "("));
    LACIS_TRY(put(text, number));
    return open ? put(text, ")") : LACIS_OK;
}

static lacis_status put_list(struct text *text, const lacis_node *node, int first)
{
    LACIS_TRY(put(text, "("));
    for (int i = first; i < node->count; i++) {
        if (i > first) LACIS_TRY(put(text, ", "));
        LACIS_TRY(put_node(text, node->kid[i], LOOSE));
    }
    return put(text, ")");
}

static lacis_status put_case(struct text *text, const lacis_node *node)
{
    int first = node->op == LACIS_NODE_SWITCH;
    LACIS_TRY(put(text, first ? "CASE " : "CASE"));
    if (first) LACIS_TRY(put_node(text, node->kid[0], LOOSE));
    int i = first;
    for (; i + 1 < node->count; i += 2) {
        LACIS_TRY(put(text, " WHEN "));
        LACIS_TRY(put_node(text, node->kid[i], LOOSE));
        LACIS_TRY(put(text, " THEN "));
        LACIS_TRY(put_node(text, node->kid[i + 1], LOOSE));
    }
    LACIS_TRY(put(text, " ELSE "));
    LACIS_TRY(put_node(text, node->kid[i], LOOSE));
    return put(text, " END");
}

/* IN and BETWEEN, also with NOT before it. */
static lacis_status put_member(struct text *text, const lacis_node *node, bool negative)
{
    LACIS_TRY(put_node(text, node->kid[0], RELATION));
    if (negative) LACIS_TRY(put(text, " NOT"));
    if (node->op == LACIS_NODE_IN) {
        LACIS_TRY(put(text, " IN "));
        return put_list(text, node, 1);
    }
    LACIS_TRY(put(text, " BETWEEN "));
    LACIS_TRY(put_node(text, node->kid[1], RELATION));
    LACIS_TRY(put(text, " AND "));
    return put_node(text, node->kid[2], RELATION);
}

static bool member(const lacis_node *node)
{
    return node->op == LACIS_NODE_IN || node->op == LACIS_NODE_BETWEEN;
}

static int tightness(const lacis_node *node)
{
    for (int i = 0; i < LACIS_COUNT(infixes); i++) {
        if (infixes[i].op == node->op) return infixes[i].tight;
    }
    if (node->op == LACIS_NODE_NOT) return member(node->kid[0]) ? EQUAL : NOT;
    if (member(node)) return EQUAL;
    return node->op == LACIS_NODE_NEG || node->op == LACIS_NODE_BITNOT ? SIGN : WHOLE;
}

static lacis_status put_infix(struct text *text, const lacis_node *node, int tight)
{
    const char *between = "";
    for (int i = 0; i < LACIS_COUNT(infixes); i++) {
        if (infixes[i].op == node->op) between = infixes[i].text;
    }
    LACIS_TRY(put_node(text, node->kid[0], tight));
    for (int i = 1; i < node->count; i++) {
        LACIS_TRY(put(text, between));
        LACIS_TRY(put_node(text, node->kid[i], tight + 1));
    }
    return LACIS_OK;
}

static lacis_status put_prefix(struct text *text, const lacis_node *node)
{
    const lacis_node *kid = node->kid[0];
    if (node->op == LACIS_NODE_NOT && member(kid)) return put_member(text, kid, true);
    LACIS_TRY(put(text, node->op == LACIS_NODE_NOT ? "NOT " : node->op == LACIS_NODE_NEG ? "-" : "~"));
    /* "- -x" and "-(5)" would read as a comment and as another constant. */
    if (node->op == LACIS_NODE_NOT) return put_node(text, kid, NOT);
    return put_node(text, kid, kid->op == LACIS_NODE_BITNOT ? SIGN : WHOLE);
}

static lacis_status put_call(struct text *text, const lacis_node *node)
{
    if (node->op == LACIS_NODE_TO_INT || node->op == LACIS_NODE_TO_REAL) {
        LACIS_TRY(put(text, "CAST("));
        LACIS_TRY(put_node(text, node->kid[0], LOOSE));
        return put(text, node->op == LACIS_NODE_TO_INT ? " AS int)" : " AS real)");
    }
    LACIS_TRY(put(text, lacis_function_name(node->op)));
    return put_list(text, node, 0);
}

static lacis_status put_form(struct text *text, const lacis_node *node, int own)
{
    switch (node->op) {
    case LACIS_NODE_NIL:
        return put(text, "nil");
    case LACIS_NODE_SLOT:
        return put(text, text->expr->slot_name[node->slot]);
    case LACIS_NODE_CASE:
    case LACIS_NODE_SWITCH:
        return put_case(text, node);
    case LACIS_NODE_IN:
    case LACIS_NODE_BETWEEN:
        return put_member(text, node, false);
    case LACIS_NODE_NOT:
    case LACIS_NODE_NEG:
    case LACIS_NODE_BITNOT:
        return put_prefix(text, node);
    default:
        return own == WHOLE ? put_call(text, node) : put_infix(text, node, own);
    }
}

/* tight: how tightly the place where it stands holds. */
static lacis_status put_node(struct text *text, const lacis_node *node, int tight)
{
    if (node->op == LACIS_NODE_CONST) return put_const(text, node, tight);
    if (node->implied) return put_node(text, node->kid[0], tight);
    int own = tightness(node);
    if (own < tight) LACIS_TRY(put(text, "("));
    LACIS_TRY(put_form(text, node, own));
    return own < tight ? put(text, ")") : LACIS_OK;
}

lacis_status lacis_node_print(lacis_run *run, const lacis_expr *expr, const lacis_node *node, const char **out)
{
    struct text text = {.run = run, .expr = expr};
    LACIS_TRY(put_node(&text, node, LOOSE));
    *out = text.at;
    return LACIS_OK;
}
