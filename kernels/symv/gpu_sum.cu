/* SPDX-License-Identifier: Apache-2.0
 *
 * The second pass: 8 warps of a block add the slots of 32 elements of y, warp w the slots w, w + 8 .. in this order.
 * Programmatic dependent launch lets its blocks come while the first pass still ends.
 */
#include "symv/gpu_end.cuh"

enum { WARPS = 8, AHEAD = 8 };

template <class N> SYMV_GPU typename N::X add_slots(const symv_gpu_part &p, int sides, int side, int64_t i)
{
    typedef typename N::X X;
    const X *from = (const X *)p.sums + side * p.row + i;
    const int64_t slots = symv_gpu_slots(&p.grid, (uint32_t)i / (uint32_t)p.grid.ty), step = sides * p.row;
    X s = symv_zero<X>();
    for (int64_t slot = threadIdx.y; slot < slots; slot += WARPS * AHEAD) {
        X got[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            if (slot + j * WARPS < slots) got[j] = from[(slot + j * WARPS) * step];
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            if (slot + j * WARPS < slots) s = N::add(s, got[j]);
    }
    return s;
}

template <class N>
static __global__ void __launch_bounds__(32 * WARPS)
    sum_kernel(const __grid_constant__ symv_gpu_part p, const int sides)
{
    typedef typename N::X X;
    __shared__ X share[WARPS][32];
    const int64_t i = blockIdx.x * (int64_t)32 + threadIdx.x;
    const int side = (int)blockIdx.y;
    symv_gpu_late();
    if (i < p.grid.n) share[threadIdx.y][threadIdx.x] = add_slots<N>(p, sides, side, i);
    __syncthreads();
    if (threadIdx.y > 0 || i >= p.grid.n) return;
    X s[WARPS];
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        s[w] = share[w][threadIdx.x];
    symv_end<N>(p, side, i, symv_halve<N, WARPS>(s));
}

template <class N> static cudaError_t sum(const symv_gpu_pass *pass, bool early)
{
    const symv_gpu_part *p = &pass->part;
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3((unsigned)((p->grid.n + 31) / 32), (unsigned)pass->sides);
    config.blockDim = dim3(32, WARPS);
    config.stream = pass->stream;
    config.attrs = &attribute;
    config.numAttrs = early && symv_gpu_has_early() ? 1 : 0;
    const cudaError_t error = cudaLaunchKernelEx(&config, sum_kernel<N>, *p, pass->sides);
    return error != cudaSuccess ? error : cudaGetLastError();
}

cudaError_t symv_gpu_sum(const symv_gpu_pass *pass, bool early)
{
    const lacis_symv_job *job = &pass->job->job;
#define DO(N) sum<N>(pass, early)
    return SYMV_BY_SUMS(job->type, job->accurate, DO);
#undef DO
}

bool symv_gpu_has_early(void)
{
    int device = 0, major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9;
}
