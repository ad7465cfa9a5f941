/* SPDX-License-Identifier: Apache-2.0
 *
 * A job made ready: which loops run, what an untouched cell holds, how wide a dense window is. Called by run.c and
 * classify.c, once a call.
 */
#include "multiply/inside.h"

#include <math.h>
#include <string.h>

/* A dense window: half of it and the slices of B that feed it fit an L2 of 1 MiB (not swept). */
enum { WINDOW_BYTES = 1 << 20 };

static const uint64_t minus_zero_f32 = 0x80000000u, minus_zero_f64 = 1ULL << 63;

static bool is_float(lacis_mul_type type)
{
    return type == LACIS_MUL_F32 || type == LACIS_MUL_F64;
}

static mul_form form_of(const lacis_mul_job *job)
{
    if (!job->b.value) return MUL_FORM_CONST;
    switch (job->con_kind) {
    case LACIS_MUL_CON_B:
        return MUL_FORM_B;
    case LACIS_MUL_CON_ADD:
        return MUL_FORM_ADD;
    case LACIS_MUL_CON_MUL:
        return MUL_FORM_MUL;
    default:
        return MUL_FORM_CONST;
    }
}

/* The range of CON's values, where it is known. Values of 64 bits as doubles are rounded, hence the margins below. */
static bool bounds(const lacis_mul_job *job, double *lo, double *hi)
{
    if (job->con_kind == LACIS_MUL_CON_ONE) {
        *lo = *hi = 1;
        return true;
    }
    *lo = job->con_lo;
    *hi = job->con_hi;
    return job->bounded;
}

static uint64_t least_int(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 ? (uint32_t)INT32_MIN : (uint64_t)INT64_MIN;
}

static uint64_t greatest_int(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 ? INT32_MAX : INT64_MAX;
}

static void plan_fold(mul_plan *plan)
{
    const lacis_mul_job *job = plan->job;
    mul_scalar identity = {.c128 = {0, 0}};
    if (job->type == LACIS_MUL_I32)
        identity.i32 = (int32_t)job->identity_int;
    else if (job->type == LACIS_MUL_I64)
        identity.i64 = job->identity_int;
    else if (job->type == LACIS_MUL_F32)
        identity.f32 = (float)job->identity;
    else
        identity.f64 = job->identity; /* C128: the real part */
    if (job->type == LACIS_MUL_C128) memcpy(&plan->empty_high, &job->identity_imag, sizeof plan->empty_high);
    plan->empty = identity.bits;
    plan->touch = true;
}

static void plan_integers(mul_plan *plan)
{
    const lacis_mul_job *job = plan->job;
    double lo = 0, hi = 0;
    const bool known = bounds(job, &lo, &hi);
    const double margin = job->type == LACIS_MUL_I32 ? 0 : 4096;
    const double least = job->type == LACIS_MUL_I32 ? INT32_MIN : (double)INT64_MIN;
    const double greatest = job->type == LACIS_MUL_I32 ? INT32_MAX : (double)INT64_MAX;
    if (plan->update == MUL_UPDATE_SUM) {
        plan->empty = 0;
        plan->touch = !(known && (lo > 0 || hi < 0));
    } else if (plan->update == MUL_UPDATE_MIN) {
        plan->empty = greatest_int(job->type);
        plan->touch = !(known && hi < greatest - margin);
    } else {
        plan->empty = least_int(job->type);
        plan->touch = !(known && lo > least + margin);
    }
}

static void plan_cells(mul_plan *plan)
{
    const lacis_mul_job *job = plan->job;
    double lo, hi;
    plan->empty = 0;
    plan->touch = false;
    plan->empty_high = 0;
    if (job->agg == LACIS_MUL_COUNT) return;
    if (job->type == LACIS_MUL_C128) {
        plan->touch = true;
        if (job->agg == LACIS_MUL_FOLD) plan_fold(plan);
        return;
    }
    if (job->agg == LACIS_MUL_AVG)
        plan->empty = minus_zero_f64;
    else if (job->agg == LACIS_MUL_FOLD)
        plan_fold(plan);
    else if (!is_float(job->type))
        plan_integers(plan);
    else if (plan->update == MUL_UPDATE_SUM)
        plan->empty = job->type == LACIS_MUL_F32 ? minus_zero_f32 : minus_zero_f64;
    else {
        plan->empty = job->type == LACIS_MUL_F32 ? UINT32_MAX : UINT64_MAX;
        plan->touch = plan->update == MUL_UPDATE_PUT && !bounds(job, &lo, &hi);
    }
}

static void plan_loops(mul_plan *plan)
{
    static const mul_update updates[] = {
        [LACIS_MUL_COUNT] = MUL_UPDATE_SUM, [LACIS_MUL_SUM] = MUL_UPDATE_SUM,   [LACIS_MUL_MIN] = MUL_UPDATE_MIN,
        [LACIS_MUL_MAX] = MUL_UPDATE_MAX,   [LACIS_MUL_FIRST] = MUL_UPDATE_PUT, [LACIS_MUL_LAST] = MUL_UPDATE_PUT,
        [LACIS_MUL_AVG] = MUL_UPDATE_SUM,   [LACIS_MUL_FOLD] = MUL_UPDATE_PUT};
    const lacis_mul_job *job = plan->job;
    plan->form = form_of(job);
    plan->update = updates[job->agg];
    plan->convert_b = plan->form != MUL_FORM_CONST && job->b.type != job->type;
    plan->descending = job->agg == LACIS_MUL_FIRST;
    const bool strips = job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_AVG ||
                        job->agg == LACIS_MUL_FOLD || plan->convert_b || (job->checked && !is_float(job->type));
    plan->mode = job->agg == LACIS_MUL_COUNT ? MUL_MODE_COUNT : strips ? MUL_MODE_STRIPS : MUL_MODE_DIRECT;
    plan->kind = job->agg == LACIS_MUL_COUNT ? mul_count_kind(job->max_degree_a > 0 ? job->max_degree_a : UINT32_MAX)
                 : job->agg == LACIS_MUL_AVG && job->type != LACIS_MUL_C128 ? LACIS_MUL_TO_F64
                                                                            : lacis_mul_kind_of(job->type);
}

static void plan_sure(mul_plan *plan)
{
    const lacis_mul_job *job = plan->job;
    double lo = 0, hi = 0;
    plan->bounded = bounds(job, &lo, &hi) && isfinite(lo) && isfinite(hi);
    plan->sure =
        is_float(job->type) && plan->bounded && (plan->update == MUL_UPDATE_MIN || plan->update == MUL_UPDATE_MAX);
}

static bool is_direct(const mul_plan *plan)
{
    const lacis_mul_job *job = plan->job;
    if (job->mask || job->having || job->top > 0 || job->agg == LACIS_MUL_AVG) return false;
    return job->agg == LACIS_MUL_COUNT ? job->storage <= LACIS_MUL_TO_I32 : job->storage == plan->kind;
}

void lacis_mul_plan(mul_plan *plan, const lacis_mul_job *job, uint64_t total)
{
    *plan = (mul_plan){.job = job, .kernels = lacis_mul_kernels(), .total = total};
    plan_loops(plan);
    plan_cells(plan);
    plan_sure(plan);
    plan->direct = is_direct(plan);
    plan->clip = job->t_lo > 0 || job->t_hi < job->b.cols;
    plan->byte_compress = lacis_mul_has_byte_compress();
    plan->value_bytes = 1 << mul_log2_bytes(job->storage);
    plan->width = job->t_hi > job->t_lo ? job->t_hi - job->t_lo : 0;
    const int64_t most = WINDOW_BYTES >> mul_log2_bytes(plan->kind);
    const int64_t whole = (plan->width + MUL_RANGE - 1) / MUL_RANGE * MUL_RANGE;
    plan->window = whole == 0 ? MUL_RANGE : whole < most ? whole : most;
}
