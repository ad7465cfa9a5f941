/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's parts: what a call says (bind.c, place.c, lanes.c, nodes.c) as the plan that kernels/neuron takes, the
 * ways through it (run.c on the CPU, gpu.c on GPUs, ranks.c over ranks), and the table of what probes saw (trace.c).
 */
#ifndef LACIS_OPERATORS_SIMULATE_H
#define LACIS_OPERATORS_SIMULATE_H

#include "neuron/simulate.h"
#include "sections/trees.h"

typedef struct lacis_simulation {
    lacis_run *run;
    lacis_cells cells;
    lacis_trees trees;
    neuron_cut cut;
    lacis_matters matters;
    neuron_plan plan;
    neuron_shape *shape;
    double *figures;                     /* of the columns of lanes, in memory of the run */
    void *nodes;                         /* per-node figures and chains of all shapes */
    int64_t lanes;                       /* of a cell */
    int64_t by_node;                     /* rows of NODES */
    int64_t compartments;                /* times lanes, of all */
    int64_t depth;                       /* nodes one below the other, of the deepest cell; 0: not asked for yet */
    struct lacis_simulate_estimate *gpu; /* what costs on the GPU came to, one a way; NULL: nobody asked */
} lacis_simulation;

lacis_status lacis_simulate_bind(lacis_run *run, lacis_call *call);
void lacis_simulate_unbind(lacis_run *run, lacis_call *call);
/* run.c */
extern const lacis_variant lacis_simulate_lanes;
/* Seconds of its steps. */
double lacis_simulate_lanes_seconds(const lacis_simulation *s, const lacis_profile *profile, double threads);
/* Compartments of lanes [begin, end), each counted. */
int64_t lacis_simulation_compartments(const lacis_simulation *s, int64_t begin, int64_t end);
/* gpu.c: one for each way of kernels/neuron/gpu.h. */
extern const lacis_variant lacis_simulate_gpu_thread, lacis_simulate_gpu_chip, lacis_simulate_gpu_power;
/* gpu_cost.c: of them the one that a call most likely runs, or NULL with the reason why it cannot run any. */
const lacis_variant *lacis_simulate_gpu_any(const lacis_call *call, char *reason, size_t size);
/* Lines on what a GPU would do; none where no cost was asked for. */
lacis_status lacis_simulate_explain_gpu(const lacis_simulation *s, lacis_lines *lines);
/* gpu_calibrate.c: CALIBRATE's part for the GPU; nothing where there is none. */
lacis_status lacis_simulate_gpu_calibrate(lacis_run *run, lacis_profile *profile);
/* ranks.c */
extern const lacis_variant lacis_simulate_ranks, lacis_simulate_ranks_gpu;
lacis_status lacis_simulate_explain_ranks(lacis_run *run, const lacis_call *call, lacis_lines *lines);

/* calibrate.c */
lacis_status lacis_simulate_calibrate(lacis_run *run, lacis_profile *profile);
/* A cable to measure on, in scratch; how many lanes it has is still to be said. And a plan of all its lanes. */
lacis_status lacis_simulate_sample(lacis_run *run, int64_t nodes, neuron_shape *shape);
neuron_plan lacis_simulate_sample_plan(const neuron_shape *shape, bool hh);

/* place.c: the node of a place in a cell. `item` is what the statement says: soma, 'dend[3](0.5)' or a sample's id.
 */
lacis_status lacis_place_find(lacis_run *run, const lacis_simulation *s, const lacis_item *item, int64_t cell,
                              int32_t *node);

/* lanes.c: LANES and PARAMETERS. */
lacis_status lacis_lanes_bind(lacis_run *run, const lacis_call *call, lacis_simulation *s);
extern const char *const lacis_figure_name[NEURON_FIGURES]; /* as columns are called */
neuron_figure lacis_figure_named(const char *name);         /* NEURON_FIGURES: none */
bool lacis_figure_fine(neuron_figure figure, double value); /* whether it may have that value */

/* nodes.c: NODES */
lacis_status lacis_nodes_bind(lacis_run *run, const lacis_call *call, lacis_simulation *s);

/* trace.c: the result for some lanes, filled piece by piece, and its rows: sample after sample (one where they are
 * reduced), of each the probes, of each the lanes. */
enum { LACIS_TRACE_COLUMNS = 4, LACIS_TRACE_ROW_BYTES = 24 };
extern const lacis_column lacis_trace_column[LACIS_TRACE_COLUMNS];
typedef struct lacis_trace {
    const lacis_simulation *s;
    int64_t first, lanes;
    int64_t stretches; /* samples times probes: lanes behind each other */
    double *v, *t;     /* stretch s of lane l: s * lanes + l - first; t is filled by a run where it reduces */
    int32_t *probe, *lane;
    lacis_array *array;
} lacis_trace;
double lacis_trace_seconds(const lacis_run *run, double rows); /* that its rows take besides voltages */
int64_t lacis_trace_samples(const lacis_simulation *s);        /* in the table, of a probe */
lacis_status lacis_trace_new(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_trace *out);
/* Stretches [stretch, stretch + count) of lanes [first, first + lanes), which lie behind each other in `from`, into a
 * column of the table. Any thread. */
void lacis_trace_put(const lacis_trace *trace, double *column, int64_t stretch, int64_t count, int64_t first,
                     int64_t lanes, const double *from);
/* Fills in the other columns, looks for voltages that left the numbers, and hands the table over; or lets it go,
 * where `status` is not LACIS_OK, and answers that. */
lacis_status lacis_trace_end(lacis_run *run, const lacis_call *call, lacis_trace *trace, lacis_status status,
                             lacis_array **out);

/* lanes.c: the lane, node or cell that a row of a table is of; a real must be whole. */
lacis_status lacis_simulate_number(lacis_run *run, const char *table, const lacis_part *part, int64_t row,
                                   int64_t offset, int64_t *out);

#endif
