/* SPDX-License-Identifier: Apache-2.0
 *
 * PLOT as the engine calls it: to a file, PNG or SVG by its ending, or onto the screen (plot_screen.c), and into the
 * report, if one is written. See plot.h.
 */
#include "plot.h"

#include "interrupt.h"
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
        uint32_t *colour = plot_pixels(figure, PLOT_WIDE, PLOT_HIGH);
        plot_png_encode(colour, PLOT_WIDE, PLOT_HIGH, &picture);
        free(colour);
    } else {
        snprintf(message, size, "\"%s\": a picture's name ends in .png or .svg", path);
        return LACIS_NAME;
    }
    lacis_status status = shell_interrupted() ? LACIS_INTERRUPT : write_all(path, &picture, message, size);
    shell_text_free(&picture);
    return status;
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

/* A picture as SVG is a text that grows with its points. times: what is kept of it. */
static bool text_fits(const lacis_plot *plot, const plot_figure *figure, double times, plot_budget *budget,
                      char *message, size_t size)
{
    const plot_source source = {
        .plot = plot, .array = plot->array, .budget = budget, .message = message, .size = size};
    return plot_take(&source, (int64_t)(times * (double)plot_svg_bytes(figure)), 1);
}

/* Onto the screen, or into a file. */
static lacis_status draw(shell_session *session, const lacis_plot *plot, const plot_screen *to, char *message,
                         size_t size)
{
    plot_figure figure;
    plot_budget budget = budget_of(session->engine);
    bool svg = plot->path != NULL && ends_with(plot->path, ".svg");
    bool good = plot_figure_of(plot, to->how != PLOT_TEXT, &budget, &figure, message, size) &&
                (!svg || text_fits(plot, &figure, 1, &budget, message, size));
    lacis_status status = budget.refused ? LACIS_LIMIT : good ? LACIS_OK : LACIS_TYPE;
    if (good && !shell_interrupted()) {
        if (plot->path != NULL)
            status = to_file(&figure, plot->path, message, size);
        else
            plot_screen_put(session, to, &figure);
    }
    plot_figure_free(&figure);
    return status;
}

/* For the report, which keeps the SVG in base64 as well, and whose reader has pixels whatever this screen has. */
static lacis_status report(shell_session *session, const lacis_plot *plot, shell_text *svg, char *message,
                           size_t size)
{
    plot_figure figure;
    plot_budget budget = budget_of(session->engine);
    bool good = plot_figure_of(plot, true, &budget, &figure, message, size) &&
                text_fits(plot, &figure, 7 / 3.0, &budget, message, size);
    if (good && !shell_interrupted()) plot_svg(&figure, svg);
    plot_figure_free(&figure);
    return budget.refused ? LACIS_LIMIT : good ? LACIS_OK : LACIS_TYPE;
}

lacis_status shell_plot(void *arg, const lacis_plot *plot, char *message, size_t size)
{
    shell_session *session = arg;
    shell_text svg = {0};
    plot_screen to = {.how = PLOT_KITTY}; /* files have pixels, too */
    if (plot->path == NULL && !plot_screen_find(session, &to, message, size)) return LACIS_RANGE;
    lacis_status status = session->html != NULL ? report(session, plot, &svg, message, size) : LACIS_OK;
    if (status == LACIS_OK && !shell_interrupted()) status = draw(session, plot, &to, message, size);
    if (shell_interrupted()) {
        snprintf(message, size, "interrupted");
        status = LACIS_INTERRUPT;
    }
    if (status == LACIS_OK && session->html != NULL) shell_html_picture(session->html, &svg);
    if (status == LACIS_OK && plot->path != NULL) {
        snprintf(message, size, "%s: drawn to %s", plot->name, plot->path);
        shell_log(session, LACIS_SUMMARY, message);
    }
    shell_text_free(&svg);
    return status;
}
