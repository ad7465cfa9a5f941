/* SPDX-License-Identifier: Apache-2.0
 *
 * Modes json and jsonl. Always valid JSON in UTF-8 (other bytes become U+FFFD); infinities and NaNs, for which JSON
 * has no number, are null and counted for a note; a column name that was there already gets _2, _3 ... A json result
 * cut short by a failure stays without its closing bracket, so that nobody takes it for the whole.
 */
#include "render.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The keys as they stand in every object: {"a": then ,"b": ... */
typedef struct json_state {
    shell_text *key;
} json_state;

static void add_escaped(shell_text *out, unsigned char c)
{
    char escape[8];
    switch (c) {
    case '"':
        shell_text_puts(out, "\\\"");
        return;
    case '\\':
        shell_text_puts(out, "\\\\");
        return;
    case '\n':
        shell_text_puts(out, "\\n");
        return;
    case '\r':
        shell_text_puts(out, "\\r");
        return;
    case '\t':
        shell_text_puts(out, "\\t");
        return;
    default:
        snprintf(escape, sizeof escape, "\\u%04x", c);
        shell_text_puts(out, escape);
    }
}

/* Bytes from the start of text that need no escape: printable ASCII and whole UTF-8 characters. */
static size_t plain_run(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F) break;
        uint32_t rune;
        bool valid = true;
        size_t count = c < 0x80 ? 1 : shell_rune(text + i, length - i, &rune, &valid);
        if (!valid) break;
        i += count;
    }
    return i;
}

static void escape_rest(shell_text *out, const char *text, size_t length)
{
    while (length > 0) {
        size_t run = plain_run(text, length);
        shell_text_add(out, text, run);
        if (run == length) return;
        if ((unsigned char)text[run] < 0x80)
            add_escaped(out, (unsigned char)text[run]);
        else
            shell_text_puts(out, "\xEF\xBF\xBD");
        text += run + 1;
        length -= run + 1;
    }
}

static void put_string(shell_render *render, const char *text, size_t length)
{
    size_t run = plain_run(text, length);
    shell_sink_char(render->out, '"');
    shell_sink_put(render->out, text, run);
    if (run < length) {
        shell_text rest = {0};
        escape_rest(&rest, text + run, length - run);
        shell_sink_put(render->out, rest.data, rest.used);
        shell_text_free(&rest);
    }
    shell_sink_char(render->out, '"');
}

/* -?digits[.digits][e[+-]digits], no needless leading zero. */
static bool is_json_number(const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    if (at < end && *at == '-') at++;
    const char *whole = at;
    while (at < end && isdigit((unsigned char)*at))
        at++;
    if (at == whole || (*whole == '0' && at - whole > 1)) return false;
    if (at < end && *at == '.') {
        const char *part = ++at;
        while (at < end && isdigit((unsigned char)*at))
            at++;
        if (at == part) return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        const char *power = at;
        while (at < end && isdigit((unsigned char)*at))
            at++;
        if (at == power) return false;
    }
    return at == end;
}

static void put_real(shell_render *render, int column, const shell_cell *cell)
{
    char text[SHELL_DIGITS];
    if (is_json_number(cell->text, cell->length)) {
        shell_sink_put(render->out, cell->text, cell->length);
        return;
    }
    double value = lacis_column_double(render->statement, column);
    if (isfinite(value)) {
        int length = snprintf(text, sizeof text, "%.17g", value);
        shell_sink_put(render->out, text, (size_t)length);
        return;
    }
    render->no_numbers++;
    shell_sink_puts(render->out, "null");
}

static void put_value(shell_render *render, int column)
{
    shell_cell cell = shell_cell_read(render->statement, column, &render->cell);
    if (cell.type == LACIS_NULL)
        shell_sink_puts(render->out, "null");
    else if (cell.type == LACIS_INTEGER)
        shell_sink_put(render->out, cell.text, cell.length);
    else if (cell.type == LACIS_REAL)
        put_real(render, column, &cell);
    else
        put_string(render, cell.text, cell.length);
}

/* A key unlike those before it. */
static void make_key(json_state *state, lacis_statement *statement, int column)
{
    shell_text escaped = {0}, *key = &state->key[column];
    const char *name = lacis_column_name(statement, column);
    escape_rest(&escaped, name ? name : "", name ? strlen(name) : 0);
    for (int copy = 1;; copy++) {
        char suffix[16] = "";
        if (copy > 1) snprintf(suffix, sizeof suffix, "_%d", copy);
        shell_text_clear(key);
        shell_text_puts(key, column ? ",\"" : "{\"");
        if (escaped.data) shell_text_add(key, escaped.data, escaped.used);
        shell_text_puts(key, suffix);
        shell_text_puts(key, "\":");
        int before = 0;
        while (before < column && strcmp(state->key[before].data + 1, key->data + 1) != 0)
            before++;
        if (before == column) break;
    }
    shell_text_free(&escaped);
}

void shell_jsonl_begin(shell_render *render)
{
    json_state *state = shell_alloc(NULL, sizeof *state);
    state->key = shell_alloc(NULL, (size_t)render->columns * sizeof *state->key);
    memset(state->key, 0, (size_t)render->columns * sizeof *state->key);
    for (int i = 0; i < render->columns; i++)
        make_key(state, render->statement, i);
    render->state = state;
}

static void put_object(shell_render *render)
{
    const json_state *state = render->state;
    for (int i = 0; i < render->columns; i++) {
        shell_sink_put(render->out, state->key[i].data, state->key[i].used);
        put_value(render, i);
    }
    shell_sink_char(render->out, '}');
}

void shell_jsonl_row(shell_render *render)
{
    put_object(render);
    shell_sink_char(render->out, '\n');
}

void shell_jsonl_end(shell_render *render, bool whole)
{
    json_state *state = render->state;
    (void)whole;
    for (int i = 0; i < render->columns; i++)
        shell_text_free(&state->key[i]);
    free(state->key);
    free(state);
    render->state = NULL;
}

void shell_json_begin(shell_render *render)
{
    shell_jsonl_begin(render);
    shell_sink_char(render->out, '[');
}

void shell_json_row(shell_render *render)
{
    if (render->rows > 0) shell_sink_put(render->out, ",\n ", 3);
    put_object(render);
}

void shell_json_end(shell_render *render, bool whole)
{
    if (whole) shell_sink_char(render->out, ']');
    shell_sink_char(render->out, '\n');
    shell_jsonl_end(render, whole);
}
