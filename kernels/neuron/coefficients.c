/* SPDX-License-Identifier: Apache-2.0
 *
 * Coefficients of the steps: what the plan says of membranes, turned into what the loops multiply by. A passive
 * matrix does not change, so it is eliminated here once. Callers: simulate.c.
 */
#include "neuron/inside.h"

#include <string.h>

bool lacis_neuron_by_lane(const neuron_plan *plan)
{
    static const neuron_figure figure[] = {NEURON_CM,  NEURON_RA, NEURON_G,  NEURON_E,
                                           NEURON_GNA, NEURON_GK, NEURON_GL, NEURON_EL};
    for (size_t i = 0; i < sizeof figure / sizeof figure[0]; i++)
        if (plan->column[figure[i]] != NULL) return true;
    return false;
}

double lacis_neuron_figure(const neuron_plan *plan, neuron_figure figure, int64_t lane, double otherwise)
{
    return plan->column[figure] == NULL ? otherwise : plan->column[figure][lane];
}

int lacis_neuron_coefficient_arrays(const neuron_plan *plan)
{
    return plan->hh ? 7 : 5;
}

void lacis_neuron_coefficients_place(const neuron_plan *plan, double *memory, int64_t count, neuron_coefficients *out)
{
    double **passive[] = {&out->keep, &out->down, &out->up, &out->give, &out->inverse};
    double **channels[] = {&out->keep, &out->down, &out->up, &out->gna, &out->gk, &out->gl, &out->gl_el};
    double ***list = plan->hh ? channels : passive;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < lacis_neuron_coefficient_arrays(plan); i++)
        *list[i] = memory + (int64_t)i * count;
}

/* One lane's figures of a node; lanes below 0 stand for all. */
struct lane {
    const neuron_plan *plan;
    const neuron_shape *shape;
    int64_t number;
    double couple; /* what ra makes of a and b */
    double c;      /* of 1 uF/cm2: per dt, or per half of it */
};

static struct lane lane_of(const neuron_plan *plan, const neuron_shape *shape, int64_t number)
{
    double ra = number < 0 ? 1 : lacis_neuron_figure(plan, NEURON_RA, number, 1);
    double half = plan->method == NEURON_EULER ? 1 : 2;
    return (struct lane){plan, shape, number, 1 / ra, half * 1e-3 / plan->dt};
}

static double figure_of(const struct lane *lane, neuron_figure figure, const double *of_node, int64_t node)
{
    return lane->number < 0 ? of_node[node] : lacis_neuron_figure(lane->plan, figure, lane->number, of_node[node]);
}

/* A row after elimination is  excess + coupling to the parent  on the diagonal; a child with excess e, coupling c and
 * -a in this row leaves  -a e / (e + c)  of itself in it. `keep` holds the excess until the row is done. */
static void eliminate(const struct lane *lane, int64_t at, int64_t width, neuron_coefficients *out)
{
    const neuron_shape *shape = lane->shape;
    for (int64_t i = shape->nodes - 1; i >= 0; i--) {
        int64_t k = i * width + at, p = i == 0 ? 0 : shape->parent[i] * width + at;
        double coupling = -shape->b[i] * lane->couple, diagonal = out->keep[k] + coupling;
        out->inverse[k] = 1 / diagonal;
        out->up[k] = coupling * out->inverse[k];
        if (i > 0) out->keep[p] += -shape->a[i] * lane->couple * (out->keep[k] * out->inverse[k]);
    }
}

static void passive(const struct lane *lane, int64_t at, int64_t width, neuron_coefficients *out)
{
    const neuron_shape *shape = lane->shape;
    for (int64_t i = 0; i < shape->nodes; i++) {
        bool membrane = shape->area[i] > 0;
        double c = membrane ? lane->c * figure_of(lane, NEURON_CM, shape->cm, i) : 0;
        out->keep[i * width + at] = membrane ? c + figure_of(lane, NEURON_G, shape->g, i) : 0;
    }
    eliminate(lane, at, width, out);
    for (int64_t i = 0; i < shape->nodes; i++) {
        int64_t k = i * width + at, p = i == 0 ? at : shape->parent[i] * width + at;
        bool membrane = shape->area[i] > 0;
        double c = membrane ? lane->c * figure_of(lane, NEURON_CM, shape->cm, i) : 0;
        double g = membrane ? figure_of(lane, NEURON_G, shape->g, i) : 0;
        out->keep[k] = c * out->inverse[k];
        out->give[k] = membrane ? g * figure_of(lane, NEURON_E, shape->e, i) * out->inverse[k] : 0;
        out->down[k] = i == 0 ? 0 : -shape->a[i] * lane->couple * out->inverse[p];
    }
}

static void channels(const struct lane *lane, int64_t at, int64_t width, neuron_coefficients *out)
{
    const neuron_shape *shape = lane->shape;
    for (int64_t i = 0; i < shape->nodes; i++) {
        int64_t k = i * width + at;
        double membrane = shape->area[i] > 0 ? 1 : 0;
        out->keep[k] = membrane * lane->c * figure_of(lane, NEURON_CM, shape->cm, i);
        out->down[k] = i == 0 ? 0 : -shape->a[i] * lane->couple;
        out->up[k] = i == 0 ? 0 : -shape->b[i] * lane->couple;
        out->gna[k] = membrane * figure_of(lane, NEURON_GNA, shape->gna, i);
        out->gk[k] = membrane * figure_of(lane, NEURON_GK, shape->gk, i);
        out->gl[k] = membrane * figure_of(lane, NEURON_GL, shape->gl, i);
        out->gl_el[k] = out->gl[k] * figure_of(lane, NEURON_EL, shape->el, i);
    }
}

void lacis_neuron_coefficients(const neuron_plan *plan, const neuron_shape *shape, int64_t first, int64_t width,
                               neuron_coefficients *out)
{
    for (int64_t at = 0; at < width; at++) {
        int64_t number = first + at < shape->lanes ? first + at : shape->lanes - 1;
        struct lane lane = lane_of(plan, shape, first < 0 ? -1 : shape->lane + number);
        if (plan->hh) {
            channels(&lane, at, width, out);
        } else {
            passive(&lane, at, width, out);
        }
    }
}
