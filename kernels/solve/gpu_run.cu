/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_solve_gpu_run: solvers of chains or trees leave marks; where there is a doubt, lanes are looked at one by one
 * (gpu_check.cu); then residuals. Called by operators/solve's GPU variants and by SIMULATE.
 */
#include "solve/gpu_check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(solve_gpu_found) + sizeof(unsigned) <= LACIS_SOLVE_GPU_PINNED_BYTES, "pinned");

const char *const lacis_solve_gpu_way_name[LACIS_SOLVE_GPU_WAYS] = {"thread", "chip",     "lanes",
                                                                    "shared", "branches", "cr-pcr"};

/* One run. The block of device memory holds `found`, the doubt where there is no pinned memory, and marks. */
typedef struct solve_run {
    const lacis_solve_gpu_job *job;
    cudaStream_t stream;
    solve_gpu_found *found;
    solve_gpu_flags flags;
    solve_gpu_found host;
    int64_t lanes, walkers;
    void *work; /* of gpu_check.cu */
    int error;
} solve_run;

#define TRY(call)                                                                                                    \
    do {                                                                                                             \
        const lacis_solve_gpu_status status_ = (call);                                                               \
        if (status_ != LACIS_SOLVE_GPU_OK) return status_;                                                           \
    } while (0)
#define TRY_CUDA(s, call)                                                                                            \
    do {                                                                                                             \
        (s)->error = (int)(call);                                                                                    \
        if ((s)->error != (int)cudaSuccess) return LACIS_SOLVE_GPU_FAILED;                                           \
    } while (0)

enum { HEAD_BYTES = 256 };

/* Lanes of the job: groups may leave some out. */
static int64_t all_lanes(const lacis_solve_job *job)
{
    int64_t end = 0;
    for (int64_t g = 0; g < job->groups; g++)
        if (job->group[g].lanes > 0 && job->group[g].first + job->group[g].lanes > end)
            end = job->group[g].first + job->group[g].lanes;
    return end;
}

/* Whether the run waits to know if there is a doubt. With pinned memory nothing has to be cleared or copied then. */
static bool waits(const lacis_solve_gpu_job *job)
{
    return !job->later && !job->trusted;
}

static bool by_pinned(const lacis_solve_gpu_job *job)
{
    return job->pinned != NULL && waits(job);
}

static lacis_solve_gpu_status take_block(solve_run *s)
{
    void *block;
    if (s->job->trusted) return LACIS_SOLVE_GPU_OK;
    if (!solve_gpu_take(s->job, HEAD_BYTES + (uint64_t)s->lanes, &block)) return LACIS_SOLVE_GPU_NO_MEMORY;
    s->found = (solve_gpu_found *)block;
    s->flags.mark = (unsigned char *)block + HEAD_BYTES;
    if (by_pinned(s->job)) {
        s->flags.doubt = (unsigned *)s->job->pinned;
        *s->flags.doubt = 0;
    } else {
        s->flags.doubt = (unsigned *)((char *)block + HEAD_BYTES / 2);
        if (waits(s->job)) TRY_CUDA(s, cudaMemsetAsync(s->flags.doubt, 0, sizeof *s->flags.doubt, s->stream));
    }
    return LACIS_SOLVE_GPU_OK;
}

static lacis_solve_gpu_status clear_status(solve_run *s)
{
    const lacis_solve_job *job = &s->job->job;
    if (job->status == NULL || !waits(s->job)) return LACIS_SOLVE_GPU_OK;
    int64_t sum = 0;
    for (int64_t g = 0; g < job->groups; g++)
        sum += job->group[g].lanes;
    if (sum == s->lanes) {
        TRY_CUDA(s, cudaMemsetAsync(job->status, 0, sizeof *job->status * (size_t)s->lanes, s->stream));
        return LACIS_SOLVE_GPU_OK;
    }
    for (int64_t g = 0; g < job->groups; g++)
        TRY_CUDA(s, cudaMemsetAsync(job->status + job->group[g].first, 0,
                                    sizeof *job->status * (size_t)job->group[g].lanes, s->stream));
    return LACIS_SOLVE_GPU_OK;
}

/* Lanes without rows have no marks. */
static cudaError_t clear_rowless(const solve_run *s)
{
    const lacis_solve_job *job = &s->job->job;
    for (int64_t g = 0; g < job->groups; g++) {
        const lacis_solve_group *group = &job->group[g];
        if (group->rows > 0 || group->lanes == 0) continue;
        const cudaError_t error =
            cudaMemsetAsync(job->status + group->first, 0, sizeof *job->status * (size_t)group->lanes, s->stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

static bool needs_room(const lacis_solve_gpu_job *job)
{
    return job->job.residual != NULL && job->job.parent != NULL;
}

static lacis_solve_gpu_status take_work(solve_run *s)
{
    if (s->work != NULL) return LACIS_SOLVE_GPU_OK;
    const uint64_t bytes = solve_gpu_walk_bytes(&s->job->job, s->walkers);
    return solve_gpu_take(s->job, bytes, &s->work) ? LACIS_SOLVE_GPU_OK : LACIS_SOLVE_GPU_NO_MEMORY;
}

static lacis_solve_gpu_status look(solve_run *s)
{
    solve_gpu_found none = {};
    none.lowest = ULLONG_MAX;
    TRY(take_work(s));
    TRY_CUDA(s, cudaMemcpyAsync(s->found, &none, sizeof none, cudaMemcpyHostToDevice, s->stream));
    TRY_CUDA(s, solve_gpu_walk(s->job, s->flags, s->found, s->work, s->walkers));
    return LACIS_SOLVE_GPU_OK;
}

/* Nobody knows yet whether there is a doubt: one kernel that reads all marks. */
static lacis_solve_gpu_status look_later(solve_run *s)
{
    TRY(take_work(s));
    TRY_CUDA(s, clear_rowless(s));
    TRY_CUDA(s, solve_gpu_walk(s->job, s->flags, NULL, s->work, s->walkers));
    return LACIS_SOLVE_GPU_OK;
}

static lacis_solve_gpu_status read_found(solve_run *s)
{
    TRY_CUDA(s, cudaMemcpyAsync(&s->host, s->found, sizeof s->host, cudaMemcpyDeviceToHost, s->stream));
    TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    return LACIS_SOLVE_GPU_OK;
}

/* What lanes in doubt come to. *doubt: whether there was one. */
static lacis_solve_gpu_status look_now(solve_run *s)
{
    unsigned doubt = 0;
    if (!by_pinned(s->job))
        TRY_CUDA(s, cudaMemcpyAsync(&doubt, s->flags.doubt, sizeof doubt, cudaMemcpyDeviceToHost, s->stream));
    TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    if (by_pinned(s->job)) doubt = *(volatile unsigned *)s->flags.doubt;
    if (doubt == 0) return LACIS_SOLVE_GPU_OK;
    TRY(look(s));
    TRY(read_found(s));
    if (s->job->job.status != NULL || s->host.bad_lanes == 0) return LACIS_SOLVE_GPU_OK;
    TRY_CUDA(s, solve_gpu_name(s->job, s->found, s->work));
    TRY(read_found(s));
    return LACIS_SOLVE_GPU_BAD;
}

static lacis_solve_gpu_status solve_all(solve_run *s, const lacis_solve_gpu_plan *plan, const int32_t *host_parent)
{
    const lacis_solve_gpu_job *job = s->job;
    TRY(take_block(s));
    TRY(clear_status(s));
    if (job->job.parent != NULL)
        TRY(solve_gpu_trees(job, plan, host_parent, &s->flags, &s->error));
    else
        TRY(solve_gpu_chains(job, &s->flags, &s->error));
    if (!job->trusted) TRY(job->later ? look_later(s) : look_now(s));
    if (job->job.residual != NULL) {
        if (needs_room(job)) TRY(take_work(s));
        TRY_CUDA(s, solve_gpu_residuals(job, s->work, s->walkers));
        if (waits(job)) TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    }
    return LACIS_SOLVE_GPU_OK;
}

lacis_solve_gpu_status lacis_solve_gpu_run(const lacis_solve_gpu_job *job, const lacis_solve_gpu_plan *plan,
                                           const int32_t *host_parent, lacis_solve_gpu_output *out)
{
    solve_run s = {};
    memset(out, 0, sizeof *out);
    if (lacis_solve_gpu_refuses(job) != NULL) return LACIS_SOLVE_GPU_UNSUPPORTED;
    s.job = job;
    s.stream = (cudaStream_t)job->stream;
    s.lanes = all_lanes(&job->job);
    if (s.lanes == 0) return LACIS_SOLVE_GPU_OK;
    if (job->job.host.cancelled != NULL && job->job.host.cancelled(job->job.host.context))
        return LACIS_SOLVE_GPU_CANCELLED;
    s.walkers = solve_gpu_walkers(&job->job);
    const lacis_solve_gpu_status status = solve_all(&s, plan, host_parent);
    if (status == LACIS_SOLVE_GPU_BAD) {
        out->solve.bad_lane = (int64_t)s.host.lowest;
        out->solve.bad = s.host.word;
    }
    out->solve.bad_lanes = (int64_t)s.host.bad_lanes;
    out->solve.factored = job->job.parent == NULL ? solve_gpu_chains_factored(job) : solve_gpu_trees_factored(job);
    out->cuda_error = s.error;
    solve_gpu_give(job, s.found);
    solve_gpu_give(job, s.work);
    return status;
}

/* --- refusals, plans, memory -------------------------------------------------------------------------------- */

const char *lacis_solve_gpu_refuses(const lacis_solve_gpu_job *job)
{
    if (job->later && !job->trusted && job->job.status == NULL)
        return "a run that is not waited for says what is bad by lane alone";
    return job->job.parent != NULL ? solve_gpu_trees_refuse(job) : solve_gpu_chains_refuse(job);
}

lacis_solve_gpu_status lacis_solve_gpu_plan_new(const lacis_solve_gpu_job *job, const int32_t *host_parent,
                                                lacis_solve_gpu_plan **out, int *cuda_error)
{
    *out = NULL;
    *cuda_error = 0;
    if (lacis_solve_gpu_refuses(job) != NULL) return LACIS_SOLVE_GPU_UNSUPPORTED;
    lacis_solve_gpu_plan *plan = (lacis_solve_gpu_plan *)calloc(1, sizeof *plan);
    if (plan == NULL) return LACIS_SOLVE_GPU_NO_MEMORY;
    lacis_solve_gpu_status status = LACIS_SOLVE_GPU_OK;
    if (job->job.parent != NULL) status = solve_gpu_tree_plan_new(job, host_parent, &plan->trees, cuda_error);
    if (status == LACIS_SOLVE_GPU_OK)
        *out = plan;
    else
        free(plan);
    return status;
}

void lacis_solve_gpu_plan_free(const lacis_solve_gpu_job *job, lacis_solve_gpu_plan *plan)
{
    if (plan == NULL) return;
    solve_gpu_tree_plan_free(job, plan->trees);
    free(plan);
}

bool lacis_solve_gpu_plan_keep(lacis_solve_gpu_plan *plan, lacis_solve_gpu_kept *out)
{
    if (plan == NULL || !solve_gpu_tree_plan_keep(plan->trees, out)) return false;
    free(plan);
    return true;
}

lacis_solve_gpu_status lacis_solve_gpu_plan_from(const lacis_solve_gpu_job *job, const lacis_solve_gpu_kept *kept,
                                                 lacis_solve_gpu_plan **out, int *cuda_error)
{
    *cuda_error = 0;
    *out = (lacis_solve_gpu_plan *)calloc(1, sizeof **out);
    if (*out == NULL) return LACIS_SOLVE_GPU_NO_MEMORY;
    const lacis_solve_gpu_status status = solve_gpu_tree_plan_from(job, kept, &(*out)->trees, cuda_error);
    if (status == LACIS_SOLVE_GPU_OK) return status;
    free(*out);
    *out = NULL;
    return status;
}

const char *lacis_solve_gpu_converts(const lacis_solve_gpu_job *job)
{
    return job->job.parent != NULL ? solve_gpu_trees_convert(job) : NULL;
}

uint64_t lacis_solve_gpu_work_bytes(const lacis_solve_gpu_job *job)
{
    const uint64_t own = HEAD_BYTES + (uint64_t)all_lanes(&job->job);
    const uint64_t walk = solve_gpu_walk_bytes(&job->job, solve_gpu_walkers(&job->job));
    const uint64_t solver = job->job.parent != NULL ? solve_gpu_trees_bytes(job) : solve_gpu_chains_bytes(job);
    return own + walk + solver;
}
