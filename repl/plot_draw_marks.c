/* SPDX-License-Identifier: Apache-2.0
 *
 * The data of a figure on a canvas: cells, lines, dots, bars and trees' pieces. Called by plot_draw.c; see
 * plot_draw.h.
 */
#include "plot_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double draw_x(const drawing *d, double value)
{
    return d->x + plot_place(&d->figure->x, value) * d->width;
}

double draw_y(const drawing *d, double value)
{
    double part = plot_place(&d->figure->y, value);
    return d->y + (d->figure->y.down ? part : 1 - part) * d->height;
}

/* ------------------------------------------------------------------------------------------- cells */

void draw_cells(const drawing *d)
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

/* ------------------------------------------------------------------------------------------- lines */

/* Of many points to one place the first, least, greatest and last are enough; a gap ends a line. */
void draw_line(const drawing *d, int series)
{
    const plot_series *one = &d->figure->one[series];
    const double *dash = plot_series_dash(d->figure, series);
    double *xy = shell_alloc(NULL, sizeof *xy * 2 * (size_t)(one->count + 1));
    int64_t points = 0, begun = 0; /* where those of the present column begin */
    for (int64_t i = 0; i <= one->count; i++) {
        bool gap = i == one->count || !isfinite(one->x[i]) || !isfinite(one->y[i]);
        if (gap) {
            if (points > 0) d->canvas->line(d->canvas, xy, points, 2.5, plot_series_colour(series), dash);
            points = begun = 0;
            continue;
        }
        const double at[] = {draw_x(d, one->x[i]), draw_y(d, one->y[i])};
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

void draw_dots(const drawing *d, int series)
{
    const plot_series *one = &d->figure->one[series];
    const uint32_t colour = plot_series_colour(series);
    double *xy = shell_alloc(NULL, sizeof *xy * 2 * (size_t)(one->count + 1));
    int64_t points = 0;
    for (int64_t i = 0; i < one->count; i++) {
        if (!isfinite(one->x[i]) || !isfinite(one->y[i])) continue;
        xy[2 * points] = draw_x(d, one->x[i]);
        xy[2 * points++ + 1] = draw_y(d, one->y[i]);
    }
    d->canvas->dots(d->canvas, xy, points, one->count > 1000 ? 2 : 3.5, colour);
    free(xy);
}

void draw_bars(const drawing *d, int series)
{
    const plot_series *one = &d->figure->one[series];
    const uint32_t colour = plot_series_colour(series);
    const double bottom = d->y + d->height;
    for (int64_t i = 0; i < one->count; i++) {
        if (!(one->y[i] > 0)) continue;
        double left = draw_x(d, one->x[i]), right = draw_x(d, one->x[i + 1]), top = draw_y(d, one->y[i]);
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

/* A piece that begins where the last one ended, as wide, goes on with its line. */
void draw_pieces(const drawing *d, const plot_series *one, double dot, uint32_t colour)
{
    double *xy = shell_alloc(NULL, sizeof *xy * 2 * (size_t)(one->count + 1)), width = 0;
    int64_t points = 0;
    for (int64_t i = 0; i < one->count; i += 2) {
        const double from[] = {draw_x(d, one->x[i]), draw_y(d, one->y[i])},
                     to[] = {draw_x(d, one->x[i + 1]), draw_y(d, one->y[i + 1])};
        double wide = piece_width(d, one->width[i / 2], memcmp(from, to, sizeof to) == 0 ? dot : 1);
        bool on = points > 0 && wide == width && memcmp(xy + 2 * points - 2, from, sizeof from) == 0;
        if (!on && points > 0) d->canvas->line(d->canvas, xy, points, width, colour, NULL);
        if (!on) {
            memcpy(xy, from, sizeof from);
            points = 1;
        }
        memcpy(xy + 2 * points++, to, sizeof to);
        width = wide;
    }
    if (points > 0) d->canvas->line(d->canvas, xy, points, width, colour, NULL);
    free(xy);
}
