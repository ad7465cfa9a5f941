/* SPDX-License-Identifier: Apache-2.0
 *
 * What a tree's rule costs and how far off it is, before anything runs: powers of theta or alpha through what was
 * measured on Plummer spheres (docs/nbody.md has the table). Costs and the first try of ERROR come from it; what is
 * reached in the end is measured.
 */
#include "nbody/work.h"

#include <math.h>

/* At `knob`, for n bodies of a Plummer sphere: 99 % of relative errors, and how it grows; terms a body, and how they
 * fall. */
typedef struct line {
    double knob, error, power;
    double terms, fall, n;
    double least, most; /* knobs that are tried */
} line;
static const line lines[2][2] = {
    /* GEOMETRIC and OFFSET: theta. Monopole, quadrupole. */
    {{0.58, 3.6e-3, 2.5, 4400, 2.7, 5e6, 0.02, 1.2}, {0.82, 3.5e-3, 3.5, 1730, 2.7, 5e6, 0.02, 1.2}},
    /* RELATIVE: alpha. */
    {{3e-3, 2.6e-3, 0.9, 1885, 0.6, 5e6, 1e-12, 1}, {1.6e-2, 2.1e-3, 0.8, 1046, 0.55, 5e6, 1e-12, 1}},
};

static const line *line_of(const lacis_nbody_rule *rule)
{
    return &lines[rule->opening == LACIS_NBODY_RELATIVE][rule->order == LACIS_NBODY_QUADRUPOLE];
}

double lacis_nbody_knob(const lacis_nbody_rule *rule)
{
    return rule->opening == LACIS_NBODY_RELATIVE ? rule->alpha : rule->theta;
}

/* Expansions about groups have an error of their own, which follows theta here so that it stays below that of the
 * cells; where the opening is relative they keep to alpha themselves, and kernels know best. */
void lacis_nbody_fit_expansion(lacis_nbody_rule *rule)
{
    const double most = 0.25, share = rule->order == LACIS_NBODY_QUADRUPOLE ? 0.3 : 0.4;
    rule->expand = share * rule->theta < most ? share * rule->theta : most;
    if (rule->opening == LACIS_NBODY_RELATIVE) rule->expand = -1;
}

void lacis_nbody_set_knob(lacis_nbody_rule *rule, double knob)
{
    *(rule->opening == LACIS_NBODY_RELATIVE ? &rule->alpha : &rule->theta) = knob;
    lacis_nbody_fit_expansion(rule);
}

double lacis_nbody_power(const lacis_nbody_rule *rule)
{
    return line_of(rule)->power;
}

double lacis_nbody_least_knob(const lacis_nbody_rule *rule)
{
    return line_of(rule)->least;
}

double lacis_nbody_most_knob(const lacis_nbody_rule *rule)
{
    return line_of(rule)->most;
}

double lacis_nbody_expected_error(const lacis_nbody_rule *rule)
{
    const line *l = line_of(rule);
    return l->error * pow(lacis_nbody_knob(rule) / l->knob, l->power);
}

/* Terms grow with the levels of the tree, as log n does; there are never more than all pairs. */
double lacis_nbody_terms(const lacis_nbody_rule *rule, double n)
{
    const line *l = line_of(rule);
    if (n < 2) return n;
    const double terms = l->terms * pow(l->knob / lacis_nbody_knob(rule), l->fall) * log(n) / log(l->n);
    return terms < n ? terms : n;
}

void lacis_nbody_aim(lacis_nbody_rule *rule, double error)
{
    const double room = 0.85;
    const line *l = line_of(rule);
    double knob = l->knob * pow(room * error / l->error, 1 / l->power);
    if (knob < l->least) knob = l->least;
    if (knob > l->most) knob = l->most;
    lacis_nbody_set_knob(rule, knob);
}

double lacis_nbody_floor(lacis_nbody_type type)
{
    return type == LACIS_NBODY_F64 ? 2e-15 : 5e-7;
}
