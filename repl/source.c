/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements source.h.
 */
#include "source.h"

#include "input.h"
#include "interrupt.h"

#include <errno.h>
#include <unistd.h>

static shell_line text_line(shell_source *source, const char **line, size_t *length)
{
    if (!*source->text) return SHELL_END;
    *line = source->text;
    *length = strcspn(source->text, "\n");
    source->text += *length + (source->text[*length] == '\n');
    return SHELL_LINE;
}

/* Reads more behind what is left in the buffer. */
static shell_line fill(shell_source *source)
{
    enum { CHUNK = 1 << 16 };
    static char chunk[CHUNK];
    shell_text *buffer = &source->buffer;
    if (source->start > 0) {
        memmove(buffer->data, buffer->data + source->start, buffer->used - source->start);
        buffer->used -= source->start;
        source->start = 0;
    }
    while (shell_interrupt_wait(source->fd) == SHELL_SIGNALLED)
        continue;
    if (shell_interrupted()) return SHELL_INTERRUPTED;
    ssize_t count = read(source->fd, chunk, CHUNK);
    if (count < 0 && errno == EINTR) return SHELL_LINE;
    if (count < 0) {
        source->error = errno;
        return SHELL_BROKEN;
    }
    source->ended = count == 0;
    shell_text_add(buffer, chunk, (size_t)count);
    return SHELL_LINE;
}

/* The next line of the buffer, which `fetch` fills; both files and the editor (pasted lines) go through it. */
static bool buffered_line(shell_source *source, size_t *scanned, const char **line, size_t *length)
{
    const shell_text *buffer = &source->buffer;
    size_t left = buffer->used - source->start;
    if (left == 0) return false;
    *line = buffer->data + source->start;
    const char *end = memchr(*line + *scanned, '\n', left - *scanned);
    *scanned = left;
    if (!end && !source->ended) return false;
    *length = end ? (size_t)(end - *line) : left;
    source->start += *length + (end != NULL);
    return true;
}

static shell_line file_line(shell_source *source, const char **line, size_t *length)
{
    size_t scanned = 0;
    while (!buffered_line(source, &scanned, line, length)) {
        if (source->ended) return SHELL_END;
        shell_line state = fill(source);
        if (state != SHELL_LINE) return state;
    }
    if (source->line == 0 && *length >= 3 && memcmp(*line, "\xEF\xBB\xBF", 3) == 0) {
        *line += 3; /* a byte order mark */
        *length -= 3;
    }
    return SHELL_LINE;
}

static shell_line editor_line(shell_source *source, bool continued, const char **line, size_t *length)
{
    size_t scanned = 0;
    while (!buffered_line(source, &scanned, line, length)) {
        char *typed = NULL;
        shell_line state = shell_input_line(source->input, continued ? "   ...> " : "lacis> ", &typed);
        if (state != SHELL_LINE) return state;
        shell_text_clear(&source->buffer);
        source->start = 0;
        shell_text_puts(&source->buffer, typed);
        shell_text_puts(&source->buffer, "\n");
        shell_input_free(typed);
    }
    return SHELL_LINE;
}

shell_line shell_source_line(shell_source *source, bool continued, const char **line, size_t *length)
{
    shell_line state = source->text    ? text_line(source, line, length)
                       : source->input ? editor_line(source, continued, line, length)
                                       : file_line(source, line, length);
    if (state == SHELL_LINE) {
        source->line++;
        if (*length > 0 && (*line)[*length - 1] == '\r') --*length;
    }
    return state;
}

void shell_source_close(shell_source *source)
{
    shell_text_free(&source->buffer);
    if (source->fd > 0) close(source->fd);
}
