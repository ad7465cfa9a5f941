/* SPDX-License-Identifier: Apache-2.0
 *
 * From lines to statements: collects lines until a statement is whole and runs it; a line that begins with a dot
 * outside of a statement is a dot command, and so is help or quit alone. Scripts and the prompt go the same way.
 */
#include "input.h"
#include "interrupt.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

static bool contains(const char *line, size_t length, char a, char b)
{
    for (size_t i = 0; i < length; i++)
        if (line[i] == a && (!b || (i + 1 < length && line[i + 1] == b))) return true;
    return false;
}

static void remember(shell_session *session, const char *text, size_t length)
{
    if (!session->input) return;
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    char *entry = shell_copy(text, length);
    shell_input_remember(session->input, entry);
    shell_text_free(&(shell_text){.data = entry});
}

static bool run_dot(shell_session *session, const shell_source *source, const char *line, size_t length)
{
    session->place = (shell_place){.name = source->name, .line = source->line};
    if (source->input) remember(session, line, length);
    bool good = shell_dot(session, line, length);
    bool written = shell_session_written(session, false);
    if (!good || !written) session->failed = true;
    return !session->leaving && !session->stopped && ((good && written) || !session->bail);
}

static bool run_pending(shell_session *session, const shell_source *source, shell_text *pending, int64_t first)
{
    session->place = (shell_place){.name = source->name, .line = first};
    if (source->input) remember(session, pending->data, pending->used);
    bool go_on = shell_session_text(session, pending->data);
    shell_text_clear(pending);
    return go_on;
}

/* What other shells are asked for help and left with, alone on a line: begins no statement, and means a dot command.
 * NULL: it is none of these. */
static const char *habit(const char *line, size_t length)
{
    static const char *const words[][2] = {{"help", ".help"}, {"?", ".help"},    {"\\?", ".help"}, {"\\h", ".help"},
                                           {"quit", ".quit"}, {"exit", ".quit"}, {"\\q", ".quit"}};
    while (length > 0 && (isspace((unsigned char)line[length - 1]) || line[length - 1] == ';'))
        length--;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i][0]) == length && strncasecmp(words[i][0], line, length) == 0) return words[i][1];
    return NULL;
}

static bool has_empty_line(const char *text)
{
    while ((text = strchr(text, '\n')) != NULL) {
        text++;
        if (text[strspn(text, " \t\r\v\f")] == '\n') return true;
    }
    return false;
}

/* A person who types ".quit" or nothing while a statement is open should learn why nothing happens; of empty lines
 * the first is enough, for a statement that is pasted may have many. */
static void hint_command(shell_session *session, const shell_source *source, const char *pending, const char *line,
                         size_t length)
{
    bool command = length > 1 && line[0] == '.' && isalpha((unsigned char)line[1]);
    if (source->input && (command || (length == 0 && !has_empty_line(pending))))
        shell_note(session, "note: still inside a statement: end it with ; or drop it with Ctrl-C");
}

/* Takes one line; false: the source should not go on. */
static bool take_line(shell_session *session, shell_source *source, shell_text *pending, int64_t *first,
                      const char *line, size_t length)
{
    size_t blanks = 0;
    if (memchr(line, 0, length)) {
        session->place = (shell_place){.name = source->name, .line = source->line};
        shell_error(session, "is this a script? Databases are opened with .open or as an argument",
                    "a zero byte stands in the text");
        session->failed = true;
        return false;
    }
    while (blanks < length && isspace((unsigned char)line[blanks]))
        blanks++;
    if (pending->used == 0) {
        *first = source->line;
        const char *meant = habit(line + blanks, length - blanks);
        if (meant) return run_dot(session, source, meant, strlen(meant));
        if (blanks < length && line[blanks] == '.') return run_dot(session, source, line + blanks, length - blanks);
    } else {
        hint_command(session, source, pending->data, line + blanks, length - blanks);
    }
    shell_text_add(pending, line, length);
    shell_text_add(pending, "\n", 1);
    if (!*shell_skip_blank(pending->data)) {
        shell_text_clear(pending);
        return true;
    }
    bool may_end = contains(line, length, ';', 0) || contains(line, length, '*', '/');
    return !may_end || lacis_incomplete(pending->data) || run_pending(session, source, pending, *first);
}

static bool at_end(shell_session *session, shell_source *source, shell_line state, shell_text *pending, int64_t first)
{
    session->place = (shell_place){.name = source->name, .line = source->line};
    if (state == SHELL_BROKEN) {
        shell_error(session, NULL, "cannot read: %s", strerror(source->error));
        session->failed = true;
        return false;
    }
    if (state == SHELL_INTERRUPTED) {
        shell_session_interrupted(session);
        return false;
    }
    if (pending->used == 0) return true;
    if (!source->input) return run_pending(session, source, pending, first);
    shell_note(session, "note: the unfinished statement was not run");
    return true;
}

static bool run_source(shell_session *session, shell_source *source, shell_text *pending)
{
    const char *line = NULL;
    size_t length = 0;
    int64_t first = 1;
    bool go_on = true;
    shell_line state = SHELL_LINE;
    while (go_on) {
        if (source->input) session->stopped = false;
        state = shell_source_line(source, pending->used > 0, &line, &length);
        if (state == SHELL_INTERRUPTED && source->input) {
            shell_text_clear(pending);
            continue;
        }
        if (state != SHELL_LINE) break;
        go_on = take_line(session, source, pending, &first, line, length);
        if (source->input) go_on = !session->leaving;
    }
    if (go_on) go_on = at_end(session, source, state, pending, first);
    return go_on;
}

static bool run_and_close(shell_session *session, shell_source *source)
{
    shell_text pending = {0};
    shell_place kept = session->place;
    bool go_on = run_source(session, source, &pending);
    session->place = kept;
    shell_text_free(&pending);
    shell_source_close(source);
    return go_on;
}

bool shell_run_text(shell_session *session, const char *text)
{
    shell_source source = {.text = text, .fd = -1};
    return run_and_close(session, &source);
}

bool shell_run_file(shell_session *session, const char *path)
{
    shell_source source = {.name = path ? path : "stdin"};
    if (path) source.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (source.fd < 0) {
        shell_error(session, NULL, "cannot open %s: %s", path, strerror(errno));
        session->failed = true;
        session->cannot_open = session->depth == 0;
        return false;
    }
    return run_and_close(session, &source);
}

void shell_run_interactive(shell_session *session)
{
    session->input = shell_input_open(session);
    shell_source source = {.fd = -1, .input = session->input};
    run_source(session, &source, &session->pending);
    shell_source_close(&source);
    shell_input_close(session->input);
    session->input = NULL;
}
