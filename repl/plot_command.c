/* SPDX-License-Identifier: Apache-2.0
 *
 * PLOT as the engine calls it: to a file, PNG or SVG by its ending, or onto the screen, as an image where the
 * terminal takes them (kitty's protocol, or sixels) and otherwise in characters. The environment's LACIS_PLOT =
 * kitty, sixel, text or plain says which instead. See plot.h.
 */
#include "plot.h"

#include "interrupt.h"
#include "session.h"
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NARROW = 80, WIDE = 120, KITTY_PIECE = 4096 };

/* ------------------------------------------------------------------------------------------- files */

static bool ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), size = strlen(ending);
    return length > size && strcasecmp(path + length - size, ending) == 0;
}

static lacis_status write_all(const char *path, const shell_text *picture, char *message, size_t size)
{
    FILE *file = fopen(path, "wb");
    int code = errno;
    bool good = file != NULL && fwrite(picture->data, 1, picture->used, file) == picture->used;
    if (file != NULL && !good) code = errno;
    if (file != NULL && fclose(file) != 0 && good) {
        good = false;
        code = errno;
    }
    if (good) return LACIS_OK;
    snprintf(message, size, "cannot write \"%s\": %s", path, strerror(code));
    return code == ENOSPC || code == EFBIG || code == EDQUOT ? LACIS_FULL : LACIS_IO;
}

static lacis_status to_file(const plot_figure *figure, const char *path, char *message, size_t size)
{
    shell_text picture = {0};
    if (ends_with(path, ".svg")) {
        plot_svg(figure, &picture);
    } else if (ends_with(path, ".png")) {
        plot_png(figure, &picture);
    } else {
        snprintf(message, size, "\"%s\": a picture's name ends in .png or .svg", path);
        return LACIS_NAME;
    }
    lacis_status status = shell_interrupted() ? LACIS_INTERRUPT : write_all(path, &picture, message, size);
    shell_text_free(&picture);
    return status;
}

/* ------------------------------------------------------------------------------------------ screen */

static bool is_set(const char *name, const char *part)
{
    const char *value = getenv(name);
    return value != NULL && strstr(value, part) != NULL;
}

typedef enum style { TEXT, KITTY, SIXEL } style;

/* Of terminals that are known to draw kitty's images, or say that they take sixels. */
static style style_of(shell_session *session, const shell_sink *sink)
{
    if (!sink->terminal || !shell_terminal_colours(sink->fd)) return TEXT;
    if (getenv("TMUX") == NULL && (getenv("KITTY_WINDOW_ID") != NULL || is_set("TERM", "kitty") ||
                                   is_set("TERM_PROGRAM", "ghostty") || is_set("TERM_PROGRAM", "WezTerm")))
        return KITTY;
    if (session->sixels == 0) session->sixels = shell_terminal_sixels(sink->fd) ? 1 : -1;
    return session->sixels > 0 ? SIXEL : TEXT;
}

static int colours_of(const shell_sink *sink)
{
    if (!sink->terminal || !shell_terminal_colours(sink->fd)) return 0;
    return is_set("COLORTERM", "truecolor") || is_set("COLORTERM", "24bit") ? 1 << 24 : 256;
}

/* In pieces, each between ESC _G and ESC \, all but the last with m=1. */
static void put_kitty(shell_sink *sink, const plot_figure *figure, int columns)
{
    shell_text png = {0}, text = {0};
    char head[60];
    plot_png(figure, &png);
    if (!shell_interrupted()) plot_base64(png.data, png.used, &text);
    for (size_t at = 0; at < text.used; at += KITTY_PIECE) {
        size_t left = text.used - at, piece = left < KITTY_PIECE ? left : KITTY_PIECE;
        int more = left > piece;
        if (at == 0)
            snprintf(head, sizeof head, "\033_Ga=T,f=100,q=2,c=%d,m=%d;", columns, more);
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

static void put_sixel(shell_sink *sink, const plot_figure *figure, int columns)
{
    enum { COLUMN = 9 }; /* pixels of a column, where the terminal does not say */
    shell_text text = {0};
    int pixels = sink->terminal ? shell_terminal_pixels(sink->fd) : 0;
    if (pixels == 0) pixels = columns * COLUMN;
    plot_sixel(figure, pixels < 400 ? 400 : pixels, &text);
    shell_sink_put(sink, text.data, text.used);
    shell_sink_char(sink, '\n');
    shell_text_free(&text);
}

static void put_text(shell_sink *sink, const plot_figure *figure, int columns, int colours)
{
    shell_text text = {0};
    plot_text_draw(figure, columns, sink->terminal ? shell_terminal_height(sink->fd) : 0, colours, &text);
    shell_sink_put(sink, text.data, text.used);
    shell_text_free(&text);
}

/* LACIS_PLOT, where it is set; false: it is none of the words. */
static bool wished_style(const char *wish, style *out, int *colours)
{
    *out = strcmp(wish, "kitty") == 0 ? KITTY : strcmp(wish, "sixel") == 0 ? SIXEL : TEXT;
    if (strcmp(wish, "plain") == 0) *colours = 0;
    return *out != TEXT || strcmp(wish, "text") == 0 || strcmp(wish, "plain") == 0;
}

typedef struct screen {
    style how;
    int colours, width;
} screen;

static lacis_status find_screen(shell_session *session, screen *out, char *message, size_t size)
{
    const shell_sink *sink = shell_session_sink(session);
    const char *wish = getenv("LACIS_PLOT");
    out->width = sink->terminal ? shell_terminal_width(sink->fd) : 0;
    out->colours = colours_of(sink);
    if (wish == NULL || wish[0] == '\0') {
        out->how = style_of(session, sink);
    } else if (!wished_style(wish, &out->how, &out->colours)) {
        snprintf(message, size, "LACIS_PLOT is \"%.40s\" in the environment; it may be kitty, sixel, text or plain",
                 wish);
        return LACIS_RANGE;
    }
    if (out->width == 0) out->width = NARROW;
    if (out->width > WIDE) out->width = WIDE;
    return LACIS_OK;
}

static void to_screen(shell_session *session, const screen *to, const plot_figure *figure)
{
    shell_sink *sink = shell_session_sink(session);
    if (to->how == KITTY)
        put_kitty(sink, figure, to->width);
    else if (to->how == SIXEL)
        put_sixel(sink, figure, to->width);
    else
        put_text(sink, figure, to->width, to->colours);
}

/* Of memory_limit, the array that is drawn being there already. */
static plot_budget budget_of(lacis_engine *engine)
{
    char limit[32] = "";
    uint64_t now = 0, peak;
    lacis_memory_usage(engine, &now, &peak, 0);
    double most = lacis_get_option(engine, "memory_limit", limit, sizeof limit) == LACIS_OK ? strtod(limit, NULL) : 0;
    return (plot_budget){.left = most > (double)now ? (uint64_t)most - now : 0};
}

/* A picture as SVG is a text that grows with its points; a report keeps it, in base64. */
static bool text_fits(shell_session *session, const lacis_plot *plot, const plot_figure *figure, plot_budget *budget,
                      char *message, size_t size)
{
    const plot_source source = {
        .plot = plot, .array = plot->array, .budget = budget, .message = message, .size = size};
    bool report = session->html != NULL, svg = plot->path != NULL && ends_with(plot->path, ".svg");
    if (!report && !svg) return true;
    uint64_t bytes = plot_svg_bytes(figure);
    return plot_take(&source, (int64_t)(report ? bytes / 3 * 7 : bytes), 1);
}

lacis_status shell_plot(void *arg, const lacis_plot *plot, char *message, size_t size)
{
    shell_session *session = arg;
    plot_figure figure;
    plot_budget budget = budget_of(session->engine);
    screen to = {.how = KITTY}; /* files have pixels, too */
    lacis_status status = plot->path == NULL ? find_screen(session, &to, message, size) : LACIS_OK;
    if (status != LACIS_OK) return status;
    bool good = plot_figure_of(plot, to.how != TEXT, &budget, &figure, message, size) &&
                text_fits(session, plot, &figure, &budget, message, size);
    status = budget.refused ? LACIS_LIMIT : good ? LACIS_OK : LACIS_TYPE;
    if (good && !shell_interrupted()) {
        if (plot->path != NULL)
            status = to_file(&figure, plot->path, message, size);
        else
            to_screen(session, &to, &figure);
    }
    if (shell_interrupted()) {
        snprintf(message, size, "interrupted");
        status = LACIS_INTERRUPT;
    }
    if (status == LACIS_OK && session->html != NULL) {
        shell_text svg = {0};
        plot_svg(&figure, &svg);
        shell_html_picture(session->html, &svg);
        shell_text_free(&svg);
    }
    if (status == LACIS_OK && plot->path != NULL) {
        snprintf(message, size, "%s: drawn to %s", plot->name, plot->path);
        shell_log(session, LACIS_SUMMARY, message);
    }
    plot_figure_free(&figure);
    return status;
}
