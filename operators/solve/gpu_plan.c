/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of trees (orders of rows, schedules) stay on the device beside the array of parents: a loop of SOLVE
 * statements, or a prepared one, makes them once. Called by gpu_devices.c.
 */
#include "solve/device.h"

#ifdef LACIS_GPU_KERNELS

#include <string.h>

static void *plan_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((lacis_solve_device *)context)->gpu, bytes);
}

static void plan_give(void *context, void *block)
{
    lacis_gpu_free(((lacis_solve_device *)context)->gpu, block);
}

static int64_t shapes_with_lanes(const lacis_solve_group *group, int64_t groups)
{
    int64_t count = 0;
    for (int64_t g = 0; g < groups; g++)
        count += group[g].lanes > 0;
    return count;
}

/* A task of some shapes alone has no use for the plan of all: its panels make their own. */
static bool has_all_shapes(const lacis_solve_task *task)
{
    const lacis_batch *all = &task->work->like->batch;
    int64_t count = 0;
    for (int64_t g = 0; g < all->groups; g++)
        count += all->group[g].lanes > 0;
    return shapes_with_lanes(task->job.group, task->job.groups) == count;
}

/* All lanes, in shapes that have some: a panel with as many shapes has the same. */
static lacis_status whole_job(lacis_solving *solving, lacis_solve_device *device, lacis_solve_gpu_job *out)
{
    const lacis_solve_task *task = solving->task;
    const lacis_batch *like = &task->work->like->batch;
    lacis_solve_group *group;
    *out = (lacis_solve_gpu_job){.way = solving->way, .stream = lacis_gpu_stream(device->gpu)};
    LACIS_TRY(lacis_solve_job_of(task->run, task->work, 0, like->lanes, like, &out->job));
    LACIS_TRY(lacis_run_scratch(task->run, sizeof *group * (uint64_t)out->job.groups, &group));
    int64_t count = 0;
    for (int64_t g = 0; g < out->job.groups; g++)
        if (out->job.group[g].lanes > 0) group[count++] = out->job.group[g];
    out->job.group = group;
    out->job.groups = count;
    out->job.host = (lacis_solve_host){plan_alloc, plan_give, NULL, device};
    return LACIS_OK;
}

static uint64_t mixed(uint64_t hash, int64_t value)
{
    const uint64_t odd = 0x9e3779b97f4a7c15; /* 2^64 / the golden ratio */
    hash = (hash ^ (uint64_t)value) * odd;
    return hash ^ hash >> 29;
}

/* All that a plan depends on besides the parents. Sizes twice, in hashes of their own: neither alone decides. */
static lacis_buffer *name_plan(const lacis_solving *solving, const lacis_solve_job *job, lacis_gpu_thing *thing)
{
    *thing = (lacis_gpu_thing){.name = "solve.plan"};
    const int shared = job->lower.shared + 2 * job->diagonal.shared + 4 * job->upper.shared;
    thing->key[0] = (uint64_t)solving->way << 8 | (uint64_t)job->type << 4 | (uint64_t)shared;
    thing->key[1] = (uint64_t)job->groups;
    thing->key[2] = 1, thing->key[3] = 2;
    for (int64_t g = 0; g < job->groups; g++) {
        const lacis_solve_group *group = &job->group[g];
        const int64_t sizes[] = {group->lanes, group->rows, group->tree, group->matrix.block, group->x.block};
        for (int i = 0; i < LACIS_COUNT(sizes); i++) {
            thing->key[2] = mixed(thing->key[2], sizes[i]);
            thing->key[3] = mixed(thing->key[3], sizes[i]);
        }
    }
    return lacis_array_part_buffer(solving->task->work->matrix.array, "parent", &thing->key[4]);
}

static void note_of(const lacis_solve_gpu_kept *kept, lacis_gpu_thing *thing)
{
    memcpy(thing->note, kept->word, sizeof kept->word);
    thing->bytes = kept->bytes;
    thing->device = kept->device;
}

/* Made now, and left to the engine. False: it is not to be had, so panels make their own. */
static bool made_now(lacis_solving *solving, const lacis_solve_gpu_job *job, lacis_gpu *gpu, lacis_buffer *home,
                     lacis_gpu_thing *thing, int *cuda_error)
{
    lacis_solve_gpu_plan *plan;
    lacis_solve_gpu_kept kept;
    const int32_t *parent = solving->task->job.parent;
    if (lacis_solve_gpu_plan_new(job, parent, &plan, cuda_error) != LACIS_SOLVE_GPU_OK) return false;
    if (!lacis_solve_gpu_plan_keep(plan, &kept)) {
        lacis_solve_gpu_plan_free(job, plan);
        return false;
    }
    note_of(&kept, thing);
    return lacis_gpu_keep_made(gpu, home, thing);
}

lacis_status lacis_solve_plan_find(lacis_solving *solving, lacis_solve_device *device)
{
    lacis_solve_gpu_job job;
    lacis_gpu_thing thing;
    int cuda_error = 0;
    if (!solving->task->work->tree || !has_all_shapes(solving->task)) return LACIS_OK;
    LACIS_TRY(whole_job(solving, device, &job));
    lacis_buffer *home = name_plan(solving, &job.job, &thing);
    if (home == NULL || job.job.groups == 0) return LACIS_OK;
    lacis_run *run = solving->task->run;
    if (!lacis_gpu_made(device->gpu, home, &thing)) {
        lacis_run_count(run, "plans of trees made", 1);
        if (!made_now(solving, &job, device->gpu, home, &thing, &cuda_error))
            return cuda_error == 0 ? LACIS_OK : lacis_gpu_failed(run, device->gpu, cuda_error);
    }
    lacis_solve_gpu_kept kept = {.device = thing.device, .bytes = thing.bytes};
    memcpy(kept.word, thing.note, sizeof kept.word);
    device->planned = job.job.groups;
    lacis_solve_gpu_status status = lacis_solve_gpu_plan_from(&job, &kept, &device->plan, &cuda_error);
    return status == LACIS_SOLVE_GPU_FAILED ? lacis_gpu_failed(run, device->gpu, cuda_error) : LACIS_OK;
}

void lacis_solve_plan_leave(lacis_solve_device *device)
{
    const lacis_solve_gpu_job job = {.job.host = {plan_alloc, plan_give, NULL, device}};
    lacis_solve_gpu_plan_free(&job, device->plan);
    device->plan = NULL;
}

#endif
