/* SPDX-License-Identifier: Apache-2.0
 *
 * Output modes. A mode is one entry of the table in render.c: begin, row, end over a statement that stands on its
 * first row. csv, tsv, json, jsonl and line hold one cell at a time; table, box and markdown hold the rows that
 * decide about the widths of the columns (at most SHELL_SAMPLE_ROWS, or the row limit).
 */
#ifndef SHELL_RENDER_H
#define SHELL_RENDER_H

#include "cell.h"
#include "html.h"
#include "sink.h"

enum { SHELL_SAMPLE_ROWS = 1000 };

typedef struct shell_render shell_render;

typedef struct shell_mode {
    const char *name;
    const char *summary;
    bool framed; /* rows are limited by .maxrows */
    void (*begin)(shell_render *render);
    void (*row)(shell_render *render);
    /* whole: the result ended; false: a failure cut it short */
    void (*end)(shell_render *render, bool whole);
    const struct shell_frame *frame; /* table, box, markdown: what stands around the cells */
} shell_mode;

/* One result on its way out. */
struct shell_render {
    shell_sink *out;
    shell_html *html; /* NULL: no report */
    lacis_statement *statement;
    const shell_mode *mode;
    int columns;
    bool plan;  /* EXPLAIN: one column of text is written as plain lines */
    bool prose; /* SHOW: cells hold the engine's sentences, which are broken between words, not cut */
    bool colours;
    int width;         /* of the terminal; 0: any */
    int64_t row_limit; /* 0: all */
    shell_cell_buffer cell;
    void *state;        /* the mode's own, from begin to end */
    int64_t rows;       /* shown */
    int64_t total;      /* known to exist */
    bool total_known;   /* there are no more than `total` */
    int64_t cut_cells;  /* shortened to fit the terminal */
    int64_t no_numbers; /* infinities and NaNs that JSON shows as null */
};

/* The modes by name; index past the last: NULL. "auto" is none of them. */
const shell_mode *shell_mode_at(int index);
const shell_mode *shell_mode_find(const char *name);

/* Steps through the statement and writes its rows, if it has columns at all. Returns LACIS_DONE, or LACIS_ROW where
 * the row limit or a failing sink (out->error) ended it early, or the engine's error. */
lacis_status shell_render_run(shell_render *render);
void shell_csv_begin(shell_render *render);
void shell_csv_row(shell_render *render);
void shell_tsv_begin(shell_render *render);
void shell_tsv_row(shell_render *render);
void shell_json_begin(shell_render *render);
void shell_json_row(shell_render *render);
void shell_json_end(shell_render *render, bool whole);
void shell_jsonl_begin(shell_render *render);
void shell_jsonl_row(shell_render *render);
void shell_jsonl_end(shell_render *render, bool whole);
void shell_line_begin(shell_render *render);
void shell_line_row(shell_render *render);
void shell_line_end(shell_render *render, bool whole);
void shell_table_begin(shell_render *render);
void shell_table_row(shell_render *render);
void shell_table_end(shell_render *render, bool whole);
extern const struct shell_frame shell_frame_table, shell_frame_box, shell_frame_markdown;

/* Adds text to `out` with control characters as escapes (\t, \x1B) and what is not UTF-8 as U+FFFD, so that data
 * cannot steer the terminal. Line ends stay. */
void shell_clean(shell_text *out, const char *text, size_t length);

#endif
