/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids as text: a matrix of numbers, a line each row y, or a line each cell under a header that names x, maybe y and
 * z, and the fields. Used by grid.c.
 */
#ifndef LACIS_LOADERS_GRID_TEXT_H
#define LACIS_LOADERS_GRID_TEXT_H

#include "common_grid.h"
#include "common_text.h"

enum { LACIS_GRID_COLUMNS = LACIS_GRID_FIELDS + 3 };

/* What lines look like. */
typedef struct lacis_grid_layout {
    const lacis_text *text;
    const char *begin, *end;       /* lines of numbers */
    char delimiter;                /* 0: blanks */
    bool cells;                    /* a line each cell; else a matrix */
    int columns;                   /* of cells */
    int axis[LACIS_GRID_COLUMNS];  /* of a column: 0, 1, 2, or -1 where it is a field */
    int field[LACIS_GRID_COLUMNS]; /* its number, where it is one */
    lacis_grid shape;              /* dims, fields and names of cells; a matrix is 2-D */
} lacis_grid_layout;

/* Reads the first line. Names are in the run's scratch. */
lacis_status lacis_grid_layout_find(lacis_run *run, const lacis_text *text, lacis_grid_layout *out);
/* Whether the first two lines are the header and the first cell, the one at 0, 0, 0, as SAVE writes them to csv. */
bool lacis_grid_layout_sniff(const lacis_text *text);

lacis_status lacis_grid_text_read(lacis_run *run, const lacis_grid_layout *layout, lacis_dtype dtype,
                                  lacis_array **out);

#endif
