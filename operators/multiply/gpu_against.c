/* SPDX-License-Identifier: Apache-2.0
 *
 * A vector and a graph against the grain of the graph's rows: vector BY graph by pull, which is worth it where most
 * of the vector is there, and graph BY vector by push, where few of its elements are. Both need the graph's entries
 * by column. Making that list takes several times what a product does, so it stays beside the graph's columns on the
 * device for later statements, as long as there is room. Called by gpu_vector.c.
 */
#include "multiply/vector.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

/* Nanoseconds an entry to make the list, and how many statements are taken to share that. A guess: what comes later
 * is not known. */
static const double TURN_ENTRY_NS = 0.2, USES = 8;

/* ------------------------------------------------------------------------------------ entries by column */

typedef struct against {
    lacis_run *run;
    lacis_multiply *work;
    lacis_gpu *gpu;
    lacis_mul_gpu_job job;
    lacis_csr graph;
    lacis_gpu_thing thing;
    lacis_buffer *home; /* where the list is kept */
    bool made;          /* now, and not kept yet */
    lacis_mul_gpu_columns columns;
} against;

static int graph_place(const lacis_multiply *work)
{
    return work->product.spec.shape == LACIS_PRODUCT_COLUMN ? 0 : 1;
}

static const lacis_mul_matrix *graph_of(const lacis_multiply *work)
{
    const lacis_mul_job *job = &work->product.job;
    return graph_place(work) == 0 ? &job->a : &job->b;
}

/* The buffer that the list is kept beside, and its key; NULL where the operand's graph is not what is multiplied. */
static lacis_buffer *find_home(const lacis_multiply *work, lacis_csr *csr, lacis_gpu_thing *thing)
{
    const lacis_array *array = work->sent.array[graph_place(work)];
    const lacis_mul_matrix *m = graph_of(work);
    *thing = (lacis_gpu_thing){.name = "multiply.columns"};
    if (array == NULL || lacis_array_kind(array) != LACIS_CSR) return NULL;
    lacis_csr_view(array, csr);
    bool same = m->begin == csr->begin && m->end == csr->end && m->column == csr->column && m->rows == csr->rows &&
                m->cols == csr->cols;
    if (!same || csr->entries == 0 || (uint64_t)csr->entries >= UINT32_MAX) return NULL;
    const bool joined = lacis_array_part_named(array, "offsets") != NULL;
    lacis_buffer *column = lacis_array_part_buffer(array, "columns", &thing->key[4]);
    lacis_buffer *begin = lacis_array_part_buffer(array, joined ? "offsets" : "begin", &thing->key[1]);
    lacis_buffer *end = joined ? begin : lacis_array_part_buffer(array, "end", &thing->key[3]);
    if (column == NULL || begin == NULL || end == NULL) return NULL;
    thing->key[0] = lacis_buffer_serial(begin);
    thing->key[2] = lacis_buffer_serial(end);
    return column;
}

/* The list as it was made before, or now. */
static lacis_status find_columns(against *on)
{
    on->home = find_home(on->work, &on->graph, &on->thing);
    if (on->home == NULL) return lacis_run_fail(on->run, LACIS_MISUSE, "the graph is another one now");
    if (lacis_gpu_made(on->gpu, on->home, &on->thing)) {
        lacis_mul_gpu_columns_place(on->thing.device, on->graph.cols, (uint64_t)on->graph.entries, &on->columns);
        return LACIS_OK;
    }
    lacis_mul_matrix host = *graph_of(on->work), device;
    int error = 0;
    host.value = NULL;
    LACIS_TRY(lacis_send_matrix(on->run, on->gpu, &on->work->sent, &host, &device));
    lacis_mul_gpu_status status = lacis_mul_gpu_columns_make(&device, (uint64_t)on->graph.entries, &on->job.memory,
                                                             on->job.stream, &on->columns, &error);
    if (status != LACIS_MUL_GPU_OK) return lacis_vector_failed(on->run, on->gpu, status, error);
    on->made = true;
    lacis_run_count(on->run, "GPU entries by column made", (double)on->graph.entries);
    return LACIS_OK;
}

/* Not before the run is over: what is kept may be dropped for other blocks. */
static void keep_columns(against *on)
{
    if (!on->made) return;
    on->thing.bytes = lacis_mul_gpu_columns_bytes(on->graph.cols, (uint64_t)on->graph.entries);
    on->thing.device = on->columns.begin;
    lacis_gpu_keep_made(on->gpu, on->home, &on->thing);
}

/* The graph's columns as rows, with its values where CON wants them. */
static lacis_status turn(against *on, lacis_mul_matrix *out)
{
    const lacis_mul_matrix *from = graph_of(on->work);
    const void *value = NULL;
    if (lacis_vector_uses(on->work->product.job.con_kind, graph_place(on->work) == 1))
        LACIS_TRY(lacis_send_host(on->run, on->gpu, &on->work->sent, from->value,
                                  lacis_vector_type_bytes(from->type) * lacis_send_places(from), &value));
    *out = (lacis_mul_matrix){.rows = from->cols,
                              .cols = from->rows,
                              .begin = on->columns.begin,
                              .end = on->columns.begin + 1,
                              .column = on->columns.row,
                              .value = value,
                              .type = from->type};
    return LACIS_OK;
}

/* The kernels' a is what was b. */
static lacis_mul_con swapped(lacis_mul_con con)
{
    return con == LACIS_MUL_CON_A ? LACIS_MUL_CON_B : con == LACIS_MUL_CON_B ? LACIS_MUL_CON_A : con;
}

static lacis_status begin(against *on, lacis_run *run, lacis_multiply *work)
{
    *on = (against){.run = run, .work = work};
    LACIS_TRY(lacis_vector_begin(run, &work->product, &on->gpu, &on->job));
    LACIS_TRY(lacis_vector_sent(run, on->gpu, find_columns(on)));
    on->job.con_kind = swapped(on->job.con_kind);
    on->job.mask = NULL;
    on->job.top = 0;
    return LACIS_OK;
}

static lacis_status end_with(against *on, lacis_status status)
{
    keep_columns(on);
    return status;
}

/* --------------------------------------------------------------------------------- vector BY graph: pull */

static lacis_status send_row(against *on, lacis_mul_gpu_pull *pull)
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
static lacis_status take_present(against *on, const lacis_mul_gpu_pull *pull, const char *values,
                                 lacis_product_result *out)
{
    const lacis_product *product = &on->work->product;
    const uint64_t size = lacis_dtype_size(product->storage), count = (uint64_t)pull->count;
    const uint8_t *present = (const uint8_t *)values + size * count;
    uint64_t n = 0;
    for (uint64_t i = 0; i < count; i++)
        n += present[i];
    LACIS_TRY(lacis_product_buffers(on->run, product, 0, 1, out));
    LACIS_TRY(lacis_product_charge(on->run, product, out, n));
    uint32_t *column = lacis_buffer_data(out->column);
    char *value = lacis_buffer_data(out->value);
    for (uint64_t i = 0, at = 0; i < count; i++) {
        if (!present[i]) continue;
        column[at] = (uint32_t)((uint64_t)pull->first + i);
        memcpy(value + size * at++, values + size * i, size);
    }
    *(int64_t *)lacis_buffer_data(out->begin) = 0;
    *(int64_t *)lacis_buffer_data(out->end) = (int64_t)n;
    out->entries = out->used = n;
    lacis_product_trim(product, out);
    return LACIS_OK;
}

static lacis_status fetch_present(against *on, const lacis_mul_gpu_pull *pull, uint64_t bytes,
                                  lacis_product_result *out)
{
    char *values;
    LACIS_TRY(lacis_run_alloc(on->run, bytes, &values));
    lacis_status status = lacis_gpu_download(on->run, on->gpu, pull->value, bytes, values);
    if (status == LACIS_OK) status = take_present(on, pull, values, out);
    lacis_run_free(on->run, values);
    return status;
}

static lacis_status pull_columns(against *on, lacis_product_result *out)
{
    const lacis_product *product = &on->work->product;
    lacis_mul_gpu_pull pull = {.job = &on->job,
                               .entries = (uint64_t)on->graph.entries,
                               .first = product->job.t_lo,
                               .count = product->job.t_hi - product->job.t_lo,
                               .entry = on->columns.entry};
    lacis_status status = turn(on, &on->job.a);
    if (status == LACIS_OK) status = send_row(on, &pull);
    LACIS_TRY(lacis_vector_sent(on->run, on->gpu, status));
    const uint64_t values = lacis_dtype_size(product->storage) * (uint64_t)pull.count;
    const uint64_t bytes = values + (uint64_t)pull.count;
    pull.value = lacis_gpu_alloc(on->gpu, bytes);
    if (pull.value == NULL) return lacis_gpu_no_room(on->run, on->gpu, "the product besides its operands");
    pull.present = (uint8_t *)pull.value + values;
    lacis_mul_gpu_status done = lacis_mul_gpu_pull_run(&pull);
    status = done == LACIS_MUL_GPU_OK ? fetch_present(on, &pull, bytes, out)
                                      : lacis_vector_failed(on->run, on->gpu, done, pull.cuda_error);
    lacis_gpu_free(on->gpu, pull.value);
    return status;
}

lacis_status lacis_against_pull(lacis_run *run, lacis_multiply *work, lacis_product_result *out)
{
    against on;
    LACIS_TRY(begin(&on, run, work));
    return end_with(&on, pull_columns(&on, out));
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
static lacis_status send_listed(against *on, const lacis_mul_matrix *m, uint64_t size, listed *on_device)
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
static lacis_status fetch_rows(against *on, const lacis_mul_gpu_push *push, int64_t first, lacis_product_result *out)
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

static lacis_status scatter(against *on, int64_t first, int64_t last, const listed *vector, const listed *mask,
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

static lacis_status push_columns(against *on, int64_t first, int64_t last, lacis_product_result *out)
{
    const lacis_mul_job *from = &on->work->product.job;
    const bool values = lacis_vector_uses(from->con_kind, true) && from->b.value != NULL;
    listed vector = {0}, mask = {0};
    lacis_status status = turn(on, &on->job.b);
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
    against on;
    LACIS_TRY(begin(&on, run, work));
    return end_with(&on, push_columns(&on, first, last, out));
}

/* ------------------------------------------------------------------------------------- whether, costs */

const char *lacis_against_refuses(lacis_run *run, const lacis_multiply *work)
{
    const bool push = graph_place(work) == 0;
    lacis_mul_gpu_job job;
    lacis_csr csr;
    lacis_gpu_thing thing;
    lacis_vector_job(run, &work->product, &job);
    if (find_home(work, &csr, &thing) == NULL) return "not all of the graph is multiplied, or with other numbers";
    if (!push && job.top > 0) return "not with TOP";
    job.top = 0;
    return push ? lacis_mul_gpu_push_refuses(&job) : lacis_mul_gpu_pull_refuses(&job);
}

/* Of making the list, its share. */
static double turn_seconds(const lacis_multiply *work, lacis_gpu *gpu, const lacis_profile *profile)
{
    lacis_csr csr;
    lacis_gpu_thing thing;
    lacis_buffer *home = find_home(work, &csr, &thing);
    if (home == NULL || (gpu != NULL && lacis_gpu_made(gpu, home, &thing))) return 0;
    const double bytes = (double)lacis_send_missing(gpu, &work->sent, graph_of(work));
    const double make = 1e-9 * TURN_ENTRY_NS * (double)csr.entries;
    return (make + lacis_gpu_copy_seconds(gpu, profile, bytes, 0)) / USES;
}

static double missing_bytes(const lacis_multiply *work, lacis_gpu *gpu)
{
    const lacis_mul_matrix *from = graph_of(work);
    const lacis_mul_job *job = &work->product.job;
    if (!lacis_vector_uses(job->con_kind, graph_place(work) == 1)) return 0;
    return (double)lacis_send_host_missing(gpu, &work->sent, from->value,
                                           lacis_vector_type_bytes(from->type) * lacis_send_places(from));
}

lacis_status lacis_against_cost(lacis_run *run, const lacis_multiply *work, const lacis_profile *profile,
                                lacis_cost *out)
{
    const lacis_product *product = &work->product;
    const lacis_mul_job *job = &product->job;
    const bool push = graph_place(work) == 0;
    lacis_gpu *gpu = lacis_gpu_at_hand(run);
    const double pull_ns = lacis_profile_get(profile, "multiply.gpu.vector.pull_entry_ns", 0.012);
    const double push_ns = lacis_profile_get(profile, "multiply.gpu.vector.push_product_ns", 0.016);
    const double cell_ns = 0.004, element = (double)lacis_dtype_size(product->storage);
    const double width = push ? (double)job->a.rows : (double)(job->t_hi - job->t_lo);
    const double products = (double)product->total_products, entries = products < width ? products : width;
    double ns = push ? push_ns * products + cell_ns * width + LACIS_VECTOR_PUSH_HOST_NS * entries +
                           LACIS_PULL_ROW_NS * (double)job->b.rows
                     : pull_ns * (double)lacis_send_places(graph_of(work)) + LACIS_VECTOR_PULL_HOST_NS * width;
    out->once = lacis_gpu_start_seconds(run, profile, LACIS_GPU_LOAD_FIGURE);
    out->seconds = out->once + LACIS_VECTOR_CALL_SECONDS + 1e-9 * ns + turn_seconds(work, gpu, profile) +
                   lacis_gpu_copy_seconds(gpu, profile, missing_bytes(work, gpu),
                                          push ? (element + 4) * entries : (element + 1) * width);
    return LACIS_OK;
}

#endif
