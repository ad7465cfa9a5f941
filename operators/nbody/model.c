/* SPDX-License-Identifier: Apache-2.0
 *
 * What a tree's rule costs and how far off it is, before anything runs: powers of theta or alpha through what was
 * measured on Plummer spheres (docs/nbody.md has the table). Costs and the first try of ERROR come from it; what is
 * reached in the end is measured.
 */
#include "nbody/work.h"

#include <math.h>

/* At `knob`: 99 % of relative errors, and how it grows; terms a body, those that every body has and those that fall.
 * On one H200, 500,000 bodies in f32; from 50,000 to 5 million terms differ by a third, on the CPU's wider groups by
 * two thirds at most. */
typedef struct line {
    double knob, error, power;
    double least_terms, terms, fall;
    double least, most; /* knobs that are tried */
} line;
static const line lines[2][2] = {
    /* GEOMETRIC and OFFSET: theta of the radius. Monopole, quadrupole. */
    {{0.433, 3.3e-3, 2.5, 350, 1800, 2.5, 0.02, 1.04}, {0.433, 6.5e-4, 4.1, 350, 1800, 2.5, 0.02, 1.04}},
    /* RELATIVE: alpha. */
    {{4e-3, 3.5e-3, 0.57, 270, 392, 0.6, 1e-12, 1}, {4e-3, 1.6e-3, 0.7, 270, 300, 0.6, 1e-12, 1}},
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

/* There are never more than all pairs. */
double lacis_nbody_terms(const lacis_nbody_rule *rule, double n)
{
    const line *l = line_of(rule);
    const double terms = l->least_terms + l->terms * pow(l->knob / lacis_nbody_knob(rule), l->fall);
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
