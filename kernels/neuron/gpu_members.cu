/* SPDX-License-Identifier: Apache-2.0
 *
 * Coefficients of a shape's nodes: the CPU's (coefficients.c), with 1 in place of what a column gives, in depth-first
 * order. Caller: gpu_tables.cu.
 */
#include "gpu_state.h"

extern "C" {
#include "inside.h"
}

#include <stdlib.h>
#include <string.h>

/* The shape as the CPU's code is to see it. PASSIVE: as channels that leak alone, whose matrix is not eliminated. */
static neuron_shape as_seen(const neuron_plan *plan, const neuron_shape *shape, const double *ones)
{
    neuron_shape s = *shape;
    const double *const *column = plan->column;
    if (column[NEURON_CM] != NULL) s.cm = ones;
    if (column[NEURON_G] != NULL) s.g = ones;
    if (column[NEURON_E] != NULL) s.e = ones;
    if (column[NEURON_GNA] != NULL) s.gna = ones;
    if (column[NEURON_GK] != NULL) s.gk = ones;
    if (column[NEURON_GL] != NULL) s.gl = ones;
    if (column[NEURON_EL] != NULL) s.el = ones;
    if (neug_model(plan) != NEUG_PASSIVE) return s;
    s.gna = s.gk = ones; /* not looked at afterwards */
    s.gl = s.g;
    s.el = s.e;
    return s;
}

static void write_node(int model, const neuron_coefficients *by, int64_t i, double *member, double2 *couple)
{
    member[NEUG_KEEP] = by->keep[i];
    couple->x = by->down[i];
    couple->y = by->up[i];
    if (model == NEUG_CONSTANT) {
        member[NEUG_GIVE] = by->give[i];
    } else if (model == NEUG_PASSIVE) {
        member[NEUG_G] = by->gl[i];
        member[NEUG_GE] = by->gl_el[i];
    } else {
        member[NEUG_GNA] = by->gna[i];
        member[NEUG_GK] = by->gk[i];
        member[NEUG_GL] = by->gl[i];
        member[NEUG_GL_EL] = by->gl_el[i];
    }
}

bool neug_members_fill(const neuron_plan *plan, const neuron_shape *shape, const neug_tree *tree, double *member,
                       double2 *couple, double *inverse)
{
    const int model = neug_model(plan);
    const int64_t n = shape->nodes;
    neuron_plan seen = *plan;
    seen.hh = model != NEUG_CONSTANT;
    memset(seen.column, 0, sizeof seen.column);
    const int arrays = lacis_neuron_coefficient_arrays(&seen);
    double *memory = (double *)calloc((size_t)((arrays + 1) * n), sizeof *memory), *ones = memory + arrays * n;
    if (memory == NULL) return false;
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1;
    const neuron_shape s = as_seen(plan, shape, ones);
    neuron_coefficients by;
    lacis_neuron_coefficients_place(&seen, memory, n, &by);
    lacis_neuron_coefficients(&seen, &s, -1, 1, &by);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = tree->number[i];
        write_node(model, &by, i, member + at * NEUG_MEMBER, couple + at);
        inverse[at] = model == NEUG_CONSTANT ? by.inverse[i] : 1;
    }
    free(memory);
    return true;
}
