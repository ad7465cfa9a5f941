/* SPDX-License-Identifier: Apache-2.0
 *
 * A vector and a graph against the grain of the graph's rows, by its list of entries by column (gpu_columns.c):
 * vector BY graph by pull, which is worth it where most of the vector is there, and graph BY vector by push, where
 * few of its elements are. Called by gpu_vector.c.
 */
#include "multiply/vector.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

/* --------------------------------------------------------------------------------- vector BY graph: pull */

static lacis_status send_row(lacis_against *on, lacis_mul_gpu_pull *pull)
{
    const lacis_mul_job *from = &on->work->product.job;
    const int64_t first = from->a.begin[0], last = from->a.end[0];
    const uint64_t size = lacis_vector_type_bytes(from->a.type);
    const void *column, *value = NULL, *masked = NULL;
    LACIS_TRY(lacis_send_host(on->run, on->gpu, &on->work->sent, from->a.column, sizeof(uint32_t) * (uint64_t)last,
                              &column));
    if (lacis_vector_uses(from->con_kind, false))
        LACIS_TRY(lacis_send_host(on->run, on->gpu, &on->work->sent, from->a.value, size * (uint64_t)last, &value));
    on->job.b = (lacis_mul_matrix){.rows = from->b.rows,
                                   .cols = 1,
                                   .value = value == NULL ? NULL : (const char *)value + size * (uint64_t)first,
                                   .type = from->a.type};
    pull->every = last - first == from->b.rows;
    pull->listed = column == NULL ? NULL : (const uint32_t *)column + first;
    pull->listed_count = (uint64_t)(last - first);
    if (from->mask == NULL) return LACIS_OK;
    pull->masked = true;
    pull->row_mask_count = (uint64_t)(from->mask->end[0] - from->mask->begin[0]);
    LACIS_TRY(lacis_send_host(on->run, on->gpu, &on->work->sent, from->mask->column,
                              sizeof(uint32_t) * (uint64_t)from->mask->end[0], &masked));
    pull->row_mask = masked == NULL ? NULL : (const uint32_t *)masked + from->mask->begin[0];
    return LACIS_OK;
}

/* Those that are present, of values with a byte of presence each behind them. */
static lacis_status take_present(lacis_against *on, const lacis_mul_gpu_pull *pull, const char *values,
                                 lacis_product_result *out)
{
    const lacis_product *product = &on->work->product;
    const uint64_t size = lacis_dtype_size(product->storage), count = (uint64_t)pull->count;
    const uint8_t *present = (const uint8_t *)values + size * count;
    uint64_t n = 0;
    for (uint64_t i = 0; i < count; i++)
        n += present[i];
    LACIS_TRY(lacis_vector_row(on->run, product, n, out));
    uint32_t *column = lacis_buffer_data(out->column);
    char *value = lacis_buffer_data(out->value);
    for (uint64_t i = 0, at = 0; i < count; i++) {
        if (!present[i]) continue;
        column[at] = (uint32_t)((uint64_t)pull->first + i);
        memcpy(value + size * at++, values + size * i, size);
    }
    return LACIS_OK;
}

static lacis_status fetch_present(lacis_against *on, const lacis_mul_gpu_pull *pull, uint64_t bytes,
                                  lacis_product_result *out)
{
    char *values;
    LACIS_TRY(lacis_run_alloc(on->run, bytes, &values));
    lacis_status status = lacis_gpu_download(on->run, on->gpu, pull->value, bytes, values);
    if (status == LACIS_OK) status = take_present(on, pull, values, out);
    lacis_run_free(on->run, values);
    return status;
}

/* What is present of the row, or what TOP keeps of it. */
static lacis_status fetch_pulled(lacis_against *on, const lacis_mul_gpu_pull *pull, uint64_t bytes,
                                 lacis_product_result *out)
{
    const lacis_product *product = &on->work->product;
    lacis_mul_gpu_top top = {.job = &on->job,
                             .count = (uint64_t)pull->count,
                             .first = (uint32_t)pull->first,
                             .value = pull->value,
                             .present = pull->present};
    if (lacis_vector_tops(product, top.count)) LACIS_TRY(lacis_vector_top(on->run, on->gpu, product, &top));
    if (top.out_column == NULL) return fetch_present(on, pull, bytes, out);
    lacis_status status =
        lacis_vector_fetch(on->run, on->gpu, product, top.out_column, top.out_value, top.entries, out);
    lacis_gpu_free(on->gpu, top.out_column);
    lacis_gpu_free(on->gpu, top.out_value);
    return status;
}

static lacis_status pull_columns(lacis_against *on, lacis_product_result *out)
{
    const lacis_product *product = &on->work->product;
    lacis_mul_gpu_pull pull = {.job = &on->job,
                               .entries = (uint64_t)on->graph.entries,
                               .first = product->job.t_lo,
                               .count = product->job.t_hi - product->job.t_lo,
                               .entry = on->columns.entry};
    lacis_status status = lacis_against_turn(on, &on->job.a);
    if (status == LACIS_OK) status = send_row(on, &pull);
    LACIS_TRY(lacis_vector_sent(on->run, on->gpu, status));
    const uint64_t values = lacis_dtype_size(product->storage) * (uint64_t)pull.count;
    const uint64_t bytes = values + (uint64_t)pull.count;
    pull.value = lacis_gpu_alloc(on->gpu, bytes);
    if (pull.value == NULL) return lacis_gpu_no_room(on->run, on->gpu, "the product besides its operands");
    pull.present = (uint8_t *)pull.value + values;
    lacis_mul_gpu_status done = lacis_mul_gpu_pull_run(&pull);
    status = done == LACIS_MUL_GPU_OK ? fetch_pulled(on, &pull, bytes, out)
                                      : lacis_vector_failed(on->run, on->gpu, done, pull.cuda_error);
    lacis_gpu_free(on->gpu, pull.value);
    return status;
}

lacis_status lacis_against_pull(lacis_run *run, lacis_multiply *work, lacis_product_result *out)
{
    lacis_against on;
    LACIS_TRY(lacis_against_begin(&on, run, work));
    return lacis_against_end(&on, pull_columns(&on, out));
}

/* --------------------------------------------------------------------------------- graph BY vector: push */

/* Numbers of rows that have an entry, and their values one behind the other (size 0: none). */
typedef struct listed {
    int64_t count;
    uint32_t *row;
    char *value;
} listed;

static void list_rows(const lacis_mul_matrix *m, uint64_t size, listed *out)
{
    out->count = 0;
    for (int64_t r = 0; r < m->rows; r++) {
        if (m->end[r] <= m->begin[r]) continue;
        if (size > 0)
            memcpy(out->value + size * (uint64_t)out->count, (const char *)m->value + size * (uint64_t)m->begin[r],
                   size);
        out->row[out->count++] = (uint32_t)r;
    }
}

static int64_t count_rows(const lacis_mul_matrix *m)
{
    int64_t n = 0;
    for (int64_t r = 0; r < m->rows; r++)
        n += m->end[r] > m->begin[r];
    return n;
}

/* Onto the device, in one block: values first. */
static lacis_status send_listed(lacis_against *on, const lacis_mul_matrix *m, uint64_t size, listed *on_device)
{
    listed host = {.count = count_rows(m)};
    const uint64_t values = (size * (uint64_t)host.count + 7) / 8 * 8;
    const uint64_t bytes = values + sizeof(uint32_t) * (uint64_t)host.count;
    *on_device = (listed){.count = host.count, .value = lacis_gpu_alloc(on->gpu, bytes)};
    if (on_device->value == NULL) return LACIS_LIMIT;
    on_device->row = (uint32_t *)(on_device->value + values);
    LACIS_TRY(lacis_run_alloc(on->run, bytes, &host.value));
    host.row = (uint32_t *)(host.value + values);
    list_rows(m, size, &host);
    lacis_status status = lacis_gpu_upload(on->run, on->gpu, host.value, bytes, on_device->value);
    lacis_run_free(on->run, host.value);
    return status;
}

/* Few rows of many: each with its number. */
static lacis_status fetch_rows(lacis_against *on, const lacis_mul_gpu_push *push, int64_t first,
                               lacis_product_result *out)
{
    const uint64_t n = push->entries, size = lacis_dtype_size(on->work->product.storage);
    uint32_t *row;
    LACIS_TRY(lacis_run_scratch(on->run, sizeof *row * n, &row));
    LACIS_TRY(lacis_buffer_new(on->run, size * n, &out->value));
    LACIS_TRY(lacis_buffer_new(on->run, sizeof(int64_t) * n, &out->begin));
    LACIS_TRY(lacis_buffer_new(on->run, sizeof(int64_t) * n, &out->end));
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, push->column, sizeof *row * n, row));
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, push->value, size * n, lacis_buffer_data(out->value)));
    int64_t *begins = lacis_buffer_data(out->begin), *ends = lacis_buffer_data(out->end);
    for (uint64_t i = 0; i < n; i++) {
        row[i] -= (uint32_t)first;
        begins[i] = (int64_t)i;
        ends[i] = (int64_t)i + 1;
    }
    out->rows = (int64_t)n;
    out->row = row;
    out->entries = n;
    return LACIS_OK;
}

static lacis_status scatter(lacis_against *on, int64_t first, int64_t last, const listed *vector, const listed *mask,
                            lacis_product_result *out)
{
    const lacis_mul_job *from = &on->work->product.job;
    lacis_mul_matrix mask_row = {.rows = 1, .cols = from->a.rows, .column = mask->row, .type = LACIS_MUL_I64};
    lacis_mul_gpu_push push = {.job = &on->job,
                               .end = vector->count,
                               .mask_end = mask->count,
                               .products = on->work->product.total_products,
                               .entry = on->columns.entry};
    on->job.a = (lacis_mul_matrix){
        .rows = 1,
        .cols = from->b.rows,
        .column = vector->row,
        .value = lacis_vector_uses(from->con_kind, true) && from->b.value != NULL ? vector->value : NULL,
        .type = from->b.type};
    on->job.t_lo = first;
    on->job.t_hi = last;
    if (from->mask != NULL) on->job.mask = &mask_row;
    lacis_mul_gpu_status done = lacis_mul_gpu_push_run(&push);
    if (done != LACIS_MUL_GPU_OK) return lacis_vector_failed(on->run, on->gpu, done, push.cuda_error);
    lacis_status status = fetch_rows(on, &push, first, out);
    lacis_gpu_free(on->gpu, push.column);
    lacis_gpu_free(on->gpu, push.value);
    return status;
}

static lacis_status push_columns(lacis_against *on, int64_t first, int64_t last, lacis_product_result *out)
{
    const lacis_mul_job *from = &on->work->product.job;
    const bool values = lacis_vector_uses(from->con_kind, true) && from->b.value != NULL;
    listed vector = {0}, mask = {0};
    lacis_status status = lacis_against_turn(on, &on->job.b);
    if (status == LACIS_OK)
        status = send_listed(on, &from->b, values ? lacis_vector_type_bytes(from->b.type) : 0, &vector);
    if (status == LACIS_OK && from->mask != NULL) status = send_listed(on, from->mask, 0, &mask);
    status = lacis_vector_sent(on->run, on->gpu, status);
    if (status == LACIS_OK) status = scatter(on, first, last, &vector, &mask, out);
    lacis_gpu_free(on->gpu, vector.value);
    lacis_gpu_free(on->gpu, mask.value);
    return status;
}

lacis_status lacis_against_push(lacis_run *run, lacis_multiply *work, int64_t first, int64_t last,
                                lacis_product_result *out)
{
    lacis_against on;
    LACIS_TRY(lacis_against_begin(&on, run, work));
    return lacis_against_end(&on, push_columns(&on, first, last, out));
}

#endif
