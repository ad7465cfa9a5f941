/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines to grids: looked through in chunks side by side, then read into their places; see common_grid_text.h.
 */
#include "common_grid_text.h"
#include "common_lines.h"
#include "common_number.h"

#include <float.h>
#include <math.h>

/* What is wrong with a line, for the thread that may tell it. */
typedef struct fault {
    const char *at, *end;
    const char *cause; /* NULL: nothing */
} fault;

typedef struct chunk {
    int64_t rows;    /* lines in it; then lines before it */
    int64_t most[3]; /* the greatest coordinates of cells; -1 */
    fault fault;
} chunk;

typedef struct reading {
    lacis_run *run;
    const lacis_grid_layout *layout;
    size_t size; /* of a chunk */
    int64_t chunks;
    chunk *chunk;
    lacis_grid_maker maker;
    unsigned char *seen; /* of cells: 1 where one was read */
} reading;

static bool fail(fault *f, const char *from, const char *to, const char *cause)
{
    *f = (fault){from, to, cause};
    return false;
}

/* ------------------------------------------------------------------------------------------- lines */

typedef struct cell {
    int64_t at[3];
    double value[LACIS_GRID_FIELDS];
} cell;

/* `values`: fields, too, and not only coordinates. */
static bool read_cell(const reading *r, const char *p, const char *end, bool values, cell *out, fault *f)
{
    const lacis_grid_layout *layout = r->layout;
    const char *from = p, *to = p, *next = p;
    int column = 0;
    for (; lacis_field(next, end, layout->delimiter, &from, &to, &next); column++) {
        if (column == layout->columns) return fail(f, from, end, "more fields than the header names");
        int axis = layout->axis[column];
        if (axis >= 0 && (!lacis_number_integer(from, to, &out->at[axis]) || out->at[axis] < 0))
            return fail(f, from, to, "is no coordinate: those of a grid are whole numbers from 0");
        if (axis < 0 && values && !lacis_number_real(from, to, &out->value[layout->field[column]]))
            return fail(f, from, to, "is not a number");
    }
    return column == layout->columns || fail(f, p, end, "fewer fields than the header names");
}

static bool put(const reading *r, int field, int64_t at, double value)
{
    void *to = lacis_grid_maker_cells(&r->maker, field);
    if (r->maker.grid.dtype == LACIS_F64) {
        ((double *)to)[at] = value;
        return true;
    }
    ((float *)to)[at] = (float)value;
    return !(fabs(value) > FLT_MAX) || isinf(value);
}

static bool put_cell(const reading *r, const char *p, const char *end, fault *f)
{
    const lacis_grid *grid = &r->maker.grid;
    cell c = {0};
    if (!read_cell(r, p, end, true, &c, f)) return false;
    int64_t at = (c.at[2] * grid->extent[1] + c.at[1]) * grid->extent[0] + c.at[0];
    if (__atomic_exchange_n(&r->seen[at], 1, __ATOMIC_RELAXED) != 0) return fail(f, p, end, "is a cell twice");
    for (int i = 0; i < grid->fields; i++)
        if (!put(r, i, at, c.value[i])) return fail(f, p, end, "has a value that f32 cannot hold");
    return true;
}

static bool put_row(const reading *r, const char *p, const char *end, int64_t row, fault *f)
{
    const char *from = p, *to = p, *next = p;
    int64_t nx = r->maker.grid.extent[0], x = 0;
    double value;
    for (; lacis_field(next, end, r->layout->delimiter, &from, &to, &next); x++) {
        if (x == nx) return fail(f, from, end, "more numbers than in the first row");
        if (!lacis_number_real(from, to, &value)) return fail(f, from, to, "is not a number");
        if (!put(r, 0, row * nx + x, value)) return fail(f, from, to, "is beyond what f32 can hold");
    }
    return x == nx || fail(f, p, end, "fewer numbers than in the first row");
}

/* ------------------------------------------------------------------------------------------ chunks */

static lacis_status look_chunk(void *context, int64_t task, int worker)
{
    (void)worker;
    const reading *r = context;
    chunk *k = &r->chunk[task];
    const char *p, *to;
    lacis_chunk_bounds(r->layout->begin, r->layout->end, r->size, task, &p, &to);
    *k = (chunk){.most = {-1, -1, -1}};
    for (; p < to; p = lacis_line_next(p, to)) {
        const char *end = lacis_line_end(p, to);
        cell c = {0};
        if (lacis_line_empty(p, end)) continue;
        if (r->layout->cells && !read_cell(r, p, end, false, &c, &k->fault)) return LACIS_FORMAT;
        for (int i = 0; i < 3; i++)
            if (c.at[i] > k->most[i]) k->most[i] = c.at[i];
        k->rows++;
    }
    return LACIS_OK;
}

static lacis_status fill_chunk(void *context, int64_t task, int worker)
{
    (void)worker;
    const reading *r = context;
    chunk *k = &r->chunk[task];
    const char *p, *to;
    int64_t row = k->rows;
    lacis_chunk_bounds(r->layout->begin, r->layout->end, r->size, task, &p, &to);
    for (; p < to; p = lacis_line_next(p, to)) {
        const char *end = lacis_line_end(p, to);
        if (lacis_line_empty(p, end)) continue;
        bool fine = r->layout->cells ? put_cell(r, p, end, &k->fault) : put_row(r, p, end, row++, &k->fault);
        if (!fine) return LACIS_FORMAT;
    }
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- all */

/* Chunks are begun in their order, so that the first fault of all is among those found. */
static lacis_status tell_first(const reading *r, lacis_status status)
{
    char quote[LACIS_QUOTE];
    for (int64_t i = 0; status != LACIS_OK && i < r->chunks; i++) {
        const fault *f = &r->chunk[i].fault;
        if (f->cause == NULL) continue;
        return lacis_text_fail(r->run, r->layout->text, f->at, "%s %s; mend it",
                               lacis_text_quote(f->at, f->end, quote), f->cause);
    }
    return status;
}

static int64_t count_columns(const lacis_grid_layout *layout)
{
    const char *from, *to, *next = layout->begin, *end = lacis_line_end(layout->begin, layout->end);
    int64_t count = 0;
    while (lacis_field(next, end, layout->delimiter, &from, &to, &next))
        count++;
    return count;
}

/* Lines in all, those before each chunk, and the grid's extents. */
static lacis_status find_shape(reading *r, lacis_grid *shape)
{
    int64_t rows = 0, most[3] = {-1, -1, -1}, cells = 1;
    for (int64_t i = 0; i < r->chunks; i++) {
        int64_t here = r->chunk[i].rows;
        r->chunk[i].rows = rows;
        rows += here;
        for (int a = 0; a < 3; a++)
            if (r->chunk[i].most[a] > most[a]) most[a] = r->chunk[i].most[a];
    }
    if (!r->layout->cells) {
        shape->extent[0] = count_columns(r->layout);
        shape->extent[1] = rows;
        return LACIS_OK;
    }
    for (int a = 0; a < shape->dims; a++) {
        shape->extent[a] = most[a] == INT64_MAX ? INT64_MAX : most[a] + 1;
        if (__builtin_mul_overflow(cells, shape->extent[a], &cells)) cells = INT64_MAX;
    }
    if (rows >= cells) return LACIS_OK;
    return lacis_run_fail(r->run, LACIS_FORMAT,
                          "%s: its coordinates go up to %lld, %lld, %lld, which makes %lld cells, and it has %lld; "
                          "every cell must be there",
                          r->layout->text->path, (long long)most[0], (long long)(shape->dims > 1 ? most[1] : 0),
                          (long long)(shape->dims > 2 ? most[2] : 0), (long long)cells, (long long)rows);
}

static lacis_status fill(reading *r, lacis_array **out)
{
    int64_t cells = r->maker.grid.cells;
    lacis_status status = LACIS_OK;
    r->seen = NULL;
    if (r->layout->cells) status = lacis_run_alloc(r->run, (uint64_t)cells, &r->seen);
    if (status == LACIS_OK && r->seen != NULL) memset(r->seen, 0, (size_t)cells);
    if (status == LACIS_OK) status = tell_first(r, lacis_run_parallel(r->run, r->chunks, fill_chunk, r));
    lacis_run_free(r->run, r->seen);
    return lacis_grid_end(&r->maker, status, out);
}

static lacis_status read_all(reading *r, lacis_dtype dtype, lacis_array **out)
{
    lacis_grid shape = r->layout->shape;
    shape.dtype = dtype;
    LACIS_TRY(tell_first(r, lacis_run_parallel(r->run, r->chunks, look_chunk, r)));
    LACIS_TRY(find_shape(r, &shape));
    LACIS_TRY(lacis_grid_begin(r->run, r->layout->text->path, &shape, &r->maker));
    return fill(r, out);
}

lacis_status lacis_grid_text_read(lacis_run *run, const lacis_grid_layout *layout, lacis_dtype dtype,
                                  lacis_array **out)
{
    reading r = {.run = run, .layout = layout};
    r.size = lacis_chunk_size((size_t)(layout->end - layout->begin), lacis_run_threads(run));
    r.chunks = lacis_chunk_count(layout->begin, layout->end, r.size);
    if (r.chunks == 0) return lacis_text_fail(run, layout->text, layout->begin, "no line follows; fetch it again");
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)r.chunks * sizeof *r.chunk, &r.chunk));
    memset(r.chunk, 0, (size_t)r.chunks * sizeof *r.chunk);
    lacis_status status = read_all(&r, dtype, out);
    lacis_run_free(run, r.chunk);
    return status;
}
