/* SPDX-License-Identifier: Apache-2.0
 *
 * A figure while it is laid out on a canvas: plot_draw.c puts title, axes and colour bar around an area in which
 * plot_draw_marks.c draws the data.
 */
#ifndef SHELL_PLOT_DRAW_H
#define SHELL_PLOT_DRAW_H

#include "plot.h"

typedef struct drawing {
    const plot_figure *figure;
    plot_canvas *canvas;
    double x, y, width, height; /* of the data */
    plot_ticks across, up;
} drawing;

/* --- plot_draw_marks.c */

double draw_x(const drawing *d, double value);
double draw_y(const drawing *d, double value);
void draw_cells(const drawing *d);
void draw_line(const drawing *d, int series);
void draw_dots(const drawing *d, int series);
void draw_bars(const drawing *d, int series);
/* dot: the least width of a piece without a length. */
void draw_pieces(const drawing *d, const plot_series *one, double dot, uint32_t colour);

#endif
