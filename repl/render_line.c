/* SPDX-License-Identifier: Apache-2.0
 *
 * Mode line: one value a line, "name = value", the names right-aligned; an empty line between rows. Also shell_clean,
 * which this mode shares with the tables.
 */
#include "render.h"

#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>

/* Column names, cleaned, and the widest of them. */
typedef struct line_state {
    shell_text *name;
    int width;
    shell_text value;
} line_state;

void shell_clean(shell_text *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        char escape[8];
        uint32_t rune;
        bool valid;
        size_t count = shell_rune(text + i, length - i, &rune, &valid);
        if (!valid)
            shell_text_puts(out, "\xEF\xBF\xBD");
        else if (rune == '\t')
            shell_text_puts(out, "\\t");
        else if (rune == '\r')
            shell_text_puts(out, "\\r");
        else if ((rune < 0x20 && rune != '\n') || (rune >= 0x7F && rune < 0xA0)) {
            snprintf(escape, sizeof escape, "\\x%02X", rune);
            shell_text_puts(out, escape);
        } else
            shell_text_add(out, text + i, count);
        i += count;
    }
}

void shell_line_begin(shell_render *render)
{
    line_state *state = shell_alloc(NULL, sizeof *state);
    size_t bytes = (size_t)render->columns * sizeof *state->name;
    *state = (line_state){.name = memset(shell_alloc(NULL, bytes), 0, bytes)};
    for (int i = 0; i < render->columns; i++) {
        const char *name = lacis_column_name(render->statement, i);
        shell_text_puts(&state->name[i], "");
        if (name) shell_clean(&state->name[i], name, strlen(name));
        int width = shell_width(state->name[i].data, state->name[i].used);
        if (width > state->width) state->width = width;
    }
    render->state = state;
}

static void put_value(shell_render *render, line_state *state, int column)
{
    shell_cell cell = shell_cell_read(render->statement, column, &render->cell);
    if (cell.type == LACIS_NULL) {
        shell_sink_puts(render->out, render->colours ? SHELL_DIM "NULL" SHELL_PLAIN : "NULL");
        return;
    }
    shell_text_clear(&state->value);
    shell_clean(&state->value, cell.text, cell.length);
    if (state->value.used) shell_sink_put(render->out, state->value.data, state->value.used);
}

void shell_line_row(shell_render *render)
{
    line_state *state = render->state;
    if (render->rows > 0) shell_sink_char(render->out, '\n');
    for (int i = 0; i < render->columns; i++) {
        const shell_text *name = &state->name[i];
        shell_sink_repeat(render->out, " ", state->width - shell_width(name->data, name->used));
        if (render->colours) shell_sink_puts(render->out, SHELL_BOLD);
        shell_sink_put(render->out, name->data, name->used);
        if (render->colours) shell_sink_puts(render->out, SHELL_PLAIN);
        shell_sink_puts(render->out, " = ");
        put_value(render, state, i);
        shell_sink_char(render->out, '\n');
    }
}

void shell_line_end(shell_render *render, bool whole)
{
    line_state *state = render->state;
    (void)whole;
    for (int i = 0; i < render->columns; i++)
        shell_text_free(&state->name[i]);
    shell_text_free(&state->value);
    free(state->name);
    free(state);
    render->state = NULL;
}
