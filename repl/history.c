/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements history.h. Called by input_readline.c.
 */
#include "history.h"

#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ${XDG_STATE_HOME:-~/.local/state}/lacis/history, its folders made where they are missing; NULL: there is no home.
 */
static char *history_path(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    shell_text path = {0};
    if (state && state[0] == '/') {
        shell_text_puts(&path, state);
    } else if (home && home[0] == '/') {
        shell_text_puts(&path, home);
        shell_text_puts(&path, "/.local/state");
    } else {
        return NULL;
    }
    shell_text_puts(&path, "/lacis");
    for (char *c = path.data + 1; *c; c++) {
        if (*c != '/') continue;
        *c = 0;
        mkdir(path.data, 0700);
        *c = '/';
    }
    mkdir(path.data, 0700);
    shell_text_puts(&path, "/history");
    return path.data;
}

static void unescape(char *line)
{
    char *out = line;
    for (const char *in = line; *in; in++) {
        if (in[0] == '\\' && in[1]) {
            in++;
            *out++ = *in == 'n' ? '\n' : *in;
        } else {
            *out++ = *in;
        }
    }
    *out = 0;
}

static void escape(shell_text *out, const char *entry)
{
    for (const char *c = entry; *c; c++) {
        if (*c == '\n')
            shell_text_puts(out, "\\n");
        else if (*c == '\\')
            shell_text_puts(out, "\\\\");
        else
            shell_text_add(out, c, 1);
    }
    shell_text_puts(out, "\n");
}

/* The whole file, zero-terminated, and how many lines it has. */
static char *read_file(const char *path, size_t *lines)
{
    shell_text text = {0};
    char chunk[4096];
    ssize_t count;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *lines = 0;
    if (fd < 0) return NULL;
    while ((count = read(fd, chunk, sizeof chunk)) > 0)
        shell_text_add(&text, chunk, (size_t)count);
    close(fd);
    for (size_t i = 0; i < text.used; i++)
        *lines += text.data[i] == '\n';
    return text.data;
}

/* Replaces the file by its last entries, at once, so that a crash leaves the old or the new. */
static void shorten(const char *path, const char *text)
{
    shell_text other = {0};
    shell_text_puts(&other, path);
    shell_text_puts(&other, ".new");
    int fd = open(other.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t length = strlen(text);
    if (fd >= 0) {
        ssize_t written = write(fd, text, length);
        bool good = close(fd) == 0 && written == (ssize_t)length;
        if (!good || rename(other.data, path) != 0) unlink(other.data);
    }
    shell_text_free(&other);
}

void shell_history_open(shell_history *history, void (*add)(const char *entry))
{
    size_t lines;
    *history = (shell_history){.path = history_path()};
    char *text = history->path ? read_file(history->path, &lines) : NULL;
    if (!text) return;
    char *at = text;
    for (; lines > SHELL_HISTORY_ENTRIES; lines--)
        at = strchr(at, '\n') + 1;
    if (at > text) shorten(history->path, at);
    for (char *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        *end = 0;
        unescape(at);
        add(at);
        if (!end[1]) history->last = shell_copy(at, strlen(at));
    }
    free(text);
}

int shell_history_add(shell_history *history, const char *entry)
{
    shell_text line = {0};
    if (!entry[0] || (history->last && strcmp(history->last, entry) == 0)) return 0;
    free(history->last);
    history->last = shell_copy(entry, strlen(entry));
    if (!history->path) return 1;
    int fd = open(history->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return 1;
    escape(&line, entry);
    fchmod(fd, 0600);
    if (write(fd, line.data, line.used) < 0) errno = 0; /* a full disk costs the entry, not the session */
    close(fd);
    shell_text_free(&line);
    return 1;
}

void shell_history_close(shell_history *history)
{
    free(history->path);
    free(history->last);
    *history = (shell_history){0};
}
