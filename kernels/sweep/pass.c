/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over a box: its tiles dealt to threads, each marching along z through all levels (inside.h).
 */
#include "sweep/inside.h"

#include "common/parallel.h"

#include <string.h>

/* --- the cells of a level --------------------------------------------------------------------------------- */

/* Cells that a level computes along an axis: as far out of the tile as the levels above it read, within the grid. */
static void span(const sweep_task *task, int level, int axis, int64_t *begin, int64_t *end)
{
    const sweep_plan *plan = &task->pass->system->plan;
    const int64_t out = (task->pass->levels - level) * plan->reach[axis];
    *begin = task->begin[axis] - out;
    *end = task->end[axis] + out;
    if (sweep_ends(plan, axis, 0) && *begin < 0) *begin = 0;
    if (sweep_ends(plan, axis, 1) && *end > plan->n[axis]) *end = plan->n[axis];
}

/* Cells along an axis that are not held. */
static void moving(const lacis_sweep *system, int field, int axis, int64_t *begin, int64_t *end)
{
    const sweep_face *face = &system->face[field][2 * axis];
    const int64_t reach = system->plan.reach[axis];
    *begin = face[0].held ? reach : INT64_MIN;
    *end = face[1].held ? system->plan.n[axis] - reach : INT64_MAX;
}

static bool is_held(const lacis_sweep *system, int field, int axis, int64_t at)
{
    int64_t begin, end;
    moving(system, field, axis, &begin, &end);
    return at < begin || at >= end;
}

/* --- rows ------------------------------------------------------------------------------------------------- */

struct row {
    const sweep_task *task;
    int level, field;
    int64_t y, z;
    char *out;       /* cell 0 */
    const char *old; /* cell 0 of the level before */
};

/* Taps of a row from x on. */
static void point(const struct row *row, int64_t x)
{
    const sweep_worker *worker = row->task->worker;
    const lacis_sweep *system = row->task->pass->system;
    const sweep_rule *rule = &system->rule[row->field];
    for (int i = 0; i < rule->taps; i++)
        worker->tap[i] = worker->tap_base[i].at + row->y * worker->tap_base[i].pitch + x * system->loops->size;
}

/* The caller's coordinates, of the whole grid. */
static void place(const lacis_sweep *system, const int64_t at[3], int64_t out[3])
{
    for (int d = 0; d < 3; d++)
        out[sweep_axis(system->start.dims, d)] = sweep_wrap(at[d] + system->plan.origin[d], system->plan.whole[d]);
}

static bool written(const struct row *row, int64_t begin, int64_t end)
{
    const lacis_sweep *system = row->task->pass->system;
    const int64_t size = system->loops->size, whole = system->plan.whole[0];
    for (int64_t x = begin; x < end;) {
        const int64_t from[3] = {x, row->y, row->z};
        int64_t at[3], n = end - x < LACIS_SWEEP_STRIP ? end - x : LACIS_SWEEP_STRIP;
        place(system, from, at);
        if (n > whole - at[0]) n = whole - at[0];
        point(row, x);
        if (!system->start.cells(system->start.cells_context, row->task->index, row->field, (int)n,
                                 row->task->worker->tap, at[0], at[1], at[2], system->t + row->level - 1,
                                 row->out + x * size))
            return false;
        x += n;
    }
    return true;
}

static void keep(const struct row *row, int64_t begin, int64_t end)
{
    const int64_t size = row->task->pass->system->loops->size;
    if (end > begin) memcpy(row->out + begin * size, row->old + begin * size, (size_t)((end - begin) * size));
}

static void add_change(const struct row *row, int64_t begin, int64_t end)
{
    const sweep_task *task = row->task;
    const sweep_loops *loops = task->pass->system->loops;
    const sweep_columns *columns = &task->worker->columns[row->field];
    const int64_t at = begin - task->begin[0];
    loops->change(row->out + begin * loops->size, row->old + begin * loops->size, end - begin, columns->squares + at,
                  (char *)columns->most + at * loops->size);
}

/* Cells [begin, end) of a row that is not held. */
static bool cells(const struct row *row, int64_t begin, int64_t end)
{
    const sweep_pass *pass = row->task->pass;
    const lacis_sweep *system = pass->system;
    const sweep_rule *rule = &system->rule[row->field];
    const bool last = row->level == pass->levels;
    int64_t from, to;
    moving(system, row->field, 0, &from, &to);
    from = from > begin ? (from < end ? from : end) : begin;
    to = to < end ? (to > from ? to : from) : end;
    keep(row, begin, from);
    keep(row, to, end);
    if (from >= to) return true;
    if (rule->written) {
        if (!written(row, from, to)) return false;
    } else {
        point(row, from);
        rule->row(rule, row->task->worker->tap, row->out + from * system->loops->size, to - from,
                  pass->stream && last);
    }
    if (pass->change && last) add_change(row, from, to);
    row->task->worker->updates += (double)(to - from);
    return true;
}

/* --- planes ----------------------------------------------------------------------------------------------- */

static sweep_plane target(const sweep_task *task, int level, int field, int64_t z)
{
    const lacis_sweep *system = task->pass->system;
    if (level < task->pass->levels) return lacis_sweep_ring_plane(task, level, field, z);
    return lacis_sweep_array_plane(system, 1 - system->now, field, z);
}

/* Where the taps of a rule begin in their planes. */
static void base(const sweep_task *task, int level, int field, int64_t z)
{
    const lacis_sweep *system = task->pass->system;
    const sweep_rule *rule = &system->rule[field];
    for (int i = 0; i < rule->taps; i++) {
        const lacis_sweep_tap *tap = &rule->tap[i];
        sweep_plane plane = lacis_sweep_plane(task, level - 1, tap->array, z + tap->at[2]);
        plane.at += tap->at[1] * plane.pitch + tap->at[0] * system->loops->size;
        task->worker->tap_base[i] = plane;
    }
}

static void settle_columns(const sweep_task *task, int field)
{
    const lacis_sweep *system = task->pass->system;
    const sweep_columns *columns = &task->worker->columns[field];
    system->loops->settle(columns->squares, columns->most, task->begin[0] + system->plan.origin[0],
                          task->end[0] - task->begin[0], &task->worker->change);
}

/* Tiles of the change end with this row. */
static bool tiles_end(const sweep_task *task, int64_t y, int64_t z)
{
    const lacis_sweep *system = task->pass->system;
    const int axis = sweep_axis(system->start.dims, SWEEP_Y); /* that is the caller's y */
    const int64_t at = axis == SWEEP_Y ? y : z;
    return at + 1 == task->end[axis] || (at + 1 + system->plan.origin[axis]) % LACIS_SWEEP_TILE_Y == 0;
}

/* What rings need beyond the faces of a plane just computed. */
static void ring_edges(const sweep_task *task, int level, int field, int64_t z, const int64_t begin[2],
                       const int64_t end[2])
{
    const lacis_sweep *system = task->pass->system;
    const sweep_plan *plan = &system->plan;
    sweep_window window = {{begin[0], begin[1]}, {end[0], end[1]}, {{false}}, {plan->reach[0], plan->reach[1]}};
    for (int d = 0; d < 2; d++) {
        window.ends[d][0] = sweep_ends(plan, d, 0) && begin[d] == 0;
        window.ends[d][1] = sweep_ends(plan, d, 1) && end[d] == plan->n[d];
    }
    const sweep_plane plane = lacis_sweep_ring_plane(task, level, field, z);
    lacis_sweep_edges(system, field, plane, &window, z);
    for (int side = 0; side < 2; side++) {
        const int64_t k = side == 0 ? z + 1 : plan->n[2] - z;
        if (system->face[field][2 * SWEEP_Z + side].kind == LACIS_SWEEP_AFFINE && k >= 1 && k <= plan->reach[2])
            lacis_sweep_affine_plane(system, field, side, (int)k, plane,
                                     lacis_sweep_ghost_plane(task, level, field, side, (int)k), &window);
    }
}

static bool plane_of_field(const sweep_task *task, int level, int field, int64_t z)
{
    const lacis_sweep *system = task->pass->system;
    const bool last = level == task->pass->levels;
    int64_t begin[2], end[2];
    for (int d = 0; d < 2; d++)
        span(task, level, d, &begin[d], &end[d]);
    const sweep_plane out = target(task, level, field, z), old = lacis_sweep_plane(task, level - 1, field, z);
    base(task, level, field, z);
    struct row row = {.task = task, .level = level, .field = field, .z = z};
    for (row.y = begin[1]; row.y < end[1]; row.y++) {
        row.out = out.at + row.y * out.pitch;
        row.old = old.at + row.y * old.pitch;
        if (is_held(system, field, 2, z) || is_held(system, field, 1, row.y)) {
            keep(&row, begin[0], end[0]);
        } else if (!cells(&row, begin[0], end[0])) {
            return false;
        }
        if (task->pass->change && last && tiles_end(task, row.y, z)) settle_columns(task, field);
    }
    if (!last) ring_edges(task, level, field, z, begin, end);
    return true;
}

/* --- tasks ------------------------------------------------------------------------------------------------ */

static bool stopped(const lacis_sweep *system)
{
    const lacis_sweep_host *host = &system->start.host;
    return host->cancelled != NULL && host->cancelled(host->context);
}

/* Level l is `reach` planes behind level l - 1. */
static lacis_sweep_status march(const sweep_task *task)
{
    const lacis_sweep *system = task->pass->system;
    const int levels = task->pass->levels;
    const int64_t reach = system->plan.reach[2];
    int64_t first[SWEEP_LEVELS_MOST + 1], end[SWEEP_LEVELS_MOST + 1];
    for (int l = 1; l <= levels; l++)
        span(task, l, 2, &first[l], &end[l]);
    for (int64_t at = first[1]; at < end[levels] + (levels - 1) * reach; at++) {
        if ((at & 15) == 0 && stopped(system)) return LACIS_SWEEP_CANCELLED;
        for (int l = 1; l <= levels; l++) {
            const int64_t z = at - (l - 1) * reach;
            if (z < first[l] || z >= end[l]) continue;
            for (int f = 0; f < system->start.fields; f++)
                if (!plane_of_field(task, l, f, z)) return LACIS_SWEEP_ARITHMETIC;
        }
    }
    return LACIS_SWEEP_OK;
}

static int pass_task(void *context, int64_t number, int worker)
{
    const sweep_pass *pass = context;
    sweep_task task = {.pass = pass, .worker = &pass->system->worker[worker], .index = worker};
    if (stopped(pass->system)) return LACIS_SWEEP_CANCELLED;
    for (int d = 0; d < 3; d++) {
        const int64_t begin = pass->begin[d] + number % pass->tiles[d] * pass->tile[d];
        task.begin[d] = begin;
        task.end[d] = begin + pass->tile[d] < pass->end[d] ? begin + pass->tile[d] : pass->end[d];
        number /= pass->tiles[d];
    }
    return (int)march(&task);
}

static void gather(lacis_sweep *system, lacis_sweep_change *change)
{
    for (int w = 0; w < system->plan.threads; w++) {
        sweep_worker *worker = &system->worker[w];
        if (change != NULL) lacis_sweep_change_merge(change, &worker->change);
        system->counts.updates += worker->updates;
        worker->change = (lacis_sweep_change){0};
        worker->updates = 0;
    }
}

/* Columns begin, and stay behind a pass that was stopped, as zeros. */
static void clear_columns(lacis_sweep *system)
{
    const sweep_plan *plan = &system->plan;
    for (int w = 0; w < plan->threads; w++)
        for (int f = 0; f < system->start.fields; f++)
            memset(system->worker[w].columns[f].squares, 0, plan->column_bytes);
}

lacis_sweep_status lacis_sweep_run(lacis_sweep *system, const int64_t begin[3], const int64_t end[3], int levels,
                                   lacis_sweep_change *change)
{
    sweep_pass pass = {.system = system, .levels = levels, .change = change != NULL};
    int64_t tasks = 1;
    for (int d = 0; d < 3; d++) {
        if (end[d] <= begin[d]) return LACIS_SWEEP_OK;
        pass.begin[d] = begin[d];
        pass.end[d] = end[d];
        pass.tile[d] = system->plan.tile[d];
        pass.tiles[d] = (end[d] - begin[d] + pass.tile[d] - 1) / pass.tile[d];
        tasks *= pass.tiles[d];
    }
    pass.stream = !pass.change && system->plan.array.bytes * (uint64_t)system->start.fields > SWEEP_STREAM;
    if (pass.change) clear_columns(system);
    const lacis_sweep_status status =
        (lacis_sweep_status)lacis_parallel(system->plan.threads, tasks, pass_task, &pass);
    gather(system, status == LACIS_SWEEP_OK ? change : NULL);
    return status;
}
