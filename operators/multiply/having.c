/* SPDX-License-Identifier: Apache-2.0
 *
 * HAVING on a vector that a GPU gave, on the host: the vector is there anyway, and short beside the graph. Called by
 * MULTIPLY's variants "gpu pull" and "gpu push".
 */
#include "multiply/product.h"

#include <string.h>

/* A strip on its way: which elements (rows of a, or columns), and where they lie in the result. */
struct sieve {
    lacis_run *run;
    const lacis_product *product;
    lacis_strips strips;
    lacis_product_result *result;
    char *workspace, *value;
    size_t size; /* bytes a value */
    int n;
    uint32_t index[LACIS_MUL_STRIP];
    int64_t place[LACIS_MUL_STRIP], kept; /* kept: of a row, so far */
};

/* Of a row they move together; of a column each is a row of its own. */
static void take(struct sieve *s, const uint8_t *keep)
{
    const bool row = s->product->spec.shape == LACIS_PRODUCT_ROW;
    int64_t *begin = lacis_buffer_data(s->result->begin), *end = lacis_buffer_data(s->result->end);
    for (int i = 0; i < s->n; i++) {
        s->result->entries -= !keep[i];
        if (!row && !keep[i]) end[s->place[i]] = begin[s->place[i]];
        if (!row || !keep[i]) continue;
        ((uint32_t *)lacis_buffer_data(s->result->column))[s->kept] = s->index[i];
        memcpy((char *)lacis_buffer_data(s->result->value) + s->size * (size_t)s->kept++,
               s->value + s->size * (size_t)i, s->size);
    }
    s->n = 0;
}

static lacis_status flush(struct sieve *s)
{
    uint8_t keep[LACIS_MUL_STRIP];
    if (s->n == 0) return LACIS_OK;
    if (!s->product->job.having(&s->strips, s->workspace, s->n, 0, s->index, s->value, keep))
        return lacis_product_fail(s->run, s->product, LACIS_MUL_OVERFLOW);
    take(s, keep);
    return LACIS_OK;
}

static lacis_status add(struct sieve *s, uint32_t index, int64_t place, int64_t at)
{
    memcpy(s->value + s->size * (size_t)s->n,
           (const char *)lacis_buffer_data(s->result->value) + s->size * (size_t)at, s->size);
    s->index[s->n] = index;
    s->place[s->n++] = place;
    return s->n == LACIS_MUL_STRIP ? flush(s) : LACIS_OK;
}

static lacis_status sift_row(struct sieve *s)
{
    int64_t *begin = lacis_buffer_data(s->result->begin), *end = lacis_buffer_data(s->result->end);
    const uint32_t *column = lacis_buffer_data(s->result->column);
    s->kept = begin[0];
    for (int64_t i = begin[0]; i < end[0]; i++)
        LACIS_TRY(add(s, column[i], 0, i));
    LACIS_TRY(flush(s));
    end[0] = s->kept;
    return LACIS_OK;
}

static lacis_status sift_column(struct sieve *s, int64_t first)
{
    const int64_t *begin = lacis_buffer_data(s->result->begin), *end = lacis_buffer_data(s->result->end);
    const uint32_t *row = s->result->row;
    for (int64_t r = 0; r < s->result->rows; r++)
        if (end[r] > begin[r]) LACIS_TRY(add(s, (uint32_t)(first + (row == NULL ? r : row[r])), r, begin[r]));
    return flush(s);
}

lacis_status lacis_product_sift(lacis_run *run, const lacis_product *product, int64_t first,
                                lacis_product_result *result)
{
    struct sieve *s;
    if (product->job.having == NULL) return LACIS_OK;
    const bool row = product->spec.shape == LACIS_PRODUCT_ROW;
    const size_t size = lacis_dtype_size(product->storage);
    const uint64_t work = (product->job.workspace_bytes + 63) / 64 * 64;
    LACIS_TRY(lacis_run_alloc(run, sizeof *s, &s));
    *s = (struct sieve){.run = run, .product = product, .strips = product->strips, .result = result, .size = size};
    if (!row) { /* a strip has many rows and one column: its rows stand where a row's columns would */
        s->strips.t = product->s;
        s->strips.vector_row = true;
        s->strips.vector_column = false;
    }
    lacis_status status = lacis_run_alloc(run, work + size * LACIS_MUL_STRIP, &s->workspace);
    if (status == LACIS_OK) {
        s->value = s->workspace + work;
        status = row ? sift_row(s) : sift_column(s, first);
        lacis_run_free(run, s->workspace);
    }
    lacis_run_free(run, s);
    return status;
}
