/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host and the kernels of the GPU's simulation share: nodes in depth-first order, what is known of each, and
 * the parameters of a launch. Used inside kernels/neuron.
 *
 * Depth-first order: of the children of a node the one with the smallest subtree comes first and right behind it
 * (the `next` child; ties: the smaller number), the heaviest last. So at most log2(nodes) branch points are pending
 * at any time in a sweep, however deep the tree. Children are added up from the last to the first: first those beside
 * the next child among themselves, their sum to the node's own, then the next child. */
#ifndef LACIS_KERNELS_NEURON_GPU_BASE_CUH
#define LACIS_KERNELS_NEURON_GPU_BASE_CUH

#include "gpu.h"

#include <cuda_runtime.h>

#define NEUG_METHOD __device__ __forceinline__
#define NEUG_DEVICE static NEUG_METHOD

/* Models of the matrix. CONSTANT: passive, one for all lanes, eliminated once. PASSIVE: it differs by lane and is
 * eliminated in each step. CHANNELS: Hodgkin and Huxley. */
enum { NEUG_CONSTANT, NEUG_PASSIVE, NEUG_CHANNELS };

/* Of a node, in `flag`. */
enum {
    NEUG_HEAD = 1,      /* not the next child of the node before: its parent is further away (root: not set) */
    NEUG_LAST = 2,      /* the last child of its parent */
    NEUG_BRANCH = 4,    /* has children beside the next one */
    NEUG_NEXT = 8,      /* has a next child */
    NEUG_CLAMPED = 16,  /* a clamp is here */
    NEUG_MEMBRANE = 32, /* has area */
    NEUG_FLAGS = 6
};

/* Coefficients of a node, in rows of NEUG_MEMBER doubles. CONSTANT: keep, give (right-hand side keep v + give), where
 * E differs by lane give is per mV of it. Others: c/dt (keep), then conductances g (passive) or gna, gk, gl, then g e
 * or gl el. All are multiplied by scales of the lane where they differ. `couple`: down and up. CONSTANT: as in
 * inside.h; others: -a and -b. */
enum { NEUG_KEEP, NEUG_GIVE, NEUG_G = 1, NEUG_GE = 2, NEUG_GNA = 1, NEUG_GK, NEUG_GL, NEUG_GL_EL, NEUG_MEMBER = 6 };

typedef struct neug_clamp {
    double amplitude, factor; /* what it adds to the right-hand side: their product */
    int64_t from, to;         /* steps in which it flows: from <= step < to */
    int32_t node, number;     /* number: of the clamp in the plan */
} neug_clamp;

typedef struct neug_probe {
    int32_t node, number;
} neug_probe;

typedef struct neug_shape {
    int64_t node0;                   /* of its nodes in arrays over the nodes of all shapes */
    int64_t list0, event0;           /* of the schedule for CHIP; words begin at node0 */
    int32_t nodes, clamp0, clamps;   /* clamps by falling node, those of one node in the plan's order */
    int32_t probe0, probes, pending; /* pending: branch points at a time, at most */
    int32_t events, phases;
} neug_shape;

/* Neighbouring lanes of one shape that a block advances. A state's node i of its lane l lies at
 * base + i * stride + l. */
typedef struct neug_tile {
    int32_t shape, lanes;
    int64_t lane; /* the first, counted from the panel's first */
    int64_t base, stride;
} neug_tile;

/* Things that lie on the device for all panels. */
typedef struct neug_common {
    const neug_shape *shape;
    const uint32_t *flag;
    const int32_t *parent;
    const double *member;
    const double2 *couple;
    const neug_clamp *clamp;
    const neug_probe *probe;
    const int32_t *list; /* these three: CHIP's, see gpu_schedule.h */
    const uint2 *word;
    const uint32_t *event;
} neug_common;

typedef struct neug_params {
    neug_common common;
    const neug_tile *tile;
    double *v;                            /* what goes on from step to step */
    double *y;                            /* right-hand sides within a step; v itself where that does */
    double *f;                            /* excess over diagonal within a step; not with CONSTANT */
    double *m, *h, *n;                    /* gates */
    const double *column[NEURON_FIGURES]; /* by lane of the panel; NULL: as the plan says */
    double start, ena, ek;                /* plan's */
    double dt, less;                      /* less: -dt for gates, the temperature's rate in it */
    int64_t step, steps;                  /* of this launch: the first one, and how many */
    int64_t every, last_sample;           /* numbers of samples count from 0 */
    int64_t numbers, lanes;
    neuron_reduce reduce;
    double threshold;
    double *out, *when;
} neug_params;

#endif
