/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures as pixels: lines are smooth, a pixel being covered as far as its middle lies within them. A polyline is
 * gathered in a mask first, so that its pieces do not darken each other. See plot.h.
 */
#include "plot.h"

#include "interrupt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct raster {
    plot_canvas canvas;
    double scale;
    int width, height; /* pixels */
    uint32_t *colour;
    unsigned char *mask;
} raster;

static uint32_t blend(uint32_t under, uint32_t over, unsigned part)
{
    uint32_t out = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        unsigned a = under >> shift & 255, b = over >> shift & 255;
        out |= (a + (b * part + 127 - (a * part)) / 255) << shift & 255U << shift;
    }
    return out;
}

/* The part of the picture that a mask has touched. */
typedef struct area {
    int x0, y0, x1, y1;
} area;

/* NaN, too, is put within. */
static int within(double value, int most)
{
    return !(value > 0) ? 0 : value > most ? most : (int)value;
}

/* What of a row of pixels a line can touch: points of it further above or below than `reach` do not. */
static void row_bounds(const double *a, const double *b, double middle, double reach, double *from, double *to)
{
    double dx = b[0] - a[0], dy = b[1] - a[1], first = 0, last = 1;
    if (fabs(dy) > reach) {
        double part = (middle - a[1]) / dy, around = reach / fabs(dy);
        first = fmin(fmax(part - around, 0), 1);
        last = fmin(fmax(part + around, 0), 1);
    }
    *from = fmin(a[0] + first * dx, a[0] + last * dx) - reach;
    *to = fmax(a[0] + first * dx, a[0] + last * dx) + reach;
}

static void cover(const raster *r, area *touched, const double *a, const double *b, double half)
{
    double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
    int x0 = within(fmin(a[0], b[0]) - half - 1, r->width), x1 = within(fmax(a[0], b[0]) + half + 2, r->width);
    int y0 = within(fmin(a[1], b[1]) - half - 1, r->height), y1 = within(fmax(a[1], b[1]) + half + 2, r->height);
    for (int y = y0; y < y1; y++) {
        double from, to;
        row_bounds(a, b, y + 0.5, half + 1, &from, &to);
        int first = within(from, x1);
        for (int x = first < x0 ? x0 : first; x < x1 && x <= to; x++) {
            double px = x + 0.5 - a[0], py = y + 0.5 - a[1];
            double along = square > 0 ? fmin(fmax((px * dx + py * dy) / square, 0), 1) : 0;
            double part = half + 0.5 - hypot(px - along * dx, py - along * dy);
            unsigned char *m = &r->mask[y * r->width + x];
            unsigned level = part <= 0 ? 0 : part >= 1 ? 255 : (unsigned)(part * 255);
            if (level > *m) *m = (unsigned char)level;
        }
    }
    if (x0 < touched->x0) touched->x0 = x0;
    if (y0 < touched->y0) touched->y0 = y0;
    if (x1 > touched->x1) touched->x1 = x1;
    if (y1 > touched->y1) touched->y1 = y1;
}

static void fill(const raster *r, const area *touched, uint32_t colour)
{
    for (int y = touched->y0; y < touched->y1; y++)
        for (int x = touched->x0; x < touched->x1; x++) {
            unsigned char *m = &r->mask[y * r->width + x];
            uint32_t *c = &r->colour[y * r->width + x];
            if (*m != 0) *c = *m == 255 ? colour : blend(*c, colour, *m);
            *m = 0;
        }
}

static area nothing(const raster *r)
{
    return (area){r->width, r->height, 0, 0};
}

/* Asked now and then; plot_command.c asks again. */
static bool stop(int64_t i)
{
    return (i & 63) == 0 && shell_interrupted();
}

static void line(plot_canvas *canvas, const double *xy, int64_t points, double width, uint32_t colour)
{
    const raster *r = (const raster *)canvas;
    area touched = nothing(r);
    for (int64_t i = 0; i + 1 < points && !stop(i); i++) {
        const double a[] = {xy[2 * i] * r->scale, xy[2 * i + 1] * r->scale};
        const double b[] = {xy[2 * i + 2] * r->scale, xy[2 * i + 3] * r->scale};
        cover(r, &touched, a, b, width * r->scale / 2);
    }
    fill(r, &touched, colour);
}

static void dots(plot_canvas *canvas, const double *xy, int64_t points, double radius, uint32_t colour)
{
    const raster *r = (const raster *)canvas;
    area touched = nothing(r);
    for (int64_t i = 0; i < points && !stop(i); i++) {
        const double at[] = {xy[2 * i] * r->scale, xy[2 * i + 1] * r->scale};
        cover(r, &touched, at, at, radius * r->scale);
    }
    fill(r, &touched, colour);
}

static void box(plot_canvas *canvas, double x, double y, double width, double height, uint32_t colour)
{
    const raster *r = (const raster *)canvas;
    int x1 = within((x + width) * r->scale + 0.5, r->width), y1 = within((y + height) * r->scale + 0.5, r->height);
    for (int py = within(y * r->scale + 0.5, r->height); py < y1; py++)
        for (int px = within(x * r->scale + 0.5, r->width); px < x1; px++)
            r->colour[py * r->width + px] = colour;
}

static void cells(plot_canvas *canvas, double x, double y, double width, double height, int nx, int ny,
                  const uint32_t *colour)
{
    const raster *r = (const raster *)canvas;
    int x0 = within(x * r->scale + 0.5, r->width), x1 = within((x + width) * r->scale + 0.5, r->width);
    int y0 = within(y * r->scale + 0.5, r->height), y1 = within((y + height) * r->scale + 0.5, r->height);
    for (int py = y0; py < y1; py++)
        for (int px = x0; px < x1; px++) {
            int cx = (int)((int64_t)(px - x0) * nx / (x1 - x0)), cy = (int)((int64_t)(py - y0) * ny / (y1 - y0));
            r->colour[py * r->width + px] = colour[cy * nx + cx];
        }
}

/* One stroke of a glyph: digits up to a blank or the end. Returns what is behind it. */
static const char *stroke(const raster *r, area *touched, const char *p, const double *origin, double size,
                          bool upright)
{
    double before[2] = {0}, half = size * 0.045;
    for (int i = 0; p[0] >= '0' && p[1] >= '0'; i++, p += 2) {
        double x = (p[0] - '0') * size * 0.1, y = (p[1] - '6') * size * 0.7 / 6;
        const double at[2] = {origin[0] + (upright ? y : x), origin[1] + (upright ? -x : y)};
        cover(r, touched, i == 0 ? at : before, at, half);
        memcpy(before, at, sizeof before);
    }
    return *p == ' ' ? p + 1 : p;
}

static void text(plot_canvas *canvas, double x, double y, double size, int anchor, bool upright, const char *string)
{
    const raster *r = (const raster *)canvas;
    const double step = 0.6 * size * r->scale, length = (double)strlen(string) * step - 0.2 * size * r->scale;
    const double back = anchor < 0 ? 0 : anchor == 0 ? length / 2 : length;
    double at[2] = {x * r->scale - (upright ? 0 : back), y * r->scale + (upright ? back : 0)};
    area touched = nothing(r);
    for (const char *c = string; *c != '\0'; c++) {
        for (const char *p = plot_glyph((unsigned char)*c); *p != '\0';)
            p = stroke(r, &touched, p, at, size * r->scale, upright);
        at[upright ? 1 : 0] += upright ? -step : step;
    }
    fill(r, &touched, 0x202020);
}

uint32_t *plot_pixels(const plot_figure *figure, int width, int height)
{
    static const double scale = 4.0 / 3;
    const size_t pixels = (size_t)width * (size_t)height;
    raster r = {{width / scale, height / scale, line, dots, box, text, cells}, scale, width, height, NULL, NULL};
    r.colour = shell_alloc(NULL, pixels * sizeof *r.colour);
    r.mask = shell_alloc(NULL, pixels);
    memset(r.mask, 0, pixels);
    for (size_t i = 0; i < pixels; i++)
        r.colour[i] = 0xffffff;
    plot_draw(figure, &r.canvas);
    free(r.mask);
    return r.colour;
}
