/* SPDX-License-Identifier: Apache-2.0
 *
 * What data marks in a figure of characters: lines and points as braille dots, two by four a character; cells as
 * halves of a character; bars in eighths. See plot_text.h.
 */
#include "plot_text.h"

#include <math.h>

static void dot(const text_page *p, double x, double y, int series)
{
    static const unsigned bit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    int px = (int)(x * 2 * p->columns), py = (int)(y * 4 * p->rows);
    if (!(x >= 0 && y >= 0) || px > 2 * p->columns || py > 4 * p->rows) return;
    if (px == 2 * p->columns) px--;
    if (py == 4 * p->rows) py--;
    text_place *at = &p->place[py / 4 * p->columns + px / 2];
    at->braille |= bit[py % 4][px % 2];
    at->series = series;
}

/* What a round pen of a width in dots marks. */
static void blot(const text_page *p, double x, double y, double width, int series)
{
    double px = x * 2 * p->columns, py = y * 4 * p->rows, half = fmin(width, 4 * p->rows) / 2;
    dot(p, x, y, series);
    for (double dy = ceil(-half); dy <= half; dy++)
        for (double dx = ceil(-half); dx <= half; dx++)
            if (hypot(dx, dy) < half) dot(p, (px + dx) / (2 * p->columns), (py + dy) / (4 * p->rows), series);
}

double text_down(const text_page *p, double y)
{
    double part = plot_place(&p->figure->y, y);
    return p->figure->y.down ? part : 1 - part;
}

static void mark_points(const text_page *p, const plot_series *one, int series)
{
    double before[2] = {NAN, NAN};
    for (int64_t i = 0; i < one->count; i++) {
        const double at[] = {plot_place(&p->figure->x, one->x[i]), text_down(p, one->y[i])};
        bool good = isfinite(at[0]) && isfinite(at[1]), joined = good && !isnan(before[0]);
        if (good) dot(p, at[0], at[1], series);
        if (p->figure->mark == PLOT_LINES && joined) {
            double far = fmax(fabs(at[0] - before[0]) * 2 * p->columns, fabs(at[1] - before[1]) * 4 * p->rows);
            int steps = 1 + (int)fmin(ceil(far), 1000);
            for (int k = 1; k < steps; k++)
                dot(p, before[0] + (at[0] - before[0]) * k / steps, before[1] + (at[1] - before[1]) * k / steps,
                    series);
        }
        before[0] = good ? at[0] : NAN;
        before[1] = at[1];
    }
}

static void mark_pieces(const text_page *p, const plot_series *one, int series)
{
    const double unit = 2 * p->columns / (p->figure->x.high - p->figure->x.low);
    for (int64_t i = 0; i < one->count; i += 2) {
        double x = plot_place(&p->figure->x, one->x[i]), y = text_down(p, one->y[i]);
        double dx = plot_place(&p->figure->x, one->x[i + 1]) - x, dy = text_down(p, one->y[i + 1]) - y;
        int steps = 1 + (int)ceil(fmax(fabs(dx) * 2 * p->columns, fabs(dy) * 4 * p->rows));
        for (int k = 0; k <= steps; k++)
            blot(p, x + dx * k / steps, y + dy * k / steps, unit * one->width[i / 2], series);
    }
}

/* A character belongs to the bar that its middle lies in. */
static void mark_bars(const text_page *p, const plot_series *one)
{
    for (int c = 0; c < p->columns; c++)
        for (int64_t b = 0; b < one->count; b++) {
            double middle = (c + 0.5) / p->columns;
            if (middle < plot_place(&p->figure->x, one->x[b]) || middle >= plot_place(&p->figure->x, one->x[b + 1]))
                continue;
            double height = one->y[b] > 0 ? plot_place(&p->figure->y, one->y[b]) * 8 * p->rows : 0;
            int eighths = one->y[b] > 0 ? (int)fmax(height + 0.5, 1) : 0;
            for (int r = p->rows - 1; r >= 0 && eighths > 0; r--, eighths -= 8)
                p->place[r * p->columns + c].eighths = eighths < 8 ? eighths : 8;
        }
}

/* Of the cells in a rectangle of the area: the mean, or the greatest where that is what stands out. */
static double cell_in(const text_page *p, double x0, double x1, double y0, double y1)
{
    const plot_figure *f = p->figure;
    int cx0 = (int)(x0 * f->nx), cx1 = (int)ceil(x1 * f->nx - 1e-9), cy0 = (int)(y0 * f->ny),
        cy1 = (int)ceil(y1 * f->ny - 1e-9);
    double mean = 0, most = NAN;
    int count = 0;
    for (int y = cy0; y < cy1 && y < f->ny; y++)
        for (int x = cx0; x < cx1 && x < f->nx; x++) {
            double value = f->cell[(int64_t)(f->y.down ? y : f->ny - 1 - y) * f->nx + x];
            if (!isfinite(value)) continue;
            if (!(value <= most)) most = value;
            count++;
            mean += value / count - mean / count; /* a sum might be larger than a double */
        }
    if (count == 0) return NAN;
    return plot_cell_part(f, f->cell_log ? most : mean);
}

static void mark_dotted(const text_page *p)
{
    const plot_figure *f = p->figure;
    for (int y = 0; y < f->ny; y++)
        for (int x = 0; x < f->nx; x++) {
            double row = (y + 0.5) / f->ny;
            if (!isnan(f->cell[(int64_t)y * f->nx + x])) dot(p, (x + 0.5) / f->nx, f->y.down ? row : 1 - row, 0);
        }
}

static void mark_cells(const text_page *p)
{
    int halves = p->colours > 0 ? 2 : 1;
    for (int r = 0; r < p->rows; r++)
        for (int c = 0; c < p->columns; c++) {
            double value[2] = {NAN, NAN};
            for (int h = 0; h < halves; h++)
                value[h] = cell_in(p, (double)c / p->columns, (c + 1.0) / p->columns,
                                   (double)(r * halves + h) / (p->rows * halves),
                                   (r * halves + h + 1.0) / (p->rows * halves));
            p->place[r * p->columns + c].upper = value[0];
            p->place[r * p->columns + c].lower = value[1];
        }
}

void text_marks(const text_page *p)
{
    const plot_figure *f = p->figure;
    if (text_dotted(p))
        mark_dotted(p);
    else if (f->mark == PLOT_CELLS)
        mark_cells(p);
    else if (f->mark == PLOT_BARS)
        mark_bars(p, &f->one[0]);
    else if (f->mark == PLOT_TREE)
        for (int s = f->series - 1; s >= 0; s--)
            mark_pieces(p, &f->one[s], s);
    else
        for (int s = 0; s < f->series; s++)
            mark_points(p, &f->one[s], s);
}
