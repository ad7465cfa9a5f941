/* SPDX-License-Identifier: Apache-2.0
 *
 * One slice of a B row applied to a row's cells: counted, scattered with CON fused in the loop, or by strips where
 * CON or the fold is the caller's function, overflow is checked or types are converted. Called from dense and hash
 * rows of the same instruction set; values() also from sort rows.
 */
#include "multiply/loops.h"

static const char *value_at(const lacis_mul_matrix *matrix, int64_t at)
{
    return matrix->value ? (const char *)matrix->value + (size_t)at * mul_type_bytes(matrix->type) : NULL;
}

/* The value of A at `at`, or 1, in the job's type. */
static mul_scalar operand(const lacis_mul_job *job, int64_t at)
{
    static const int32_t one = 1;
    const char *value = value_at(&job->a, at);
    const mul_kind from = value ? lacis_mul_kind_of(job->a.type) : LACIS_MUL_TO_I32;
    mul_scalar out = {.c128 = {0, 0}};
    lacis_mul_convert(1, from, value ? value : (const char *)&one, lacis_mul_kind_of(job->type), &out);
    return out;
}

static bool add_one(lacis_mul_type type, bool checked, mul_scalar *a)
{
    bool over = false;
    if (type == LACIS_MUL_I32)
        over = __builtin_add_overflow(a->i32, 1, &a->i32);
    else if (type == LACIS_MUL_I64)
        over = __builtin_add_overflow(a->i64, 1, &a->i64);
    else if (type == LACIS_MUL_F32)
        a->f32 += 1;
    else
        a->f64 += 1; /* C128: the real part */
    return !(over && checked);
}

/* What the loops take as `a`: for constant forms the value itself. False: overflow. */
static bool slice_scalar(const mul_plan *plan, int64_t at_a, mul_scalar *a)
{
    const lacis_mul_job *job = plan->job;
    const mul_scalar none = {.c128 = {0, 0}};
    const lacis_mul_con con = job->con_kind;
    if (con == LACIS_MUL_CON_ONE || con == LACIS_MUL_CON_B) {
        *a = none;
        return plan->form == MUL_FORM_B || add_one(job->type, false, a);
    }
    if (job->a.value && job->a.type == job->type && (job->type == LACIS_MUL_F32 || job->type == LACIS_MUL_I32))
        a->i32 = ((const int32_t *)job->a.value)[at_a];
    else
        *a = operand(job, at_a);
    return !(plan->form == MUL_FORM_CONST && con == LACIS_MUL_CON_ADD) || add_one(job->type, job->checked, a);
}

/* CON of n <= LACIS_MUL_STRIP products of (row, c) into out, in the job's type. */
bool LACIS_ISA(lacis_mul_values)(mul_worker *w, int64_t row, int64_t at_a, int64_t at_b, int n, void *out)
{
    const mul_plan *plan = w->plan;
    const lacis_mul_job *job = plan->job;
    const void *b = value_at(&job->b, at_b);
    bool good;
    if (job->con_kind == LACIS_MUL_CON_STRIPS) {
        const lacis_mul_strip strip = {
            n, row, (int64_t)job->a.column[at_a], value_at(&job->a, at_a), b, job->b.column + at_b};
        good = job->con(job->user, w->user, &strip, out);
    } else {
        mul_scalar a;
        good = slice_scalar(plan, at_a, &a);
        if (plan->convert_b) {
            lacis_mul_convert(n, lacis_mul_kind_of(job->b.type), b, lacis_mul_kind_of(job->type), w->strip_other);
            b = w->strip_other;
        }
        if (job->checked)
            good = good && LACIS_ISA(lacis_mul_fill_checked)(job->type, plan->form, out, n, b, a);
        else
            LACIS_ISA(lacis_mul_fill)[job->type][plan->form](out, n, b, a);
    }
    if (!good) w->status = LACIS_MUL_OVERFLOW;
    return good;
}

static bool fold_strip(mul_worker *w, const mul_target *target, const uint32_t *index, int n)
{
    const lacis_mul_job *job = w->plan->job;
    LACIS_ISA(lacis_mul_pick)(target->log2_bytes, w->strip_x, target->cells, index, n);
    if (!job->fold(job->user, w->user, n, w->strip_x, w->strip_value)) return false;
    LACIS_ISA(lacis_mul_put)(target->log2_bytes, target->cells, w->strip_x, index, n);
    return true;
}

static bool strip_apply(mul_worker *w, const mul_target *target, const uint32_t *index, int n)
{
    const mul_plan *plan = w->plan;
    const lacis_mul_job *job = plan->job;
    const mul_scalar none = {.bits = 0};
    if (job->agg == LACIS_MUL_FOLD) return fold_strip(w, target, index, n);
    if (job->agg == LACIS_MUL_AVG) {
        const lacis_mul_type type = target->kind == LACIS_MUL_TO_C128 ? LACIS_MUL_C128 : LACIS_MUL_F64;
        lacis_mul_convert(n, lacis_mul_kind_of(job->type), w->strip_value, target->kind, w->strip_other);
        LACIS_ISA(lacis_mul_scatter)
        [MUL_UPDATE_SUM][type][MUL_FORM_B](target->cells, index, n, w->strip_other, none);
        LACIS_ISA(lacis_mul_count)[LACIS_MUL_TO_U32](target->counts, index, n);
        return true;
    }
    if (job->checked && job->agg == LACIS_MUL_SUM && (job->type == LACIS_MUL_I32 || job->type == LACIS_MUL_I64))
        return LACIS_ISA(lacis_mul_sum_checked)(job->type, target->cells, index, n, w->strip_value);
    if (plan->sure && plan->bounded) LACIS_ISA(lacis_mul_scatter_sure)
    [plan->update -
        MUL_UPDATE_MIN][job->type - LACIS_MUL_F32][MUL_FORM_B](target->cells, index, n, w->strip_value, none);
    else LACIS_ISA(lacis_mul_scatter)[plan->update][job->type][MUL_FORM_B](target->cells, index, n, w->strip_value,
                                                                           none);
    return true;
}

static mul_scatter_fn scatter_fn_of(const mul_plan *plan, mul_scalar a)
{
    const lacis_mul_type type = plan->job->type;
    if (plan->sure && isfinite(type == LACIS_MUL_F32 ? (double)a.f32 : a.f64))
        return LACIS_ISA(lacis_mul_scatter_sure)[plan->update - MUL_UPDATE_MIN][type - LACIS_MUL_F32][plan->form];
    return LACIS_ISA(lacis_mul_scatter)[plan->update][type][plan->form];
}

bool LACIS_ISA(lacis_mul_apply)(mul_worker *w, const mul_target *target, int64_t row, int64_t at_a, int64_t at_b,
                                int64_t n, const uint32_t *index)
{
    const mul_plan *plan = w->plan;
    const lacis_mul_job *job = plan->job;
    if (plan->mode == MUL_MODE_COUNT) {
        LACIS_ISA(lacis_mul_count)[target->kind](target->cells, index, n);
        return true;
    }
    if (plan->mode == MUL_MODE_DIRECT) {
        mul_scalar a;
        slice_scalar(plan, at_a, &a);
        scatter_fn_of(plan, a)(target->cells, index, n, value_at(&job->b, at_b), a);
        return true;
    }
    for (; n > 0; n -= LACIS_MUL_STRIP, at_b += LACIS_MUL_STRIP, index += LACIS_MUL_STRIP) {
        const int now = n < LACIS_MUL_STRIP ? (int)n : LACIS_MUL_STRIP;
        if (!LACIS_ISA(lacis_mul_values)(w, row, at_a, at_b, now, w->strip_value)) return false;
        if (!strip_apply(w, target, index, now)) {
            w->status = LACIS_MUL_OVERFLOW;
            return false;
        }
    }
    return true;
}
