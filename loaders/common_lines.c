/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines to edges; see common_lines.h. Nearly all lines of nearly all files are two or three plain numbers: read_fast
 * takes those and hands any other line to read_line, which knows everything.
 */
#include "common_lines.h"

#include "common_fill.h"
#include "common_number.h"

#include <string.h>

/* How read_fast ends a line behind the two ids. */
typedef enum tail {
    TAIL_NONE,  /* the line must end */
    TAIL_VALUE, /* a value, then the line must end */
    TAIL_SKIP   /* whatever there is was checked in the first reading */
} tail;

enum { CHUNK_LEAST = 1 << 16, CHUNK_MOST = 1 << 22 };

void lacis_lines_plain(lacis_lines *lines, const lacis_text *text, const char *begin, int threads)
{
    *lines = (lacis_lines){.text = text,
                           .begin = begin,
                           .end = text->end,
                           .dst = 1,
                           .value = -1,
                           .imag = -1,
                           .fields = 2,
                           .src_low = INT64_MIN,
                           .src_high = INT64_MAX,
                           .dst_low = INT64_MIN,
                           .dst_high = INT64_MAX};
    lacis_lines_cut(lines, threads);
}

size_t lacis_chunk_size(size_t bytes, int threads)
{
    size_t size = bytes / (8 * (size_t)threads);
    if (size > CHUNK_MOST) return CHUNK_MOST;
    return size < CHUNK_LEAST ? CHUNK_LEAST : size;
}

int64_t lacis_chunk_count(const char *begin, const char *end, size_t size)
{
    return (int64_t)(((size_t)(end - begin) + size - 1) / size);
}

static const char *chunk_edge(const char *begin, const char *end, size_t size, int64_t chunk)
{
    if (chunk == 0) return begin;
    size_t at = (size_t)chunk * size;
    if (at >= (size_t)(end - begin)) return end;
    return lacis_line_next(begin + at - 1, end);
}

void lacis_chunk_bounds(const char *begin, const char *end, size_t size, int64_t chunk, const char **from,
                        const char **to)
{
    *from = chunk_edge(begin, end, size, chunk);
    *to = chunk_edge(begin, end, size, chunk + 1);
}

void lacis_lines_cut(lacis_lines *lines, int threads)
{
    lines->chunk = lacis_chunk_size((size_t)(lines->end - lines->begin), threads);
}

/* ---------------------------------------------------------------------------------------- any line */

static lacis_status fault(lacis_sink *sink, lacis_line_fault code, const char *at, const char *end, int64_t figure)
{
    sink->fault = (lacis_fault){.code = (int)code, .at = at, .end = end, .figure = figure};
    return LACIS_FORMAT;
}

/* The value of an edge, as the sink wants it. */
static lacis_status read_value(lacis_sink *sink, const char *from, const char *to, double *imag)
{
    int64_t integer = 0;
    double real = 0;
    if (imag != NULL)
        return lacis_number_real(from, to, imag) ? LACIS_OK : fault(sink, LACIS_LINE_VALUE, from, to, 0);
    lacis_edge_value *value = &sink->value[sink->count];
    lacis_number_kind kind = lacis_number_parse(from, to, &integer, &real);
    if (kind == LACIS_NUMBER_BAD) return fault(sink, LACIS_LINE_VALUE, from, to, 0);
    if (sink->want == LACIS_WANT_ANY && kind == LACIS_NUMBER_INTEGER) {
        lacis_seen_integer(&sink->seen, integer);
    } else if (sink->want == LACIS_WANT_ANY) {
        lacis_seen_real(&sink->seen, real);
        sink->seen.big |= kind == LACIS_NUMBER_BIG;
    }
    if (sink->want == LACIS_WANT_INTEGER)
        value->integer = integer;
    else
        value->real = real;
    return LACIS_OK;
}

static lacis_status read_id(lacis_sink *sink, const char *from, const char *to, int64_t low, int64_t high,
                            int64_t *id)
{
    if (!lacis_number_integer(from, to, id)) return fault(sink, LACIS_LINE_ID, from, to, 0);
    return *id >= low && *id <= high ? LACIS_OK : fault(sink, LACIS_LINE_RANGE, from, to, *id);
}

/* The fields of a line [p, end) that is no comment. */
static lacis_status read_fields(const lacis_lines *l, const char *p, const char *end, lacis_sink *sink)
{
    const char *from = p, *to = p, *next = p;
    int64_t src = 0, dst = 0;
    int field = 0;
    bool values = sink->want != LACIS_WANT_NONE;
    for (; lacis_field(next, end, l->delimiter, &from, &to, &next); field++) {
        if (field == l->fields && !l->more) return fault(sink, LACIS_LINE_MANY, from, to, l->fields);
        if (field == l->src)
            LACIS_TRY(read_id(sink, from, to, l->src_low, l->src_high, &src));
        else if (field == l->dst)
            LACIS_TRY(read_id(sink, from, to, l->dst_low, l->dst_high, &dst));
        else if (values && field == l->value)
            LACIS_TRY(read_value(sink, from, to, NULL));
        else if (values && field == l->imag)
            LACIS_TRY(read_value(sink, from, to, &sink->imag[sink->count]));
    }
    if (field < l->fields) return fault(sink, LACIS_LINE_FEW, to, end, l->fields);
    if (l->forbid_loops && src == dst) return fault(sink, LACIS_LINE_LOOP, p, end, src);
    return lacis_sink_put(sink, src, dst);
}

/* Any line: [p, end) without its LF. */
static lacis_status read_line(const lacis_lines *l, const char *p, const char *end, lacis_sink *sink)
{
    sink->line = p;
    p = lacis_skip_blanks(p, end);
    if (lacis_line_empty(p, end)) return LACIS_OK;
    if (l->letter != 0) {
        if (*p == 'c') return LACIS_OK;
        if (*p != l->letter || p + 1 >= end || !lacis_blank(p[1])) return fault(sink, LACIS_LINE_LETTER, p, end, 0);
        p++;
    }
    return read_fields(l, p, end, sink);
}

/* -------------------------------------------------------------------------------------- plain lines */

static inline unsigned digit_at(const char *p)
{
    return (unsigned)(unsigned char)*p - (unsigned)'0';
}

/* One to 18 digits; false where there are none or more. Some byte that is no digit must follow in memory. */
static inline bool fast_integer(const char **at, uint64_t *out)
{
    const char *p = *at;
    unsigned digit = digit_at(p);
    if (digit > 9) return false;
    uint64_t value = digit;
    while ((digit = digit_at(++p)) <= 9) {
        value = 10 * value + digit;
    }
    bool fits = p - *at <= 18;
    *at = p;
    *out = value;
    return fits;
}

/* The value at *at: digits, perhaps with a sign and a point. *whole: it has none; then it is given as an integer,
 * unless reals are wanted. */
static inline bool fast_value(const char **at, lacis_edge_value *value, lacis_want want, bool *whole)
{
    const char *p = *at;
    bool negative = *p == '-';
    p += negative;
    const char *start = p;
    uint64_t mantissa;
    if (!fast_integer(&p, &mantissa)) return false;
    *whole = *p != '.';
    double real = (double)mantissa;
    if (!*whole) {
        const char *point = p++;
        unsigned digit;
        for (; (digit = digit_at(p)) <= 9; p++) {
            mantissa = 10 * mantissa + digit;
        }
        if (p - start > 16 || mantissa >> 53 != 0) return false;
        real = (double)mantissa / lacis_power_of_ten[p - point - 1];
    }
    if (*whole && want != LACIS_WANT_REAL)
        value->integer = negative ? -(int64_t)mantissa : (int64_t)mantissa;
    else
        value->real = negative ? -real : real;
    *at = p;
    return true;
}

static inline const char *fast_gap(const char *p, char delimiter)
{
    if (delimiter != 0 && *p == delimiter) p++;
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    return p;
}

/* The line at p, which an LF ends: NULL where it is not plain, else the beginning of the next. */
static inline const char *fast_line(const char *p, const char *end, char delimiter, tail how, lacis_sink *sink,
                                    lacis_want want, int n, const lacis_lines *l)
{
    uint64_t src, dst;
    bool whole = false;
    lacis_edge_value value;
    if (l->letter != 0) {
        if (*p != l->letter || p[1] != ' ') return NULL;
        p += 2;
    }
    if (!fast_integer(&p, &src)) return NULL;
    const char *gap = p;
    p = fast_gap(p, delimiter);
    if (p == gap || (delimiter != 0 && *gap != delimiter) || !fast_integer(&p, &dst)) return NULL;
    if ((int64_t)src < l->src_low || (int64_t)src > l->src_high) return NULL;
    if ((int64_t)dst < l->dst_low || (int64_t)dst > l->dst_high) return NULL;
    if (how == TAIL_VALUE) {
        gap = p;
        p = fast_gap(p, delimiter);
        if (p == gap || (delimiter != 0 && *gap != delimiter) || !fast_value(&p, &value, want, &whole)) return NULL;
    }
    if (how == TAIL_SKIP) {
        if (!lacis_blank(*p) && *p != '\n' && *p != delimiter) return NULL;
        p = lacis_line_end(p, end);
    }
    while (*p == ' ' || *p == '\t' || *p == '\r') {
        p++;
    }
    if (*p != '\n') return NULL;
    if (how == TAIL_VALUE) {
        if (want == LACIS_WANT_ANY && whole)
            lacis_seen_integer(&sink->seen, value.integer);
        else if (want == LACIS_WANT_ANY)
            lacis_seen_real(&sink->seen, value.real);
        sink->value[n] = value;
    }
    sink->src[n] = (int64_t)src;
    sink->dst[n] = (int64_t)dst;
    return p + 1;
}

/* All lines of [p, end), the last of which ends with LF. Compiled once for each way that lines end. */
static inline __attribute__((always_inline)) lacis_status
read_fast(const lacis_lines *l, const char *p, const char *end, lacis_sink *sink, tail how, lacis_want want)
{
    const char delimiter = l->delimiter;
    while (p < end) {
        const char *next = NULL;
        while (p < end && sink->count < LACIS_BATCH &&
               (next = fast_line(p, end, delimiter, how, sink, want, sink->count, l)) != NULL) {
            sink->count++;
            p = next;
        }
        if (sink->count == LACIS_BATCH) LACIS_TRY(lacis_sink_flush(sink));
        if (p < end && next == NULL) {
            next = lacis_line_end(p, end);
            LACIS_TRY(read_line(l, p, next, sink));
            p = next + 1;
        }
    }
    return LACIS_OK;
}

static lacis_status read_slow(const lacis_lines *l, const char *p, const char *end, lacis_sink *sink)
{
    while (p < end) {
        const char *stop = lacis_line_end(p, end);
        LACIS_TRY(read_line(l, p, stop, sink));
        p = stop + 1;
    }
    return LACIS_OK;
}

static bool fast_fits(const lacis_lines *l, const lacis_sink *sink, tail *how)
{
    if (sink->precise || l->src != 0 || l->dst != 1 || l->forbid_loops) return false;
    if (sink->want == LACIS_WANT_NONE) {
        *how = l->fields == 2 && !l->more ? TAIL_NONE : TAIL_SKIP;
        return *how == TAIL_NONE || l->value_checked;
    }
    *how = TAIL_VALUE;
    return l->fields == 3 && !l->more && l->value == 2 && l->imag < 0;
}

static lacis_status read_chunk(void *context, int64_t chunk, lacis_sink *sink)
{
    const lacis_lines *l = context;
    const char *p, *end;
    tail how;
    lacis_chunk_bounds(l->begin, l->end, l->chunk, chunk, &p, &end);
    if (p >= end) return LACIS_OK;
    if (!fast_fits(l, sink, &how)) return read_slow(l, p, end, sink);
    const char *last = memrchr(p, '\n', (size_t)(end - p));
    const char *fast_end = last != NULL ? last + 1 : p;
    if (how == TAIL_NONE)
        LACIS_TRY(read_fast(l, p, fast_end, sink, TAIL_NONE, LACIS_WANT_NONE));
    else if (how == TAIL_SKIP)
        LACIS_TRY(read_fast(l, p, fast_end, sink, TAIL_SKIP, LACIS_WANT_NONE));
    else
        LACIS_TRY(read_fast(l, p, fast_end, sink, TAIL_VALUE, sink->want));
    return read_slow(l, fast_end, end, sink);
}

lacis_edge_reader lacis_lines_reader(lacis_lines *lines)
{
    return (lacis_edge_reader){.context = lines,
                               .chunks = lacis_chunk_count(lines->begin, lines->end, lines->chunk),
                               .read = read_chunk,
                               .report = lacis_lines_report,
                               .phase = "loading"};
}

/* ------------------------------------------------------------------------------------------- faults */

static lacis_status report_range(const lacis_lines *l, lacis_run *run, const lacis_fault *f)
{
    const char *hint = f->figure == 0 && l->one_based
                           ? "indices count from 1; if the file counts from 0, load it WITH "
                             "(base = 0)"
                           : "mend the line";
    return lacis_text_fail(run, l->text, f->at, "index %lld lies outside what %s allows; %s", (long long)f->figure,
                           l->range, hint);
}

static int fields_of(const lacis_lines *l, const char *at)
{
    const char *p = at;
    while (p > l->text->start && p[-1] != '\n') {
        p--;
    }
    const char *end = lacis_line_end(at, l->text->end), *from, *to;
    int n = 0;
    while (lacis_field(p, end, l->delimiter, &from, &to, &p)) {
        n++;
    }
    return l->letter != 0 ? n - 1 : n;
}

lacis_status lacis_lines_report(void *context, lacis_run *run, const lacis_fault *f)
{
    const lacis_lines *l = context;
    char quote[LACIS_QUOTE];
    lacis_text_quote(f->at, f->end, quote);
    switch (f->code) {
    case LACIS_LINE_FEW:
        return lacis_text_fail(run, l->text, f->at, "%d field(s) where %lld are expected; mend the line or its end",
                               fields_of(l, f->at), (long long)f->figure);
    case LACIS_LINE_MANY:
        return lacis_text_fail(run, l->text, f->at,
                               "%d fields where %lld are expected, from %s on; if a second section begins here, cut "
                               "the file",
                               fields_of(l, f->at), (long long)f->figure, quote);
    case LACIS_LINE_ID:
        return lacis_text_fail(run, l->text, f->at,
                               "%s is not an integer id; mend the line, or cut off what is no edge list (columns = "
                               "'src,dst' says which fields are ids)",
                               quote);
    case LACIS_LINE_RANGE:
        return report_range(l, run, f);
    case LACIS_LINE_VALUE:
        return lacis_text_fail(run, l->text, f->at, "%s is not a number; mend the line", quote);
    case LACIS_LINE_LETTER:
        return lacis_text_fail(run, l->text, f->at,
                               "%s does not begin with '%c', as a line with an edge does; mend it", quote, l->letter);
    case LACIS_LINE_LOOP:
        return lacis_text_fail(run, l->text, f->at,
                               "an entry on the diagonal of a skew-symmetric matrix; such a matrix has none");
    default: /* LACIS_FAULT_DUPLICATE */
        lacis_text_quote(f->at, lacis_line_end(f->at, l->text->end), quote);
        return lacis_text_fail(run, l->text, f->at,
                               "%s gives an edge for the second time; duplicates = 'sum' or another rule joins them",
                               quote);
    }
}
