/* SPDX-License-Identifier: Apache-2.0
 *
 * How a run is cut: tasks for threads, tiles of a task, and the memory that a thread needs for them. plan.c and
 * run.c.
 */
#ifndef LACIS_KERNELS_SOLVE_PLAN_H
#define LACIS_KERNELS_SOLVE_PLAN_H

#include "solve/inside.h"

/* Lanes from (group, lane) on, up to (end_group, end_lane) and without it. */
typedef struct solve_task {
    int64_t group, lane, end_group, end_lane;
} solve_task;

int64_t lacis_solve_tasks(const lacis_solve_job *job, solve_task *out); /* out NULL: only how many */

/* Lanes that the next tile of the group should take, of `left`, with solve_loops.lanes; 0: too few for a vector,
 * chains of other groups may go with them. *width: of the tile. */
int lacis_solve_next(const lacis_solve_job *job, const int *lanes, const lacis_solve_group *group, int64_t lane,
                     int64_t left, solve_width *width);
/* Whether short chains of this and another length may go together. */
bool lacis_solve_alike(int64_t rows, int64_t shortest, int64_t longest);

/* Bytes of tile.q, of y and of z each (0: not needed) for the largest tile there can be. */
uint64_t lacis_solve_room(const lacis_solve_job *job);
bool lacis_solve_is_shared(const lacis_solve_job *job); /* every matrix is shared by the lanes of its group */
int64_t lacis_solve_longest(const lacis_solve_job *job);
int64_t lacis_solve_rows(const lacis_solve_job *job); /* of all groups, once each */

#endif
