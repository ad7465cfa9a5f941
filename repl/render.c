/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of output modes and the loop that takes rows from a statement to its mode. Called by session.c.
 */
#include "render.h"

#include "terminal.h"
#include "wrap.h"

static void no_begin(shell_render *render)
{
    (void)render;
}

static void no_end(shell_render *render, bool whole)
{
    (void)render;
    (void)whole;
}

static const shell_mode modes[] = {
    {"table", "aligned columns under a rule", true, shell_table_begin, shell_table_row, shell_table_end,
     &shell_frame_table},
    {"box", "aligned columns in a frame of Unicode lines", true, shell_table_begin, shell_table_row, shell_table_end,
     &shell_frame_box},
    {"csv", "comma-separated values with a header row (RFC 4180, lines end in LF)", false, shell_csv_begin,
     shell_csv_row, no_end, NULL},
    {"tsv", "tab-separated values with a header row; \\t \\n \\r \\\\ inside values", false, shell_tsv_begin,
     shell_tsv_row, no_end, NULL},
    {"json", "one array of objects; infinities as null, with a note", false, shell_json_begin, shell_json_row,
     shell_json_end, NULL},
    {"jsonl", "one JSON object a line", false, shell_jsonl_begin, shell_jsonl_row, shell_jsonl_end, NULL},
    {"markdown", "a table for Markdown documents", false, shell_table_begin, shell_table_row, shell_table_end,
     &shell_frame_markdown},
    {"line", "one value a line: name = value", false, shell_line_begin, shell_line_row, shell_line_end, NULL},
};

enum { MODES = sizeof modes / sizeof modes[0], TEXT_HANG = 2 };

const shell_mode *shell_mode_at(int index)
{
    return index >= 0 && index < MODES ? &modes[index] : NULL;
}

const shell_mode *shell_mode_find(const char *name)
{
    for (int i = 0; i < MODES; i++)
        if (shell_same(modes[i].name, name)) return &modes[i];
    return NULL;
}

static void text_row(shell_render *render)
{
    shell_cell cell = shell_cell_read(render->statement, 0, &render->cell);
    shell_wrap wrap = {.width = render->width, .hang = TEXT_HANG};
    shell_text clean = {0}, lines = {0};
    shell_clean(&clean, cell.text, cell.length);
    shell_wrap_add(&lines, clean.data, clean.used, &wrap);
    shell_sink_put(render->out, lines.data, lines.used);
    shell_sink_char(render->out, '\n');
    shell_text_free(&clean);
    shell_text_free(&lines);
}

/* Plain text lines of a one-column result, without header or frame, broken between words on a terminal. */
static const shell_mode text_mode = {"text", "", false, no_begin, text_row, no_end, NULL};

/* Steps on without showing, for a moment: how many rows there are in all, if that is soon known. */
static lacis_status count_rest(shell_render *render, lacis_status status)
{
    const double patience = 0.25; /* seconds */
    double end = shell_clock() + patience;
    while (status == LACIS_ROW) {
        render->total++;
        if ((render->total & 63) == 0 && shell_clock() > end) return LACIS_ROW;
        status = lacis_step(render->statement);
    }
    render->total_known = status == LACIS_DONE;
    return status;
}

static lacis_status show_rows(shell_render *render)
{
    double flushed = render->out->terminal ? shell_clock() : 0;
    lacis_status status = LACIS_ROW;
    while (status == LACIS_ROW && !render->out->error) {
        if (render->row_limit > 0 && render->rows == render->row_limit) return status;
        shell_html_row(render->html, render->statement);
        render->mode->row(render);
        render->rows++;
        if (render->out->terminal && shell_clock() - flushed > 0.1) {
            shell_sink_flush(render->out);
            flushed = shell_clock();
        }
        status = lacis_step(render->statement);
    }
    return status;
}

lacis_status shell_render_run(shell_render *render)
{
    lacis_status status = lacis_step(render->statement);
    if (status != LACIS_ROW && status != LACIS_DONE) return status;
    render->columns = lacis_column_count(render->statement);
    if (render->columns <= 0) {
        while (status == LACIS_ROW)
            status = lacis_step(render->statement);
        return status;
    }
    if (render->plan && render->columns == 1) render->mode = &text_mode;
    shell_html_columns(render->html, render->statement, render->columns);
    render->mode->begin(render);
    if (status == LACIS_ROW) status = show_rows(render);
    render->total = render->rows;
    render->total_known = status == LACIS_DONE;
    render->mode->end(render, status == LACIS_DONE || status == LACIS_ROW);
    shell_sink_flush(render->out);
    if (status == LACIS_ROW && !render->out->error) status = count_rest(render, status);
    shell_text_free(&render->cell.blob);
    return status;
}
