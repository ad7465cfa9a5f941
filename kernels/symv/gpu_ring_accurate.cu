/* SPDX-License-Identifier: Apache-2.0
 *
 * RING's kernels of double-double with accurate addition.
 */
#include "symv/gpu_ring_start.cuh"

template cudaError_t symv_ring_start<symv_n_dd<true>>(const symv_ring_launch *);
template cudaError_t symv_ring_start<symv_n_cdd<true>>(const symv_ring_launch *);
template cudaError_t symv_ring_start<symv_n_by<float, 4, true>>(const symv_ring_launch *);
template cudaError_t symv_ring_start<symv_n_by<double, 2, true>>(const symv_ring_launch *);
