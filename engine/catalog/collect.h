/* SPDX-License-Identifier: Apache-2.0
 *
 * Between collect.c, which reads a query's rows, and collect_build.c, which makes arrays of them.
 */
#ifndef LACIS_CATALOG_COLLECT_H
#define LACIS_CATALOG_COLLECT_H

#include "catalog/internal.h"
#include "core/radix.h"

/* Columns of eight-byte numbers: integers, or reals where real says so. */
typedef struct lacis_collected {
    int columns;
    const char *name[LACIS_MAX_COLUMNS]; /* of the query */
    bool real[LACIS_MAX_COLUMNS];
    int64_t *bits[LACIS_MAX_COLUMNS + 1];
    int64_t rows, room;
    int text; /* a column of double-double numbers as text, or -1; their low words are in bits[columns] */
} lacis_collected;

/* (src, dst [, value]), (i, value), (lane, row [, parent], fields), (x [, y [, z]], fields), anything else. Sorts the
 * columns in place. Vectors and symmetric matrices of complex or double-double values have columns of their words:
 * (re, im), (value, lo), (re, re_lo, im, im_lo), or (text). */
lacis_status lacis_collected_graph(lacis_run *run, lacis_collected *from, lacis_array **out);
lacis_status lacis_collected_vector(lacis_run *run, lacis_collected *from, lacis_array **out);
lacis_status lacis_collected_words(lacis_run *run, const lacis_collected *from, lacis_dtype dtype, lacis_array **out);
/* collect_symmetric.c: ([lane,] i, j, value). */
lacis_status lacis_collected_symmetric(lacis_run *run, const lacis_collected *from, lacis_dtype dtype,
                                       lacis_array **out);
/* collect_bodies.c: m, x, y, z, and of id, vx, vy, vz, eps, ax, ay, az, phi what there is, in any order. */
lacis_status lacis_collected_bodies(lacis_run *run, const lacis_collected *from, lacis_array **out);
/* collect_grid.c: the first `dims` columns are coordinates. */
lacis_status lacis_collected_grid(lacis_run *run, const lacis_collected *from, int dims, lacis_array **out);
lacis_status lacis_collected_batch(lacis_run *run, const lacis_collected *from, lacis_array **out);
lacis_status lacis_collected_table(lacis_run *run, lacis_collected *from, lacis_array **out);

#endif
