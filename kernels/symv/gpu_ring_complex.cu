/* SPDX-License-Identifier: Apache-2.0
 *
 * RING's kernels of complex numbers.
 */
#include "symv/gpu_ring_start.cuh"

template cudaError_t symv_ring_start<symv_n_c64>(const symv_ring_launch *);
template cudaError_t symv_ring_start<symv_n_c128>(const symv_ring_launch *);
