/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures in characters, for terminals: lines and points as braille dots, two by four a character; cells as half
 * blocks of two colours, or shades where there are no colours; bars in eighths; trees as two pages side by side. See
 * plot.h.
 */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20, LEAST_ROWS = 8, MOST_ROWS = 40, MOST_WIDTH = 200, LEAST_WIDTH = 40, NONE = -1 };

/* A character of the data's area. */
typedef struct place {
    unsigned braille; /* dots, or 0 */
    int eighths;      /* of a bar, from below */
    int series;
    double upper, lower; /* of cells: parts, or NaN; without colours upper alone */
} place;

typedef struct page {
    const plot_figure *figure;
    shell_text *out;
    int colours, width, left, columns, rows;
    bool beside; /* another page stands to the right: lines are filled up */
    plot_ticks across, up;
    place *place;
} page;

/* ------------------------------------------------------------------------------------------ writing */

/* The nearest of the six that terminals with 256 colours mix: 0, 95, 135, 175, 215, 255. */
static unsigned level(unsigned channel)
{
    return channel < 48 ? 0 : channel < 115 ? 1 : (channel - 35) / 40;
}

/* Single cells on a background that may be dark are not as dark themselves. */
static uint32_t shade(const page *p, double part)
{
    return plot_shade(p->figure->sparse ? 0.3 + 0.7 * part : part);
}

static void put_colour(const page *p, int layer, uint32_t colour)
{
    char text[40];
    unsigned red = colour >> 16 & 255, green = colour >> 8 & 255, blue = colour & 255;
    if (p->colours == 0) return;
    if (p->colours > 256)
        snprintf(text, sizeof text, "\033[%d;2;%u;%u;%um", layer, red, green, blue);
    else
        snprintf(text, sizeof text, "\033[%d;5;%um", layer, 16 + level(red) * 36 + level(green) * 6 + level(blue));
    shell_text_puts(p->out, text);
}

static void plain(const page *p)
{
    if (p->colours > 0) shell_text_puts(p->out, "\033[0m");
}

static void blanks(const page *p, int count)
{
    for (int i = 0; i < count; i++)
        shell_text_puts(p->out, " ");
}

static void put_rune(const page *p, unsigned rune)
{
    const char text[] = {(char)(0xe0 | rune >> 12), (char)(0x80 | (rune >> 6 & 63)), (char)(0x80 | (rune & 63))};
    shell_text_add(p->out, text, 3);
}

static void put_shade(const page *p, double part)
{
    static const char *const shade[] = {"░", "▒", "▓", "█"};
    shell_text_puts(p->out, isnan(part) ? " " : shade[part >= 1 ? 3 : (int)(part * 4)]);
}

static void put_cells(const page *p, const place *at)
{
    bool upper = !isnan(at->upper), lower = !isnan(at->lower);
    if (p->colours == 0) {
        put_shade(p, at->upper);
        return;
    }
    if (upper || lower) put_colour(p, 38, shade(p, upper ? at->upper : at->lower));
    if (upper && lower) put_colour(p, 48, shade(p, at->lower));
    shell_text_puts(p->out, upper ? "▀" : lower ? "▄" : " ");
    plain(p);
}

/* Cells of one colour are dots: there is room for eight in a character. */
static bool dotted(const page *p)
{
    return p->figure->mark == PLOT_CELLS && !p->figure->bar;
}

static bool is_empty(const page *p, const place *at)
{
    if (p->figure->mark == PLOT_CELLS && !dotted(p)) return isnan(at->upper) && isnan(at->lower);
    return at->braille == 0 && at->eighths == 0;
}

static void put_place(const page *p, const place *at)
{
    if (p->figure->mark == PLOT_CELLS && !dotted(p)) {
        put_cells(p, at);
    } else if (is_empty(p, at)) {
        shell_text_puts(p->out, " ");
    } else {
        put_colour(p, 38, plot_series_colour(at->series));
        put_rune(p, at->eighths > 0 ? 0x2580U + (unsigned)at->eighths : 0x2800U + at->braille);
        plain(p);
    }
}

/* ------------------------------------------------------------------------------------------- marks */

static void dot(const page *p, double x, double y, int series)
{
    static const unsigned bit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    int px = (int)(x * 2 * p->columns), py = (int)(y * 4 * p->rows);
    if (!(x >= 0 && y >= 0) || px > 2 * p->columns || py > 4 * p->rows) return;
    if (px == 2 * p->columns) px--;
    if (py == 4 * p->rows) py--;
    place *at = &p->place[py / 4 * p->columns + px / 2];
    at->braille |= bit[py % 4][px % 2];
    at->series = series;
}

/* What a round pen of a width in dots marks. */
static void blot(const page *p, double x, double y, double width, int series)
{
    double px = x * 2 * p->columns, py = y * 4 * p->rows, half = fmin(width, 4 * p->rows) / 2;
    dot(p, x, y, series);
    for (double dy = ceil(-half); dy <= half; dy++)
        for (double dx = ceil(-half); dx <= half; dx++)
            if (hypot(dx, dy) < half) dot(p, (px + dx) / (2 * p->columns), (py + dy) / (4 * p->rows), series);
}

/* Where a value stands, from the top and the left, 0 to 1. */
static double down(const page *p, double y)
{
    double part = plot_place(&p->figure->y, y);
    return p->figure->y.down ? part : 1 - part;
}

static void mark_points(const page *p, const plot_series *one, int series)
{
    double before[2] = {NAN, NAN};
    for (int64_t i = 0; i < one->count; i++) {
        const double at[] = {plot_place(&p->figure->x, one->x[i]), down(p, one->y[i])};
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

static void mark_pieces(const page *p, const plot_series *one, int series)
{
    const double unit = 2 * p->columns / (p->figure->x.high - p->figure->x.low);
    for (int64_t i = 0; i < one->count; i += 2) {
        double x = plot_place(&p->figure->x, one->x[i]), y = down(p, one->y[i]);
        double dx = plot_place(&p->figure->x, one->x[i + 1]) - x, dy = down(p, one->y[i + 1]) - y;
        int steps = 1 + (int)ceil(fmax(fabs(dx) * 2 * p->columns, fabs(dy) * 4 * p->rows));
        for (int k = 0; k <= steps; k++)
            blot(p, x + dx * k / steps, y + dy * k / steps, unit * one->width[i / 2], series);
    }
}

/* A character belongs to the bar that its middle lies in. */
static void mark_bars(const page *p, const plot_series *one)
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
static double cell_in(const page *p, double x0, double x1, double y0, double y1)
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

static void mark_dotted(const page *p)
{
    const plot_figure *f = p->figure;
    for (int y = 0; y < f->ny; y++)
        for (int x = 0; x < f->nx; x++) {
            double row = (y + 0.5) / f->ny;
            if (!isnan(f->cell[(int64_t)y * f->nx + x])) dot(p, (x + 0.5) / f->nx, f->y.down ? row : 1 - row, 0);
        }
}

static void mark_cells(const page *p)
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

/* -------------------------------------------------------------------------------------------- page */

/* Ends what a page has of a line, `used` columns so far. */
static void end(const page *p, int used)
{
    if (p->beside)
        blanks(p, p->width - used);
    else
        shell_text_puts(p->out, "\n");
}

static void put_centred(const page *p, const char *text)
{
    int width = (int)strlen(text), room = p->left + 1 + p->columns, before = width < room ? (room - width) / 2 : 0;
    if (width == 0) return;
    if (width > p->width) width = p->width;
    blanks(p, before);
    shell_text_add(p->out, text, (size_t)width);
    end(p, before + width);
}

static void put_row(const page *p, int r)
{
    int tick = NONE;
    for (int i = 0; i < p->up.count; i++)
        if ((int)(down(p, p->up.at[i]) * (p->rows - 1e-9)) == r) tick = i;
    const char *label = tick == NONE ? "" : p->up.text[tick];
    blanks(p, p->left - 1 - (int)strlen(label));
    shell_text_puts(p->out, label);
    shell_text_puts(p->out, tick == NONE ? " │" : " ┤");
    int last = p->columns; /* nothing stands behind */
    while (last > 0 && is_empty(p, &p->place[r * p->columns + last - 1]))
        last--;
    for (int c = 0; c < last; c++)
        put_place(p, &p->place[r * p->columns + c]);
    end(p, p->left + 1 + last);
}

static int column_of(const page *p, int tick)
{
    double column = plot_place(&p->figure->x, p->across.at[tick]) * (p->columns - 1e-9);
    return column < 0 ? 0 : (int)column;
}

static void put_rule(const page *p)
{
    blanks(p, p->left);
    shell_text_puts(p->out, "└");
    for (int c = 0, i = 0; c < p->columns; c++) {
        bool tick = i < p->across.count && column_of(p, i) == c;
        shell_text_puts(p->out, tick ? "┬" : "─");
        while (i < p->across.count && column_of(p, i) <= c)
            i++;
    }
    end(p, p->left + 1 + p->columns);
}

static void put_numbers(const page *p)
{
    int at = 0; /* what is written so far */
    for (int i = 0; i < p->across.count; i++) {
        int length = (int)strlen(p->across.text[i]), from = p->left + 1 + column_of(p, i) - length / 2;
        if (from < at + (at > 0) || from + length > p->width) continue;
        blanks(p, from - at);
        shell_text_puts(p->out, p->across.text[i]);
        at = from + length;
    }
    end(p, at);
}

static void put_bar(const page *p)
{
    enum { SHADES = 32 };
    char low[40], high[40];
    snprintf(low, sizeof low, "%.4g ", p->figure->low);
    snprintf(high, sizeof high, " %.4g", p->figure->high);
    blanks(p, p->left + 1);
    shell_text_puts(p->out, p->figure->cell_label);
    shell_text_puts(p->out, ": ");
    shell_text_puts(p->out, low);
    for (int i = 0; i < SHADES; i++) {
        double part = i / (SHADES - 1.0);
        put_colour(p, 38, shade(p, part));
        if (p->colours > 0)
            shell_text_puts(p->out, "█");
        else
            put_shade(p, part);
    }
    plain(p);
    shell_text_puts(p->out, high);
    shell_text_puts(p->out, "\n");
}

static void put_legend(const page *p)
{
    blanks(p, p->left + 1);
    for (int s = 0; s < p->figure->series; s++) {
        if (p->figure->one[s].count == 0) continue;
        put_colour(p, 38, plot_series_colour(s));
        shell_text_puts(p->out, "━━ ");
        plain(p);
        shell_text_puts(p->out, p->figure->one[s].label);
        shell_text_puts(p->out, "  ");
    }
    shell_text_puts(p->out, "\n");
}

static bool has_legend(const plot_figure *figure)
{
    return figure->mark == PLOT_TREE || (figure->mark == PLOT_LINES && figure->series > 1);
}

/* Of the data, so that a screen of `height` rows holds the figure and the next prompt. */
static int rows_within(const plot_figure *figure, int height)
{
    enum { AROUND = 5 }; /* title, rule, numbers, label of x, prompt */
    int labels = figure->mark == PLOT_TREE || figure->y.label[0] != '\0';
    int rows = height - AROUND - labels - figure->bar - has_legend(figure);
    if (height == 0) return ROWS;
    return rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}

/* How many ticks of y. */
static int ticks_upwards(const page *p)
{
    return p->rows / 4 > 2 ? p->rows / 4 : 2;
}

/* Cells and bodies keep their proportions: a character is twice as high as wide. */
static void choose_size(page *p)
{
    const plot_figure *f = p->figure;
    plot_ticks_of(&f->y, ticks_upwards(p), &p->up);
    p->left = 2;
    for (int i = 0; i < p->up.count; i++)
        if ((int)strlen(p->up.text[i]) + 1 > p->left) p->left = (int)strlen(p->up.text[i]) + 1;
    p->columns = p->width - p->left - 2;
    if (f->equal) {
        double ratio = fmin(plot_half(&f->x) / plot_half(&f->y), 1e6); /* an int holds what follows */
        int fitting = (int)(2 * ratio * p->rows + 0.5);
        if (fitting > p->columns)
            p->rows = (int)fmax(p->columns / (2 * ratio) + 0.5, 4);
        else
            p->columns = fitting < 8 ? 8 : fitting;
    }
    plot_ticks_of(&f->x, p->columns / 12 + 2, &p->across);
}

static void make_places(page *p)
{
    p->place = shell_alloc(NULL, sizeof *p->place * (size_t)(p->columns * p->rows));
    for (int i = 0; i < p->columns * p->rows; i++)
        p->place[i] = (place){.upper = NAN, .lower = NAN};
}

/* ------------------------------------------------------------------------------------------- trees */

/* The labels of y leave the less room the wider they are, and they are what the axes in that room ask for. */
static void choose_panels(page *half, const plot_figure *figure, plot_figure *panel)
{
    int left = 2;
    do {
        for (int h = 0; h < 2; h++) {
            half[h].left = left;
            half[h].columns = half[h].width - left - 2 > 8 ? half[h].width - left - 2 : 8;
        }
        plot_tree_panels(figure, 2 * half->columns, 4 * half->rows, panel);
        for (int h = 0; h < 2; h++) {
            plot_ticks_of(&panel[h].y, ticks_upwards(half), &half[h].up);
            for (int i = 0; i < half[h].up.count; i++)
                if ((int)strlen(half[h].up.text[i]) + 1 > left) left = (int)strlen(half[h].up.text[i]) + 1;
        }
    } while (left > half->left);
    for (int h = 0; h < 2; h++)
        plot_ticks_of(&panel[h].x, 3, &half[h].across);
}

static void draw_half(page *half)
{
    make_places(half);
    for (int s = half->figure->series - 1; s >= 0; s--)
        mark_pieces(half, &half->figure->one[s], s);
}

static void put_halves(const page *half)
{
    for (int h = 0; h < 2; h++) {
        shell_text_puts(half->out, half[h].figure->y.label);
        end(&half[h], (int)strlen(half[h].figure->y.label));
    }
    for (int i = 0; i < 2 * half->rows; i++)
        put_row(&half[i % 2], i / 2);
    for (int h = 0; h < 2; h++)
        put_rule(&half[h]);
    for (int h = 0; h < 2; h++)
        put_numbers(&half[h]);
    for (int h = 0; h < 2; h++)
        put_centred(&half[h], half[h].figure->x.label);
}

static void draw_tree(const page *whole)
{
    plot_figure panel[2];
    page half[] = {*whole, *whole}, title = *whole;
    for (int h = 0; h < 2; h++) {
        half[h].figure = &panel[h];
        half[h].width = whole->width / 2;
        half[h].beside = h == 0;
    }
    choose_panels(half, whole->figure, panel);
    for (int h = 0; h < 2; h++)
        draw_half(&half[h]);
    title.left = half->left;
    title.columns = whole->width - half->left - 2;
    put_centred(&title, whole->figure->title);
    put_halves(half);
    put_legend(&title);
    for (int h = 0; h < 2; h++)
        free(half[h].place);
}

void plot_text_draw(const plot_figure *figure, int width, int height, int colours, shell_text *out)
{
    page p = {.figure = figure, .out = out, .colours = colours};
    p.width = width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
    p.rows = rows_within(figure, height);
    if (figure->mark == PLOT_TREE) {
        draw_tree(&p);
        return;
    }
    choose_size(&p);
    make_places(&p);
    if (dotted(&p))
        mark_dotted(&p);
    else if (figure->mark == PLOT_CELLS)
        mark_cells(&p);
    for (int s = 0; s < figure->series && figure->mark != PLOT_CELLS; s++) {
        if (figure->mark == PLOT_BARS)
            mark_bars(&p, &figure->one[s]);
        else
            mark_points(&p, &figure->one[s], s);
    }
    put_centred(&p, figure->title);
    if (figure->y.label[0] != '\0') {
        shell_text_puts(out, figure->y.label);
        shell_text_puts(out, "\n");
    }
    for (int r = 0; r < p.rows; r++)
        put_row(&p, r);
    put_rule(&p);
    put_numbers(&p);
    put_centred(&p, figure->x.label);
    if (figure->bar) put_bar(&p);
    if (has_legend(figure)) put_legend(&p);
    free(p.place);
}
