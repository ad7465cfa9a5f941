/* SPDX-License-Identifier: Apache-2.0
 *
 * Bundles of rows (pass.c makes them): what is held, linear rules by the loops of the instruction set, written rules
 * strip by strip, and what the step has changed.
 */
#include "sweep/inside.h"

#include <string.h>

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

static bool is_last(const sweep_bundle *bundle)
{
    return bundle->level == bundle->task->pass->levels;
}

/* Taps of a row from x on. */
static void point(const sweep_bundle *bundle, int k, int64_t x)
{
    const lacis_sweep *system = bundle->task->pass->system;
    const sweep_rule *rule = &system->rule[bundle->field];
    const sweep_row *row = &bundle->row[k];
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

static bool written(const sweep_bundle *bundle, int k, int64_t begin, int64_t end)
{
    const sweep_task *task = bundle->task;
    const lacis_sweep *system = task->pass->system;
    const sweep_row *row = &bundle->row[k];
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

static void keep(const sweep_bundle *bundle, const sweep_row *row, int64_t begin, int64_t end)
{
    const int64_t size = bundle->task->pass->system->loops->size;
    if (end > begin) memcpy(row->out + begin * size, row->old + begin * size, (size_t)((end - begin) * size));
}

static void add_change(const sweep_bundle *bundle, const sweep_row *row, int64_t begin, int64_t end)
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
static void widen(const sweep_bundle *bundle, int64_t *begin, int64_t *end)
{
    const int64_t size = bundle->task->pass->system->loops->size, line = SWEEP_LINE / size,
                  odd = (int64_t)((uintptr_t)(bundle->row[0].out + *begin * size) % SWEEP_LINE) / size;
    *begin -= odd;
    *end = *begin + (*end - *begin + line - 1) / line * line;
}

/* One row loop for each row. */
static void row_by_row(const sweep_bundle *bundle, int64_t begin, int64_t end, bool stream)
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
static int64_t side_by_side(const sweep_bundle *bundle, int64_t begin, int64_t end, bool stream)
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
static void linear(const sweep_bundle *bundle, int64_t begin, int64_t end)
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

/* Of rows that are not held, the columns that are not. */
static void moving_columns(const sweep_bundle *bundle, int64_t *from, int64_t *to)
{
    const int64_t begin = bundle->begin, end = bundle->end;
    moving(bundle->task->pass->system, bundle->field, 0, from, to);
    *from = *from > begin ? (*from < end ? *from : end) : begin;
    *to = *to < end ? (*to > *from ? *to : *from) : end;
}

/* Rows that are not held, but for their ends. */
static bool moving_rows(const sweep_bundle *bundle)
{
    const sweep_pass *pass = bundle->task->pass;
    const lacis_sweep *system = pass->system;
    int64_t from, to;
    const int64_t begin = bundle->begin, end = bundle->end;
    moving_columns(bundle, &from, &to);
    if (from < to && !system->rule[bundle->field].written) linear(bundle, from, to);
    for (int k = 0; k < bundle->rows; k++) {
        const sweep_row *row = &bundle->row[k];
        if (from < to && system->rule[bundle->field].written && !written(bundle, k, from, to)) return false;
        keep(bundle, row, begin, from);
        keep(bundle, row, to, end);
        if (pass->change && is_last(bundle) && from < to) add_change(bundle, row, from, to);
    }
    bundle->task->worker->updates += (double)((to - from) * bundle->rows);
    return true;
}

/* Puts a row into the bundle; one that is held is done at once. */
void lacis_sweep_put_row(sweep_bundle *bundle, const sweep_row *row)
{
    const lacis_sweep *system = bundle->task->pass->system;
    if (is_held(system, bundle->field, 2, row->z) || is_held(system, bundle->field, 1, row->y)) {
        keep(bundle, row, bundle->begin, bundle->end);
    } else {
        bundle->row[bundle->rows++] = *row;
    }
}

bool lacis_sweep_flush(sweep_bundle *bundle)
{
    const bool good = bundle->rows == 0 || moving_rows(bundle);
    bundle->rows = 0;
    return good;
}

/* --- two levels at once ----------------------------------------------------------------------------------- */

bool lacis_sweep_joint(const sweep_bundle *low, const sweep_bundle *high, int64_t *begin, int64_t *end)
{
    enum { LINES = 48 }; /* fewer are not worth their ends */
    const int64_t size = low->task->pass->system->loops->size, line = SWEEP_LINE / size;
    int64_t from, to, from_low, to_low;
    moving_columns(low, &from_low, &to_low);
    moving_columns(high, &from, &to);
    const uintptr_t at_low = (uintptr_t)(low->row[0].out + from * size),
                    at_high = (uintptr_t)(high->row[0].out + from * size);
    if (at_low % SWEEP_LINE != at_high % SWEEP_LINE) return false;
    const int64_t odd = (int64_t)(at_low % SWEEP_LINE) / size;
    *begin = from + (odd == 0 ? 0 : line - odd) + line;
    if (to + line < to_low) to_low = to + line;
    if (to_low < *begin) return false;
    *end = *begin + (to_low - *begin) / line * line;
    return *end - *begin >= LINES * line;
}

/* All that is not in [begin, end), and the two rows' ends that are held. */
static void apart(sweep_bundle *bundle, int64_t begin, int64_t end)
{
    int64_t from, to;
    moving_columns(bundle, &from, &to);
    row_by_row(bundle, from, begin, false);
    row_by_row(bundle, end, to, false);
    for (int k = 0; k < bundle->rows; k++) {
        keep(bundle, &bundle->row[k], bundle->begin, from);
        keep(bundle, &bundle->row[k], to, bundle->end);
    }
    bundle->task->worker->updates += (double)((to - from) * bundle->rows);
    bundle->rows = 0;
}

void lacis_sweep_join_low(sweep_bundle *low, int64_t begin, int64_t end)
{
    const int64_t line = SWEEP_LINE / low->task->pass->system->loops->size;
    apart(low, begin, end - 2 * line); /* what the high level's last columns read */
}

void lacis_sweep_join_high(sweep_bundle *low, sweep_bundle *high, const sweep_plane *from, const sweep_plane *before,
                           int64_t begin, int64_t end)
{
    const sweep_pass *pass = low->task->pass;
    const lacis_sweep *system = pass->system;
    const sweep_rule *rule = &system->rule[low->field];
    const int64_t size = system->loops->size, line = SWEEP_LINE / size;
    sweep_joined rows;
    for (int k = 0; k < SWEEP_AROUND; k++) {
        rows.from[k] = from[k].at + begin * size;
        rows.between[k] = (k < 2 ? before[k].at : low->row[k - 2].out) + begin * size;
    }
    for (int k = 0; k < SWEEP_BUNDLE; k++)
        rows.out[k] = high->row[k].out + begin * size;
    rule->joined(rule, &rows, end - begin, pass->stream && is_last(high));
    apart(high, begin - line, end - line);
}
