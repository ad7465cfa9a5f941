/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER a TO k: k - 1 products one after the other. Called by POWER's variant and by its cost.
 */
#include "power/power.h"

#include <string.h>

struct copy {
    const lacis_csr *start;
    lacis_product_result *to;
    size_t size; /* bytes a value; 0: none */
};

static void copy_rows(const struct copy *copy)
{
    const lacis_csr *start = copy->start;
    int64_t *begin = lacis_buffer_data(copy->to->begin), *end = lacis_buffer_data(copy->to->end), at = 0;
    uint32_t *column = lacis_buffer_data(copy->to->column);
    char *value = lacis_buffer_data(copy->to->value);
    for (int64_t r = 0; r < start->rows; r++) {
        size_t degree = (size_t)(start->end[r] - start->begin[r]);
        begin[r] = at;
        if (degree > 0) memcpy(column + at, start->column + start->begin[r], degree * sizeof(uint32_t));
        if (degree > 0 && copy->size > 0)
            memcpy(value + (size_t)at * copy->size, (const char *)start->value + (size_t)start->begin[r] * copy->size,
                   degree * copy->size);
        at += (int64_t)degree;
        end[r] = at;
    }
}

/* R = a: what TO 1 asks for. Under count every edge is one walk. */
static lacis_status edges(lacis_run *run, const lacis_power *work, const lacis_csr *start, lacis_power_rows *out)
{
    lacis_product_result *to = &out->rows;
    uint64_t entries = 0;
    for (int64_t r = 0; r < start->rows; r++)
        entries += (uint64_t)(start->end[r] - start->begin[r]);
    bool ones = start->value == NULL;
    out->storage = ones && work->dtype == LACIS_I64 ? LACIS_U8 : start->storage;
    size_t size = lacis_dtype_size(out->storage);
    *to = (lacis_product_result){.rows = start->rows, .entries = entries, .used = entries};
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)start->rows, &to->begin));
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)start->rows, &to->end));
    LACIS_TRY(lacis_buffer_new(run, sizeof(uint32_t) * entries, &to->column));
    LACIS_TRY(lacis_buffer_new(run, size * entries, &to->value));
    struct copy copy = {start, to, ones ? 0 : size};
    copy_rows(&copy);
    if (ones && size > 0) memset(lacis_buffer_data(to->value), 1, size * entries);
    return LACIS_OK;
}

/* The present R as an operand. */
static lacis_csr operand(const lacis_power *work, const lacis_csr *start, const lacis_power_rows *rows,
                         lacis_dtype dtype)
{
    lacis_csr csr = *start;
    csr.begin = lacis_buffer_data(rows->rows.begin);
    csr.end = lacis_buffer_data(rows->rows.end);
    csr.column = lacis_buffer_data(rows->rows.column);
    csr.value = lacis_buffer_data(rows->rows.value);
    csr.entries = (int64_t)rows->rows.entries;
    csr.storage = rows->storage;
    csr.dtype = dtype;
    csr.cols = work->a.cols;
    return csr;
}

/* One product; what was in *out is replaced. */
static lacis_status advance(lacis_run *run, const lacis_product_spec *spec, lacis_power_rows *out, lacis_dtype *dtype)
{
    lacis_product product = {0};
    lacis_product_result result;
    LACIS_TRY(lacis_product_prepare(run, spec, &product));
    lacis_status status = lacis_product_run(run, &product, 0, product.s.count, &result);
    if (status == LACIS_OK) {
        lacis_product_release(&out->rows);
        out->rows = result;
        out->storage = product.storage;
        out->products += product.total_products;
        *dtype = product.dtype;
    }
    lacis_product_clear(run, &product);
    return status;
}

static lacis_status multiply_on(lacis_run *run, const lacis_power *work, const lacis_csr *start,
                                lacis_power_rows *out)
{
    lacis_product_spec spec = work->spec;
    lacis_dtype dtype = LACIS_PATTERN, before;
    spec.a = *start;
    for (int64_t round = 2; round <= work->rounds; round++) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        lacis_run_advance(run, "POWER", (double)(round - 1), (double)work->rounds, "rounds");
        before = dtype;
        LACIS_TRY(advance(run, &spec, out, &dtype));
        if (out->rows.entries == 0) break;
        spec.a = operand(work, start, out, dtype);
        spec.a_slot = LACIS_PATTERN; /* as its type says */
        spec.con_typed = before == dtype;
        if (work->walks) {
            spec.form = LACIS_MUL_CON_A;
            spec.agg = LACIS_AGG_SUM;
        }
    }
    out->done = work->rounds;
    return LACIS_OK;
}

lacis_status lacis_power_rounds(lacis_run *run, const lacis_power *work, const lacis_csr *start,
                                lacis_power_rows *out)
{
    *out = (lacis_power_rows){.done = 1};
    lacis_status status = work->rounds == 1 ? edges(run, work, start, out) : multiply_on(run, work, start, out);
    if (status != LACIS_OK) lacis_product_release(&out->rows);
    return status;
}
