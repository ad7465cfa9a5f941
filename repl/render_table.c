/* SPDX-License-Identifier: Apache-2.0
 *
 * Modes table, box and markdown. The first rows (SHELL_SAMPLE_ROWS at most) are kept until the widths of the columns
 * are known; what follows is streamed with those widths, and a cell that is wider pushes the rest of its row to the
 * right. On a terminal columns shrink to fit it, and shortened cells end in ... and are counted; those of SHOW are
 * broken between words instead. A value of several lines takes several lines of its column.
 */
#include "render.h"

#include "terminal.h"
#include "wrap.h"

#include <stdlib.h>

/* left, filling, between and right of a horizontal line; left NULL: there is none. */
typedef struct frame_line {
    const char *left, *fill, *between, *right;
} frame_line;

typedef struct shell_frame {
    const char *left, *between, *right; /* around the cells of a row */
    frame_line top, rule, bottom;
    bool fits;     /* shrinks to the terminal */
    bool markdown; /* escapes |, keeps to one line, and marks right alignment in the rule */
} shell_frame;

const shell_frame shell_frame_table = {
    "", "  ", "", {0}, {"", "-", "  ", ""}, {0}, true, false,
};
const shell_frame shell_frame_box = {
    "│ ", " │ ", " │", {"┌─", "─", "─┬─", "─┐"}, {"├─", "─", "─┼─", "─┤"}, {"└─", "─", "─┴─", "─┘"}, true, false,
};
const shell_frame shell_frame_markdown = {
    "| ", " | ", " |", {0}, {"| ", "-", " | ", " |"}, {0}, false, true,
};

enum { LEAST_WIDTH = 4 }; /* columns do not shrink below that */

typedef struct table_cell {
    size_t at, length; /* in state->bytes */
    int width;         /* of its widest line */
    int lines;
    bool null;
} table_cell;

typedef struct table_column {
    int width;
    bool words; /* a kept value is neither number nor null: left-aligned */
    bool right;
} table_column;

typedef struct table_state {
    shell_text bytes;
    table_cell *cell; /* rows one after the other, the header first */
    size_t cells, size;
    table_column *column;
    bool streaming; /* widths are decided, the header is out */
    bool fitted;    /* cells wider than their column are cut */
} table_state;

/* Line `index` of a cell; false past its last. */
static bool cell_line(const table_state *state, const table_cell *cell, int index, const char **line, size_t *length)
{
    const char *at = state->bytes.data + cell->at, *end = at + cell->length;
    if (index >= cell->lines) return false;
    for (; index > 0; index--)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    const char *stop = cell->lines > 1 ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    *line = at;
    *length = (size_t)((stop ? stop : end) - at);
    return true;
}

static void measure(const table_state *state, table_cell *cell)
{
    const char *line;
    size_t length;
    cell->lines = 1;
    for (size_t i = 0; i < cell->length; i++)
        cell->lines += state->bytes.data[cell->at + i] == '\n';
    cell->width = 0;
    for (int i = 0; cell_line(state, cell, i, &line, &length); i++) {
        int width = shell_width(line, length);
        if (width > cell->width) cell->width = width;
    }
}

static void add_markdown(shell_text *out, const char *text, size_t length)
{
    size_t from = out->used;
    shell_text clean = {0};
    shell_clean(&clean, text, length);
    for (size_t i = 0; i < clean.used; i++) {
        if (clean.data[i] == '\n')
            shell_text_puts(out, "<br>");
        else if (clean.data[i] == '|')
            shell_text_puts(out, "\\|");
        else
            shell_text_add(out, clean.data + i, 1);
    }
    if (out->used == from) shell_text_puts(out, "");
    shell_text_free(&clean);
}

/* Appends a cell with that text to the state. */
static table_cell *add_cell(shell_render *render, const char *text, size_t length)
{
    table_state *state = render->state;
    if (state->cells == state->size) {
        state->size = state->size * 2 + (size_t)render->columns * 8;
        state->cell = shell_alloc(state->cell, state->size * sizeof *state->cell);
    }
    table_cell *cell = &state->cell[state->cells++];
    *cell = (table_cell){.at = state->bytes.used};
    shell_text_puts(&state->bytes, "");
    if (render->mode->frame->markdown)
        add_markdown(&state->bytes, text, length);
    else
        shell_clean(&state->bytes, text, length);
    cell->length = state->bytes.used - cell->at;
    while (cell->length > 0 && state->bytes.data[cell->at + cell->length - 1] == '\n')
        cell->length--; /* an empty last line says nothing */
    measure(state, cell);
    return cell;
}

static void add_row(shell_render *render)
{
    table_state *state = render->state;
    for (int i = 0; i < render->columns; i++) {
        shell_cell value = shell_cell_read(render->statement, i, &render->cell);
        bool null = value.type == LACIS_NULL;
        table_cell *cell = add_cell(render, null ? "NULL" : value.text, null ? 4 : value.length);
        cell->null = null;
        if (!null && !shell_cell_number(&value)) state->column[i].words = true;
    }
}

/* Where columns are cut: the widest one of words, else the widest. -1: all are narrow. */
static int column_to_shrink(const table_state *state, int columns)
{
    int words = -1, any = -1;
    for (int i = 0; i < columns; i++) {
        const table_column *column = &state->column[i];
        if (column->width <= LEAST_WIDTH) continue;
        if (any < 0 || column->width > state->column[any].width) any = i;
        if (!column->right && column->width > 2 * LEAST_WIDTH &&
            (words < 0 || column->width > state->column[words].width))
            words = i;
    }
    return words >= 0 ? words : any;
}

static void fit_terminal(shell_render *render)
{
    table_state *state = render->state;
    const shell_frame *frame = render->mode->frame;
    int64_t total = shell_width(frame->left, strlen(frame->left)) + shell_width(frame->right, strlen(frame->right));
    total += (int64_t)(render->columns - 1) * shell_width(frame->between, strlen(frame->between));
    for (int i = 0; i < render->columns; i++) {
        if (state->column[i].width > render->width) state->column[i].width = render->width;
        total += state->column[i].width;
    }
    for (; total > render->width; total--) {
        int column = column_to_shrink(state, render->columns);
        if (column < 0) return;
        state->column[column].width--;
    }
}

static void decide_widths(shell_render *render)
{
    table_state *state = render->state;
    for (int i = 0; i < render->columns; i++) {
        table_column *column = &state->column[i];
        column->width = render->mode->frame->markdown ? 3 : 1;
        column->right = !column->words && state->cells > (size_t)render->columns;
        for (size_t c = (size_t)i; c < state->cells; c += (size_t)render->columns)
            if (state->cell[c].width > column->width) column->width = state->cell[c].width;
    }
    state->fitted = render->mode->frame->fits && render->width > 0;
    if (state->fitted) fit_terminal(render);
}

static void put_line(shell_render *render, const frame_line *line)
{
    const table_state *state = render->state;
    bool colons = render->mode->frame->markdown;
    if (!line->left) return;
    shell_sink_puts(render->out, line->left);
    for (int i = 0; i < render->columns; i++) {
        if (i > 0) shell_sink_puts(render->out, line->between);
        bool colon = colons && state->column[i].right;
        shell_sink_repeat(render->out, line->fill, state->column[i].width - colon);
        if (colon) shell_sink_char(render->out, ':');
    }
    shell_sink_puts(render->out, line->right);
    shell_sink_char(render->out, '\n');
}

/* Line `index` of one cell, filled up to the width of its column; last: nothing stands to its right. */
static void put_cell(shell_render *render, const table_cell *cell, int i, int index, bool last, const char *style)
{
    const table_state *state = render->state;
    const table_column *column = &state->column[i];
    const char *line = "";
    size_t length = 0;
    bool there = cell_line(state, cell, index, &line, &length), cut = false;
    int width = cell->lines == 1 && there ? cell->width : shell_width(line, length);
    if (state->fitted && width > column->width) {
        length = shell_fit(line, length, column->width - 1, &width);
        width++;
        cut = true;
        render->cut_cells++;
    }
    int gap = column->width - width;
    if (column->right) shell_sink_repeat(render->out, " ", gap);
    if (style && length > 0) shell_sink_puts(render->out, style);
    shell_sink_put(render->out, line, length);
    if (cut) shell_sink_puts(render->out, "…");
    if (style && length > 0) shell_sink_puts(render->out, SHELL_PLAIN);
    if (!column->right && !last) shell_sink_repeat(render->out, " ", gap);
}

static void put_row(shell_render *render, const table_cell *row, bool header)
{
    const shell_frame *frame = render->mode->frame;
    bool open = frame->right[0] == 0;
    int lines = 1;
    for (int i = 0; i < render->columns; i++)
        if (row[i].lines > lines) lines = row[i].lines;
    for (int index = 0; index < lines; index++) {
        shell_sink_puts(render->out, frame->left);
        for (int i = 0; i < render->columns; i++) {
            const char *style = header ? SHELL_BOLD : row[i].null ? SHELL_DIM : NULL;
            if (i > 0) shell_sink_puts(render->out, frame->between);
            put_cell(render, &row[i], i, index, open && i == render->columns - 1, render->colours ? style : NULL);
        }
        shell_sink_puts(render->out, frame->right);
        shell_sink_char(render->out, '\n');
    }
}

/* Breaks cells of words, or the names above them, that are wider than their columns. */
static void break_row(shell_render *render, table_cell *row)
{
    table_state *state = render->state;
    for (int i = 0; i < render->columns; i++) {
        if (row[i].width <= state->column[i].width || state->column[i].right) continue;
        shell_wrap wrap = {.width = state->column[i].width, .whole = true};
        char *text = shell_copy(state->bytes.data + row[i].at, row[i].length);
        row[i].at = state->bytes.used;
        shell_wrap_add(&state->bytes, text, row[i].length, &wrap);
        row[i].length = state->bytes.used - row[i].at;
        free(text);
        measure(state, &row[i]);
    }
}

/* Puts out all that is kept and forgets it. */
static void put_kept(shell_render *render)
{
    table_state *state = render->state;
    size_t first = 0;
    if (!state->streaming) {
        decide_widths(render);
        put_line(render, &render->mode->frame->top);
        if (state->fitted && render->prose) break_row(render, state->cell);
        put_row(render, state->cell, true);
        put_line(render, &render->mode->frame->rule);
        first = (size_t)render->columns;
        state->streaming = true;
    }
    for (size_t c = first; c < state->cells; c += (size_t)render->columns) {
        if (state->fitted && render->prose) break_row(render, &state->cell[c]);
        put_row(render, &state->cell[c], false);
    }
    state->cells = 0;
    shell_text_clear(&state->bytes);
}

void shell_table_begin(shell_render *render)
{
    table_state *state = shell_alloc(NULL, sizeof *state);
    size_t bytes = (size_t)render->columns * sizeof *state->column;
    *state = (table_state){.column = memset(shell_alloc(NULL, bytes), 0, bytes)};
    render->state = state;
    for (int i = 0; i < render->columns; i++) {
        const char *name = lacis_column_name(render->statement, i);
        add_cell(render, name ? name : "", name ? strlen(name) : 0);
    }
}

void shell_table_row(shell_render *render)
{
    const table_state *state = render->state;
    add_row(render);
    if (state->streaming || state->cells >= (size_t)render->columns * (SHELL_SAMPLE_ROWS + 1)) put_kept(render);
}

void shell_table_end(shell_render *render, bool whole)
{
    table_state *state = render->state;
    if (whole || state->streaming || state->cells > (size_t)render->columns) {
        put_kept(render);
        put_line(render, &render->mode->frame->bottom);
    }
    shell_text_free(&state->bytes);
    free(state->cell);
    free(state->column);
    free(state);
    render->state = NULL;
}
