/* SPDX-License-Identifier: Apache-2.0
 *
 * Modes csv and tsv. csv after RFC 4180 except that lines end in LF: a null is an empty field, an empty text "".
 * tsv has no quotes: tab, line feed, carriage return and backslash inside values are \t \n \r \\.
 */
#include "render.h"

static bool csv_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r') return false;
    return length > 0;
}

static void csv_text(shell_sink *out, const char *text, size_t length)
{
    if (csv_plain(text, length)) {
        shell_sink_put(out, text, length);
        return;
    }
    shell_sink_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') shell_sink_char(out, '"');
        shell_sink_char(out, text[i]);
    }
    shell_sink_char(out, '"');
}

static void tsv_text(shell_sink *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *escape = text[i] == '\t'   ? "\\t"
                             : text[i] == '\n' ? "\\n"
                             : text[i] == '\r' ? "\\r"
                             : text[i] == '\\' ? "\\\\"
                                               : NULL;
        if (escape)
            shell_sink_put(out, escape, 2);
        else
            shell_sink_char(out, text[i]);
    }
}

static void header(shell_render *render, char between, void (*write)(shell_sink *, const char *, size_t))
{
    for (int i = 0; i < render->columns; i++) {
        const char *name = lacis_column_name(render->statement, i);
        if (!name) name = "";
        if (i > 0) shell_sink_char(render->out, between);
        write(render->out, name, strlen(name));
    }
    shell_sink_char(render->out, '\n');
}

static void row(shell_render *render, char between, void (*write)(shell_sink *, const char *, size_t))
{
    for (int i = 0; i < render->columns; i++) {
        shell_cell cell = shell_cell_read(render->statement, i, &render->cell);
        if (i > 0) shell_sink_char(render->out, between);
        if (cell.type == LACIS_TEXT)
            write(render->out, cell.text, cell.length);
        else
            shell_sink_put(render->out, cell.text, cell.length);
    }
    shell_sink_char(render->out, '\n');
}

void shell_csv_begin(shell_render *render)
{
    header(render, ',', csv_text);
}

void shell_csv_row(shell_render *render)
{
    row(render, ',', csv_text);
}

void shell_tsv_begin(shell_render *render)
{
    header(render, '\t', tsv_text);
}

void shell_tsv_row(shell_render *render)
{
    row(render, '\t', tsv_text);
}
