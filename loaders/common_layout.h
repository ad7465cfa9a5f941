/* SPDX-License-Identifier: Apache-2.0
 *
 * What an edge list looks like: comment header, delimiter, header row, lines that are no edges, which field is what.
 * Found from its first lines and its last; options override. Used by snap.c.
 */
#ifndef LACIS_LOADERS_LAYOUT_H
#define LACIS_LOADERS_LAYOUT_H

#include "common_lines.h"

enum { LACIS_SAMPLE = 64, LACIS_FIELDS = 64 };

typedef struct lacis_layout {
    /* Options: */
    const char *columns;    /* "src,dst,value", or NULL */
    int64_t columns_offset; /* in the statement, or -1 */
    char delimiter;         /* as given; 0: none was */
    bool delimiter_given;
    int header;       /* 1, 0, or -1: to be found out */
    bool keep_values; /* do not take the third column for a time */
    /* Found: */
    int64_t header_nodes, header_edges; /* of "# Nodes: N Edges: M"; -1: none */
    int time_column;                    /* not 0: the value column, from 1, may hold times; counting tells */
} lacis_layout;

/* Fills lines (delimiter, fields, begin, end) and says in notes what it chose. lines->text must be set. */
lacis_status lacis_layout_find(lacis_run *run, lacis_layout *layout, const lacis_text *text, lacis_lines *lines);

/* The first data lines of a text: neither blank nor comment. */
typedef struct lacis_sample {
    int count;
    const char *from[LACIS_SAMPLE], *to[LACIS_SAMPLE];
} lacis_sample;
void lacis_sample_take(lacis_sample *sample, const char *begin, const char *end);
/* ',' ';' '|', or 0 for blanks, whichever separates the sample's fields. */
char lacis_sample_delimiter(const lacis_sample *sample);
int lacis_count_fields(const char *from, const char *to, char delimiter);

/* Whether a value could be seconds since 1970, between 1973 and 2096. */
static inline bool lacis_time_like(double low, double high)
{
    return low >= 1e8 && high <= 4e9;
}

#endif
