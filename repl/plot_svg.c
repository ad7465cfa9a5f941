/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures as SVG; see plot.h.
 */
#include "plot.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 1200, HEIGHT = 800 };

typedef struct svg {
    plot_canvas canvas;
    shell_text *out;
} svg;

static void put(plot_canvas *canvas, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(plot_canvas *canvas, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    shell_text_puts(((svg *)canvas)->out, text);
}

static void line(plot_canvas *canvas, const double *xy, int64_t points, double width, uint32_t colour,
                 const double *dash)
{
    put(canvas, "<polyline fill=\"none\" stroke=\"#%06x\" stroke-width=\"%g\" stroke-linejoin=\"round\" ",
        (unsigned)colour, width);
    for (int i = 0; dash != NULL && dash[i] > 0; i++)
        put(canvas, i == 0 ? "stroke-dasharray=\"%g" : " %g", dash[i]);
    put(canvas, "%sstroke-linecap=\"round\" points=\"", dash != NULL ? "\" " : "");
    for (int64_t i = 0; i < points; i++)
        put(canvas, "%s%.1f,%.1f", i > 0 ? " " : "", xy[2 * i], xy[2 * i + 1]);
    put(canvas, "\"/>\n");
}

static void dots(plot_canvas *canvas, const double *xy, int64_t points, double radius, uint32_t colour)
{
    put(canvas, "<g fill=\"#%06x\">\n", (unsigned)colour);
    for (int64_t i = 0; i < points; i++)
        put(canvas, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"/>\n", xy[2 * i], xy[2 * i + 1], radius);
    put(canvas, "</g>\n");
}

static void box(plot_canvas *canvas, double x, double y, double width, double height, uint32_t colour)
{
    put(canvas, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\"/>\n", x, y, width, height,
        (unsigned)colour);
}

static void text(plot_canvas *canvas, double x, double y, double size, int anchor, bool upright, const char *string)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    put(canvas, "<text font-size=\"%g\" text-anchor=\"%s\" ", size, anchors[anchor + 1]);
    if (upright)
        put(canvas, "transform=\"translate(%.1f,%.1f) rotate(-90)\">", x, y);
    else
        put(canvas, "x=\"%.1f\" y=\"%.1f\">", x, y);
    for (const char *p = string; *p != '\0'; p++) {
        const char *special = *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : *p == '&' ? "&amp;" : NULL;
        if (special != NULL)
            shell_text_puts(((svg *)canvas)->out, special);
        else
            shell_text_add(((svg *)canvas)->out, p, 1);
    }
    put(canvas, "</text>\n");
}

static void cells(plot_canvas *canvas, double x, double y, double width, double height, int nx, int ny,
                  const uint32_t *colour)
{
    shell_text png = {0};
    plot_png_encode(colour, nx, ny, &png);
    put(canvas,
        "<image x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" preserveAspectRatio=\"none\" "
        "image-rendering=\"pixelated\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64,",
        x, y, width, height);
    plot_base64(png.data, png.used, ((svg *)canvas)->out);
    put(canvas, "\"/>\n");
    shell_text_free(&png);
}

/* --- the same, counted: an upper bound for what grows with the data, without the pictures of cells */

enum { LINE = 180, POINT = 14, DOT = 42, BOX = 90 };

typedef struct counter {
    plot_canvas canvas;
    uint64_t bytes;
} counter;

static void count_line(plot_canvas *canvas, const double *xy, int64_t points, double width, uint32_t colour,
                       const double *dash)
{
    (void)xy, (void)width, (void)colour, (void)dash;
    ((counter *)canvas)->bytes += LINE + POINT * (uint64_t)points;
}

static void count_dots(plot_canvas *canvas, const double *xy, int64_t points, double radius, uint32_t colour)
{
    (void)xy, (void)radius, (void)colour;
    ((counter *)canvas)->bytes += LINE + DOT * (uint64_t)points;
}

static void count_box(plot_canvas *canvas, double x, double y, double width, double height, uint32_t colour)
{
    (void)x, (void)y, (void)width, (void)height, (void)colour;
    ((counter *)canvas)->bytes += BOX;
}

static void no_text(plot_canvas *canvas, double x, double y, double size, int anchor, bool upright,
                    const char *string)
{
    (void)canvas, (void)x, (void)y, (void)size, (void)anchor, (void)upright, (void)string;
}

static void no_cells(plot_canvas *canvas, double x, double y, double width, double height, int nx, int ny,
                     const uint32_t *colour)
{
    (void)canvas, (void)x, (void)y, (void)width, (void)height, (void)nx, (void)ny, (void)colour;
}

uint64_t plot_svg_bytes(const plot_figure *figure)
{
    counter c = {{WIDTH, HEIGHT, count_line, count_dots, count_box, no_text, no_cells}, 0};
    plot_draw(figure, &c.canvas);
    return c.bytes;
}

void plot_svg(const plot_figure *figure, shell_text *out)
{
    svg s = {{WIDTH, HEIGHT, line, dots, box, text, cells}, out};
    put(&s.canvas,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
        "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" fill=\"#202020\">\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    plot_draw(figure, &s.canvas);
    put(&s.canvas, "</svg>\n");
}
