/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels of operands brought together: A's columns onto B's rows, a mask onto A's rows and B's columns. Where both
 * count the same way nothing is copied; otherwise the selected rows are copied with their columns renamed. Called by
 * lacis_product_prepare.
 */
#include "multiply/product.h"

#include <inttypes.h>
#include <string.h>

static const uint32_t NOWHERE = UINT32_MAX; /* a column that the other side lacks */

/* Whether equal indices mean equal labels, found without reading the labels. */
static bool plainly_same(const lacis_labels *x, const lacis_labels *y)
{
    if (x->label != y->label || x->count != y->count) return false;
    return x->label != NULL || x->base == y->base;
}

static bool same_content(const lacis_labels *x, const lacis_labels *y)
{
    if (x->count != y->count || (x->label == NULL) != (y->label == NULL)) return false;
    if (x->label == NULL) return x->base == y->base;
    return memcmp(x->label, y->label, sizeof(int64_t) * (size_t)x->count) == 0;
}

/* Whether rows and columns can be ids of the same vertices: a matrix has no labels, and says how many it has. */
static bool square(const lacis_csr *csr)
{
    lacis_labels rows = lacis_labels_of_rows(csr), cols = lacis_labels_of_cols(csr);
    if (rows.label != NULL || cols.label != NULL || rows.count == 0) return true;
    return rows.count == cols.count && rows.base == cols.base;
}

/* Dimensions that count from the same number to different ends. Of vertices that only says that one graph has more of
 * them; where a matrix that is not square takes part, its shape is wrong. */
static bool clash(const lacis_labels *x, const lacis_labels *y)
{
    bool counted = x->label == NULL && y->label == NULL && x->count > 0 && y->count > 0;
    return counted && x->base == y->base && x->count != y->count;
}

/* A vector may be shorter than the matrix that it meets, since it need not have all elements. */
static bool wrong_shape(const lacis_product *product, const lacis_labels *cols)
{
    const lacis_product_spec *spec = &product->spec;
    if (!clash(cols, &product->c)) return false;
    switch (spec->shape) {
    case LACIS_PRODUCT_ROW:
        return !square(&spec->b) && cols->count > product->c.count;
    case LACIS_PRODUCT_COLUMN:
        return !square(&spec->a) && product->c.count > cols->count;
    default:
        return !square(&spec->a) || !square(&spec->b);
    }
}

/* A matrix that counts from 1 and a vector of the same length that counts from 0 (or the reverse) are rather one
 * above the other than one beside it. */
static void warn_of_bases(lacis_run *run, const lacis_product *product, const lacis_labels *cols)
{
    const lacis_labels *rows = &product->c;
    const lacis_restriction *r = product->spec.restriction;
    bool asked = r == NULL || r->lo <= r->hi; /* describing a view asks for nothing */
    bool alike = cols->label == NULL && rows->label == NULL && cols->count == rows->count && cols->count > 1;
    if (product->spec.shape == LACIS_PRODUCT_MATRIX || !asked || !alike || cols->base == rows->base) return;
    lacis_run_note(
        run, LACIS_WARNING,
        "%s: a's columns count from %" PRId64 ", b's rows from %" PRId64
        "; they are matched by id, so the outermost meet nothing (LOAD ... WITH (base = 0) counts one of them anew)",
        product->spec.verb, cols->base, rows->base);
}

static int64_t degree_sum(const lacis_csr *csr)
{
    int64_t sum = 0;
    for (int64_t r = 0; r < csr->rows; r++)
        sum += csr->end[r] - csr->begin[r];
    return sum;
}

/* Renames columns one by one (map NULL), or through a table made once. */
struct rename {
    const lacis_csr *from_csr;
    const lacis_labels *from, *to; /* to NULL: names stay */
    const uint32_t *map;
    int64_t *begin, *end;
    uint32_t *column;
    char *value;
    size_t size; /* bytes a value */
    int64_t rows_a_task;
};

static uint32_t renamed(const struct rename *rename, uint32_t column)
{
    if (rename->to == NULL) return column;
    if (rename->map != NULL) return rename->map[column];
    const lacis_labels *to = rename->to;
    int64_t found = lacis_label_find(to->label, to->base, to->count, lacis_labels_at(rename->from, column));
    return found < 0 ? NOWHERE : (uint32_t)found;
}

static lacis_status copy_rows(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct rename *rename = context;
    const lacis_csr *csr = rename->from_csr;
    int64_t first = task * rename->rows_a_task, last = first + rename->rows_a_task;
    if (last > csr->rows) last = csr->rows;
    for (int64_t r = first; r < last; r++) {
        int64_t at = rename->begin[r];
        for (int64_t e = csr->begin[r]; e < csr->end[r]; e++) {
            uint32_t column = renamed(rename, csr->column[e]);
            if (column == NOWHERE) continue;
            rename->column[at] = column;
            if (rename->size > 0)
                memcpy(rename->value + (size_t)at * rename->size, (const char *)csr->value + (size_t)e * rename->size,
                       rename->size);
            at++;
        }
        rename->end[r] = at;
    }
    return LACIS_OK;
}

/* map[i] := index in `to` of label i of `from`, by walking both. */
static void fill_map(const lacis_labels *from, const lacis_labels *to, uint32_t *map)
{
    int64_t j = 0;
    for (int64_t i = 0; i < from->count; i++) {
        int64_t label = lacis_labels_at(from, i);
        while (j < to->count && lacis_labels_at(to, j) < label)
            j++;
        map[i] = j < to->count && lacis_labels_at(to, j) == label ? (uint32_t)j : NOWHERE;
    }
}

static lacis_status make_map(lacis_run *run, lacis_product *product, int64_t entries, struct rename *rename)
{
    const int64_t search = 16; /* one binary search costs as much as so many steps of a walk */
    if (rename->to == NULL || entries < rename->from->count / search + rename->to->count / search) return LACIS_OK;
    uint32_t *map;
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(uint32_t) * (uint64_t)rename->from->count, &map));
    fill_map(rename->from, rename->to, map);
    rename->map = map;
    return LACIS_OK;
}

lacis_status lacis_csr_compact(lacis_run *run, lacis_product *product, lacis_csr *csr, const lacis_labels *from,
                               const lacis_labels *to)
{
    struct rename rename = {.from_csr = csr, .from = from, .to = to};
    uint64_t rows = (uint64_t)csr->rows, entries = (uint64_t)degree_sum(csr);
    rename.size = csr->value == NULL ? 0 : lacis_dtype_size(csr->storage);
    LACIS_TRY(make_map(run, product, (int64_t)entries, &rename));
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(int64_t) * rows, &rename.begin));
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(int64_t) * rows, &rename.end));
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(uint32_t) * entries, &rename.column));
    if (rename.size > 0) LACIS_TRY(lacis_product_alloc(run, product, rename.size * entries, &rename.value));
    int64_t at = 0;
    for (int64_t r = 0; r < csr->rows; r++) {
        rename.begin[r] = at;
        at += csr->end[r] - csr->begin[r];
    }
    rename.rows_a_task = entries > 65536 ? 1 + csr->rows / 64 : csr->rows + 1;
    int64_t tasks = (csr->rows + rename.rows_a_task - 1) / rename.rows_a_task;
    LACIS_TRY(lacis_run_parallel(run, tasks, copy_rows, &rename));
    csr->begin = rename.begin;
    csr->end = rename.end;
    csr->column = rename.column;
    csr->value = rename.size > 0 ? rename.value : NULL;
    csr->entries = degree_sum(csr);
    return LACIS_OK;
}

static lacis_status clash_error(lacis_run *run, const lacis_product *product, const char *what, int64_t offset,
                                const lacis_labels *x, const char *other, const lacis_labels *y)
{
    return lacis_run_fail_at(run, LACIS_TYPE, offset, NULL,
                             "%s: %s (%" PRId64 ", counted from %" PRId64 ") do not match %s (%" PRId64
                             ", counted from %" PRId64 ")",
                             product->spec.verb, what, x->count, x->base, other, y->count, y->base);
}

static lacis_status shape_error(lacis_run *run, const lacis_product *product)
{
    const lacis_csr *a = &product->spec.a, *b = &product->spec.b;
    return lacis_run_fail_at(run, LACIS_TYPE, product->spec.b_offset, NULL,
                             "%s: shapes do not match: a is %" PRId64 " x %" PRId64 " and b is %" PRId64 " x %" PRId64
                             "; a needs as many columns as b has rows",
                             product->spec.verb, a->rows, a->cols, b->rows, b->cols);
}

/* graph BY vector: the vector laid out over all of A's columns, so that A stays as it is. */
static lacis_status spread_vector(lacis_run *run, lacis_product *product, const lacis_labels *to)
{
    lacis_csr *b = &product->b;
    int64_t *begin, *end;
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(int64_t) * (uint64_t)to->count, &begin));
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(int64_t) * (uint64_t)to->count, &end));
    int64_t row = 0;
    for (int64_t i = 0; i < to->count; i++) {
        int64_t label = lacis_labels_at(to, i);
        while (row < b->rows && lacis_labels_at(&product->c, row) < label)
            row++;
        bool there = row < b->rows && lacis_labels_at(&product->c, row) == label;
        begin[i] = there ? b->begin[row] : 0;
        end[i] = there ? b->end[row] : 0;
    }
    b->begin = begin;
    b->end = end;
    b->rows = to->count;
    product->c = *to;
    product->alignment = "the vector spread over a's columns by label";
    return LACIS_OK;
}

lacis_status lacis_product_align(lacis_run *run, lacis_product *product)
{
    lacis_labels from = lacis_labels_of_cols(&product->spec.a);
    product->alignment = "a's columns are b's rows";
    if (wrong_shape(product, &from)) return shape_error(run, product);
    warn_of_bases(run, product, &from);
    if (plainly_same(&from, &product->c)) return LACIS_OK;
    bool few = degree_sum(&product->a) < from.count / 16;
    if (!few && same_content(&from, &product->c)) return LACIS_OK;
    if (!few && product->spec.shape == LACIS_PRODUCT_COLUMN) return spread_vector(run, product, &from);
    product->alignment = "a's columns joined to b's rows by label";
    return lacis_csr_compact(run, product, &product->a, &from, &product->c);
}

/* ---------------------------------------------------------------------------------------------- mask */

/* The mask's rows in the order of A's selected ones; rows that it lacks are empty. */
static lacis_status mask_rows(lacis_run *run, lacis_product *product, lacis_csr *mask)
{
    lacis_labels from = lacis_labels_of_rows(mask);
    const lacis_labels *to = &product->s;
    if (plainly_same(&from, to)) return LACIS_OK;
    int64_t *begin, *end;
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(int64_t) * (uint64_t)to->count, &begin));
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(int64_t) * (uint64_t)to->count, &end));
    for (int64_t r = 0; r < to->count; r++) {
        int64_t at = lacis_label_find(from.label, from.base, from.count, lacis_labels_at(to, r));
        begin[r] = at < 0 ? 0 : mask->begin[at];
        end[r] = at < 0 ? 0 : mask->end[at];
    }
    mask->begin = begin;
    mask->end = end;
    mask->rows = to->count;
    return LACIS_OK;
}

static lacis_status mask_cols(lacis_run *run, lacis_product *product, lacis_csr *mask)
{
    lacis_labels from = lacis_labels_of_cols(mask);
    if (plainly_same(&from, &product->t)) return LACIS_OK;
    if (degree_sum(mask) >= from.count / 16 && same_content(&from, &product->t)) return LACIS_OK;
    return lacis_csr_compact(run, product, mask, &from, &product->t);
}

static lacis_status check_mask(lacis_run *run, const lacis_product *product)
{
    const lacis_product_spec *spec = &product->spec;
    lacis_labels mask_row = lacis_labels_of_rows(&spec->mask), mask_col = lacis_labels_of_cols(&spec->mask);
    lacis_labels row = lacis_labels_of_rows(&spec->a);
    bool vertices = square(&spec->mask) && square(&spec->a) && square(&spec->b);
    if (vertices || spec->shape != LACIS_PRODUCT_MATRIX) return LACIS_OK;
    if (clash(&mask_row, &row))
        return clash_error(run, product, "the mask's rows", spec->mask_offset, &mask_row, "those of a", &row);
    if (clash(&mask_col, &product->t))
        return clash_error(run, product, "the mask's columns", spec->mask_offset, &mask_col, "those of b",
                           &product->t);
    return LACIS_OK;
}

lacis_status lacis_product_mask(lacis_run *run, lacis_product *product)
{
    if (!product->spec.has_mask) return LACIS_OK;
    LACIS_TRY(check_mask(run, product));
    lacis_csr mask = product->spec.mask;
    mask.value = NULL; /* only where entries are matters */
    mask.storage = LACIS_PATTERN;
    LACIS_TRY(mask_rows(run, product, &mask));
    LACIS_TRY(mask_cols(run, product, &mask));
    product->mask = (lacis_mul_matrix){.rows = product->s.count,
                                       .cols = product->t.count,
                                       .begin = mask.begin,
                                       .end = mask.end,
                                       .column = mask.column,
                                       .type = LACIS_MUL_I64};
    product->job.mask = &product->mask;
    product->job.mask_not = product->spec.mask_not;
    return LACIS_OK;
}
