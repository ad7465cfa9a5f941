/* SPDX-License-Identifier: Apache-2.0
 *
 * Panels of Flat trees, put side by side and back: what gpu_tree.cu asks of gpu_tree_turn.cu. C++ (nvcc) only. All of
 * these only launch.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_TREE_TURN_H
#define LACIS_KERNELS_SOLVE_GPU_TREE_TURN_H

#include "gpu_tree_host.h"

typedef struct tree_turn {
    const lacis_solve_gpu_job *from;
    lacis_solve_gpu_job job; /* of the panel; groups as those of `from`, most without lanes */
    lacis_solve_group *group;
    void *block; /* arrays, one behind the other */
    int64_t elements;
    uint64_t array_bytes;
    int64_t first_group, first_lane, next_group, next_lane;
} tree_turn;

/* Whether it pays: planned for THREAD (LANES plans so where schedules do not fit), all arrays Flat that lanes do not
 * share, and many lanes a group. */
bool tree_turns(const lacis_solve_job *job, lacis_solve_gpu_way planned);
uint64_t tree_turn_bytes(const lacis_solve_job *job);

/* false: no memory. To be cleared in any case. */
bool tree_turn_new(const lacis_solve_gpu_job *job, tree_turn *turn);
void tree_turn_clear(tree_turn *turn);
/* The next panel: its operands are on their way into turn->job. false: there is none, or a call failed. */
bool tree_turn_next(tree_turn *turn, cudaError_t *error);
cudaError_t tree_turn_back(const tree_turn *turn); /* its x */

#endif
