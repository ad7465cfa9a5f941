/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's parts: what a call says (bind.c, place.c, lanes.c) as the plan that kernels/neuron takes, and the way
 * through it (run.c).
 */
#ifndef LACIS_OPERATORS_SIMULATE_H
#define LACIS_OPERATORS_SIMULATE_H

#include "neuron/simulate.h"
#include "sections/trees.h"

typedef struct lacis_simulation {
    lacis_cells cells;
    lacis_trees trees;
    neuron_cut cut;
    lacis_matters matters;
    neuron_plan plan;
    neuron_shape *shape;
    double *figures;      /* of the columns of lanes, in memory of the run */
    void *nodes;          /* per-node figures and chains of all shapes */
    int64_t lanes;        /* of a cell */
    int64_t compartments; /* times lanes, of all */
} lacis_simulation;

lacis_status lacis_simulate_bind(lacis_run *run, lacis_call *call);
void lacis_simulate_unbind(lacis_run *run, lacis_call *call);
lacis_status lacis_simulate_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                                lacis_array **out);

/* calibrate.c */
lacis_status lacis_simulate_calibrate(lacis_run *run, lacis_profile *profile);

/* place.c: the node of a place in a cell. `item` is what the statement says: soma, 'dend[3](0.5)' or a sample's id.
 */
lacis_status lacis_place_find(lacis_run *run, const lacis_simulation *s, const lacis_item *item, int64_t cell,
                              int32_t *node);

/* lanes.c: LANES and PARAMETERS. */
lacis_status lacis_lanes_bind(lacis_run *run, const lacis_call *call, lacis_simulation *s);

enum { LACIS_TRACE_COLUMNS = 4 };
extern const lacis_column lacis_trace_column[LACIS_TRACE_COLUMNS];

#endif
