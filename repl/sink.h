/* SPDX-License-Identifier: Apache-2.0
 *
 * Where results go: a file descriptor behind one large buffer. The renderers write cell by cell, so that the fast
 * path is a memcpy. Errors are kept (an errno value in `error`) and asked for after each statement.
 */
#ifndef SHELL_SINK_H
#define SHELL_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { SHELL_SINK_SIZE = 1 << 17 };

typedef struct shell_sink {
    int fd;
    int error;
    bool terminal;
    bool file;                       /* an ordinary one: nobody sees what is written to it */
    struct shell_progress *progress; /* that gives way to what is written, but for a file; NULL: none */
    char *name;                      /* of the file; NULL: standard output */
    size_t used;
    char data[SHELL_SINK_SIZE];
} shell_sink;

bool shell_sink_is_file(int fd);
void shell_sink_flush(shell_sink *sink);
void shell_sink_long(shell_sink *sink, const char *bytes, size_t count); /* what does not fit the buffer */

static inline void shell_sink_put(shell_sink *sink, const char *bytes, size_t count)
{
    if (count > SHELL_SINK_SIZE - sink->used) {
        shell_sink_long(sink, bytes, count);
        return;
    }
    memcpy(sink->data + sink->used, bytes, count);
    sink->used += count;
}

static inline void shell_sink_char(shell_sink *sink, char c)
{
    if (sink->used == SHELL_SINK_SIZE) shell_sink_flush(sink);
    sink->data[sink->used++] = c;
}

static inline void shell_sink_puts(shell_sink *sink, const char *string)
{
    shell_sink_put(sink, string, strlen(string));
}

void shell_sink_repeat(shell_sink *sink, const char *string, int times);

#endif
