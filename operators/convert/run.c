/* SPDX-License-Identifier: Apache-2.0
 *
 * CONVERT at work: the shape of the lanes that are wanted, then field by field their elements. Called through op.c's
 * variant.
 */
#include "convert/convert.h"

#include "convert/lanes.h"

#include <string.h>

enum { SIDE = 64 };
static const int64_t TASK = (int64_t)1 << 17; /* elements, or one SIDE of lanes */
static const int64_t SLICE = (int64_t)1 << 16;

/* --- shape ---------------------------------------------------------------------------------------- */

typedef struct shaping {
    int64_t *lanes, *rows;        /* of the groups that are wanted */
    lacis_convert_lanes_of *from; /* where those lie in the operand */
    int32_t *parent;
    int64_t groups;
} shaping;

static lacis_status select_groups(lacis_run *run, const lacis_convert_work *work, int64_t first, int64_t last,
                                  shaping *out)
{
    const lacis_batch *from = &work->from;
    int64_t rows = 0;
    memset(out, 0, sizeof *out);
    LACIS_TRY(lacis_run_scratch(run, 2 * (uint64_t)from->groups * sizeof *out->lanes, &out->lanes));
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)from->groups * sizeof *out->from, &out->from));
    out->rows = out->lanes + from->groups;
    if (from->parent != NULL)
        LACIS_TRY(lacis_run_scratch(run, (uint64_t)from->rows * sizeof *out->parent, &out->parent));
    for (int64_t g = 0; g < from->groups; g++) {
        const lacis_batch_group *group = &from->group[g];
        int64_t begin = group->lane > first ? group->lane : first, end = group->lane + group->lanes;
        if (end > last) end = last;
        if (begin >= end) continue;
        out->lanes[out->groups] = end - begin;
        out->rows[out->groups] = group->rows;
        out->from[out->groups++] = (lacis_convert_lanes_of){g, begin - group->lane, end - begin};
        if (out->parent != NULL)
            memcpy(out->parent + rows, from->parent + group->row, (size_t)group->rows * sizeof *out->parent);
        rows += group->rows;
    }
    return LACIS_OK;
}

/* --- elements of lanes ---------------------------------------------------------------------------- */

typedef struct moving {
    const lacis_batch *from, *to;
    const shaping *shape;
    const void *source;
    void *target;
    size_t size;
    int64_t lanes; /* a task */
    lacis_run *run;
    int field, fields; /* which of how many is moved */
} moving;

static int64_t group_of(const lacis_batch *batch, int64_t lane)
{
    int64_t low = 0, high = batch->groups;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (batch->group[middle].lane <= lane)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Lanes begin .. end of the result's group g, counted within it. */
static void move_lanes(const moving *m, int64_t g, int64_t begin, int64_t end)
{
    const lacis_batch_group *to = &m->to->group[g], *from = &m->from->group[m->shape->from[g].source];
    lacis_convert_side left = {(char *)m->source + (size_t)from->place * m->size, from->block,
                               m->shape->from[g].skip + begin};
    lacis_convert_side right = {(char *)m->target + (size_t)to->place * m->size, to->block, begin};
    lacis_convert_lanes(&left, &right, end - begin, to->rows, m->size);
    if (end == to->lanes) lacis_convert_pad(&right, to->lanes, to->rows, m->size);
}

static lacis_status move_task(void *context, int64_t task, int worker)
{
    const moving *m = context;
    const double all = (double)m->to->lanes;
    if (worker == 0)
        lacis_run_advance(m->run, "CONVERT", m->field * all + (double)(task * m->lanes), m->fields * all,
                          "lanes of a field");
    int64_t first = task * m->lanes, last = first + m->lanes < m->to->lanes ? first + m->lanes : m->to->lanes;
    for (int64_t g = group_of(m->to, first); g < m->to->groups && m->to->group[g].lane < last; g++) {
        const lacis_batch_group *group = &m->to->group[g];
        int64_t begin = first > group->lane ? first - group->lane : 0, end = last - group->lane;
        move_lanes(m, g, begin, end < group->lanes ? end : group->lanes);
    }
    return LACIS_OK;
}

static lacis_status move(lacis_run *run, moving *m)
{
    if (m->to->elements == 0 || m->size == 0) return LACIS_OK;
    int64_t sides = TASK / m->to->most_rows / SIDE;
    m->lanes = (sides > 0 ? sides : 1) * SIDE;
    return lacis_run_parallel(run, (m->to->lanes - 1) / m->lanes + 1, move_task, m);
}

/* --- types ---------------------------------------------------------------------------------------- */

typedef struct casting {
    const void *source;
    lacis_dtype from, to;
    void *target;
    int64_t count;
} casting;

static lacis_status cast_task(void *context, int64_t task, int worker)
{
    (void)worker;
    const casting *c = context;
    int64_t first = task * SLICE, count = c->count - first < SLICE ? c->count - first : SLICE;
    lacis_values_convert(c->source, c->from, first, count,
                         (char *)c->target + (size_t)first * lacis_dtype_size(c->to), c->to);
    return LACIS_OK;
}

static lacis_status cast(lacis_run *run, casting *c)
{
    return lacis_run_parallel(run, (c->count + SLICE - 1) / SLICE, cast_task, c);
}

/* --- fields --------------------------------------------------------------------------------------- */

/* The rows of a shared field that belong to the groups that are wanted; of a field on which lanes agree, those of
 * each group's first lane. */
static void move_shared(const moving *m, bool shared)
{
    const char *from = m->source;
    char *to = m->target;
    for (int64_t g = 0; g < m->shape->groups; g++) {
        const lacis_batch_group *group = &m->from->group[m->shape->from[g].source];
        for (int64_t row = 0; row < group->rows; row++, to += m->size) {
            int64_t place = shared ? group->row + row : lacis_batch_place(group, m->shape->from[g].skip, row);
            memcpy(to, from + (size_t)place * m->size, m->size);
        }
    }
}

static lacis_status fill(lacis_run *run, const lacis_convert_work *work, moving *m, const lacis_batch_part *field,
                         bool shared, int64_t count, void *data)
{
    lacis_dtype type = lacis_convert_type(work, field);
    casting c = {field->data, field->dtype, type, data, count};
    bool casts = type != field->dtype;
    bool alike = !shared && m->to->block == m->from->block && m->to->lanes == m->from->lanes;
    if (casts && alike) return cast(run, &c);
    void *middle = NULL;
    m->source = field->data;
    m->size = lacis_dtype_size(field->dtype);
    if (casts) LACIS_TRY(lacis_run_alloc(run, (uint64_t)count * m->size, &middle));
    m->target = casts ? middle : data;
    lacis_status status = LACIS_OK;
    if (shared)
        move_shared(m, field->shared);
    else
        status = move(run, m);
    c.source = middle;
    if (casts && status == LACIS_OK) status = cast(run, &c);
    lacis_run_free(run, middle);
    return status;
}

static lacis_status add_field(lacis_run *run, const lacis_convert_work *work, moving *m,
                              const lacis_batch_part *field, lacis_array *array)
{
    lacis_dtype type = lacis_convert_type(work, field);
    bool shared = field->shared;
    if (work->share && !shared)
        LACIS_TRY(lacis_convert_agree(run, m->from, field, m->shape->from, m->shape->groups, &shared));
    int64_t count = shared ? m->to->rows : m->to->places;
    uint64_t bytes = (uint64_t)count * lacis_dtype_size(type);
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_reserve(run, bytes, &buffer));
    lacis_status status = lacis_buffer_charge(buffer, bytes);
    if (status != LACIS_OK)
        status =
            lacis_run_fail(run, status, "no memory left for field %s of the batch; raise memory_limit", field->name);
    if (status == LACIS_OK) status = fill(run, work, m, field, shared, count, lacis_buffer_data(buffer));
    if (status == LACIS_OK) status = lacis_array_add(run, array, field->name, type, count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status add_fields(lacis_run *run, const lacis_convert_work *work, const shaping *shape,
                               lacis_array *array)
{
    lacis_batch to;
    LACIS_TRY(lacis_batch_view(run, array, &to));
    moving m = {.from = &work->from, .to = &to, .shape = shape, .run = run, .fields = work->from.fields};
    for (m.field = 0; m.field < m.fields; m.field++)
        LACIS_TRY(add_field(run, work, &m, &work->from.field[m.field], array));
    return LACIS_OK;
}

lacis_status lacis_convert_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    const lacis_convert_work *work = call->work;
    if (call->kind == LACIS_SYMMETRIC) return lacis_convert_run_symmetric(run, call, out);
    if (call->kind == LACIS_BODIES) return lacis_convert_run_bodies(run, call, out);
    if (call->kind == LACIS_GRID) return lacis_convert_run_grid(run, call, out);
    bool all = end - begin == work->from.lanes;
    if (all && !work->typed && !work->share && work->block == work->from.block) {
        *out = lacis_array_retain(work->array);
        return LACIS_OK;
    }
    shaping shape;
    lacis_array *array;
    int64_t first = work->first + begin;
    LACIS_TRY(select_groups(run, work, first, work->first + end, &shape));
    lacis_batch_shape spec = {.groups = shape.groups,
                              .lanes = shape.lanes,
                              .rows = shape.rows,
                              .parent = shape.parent,
                              .block = work->block,
                              .base = {lacis_array_base(work->array, 0) + first, lacis_array_base(work->array, 1)},
                              .dtype = call->dtype};
    LACIS_TRY(lacis_batch_new(run, &spec, &array));
    lacis_status status = add_fields(run, work, &shape, array);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}
