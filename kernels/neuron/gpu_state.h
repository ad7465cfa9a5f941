/* SPDX-License-Identifier: Apache-2.0
 *
 * The host side of the GPU's simulation as its files share it: tables, and one run. Used inside kernels/neuron; C++
 * (nvcc) only.
 */
#ifndef LACIS_KERNELS_NEURON_GPU_STATE_H
#define LACIS_KERNELS_NEURON_GPU_STATE_H

#include "gpu_kernels.h"
#include "gpu_power.h"
#include "gpu_schedule.h"

struct lacis_neuron_gpu_tables {
    neug_common common;
    void *block;       /* of device memory: all that common points to */
    neug_launch setup; /* but tiles and stream */
    neug_shape *shape; /* on the host */
    int64_t shapes;
    /* POWER: */
    neug_power_cut cut;
    void *matrices;          /* device memory */
    neug_power_shape *power; /* its beginning */
    int64_t *turn;           /* steps in which a clamp begins or ends to flow, rising; then INT64_MAX */
};

#define NEUG_TRY_CUDA(error, call)                                                                                   \
    do {                                                                                                             \
        *(error) = (int)(call);                                                                                      \
        if (*(error) != (int)cudaSuccess) return LACIS_NEURON_GPU_FAILED;                                            \
    } while (0)
#define NEUG_TRY(call)                                                                                               \
    do {                                                                                                             \
        const lacis_neuron_gpu_status status_ = (call);                                                              \
        if (status_ != LACIS_NEURON_GPU_OK) return status_;                                                          \
    } while (0)

/* gpu_job.cu: what a job is. */
int neug_model(const neuron_plan *plan);
bool neug_by_lane(const neuron_plan *plan); /* of coefficients of that model, whether lanes scale any */
/* Clamps of each shape, of malloc; NULL: no memory. Then neug_clamps_at answers with those of all. */
int32_t *neug_count_clamps(const neuron_plan *plan);
static inline int64_t neug_clamps_at(const neuron_plan *plan, const int32_t *counts, int64_t shape)
{
    return counts == NULL ? plan->clamps : counts[shape];
}
/* Lanes of CHIP's blocks and groups of threads for these shapes; shared_most: bytes that a block may have. False:
 * a tree is too large. */
bool neug_chip_fit(const lacis_neuron_gpu_job *job, size_t shared_most, neug_launch *out);

/* gpu_members.cu: coefficients of a shape in depth-first order; inverse: of the diagonals (CONSTANT). False: no
 * memory. */
bool neug_members_fill(const neuron_plan *plan, const neuron_shape *shape, const neug_tree *tree, double *member,
                       double2 *couple, double *inverse);

/* gpu_power_run.cu */
uint64_t neug_power_bytes(const lacis_neuron_gpu_job *job); /* of the device, for tables */
lacis_neuron_gpu_status neug_power_tables_make(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables *tables,
                                               const neug_clamp *clamp, int64_t clamps, int *cuda_error);
void neug_power_tables_free(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables *tables);
typedef struct neug_power_run {
    const lacis_neuron_gpu_tables *tables;
    const neug_launch *launch;
    neug_params *params;
    double *x, *y;             /* change places with every product */
    int64_t step, steps, most; /* steps done, all steps, those of a product at most */
} neug_power_run;
cudaError_t neug_power_start(neug_power_run *run, int64_t words);
cudaError_t neug_power_go_on(neug_power_run *run); /* one product further */

static inline uint64_t neug_aligned(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

#endif
