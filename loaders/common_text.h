/* SPDX-License-Identifier: Apache-2.0
 *
 * A source as text: where it begins behind a byte order mark, its lines, and errors that name path, line and column.
 * Used by every loader of a text format.
 */
#ifndef LACIS_LOADERS_TEXT_H
#define LACIS_LOADERS_TEXT_H

#include "lacis_extend.h"

#include <string.h>

typedef struct lacis_text {
    const char *path;
    const char *start; /* lines and columns count from here */
    const char *begin; /* behind a byte order mark */
    const char *end;
    char *copy; /* NULL, or the text with lone CR turned into LF */
} lacis_text;

/* Refuses UTF-16 and texts with zero bytes in their first kilobytes (LACIS_FORMAT). */
lacis_status lacis_text_open(lacis_run *run, const lacis_source *source, lacis_text *text);
void lacis_text_close(lacis_run *run, lacis_text *text);

/* LACIS_FORMAT: "path:line:column: " and the message, which says the cause and, behind a semicolon, what to do. */
lacis_status lacis_text_fail(lacis_run *run, const lacis_text *text, const char *at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Counted from 1. */
int64_t lacis_text_line(const lacis_text *text, const char *at);

/* The field at `at` for a message: quoted, cut after some characters, unprintable bytes as '?'. */
enum { LACIS_QUOTE = 48 };
const char *lacis_text_quote(const char *at, const char *end, char *out);

/* Whether path (less a last .gz) ends in one of `extensions` (".a .b"). */
bool lacis_path_ends(const char *path, const char *extensions);
/* The first few lines of a source, for sniffing. */
void lacis_text_peek(const lacis_source *source, lacis_text *text);

static inline bool lacis_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The end of the line at p: its LF, or end. */
static inline const char *lacis_line_end(const char *p, const char *end)
{
    const char *lf = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    return lf != NULL ? lf : end;
}

static inline const char *lacis_line_next(const char *p, const char *end)
{
    const char *lf = lacis_line_end(p, end);
    return lf < end ? lf + 1 : end;
}

static inline const char *lacis_skip_blanks(const char *p, const char *end)
{
    while (p < end && lacis_blank(*p)) {
        p++;
    }
    return p;
}

/* '#', '%' and "//" begin comments. */
static inline bool lacis_comment_at(const char *p, const char *end)
{
    return p < end && (*p == '#' || *p == '%' || (*p == '/' && p + 1 < end && p[1] == '/'));
}

/* Whether the line [p, end) holds nothing but blanks or a comment. */
static inline bool lacis_line_empty(const char *p, const char *end)
{
    p = lacis_skip_blanks(p, end);
    return p >= end || *p == '\n' || lacis_comment_at(p, end);
}

/* The field of a line at p, between blanks (delimiter 0) or delimiters (blanks around it cut off, quotes too). *next
 * is where the following field begins, NULL behind the last one. In blank-separated lines a comment ends the line.
 * False: no field is left. */
bool lacis_field(const char *p, const char *end, char delimiter, const char **from, const char **to,
                 const char **next);

#endif
