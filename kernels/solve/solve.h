/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of small independent linear systems: tridiagonal ones (chains) and ones with the shape of a tree (Hines).
 * Raw pointers and sizes only; operators/solve fills a job and calls lacis_solve_run. gpu.h takes the same job with
 * device pointers.
 *
 * A system is a lane. Lanes of one shape form a group. Every row has a diagonal, a `lower` element (left of it: in
 * the row before of a chain, in the parent's column of a tree), an `upper` one (a chain: right of the diagonal; a
 * tree: in the parent's row and this row's column) and a right side: chain  lower[r] x[r-1] + diagonal[r] x[r] +
 * upper[r] x[r+1] = rhs[r] tree   lower[r] x[parent] + diagonal[r] x[r] + sum over children c of upper[c] x[c] =
 * rhs[r] lower of a chain's first row, upper of its last one, and both of a root are never looked at.
 *
 * What is computed, without pivoting, in exactly these steps and this order for every layout, grouping, number of
 * threads and instruction set, so that results have the same bits (no fused multiply-adds; w is a true division):
 *     chain (Thomas 1949), r rising:   w = 1 / (diagonal - lower q'); q = upper w; y = (rhs - lower y') w
 *                          r falling:  x = y - q x'               (' : of the row before, behind; 0 at the ends)
 *     tree (Hines 1984),   r falling:  w = 1 / (diagonal - sq); q = lower w; y = (rhs - sy) w
 *                                      sq = the sum of upper[c] q[c], sy that of upper[c] y[c], over the children c
 *                                      from the highest row number down, the first taken as it is; leaves: none
 *                          r rising:   x = y - q x[parent]; roots: x = y
 * Complex: 1 / z = (u / t, -v / t), m = max(|re|, |im|), u = re / m, v = im / m, t = (u u + v v) m.
 */
#ifndef LACIS_KERNELS_SOLVE_H
#define LACIS_KERNELS_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lacis_solve_type {
    LACIS_SOLVE_F64,
    LACIS_SOLVE_F32,
    LACIS_SOLVE_MIXED, /* stored as f32, computed in f64, x rounded once */
    LACIS_SOLVE_C128,  /* chains only */
    LACIS_SOLVE_TYPES
} lacis_solve_type;

typedef enum lacis_solve_status {
    LACIS_SOLVE_OK,
    LACIS_SOLVE_NO_MEMORY, /* alloc answered NULL */
    LACIS_SOLVE_CANCELLED,
    LACIS_SOLVE_BAD /* job.status is NULL, and a lane is bad: out.bad_lane, out.bad */
} lacis_solve_status;

/* Why a lane is bad, and the first row where: row * 4 + cause; 0: it is not. Not finite goes before zero pivot before
 * not dominant. Weakly dominant rows (up to a few roundings) are fine. */
typedef enum lacis_solve_cause {
    LACIS_SOLVE_FINE,
    LACIS_SOLVE_NOT_DOMINANT, /* |diagonal| < the sum of the row's other elements */
    LACIS_SOLVE_ZERO_PIVOT,   /* 1 / pivot is not finite */
    LACIS_SOLVE_NOT_FINITE    /* NaN or infinity in the matrix or the right side */
} lacis_solve_cause;

/* Where lanes of a group lie in the fields of one array: lane l of the group is l' = l + lane there; row r at
 *     place + (l' / block) * block * rows + r * block + l' % block
 * (block: 1 Flat; the lanes of the array's group: Full; b: Block(b)), or, in a field shared by its lanes, at
 * row + r * step. */
typedef struct lacis_solve_side {
    int64_t place, block, lane;
    int64_t row, step;
} lacis_solve_side;
static inline int64_t lacis_solve_place(const lacis_solve_side *side, int64_t rows, int64_t lane, int64_t row)
{
    int64_t l = lane + side->lane, flock = l / side->block;
    return side->place + flock * side->block * rows + row * side->block + l % side->block;
}

typedef struct lacis_solve_group {
    int64_t lanes, rows;
    int64_t first; /* of its lanes among those of the job, for status */
    int64_t tree;  /* where its rows begin in parent */
    lacis_solve_side matrix, rhs, x;
} lacis_solve_group;

typedef struct lacis_solve_field {
    const void *data;
    bool shared; /* one element a row for all lanes of the group */
} lacis_solve_field;

/* Memory and the wish to stop. alloc gives 64-byte alignment, from any thread. */
typedef struct lacis_solve_host {
    void *(*alloc)(void *context, uint64_t bytes);
    void (*free)(void *context, void *block);
    bool (*cancelled)(void *context); /* NULL: never. Asked from any thread */
    void *context;
} lacis_solve_host;

typedef struct lacis_solve_job {
    lacis_solve_type type;
    lacis_solve_field lower, diagonal, upper; /* lie at group.matrix; unchanged */
    lacis_solve_field rhs;                    /* at group.rhs; unchanged */
    void *x;                                  /* at group.x, of the same storage; overlaps nothing else */
    /* |rhs - A x| of every element (complex: of its modulus), at group.x in doubles; NULL: not wanted. Of bad lanes
     * it is what comes out. */
    double *residual;
    int64_t *status;       /* by lane of the job, see lacis_solve_cause; NULL: a bad lane ends the run */
    const int32_t *parent; /* of all groups; -1: a root; below the row's own number otherwise. NULL: chains */
    const lacis_solve_group *group;
    int64_t groups;
    int threads;
    lacis_solve_host host;
} lacis_solve_job;

typedef struct lacis_solve_output {
    int64_t bad_lane, bad; /* with LACIS_SOLVE_BAD: the lowest bad lane of the job, and its status word */
    int64_t bad_lanes;     /* with job.status: how many */
    int64_t factored;      /* groups whose matrix is shared by their lanes and was factored once */
} lacis_solve_output;

/* After anything but OK what x, residual and status hold is undefined. */
lacis_solve_status lacis_solve_run(const lacis_solve_job *job, lacis_solve_output *out);

/* Bytes that a run takes from host.alloc at most. */
uint64_t lacis_solve_work_bytes(const lacis_solve_job *job);

/* "avx512", "avx2", "baseline": which loops run here. LACIS_ISA in the environment asks for less. */
const char *lacis_solve_isa(void);

/* Bytes of an element as stored. */
static inline int lacis_solve_bytes(lacis_solve_type type)
{
    return type == LACIS_SOLVE_F64 ? 8 : type == LACIS_SOLVE_C128 ? 16 : 4;
}

#ifdef __cplusplus
}
#endif

#endif
