/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of files with one edge a line, cut into chunks at line ends so that all threads can read: edge lists,
 * MatrixMarket coordinates, DIMACS arcs. What stands in which field is told by a lacis_lines.
 */
#ifndef LACIS_LOADERS_LINES_H
#define LACIS_LOADERS_LINES_H

#include "common_edges.h"
#include "common_text.h"

typedef struct lacis_lines {
    const lacis_text *text;
    const char *begin, *end; /* the lines */
    char delimiter;          /* 0: blanks */
    char letter;             /* 0, or what a line of an edge begins with (DIMACS 'a'); lines with 'c' are comments */
    int src, dst;            /* numbers of fields, from 0 (the letter does not count) */
    int value, imag;         /* -1: none */
    int fields;              /* that a line must have */
    bool more;               /* or may have more of */
    bool value_checked;      /* reading without values skips what is behind the ids: it was checked before */
    int64_t src_low, src_high, dst_low, dst_high; /* what ids may be */
    bool one_based;                               /* for messages: ids count from 1 */
    bool forbid_loops;                            /* skew-symmetric matrices */
    const char *range;                            /* for messages: what declares the range of ids */
    size_t chunk;                                 /* bytes */
} lacis_lines;

/* Everything allowed, blanks between "src dst". */
void lacis_lines_plain(lacis_lines *lines, const lacis_text *text, const char *begin, int threads);
/* Counts bytes a chunk and chunks anew for lines->begin .. end. */
void lacis_lines_cut(lacis_lines *lines, int threads);
lacis_edge_reader lacis_lines_reader(lacis_lines *lines);

/* Beginning and end of chunk `chunk` of size bytes, moved to line ends. */
void lacis_chunk_bounds(const char *begin, const char *end, size_t size, int64_t chunk, const char **from,
                        const char **to);
int64_t lacis_chunk_count(const char *begin, const char *end, size_t size);
/* Bytes a chunk so that `threads` have enough to share. */
size_t lacis_chunk_size(size_t bytes, int threads);

/* The lines' own faults, for readers that share their messages. */
typedef enum lacis_line_fault {
    LACIS_LINE_FINE,
    LACIS_LINE_FEW, /* figure: fields that there should be */
    LACIS_LINE_MANY,
    LACIS_LINE_ID,
    LACIS_LINE_RANGE, /* figure: the id */
    LACIS_LINE_VALUE,
    LACIS_LINE_LETTER,
    LACIS_LINE_LOOP
} lacis_line_fault;
lacis_status lacis_lines_report(void *lines, lacis_run *run, const lacis_fault *fault);

#endif
