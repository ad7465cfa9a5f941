/* SPDX-License-Identifier: Apache-2.0
 *
 * Line plots as SVG: small panels beside each other, one scale of x for all and one of y for each, so that lines
 * never crowd. A series has the same colour, dash and marker in each panel; the colours are Okabe and Ito's, which
 * those tell apart too who see few. Called by families that draw.
 */
#include "picture.h"

#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 4096, MOST_NAMES = 12, NAME = 32, COLUMNS = 3, TICKS = 6 };
enum { WIDTH = 360, HEIGHT = 270, LEFT = 66, RIGHT = 14, TOP = 34, BOTTOM = 46, MARGIN = 12 };

struct names {
    char name[MOST_NAMES][NAME];
    int count;
};

struct picture {
    char x_name[NAME], y_name[NAME];
    struct names panels, series;
    struct point {
        int panel, series;
        double x, y;
    } * point;
    int points;
    double x_most;
};

static const struct style {
    const char *colour, *dash;
} style[] = {{"#0072B2", ""}, {"#D55E00", "7 4"}, {"#009E73", "2 3"}, {"#CC79A7", "9 3 2 3"}, {"#E69F00", "12 4"}};
enum { STYLES = sizeof style / sizeof style[0] };

/* ---------------------------------------------------------------------------------------- points */

static int index_of(struct names *names, const char *name)
{
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0) return i;
    if (names->count == MOST_NAMES) return -1;
    snprintf(names->name[names->count], NAME, "%s", name);
    return names->count++;
}

static int read_line(struct picture *p, const char *csv, const char *line)
{
    char panel[NAME], series[NAME];
    struct point point;
    if (sscanf(line, "%31[^,],%lf,%31[^,],%lf", panel, &point.x, series, &point.y) != 4)
        return bench_fail("%s: \"%.60s\" is no point", csv, line);
    point.panel = index_of(&p->panels, panel);
    point.series = index_of(&p->series, series);
    if (point.panel < 0 || point.series < 0 || p->points == MOST_POINTS)
        return bench_fail("%s has too many panels, series or points", csv);
    p->point[p->points++] = point;
    p->x_most = fmax(p->x_most, point.x);
    return 0;
}

static int read_points(struct picture *p, const char *csv)
{
    char line[256];
    FILE *file = fopen(csv, "r");
    if (file == NULL) return bench_fail("%s cannot be read", csv);
    bool heading = fgets(line, sizeof line, file) != NULL &&
                   sscanf(line, "%*[^,],%31[^,],%*[^,],%31[^,\n]", p->x_name, p->y_name) == 2;
    int code = heading ? 0 : bench_fail("%s has no heading", csv);
    while (code == 0 && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0') code = read_line(p, csv, line);
    }
    fclose(file);
    return code != 0 || p->points > 0 ? code : bench_fail("%s has no points", csv);
}

/* ------------------------------------------------------------------------------------------ axes */

/* 1, 2 or 5 times a power of ten, so that no more than TICKS of them reach `most`. */
static double round_step(double most)
{
    double step = pow(10, floor(log10(most / TICKS)));
    static const double times[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (times[i] * step * TICKS >= most) return times[i] * step;
    return 10 * step;
}

/* Sizes are powers of two and their multiples: so are steps of x. */
static double binary_step(double most)
{
    double step = 1;
    while (step * TICKS < most)
        step *= 2;
    return step;
}

struct frame {
    double x, y; /* the panel's corner */
    double x_most, y_most;
};

static double across(const struct frame *f, double x)
{
    return f->x + LEFT + x / f->x_most * (WIDTH - LEFT - RIGHT);
}

static double down(const struct frame *f, double y)
{
    return f->y + HEIGHT - BOTTOM - y / f->y_most * (HEIGHT - TOP - BOTTOM);
}

static void text(FILE *out, double x, double y, const char *more, const char *words)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, more, words);
}

static void axes(FILE *out, const struct frame *f, const struct picture *p, const char *title)
{
    char label[NAME];
    const double x_step = binary_step(f->x_most), y_step = round_step(f->y_most);
    for (double y = 0; y <= f->y_most * (1 + 1e-9); y += y_step) {
        fprintf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", across(f, 0),
                across(f, f->x_most), down(f, y), down(f, y));
        snprintf(label, sizeof label, "%g", y);
        text(out, across(f, 0) - 7, down(f, y) + 4, "text-anchor=\"end\"", label);
    }
    for (double x = 0; x <= f->x_most * (1 + 1e-9); x += x_step) {
        fprintf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", across(f, x),
                across(f, x), down(f, 0), down(f, 0) + 5);
        snprintf(label, sizeof label, "%g", x);
        text(out, across(f, x), down(f, 0) + 18, "text-anchor=\"middle\"", label);
    }
    fprintf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", across(f, 0),
            across(f, f->x_most), down(f, 0), down(f, 0));
    text(out, f->x + LEFT, f->y + 18, "class=\"title\"", title);
    text(out, across(f, f->x_most / 2), f->y + HEIGHT - 10, "text-anchor=\"middle\" font-style=\"italic\"",
         p->x_name);
    text(out, f->x + LEFT - 7, f->y + 18, "text-anchor=\"end\" font-size=\"11\"", p->y_name);
}

/* ----------------------------------------------------------------------------------------- lines */

static void marker(FILE *out, int series, double x, double y)
{
    const char *colour = style[series % STYLES].colour;
    if (series % 3 == 0)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"/>\n", x, y, colour);
    else if (series % 3 == 1)
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"5\" height=\"5\" fill=\"%s\"/>\n", x - 2.5, y - 2.5,
                colour);
    else
        fprintf(out, "<path d=\"M%.1f %.1fl3.2 5.5h-6.4z\" fill=\"%s\"/>\n", x, y - 3.4, colour);
}

static int by_x(const void *a, const void *b)
{
    double left = ((const struct point *)a)->x, right = ((const struct point *)b)->x;
    return (left > right) - (left < right);
}

/* Points are sorted by x. */
static void series_line(FILE *out, const struct frame *f, const struct picture *p, int panel, int series)
{
    int drawn = 0;
    for (int i = 0; i < p->points; i++) {
        const struct point *at = &p->point[i];
        if (at->panel != panel || at->series != series) continue;
        if (drawn++ == 0)
            fprintf(out, "<polyline class=\"line\" stroke=\"%s\" stroke-dasharray=\"%s\" points=\"",
                    style[series % STYLES].colour, style[series % STYLES].dash);
        fprintf(out, "%.1f,%.1f ", across(f, at->x), down(f, at->y));
    }
    if (drawn > 0) fputs("\"/>\n", out);
    for (int i = 0; i < p->points; i++) {
        const struct point *at = &p->point[i];
        if (at->panel == panel && at->series == series) marker(out, series, across(f, at->x), down(f, at->y));
    }
}

static void draw_panel(FILE *out, const struct picture *p, int panel)
{
    struct frame f = {MARGIN + panel % COLUMNS * WIDTH, MARGIN + panel / COLUMNS * HEIGHT, p->x_most, 0};
    for (int i = 0; i < p->points; i++)
        if (p->point[i].panel == panel) f.y_most = fmax(f.y_most, p->point[i].y);
    if (f.y_most <= 0) f.y_most = 1;
    const double step = round_step(f.y_most), x_step = binary_step(f.x_most);
    f.y_most = ceil(f.y_most / step - 1e-9) * step;
    f.x_most = ceil(f.x_most / x_step - 1e-9) * x_step;
    axes(out, &f, p, p->panels.name[panel]);
    for (int series = p->series.count - 1; series >= 0; series--) /* the first on top */
        series_line(out, &f, p, panel, series);
}

/* In the place behind the last panel. */
static void draw_legend(FILE *out, const struct picture *p)
{
    const int panel = p->panels.count;
    const double x = MARGIN + panel % COLUMNS * WIDTH + LEFT, y = MARGIN + panel / COLUMNS * HEIGHT + TOP + 10;
    for (int i = 0; i < p->series.count; i++) {
        const double at = y + 24 * i;
        fprintf(out,
                "<line class=\"line\" stroke=\"%s\" stroke-dasharray=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
                "y2=\"%.1f\"/>\n",
                style[i % STYLES].colour, style[i % STYLES].dash, x, x + 44, at, at);
        marker(out, i, x + 22, at);
        text(out, x + 54, at + 4, "font-size=\"13\"", p->series.name[i]);
    }
}

static void draw(FILE *out, const struct picture *p)
{
    const int places = p->panels.count + 1, rows = (places + COLUMNS - 1) / COLUMNS;
    const int columns = places < COLUMNS ? places : COLUMNS;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\" fill=\"#222\">\n"
            "<style>.grid{stroke:#ddd}.axis{stroke:#444}.line{fill:none;stroke-width:2}.title{font-size:15px;"
            "font-weight:bold}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            2 * MARGIN + columns * WIDTH, 2 * MARGIN + rows * HEIGHT);
    for (int panel = 0; panel < p->panels.count; panel++)
        draw_panel(out, p, panel);
    draw_legend(out, p);
    fputs("</svg>\n", out);
}

int bench_picture(const char *csv, const char *svg)
{
    struct picture p = {.point = malloc(sizeof(struct point) * MOST_POINTS)};
    if (p.point == NULL) return bench_fail("out of memory");
    int code = read_points(&p, csv);
    FILE *out = code == 0 ? fopen(svg, "w") : NULL;
    if (code == 0 && out == NULL) code = bench_fail("%s cannot be written", svg);
    if (out != NULL) {
        qsort(p.point, (size_t)p.points, sizeof *p.point, by_x);
        draw(out, &p);
        bool failed = ferror(out) != 0;
        if (fclose(out) != 0 || failed) code = bench_fail("%s cannot be written", svg);
    }
    free(p.point);
    return code;
}
