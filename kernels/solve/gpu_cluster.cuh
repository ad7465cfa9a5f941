/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of a cluster and their shared memory (compute capability 9.0). A cluster of one block is a block: older
 * devices have only those.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_CLUSTER_CUH
#define LACIS_KERNELS_SOLVE_GPU_CLUSTER_CUH

#include "solve/gpu_number.cuh"

template <bool MANY> SOLVE_FN unsigned cluster_rank()
{
    unsigned rank = 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (MANY) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

/* All threads of all blocks; what was written to shared memory before can be read after. */
template <bool MANY> SOLVE_FN void cluster_meet()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (MANY) {
        asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
        return;
    }
#endif
    __syncthreads();
}

/* What lies at `at` in the shared memory of block `rank`. */
template <bool MANY, class T> SOLVE_FN T *cluster_at(T *at, unsigned rank)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (MANY) {
        unsigned long long to;
        asm("mapa.u64 %0, %1, %2;" : "=l"(to) : "l"((unsigned long long)at), "r"(rank));
        return (T *)to;
    }
#endif
    return at;
}

#endif
