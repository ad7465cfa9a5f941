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

/* Some rows of a field that are computed side by side: neighbours along z in a grid of two dimensions, along y of one
 * plane in one of three. Cells are numbered as the part's. */
struct row {
    int64_t y, z;
    char *out;       /* cell 0 */
    const char *old; /* cell 0 of the level before */
    const sweep_plane *base;
};
struct bundle {
    const sweep_task *task;
    int level, field, rows;
    int64_t begin, end; /* of x */
    struct row row[SWEEP_BUNDLE];
};

static bool is_last(const struct bundle *bundle)
{
    return bundle->level == bundle->task->pass->levels;
}

/* Taps of a row from x on. */
static void point(const struct bundle *bundle, int k, int64_t x)
{
    const lacis_sweep *system = bundle->task->pass->system;
    const sweep_rule *rule = &system->rule[bundle->field];
    const struct row *row = &bundle->row[k];
    const void **tap = bundle->task->worker->tap + k * rule->taps;
    for (int i = 0; i < rule->taps; i++)
        tap[i] = row->base[i].at + row->y * row->base[i].pitch + x * system->loops->size;
}

/* The caller's coordinates, of the whole grid. */
static void place(const lacis_sweep *system, const int64_t at[3], int64_t out[3])
{
    for (int d = 0; d < 3; d++)
        out[sweep_axis(system->start.dims, d)] = sweep_wrap(at[d] + system->plan.origin[d], system->plan.whole[d]);
}

static bool written(const struct bundle *bundle, int k, int64_t begin, int64_t end)
{
    const sweep_task *task = bundle->task;
    const lacis_sweep *system = task->pass->system;
    const struct row *row = &bundle->row[k];
    const int64_t size = system->loops->size, whole = system->plan.whole[0];
    const void **tap = task->worker->tap + k * system->rule[bundle->field].taps;
    for (int64_t x = begin; x < end;) {
        const int64_t from[3] = {x, row->y, row->z};
        int64_t at[3], n = end - x < LACIS_SWEEP_STRIP ? end - x : LACIS_SWEEP_STRIP;
        place(system, from, at);
        if (n > whole - at[0]) n = whole - at[0];
        point(bundle, k, x);
        if (!system->start.cells(system->start.cells_context, task->index, bundle->field, (int)n, tap, at[0], at[1],
                                 at[2], system->t + bundle->level - 1, row->out + x * size))
            return false;
        x += n;
    }
    return true;
}

static void keep(const struct bundle *bundle, const struct row *row, int64_t begin, int64_t end)
{
    const int64_t size = bundle->task->pass->system->loops->size;
    if (end > begin) memcpy(row->out + begin * size, row->old + begin * size, (size_t)((end - begin) * size));
}

static void add_change(const struct bundle *bundle, const struct row *row, int64_t begin, int64_t end)
{
    const sweep_task *task = bundle->task;
    const sweep_loops *loops = task->pass->system->loops;
    const sweep_columns *columns = &task->worker->columns[bundle->field];
    const int64_t at = begin - task->begin[0];
    loops->change(row->out + begin * loops->size, row->old + begin * loops->size, end - begin, columns->squares + at,
                  (char *)columns->most + at * loops->size);
}

/* Rings have room for whole vectors around what is computed, and nobody reads there what was not: so loops begin and
 * end at lines, but in the last level, whose neighbours are others' cells. */
static void widen(const struct bundle *bundle, int64_t *begin, int64_t *end)
{
    const int64_t size = bundle->task->pass->system->loops->size, line = SWEEP_LINE / size,
                  odd = (int64_t)((uintptr_t)(bundle->row[0].out + *begin * size) % SWEEP_LINE) / size;
    *begin -= odd;
    *end = *begin + (*end - *begin + line - 1) / line * line;
}

/* One row loop for each row. */
static void row_by_row(const struct bundle *bundle, int64_t begin, int64_t end, bool stream)
{
    const lacis_sweep *system = bundle->task->pass->system;
    const sweep_rule *rule = &system->rule[bundle->field];
    for (int k = 0; k < bundle->rows; k++) {
        point(bundle, k, begin);
        rule->row(rule, bundle->task->worker->tap + k * rule->taps, bundle->row[k].out + begin * system->loops->size,
                  end - begin, stream);
    }
}

/* One loop for all rows, from the first line on; returns where it ended. */
static int64_t side_by_side(const struct bundle *bundle, int64_t begin, int64_t end, bool stream)
{
    const sweep_task *task = bundle->task;
    const lacis_sweep *system = task->pass->system;
    const int64_t size = system->loops->size,
                  odd = (int64_t)((uintptr_t)(bundle->row[0].out + begin * size) % SWEEP_LINE) / size;
    if (odd != 0) {
        const int64_t line = begin + SWEEP_LINE / size - odd, stop = line < end ? line : end;
        row_by_row(bundle, begin, stop, stream);
        begin = stop;
    }
    if (begin == end) return end;
    void *out[SWEEP_BUNDLE];
    for (int k = 0; k < SWEEP_BUNDLE; k++) {
        out[k] = bundle->row[k].out + begin * size;
        point(bundle, k, begin);
    }
    const sweep_rule *rule = &system->rule[bundle->field];
    rule->rows(rule, task->worker->tap, out, end - begin, stream);
    return end;
}

/* Cells of a linear rule: with its loop for several rows, or row after row in pieces short enough that rows which
 * several read stay in the first cache. */
static void linear(const struct bundle *bundle, int64_t begin, int64_t end)
{
    enum { PIECE = 4096 }; /* bytes */
    const sweep_task *task = bundle->task;
    const lacis_sweep *system = task->pass->system;
    const sweep_rule *rule = &system->rule[bundle->field];
    const int64_t size = system->loops->size;
    const bool stream = task->pass->stream && is_last(bundle);
    if (!is_last(bundle)) widen(bundle, &begin, &end);
    if (rule->rows != NULL && bundle->rows == SWEEP_BUNDLE) begin = side_by_side(bundle, begin, end, stream);
    const int64_t piece = bundle->rows == 1 ? end - begin : PIECE / size;
    for (int64_t x = begin; x < end; x += piece)
        row_by_row(bundle, x, end - x < piece ? end : x + piece, stream);
}

/* Rows that are not held, but for their ends. */
static bool moving_rows(const struct bundle *bundle)
{
    const sweep_pass *pass = bundle->task->pass;
    const lacis_sweep *system = pass->system;
    int64_t from, to, begin = bundle->begin, end = bundle->end;
    moving(system, bundle->field, 0, &from, &to);
    from = from > begin ? (from < end ? from : end) : begin;
    to = to < end ? (to > from ? to : from) : end;
    if (from < to && !system->rule[bundle->field].written) linear(bundle, from, to);
    for (int k = 0; k < bundle->rows; k++) {
        const struct row *row = &bundle->row[k];
        if (from < to && system->rule[bundle->field].written && !written(bundle, k, from, to)) return false;
        keep(bundle, row, begin, from);
        keep(bundle, row, to, end);
        if (pass->change && is_last(bundle) && from < to) add_change(bundle, row, from, to);
    }
    bundle->task->worker->updates += (double)((to - from) * bundle->rows);
    return true;
}

/* Puts a row into the bundle; one that is held is done at once. */
static void put_row(struct bundle *bundle, const struct row *row)
{
    const lacis_sweep *system = bundle->task->pass->system;
    if (is_held(system, bundle->field, 2, row->z) || is_held(system, bundle->field, 1, row->y)) {
        keep(bundle, row, bundle->begin, bundle->end);
    } else {
        bundle->row[bundle->rows++] = *row;
    }
}

static bool flush(struct bundle *bundle)
{
    const bool good = bundle->rows == 0 || moving_rows(bundle);
    bundle->rows = 0;
    return good;
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

/* Planes [z, z + count) of one field: a bundle of them where a plane is a row, else bundles of each one's rows. Where
 * a tile of the change ends, the bundle ends. */
static bool planes_of_field(const sweep_task *task, int level, int field, int64_t z, int count)
{
    const lacis_sweep *system = task->pass->system;
    const bool last = level == task->pass->levels, change = task->pass->change && last,
               flat = system->plan.n[1] == 1 && !system->plan.inner[1][0] && !system->plan.inner[1][1];
    int64_t begin[2], end[2];
    for (int d = 0; d < 2; d++)
        span(task, level, d, &begin[d], &end[d]);
    struct bundle bundle = {.task = task, .level = level, .field = field, .begin = begin[0], .end = end[0]};
    for (int k = 0; k < count; k++) {
        sweep_plane *base = task->worker->tap_base + k * system->plan.taps;
        const sweep_plane out = target(task, level, field, z + k),
                          old = lacis_sweep_plane(task, level - 1, field, z + k);
        find_taps(task, level, field, z + k, base);
        for (int64_t y = begin[1]; y < end[1]; y++) {
            const struct row row = {y, z + k, out.at + y * out.pitch, old.at + y * old.pitch, base};
            const bool tiles = change && tiles_end(task, y, z + k);
            put_row(&bundle, &row);
            if ((tiles || bundle.rows == SWEEP_BUNDLE) && !flush(&bundle)) return false;
            if (tiles) settle_columns(task, field);
        }
        if (!flat && !flush(&bundle)) return false;
    }
    if (!flush(&bundle)) return false;
    for (int k = 0; k < count; k++) {
        if (!last) ring_edges(task, level, field, z + k, begin, end);
        if (last && task->pass->ends) row_ends(task, field, z + k, begin, end);
    }
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
            const lacis_sweep_status status = planes(task, l, at - (l - 1) * reach);
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
