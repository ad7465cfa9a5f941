/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements wrap.h. A line is a row of units: words, with the blanks before them.
 */
#include "wrap.h"

#include <string.h>

enum { LEAST_WIDTH = 24, LEAST_ROOM = 12, UNDER = 6, GAP = 2 };

typedef struct line_state {
    shell_text *out;
    const shell_wrap *wrap;
    int width;  /* at least LEAST_WIDTH */
    int column; /* of what comes next */
    int hang;   /* where continued lines begin */
    bool fresh; /* nothing but blanks stands on the line */
} line_state;

static bool ends_word(char c)
{
    return c == ' ' || c == '\0';
}

/* Behind the quote or group that begins at `at`, where one does that closes on this line; else `at`. */
static size_t behind_group(const char *line, size_t at, size_t length)
{
    if (line[at] == '\'') {
        const char *close = memchr(line + at + 1, '\'', length - at - 1);
        return close == NULL ? at : (size_t)(close - line) + 1;
    }
    int depth = 0;
    if (line[at] != '[') return at;
    for (size_t i = at; i < length; i++) {
        depth += (line[i] == '[') - (line[i] == ']');
        if (depth == 0) return i + 1;
    }
    return at;
}

/* The end of the unit that begins at `at`. Apostrophes within words begin no quote. */
static size_t unit_end(const char *line, size_t at, size_t length, int room)
{
    size_t end = at;
    bool begins = true;
    for (; end < length && !ends_word(line[end]); begins = strchr("(,=", line[end - 1]) != NULL) {
        size_t behind = begins ? behind_group(line, end, length) : end;
        end = behind > end && shell_width(line + at, behind - at) <= room ? behind : end + 1;
    }
    return end;
}

static void new_line(line_state *state)
{
    shell_text_puts(state->out, "\n");
    for (int i = 0; i < state->hang; i++)
        shell_text_puts(state->out, " ");
    state->column = state->hang;
    state->fresh = true;
}

/* Where a word is broken of which `part` bytes fit: behind the last of |, comma, / and _ in there, if there is one. */
static size_t break_at(const char *word, size_t part)
{
    for (size_t i = part; i > 0; i--)
        if (strchr("|,/_", word[i - 1]) != NULL) return i;
    return part;
}

static void put_word(line_state *state, const char *word, size_t length)
{
    int width = shell_width(word, length), used;
    while (state->wrap->whole && width > state->width - state->column && state->width > state->column) {
        size_t part = break_at(word, shell_fit(word, length, state->width - state->column, &used));
        if (part == 0) break;
        shell_text_add(state->out, word, part);
        word += part;
        length -= part;
        width -= shell_width(word - part, part);
        if (length > 0) new_line(state);
    }
    shell_text_add(state->out, word, length);
    state->column += width;
    state->fresh = false;
}

/* Units of a part of the line with their blanks; blanks where a line is broken go. */
static void put_units(line_state *state, const char *line, size_t from, size_t to)
{
    for (size_t at = from; at < to;) {
        size_t word = at;
        while (word < to && line[word] == ' ')
            word++;
        size_t end = unit_end(line, word, to, state->width - state->hang);
        int blanks = (int)(word - at);
        if (!state->fresh && state->column + blanks + shell_width(line + word, end - word) > state->width) {
            new_line(state);
        } else {
            shell_text_add(state->out, line + at, (size_t)blanks);
            state->column += blanks;
        }
        if (end > word) put_word(state, line + word, end - word);
        at = end;
    }
}

/* Where the second column of a line begins: behind two blanks or more; `length`: there is none. */
static size_t second_column(const char *line, size_t from, size_t length)
{
    for (size_t i = from; i + GAP < length; i++) {
        if (line[i] != ' ' || line[i + 1] != ' ') continue;
        while (i < length && line[i] == ' ')
            i++;
        return i;
    }
    return length;
}

static void put_line(line_state *state, const char *line, size_t length)
{
    size_t indent = 0;
    while (indent < length && line[indent] == ' ')
        indent++;
    bool mark = indent + GAP < length && strchr("-*", line[indent]) != NULL && line[indent + 1] == ' ';
    size_t second = second_column(line, indent, length);
    int own = (int)indent + (mark ? GAP : 0) + state->wrap->hang;
    int most = state->width > LEAST_ROOM ? state->width - LEAST_ROOM : 0;
    int at = state->column + shell_width(line, second);
    state->hang = own < most ? own : most;
    state->fresh = state->column == 0;
    if (second == length || at <= state->width / 2) {
        if (second < length) state->hang = at;
        put_units(state, line, 0, length);
        return;
    }
    size_t left = second; /* the left part is long: what it is for stands below it */
    while (left > 0 && line[left - 1] == ' ')
        left--;
    put_units(state, line, 0, left);
    state->hang = (int)indent + UNDER < most ? (int)indent + UNDER : most;
    new_line(state);
    put_units(state, line, second, length);
}

void shell_wrap_add(shell_text *out, const char *text, size_t length, const shell_wrap *wrap)
{
    int width = wrap->width < LEAST_WIDTH && !wrap->whole ? LEAST_WIDTH : wrap->width;
    line_state state = {.out = out, .wrap = wrap, .width = width, .column = wrap->column};
    shell_text_puts(out, "");
    for (size_t at = 0; at < length;) {
        const char *line = text + at, *stop = memchr(line, '\n', length - at);
        size_t count = stop == NULL ? length - at : (size_t)(stop - line);
        if (wrap->width <= 0 || state.column + shell_width(line, count) <= width)
            shell_text_add(out, line, count);
        else
            put_line(&state, line, count);
        if (stop != NULL) shell_text_puts(out, "\n");
        state.column = 0;
        at += count + (stop != NULL);
    }
}
