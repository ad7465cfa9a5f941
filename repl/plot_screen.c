/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures on the screen: as an image where the terminal takes them (kitty's protocol, or sixels), otherwise in
 * characters. The environment's LACIS_PLOT = kitty, sixel, text or plain says which instead. An image and the prompt
 * below it fit the screen. See plot.h.
 */
#include "plot.h"

#include "interrupt.h"
#include "session.h"
#include "terminal.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NARROW = 80, WIDE = 120, KITTY_PIECE = 4096 };
/* Pixels of a column where the terminal does not say, half of what a row has; of kitty's, which scales, enough. */
enum { KITTY_CELL = 20, SIXEL_CELL = 9 };

/* ------------------------------------------------------------------------------------- what it is */

static bool is_set(const char *name, const char *part)
{
    const char *value = getenv(name);
    return value != NULL && strstr(value, part) != NULL;
}

/* What the environment says, which may be another terminal's that this one was begun in. Neither tmux nor screen pass
 * kitty's images on. */
static bool may_be_kitty(void)
{
    if (getenv("TMUX") != NULL || is_set("TERM", "screen") || is_set("TERM", "tmux")) return false;
    return getenv("KITTY_WINDOW_ID") != NULL || is_set("TERM", "kitty") || is_set("TERM", "ghostty") ||
           is_set("TERM_PROGRAM", "ghostty") || is_set("TERM_PROGRAM", "WezTerm");
}

static bool takes_images(const shell_sink *sink)
{
    return sink->terminal && shell_terminal_colours(sink->fd);
}

static int colours_of(const shell_sink *sink)
{
    if (!takes_images(sink)) return 0;
    return is_set("COLORTERM", "truecolor") || is_set("COLORTERM", "24bit") ? 1 << 24 : 256;
}

/* LACIS_PLOT, where it is set; false: it is none of the words. */
static bool wish(const char *word, plot_screen *out)
{
    out->how = strcmp(word, "kitty") == 0 ? PLOT_KITTY : strcmp(word, "sixel") == 0 ? PLOT_SIXEL : PLOT_TEXT;
    if (strcmp(word, "plain") == 0) out->colours = 0;
    return out->how != PLOT_TEXT || strcmp(word, "text") == 0 || strcmp(word, "plain") == 0;
}

bool plot_screen_find(shell_session *session, plot_screen *out, char *message, size_t size)
{
    const shell_sink *sink = shell_session_sink(session);
    const char *word = getenv("LACIS_PLOT");
    *out = (plot_screen){.how = PLOT_TEXT, .colours = colours_of(sink)};
    if (sink->terminal) {
        out->columns = shell_terminal_width(sink->fd);
        out->rows = shell_terminal_height(sink->fd);
        if (!shell_terminal_pixels(sink->fd, &out->width, &out->height)) out->width = out->height = 0;
    }
    if (word != NULL && word[0] != '\0') {
        if (wish(word, out)) return true;
        snprintf(message, size, "LACIS_PLOT is \"%.40s\" in the environment; it may be kitty, sixel, text or plain",
                 word);
        return false;
    }
    if (!takes_images(sink)) return true;
    if (session->images == SHELL_NOT_ASKED) session->images = shell_terminal_images(sink->fd, may_be_kitty());
    shell_images images = session->images;
    if (images == SHELL_NOT_ASKED && may_be_kitty()) images = SHELL_KITTY; /* this once */
    out->how = images == SHELL_KITTY ? PLOT_KITTY : images == SHELL_SIXELS ? PLOT_SIXEL : PLOT_TEXT;
    return true;
}

/* ----------------------------------------------------------------------------------------- images */

typedef struct image {
    double cell_width, cell_height; /* of a character, pixels */
    int width, height;              /* on the screen, pixels */
} image;

/* So many columns and pixels wide at most, two thirds as high if the screen is, and not so small that there is no
 * room for data. */
static image image_for(const plot_screen *to, int cell, int most_columns, int most_pixels)
{
    enum { LEAST_WIDTH = 400, LEAST_HEIGHT = 240, BESIDES = 6 }; /* what sixels, of six rows each, may be too high */
    int columns = to->columns > 0 ? to->columns : NARROW;
    image out = {cell, 2 * cell, 0, 0}; /* where the terminal does not say */
    if (to->columns > 0 && to->rows > 0 && to->width > 0) {
        out.cell_width = (double)to->width / to->columns;
        out.cell_height = (double)to->height / to->rows;
    }
    double width = fmin(out.cell_width * (columns < most_columns ? columns : most_columns), most_pixels);
    double height = width * 2 / 3, room = out.cell_height * (to->rows - 1) - BESIDES;
    if (to->rows > 0) height = fmin(height, room);
    out.height = (int)fmax(height, LEAST_HEIGHT);
    out.width = (int)fmax(fmin(width, 2.5 * out.height), LEAST_WIDTH);
    return out;
}

/* The picture of so many pixels, or of fewer where it would be larger than that of a file. Letters do not become
 * smaller than those of a file do on 720 pixels. */
static uint32_t *pixels_of(const plot_figure *figure, int *width, int *height)
{
    enum { READABLE = 720 };
    const double scale = PLOT_WIDE / fmax(*width, READABLE);
    const int wide = (int)(*width * scale + 0.5), high = (int)(*height * scale + 0.5);
    uint32_t *large = plot_pixels(figure, wide, high), *small;
    if (scale > 1) {
        small = plot_shrink(large, wide, high, *width, *height);
        free(large);
        return small;
    }
    *width = wide;
    *height = high;
    return large;
}

/* In pieces, each between ESC _G and ESC \, all but the last with m=1. The terminal scales it to columns and rows: it
 * has their shape, for older ones do not keep its own. */
static void put_kitty(shell_sink *sink, const plot_screen *to, const plot_figure *figure)
{
    const image shown = image_for(to, KITTY_CELL, WIDE, INT_MAX);
    const int columns = (int)fmax(shown.width / shown.cell_width + 0.5, 1);
    const int rows = (int)fmax(shown.height / shown.cell_height + 0.5, 1);
    int width = (int)(columns * shown.cell_width + 0.5), height = (int)(rows * shown.cell_height + 0.5);
    shell_text png = {0}, text = {0};
    char head[80];
    uint32_t *colour = pixels_of(figure, &width, &height);
    plot_png_encode(colour, width, height, &png);
    free(colour);
    if (!shell_interrupted()) plot_base64(png.data, png.used, &text);
    for (size_t at = 0; at < text.used; at += KITTY_PIECE) {
        size_t left = text.used - at, piece = left < KITTY_PIECE ? left : KITTY_PIECE;
        int more = left > piece;
        if (at == 0)
            snprintf(head, sizeof head, "\033_Ga=T,f=100,q=2,c=%d,r=%d,m=%d;", columns, rows, more);
        else
            snprintf(head, sizeof head, "\033_Gm=%d;", more);
        shell_sink_puts(sink, head);
        shell_sink_put(sink, text.data + at, piece);
        shell_sink_puts(sink, "\033\\");
    }
    if (text.used > 0) shell_sink_char(sink, '\n');
    shell_text_free(&png);
    shell_text_free(&text);
}

static void put_sixel(shell_sink *sink, const plot_screen *to, const plot_figure *figure)
{
    enum { XTERM = 1000 }; /* pixels: of a wider image xterm shows nothing, unless its maxGraphicSize is set */
    image shown = image_for(to, SIXEL_CELL, INT_MAX, XTERM);
    shell_text text = {0};
    uint32_t *colour = pixels_of(figure, &shown.width, &shown.height);
    plot_sixel(colour, shown.width, shown.height, &text);
    free(colour);
    shell_sink_put(sink, text.data, text.used);
    shell_sink_char(sink, '\n');
    shell_text_free(&text);
}

static void put_text(shell_sink *sink, const plot_screen *to, const plot_figure *figure)
{
    shell_text text = {0};
    int columns = to->columns == 0 ? NARROW : to->columns < WIDE ? to->columns : WIDE;
    plot_text_draw(figure, columns, to->rows, to->colours, &text);
    shell_sink_put(sink, text.data, text.used);
    shell_text_free(&text);
}

void plot_screen_put(shell_session *session, const plot_screen *to, const plot_figure *figure)
{
    shell_sink *sink = shell_session_sink(session);
    if (to->how == PLOT_KITTY)
        put_kitty(sink, to, figure);
    else if (to->how == PLOT_SIXEL)
        put_sixel(sink, to, figure);
    else
        put_text(sink, to, figure);
}
