/* SPDX-License-Identifier: Apache-2.0
 *
 * Neurons as SWC files give them: samples of id, type, x, y, z, radius and parent. swc.c loads a file in these steps:
 *
 *     lacis_swc_read     the lines, by all threads, into columns in the order of the file
 *     lacis_swc_link     the parents found; what makes no forest is refused with its line
 *     lacis_swc_notes    warnings, each with its name and first line
 *     lacis_swc_sort     parents before their children; all else stays in its order
 *
 * The table that comes out has the columns below. `parent` is the parent's id, or -1; a length is in um once `scale`
 * was applied.
 */
#ifndef LACIS_LOADERS_SWC_H
#define LACIS_LOADERS_SWC_H

#include "common_text.h"

enum lacis_swc_column {
    LACIS_SWC_CELL, /* 0 in a file; joined files count on */
    LACIS_SWC_ID,
    LACIS_SWC_TYPE, /* 1 soma, 2 axon, 3 dendrite, 4 apical dendrite; 0 and 5 upwards as their makers mean them */
    LACIS_SWC_X,
    LACIS_SWC_Y,
    LACIS_SWC_Z,
    LACIS_SWC_RADIUS,
    LACIS_SWC_PARENT,
    LACIS_SWC_COLUMNS
};
extern const lacis_column lacis_swc_columns[LACIS_SWC_COLUMNS];

enum { LACIS_SWC_SOMA = 1 };

/* Something met on some lines: how many, and the first. */
typedef struct lacis_swc_seen {
    int64_t count;
    const char *at; /* its line, NULL: none */
} lacis_swc_seen;

typedef struct lacis_swc {
    lacis_run *run;
    const lacis_text *text;
    int64_t count; /* samples */
    lacis_buffer *buffer[LACIS_SWC_COLUMNS];
    int64_t *id, *type, *parent; /* into the buffers; parent: the id, -1 for a root */
    double *x, *y, *z, *radius;
    lacis_swc_seen decimals, comments, more; /* ids with a point; # behind numbers; columns behind the 7th */
    int32_t *up;                             /* row of the parent, -1: a root */
} lacis_swc;

/* Begins empty; lacis_swc_end frees what there is, always. */
void lacis_swc_begin(lacis_swc *swc, lacis_run *run, const lacis_text *text);
void lacis_swc_end(lacis_swc *swc);
/* LACIS_FORMAT with line and column for a line that is no sample, and where there is none at all. */
lacis_status lacis_swc_read(lacis_swc *swc);
/* LACIS_FORMAT for ids that are there twice, parents that are not, and samples that descend from themselves. */
lacis_status lacis_swc_link(lacis_swc *swc);
/* Lengths times `scale`, and radii of at least `least`. */
lacis_status lacis_swc_scale(lacis_swc *swc, double scale, double least);
void lacis_swc_notes(lacis_swc *swc);
/* *up is not kept up. */
lacis_status lacis_swc_sort(lacis_swc *swc);

/* The line of sample `row` in the order of the file. */
const char *lacis_swc_line(const lacis_swc *swc, int64_t row);
/* Begin and end of the sample on the line at p, which ends at end: blanks, comment and line end cut off. False: the
 * line has none. */
bool lacis_swc_sample(const char *p, const char *end, const char **from, const char **to);
/* A whole number, perhaps written as a decimal (*decimal). */
bool lacis_swc_whole(const char *from, const char *to, int64_t *out, bool *decimal);

/* Rows by id. */
typedef struct lacis_swc_ids {
    lacis_run *run;
    int64_t count, low;
    int64_t *sorted; /* NULL: row = direct[id - low], or id - low where direct is NULL too */
    int32_t *direct; /* span entries; with sorted: rows of the sorted ids */
    int64_t span;
} lacis_swc_ids;
/* Rows of equal ids are told through *twice (the later one, the least there is), -1 where there are none; *first is
 * then the row that has the id before. */
lacis_status lacis_swc_ids_make(lacis_swc_ids *ids, lacis_run *run, const int64_t *id, int64_t count, int64_t *twice,
                                int64_t *first);
int64_t lacis_swc_ids_row(const lacis_swc_ids *ids, int64_t id); /* or -1 */
void lacis_swc_ids_end(lacis_swc_ids *ids);

/* Figures of a table of samples, each parent before its children; used for <name>_files. */
enum { LACIS_SWC_FIGURES = 14 };
extern const lacis_column lacis_swc_figures[LACIS_SWC_FIGURES];
lacis_status lacis_swc_measure(lacis_run *run, const lacis_array *array, double *value);

/* A table of these columns, which it retains. */
lacis_status lacis_swc_table(lacis_run *run, lacis_buffer *const *buffer, int64_t count, lacis_array **out);
/* Writes one cell. */
lacis_status lacis_swc_save(lacis_run *run, const lacis_array *array, FILE *file);
/* Tables of single files as one; see lacis_loader.join. */
lacis_status lacis_swc_join(lacis_run *run, lacis_array **piece, int64_t pieces, lacis_array **out);
int lacis_swc_sniff(const lacis_source *source);

#endif
