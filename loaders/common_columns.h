/* SPDX-License-Identifier: Apache-2.0
 *
 * Which field of an edge list is source, target, value or time. Used by common_layout.c.
 */
#ifndef LACIS_LOADERS_COLUMNS_H
#define LACIS_LOADERS_COLUMNS_H

#include "common_layout.h"

/* Numbers of fields, -1 where there is none. */
typedef struct lacis_columns_found {
    int src, dst, value, time;
} lacis_columns_found;

/* From the names in a header row, or in option `columns`. */
void lacis_columns_named(const char *from, const char *to, char delimiter, lacis_columns_found *found);
/* Sets lines from option columns = 'src,dst,value'. LACIS_RANGE where src or dst is missing. */
lacis_status lacis_columns_given(lacis_run *run, const lacis_layout *layout, const lacis_sample *sample,
                                 lacis_lines *lines);
/* Sets lines from what the header row said (found) and what the sample's fields are. */
void lacis_columns_guess(lacis_run *run, lacis_layout *layout, const lacis_sample *sample, lacis_lines *lines,
                         const lacis_columns_found *found);

#endif
