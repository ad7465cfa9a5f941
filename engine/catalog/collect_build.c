/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays out of collected columns. A graph's vertices are the labels that stand in src or dst, rising; a vector's
 * elements those in i; batches are core/'s. Entries of the same place are summed in the order in which they came, as
 * loaders do.
 */
#include "catalog/collect.h"

#include <string.h>

static const uint64_t SIGN = (uint64_t)1 << 63; /* makes unsigned order that of signed numbers */

/* --------------------------------------------------------------------------------------- duplicates */

static lacis_status add_bits(lacis_run *run, bool real, int64_t *to, int64_t more)
{
    if (real) {
        double a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, &more, sizeof b);
        a += b;
        memcpy(to, &a, sizeof a);
        return LACIS_OK;
    }
    if (!__builtin_add_overflow(*to, more, to)) return LACIS_OK;
    return lacis_run_fail(run, LACIS_OVERFLOW, "the sum of rows of the same place does not fit 64 bits");
}

/* Sums values of equal neighbours; *count becomes the number of different keys. values may be NULL. */
static lacis_status merge_equal(lacis_run *run, uint64_t *key, int64_t *value, bool real, int64_t *count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < *count; i++) {
        if (kept > 0 && key[kept - 1] == key[i]) {
            if (value != NULL) LACIS_TRY(add_bits(run, real, &value[kept - 1], value[i]));
            continue;
        }
        key[kept] = key[i];
        if (value != NULL) value[kept] = value[i];
        kept++;
    }
    if (kept < *count)
        lacis_run_note(run, LACIS_NOTE, "%lld duplicate rows were %s", (long long)(*count - kept),
                       value == NULL ? "dropped" : "summed into the others");
    *count = kept;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------ buffers */

static lacis_status buffer_of(lacis_run *run, const int64_t *values, int64_t count, lacis_buffer **out)
{
    LACIS_TRY(lacis_buffer_new(run, (uint64_t)count * sizeof *values, out));
    if (count > 0) memcpy(lacis_buffer_data(*out), values, (uint64_t)count * sizeof *values);
    return LACIS_OK;
}

/* Whether rising labels are first, first + 1 ... */
static bool contiguous(const int64_t *label, int64_t count)
{
    return count == 0 || (uint64_t)label[count - 1] - (uint64_t)label[0] == (uint64_t)count - 1;
}

/* ------------------------------------------------------------------------------------------- graphs */

typedef struct graph {
    lacis_run *run;
    int64_t *label; /* rising */
    int64_t labels;
    const int64_t *search; /* label, or NULL where they are contiguous */
    uint64_t *key;         /* row and column of each entry, later those of each place */
    int64_t entries;
    int64_t *value; /* NULL: pattern */
    bool real;
    lacis_csr_parts parts;
} graph;

static lacis_status find_labels(graph *self, const lacis_collected *from)
{
    int64_t count = 2 * from->rows, kept = 0;
    LACIS_TRY(lacis_run_alloc(self->run, (uint64_t)count * sizeof *self->label, &self->label));
    uint64_t *key = (uint64_t *)self->label;
    for (int64_t i = 0; i < from->rows; i++) {
        key[i] = (uint64_t)from->bits[0][i] ^ SIGN;
        key[from->rows + i] = (uint64_t)from->bits[1][i] ^ SIGN;
    }
    LACIS_TRY(lacis_radix_sort(self->run, key, NULL, count));
    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || key[i] != key[kept - 1]) key[kept++] = key[i];
    for (int64_t i = 0; i < kept; i++)
        key[i] ^= SIGN;
    if (kept > UINT32_MAX)
        return lacis_run_fail(self->run, LACIS_RANGE, "the graph has %lld vertices; %lld are possible",
                              (long long)kept, (long long)UINT32_MAX);
    self->labels = kept;
    self->search = contiguous(self->label, kept) ? NULL : self->label;
    return LACIS_OK;
}

static uint64_t index_of(const graph *self, int64_t label)
{
    return (uint64_t)lacis_label_find(self->search, self->label[0], self->labels, label);
}

static lacis_status sort_entries(graph *self, lacis_collected *from)
{
    self->entries = from->rows;
    LACIS_TRY(lacis_run_alloc(self->run, (uint64_t)from->rows * sizeof *self->key, &self->key));
    for (int64_t i = 0; i < from->rows; i++)
        self->key[i] = index_of(self, from->bits[0][i]) << 32 | index_of(self, from->bits[1][i]);
    LACIS_TRY(lacis_radix_sort(self->run, self->key, self->value, self->entries));
    return merge_equal(self->run, self->key, self->value, self->real, &self->entries);
}

static lacis_status fill_parts(graph *self)
{
    lacis_csr_parts *parts = &self->parts;
    LACIS_TRY(lacis_buffer_new(self->run, ((uint64_t)self->labels + 1) * sizeof(int64_t), &parts->begin));
    LACIS_TRY(lacis_buffer_new(self->run, (uint64_t)self->entries * sizeof(uint32_t), &parts->columns));
    int64_t *offset = lacis_buffer_data(parts->begin);
    uint32_t *column = lacis_buffer_data(parts->columns);
    int64_t row = 0;
    for (int64_t i = 0; i < self->entries; i++) {
        for (int64_t own = (int64_t)(self->key[i] >> 32); row <= own; row++)
            offset[row] = i;
        column[i] = (uint32_t)self->key[i];
    }
    for (; row <= self->labels; row++)
        offset[row] = self->entries;
    if (self->value != NULL) LACIS_TRY(buffer_of(self->run, self->value, self->entries, &parts->values));
    if (self->search != NULL) LACIS_TRY(buffer_of(self->run, self->label, self->labels, &parts->row_labels));
    parts->col_labels = parts->row_labels;
    return LACIS_OK;
}

static lacis_status build_graph(graph *self, lacis_collected *from, lacis_array **out)
{
    LACIS_TRY(find_labels(self, from));
    LACIS_TRY(sort_entries(self, from));
    LACIS_TRY(fill_parts(self));
    lacis_csr_parts *parts = &self->parts;
    lacis_dtype dtype = self->value == NULL ? LACIS_PATTERN : self->real ? LACIS_F64 : LACIS_I64;
    int64_t base = self->search == NULL && self->labels > 0 ? self->label[0] : 0;
    parts->rows = parts->cols = self->labels;
    parts->entries = self->entries;
    parts->storage = parts->dtype = dtype;
    parts->row_base = parts->col_base = base;
    return lacis_csr_new(self->run, parts, out);
}

lacis_status lacis_collected_graph(lacis_run *run, lacis_collected *from, lacis_array **out)
{
    graph self = {.run = run};
    if (from->columns == 3) {
        self.value = from->bits[2];
        self.real = from->real[2];
    }
    lacis_status status = build_graph(&self, from, out);
    lacis_buffer_release(self.parts.begin);
    lacis_buffer_release(self.parts.columns);
    lacis_buffer_release(self.parts.values);
    lacis_buffer_release(self.parts.row_labels);
    lacis_run_free(run, self.key);
    lacis_run_free(run, self.label);
    return status;
}

/* ------------------------------------------------------------------------- vectors, batches, tables */

static lacis_status add_column(lacis_run *run, lacis_array *array, const char *name, bool real, const int64_t *values,
                               int64_t count)
{
    lacis_buffer *buffer = NULL;
    LACIS_TRY(buffer_of(run, values, count, &buffer));
    lacis_status status = lacis_array_add(run, array, name, real ? LACIS_F64 : LACIS_I64, count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

/* Gives the array to *out where all went well, else lets it go. */
static lacis_status deliver(lacis_status status, lacis_array *array, lacis_array **out)
{
    if (status == LACIS_OK) {
        *out = array;
    } else {
        lacis_array_release(array);
    }
    return status;
}

lacis_status lacis_collected_vector(lacis_run *run, lacis_collected *from, lacis_array **out)
{
    uint64_t *key = (uint64_t *)from->bits[0];
    int64_t count = from->rows;
    for (int64_t i = 0; i < count; i++)
        key[i] ^= SIGN;
    LACIS_TRY(lacis_radix_sort(run, key, from->bits[1], count));
    LACIS_TRY(merge_equal(run, key, from->bits[1], from->real[1], &count));
    for (int64_t i = 0; i < count; i++)
        key[i] ^= SIGN;
    const int64_t *label = from->bits[0];
    bool plain = contiguous(label, count);
    lacis_array *array;
    LACIS_TRY(lacis_array_new(run, LACIS_VECTOR, from->real[1] ? LACIS_F64 : LACIS_I64, count, 0, &array));
    if (plain && count > 0) lacis_array_set_base(array, 0, label[0]);
    lacis_status status = add_column(run, array, "values", from->real[1], from->bits[1], count);
    if (status == LACIS_OK && !plain) status = add_column(run, array, "index", false, label, count);
    return deliver(status, array, out);
}

/* Values of several words: the words of each element behind one another. */
static lacis_status fill_words(lacis_run *run, const lacis_collected *from, const int64_t *row, int words,
                               lacis_buffer **out)
{
    LACIS_TRY(lacis_buffer_new(run, (uint64_t)from->rows * (uint64_t)words * sizeof(double), out));
    double *word = lacis_buffer_data(*out);
    for (int64_t r = 0; r < from->rows; r++) {
        for (int k = 0; k < words; k++) {
            int column = 1 + k, real = column == from->columns || from->real[column];
            int64_t bits = from->bits[column][row[r]];
            if (real)
                memcpy(&word[r * words + k], &bits, sizeof bits);
            else
                word[r * words + k] = (double)bits;
        }
    }
    return LACIS_OK;
}

static lacis_status sort_words(lacis_run *run, const lacis_collected *from, int64_t *row)
{
    uint64_t *key = (uint64_t *)from->bits[0];
    for (int64_t i = 0; i < from->rows; i++) {
        row[i] = i;
        key[i] ^= SIGN;
    }
    LACIS_TRY(lacis_radix_sort(run, key, row, from->rows));
    for (int64_t i = 0; i < from->rows; i++) {
        key[i] ^= SIGN;
        if (i > 0 && key[i] == key[i - 1])
            return lacis_run_fail(run, LACIS_TYPE,
                                  "element %lld is given twice: sum(...) ... GROUP BY i makes one of them",
                                  (long long)from->bits[0][i]);
    }
    return LACIS_OK;
}

static lacis_status build_words(lacis_run *run, const lacis_collected *from, const int64_t *row, lacis_dtype dtype,
                                lacis_array *array)
{
    lacis_buffer *buffer = NULL;
    const int64_t *label = from->bits[0];
    bool plain = contiguous(label, from->rows);
    if (plain && from->rows > 0) lacis_array_set_base(array, 0, label[0]);
    lacis_status status = fill_words(run, from, row, (int)(lacis_dtype_size(dtype) / sizeof(double)), &buffer);
    if (status == LACIS_OK) status = lacis_array_add(run, array, "values", dtype, from->rows, buffer, 0);
    lacis_buffer_release(buffer);
    if (status == LACIS_OK && !plain) status = add_column(run, array, "index", false, label, from->rows);
    return status;
}

lacis_status lacis_collected_words(lacis_run *run, const lacis_collected *from, lacis_dtype dtype, lacis_array **out)
{
    int64_t *row;
    lacis_array *array = NULL;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)from->rows * sizeof *row, &row));
    lacis_status status = sort_words(run, from, row);
    if (status == LACIS_OK) status = lacis_array_new(run, LACIS_VECTOR, dtype, from->rows, 0, &array);
    if (status == LACIS_OK) status = build_words(run, from, row, dtype, array);
    lacis_run_free(run, row);
    return deliver(status, array, out);
}

lacis_status lacis_collected_batch(lacis_run *run, const lacis_collected *from, lacis_array **out)
{
    lacis_batch_column *column;
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)from->columns * sizeof *column, &column));
    for (int i = 0; i < from->columns; i++)
        column[i] = (lacis_batch_column){from->name[i], from->real[i], from->bits[i]};
    return lacis_batch_gather(run, column, from->columns, from->rows, NULL, out);
}

lacis_status lacis_collected_table(lacis_run *run, lacis_collected *from, lacis_array **out)
{
    lacis_array *array;
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_F64, from->rows, 0, &array));
    lacis_status status = LACIS_OK;
    for (int i = 0; i < from->columns && status == LACIS_OK; i++)
        status = add_column(run, array, from->name[i], from->real[i], from->bits[i], from->rows);
    return deliver(status, array, out);
}
