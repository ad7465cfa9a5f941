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

/* --- planes ----------------------------------------------------------------------------------------------- */

static sweep_plane target(const sweep_task *task, int level, int field, int64_t z)
{
    const lacis_sweep *system = task->pass->system;
    if (level < task->pass->levels) return lacis_sweep_ring_plane(task, level, field, z);
    return lacis_sweep_array_plane(system, 1 - system->now, field, z);
}

/* Where the taps of a rule begin in their planes. */
static void find_taps(const sweep_task *task, int level, int field, int64_t z, sweep_plane *base)
{
    const lacis_sweep *system = task->pass->system;
    const sweep_rule *rule = &system->rule[field];
    sweep_plane found = {NULL, 0};
    for (int i = 0; i < rule->taps; i++) {
        const lacis_sweep_tap *tap = &rule->tap[i];
        if (i == 0 || tap->array != tap[-1].array || tap->at[2] != tap[-1].at[2])
            found = lacis_sweep_plane(task, level - 1, tap->array, z + tap->at[2]);
        base[i].at = found.at + tap->at[1] * found.pitch + tap->at[0] * system->loops->size;
        base[i].pitch = found.pitch;
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
    sweep_window window = {
        .begin = {begin[0], begin[1]}, .end = {end[0], end[1]}, .deep = {plan->reach[0], plan->reach[1]}};
    bool any = false;
    for (int d = 0; d < 2; d++) {
        window.ends[d][0] = sweep_ends(plan, d, 0) && begin[d] == 0 && plan->reach[d] > 0;
        window.ends[d][1] = sweep_ends(plan, d, 1) && end[d] == plan->n[d] && plan->reach[d] > 0;
        any |= window.ends[d][0] || window.ends[d][1];
    }
    const sweep_plane plane = lacis_sweep_ring_plane(task, level, field, z);
    if (any) lacis_sweep_edges(system, field, plane, &window, z);
    for (int side = 0; side < 2; side++) {
        const int64_t k = side == 0 ? z + 1 : plan->n[2] - z;
        if (system->face[field][2 * SWEEP_Z + side].kind == LACIS_SWEEP_AFFINE && k >= 1 && k <= plan->reach[2])
            lacis_sweep_affine_plane(system, field, side, (int)k, plane,
                                     lacis_sweep_ghost_plane(task, level, field, side, (int)k), &window);
    }
}

/* The ghosts at the ends of rows just written. */
static void row_ends(const sweep_task *task, int field, int64_t z, const int64_t begin[2], const int64_t end[2])
{
    const lacis_sweep *system = task->pass->system;
    const sweep_plan *plan = &system->plan;
    const sweep_window window = {.begin = {begin[0], begin[1]},
                                 .end = {end[0], end[1]},
                                 .ends = {{!plan->inner[0][0], !plan->inner[0][1]}, {false, false}},
                                 .deep = {plan->ghost[0], 0}};
    if (plan->ghost[0] > 0) lacis_sweep_edges(system, field, target(task, task->pass->levels, field, z), &window, z);
}

/* A plane in which all is one row: of a grid of two dimensions. */
static bool is_flat(const lacis_sweep *system)
{
    return system->plan.n[1] == 1 && !system->plan.inner[1][0] && !system->plan.inner[1][1];
}

/* What the next level reads beyond the faces of planes just computed. */
static void ends_of_planes(const sweep_task *task, int level, int field, int64_t z, int count, const int64_t begin[2],
                           const int64_t end[2])
{
    const bool last = level == task->pass->levels;
    for (int k = 0; k < count; k++) {
        if (!last) ring_edges(task, level, field, z + k, begin, end);
        if (last && task->pass->ends) row_ends(task, field, z + k, begin, end);
    }
}

/* Planes [z, z + count) of one field: a bundle of them where a plane is a row, else bundles of each one's rows. Where
 * a tile of the change ends, the bundle ends. */
static bool planes_of_field(const sweep_task *task, int level, int field, int64_t z, int count)
{
    const lacis_sweep *system = task->pass->system;
    const bool change = task->pass->change && level == task->pass->levels, flat = is_flat(system);
    int64_t begin[2], end[2];
    for (int d = 0; d < 2; d++)
        span(task, level, d, &begin[d], &end[d]);
    sweep_bundle bundle = {.task = task, .level = level, .field = field, .begin = begin[0], .end = end[0]};
    for (int k = 0; k < count; k++) {
        sweep_plane *base = task->worker->tap_base + k * system->plan.taps;
        const sweep_plane out = target(task, level, field, z + k),
                          old = lacis_sweep_plane(task, level - 1, field, z + k);
        find_taps(task, level, field, z + k, base);
        for (int64_t y = begin[1]; y < end[1]; y++) {
            const sweep_row row = {y, z + k, out.at + y * out.pitch, old.at + y * old.pitch, base};
            const bool tiles = change && tiles_end(task, y, z + k);
            lacis_sweep_put_row(&bundle, &row);
            if ((tiles || bundle.rows == SWEEP_BUNDLE) && !lacis_sweep_flush(&bundle)) return false;
            if (tiles) settle_columns(task, field);
        }
        if (!flat && !lacis_sweep_flush(&bundle)) return false;
    }
    if (!lacis_sweep_flush(&bundle)) return false;
    ends_of_planes(task, level, field, z, count, begin, end);
    return true;
}

/* --- two levels at once ----------------------------------------------------------------------------------- */

/* Planes z and on of the level and those one behind of the next one can be joined: all are there, none is held, and
 * none is next to the ends of z, where ghosts are made of it. */
static bool may_join(const sweep_task *task, int level, int64_t z)
{
    const sweep_pass *pass = task->pass;
    const lacis_sweep *system = pass->system;
    const sweep_plan *plan = &system->plan;
    int64_t first, end, next, next_end;
    if (level == pass->levels || (pass->change && level + 1 == pass->levels)) return false;
    if (system->start.fields != 1 || system->rule[0].written || system->rule[0].joined == NULL || !is_flat(system) ||
        plan->reach[0] != 1 || plan->reach[2] != 1)
        return false;
    span(task, level, 2, &first, &end);
    span(task, level + 1, 2, &next, &next_end);
    return first <= z && z + SWEEP_BUNDLE <= end && next < z && z + SWEEP_BUNDLE - 1 <= next_end && z >= 2 &&
           z + SWEEP_BUNDLE < plan->n[2];
}

/* A bundle of the level's planes z and on, each a row, which none is held of. */
static sweep_bundle bundle_of_planes(const sweep_task *task, int level, int64_t z)
{
    sweep_bundle bundle = {.task = task, .level = level, .rows = SWEEP_BUNDLE};
    span(task, level, 0, &bundle.begin, &bundle.end);
    for (int k = 0; k < SWEEP_BUNDLE; k++) {
        sweep_plane *base = task->worker->tap_base + k * task->pass->system->plan.taps;
        bundle.row[k] = (sweep_row){.z = z + k,
                                    .out = target(task, level, 0, z + k).at,
                                    .old = lacis_sweep_plane(task, level - 1, 0, z + k).at,
                                    .base = base};
    }
    return bundle;
}

static void find_bundle_taps(const sweep_task *task, int level, int64_t z)
{
    for (int k = 0; k < SWEEP_BUNDLE; k++)
        find_taps(task, level, 0, z + k, task->worker->tap_base + k * task->pass->system->plan.taps);
}

/* False: they cannot be joined after all. */
static bool joined_planes(const sweep_task *task, int level, int64_t z)
{
    sweep_bundle low = bundle_of_planes(task, level, z), high = bundle_of_planes(task, level + 1, z - 1);
    sweep_plane from[SWEEP_AROUND], before[2];
    int64_t begin, end;
    if (!lacis_sweep_joint(&low, &high, &begin, &end)) return false;
    for (int k = 0; k < SWEEP_AROUND; k++)
        from[k] = lacis_sweep_plane(task, level - 1, 0, z - 1 + k);
    for (int k = 0; k < 2; k++)
        before[k] = lacis_sweep_ring_plane(task, level, 0, z - 2 + k);
    const int64_t rows[2] = {0, 1}, begins[2][2] = {{low.begin, rows[0]}, {high.begin, rows[0]}},
                  ends[2][2] = {{low.end, rows[1]}, {high.end, rows[1]}};
    find_bundle_taps(task, level, z);
    lacis_sweep_join_low(&low, begin, end);
    ends_of_planes(task, level, 0, z, SWEEP_BUNDLE, begins[0], ends[0]);
    find_bundle_taps(task, level + 1, z - 1);
    lacis_sweep_join_high(&low, &high, from, before, begin, end);
    ends_of_planes(task, level + 1, 0, z - 1, SWEEP_BUNDLE, begins[1], ends[1]);
    return true;
}

/* --- tasks ------------------------------------------------------------------------------------------------ */

static bool stopped(const lacis_sweep *system)
{
    const lacis_sweep_host *host = &system->start.host;
    return host->cancelled != NULL && host->cancelled(host->context);
}

/* Planes of all fields that level l has in [z, z + group). */
static lacis_sweep_status planes(const sweep_task *task, int level, int64_t z)
{
    const lacis_sweep *system = task->pass->system;
    int64_t first, end;
    span(task, level, 2, &first, &end);
    if (first < z) first = z;
    if (end > z + system->plan.group) end = z + system->plan.group;
    for (int f = 0; f < system->start.fields && first < end; f++)
        if (!planes_of_field(task, level, f, first, (int)(end - first))) return LACIS_SWEEP_ARITHMETIC;
    return LACIS_SWEEP_OK;
}

/* Some planes at a time; level l is `reach` planes behind level l - 1. */
static lacis_sweep_status march(const sweep_task *task)
{
    const lacis_sweep *system = task->pass->system;
    const int levels = task->pass->levels;
    const int64_t reach = system->plan.reach[2];
    int64_t first, end;
    span(task, 1, 2, &first, &end);
    end = task->end[2] + (levels - 1) * reach;
    for (int64_t at = first; at < end; at += system->plan.group) {
        if (stopped(system)) return LACIS_SWEEP_CANCELLED;
        for (int l = 1; l <= levels; l++) {
            const int64_t z = at - (l - 1) * reach;
            if (may_join(task, l, z) && joined_planes(task, l, z)) {
                l++;
                continue;
            }
            const lacis_sweep_status status = planes(task, l, z);
            if (status != LACIS_SWEEP_OK) return status;
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
                                   lacis_sweep_change *change, bool *ends)
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
    pass.stream =
        !pass.change && system->plan.array.bytes * (uint64_t)system->start.fields > system->plan.stream_from;
    pass.ends = ends != NULL && pass.tiles[0] == 1 && begin[0] == 0 && end[0] == system->plan.n[0];
    if (ends != NULL) *ends = pass.ends;
    if (pass.change) clear_columns(system);
    const lacis_sweep_status status =
        (lacis_sweep_status)lacis_parallel(system->plan.threads, tasks, pass_task, &pass);
    gather(system, status == LACIS_SWEEP_OK ? change : NULL);
    return status;
}
