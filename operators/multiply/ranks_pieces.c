/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of pieces: graphs that share the entries of A or B and have row bounds of their own. Called by ranks.c.
 */
#include "multiply/ranks.h"

#include <string.h>

static lacis_status share_part(lacis_run *run, const lacis_array *from, const char *name, lacis_array *to)
{
    uint64_t offset;
    const lacis_part *part = lacis_array_part_named(from, name);
    if (part == NULL) return LACIS_OK;
    lacis_buffer *buffer = lacis_array_part_buffer(from, name, &offset);
    return lacis_array_add(run, to, name, part->dtype, part->count, buffer, offset);
}

/* A new part of int64 of which the caller fills *data. */
static lacis_status new_part(lacis_run *run, lacis_array *to, const char *name, int64_t count, int64_t **data)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)count, &buffer));
    *data = lacis_buffer_data(buffer);
    lacis_status status = lacis_array_add(run, to, name, LACIS_I64, count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

/* A graph of `rows` rows over the entries of `from`, its bounds still to be filled. */
static lacis_status frame(lacis_run *run, const lacis_array *from, int64_t rows, lacis_array *to, int64_t **begin,
                          int64_t **end)
{
    for (int i = 0; i < 2; i++)
        lacis_array_set_base(to, i, lacis_array_base(from, i));
    LACIS_TRY(new_part(run, to, "begin", rows, begin));
    LACIS_TRY(new_part(run, to, "end", rows, end));
    LACIS_TRY(share_part(run, from, "columns", to));
    LACIS_TRY(share_part(run, from, "values", to));
    return share_part(run, from, "col_labels", to);
}

/* First place in [begin, end) whose column is at least `column`. */
static int64_t lower(const uint32_t *columns, int64_t begin, int64_t end, int64_t column)
{
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (columns[middle] < column) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

static void fill_rows(const lacis_dealt *dealt, int64_t first_row, int64_t rows, int64_t first, int64_t last,
                      int64_t *begin, int64_t *end, int64_t *label)
{
    const lacis_product *product = &dealt->work->product;
    const lacis_csr *a = &product->spec.a;
    lacis_labels own = lacis_labels_of_rows(a);
    /* Renamed columns are not those of the array. */
    bool plain = product->a.column == a->column && product->c.count == product->spec.b.rows;
    for (int64_t i = 0; i < rows; i++) {
        label[i] = lacis_labels_at(&product->s, first_row + i);
        int64_t row = product->first_row >= 0 ? product->first_row + first_row + i
                                              : lacis_label_find(own.label, own.base, own.count, label[i]);
        begin[i] = plain ? lower(a->column, a->begin[row], a->end[row], first) : a->begin[row];
        end[i] = plain ? lower(a->column, begin[i], a->end[row], last) : a->end[row];
    }
}

lacis_status lacis_dealt_rows(lacis_dealt *dealt, int64_t begin, int64_t end, int64_t first, int64_t last,
                              lacis_array **out)
{
    lacis_run *run = dealt->run;
    const lacis_array *from = lacis_dealt_a(dealt->call)->array;
    lacis_array *array;
    int64_t rows = end - begin, *from_place, *to_place, *label;
    LACIS_TRY(lacis_array_new(run, LACIS_CSR, lacis_array_dtype(from), rows, lacis_array_extent(from, 1), &array));
    lacis_status status = frame(run, from, rows, array, &from_place, &to_place);
    if (status == LACIS_OK) status = new_part(run, array, "row_labels", rows, &label);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    fill_rows(dealt, begin, rows, first, last, from_place, to_place, label);
    *out = array;
    return LACIS_OK;
}

lacis_status lacis_dealt_block(lacis_dealt *dealt, int64_t first, int64_t last, lacis_array **out)
{
    lacis_run *run = dealt->run;
    const lacis_array *from = lacis_dealt_b(dealt->call)->array;
    lacis_array *array;
    lacis_csr b;
    int64_t *begin, *end;
    lacis_csr_view(from, &b);
    LACIS_TRY(lacis_array_new(run, LACIS_CSR, lacis_array_dtype(from), b.rows, b.cols, &array));
    lacis_status status = frame(run, from, b.rows, array, &begin, &end);
    if (status == LACIS_OK) status = share_part(run, from, "row_labels", array);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    for (int64_t r = 0; r < b.rows; r++) {
        bool in = r >= first && r < last;
        begin[r] = in ? b.begin[r] : 0;
        end[r] = in ? b.end[r] : 0;
    }
    *out = array;
    return LACIS_OK;
}

/* Rows of one block from `first` on. */
static int64_t block_end(const lacis_csr *b, int64_t first, uint64_t bytes)
{
    uint64_t entry = sizeof(uint32_t) + lacis_dtype_size(b->storage), used = 0;
    int64_t row = first;
    for (; row < b->rows; row++) {
        used += entry * (uint64_t)(b->end[row] - b->begin[row]);
        if (used > bytes && row > first) break;
    }
    return row;
}

lacis_status lacis_dealt_cut(lacis_dealt *dealt, uint64_t bytes)
{
    lacis_csr b;
    lacis_csr_view(lacis_dealt_b(dealt->call)->array, &b);
    dealt->blocks = 0;
    for (int64_t row = 0; row < b.rows; dealt->blocks++)
        row = block_end(&b, row, bytes);
    LACIS_TRY(lacis_run_scratch(dealt->run, sizeof(int64_t) * (uint64_t)(dealt->blocks + 1), &dealt->cut));
    dealt->cut[0] = 0;
    for (int64_t i = 0; i < dealt->blocks; i++)
        dealt->cut[i + 1] = block_end(&b, dealt->cut[i], bytes);
    return LACIS_OK;
}
