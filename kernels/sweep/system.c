/* SPDX-License-Identifier: Apache-2.0
 *
 * A system: its arrays from the caller's and back, steps, and what parts need. operators/sweep calls what sweep.h
 * names.
 */
#include "sweep/inside.h"

#include "common/parallel.h"

#include <string.h>

/* --- memory ----------------------------------------------------------------------------------------------- */

static void *take(const lacis_sweep_host *host, uint64_t bytes)
{
    return host->alloc(host->context, bytes > 0 ? bytes : 1);
}

static void give(const lacis_sweep_host *host, void *block)
{
    if (block != NULL) host->free(host->context, block);
}

static bool take_arrays(lacis_sweep *system)
{
    const sweep_shape *shape = &system->plan.array;
    for (int copy = 0; copy < 2; copy++)
        for (int a = 0; a < (copy == 0 ? system->arrays : system->start.fields); a++) {
            char *block = take(&system->start.host, shape->bytes);
            if (block == NULL) return false;
            system->block[copy][a] = block;
            system->array[copy][a] = block + shape->first;
        }
    return true;
}

static bool take_workers(lacis_sweep *system)
{
    const sweep_plan *plan = &system->plan;
    const uint64_t threads = (uint64_t)plan->threads;
    system->worker = take(&system->start.host, sizeof(sweep_worker) * threads);
    system->rooms = take(&system->start.host, plan->worker_bytes * threads);
    if (system->worker == NULL || system->rooms == NULL) return false;
    memset(system->worker, 0, sizeof(sweep_worker) * threads);
    memset(system->rooms, 0, plan->worker_bytes * threads);
    for (uint64_t w = 0; w < threads; w++) {
        sweep_worker *worker = &system->worker[w];
        worker->room = system->rooms + w * plan->worker_bytes;
        char *at = worker->room + sweep_lines(plan->ring_bytes + plan->ghost_bytes + 2 * SWEEP_SLACK);
        for (int f = 0; f < system->start.fields; f++, at += plan->column_bytes) {
            worker->columns[f].squares = (double *)(void *)at;
            worker->columns[f].most = at + sweep_lines(sizeof(double) * (uint64_t)plan->tile[0]);
        }
        worker->tap = (const void **)(void *)at;
        worker->tap_base =
            (sweep_plane *)(void *)(at + sweep_lines(sizeof(void *) * (SWEEP_BUNDLE * (uint64_t)plan->taps + 1)));
    }
    return true;
}

/* --- rules and faces -------------------------------------------------------------------------------------- */

static char *bring_rule(lacis_sweep *system, int field, char *at)
{
    const lacis_sweep_rule *from = &system->start.rule[field];
    sweep_rule *rule = &system->rule[field];
    lacis_sweep_tap *tap = (void *)at;
    at += sweep_lines(sizeof(lacis_sweep_tap) * (uint64_t)from->taps);
    for (int i = 0; i < from->taps; i++) {
        tap[i].array = from->tap[i].array;
        for (int d = 0; d < 3; d++)
            tap[i].at[d] = from->tap[i].at[sweep_axis(system->start.dims, d)];
    }
    *rule = (sweep_rule){.written = from->written, .taps = from->taps, .tap = tap};
    if (rule->written) return at;
    rule->groups = from->linear.groups;
    rule->first = from->linear.first;
    rule->weight = at;
    system->loops->weights(from->linear.weight, rule->groups, at);
    rule->constant =
        system->start.type == LACIS_SWEEP_F32 ? (double)(float)from->linear.constant : from->linear.constant;
    system->loops->choose(rule, system->start.dims);
    return at + sweep_lines(8 * (uint64_t)rule->groups);
}

static char *bring_face(lacis_sweep *system, int field, int axis, int side, char *at)
{
    const int outer = 2 * sweep_axis(system->start.dims, axis) + side;
    sweep_face *face = &system->face[field][2 * axis + side];
    *face = (sweep_face){.kind = LACIS_SWEEP_CLAMP};
    if (outer >= 2 * system->start.dims) return at;
    const lacis_sweep_edge *edge = &system->start.edge[field][outer];
    face->held = edge->kind == LACIS_SWEEP_HOLD;
    face->kind = face->held ? LACIS_SWEEP_CLAMP : edge->kind;
    memcpy(face->a, edge->a, sizeof face->a);
    memcpy(face->b, edge->b, sizeof face->b);
    if (edge->kind != LACIS_SWEEP_VALUES) return at;
    const uint64_t bytes = lacis_sweep_face_bytes(system->start.type, &system->plan, system->start.dims, outer);
    memcpy(at, edge->values, bytes);
    face->values = at;
    return at + sweep_lines(bytes);
}

static void bring_coefficient_face(lacis_sweep *system, int array, int face)
{
    const lacis_sweep_edge_kind kind = system->face[0][face].kind;
    const bool as_field = kind == LACIS_SWEEP_PERIODIC || kind == LACIS_SWEEP_INNER;
    system->face[array][face] = (sweep_face){.kind = as_field ? kind : LACIS_SWEEP_CLAMP};
}

static bool bring_tables(lacis_sweep *system)
{
    system->tables = take(&system->start.host, system->plan.table_bytes);
    if (system->tables == NULL) return false;
    char *at = system->tables;
    for (int f = 0; f < system->start.fields; f++) {
        at = bring_rule(system, f, at);
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            at = bring_face(system, f, face / 2, face % 2, at);
    }
    for (int a = system->start.fields; a < system->arrays; a++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            bring_coefficient_face(system, a, face);
    return true;
}

/* --- the caller's arrays ---------------------------------------------------------------------------------- */

struct bring {
    lacis_sweep *system;
    int copy, array;
    const char *from; /* NULL: zeros */
};

static int bring_task(void *context, int64_t task, int worker)
{
    const struct bring *bring = context;
    const lacis_sweep *system = bring->system;
    const sweep_plan *plan = &system->plan;
    const int64_t size = system->loops->size, z = task - plan->array.before[2];
    char *block = system->block[bring->copy][bring->array];
    (void)worker;
    memset(block + SWEEP_SLACK + task * plan->array.plane, 0, (size_t)plan->array.plane);
    if (bring->from == NULL || z < 0 || z >= plan->n[2]) return 0;
    const sweep_plane plane = lacis_sweep_array_plane(system, bring->copy, bring->array, z);
    for (int64_t y = 0; y < plan->n[1]; y++)
        memcpy(plane.at + y * plane.pitch, bring->from + (z * plan->n[1] + y) * plan->n[0] * size,
               (size_t)(plan->n[0] * size));
    return 0;
}

static void bring_arrays(lacis_sweep *system)
{
    const sweep_shape *shape = &system->plan.array;
    const int64_t planes = system->plan.n[2] + shape->before[2] + shape->behind[2];
    for (int copy = 0; copy < 2; copy++)
        for (int a = 0; a < (copy == 0 ? system->arrays : system->start.fields); a++) {
            struct bring bring = {system, copy, a, copy == 0 ? system->start.array[a] : NULL};
            lacis_parallel(system->plan.threads, planes, bring_task, &bring);
            memset(system->block[copy][a], 0, SWEEP_SLACK);
            memset(system->block[copy][a] + shape->bytes - SWEEP_SLACK, 0, SWEEP_SLACK);
        }
}

struct out {
    lacis_sweep *system;
    int array;
    char *to;
};

static int out_task(void *context, int64_t z, int worker)
{
    const struct out *out = context;
    const lacis_sweep *system = out->system;
    const int64_t size = system->loops->size, *n = system->plan.n;
    const sweep_plane plane = lacis_sweep_array_plane(system, system->now, out->array, z);
    (void)worker;
    for (int64_t y = 0; y < n[1]; y++)
        memcpy(out->to + (z * n[1] + y) * n[0] * size, plane.at + y * plane.pitch, (size_t)(n[0] * size));
    return 0;
}

void lacis_sweep_read(lacis_sweep *system, void *const *field)
{
    for (int f = 0; f < system->start.fields; f++) {
        struct out out = {system, f, field[f]};
        if (out.to != NULL) lacis_parallel(system->plan.threads, system->plan.n[2], out_task, &out);
    }
}

/* --- beginning and end ------------------------------------------------------------------------------------ */

static bool build(lacis_sweep *system)
{
    if (!bring_tables(system) || !take_arrays(system) || !take_workers(system)) return false;
    bring_arrays(system);
    lacis_sweep_ghosts(system, 0, system->arrays, 0, false);
    return true;
}

lacis_sweep_status lacis_sweep_new(const lacis_sweep_start *start, lacis_sweep **out)
{
    sweep_plan plan;
    *out = NULL;
    if (!lacis_sweep_plan(start, &plan)) return LACIS_SWEEP_NO_MEMORY;
    lacis_sweep *system = take(&start->host, sizeof *system);
    if (system == NULL) return LACIS_SWEEP_NO_MEMORY;
    memset(system, 0, sizeof *system);
    system->start = *start;
    system->plan = plan;
    system->loops = lacis_sweep_kernels()->loops[start->type];
    system->arrays = start->fields + start->coefficients;
    system->t = start->t;
    if (!build(system)) {
        lacis_sweep_free(system);
        return LACIS_SWEEP_NO_MEMORY;
    }
    *out = system;
    return LACIS_SWEEP_OK;
}

void lacis_sweep_free(lacis_sweep *system)
{
    if (system == NULL) return;
    const lacis_sweep_host host = system->start.host;
    for (int copy = 0; copy < 2; copy++)
        for (int a = 0; a < system->arrays; a++)
            give(&host, system->block[copy][a]);
    give(&host, system->worker);
    give(&host, system->rooms);
    give(&host, system->tables);
    give(&host, system);
}

void lacis_sweep_counted(lacis_sweep *system, lacis_sweep_counts *out, bool reset)
{
    *out = system->counts;
    if (reset) system->counts = (lacis_sweep_counts){.levels = system->counts.levels};
}

/* --- steps ------------------------------------------------------------------------------------------------ */

/* What a pass of `levels` has written becomes the present. */
static void turn(lacis_sweep *system, int levels, bool rows_done)
{
    system->now = 1 - system->now;
    system->t += levels;
    system->counts.passes += 1;
    system->counts.steps += levels;
    system->counts.levels = levels;
    lacis_sweep_ghosts(system, 0, system->start.fields, system->now, rows_done);
}

lacis_sweep_status lacis_sweep_steps(lacis_sweep *system, int64_t steps, lacis_sweep_change *change)
{
    const sweep_plan *plan = &system->plan;
    for (int64_t left = steps; left > 0;) {
        const int64_t passes = left / plan->levels + (left % plan->levels != 0);
        const int levels = (int)((left + passes - 1) / passes);
        int64_t begin[3], end[3];
        for (int d = 0; d < 3; d++) {
            const int64_t later = (left - levels) * plan->reach[d]; /* what later passes read of the halo */
            begin[d] = plan->inner[d][0] ? -later : 0;
            end[d] = plan->n[d] + (plan->inner[d][1] ? later : 0);
        }
        bool ends;
        const lacis_sweep_status status =
            lacis_sweep_run(system, begin, end, levels, left == levels ? change : NULL, &ends);
        if (status != LACIS_SWEEP_OK) return status;
        turn(system, levels, ends);
        left -= levels;
    }
    return LACIS_SWEEP_OK;
}

/* --- parts ------------------------------------------------------------------------------------------------ */

/* A box of the whole grid as one of the part. */
static void inside(const lacis_sweep *system, const lacis_sweep_box *box, int64_t begin[3], int64_t end[3])
{
    for (int d = 0; d < 3; d++) {
        const int axis = sweep_axis(system->start.dims, d);
        begin[d] = box->begin[axis] - system->plan.origin[d];
        end[d] = box->end[axis] - system->plan.origin[d];
        if (axis >= system->start.dims) begin[d] = 0, end[d] = 1;
    }
}

lacis_sweep_status lacis_sweep_update(lacis_sweep *system, const lacis_sweep_box *box, lacis_sweep_change *change)
{
    int64_t begin[3], end[3];
    inside(system, box, begin, end);
    return lacis_sweep_run(system, begin, end, 1, change, NULL);
}

void lacis_sweep_turn(lacis_sweep *system)
{
    turn(system, 1, false);
}

/* Rows of a box between the array and a buffer. */
static char *move(const lacis_sweep *system, int array, const int64_t begin[3], const int64_t end[3], char *at,
                  bool out)
{
    const size_t bytes = (size_t)((end[0] - begin[0]) * system->loops->size);
    for (int64_t z = begin[2]; z < end[2]; z++) {
        const sweep_plane plane =
            lacis_sweep_array_plane(system, array < system->start.fields ? system->now : 0, array, z);
        for (int64_t y = begin[1]; y < end[1]; y++, at += bytes) {
            char *row = plane.at + y * plane.pitch + begin[0] * system->loops->size;
            memcpy(out ? at : row, out ? row : at, bytes);
        }
    }
    return at;
}

static void move_all(lacis_sweep *system, int array, const lacis_sweep_box *box, char *at, bool out)
{
    int64_t begin[3], end[3];
    inside(system, box, begin, end);
    for (int d = 0; d < 3; d++)
        if (end[d] <= begin[d]) return;
    const int first = array < system->start.fields ? 0 : array,
              past = array < system->start.fields ? system->start.fields : array + 1;
    for (int a = first; a < past; a++)
        at = move(system, a, begin, end, at, out);
}

void lacis_sweep_pack(lacis_sweep *system, int array, const lacis_sweep_box *box, void *to)
{
    move_all(system, array, box, to, true);
}

void lacis_sweep_unpack(lacis_sweep *system, int array, const lacis_sweep_box *box, const void *from)
{
    union {
        const void *from;
        char *at;
    } either = {.from = from}; /* read alone */
    move_all(system, array, box, either.at, false);
}

void lacis_sweep_refresh(lacis_sweep *system)
{
    lacis_sweep_ghosts(system, 0, system->start.fields, system->now, false);
    lacis_sweep_ghosts(system, system->start.fields, system->arrays, 0, false);
}
