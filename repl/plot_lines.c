/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures of lines and points: vectors, columns of tables, traces of simulations, grids of one dimension, bodies. See
 * plot.h.
 */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void plot_name_axes(plot_figure *figure, const char *x, const char *y)
{
    snprintf(figure->x.label, sizeof figure->x.label, "%s", x);
    snprintf(figure->y.label, sizeof figure->y.label, "%s", y);
}

/* A series of a part over its index, or over another part. */
static bool add_part(const plot_source *source, plot_figure *figure, const lacis_part *x, const lacis_part *y,
                     const char *label)
{
    plot_series *one = plot_add(source, figure, y->count, label);
    if (one == NULL) return false;
    for (int64_t i = 0; i < y->count; i++) {
        one->x[i] = x != NULL ? plot_number(x, i) : (double)i;
        one->y[i] = plot_number(y, i);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------ traces */

/* t, probe, v of SIMULATE, maybe with lanes: a line each probe and lane, as far as there is room. */
static bool line_trace(const plot_source *source, plot_figure *figure)
{
    lacis_part t, probe, v, lane;
    if (!plot_part(source, "t", &t) || !plot_part(source, "probe", &probe) || !plot_part(source, "v", &v))
        return false;
    bool lanes = plot_part(source, "lane", &lane) && lane.count == t.count;
    int64_t of[PLOT_SERIES][2], left = 0;
    for (int64_t i = 0; i < t.count; i++) {
        const int64_t key[] = {(int64_t)plot_number(&probe, i), lanes ? (int64_t)plot_number(&lane, i) : 0};
        int s = 0;
        while (s < figure->series && memcmp(of[s], key, sizeof key) != 0)
            s++;
        if (s == PLOT_SERIES) {
            left++;
            continue;
        }
        if (s == figure->series) {
            char label[64];
            memcpy(of[s], key, sizeof key);
            snprintf(label, sizeof label, key[1] > 0 ? "probe %lld, lane %lld" : "probe %lld", (long long)key[0],
                     (long long)key[1]);
            plot_series *next = plot_add(source, figure, t.count, label);
            if (next == NULL) return false;
            next->count = 0;
        }
        plot_series *one = &figure->one[s];
        one->x[one->count] = plot_number(&t, i);
        one->y[one->count++] = plot_number(&v, i);
    }
    plot_name_axes(figure, "t (ms)", "v (mV)");
    snprintf(figure->title, sizeof figure->title, "%s: voltage%s", source->plot->name,
             left > 0 ? ", the first 8 lines" : "");
    return true;
}

/* ------------------------------------------------------------------------------------------- lines */

/* Whether numbers rise by factors rather than by steps, as sizes that are tried do: over more than two powers of ten
 * the middle one is near the geometric mean of the ends. */
static bool by_factors(const lacis_part *x)
{
    enum { FEW = 6 };
    if (x->count < FEW) return false;
    double low = plot_number(x, 0), high = plot_number(x, x->count - 1), middle = plot_number(x, x->count / 2);
    if (!(low > 0) || !(high > 100 * low)) return false;
    for (int64_t i = 1; i < x->count; i++)
        if (!(plot_number(x, i) > plot_number(x, i - 1))) return false;
    double part = middle / sqrt(low * high);
    return part > 0.25 && part < 4; /* even steps: more than 5 */
}

/* The first column is x, or the index where it is the only one. */
static bool line_table(const plot_source *source, plot_figure *figure)
{
    lacis_part x, y;
    int columns = lacis_array_part_count(source->array);
    if (columns < 1) return plot_fail(source, "%s has no columns", source->plot->name);
    lacis_array_part(source->array, 0, &x);
    for (int i = columns > 1 ? 1 : 0; i < columns && figure->series < PLOT_SERIES; i++) {
        lacis_array_part(source->array, i, &y);
        if (!add_part(source, figure, columns > 1 ? &x : NULL, &y, y.name)) return false;
    }
    figure->x.log = columns > 1 && by_factors(&x);
    plot_name_axes(figure, columns > 1 ? x.name : "row", figure->series == 1 ? figure->one[0].label : "");
    snprintf(figure->title, sizeof figure->title, "%s: %lld rows", source->plot->name,
             (long long)lacis_array_extent(source->array, 0));
    return true;
}

static bool line_vector(const plot_source *source, plot_figure *figure)
{
    lacis_part values, index;
    if (!plot_part(source, "values", &values)) return plot_fail(source, "%s has no values", source->plot->name);
    if (!add_part(source, figure, plot_part(source, "index", &index) ? &index : NULL, &values, "value")) return false;
    plot_name_axes(figure, "i", "value");
    snprintf(figure->title, sizeof figure->title, "%s: vector, %lld values", source->plot->name,
             (long long)values.count);
    return true;
}

static bool line_grid(const plot_source *source, plot_figure *figure)
{
    lacis_part field;
    int64_t extent[3];
    int dims = plot_grid(source, &field, extent);
    if (dims > 1 && extent[1] * extent[2] > 1)
        return plot_fail(source, "a line needs one dimension: LET l = SELECT x, %s%s FROM %s WHERE y = 0%s",
                         field.name, strcmp(field.name, "value") == 0 ? "" : " AS value", source->plot->name,
                         dims > 2 ? " AND z = 0" : "");
    for (int i = 0; lacis_array_part(source->array, i, &field) == LACIS_OK && figure->series < PLOT_SERIES; i++)
        if (strcmp(field.name, "shape") != 0 && strcmp(field.name, "step") != 0 &&
            !add_part(source, figure, NULL, &field, field.name))
            return false;
    plot_name_axes(figure, "x", figure->series == 1 ? figure->one[0].label : "");
    snprintf(figure->title, sizeof figure->title, "%s: grid, %lld cells", source->plot->name, (long long)extent[0]);
    return true;
}

bool plot_line(const plot_source *source, plot_figure *figure)
{
    figure->mark = PLOT_LINES;
    switch (lacis_array_kind(source->array)) {
    case LACIS_VECTOR:
        return line_vector(source, figure);
    case LACIS_TABLE:
        return line_trace(source, figure) || (!source->budget->refused && line_table(source, figure));
    case LACIS_GRID:
        return line_grid(source, figure);
    default:
        return plot_fail(source, "lines are of vectors, tables and grids of one dimension; %s is none of them",
                         source->plot->name);
    }
}

/* ------------------------------------------------------------------------------------------ points */

/* The columns that a scatter shows: places, where there are some. */
static bool points_of(const plot_source *source, bool bodies, lacis_part *x, lacis_part *y)
{
    if (bodies || plot_is_tree(source->array)) return plot_part(source, "x", x) && plot_part(source, "y", y);
    return lacis_array_kind(source->array) == LACIS_TABLE && lacis_array_part(source->array, 0, x) == LACIS_OK &&
           lacis_array_part(source->array, 1, y) == LACIS_OK;
}

bool plot_scatter(const plot_source *source, plot_figure *figure)
{
    enum { TOO_MANY = 4000 };
    lacis_part x, y;
    figure->mark = PLOT_DOTS;
    bool bodies = lacis_array_kind(source->array) == LACIS_BODIES;
    if (!points_of(source, bodies, &x, &y))
        return plot_fail(source, "scatter shows bodies, and tables of two columns or more");
    if (!add_part(source, figure, &x, &y, "")) return false;
    plot_name_axes(figure, x.name, y.name);
    figure->equal = bodies || plot_is_tree(source->array);
    if (bodies)
        snprintf(figure->title, sizeof figure->title, "%s: %lld bodies", source->plot->name, (long long)x.count);
    else
        snprintf(figure->title, sizeof figure->title, "%s: %s over %s, %lld rows", source->plot->name, y.name, x.name,
                 (long long)x.count);
    if (bodies && x.count > TOO_MANY) plot_density(figure);
    return true;
}
