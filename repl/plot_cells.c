/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures of coloured cells: heat maps of grids and matrices, where a graph's entries are, and how close bodies are
 * where they are many. What is larger than a picture is brought down: means of values, sums of counts. See plot.h.
 */
#include "plot.h"

#include "interrupt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a spy's cells a picture has nearly a pixel for each, so that blocks of unequal counts make no moire. */
enum { MOST_CELLS = 600, FINE_SPY = 850, COARSE_SPY = 250 };

static double *room(plot_figure *figure, int nx, int ny, double value)
{
    figure->mark = PLOT_CELLS;
    figure->nx = nx;
    figure->ny = ny;
    figure->cell = shell_alloc(NULL, sizeof *figure->cell * (size_t)nx * (size_t)ny);
    for (int64_t i = 0; i < (int64_t)nx * ny; i++)
        figure->cell[i] = value;
    return figure->cell;
}

/* So many of `count` go together that at most `most` are left. */
static int64_t together(int64_t count, int64_t most)
{
    return (count + most - 1) / most;
}

static void set_axes(plot_figure *figure, int64_t nx, int64_t ny, const char *x, const char *y)
{
    figure->x = (plot_axis){.low = -0.5, .high = (double)nx - 0.5, .whole = true};
    figure->y = (plot_axis){.low = -0.5, .high = (double)ny - 0.5, .down = true, .whole = true};
    snprintf(figure->x.label, sizeof figure->x.label, "%s", x);
    snprintf(figure->y.label, sizeof figure->y.label, "%s", y);
    figure->equal = (double)nx < 4 * (double)ny && (double)ny < 4 * (double)nx;
}

/* ------------------------------------------------------------------------------------------- means */

typedef double (*value_fn)(const void *context, int64_t x, int64_t y);

/* The mean of the finite values of a block. */
static double mean_of(const void *context, value_fn value, const int64_t *from, const int64_t *to)
{
    double mean = 0;
    int64_t count = 0;
    for (int64_t y = from[1]; y < to[1]; y++)
        for (int64_t x = from[0]; x < to[0]; x++) {
            double one = value(context, x, y);
            if (!isfinite(one)) continue;
            count++;
            mean += one / (double)count - mean / (double)count; /* a sum might be larger than a double */
        }
    return count > 0 ? mean : NAN;
}

static void take_means(plot_figure *figure, const void *context, value_fn value, int64_t nx, int64_t ny)
{
    int64_t bx = together(nx, MOST_CELLS), by = together(ny, MOST_CELLS);
    int cx = (int)together(nx, bx), cy = (int)together(ny, by);
    double *cell = room(figure, cx, cy, NAN);
    for (int y = 0; y < cy && !shell_interrupted(); y++) /* plot_command.c asks again */
        for (int x = 0; x < cx; x++) {
            const int64_t from[] = {x * bx, y * by},
                          to[] = {from[0] + bx < nx ? from[0] + bx : nx, from[1] + by < ny ? from[1] + by : ny};
            cell[(int64_t)y * cx + x] = mean_of(context, value, from, to);
        }
    figure->bar = true;
    if (bx > 1 || by > 1) { /* the last block may be narrower: the axis ends with it */
        figure->x.high = (double)(cx * bx) - 0.5;
        figure->y.high = (double)(cy * by) - 0.5;
    }
}

typedef struct plane {
    const lacis_part *part;
    int64_t nx, first; /* cells before the plane */
} plane;

static double plane_value(const void *context, int64_t x, int64_t y)
{
    const plane *p = context;
    return plot_number(p->part, p->first + y * p->nx + x);
}

static bool heat_grid(const plot_source *source, plot_figure *figure)
{
    lacis_part field;
    int64_t extent[3];
    char where[64] = "";
    int dims = plot_grid(source, &field, extent);
    if (dims < 2) return plot_fail(source, "a heat map needs two dimensions: PLOT %s AS line", source->plot->name);
    const plane p = {&field, extent[0], extent[2] / 2 * extent[0] * extent[1]};
    if (dims == 3) snprintf(where, sizeof where, ", plane z = %lld", (long long)(extent[2] / 2));
    set_axes(figure, extent[0], extent[1], "x", "y");
    take_means(figure, &p, plane_value, extent[0], extent[1]);
    snprintf(figure->cell_label, sizeof figure->cell_label, "%s", field.name);
    snprintf(figure->title, sizeof figure->title, "%s: %s, %lld x %lld%s", source->plot->name, field.name,
             (long long)extent[0], (long long)extent[1], where);
    return true;
}

/* ---------------------------------------------------------------------------------------- matrices */

typedef struct triangle {
    lacis_part values;
    int64_t n, ld; /* 0: packed */
    bool upper;
} triangle;

static double triangle_value(const void *context, int64_t j, int64_t i)
{
    const triangle *t = context;
    if (t->upper ? i > j : i < j) {
        int64_t swap = i;
        i = j;
        j = swap;
    }
    if (t->ld > 0) return plot_number(&t->values, j * t->ld + i);
    return plot_number(&t->values, t->upper ? j * (j + 1) / 2 + i : j * t->n - j * (j - 1) / 2 + i - j);
}

static bool heat_matrix(const plot_source *source, plot_figure *figure)
{
    triangle t = {.n = lacis_array_extent(source->array, 0)};
    lacis_part shape;
    if (lacis_array_extent(source->array, 1) != 1 || plot_part(source, "orders", &shape))
        return plot_fail(source, "%s is a batch of matrices; a heat map shows one", source->plot->name);
    if (!plot_part(source, "shape", &shape) || !plot_part(source, "values", &t.values) || t.n < 1)
        return plot_fail(source, "%s has no elements", source->plot->name);
    t.upper = ((const int64_t *)shape.data)[0] != 0;
    t.ld = ((const int64_t *)shape.data)[2];
    set_axes(figure, t.n, t.n, "column", "row");
    take_means(figure, &t, triangle_value, t.n, t.n);
    snprintf(figure->cell_label, sizeof figure->cell_label, "value");
    snprintf(figure->title, sizeof figure->title, "%s: %lld x %lld, symmetric", source->plot->name, (long long)t.n,
             (long long)t.n);
    return true;
}

static bool heat_of_sparse(const plot_source *source)
{
    lacis_part values;
    const char *name = source->plot->name;
    if (!plot_part(source, "values", &values))
        return plot_fail(source,
                         "heat maps are of grids and dense matrices; PLOT %s AS spy shows where %s has entries", name,
                         name);
    return plot_fail(source,
                     "heat maps are of grids and dense matrices; PLOT %s AS spy shows where %s has entries, "
                     "LET v = SELECT value FROM %s; PLOT v AS hist how large they are",
                     name, name, name);
}

bool plot_heat(const plot_source *source, plot_figure *figure)
{
    if (lacis_array_kind(source->array) == LACIS_GRID) return heat_grid(source, figure);
    if (lacis_array_kind(source->array) == LACIS_SYMMETRIC) return heat_matrix(source, figure);
    if (lacis_array_kind(source->array) == LACIS_CSR) return heat_of_sparse(source);
    return plot_fail(source,
                     "heat maps are of grids and dense matrices; LET g = SELECT x, y, value FROM ... makes a grid");
}

/* ------------------------------------------------------------------------------------------ counts */

/* Counts in place of nothing, from black on white where they are few to a colour bar where they differ. */
static void add_one(double *cell)
{
    *cell = isnan(*cell) ? 1 : *cell + 1;
}

static void finish_counts(plot_figure *figure, const char *what)
{
    double most = 0;
    for (int64_t i = 0; i < (int64_t)figure->nx * figure->ny; i++)
        if (figure->cell[i] > most) most = figure->cell[i];
    figure->cell_log = most >= 20;
    figure->bar = most > 1;
    figure->sparse = figure->cell_whole = true;
    snprintf(figure->cell_label, sizeof figure->cell_label, "%s", what);
}

/* Ids may be any numbers: the axes count them. */
static void name_places(const plot_source *source, plot_figure *figure, int64_t columns, int64_t rows)
{
    lacis_part labels;
    bool x = plot_part(source, "col_labels", &labels), y = plot_part(source, "row_labels", &labels);
    set_axes(figure, columns, rows, x ? "column: place of dst among its ids, from 0" : "column, from 0",
             y ? "row: place of src among its ids, from 0" : "row, from 0");
}

bool plot_spy(const plot_source *source, plot_figure *figure)
{
    lacis_part begin, end, columns;
    int64_t rows = lacis_array_extent(source->array, 0), cols = lacis_array_extent(source->array, 1), entries = 0;
    if (lacis_array_kind(source->array) != LACIS_CSR) return plot_fail(source, "spy shows graphs");
    bool compact = plot_part(source, "offsets", &begin);
    if (!compact && (!plot_part(source, "begin", &begin) || !plot_part(source, "end", &end)))
        return plot_fail(source, "%s has no rows", source->plot->name);
    if (!plot_part(source, "columns", &columns) || rows < 1 || cols < 1)
        return plot_fail(source, "%s has no entries", source->plot->name);
    const int64_t most = source->fine ? FINE_SPY : COARSE_SPY, by = together(rows, most), bx = together(cols, most);
    int cx = (int)together(cols, bx), cy = (int)together(rows, by);
    double *cell = room(figure, cx, cy, NAN);
    const int64_t *first = begin.data, *last = compact ? first + 1 : end.data;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = first[r]; i < last[r]; i++, entries++)
            add_one(&cell[r / by * cx + ((const uint32_t *)columns.data)[i] / bx]);
    if (entries == 0) return plot_fail(source, "%s has no entries", source->plot->name);
    name_places(source, figure, cx * bx, cy * by);
    finish_counts(figure, "entries");
    snprintf(figure->title, sizeof figure->title, "%s: %lld x %lld, %lld entries", source->plot->name,
             (long long)rows, (long long)cols, (long long)entries);
    return true;
}

/* Points that are too many to tell apart, counted in squares. */
void plot_density(plot_figure *figure)
{
    enum { SQUARES = 160 };
    plot_series points = figure->one[0];
    plot_axis x, y;
    plot_fit(figure);
    x = figure->x;
    y = figure->y;
    double side = fmax(x.high - x.low, y.high - y.low) / SQUARES;
    if (!(side > 0) || !isfinite(side)) return;
    int nx = (int)fmax(1, ceil((x.high - x.low) / side - 1e-9)),
        ny = (int)fmax(1, ceil((y.high - y.low) / side - 1e-9));
    double *cell = room(figure, nx, ny, NAN);
    for (int64_t i = 0; i < points.count; i++) {
        double px = (points.x[i] - x.low) / side, py = (points.y[i] - y.low) / side;
        if (px >= 0 && px < nx && py >= 0 && py < ny) add_one(&cell[(int)py * nx + (int)px]);
    }
    figure->x.high = x.low + nx * side;
    figure->y.high = y.low + ny * side;
    finish_counts(figure, "bodies in a square");
}
