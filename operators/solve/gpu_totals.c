/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of a result that is nobody's: SELECT sum(value), max(value) ... over a view of SOLVE. Lanes are summed where
 * they are solved, 32 bytes each come back, and are added up in the order of lanes: the same bits whatever the
 * layout, the panels and the number of devices. More lanes than have room for these bytes come block by block. Called
 * by gpu.c's variants and gpu_cost.c.
 */
#include "solve/device.h"

/* Fewer are copied as they are: a thread would sum a long lane alone. */
enum { LEAST_LANES = 1 << 12 };

bool lacis_solve_sums_there(const lacis_call *call)
{
    return call->totals && call->units >= LEAST_LANES;
}

/* Sums take a quarter of what is left to the statement at most: the rest is for what comes with the panels. */
int64_t lacis_solve_sums_at_once(const lacis_run *run, int64_t lanes)
{
    const uint64_t room = lacis_run_memory_left(run) / 4 / sizeof(lacis_solve_gpu_sum);
    return room >= (uint64_t)lanes ? lanes : room > 0 ? (int64_t)room : 1;
}

#ifdef LACIS_GPU_KERNELS

static int64_t elements_in(const lacis_solve_task *task)
{
    int64_t elements = 0;
    for (int64_t g = 0; g < task->job.groups; g++)
        elements += task->job.group[g].lanes * task->job.group[g].rows;
    return elements;
}

static void add_up(const lacis_solving *solving, lacis_totals *totals)
{
    const lacis_solve_task *task = solving->task;
    totals->count += elements_in(task);
    for (int64_t l = 0; l < task->stop - task->first; l++) {
        const lacis_solve_gpu_sum *sum = &solving->sum[l];
        totals->sum += sum->sum;
        totals->nan += sum->nan;
        if (sum->least < totals->min) totals->min = sum->least;
        if (sum->most > totals->max) totals->max = sum->most;
    }
    lacis_totals_settle(totals, false);
}

/* Lanes [first, stop) of the task, which has room for their sums. */
static lacis_status sum_some(lacis_solve_task *task, lacis_solving *solving, lacis_totals *totals)
{
    lacis_run *run = task->run;
    LACIS_TRY(lacis_solve_shape(run, task->work, task->first, task->stop, &task->array, &task->shape));
    lacis_status status = lacis_solve_job_of(run, task->work, task->first, task->stop, &task->shape, &task->job);
    if (status == LACIS_OK) status = lacis_solve_deal(solving);
    if (status == LACIS_OK) add_up(solving, totals);
    lacis_array_release(task->array);
    return status;
}

static lacis_status sum_lanes(lacis_solve_task *task, lacis_solve_gpu_way way, int64_t stop, lacis_totals *totals)
{
    lacis_solving *solving;
    lacis_solve_gpu_sum *sum;
    lacis_run *run = task->run;
    const int64_t some = lacis_solve_sums_at_once(run, stop - task->first);
    LACIS_TRY(lacis_run_scratch(run, sizeof *solving, &solving));
    LACIS_TRY(lacis_run_alloc(run, sizeof *sum * (uint64_t)some, &sum));
    lacis_status status = LACIS_OK;
    for (; status == LACIS_OK && task->first < stop; task->first = task->stop) {
        task->stop = stop - task->first > some ? task->first + some : stop;
        *solving = (lacis_solving){.task = task, .way = way, .bad_lane = -1, .sum = sum};
        status = sum_some(task, solving, totals);
    }
    lacis_run_free(run, sum);
    return status;
}

/* Results come back, block by block as the engine reads what has no totals. */
static lacis_status sum_blocks(const lacis_variant *variant, lacis_run *run, const lacis_call *call, int64_t begin,
                               int64_t end, lacis_totals *totals)
{
    for (int64_t at = begin, stop; at < end; at = stop) {
        lacis_array *array;
        stop = lacis_solve_fit(call, at, lacis_run_memory_left(run) / 4);
        if (stop <= at) stop = at + 1;
        if (stop > end) stop = end;
        LACIS_TRY(variant->run(run, call, at, stop, &array));
        lacis_status status = lacis_totals_add(run, array, totals);
        lacis_array_release(array);
        LACIS_TRY(status);
    }
    return LACIS_OK;
}

lacis_status lacis_solve_gpu_totals(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                                    lacis_solve_gpu_way way, lacis_totals *totals)
{
    const lacis_variant *variant = lacis_solve_gpu_variant(way);
    const lacis_solve *work = call->work;
    if (end - begin < LEAST_LANES || work->chosen != NULL) return sum_blocks(variant, run, call, begin, end, totals);
    lacis_solve_task task = {.run = run, .call = call, .work = work, .first = lacis_solve_lane(work, begin)};
    return sum_lanes(&task, way, lacis_solve_lane(work, end - 1) + 1, totals);
}

#else

lacis_status lacis_solve_gpu_totals(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                                    lacis_solve_gpu_way way, lacis_totals *totals)
{
    (void)call, (void)begin, (void)end, (void)way, (void)totals;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif
