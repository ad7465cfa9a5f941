/* SPDX-License-Identifier: Apache-2.0
 *
 * Text in coarse pieces, as much of it as one needs to know where statements, strings and comments end, in SQL and in
 * lacis's own statements alike (the lexer does not know SQL's `x`, [x] and ?1). Used by incomplete.c and complete.c.
 */
#ifndef LACIS_LANG_SCAN_H
#define LACIS_LANG_SCAN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum lacis_piece_kind {
    LACIS_PIECE_BLANK,  /* blanks; a comment has `quote` - or / */
    LACIS_PIECE_WORD,   /* letters, digits, _ and bytes above 127; with a : in front too */
    LACIS_PIECE_QUOTED, /* in '', "", `` or []: `quote` is the first character */
    LACIS_PIECE_SYMBOL  /* any other byte */
} lacis_piece_kind;

typedef struct lacis_piece {
    lacis_piece_kind kind;
    const char *text;
    size_t length;
    char quote;
    bool open; /* the text ends within the string, identifier or comment */
} lacis_piece;

/* The piece at *at, which moves behind it; false at `end`. */
bool lacis_scan_next(const char **at, const char *end, lacis_piece *out);

#endif
