/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's runs: memory for the result and operands as kernels want them, for all variants; and the one for the CPU.
 * Called by the engine.
 */
#include "symv/sparse.h"

#include <string.h>

static void *take(void *context, uint64_t bytes)
{
    return lacis_run_alloc_quiet(context, bytes);
}

static void give(void *context, void *block)
{
    lacis_run_free(context, block);
}

static bool stopped(void *context)
{
    return lacis_run_cancelled(context);
}

static void told(void *context, double done, double all)
{
    lacis_run_advance(context, "SYMV", done, all, "products");
}

lacis_symv_host lacis_symv_host_of(lacis_run *run)
{
    return (lacis_symv_host){.alloc = take, .free = give, .cancelled = stopped, .told = told, .context = run};
}

lacis_status lacis_symv_said(lacis_run *run, lacis_symv_status status, uint64_t bytes)
{
    switch (status) {
    case LACIS_SYMV_OK:
        return LACIS_OK;
    case LACIS_SYMV_CANCELLED:
        return lacis_run_interrupted(run);
    case LACIS_SYMV_NO_MEMORY:
        break;
    }
    if (bytes <= lacis_run_memory_left(run))
        return lacis_run_fail(run, LACIS_NOMEM, "SYMV: the system has no more memory");
    return lacis_run_fail(run, LACIS_LIMIT, "SYMV: work memory of %.1f MB is more than memory_limit leaves (%.1f MB)",
                          (double)bytes / 1e6, (double)lacis_run_memory_left(run) / 1e6);
}

/* --- what all variants share -------------------------------------------------------------------------- */

static lacis_status take_x(lacis_symv_task *task)
{
    const lacis_symv_work *work = task->work;
    task->x = work->x.data;
    if (work->x.direct) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(task->run, task->y_bytes, &task->own_x));
    task->x = task->own_x;
    return lacis_symv_gather(task->run, work, &work->x, task->own_x);
}

/* Where kernels write y: into the result, or into a copy from which its lanes are scattered. */
static lacis_status take_y(lacis_symv_task *task)
{
    const lacis_symv_work *work = task->work;
    void *result = NULL;
    const bool copied = work->adds && !work->y.direct;
    if (!work->figures) LACIS_TRY(lacis_symv_new_result(task->run, work, &task->array, &result));
    if (work->scattered || (work->figures && copied))
        LACIS_TRY(lacis_run_alloc(task->run, task->y_bytes, &task->own_y));
    task->y = work->scattered ? task->own_y : result;
    if (work->figures) task->y = NULL;
    if (!work->adds) return LACIS_OK;
    task->y0 = work->y.data;
    if (!copied) return LACIS_OK;
    void *to = task->y != NULL ? task->y : task->own_y;
    task->y0 = to;
    return lacis_symv_gather(task->run, work, &work->y, to);
}

static lacis_status take_figures(lacis_symv_task *task)
{
    const uint64_t bytes = sizeof *task->figures * (uint64_t)task->work->x.lanes;
    return task->work->figures ? lacis_run_alloc(task->run, bytes, &task->figures) : LACIS_OK;
}

static lacis_status hand_over(lacis_symv_task *task, lacis_array **out)
{
    const lacis_symv_work *work = task->work;
    if (work->figures) return lacis_symv_new_table(task->run, work, task->figures, out);
    if (work->scattered) {
        uint64_t offset;
        lacis_buffer *buffer = lacis_array_part_buffer(task->array, "value", &offset);
        lacis_symv_scatter(work, task->own_y, (char *)lacis_buffer_data(buffer) + offset);
    }
    *out = task->array;
    task->array = NULL;
    return LACIS_OK;
}

lacis_status lacis_symv_by(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                           lacis_symv_compute compute, lacis_array **out)
{
    const lacis_symv_work *work = call->work;
    lacis_symv_task task = {.run = run, .call = call, .work = work};
    if (end <= begin) return lacis_symv_new_nothing(run, call, out);
    task.y_bytes = lacis_dtype_size(work->dtype) * (uint64_t)work->places;
    lacis_status status = take_x(&task);
    if (status == LACIS_OK) status = take_y(&task);
    if (status == LACIS_OK) status = take_figures(&task);
    if (status == LACIS_OK) status = compute(&task);
    if (status == LACIS_OK) status = hand_over(&task, out);
    lacis_array_release(task.array);
    lacis_run_free(run, task.own_x);
    lacis_run_free(run, task.own_y);
    lacis_run_free(run, task.figures);
    return status;
}

/* --- on the CPU --------------------------------------------------------------------------------------- */

static lacis_status compute(lacis_symv_task *task)
{
    const lacis_symv_work *work = task->work;
    for (int64_t i = 0; i < work->pieces; i++) {
        const lacis_symv_piece *piece = &work->piece[i];
        lacis_symv_job job;
        if (piece->matrices == 0 || piece->sides == 0) continue;
        lacis_symv_job_of(work, piece, &job);
        lacis_symv_point(work, piece, work->matrix.data, task->x, task->y0, task->y, task->figures, &job);
        job.host = lacis_symv_host_of(task->run);
        LACIS_TRY(lacis_symv_said(task->run, lacis_symv_run(&job), lacis_symv_work_bytes(&job)));
    }
    return LACIS_OK;
}

static lacis_status run_cpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return lacis_symv_by(run, call, begin, end, compute, out);
}

static bool can_cpu(const lacis_call *call, char *reason, size_t size)
{
    const lacis_symv_work *work = call->work;
    if (work->matrix.sparse) snprintf(reason, size, "only for dense matrices");
    return !work->matrix.sparse;
}

const lacis_variant lacis_symv_cpu = {
    .name = "tiles",
    .device = LACIS_CPU,
    .summary = "one triangle read once, by tiles in vectors; stripes of tiles over threads",
    .can = can_cpu,
    .cost = lacis_symv_cost,
    .run = run_cpu,
};
