/* SPDX-License-Identifier: Apache-2.0
 *
 * A figure in characters while it is made: plot_text.c lays it out, plot_text_marks.c marks in its places what the
 * data says, plot_text_ink.c writes places and keys in the colours that the terminal has.
 */
#ifndef SHELL_PLOT_TEXT_H
#define SHELL_PLOT_TEXT_H

#include "plot.h"

/* A character of the data's area. */
typedef struct text_place {
    unsigned braille; /* dots, or 0 */
    int eighths;      /* of a bar, from below */
    int series;
    double upper, lower; /* of cells: parts, or NaN; without colours upper alone */
} text_place;

typedef struct text_page {
    const plot_figure *figure;
    shell_text *out;
    int colours, width, left, columns, rows;
    bool beside; /* another page stands to the right: lines are filled up */
    plot_ticks across, up;
    text_place *place;
} text_page;

/* --- plot_text_marks.c */

void text_marks(const text_page *p);
/* Where a value stands, from the top, 0 to 1. */
double text_down(const text_page *p, double y);

/* --- plot_text_ink.c */

/* Cells of one colour are dots: there is room for eight in a character. */
bool text_dotted(const text_page *p);
bool text_has_legend(const plot_figure *figure);
bool text_is_empty(const text_page *p, const text_place *at);
void text_put_place(const text_page *p, const text_place *at);
void text_put_bar(const text_page *p);
/* How many lines a legend takes; draw: writes them, too. */
int text_put_legend(const text_page *p, bool draw);
void text_blanks(const text_page *p, int count);

#endif
