/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands as matrices: a graph as it is, a vector as one row or one column. Called by the bind functions of MULTIPLY
 * and POWER.
 */
#include "multiply/product.h"

lacis_labels lacis_labels_of_rows(const lacis_csr *csr)
{
    return (lacis_labels){csr->row_label, csr->row_base, csr->rows};
}

lacis_labels lacis_labels_of_cols(const lacis_csr *csr)
{
    return (lacis_labels){csr->col_label, csr->col_base, csr->cols};
}

lacis_labels lacis_labels_from(const lacis_labels *labels, int64_t first, int64_t count)
{
    return (lacis_labels){labels->label == NULL ? NULL : labels->label + first, labels->base + first, count};
}

/* Columns 0, 1 ... count - 1 of a row, or all 0 of a column; begin and end to go with them. */
static lacis_status vector_frame(lacis_run *run, lacis_product *owner, int64_t count, bool as_row, lacis_csr *out)
{
    uint32_t *column;
    int64_t *begin, rows = as_row ? 1 : count;
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof(uint32_t) * (uint64_t)count, &column));
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof(int64_t) * (uint64_t)(rows + 1), &begin));
    for (int64_t i = 0; i < count; i++)
        column[i] = as_row ? (uint32_t)i : 0;
    for (int64_t i = 0; i < rows; i++)
        begin[i] = i;
    begin[rows] = count;
    out->column = column;
    out->begin = begin;
    out->end = begin + 1;
    return LACIS_OK;
}

static lacis_status vector_csr(lacis_run *run, lacis_product *owner, const char *verb, const char *name,
                               const lacis_array *array, int64_t offset, bool as_row, lacis_csr *out)
{
    const lacis_part *values = lacis_array_part_named(array, "values");
    const lacis_part *index = lacis_array_part_named(array, "index");
    int64_t count = index != NULL ? index->count : values != NULL ? values->count : lacis_array_extent(array, 0);
    if (count > UINT32_MAX)
        return lacis_run_fail_at(run, LACIS_RANGE, offset, NULL,
                                 "%s: the vector %s has %lld elements; at most 2^32 - 1 work", verb, name,
                                 (long long)count);
    *out = (lacis_csr){.rows = as_row ? 1 : count, .cols = as_row ? count : 1, .entries = count};
    out->value = values == NULL ? NULL : values->data;
    out->storage = values == NULL ? LACIS_PATTERN : values->dtype;
    out->dtype = lacis_array_dtype(array);
    const int64_t *label = index == NULL ? NULL : index->data;
    int64_t base = lacis_array_base(array, 0);
    if (as_row) {
        out->col_label = label;
        out->col_base = base;
    } else {
        out->row_label = label;
        out->row_base = base;
    }
    return vector_frame(run, owner, count, as_row, out);
}

lacis_status lacis_operand_csr(lacis_run *run, lacis_product *owner, const char *verb, const char *name,
                               const lacis_array *array, int64_t offset, bool as_row, lacis_csr *out)
{
    switch (lacis_array_kind(array)) {
    case LACIS_CSR:
        lacis_csr_view(array, out);
        return LACIS_OK;
    case LACIS_VECTOR:
        return vector_csr(run, owner, verb, name, array, offset, as_row, out);
    default:
        return lacis_run_fail_at(run, LACIS_TYPE, offset, "select (src, dst, value) from it with LET first",
                                 "%s works on graphs and vectors, and %s is a %s", verb, name,
                                 lacis_array_kind(array) == LACIS_INTERLEAVED ? "batch" : "table");
    }
}
