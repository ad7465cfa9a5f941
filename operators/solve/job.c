/* SPDX-License-Identifier: Apache-2.0
 *
 * From operands to a job of the kernel: where the lanes of each group lie in the matrix, the right side and the
 * result. Called from run.c and cost.c.
 */
#include "solve/systems.h"

/* Lanes of a group from `lane` on. */
static lacis_solve_side side_of(const lacis_batch_group *group, int64_t lane)
{
    return (lacis_solve_side){group->place, group->block, lane, group->row, 1};
}

/* A matrix for all lanes: its only lane as if it were shared. */
static lacis_solve_side only_lane(const lacis_batch_group *group, bool shared)
{
    if (shared) return side_of(group, 0);
    return (lacis_solve_side){group->place, group->block, 0, group->place, group->block};
}

const lacis_batch_group *lacis_solve_matrix_group(const lacis_solve *work, int64_t g)
{
    const lacis_batch *s = &work->matrix.batch;
    return &s->group[work->one && s->groups == 1 ? 0 : g];
}

static bool is_within(const lacis_batch_group *group, int64_t begin, int64_t end)
{
    return group->lane + group->lanes > begin && group->lane < end && end > begin;
}

static int64_t groups_between(const lacis_batch *like, int64_t begin, int64_t end)
{
    int64_t count = 0;
    for (int64_t g = 0; g < like->groups; g++)
        count += is_within(&like->group[g], begin, end);
    return count;
}

static void fill_groups(const lacis_solve *work, int64_t begin, int64_t end, const lacis_batch *result,
                        lacis_solve_group *out, int64_t *count)
{
    const lacis_batch *like = &work->like->batch, *r = &work->rhs.batch;
    int64_t first = 0, n = 0;
    for (int64_t g = 0; g < like->groups; g++) {
        const lacis_batch_group *group = &like->group[g];
        int64_t lo = group->lane > begin ? group->lane : begin, hi = group->lane + group->lanes;
        if (!is_within(group, begin, end)) continue;
        if (hi > end) hi = end;
        const lacis_batch_group *matrix = lacis_solve_matrix_group(work, g);
        int64_t lane = lo - group->lane;
        out[n] = (lacis_solve_group){.lanes = hi - lo, .rows = group->rows, .first = first, .tree = matrix->row};
        out[n].matrix = work->one ? only_lane(matrix, work->lower.shared) : side_of(matrix, lane);
        out[n].rhs = side_of(&r->group[g], lane);
        /* An array of some lanes has just these groups; of all lanes, empty ones as well. */
        out[n].x = side_of(&result->group[result->groups == like->groups ? g : n], 0);
        first += hi - lo;
        n++;
    }
    *count = n;
}

/* A thread that has less than some tenths of a millisecond of work costs more to wake, and on a busy machine to wait
 * for, than it saves. */
static int threads_for(const lacis_run *run, const lacis_solve_job *job)
{
    const int64_t least = 100000; /* elements a thread */
    int64_t elements = 0, most = lacis_run_threads(run);
    for (int64_t g = 0; g < job->groups; g++)
        elements += job->group[g].lanes * job->group[g].rows;
    int64_t worth = elements / least;
    return (int)(worth < 1 ? 1 : worth < most ? worth : most);
}

lacis_status lacis_solve_job_of(lacis_run *run, const lacis_solve *work, int64_t begin, int64_t end,
                                const lacis_batch *result, lacis_solve_job *out)
{
    lacis_solve_group *group;
    *out = (lacis_solve_job){.type = work->type,
                             .lower = work->lower,
                             .diagonal = work->diagonal,
                             .upper = work->upper,
                             .rhs = work->right,
                             .parent = work->matrix.batch.parent};
    if (work->one) out->lower.shared = out->diagonal.shared = out->upper.shared = true;
    LACIS_TRY(
        lacis_run_scratch(run, sizeof *group * (uint64_t)groups_between(&work->like->batch, begin, end), &group));
    fill_groups(work, begin, end, result, group, &out->groups);
    out->group = group;
    out->threads = threads_for(run, out);
    return LACIS_OK;
}

lacis_status lacis_solve_whole_job(lacis_run *run, lacis_solve *work, const lacis_solve_job **out)
{
    const lacis_batch *like = &work->like->batch;
    if (work->whole == NULL) {
        lacis_solve_job *job;
        LACIS_TRY(lacis_run_scratch(run, sizeof *job, &job));
        LACIS_TRY(lacis_solve_job_of(run, work, 0, like->lanes, like, job));
        work->whole = job;
    }
    *out = work->whole;
    return LACIS_OK;
}
