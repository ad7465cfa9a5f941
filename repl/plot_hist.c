/* SPDX-License-Identifier: Apache-2.0
 *
 * Histograms: how often values occur, and the degrees of a graph. See plot.h.
 */
#include "plot.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { BARS = 40 };

/* Where bars begin and how wide they are: at round numbers, or, where doubles are hardly closer to each other than
 * that, at doubles. */
typedef struct bar_range {
    double first, step;
    int64_t count;
    bool fine; /* at doubles */
} bar_range;

/* Of counts and the like: each bar of as many whole numbers as the others, 1, 2, 5, 10 ... of them. */
static bar_range whole_bars(const plot_axis *range)
{
    double least = (range->high - range->low + 1) / BARS, ten = 1, step = 1;
    while (step < least) {
        step = step == ten ? 2 * ten : step == 2 * ten ? 5 * ten : 10 * ten;
        if (step == 10 * ten) ten = step;
    }
    double first = floor(range->low / step) * step;
    return (bar_range){first - 0.5, step, (int64_t)floor((range->high - first) / step) + 1, false};
}

static bar_range bars_of(const plot_axis *range)
{
    plot_ticks ticks;
    double most = fmax(fabs(range->low), fabs(range->high)), apart = most - nextafter(most, 0);
    if (range->high - range->low < 8 * BARS * apart) {
        double step = apart * ceil((range->high - range->low) / apart / BARS);
        return (bar_range){range->low, step, (int64_t)((range->high - range->low) / step) + 1, true};
    }
    plot_ticks_of(range, 10, &ticks);
    double step = ticks.count > 1 ? (ticks.at[1] - ticks.at[0]) / 4 : range->high / BARS - range->low / BARS;
    double first = fmax(floor(range->low / step) * step, -DBL_MAX);
    return (bar_range){first, step,
                       (int64_t)fmin(fmax(ceil((range->high / 2 - first / 2) / (step / 2)), 1), 4 * BARS), false};
}

/* Of the finite values; whole: all of them are whole numbers. */
static plot_axis range_of(const lacis_part *values)
{
    const double most = 1e15; /* beyond, half of one is not told apart */
    plot_axis range = {.low = NAN, .high = NAN, .whole = true};
    for (int64_t i = 0; i < values->count; i++) {
        double value = plot_number(values, i);
        if (!isfinite(value)) continue;
        if (!(value >= range.low)) range.low = value;
        if (!(value <= range.high)) range.high = value;
        range.whole = range.whole && value == floor(value) && fabs(value) < most;
    }
    return range;
}

static bool count_values(const plot_source *source, plot_figure *figure, const lacis_part *values)
{
    plot_axis range = range_of(values);
    if (!(range.low <= range.high)) return true;   /* plot_fit says so */
    if (range.low == range.high && !range.whole) { /* the greatest numbers have no double */
        if (range.low > DBL_MAX / 2)
            range.low /= 2;
        else
            range.high = range.low + fabs(range.low);
    }
    const bar_range b = range.whole ? whole_bars(&range) : bars_of(&range);
    figure->x.whole = range.whole;
    plot_series *one = plot_add(source, figure, b.count, "");
    if (one == NULL) return false;
    if (b.fine) /* there are no round numbers for ticks */
        snprintf(figure->x.label, sizeof figure->x.label, ", from %.17g to %.17g", range.low, range.high);
    for (int64_t i = 0; i <= b.count; i++) {
        one->x[i] = b.fine ? fmin(b.first + (double)i * b.step, DBL_MAX)
                           : 2 * fmin(b.first / 2 + (double)i * (b.step / 2), DBL_MAX / 2);
        one->y[i] = 0;
    }
    for (int64_t i = 0; i < values->count; i++) {
        double value = plot_number(values, i);
        if (!isfinite(value)) continue;
        /* halved: the range may be larger than a double; where it is fine, half a step may be nothing */
        double place = b.fine ? (value - b.first) / b.step : (value / 2 - b.first / 2) / (b.step / 2);
        one->y[place < (double)b.count ? (int64_t)fmax(place, 0) : b.count - 1]++;
    }
    return true;
}

/* Degrees 1, 2 .. 3, 4 .. 7 and so on, by logarithms: they spread over powers of ten. */
static bool hist_degrees(const plot_source *source, plot_figure *figure)
{
    lacis_part begin, end;
    int64_t rows = lacis_array_extent(source->array, 0), none = 0, most = 0;
    bool compact = plot_part(source, "offsets", &begin);
    if (!compact && (!plot_part(source, "begin", &begin) || !plot_part(source, "end", &end)))
        return plot_fail(source, "%s has no rows", source->plot->name);
    const int64_t *first = begin.data, *last = compact ? first + 1 : end.data;
    for (int64_t r = 0; r < rows; r++) {
        none += last[r] == first[r];
        if (last[r] - first[r] > most) most = last[r] - first[r];
    }
    if (most == 0) return plot_fail(source, "%s has no edges", source->plot->name);
    int64_t bars = 0;
    while (most >> bars > 0)
        bars++;
    plot_series *one = plot_add(source, figure, bars, "");
    if (one == NULL) return false;
    for (int64_t b = 0; b <= bars; b++) {
        one->x[b] = ldexp(1, (int)b);
        one->y[b] = 0;
    }
    for (int64_t r = 0; r < rows; r++)
        if (last[r] > first[r]) one->y[63 - __builtin_clzll((unsigned long long)(last[r] - first[r]))]++;
    figure->x.log = figure->x.twos = figure->y.log = true;
    plot_name_axes(figure, "degree (edges outwards)", "vertices");
    snprintf(figure->title, sizeof figure->title, "%s: degrees of %lld vertices, %lld without edges outwards",
             source->plot->name, (long long)rows, (long long)none);
    return true;
}

/* A table's last column; of a tracing that is the parent, which says nothing. */
static bool column_of(const plot_source *source, lacis_part *values)
{
    if (plot_is_tree(source->array)) return plot_part(source, "radius", values);
    return lacis_array_part(source->array, lacis_array_part_count(source->array) - 1, values) == LACIS_OK;
}

bool plot_hist(const plot_source *source, plot_figure *figure)
{
    lacis_part values;
    int64_t extent[3];
    figure->mark = PLOT_BARS;
    lacis_kind kind = lacis_array_kind(source->array);
    if (kind == LACIS_CSR) return hist_degrees(source, figure);
    bool found = kind == LACIS_GRID     ? plot_grid(source, &values, extent) > 0
                 : kind == LACIS_VECTOR ? plot_part(source, "values", &values)
                 : kind == LACIS_TABLE  ? column_of(source, &values)
                                        : false;
    if (!found)
        return plot_fail(source, "histograms are of graphs (degrees), vectors, grids and a table's last column");
    if (!count_values(source, figure, &values)) return false;
    char label[sizeof figure->x.label + 14];
    const char *name = kind == LACIS_VECTOR ? "value" : values.name;
    snprintf(label, sizeof label, "%.14s%s", name, figure->x.label);
    figure->y.whole = true;
    plot_name_axes(figure, label, "how many");
    snprintf(figure->title, sizeof figure->title, "%s: %s, %lld values", source->plot->name, name,
             (long long)values.count);
    return true;
}
