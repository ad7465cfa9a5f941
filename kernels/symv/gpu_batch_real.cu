/* SPDX-License-Identifier: Apache-2.0
 *
 * BATCH's kernels of real numbers.
 */
#include "symv/gpu_batch_start.cuh"

template cudaError_t symv_batch_start<symv_f32>(const symv_batch_launch *);
template cudaError_t symv_batch_start<symv_f64>(const symv_batch_launch *);
template cudaError_t symv_batch_start<symv_f32_f64>(const symv_batch_launch *);
