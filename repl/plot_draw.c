/* SPDX-License-Identifier: Apache-2.0
 *
 * Lays a figure out on a canvas: title, axes with ticks and labels, a legend or a colour bar, and the data. See
 * plot.h.
 */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 22, SMALL = PLOT_SMALL }; /* of text, in units of the canvas */
static const uint32_t ink = 0x404040, pale = 0xe4e4e4;

typedef struct drawing {
    const plot_figure *figure;
    plot_canvas *canvas;
    double x, y, width, height; /* of the data */
    plot_ticks across, up;
} drawing;

static double at_x(const drawing *d, double value)
{
    return d->x + plot_place(&d->figure->x, value) * d->width;
}

static double at_y(const drawing *d, double value)
{
    double part = plot_place(&d->figure->y, value);
    return d->y + (d->figure->y.down ? part : 1 - part) * d->height;
}

static void segment(const drawing *d, double x0, double y0, double x1, double y1, double width, uint32_t colour)
{
    const double xy[] = {x0, y0, x1, y1};
    d->canvas->line(d->canvas, xy, 2, width, colour);
}

/* ------------------------------------------------------------------------------------------- axes */

static double widest(const plot_ticks *ticks)
{
    size_t most = 0;
    for (int i = 0; i < ticks->count; i++)
        if (strlen(ticks->text[i]) > most) most = strlen(ticks->text[i]);
    return (double)most * 0.6 * SMALL;
}

/* The size, or what a longer text needs to stay within `room`. */
static double fitted(const char *text, double size, double room)
{
    return fmin(size, (room - 20) / (0.6 * fmax((double)strlen(text), 1)));
}

static bool has_legend(const plot_figure *figure)
{
    return figure->mark == PLOT_LINES && figure->series > 1;
}

/* The least way between neighbours of x. */
static double least_gap(const drawing *d)
{
    double least = INFINITY;
    for (int i = 1; i < d->across.count; i++)
        least = fmin(least, fabs(at_x(d, d->across.at[i]) - at_x(d, d->across.at[i - 1])));
    return least;
}

/* Fewer ticks of x until labels do not run into each other. */
static void thin_out(drawing *d)
{
    for (int wanted = 7; wanted > 0 && least_gap(d) < widest(&d->across) + 15; wanted--)
        plot_ticks_of(&d->figure->x, wanted, &d->across);
}

static void place(drawing *d)
{
    const plot_figure *f = d->figure;
    plot_ticks_of(&f->x, 8, &d->across);
    plot_ticks_of(&f->y, 6, &d->up);
    const double label = widest(&d->across);
    double left = 24 + widest(&d->up) + (f->y.label[0] != '\0' ? 40 : 10),
           right = f->bar ? 170 : fmax(40, label / 2 + 12);
    double top = 70 + (has_legend(f) ? plot_legend(f, d->canvas, false) : 0),
           bottom = f->x.label[0] != '\0' ? 90 : 60;
    d->x = left;
    d->y = top;
    d->width = d->canvas->width - left - right;
    d->height = d->canvas->height - top - bottom;
    if (f->equal) {
        double x = plot_half(&f->x), y = plot_half(&f->y), unit = fmin(d->width / x, d->height / y);
        d->x += (d->width - unit * x) / 2;
        d->y += (d->height - unit * y) / 2;
        d->width = unit * x;
        d->height = unit * y;
    }
    thin_out(d);
}

static void draw_lattice(const drawing *d)
{
    for (int i = 0; i < d->across.count; i++) {
        double x = at_x(d, d->across.at[i]);
        segment(d, x, d->y, x, d->y + d->height, 1, pale);
    }
    for (int i = 0; i < d->up.count; i++) {
        double y = at_y(d, d->up.at[i]);
        segment(d, d->x, y, d->x + d->width, y, 1, pale);
    }
}

static void draw_axes(const drawing *d)
{
    const plot_figure *f = d->figure;
    plot_canvas *c = d->canvas;
    const double right = d->x + d->width, bottom = d->y + d->height;
    const double frame[] = {d->x, d->y, right, d->y, right, bottom, d->x, bottom, d->x, d->y};
    c->line(c, frame, 5, 1.5, ink);
    for (int i = 0; i < d->across.count; i++) {
        double x = at_x(d, d->across.at[i]);
        segment(d, x, bottom, x, bottom + 7, 1.5, ink);
        c->text(c, x, bottom + 28, SMALL, 0, false, d->across.text[i]);
    }
    for (int i = 0; i < d->up.count; i++) {
        double y = at_y(d, d->up.at[i]);
        segment(d, d->x - 7, y, d->x, y, 1.5, ink);
        c->text(c, d->x - 13, y + SMALL * 0.35, SMALL, 1, false, d->up.text[i]);
    }
    double middle = d->y + d->height / 2;
    c->text(c, d->x + d->width / 2, bottom + 62, fitted(f->x.label, SIZE, d->width + 80), 0, false, f->x.label);
    c->text(c, d->x - 30 - widest(&d->up), middle, fitted(f->y.label, SIZE, 2 * fmin(middle, c->height - middle)), 0,
            true, f->y.label);
}

static void draw_title(const drawing *d)
{
    d->canvas->text(d->canvas, d->canvas->width / 2, 40, fitted(d->figure->title, SIZE + 4, d->canvas->width), 0,
                    false, d->figure->title);
}

/* ------------------------------------------------------------------------------------------- cells */

static void draw_cells(const drawing *d)
{
    const plot_figure *f = d->figure;
    uint32_t *colour = shell_alloc(NULL, sizeof *colour * (size_t)f->nx * (size_t)f->ny);
    for (int y = 0; y < f->ny; y++)
        for (int x = 0; x < f->nx; x++)
            colour[(f->y.down ? y : f->ny - 1 - y) * f->nx + x] =
                plot_cell_colour(f, f->cell[(int64_t)y * f->nx + x]);
    d->canvas->cells(d->canvas, d->x, d->y, d->width, d->height, f->nx, f->ny, colour);
    free(colour);
}

/* Of a bar of one value. */
static void only_tick(double value, plot_ticks *out)
{
    out->count = 1;
    out->at[0] = value;
    snprintf(out->text[0], PLOT_TICK_TEXT, "%.6g", value);
}

static void draw_bar(const drawing *d)
{
    enum { SHADES = 256, WIDE = 24 };
    uint32_t colour[SHADES];
    const plot_figure *f = d->figure;
    plot_canvas *c = d->canvas;
    const plot_axis axis = {.low = f->low, .high = f->high, .log = f->cell_log, .whole = f->cell_whole};
    const double x = d->x + d->width + 30;
    plot_ticks ticks;
    for (int i = 0; i < SHADES; i++)
        colour[i] = f->high > f->low ? plot_shade(1 - i / (SHADES - 1.0)) : plot_cell_colour(f, f->low);
    c->cells(c, x, d->y, WIDE, d->height, 1, SHADES, colour);
    if (f->high > f->low)
        plot_ticks_of(&axis, 6, &ticks);
    else
        only_tick(f->low, &ticks);
    for (int i = 0; i < ticks.count; i++) {
        double y = d->y + (f->high > f->low ? 1 - plot_place(&axis, ticks.at[i]) : 0.5) * d->height;
        segment(d, x + WIDE, y, x + WIDE + 6, y, 1.5, ink);
        c->text(c, x + WIDE + 12, y + SMALL * 0.35, SMALL, -1, false, ticks.text[i]);
    }
    double beyond = x + WIDE / 2.0 + 0.3 * SMALL * (double)strlen(f->cell_label) - (c->width - 10);
    double size = fitted(f->cell_label, SMALL, c->width);
    if (beyond > 0)
        c->text(c, c->width - 10, d->y - 12, size, 1, false, f->cell_label);
    else
        c->text(c, x + WIDE / 2.0, d->y - 12, size, 0, false, f->cell_label);
}

/* ------------------------------------------------------------------------------------------- lines */

/* Of many points to one place the first, least, greatest and last are enough; a gap ends a line. */
static void draw_line(const drawing *d, const plot_series *one, uint32_t colour)
{
    double *xy = shell_alloc(NULL, sizeof *xy * 2 * (size_t)(one->count + 1));
    int64_t points = 0, begun = 0; /* where those of the present column begin */
    for (int64_t i = 0; i <= one->count; i++) {
        bool gap = i == one->count || !isfinite(one->x[i]) || !isfinite(one->y[i]);
        if (gap) {
            if (points > 0) d->canvas->line(d->canvas, xy, points, 2.5, colour);
            points = begun = 0;
            continue;
        }
        const double at[] = {at_x(d, one->x[i]), at_y(d, one->y[i])};
        if (points > 0 && floor(at[0]) != floor(xy[2 * points - 2])) begun = points;
        if (points - begun >= 4) { /* the second and third are kept the least and the greatest */
            double *few = xy + 2 * begun;
            if (few[7] < few[3] && few[7] < few[5])
                memcpy(few[3] < few[5] ? few + 2 : few + 4, few + 6, 2 * sizeof *few);
            if (few[7] > few[3] && few[7] > few[5])
                memcpy(few[3] > few[5] ? few + 2 : few + 4, few + 6, 2 * sizeof *few);
            points--;
        }
        memcpy(xy + 2 * points++, at, sizeof at);
    }
    free(xy);
}

static void draw_dots(const drawing *d, const plot_series *one, uint32_t colour)
{
    double *xy = shell_alloc(NULL, sizeof *xy * 2 * (size_t)(one->count + 1));
    int64_t points = 0;
    for (int64_t i = 0; i < one->count; i++) {
        if (!isfinite(one->x[i]) || !isfinite(one->y[i])) continue;
        xy[2 * points] = at_x(d, one->x[i]);
        xy[2 * points++ + 1] = at_y(d, one->y[i]);
    }
    d->canvas->dots(d->canvas, xy, points, one->count > 1000 ? 2 : 3.5, colour);
    free(xy);
}

static void draw_bars(const drawing *d, const plot_series *one, uint32_t colour)
{
    const double bottom = d->y + d->height;
    for (int64_t i = 0; i < one->count; i++) {
        if (!(one->y[i] > 0)) continue;
        double left = at_x(d, one->x[i]), right = at_x(d, one->x[i + 1]), top = at_y(d, one->y[i]);
        d->canvas->box(d->canvas, left + 1, top, fmax(right - left - 2, 1), bottom - top, colour);
    }
}

/* -------------------------------------------------------------------------------------------- trees */

/* In units of the canvas, at least `least`; by quarters, so that neighbouring pieces may go into one line. */
static double piece_width(const drawing *d, double width, double least)
{
    double wide = d->width / (d->figure->x.high - d->figure->x.low) * width;
    return fmax(round(4 * wide) / 4, least);
}

/* A piece that begins where the last one ended, as wide, goes on with its line. dot: the least width of a piece
 * without a length. */
static void draw_pieces(const drawing *d, const plot_series *one, double dot, uint32_t colour)
{
    double *xy = shell_alloc(NULL, sizeof *xy * 2 * (size_t)(one->count + 1)), width = 0;
    int64_t points = 0;
    for (int64_t i = 0; i < one->count; i += 2) {
        const double from[] = {at_x(d, one->x[i]), at_y(d, one->y[i])},
                     to[] = {at_x(d, one->x[i + 1]), at_y(d, one->y[i + 1])};
        double wide = piece_width(d, one->width[i / 2], memcmp(from, to, sizeof to) == 0 ? dot : 1);
        bool on = points > 0 && wide == width && memcmp(xy + 2 * points - 2, from, sizeof from) == 0;
        if (!on && points > 0) d->canvas->line(d->canvas, xy, points, width, colour);
        if (!on) {
            memcpy(xy, from, sizeof from);
            points = 1;
        }
        memcpy(xy + 2 * points++, to, sizeof to);
        width = wide;
    }
    if (points > 0) d->canvas->line(d->canvas, xy, points, width, colour);
    free(xy);
}

/* The soma, the first series, comes last, upon what begins within it; beside a long axon it is still to be seen. */
static void draw_tree(const drawing *whole)
{
    enum { LEFT = 125, RIGHT = 25, TOP = 105, BOTTOM = 90 };
    drawing d = *whole;
    plot_figure panel[2];
    d.width = d.canvas->width / 2 - LEFT - RIGHT;
    d.height = d.canvas->height - TOP - BOTTOM;
    d.y = TOP;
    plot_tree_panels(whole->figure, d.width, d.height, panel);
    for (int p = 0; p < 2; p++) {
        d.figure = &panel[p];
        d.x = LEFT + p * d.canvas->width / 2;
        plot_ticks_of(&panel[p].x, 4, &d.across);
        plot_ticks_of(&panel[p].y, 6, &d.up);
        draw_lattice(&d);
        for (int s = panel[p].series - 1; s >= 0; s--)
            draw_pieces(&d, &panel[p].one[s], s == 0 ? 7 : 1, plot_series_colour(s));
        draw_axes(&d);
    }
    plot_legend(whole->figure, whole->canvas, true);
    draw_title(whole);
}

void plot_draw(const plot_figure *figure, plot_canvas *canvas)
{
    drawing d = {.figure = figure, .canvas = canvas};
    canvas->box(canvas, 0, 0, canvas->width, canvas->height, 0xffffff);
    if (figure->mark == PLOT_TREE) {
        draw_tree(&d);
        return;
    }
    place(&d);
    if (figure->mark == PLOT_CELLS)
        draw_cells(&d);
    else
        draw_lattice(&d);
    for (int s = 0; s < figure->series && figure->mark != PLOT_CELLS; s++) {
        void (*draw)(const drawing *, const plot_series *, uint32_t) = figure->mark == PLOT_LINES  ? draw_line
                                                                       : figure->mark == PLOT_DOTS ? draw_dots
                                                                                                   : draw_bars;
        draw(&d, &figure->one[s], plot_series_colour(s));
    }
    if (figure->bar) draw_bar(&d);
    draw_axes(&d);
    draw_title(&d);
    if (has_legend(figure)) plot_legend(figure, canvas, true);
}
