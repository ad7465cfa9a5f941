/* SPDX-License-Identifier: Apache-2.0
 *
 * Voltages of many neurons over time: the plan that every back end takes, flat arrays throughout, and the CPU's way
 * through it. Caller: operators/simulate.
 *
 * Shapes are trees; each has some lanes, copies that differ by parameters. Lanes of all shapes are numbered through.
 * Time runs in steps of dt; what a clamp gives is taken in the middle of a step. The method is NEURON's fixed step:
 * backward Euler (secondorder 0) or Crank-Nicolson (secondorder 1 and 2: half an implicit step, then as much again),
 * channels of Hodgkin and Huxley staggered: a step solves for v with the gates as they are, then each gate goes on
 * for dt at the new v (exactly, its rates held). Sources: Hines 1984 (the order of elimination); Hodgkin and Huxley
 * 1952; Carnevale and Hines 2006.
 *
 * Solved is for v itself with all off-diagonal terms positive, and what elimination leaves of a diagonal is kept as
 * its excess over the row's coupling: no difference of large numbers is formed anywhere, so that stiff trees
 * (conductances between neighbours 1e6 times those of the membrane) lose no digits. */
#ifndef LACIS_KERNELS_NEURON_SIMULATE_H
#define LACIS_KERNELS_NEURON_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum neuron_method { NEURON_EULER, NEURON_CRANK_NICOLSON } neuron_method;

/* Units as in neuron.h; membrane figures are given for every node and not read where area is 0. */
typedef struct neuron_shape {
    int64_t nodes;
    const int32_t *parent; /* below the node's own number; -1 for node 0 */
    const double *a, *b;   /* <= 0: in the parent's row; of the parent in the node's row */
    const double *area;    /* um2; 0: no membrane */
    const double *cm;
    const double *g, *e;              /* passive */
    const double *gna, *gk, *gl, *el; /* channels */
    const int32_t *chain;             /* chains + 1: nodes chain[k] .. chain[k + 1] - 1 follow each other */
    int64_t chains;
    int64_t lane, lanes; /* its lanes: the first, and how many */
} neuron_shape;

/* Figures that may differ by lane; a column has one value a lane. */
typedef enum neuron_figure {
    NEURON_V, /* at t = 0 */
    NEURON_CM,
    NEURON_RA, /* as a factor: ra of the lane over that of the shape's coefficients */
    NEURON_G,
    NEURON_E,
    NEURON_GNA,
    NEURON_GK,
    NEURON_GL,
    NEURON_EL,
    NEURON_ENA,
    NEURON_EK,
    NEURON_AMPLITUDE, /* of every clamp */
    NEURON_FIGURES
} neuron_figure;

typedef struct neuron_clamp {
    int32_t shape, node;
    double amplitude, from, to; /* nA, ms */
} neuron_clamp;
typedef struct neuron_probe {
    int32_t shape, node;
    int32_t number; /* where its values go */
} neuron_probe;

typedef enum neuron_reduce {
    NEURON_ALL, /* every sample */
    NEURON_MAX, /* with the time when it was reached first */
    NEURON_MIN,
    NEURON_MEAN,  /* over the samples; time: the last one */
    NEURON_SPIKES /* how often v came up to the threshold; time: when first, NaN if never */
} neuron_reduce;

typedef struct neuron_plan {
    const neuron_shape *shape;
    int64_t shapes;
    int64_t first, lanes; /* the lanes that are run, of all shapes: first .. first + lanes - 1 */
    neuron_method method;
    bool hh;
    double dt; /* ms */
    int64_t steps;
    double v, ena, ek;                    /* mV, where no column says otherwise */
    double rate;                          /* of the gates against 6.3 C: 3^((celsius - 6.3)/10) */
    const double *column[NEURON_FIGURES]; /* or NULL */
    const neuron_clamp *clamp;
    int64_t clamps;
    const neuron_probe *probe;
    int64_t probes;  /* over all shapes */
    int64_t numbers; /* probes of a lane */
    int64_t every;   /* steps from sample to sample; the first is at t = 0 */
    neuron_reduce reduce;
    double threshold; /* mV, for spikes */
    /* NEURON_ALL: out[(sample * numbers + number) * lanes + lane - first]; else out[number * lanes + lane - first],
     * and `when`. */
    double *out, *when;
} neuron_plan;

int64_t lacis_neuron_samples(const neuron_plan *plan); /* of a probe */

/* Chains of a tree: at most nodes + 1 entries. Returns how many chains. */
int64_t lacis_neuron_chains(const int32_t *parent, int64_t nodes, int32_t *chain);

/* A block: neighbouring lanes of one shape that are advanced together, whole time, so that their state stays in the
 * cache. */
typedef struct neuron_block {
    int32_t shape, lanes;
    int64_t lane;
} neuron_block;
int64_t lacis_neuron_blocks(const neuron_plan *plan, neuron_block *block); /* NULL: only counts */
/* Bytes that one block, one at a time, works in. */
size_t lacis_neuron_workspace(const neuron_plan *plan);
/* Coefficients that all lanes of a shape share, for all shapes; none where a column makes them differ. */
size_t lacis_neuron_shared_bytes(const neuron_plan *plan);
void lacis_neuron_share(const neuron_plan *plan, void *shared);
/* Runs a block through all steps; `stop` is asked every few steps. False: stopped. */
typedef bool (*neuron_stop_fn)(void *context, int64_t steps);
bool lacis_neuron_run(const neuron_plan *plan, const neuron_block *block, const void *shared, void *workspace,
                      neuron_stop_fn stop, void *context);
const char *lacis_neuron_isa(void);
int lacis_neuron_width(int64_t lanes); /* lanes side by side, where a shape has so many */

#endif
