/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV of graphs on a GPU (kernels/symv/half.h): the graph goes to the device and stays there, as does the plan that
 * is made of it the first time, beside the graph's columns. With ORDER free the first product needs no plan and makes
 * none.
 */
#include "symv/sparse_device.h"

#ifdef LACIS_GPU_KERNELS

/* What a run has on the device. */
struct there {
    lacis_gpu *gpu;
    const void *begin, *end, *column, *value, *x, *y0;
    void *own_value, *own_x, *y; /* blocks of this run */
    bool planned;                /* the plan was there, which has all of the graph */
    lacis_symv_half_plan plan;
};

/* --- to the device ------------------------------------------------------------------------------------ */

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
    if (lacis_symv_sparse_joined(array)) {
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

/* --- a run -------------------------------------------------------------------------------------------- */

static void make_job(const lacis_symv_task *task, const struct there *there, lacis_symv_half_gpu *out)
{
    const lacis_symv_work *work = task->work;
    lacis_gpu_facts facts;
    lacis_csr csr;
    lacis_gpu_describe(there->gpu, &facts);
    lacis_csr_view(work->matrix.array, &csr);
    *out = (lacis_symv_half_gpu){.entries = lacis_symv_sparse_places(&csr),
                                 .joined = lacis_symv_sparse_joined(work->matrix.array),
                                 .processors = facts.processors,
                                 .stream = lacis_gpu_stream(there->gpu)};
    lacis_symv_sparse_job(work, &out->half);
    out->half.begin = there->begin;
    out->half.end = there->end;
    out->half.column = there->column;
    out->half.value = there->value;
    lacis_symv_point(work, &work->piece[0], NULL, there->x, there->y0, there->y, NULL, &out->half.job);
    out->half.job.host = lacis_symv_gpu_host(there->gpu);
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
    if (make)
        LACIS_TRY(lacis_symv_gpu_said(task->run, there->gpu, lacis_symv_half_gpu_plan(&job, &plan, &cuda_error),
                                      cuda_error));
    const lacis_symv_gpu_status status = lacis_symv_half_gpu_run(&job, found || make ? &plan : NULL, &cuda_error);
    if (make) lacis_symv_keep_plan(work, there->gpu, &plan);
    return lacis_symv_gpu_said(task->run, there->gpu, status, cuda_error);
}

static lacis_status compute(lacis_symv_task *task)
{
    char reason[200];
    struct there there = {.gpu = lacis_run_gpu(task->run, reason, sizeof reason)};
    if (there.gpu == NULL) return lacis_run_fail(task->run, LACIS_UNSUPPORTED, "%s", reason);
    there.planned = lacis_symv_find_plan(task->work, there.gpu, &there.plan);
    lacis_status status = there.planned ? LACIS_OK : send_graph(task, &there);
    if (status == LACIS_OK) status = send_vectors(task, &there);
    if (status == LACIS_OK) status = multiply(task, &there);
    if (status == LACIS_OK) status = lacis_symv_gpu_fetch(task, there.gpu, &there.y);
    lacis_gpu_free(there.gpu, there.own_value);
    lacis_gpu_free(there.gpu, there.own_x);
    lacis_gpu_free(there.gpu, there.y);
    if (status == LACIS_LIMIT) return lacis_gpu_no_room(task->run, there.gpu, "the graph, its plan and vectors");
    return status;
}

#else

static const lacis_symv_compute compute = lacis_symv_no_kernels;

#endif

static lacis_status run_gpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return lacis_symv_by(run, call, begin, end, compute, out);
}

const lacis_variant lacis_symv_sparse_gpu = {
    .name = "gpu half",
    .device = LACIS_GPU,
    .summary = "one triangle of a graph read once; tiles of rows with windows on chip, by a plan that is kept",
    .can = lacis_symv_sparse_gpu_can,
    .cost = lacis_symv_sparse_gpu_cost,
    .run = run_gpu,
};
