/* SPDX-License-Identifier: Apache-2.0
 *
 * What follows from a start before anything is computed: reach, whether it can be done, how arrays lie, how a pass is
 * cut, how much memory it takes. Only the caches' sizes come in besides, and they do not move bits.
 */
#include "sweep/inside.h"

#include <stdio.h>
#include <stdlib.h>

/* --- reach ------------------------------------------------------------------------------------------------ */

void lacis_sweep_reach(const lacis_sweep_start *start, int64_t reach[3])
{
    reach[0] = reach[1] = reach[2] = 0;
    for (int f = 0; f < start->fields; f++)
        for (int i = 0; i < start->rule[f].taps; i++)
            for (int d = 0; d < start->dims; d++) {
                const int at = abs(start->rule[f].tap[i].at[d]);
                if (at > reach[d]) reach[d] = at;
            }
}

/* --- what cannot be done ---------------------------------------------------------------------------------- */

static const char axis_name[] = "xyz";

static bool any_kind(const lacis_sweep_start *start, int axis, lacis_sweep_edge_kind kind)
{
    for (int f = 0; f < start->fields; f++)
        if (start->edge[f][2 * axis].kind == kind || start->edge[f][2 * axis + 1].kind == kind) return true;
    return false;
}

static bool refuses_extent(const lacis_sweep_start *start, int axis, int64_t reach, char *why, uint64_t size)
{
    const int64_t n = start->extent[axis];
    const int cells = snprintf(NULL, 0, "%lld", (long long)n);
    if (cells < 0) return false;
    int64_t least = 1;
    if (any_kind(start, axis, LACIS_SWEEP_MIRROR)) least = reach + 1;
    if (any_kind(start, axis, LACIS_SWEEP_PERIODIC) || any_kind(start, axis, LACIS_SWEEP_AFFINE))
        least = reach > least ? reach : least;
    if (n < least) {
        snprintf(why, size, "the grid has %lld cell%s along %c, fewer than the %lld that its edges need there",
                 (long long)n, n == 1 ? "" : "s", axis_name[axis], (long long)least);
        return true;
    }
    if (any_kind(start, axis, LACIS_SWEEP_INNER) && (start->halo[axis] < reach || n < start->halo[axis])) {
        snprintf(why, size, "a part has %lld cell%s along %c, its halo %lld, and the step reaches %lld", (long long)n,
                 n == 1 ? "" : "s", axis_name[axis], (long long)start->halo[axis], (long long)reach);
        return true;
    }
    return false;
}

static bool refuses_face(const lacis_sweep_start *start, int face, char *why, uint64_t size)
{
    const char axis = axis_name[face / 2];
    for (int f = 0; f < start->fields; f++) {
        const lacis_sweep_edge *edge = start->edge[f];
        const bool inner = edge[face].kind == LACIS_SWEEP_INNER,
                   inner0 = start->edge[0][face].kind == LACIS_SWEEP_INNER;
        if ((edge[face].kind == LACIS_SWEEP_PERIODIC) != (edge[face ^ 1].kind == LACIS_SWEEP_PERIODIC)) {
            snprintf(why, size, "field %d is periodic at one face of %c and not at the other", f, axis);
            return true;
        }
        if (inner != inner0) {
            snprintf(why, size, "a face of %c is a border of parts for some fields only", axis);
            return true;
        }
        if (edge[face].kind == LACIS_SWEEP_VALUES && edge[face].values == NULL) {
            snprintf(why, size, "field %d has no values for a face of %c", f, axis);
            return true;
        }
    }
    return false;
}

static bool refuses_rule(const lacis_sweep_start *start, int field, char *why, uint64_t size)
{
    const lacis_sweep_rule *rule = &start->rule[field];
    if (rule->written && start->cells == NULL) {
        snprintf(why, size, "the rule of field %d has no function", field);
        return true;
    }
    for (int i = 0; i < rule->taps; i++) {
        const lacis_sweep_tap *tap = &rule->tap[i];
        for (int d = 0; d < 3; d++)
            if (abs(tap->at[d]) > (d < start->dims ? LACIS_SWEEP_RADIUS : 0)) {
                snprintf(why, size, "a step reaches %d cells along %c, at most %d can be", abs(tap->at[d]),
                         axis_name[d], d < start->dims ? LACIS_SWEEP_RADIUS : 0);
                return true;
            }
        if (tap->array < 0 || tap->array >= start->fields + start->coefficients) {
            snprintf(why, size, "the rule of field %d reads array %d, which is none", field, tap->array);
            return true;
        }
    }
    return false;
}

bool lacis_sweep_refuses(const lacis_sweep_start *start, char *why, uint64_t size)
{
    if (start->dims < 1 || start->dims > 3 || start->fields < 1 || start->fields > LACIS_SWEEP_FIELDS ||
        start->coefficients < 0 || start->fields + start->coefficients > LACIS_SWEEP_ARRAYS) {
        snprintf(why, size, "a sweep has one to three dimensions, one to %d fields and %d arrays at most",
                 LACIS_SWEEP_FIELDS, LACIS_SWEEP_ARRAYS);
        return true;
    }
    for (int f = 0; f < start->fields; f++)
        if (refuses_rule(start, f, why, size)) return true;
    int64_t reach[3];
    lacis_sweep_reach(start, reach);
    for (int d = 0; d < start->dims; d++)
        if (refuses_face(start, 2 * d, why, size) || refuses_face(start, 2 * d + 1, why, size) ||
            refuses_extent(start, d, reach[d], why, size))
            return true;
    sweep_plan plan;
    if (!lacis_sweep_plan(start, &plan)) {
        snprintf(why, size, "the grid takes more memory than can be numbered");
        return true;
    }
    return false;
}

/* --- how arrays lie --------------------------------------------------------------------------------------- */

static bool shape_bytes(sweep_shape *shape, const int64_t n[3], int64_t size)
{
    int64_t width, rows, planes, bytes;
    shape->before[0] = (int64_t)sweep_lines((uint64_t)(shape->before[0] * size)) / size;
    if (__builtin_add_overflow(n[0], shape->before[0] + shape->behind[0], &width) ||
        __builtin_add_overflow(n[1], shape->before[1] + shape->behind[1], &rows) ||
        __builtin_add_overflow(n[2], shape->before[2] + shape->behind[2], &planes) || width > INT64_MAX / 4 / size)
        return false;
    shape->pitch = (int64_t)sweep_lines((uint64_t)(width * size));
    if (__builtin_mul_overflow(shape->pitch, rows, &shape->plane) ||
        __builtin_mul_overflow(shape->plane, planes, &bytes) || bytes > INT64_MAX / 4)
        return false;
    shape->first = SWEEP_SLACK + (uint64_t)(shape->before[2] * shape->plane + shape->before[1] * shape->pitch +
                                            shape->before[0] * size);
    shape->bytes = (uint64_t)bytes + 2 * SWEEP_SLACK;
    return true;
}

static bool all_periodic(const lacis_sweep_start *start, int axis)
{
    for (int f = 0; f < start->fields; f++)
        if (start->edge[f][2 * axis].kind != LACIS_SWEEP_PERIODIC) return false;
    return true;
}

static bool array_shape(const lacis_sweep_start *start, sweep_plan *plan, int64_t size)
{
    for (int d = 0; d < 3; d++) {
        plan->ghost[d] = plan->reach[d] * (plan->open[d] ? plan->levels : 1);
        int64_t deep = plan->ghost[d];
        if (d == SWEEP_Z) { /* others are found in planes.c */
            const int axis = sweep_axis(start->dims, d);
            deep = any_kind(start, axis, LACIS_SWEEP_AFFINE) || any_kind(start, axis, LACIS_SWEEP_VALUES)
                       ? plan->reach[d]
                       : 0;
        }
        plan->array.before[d] = plan->inner[d][0] ? plan->halo[d] : deep;
        plan->array.behind[d] = plan->inner[d][1] ? plan->halo[d] : deep;
    }
    return shape_bytes(&plan->array, plan->n, size);
}

/* --- how a pass is cut ------------------------------------------------------------------------------------ */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

enum { CACHE = 768 << 10, STREAM = 32 }; /* of a core; fields of so many caches do not stay in the last one */

/* Cells of a plane whose rings, and what is read and written beside them, stay in a core's second cache. */
static int64_t area_of(const lacis_sweep_start *start, const sweep_plan *plan, int64_t size)
{
    const int64_t cache = start->cache > 0 ? start->cache : CACHE, planes = 2 * plan->reach[SWEEP_Z] + plan->group,
                  arrays = (int64_t)start->fields * planes * plan->levels + start->fields +
                           (int64_t)start->coefficients * planes;
    return most(cache / (size * arrays), 64);
}

/* A pass in parts along z: enough for all threads, long enough that what neighbours compute twice is little. */
static int64_t band(const sweep_plan *plan, int64_t tiles)
{
    const int64_t n = plan->n[SWEEP_Z], wanted = (4 * plan->threads + tiles - 1) / tiles,
                  shortest = most(16, 24 * plan->reach[SWEEP_Z] * (plan->levels - 1));
    return plan->threads == 1 && plan->levels == 1
               ? n
               : least(n, round_up(most((n + wanted - 1) / wanted, shortest), LACIS_SWEEP_TILE_Y));
}

/* Tiles of n cells along x of about `wanted` each, alike: what a row costs to begin is paid as often for a short one.
 */
static int64_t level_tiles(int64_t n, int64_t wanted)
{
    const int64_t tiles = most(1, (n + wanted / 2) / wanted);
    return tiles == 1 ? n : round_up((n + tiles - 1) / tiles, 64);
}

static void cut(const lacis_sweep_start *start, sweep_plan *plan, int64_t size)
{
    const int64_t area = area_of(start, plan, size), *n = plan->n;
    const bool mixed_x = any_kind(start, SWEEP_X, LACIS_SWEEP_PERIODIC) && !all_periodic(start, SWEEP_X),
               mixed_y = start->dims == 3 && any_kind(start, SWEEP_Y, LACIS_SWEEP_PERIODIC) &&
                         !all_periodic(start, SWEEP_Y);
    int64_t x = start->dims == 3 ? most(256, area / 64) : area;
    x = level_tiles(n[0], x);
    if (plan->levels > 1 && mixed_x) x = n[0];
    int64_t y = round_up(most(area / least(x, n[0]), 8), LACIS_SWEEP_TILE_Y);
    if (n[1] <= y + y / 2 || (plan->levels > 1 && mixed_y)) y = n[1];
    if (start->dims == 1 && plan->threads > 1 && n[0] > 8192) x = least(x, round_up(n[0] / (2 * plan->threads), 64));
    plan->tile[0] = x;
    plan->tile[1] = y;
    plan->tile[2] = band(plan, ((n[0] + x - 1) / x) * ((n[1] + y - 1) / y));
    for (int d = 0; d < 3; d++)
        plan->open[d] = plan->levels > 1 && all_periodic(start, sweep_axis(start->dims, d)) &&
                        sweep_axis(start->dims, d) < start->dims && (d == SWEEP_Z || plan->tile[d] < n[d]);
}

/* Rings of one worker: windows of levels 1 .. levels - 1. */
static bool ring_shape(const lacis_sweep_start *start, sweep_plan *plan, int64_t size)
{
    plan->ring_planes = 2 * plan->reach[SWEEP_Z] + plan->group;
    plan->ring_inverse = UINT64_MAX / (uint64_t)plan->ring_planes + 1;
    const int64_t n[3] = {plan->tile[0], plan->tile[1], 1};
    for (int d = 0; d < 2; d++)
        plan->ring.before[d] = plan->ring.behind[d] = plan->levels * plan->reach[d];
    plan->ring.before[2] = plan->ring.behind[2] = 0;
    if (!shape_bytes(&plan->ring, n, size)) return false;
    const uint64_t planes = (uint64_t)plan->ring_planes, ghosts = 2 * (uint64_t)plan->reach[SWEEP_Z],
                   slots = (uint64_t)(plan->levels - 1) * (uint64_t)start->fields;
    if ((uint64_t)plan->ring.plane > (UINT64_MAX >> 16) / (planes + ghosts)) return false;
    plan->ring_bytes = slots * planes * (uint64_t)plan->ring.plane;
    plan->ghost_bytes = any_kind(start, sweep_axis(start->dims, SWEEP_Z), LACIS_SWEEP_AFFINE)
                            ? slots * ghosts * (uint64_t)plan->ring.plane
                            : 0;
    return true;
}

static int levels_of(const lacis_sweep_start *start, const sweep_plan *plan)
{
    const int axis = sweep_axis(start->dims, SWEEP_Z);
    const bool mixed = any_kind(start, axis, LACIS_SWEEP_PERIODIC) && !all_periodic(start, axis);
    const int64_t reach = most(most(plan->reach[0], plan->reach[1]), plan->reach[2]);
    int levels = start->levels;
    if (levels <= 0) levels = reach == 0 ? 8 : (int)most(1, (start->dims == 3 ? 4 : 8) / reach);
    if (levels > SWEEP_LEVELS_MOST) levels = SWEEP_LEVELS_MOST;
    for (int d = 0; d < 3; d++)
        if ((plan->inner[d][0] || plan->inner[d][1]) && plan->reach[d] > 0)
            levels = (int)least(levels, most(1, plan->halo[d] / plan->reach[d]));
    return mixed && start->dims > 1 ? 1 : levels;
}

static void bring_axes(const lacis_sweep_start *start, sweep_plan *plan)
{
    int64_t reach[3];
    lacis_sweep_reach(start, reach);
    for (int d = 0; d < 3; d++) {
        const int axis = sweep_axis(start->dims, d);
        plan->n[d] = axis < start->dims ? start->extent[axis] : 1;
        plan->whole[d] = start->whole[0] == 0 || axis >= start->dims ? plan->n[d] : start->whole[axis];
        plan->origin[d] = start->whole[0] == 0 || axis >= start->dims ? 0 : start->origin[axis];
        plan->reach[d] = reach[axis];
        for (int side = 0; side < 2; side++)
            plan->inner[d][side] = axis < start->dims && start->edge[0][2 * axis + side].kind == LACIS_SWEEP_INNER;
        plan->halo[d] = plan->inner[d][0] || plan->inner[d][1] ? start->halo[axis] : 0;
    }
}

static uint64_t table_bytes(const lacis_sweep_start *start, const sweep_plan *plan)
{
    uint64_t bytes = 0;
    for (int f = 0; f < start->fields; f++) {
        const lacis_sweep_rule *rule = &start->rule[f];
        bytes += sweep_lines(sizeof(lacis_sweep_tap) * (uint64_t)rule->taps) +
                 sweep_lines(8 * (uint64_t)(rule->written ? 0 : rule->linear.groups));
        for (int face = 0; face < 2 * start->dims; face++)
            if (start->edge[f][face].kind == LACIS_SWEEP_VALUES)
                bytes += sweep_lines(lacis_sweep_face_bytes(start->type, plan, start->dims, face));
    }
    return bytes;
}

bool lacis_sweep_plan(const lacis_sweep_start *start, sweep_plan *plan)
{
    *plan = (sweep_plan){0};
    const int64_t size = (int64_t)lacis_sweep_size(start->type);
    bring_axes(start, plan);
    plan->threads = start->threads < 1 ? 1 : start->threads;
    plan->levels = levels_of(start, plan);
    plan->group = start->dims == 2 ? SWEEP_BUNDLE : 1;
    for (int f = 0; f < start->fields; f++)
        plan->taps = start->rule[f].taps > plan->taps ? start->rule[f].taps : plan->taps;
    cut(start, plan, size);
    plan->stream_from = STREAM * (uint64_t)(start->cache > 0 ? start->cache : CACHE);
    if (!array_shape(start, plan, size) || !ring_shape(start, plan, size)) return false;
    const uint64_t copies = 2 * (uint64_t)start->fields + (uint64_t)start->coefficients,
                   taps = SWEEP_BUNDLE * (uint64_t)plan->taps + 1;
    plan->column_bytes =
        sweep_lines(sizeof(double) * (uint64_t)plan->tile[0]) + sweep_lines((uint64_t)(size * plan->tile[0]));
    plan->worker_bytes = sweep_lines(plan->ring_bytes + plan->ghost_bytes + 2 * SWEEP_SLACK) +
                         (uint64_t)start->fields * plan->column_bytes + sweep_lines(sizeof(void *) * taps) +
                         sweep_lines(sizeof(sweep_plane) * taps);
    plan->table_bytes = table_bytes(start, plan);
    if (plan->array.bytes > (uint64_t)INT64_MAX / (copies + 1) ||
        plan->worker_bytes > (uint64_t)INT64_MAX / 1024 / (uint64_t)plan->threads)
        return false;
    plan->bytes = sizeof(lacis_sweep) + copies * plan->array.bytes + plan->table_bytes +
                  (uint64_t)plan->threads * (plan->worker_bytes + sizeof(sweep_worker)) + 8 * SWEEP_LINE;
    return true;
}

uint64_t lacis_sweep_face_bytes(lacis_sweep_type type, const sweep_plan *plan, int dims, int face)
{
    uint64_t cells = 1;
    for (int d = 0; d < 3; d++)
        if (sweep_axis(dims, d) != face / 2)
            cells *= (uint64_t)(plan->n[d] + (plan->inner[d][0] ? plan->halo[d] : 0) +
                                (plan->inner[d][1] ? plan->halo[d] : 0));
    return cells * lacis_sweep_size(type);
}

uint64_t lacis_sweep_bytes(const lacis_sweep_start *start)
{
    sweep_plan plan;
    return lacis_sweep_plan(start, &plan) ? plan.bytes : UINT64_MAX;
}
