/* SPDX-License-Identifier: Apache-2.0
 *
 * What the shell says on stderr: errors with their line and a caret, notes, warnings and the engine's summaries; on a
 * terminal broken between words.
 */
#include "session.h"
#include "terminal.h"
#include "wrap.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

enum { USUAL_WIDTH = 100, INDENT = 2, MESSAGE_HANG = 2 };

/* Before anything goes to stderr: results written so far come first, and the bar gives way. */
static void make_room(shell_session *session)
{
    shell_sink_flush(session->standard);
    shell_progress_erase(&session->progress); /* behind the flush, which a pager may hold up */
}

static const char *colour(const char *sequence)
{
    return shell_terminal_colours(STDERR_FILENO) ? sequence : "";
}

/* A message and the end of its line, behind `column` columns. Messages quote names and data, whose escapes must not
 * steer the terminal. */
static void put_message(FILE *file, const char *message, int column)
{
    shell_text clean = {0}, lines = {0};
    shell_wrap wrap = {.width = shell_terminal_width(fileno(file)), .column = column, .hang = MESSAGE_HANG};
    shell_clean(&clean, message, strlen(message));
    shell_wrap_add(&lines, clean.data ? clean.data : "", clean.used, &wrap);
    fwrite(lines.data, 1, lines.used, file);
    fputc('\n', file);
    shell_text_free(&clean);
    shell_text_free(&lines);
}

/* "warning: " before a message; returns its columns. */
static int put_kind(FILE *file, const char *kind, const char *sequence)
{
    bool coloured = shell_terminal_colours(fileno(file)) && sequence[0];
    fprintf(file, "%s%s:%s ", coloured ? sequence : "", kind, coloured ? SHELL_PLAIN : "");
    return (int)strlen(kind) + 2;
}

static void put_error(const shell_session *session, int64_t line, const char *message)
{
    int column = 0;
    if (session->place.name) {
        column = fprintf(stderr, "%s:%lld: ", session->place.name, (long long)line);
        if (column < 0) column = 0;
    }
    column += put_kind(stderr, "error", SHELL_RED);
    put_message(stderr, message, column);
}

static void put_hint(const char *hint)
{
    if (hint && hint[0]) put_message(stderr, hint, put_kind(stderr, "hint", ""));
}

void shell_error(shell_session *session, const char *hint, const char *format, ...)
{
    char *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&message, format, arguments);
    va_end(arguments);
    make_room(session);
    put_error(session, session->place.line, length >= 0 ? message : format);
    put_hint(hint);
    if (length >= 0) free(message);
}

void shell_note(shell_session *session, const char *format, ...)
{
    char *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&message, format, arguments);
    va_end(arguments);
    make_room(session);
    put_message(stderr, length >= 0 ? message : format, 0);
    if (length >= 0) free(message);
}

void shell_log(void *arg, lacis_level level, const char *message)
{
    shell_session *session = arg;
    FILE *file = session->log ? session->log : stderr;
    static const char *const kind[] = {
        [LACIS_SUMMARY] = "summary", [LACIS_NOTE] = "note", [LACIS_WARNING] = "warning"};
    int column = 0;
    if (session->planning) return;
    shell_html_message(session->html, kind[level], message);
    if (session->silent) return;
    if (!session->log) make_room(session);
    if (level != LACIS_SUMMARY) column = put_kind(file, kind[level], level == LACIS_WARNING ? SHELL_YELLOW : "");
    put_message(file, message, column);
    if (session->log) fflush(file);
}

/* One line of a statement as it can be shown: tabs as blanks, control characters visible. `caret` is a byte of the
 * line and becomes a column. */
static void expand_line(const char *line, size_t length, size_t byte, shell_text *out, int *caret)
{
    int column = 0;
    *caret = 0;
    shell_text_puts(out, "");
    for (size_t i = 0; i < length;) {
        uint32_t rune;
        bool valid;
        size_t count = shell_rune(line + i, length - i, &rune, &valid), from = out->used;
        if (i <= byte) *caret = column;
        if (rune == '\t')
            shell_text_puts(out, "    ");
        else
            shell_clean(out, line + i, count);
        column += shell_width(out->data + from, out->used - from);
        i += count;
    }
    if (byte >= length) *caret = column;
}

/* The part of a shown line around the caret that fits `room` columns, with ... where something is left out. */
static void put_window(const shell_text *line, int caret, int room)
{
    int used, start = 0, width = shell_width(line->data, line->used);
    if (width > room && caret > room * 2 / 3) start = caret - room / 2;
    if (start > 0 && width - start < room - 1) start = width - room + 1;
    size_t skip = start > 0 ? shell_fit(line->data, line->used, start, &start) : 0;
    bool before = skip > 0, after = width - start > room - before;
    size_t shown = shell_fit(line->data + skip, line->used - skip, room - before - after, &used);
    fprintf(stderr, "%*s%s%.*s%s\n", INDENT, "", before ? "…" : "", (int)shown, line->data + skip, after ? "…" : "");
    fprintf(stderr, "%*s%s^%s\n", INDENT + caret - start + before, "", colour(SHELL_RED), colour(SHELL_PLAIN));
}

static void put_line(const char *text, const char *at)
{
    const char *begin = at, *end = at;
    shell_text shown = {0};
    int caret, room = shell_terminal_width(STDERR_FILENO);
    while (begin > text && begin[-1] != '\n')
        begin--;
    while (*end && *end != '\n' && *end != '\r')
        end++;
    expand_line(begin, (size_t)(end - begin), (size_t)(at - begin), &shown, &caret);
    put_window(&shown, caret, room > INDENT + 20 ? room - INDENT - 1 : USUAL_WIDTH);
    shell_text_free(&shown);
}

static int64_t line_of(const shell_place *place, const char *at)
{
    int64_t line = place->line;
    for (const char *c = place->text; c < at; c++)
        line += *c == '\n';
    return line;
}

/* A dot command that was swallowed by the statement before it, whose ';' is missing. */
static bool swallows_command(const char *statement)
{
    const char *line = statement;
    while ((line = strchr(line, '\n')) != NULL) {
        line++;
        if (line[0] == '.' && isalpha((unsigned char)line[1])) return true;
    }
    return false;
}

void shell_engine_error(shell_session *session, const char *statement)
{
    int64_t offset = lacis_error_offset(session->engine);
    const char *hint = lacis_error_hint(session->engine), *at = statement;
    size_t length = strlen(statement);
    bool placed = offset >= 0 && session->place.text;
    if (placed) at += (uint64_t)offset < length ? (size_t)offset : length;
    if (placed && at[strspn(at, " \t\r\n")] == 0) /* the end: behind the last character that shows */
        while (at > statement && isspace((unsigned char)at[-1]))
            at--;
    make_room(session);
    put_error(session, session->place.text ? line_of(&session->place, at) : session->place.line,
              lacis_error_message(session->engine));
    if (placed) put_line(session->place.text, at);
    if (lacis_error_status(session->engine) != LACIS_INTERRUPT && (!hint || !hint[0]) && swallows_command(statement))
        hint = "a dot command stands outside of statements: is a ';' missing before it?";
    put_hint(hint);
    shell_html_message(session->html, "error", lacis_error_message(session->engine));
    shell_html_message(session->html, "hint", hint);
}
