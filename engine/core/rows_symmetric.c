/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of dense symmetric matrices: those of the stored triangle by i and then j, of a batch matrix by matrix.
 * Opened by rows.c.
 */
#include "core/cells.h"
#include "core/symmetric.h"

#include <string.h>

typedef struct symmetric_rows {
    lacis_rows base;
    lacis_memory *memory;
    lacis_array *array;
    lacis_symmetric a; /* its begin is begin[] */
    bool batch;
    int64_t label[2];       /* of row and column 0, and of matrix 0 */
    int64_t next, next_end; /* keys still wanted: matrices of a batch, else rows */
    const int64_t *list;    /* labels of them; NULL: all */
    int64_t listed;
    int64_t lo1, hi1;            /* the second key, by label: rows of a batch's matrices, else columns */
    int64_t matrix, row, column; /* the present element */
    int64_t row_end, column_end; /* of the present matrix, of the present row */
    char *text;                  /* own */
    char own[LACIS_CELL_TEXT];
    int64_t begin[];
} symmetric_rows;

/* Indices [*first, *end) of labels lo .. hi, out of `count` from `base` on. */
static void index_range(int64_t base, int64_t count, int64_t lo, int64_t hi, int64_t *first, int64_t *end)
{
    *first = lacis_label_lower(NULL, base, count, lo);
    *end = hi == INT64_MAX ? count : lacis_label_lower(NULL, base, count, hi + 1);
    if (*end < *first) *end = *first;
}

/* The next matrix of a batch, or else row, that is wanted; -1: none. */
static int64_t wanted(symmetric_rows *rows)
{
    int64_t base = rows->batch ? rows->label[1] : rows->label[0];
    if (rows->list == NULL) return rows->next < rows->next_end ? rows->next++ : -1;
    while (rows->listed > 0) {
        int64_t label = *rows->list++, at;
        rows->listed--;
        if (!__builtin_sub_overflow(label, base, &at) && at >= rows->next && at < rows->next_end) return at;
    }
    return -1;
}

/* The stored columns of a row. */
static void enter_row(symmetric_rows *rows, int64_t row)
{
    int64_t n = lacis_symmetric_order(&rows->a, rows->matrix), first, end;
    rows->row = row;
    rows->column = rows->a.upper ? row : 0;
    rows->column_end = rows->a.upper ? n : row + 1;
    if (rows->batch) return;
    index_range(rows->label[0], n, rows->lo1, rows->hi1, &first, &end);
    if (first > rows->column) rows->column = first;
    if (end < rows->column_end) rows->column_end = end;
}

/* The next row that has an element, its first one at column. */
static lacis_status next_row(symmetric_rows *rows, lacis_run *run, bool *more)
{
    for (;;) {
        int64_t row = rows->row + 1;
        if (!rows->batch || row >= rows->row_end) {
            int64_t at = wanted(rows);
            *more = at >= 0;
            if (at < 0) return LACIS_OK;
            if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
            row = at;
            if (rows->batch) {
                rows->matrix = at;
                index_range(rows->label[0], lacis_symmetric_order(&rows->a, at), rows->lo1, rows->hi1, &row,
                            &rows->row_end);
                rows->row = row - 1;
                if (row >= rows->row_end) continue;
            }
        }
        enter_row(rows, row);
        if (rows->column < rows->column_end) return LACIS_OK;
    }
}

static lacis_status symmetric_next(lacis_rows *base, lacis_run *run, bool *more)
{
    symmetric_rows *rows = (symmetric_rows *)base;
    *more = true;
    if (++rows->column < rows->column_end) return LACIS_OK;
    return next_row(rows, run, more);
}

/* The imaginary part of a Hermitian matrix's diagonal is 0, whatever lies there. */
static void value_cell(const symmetric_rows *rows, int component, lacis_cell *out)
{
    const lacis_symmetric *a = &rows->a;
    int64_t place = lacis_symmetric_place(a, rows->matrix, rows->row, rows->column);
    int cells = lacis_cells_of(a->dtype);
    if (!a->hermitian || rows->row != rows->column) {
        lacis_cell_of(a->values, a->dtype, place, component, rows->text, out);
    } else if (component < cells / 2) {
        lacis_cell_value(a->values, a->dtype, place, component, out);
    } else if (component < cells) {
        lacis_cell_real(out, 0);
    } else {
        const double *value = (const double *)a->values + 4 * place;
        const double real[4] = {value[0], value[1], 0, 0};
        lacis_cell_of(real, a->dtype, 0, component, rows->text, out);
    }
}

static void symmetric_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const symmetric_rows *rows = (const symmetric_rows *)base;
    if (rows->batch && column == 0) {
        lacis_cell_integer(out, rows->label[1] + rows->matrix);
        return;
    }
    column -= rows->batch;
    if (column == 0)
        lacis_cell_integer(out, rows->label[0] + rows->row);
    else if (column == 1)
        lacis_cell_integer(out, rows->label[0] + rows->column);
    else
        value_cell(rows, column - 2, out);
}

static void symmetric_close(lacis_rows *base)
{
    symmetric_rows *rows = (symmetric_rows *)base;
    lacis_memory *memory = rows->memory;
    lacis_array_release(rows->array);
    lacis_memory_free(memory, rows);
    lacis_memory_release(memory);
}

static const lacis_rows_class symmetric_class = {symmetric_next, symmetric_cell, symmetric_close};

lacis_status lacis_rows_of_symmetric(lacis_run *run, lacis_array *array, const lacis_restriction *where,
                                     lacis_rows **out)
{
    symmetric_rows *rows = NULL;
    lacis_symmetric a;
    const int64_t *list = NULL;
    LACIS_TRY(lacis_symmetric_view(run, array, &a));
    uint64_t bytes = a.begin == NULL ? 0 : ((uint64_t)a.matrices + 1) * sizeof *a.begin;
    LACIS_TRY(lacis_rows_new(run, sizeof *rows + bytes, where, &rows, &list));
    if (bytes > 0) memcpy(rows->begin, a.begin, bytes);
    rows->base.class = &symmetric_class;
    rows->memory = lacis_memory_retain(run->host->memory);
    rows->array = lacis_array_retain(array);
    rows->a = a;
    if (bytes > 0) rows->a.begin = rows->begin;
    rows->batch = a.matrices != 1;
    rows->text = rows->own;
    for (int d = 0; d < 2; d++)
        rows->label[d] = lacis_array_base(array, d);
    index_range(rows->label[rows->batch], rows->batch ? a.matrices : a.n, where->lo, where->hi, &rows->next,
                &rows->next_end);
    rows->list = list;
    rows->listed = where->count;
    rows->lo1 = where->lo1;
    rows->hi1 = where->hi1;
    rows->column = rows->column_end = 0;
    *out = &rows->base;
    return LACIS_OK;
}
