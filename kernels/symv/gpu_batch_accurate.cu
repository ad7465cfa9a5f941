/* SPDX-License-Identifier: Apache-2.0
 *
 * BATCH's kernels of double-double with accurate addition.
 */
#include "symv/gpu_batch_start.cuh"

template cudaError_t symv_batch_start<symv_n_dd<true>>(const symv_batch_launch *);
template cudaError_t symv_batch_start<symv_n_cdd<true>>(const symv_batch_launch *);
template cudaError_t symv_batch_start<symv_n_by<float, 4, true>>(const symv_batch_launch *);
template cudaError_t symv_batch_start<symv_n_by<double, 2, true>>(const symv_batch_launch *);
