/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of trees: the order or the schedule of each shape, put into one block on the device. Groups that follow each
 * other and have the same tree share theirs. Called by gpu_tree.cu and gpu_run.cu.
 */
#include "common/gpu_shared.h"
#include "gpu_tree_host.h"

#include <stdlib.h>
#include <string.h>

int64_t tree_most_rows(const lacis_solve_job *job)
{
    int64_t most = 0;
    for (int64_t g = 0; g < job->groups; g++)
        if (!tree_is_empty(&job->group[g]) && job->group[g].rows > most) most = job->group[g].rows;
    return most;
}

int64_t tree_tiles(const lacis_solve_job *job, int lanes)
{
    int64_t tiles = 0;
    for (int64_t g = 0; g < job->groups; g++)
        if (!tree_is_empty(&job->group[g])) tiles += (job->group[g].lanes + lanes - 1) / lanes;
    return tiles;
}

int64_t tree_coef_rows(const lacis_solve_job *job)
{
    int64_t rows = 0;
    for (int64_t g = 0; g < job->groups; g++)
        if (!tree_is_empty(&job->group[g])) rows += job->group[g].rows;
    return rows;
}

int64_t tree_list_groups(const lacis_solve_job *job, const solve_gpu_tree_plan *plan, int lanes, tree_group *list,
                         int64_t *tiles, int64_t *weight)
{
    int64_t count = 0;
    *tiles = *weight = 0;
    for (int64_t i = 0; i < job->groups; i++) {
        const lacis_solve_group *from = &job->group[i];
        if (tree_is_empty(from)) continue;
        tree_group g = {};
        g.lanes = from->lanes;
        g.first = from->first;
        g.tile = *tiles;
        g.weight = *weight;
        g.plan = plan->at[i];
        g.coef = count == 0 ? 0 : list[count - 1].coef + list[count - 1].rows;
        g.rows = (int32_t)from->rows;
        g.depth = plan->depth[i];
        g.matrix = from->matrix;
        g.rhs = from->rhs;
        g.x = from->x;
        const int64_t own = (g.lanes + lanes - 1) / lanes;
        *tiles += own;
        *weight += own * g.rows;
        list[count++] = g;
    }
    return count;
}

namespace
{
uint64_t rounded(uint64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* A table that grows on the host until it goes to the device. */
struct table {
    char *data;
    uint64_t used, room;
};

char *append(table *t, uint64_t bytes)
{
    const uint64_t need = t->used + rounded(bytes);
    if (need > t->room || t->data == NULL) {
        const uint64_t room = need + need / 2 + 4096;
        char *data = (char *)realloc(t->data, room);
        if (data == NULL) return NULL;
        t->data = data;
        t->room = room;
    }
    char *at = t->data + t->used;
    memset(at, 0, rounded(bytes));
    t->used = need;
    return at;
}

bool append_order(table *t, const tree_order *order)
{
    const uint64_t n = (uint64_t)order->rows;
    char *at = append(t, n * (sizeof(tree_entry) + 2 * sizeof(int32_t)));
    if (at == NULL) return false;
    memcpy(at, order->entry, n * sizeof(tree_entry));
    memcpy(at + n * sizeof(tree_entry), order->children.first, n * sizeof(int32_t));
    memcpy(at + n * (sizeof(tree_entry) + sizeof(int32_t)), order->children.next, n * sizeof(int32_t));
    return true;
}

bool append_levels(table *t, const tree_levels *l)
{
    const uint64_t phase = rounded(sizeof(tree_branches_head));
    const uint64_t branch = phase + rounded((uint64_t)l->phases * sizeof(tree_phase));
    const uint64_t child = branch + rounded((uint64_t)l->branches * sizeof(tree_branch));
    char *at = append(t, child + 4 * (uint64_t)l->children);
    if (at == NULL) return false;
    *(tree_branches_head *)at = {l->phases, l->branches, (int32_t)phase, (int32_t)branch, (int32_t)child, {0, 0, 0}};
    memcpy(at + phase, l->phase, (size_t)l->phases * sizeof(tree_phase));
    memcpy(at + branch, l->branch, (size_t)l->branches * sizeof(tree_branch));
    memcpy(at + child, l->child, (size_t)l->children * sizeof(int32_t));
    return true;
}

bool append_schedule(table *t, const tree_schedule *s)
{
    const uint64_t begin = rounded(sizeof(tree_lanes_head)), op = begin + rounded(4 * ((uint64_t)s->warps + 1));
    const uint64_t ops = (uint64_t)s->ops * (uint64_t)s->parts, gather = op + ops * sizeof(tree_op);
    const uint64_t arrivals = gather + rounded(2 * (uint64_t)s->gathers);
    const uint64_t bytes = arrivals + rounded(4 * (uint64_t)s->barriers);
    char *at = append(t, bytes);
    if (at == NULL) return false;
    tree_lanes_head *head = (tree_lanes_head *)at;
    head->rows = s->rows;
    head->ops = (int32_t)ops;
    head->gathers = s->gathers;
    head->barriers = s->barriers;
    head->begin = (int32_t)begin;
    head->op = (int32_t)op;
    head->gather = (int32_t)gather;
    head->arrivals = (int32_t)arrivals;
    head->bytes = (int32_t)bytes;
    memcpy(at + begin, s->begin, 4 * ((size_t)s->warps + 1));
    memcpy(at + op, s->op, ops * sizeof(tree_op));
    memcpy(at + gather, s->gather, 2 * (size_t)s->gathers);
    memcpy(at + arrivals, s->arrivals, 4 * (size_t)s->barriers);
    return true;
}

bool same_tree(const lacis_solve_group *x, const lacis_solve_group *y, const int32_t *parent)
{
    if (x->rows != y->rows) return false;
    return x->tree == y->tree || memcmp(parent + x->tree, parent + y->tree, (size_t)x->rows * sizeof *parent) == 0;
}

bool plan_schedule(const lacis_solve_job *job, const tree_order *order, solve_gpu_tree_plan *plan, table *t)
{
    tree_schedule s;
    if (!tree_schedule_make(order, plan->lanes.warps, 64 / plan->lanes.lanes, &s)) return false;
    const uint64_t bytes =
        tree_lanes_bytes(job, plan->lanes.lanes, s.rows, (int64_t)s.ops * s.parts, s.gathers, s.barriers, s.warps);
    if (bytes > plan->lanes.shared_bytes) plan->lanes.shared_bytes = bytes;
    if (s.barriers > plan->lanes.barriers) plan->lanes.barriers = s.barriers;
    const bool good = append_schedule(t, &s);
    tree_schedule_clear(&s);
    return good;
}

bool plan_levels(const tree_order *order, solve_gpu_tree_plan *plan, table *t)
{
    tree_levels l;
    if (!tree_levels_make(order, &l)) return false;
    if (l.phases > plan->phases) plan->phases = l.phases;
    for (int32_t i = 0; i < l.phases; i++) {
        const int32_t some = l.phase[i].in_turn ? 1 : l.phase[i].end - l.phase[i].begin;
        if (some > plan->most_branches) plan->most_branches = some;
    }
    const bool good = append_levels(t, &l);
    tree_levels_clear(&l);
    return good;
}

bool plan_group(const lacis_solve_job *job, const int32_t *parent, int64_t g, lacis_solve_gpu_way way,
                solve_gpu_tree_plan *plan, table *t)
{
    tree_order order;
    if (!tree_order_make((int32_t)job->group[g].rows, parent + job->group[g].tree, &order)) return false;
    plan->at[g] = (int64_t)t->used;
    plan->depth[g] = order.depth;
    if (order.depth > plan->most_depth) plan->most_depth = order.depth;
    bool good;
    if (way == LACIS_SOLVE_GPU_LANES)
        good = plan_schedule(job, &order, plan, t);
    else
        good = append_order(t, &order);
    if (good && way == LACIS_SOLVE_GPU_BRANCHES) good = plan_levels(&order, plan, t);
    tree_order_clear(&order);
    return good;
}

bool plan_groups(const lacis_solve_job *job, const int32_t *parent, lacis_solve_gpu_way way,
                 solve_gpu_tree_plan *plan, table *t)
{
    int64_t before = -1;
    t->used = 0;
    plan->lanes.shared_bytes = 0;
    plan->lanes.barriers = 0;
    for (int64_t g = 0; g < job->groups; g++) {
        if (tree_is_empty(&job->group[g])) continue;
        if (before >= 0 && same_tree(&job->group[before], &job->group[g], parent)) {
            plan->at[g] = plan->at[before];
            plan->depth[g] = plan->depth[before];
        } else if (!plan_group(job, parent, g, way, plan, t)) {
            return false;
        }
        before = g;
    }
    return true;
}

bool append_groups(const lacis_solve_job *job, solve_gpu_tree_plan *plan, table *t)
{
    int64_t tiles, weight;
    plan->list = (tree_group *)malloc(sizeof(tree_group) * ((size_t)plan->groups + 1));
    if (plan->list == NULL) return false;
    plan->listed = tree_list_groups(job, plan, tree_tile_lanes(plan), plan->list, &tiles, &weight);
    plan->list_at = (int64_t)t->used;
    const uint64_t bytes = sizeof(tree_group) * (uint64_t)plan->listed;
    char *at = append(t, bytes);
    if (at == NULL) return false;
    memcpy(at, plan->list, bytes);
    const uint64_t places = sizeof *plan->at * (uint64_t)plan->groups,
                   depths = sizeof *plan->depth * (uint64_t)plan->groups;
    plan->at_at = (int64_t)t->used;
    at = append(t, places + depths);
    if (at == NULL) return false;
    memcpy(at, plan->at, places);
    memcpy(at + places, plan->depth, depths);
    return true;
}

/* --- LANES -------------------------------------------------------------------------------------------- */

int warps_for(int64_t rows, int lanes)
{
    const int64_t each = rows * lanes / 64;
    return each >= 120 ? TREE_WARPS_MOST : each >= 60 ? 8 : each >= 16 ? 4 : 2;
}

/* f32: more lanes in as many bytes. Small trees of f64 have room for two blocks of 64 lanes on a multiprocessor,
 * whose warps have no parts that wait for each other, if the lanes are many. */
int lanes_for(const lacis_solve_job *job, int64_t rows, int64_t processors)
{
    const int64_t small = 90, large = 128, enough = 8;
    const bool beside = job->type == LACIS_SOLVE_F64 && tree_shares_off(job);
    if (tree_computed_bytes(job->type) == 4) return rows >= large ? 64 : 32;
    return beside && rows <= small && tree_tiles(job, 64) >= enough * processors ? 64 : 32;
}

/* Makes the schedules and says whether they fit. */
bool plan_lanes_with(const lacis_solve_job *job, const int32_t *parent, int lanes, int warps,
                     solve_gpu_tree_plan *plan, table *t, bool *fits)
{
    plan->lanes.lanes = lanes;
    plan->lanes.warps = warps;
    if (!plan_groups(job, parent, LACIS_SOLVE_GPU_LANES, plan, t)) return false;
    plan->lanes.shared_bytes += rounded(8 * (uint64_t)plan->lanes.barriers);
    *fits = plan->lanes.shared_bytes <= LANES_BYTES_MOST;
    return true;
}

/* Few lanes a tile where there are few, so that all multiprocessors have some, or where rows are many. Fewer warps
 * have schedules with fewer gaps: that is slower than THREAD for many lanes, and much faster for few. What does not
 * fit whatever is tried is left to THREAD: long paths have schedules of many gaps. */
bool plan_lanes(const lacis_solve_job *job, const int32_t *parent, solve_gpu_tree_plan *plan, table *t)
{
    enum { PROCESSORS = 132, FEW_TILES = 4 * PROCESSORS };
    const int64_t rows = tree_most_rows(job);
    int lanes = lanes_for(job, rows, PROCESSORS);
    bool fits = false;
    while (lanes > 16 && tree_tiles(job, lanes) < PROCESSORS)
        lanes /= 2;
    for (; lanes >= 16; lanes /= 2)
        for (int warps = warps_for(rows, lanes); warps >= 2; warps /= 2) {
            if (!plan_lanes_with(job, parent, lanes, warps, plan, t, &fits)) return false;
            if (fits) return true;
            if (lanes > 16 || tree_tiles(job, lanes) > FEW_TILES) break;
        }
    plan->way = LACIS_SOLVE_GPU_THREAD;
    return plan_groups(job, parent, plan->way, plan, t);
}

cudaError_t find_blocks(const lacis_solve_job *job, tree_lanes_shape *s)
{
    int device, multiprocessors, each = 0;
    s->kernel = tree_lanes_kernel(job->type, s->lanes, tree_shares_off(job));
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = lacis_gpu_all_shared(s->kernel);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, s->kernel, 32 * s->warps, s->shared_bytes);
    if (error == cudaSuccess && each == 0) error = cudaErrorInvalidConfiguration;
    if (error == cudaSuccess) s->blocks = each * multiprocessors;
    return error;
}

lacis_solve_gpu_status to_device(const lacis_solve_gpu_job *job, const table *t, solve_gpu_tree_plan *plan,
                                 int *cuda_error)
{
    cudaError_t error = cudaSuccess;
    if (t->used == 0) return LACIS_SOLVE_GPU_OK;
    if (!solve_gpu_take(job, t->used, (void **)&plan->device)) return LACIS_SOLVE_GPU_NO_MEMORY;
    plan->bytes = t->used;
    if (plan->way == LACIS_SOLVE_GPU_LANES) error = find_blocks(&job->job, &plan->lanes);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(plan->device, t->data, t->used, cudaMemcpyHostToDevice, (cudaStream_t)job->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize((cudaStream_t)job->stream); /* the table goes */
    if (error == cudaSuccess) return LACIS_SOLVE_GPU_OK;
    *cuda_error = error;
    return LACIS_SOLVE_GPU_FAILED;
}
} // namespace

uint64_t tree_lanes_bytes(const lacis_solve_job *job, int lanes, int64_t rows, int64_t ops, int64_t gathers,
                          int64_t barriers, int warps)
{
    const uint64_t computed = (uint64_t)tree_computed_bytes(job->type), n = (uint64_t)rows + (lanes < 64);
    const bool shared = tree_shares_off(job);
    const uint64_t words = shared ? 2 : 4, width = (uint64_t)lanes;
    uint64_t bytes = rounded(sizeof(tree_lanes_head)) + rounded(4 * ((uint64_t)warps + 1));
    bytes += (uint64_t)ops * sizeof(tree_op) + rounded(2 * (uint64_t)gathers) + rounded(4 * (uint64_t)barriers);
    bytes += 2 * width * sizeof(unsigned) + rounded(n * (words * width + 2) * computed);
    bytes += (uint64_t)gathers * 2 * computed;
    if (shared) bytes += ((uint64_t)ops * 3 + 1) * computed;
    return bytes;
}

bool tree_lanes_fits(const lacis_solve_job *job, bool surely)
{
    const int64_t rows = tree_most_rows(job), ops = surely ? 4 * rows : rows;
    if (rows > TREE_LANES_ROWS) return false;
    return tree_lanes_bytes(job, 16, rows, ops, surely ? rows : rows / 3, surely ? rows : 0, TREE_WARPS_MOST) +
               (surely ? 8 * (uint64_t)rows : 0) <=
           LANES_BYTES_MOST;
}

lacis_solve_gpu_status solve_gpu_tree_plan_new(const lacis_solve_gpu_job *job, const int32_t *host_parent,
                                               solve_gpu_tree_plan **out, int *cuda_error)
{
    table t = {};
    *out = (solve_gpu_tree_plan *)calloc(1, sizeof **out);
    if (*out == NULL) return LACIS_SOLVE_GPU_NO_MEMORY;
    solve_gpu_tree_plan *plan = *out;
    const size_t groups = (size_t)job->job.groups;
    plan->way = job->way;
    plan->groups = job->job.groups;
    plan->at = (int64_t *)calloc(groups + 1, sizeof *plan->at);
    plan->depth = (int32_t *)calloc(groups + 1, sizeof *plan->depth);
    bool good = plan->at != NULL && plan->depth != NULL;
    if (good && job->way == LACIS_SOLVE_GPU_LANES)
        good = plan_lanes(&job->job, host_parent, plan, &t);
    else if (good)
        good = plan_groups(&job->job, host_parent, job->way, plan, &t);
    good = good && append_groups(&job->job, plan, &t);
    lacis_solve_gpu_status status = good ? to_device(job, &t, plan, cuda_error) : LACIS_SOLVE_GPU_NO_MEMORY;
    free(t.data);
    if (status != LACIS_SOLVE_GPU_OK) {
        solve_gpu_tree_plan_free(job, plan);
        *out = NULL;
    }
    return status;
}

void solve_gpu_tree_plan_free(const lacis_solve_gpu_job *job, solve_gpu_tree_plan *plan)
{
    if (plan == NULL) return;
    if (!plan->lent) solve_gpu_give(job, plan->device);
    free(plan->at);
    free(plan->depth);
    free(plan->list);
    free(plan);
}
