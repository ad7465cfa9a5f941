/* SPDX-License-Identifier: Apache-2.0
 *
 * See scan.h.
 */
#include "lang/scan.h"

#include "core/word.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The end of what `close` ends; *open where the text ends first. A doubled close stands for itself, except ]. */
static const char *quoted(const char *at, const char *end, char close, bool *open)
{
    for (; at < end; at++) {
        if (*at != close) continue;
        if (close == ']' || at + 1 == end || at[1] != close) return at + 1;
        at++;
    }
    *open = true;
    return end;
}

static const char *line_comment(const char *at, const char *end, bool *open)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));
    *open = line == NULL;
    return line == NULL ? end : line + 1;
}

static const char *block_comment(const char *at, const char *end, bool *open)
{
    for (; at + 1 < end; at++) {
        if (at[0] == '*' && at[1] == '/') return at + 2;
    }
    *open = true;
    return end;
}

static const char *words(const char *at, const char *end)
{
    while (at < end && lacis_word_byte(*at)) {
        at++;
    }
    return at;
}

/* Sets all but the length; returns where the piece ends. */
static const char *piece_end(const char *at, const char *end, lacis_piece *out)
{
    char c = *at, next = at + 1 < end ? at[1] : '\0';
    if (is_blank(c)) {
        while (at < end && is_blank(*at)) {
            at++;
        }
        return at;
    }
    if ((c == '-' && next == '-') || (c == '/' && next == '*')) {
        out->quote = c;
        return c == '-' ? line_comment(at + 2, end, &out->open) : block_comment(at + 2, end, &out->open);
    }
    if (c == '\'' || c == '"' || c == '`' || c == '[') {
        out->kind = LACIS_PIECE_QUOTED;
        out->quote = c;
        return quoted(at + 1, end, c == '[' ? ']' : c, &out->open);
    }
    bool word = lacis_word_byte(c) || (c == ':' && next != '\0' && lacis_word_byte(next));
    out->kind = word ? LACIS_PIECE_WORD : LACIS_PIECE_SYMBOL;
    return word ? words(at + 1, end) : at + 1;
}

bool lacis_scan_next(const char **at, const char *end, lacis_piece *out)
{
    if (*at == end) return false;
    *out = (lacis_piece){.kind = LACIS_PIECE_BLANK, .text = *at};
    *at = piece_end(*at, end, out);
    out->length = (size_t)(*at - out->text);
    return true;
}
