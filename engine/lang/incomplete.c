/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a text ends inside a statement, so that a shell should ask for more. Statements end with a ; outside
 * strings, comments and parentheses; CREATE TRIGGER, whose body has statements of its own, ends with ; END ;. Caller:
 * api/.
 */
#include "lang/parser.h"
#include "lang/scan.h"

#include <string.h>

/* The statement that the text is in. */
typedef struct state {
    bool begun;
    bool first;   /* still among EXPLAIN, CREATE, TEMP */
    bool create;  /* CREATE was there */
    bool trigger; /* CREATE TRIGGER */
    int closing;  /* of a trigger: 1 behind ; and 2 behind ; END */
    int depth;    /* of parentheses */
} state;

static const state fresh = {.first = true};

static bool is(const lacis_piece *piece, const char *word)
{
    return piece->kind == LACIS_PIECE_WORD && lacis_word_is(piece->text, piece->length, word);
}

/* The words that a CREATE TRIGGER begins with. */
static void first_words(state *now, const lacis_piece *piece)
{
    if (now->create && is(piece, "TRIGGER")) now->trigger = true;
    bool create = is(piece, "CREATE");
    bool before = !now->create && (is(piece, "EXPLAIN") || is(piece, "QUERY") || is(piece, "PLAN"));
    bool behind = now->create && (is(piece, "TEMP") || is(piece, "TEMPORARY"));
    now->create = now->create || create;
    now->first = create || before || behind;
}

static void step(state *now, const lacis_piece *piece)
{
    if (piece->kind == LACIS_PIECE_SYMBOL && piece->text[0] == ';' && now->depth == 0) {
        bool ends = !now->trigger || now->closing == 2;
        if (ends) *now = fresh;
        now->closing = !ends;
        return;
    }
    now->begun = true;
    if (now->first) first_words(now, piece);
    now->closing = now->closing == 1 && is(piece, "END") ? 2 : 0;
    if (piece->kind != LACIS_PIECE_SYMBOL) return;
    if (piece->text[0] == '(') now->depth++;
    if (piece->text[0] == ')' && now->depth > 0) now->depth--;
}

bool lacis_lang_incomplete(const char *text)
{
    const char *at = text, *end = text + strlen(text);
    state now = fresh;
    lacis_piece piece;
    while (lacis_scan_next(&at, end, &piece)) {
        if (piece.open && piece.quote != '-') return true;
        if (piece.kind != LACIS_PIECE_BLANK) step(&now, &piece);
    }
    return now.begun;
}
