/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph's entries by column on a GPU, where a vector meets it against the grain of its rows. Making the list takes
 * several times what a product does, so it stays beside the graph's columns on the device for later statements, as
 * long as there is room. Whether it can be had, what the product costs then, and the list itself: called by
 * gpu_vector.c and gpu_against.c.
 */
#include "multiply/vector.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

/* Nanoseconds an entry to make the list, and how many statements are taken to share that. A guess: what comes later
 * is not known. */
static const double TURN_ENTRY_NS = 0.2, USES = 8;

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
static lacis_status find_columns(lacis_against *on)
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
static void keep_columns(lacis_against *on)
{
    if (!on->made) return;
    on->thing.bytes = lacis_mul_gpu_columns_bytes(on->graph.cols, (uint64_t)on->graph.entries);
    on->thing.device = on->columns.begin;
    lacis_gpu_keep_made(on->gpu, on->home, &on->thing);
}

/* The graph's columns as rows, with its values where CON wants them. */
lacis_status lacis_against_turn(lacis_against *on, lacis_mul_matrix *out)
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

lacis_status lacis_against_begin(lacis_against *on, lacis_run *run, lacis_multiply *work)
{
    *on = (lacis_against){.run = run, .work = work};
    LACIS_TRY(lacis_vector_begin(run, &work->product, &on->gpu, &on->job));
    LACIS_TRY(lacis_vector_sent(run, on->gpu, find_columns(on)));
    on->job.con_kind = swapped(on->job.con_kind);
    on->job.mask = NULL;
    return LACIS_OK;
}

lacis_status lacis_against_end(lacis_against *on, lacis_status status)
{
    keep_columns(on);
    return status;
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
