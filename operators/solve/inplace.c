/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE IN PLACE: blocks of lanes are solved into a side buffer, then copied over their right sides, of which nothing
 * is needed any more: checks and residuals of a block are done with it. Called from run.c.
 */
#include "solve/pieces.h"

/* Elements of a block; a single lane may have more. */
static const int64_t BLOCK = (int64_t)1 << 18;

struct in_place {
    lacis_solve_task *task;
    lacis_solve_group *group; /* of the block's job */
    int64_t groups;
    lacis_solve_lie lie;
    void *x, *residual; /* of the block */
    int64_t room;       /* elements of both */
};

/* One past the last lane of the task's job that a block from `lane` on takes. */
static int64_t block_end(const lacis_solve_job *job, int64_t lane)
{
    int64_t left = BLOCK, end = lane;
    for (int64_t g = 0; g < job->groups; g++) {
        const lacis_solve_group *group = &job->group[g];
        int64_t stop = group->first + group->lanes;
        if (stop <= end) continue;
        int64_t rows = group->rows > 0 ? group->rows : 1, taken = left / rows;
        if (taken < stop - end) return end + taken > lane ? end + taken : lane + 1;
        left -= (stop - end) * rows;
        end = stop;
    }
    return end;
}

/* Lanes [lane, end) of the task's job, their x in a place of their own. */
static void cut_groups(struct in_place *p, int64_t lane, int64_t end)
{
    const lacis_solve_task *task = p->task;
    const lacis_batch *shape = &task->shape, *like = &task->work->like->batch;
    int64_t nth = 0; /* of the job's groups: empty ones before its first lane are not among them */
    while (nth < like->groups && like->group[nth].lane + like->group[nth].lanes <= task->first)
        nth++;
    p->lie = (lacis_solve_lie){.exact = true};
    p->groups = 0;
    for (int64_t g = 0; g < task->job.groups; g++) {
        const lacis_solve_group *from = &task->job.group[g];
        int64_t lo = lane - from->first, hi = end - from->first;
        if (lo < 0) lo = 0;
        if (hi > from->lanes) hi = from->lanes;
        if (lo >= hi) continue;
        lacis_solve_group *to = &p->group[p->groups++];
        *to = *from;
        to->lanes = hi - lo;
        to->first = from->first + lo - lane;
        to->matrix.lane += task->work->one ? 0 : lo;
        to->rhs.lane += lo;
        to->x = lacis_solve_lie_add(&p->lie, shape, &shape->group[nth + g], lo, hi);
    }
}

static lacis_status make_room(struct in_place *p)
{
    lacis_run *run = p->task->run;
    const uint64_t size = (uint64_t)lacis_solve_bytes(p->task->work->type), places = (uint64_t)p->lie.places;
    if (p->lie.places <= p->room) return LACIS_OK;
    lacis_run_free(run, p->x);
    lacis_run_free(run, p->residual);
    p->x = p->residual = NULL;
    p->room = p->lie.places;
    LACIS_TRY(lacis_run_alloc(run, size * places, &p->x));
    if (p->task->job.residual == NULL) return LACIS_OK;
    return lacis_run_alloc(run, sizeof(double) * places, &p->residual);
}

static lacis_status solve_block(struct in_place *p, int64_t lane, int64_t end, int64_t *factored)
{
    lacis_solve_task *task = p->task;
    lacis_solve_job job = task->job;
    lacis_solve_output out;
    cut_groups(p, lane, end);
    LACIS_TRY(make_room(p));
    job.group = p->group;
    job.groups = p->groups;
    job.x = p->x;
    job.residual = p->residual;
    if (job.status != NULL) job.status += lane;
    LACIS_TRY(lacis_solve_on_cpu(task, lane, &job, &out));
    if (out.factored > *factored) *factored = out.factored;
    lacis_solve_lie_put(&p->lie, (uint64_t)lacis_solve_bytes(task->work->type), p->x, task->job.x);
    if (p->residual != NULL) lacis_solve_lie_put(&p->lie, sizeof(double), p->residual, task->job.residual);
    return LACIS_OK;
}

uint64_t lacis_solve_in_place_bytes(const lacis_solve *work)
{
    const lacis_batch *like = &work->like->batch;
    int64_t most = BLOCK > like->most_rows ? BLOCK : like->most_rows, flocks = work->block > 1 ? 2 * work->block : 0;
    double places = (double)most + (double)flocks * (double)like->most_rows;
    if (places > (double)like->places) places = (double)like->places;
    return (uint64_t)(places * (lacis_solve_bytes(work->type) + (work->residual ? 8 : 0)));
}

lacis_status lacis_solve_in_place(lacis_solve_task *task, lacis_buffer *right)
{
    lacis_run *run = task->run;
    struct in_place p = {.task = task};
    int64_t lanes = task->stop - task->first, factored = 0;
    lacis_status status = lacis_run_alloc(run, sizeof *p.group * (uint64_t)task->job.groups, &p.group);
    lacis_buffer_change(right);
    for (int64_t lane = 0; status == LACIS_OK && lane < lanes;) {
        int64_t end = block_end(&task->job, lane);
        status = solve_block(&p, lane, end, &factored);
        lane = end;
        lacis_run_advance(run, "SOLVE", (double)lane, (double)lanes, "lanes");
    }
    lacis_run_free(run, p.group);
    lacis_run_free(run, p.x);
    lacis_run_free(run, p.residual);
    if (factored > 0) lacis_run_count(run, "matrices factored", (double)factored);
    return status;
}
