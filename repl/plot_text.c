/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures in characters, for terminals: title, axes, the data's area of places, legend; trees as two pages side by
 * side. See plot_text.h.
 */
#include "plot_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20, LEAST_ROWS = 8, MOST_ROWS = 40, MOST_WIDTH = 200, LEAST_WIDTH = 40, NONE = -1 };

/* -------------------------------------------------------------------------------------------- text_page */

/* Ends what a page has of a line, `used` columns so far. */
static void end(const text_page *p, int used)
{
    if (p->beside)
        text_blanks(p, p->width - used);
    else
        shell_text_puts(p->out, "\n");
}

static void put_centred(const text_page *p, const char *text)
{
    int width, room = p->left + 1 + p->columns;
    size_t bytes = shell_fit(text, strlen(text), p->width, &width);
    int before = width < room ? (room - width) / 2 : 0;
    if (width == 0) return;
    text_blanks(p, before);
    shell_text_add(p->out, text, bytes);
    end(p, before + width);
}

static void put_row(const text_page *p, int r)
{
    int tick = NONE;
    for (int i = 0; i < p->up.count; i++)
        if ((int)(text_down(p, p->up.at[i]) * (p->rows - 1e-9)) == r) tick = i;
    const char *label = tick == NONE ? "" : p->up.text[tick];
    text_blanks(p, p->left - 1 - (int)strlen(label));
    shell_text_puts(p->out, label);
    shell_text_puts(p->out, tick == NONE ? " │" : " ┤");
    int last = p->columns; /* nothing stands behind */
    while (last > 0 && text_is_empty(p, &p->place[r * p->columns + last - 1]))
        last--;
    for (int c = 0; c < last; c++)
        text_put_place(p, &p->place[r * p->columns + c]);
    end(p, p->left + 1 + last);
}

static int column_of(const text_page *p, int tick)
{
    double column = plot_place(&p->figure->x, p->across.at[tick]) * (p->columns - 1e-9);
    return column < 0 ? 0 : (int)column;
}

static void put_rule(const text_page *p)
{
    text_blanks(p, p->left);
    shell_text_puts(p->out, "└");
    for (int c = 0, i = 0; c < p->columns; c++) {
        bool tick = i < p->across.count && column_of(p, i) == c;
        shell_text_puts(p->out, tick ? "┬" : "─");
        while (i < p->across.count && column_of(p, i) <= c)
            i++;
    }
    end(p, p->left + 1 + p->columns);
}

static void put_numbers(const text_page *p)
{
    int at = 0; /* what is written so far */
    for (int i = 0; i < p->across.count; i++) {
        int length = (int)strlen(p->across.text[i]), from = p->left + 1 + column_of(p, i) - length / 2;
        if (from < at + (at > 0) || from + length > p->width) continue;
        text_blanks(p, from - at);
        shell_text_puts(p->out, p->across.text[i]);
        at = from + length;
    }
    end(p, at);
}

/* Of the data, so that a screen of `height` rows holds the figure and the next prompt. */
static int rows_within(const text_page *p, int height)
{
    enum { AROUND = 5 }; /* title, rule, numbers, label of x, prompt */
    const plot_figure *figure = p->figure;
    int labels = figure->mark == PLOT_TREE || figure->y.label[0] != '\0';
    int legend = text_has_legend(figure) ? text_put_legend(p, false) : 0;
    int rows = height - AROUND - labels - figure->bar - legend;
    if (height == 0) return ROWS;
    return rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}

/* How many ticks of y. */
static int ticks_upwards(const text_page *p)
{
    return p->rows / 4 > 2 ? p->rows / 4 : 2;
}

/* Cells and bodies keep their proportions: a character is twice as high as wide. */
static void choose_size(text_page *p)
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

static void make_places(text_page *p)
{
    p->place = shell_alloc(NULL, sizeof *p->place * (size_t)(p->columns * p->rows));
    for (int i = 0; i < p->columns * p->rows; i++)
        p->place[i] = (text_place){.upper = NAN, .lower = NAN};
}

/* ------------------------------------------------------------------------------------------- trees */

/* The labels of y leave the less room the wider they are, and they are what the axes in that room ask for. */
static void choose_panels(text_page *half, const plot_figure *figure, plot_figure *panel)
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

static void put_halves(const text_page *half)
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

static void draw_tree(const text_page *whole)
{
    plot_figure panel[2];
    text_page half[] = {*whole, *whole}, title = *whole;
    for (int h = 0; h < 2; h++) {
        half[h].figure = &panel[h];
        half[h].width = whole->width / 2;
        half[h].beside = h == 0;
    }
    choose_panels(half, whole->figure, panel);
    for (int h = 0; h < 2; h++) {
        make_places(&half[h]);
        text_marks(&half[h]);
    }
    title.left = half->left;
    title.columns = whole->width - half->left - 2;
    put_centred(&title, whole->figure->title);
    put_halves(half);
    text_put_legend(&title, true);
    for (int h = 0; h < 2; h++)
        free(half[h].place);
}

void plot_text_draw(const plot_figure *figure, int width, int height, int colours, shell_text *out)
{
    text_page p = {.figure = figure, .out = out, .colours = colours};
    p.width = width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
    p.rows = rows_within(&p, height);
    if (figure->mark == PLOT_TREE) {
        draw_tree(&p);
        return;
    }
    choose_size(&p);
    make_places(&p);
    text_marks(&p);
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
    if (figure->bar) text_put_bar(&p);
    if (text_has_legend(figure)) text_put_legend(&p, true);
    free(p.place);
}
