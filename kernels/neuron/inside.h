/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the CPU's simulation share: a block's state, its coefficients, and the loops that are compiled
 * for each instruction set. Used inside kernels/neuron.
 */
#ifndef LACIS_KERNELS_NEURON_INSIDE_H
#define LACIS_KERNELS_NEURON_INSIDE_H

#include "neuron/simulate.h"

#define LACIS_ISA_GLUE2(name, isa) name##_##isa
#define LACIS_ISA_GLUE(name, isa)  LACIS_ISA_GLUE2(name, isa)
#define LACIS_ISA(name)            LACIS_ISA_GLUE(name, LACIS_ISA_NAME)

/* Lanes side by side: one, or a vector of them. */
enum { NEURON_ONE, NEURON_VECTOR, NEURON_WIDTHS };
enum { NEURON_WIDEST = 8 }; /* of any instruction set */

/* Coefficients of the nodes: one a node where lanes share them, else `width` a node.
 * Passive, all divided by the eliminated diagonal of their row: the right-hand side is keep v + give; a child's
 * eliminated right-hand side comes in times down; v is that plus up times the parent's v.
 * Channels: keep is c/dt, give unused; down and up are -a and -b undivided; gna, gk, gl as they are. */
typedef struct neuron_coefficients {
    double *keep, *give, *down, *up;
    double *inverse; /* passive: 1 / diagonal, for clamps */
    double *gna, *gk, *gl, *gl_el;
} neuron_coefficients;

/* One current into one node of every lane; already divided where the matrix is. */
typedef struct neuron_current {
    int64_t node;
    const double *value; /* of each lane */
} neuron_current;

/* Everything of a block: node i of lane l at i * width + l. Arrays end at a multiple of NEURON_WIDEST elements, and
 * what stands behind the last node is harmless: gates of a single lane are taken NEURON_WIDEST nodes at a time. */
typedef struct neuron_state {
    int64_t nodes, chains;
    const int32_t *parent, *chain;
    const double *area; /* NULL: as if all had some */
    neuron_coefficients by;
    double *v, *u, *r;      /* u: the implicit part of a step (Crank-Nicolson) */
    double *d, *m, *h, *n;  /* channels */
    const double *ena, *ek; /* of each lane */
    double dt, rate;
    neuron_current *current; /* that flow in the steps to come */
    int64_t currents;
} neuron_state;

typedef void (*neuron_advance_fn)(neuron_state *state, int64_t steps);
typedef void (*neuron_gates_fn)(neuron_state *state); /* steady state of the gates at v, and the first equations */
typedef struct neuron_loops {
    const char *name;
    int width[NEURON_WIDTHS];
    /* [width][shared, by lane][Euler, Crank-Nicolson] */
    neuron_advance_fn passive[NEURON_WIDTHS][2][2], channels[NEURON_WIDTHS][2][2];
    neuron_gates_fn gates[NEURON_WIDTHS][2];
} neuron_loops;
extern const neuron_loops lacis_neuron_loops_baseline, lacis_neuron_loops_avx2, lacis_neuron_loops_avx512;
const neuron_loops *lacis_neuron_loops(void);

/* coefficients.c */
bool lacis_neuron_by_lane(const neuron_plan *plan); /* whether a column makes coefficients differ */
int lacis_neuron_coefficient_arrays(const neuron_plan *plan);
void lacis_neuron_coefficients_place(const neuron_plan *plan, double *memory, int64_t count,
                                     neuron_coefficients *out);
/* Fills coefficients at i * width + lane for the lanes first .. first + width - 1 of the shape (the last one again
 * where there are no more); width 1: those that all lanes share. */
void lacis_neuron_coefficients(const neuron_plan *plan, const neuron_shape *shape, int64_t first, int64_t width,
                               neuron_coefficients *out);
double lacis_neuron_figure(const neuron_plan *plan, neuron_figure figure, int64_t lane, double otherwise);

/* record.c */
void lacis_neuron_record(const neuron_plan *plan, const neuron_block *block, const neuron_state *state, int64_t width,
                         int64_t step);

#endif
