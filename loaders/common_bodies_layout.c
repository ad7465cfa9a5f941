/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fields of a text of bodies are; see common_bodies_text.h.
 *
 * Princeton's format is that of the n-body assignment of R. Sedgewick and K. Wayne: the number of bodies, the radius
 * of their universe, then x, y, vx, vy, m and how to draw it (colours, a picture) of each.
 */
#include "common_bodies_text.h"
#include "common_number.h"

#include <math.h>

enum { PRINCETON_FIELDS = 5 };

/* Blanks, or the first of these that stands in the line. */
static char delimiter_of(const char *p, const char *end)
{
    if (memchr(p, ',', (size_t)(end - p)) != NULL) return ',';
    return memchr(p, ';', (size_t)(end - p)) != NULL ? ';' : 0;
}

static bool is_number(const char *p, const char *end, char delimiter)
{
    const char *from, *to, *next;
    double value;
    return lacis_field(p, end, delimiter, &from, &to, &next) && lacis_number_real(from, to, &value);
}

/* The first line that is neither empty nor a comment; end where there is none. */
static const char *first_row(const lacis_text *text)
{
    const char *p = text->begin;
    while (p < text->end && lacis_line_empty(p, lacis_line_end(p, text->end)))
        p = lacis_line_next(p, text->end);
    return p;
}

/* ------------------------------------------------------------------------------------------- names */

static bool has(const lacis_bodies_layout *layout, lacis_body_column column)
{
    return (layout->columns >> column & 1) != 0;
}

/* NULL: the names make bodies. */
static const char *lack(const lacis_bodies_layout *layout)
{
    bool ax = has(layout, LACIS_BODY_AX), ay = has(layout, LACIS_BODY_AY), az = has(layout, LACIS_BODY_AZ);
    if (!has(layout, LACIS_BODY_X) || !has(layout, LACIS_BODY_Y))
        return "bodies need columns x and y (and m, z, vx, vy, vz, eps, id ... as far as there are)";
    if (ax != ay || ay != az) return "ax, ay and az go together";
    return NULL;
}

static lacis_status refuse(lacis_run *run, const lacis_text *text, const char *at, int64_t offset, const char *cause)
{
    if (text != NULL) return lacis_text_fail(run, text, at, "%s", cause);
    return lacis_run_fail_at(run, LACIS_RANGE, offset, NULL, "columns: %s", cause);
}

lacis_status lacis_bodies_layout_names(lacis_run *run, const lacis_text *text, const char *from, const char *to,
                                       int64_t offset, lacis_bodies_layout *layout)
{
    const char *a, *b, *next = from;
    layout->fields = 0;
    layout->columns = 0;
    for (; lacis_field(next, to, layout->delimiter, &a, &b, &next); layout->fields++) {
        int column = lacis_body_named(a, b);
        if (layout->fields == LACIS_BODY_FIELDS) return refuse(run, text, a, offset, "more than 64 columns");
        if (column >= 0 && has(layout, (lacis_body_column)column))
            return refuse(run, text, a, offset,
                          lacis_run_text(run, "column %s is there twice", lacis_body_names[column]));
        layout->column[layout->fields] = (signed char)column;
        if (column >= 0) layout->columns |= 1U << column;
    }
    const char *cause = lack(layout);
    if (cause != NULL) return refuse(run, text, from, offset, cause);
    if (!has(layout, LACIS_BODY_M))
        lacis_run_note(
            run, LACIS_WARNING,
            "no column m: all masses are 0 (WITH (columns = 'x y z m') names columns that no header does)");
    return LACIS_OK;
}

/* Column names and nothing else, mass and place among them. A header in a comment, as NumPy's savetxt writes it, has
 * its '#' cut off by the caller. */
static bool all_names(const char *p, const char *end, char delimiter)
{
    const char *a, *b, *next = p;
    unsigned columns = 0, need = 1U << LACIS_BODY_M | 1U << LACIS_BODY_X | 1U << LACIS_BODY_Y;
    while (lacis_field(next, end, delimiter, &a, &b, &next)) {
        int column = lacis_body_named(a, b);
        if (column < 0) return false;
        columns |= 1U << column;
    }
    return (columns & need) == need;
}

/* A comment before the first row that is a header: behind its '#'; NULL: none. */
static const char *header_comment(const lacis_text *text, const char *row, const char **to)
{
    for (const char *p = text->begin; p < row; p = lacis_line_next(p, text->end)) {
        const char *end = lacis_line_end(p, text->end), *at = lacis_skip_blanks(p, end);
        if (at >= end || *at != '#') continue;
        at = lacis_skip_blanks(at + 1, end);
        *to = end;
        if (all_names(at, end, delimiter_of(at, end))) return at;
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------- Princeton */

static int numbers_in(const char *p, const char *end, int most)
{
    const char *from, *to, *next = p;
    double value;
    int count = 0;
    while (count < most && lacis_field(next, end, 0, &from, &to, &next) && lacis_number_real(from, to, &value))
        count++;
    return count;
}

/* The only field of the line at *p; false where there are none or more. *p moves to the next line. */
static bool only_field(const lacis_text *text, const char **p, const char **from, const char **to)
{
    const char *next, *end = lacis_line_end(*p, text->end);
    bool one = lacis_field(*p, end, 0, from, to, &next) && next == NULL;
    *p = lacis_line_next(*p, text->end);
    return one;
}

/* Where the bodies begin, or NULL: it is another format. */
static const char *princeton(const lacis_text *text, int64_t *count, const char **count_at)
{
    const char *from, *to, *p = text->begin;
    double radius;
    if (!only_field(text, &p, &from, &to) || !lacis_number_integer(from, to, count) || *count < 0) return NULL;
    *count_at = from;
    if (!only_field(text, &p, &from, &to) || !lacis_number_real(from, to, &radius) || !isfinite(radius)) return NULL;
    const char *row = p;
    while (row < text->end && lacis_line_empty(row, lacis_line_end(row, text->end)))
        row = lacis_line_next(row, text->end);
    if (*count == 0 && row >= text->end) return p;
    bool good = numbers_in(row, lacis_line_end(row, text->end), PRINCETON_FIELDS) == PRINCETON_FIELDS;
    return row < text->end && good ? p : NULL;
}

/* Sets the end behind `count` rows; prose may follow, but no further bodies. */
static lacis_status bound_rows(lacis_run *run, lacis_bodies_layout *layout, int64_t count, const char *count_at)
{
    const lacis_text *text = layout->text;
    const char *p = layout->begin;
    int64_t rows = 0;
    for (; p < text->end; p = lacis_line_next(p, text->end)) {
        const char *end = lacis_line_end(p, text->end);
        if (lacis_line_empty(p, end)) continue;
        if (rows == count && numbers_in(p, end, PRINCETON_FIELDS) < PRINCETON_FIELDS) break;
        if (rows == count)
            return lacis_text_fail(run, text, p, "the file says %lld bodies, and more follow; mend its first line",
                                   (long long)count);
        rows++;
    }
    layout->end = p;
    if (rows == count) return LACIS_OK;
    return lacis_text_fail(run, text, count_at, "%lld bodies are announced, and only %lld came; fetch the file again",
                           (long long)count, (long long)rows);
}

static lacis_status use_princeton(lacis_run *run, lacis_bodies_layout *layout, int64_t count, const char *count_at)
{
    static const char names[] = "x y vx vy m";
    LACIS_TRY(lacis_bodies_layout_names(run, layout->text, names, names + sizeof names - 1, -1, layout));
    layout->more = true;
    return bound_rows(run, layout, count, count_at);
}

/* ----------------------------------------------------------------------------------------- finding */

/* Names that the user gave: commas are as good as blanks, also where the file has others. */
static lacis_status use_option(lacis_run *run, const char *names, int64_t offset, lacis_bodies_layout *layout)
{
    char delimiter = layout->delimiter;
    layout->delimiter = delimiter_of(names, names + strlen(names));
    lacis_status status = lacis_bodies_layout_names(run, NULL, names, names + strlen(names), offset, layout);
    layout->delimiter = delimiter;
    return status;
}

static lacis_status use_header(lacis_run *run, const char *row, const char *end, lacis_bodies_layout *layout)
{
    const char *to, *from = header_comment(layout->text, row, &to);
    if (!is_number(row, end, layout->delimiter)) {
        layout->begin = lacis_line_next(row, layout->text->end);
        return lacis_bodies_layout_names(run, layout->text, row, end, -1, layout);
    }
    if (from == NULL)
        return lacis_text_fail(run, layout->text, row,
                               "no line names the columns; say them: WITH (columns = 'x y z vx vy vz m')");
    char delimiter = layout->delimiter;
    layout->delimiter = delimiter_of(from, to);
    lacis_status status = lacis_bodies_layout_names(run, layout->text, from, to, -1, layout);
    layout->delimiter = delimiter;
    return status;
}

lacis_status lacis_bodies_layout_find(lacis_run *run, const lacis_text *text, const lacis_options *given,
                                      lacis_bodies_layout *out)
{
    const char *names = lacis_option_text(given, "columns"), *row = first_row(text), *count_at;
    const char *end = lacis_line_end(row, text->end);
    int64_t count;
    *out = (lacis_bodies_layout){.text = text, .begin = row, .end = text->end, .delimiter = delimiter_of(row, end)};
    if (names != NULL) {
        if (row < text->end && !is_number(row, end, out->delimiter)) {
            out->begin = lacis_line_next(row, text->end);
            const char *next = out->begin; /* the header need not have the rows' delimiter, which counts */
            out->delimiter = delimiter_of(next, lacis_line_end(next, text->end));
        }
        return use_option(run, names, lacis_option_offset(given, "columns"), out);
    }
    const char *body = princeton(text, &count, &count_at);
    if (body != NULL) {
        out->begin = body;
        return use_princeton(run, out, count, count_at);
    }
    if (row >= text->end) return lacis_text_fail(run, text, text->begin, "the file is empty; bodies need a header");
    return use_header(run, row, end, out);
}

/* Whether some rows from p on, up to `count`, are bodies, of which one has a decimal point or an exponent: lines of
 * integers might be an adjacency list. */
static bool looks_like_princeton(const lacis_text *text, const char *p, int64_t count)
{
    enum { LOOK = 16 };
    bool real = false;
    for (int64_t rows = 0; rows < count && rows < LOOK; p = lacis_line_next(p, text->end)) {
        const char *end = lacis_line_end(p, text->end);
        if (p >= text->end) break; /* cut off: reading it will say so */
        if (lacis_line_empty(p, end)) continue;
        if (numbers_in(p, end, PRINCETON_FIELDS) < PRINCETON_FIELDS) return false;
        real = real || memchr(p, '.', (size_t)(end - p)) != NULL || memchr(p, 'E', (size_t)(end - p)) != NULL ||
               memchr(p, 'e', (size_t)(end - p)) != NULL;
        rows++;
    }
    return real;
}

int lacis_bodies_layout_sniff(const lacis_text *text)
{
    const char *row = first_row(text), *end = lacis_line_end(row, text->end), *to, *count_at;
    int64_t count;
    if (row < text->end && all_names(row, end, delimiter_of(row, end))) return 85;
    if (row < text->end && header_comment(text, row, &to) != NULL && is_number(row, end, delimiter_of(row, end)))
        return 80;
    const char *body = princeton(text, &count, &count_at);
    return body != NULL && looks_like_princeton(text, body, count) ? 80 : 0;
}
