/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of trees taken apart and put together again, so that statements which solve the same trees make their plan
 * once. What the host needs of it by group lies at the end of the block and is read back. Called by gpu_run.cu.
 */
#include "gpu_tree_host.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORD_WAY,
    WORD_GROUPS,
    WORD_MOST_DEPTH,
    WORD_PHASES,
    WORD_MOST_BRANCHES,
    WORD_LANES,
    WORD_WARPS,
    WORD_BARRIERS,
    WORD_SHARED_BYTES,
    WORD_BLOCKS,
    WORD_LISTED,
    WORD_LIST_AT,
    WORD_AT_AT,
    WORDS
};
static_assert((int)WORDS <= (int)LACIS_SOLVE_GPU_PLAN_WORDS, "words");

bool solve_gpu_tree_plan_keep(solve_gpu_tree_plan *plan, lacis_solve_gpu_kept *out)
{
    if (plan == NULL || plan->device == NULL || plan->lent) return false;
    memset(out, 0, sizeof *out);
    out->device = plan->device;
    out->bytes = plan->bytes;
    out->word[WORD_WAY] = (uint64_t)plan->way;
    out->word[WORD_GROUPS] = (uint64_t)plan->groups;
    out->word[WORD_MOST_DEPTH] = (uint64_t)plan->most_depth;
    out->word[WORD_PHASES] = (uint64_t)plan->phases;
    out->word[WORD_MOST_BRANCHES] = (uint64_t)plan->most_branches;
    out->word[WORD_LANES] = (uint64_t)plan->lanes.lanes;
    out->word[WORD_WARPS] = (uint64_t)plan->lanes.warps;
    out->word[WORD_BARRIERS] = (uint64_t)plan->lanes.barriers;
    out->word[WORD_SHARED_BYTES] = plan->lanes.shared_bytes;
    out->word[WORD_BLOCKS] = (uint64_t)plan->lanes.blocks;
    out->word[WORD_LISTED] = (uint64_t)plan->listed;
    out->word[WORD_LIST_AT] = (uint64_t)plan->list_at;
    out->word[WORD_AT_AT] = (uint64_t)plan->at_at;
    plan->lent = true;
    solve_gpu_tree_plan_free(NULL, plan);
    return true;
}

static void take_words(const lacis_solve_gpu_job *job, const lacis_solve_gpu_kept *kept, solve_gpu_tree_plan *plan)
{
    plan->device = (char *)kept->device;
    plan->bytes = kept->bytes;
    plan->lent = true;
    plan->way = (lacis_solve_gpu_way)kept->word[WORD_WAY];
    plan->groups = (int64_t)kept->word[WORD_GROUPS];
    plan->most_depth = (int32_t)kept->word[WORD_MOST_DEPTH];
    plan->phases = (int32_t)kept->word[WORD_PHASES];
    plan->most_branches = (int32_t)kept->word[WORD_MOST_BRANCHES];
    plan->lanes.lanes = (int)kept->word[WORD_LANES];
    plan->lanes.warps = (int)kept->word[WORD_WARPS];
    plan->lanes.barriers = (int32_t)kept->word[WORD_BARRIERS];
    plan->lanes.shared_bytes = kept->word[WORD_SHARED_BYTES];
    plan->lanes.blocks = (int)kept->word[WORD_BLOCKS];
    plan->listed = (int64_t)kept->word[WORD_LISTED];
    plan->list_at = (int64_t)kept->word[WORD_LIST_AT];
    plan->at_at = (int64_t)kept->word[WORD_AT_AT];
    if (plan->way == LACIS_SOLVE_GPU_LANES)
        plan->lanes.kernel = tree_lanes_kernel(job->job.type, plan->lanes.lanes, tree_shares_off(&job->job));
}

/* The list of groups, at and depth, of which the block has a copy. */
static lacis_solve_gpu_status read_groups(const lacis_solve_gpu_job *job, solve_gpu_tree_plan *plan, int *cuda_error)
{
    const size_t groups = (size_t)plan->groups, list = sizeof(tree_group) * (size_t)plan->listed;
    const size_t places = sizeof *plan->at * groups, depths = sizeof *plan->depth * groups;
    const size_t begin = (size_t)plan->list_at, end = (size_t)plan->at_at + places + depths;
    char *copy = (char *)malloc(end - begin + 1);
    plan->list = (tree_group *)malloc(list + 1);
    plan->at = (int64_t *)malloc(places + 1);
    plan->depth = (int32_t *)malloc(depths + 1);
    lacis_solve_gpu_status status = LACIS_SOLVE_GPU_NO_MEMORY;
    if (copy != NULL && plan->list != NULL && plan->at != NULL && plan->depth != NULL) {
        const cudaStream_t stream = (cudaStream_t)job->stream;
        cudaError_t error = cudaMemcpyAsync(copy, plan->device + begin, end - begin, cudaMemcpyDeviceToHost, stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
        *cuda_error = error;
        status = error == cudaSuccess ? LACIS_SOLVE_GPU_OK : LACIS_SOLVE_GPU_FAILED;
    }
    if (status == LACIS_SOLVE_GPU_OK) {
        const char *at = copy + ((size_t)plan->at_at - begin);
        memcpy(plan->list, copy, list);
        memcpy(plan->at, at, places);
        memcpy(plan->depth, at + places, depths);
    }
    free(copy);
    return status;
}

lacis_solve_gpu_status solve_gpu_tree_plan_from(const lacis_solve_gpu_job *job, const lacis_solve_gpu_kept *kept,
                                                solve_gpu_tree_plan **out, int *cuda_error)
{
    *out = (solve_gpu_tree_plan *)calloc(1, sizeof **out);
    if (*out == NULL) return LACIS_SOLVE_GPU_NO_MEMORY;
    take_words(job, kept, *out);
    const lacis_solve_gpu_status status = read_groups(job, *out, cuda_error);
    if (status == LACIS_SOLVE_GPU_OK) return status;
    solve_gpu_tree_plan_free(job, *out);
    *out = NULL;
    return status;
}
