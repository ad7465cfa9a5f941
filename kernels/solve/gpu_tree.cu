/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees on the GPU: makes a job ready for the kernels of its way and launches them. Called by gpu_run.cu.
 */
#include "common/gpu_shared.h"
#include "gpu_tree.cuh"
#include "gpu_tree_host.h"
#include "gpu_tree_turn.h"

#include <stdlib.h>
#include <string.h>

namespace
{
/* What a run holds besides its plan. */
struct room {
    void *group, *coef, *scratch, *stack;
};

void clear_room(const lacis_solve_gpu_job *job, room *r)
{
    solve_gpu_give(job, r->group);
    solve_gpu_give(job, r->coef);
    solve_gpu_give(job, r->scratch);
    solve_gpu_give(job, r->stack);
}

lacis_solve_gpu_status failed(cudaError_t error, int *cuda_error)
{
    *cuda_error = error;
    return error == cudaSuccess ? LACIS_SOLVE_GPU_OK : LACIS_SOLVE_GPU_FAILED;
}

/* Mostly the plan has the list. What is copied here has to stay until it is there: a copy may read it any time. */
lacis_solve_gpu_status upload_groups(const lacis_solve_gpu_job *job, const tree_group *list, tree_params *p, room *r,
                                     int *cuda_error)
{
    const uint64_t bytes = sizeof(tree_group) * (uint64_t)p->groups;
    if (!solve_gpu_take(job, bytes, &r->group)) return LACIS_SOLVE_GPU_NO_MEMORY;
    p->group = (const tree_group *)r->group;
    cudaError_t error = cudaMemcpyAsync(r->group, list, bytes, cudaMemcpyHostToDevice, (cudaStream_t)job->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize((cudaStream_t)job->stream);
    return failed(error, cuda_error);
}

lacis_solve_gpu_status take_groups(const lacis_solve_gpu_job *job, const solve_gpu_tree_plan *plan, tree_params *p,
                                   room *r, int *cuda_error)
{
    tree_group *list = (tree_group *)malloc(sizeof(tree_group) * ((size_t)job->job.groups + 1));
    if (list == NULL) return LACIS_SOLVE_GPU_NO_MEMORY;
    lacis_solve_gpu_status status = LACIS_SOLVE_GPU_OK;
    p->groups = tree_list_groups(&job->job, plan, tree_tile_lanes(plan), list, &p->tiles, &p->weight);
    const size_t bytes = sizeof(tree_group) * (size_t)p->groups;
    if (p->groups == 1)
        p->one = list[0];
    else if (p->groups == plan->listed && memcmp(list, plan->list, bytes) == 0)
        p->group = (const tree_group *)(plan->device + plan->list_at);
    else if (p->groups > 1)
        status = upload_groups(job, list, p, r, cuda_error);
    free(list);
    return status;
}

int stack_words(const lacis_solve_job *job)
{
    return tree_shares_off(job) ? 2 : 3;
}

/* threads: of a block */
uint64_t stack_bytes(const lacis_solve_job *job, int64_t depth, int threads)
{
    return (uint64_t)(depth + 1) * (uint64_t)stack_words(job) * (uint64_t)threads *
           (uint64_t)tree_computed_bytes(job->type);
}

/* q and y of a block's lanes. */
uint64_t kept_bytes(const lacis_solve_job *job, int threads)
{
    return 2 * (uint64_t)tree_most_rows(job) * (uint64_t)threads * (uint64_t)tree_computed_bytes(job->type);
}

/* Blocks of THREAD; each holds q and y of its lanes. */
int64_t thread_blocks(const lacis_solve_job *job)
{
    const uint64_t each = kept_bytes(job, TREE_THREADS);
    int64_t blocks = tree_tiles(job, TREE_THREADS);
    if (blocks > TREE_BLOCKS_MOST) blocks = TREE_BLOCKS_MOST;
    if (each > 0 && (uint64_t)blocks > TREE_SCRATCH_BYTES / each) blocks = (int64_t)(TREE_SCRATCH_BYTES / each);
    return blocks < 1 ? 1 : blocks;
}

lacis_solve_gpu_status take_coefs(const lacis_solve_gpu_job *job, tree_params *p, room *r, int *cuda_error)
{
    if (!tree_shares_off(&job->job)) return LACIS_SOLVE_GPU_OK;
    const uint64_t bytes = 4 * (uint64_t)tree_coef_rows(&job->job) * (uint64_t)tree_computed_bytes(job->job.type);
    if (!solve_gpu_take(job, bytes, &r->coef)) return LACIS_SOLVE_GPU_NO_MEMORY;
    p->coef = r->coef;
    return failed(tree_coefs(p, job->job.type, (cudaStream_t)job->stream), cuda_error);
}

/* THREAD and SHARED. */
lacis_solve_gpu_status run_thread(const lacis_solve_gpu_job *job, const solve_gpu_tree_plan *plan, tree_params *p,
                                  room *r, int *cuda_error)
{
    const lacis_solve_job *j = &job->job;
    const bool shared = plan->way == LACIS_SOLVE_GPU_SHARED;
    const int threads = tree_tile_lanes(plan);
    const int64_t blocks = shared && p->tiles < TREE_BLOCKS_MOST ? p->tiles
                           : shared                              ? TREE_BLOCKS_MOST
                                                                 : thread_blocks(j);
    const uint64_t stack = stack_bytes(j, plan->most_depth, threads), kept = kept_bytes(j, threads);
    const bool chip = stack <= TREE_STACK_BYTES;
    p->most_depth = plan->most_depth;
    if (!shared && !solve_gpu_take(job, (uint64_t)blocks * kept, &r->scratch)) return LACIS_SOLVE_GPU_NO_MEMORY;
    if (!chip && !solve_gpu_take(job, (uint64_t)blocks * stack, &r->stack)) return LACIS_SOLVE_GPU_NO_MEMORY;
    p->scratch = r->scratch;
    p->stack = r->stack;
    lacis_solve_gpu_status status = take_coefs(job, p, r, cuda_error);
    if (status != LACIS_SOLVE_GPU_OK) return status;
    const void *kernel = tree_thread_kernel(j->type, tree_shares_off(j), shared);
    const solve_gpu_start_at at = {dim3((unsigned)blocks), (unsigned)threads, 1,
                                   (chip ? stack : 0) + (shared ? kept : 0), (cudaStream_t)job->stream};
    cudaError_t error = cudaSuccess;
    if (shared) error = lacis_gpu_all_shared(kernel);
    void *arguments[] = {p};
    return failed(error == cudaSuccess ? solve_gpu_start(&at, kernel, arguments) : error, cuda_error);
}

/* Off-diagonals and diagonal are shared: what they alone give takes some 0.1 us a row, once, which as many lanes as
 * these save again. */
bool factors_first(const lacis_solve_gpu_job *job)
{
    const int64_t enough = 1 << 14;
    const lacis_solve_job *j = &job->job;
    return job->way == LACIS_SOLVE_GPU_THREAD && tree_shares_off(j) && j->diagonal.shared && !j->rhs.shared &&
           tree_tiles(j, TREE_THREADS) >= enough / TREE_THREADS;
}

lacis_solve_gpu_status run_factored(const lacis_solve_gpu_job *job, const solve_gpu_tree_plan *plan, tree_params *p,
                                    room *r, int *cuda_error)
{
    const lacis_solve_job *j = &job->job;
    const int64_t blocks = thread_blocks(j);
    const uint64_t word = (uint64_t)tree_computed_bytes(j->type);
    const uint64_t stack = (uint64_t)(plan->most_depth + 1) * TREE_THREADS * word;
    const bool chip = stack <= TREE_STACK_BYTES;
    p->most_depth = plan->most_depth;
    if (!solve_gpu_take(job, (uint64_t)blocks * kept_bytes(j, TREE_THREADS) / 2, &r->scratch) ||
        (!chip && !solve_gpu_take(job, (uint64_t)blocks * stack, &r->stack)) ||
        !solve_gpu_take(job, 4 * (uint64_t)tree_coef_rows(j) * word, &r->coef))
        return LACIS_SOLVE_GPU_NO_MEMORY;
    p->scratch = r->scratch;
    p->stack = r->stack;
    p->coef = r->coef;
    const solve_gpu_start_at at = {dim3((unsigned)blocks), TREE_THREADS, 1, chip ? stack : 0,
                                   (cudaStream_t)job->stream};
    void *arguments[] = {p};
    const cudaError_t error = tree_factor(p, j->type, at.stream);
    return failed(error == cudaSuccess ? solve_gpu_start(&at, tree_side_kernel(j->type), arguments) : error,
                  cuda_error);
}

/* So many tiles at a time as there is room for q and y of. */
int64_t branch_tiles(const lacis_solve_job *job)
{
    const uint64_t each = kept_bytes(job, TREE_THREADS);
    const int64_t tiles = tree_tiles(job, TREE_THREADS);
    const uint64_t most = each > 0 && TREE_SCRATCH_BYTES > each ? TREE_SCRATCH_BYTES / each : 1;
    return (uint64_t)tiles > most ? (int64_t)most : tiles;
}

cudaError_t launch_phases(const lacis_solve_gpu_job *job, const solve_gpu_tree_plan *plan, tree_params *p,
                          int64_t tiles)
{
    const unsigned y = plan->most_branches < 65535 ? (unsigned)plan->most_branches : 65535;
    const bool coef = tree_shares_off(&job->job);
    void *arguments[] = {p};
    for (int32_t i = 0; i < 2 * plan->phases; i++) {
        const bool up = i < plan->phases;
        p->phase = up ? i : 2 * plan->phases - 1 - i;
        const solve_gpu_start_at at = {dim3((unsigned)tiles, y), TREE_THREADS, 1, 0, (cudaStream_t)job->stream};
        const cudaError_t error = solve_gpu_start(&at, tree_branches_kernel(job->job.type, coef, up), arguments);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

lacis_solve_gpu_status run_branches(const lacis_solve_gpu_job *job, const solve_gpu_tree_plan *plan, tree_params *p,
                                    room *r, int *cuda_error)
{
    const lacis_solve_job *j = &job->job;
    const int64_t most = branch_tiles(j);
    const uint64_t each = kept_bytes(j, TREE_THREADS);
    if (!solve_gpu_take(job, (uint64_t)most * each, &r->scratch)) return LACIS_SOLVE_GPU_NO_MEMORY;
    p->scratch = r->scratch;
    lacis_solve_gpu_status status = take_coefs(job, p, r, cuda_error);
    if (status == LACIS_SOLVE_GPU_OK && p->flags.mark != NULL)
        status = failed(tree_clear_marks(p, (cudaStream_t)job->stream), cuda_error);
    for (p->first_tile = 0; status == LACIS_SOLVE_GPU_OK && p->first_tile < p->tiles; p->first_tile += most) {
        const int64_t left = p->tiles - p->first_tile;
        status = failed(launch_phases(job, plan, p, left < most ? left : most), cuda_error);
    }
    return status;
}

lacis_solve_gpu_status run_lanes(const lacis_solve_gpu_job *job, const solve_gpu_tree_plan *plan, tree_params *p,
                                 int *cuda_error)
{
    const int64_t blocks = p->tiles < plan->lanes.blocks ? p->tiles : plan->lanes.blocks;
    void *arguments[] = {p};
    const solve_gpu_start_at at = {dim3((unsigned)blocks), 32 * (unsigned)plan->lanes.warps, 1,
                                   plan->lanes.shared_bytes, (cudaStream_t)job->stream};
    return failed(solve_gpu_start(&at, plan->lanes.kernel, arguments), cuda_error);
}

lacis_solve_gpu_status run_planned(const lacis_solve_gpu_job *job, const solve_gpu_tree_plan *plan,
                                   const solve_gpu_flags *flags, int *cuda_error)
{
    const lacis_solve_job *j = &job->job;
    room r = {};
    tree_params p = {};
    p.lower = j->lower;
    p.diagonal = j->diagonal;
    p.upper = j->upper;
    p.rhs = j->rhs;
    p.x = j->x;
    p.flags = *flags;
    p.plan = plan->device;
    p.most_rows = tree_most_rows(j);
    p.barriers = plan->lanes.barriers;
    lacis_solve_gpu_status status = take_groups(job, plan, &p, &r, cuda_error);
    if (status == LACIS_SOLVE_GPU_OK && p.groups > 0) {
        if (plan->way == LACIS_SOLVE_GPU_LANES)
            status = run_lanes(job, plan, &p, cuda_error);
        else if (plan->way == LACIS_SOLVE_GPU_BRANCHES)
            status = run_branches(job, plan, &p, &r, cuda_error);
        else if (factors_first(job))
            status = run_factored(job, plan, &p, &r, cuda_error);
        else
            status = run_thread(job, plan, &p, &r, cuda_error);
    }
    clear_room(job, &r);
    return status;
}

lacis_solve_gpu_status run_turned(const lacis_solve_gpu_job *job, const solve_gpu_tree_plan *plan,
                                  const solve_gpu_flags *flags, int *cuda_error)
{
    tree_turn turn;
    cudaError_t error = cudaSuccess;
    lacis_solve_gpu_status status = tree_turn_new(job, &turn) ? LACIS_SOLVE_GPU_OK : LACIS_SOLVE_GPU_NO_MEMORY;
    while (status == LACIS_SOLVE_GPU_OK && tree_turn_next(&turn, &error)) {
        status = run_planned(&turn.job, plan, flags, cuda_error);
        if (status == LACIS_SOLVE_GPU_OK) error = tree_turn_back(&turn);
    }
    tree_turn_clear(&turn);
    return status == LACIS_SOLVE_GPU_OK ? failed(error, cuda_error) : status;
}

lacis_solve_gpu_status run_any(const lacis_solve_gpu_job *job, const solve_gpu_tree_plan *plan,
                               const solve_gpu_flags *flags, int *cuda_error)
{
    return (tree_turns(&job->job, plan->way) ? run_turned : run_planned)(job, plan, flags, cuda_error);
}
} // namespace

lacis_solve_gpu_status solve_gpu_trees(const lacis_solve_gpu_job *job, const lacis_solve_gpu_plan *plan,
                                       const int32_t *host_parent, const solve_gpu_flags *flags, int *cuda_error)
{
    if (plan != NULL) return run_any(job, plan->trees, flags, cuda_error);
    solve_gpu_tree_plan *own;
    lacis_solve_gpu_status status = solve_gpu_tree_plan_new(job, host_parent, &own, cuda_error);
    if (status != LACIS_SOLVE_GPU_OK) return status;
    status = run_any(job, own, flags, cuda_error);
    solve_gpu_tree_plan_free(job, own);
    return status;
}

int64_t solve_gpu_trees_factored(const lacis_solve_gpu_job *job)
{
    int64_t count = 0;
    for (int64_t g = 0; factors_first(job) && g < job->job.groups; g++)
        count += !tree_is_empty(&job->job.group[g]);
    return count;
}

/* The kernels of LANES keep the distance of rows in 32 bits. */
static bool rows_are_near(const lacis_solve_job *job)
{
    const int64_t most = UINT32_MAX / lacis_solve_bytes(job->type);
    for (int64_t g = 0; g < job->groups; g++) {
        const lacis_solve_group *group = &job->group[g];
        if (group->matrix.block > most || group->rhs.block > most || group->x.block > most) return false;
        if (group->matrix.step < 0 || group->matrix.step > most || group->rhs.step < 0 || group->rhs.step > most)
            return false;
    }
    return true;
}

const char *solve_gpu_trees_refuse(const lacis_solve_gpu_job *job)
{
    if (job->job.type == LACIS_SOLVE_C128) return "trees are real";
    if (job->way == LACIS_SOLVE_GPU_CHIP || job->way == LACIS_SOLVE_GPU_CYCLIC) return "for chains";
    if (job->way == LACIS_SOLVE_GPU_SHARED)
        return kept_bytes(&job->job, TREE_SHARED_THREADS) + TREE_STACK_BYTES > LANES_BYTES_MOST
                   ? "trees too large for shared memory"
                   : NULL;
    if (job->way != LACIS_SOLVE_GPU_LANES) return NULL;
    if (!tree_lanes_fits(&job->job, false)) return "trees too large for shared memory";
    return rows_are_near(&job->job) ? NULL : "too many lanes side by side";
}

const char *solve_gpu_trees_convert(const lacis_solve_gpu_job *job)
{
    const bool lanes = job->way == LACIS_SOLVE_GPU_LANES && !tree_lanes_fits(&job->job, true);
    if (job->way != LACIS_SOLVE_GPU_THREAD && !lanes) return NULL;
    if (!tree_turns(&job->job, LACIS_SOLVE_GPU_THREAD)) return NULL;
    return lanes ? "where a schedule does not fit on chip, rows of Flat lanes are put side by side for gpu thread"
                 : "rows of Flat lanes are put side by side first, in panels, and x back";
}

/* At most: each slot of the stack but a few stands for a parent with three children or more. */
static uint64_t long_stack_bytes(const lacis_solve_job *job, int threads)
{
    const uint64_t stack = stack_bytes(job, tree_most_rows(job) / 3 + 32, threads);
    return stack > TREE_STACK_BYTES ? stack : 0;
}

static uint64_t thread_bytes(const lacis_solve_job *job)
{
    const uint64_t turned = tree_turns(job, LACIS_SOLVE_GPU_THREAD) ? tree_turn_bytes(job) : 0;
    return turned +
           (uint64_t)thread_blocks(job) * (kept_bytes(job, TREE_THREADS) + long_stack_bytes(job, TREE_THREADS));
}

static uint64_t shared_bytes(const lacis_solve_job *job)
{
    const int64_t tiles = tree_tiles(job, TREE_SHARED_THREADS);
    return (uint64_t)(tiles < TREE_BLOCKS_MOST ? tiles : TREE_BLOCKS_MOST) *
           long_stack_bytes(job, TREE_SHARED_THREADS);
}

uint64_t solve_gpu_trees_bytes(const lacis_solve_gpu_job *job)
{
    const lacis_solve_job *j = &job->job;
    const uint64_t rows = (uint64_t)tree_coef_rows(j), groups = (uint64_t)j->groups;
    const uint64_t computed = (uint64_t)tree_computed_bytes(j->type);
    const uint64_t common = groups * (2 * sizeof(tree_group) + 48) + rows * (tree_shares_off(j) ? 4 * computed : 0) +
                            rows * (sizeof(tree_entry) + 2 * sizeof(int32_t));
    if (job->way == LACIS_SOLVE_GPU_LANES) { /* at most 4 parts */
        const uint64_t own = rows * (4 * sizeof(tree_op) + 12) + groups * 512;
        return common + own + (tree_lanes_fits(j, true) ? 0 : thread_bytes(j));
    }
    if (job->way == LACIS_SOLVE_GPU_THREAD) return common + thread_bytes(j);
    if (job->way == LACIS_SOLVE_GPU_SHARED) return common + shared_bytes(j);
    const uint64_t levels = rows * (sizeof(tree_branch) + sizeof(int32_t)) +
                            groups * (sizeof(tree_branches_head) + (TREE_PHASES_MOST + 8) * sizeof(tree_phase));
    return common + levels + (uint64_t)branch_tiles(j) * kept_bytes(j, TREE_THREADS);
}
