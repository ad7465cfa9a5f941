/* SPDX-License-Identifier: Apache-2.0
 *
 * Any array as rows of named numbers, for csv.c and jsonl.c to write.
 */
#ifndef LACIS_LOADERS_COLUMNS_OUT_H
#define LACIS_LOADERS_COLUMNS_OUT_H

#include "common_save.h"

/* How a format writes. Called with the number of the column; the value follows from lacis_row_value. */
typedef struct lacis_row_format {
    void (*head)(lacis_writer *w, const char *const *names, int columns); /* NULL: none */
    void (*begin)(lacis_writer *w);
    void (*before)(lacis_writer *w, int column, const char *name); /* a value */
    void (*real)(lacis_writer *w, const void *data, lacis_dtype storage, int64_t index);
    void (*end)(lacis_writer *w);
} lacis_row_format;

/* graph: src, dst, value; vector: i, value; batch: lane, row, maybe parent, fields; table: its columns. Complex
 * values: re and im. Symmetric: i, j and value of the stored triangle, of a batch behind lane. Double-double values:
 * value and lo, complex ones re, re_lo, im, im_lo.
 * Bodies: id, m, x, y, z, vx, vy, vz and what else they have. Grids: x, y, z as they have dimensions, and fields, x
 * running fastest. */
lacis_status lacis_save_rows(lacis_run *run, const lacis_array *array, FILE *file, const lacis_row_format *format);

#endif
