/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of SWC files to columns; see common_swc.h. The text is read twice by all threads: once to count its samples,
 * once to put each where it belongs, so that memory is asked for once and in full.
 */
#include "common_lines.h"
#include "common_number.h"
#include "common_swc.h"

#include <math.h>

const lacis_column lacis_swc_columns[LACIS_SWC_COLUMNS] = {
    {"cell", false}, {"id", false}, {"type", false},  {"x", true},
    {"y", true},     {"z", true},   {"radius", true}, {"parent", false},
};

enum { FIELDS = 7, FIELD_ID = 0, FIELD_TYPE = 1, FIELD_PARENT = 6 };
static const char *const field_name[FIELDS] = {"id", "type", "x", "y", "z", "radius", "parent"};
/* What a double counts without gaps. */
static const double most_whole = 9007199254740992.0;

typedef enum fault { FINE, FEW, NO_WHOLE, NO_NUMBER, NEGATIVE } fault;

/* What one thread found in one piece of the text. */
typedef struct chunk {
    int64_t first, count; /* samples */
    lacis_swc_seen decimals, comments, more;
    fault fault; /* of its first bad line */
    const char *at, *end;
    int field;
} chunk;

typedef struct reading {
    lacis_swc *swc;
    size_t size; /* bytes a chunk */
    int64_t chunks;
    chunk *chunk;
} reading;

void lacis_swc_begin(lacis_swc *swc, lacis_run *run, const lacis_text *text)
{
    *swc = (lacis_swc){.run = run, .text = text};
}

void lacis_swc_end(lacis_swc *swc)
{
    for (int i = 0; i < LACIS_SWC_COLUMNS; i++)
        lacis_buffer_release(swc->buffer[i]);
    lacis_run_free(swc->run, swc->up);
}

bool lacis_swc_sample(const char *p, const char *end, const char **from, const char **to)
{
    p = lacis_skip_blanks(p, end);
    if (p == end || *p == '#') return false;
    *from = p;
    const char *comment = memchr(p, '#', (size_t)(end - p));
    *to = comment != NULL ? comment : end;
    return true;
}

const char *lacis_swc_line(const lacis_swc *swc, int64_t row)
{
    const char *p = swc->text->begin, *end = swc->text->end, *from, *to;
    for (; p < end; p = lacis_line_next(p, end))
        if (lacis_swc_sample(p, lacis_line_end(p, end), &from, &to) && row-- == 0) return from;
    return end;
}

bool lacis_swc_whole(const char *from, const char *to, int64_t *out, bool *decimal)
{
    double real;
    if (lacis_number_integer(from, to, out)) return true;
    if (!lacis_number_real(from, to, &real) || !(fabs(real) <= most_whole) || real != floor(real)) return false;
    *decimal = true;
    *out = (int64_t)real;
    return true;
}

static void see(lacis_swc_seen *seen, const char *at)
{
    if (seen->count++ == 0) seen->at = at;
}

/* ----------------------------------------------------------------------------------------- one sample */

/* The fields of [p, end), at most 7; *rest is what is behind them. */
static int split(const char *p, const char *end, const char **from, const char **to, const char **rest)
{
    int n = 0;
    for (p = lacis_skip_blanks(p, end); p < end && n < FIELDS; p = lacis_skip_blanks(p, end)) {
        from[n] = p;
        while (p < end && !lacis_blank(*p))
            p++;
        to[n++] = p;
    }
    *rest = p;
    return n;
}

static void bad(chunk *c, fault what, int field, const char *at, const char *end)
{
    c->fault = what;
    c->field = field;
    c->at = at;
    c->end = end;
}

static bool take_whole(chunk *c, int field, const char *const *from, const char *const *to, bool *decimal,
                       int64_t *out)
{
    if (lacis_swc_whole(from[field], to[field], out, decimal)) return true;
    bad(c, NO_WHOLE, field, from[field], to[field]);
    return false;
}

static bool take_numbers(lacis_swc *swc, chunk *c, int64_t row, const char *const *from, const char *const *to)
{
    double *const column[] = {swc->x, swc->y, swc->z, swc->radius};
    for (int i = 0; i < LACIS_COUNT(column); i++) {
        int field = FIELD_TYPE + 1 + i;
        double value;
        if (!lacis_number_real(from[field], to[field], &value) || !isfinite(value)) {
            bad(c, NO_NUMBER, field, from[field], to[field]);
            return false;
        }
        column[i][row] = value;
    }
    return true;
}

/* The sample in [p, end) becomes row `row`; false: its line is a fault. */
static bool take(lacis_swc *swc, chunk *c, int64_t row, const char *p, const char *end)
{
    const char *from[FIELDS], *to[FIELDS], *rest;
    bool decimal = false;
    int64_t parent;
    int n = split(p, end, from, to, &rest);
    if (n < FIELDS) {
        bad(c, FEW, n, p, end);
        return false;
    }
    if (!take_whole(c, FIELD_ID, from, to, &decimal, &swc->id[row]) ||
        !take_whole(c, FIELD_TYPE, from, to, &decimal, &swc->type[row]) || !take_numbers(swc, c, row, from, to) ||
        !take_whole(c, FIELD_PARENT, from, to, &decimal, &parent))
        return false;
    if (swc->id[row] < 0) {
        bad(c, NEGATIVE, FIELD_ID, from[0], to[0]);
        return false;
    }
    swc->parent[row] = parent < 0 ? -1 : parent;
    if (decimal) see(&c->decimals, p);
    if (rest < end) see(&c->more, p);
    return true;
}

/* -------------------------------------------------------------------------------------------- chunks */

static lacis_status count_chunk(void *context, int64_t task, int worker)
{
    reading *r = context;
    const lacis_text *text = r->swc->text;
    const char *p, *end, *from, *to;
    int64_t count = 0;
    lacis_chunk_bounds(text->begin, text->end, r->size, task, &p, &end);
    for (; p < end; p = lacis_line_next(p, end))
        count += lacis_swc_sample(p, lacis_line_end(p, end), &from, &to);
    r->chunk[task].count = count;
    if (worker == 0) lacis_run_progress(r->swc->run, "counting", (double)task / (double)r->chunks);
    return LACIS_OK;
}

static lacis_status read_chunk(void *context, int64_t task, int worker)
{
    reading *r = context;
    chunk *c = &r->chunk[task];
    const lacis_text *text = r->swc->text;
    const char *p, *end, *from, *to;
    int64_t row = c->first, last = c->first + c->count; /* a file that is written meanwhile may have more */
    lacis_chunk_bounds(text->begin, text->end, r->size, task, &p, &end);
    while (p < end && row < last) {
        const char *stop = lacis_line_end(p, end);
        if (lacis_swc_sample(p, stop, &from, &to)) {
            if (!take(r->swc, c, row++, from, to)) return LACIS_OK; /* told once all chunks are through */
            if (to < stop) see(&c->comments, from);
        }
        p = stop < end ? stop + 1 : end;
    }
    if (worker == 0) lacis_run_progress(r->swc->run, "loading", (double)task / (double)r->chunks);
    return LACIS_OK;
}

static lacis_status report(lacis_swc *swc, const chunk *c)
{
    char quote[LACIS_QUOTE];
    const char *what = field_name[c->field < FIELDS ? c->field : 0];
    lacis_text_quote(c->at, c->end, quote);
    switch (c->fault) {
    case FEW:
        return lacis_text_fail(swc->run, swc->text, c->at,
                               "%d columns where a sample has 7 (id type x y z radius parent); mend the line, or "
                               "begin it with # if it is none",
                               c->field);
    case NO_WHOLE:
        return lacis_text_fail(swc->run, swc->text, c->at, "the %s %s is no whole number; mend it", what, quote);
    case NEGATIVE:
        return lacis_text_fail(swc->run, swc->text, c->at, "the id %s is negative; ids count from 0 or 1", quote);
    default:
        return lacis_text_fail(swc->run, swc->text, c->at, "the %s %s is no finite number; mend it", what, quote);
    }
}

static void add_seen(lacis_swc_seen *to, const lacis_swc_seen *more)
{
    if (to->count == 0) to->at = more->at;
    to->count += more->count;
}

static lacis_status gather(reading *r)
{
    lacis_swc *swc = r->swc;
    for (int64_t i = 0; i < r->chunks; i++) {
        if (r->chunk[i].fault != FINE) return report(swc, &r->chunk[i]);
        add_seen(&swc->decimals, &r->chunk[i].decimals);
        add_seen(&swc->comments, &r->chunk[i].comments);
        add_seen(&swc->more, &r->chunk[i].more);
    }
    return LACIS_OK;
}

static lacis_status make_columns(lacis_swc *swc)
{
    for (int i = 0; i < LACIS_SWC_COLUMNS; i++)
        LACIS_TRY(lacis_buffer_new(swc->run, (uint64_t)swc->count * sizeof(int64_t), &swc->buffer[i]));
    memset(lacis_buffer_data(swc->buffer[LACIS_SWC_CELL]), 0, (size_t)swc->count * sizeof(int64_t));
    swc->id = lacis_buffer_data(swc->buffer[LACIS_SWC_ID]);
    swc->type = lacis_buffer_data(swc->buffer[LACIS_SWC_TYPE]);
    swc->x = lacis_buffer_data(swc->buffer[LACIS_SWC_X]);
    swc->y = lacis_buffer_data(swc->buffer[LACIS_SWC_Y]);
    swc->z = lacis_buffer_data(swc->buffer[LACIS_SWC_Z]);
    swc->radius = lacis_buffer_data(swc->buffer[LACIS_SWC_RADIUS]);
    swc->parent = lacis_buffer_data(swc->buffer[LACIS_SWC_PARENT]);
    return LACIS_OK;
}

static lacis_status read_all(reading *r)
{
    lacis_swc *swc = r->swc;
    LACIS_TRY(lacis_run_parallel(swc->run, r->chunks, count_chunk, r));
    for (int64_t i = 0; i < r->chunks; i++) {
        r->chunk[i].first = swc->count;
        swc->count += r->chunk[i].count;
    }
    if (swc->count == 0)
        return lacis_run_fail(swc->run, LACIS_FORMAT,
                              "%s: no sample in it: each is a line of id type x y z radius parent", swc->text->path);
    if (swc->count > INT32_MAX)
        return lacis_run_fail(swc->run, LACIS_RANGE, "%s: %lld samples; a cell has at most %d", swc->text->path,
                              (long long)swc->count, INT32_MAX);
    LACIS_TRY(make_columns(swc));
    LACIS_TRY(lacis_run_parallel(swc->run, r->chunks, read_chunk, r));
    return gather(r);
}

lacis_status lacis_swc_read(lacis_swc *swc)
{
    const lacis_text *text = swc->text;
    reading r = {.swc = swc};
    r.size = lacis_chunk_size((size_t)(text->end - text->begin), lacis_run_threads(swc->run));
    r.chunks = lacis_chunk_count(text->begin, text->end, r.size);
    LACIS_TRY(lacis_run_alloc(swc->run, (uint64_t)r.chunks * sizeof *r.chunk, &r.chunk));
    memset(r.chunk, 0, (size_t)r.chunks * sizeof *r.chunk);
    lacis_status status = read_all(&r);
    lacis_run_free(swc->run, r.chunk);
    return status;
}
