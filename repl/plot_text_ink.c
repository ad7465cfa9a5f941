/* SPDX-License-Identifier: Apache-2.0
 *
 * Places of a figure of characters, its colour bar and legend, in 24-bit colours, 256 or none. Without colours cells
 * are shades; of several series the one of most points is dots, and each of the others has a letter. See plot_text.h.
 */
#include "plot_text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ colours */

static void put_colour(const text_page *p, int layer, uint32_t rgb, unsigned of_256)
{
    char text[40];
    if (p->colours == 0) return;
    if (p->colours > 256)
        snprintf(text, sizeof text, "\033[%d;2;%u;%u;%um", layer, rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255);
    else
        snprintf(text, sizeof text, "\033[%d;5;%um", layer, of_256);
    shell_text_puts(p->out, text);
}

/* Single cells on a background that may be dark are not as dark themselves. */
static void put_shade_colour(const text_page *p, int layer, double part)
{
    double seen = p->figure->sparse ? 0.3 + 0.7 * part : part;
    put_colour(p, layer, plot_shade(seen), plot_shade_of_256(seen));
}

static void put_series_colour(const text_page *p, int series)
{
    put_colour(p, 38, plot_screen_colour(series), plot_screen_of_256(series));
}

static void plain(const text_page *p)
{
    if (p->colours > 0) shell_text_puts(p->out, "\033[0m");
}

void text_blanks(const text_page *p, int count)
{
    for (int i = 0; i < count; i++)
        shell_text_puts(p->out, " ");
}

static void put_rune(const text_page *p, unsigned rune)
{
    const char text[] = {(char)(0xe0 | rune >> 12), (char)(0x80 | (rune >> 6 & 63)), (char)(0x80 | (rune & 63))};
    shell_text_add(p->out, text, 3);
}

static void put_shade(const text_page *p, double part)
{
    static const char *const shade[] = {"░", "▒", "▓", "█"};
    shell_text_puts(p->out, isnan(part) ? " " : shade[part >= 1 ? 3 : (int)(part * 4)]);
}

static void put_cells(const text_page *p, const text_place *at)
{
    bool upper = !isnan(at->upper), lower = !isnan(at->lower);
    if (p->colours == 0) {
        put_shade(p, at->upper);
        return;
    }
    if (upper || lower) put_shade_colour(p, 38, upper ? at->upper : at->lower);
    if (upper && lower) put_shade_colour(p, 48, at->lower);
    shell_text_puts(p->out, upper ? "▀" : lower ? "▄" : " ");
    plain(p);
}

bool text_dotted(const text_page *p)
{
    return p->figure->mark == PLOT_CELLS && !p->figure->bar;
}

bool text_is_empty(const text_page *p, const text_place *at)
{
    if (p->figure->mark == PLOT_CELLS && !text_dotted(p)) return isnan(at->upper) && isnan(at->lower);
    return at->braille == 0 && at->eighths == 0;
}

/* Which series is of dots where there are no colours: the first of those with the most points. */
static int dots_of(const plot_figure *figure)
{
    int most = 0;
    for (int s = 1; s < figure->series; s++)
        if (figure->one[s].count > figure->one[most].count) most = s;
    return most;
}

/* What stands for a series in place of dots, or NULL. */
static const char *letter_of(const text_page *p, int series)
{
    static const char *const letter[PLOT_SERIES] = {"o", "+", "x", "*", "#", "@", "%", "&"};
    bool alike = p->colours == 0 && text_has_legend(p->figure);
    return alike && series != dots_of(p->figure) ? letter[series % PLOT_SERIES] : NULL;
}

static void put_mark(const text_page *p, const text_place *at)
{
    const char *letter = letter_of(p, at->series);
    put_series_colour(p, at->series);
    if (letter != NULL)
        shell_text_puts(p->out, letter);
    else
        put_rune(p, at->eighths > 0 ? 0x2580U + (unsigned)at->eighths : 0x2800U + at->braille);
    plain(p);
}

void text_put_place(const text_page *p, const text_place *at)
{
    if (p->figure->mark == PLOT_CELLS && !text_dotted(p))
        put_cells(p, at);
    else if (text_is_empty(p, at))
        shell_text_puts(p->out, " ");
    else
        put_mark(p, at);
}

void text_put_bar(const text_page *p)
{
    enum { SHADES = 32 };
    char low[40], high[40];
    snprintf(low, sizeof low, "%.4g ", p->figure->low);
    snprintf(high, sizeof high, " %.4g", p->figure->high);
    text_blanks(p, p->left + 1);
    shell_text_puts(p->out, p->figure->cell_label);
    shell_text_puts(p->out, ": ");
    shell_text_puts(p->out, low);
    for (int i = 0; i < SHADES; i++) {
        double part = i / (SHADES - 1.0);
        put_shade_colour(p, 38, part);
        if (p->colours > 0)
            shell_text_puts(p->out, "█");
        else
            put_shade(p, part);
    }
    plain(p);
    shell_text_puts(p->out, high);
    shell_text_puts(p->out, "\n");
}

/* A piece of the series' line. */
static void put_key(const text_page *p, int series)
{
    const char *letter = letter_of(p, series), *piece = letter != NULL ? letter : p->colours > 0 ? "━" : "⠶";
    put_series_colour(p, series);
    shell_text_puts(p->out, piece);
    shell_text_puts(p->out, piece);
    plain(p);
    shell_text_puts(p->out, " ");
}

/* Columns of a key and its label. */
static int key_width(const plot_series *one)
{
    int width;
    shell_fit(one->label, strlen(one->label), INT_MAX, &width);
    return 3 + width;
}

int text_put_legend(const text_page *p, bool draw)
{
    enum { INDENT = 4, GAP = 2 };
    int at = 0, lines = 1;
    for (int s = 0; s < p->figure->series; s++) {
        const plot_series *one = &p->figure->one[s];
        if (one->count == 0) continue;
        bool next = at > 0 && at + GAP + key_width(one) > p->width;
        if (next) lines++;
        if (draw && next) shell_text_puts(p->out, "\n");
        int before = at == 0 || next ? INDENT : GAP;
        at = (next ? 0 : at) + before + key_width(one);
        if (!draw) continue;
        text_blanks(p, before);
        put_key(p, s);
        shell_text_puts(p->out, one->label);
    }
    if (draw) shell_text_puts(p->out, "\n");
    return lines;
}

bool text_has_legend(const plot_figure *figure)
{
    return figure->mark == PLOT_TREE || (figure->mark == PLOT_LINES && figure->series > 1);
}
