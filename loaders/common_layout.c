/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding out what an edge list looks like; see common_layout.h. Everything chosen on the user's behalf is said in a
 * note.
 */
#include "common_layout.h"

#include "common_columns.h"
#include "common_number.h"

#include <stdio.h>
#include <strings.h>

void lacis_sample_take(lacis_sample *sample, const char *begin, const char *end)
{
    sample->count = 0;
    for (const char *p = begin; p < end && sample->count < LACIS_SAMPLE; p = lacis_line_next(p, end)) {
        const char *stop = lacis_line_end(p, end);
        if (lacis_line_empty(p, stop)) continue;
        sample->from[sample->count] = p;
        sample->to[sample->count++] = stop;
    }
}

char lacis_sample_delimiter(const lacis_sample *sample)
{
    static const char candidates[] = ",;|";
    for (const char *c = candidates; *c != '\0'; c++) {
        int lines = 0;
        for (int i = 0; i < sample->count; i++) {
            lines += memchr(sample->from[i], *c, (size_t)(sample->to[i] - sample->from[i])) != NULL;
        }
        if (lines > 0 && 2 * lines >= sample->count) return *c;
    }
    return 0;
}

int lacis_count_fields(const char *from, const char *to, char delimiter)
{
    const char *a, *b, *next = from;
    int n = 0;
    while (lacis_field(next, to, delimiter, &a, &b, &next)) {
        n++;
    }
    return n;
}

/* ------------------------------------------------------------------------------------ comment header */

static int64_t number_behind(const char *p, const char *end, const char *word)
{
    size_t length = strlen(word);
    for (; p + length < end; p++) {
        if (strncasecmp(p, word, length) != 0) continue;
        p = lacis_skip_blanks(p + length, end);
        const char *stop = p;
        while (stop < end && *stop >= '0' && *stop <= '9') {
            stop++;
        }
        int64_t value;
        return lacis_number_integer(p, stop, &value) ? value : -1;
    }
    return -1;
}

/* SNAP's "# Nodes: 7115 Edges: 103689"; the first one counts. */
static void find_promises(lacis_layout *layout, const lacis_text *text)
{
    layout->header_nodes = layout->header_edges = -1;
    for (const char *p = text->begin; p < text->end; p = lacis_line_next(p, text->end)) {
        const char *end = lacis_line_end(p, text->end);
        if (!lacis_line_empty(p, end)) return;
        int64_t nodes = number_behind(p, end, "Nodes:"), edges = number_behind(p, end, "Edges:");
        if (nodes < 0 || edges < 0) continue;
        layout->header_nodes = nodes;
        layout->header_edges = edges;
        return;
    }
}

/* ------------------------------------------------------------------------------- lines that are no edges */

static void quote_line(const char *from, const char *to, char *out)
{
    while (to > from && lacis_blank(to[-1])) {
        to--;
    }
    lacis_text_quote(from, to, out);
}

/* The integers of a line: how many, at most 3; -1 where a field is something else. */
static int integers_of(const char *from, const char *to, char delimiter, int64_t *value)
{
    const char *a, *b, *next = from;
    int n = 0;
    while (lacis_field(next, to, delimiter, &a, &b, &next)) {
        if (n == 3 || !lacis_number_integer(a, b, &value[n])) return -1;
        n++;
    }
    return n;
}

static int64_t count_data_lines(const char *begin, const char *end)
{
    int64_t n = 0;
    for (const char *p = begin; p < end; p = lacis_line_next(p, end)) {
        n += !lacis_line_empty(p, lacis_line_end(p, end));
    }
    return n;
}

/* The largest id in the first two fields of all lines; INT64_MAX where some are no ids. */
static int64_t largest_id(const char *begin, const char *end, char delimiter)
{
    int64_t most = 0, value[3];
    for (const char *p = begin; p < end; p = lacis_line_next(p, end)) {
        const char *stop = lacis_line_end(p, end);
        if (lacis_line_empty(p, stop)) continue;
        if (integers_of(p, stop, delimiter, value) < 2) return INT64_MAX;
        most = value[0] > most ? value[0] : most;
        most = value[1] > most ? value[1] : most;
    }
    return most;
}

/* Whether the first data line gives sizes: a lone count, "n m" or "n n m" before lines of another kind, or where the
 * last number is that of the lines which follow. */
static bool is_size_line(const lacis_sample *sample, char delimiter, const char *end)
{
    int64_t value[3];
    if (sample->count < 2) return false;
    int n = integers_of(sample->from[0], sample->to[0], delimiter, value);
    int typical = lacis_count_fields(sample->from[1], sample->to[1], delimiter);
    if (n < 1 || typical < 2) return false;
    if (n == 1 || (n == 2 && typical == 3)) return true;
    const char *rest = lacis_line_next(sample->from[0], end);
    if (n == 3) return count_data_lines(rest, end) == value[2] && value[2] > 0;
    if (typical != 2 || count_data_lines(rest, end) != value[1]) return false;
    int64_t most = largest_id(rest, end, delimiter);
    return most < INT64_MAX && (value[0] == most || value[0] == most + 1);
}

/* A last line "-1" that some writers close their files with. */
static void drop_terminator(lacis_run *run, const lacis_text *text, lacis_lines *lines)
{
    const char *end = lines->end;
    while (end > lines->begin && (lacis_blank(end[-1]) || end[-1] == '\n')) {
        end--;
    }
    const char *from = end;
    while (from > lines->begin && from[-1] != '\n') {
        from--;
    }
    if (end - from != 2 || memcmp(from, "-1", 2) != 0 || from == lines->begin) return;
    lines->end = from;
    lacis_run_note(run, LACIS_NOTE, "line %lld, '-1', ends the list and is no edge",
                   (long long)lacis_text_line(text, from));
}

/* Says that the first data line is skipped: as a warning where it could have been an edge by its form, or where it
 * promises another number of edges than follow. */
static void drop_size_line(lacis_run *run, const lacis_text *text, lacis_sample *sample, lacis_lines *lines)
{
    char quote[LACIS_QUOTE], more[64] = "";
    int64_t value[3];
    int n = integers_of(sample->from[0], sample->to[0], lines->delimiter, value);
    bool alike = n == lacis_count_fields(sample->from[1], sample->to[1], lines->delimiter);
    quote_line(sample->from[0], sample->to[0], quote);
    lines->begin = lacis_line_next(sample->from[0], lines->end);
    int64_t follow = n > 1 ? count_data_lines(lines->begin, lines->end) : 0;
    bool short_of = n > 1 && follow != value[n - 1];
    if (short_of) snprintf(more, sizeof more, " (%lld lines follow it)", (long long)follow);
    lacis_run_note(run, alike || short_of ? LACIS_WARNING : LACIS_NOTE,
                   "line %lld, %s, gives sizes and is no edge: skipped%s",
                   (long long)lacis_text_line(text, sample->from[0]), quote, more);
    lacis_sample_take(sample, lines->begin, lines->end);
}

/* -------------------------------------------------------------------------------------------- header row */

/* No field of the first line is a number, but there are fields. */
static bool looks_like_header(const lacis_sample *sample, char delimiter)
{
    const char *a, *b, *next = sample->from[0];
    int64_t integer;
    double real;
    int n = 0;
    while (lacis_field(next, sample->to[0], delimiter, &a, &b, &next)) {
        if (lacis_number_parse(a, b, &integer, &real) != LACIS_NUMBER_BAD) return false;
        n++;
    }
    return n >= 2;
}

static void take_header(lacis_run *run, const lacis_text *text, lacis_sample *sample, lacis_lines *lines,
                        lacis_columns_found *found)
{
    char quote[LACIS_QUOTE];
    lacis_columns_named(sample->from[0], sample->to[0], lines->delimiter, found);
    quote_line(sample->from[0], sample->to[0], quote);
    lacis_run_note(run, LACIS_NOTE, "line %lld, %s, is a header row%s",
                   (long long)lacis_text_line(text, sample->from[0]), quote,
                   found->src < 0 || found->dst < 0 ? " without names that tell src and dst" : "");
    lines->begin = lacis_line_next(sample->from[0], lines->end);
    lacis_sample_take(sample, lines->begin, lines->end);
}

/* ----------------------------------------------------------------------------------------------- all of it */

static lacis_status choose(lacis_run *run, lacis_layout *layout, const lacis_sample *sample, lacis_lines *lines,
                           lacis_columns_found *found)
{
    if (layout->columns != NULL) return lacis_columns_given(run, layout, sample, lines);
    lacis_columns_guess(run, layout, sample, lines, found);
    return LACIS_OK;
}

lacis_status lacis_layout_find(lacis_run *run, lacis_layout *layout, const lacis_text *text, lacis_lines *lines)
{
    lacis_sample sample;
    lacis_columns_found found = {-1, -1, -1, -1};
    find_promises(layout, text);
    lacis_sample_take(&sample, lines->begin, lines->end);
    if (sample.count == 0) return LACIS_OK;
    lines->begin = sample.from[0];
    lines->delimiter = layout->delimiter_given ? layout->delimiter : lacis_sample_delimiter(&sample);
    if (layout->header == 1 || (layout->header < 0 && looks_like_header(&sample, lines->delimiter)))
        take_header(run, text, &sample, lines, &found);
    else if (layout->header < 0 && is_size_line(&sample, lines->delimiter, lines->end))
        drop_size_line(run, text, &sample, lines);
    drop_terminator(run, text, lines);
    return choose(run, layout, &sample, lines, &found);
}
