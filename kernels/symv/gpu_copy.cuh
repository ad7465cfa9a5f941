/* SPDX-License-Identifier: Apache-2.0
 *
 * Asynchronous copies of a matrix's elements to shared memory, for the families whose threads keep a ring of them:
 * RING and BATCH. The matrix is read once, so its lines leave the L2 first: partial sums stay there.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_COPY_CUH
#define LACIS_KERNELS_SYMV_GPU_COPY_CUH

#include <cuda_runtime.h>

#include <stdint.h>

#define SYMV_COPY static __device__ __forceinline__

SYMV_COPY uint64_t symv_read_once(void)
{
    uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

SYMV_COPY unsigned symv_shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* The lane's own address, as the compiler cannot take it apart again: ptxas 13.0 writes wrong registers ("illegal
 * instruction" at run time) where an asynchronous copy with a cache hint has an address of two parts, one the same
 * for all lanes. All lanes of the warp come here. */
SYMV_COPY unsigned symv_whole(unsigned address)
{
    return __shfl_sync(~0U, address, (int)threadIdx.x % 32);
}

/* 16 bytes, both sides aligned; of them the first `bytes` are read, the others become 0. */
SYMV_COPY void symv_copy_16(unsigned to, const void *from, unsigned bytes, uint64_t policy)
{
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to), "l"(from), "r"(bytes),
                 "l"(policy)
                 : "memory");
}

SYMV_COPY void symv_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Until at most LEFT of this thread's groups are under way. */
template <int LEFT> SYMV_COPY void symv_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

#endif
