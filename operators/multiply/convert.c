/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of operands in the type that a job works in, and B cut down to what a small job reaches, so that a query for
 * one source never reads all of B. Called by lacis_product_prepare.
 */
#include "multiply/product.h"

#include <stdlib.h>
#include <string.h>

bool lacis_product_small(const lacis_product *product)
{
    const uint64_t always = 4096; /* entries that may be touched without a thought */
    uint64_t entries = (uint64_t)product->b.entries;
    return entries > always && product->total_products + product->total_degree < entries / 4;
}

struct conversion {
    const lacis_csr *csr;
    lacis_dtype type;
    void *out;
    int64_t rows_a_task;
};

/* One segment a row, or one for all where rows follow each other. */
static lacis_status convert_rows(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct conversion *c = context;
    const lacis_csr *csr = c->csr;
    int64_t first = task * c->rows_a_task, last = first + c->rows_a_task;
    size_t size = lacis_dtype_size(c->type);
    if (last > csr->rows) last = csr->rows;
    bool together = csr->end == csr->begin + 1;
    for (int64_t r = first; r < last; r++) {
        int64_t begin = csr->begin[r], end = csr->end[together ? last - 1 : r];
        if (end > begin)
            lacis_values_convert(csr->value, csr->storage, begin, end - begin, (char *)c->out + (size_t)begin * size,
                                 c->type);
        if (together) break;
    }
    return LACIS_OK;
}

/* One past the last place that a row uses. */
static int64_t places(const lacis_csr *csr)
{
    int64_t most = 0;
    for (int64_t r = 0; r < csr->rows; r++)
        if (csr->end[r] > most) most = csr->end[r];
    return most;
}

lacis_status lacis_product_values(lacis_run *run, lacis_product *product, const lacis_csr *csr, lacis_dtype type,
                                  lacis_mul_matrix *out)
{
    out->type = lacis_mul_type_of(type);
    out->value = csr->value;
    if (csr->value == NULL || csr->storage == type) return LACIS_OK;
    struct conversion c = {.csr = csr, .type = type};
    LACIS_TRY(lacis_product_alloc(run, product, lacis_dtype_size(type) * (uint64_t)places(csr), &c.out));
    out->value = c.out;
    c.rows_a_task = csr->entries > 65536 ? 1 + csr->rows / 64 : csr->rows + 1;
    int64_t tasks = (csr->rows + c.rows_a_task - 1) / c.rows_a_task;
    return lacis_run_parallel(run, tasks, convert_rows, &c);
}

static int by_number(const void *x, const void *y)
{
    uint32_t left = *(const uint32_t *)x, right = *(const uint32_t *)y;
    return (left > right) - (left < right);
}

/* The distinct columns of A's selected rows, rising. */
static lacis_status reached_rows(lacis_run *run, lacis_product *product, uint32_t **out, int64_t *count)
{
    const lacis_csr *a = &product->a;
    int64_t n = 0, kept = 0;
    uint32_t *list;
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(uint32_t) * product->total_degree, &list));
    for (int64_t r = 0; r < a->rows; r++) {
        int64_t degree = a->end[r] - a->begin[r];
        memcpy(list + n, a->column + a->begin[r], sizeof(uint32_t) * (size_t)degree);
        n += degree;
    }
    if (a->rows > 1) qsort(list, (size_t)n, sizeof *list, by_number);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || list[i] != list[kept - 1]) list[kept++] = list[i];
    *out = list;
    *count = kept;
    return LACIS_OK;
}

lacis_status lacis_product_gather(lacis_run *run, lacis_product *product)
{
    lacis_csr *b = &product->b;
    uint32_t *list;
    int64_t count, *block;
    LACIS_TRY(reached_rows(run, product, &list, &count));
    LACIS_TRY(lacis_product_alloc(run, product, 4 * sizeof(int64_t) * (uint64_t)count, &block));
    int64_t *begin = block, *end = block + count, *label = block + 2 * count, *number = block + 3 * count;
    for (int64_t i = 0; i < count; i++) {
        begin[i] = b->begin[list[i]];
        end[i] = b->end[list[i]];
        label[i] = lacis_labels_at(&product->c, list[i]);
        number[i] = list[i];
    }
    b->begin = begin;
    b->end = end;
    b->rows = count;
    product->c = (lacis_labels){label, 0, count};
    /* A's columns are numbers of B's rows: rename them to places in the list of reached ones. */
    lacis_labels from = {NULL, 0, b->rows}, to = {number, 0, count};
    from.count = INT64_MAX - count; /* never walked: entries are few */
    LACIS_TRY(lacis_csr_compact(run, product, &product->a, &from, &to));
    return lacis_csr_compact(run, product, b, NULL, NULL);
}
