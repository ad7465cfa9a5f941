/* SPDX-License-Identifier: Apache-2.0
 *
 * Where lines come from: a text, a file or pipe, or the line editor. run.c takes one line after the other.
 */
#ifndef SHELL_SOURCE_H
#define SHELL_SOURCE_H

#include "session.h"

typedef enum shell_line {
    SHELL_LINE,
    SHELL_END,
    SHELL_INTERRUPTED, /* Ctrl-C while waiting */
    SHELL_BROKEN       /* cannot be read: `error` says why */
} shell_line;

typedef struct shell_source {
    const char *name; /* for messages; NULL: none */
    const char *text; /* what is left of a text; NULL: a file or the editor */
    int fd;           /* of a file; -1: none */
    struct shell_input *input;
    int64_t line; /* number of the last line, from 1 */
    int error;    /* errno */
    shell_text buffer;
    size_t start; /* of what is left in buffer */
    bool ended;
} shell_source;

/* The next line, without its end; valid until the next call. `continued`: a statement is open (for the prompt). */
shell_line shell_source_line(shell_source *source, bool continued, const char **line, size_t *length);
void shell_source_close(shell_source *source);

#endif
