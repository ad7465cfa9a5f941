/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE's bind: which fields are the matrix and the right side, whether they go together, which lanes are wanted.
 * Called by the engine before planning.
 */
#include "solve/systems.h"

#include <inttypes.h>
#include <string.h>

static lacis_status fail(lacis_run *run, const lacis_arg *arg, const char *hint, const char *what)
{
    return lacis_run_fail_at(run, LACIS_TYPE, arg->item[0].offset, hint, "SOLVE: %s", what);
}

static lacis_status take_apart(lacis_run *run, const lacis_arg *arg, lacis_systems *out)
{
    out->array = arg->item[0].array;
    if (lacis_array_kind(out->array) != LACIS_INTERLEAVED)
        return fail(run, arg, NULL, "this is no batch of systems (an array with lanes and rows)");
    return lacis_batch_view(run, out->array, &out->batch);
}

/* --- fields ------------------------------------------------------------------------------------------ */

/* What a tridiagonal batch and a tree call them. */
static const struct names {
    const char *lower, *diagonal, *upper, *right, *needs;
} names[] = {
    {"a", "b", "c", "d", "tridiagonal systems need the fields a (below), b (diagonal), c (above) and d (right side)"},
    {"b", "d", "a", "rhs",
     "a tree needs the fields a (A[parent, row]), b (A[row, parent]), d (diagonal) and rhs (right side)"},
};

static lacis_status field(lacis_run *run, const lacis_arg *arg, const lacis_solve *work, const lacis_systems *from,
                          const char *name, const lacis_batch_part **part, lacis_solve_field *out)
{
    *part = lacis_batch_field(&from->batch, name);
    if (*part == NULL)
        return lacis_run_fail_at(run, LACIS_TYPE, arg->item[0].offset, NULL, "SOLVE: there is no field \"%s\": %s",
                                 name, names[work->tree].needs);
    *out = (lacis_solve_field){(*part)->data, (*part)->shared};
    return LACIS_OK;
}

/* The right sides of BY: the field of its usual name, else "value", else the only one. */
static const char *right_name(const lacis_solve *work)
{
    const lacis_batch *batch = &work->rhs.batch;
    const char *usual = names[work->tree].right;
    if (&work->rhs == work->like && lacis_batch_field(batch, usual) != NULL) return usual;
    if (lacis_batch_field(batch, usual) != NULL) return usual;
    return lacis_batch_field(batch, "value") != NULL || batch->fields != 1 ? "value" : batch->field[0].name;
}

static lacis_status type_of(lacis_run *run, const lacis_call *call, const lacis_arg *arg, lacis_dtype dtype,
                            lacis_solve *work)
{
    const lacis_arg *precision = lacis_call_arg(call, "PRECISION");
    const bool wide = precision != NULL && precision->item[0].integer == 1;
    switch (dtype) {
    case LACIS_F64:
        work->type = LACIS_SOLVE_F64;
        break;
    case LACIS_F32:
        work->type = wide ? LACIS_SOLVE_MIXED : LACIS_SOLVE_F32;
        break;
    case LACIS_C128:
        work->type = LACIS_SOLVE_C128;
        if (work->tree) return fail(run, arg, NULL, "trees are solved in f32 and f64, not in c128");
        break;
    default:
        return lacis_run_fail_at(run, LACIS_TYPE, arg->item[0].offset, "LET y = x AS f64 converts all fields of x",
                                 "SOLVE computes with f32, f64 and c128, and these fields are %s",
                                 lacis_dtype_name(dtype));
    }
    if (precision != NULL && !wide && dtype != LACIS_F32)
        return lacis_run_fail_at(run, LACIS_TYPE, precision->item[0].offset, NULL,
                                 "PRECISION F32 is for systems stored as f32; these are %s", lacis_dtype_name(dtype));
    return LACIS_OK;
}

static lacis_status bind_fields(lacis_run *run, lacis_call *call, lacis_solve *work)
{
    const lacis_arg *s = lacis_call_arg(call, NULL), *by = lacis_call_arg(call, "BY");
    const struct names *name = &names[work->tree];
    const lacis_batch_part *part[LACIS_SOLVE_ROLES];
    LACIS_TRY(field(run, s, work, &work->matrix, name->lower, &part[0], &work->lower));
    LACIS_TRY(field(run, s, work, &work->matrix, name->diagonal, &part[1], &work->diagonal));
    LACIS_TRY(field(run, s, work, &work->matrix, name->upper, &part[2], &work->upper));
    LACIS_TRY(field(run, by != NULL ? by : s, work, &work->rhs, by != NULL ? right_name(work) : name->right, &part[3],
                    &work->right));
    for (int i = 0; i < LACIS_SOLVE_ROLES; i++)
        if (part[i]->dtype != part[1]->dtype)
            return lacis_run_fail_at(
                run, LACIS_TYPE, (i == 3 && by != NULL ? by : s)->item[0].offset,
                "LET y = x AS f64 converts all fields of x", "SOLVE needs fields of one type: %s is %s and %s is %s",
                part[i]->name, lacis_dtype_name(part[i]->dtype), part[1]->name, lacis_dtype_name(part[1]->dtype));
    for (int i = 0; i < LACIS_SOLVE_ROLES; i++)
        work->part[i] = part[i]->name;
    call->dtype = part[1]->dtype;
    return type_of(run, call, s, call->dtype, work);
}

/* --- shapes ------------------------------------------------------------------------------------------ */

static lacis_status same_tree(lacis_run *run, const lacis_arg *by, const lacis_solve *work)
{
    const lacis_batch *s = &work->matrix.batch, *r = &work->rhs.batch;
    if (r->parent == NULL || s->parent == NULL || work->one) return LACIS_OK;
    if (s->rows == r->rows && memcmp(s->parent, r->parent, sizeof *s->parent * (size_t)s->rows) == 0) return LACIS_OK;
    return fail(run, by, NULL, "the right sides belong to other trees than the matrices");
}

/* Groups of s for those of the right sides: the same, each with one lane for all, or a single system for everything.
 */
static lacis_status pair_groups(lacis_run *run, const lacis_arg *by, lacis_solve *work)
{
    const lacis_batch *s = &work->matrix.batch, *r = &work->rhs.batch;
    bool single = s->groups > 0, same = s->groups == r->groups;
    for (int64_t g = 0; g < s->groups; g++)
        single = single && s->group[g].lanes == 1;
    if (!same && !(single && s->groups == 1))
        return lacis_run_fail_at(run, LACIS_TYPE, by->item[0].offset, NULL,
                                 "SOLVE: %" PRId64 " groups of right sides do not go with %" PRId64
                                 " groups of matrices",
                                 r->groups, s->groups);
    bool lanes = same;
    for (int64_t g = 0; g < r->groups; g++) {
        const lacis_batch_group *own = &s->group[same ? g : 0], *other = &r->group[g];
        if (own->rows != other->rows)
            return lacis_run_fail_at(run, LACIS_TYPE, by->item[0].offset, NULL,
                                     "SOLVE: right sides of %" PRId64 " rows (lane %" PRId64
                                     ") do not go with matrices of %" PRId64,
                                     other->rows, other->lane, own->rows);
        lanes = lanes && own->lanes == other->lanes;
    }
    if (!lanes && !single)
        return lacis_run_fail_at(run, LACIS_TYPE, by->item[0].offset, NULL,
                                 "SOLVE: %" PRId64 " lanes of right sides do not go with %" PRId64
                                 " lanes of matrices; one matrix may serve all",
                                 r->lanes, s->lanes);
    work->one = !lanes;
    return same_tree(run, by, work);
}

/* Of a single system in Block(b) shared fields and others lie differently. */
static lacis_status one_matrix(lacis_run *run, const lacis_arg *arg, lacis_solve *work)
{
    bool shared = work->lower.shared;
    if (work->diagonal.shared != shared || work->upper.shared != shared)
        return fail(run, arg, "LET flat = ... LAYOUT flat",
                    "a single matrix in blocks cannot mix shared fields and others");
    return LACIS_OK;
}

static lacis_status bind_shapes(lacis_run *run, const lacis_call *call, lacis_solve *work)
{
    const lacis_arg *s = lacis_call_arg(call, NULL), *by = lacis_call_arg(call, "BY");
    if (by != NULL && !work->blank) LACIS_TRY(pair_groups(run, by, work));
    if (work->one) LACIS_TRY(one_matrix(run, s, work));
    work->like = work->one ? &work->rhs : &work->matrix;
    return LACIS_OK;
}

static lacis_status bind_result(lacis_run *run, const lacis_call *call, lacis_solve *work)
{
    static const char *const hint = "SOLVE (s LAYOUT full) IN PLACE: a call in parentheses belongs to the statement";
    const lacis_arg *layout = lacis_call_arg(call, "LAYOUT"), *in = lacis_call_arg(call, "IN");
    uint64_t offset;
    work->block = layout != NULL ? layout->item[0].integer : work->rhs.batch.block;
    work->in_place = in != NULL && !work->blank;
    if (!work->in_place) return LACIS_OK;
    if (work->right.shared)
        return lacis_run_fail_at(run, LACIS_TYPE, in->offset, NULL,
                                 "SOLVE IN PLACE: one right side shared by the lanes has no room for their results");
    if (work->block != work->rhs.batch.block)
        return lacis_run_fail_at(run, LACIS_TYPE, in->offset, NULL,
                                 "SOLVE IN PLACE: the result has the right sides' layout");
    if (lacis_array_part_own(work->rhs.array, work->part[LACIS_SOLVE_RIGHT], &offset) == NULL)
        return lacis_run_fail_at(
            run, LACIS_TYPE, in->offset, hint,
            "SOLVE IN PLACE: the right sides are in the memory of an array with a name, and such never change");
    return LACIS_OK;
}

/* --- lanes ------------------------------------------------------------------------------------------- */

static lacis_status bind_lanes(lacis_run *run, lacis_call *call, lacis_solve *work)
{
    const lacis_restriction *want = call->restriction;
    const int64_t base = lacis_array_base(work->like->array, 0), lanes = work->like->batch.lanes;
    call->units = work->blank ? 0 : lanes;
    if (want == NULL || work->blank) return LACIS_OK;
    int64_t end = want->hi == INT64_MAX ? lanes : lacis_label_lower(NULL, base, lanes, want->hi + 1), *chosen;
    work->first = lacis_label_lower(NULL, base, lanes, want->lo);
    call->units = end > work->first ? end - work->first : 0;
    if (want->list == NULL || call->units == 0) return LACIS_OK;
    LACIS_TRY(lacis_run_scratch(run, sizeof *chosen * (uint64_t)want->count, &chosen));
    call->units = 0;
    for (int64_t i = 0; i < want->count; i++) {
        int64_t lane = lacis_label_find(NULL, base, lanes, want->list[i]);
        if (lane >= work->first && lane < end) chosen[call->units++] = lane;
    }
    work->chosen = chosen;
    return LACIS_OK;
}

static lacis_status describe(lacis_run *run, lacis_call *call, lacis_solve *work)
{
    char text[LACIS_LAYOUT_TEXT];
    int count = 0;
    call->layout = lacis_run_text(run, "%s", lacis_batch_layout_text(work->block, text));
    if (call->layout == NULL) return LACIS_NOMEM;
    call->kind = LACIS_INTERLEAVED;
    call->extent[0] = work->like->batch.lanes;
    call->extent[1] = work->like->batch.most_rows;
    if (work->like->batch.parent != NULL) work->column[count++] = (lacis_column){"parent", false};
    work->column[count++] = (lacis_column){"value", true};
    if (work->type == LACIS_SOLVE_C128) work->column[count++] = (lacis_column){"value_im", true};
    if (work->status) work->column[count++] = (lacis_column){"status", false};
    if (work->residual) work->column[count++] = (lacis_column){"residual", true};
    call->column = work->column;
    call->columns = count;
    return LACIS_OK;
}

lacis_status lacis_solve_bind(lacis_run *run, lacis_call *call)
{
    const lacis_arg *s = lacis_call_arg(call, NULL), *by = lacis_call_arg(call, "BY");
    lacis_solve *work;
    call->work = NULL;
    LACIS_TRY(lacis_run_scratch(run, sizeof *work, &work));
    memset(work, 0, sizeof *work);
    work->run = run;
    work->status = lacis_call_arg(call, "STATUS") != NULL;
    work->residual = lacis_call_arg(call, "RESIDUAL") != NULL;
    work->blank = s->item[0].partial || (by != NULL && by->item[0].partial);
    LACIS_TRY(take_apart(run, s, &work->matrix));
    work->rhs = work->matrix;
    if (by != NULL) LACIS_TRY(take_apart(run, by, &work->rhs));
    work->tree = work->matrix.batch.parent != NULL;
    LACIS_TRY(bind_fields(run, call, work));
    LACIS_TRY(bind_shapes(run, call, work));
    LACIS_TRY(bind_result(run, call, work));
    LACIS_TRY(bind_lanes(run, call, work));
    call->work = work;
    return describe(run, call, work);
}

/* --- blocks of lanes --------------------------------------------------------------------------------- */

static uint64_t element_bytes(const lacis_solve *work)
{
    return (uint64_t)lacis_solve_bytes(work->type) + (work->status ? 1 : 0) + (work->residual ? sizeof(double) : 0);
}

/* Whole lanes; of a list only lanes that follow each other. A padded flock counts whole. */
int64_t lacis_solve_fit(const lacis_call *call, int64_t begin, uint64_t bytes)
{
    const lacis_solve *work = call->work;
    const lacis_batch *batch = &work->like->batch;
    const int64_t pad = work->block > 1 ? work->block : 1;
    double left = (double)bytes - 4096;
    int64_t end = begin;
    for (int64_t g = 0; g < batch->groups && end < call->units; g++) {
        const lacis_batch_group *group = &batch->group[g];
        double lane_bytes = (double)element_bytes(work) * (double)group->rows + sizeof(int64_t);
        left -=
            (group->lane + group->lanes > lacis_solve_lane(work, begin)) ? lane_bytes * (double)(pad - 1) + 20 : 0;
        while (end < call->units && lacis_solve_lane(work, end) < group->lane + group->lanes) {
            int64_t lane = lacis_solve_lane(work, end), most = group->lane + group->lanes - lane;
            if (end > begin && lane != lacis_solve_lane(work, end - 1) + 1) return end;
            if (work->chosen != NULL) most = 1;
            if (most > call->units - end) most = call->units - end;
            double whole = left / lane_bytes;
            int64_t taken = whole < (double)most ? (int64_t)(whole < 0 ? 0 : whole) : most;
            end += taken;
            left -= lane_bytes * (double)taken;
            if (taken < most) return end;
        }
    }
    return end;
}
