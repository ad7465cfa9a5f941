/* SPDX-License-Identifier: Apache-2.0
 *
 * RING's kernels of real numbers.
 */
#include "symv/gpu_ring_start.cuh"

template cudaError_t symv_ring_start<symv_f32>(const symv_ring_launch *);
template cudaError_t symv_ring_start<symv_f64>(const symv_ring_launch *);
template cudaError_t symv_ring_start<symv_f32_f64>(const symv_ring_launch *);
