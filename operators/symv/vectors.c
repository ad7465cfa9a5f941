/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's vectors: operands taken apart, whether they go with the matrix, and copies of those that kernels cannot read
 * where they lie: of another type, with labels in another order, shared by lanes, or in flocks through which no one
 * stride goes. Called by bind and run.
 */
#include "symv/work.h"

#include <inttypes.h>
#include <string.h>

/* --- taking apart ------------------------------------------------------------------------------------- */

static lacis_status take_vector(lacis_run *run, const lacis_array *array, lacis_symv_vectors *out)
{
    const lacis_part *values = lacis_array_part_named(array, "values");
    const lacis_part *index = lacis_array_part_named(array, "index");
    lacis_batch_group *group;
    LACIS_TRY(lacis_run_scratch(run, sizeof *group, &group));
    out->count = index != NULL ? index->count : values != NULL ? values->count : lacis_array_extent(array, 0);
    out->part = "values";
    out->data = values == NULL ? NULL : values->data;
    out->storage = values == NULL ? LACIS_PATTERN : values->dtype;
    out->label = index == NULL ? NULL : index->data;
    out->base = lacis_array_base(array, 0);
    out->lanes = out->groups = out->block = 1;
    *group = (lacis_batch_group){.lanes = 1, .rows = out->count, .block = 1};
    out->group = group;
    return LACIS_OK;
}

/* The field "value", else the only one. */
static lacis_status take_batch(lacis_run *run, const lacis_item *item, const char *role, lacis_symv_vectors *out)
{
    lacis_batch batch;
    LACIS_TRY(lacis_batch_view(run, item->array, &batch));
    const lacis_batch_part *field = lacis_batch_field(&batch, "value");
    if (field == NULL && batch.fields == 1) field = &batch.field[0];
    if (field == NULL)
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, "SELECT lane, row, b AS value FROM x",
                                 "SYMV: %s is a batch without a field \"value\", and has %d fields", role,
                                 batch.fields);
    out->batch = true;
    out->part = field->name;
    out->data = field->data;
    out->storage = field->dtype;
    out->shared = field->shared;
    out->lanes = batch.lanes;
    out->block = batch.block;
    out->groups = batch.groups;
    out->group = batch.group;
    return LACIS_OK;
}

lacis_status lacis_symv_take_vectors(lacis_run *run, const lacis_item *item, const char *role,
                                     lacis_symv_vectors *out)
{
    *out = (lacis_symv_vectors){.array = item->array, .offset = item->offset};
    switch (lacis_array_kind(item->array)) {
    case LACIS_VECTOR:
        return take_vector(run, item->array, out);
    case LACIS_INTERLEAVED:
        return take_batch(run, item, role, out);
    default:
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL,
                                 "SYMV: %s is neither a vector nor a batch of vectors", role);
    }
}

/* --- labels of vectors -------------------------------------------------------------------------------- */

/* The row of the matrix that element i of a vector belongs to; negative: none. */
static int64_t row_of(const lacis_symv_matrix *matrix, const lacis_symv_vectors *x, int64_t i)
{
    return lacis_label_find(matrix->label, matrix->base, matrix->n, lacis_label(x->label, x->base, i));
}

static bool same_labels(const lacis_symv_matrix *matrix, const lacis_symv_vectors *x)
{
    if (x->count != matrix->n || (x->label == NULL) != (matrix->label == NULL)) return false;
    if (x->label == NULL) return x->base == matrix->base || x->count == 0;
    return memcmp(x->label, matrix->label, sizeof *x->label * (size_t)x->count) == 0;
}

/* As in MULTIPLY elements meet rows of the same id, and ids that a sparse vector lacks are zeros there; but one that
 * the matrix lacks, which MULTIPLY would let fall, is an error. */
static lacis_status check_labels(lacis_run *run, const lacis_symv_matrix *matrix, const lacis_symv_vectors *x,
                                 const char *role)
{
    if (same_labels(matrix, x)) return LACIS_OK;
    if (x->label == NULL && matrix->label == NULL && x->count == matrix->n)
        return lacis_run_fail_at(run, LACIS_TYPE, x->offset, "SELECT i + 1 AS i, value FROM x",
                                 "SYMV: the matrix counts from %" PRId64 " and %s from %" PRId64
                                 "; elements are matched by id",
                                 matrix->base, role, x->base);
    if (x->label == NULL && matrix->label == NULL)
        return lacis_run_fail_at(run, LACIS_TYPE, x->offset, NULL,
                                 "SYMV: the matrix is %" PRId64 " x %" PRId64 " and %s has %" PRId64 " elements",
                                 matrix->n, matrix->n, role, x->count);
    for (int64_t i = 0; i < x->count; i++)
        if (row_of(matrix, x, i) < 0)
            return lacis_run_fail_at(run, LACIS_TYPE, x->offset, NULL,
                                     "SYMV: %s has an element %" PRId64 ", which no row of the matrix is called",
                                     role, lacis_label(x->label, x->base, i));
    return LACIS_OK;
}

/* --- shapes ------------------------------------------------------------------------------------------- */

static lacis_status check_batch(lacis_run *run, const lacis_symv_matrix *matrix, const lacis_symv_vectors *x,
                                const char *role)
{
    if (matrix->matrices > 1 && x->lanes != matrix->matrices)
        return lacis_run_fail_at(run, LACIS_TYPE, x->offset, NULL,
                                 "SYMV: %" PRId64 " matrices go with as many lanes, and %s has %" PRId64,
                                 matrix->matrices, role, x->lanes);
    for (int64_t g = 0; g < x->groups; g++)
        for (int64_t l = 0; l < (matrix->one != NULL ? x->group[g].lanes : 1); l++) {
            int64_t lane = x->group[g].lane + l, m = matrix->matrices > 1 ? lane : 0;
            if (x->group[g].lanes > 0 && x->group[g].rows != lacis_symv_rows_of(matrix, m))
                return lacis_run_fail_at(run, LACIS_TYPE, x->offset, NULL,
                                         "SYMV: lane %" PRId64 " of %s has %" PRId64 " rows, and its matrix %" PRId64,
                                         lane, role, x->group[g].rows, lacis_symv_rows_of(matrix, m));
        }
    return LACIS_OK;
}

static lacis_status check_one(lacis_run *run, const lacis_symv_matrix *matrix, lacis_symv_vectors *x,
                              const char *role)
{
    if (x->batch) return check_batch(run, matrix, x, role);
    if (matrix->matrices != 1)
        return lacis_run_fail_at(run, LACIS_TYPE, x->offset, NULL,
                                 "SYMV: %" PRId64 " matrices go with a batch of as many lanes, and %s is a vector",
                                 matrix->matrices, role);
    return check_labels(run, matrix, x, role);
}

static lacis_status check_pair(lacis_run *run, const lacis_symv_vectors *x, const lacis_symv_vectors *y)
{
    if (y->batch != x->batch)
        return lacis_run_fail_at(run, LACIS_TYPE, y->offset, NULL,
                                 "SYMV: the y of ADD is a %s and x is a %s; they must be alike",
                                 y->batch ? "batch" : "vector", x->batch ? "batch" : "vector");
    if (y->lanes != x->lanes)
        return lacis_run_fail_at(run, LACIS_TYPE, y->offset, NULL,
                                 "SYMV: the y of ADD has %" PRId64 " lanes and x has %" PRId64, y->lanes, x->lanes);
    return LACIS_OK;
}

/* One flock a group, or lane behind lane: a stride leads from lane to lane. */
static bool one_stride(const lacis_symv_work *work)
{
    const lacis_symv_vectors *x = &work->x;
    if (work->matrix.matrices > 1 || x->lanes <= 1) return true; /* each lane has a place of its own */
    if (x->groups != 1) return false;
    const bool beside = x->group[0].block >= x->group[0].lanes;
    return beside || (x->group[0].block == 1 && !work->split);
}

/* All lanes beside each other. */
static lacis_status lay_beside(lacis_run *run, lacis_symv_work *work)
{
    lacis_batch_group *group;
    LACIS_TRY(lacis_run_scratch(run, sizeof *group, &group));
    *group = (lacis_batch_group){.lanes = work->x.lanes, .rows = work->matrix.n, .block = work->x.lanes};
    work->group = group;
    work->groups = 1;
    work->places = work->x.lanes * work->matrix.n;
    return LACIS_OK;
}

static int64_t places_of(const lacis_symv_vectors *x)
{
    int64_t places = 0;
    for (int64_t g = 0; g < x->groups; g++) {
        const lacis_batch_group *group = &x->group[g];
        int64_t flocks = group->block > 0 ? (group->lanes + group->block - 1) / group->block : 0;
        places = group->place + flocks * group->block * group->rows;
    }
    return places;
}

static bool same_places(const lacis_symv_work *work, const lacis_symv_vectors *x)
{
    if (x->groups != work->groups) return false;
    for (int64_t g = 0; g < x->groups; g++) {
        const lacis_batch_group *a = &x->group[g], *b = &work->group[g];
        if (a->lane != b->lane || a->lanes != b->lanes || a->rows != b->rows || a->place != b->place) return false;
        if (a->block != b->block) return false;
    }
    return true;
}

static bool is_direct(const lacis_symv_work *work, const lacis_symv_vectors *x)
{
    if (x->array == NULL || x->storage != work->dtype || x->shared) return false;
    return x->batch ? same_places(work, x) : same_labels(&work->matrix, x);
}

lacis_status lacis_symv_bind_shapes(lacis_run *run, lacis_symv_work *work)
{
    LACIS_TRY(check_one(run, &work->matrix, &work->x, "x"));
    if (work->y.array != NULL) {
        LACIS_TRY(check_pair(run, &work->x, &work->y));
        LACIS_TRY(check_one(run, &work->matrix, &work->y, "ADD's y"));
    }
    work->scattered = !one_stride(work);
    if (work->scattered || !work->x.batch) {
        LACIS_TRY(lay_beside(run, work));
    } else {
        work->group = work->x.group;
        work->groups = work->x.groups;
        work->places = places_of(&work->x);
    }
    work->x.direct = is_direct(work, &work->x);
    work->y.direct = is_direct(work, &work->y);
    return LACIS_OK;
}

/* --- copies ------------------------------------------------------------------------------------------- */

/* Where lane l of x, and row 0 of it, lie: first place, and from row to row. */
static void lane_of(const lacis_batch_group *group, int64_t l, bool shared, int64_t *first, int64_t *step)
{
    *first = shared ? group->row : lacis_batch_place(group, l - group->lane, 0);
    *step = shared ? 1 : group->block;
}

/* The last group that begins at or before the lane: it has it. */
static const lacis_batch_group *group_with(const lacis_symv_work *work, int64_t lane)
{
    int64_t low = 0, high = work->groups - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (work->group[middle].lane <= lane)
            low = middle;
        else
            high = middle - 1;
    }
    return &work->group[low];
}

static void convert_lane(const lacis_symv_vectors *from, int64_t first, int64_t step, int64_t rows, lacis_dtype dtype,
                         char *to, int64_t to_step)
{
    const uint64_t size = lacis_dtype_size(dtype);
    if (step == 1 && to_step == 1) {
        lacis_values_convert(from->data, from->storage, first, rows, to, dtype);
        return;
    }
    for (int64_t r = 0; r < rows; r++)
        lacis_values_convert(from->data, from->storage, first + r * step, 1, to + size * (uint64_t)(r * to_step),
                             dtype);
}

typedef struct gathering {
    const lacis_symv_work *work;
    const lacis_symv_vectors *from;
    char *to;
} gathering;

static lacis_status gather_group(void *context, int64_t task, int worker)
{
    const gathering *g = context;
    const lacis_batch_group *own = &g->from->group[task];
    const uint64_t size = lacis_dtype_size(g->work->dtype);
    (void)worker;
    for (int64_t lane = own->lane; lane < own->lane + own->lanes; lane++) {
        int64_t first, step, place, to_step;
        lane_of(own, lane, g->from->shared, &first, &step);
        lane_of(group_with(g->work, lane), lane, false, &place, &to_step);
        convert_lane(g->from, first, step, own->rows, g->work->dtype, g->to + size * (uint64_t)place, to_step);
    }
    return LACIS_OK;
}

static void gather_vector(const gathering *g)
{
    const uint64_t size = lacis_dtype_size(g->work->dtype);
    if (same_labels(&g->work->matrix, g->from)) {
        lacis_values_convert(g->from->data, g->from->storage, 0, g->from->count, g->to, g->work->dtype);
        return;
    }
    for (int64_t i = 0; i < g->from->count; i++) {
        int64_t row = row_of(&g->work->matrix, g->from, i);
        lacis_values_convert(g->from->data, g->from->storage, i, 1, g->to + size * (uint64_t)row, g->work->dtype);
    }
}

lacis_status lacis_symv_gather(lacis_run *run, const lacis_symv_work *work, const lacis_symv_vectors *from, void *to)
{
    gathering g = {work, from, to};
    memset(to, 0, lacis_dtype_size(work->dtype) * (size_t)work->places);
    if (from->batch) return lacis_run_parallel(run, from->groups, gather_group, &g);
    gather_vector(&g);
    return LACIS_OK;
}

void lacis_symv_scatter(const lacis_symv_work *work, const void *from, void *to)
{
    const uint64_t size = lacis_dtype_size(work->dtype);
    for (int64_t g = 0; g < work->x.groups; g++) {
        const lacis_batch_group *own = &work->x.group[g];
        for (int64_t l = 0; l < own->lanes; l++)
            for (int64_t r = 0; r < own->rows; r++)
                memcpy((char *)to + size * (uint64_t)lacis_batch_place(own, l, r),
                       (const char *)from + size * (uint64_t)(r * work->x.lanes + own->lane + l), size);
    }
}
