/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a job: its tasks over threads, each task tile by tile; lanes about which the loops had doubts are looked at
 * one by one. Called by operators/solve.
 */
#include "solve/plan.h"

#include "common/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct worker {
    solve_tile tile;
    void *room;      /* q, y, z and the stages */
    double *scratch; /* of check.c; NULL until needed */
    solve_lane pending[SOLVE_LANES];
    int waiting; /* chains in pending */
    int64_t shortest, longest;
};

struct run {
    const lacis_solve_job *job;
    const solve_loops *loops;
    const solve_task *task;
    const int32_t *last;        /* solve_tree, of all rows */
    const solve_factor *factor; /* by group; NULL: each lane has its own matrix */
    const int64_t *factor_bad;  /* status word of the shared matrix, by group */
    uint64_t room;              /* bytes of q, y, z each */
    int64_t longest;
    bool past; /* solve_tile.past */
    struct worker *worker;
    _Atomic int64_t bad_lane, bad_lanes;
};

static void *take(const lacis_solve_job *job, uint64_t bytes)
{
    return job->host.alloc(job->host.context, bytes);
}

static void give(const lacis_solve_job *job, void *block)
{
    if (block != NULL) job->host.free(job->host.context, block);
}

/* --- checks ----------------------------------------------------------------------------------------- */

static void lower_to(_Atomic int64_t *least, int64_t value)
{
    int64_t present = atomic_load(least);
    while (value < present && !atomic_compare_exchange_weak(least, &present, value)) {
    }
}

static bool have_scratch(const struct run *run, struct worker *worker)
{
    if (worker->scratch == NULL)
        worker->scratch = take(run->job, sizeof(double) * SOLVE_SCRATCH * (uint64_t)run->longest);
    return worker->scratch != NULL;
}

static bool check_lane(struct run *run, struct worker *worker, const lacis_solve_group *group, int64_t lane,
                       bool sure)
{
    const lacis_solve_job *job = run->job;
    int64_t word = 0, of_job = group->first + lane;
    if ((!sure || job->residual != NULL) && !have_scratch(run, worker)) return false;
    if (!sure) word = lacis_solve_find(job, group, lane, worker->scratch);
    if (job->residual != NULL) lacis_solve_residual(job, group, lane, worker->scratch);
    if (job->status != NULL) job->status[of_job] = word;
    if (word == 0) return true;
    atomic_fetch_add(&run->bad_lanes, 1);
    lower_to(&run->bad_lane, of_job);
    return true;
}

/* --- tiles ------------------------------------------------------------------------------------------ */

static bool solve_lanes(struct run *run, struct worker *worker, int64_t g, int64_t lane, int count, solve_width width)
{
    const lacis_solve_job *job = run->job;
    const lacis_solve_group *group = &job->group[g];
    solve_tile *tile = &worker->tile;
    const bool chain = job->parent == NULL;
    lacis_solve_tile_of(job, group, lane, count, run->loops->lanes[width], tile);
    if (!chain) tile->tree = (solve_tree){job->parent + group->tree, run->last + group->tree};
    tile->factor = run->factor == NULL ? NULL : &run->factor[g];
    const solve_fn *own = chain ? run->loops->chain : run->loops->tree;
    const solve_fn *factored = chain ? run->loops->chain_factored : run->loops->tree_factored;
    tile->past = run->past;
    bool sure = (run->factor == NULL ? own : factored)[width](tile);
    if (run->factor != NULL && run->factor_bad[g] != 0) sure = false;
    if (sure && job->residual == NULL && job->status == NULL) return true;
    for (int l = 0; l < count; l++)
        if (!check_lane(run, worker, group, lane + l, sure)) return false;
    return true;
}

/* Chains of several groups beside each other. */
static bool solve_pending(struct run *run, struct worker *worker)
{
    const lacis_solve_job *job = run->job;
    const int count = worker->waiting;
    worker->waiting = 0;
    if (count == 0) return true;
    if (count == 1 && run->loops->lanes[SOLVE_WIDTH_ONE] == 1)
        return solve_lanes(run, worker, worker->pending[0].group - job->group, worker->pending[0].lane, 1,
                           SOLVE_WIDTH_ONE);
    solve_tile *tile = &worker->tile;
    lacis_solve_tile_mixed(job, worker->pending, count, tile);
    tile->factor = NULL;
    tile->past = false;
    bool sure = run->loops->chain[SOLVE_WIDTH_NARROW](tile);
    for (int l = 0; l < count; l++)
        if (!check_lane(run, worker, worker->pending[l].group, worker->pending[l].lane, sure)) return false;
    return true;
}

static bool wait_with(struct run *run, struct worker *worker, const lacis_solve_group *group, int64_t lane)
{
    if (worker->waiting > 0 && !lacis_solve_alike(group->rows, worker->shortest, worker->longest))
        if (!solve_pending(run, worker)) return false;
    if (worker->waiting == 0 || group->rows < worker->shortest) worker->shortest = group->rows;
    if (worker->waiting == 0 || group->rows > worker->longest) worker->longest = group->rows;
    worker->pending[worker->waiting++] = (solve_lane){group, lane};
    return worker->waiting < run->loops->lanes[SOLVE_WIDTH_NARROW] || solve_pending(run, worker);
}

static bool solve_group(struct run *run, struct worker *worker, int64_t g, int64_t lane, int64_t end)
{
    const lacis_solve_job *job = run->job;
    const lacis_solve_group *group = &job->group[g];
    while (lane < end) {
        solve_width width;
        int count = lacis_solve_next(job, run->loops->lanes, group, lane, end - lane, &width);
        if (count == 0) {
            if (!wait_with(run, worker, group, lane++)) return false;
            continue;
        }
        if (!solve_lanes(run, worker, g, lane, count, width)) return false;
        lane += count;
    }
    return true;
}

/* --- workers ---------------------------------------------------------------------------------------- */

static uint64_t stage_bytes(const struct run *run)
{
    uint64_t element = (uint64_t)lacis_solve_computed_bytes(run->job->type);
    uint64_t planes = run->job->type == LACIS_SOLVE_C128 ? 2 : 1;
    return SOLVE_CHUNK * (uint64_t)run->loops->lanes[SOLVE_WIDTH_WIDE] * element * planes;
}

static uint64_t rounded_up(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static uint64_t worker_bytes(const struct run *run)
{
    uint64_t tables = run->job->parent == NULL ? 2 : 3;
    return tables * rounded_up(run->room) + (SOLVE_ROLES + 1) * stage_bytes(run);
}

static bool make_room(const struct run *run, struct worker *worker)
{
    if (worker->room != NULL) return true;
    worker->room = take(run->job, worker_bytes(run));
    if (worker->room == NULL) return false;
    char *at = worker->room;
    const uint64_t table = rounded_up(run->room);
    for (int i = 0; i <= SOLVE_ROLES; i++, at += stage_bytes(run))
        worker->tile.stage[i] = at;
    worker->tile.q = at;
    worker->tile.y = at + table;
    worker->tile.z = run->job->parent == NULL ? NULL : at + 2 * table;
    return true;
}

static int solve_task_of(void *context, int64_t index, int at)
{
    struct run *run = context;
    struct worker *worker = &run->worker[at];
    const lacis_solve_job *job = run->job;
    const solve_task *task = &run->task[index];
    if (job->host.cancelled != NULL && job->host.cancelled(job->host.context)) return LACIS_SOLVE_CANCELLED;
    if (job->status == NULL && atomic_load(&run->bad_lane) < job->group[task->group].first + task->lane)
        return LACIS_SOLVE_OK;
    if (!make_room(run, worker)) return LACIS_SOLVE_NO_MEMORY;
    for (int64_t g = task->group; g <= task->end_group && g < job->groups; g++) {
        const lacis_solve_group *group = &job->group[g];
        int64_t begin = g == task->group ? task->lane : 0, end = g == task->end_group ? task->end_lane : group->lanes;
        if (group->rows == 0) {
            if (job->status != NULL && end > begin)
                memset(job->status + group->first + begin, 0, sizeof *job->status * (size_t)(end - begin));
            continue;
        }
        if (!solve_group(run, worker, g, begin, end)) return LACIS_SOLVE_NO_MEMORY;
    }
    return solve_pending(run, worker) ? LACIS_SOLVE_OK : LACIS_SOLVE_NO_MEMORY;
}

/* --- what all lanes share --------------------------------------------------------------------------- */

static void find_last(const lacis_solve_job *job, int32_t *last)
{
    for (int64_t g = 0; g < job->groups; g++) {
        const int32_t *parent = job->parent + job->group[g].tree;
        int32_t *own = last + job->group[g].tree;
        for (int64_t r = 0; r < job->group[g].rows; r++)
            own[r] = -1;
        for (int64_t r = 0; r < job->group[g].rows; r++)
            if (parent[r] >= 0) own[parent[r]] = (int32_t)r;
    }
}

typedef struct shared {
    int32_t *last;
    solve_factor *factor;
    int64_t *factor_bad;
    char *values;
    double *scratch;
    solve_task *task;
    struct worker *worker;
} shared;

static void share_clear(const lacis_solve_job *job, shared *s)
{
    for (int i = 0; s->worker != NULL && i < job->threads; i++) {
        give(job, s->worker[i].room);
        give(job, s->worker[i].scratch);
    }
    give(job, s->worker);
    give(job, s->last);
    give(job, s->factor);
    give(job, s->factor_bad);
    give(job, s->values);
    give(job, s->scratch);
    give(job, s->task);
}

/* Rows of the trees of all groups: groups may lie anywhere in parent. */
static int64_t tree_rows(const lacis_solve_job *job)
{
    int64_t end = 0;
    for (int64_t g = 0; g < job->groups; g++)
        if (job->group[g].tree + job->group[g].rows > end) end = job->group[g].tree + job->group[g].rows;
    return end;
}

static bool factor_all(struct run *run, shared *s)
{
    const lacis_solve_job *job = run->job;
    const uint64_t element = (uint64_t)lacis_solve_computed_bytes(job->type);
    const uint64_t rows = (uint64_t)lacis_solve_rows(job), table = rounded_up(rows * element);
    if (!lacis_solve_is_shared(job)) return true;
    s->factor = take(job, sizeof *s->factor * (uint64_t)job->groups);
    s->factor_bad = take(job, sizeof *s->factor_bad * (uint64_t)job->groups);
    s->values = take(job, 3 * table);
    s->scratch = take(job, sizeof(double) * SOLVE_SCRATCH * (uint64_t)run->longest);
    if (s->factor == NULL || s->factor_bad == NULL || s->values == NULL || s->scratch == NULL) return false;
    char *at = s->values;
    for (int64_t g = 0; g < job->groups; g++) {
        s->factor[g] = (solve_factor){at, at + table, at + 2 * table};
        s->factor_bad[g] = 0;
        if (job->group[g].lanes > 0)
            s->factor_bad[g] = lacis_solve_factor(job, &job->group[g], &s->factor[g], s->scratch);
        at += (uint64_t)job->group[g].rows * element;
    }
    run->factor = s->factor;
    run->factor_bad = s->factor_bad;
    return true;
}

static bool share(struct run *run, shared *s, int64_t *tasks)
{
    const lacis_solve_job *job = run->job;
    *tasks = lacis_solve_tasks(job, NULL);
    s->task = take(job, sizeof *s->task * (uint64_t)*tasks);
    s->worker = take(job, sizeof *s->worker * (uint64_t)job->threads);
    if (s->worker == NULL) return false;
    memset(s->worker, 0, sizeof *s->worker * (size_t)job->threads); /* share_clear looks into it */
    if (s->task == NULL) return false;
    lacis_solve_tasks(job, s->task);
    if (job->parent != NULL) {
        s->last = take(job, sizeof *s->last * (uint64_t)tree_rows(job));
        if (s->last == NULL) return false;
        find_last(job, s->last);
    }
    run->task = s->task;
    run->worker = s->worker;
    run->last = s->last;
    return factor_all(run, s);
}

/* Whether x is more than caches hold. */
static bool is_large(const lacis_solve_job *job)
{
    const double most = 2 << 20;
    double bytes = 0;
    for (int64_t g = 0; g < job->groups; g++)
        bytes += (double)job->group[g].lanes * (double)job->group[g].rows * lacis_solve_bytes(job->type);
    return bytes > most;
}

static bool say_bad(struct run *run, lacis_solve_output *out)
{
    const lacis_solve_job *job = run->job;
    struct worker *worker = &run->worker[0];
    out->bad_lane = run->bad_lane;
    if (!have_scratch(run, worker)) return false;
    for (int64_t g = 0; g < job->groups; g++) {
        const lacis_solve_group *group = &job->group[g];
        int64_t lane = out->bad_lane - group->first;
        if (lane >= 0 && lane < group->lanes) out->bad = lacis_solve_find(job, group, lane, worker->scratch);
    }
    return true;
}

lacis_solve_status lacis_solve_run(const lacis_solve_job *job, lacis_solve_output *out)
{
    shared s = {0};
    int64_t tasks;
    struct run run = {.job = job,
                      .loops = lacis_solve_kernels()->loops[job->type],
                      .room = lacis_solve_room(job),
                      .longest = lacis_solve_longest(job),
                      .past = is_large(job),
                      .bad_lane = INT64_MAX};
    *out = (lacis_solve_output){0};
    int status = LACIS_SOLVE_NO_MEMORY;
    if (share(&run, &s, &tasks)) status = lacis_parallel(job->threads, tasks, solve_task_of, &run);
    if (status == LACIS_SOLVE_OK && job->status == NULL && run.bad_lane < INT64_MAX) {
        status = LACIS_SOLVE_BAD;
        if (!say_bad(&run, out)) status = LACIS_SOLVE_NO_MEMORY;
    }
    out->bad_lanes = run.bad_lanes;
    out->factored = run.factor == NULL ? 0 : job->groups;
    share_clear(job, &s);
    return (lacis_solve_status)status;
}

uint64_t lacis_solve_work_bytes(const lacis_solve_job *job)
{
    struct run run = {.job = job,
                      .loops = lacis_solve_kernels()->loops[job->type],
                      .room = lacis_solve_room(job),
                      .longest = lacis_solve_longest(job)};
    const uint64_t threads = (uint64_t)job->threads, rows = (uint64_t)lacis_solve_rows(job);
    uint64_t bytes = threads * (worker_bytes(&run) + sizeof(struct worker));
    bytes += sizeof(solve_task) * (uint64_t)lacis_solve_tasks(job, NULL);
    if (job->residual != NULL || job->status != NULL)
        bytes += threads * sizeof(double) * SOLVE_SCRATCH * (uint64_t)run.longest;
    if (job->parent != NULL) bytes += sizeof(int32_t) * (uint64_t)tree_rows(job);
    if (lacis_solve_is_shared(job)) bytes += rows * 3 * 8 + (uint64_t)job->groups * 32;
    return bytes;
}
