/* SPDX-License-Identifier: Apache-2.0
 *
 * What the GPU's solvers of trees (gpu_tree*.cu) share: the order in which the rows of a shape are computed, the
 * schedule that deals them to warps, and the job as kernels see it. C++ (nvcc) only.
 *
 * All ways do the steps of solve.h in its order of children, so all of them, and the CPU, have the same bits. Which
 * rows come earlier is free as long as children come before their parent; of a row's children, in solve.h's order,
 * the first two may be computed in either order, since their sum is the same.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_TREE_H
#define LACIS_KERNELS_SOLVE_GPU_TREE_H

#include "solve/gpu_inside.h"

/* --- the order of rows: gpu_tree_order.cu ------------------------------------------------------------- */

/* What becomes of a row's part in its parent's sums, which is held in registers, once the row is computed. Upwards:
 * of an only child it stays there; else the first child of a parent pushes it on a stack, middle ones add it to the
 * top, the last one takes the sum from there. Downwards, in reverse, the stack holds x of parents. */
enum {
    TREE_ONLY = 0,
    TREE_PUSH = 1,
    TREE_ADD = 2,
    TREE_POP = 3,
    TREE_STACK = 3, /* mask of the above */
    TREE_LEAF = 4,
    TREE_ROOT = 8
};
typedef struct tree_entry {
    int32_t row;
    uint32_t flags;
} tree_entry;

/* Children of each row in the order of their sum, as lists: first[row], next[child]; -1 ends. */
typedef struct tree_children {
    int32_t *first, *next;
} tree_children;

/* Of one shape, made on the host. */
typedef struct tree_order {
    int32_t rows, depth; /* depth: of the stack */
    const int32_t *parent;
    tree_entry *entry; /* children before parents */
    tree_children children;
} tree_order;
bool tree_order_make(int32_t rows, const int32_t *parent, tree_order *out); /* false: no memory */
void tree_order_clear(tree_order *order);
void tree_order_number(const tree_order *order, bool turned, int32_t *stack, tree_entry *entry); /* stack: rows */

/* --- branches by levels: gpu_tree_levels.cu ------------------------------------------------------------ */

/* A branch: rows that follow each other in the order, each the only child of the next. Its level is one more than
 * that of the branches which begin where it ends; children: of its first row, as places in the order. */
typedef struct tree_branch {
    int32_t first, rows;
    int32_t child, children;
    int32_t parent; /* place of the row that its last row is a child of; -1: none */
} tree_branch;

/* Branches of a phase are computed at once, those of one level; or, where levels have few, one after another. */
typedef struct tree_phase {
    int32_t begin, end, in_turn;
} tree_phase;

enum { TREE_PHASES_MOST = 64 };
typedef struct tree_levels {
    int32_t branches, phases, children;
    tree_branch *branch; /* by level */
    tree_phase *phase;
    int32_t *child;
} tree_levels;
bool tree_levels_make(const tree_order *order, tree_levels *out); /* false: no memory */
void tree_levels_clear(tree_levels *levels);

/* --- the schedule of LANES: gpu_schedule.cu ----------------------------------------------------------- */

enum {
    TREE_WARPS_MOST = 16,
    TREE_NONE = 0xffff,    /* no barrier */
    TREE_LANES_ROWS = 4096 /* rows of a tree at most; shared memory ends earlier */
};
enum {
    OP_ABSENT = 1, /* nothing to do for this part of the warp; its row is one behind the last, which nobody writes */
    OP_ROOT = 2,
    OP_CARRY = 4,        /* q and y of a child are in registers: the op before was its */
    OP_CARRIED = 8,      /* likewise this row's, for the op behind; downwards x of the parent is in registers */
    OP_WAIT = 16,        /* upwards: children of other warps come first: barrier `own` */
    OP_SIGNAL = 32,      /* upwards: the parent is another warp's: barrier `up` */
    OP_KEEP = 64,        /* downwards: x is read by other ops */
    OP_WAIT_DOWN = 128,  /* x of the parent comes from another warp: barrier `up` + 1 */
    OP_SIGNAL_DOWN = 256 /* barrier `own` + 1 */
};
/* One row of one part of a warp. A warp of 32 threads holds 32 / lanes parts, which do their ops side by side. Pairs
 * of 16 bits, the first one low: what a kernel reads with one load and takes apart with one instruction each. */
typedef struct __align__(16) tree_op
{
    uint32_t row_parent;
    uint32_t flags_gathers; /* gathers: children that are not carried */
    uint32_t gather_own;    /* where they begin; the row's barriers: a pair, for up and down, or TREE_NONE */
    uint32_t up_carried;    /* the parent's barriers; row of the carried child */
}
tree_op;
static inline uint32_t tree_two(int64_t low, int64_t high)
{
    return (uint32_t)low | (uint32_t)high << 16;
}

typedef struct tree_schedule {
    int32_t rows, warps, parts; /* parts: of a warp */
    int32_t ops;                /* of all warps, parts each */
    int32_t gathers, barriers;
    int32_t *begin;    /* [warps + 1]: ops of each warp */
    tree_op *op;       /* [ops * parts] */
    uint16_t *gather;  /* rows of children, in the order of their sum */
    int32_t *arrivals; /* [barriers] */
    int32_t steps;     /* that the longest warp takes, waits included */
} tree_schedule;
bool tree_schedule_make(const tree_order *order, int warps, int parts, tree_schedule *out); /* false: no memory */
void tree_schedule_clear(tree_schedule *schedule);

#endif
