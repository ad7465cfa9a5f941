/* SPDX-License-Identifier: Apache-2.0
 *
 * How a run is cut: into tasks of some ten thousand elements, and those into tiles whose intermediate values stay in
 * the second-level cache. Called from run.c.
 */
#include "solve/plan.h"

static const int64_t TASK_ELEMENTS = 1 << 16;
static const int64_t CACHE_BYTES = 768 << 10; /* of a wide tile's q, y and z */
static const int64_t MIXED_ROWS = 1 << 14;    /* chains longer than this are not mixed */

static const solve_loops *loops_of(const lacis_solve_job *job)
{
    return lacis_solve_kernels()->loops[job->type];
}

/* Of q, y and z for one lane. */
static int64_t lane_bytes(const lacis_solve_job *job, int64_t rows)
{
    int64_t element = job->type == LACIS_SOLVE_F32 ? 4 : job->type == LACIS_SOLVE_C128 ? 16 : 8;
    return rows * element * (job->parent == NULL ? 2 : 3);
}

static bool wide_fits(const lacis_solve_job *job, int64_t rows, int wide)
{
    return rows <= CACHE_BYTES && lane_bytes(job, rows) * wide <= CACHE_BYTES;
}

bool lacis_solve_alike(int64_t rows, int64_t shortest, int64_t longest)
{
    return rows <= 2 * shortest && longest <= 2 * rows;
}

int lacis_solve_next(const lacis_solve_job *job, const int *lanes, const lacis_solve_group *group, int64_t lane,
                     int64_t left, solve_width *width)
{
    const int wide = lanes[SOLVE_WIDTH_WIDE], narrow = lanes[SOLVE_WIDTH_NARROW];
    bool smooth = left >= wide && lacis_solve_smooth(job, group, lane, wide);
    *width = SOLVE_WIDTH_WIDE;
    if (smooth && wide_fits(job, group->rows, wide)) return wide;
    *width = SOLVE_WIDTH_NARROW;
    if (left >= narrow) return narrow;
    if (job->parent == NULL && !lacis_solve_is_shared(job) && group->rows <= MIXED_ROWS) return 0;
    if (left == 1 && lanes[SOLVE_WIDTH_ONE] == 1) *width = SOLVE_WIDTH_ONE;
    return (int)left;
}

uint64_t lacis_solve_room(const lacis_solve_job *job)
{
    const int *lanes = loops_of(job)->lanes;
    const int wide = lanes[SOLVE_WIDTH_WIDE], narrow = lanes[SOLVE_WIDTH_NARROW], one = lanes[SOLVE_WIDTH_ONE];
    const int64_t each = job->parent == NULL ? 2 : 3;
    int64_t most = 0;
    for (int64_t g = 0; g < job->groups; g++) {
        const lacis_solve_group *group = &job->group[g];
        bool alone = group->lanes == 1 && one == 1 && (job->parent != NULL || group->rows > MIXED_ROWS);
        int64_t width = alone ? one : group->lanes >= wide && wide_fits(job, group->rows, wide) ? wide : narrow;
        int64_t bytes = width * lane_bytes(job, group->rows) / each;
        if (group->lanes > 0 && bytes > most) most = bytes;
    }
    return (uint64_t)most;
}

bool lacis_solve_is_shared(const lacis_solve_job *job)
{
    return job->type != LACIS_SOLVE_C128 && job->lower.shared && job->diagonal.shared && job->upper.shared;
}

int64_t lacis_solve_longest(const lacis_solve_job *job)
{
    int64_t most = 0;
    for (int64_t g = 0; g < job->groups; g++)
        if (job->group[g].rows > most) most = job->group[g].rows;
    return most;
}

int64_t lacis_solve_rows(const lacis_solve_job *job)
{
    int64_t rows = 0;
    for (int64_t g = 0; g < job->groups; g++)
        rows += job->group[g].rows;
    return rows;
}

/* --- tasks ------------------------------------------------------------------------------------------ */

/* Lanes of a group that a task takes: whole wide tiles, unless there would be too few for the threads. */
static int64_t task_lanes(const lacis_solve_job *job, const lacis_solve_group *group)
{
    const int *lanes = loops_of(job)->lanes;
    int64_t unit = lanes[SOLVE_WIDTH_WIDE], rows = group->rows > 0 ? group->rows : 1;
    if (group->lanes < 2 * unit * job->threads) unit = lanes[SOLVE_WIDTH_NARROW];
    int64_t units = TASK_ELEMENTS / rows / unit;
    return units > 1 ? units * unit : unit;
}

/* Small groups go together; large ones are cut. */
int64_t lacis_solve_tasks(const lacis_solve_job *job, solve_task *out)
{
    int64_t count = 0, group = 0, lane = 0;
    while (group < job->groups) {
        solve_task task = {group, lane, group, lane};
        int64_t room = TASK_ELEMENTS;
        while (task.end_group < job->groups && room > 0) {
            const lacis_solve_group *next = &job->group[task.end_group];
            int64_t rows = next->rows > 0 ? next->rows : 1, left = next->lanes - task.end_lane;
            int64_t most = task_lanes(job, next), whole = room / rows > left ? left : room / rows;
            if (whole < left && (task.end_group != group || left > most)) {
                if (task.end_group != group) break;
                task.end_lane += most;
                break;
            }
            room -= left * rows;
            task.end_group++;
            task.end_lane = 0;
        }
        if (out != NULL) out[count] = task;
        count++;
        group = task.end_group;
        lane = task.end_lane;
    }
    return count;
}
