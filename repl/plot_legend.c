/* SPDX-License-Identifier: Apache-2.0
 *
 * Which colour is which series: rows below the title, apart from the data. Called by plot_draw.c; see plot.h.
 */
#include "plot.h"

#include <string.h>

enum { STROKE = 66, GAP = 30, TOP = 74, ROW = 26, MARGIN = 30 };

static double width_of(const plot_series *one)
{
    return one->count > 0 ? STROKE + 0.6 * PLOT_SMALL * (double)strlen(one->label) : 0;
}

/* Series [from, the result) fit a row, one at least; *width: of them with the gaps in between. */
static int row_of(const plot_figure *f, int from, double most, double *width)
{
    int end = from;
    *width = -GAP;
    for (; end < f->series; end++) {
        double one = width_of(&f->one[end]);
        if (one > 0 && *width > 0 && *width + GAP + one > most) break;
        if (one > 0) *width += GAP + one;
    }
    return end;
}

static void draw_row(const plot_figure *f, plot_canvas *canvas, int from, int end, double x, double y)
{
    for (int s = from; s < end; s++) {
        if (f->one[s].count == 0) continue;
        const double stroke[] = {x + 2, y, x + STROKE - 10, y};
        canvas->line(canvas, stroke, 2, f->mark == PLOT_LINES ? 3.5 : 5, plot_series_colour(s),
                     plot_series_dash(f, s));
        canvas->text(canvas, x + STROKE, y + PLOT_SMALL * 0.35, PLOT_SMALL, -1, false, f->one[s].label);
        x += width_of(&f->one[s]) + GAP;
    }
}

double plot_legend(const plot_figure *figure, plot_canvas *canvas, bool draw)
{
    double width;
    int rows = 0;
    for (int from = 0, end; from < figure->series; from = end, rows++) {
        end = row_of(figure, from, canvas->width - 2 * MARGIN, &width);
        if (draw) draw_row(figure, canvas, from, end, (canvas->width - width) / 2, TOP + ROW * rows);
    }
    return ROW * rows;
}
