/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines broken between words, for help, messages, plans and cells of tables on a terminal.
 */
#ifndef SHELL_WRAP_H
#define SHELL_WRAP_H

#include "text.h"

typedef struct shell_wrap {
    int width;  /* columns; 0: lines stay as they are */
    int column; /* where the text begins, behind what stands on its first line already */
    int hang;   /* columns that continued lines stand further in than the text says by itself */
    bool whole; /* a word that is wider than a line is broken; else it stands out, as addresses should */
} shell_wrap;

/* Appends `text` to `out`, each of its lines broken where it is wider than wrap->width. What continues a line stands
 * under the line's text: under the second column of "word    what it is for", behind the mark of "- a point", else
 * under the line's own beginning. Neither '...' nor a [group] of a usage line is broken unless it is wider than a
 * line. */
void shell_wrap_add(shell_text *out, const char *text, size_t length, const shell_wrap *wrap);

#endif
