/* SPDX-License-Identifier: Apache-2.0
 *
 * Row sources: whatever yields rows of cells one at a time, with SQL's types. The virtual tables, bare calls and
 * exports read arrays and lazy calls through them. rows.c holds the sources over arrays; exec/ adds those over calls.
 */
#ifndef LACIS_CORE_ROWS_H
#define LACIS_CORE_ROWS_H

#include "core/run.h"

typedef struct lacis_cell {
    lacis_type type;
    int64_t integer;
    double real;
    const char *text; /* lives until the next row */
} lacis_cell;

/* How rows of an array look as a table. */
enum { LACIS_MAX_COLUMNS = 256 };
typedef struct lacis_columns {
    int count;
    const char *name[LACIS_MAX_COLUMNS]; /* of the array, or static */
    bool real[LACIS_MAX_COLUMNS];        /* REAL, otherwise INTEGER */
    int keys;                            /* leading columns by which rows are sorted (graph: src, dst) */
    bool last_first; /* by the last of them first (grid: z, y, x); conditions on all reach the rows, nothing sums them
                      * up but lacis_totals_column */
    bool summed; /* lacis_totals sums up values, and keys but those of batches; of other kinds it only counts rows */
    bool each;   /* of a table, bodies or a grid that is there: lacis_totals_column knows every column */
    int value;   /* the column that ORDER BY ... LIMIT may be pushed into, or -1 */
    int total;   /* the one that lacis_totals takes for values, or -1: "value", of tables also "v" */
    int text;    /* -1, or the one that holds a double-double value as text: the numbers are those just before it, two
                  * where there is a column "value", else four */
} lacis_columns;

/* Columns of a kind and dtype: csr (src, dst, value | re, im), vector (i, value | re, im). A table's come from the
 * array itself. */
void lacis_columns_of(lacis_kind kind, lacis_dtype dtype, const lacis_array *table, lacis_columns *out);
/* The same without the array, but for its extents (lacis_call.extent): a table, batch or grid has none of its fields
 * then but "value". */
void lacis_columns_of_shape(lacis_kind kind, lacis_dtype dtype, const int64_t *extent, lacis_columns *out);

/* Count, sum and bounds of one column of such an array as values, whatever column it is; its name in any case. */
lacis_status lacis_totals_column(lacis_run *run, const lacis_array *array, const char *column, lacis_totals *totals);

/* Of a result that nobody has computed yet. */
void lacis_columns_of_call(const lacis_call *call, lacis_columns *out);

/* What a reader wants. where.top counts per row; limit >= 0 with by_value: only the `limit` rows of greatest value,
 * in falling order of it (ties: by the key columns). */
typedef struct lacis_filter {
    lacis_restriction where;
    bool by_value;
    int64_t limit;
} lacis_filter;
extern const lacis_filter lacis_filter_all;

typedef struct lacis_rows lacis_rows;
typedef struct lacis_rows_class {
    /* Moves to the next row (the first one at first). */
    lacis_status (*next)(lacis_rows *rows, lacis_run *run, bool *more);
    void (*cell)(const lacis_rows *rows, int column, lacis_cell *out);
    void (*close)(lacis_rows *rows);
} lacis_rows_class;
struct lacis_rows {
    const lacis_rows_class *class;
};

/* The rows of an array that pass the filter, in order of its key columns (or by falling value). The source holds its
 * memory through `host`, not through the run that opened it. */
lacis_status lacis_rows_of_array(lacis_run *run, lacis_array *array, const lacis_filter *filter, lacis_rows **out);

static inline lacis_status lacis_rows_next(lacis_rows *rows, lacis_run *run, bool *more)
{
    return rows->class->next(rows, run, more);
}
static inline void lacis_rows_cell(const lacis_rows *rows, int column, lacis_cell *out)
{
    rows->class->cell(rows, column, out);
}
static inline void lacis_rows_close(lacis_rows *rows)
{
    if (rows != NULL) rows->class->close(rows);
}

/* The `limit` rows of greatest value out of everything that `source` yields: closes source. */
lacis_status lacis_rows_top(lacis_run *run, lacis_rows *source, const lacis_columns *columns, int64_t limit,
                            lacis_rows **out);

#endif
