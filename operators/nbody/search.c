/* SPDX-License-Identifier: Apache-2.0
 *
 * ERROR e: the widest opening with which 99 % of a sample's accelerations lie within e of direct sums, sought on the
 * system itself. The knob is theta, or alpha where the opening is relative; errors grow with it, about as a power of
 * it, so that a few evaluations do: each is aimed by the last one, and kept between the widest that passed and the
 * narrowest that failed.
 */
#include "nbody/system.h"

#include <math.h>

typedef struct search {
    lacis_nbody_system *system;
    double wanted;
    lacis_nbody_rule rule, best;
    lacis_nbody_errors errors, best_errors;
    double passed, failed; /* knobs; 0: none yet */
} search;

/* The 99th percentile of a sample is itself known to a tenth or so: aim below, be content from there on. */
static const double PASS = 0.95, AIM = 0.85, CONTENT = 0.65;

static lacis_status try_rule(search *s, const lacis_nbody_rule *rule, lacis_nbody_errors *errors)
{
    lacis_nbody_rule_set(s->system, rule);
    LACIS_TRY(lacis_nbody_refresh(s->system, false));
    return s->system->kind->certify(s->system, LACIS_NBODY_SAMPLE, errors);
}

static bool passes(const search *s)
{
    return s->errors.relative[2] <= PASS * s->wanted;
}

/* Remembers what a try said; true: no better one is worth looking for. */
static bool learn(search *s)
{
    const double knob = lacis_nbody_knob(&s->rule), close = 1.04;
    if (!passes(s)) {
        if (s->failed == 0 || knob < s->failed) s->failed = knob;
        return knob <= lacis_nbody_least_knob(&s->rule) || (s->passed > 0 && s->failed < close * s->passed);
    }
    if (knob > s->passed) {
        s->passed = knob;
        s->best = s->rule;
        s->best_errors = s->errors;
    }
    return s->errors.relative[2] >= CONTENT * s->wanted || knob >= lacis_nbody_most_knob(&s->rule) ||
           (s->failed > 0 && s->failed < close * s->passed);
}

static void aim_again(search *s)
{
    const double most = 4, least = lacis_nbody_least_knob(&s->rule), greatest = lacis_nbody_most_knob(&s->rule);
    const double error = s->errors.relative[2], knob = lacis_nbody_knob(&s->rule);
    double factor = error > 0 ? pow(AIM * s->wanted / error, 1 / lacis_nbody_power(&s->rule)) : most;
    if (!(factor < most)) factor = most;
    if (factor < 1 / most) factor = 1 / most;
    double next = knob * factor;
    const bool between = s->passed > 0 && s->failed > 0;
    if (between && !(next > s->passed && next < s->failed)) next = sqrt(s->passed * s->failed);
    if (next < least) next = least;
    if (next > greatest) next = greatest;
    lacis_nbody_set_knob(&s->rule, next);
}

static lacis_status not_reached(const search *s)
{
    const lacis_nbody_type type = s->system->work->type;
    return lacis_run_fail_at(s->system->run, LACIS_RANGE, lacis_call_arg(s->system->call, "ERROR")->item[0].offset,
                             type == LACIS_NBODY_F64 ? NULL : "TYPE f64 reaches less",
                             "ERROR %g is not reached: in TYPE %s 99 %% of the accelerations come within %.2g (%s)",
                             s->wanted, lacis_nbody_type_name(type), s->errors.relative[2],
                             s->rule.way == LACIS_NBODY_DIRECT ? "all pairs"
                                                               : lacis_nbody_rule_text(s->system->run, &s->rule));
}

static void tell(const search *s)
{
    lacis_run *run = s->system->run;
    const char *how = s->best.way == LACIS_NBODY_DIRECT ? "all pairs" : lacis_nbody_rule_text(run, &s->best);
    lacis_run_note(run, LACIS_NOTE, "ERROR %g: %s; 99 %% of %lld accelerations within %.2g, the median %.2g",
                   s->wanted, how, (long long)s->best_errors.sample, s->best_errors.relative[2],
                   s->best_errors.relative[0]);
    lacis_run_count(run, "error found (99 %)", s->best_errors.relative[2]);
}

/* All pairs have no knob: they reach it or they do not. */
static int tries(const search *s)
{
    return s->rule.way == LACIS_NBODY_DIRECT ? 1 : LACIS_NBODY_TRIES;
}

lacis_status lacis_nbody_search(lacis_nbody_system *system)
{
    search s = {.system = system, .wanted = system->work->error, .rule = system->rule};
    for (int i = 0, last = tries(&s); i < last; i++) {
        lacis_run_progress(system->run, "ERROR", (double)i / last);
        LACIS_TRY(try_rule(&s, &s.rule, &s.errors));
        if (learn(&s)) break;
        if (i + 1 < last) aim_again(&s);
    }
    if (s.passed == 0) return not_reached(&s);
    tell(&s);
    if (lacis_nbody_knob(&s.best) == lacis_nbody_knob(&s.rule)) return LACIS_OK;
    lacis_nbody_rule_set(system, &s.best);
    return lacis_nbody_refresh(system, false);
}
