/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines to bodies: counted in chunks side by side, then read into their places; see common_bodies_text.h.
 */
#include "common_bodies_text.h"
#include "common_lines.h"
#include "common_number.h"

/* What is wrong with a line, for the thread that may tell it. */
typedef struct fault {
    const char *at, *end; /* NULL: nothing */
    const char *cause;
    int column;
} fault;

typedef struct reading {
    const lacis_bodies_layout *layout;
    const lacis_bodies_maker *maker;
    lacis_dtype dtype;
    size_t size;    /* of a chunk */
    int64_t *first; /* of each chunk: rows in it, then rows before it */
    fault *fault;   /* of each chunk */
    double time;
} reading;

/* ------------------------------------------------------------------------------------------- lines */

static bool fail(fault *f, const char *from, const char *to, int column, const char *cause)
{
    *f = (fault){from, to, cause, column};
    return false;
}

/* One field of column `column` (>= 0) into its place. */
static bool read_field(lacis_dtype dtype, int column, const char *from, const char *to, double *real, int64_t *id,
                       fault *f)
{
    if (column == LACIS_BODY_ID)
        return lacis_number_integer(from, to, id) || fail(f, from, to, column, "is no whole number of 64 bits");
    if (!lacis_number_real(from, to, &real[column])) return fail(f, from, to, column, "is not a number");
    const char *cause = lacis_body_fault((lacis_body_column)column, dtype, real[column]);
    return cause == NULL || fail(f, from, to, column, cause);
}

/* The line [p, end) that is not empty. real has a place for each column; what the file lacks stays as it is. */
static bool read_line(const lacis_bodies_layout *layout, lacis_dtype dtype, const char *p, const char *end,
                      double *real, int64_t *id, fault *f)
{
    const char *from = p, *to = p, *next = p;
    int field = 0;
    for (; lacis_field(next, end, layout->delimiter, &from, &to, &next); field++) {
        if (field == layout->fields && layout->more) return true;
        if (field == layout->fields) return fail(f, from, end, -1, "more fields than columns");
        int column = layout->column[field];
        if (column >= 0 && !read_field(dtype, column, from, to, real, id, f)) return false;
    }
    return field == layout->fields || fail(f, p, end, -1, "fewer fields than columns");
}

static lacis_status tell(lacis_run *run, const reading *r, const fault *f)
{
    const lacis_bodies_layout *layout = r->layout;
    char quote[LACIS_QUOTE];
    if (f->column < 0)
        return lacis_text_fail(run, layout->text, f->at, "%s: there are %d columns; mend the line", f->cause,
                               layout->fields);
    return lacis_text_fail(run, layout->text, f->at, "%s = %s %s", lacis_body_names[f->column],
                           lacis_text_quote(f->at, f->end, quote), f->cause);
}

/* ------------------------------------------------------------------------------------------ chunks */

static lacis_status count_chunk(void *context, int64_t chunk, int worker)
{
    (void)worker;
    const reading *r = context;
    const char *p, *to;
    lacis_chunk_bounds(r->layout->begin, r->layout->end, r->size, chunk, &p, &to);
    int64_t rows = 0;
    for (; p < to; p = lacis_line_next(p, to))
        rows += !lacis_line_empty(p, lacis_line_end(p, to));
    r->first[chunk] = rows;
    return LACIS_OK;
}

static void put_row(const reading *r, int64_t row, const double *real, int64_t id)
{
    for (int i = 0; i < LACIS_BODY_REALS; i++)
        if (r->maker->column[i] != NULL) lacis_body_put(r->maker, (lacis_body_column)i, row, real[i]);
    if (r->maker->id != NULL) r->maker->id[row] = id;
}

static lacis_status read_chunk(void *context, int64_t chunk, int worker)
{
    (void)worker;
    const reading *r = context;
    const char *p, *to;
    double real[LACIS_BODY_COLUMNS] = {0};
    int64_t id = 0, row = r->first[chunk];
    fault *f = &r->fault[chunk];
    real[LACIS_BODY_TIME] = r->time;
    lacis_chunk_bounds(r->layout->begin, r->layout->end, r->size, chunk, &p, &to);
    for (; p < to; p = lacis_line_next(p, to)) {
        const char *end = lacis_line_end(p, to);
        if (lacis_line_empty(p, end)) continue;
        if (!read_line(r->layout, r->dtype, p, end, real, &id, f)) return LACIS_FORMAT;
        if (real[LACIS_BODY_TIME] != r->time) {
            fail(f, p, end, LACIS_BODY_TIME, "has another time than the first line; a file holds one moment");
            return LACIS_FORMAT;
        }
        put_row(r, row++, real, id);
    }
    return LACIS_OK;
}

/* The time that all lines must have. */
static lacis_status read_time(lacis_run *run, reading *r)
{
    const char *p = r->layout->begin;
    double real[LACIS_BODY_COLUMNS] = {0};
    int64_t id;
    fault f = {0};
    while (p < r->layout->end && lacis_line_empty(p, lacis_line_end(p, r->layout->end)))
        p = lacis_line_next(p, r->layout->end);
    if (p >= r->layout->end) return LACIS_OK;
    if (!read_line(r->layout, r->dtype, p, lacis_line_end(p, r->layout->end), real, &id, &f)) return tell(run, r, &f);
    r->time = real[LACIS_BODY_TIME];
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- all */

/* Chunks are begun in their order, so that the first fault of all is among those found. */
static lacis_status tell_first(lacis_run *run, const reading *r, int64_t chunks, lacis_status status)
{
    for (int64_t i = 0; i < chunks; i++)
        if (r->fault[i].cause != NULL) return tell(run, r, &r->fault[i]);
    return status;
}

static lacis_status fill(lacis_run *run, reading *r, int64_t rows, int64_t chunks, lacis_array **out)
{
    lacis_bodies_maker maker;
    LACIS_TRY(read_time(run, r));
    LACIS_TRY(lacis_bodies_begin(run, r->layout->text->path, rows, r->dtype, r->layout->columns, &maker));
    maker.time = r->time;
    r->maker = &maker;
    lacis_status status = lacis_run_parallel(run, chunks, read_chunk, r);
    if (status != LACIS_OK) status = tell_first(run, r, chunks, status);
    return lacis_bodies_end(&maker, status, out);
}

static lacis_status read_all(lacis_run *run, reading *r, int64_t chunks, lacis_array **out)
{
    int64_t rows = 0;
    LACIS_TRY(lacis_run_parallel(run, chunks, count_chunk, r));
    for (int64_t i = 0; i < chunks; i++) {
        int64_t here = r->first[i];
        r->first[i] = rows;
        rows += here;
    }
    return fill(run, r, rows, chunks, out);
}

lacis_status lacis_bodies_text_read(lacis_run *run, const lacis_bodies_layout *layout, lacis_dtype dtype,
                                    lacis_array **out)
{
    reading r = {.layout = layout, .dtype = dtype};
    r.size = lacis_chunk_size((size_t)(layout->end - layout->begin), lacis_run_threads(run));
    int64_t chunks = lacis_chunk_count(layout->begin, layout->end, r.size);
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)chunks * sizeof *r.first, &r.first));
    lacis_status status = lacis_run_alloc(run, (uint64_t)chunks * sizeof *r.fault, &r.fault);
    if (status == LACIS_OK) {
        for (int64_t i = 0; i < chunks; i++)
            r.fault[i] = (fault){0};
        status = read_all(run, &r, chunks, out);
        lacis_run_free(run, r.fault);
    }
    lacis_run_free(run, r.first);
    return status;
}
