/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host side of the GPU's solvers of trees shares: plans, and which kernels there are. C++ (nvcc) only.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_TREE_HOST_H
#define LACIS_KERNELS_SOLVE_GPU_TREE_HOST_H

#include "gpu_tree.h"

enum {
    TREE_THREADS = 64,           /* lanes of a tile of THREAD and BRANCHES */
    TREE_SHARED_THREADS = 32,    /* of SHARED */
    TREE_BLOCKS_MOST = 132 * 16, /* of THREAD: each has memory of its own for q and y */
    TREE_STACK_BYTES = 24 << 10  /* of a block's stack in shared memory at most; else it lies in memory */
};
enum { LANES_BYTES_MOST = 227 << 10 }; /* of shared memory */
static const uint64_t TREE_SCRATCH_BYTES = (uint64_t)4
                                           << 30; /* for q and y, at most; but room for a block there is */

/* A schedule on the device, offsets in bytes from here; tables of tree_schedule. */
typedef struct __align__(16) tree_lanes_head
{
    int32_t rows, ops; /* ops: of all parts */
    int32_t gathers, barriers;
    int32_t begin, op, gather, arrivals;
    int32_t bytes, unused[3];
}
tree_lanes_head;

/* Behind the order of a shape, for BRANCHES; offsets likewise. */
typedef struct __align__(16) tree_branches_head
{
    int32_t phases, branches;
    int32_t phase, branch, child;
    int32_t unused[3];
}
tree_branches_head;
/* Bytes of the order itself: entries, and children as lists. */
static inline __host__ __device__ int64_t tree_order_bytes(int64_t rows)
{
    return (rows * (int64_t)(sizeof(tree_entry) + 2 * sizeof(int32_t)) + 15) / 16 * 16;
}

typedef struct tree_lanes_shape {
    int lanes, warps;
    int32_t barriers;      /* of the shape that has most */
    uint64_t shared_bytes; /* of a block */
    const void *kernel;
    int blocks; /* that are there at once */
} tree_lanes_shape;

/* A group as kernels see it. */
typedef struct tree_group {
    int64_t lanes, first, tile; /* tile: the first of its tiles among those of the job */
    int64_t weight;             /* rows of all tiles before */
    int64_t plan;               /* bytes: its part of the plan */
    int64_t coef;               /* rows of the groups before */
    int32_t rows, depth;
    lacis_solve_side matrix, rhs, x;
} tree_group;

struct solve_gpu_tree_plan {
    lacis_solve_gpu_way way; /* that is taken */
    char *device;
    uint64_t bytes;
    bool lent; /* device stays when the plan goes */
    int64_t groups;
    int64_t *at;    /* by group: where its part begins, in bytes; groups of one shape share it */
    int32_t *depth; /* likewise */
    int32_t most_depth, phases, most_branches; /* phases of BRANCHES; branches of one */
    tree_lanes_shape lanes;
    /* Groups as the job had them that was planned for, on the host and on the device (at these bytes); behind them
     * at and depth, for gpu_tree_kept.cu alone. */
    tree_group *list;
    int64_t listed, list_at, at_at;
};

static inline bool tree_is_empty(const lacis_solve_group *group)
{
    return group->lanes == 0 || group->rows == 0;
}
static inline int tree_computed_bytes(lacis_solve_type type)
{
    return type == LACIS_SOLVE_F32 ? 4 : 8;
}
static inline bool tree_shares_off(const lacis_solve_job *job)
{
    return job->lower.shared && job->upper.shared;
}
/* Groups that have something to solve, in the order of their tiles of so many lanes; how many. tiles, weight: of all.
 */
int64_t tree_list_groups(const lacis_solve_job *job, const solve_gpu_tree_plan *plan, int lanes, tree_group *list,
                         int64_t *tiles, int64_t *weight);
static inline int tree_tile_lanes(const solve_gpu_tree_plan *plan)
{
    return plan->way == LACIS_SOLVE_GPU_LANES    ? plan->lanes.lanes
           : plan->way == LACIS_SOLVE_GPU_SHARED ? (int)TREE_SHARED_THREADS
                                                 : (int)TREE_THREADS;
}
int64_t tree_most_rows(const lacis_solve_job *job);
int64_t tree_tiles(const lacis_solve_job *job, int lanes);
int64_t tree_coef_rows(const lacis_solve_job *job);

/* Shared memory that a block of LANES takes for a shape, without its barriers' 8 bytes each. */
uint64_t tree_lanes_bytes(const lacis_solve_job *job, int lanes, int64_t rows, int64_t ops, int64_t gathers,
                          int64_t barriers, int warps);
/* Whether schedules of most trees fit; or, surely, whatever the trees are. */
bool tree_lanes_fits(const lacis_solve_job *job, bool surely);

/* Where the matrix is shared: it is eliminated into p->coef, then right sides go through it. (gpu_tree_factored.cu)
 */
cudaError_t tree_factor(const struct tree_params *p, lacis_solve_type type, cudaStream_t stream);
const void *tree_side_kernel(lacis_solve_type type);
const void *tree_thread_kernel(lacis_solve_type type, bool coef, bool shared);
const void *tree_lanes_kernel(lacis_solve_type type, int lanes, bool shared);
const void *tree_branches_kernel(lacis_solve_type type, bool coef, bool up);
cudaError_t tree_clear_marks(const struct tree_params *p, cudaStream_t stream);
cudaError_t tree_coefs(const struct tree_params *p, lacis_solve_type type, cudaStream_t stream);

#endif
