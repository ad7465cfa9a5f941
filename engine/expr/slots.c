/* SPDX-License-Identifier: Apache-2.0
 *
 * Free names of expressions: each pair of a name and offsets that comes becomes a slot. Called by operand.c, where a
 * name stands, and once by parse.c at the end; operators see what was found through lacis_expr_slots.
 */
#include "core/word.h"
#include "expr/tree.h"

#include <string.h>

/* What a word of the expressions' own would be taken for, unless it is quoted. */
bool lacis_slot_word(const char *name, size_t length)
{
    static const char *const own[] = {"and",  "or",    "not",  "in",   "between", "is", "null",
                                      "case", "when",  "then", "else", "end",     "as", "cast",
                                      "true", "false", "inf",  "nan",  "nil"};
    for (int i = 0; i < LACIS_COUNT(own); i++)
        if (lacis_word_is(name, length, own[i])) return false;
    return lacis_function_find(name, length) == NULL;
}

const char *lacis_expr_name(lacis_run *run, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t length = strlen(name);
    bool word = length > 0 && strspn(name, letters) == length && (name[0] < '0' || name[0] > '9');
    if (word && lacis_slot_word(name, length)) return name;
    const char *quoted = lacis_run_text(run, "\"%s\"", name);
    return quoted != NULL ? quoted : name;
}

/* ---------------------------------------------------------------------------------------- offsets */

/* One of dx, dy, dz: an integer with or without a sign. */
static lacis_status parse_offset(lacis_parser *parser, int64_t *out)
{
    lacis_lexer *lexer = parser->lexer;
    int64_t place = lexer->token.offset;
    bool minus = lacis_lexer_accept(lexer, "-");
    if (!minus) lacis_lexer_accept(lexer, "+");
    bool integer = lexer->token.kind == LACIS_TOKEN_INTEGER;
    bool large = (lexer->token.kind == LACIS_TOKEN_REAL && lexer->token.real > LACIS_EXPR_OFFSET) ||
                 (integer && lexer->token.integer > LACIS_EXPR_OFFSET);
    if (large)
        return lacis_run_fail_at(parser->run, LACIS_RANGE, place, NULL, "an offset lies between -%d and %d",
                                 (int)LACIS_EXPR_OFFSET, (int)LACIS_EXPR_OFFSET);
    if (!integer) return lacis_parse_expected(parser, "an offset, such as -1");
    *out = minus ? -lexer->token.integer : lexer->token.integer;
    lacis_lexer_next(lexer);
    return LACIS_OK;
}

/* [dx], [dx,dy] or [dx,dy,dz], if any stand here. */
static lacis_status parse_offsets(lacis_parser *parser, lacis_expr_slot *slot)
{
    lacis_lexer *lexer = parser->lexer;
    if (!lacis_lexer_accept(lexer, "[")) return LACIS_OK;
    do {
        if (slot->offsets == LACIS_COUNT(slot->offset))
            return lacis_run_fail_at(parser->run, LACIS_SYNTAX, lexer->token.offset, NULL,
                                     "a grid has at most three dimensions, so no more than three offsets");
        LACIS_TRY(parse_offset(parser, &slot->offset[slot->offsets]));
        slot->offsets++;
    } while (lacis_lexer_accept(lexer, ","));
    return lacis_lexer_accept(lexer, "]") ? LACIS_OK : lacis_parse_expected(parser, "\",\" or \"]\"");
}

/* ------------------------------------------------------------------------------------------ slots */

static bool same(const lacis_expr_slot *a, const lacis_expr_slot *b)
{
    return lacis_word_is(a->name, strlen(a->name), b->name) && memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

static lacis_status grow(lacis_run *run, lacis_expr *expr)
{
    int room = expr->room == 0 ? 16 : 2 * expr->room;
    lacis_expr_slot *found;
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)room * sizeof *found, &found));
    if (expr->slots > 0) memcpy(found, expr->found, (size_t)expr->slots * sizeof *found);
    expr->found = found;
    expr->room = room;
    return LACIS_OK;
}

lacis_status lacis_slot_find(lacis_parser *parser, const char *name, int64_t place, int *out)
{
    lacis_expr *expr = parser->expr;
    lacis_expr_slot slot = {.name = name, .place = place};
    LACIS_TRY(parse_offsets(parser, &slot));
    for (int i = 0; i < expr->slots; i++) {
        lacis_expr_slot *known = &expr->found[i];
        if (!same(known, &slot)) continue;
        if (slot.offsets > known->offsets) {
            known->offsets = slot.offsets;
            known->place = place;
        }
        *out = i;
        return LACIS_OK;
    }
    if (expr->slots == LACIS_EXPR_SLOTS)
        return lacis_run_fail_at(parser->run, LACIS_LIMIT, place, NULL,
                                 "the expression has more than %d different names and offsets",
                                 (int)LACIS_EXPR_SLOTS);
    if (expr->slots == expr->room) LACIS_TRY(grow(parser->run, expr));
    expr->found[expr->slots] = slot;
    *out = expr->slots++;
    return LACIS_OK;
}

int lacis_expr_slots(const lacis_expr *expr, const lacis_expr_slot **out)
{
    *out = expr->found;
    return expr->free ? expr->slots : 0;
}

/* ------------------------------------------------------------------------------------------ names */

/* In double quotes where it would not be read as a name otherwise; `text` holds twice the name and 3 bytes more. */
static size_t put_name(const char *name, char *text)
{
    size_t length = strlen(name), to = 0;
    bool plain = length > 0 && lacis_slot_word(name, length) && (name[0] < '0' || name[0] > '9');
    for (size_t i = 0; i < length; i++)
        plain = plain && lacis_word_byte(name[i]);
    if (plain) {
        memcpy(text, name, length + 1);
        return length;
    }
    text[to++] = '"';
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '"') text[to++] = '"';
        text[to++] = name[i];
    }
    text[to++] = '"';
    return to;
}

static lacis_status name_slot(lacis_run *run, const lacis_expr_slot *slot, const char **out)
{
    char *text;
    int offsets = slot->offsets;
    bool here = slot->offset[0] == 0 && slot->offset[1] == 0 && slot->offset[2] == 0;
    enum { OFFSETS_TEXT = 24 }; /* of "[-100,-100,-100]" */
    LACIS_TRY(lacis_run_scratch(run, 2 * strlen(slot->name) + 3 + OFFSETS_TEXT, &text));
    size_t length = put_name(slot->name, text);
    for (int i = 0; i < offsets && !here; i++)
        length += (size_t)sprintf(text + length, "%c%d", i == 0 ? '[' : ',', (int)slot->offset[i]);
    if (offsets > 0 && !here) text[length++] = ']';
    text[length] = '\0';
    *out = text;
    return LACIS_OK;
}

lacis_status lacis_slots_name(lacis_run *run, lacis_expr *expr)
{
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)(expr->slots + 1) * sizeof *expr->slot_name, &expr->slot_name));
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)(expr->slots + 1) * sizeof *expr->slot_dtype, &expr->slot_dtype));
    for (int i = 0; i < expr->slots; i++) {
        expr->slot_dtype[i] = LACIS_PATTERN;
        LACIS_TRY(name_slot(run, &expr->found[i], &expr->slot_name[i]));
    }
    return LACIS_OK;
}
