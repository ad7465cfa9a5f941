/* SPDX-License-Identifier: Apache-2.0
 *
 * The clauses that say how forces are summed, which NBODY and ACCELERATE share: opening, order, error, softening, G
 * and the type of numbers. Called by the binds of both.
 */
#include "nbody/work.h"

#include <inttypes.h>
#include <math.h>

/* Nothing said: what keeps the 99th percentile below 1e-3. */
static const double USUAL_THETA = 0.5, USUAL_ALPHA = 1e-3, USUAL_GUARD = 1;

lacis_status lacis_nbody_bind_real(lacis_run *run, const lacis_call *call, const char *keyword, double low,
                                   bool above, double *value)
{
    const lacis_arg *arg = lacis_call_arg(call, keyword);
    if (arg == NULL) return LACIS_OK;
    *value = arg->item[0].real;
    if (isfinite(*value) && (above ? *value > low : *value >= low)) return LACIS_OK;
    if (low == -HUGE_VAL)
        return lacis_run_fail_at(run, LACIS_RANGE, arg->item[0].offset, NULL, "%s must be a finite number, not %g",
                                 keyword, *value);
    return lacis_run_fail_at(run, LACIS_RANGE, arg->item[0].offset, NULL, "%s must be %s %g, not %g", keyword,
                             above ? "above" : "at least", low, *value);
}

lacis_status lacis_nbody_bind_whole(lacis_run *run, const lacis_call *call, const char *keyword, int64_t low,
                                    int64_t *value)
{
    const lacis_arg *arg = lacis_call_arg(call, keyword);
    if (arg == NULL) return LACIS_OK;
    *value = arg->item[0].integer;
    if (*value >= low) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, arg->item[0].offset, NULL, "%s must be %" PRId64 " or more", keyword,
                             low);
}

lacis_status lacis_nbody_bind_certify(lacis_run *run, const lacis_call *call, lacis_nbody_work *work)
{
    return lacis_nbody_bind_whole(run, call, "CERTIFY", 1, &work->certify);
}

const char *lacis_nbody_type_name(lacis_nbody_type type)
{
    static const char *const name[LACIS_NBODY_TYPES] = {"f32", "f64", "mixed"};
    return name[type];
}

const char *lacis_nbody_rule_text(lacis_run *run, const lacis_nbody_rule *rule)
{
    const char *order = rule->order == LACIS_NBODY_MONOPOLE ? "monopole" : "quadrupole", *text;
    if (rule->opening == LACIS_NBODY_RELATIVE)
        text = lacis_run_text(run, "%s, relative opening, alpha %.3g, theta %.3g at most", order, rule->alpha,
                              rule->theta);
    else
        text = lacis_run_text(
            run, "%s, %s opening, theta %.3g", order, rule->opening == LACIS_NBODY_OFFSET ? "offset" : "geometric",
            rule->opening == LACIS_NBODY_OFFSET ? rule->theta : rule->theta / lacis_nbody_radius(rule));
    return text == NULL ? order : text;
}

/* ------------------------------------------------------------------------------------------ opening */

/* THETA and ALPHA say how far off is well enough, and so does ERROR. */
static lacis_status one_of(lacis_run *run, const lacis_call *call)
{
    const lacis_arg *error = lacis_call_arg(call, "ERROR"), *theta = lacis_call_arg(call, "THETA");
    const lacis_arg *alpha = lacis_call_arg(call, "ALPHA"), *other = theta != NULL ? theta : alpha;
    if (error == NULL || other == NULL) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_SYNTAX, other->offset, "leave one of them out",
                             "ERROR finds %s, which is given as well", theta != NULL ? "THETA" : "ALPHA");
}

static lacis_status bind_opening(lacis_run *run, const lacis_call *call, lacis_nbody_work *work)
{
    const lacis_arg *order = lacis_call_arg(call, "ORDER"), *opening = lacis_call_arg(call, "OPENING");
    const lacis_arg *theta = lacis_call_arg(call, "THETA"), *alpha = lacis_call_arg(call, "ALPHA");
    lacis_nbody_rule *rule = &work->rule;
    *rule = (lacis_nbody_rule){.order = LACIS_NBODY_QUADRUPOLE, .theta = USUAL_THETA, .alpha = USUAL_ALPHA};
    rule->deterministic = lacis_run_deterministic(run);
    if (order != NULL) rule->order = (lacis_nbody_order)order->item[0].integer;
    if (opening != NULL) rule->opening = (lacis_nbody_opening)opening->item[0].integer;
    if (opening == NULL && alpha != NULL) rule->opening = LACIS_NBODY_RELATIVE;
    if (alpha != NULL && rule->opening != LACIS_NBODY_RELATIVE)
        return lacis_run_fail_at(run, LACIS_SYNTAX, alpha->offset, NULL, "ALPHA belongs to OPENING relative");
    if (rule->opening == LACIS_NBODY_RELATIVE && theta == NULL) rule->theta = USUAL_GUARD;
    LACIS_TRY(lacis_nbody_bind_real(run, call, "THETA", 0, false, &rule->theta));
    if (rule->opening == LACIS_NBODY_GEOMETRIC) rule->theta *= lacis_nbody_radius(rule);
    lacis_nbody_fit_expansion(rule); /* leaf and group stay 0: as kernels find best */
    return lacis_nbody_bind_real(run, call, "ALPHA", 0, true, &rule->alpha);
}

/* The order with which that error takes less work. A cell's quadrupole is worth about 1.5 pairs. */
static void choose_order(lacis_nbody_work *work)
{
    const double quadrupole_cost = 1.5, n = (double)work->bodies.count;
    lacis_nbody_rule monopole = work->rule;
    monopole.order = LACIS_NBODY_MONOPOLE;
    lacis_nbody_aim(&monopole, work->error);
    lacis_nbody_aim(&work->rule, work->error);
    if (lacis_nbody_terms(&monopole, n) < quadrupole_cost * lacis_nbody_terms(&work->rule, n)) work->rule = monopole;
}

/* Moving bodies have accelerations of the time before, for which RELATIVE needs fewest terms. */
static lacis_status bind_error(lacis_run *run, const lacis_call *call, lacis_nbody_work *work)
{
    const lacis_arg *error = lacis_call_arg(call, "ERROR");
    if (error == NULL) return LACIS_OK;
    LACIS_TRY(one_of(run, call));
    LACIS_TRY(lacis_nbody_bind_real(run, call, "ERROR", 0, true, &work->error));
    if (work->error < lacis_nbody_floor(work->type))
        return lacis_run_fail_at(run, LACIS_RANGE, error->item[0].offset,
                                 work->type == LACIS_NBODY_F64 ? NULL : "TYPE f64 reaches less",
                                 "ERROR %g is below what sums in TYPE %s reach, about %.0e", work->error,
                                 lacis_nbody_type_name(work->type), lacis_nbody_floor(work->type));
    if (lacis_call_arg(call, "OPENING") == NULL && !work->accelerate) {
        work->rule.opening = LACIS_NBODY_RELATIVE;
        work->rule.theta = USUAL_GUARD;
    }
    if (lacis_call_arg(call, "ORDER") == NULL)
        choose_order(work);
    else
        lacis_nbody_aim(&work->rule, work->error);
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- the rest */

static void bind_type(const lacis_call *call, lacis_nbody_work *work)
{
    const lacis_arg *type = lacis_call_arg(call, "TYPE");
    work->type = work->bodies.dtype == LACIS_F32 ? LACIS_NBODY_F32 : LACIS_NBODY_F64;
    if (type != NULL) work->type = (lacis_nbody_type)type->item[0].integer;
    work->dtype = work->type == LACIS_NBODY_F32 ? LACIS_F32 : LACIS_F64;
}

lacis_status lacis_nbody_bind_field(lacis_run *run, const lacis_call *call, lacis_nbody_work *work)
{
    work->g = 1;
    work->common = lacis_call_arg(call, "SOFTEN") != NULL;
    work->potential = lacis_call_arg(call, "POTENTIAL") != NULL;
    bind_type(call, work);
    LACIS_TRY(bind_opening(run, call, work));
    LACIS_TRY(bind_error(run, call, work));
    LACIS_TRY(lacis_nbody_bind_real(run, call, "SOFTEN", 0, false, &work->soften));
    return lacis_nbody_bind_real(run, call, "G", -HUGE_VAL, false, &work->g);
}
