/* SPDX-License-Identifier: Apache-2.0
 *
 * PLOT: from an array (plot_array.c and the files that it calls) to a figure, which knows data and axes but no
 * pixels; from a figure to pictures: plot_draw.c lays it out on a canvas (plot_svg.c, plot_raster.c), plot_text.c in
 * characters. plot_command.c is what the engine calls.
 */
#ifndef SHELL_PLOT_H
#define SHELL_PLOT_H

#include "lacis.h"
#include "text.h"

typedef struct plot_axis {
    double low, high;
    bool log;   /* both are positive */
    bool twos;  /* of a log axis: ticks at powers of two */
    bool whole; /* ticks at whole numbers alone */
    bool down;  /* y: low at the top, as in images and matrices */
    char label[80];
} plot_axis;

typedef struct plot_series {
    char label[64];
    int64_t count;
    double *x, *y;     /* NaN: a gap. PLOT_BARS: x are count + 1 edges. PLOT_TREE: two points a piece, none NaN */
    double *z, *width; /* PLOT_TREE: a third coordinate, and a piece's width, both in the units of the axes */
} plot_series;

/* PLOT_TREE: drawn twice side by side, over y and over z */
typedef enum plot_mark { PLOT_LINES, PLOT_DOTS, PLOT_BARS, PLOT_CELLS, PLOT_TREE } plot_mark;

enum { PLOT_SERIES = 8, PLOT_TITLE = 200 };

typedef struct plot_figure {
    char title[PLOT_TITLE];
    plot_mark mark;
    plot_axis x, y, z;
    bool equal; /* a unit of x and one of y are as long as each other */
    int series;
    plot_series one[PLOT_SERIES];
    /* PLOT_CELLS: nx by ny of them fill the axes, row 0 at y's low end; NaN: nothing */
    int nx, ny;
    double *cell, low, high;
    bool cell_log, bar; /* bar: with a colour bar */
    bool cell_whole;    /* they are counts */
    bool sparse;        /* many cells are nothing */
    char cell_label[64];
} plot_figure;

/* What of memory_limit is left for the points of a figure; refused: they need more. The picture itself (at most
 * 25 MB; of SVG what does not grow with the data) is not counted. */
typedef struct plot_budget {
    uint64_t left;
    bool refused;
} plot_budget;

/* plot_array.c: the figure of an array, fine: for pixels rather than characters; false: `message` says why there is
 * none. */
bool plot_figure_of(const lacis_plot *plot, bool fine, plot_budget *budget, plot_figure *figure, char *message,
                    size_t size);
void plot_figure_free(plot_figure *figure);

/* --- for the kinds: plot_array.c, plot_cells.c, plot_lines.c, plot_hist.c */

typedef struct plot_source {
    const lacis_plot *plot;
    const lacis_array *array;
    bool fine;
    plot_budget *budget;
    char *message;
    size_t size;
} plot_source;

bool plot_fail(const plot_source *source, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool plot_part(const plot_source *source, const char *name, lacis_part *part);
/* Element of a part as a real number; of complex ones the real part. */
double plot_number(const lacis_part *part, int64_t index);
/* The first field of a grid, and its shape; dims 0: the array is none. */
int plot_grid(const plot_source *source, lacis_part *field, int64_t *extent);
bool plot_heat(const plot_source *source, plot_figure *figure);
bool plot_spy(const plot_source *source, plot_figure *figure);
bool plot_line(const plot_source *source, plot_figure *figure);
bool plot_scatter(const plot_source *source, plot_figure *figure);
bool plot_hist(const plot_source *source, plot_figure *figure);
bool plot_tree(const plot_source *source, plot_figure *figure);
bool plot_is_tree(const lacis_array *array); /* a table with the columns of a morphology */
bool plot_tree_fit(plot_figure *figure);     /* plot_fit of a PLOT_TREE */
void plot_name_axes(plot_figure *figure, const char *x, const char *y);
/* Makes cells of a figure of many points. */
void plot_density(plot_figure *figure);
/* Takes `count` times `each` bytes out of the budget; false: there is not so much, which the message says. */
bool plot_take(const plot_source *source, int64_t count, size_t each);
/* Room for the next series, or NULL as of plot_take. */
plot_series *plot_add(const plot_source *source, plot_figure *figure, int64_t count, const char *label);
/* Sets the figure's range and its axes', from its finite data. False: there are none. */
bool plot_fit(plot_figure *figure);

/* The two halves of a PLOT_TREE, whose series are the figure's own: axes at one scale for areas of width by height.
 */
void plot_tree_panels(const plot_figure *figure, double width, double height, plot_figure *panel);

/* --- plot_ticks.c: round numbers along an axis */

enum { PLOT_TICKS = 24, PLOT_TICK_TEXT = 24 };
typedef struct plot_ticks {
    int count;
    double at[PLOT_TICKS];
    char text[PLOT_TICKS][PLOT_TICK_TEXT];
} plot_ticks;
/* About `wanted` of them within the axis. */
void plot_ticks_of(const plot_axis *axis, int wanted, plot_ticks *out);
/* Where a value stands on an axis: 0 at low, 1 at high. */
double plot_place(const plot_axis *axis, double value);
/* Half of its length, which itself may be larger than a double. */
double plot_half(const plot_axis *axis);

/* --- plot_colour.c: 0xRRGGBB */

uint32_t plot_shade(double part);       /* 0 .. 1: dark blue to light yellow, lightness rising evenly */
uint32_t plot_series_colour(int index); /* told apart by lightness, too */
/* For characters on a background that may be dark; and both as numbers of those that terminals of 256 colours have.
 */
uint32_t plot_screen_colour(int index);
unsigned plot_screen_of_256(int index);
unsigned plot_shade_of_256(double part);
/* Of a cell, as the figure's range says. */
uint32_t plot_cell_colour(const plot_figure *figure, double value);
/* 0 .. 1, or NaN. */
double plot_cell_part(const plot_figure *figure, double value);

/* --- canvases */

typedef struct plot_canvas plot_canvas;
struct plot_canvas {
    double width, height;
    void (*line)(plot_canvas *canvas, const double *xy, int64_t points, double width, uint32_t colour);
    void (*dots)(plot_canvas *canvas, const double *xy, int64_t points, double radius, uint32_t colour);
    void (*box)(plot_canvas *canvas, double x, double y, double width, double height, uint32_t colour);
    /* anchor -1, 0, 1: x is the left end, the middle, the right end; y is the base line. upright: turned to the left.
     */
    void (*text)(plot_canvas *canvas, double x, double y, double size, int anchor, bool upright, const char *text);
    void (*cells)(plot_canvas *canvas, double x, double y, double width, double height, int nx, int ny,
                  const uint32_t *colour);
};
void plot_draw(const plot_figure *figure, plot_canvas *canvas);
enum { PLOT_SMALL = 18 }; /* the size of most texts, in units of the canvas */
/* plot_legend.c: how high a legend below the title is; draw: draws it, too. */
double plot_legend(const plot_figure *figure, plot_canvas *canvas, bool draw);

/* plot_svg.c, plot_raster.c, plot_png.c, plot_shrink.c, plot_sixel.c */
uint64_t plot_svg_bytes(const plot_figure *figure); /* what of it grows with the data, at most */
void plot_svg(const plot_figure *figure, shell_text *out);
enum { PLOT_WIDE = 1600, PLOT_HIGH = 1067 }; /* pixels of a file, and the most that one of a screen is drawn with */
/* Colours row by row, which the caller frees; four pixels are three units of the canvas. */
uint32_t *plot_pixels(const plot_figure *figure, int width, int height);
/* A smaller picture, each pixel the mean of those that it stands for; the caller frees it. */
uint32_t *plot_shrink(const uint32_t *colour, int width, int height, int new_width, int new_height);
void plot_sixel(const uint32_t *colour, int width, int height, shell_text *out);
/* A PNG of width * height colours. */
void plot_png_encode(const uint32_t *colour, int width, int height, shell_text *out);
void plot_base64(const char *data, size_t size, shell_text *out);
/* plot_font.c: strokes of a character, points as two digits x (0 .. 4) and y (0 .. 8, the base line is 6), strokes
 * apart by blanks. */
const char *plot_glyph(unsigned char character);

/* plot_text.c: in characters, at most `width` columns, of which it takes 40 at least; a colour bar and a legend are
 * as long as their labels make them. height: rows of the screen, 0 where there is none. colours: 0 none, 256, or
 * 1 << 24. */
void plot_text_draw(const plot_figure *figure, int width, int height, int colours, shell_text *out);

/* plot_screen.c: how a figure comes onto the screen. */
typedef struct plot_screen {
    enum { PLOT_TEXT, PLOT_KITTY, PLOT_SIXEL } how;
    int colours, columns, rows; /* rows 0: there is no screen */
    int width, height;          /* pixels of all of it; 0: not known */
} plot_screen;
struct shell_session;
/* As the terminal is, or LACIS_PLOT in the environment says; false: `message` says why not. */
bool plot_screen_find(struct shell_session *session, plot_screen *out, char *message, size_t size);
void plot_screen_put(struct shell_session *session, const plot_screen *to, const plot_figure *figure);

/* plot_command.c: a lacis_plot_fn whose arg is the session */
lacis_status shell_plot(void *session, const lacis_plot *plot, char *message, size_t size);

#endif
