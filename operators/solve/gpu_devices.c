/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices for SOLVE: operands go there whole, and stay, where they fit beside the result; where they do not, each
 * panel brings its lanes (gpu_panels.c). How many lanes a panel takes. Called by gpu.c.
 */
#include "solve/device.h"

#ifdef LACIS_GPU_KERNELS

/* Panels a device, so that copies overlap and no device is left with a long one: what is there already takes hardly
 * any time, one for each of its lanes will do. But not of less than: */
enum { PANELS = 8, PANELS_THERE = 2 };
static const double LEAST_PANEL = 4e6; /* elements */
/* ------------------------------------------------------------------------------------------ operands */

static const lacis_array *array_of(const lacis_solve *work, int role)
{
    return role == LACIS_SOLVE_RIGHT ? work->rhs.array : work->matrix.array;
}

/* Shared by lanes, a parent or a single system: little, whatever the lanes. */
static bool is_small(const lacis_solving *solving, int role)
{
    return lacis_solve_field_of(&solving->task->job, role)->shared;
}

static lacis_status no_room(lacis_run *run, lacis_gpu *gpu)
{
    lacis_gpu_facts facts;
    lacis_gpu_describe(gpu, &facts);
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's memory (%.3g GB for this database) does not hold a lane",
                          1e-9 * (double)facts.budget);
}

/* Bytes of an element of the result. */
static uint64_t result_bytes(const lacis_solving *solving)
{
    const lacis_solve *work = solving->task->work;
    return (uint64_t)lacis_solve_bytes(work->type) + (work->residual ? sizeof(double) : 0);
}

static double elements_of(const lacis_solve_task *task, int64_t first, int64_t stop)
{
    const lacis_batch *like = &task->work->like->batch;
    double elements = 0;
    for (int64_t g = 0; g < like->groups; g++) {
        const lacis_batch_group *group = &like->group[g];
        int64_t lo = group->lane > first ? group->lane : first, hi = group->lane + group->lanes;
        if (hi > stop) hi = stop;
        if (hi > lo) elements += (double)(hi - lo) * (double)group->rows;
    }
    return elements;
}

/* Whether all operands and the result go beside each other. */
static bool all_fit(const lacis_solving *solving, lacis_gpu *gpu)
{
    const lacis_solve_task *task = solving->task;
    double need = (double)result_bytes(solving) * (double)task->shape.places +
                  (solving->lane_work + sizeof(int64_t)) * (double)(task->stop - task->first);
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++)
        need += (double)lacis_gpu_part_missing(NULL, array_of(task->work, role), task->work->part[role]);
    return need < 31.0 / 32 * (double)lacis_gpu_memory_left(gpu);
}

static lacis_status send_operands(lacis_solving *solving, lacis_solve_device *device)
{
    lacis_run *run = solving->task->run;
    const lacis_solve *work = solving->task->work;
    const bool fit = all_fit(solving, device->gpu);
    const void *parent = NULL;
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++)
        if (fit || is_small(solving, role))
            LACIS_TRY(lacis_gpu_part(run, device->gpu, array_of(work, role), work->part[role], &device->part[role]));
    if (work->tree) LACIS_TRY(lacis_gpu_part(run, device->gpu, work->matrix.array, "parent", &parent));
    device->parent = parent;
    return LACIS_OK;
}

static lacis_status prepare(lacis_solving *solving, lacis_solve_device *device, lacis_gpu *gpu)
{
    void *side[2];
    *device = (lacis_solve_device){.gpu = gpu, .solving = solving};
    lacis_gpu_beside(gpu, side, &device->pinned);
    lacis_status status = send_operands(solving, device);
    if (status == LACIS_LIMIT) return no_room(solving->task->run, gpu);
    LACIS_TRY(status);
    LACIS_TRY(lacis_solve_plan_find(solving, device));
    device->room = lacis_gpu_memory_left(gpu) / 32 * 31;
    return LACIS_OK;
}

static bool is_whole(const lacis_solve_device *device)
{
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++)
        if (device->part[role] == NULL) return false;
    return true;
}

static double lane_work(const lacis_solving *solving)
{
    const lacis_solve_task *task = solving->task;
    lacis_solve_gpu_job job = {.job = task->job, .way = solving->way};
    return (double)lacis_solve_gpu_work_bytes(&job) / (double)(task->stop - task->first);
}

/* What fits the first device stays there, for statements to come as well; what does not goes through all of them. */
lacis_status lacis_solve_devices(lacis_solving *solving)
{
    char reason[200];
    lacis_run *run = solving->task->run;
    lacis_gpu *gpu[LACIS_GPUS] = {lacis_run_gpu(run, reason, sizeof reason)};
    if (gpu[0] == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    solving->lane_work = lane_work(solving);
    LACIS_TRY(prepare(solving, &solving->device[0], gpu[0]));
    solving->devices = 1;
    if (is_whole(&solving->device[0]) && !lacis_run_gpus_forced(run)) return LACIS_OK;
    int gpus = lacis_run_gpus(run, true, gpu);
    for (int i = 1; i < gpus; i++) {
        lacis_status status = lacis_gpu_enter(run, gpu[i]);
        if (status == LACIS_OK) status = prepare(solving, &solving->device[solving->devices], gpu[i]);
        if (status != LACIS_OK && status != LACIS_UNSUPPORTED) return status;
        if (status == LACIS_OK)
            solving->devices++;
        else
            lacis_run_note(run, LACIS_NOTE, "SOLVE: GPU %d is done without", lacis_gpu_number(gpu[i]));
    }
    return gpus > 1 ? lacis_gpu_enter(run, gpu[0]) : LACIS_OK;
}

void lacis_solve_devices_leave(lacis_solving *solving)
{
    for (int i = 0; i < solving->devices; i++)
        lacis_solve_plan_leave(&solving->device[i]);
}

/* -------------------------------------------------------------------------------------- size of panels */

/* Bytes of a lane of a panel, element by element. */
static uint64_t element_bytes(const lacis_solving *solving, const lacis_solve_device *device)
{
    uint64_t bytes = result_bytes(solving);
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++)
        if (device->part[role] == NULL) bytes += (uint64_t)lacis_solve_bytes(solving->task->work->type);
    return bytes;
}

/* Lanes from `first` on that fit `room` and have no more than `most` elements; one may. Inside a group they end with
 * a flock of the result, or at a multiple of a warp. */
static int64_t lanes_within(const lacis_solving *solving, int device, int64_t first, int64_t end, double room,
                            double most)
{
    enum { WARP = 32 };
    const lacis_solve_task *task = solving->task;
    const lacis_batch *like = &task->work->like->batch;
    const double element = (double)element_bytes(solving, &solving->device[device]);
    const int64_t flock = task->work->block > 1 ? task->work->block : WARP;
    int64_t lane = first;
    for (int64_t g = 0; g < like->groups && lane < end; g++) {
        const lacis_batch_group *group = &like->group[g];
        int64_t stop = group->lane + group->lanes < end ? group->lane + group->lanes : end;
        if (stop <= lane) continue;
        double rows = (double)group->rows, bytes = element * rows + solving->lane_work + sizeof(int64_t);
        double by_room = room / bytes, by_most = rows > 0 ? most / rows : by_room;
        double taken = by_room < by_most ? by_room : by_most, left = (double)(stop - lane);
        if (taken < left) {
            int64_t within = lane - (group->lane > task->first ? group->lane : task->first), more = (int64_t)taken;
            int64_t cut = (within + more) % flock;
            if (more > cut) more -= cut;
            lane += more;
            break;
        }
        room -= left * bytes;
        most -= left * rows;
        lane = stop;
    }
    return lane > first ? lane - first : 1; /* fewer still if that is not enough: the dealer halves */
}

int64_t lacis_solve_panel_lanes(void *context, lacis_gpu *gpu, int device, int64_t first, int64_t end)
{
    const lacis_solving *solving = context;
    const lacis_solve_task *task = solving->task;
    const bool whole = is_whole(&solving->device[device]), all = first == task->first && solving->devices == 1;
    const double left = 31.0 / 32 * (double)lacis_gpu_memory_left(gpu),
                 share = (double)solving->device[device].room / 2;
    if (all && whole) {
        int64_t lanes = lanes_within(solving, device, first, end, left, 1e300);
        if (lanes == end - first) return lanes;
    }
    double most = elements_of(task, task->first, task->stop) / ((whole ? PANELS_THERE : PANELS) * solving->devices);
    if (most < LEAST_PANEL && !lacis_run_gpus_forced(task->run)) most = LEAST_PANEL;
    return lanes_within(solving, device, first, end, left < share ? left : share, most);
}

#endif
