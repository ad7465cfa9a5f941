/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids out of collected columns: coordinates, then fields. They reach as far as the greatest coordinates say, and
 * every cell must be there once; the first one that is not is named.
 */
#include "catalog/collect.h"

#include <inttypes.h>
#include <string.h>

typedef struct cells {
    lacis_run *run;
    const lacis_collected *from;
    int dims;
    int64_t extent[3];
    int64_t known;    /* cells that have a bit: all of them, or one more than there are rows */
    uint64_t *given;  /* a bit a cell */
    int64_t repeated; /* the first row whose cell was there before, or -1 */
} cells;

static const char hint[] = "a table has its columns in another order, or other names than x, y, z";

static int64_t coordinate(const cells *self, int d, int64_t row)
{
    return d < self->dims ? self->from->bits[d][row] : 0;
}

static lacis_status find_extents(cells *self)
{
    for (int64_t r = 0; r < self->from->rows; r++) {
        for (int d = 0; d < self->dims; d++) {
            int64_t at = coordinate(self, d, r);
            if (at < 0 || at == INT64_MAX)
                return lacis_run_fail_at(self->run, LACIS_RANGE, -1, hint,
                                         "row %" PRId64 ": %s is %" PRId64 ", and the cells of a grid are counted "
                                         "from 0",
                                         r + 1, self->from->name[d], at);
            if (at >= self->extent[d]) self->extent[d] = at + 1;
        }
    }
    return LACIS_OK;
}

/* How many there are, as far as `most`. */
static int64_t count_cells(const cells *self, int64_t most)
{
    int64_t count = 1;
    for (int d = 0; d < self->dims; d++)
        if (__builtin_mul_overflow(count, self->extent[d], &count) || count > most) return most;
    return count;
}

/* Where a row's cell lies; known: behind all that have a bit. */
static int64_t place_of(const cells *self, int64_t row)
{
    __int128 line = (__int128)coordinate(self, 2, row) * self->extent[1] + coordinate(self, 1, row);
    if (line >= self->known) return self->known;
    __int128 place = line * self->extent[0] + coordinate(self, 0, row);
    return place < self->known ? (int64_t)place : self->known;
}

static bool is_given(const cells *self, int64_t place)
{
    return (self->given[place / 64] >> place % 64 & 1) != 0;
}

static lacis_status mark(cells *self)
{
    uint64_t bytes = ((uint64_t)self->known / 64 + 1) * sizeof *self->given;
    LACIS_TRY(lacis_run_alloc(self->run, bytes, &self->given));
    memset(self->given, 0, bytes);
    for (int64_t r = 0; r < self->from->rows; r++) {
        int64_t place = place_of(self, r);
        if (place == self->known) continue;
        if (is_given(self, place) && self->repeated < 0) self->repeated = r;
        self->given[place / 64] |= (uint64_t)1 << place % 64;
    }
    return LACIS_OK;
}

/* --- what is wrong -------------------------------------------------------------------------------- */

/* "x = 3, y = 0" */
static const char *cell_text(const cells *self, const int64_t *at, char *text, size_t size)
{
    size_t used = 0;
    for (int d = 0; d < self->dims && d < 3; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%s = %" PRId64, d == 0 ? "" : ", ", self->from->name[d],
                                 at[d]);
    return text;
}

static lacis_status repeated(const cells *self)
{
    char text[120];
    int64_t at[3], r = self->repeated;
    for (int d = 0; d < 3; d++)
        at[d] = coordinate(self, d, r);
    return lacis_run_fail_at(self->run, LACIS_TYPE, -1, hint,
                             "row %" PRId64 ": cell %s was there before, and a grid has each cell once", r + 1,
                             cell_text(self, at, text, sizeof text));
}

/* There are more cells than rows: one of the first of them is not given. */
static lacis_status missing(const cells *self)
{
    char text[120];
    int64_t place = 0;
    while (is_given(self, place))
        place++;
    const int64_t line = place / self->extent[0];
    const int64_t at[3] = {place % self->extent[0], line % self->extent[1], line / self->extent[1]};
    return lacis_run_fail_at(self->run, LACIS_TYPE, -1, hint,
                             "cell %s is missing: there are %" PRId64
                             " rows, and a grid has every cell up to its greatest coordinates",
                             cell_text(self, at, text, sizeof text), self->from->rows);
}

static lacis_status check(cells *self)
{
    const int64_t rows = self->from->rows;
    if (rows == 0)
        return lacis_run_fail_at(self->run, LACIS_TYPE, -1, hint,
                                 "the query gives no rows, and a grid has one cell at least");
    LACIS_TRY(find_extents(self));
    self->known = count_cells(self, rows + 1);
    LACIS_TRY(mark(self));
    if (self->repeated >= 0) return repeated(self);
    return self->known > rows ? missing(self) : LACIS_OK;
}

/* --- fields --------------------------------------------------------------------------------------- */

static void fill(const cells *self, int column, const void *field)
{
    const int64_t *bits = self->from->bits[column];
    double *value;
    memcpy(&value, &field, sizeof value); /* the new array's own */
    for (int64_t r = 0; r < self->from->rows; r++) {
        int64_t place = place_of(self, r);
        if (self->from->real[column])
            memcpy(&value[place], &bits[r], sizeof bits[r]);
        else
            value[place] = (double)bits[r];
    }
}

static lacis_status build(cells *self, lacis_array **out)
{
    LACIS_TRY(check(self));
    lacis_grid grid, like = {.dims = self->dims, .dtype = LACIS_F64, .fields = self->from->columns - self->dims};
    memcpy(like.extent, self->extent, sizeof like.extent);
    for (int f = 0; f < like.fields; f++)
        like.name[f] = self->from->name[self->dims + f];
    LACIS_TRY(lacis_grid_new(self->run, &like, out, &grid));
    for (int f = 0; f < like.fields; f++)
        fill(self, self->dims + f, grid.field[f]);
    return LACIS_OK;
}

lacis_status lacis_collected_grid(lacis_run *run, const lacis_collected *from, int dims, lacis_array **out)
{
    cells self = {.run = run, .from = from, .dims = dims, .extent = {1, 1, 1}, .repeated = -1};
    lacis_status status = build(&self, out);
    lacis_run_free(run, self.given);
    return status;
}
