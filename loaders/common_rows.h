/* SPDX-License-Identifier: Apache-2.0
 *
 * The last step of building a graph: sorts each row by column and collapses entries at the same place, in place and
 * on all threads. Used by common_edges.c.
 */
#ifndef LACIS_LOADERS_ROWS_H
#define LACIS_LOADERS_ROWS_H

#include "lacis_extend.h"

/* What becomes of several entries at one place; the words of the option are in this order. */
typedef enum lacis_duplicates {
    LACIS_DUPLICATES_SUM,
    LACIS_DUPLICATES_MIN,
    LACIS_DUPLICATES_MAX,
    LACIS_DUPLICATES_FIRST, /* in the order of the row before sorting */
    LACIS_DUPLICATES_LAST,
    LACIS_DUPLICATES_COUNT,
    LACIS_DUPLICATES_ERROR
} lacis_duplicates;
#define LACIS_DUPLICATES_WORDS "sum|min|max|first|last|count|error"

/* Rows as they were filled: row r is [offsets[r], offsets[r + 1]). Buffers are reserved ones. */
typedef struct lacis_raw_rows {
    lacis_run *run;
    int64_t rows, entries;
    int64_t *offsets;
    lacis_buffer *columns; /* U32 */
    lacis_buffer *values;  /* of storage; NULL for a pattern */
    lacis_dtype storage;
} lacis_raw_rows;

/* Sorts rows (stable: entries at one place keep their order). *duplicates: entries beyond the first at their places;
 * *first: the least row that has any, or -1. */
lacis_status lacis_rows_sort(lacis_raw_rows *rows, int64_t *duplicates, int64_t *first);
/* Collapses sorted rows and closes the gaps. COUNT makes U32 values. A sum in I32 that leaves 32 bits widens the
 * storage to I64; one that leaves 64 bits fails with LACIS_OVERFLOW. Sums of reals are taken in an order that depends
 * on the values alone, so that threads do not change them. */
lacis_status lacis_rows_collapse(lacis_raw_rows *rows, lacis_duplicates rule);

#endif
