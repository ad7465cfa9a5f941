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

/* Rows: nodes in the order in which CHIP's groups take them in the sweep to the root, phase by phase and group by
 * group; each group goes through consecutive rows, and back in the sweep to the tips. A row's words: for the sweep to
 * the root flags and perhaps a child's row, for that to the tips flags and the parent's row. */
enum {
    NEUG_ROW_MASK = (1 << 24) - 1,
    NEUG_ROW_NEXT = 1 << 24,   /* the row before is the next child: it is at hand */
    NEUG_ROW_CHILD = 1 << 25,  /* one child beside the next one: its row follows */
    NEUG_ROW_EVENTS = 1 << 26, /* otherwise: clamps, more children; the group's list of events says which */
    NEUG_ROW_UNDER = 1 << 24,  /* the row behind is the parent: it is at hand */
    NEUG_ROW_ROOT = 1 << 25,
    NEUG_EVENT_CLAMP = 1 << 24, /* number of a clamp of the shape */
    NEUG_EVENT_CHILD = 1 << 25, /* row of a child beside the next one */
    NEUG_EVENT_CLOSE = 1 << 26, /* the last of these */
    NEUG_EVENT_NEXT = 1 << 27,  /* row of the next child, done elsewhere */
    NEUG_EVENT_END = 1 << 28    /* of this row */
};
enum { NEUG_PHASES = 4 };

/* list: rows of phase p and group g are list[2 k] .. list[2 k + 2] - 1, k = p * groups + g, and their events begin at
 * list[2 k + 1]. */
typedef struct neug_schedule {
    int32_t phases, groups, events;
    int32_t *list; /* 2 (phases * groups + 1) */
    int32_t *row;  /* of each node in depth-first numbers */
    uint2 *word;   /* of each row */
    uint32_t *event;
    int32_t cost; /* rows of the busiest groups of all phases, and what phases cost */
} neug_schedule;
/* clamps: of the tree's nodes, by falling node. False: no memory. */
bool neug_schedule_make(const neug_tree *tree, const neug_clamp *clamp, int32_t clamps, int32_t groups,
                        neug_schedule *out);
void neug_schedule_free(neug_schedule *schedule);

#endif
