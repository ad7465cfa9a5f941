/* SPDX-License-Identifier: Apache-2.0
 *
 * Which figure an array makes, and what all kinds of figures need of arrays; see plot.h.
 */
#include "plot.h"

#include "render.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool plot_fail(const plot_source *source, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(source->message, source->size, format, list);
    va_end(list);
    return false;
}

bool plot_part(const plot_source *source, const char *name, lacis_part *part)
{
    for (int i = 0; lacis_array_part(source->array, i, part) == LACIS_OK; i++)
        if (strcmp(part->name, name) == 0) return true;
    return false;
}

double plot_number(const lacis_part *part, int64_t i)
{
    switch (part->dtype) {
    case LACIS_U8:
        return ((const uint8_t *)part->data)[i];
    case LACIS_U16:
        return ((const uint16_t *)part->data)[i];
    case LACIS_U32:
        return ((const uint32_t *)part->data)[i];
    case LACIS_I32:
        return ((const int32_t *)part->data)[i];
    case LACIS_I64:
        return (double)((const int64_t *)part->data)[i];
    case LACIS_F32:
        return (double)((const float *)part->data)[i];
    case LACIS_F64:
        return ((const double *)part->data)[i];
    case LACIS_C64:
        return (double)((const float *)part->data)[2 * i];
    case LACIS_C128:
    case LACIS_DD:
        return ((const double *)part->data)[2 * i];
    case LACIS_CDD:
        return ((const double *)part->data)[4 * i];
    default:
        return 1;
    }
}

int plot_grid(const plot_source *source, lacis_part *field, int64_t *extent)
{
    lacis_part shape;
    extent[0] = extent[1] = extent[2] = 1;
    if (lacis_array_kind(source->array) != LACIS_GRID || !plot_part(source, "shape", &shape)) return 0;
    memcpy(extent, shape.data, (size_t)shape.count * sizeof *extent);
    for (int i = 0; lacis_array_part(source->array, i, field) == LACIS_OK; i++)
        if (strcmp(field->name, "shape") != 0 && strcmp(field->name, "step") != 0) return (int)shape.count;
    return 0;
}

/* ----------------------------------------------------------------------------------------- figures */

bool plot_take(const plot_source *source, int64_t count, size_t each)
{
    plot_budget *budget = source->budget;
    double bytes = (double)count * (double)each;
    if (bytes <= (double)budget->left) {
        budget->left -= (uint64_t)bytes;
        return true;
    }
    budget->refused = true;
    return plot_fail(
        source,
        "drawing %s needs %.1f MB more, and memory_limit leaves %.1f; raise it with SET memory_limit, or "
        "draw a part: LET part = SELECT ... LIMIT 100000",
        source->plot->name, bytes / 1e6, (double)budget->left / 1e6);
}

plot_series *plot_add(const plot_source *source, plot_figure *figure, int64_t count, const char *label)
{
    enum { POINT = 4 * sizeof(double) }; /* of a point: its place, and as much again while it is drawn */
    if (!plot_take(source, count + 1, POINT)) return NULL;
    plot_series *one = &figure->one[figure->series++];
    *one = (plot_series){.count = count};
    snprintf(one->label, sizeof one->label, "%s", label);
    one->x = shell_alloc(NULL, sizeof *one->x * ((size_t)count + 1));
    one->y = shell_alloc(NULL, sizeof *one->y * ((size_t)count + 1));
    return one;
}

static void widen(plot_axis *axis, double value)
{
    if (!isfinite(value)) return;
    if (!(value >= axis->low)) axis->low = value;
    if (!(value <= axis->high)) axis->high = value;
}

/* Some room about the data; one value alone gets it, too. An axis is long enough to be divided by. */
static bool finish(plot_axis *axis, double room)
{
    const double least = 1e-304;
    if (!(axis->low <= axis->high)) return false;
    if (axis->log) return axis->low > 0;
    double span = plot_half(axis);
    double more = span > 0 ? 2 * span * room : axis->low == 0 ? 1 : fabs(axis->low) * 0.1;
    if (span < least && more < least) more = least;
    axis->low = fmax(axis->low - more, -1.7e308);
    axis->high = fmin(axis->high + more, 1.7e308);
    return true;
}

static bool fit_cells(plot_figure *figure)
{
    plot_axis range = {.low = NAN, .high = NAN};
    for (int64_t i = 0; i < (int64_t)figure->nx * figure->ny; i++)
        widen(&range, figure->cell[i]);
    figure->low = range.low;
    figure->high = range.high;
    return range.low <= range.high;
}

bool plot_fit(plot_figure *figure)
{
    if (figure->mark == PLOT_CELLS) return fit_cells(figure);
    if (figure->mark == PLOT_TREE) return plot_tree_fit(figure);
    figure->x.low = figure->x.high = figure->y.low = figure->y.high = NAN;
    bool bars = figure->mark == PLOT_BARS;
    for (int s = 0; s < figure->series; s++)
        for (int64_t i = 0; i < figure->one[s].count; i++) {
            const plot_series *one = &figure->one[s];
            if (!isfinite(one->y[i]) || !isfinite(one->x[i])) continue;
            widen(&figure->x, one->x[i]);
            if (bars) widen(&figure->x, one->x[i + 1]);
            if (!figure->y.log || one->y[i] > 0) widen(&figure->y, one->y[i]);
        }
    if (bars) figure->y.low = figure->y.log ? 0.7 : 0;
    if (bars && figure->y.log) figure->y.high *= 1.5;
    bool good = finish(&figure->x, bars || figure->mark == PLOT_LINES ? 0 : 0.03);
    good = finish(&figure->y, bars ? 0 : 0.05) && good;
    if (bars && !figure->y.log) figure->y.high *= 1.05;
    return good;
}

void plot_figure_free(plot_figure *figure)
{
    for (int s = 0; s < figure->series; s++) {
        free(figure->one[s].x);
        free(figure->one[s].y);
        free(figure->one[s].z);
        free(figure->one[s].width);
    }
    free(figure->cell);
}

/* ------------------------------------------------------------------------------------------- kinds */

static const struct kind {
    const char *name;
    bool (*make)(const plot_source *source, plot_figure *figure);
} kinds[] = {{"heat", plot_heat},       {"spy", plot_spy},   {"line", plot_line},
             {"scatter", plot_scatter}, {"hist", plot_hist}, {"tree", plot_tree}};

static const char *kind_that_fits(const plot_source *source)
{
    lacis_part field;
    int64_t extent[3];
    switch (lacis_array_kind(source->array)) {
    case LACIS_CSR:
        return "spy";
    case LACIS_SYMMETRIC:
        return "heat";
    case LACIS_BODIES:
        return "scatter";
    case LACIS_GRID:
        return plot_grid(source, &field, extent) > 1 && extent[1] * extent[2] > 1 ? "heat" : "line";
    default:
        return plot_is_tree(source->array) ? "tree" : "line";
    }
}

/* A label as it may be shown: names of columns can hold anything. */
static void clean(char *label, size_t size)
{
    shell_text text = {0};
    shell_clean(&text, label, strlen(label));
    size_t length = text.used < size ? text.used : size - 1;
    while (length < text.used && length > 0 && (text.data[length] & 0xc0) == 0x80)
        length--; /* no part of a character */
    if (length > 0) memcpy(label, text.data, length);
    label[length] = '\0';
    for (char *p = label; *p != '\0'; p++)
        if (*p == '\n') *p = ' ';
    shell_text_free(&text);
}

static void clean_labels(plot_figure *figure)
{
    clean(figure->title, sizeof figure->title);
    clean(figure->x.label, sizeof figure->x.label);
    clean(figure->y.label, sizeof figure->y.label);
    clean(figure->cell_label, sizeof figure->cell_label);
    for (int s = 0; s < figure->series; s++)
        clean(figure->one[s].label, sizeof figure->one[s].label);
}

bool plot_figure_of(const lacis_plot *plot, bool fine, plot_budget *budget, plot_figure *figure, char *message,
                    size_t size)
{
    const plot_source source = {plot, plot->array, fine, budget, message, size};
    const char *name = plot->kind != NULL ? plot->kind : kind_that_fits(&source);
    *figure = (plot_figure){.mark = PLOT_LINES};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) != 0) continue;
        if (!kinds[i].make(&source, figure)) return false;
        clean_labels(figure);
        return plot_fit(figure) || plot_fail(&source, "%s has no finite number to draw", plot->name);
    }
    return plot_fail(&source, "no plot is called %s", name);
}
