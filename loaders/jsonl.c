/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON lines: one flat object of numbers a line. Graphs ({"src":1,"dst":2,"value":3}), vectors ({"i":0,"value":3})
 * and tables. Numbers that JSON has not (nan, inf) stand in quotes. The engine calls it through its descriptor.
 */
#include "common_columns_out.h"
#include "common_options.h"
#include "common_records.h"

#include <math.h>

static const lacis_option_spec options[] = {
    LACIS_OPTION_DIRECTED,
    LACIS_OPTION_DUPLICATES,
    LACIS_OPTION_TYPE,
};

/* ------------------------------------------------------------------------------------------ loading */

static lacis_status expected(lacis_records *records, const char *at, const char *end, const char *what)
{
    char quote[LACIS_QUOTE];
    return lacis_text_fail(records->run, records->text, at,
                           "%s should stand before %s; a line is like {\"src\":1,\"dst\":2}", what,
                           at < end ? lacis_text_quote(at, end, quote) : "the end of the line");
}

static bool accept(const char **p, const char *end, char c)
{
    *p = lacis_skip_blanks(*p, end);
    if (*p >= end || **p != c) return false;
    ++*p;
    return true;
}

/* "text" without escapes. */
static bool accept_string(const char **p, const char *end, const char **from, const char **to)
{
    const char *start = *p;
    if (!accept(p, end, '"')) return false;
    const char *close = memchr(*p, '"', (size_t)(end - *p));
    if (close == NULL) {
        *p = start;
        return false;
    }
    *from = *p;
    *to = close;
    *p = close + 1;
    return true;
}

static lacis_status read_member(lacis_records *records, const char **p, const char *end, uint64_t *seen)
{
    const char *from, *to;
    if (!accept_string(p, end, &from, &to)) return expected(records, *p, end, "a name in quotes");
    if (records->room == 0 && lacis_records_find(records, from, to) < 0)
        LACIS_TRY(lacis_records_column(records, from, to));
    int column = lacis_records_find(records, from, to);
    if (column < 0 || (*seen >> column & 1) != 0)
        return lacis_text_fail(
            records->run, records->text, from,
            "a name that the first line has not, or that comes twice; all lines have the same ones");
    *seen |= (uint64_t)1 << column;
    if (!accept(p, end, ':')) return expected(records, *p, end, "':'");
    if (!accept_string(p, end, &from, &to)) {
        from = to = *p = lacis_skip_blanks(*p, end);
        while (to < end && *to != ',' && *to != '}' && !lacis_blank(*to)) {
            to++;
        }
        *p = to;
    }
    if (records->room == 0) return LACIS_OK; /* the first line is read twice: for its names, then for its numbers */
    return lacis_records_set(records, column, from, to);
}

static lacis_status read_object(lacis_records *records, const char *p, const char *end)
{
    uint64_t seen = 0;
    int members = 0;
    if (!accept(&p, end, '{')) return expected(records, p, end, "'{'");
    do {
        LACIS_TRY(read_member(records, &p, end, &seen));
        members++;
    } while (accept(&p, end, ','));
    if (!accept(&p, end, '}')) return expected(records, p, end, "',' or '}'");
    if (lacis_skip_blanks(p, end) < end) return expected(records, p, end, "the end of the line");
    if (members < records->columns)
        return lacis_text_fail(records->run, records->text, p, "%d numbers where the first line has %d; mend it",
                               members, records->columns);
    return LACIS_OK;
}

static lacis_status read_lines(lacis_records *records, const lacis_text *text)
{
    for (const char *p = text->begin; p < text->end; p = lacis_line_next(p, text->end)) {
        const char *end = lacis_line_end(p, text->end);
        if (lacis_skip_blanks(p, end) == end) continue;
        if (records->room == 0) LACIS_TRY(read_object(records, p, end));
        LACIS_TRY(lacis_records_room(records));
        LACIS_TRY(read_object(records, p, end));
        records->count++;
    }
    return LACIS_OK;
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    lacis_text text;
    lacis_records *records = NULL;
    LACIS_TRY(lacis_text_open(run, source, &text));
    lacis_status status = lacis_run_alloc(run, sizeof *records, &records);
    if (status == LACIS_OK) {
        lacis_records_begin(records, run, &text);
        status = read_lines(records, &text);
        if (status == LACIS_OK) status = lacis_records_make(records, given, out);
        lacis_records_end(records);
    }
    lacis_run_free(run, records);
    lacis_text_close(run, &text);
    return status;
}

static int sniff(const lacis_source *source)
{
    lacis_text text;
    lacis_text_peek(source, &text);
    const char *end = text.end - text.begin > 4096 ? text.begin + 4096 : text.end, *p = text.begin;
    return accept(&p, end, '{') && accept(&p, end, '"') ? 90 : 0;
}

/* ------------------------------------------------------------------------------------------- saving */

static void begin(lacis_writer *w)
{
    lacis_writer_text(w, "{");
}

static void before(lacis_writer *w, int column, const char *name)
{
    lacis_writer_text(w, column > 0 ? ",\"" : "\"");
    lacis_writer_text(w, name);
    lacis_writer_text(w, "\":");
}

static void put_real(lacis_writer *w, const void *data, lacis_dtype storage, int64_t index)
{
    bool quoted = !isfinite(lacis_value_double(data, storage, index));
    if (quoted) lacis_writer_text(w, "\"");
    lacis_writer_value(w, data, storage, index);
    if (quoted) lacis_writer_text(w, "\"");
}

static void end_row(lacis_writer *w)
{
    lacis_writer_text(w, "}\n");
}

static lacis_status save(lacis_run *run, const lacis_array *array, FILE *file)
{
    static const lacis_row_format format = {NULL, begin, before, put_real, end_row};
    return lacis_save_rows(run, array, file, &format);
}

static const lacis_holding holdings[] = {
    {.kind = LACIS_CSR},       {.kind = LACIS_VECTOR}, {.kind = LACIS_TABLE}, {.kind = LACIS_INTERLEAVED},
    {.kind = LACIS_SYMMETRIC}, {.kind = LACIS_BODIES}, {.kind = LACIS_GRID}};

const lacis_loader lacis_loader_jsonl = {
    .name = "jsonl",
    .summary = "JSON lines: one object of numbers a line",
    .extensions = ".jsonl .ndjson",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
    .save = save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
    .pieces = true,
};
