/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns that a statement's rows are copied into for Arrow; for arrow_stream.c alone.
 */
#ifndef LACIS_API_ARROW_ROWS_H
#define LACIS_API_ARROW_ROWS_H

#include "core/run.h"

enum { LACIS_ARROW_ROWS = 65536 }; /* of a batch */

/* Starts as all zero. The buffers are as Arrow wants them, and go to the consumer with lacis_arrow_column_take. */
typedef struct lacis_arrow_column {
    char *name;
    lacis_type type;      /* LACIS_NULL: nothing but nulls so far */
    bool fixed;           /* the type is known to the consumer */
    bool any;             /* nulls were all that the first batch had: a column of texts that takes numbers, too */
    unsigned char *valid; /* a bit a row */
    int64_t *word;        /* integers, reals, or where each text or blob begins, and one more where the last ends */
    int64_t room, nulls;  /* rows */
    char *bytes;          /* of texts and blobs */
    uint64_t used, space;
} lacis_arrow_column;

const char *lacis_arrow_column_format(const lacis_arrow_column *column);
/* Adds the value of the statement's present row as row `row`. */
lacis_status lacis_arrow_column_add(lacis_run *run, lacis_arrow_column *column, lacis_statement *statement, int index,
                                    int64_t row);
/* From here on its type stays. */
void lacis_arrow_column_fix(lacis_arrow_column *column);
/* The rows as an ArrowArray, which the buffers now belong to. */
lacis_status lacis_arrow_column_take(lacis_run *run, lacis_arrow_column *column, int64_t rows,
                                     struct ArrowArray *out);
lacis_status lacis_arrow_struct_new(lacis_run *run, int64_t rows, int columns, struct ArrowArray *out);
void lacis_arrow_column_free(lacis_memory *memory, lacis_arrow_column *column);

#endif
