/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as arrays: a graph keeps the kernel's buffers as they are (loose rows); a vector takes its few values out
 * of them. Rows that were not selected are not there at all: labels say which ones are. Called by MULTIPLY's variant
 * and by POWER.
 */
#include "multiply/product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

lacis_buffer *lacis_labels_buffer(const lacis_array *array, const char *part)
{
    uint64_t offset = 0;
    lacis_buffer *buffer = lacis_array_part_buffer(array, part, &offset);
    return offset == 0 ? buffer : NULL;
}

static lacis_status copy_labels(lacis_run *run, const lacis_labels *labels, lacis_buffer **out)
{
    *out = NULL;
    if (labels->label == NULL) return LACIS_OK;
    size_t bytes = sizeof(int64_t) * (size_t)labels->count;
    LACIS_TRY(lacis_buffer_new(run, bytes, out));
    if (bytes > 0) memcpy(lacis_buffer_data(*out), labels->label, bytes);
    return LACIS_OK;
}

/* Ids of rows that were selected: they stand for themselves wherever the result is used, and are no count of rows. */
static lacis_status write_labels(lacis_run *run, const lacis_labels *labels, lacis_buffer **out)
{
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)labels->count, out));
    int64_t *label = lacis_buffer_data(*out);
    for (int64_t i = 0; i < labels->count; i++)
        label[i] = lacis_labels_at(labels, i);
    return LACIS_OK;
}

static lacis_status label_parts(lacis_run *run, const lacis_product *product, const lacis_labels *rows,
                                lacis_buffer *row_labels, lacis_buffer *col_labels, lacis_csr_parts *parts)
{
    parts->row_base = rows->base;
    parts->col_base = product->t.base;
    bool whole = product->all_rows && rows->count == product->s.count;
    if (rows->label != NULL && row_labels != NULL && whole) {
        parts->row_labels = lacis_buffer_retain(row_labels);
    } else if (rows->label == NULL && !product->all_rows) {
        LACIS_TRY(write_labels(run, rows, &parts->row_labels));
    } else {
        LACIS_TRY(copy_labels(run, rows, &parts->row_labels));
    }
    if (product->t.label != NULL && col_labels != NULL) {
        parts->col_labels = lacis_buffer_retain(col_labels);
        return LACIS_OK;
    }
    return copy_labels(run, &product->t, &parts->col_labels);
}

static lacis_status graph(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                          const lacis_product_result *result, lacis_buffer *row_labels, lacis_buffer *col_labels,
                          lacis_array **out)
{
    lacis_labels rows = lacis_labels_from(&product->s, begin, end - begin);
    lacis_csr_parts parts = {.rows = end - begin,
                             .cols = product->t.count,
                             .entries = (int64_t)result->entries,
                             .begin = result->begin,
                             .end = result->end,
                             .columns = result->column,
                             .values = result->value,
                             .storage = product->storage,
                             .dtype = product->dtype};
    lacis_status status = label_parts(run, product, &rows, row_labels, col_labels, &parts);
    if (status == LACIS_OK) status = lacis_csr_new(run, &parts, out);
    lacis_buffer_release(parts.row_labels);
    lacis_buffer_release(parts.col_labels);
    return status;
}

/* --------------------------------------------------------------------------------------------- vectors */

/* Values on their way into a vector. */
struct collected {
    const lacis_product *product;
    lacis_labels labels; /* of what the vector runs over */
    int64_t count;
    lacis_buffer *index, *value;
};

static void collect(struct collected *to, int64_t label, const lacis_product_result *result, int64_t place)
{
    size_t size = lacis_dtype_size(to->product->storage);
    ((int64_t *)lacis_buffer_data(to->index))[to->count] = label;
    memcpy((char *)lacis_buffer_data(to->value) + (size_t)to->count * size,
           (const char *)lacis_buffer_data(result->value) + (size_t)place * size, size);
    to->count++;
}

static void collect_column(struct collected *to, const lacis_product_result *result)
{
    const int64_t *begin = lacis_buffer_data(result->begin), *end = lacis_buffer_data(result->end);
    for (int64_t r = 0; r < result->rows; r++)
        if (end[r] > begin[r])
            collect(to, lacis_labels_at(&to->labels, result->row == NULL ? r : result->row[r]), result, begin[r]);
}

static lacis_status wanted(const lacis_product *product, int64_t label, void *workspace, bool *yes)
{
    *yes = true;
    if (product->t_list != NULL) *yes = lacis_label_find(product->t_list, 0, product->t_count, label) >= 0;
    if (!*yes || product->t_where == NULL) return LACIS_OK;
    lacis_dtype type = lacis_expr_dtype(product->spec.where);
    lacis_strip slot = {&label, true};
    double answer = 0; /* eight bytes for whatever type */
    if (!lacis_program_run(product->t_where, 1, &slot, workspace, &answer)) return LACIS_OVERFLOW;
    *yes = lacis_value_double(&answer, type, 0) != 0;
    return LACIS_OK;
}

static lacis_status collect_row(lacis_run *run, struct collected *to, const lacis_product_result *result)
{
    const lacis_product *product = to->product;
    const int64_t *begin = lacis_buffer_data(result->begin), *end = lacis_buffer_data(result->end);
    const uint32_t *column = lacis_buffer_data(result->column);
    void *workspace = NULL;
    if (product->t_where != NULL)
        LACIS_TRY(lacis_run_alloc(run, lacis_program_workspace(product->t_where), &workspace));
    lacis_status status = LACIS_OK;
    for (int64_t i = begin[0]; status == LACIS_OK && i < end[0]; i++) {
        int64_t label = lacis_labels_at(&to->labels, column[i]);
        bool yes;
        status = wanted(product, label, workspace, &yes);
        if (status == LACIS_OK && yes) collect(to, label, result, i);
    }
    lacis_run_free(run, workspace);
    if (status == LACIS_OVERFLOW)
        return lacis_run_fail(run, LACIS_OVERFLOW, "integer overflow or division by zero in WHERE");
    return status;
}

/* ------------------------------------------------------------------------- TOP of a filtered vector */

struct ranked {
    int64_t place, integer;
    double real; /* NaN counts as the least */
};

/* The greater value first; of equal ones the smaller label, which is the smaller place. */
static int by_rank(const void *x, const void *y)
{
    const struct ranked *left = x, *right = y;
    bool left_nan = isnan(left->real), right_nan = isnan(right->real);
    if (left_nan != right_nan) return left_nan ? 1 : -1;
    if (!left_nan && left->real != right->real) return left->real > right->real ? -1 : 1;
    if (left->integer != right->integer) return left->integer > right->integer ? -1 : 1;
    return left->place < right->place ? -1 : 1;
}

static int by_place(const void *x, const void *y)
{
    const struct ranked *left = x, *right = y;
    return left->place < right->place ? -1 : left->place > right->place;
}

static struct ranked rank_of(const struct collected *from, int64_t place)
{
    const void *value = lacis_buffer_data(from->value);
    lacis_dtype type = from->product->storage;
    if (type == LACIS_F32 || type == LACIS_F64)
        return (struct ranked){place, 0, lacis_value_double(value, type, place)};
    return (struct ranked){place, lacis_value_int64(value, type, place), 0};
}

/* Keeps the t_top greatest values, in the order of their labels. */
static lacis_status keep_top(lacis_run *run, struct collected *to)
{
    int64_t top = to->product->t_top;
    if (top == 0 || to->count <= top) return LACIS_OK;
    struct ranked *rank;
    LACIS_TRY(lacis_run_alloc(run, sizeof *rank * (uint64_t)to->count, &rank));
    for (int64_t i = 0; i < to->count; i++)
        rank[i] = rank_of(to, i);
    qsort(rank, (size_t)to->count, sizeof *rank, by_rank);
    qsort(rank, (size_t)top, sizeof *rank, by_place);
    size_t size = lacis_dtype_size(to->product->storage);
    int64_t *index = lacis_buffer_data(to->index);
    char *value = lacis_buffer_data(to->value);
    for (int64_t i = 0; i < top; i++) {
        index[i] = index[rank[i].place];
        memmove(value + (size_t)i * size, value + (size_t)rank[i].place * size, size);
    }
    to->count = top;
    lacis_run_free(run, rank);
    return LACIS_OK;
}

static lacis_status finish_vector(lacis_run *run, const struct collected *from, lacis_array **out)
{
    const lacis_product *product = from->product;
    bool row = product->spec.shape == LACIS_PRODUCT_ROW;
    bool dense = from->labels.label == NULL && from->count == from->labels.count;
    int64_t extent = dense ? from->count : row ? product->t.count : product->s.count;
    lacis_array *array;
    LACIS_TRY(lacis_array_new(run, LACIS_VECTOR, product->dtype, extent, 0, &array));
    lacis_array_set_base(array, 0, from->labels.base);
    lacis_status status = lacis_array_add(run, array, "values", product->storage, from->count, from->value, 0);
    if (status == LACIS_OK && !dense)
        status = lacis_array_add(run, array, "index", LACIS_I64, from->count, from->index, 0);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}

static lacis_status vector(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                           const lacis_product_result *result, lacis_array **out)
{
    bool row = product->spec.shape == LACIS_PRODUCT_ROW;
    struct collected to = {.product = product};
    to.labels = row ? product->t : lacis_labels_from(&product->s, begin, end - begin);
    lacis_status status = lacis_buffer_new(run, sizeof(int64_t) * result->entries, &to.index);
    if (status == LACIS_OK)
        status = lacis_buffer_new(run, lacis_dtype_size(product->storage) * result->entries, &to.value);
    if (status == LACIS_OK && row) status = collect_row(run, &to, result);
    if (status == LACIS_OK && row) status = keep_top(run, &to);
    if (status == LACIS_OK && !row) collect_column(&to, result);
    if (status == LACIS_OK) status = finish_vector(run, &to, out);
    lacis_buffer_release(to.index);
    lacis_buffer_release(to.value);
    return status;
}

lacis_status lacis_product_array(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                                 const lacis_product_result *result, lacis_buffer *row_labels,
                                 lacis_buffer *col_labels, lacis_array **out)
{
    if (product->spec.shape == LACIS_PRODUCT_MATRIX)
        return graph(run, product, begin, end, result, row_labels, col_labels, out);
    return vector(run, product, begin, end, result, out);
}
