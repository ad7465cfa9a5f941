/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains on the GPU: groups that are cut alike go in one launch, several of them as a table on the device. Called
 * from gpu_run.cu.
 *
 * On chip (LACIS_SOLVE_GPU_CHIP, and LACIS_SOLVE_GPU_CYCLIC) chains longer than a device can hold go the way of a
 * thread a system. Which way a chain goes, and how its rows are cut, depends on its length, the type and the device
 * alone.
 */
#include "solve/gpu_chain.h"

#include <stdlib.h>
#include <string.h>

typedef struct chain_group {
    const lacis_solve_group *group;
    solve_gpu_lie lie;
    bool chip, factored, cyclic;
    solve_gpu_cut cut;
    int64_t tasks;
} chain_group;

static bool shared_matrix(const lacis_solve_job *job)
{
    return job->lower.shared && job->diagonal.shared && job->upper.shared;
}

static solve_gpu_lie lie_of(const lacis_solve_job *job, const lacis_solve_group *group)
{
    const bool matrix = shared_matrix(job) || group->matrix.block == 1;
    const bool rhs = job->rhs.shared || group->rhs.block == 1;
    return matrix && rhs && group->x.block == 1 ? SOLVE_GPU_BEHIND : SOLVE_GPU_BESIDE;
}

/* Whether what the matrix alone gives is worth a kernel of its own before. */
static bool worth_factoring(const lacis_solve_job *job, const lacis_solve_group *group, const solve_gpu_cut *cut)
{
    const int64_t least = 1 << 19; /* unknowns */
    return shared_matrix(job) && !job->rhs.shared && !cut->segments && group->lanes > least / group->rows;
}

static chain_group chain_group_of(const lacis_solve_gpu_job *job, const solve_gpu_device *device,
                                  const lacis_solve_group *group)
{
    const lacis_solve_type type = job->job.type;
    chain_group out = {};
    out.group = group;
    out.lie = lie_of(&job->job, group);
    out.cyclic = job->way == LACIS_SOLVE_GPU_CYCLIC && solve_gpu_cyclic_fits(device, type, group->rows);
    out.tasks = out.cyclic ? group->lanes : solve_gpu_thread_tasks(group->lanes);
    out.chip = job->way == LACIS_SOLVE_GPU_CHIP && solve_gpu_chip_fits(device, type, group->rows);
    if (!out.chip) return out;
    out.cut = solve_gpu_chip_cut(type, out.lie, group->rows);
    out.factored = worth_factoring(&job->job, group, &out.cut);
    if (out.factored) solve_gpu_factored_cut(type, out.lie, &out.cut);
    out.tasks = out.factored ? solve_gpu_factored_tasks(type, out.lie, &out.cut, group->rows, group->lanes)
                             : solve_gpu_chip_tasks(out.lie, &out.cut, group->rows, group->lanes);
    return out;
}

static int compare(const void *left, const void *right)
{
    const chain_group *a = (const chain_group *)left, *b = (const chain_group *)right;
    if (a->chip != b->chip) return a->chip ? 1 : -1;
    if (a->cyclic != b->cyclic) return a->cyclic ? 1 : -1;
    if (a->factored != b->factored) return a->factored ? 1 : -1;
    if (a->lie != b->lie) return a->lie < b->lie ? -1 : 1;
    const int one[] = {a->cut.segments, a->cut.blocks, a->cut.warps, a->cut.lanes, a->cut.chunks, a->cut.chunk_rows};
    const int two[] = {b->cut.segments, b->cut.blocks, b->cut.warps, b->cut.lanes, b->cut.chunks, b->cut.chunk_rows};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (one[i] != two[i]) return one[i] < two[i] ? -1 : 1;
    return 0;
}

static bool is_wide(const lacis_solve_job *job, const lacis_solve_field *field, const lacis_solve_side *side)
{
    const int64_t grain = 16 / lacis_solve_bytes(job->type);
    return field->shared || ((uintptr_t)field->data % 16 == 0 && side->place % grain == 0 &&
                             side->lane % grain == 0 && side->block % grain == 0);
}

static bool is_wide_group(const lacis_solve_job *job, const lacis_solve_group *group)
{
    return is_wide(job, &job->lower, &group->matrix) && is_wide(job, &job->diagonal, &group->matrix) &&
           is_wide(job, &job->upper, &group->matrix) && is_wide(job, &job->rhs, &group->rhs);
}

/* The groups of a launch; *table is to be given back after it. */
static lacis_solve_gpu_status set_groups(const lacis_solve_gpu_job *job, const chain_group *all, int64_t count,
                                         solve_gpu_launch *launch, void **table, int *cuda_error)
{
    solve_gpu_groups *groups = &launch->groups;
    groups->count = count;
    groups->tasks = 0;
    launch->most_rows = launch->elements = 0;
    launch->wide = true;
    for (int64_t g = 0; g < count; g++) {
        const int64_t elements = all[g].chip ? solve_gpu_chip_elements(&all[g].cut, all[g].group->rows) : 0;
        if (elements > launch->elements) launch->elements = elements;
        groups->tasks += all[g].tasks;
        launch->wide = launch->wide && is_wide_group(&job->job, all[g].group);
        if (all[g].group->rows > launch->most_rows) launch->most_rows = all[g].group->rows;
    }
    *table = NULL;
    groups->one = *all[0].group;
    groups->table = NULL;
    groups->begin = NULL;
    if (count == 1) return LACIS_SOLVE_GPU_OK;
    const uint64_t room = (uint64_t)count * sizeof(lacis_solve_group), bytes = room + (uint64_t)(count + 1) * 8;
    char *host = (char *)malloc(bytes);
    if (host == NULL || !solve_gpu_take(job, bytes, table)) {
        free(host);
        return LACIS_SOLVE_GPU_NO_MEMORY;
    }
    int64_t *begin = (int64_t *)(host + room);
    begin[0] = 0;
    for (int64_t g = 0; g < count; g++) {
        ((lacis_solve_group *)host)[g] = *all[g].group;
        begin[g + 1] = begin[g] + all[g].tasks;
    }
    *cuda_error = (int)cudaMemcpyAsync(*table, host, bytes, cudaMemcpyHostToDevice, launch->stream);
    free(host); /* pageable: it has been staged */
    groups->table = (const lacis_solve_group *)*table;
    groups->begin = (const int64_t *)((const char *)*table + room);
    return *cuda_error == (int)cudaSuccess ? LACIS_SOLVE_GPU_OK : LACIS_SOLVE_GPU_FAILED;
}

static lacis_solve_gpu_status run_launch(const lacis_solve_gpu_job *job, const chain_group *all,
                                         const solve_gpu_launch *launch, int *cuda_error)
{
    void *work;
    if (all->factored) {
        if (!solve_gpu_take(job, (uint64_t)launch->groups.count * solve_gpu_factors_bytes(launch->type), &work))
            return LACIS_SOLVE_GPU_NO_MEMORY;
        *cuda_error = (int)solve_gpu_factored(launch, &all->cut, work);
        solve_gpu_give(job, work);
        return *cuda_error == (int)cudaSuccess ? LACIS_SOLVE_GPU_OK : LACIS_SOLVE_GPU_FAILED;
    }
    if (all->chip || all->cyclic) {
        *cuda_error = (int)(all->chip ? solve_gpu_chip(launch, &all->cut) : solve_gpu_cyclic(launch));
        return *cuda_error == (int)cudaSuccess ? LACIS_SOLVE_GPU_OK : LACIS_SOLVE_GPU_FAILED;
    }
    const int64_t slots = solve_gpu_thread_slots(launch->most_rows, launch->groups.tasks, launch->type);
    if (!solve_gpu_take(job, solve_gpu_thread_bytes(launch->most_rows, slots, launch->type), &work))
        return LACIS_SOLVE_GPU_NO_MEMORY;
    *cuda_error = (int)solve_gpu_thread(launch, work, slots);
    solve_gpu_give(job, work);
    return *cuda_error == (int)cudaSuccess ? LACIS_SOLVE_GPU_OK : LACIS_SOLVE_GPU_FAILED;
}

static lacis_solve_gpu_status run_alike(const lacis_solve_gpu_job *job, const solve_gpu_flags *flags,
                                        const chain_group *all, int64_t count, int *cuda_error)
{
    solve_gpu_launch launch;
    void *table;
    launch.fields = solve_gpu_fields_of(&job->job);
    launch.flags = *flags;
    launch.lie = all->lie;
    launch.type = job->job.type;
    launch.stream = (cudaStream_t)job->stream;
    lacis_solve_gpu_status status = set_groups(job, all, count, &launch, &table, cuda_error);
    if (status == LACIS_SOLVE_GPU_OK) status = run_launch(job, all, &launch, cuda_error);
    solve_gpu_give(job, table);
    return status;
}

lacis_solve_gpu_status solve_gpu_chains(const lacis_solve_gpu_job *job, const solve_gpu_flags *flags, int *cuda_error)
{
    const lacis_solve_job *j = &job->job;
    chain_group own, *all = j->groups == 1 ? &own : (chain_group *)malloc((size_t)j->groups * sizeof *all);
    if (all == NULL) return LACIS_SOLVE_GPU_NO_MEMORY;
    lacis_solve_gpu_status status = LACIS_SOLVE_GPU_OK;
    solve_gpu_device device;
    int64_t count = 0;
    *cuda_error = (int)solve_gpu_device_at_hand(&device);
    if (*cuda_error != (int)cudaSuccess) status = LACIS_SOLVE_GPU_FAILED;
    for (int64_t g = 0; g < j->groups && status == LACIS_SOLVE_GPU_OK; g++)
        if (j->group[g].lanes > 0 && j->group[g].rows > 0) all[count++] = chain_group_of(job, &device, &j->group[g]);
    if (count > 1) qsort(all, (size_t)count, sizeof *all, compare);
    for (int64_t g = 0, end; status == LACIS_SOLVE_GPU_OK && g < count; g = end) {
        for (end = g + 1; end < count && compare(&all[g], &all[end]) == 0; end++) {
        }
        status = run_alike(job, flags, all + g, end - g, cuda_error);
    }
    if (all != &own) free(all);
    return status;
}

const char *solve_gpu_chains_refuse(const lacis_solve_gpu_job *job)
{
    const bool cyclic = job->way == LACIS_SOLVE_GPU_CYCLIC;
    if (job->way == LACIS_SOLVE_GPU_THREAD) return NULL;
    if (!cyclic && job->way != LACIS_SOLVE_GPU_CHIP) return "it is for trees";
    const int64_t longest = cyclic ? solve_gpu_cyclic_longest(job->job.type) : solve_gpu_chip_longest(job->job.type);
    for (int64_t g = 0; g < job->job.groups; g++)
        if (job->job.group[g].rows > longest)
            return cyclic ? "chains too long for shared memory" : "chains do not fit on chip";
    return NULL;
}

int64_t solve_gpu_chains_factored(const lacis_solve_gpu_job *job)
{
    int64_t count = 0;
    for (int64_t g = 0; g < job->job.groups && job->way == LACIS_SOLVE_GPU_CHIP; g++) {
        const lacis_solve_group *group = &job->job.group[g];
        if (group->rows == 0 || group->lanes == 0) continue;
        const solve_gpu_cut cut = solve_gpu_chip_cut(job->job.type, SOLVE_GPU_BEHIND, group->rows);
        count += worth_factoring(&job->job, group, &cut);
    }
    return count;
}

uint64_t solve_gpu_chains_bytes(const lacis_solve_gpu_job *job)
{
    const lacis_solve_job *j = &job->job;
    uint64_t bytes = j->groups > 1 ? (uint64_t)j->groups * (sizeof(lacis_solve_group) + 8) + 4096 : 0;
    int64_t tasks = 0, rows = 1;
    for (int64_t g = 0; g < j->groups; g++) {
        tasks += solve_gpu_thread_tasks(j->group[g].lanes);
        if (j->group[g].lanes > 0 && j->group[g].rows > rows) rows = j->group[g].rows;
    }
    if (job->way == LACIS_SOLVE_GPU_CHIP && shared_matrix(j))
        bytes += (uint64_t)j->groups * solve_gpu_factors_bytes(j->type);
    solve_gpu_device device; /* chains longer than it holds take what a thread a system takes */
    if (job->way == LACIS_SOLVE_GPU_THREAD || solve_gpu_device_at_hand(&device) != cudaSuccess ||
        !(job->way == LACIS_SOLVE_GPU_CYCLIC ? solve_gpu_cyclic_fits : solve_gpu_chip_fits)(&device, j->type, rows))
        bytes += solve_gpu_thread_bytes(rows, solve_gpu_thread_slots(rows, tasks, j->type), j->type);
    return bytes;
}
