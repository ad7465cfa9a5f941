/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE's runs: memory for the result and what is said about bad lanes, for all variants; and the one for the CPU.
 * Called by the engine.
 */
#include "solve/systems.h"

#include <inttypes.h>
#include <string.h>

/* Fields below this are taken from the heap at once. */
static const uint64_t SMALL_BYTES = (uint64_t)1 << 20;

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

/* A field of the result: one element a place. */
static lacis_status add_field(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t places,
                              void **out)
{
    lacis_buffer *buffer;
    const uint64_t bytes = lacis_dtype_size(dtype) * (uint64_t)places;
    LACIS_TRY(bytes <= SMALL_BYTES ? lacis_buffer_new(run, bytes, &buffer)
                                   : lacis_buffer_reserve(run, bytes, &buffer));
    lacis_status status = bytes <= SMALL_BYTES ? LACIS_OK : lacis_buffer_charge(buffer, bytes);
    if (status == LACIS_OK) status = lacis_array_add(run, array, name, dtype, places, buffer, 0);
    *out = lacis_buffer_data(buffer);
    lacis_buffer_release(buffer);
    return status;
}

lacis_status lacis_solve_say_bad(lacis_run *run, const lacis_call *call, int64_t lane, int64_t word)
{
    const lacis_solve *work = call->work;
    static const char *const hint = "SOLVE ... STATUS gives a status column in place of an error";
    const int64_t label = lacis_array_base(work->like->array, 0) + lane;
    const int64_t row = lacis_array_base(work->like->array, 1) + word / 4, at = call->offset;
    switch ((lacis_solve_cause)(word % 4)) {
    case LACIS_SOLVE_NOT_FINITE:
        return lacis_run_fail_at(run, LACIS_RANGE, at, hint,
                                 "SOLVE: lane %" PRId64 ", row %" PRId64 " holds NaN or infinity", label, row);
    case LACIS_SOLVE_ZERO_PIVOT:
        return lacis_run_fail_at(run, LACIS_RANGE, at, hint,
                                 "SOLVE: lane %" PRId64 ", row %" PRId64
                                 ": the pivot is zero (the matrix is singular, or would need pivoting)",
                                 label, row);
    case LACIS_SOLVE_NOT_DOMINANT:
    case LACIS_SOLVE_FINE:
        break;
    }
    return lacis_run_fail_at(
        run, LACIS_RANGE, at, hint,
        "SOLVE: lane %" PRId64 ", row %" PRId64 " is not diagonally dominant, and there is no pivoting", label, row);
}

/* The cause of each bad lane, at its first bad row; 0 elsewhere. */
static void mark(const lacis_solve_job *job, unsigned char *status, int64_t places)
{
    memset(status, 0, (size_t)places);
    for (int64_t g = 0; g < job->groups; g++) {
        const lacis_solve_group *group = &job->group[g];
        for (int64_t l = 0; l < group->lanes; l++) {
            int64_t word = job->status[group->first + l];
            if (word != 0) status[lacis_solve_place(&group->x, group->rows, l, word / 4)] = (unsigned char)(word % 4);
        }
    }
}

/* --- what all variants share ------------------------------------------------------------------------- */

/* The right sides' memory is the result's as well. Lanes in ranges are read by somebody block by block: there is no
 * whole result whose memory could be saved. */
static lacis_buffer *right_of(const lacis_solve_task *task)
{
    const lacis_solve *work = task->work;
    uint64_t offset;
    const bool whole = task->first == 0 && task->stop == work->like->batch.lanes;
    if (!work->in_place || !whole) return NULL;
    return lacis_array_part_own(work->rhs.array, work->part[LACIS_SOLVE_RIGHT], &offset);
}

static lacis_status take_right(lacis_solve_task *task)
{
    uint64_t offset;
    lacis_array_part_buffer(task->work->rhs.array, task->work->part[LACIS_SOLVE_RIGHT], &offset);
    task->job.x = (char *)lacis_buffer_data(task->right) + offset;
    return lacis_array_add(task->run, task->array, "value", task->call->dtype, task->shape.places, task->right,
                           offset);
}

static lacis_status fill(lacis_solve_task *task, lacis_solve_compute compute)
{
    lacis_run *run = task->run;
    lacis_array *array = task->array;
    const lacis_solve *work = task->work;
    const int64_t places = task->shape.places;
    lacis_solve_job *job = &task->job;
    void *marks = NULL, *residual = NULL;
    LACIS_TRY(lacis_solve_job_of(run, work, task->first, task->stop, &task->shape, job));
    LACIS_TRY(task->right != NULL ? take_right(task)
                                  : add_field(run, array, "value", task->call->dtype, places, &job->x));
    if (work->status) LACIS_TRY(add_field(run, array, "status", LACIS_U8, places, &marks));
    if (work->residual) LACIS_TRY(add_field(run, array, "residual", LACIS_F64, places, &residual));
    job->residual = residual;
    task->marks = marks;
    if (!work->status) return compute(task);
    LACIS_TRY(lacis_run_alloc(run, sizeof *job->status * (uint64_t)(task->stop - task->first), &job->status));
    lacis_status code = compute(task);
    if (code == LACIS_OK && !task->marked) mark(job, marks, places);
    lacis_run_free(run, job->status);
    return code;
}

lacis_status lacis_solve_by(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                            lacis_solve_compute compute, lacis_array **out)
{
    const lacis_solve *work = call->work;
    lacis_solve_task task = {.run = run, .call = call, .work = work};
    if (end > begin) {
        task.first = lacis_solve_lane(work, begin);
        task.stop = lacis_solve_lane(work, end - 1) + 1;
    }
    task.right = right_of(&task);
    LACIS_TRY(lacis_solve_shape(run, work, task.first, task.stop, &task.array, &task.shape));
    lacis_status status = fill(&task, compute);
    if (status != LACIS_OK) {
        lacis_array_release(task.array);
        return status;
    }
    *out = task.array;
    return LACIS_OK;
}

/* --- on the CPU -------------------------------------------------------------------------------------- */

lacis_status lacis_solve_on_cpu(lacis_solve_task *task, int64_t lane, lacis_solve_job *job, lacis_solve_output *out)
{
    lacis_run *run = task->run;
    job->host = (lacis_solve_host){take, give, stopped, run};
    switch (lacis_solve_run(job, out)) {
    case LACIS_SOLVE_OK:
        break;
    case LACIS_SOLVE_CANCELLED:
        return lacis_run_interrupted(run);
    case LACIS_SOLVE_NO_MEMORY:
        if (lacis_solve_work_bytes(job) <= lacis_run_memory_left(run))
            return lacis_run_fail_at(run, LACIS_NOMEM, -1, NULL, "SOLVE: the system has no more memory");
        return lacis_run_fail_at(run, LACIS_LIMIT, -1, NULL,
                                 "SOLVE: work memory of %.1f MB is more than memory_limit leaves (%.1f MB)",
                                 (double)lacis_solve_work_bytes(job) / 1e6, (double)lacis_run_memory_left(run) / 1e6);
    case LACIS_SOLVE_BAD:
        return lacis_solve_say_bad(run, task->call, task->first + lane + out->bad_lane, out->bad);
    }
    if (job->status != NULL) lacis_run_count(run, "bad lanes", (double)out->bad_lanes);
    return LACIS_OK;
}

static lacis_status compute(lacis_solve_task *task)
{
    lacis_solve_output out;
    if (task->right != NULL) return lacis_solve_in_place(task, task->right);
    LACIS_TRY(lacis_solve_on_cpu(task, 0, &task->job, &out));
    if (out.factored > 0) lacis_run_count(task->run, "matrices factored", (double)out.factored);
    return LACIS_OK;
}

static lacis_status run_lanes(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return lacis_solve_by(run, call, begin, end, compute, out);
}

const lacis_variant lacis_solve_cpu = {
    .name = "lanes",
    .device = LACIS_CPU,
    .summary = "lanes side by side in vectors, blocks of lanes over threads; flat storage is transposed in registers",
    .cost = lacis_solve_cost,
    .run = run_lanes,
};
