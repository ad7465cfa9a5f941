/* SPDX-License-Identifier: Apache-2.0
 *
 * Flat trees for THREAD, whose threads side by side are lanes: of Flat arrays they would read eight bytes in each
 * sector of 32. Where lanes are many their rows are put side by side first, in panels, solved so, and x is put back:
 * two words more for each that is read or written, instead of three. Called by gpu_tree.cu.
 */
#include "gpu_tree_turn.h"

#include <stdlib.h>
#include <string.h>

namespace
{
enum { TILE = 32, ROWS_AT_ONCE = 8, LEAST_LANES = 1 << 12, FIELDS = 4 };
#ifndef TREE_PANEL_BYTES /* tests of panels define less */
#define TREE_PANEL_BYTES ((uint64_t)1 << 30)
#endif
const uint64_t PANEL_BYTES = TREE_PANEL_BYTES;

/* Flat to Full (of `pitch` lanes), or back. */
template <class S>
__global__ void __launch_bounds__(TILE *ROWS_AT_ONCE)
    turn_kernel(S *flat, S *full, int64_t lanes, int64_t rows, int64_t pitch, bool back)
{
    __shared__ S tile[TILE][TILE + 1];
    solve_gpu_begin();
    const int64_t lane0 = (int64_t)blockIdx.x * TILE;
    const int me = threadIdx.x % TILE, other = threadIdx.x / TILE;
    for (int64_t row0 = (int64_t)blockIdx.y * TILE; row0 < rows; row0 += (int64_t)gridDim.y * TILE) {
        __syncthreads();
        for (int i = other; i < TILE; i += ROWS_AT_ONCE) { /* i: lane of Flat, row of Full */
            const int64_t lane = back ? lane0 + me : lane0 + i, row = back ? row0 + i : row0 + me;
            if (lane < lanes && row < rows)
                tile[i][me] = __ldcs(back ? full + row * pitch + lane : flat + lane * rows + row);
        }
        __syncthreads();
        for (int i = other; i < TILE; i += ROWS_AT_ONCE) {
            const int64_t lane = back ? lane0 + i : lane0 + me, row = back ? row0 + me : row0 + i;
            if (lane < lanes && row < rows)
                *(back ? flat + lane * rows + row : full + row * pitch + lane) = tile[me][i];
        }
    }
}

cudaError_t turn(const lacis_solve_gpu_job *job, void *flat, void *full, const lacis_solve_group *part, bool back)
{
    int64_t lanes = part->lanes, rows = part->rows, pitch = part->lanes, high = (rows + TILE - 1) / TILE;
    void *arguments[] = {&flat, &full, &lanes, &rows, &pitch, &back};
    const dim3 grid((unsigned)((lanes + TILE - 1) / TILE), (unsigned)(high < 1024 ? high : 1024));
    const solve_gpu_start_at at = {grid, TILE * ROWS_AT_ONCE, 1, 0, (cudaStream_t)job->stream};
    return solve_gpu_start(&at,
                           lacis_solve_bytes(job->job.type) == 8 ? (const void *)turn_kernel<double>
                                                                 : (const void *)turn_kernel<float>,
                           arguments);
}

const lacis_solve_field *field_of(const lacis_solve_job *job, int i)
{
    const lacis_solve_field *field[FIELDS] = {&job->lower, &job->diagonal, &job->upper, &job->rhs};
    return field[i];
}

/* Arrays of a panel, x included. */
int own_fields(const lacis_solve_job *job)
{
    int count = 1;
    for (int i = 0; i < FIELDS; i++)
        count += !field_of(job, i)->shared;
    return count;
}

/* Elements of a panel's array: the job's, or what fits PANEL_BYTES, but a lane at least. */
int64_t panel_elements(const lacis_solve_job *job)
{
    int64_t all = 0;
    for (int64_t g = 0; g < job->groups; g++)
        all += tree_is_empty(&job->group[g]) ? 0 : job->group[g].lanes * job->group[g].rows;
    const int64_t fit = (int64_t)(PANEL_BYTES / (uint64_t)(own_fields(job) * lacis_solve_bytes(job->type)));
    const int64_t least = tree_most_rows(job), most = fit > least ? fit : least;
    return all < most ? all : most;
}

char *array_of(const tree_turn *t, int i)
{
    return (char *)t->block + (uint64_t)i * t->array_bytes;
}

/* The side of a part in an array of the panel. */
lacis_solve_side beside(const lacis_solve_side *from, int64_t place, int64_t lanes)
{
    return {place, lanes, 0, from->row, from->step};
}
} // namespace

bool tree_turns(const lacis_solve_job *j, lacis_solve_gpu_way planned)
{
    int64_t lanes = 0, groups = 0;
    if (planned != LACIS_SOLVE_GPU_THREAD) return false;
    const bool matrix = !j->lower.shared || !j->diagonal.shared || !j->upper.shared;
    for (int64_t g = 0; g < j->groups; g++) {
        const lacis_solve_group *group = &j->group[g];
        if (tree_is_empty(group)) continue;
        if (group->x.block != 1 || (!j->rhs.shared && group->rhs.block != 1) || (matrix && group->matrix.block != 1))
            return false;
        lanes += group->lanes;
        groups++;
    }
    return groups > 0 && lanes / groups >= LEAST_LANES;
}

static uint64_t array_bytes_of(const lacis_solve_job *job)
{
    return ((uint64_t)panel_elements(job) * (uint64_t)lacis_solve_bytes(job->type) + 255) / 256 * 256;
}

uint64_t tree_turn_bytes(const lacis_solve_job *job)
{
    return array_bytes_of(job) * (uint64_t)own_fields(job);
}

bool tree_turn_new(const lacis_solve_gpu_job *job, tree_turn *t)
{
    const lacis_solve_job *j = &job->job;
    memset(t, 0, sizeof *t);
    t->from = job;
    t->job = *job;
    t->elements = panel_elements(j);
    t->array_bytes = array_bytes_of(j);
    t->group = (lacis_solve_group *)malloc(sizeof *t->group * (size_t)j->groups);
    if (t->group == NULL || !solve_gpu_take(job, tree_turn_bytes(j), &t->block)) return false;
    lacis_solve_field *to[FIELDS] = {&t->job.job.lower, &t->job.job.diagonal, &t->job.job.upper, &t->job.job.rhs};
    int array = 0;
    for (int i = 0; i < FIELDS; i++)
        if (!to[i]->shared) to[i]->data = array_of(t, array++);
    t->job.job.x = array_of(t, array);
    t->job.job.group = t->group;
    return true;
}

void tree_turn_clear(tree_turn *t)
{
    solve_gpu_give(t->from, t->block);
    free(t->group);
}

/* Lanes [lane, lane + part->lanes) of group g, there and here. */
static cudaError_t turn_fields(const tree_turn *t, const lacis_solve_group *group, int64_t lane,
                               const lacis_solve_group *part, bool back)
{
    const lacis_solve_job *from = &t->from->job, *to = &t->job.job;
    const int64_t bytes = lacis_solve_bytes(from->type);
    cudaError_t error = cudaSuccess;
    for (int i = back ? FIELDS : 0; error == cudaSuccess && i < (back ? FIELDS + 1 : FIELDS); i++) {
        if (i < FIELDS && field_of(from, i)->shared) continue;
        const lacis_solve_side *side = i == FIELDS ? &group->x : i == FIELDS - 1 ? &group->rhs : &group->matrix;
        const lacis_solve_side *own = i == FIELDS ? &part->x : i == FIELDS - 1 ? &part->rhs : &part->matrix;
        char *flat = (char *)(i == FIELDS ? from->x : field_of(from, i)->data), *full;
        full = (char *)(i == FIELDS ? to->x : field_of(to, i)->data) + own->place * bytes;
        flat += (side->place + (side->lane + lane) * group->rows) * bytes;
        error = turn(t->from, flat, full, part, back);
    }
    return error;
}

bool tree_turn_next(tree_turn *t, cudaError_t *error)
{
    const lacis_solve_job *from = &t->from->job;
    int64_t used = 0;
    memcpy(t->group, from->group, sizeof *t->group * (size_t)from->groups);
    for (int64_t g = 0; g < from->groups; g++)
        t->group[g].lanes = 0;
    t->first_group = t->next_group;
    t->first_lane = t->next_lane;
    for (; *error == cudaSuccess && t->next_group < from->groups; t->next_group++, t->next_lane = 0) {
        const lacis_solve_group *group = &from->group[t->next_group];
        lacis_solve_group *part = &t->group[t->next_group];
        if (tree_is_empty(group)) continue;
        const int64_t fit = (t->elements - used) / group->rows, left = group->lanes - t->next_lane;
        part->lanes = fit < left ? fit : left;
        if (part->lanes == 0) break;
        part->first = group->first + t->next_lane;
        part->matrix = beside(&group->matrix, used, part->lanes);
        part->rhs = beside(&group->rhs, used, part->lanes);
        part->x = beside(&group->x, used, part->lanes);
        used += part->lanes * part->rows;
        *error = turn_fields(t, group, t->next_lane, part, false);
        if (part->lanes == left) continue;
        t->next_lane += part->lanes;
        break;
    }
    return used > 0 && *error == cudaSuccess;
}

cudaError_t tree_turn_back(const tree_turn *t)
{
    const lacis_solve_job *from = &t->from->job;
    cudaError_t error = cudaSuccess;
    for (int64_t g = t->first_group; error == cudaSuccess && g < from->groups; g++)
        if (t->group[g].lanes > 0)
            error = turn_fields(t, &from->group[g], g == t->first_group ? t->first_lane : 0, &t->group[g], true);
    return error;
}
