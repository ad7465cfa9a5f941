/* SPDX-License-Identifier: Apache-2.0
 *
 * BATCH's kernels of complex numbers.
 */
#include "symv/gpu_batch_start.cuh"

template cudaError_t symv_batch_start<symv_n_c64>(const symv_batch_launch *);
template cudaError_t symv_batch_start<symv_n_c128>(const symv_batch_launch *);
