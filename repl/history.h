/* SPDX-License-Identifier: Apache-2.0
 *
 * The history file: one statement a line, line feeds and backslashes as \n and \\, the oldest first. Several shells
 * may add to it at the same time. Nothing here fails loudly: without a place for the file there is no history.
 */
#ifndef SHELL_HISTORY_H
#define SHELL_HISTORY_H

enum { SHELL_HISTORY_ENTRIES = 10000 };

typedef struct shell_history {
    char *path; /* NULL: nowhere to keep it */
    char *last; /* the entry added last */
} shell_history;

/* Hands each entry of the file to add, and shortens a file that has grown too long. */
void shell_history_open(shell_history *history, void (*add)(const char *entry));
/* Appends an entry; 0 where it repeats the last one or is empty, 1 otherwise. */
int shell_history_add(shell_history *history, const char *entry);
void shell_history_close(shell_history *history);

#endif
