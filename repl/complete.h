/* SPDX-License-Identifier: Apache-2.0
 *
 * What TAB offers: the engine's ways to go on for statements, the shell's own tables for dot commands, file names in
 * both.
 */
#ifndef SHELL_COMPLETE_H
#define SHELL_COMPLETE_H

#include "session.h"

typedef struct shell_candidates {
    size_t start; /* byte of the line from where a word would be put */
    char **word;
    int words;
    bool files;    /* the words are files and folders (these end in a slash) */
    bool in_quote; /* the place is inside '...' */
} shell_candidates;

/* `line` is the line being typed, the cursor at byte `cursor`; session->pending holds the lines before it. */
void shell_complete(shell_session *session, const char *line, size_t cursor, shell_candidates *out);
void shell_candidates_free(shell_candidates *candidates);

#endif
