/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV of graphs on a GPU (kernels/symv/half.h): the graph goes to the device and stays there, as does the plan that
 * is made of it the first time, beside the graph's columns. With ORDER free the first product needs no plan and makes
 * none.
 */
#include "symv/device.h"
#include "symv/sparse.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

/* Of a call and its waits; of making a plan and of a product, an entry of the triangle; of the product without a
 * plan: measured on an H200. */
static const double CALL_SECONDS = 3e-5, PLAN_SECONDS = 3e-4;
static const double PLAN_NS = 0.06, HALF_NS = 0.007, FREE_NS = 0.01;

/* What a run has on the device. */
struct there {
    lacis_gpu *gpu;
    const void *begin, *end, *column, *value, *x, *y0;
    void *own_value, *own_x, *y; /* blocks of this run */
    bool planned;                /* the plan was there, which has all of the graph */
    lacis_symv_half_plan plan;
};

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(context, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(context, block);
}

/* --- to the device ------------------------------------------------------------------------------------ */

static bool is_joined(const lacis_array *array)
{
    return lacis_array_part_named(array, "offsets") != NULL;
}

/* LACIS_LIMIT: no room. */
static lacis_status upload(lacis_run *run, lacis_gpu *gpu, const void *host, uint64_t bytes, void **own)
{
    if (*own == NULL) *own = lacis_gpu_alloc(gpu, bytes);
    if (*own == NULL) return LACIS_LIMIT;
    return bytes == 0 ? LACIS_OK : lacis_gpu_upload(run, gpu, host, bytes, *own);
}

static lacis_status send_values(const lacis_symv_task *task, struct there *there)
{
    const lacis_symv_work *work = task->work;
    lacis_csr csr;
    void *values;
    if (lacis_symv_sparse_ready(work))
        return lacis_gpu_part(task->run, there->gpu, work->matrix.array, "values", &there->value);
    lacis_csr_view(work->matrix.array, &csr);
    const uint64_t bytes = lacis_dtype_size(lacis_symv_sparse_dtype(work)) * lacis_symv_sparse_places(&csr);
    LACIS_TRY(lacis_symv_sparse_values(task->run, work, &values));
    lacis_status status = upload(task->run, there->gpu, values, bytes, &there->own_value);
    lacis_run_free(task->run, values);
    there->value = there->own_value;
    return status;
}

static lacis_status send_graph(const lacis_symv_task *task, struct there *there)
{
    const lacis_array *array = task->work->matrix.array;
    lacis_run *run = task->run;
    if (is_joined(array)) {
        LACIS_TRY(lacis_gpu_part(run, there->gpu, array, "offsets", &there->begin));
        there->end = (const int64_t *)there->begin + 1;
    } else {
        LACIS_TRY(lacis_gpu_part(run, there->gpu, array, "begin", &there->begin));
        LACIS_TRY(lacis_gpu_part(run, there->gpu, array, "end", &there->end));
    }
    LACIS_TRY(lacis_gpu_part(run, there->gpu, array, "columns", &there->column));
    return send_values(task, there);
}

static lacis_status send_vectors(const lacis_symv_task *task, struct there *there)
{
    const lacis_symv_work *work = task->work;
    lacis_run *run = task->run;
    if (work->x.direct) {
        LACIS_TRY(lacis_gpu_part(run, there->gpu, work->x.array, work->x.part, &there->x));
    } else {
        LACIS_TRY(upload(run, there->gpu, task->x, task->y_bytes, &there->own_x));
        there->x = there->own_x;
    }
    there->y = lacis_gpu_alloc(there->gpu, task->y_bytes);
    if (there->y == NULL) return LACIS_LIMIT;
    if (task->y0 == NULL) return LACIS_OK;
    if (work->y.direct) return lacis_gpu_part(run, there->gpu, work->y.array, work->y.part, &there->y0);
    there->y0 = there->y;
    return upload(run, there->gpu, task->y0, task->y_bytes, &there->y);
}

/* --- plans -------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(lacis_symv_half_plan) <= sizeof((lacis_gpu_thing *)0)->note, "a plan is a thing's note");

/* What a plan is made of: where rows begin and end, their columns and values, the triangle, the type. */
static lacis_buffer *plan_key(const lacis_symv_work *work, lacis_gpu_thing *thing)
{
    const lacis_array *array = work->matrix.array;
    const bool joined = is_joined(array);
    uint64_t column_at;
    lacis_buffer *column = lacis_array_part_buffer(array, "columns", &column_at);
    *thing = (lacis_gpu_thing){.name = "symv.half"};
    lacis_buffer *begin = lacis_array_part_buffer(array, joined ? "offsets" : "begin", &thing->key[1]);
    lacis_buffer *end = joined ? begin : lacis_array_part_buffer(array, "end", &thing->key[3]);
    lacis_buffer *values = NULL;
    if (lacis_array_part_named(array, "values") != NULL)
        values = lacis_array_part_buffer(array, "values", &thing->key[7]);
    if (column == NULL || begin == NULL || end == NULL) return NULL;
    thing->key[0] = lacis_buffer_serial(begin);
    thing->key[2] = lacis_buffer_serial(end);
    thing->key[4] = column_at;
    if (values != NULL) thing->key[6] = lacis_buffer_serial(values);
    thing->key[5] = (uint64_t)work->type << 1 | (work->matrix.uplo == LACIS_SYMV_UPPER);
    return column;
}

static bool find_plan(const lacis_symv_work *work, lacis_gpu *gpu, lacis_symv_half_plan *out)
{
    lacis_gpu_thing thing;
    lacis_buffer *column = plan_key(work, &thing);
    if (column == NULL || !lacis_gpu_made(gpu, column, &thing)) return false;
    memcpy(out, thing.note, sizeof *out);
    out->block = thing.device;
    return true;
}

static void keep_plan(const lacis_symv_work *work, lacis_gpu *gpu, const lacis_symv_half_plan *plan)
{
    lacis_gpu_thing thing;
    lacis_buffer *column = plan_key(work, &thing);
    if (column == NULL) {
        lacis_gpu_free(gpu, plan->block);
        return;
    }
    thing.bytes = plan->bytes;
    thing.device = plan->block;
    memcpy(thing.note, plan, sizeof *plan);
    lacis_gpu_keep_made(gpu, column, &thing);
}

/* --- a run -------------------------------------------------------------------------------------------- */

static lacis_status said(lacis_run *run, lacis_gpu *gpu, lacis_symv_gpu_status status, int cuda_error)
{
    switch (status) {
    case LACIS_SYMV_GPU_OK:
        return LACIS_OK;
    case LACIS_SYMV_GPU_NO_MEMORY:
        return LACIS_LIMIT;
    case LACIS_SYMV_GPU_FAILED:
        return lacis_gpu_failed(run, gpu, cuda_error);
    case LACIS_SYMV_GPU_UNSUPPORTED:
        break;
    }
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's kernels do not do this product after all");
}

static void make_job(const lacis_symv_task *task, const struct there *there, lacis_symv_half_gpu *out)
{
    const lacis_symv_work *work = task->work;
    lacis_gpu_facts facts;
    lacis_csr csr;
    lacis_gpu_describe(there->gpu, &facts);
    lacis_csr_view(work->matrix.array, &csr);
    *out = (lacis_symv_half_gpu){.entries = lacis_symv_sparse_places(&csr),
                                 .joined = is_joined(work->matrix.array),
                                 .processors = facts.processors,
                                 .stream = lacis_gpu_stream(there->gpu)};
    lacis_symv_sparse_job(work, &out->half);
    out->half.begin = there->begin;
    out->half.end = there->end;
    out->half.column = there->column;
    out->half.value = there->value;
    lacis_symv_point(work, &work->piece[0], NULL, there->x, there->y0, there->y, NULL, &out->half.job);
    out->half.job.host = (lacis_symv_host){device_alloc, device_free, NULL, there->gpu};
}

static lacis_status multiply(const lacis_symv_task *task, const struct there *there)
{
    const lacis_symv_work *work = task->work;
    lacis_symv_half_gpu job;
    lacis_symv_half_plan plan = there->plan;
    int cuda_error = 0;
    make_job(task, there, &job);
    if (job.half.job.sides == 0 || job.half.job.n == 0) return LACIS_OK;
    const bool found = there->planned, make = !found && work->order != LACIS_SYMV_FREE;
    if (make) LACIS_TRY(said(task->run, there->gpu, lacis_symv_half_gpu_plan(&job, &plan, &cuda_error), cuda_error));
    const lacis_symv_gpu_status status = lacis_symv_half_gpu_run(&job, found || make ? &plan : NULL, &cuda_error);
    if (make) keep_plan(work, there->gpu, &plan);
    return said(task->run, there->gpu, status, cuda_error);
}

static lacis_status fetch(lacis_symv_task *task, struct there *there)
{
    const lacis_symv_work *work = task->work;
    if (task->y_bytes > 0) LACIS_TRY(lacis_gpu_download(task->run, there->gpu, there->y, task->y_bytes, task->y));
    if (work->scattered) return LACIS_OK;
    uint64_t offset;
    lacis_buffer *buffer = lacis_array_part_buffer(task->array, work->x.batch ? "value" : "values", &offset);
    lacis_gpu_keep(there->gpu, buffer, offset, task->y_bytes, there->y);
    there->y = NULL;
    return LACIS_OK;
}

static lacis_status compute(lacis_symv_task *task)
{
    char reason[200];
    struct there there = {.gpu = lacis_run_gpu(task->run, reason, sizeof reason)};
    if (there.gpu == NULL) return lacis_run_fail(task->run, LACIS_UNSUPPORTED, "%s", reason);
    there.planned = find_plan(task->work, there.gpu, &there.plan);
    lacis_status status = there.planned ? LACIS_OK : send_graph(task, &there);
    if (status == LACIS_OK) status = send_vectors(task, &there);
    if (status == LACIS_OK) status = multiply(task, &there);
    if (status == LACIS_OK) status = fetch(task, &there);
    lacis_gpu_free(there.gpu, there.own_value);
    lacis_gpu_free(there.gpu, there.own_x);
    lacis_gpu_free(there.gpu, there.y);
    if (status == LACIS_LIMIT) return lacis_gpu_no_room(task->run, there.gpu, "the graph, its plan and vectors");
    return status;
}

static lacis_status run_gpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return lacis_symv_by(run, call, begin, end, compute, out);
}

/* --- whether, and for how much ------------------------------------------------------------------------- */

static double vector_bytes(lacis_gpu *gpu, const lacis_symv_work *work, const lacis_symv_vectors *vectors)
{
    if (vectors->array == NULL) return 0;
    if (vectors->direct) return (double)lacis_gpu_part_missing(gpu, vectors->array, vectors->part);
    return (double)lacis_dtype_size(work->dtype) * (double)work->places;
}

/* gpu NULL: nothing is there yet. */
static double bytes_to_send(lacis_gpu *gpu, const lacis_symv_work *work)
{
    static const char *const parts[] = {"offsets", "begin", "end", "columns"};
    const lacis_array *array = work->matrix.array;
    lacis_symv_half_plan plan;
    double bytes = vector_bytes(gpu, work, &work->x);
    if (work->adds) bytes += vector_bytes(gpu, work, &work->y);
    if (gpu != NULL && find_plan(work, gpu, &plan)) return bytes; /* which has all of the graph */
    for (int i = 0; i < LACIS_COUNT(parts); i++)
        bytes += (double)lacis_gpu_part_missing(gpu, array, parts[i]);
    if (lacis_symv_sparse_ready(work)) return bytes + (double)lacis_gpu_part_missing(gpu, array, "values");
    return bytes + (double)lacis_dtype_size(lacis_symv_sparse_dtype(work)) * work->matrix.elements;
}

/* With a plan of usual size: a pattern that scatters widely takes more. */
static double bytes_there(const lacis_symv_work *work)
{
    const double entry = 16 + (double)lacis_dtype_size(work->dtype), row = 100;
    return bytes_to_send(NULL, work) + 2 * (double)lacis_dtype_size(work->dtype) * (double)work->places +
           entry * work->matrix.elements + row * (double)work->matrix.n;
}

static double copy_seconds(lacis_gpu *gpu, const lacis_profile *profile, double up, double down)
{
    const int copies = (up > 0 ? 3 : 0) + (down > 0 ? 1 : 0);
    return lacis_gpu_copy_seconds(gpu, profile, up, down) +
           copies * lacis_profile_get(profile, LACIS_GPU_COPY_FIGURE, LACIS_GPU_COPY_SECONDS);
}

static bool worth(const lacis_call *call, char *reason, size_t size)
{
    const double margin = 2;
    const lacis_symv_work *work = call->work;
    lacis_cost processor = {0};
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run);
    const lacis_profile *profile = lacis_gpu_figures(gpu, call->profile);
    if (lacis_symv_sparse_cost(work->run, call, call->profile, &processor) != LACIS_OK) return false;
    const double device = CALL_SECONDS + copy_seconds(gpu, profile, bytes_to_send(gpu, work), processor.bytes);
    return lacis_gpu_worth(call, work->run, LACIS_SYMV_GPU_LOAD_FIGURE, margin * processor.seconds, device, reason,
                           size);
}

static bool has_room(const lacis_symv_work *work, char *reason, size_t size)
{
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run);
    const double mega = 1e-6, need = bytes_there(work);
    if (gpu == NULL || need <= (double)lacis_gpu_memory_left(gpu)) return true;
    snprintf(reason, size, "graph, plan and vectors take %.4g MB of its memory, of which %.4g MB are left",
             mega * need, mega * (double)lacis_gpu_memory_left(gpu));
    return false;
}

static bool can_gpu(const lacis_call *call, char *reason, size_t size)
{
    const lacis_symv_work *work = call->work;
    lacis_symv_half half;
    if (!work->matrix.sparse) {
        snprintf(reason, size, "only for graphs");
        return false;
    }
    lacis_symv_sparse_job(work, &half);
    const char *why = lacis_symv_half_gpu_refuses(&half);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    if (!lacis_gpu_possible(work->run, reason, size) || !worth(call, reason, size)) return false;
    if (call->on == LACIS_ON_GPU && lacis_run_gpu(work->run, reason, size) == NULL) return false;
    return has_room(work, reason, size);
}

static lacis_status cost_gpu(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    const lacis_symv_work *work = call->work;
    lacis_gpu *gpu = lacis_gpu_at_hand(run);
    const lacis_profile *here = lacis_gpu_figures(gpu, profile);
    lacis_symv_half_plan plan;
    LACIS_TRY(lacis_symv_sparse_cost(run, call, profile, out));
    const double up = bytes_to_send(gpu, work), entries = work->matrix.elements;
    const bool there = gpu != NULL && find_plan(work, gpu, &plan), free = work->order == LACIS_SYMV_FREE && !there;
    double seconds = CALL_SECONDS + 1e-9 * (free ? FREE_NS : HALF_NS) * out->products;
    if (!there && !free) seconds += PLAN_SECONDS + 1e-9 * PLAN_NS * entries;
    lacis_symv_vector_memory(work, out);
    out->once = lacis_gpu_start_seconds(run, here, LACIS_SYMV_GPU_LOAD_FIGURE);
    out->kind = up > 0 ? "sent" : there || free ? "there" : "planned";
    out->seconds = out->once + seconds + copy_seconds(gpu, here, up, out->bytes);
    return LACIS_OK;
}

#else

static bool can_gpu(const lacis_call *call, char *reason, size_t size)
{
    const lacis_symv_work *work = call->work;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Neither is ever asked, since can_gpu says no. */
static lacis_status cost_gpu(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    (void)call, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

static lacis_status run_gpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)call, (void)begin, (void)end, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif

const lacis_variant lacis_symv_sparse_gpu = {
    .name = "gpu half",
    .device = LACIS_GPU,
    .summary = "one triangle of a graph read once; tiles of rows with windows on chip, by a plan that is kept",
    .can = can_gpu,
    .cost = cost_gpu,
    .run = run_gpu,
};
