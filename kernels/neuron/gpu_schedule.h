/* SPDX-License-Identifier: Apache-2.0
 *
 * Host-made tables of the GPU's simulation: depth-first numbers (gpu_base.cuh) and, for CHIP, which group of threads
 * does which nodes when. Used inside kernels/neuron; C++ (nvcc) only.
 */
#ifndef LACIS_KERNELS_NEURON_GPU_SCHEDULE_H
#define LACIS_KERNELS_NEURON_GPU_SCHEDULE_H

#include "gpu_base.cuh"

/* A tree in depth-first order. Arrays are of malloc, nodes long. */
typedef struct neug_tree {
    int32_t nodes, pending;
    int32_t *number; /* of a node of the plan */
    int32_t *parent; /* in depth-first numbers; -1 */
    int32_t *size;   /* nodes of a subtree */
    uint32_t *flag;
} neug_tree;
bool neug_tree_make(const neuron_shape *shape, neug_tree *tree); /* false: no memory */
void neug_tree_free(neug_tree *tree);

/* Work of a group in a phase: entries in the order of the sweep to the root; back to the tips the other way round.
 * An entry is a node and NEUG_ENTRY flags; where NEUG_ENTRY_EVENTS is set, events follow in the list of events until
 * one with NEUG_EVENT_END. */
enum {
    NEUG_NODE_BITS = 24,
    NEUG_NODE_MASK = (1 << NEUG_NODE_BITS) - 1,
    NEUG_ENTRY_NEXT = 1 << 24,   /* the entry before is the next child: it is at hand */
    NEUG_ENTRY_EVENTS = 1 << 25, /* clamps, children */
    NEUG_ENTRY_UNDER = 1 << 26,  /* the entry behind is the parent: in the sweep to the tips it is at hand */
    NEUG_ENTRY_ROOT = 1 << 27,
    NEUG_EVENT_CLAMP = 1 << 24, /* node: number of a clamp of the shape */
    NEUG_EVENT_CHILD = 1 << 25, /* beside the next one */
    NEUG_EVENT_CLOSE = 1 << 26, /* the last of these */
    NEUG_EVENT_NEXT = 1 << 27,  /* the next child, done elsewhere */
    NEUG_EVENT_END = 1 << 28
};
enum { NEUG_PHASES = 4 };

/* list: entries of phase p and group g are list[2 k] .. list[2 k + 2] - 1, k = p * groups + g, and their events begin
 * at list[2 k + 1]. */
typedef struct neug_schedule {
    int32_t phases, groups, events;
    int32_t *list;           /* 2 (phases * groups + 1) */
    uint32_t *entry, *event; /* nodes, events */
    int32_t cost;            /* entries of the busiest groups of all phases */
} neug_schedule;
/* clamps: of the tree's nodes, by falling node. False: no memory. */
bool neug_schedule_make(const neug_tree *tree, const neug_clamp *clamp, int32_t clamps, int32_t groups,
                        neug_schedule *out);
void neug_schedule_free(neug_schedule *schedule);

#endif
