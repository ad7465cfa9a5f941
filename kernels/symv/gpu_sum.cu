/* SPDX-License-Identifier: Apache-2.0
 *
 * The second pass: the warps of a block add the slots of 32 elements of y, warp w of W the slots w, w + W .. in this
 * order: 8 warps in the canonical order, more where the order is ours. Programmatic dependent launch lets its blocks
 * come while the first pass still ends.
 */
#include "symv/gpu_end.cuh"

enum { AHEAD = 8, CANONICAL_WARPS = 8, MOST_WARPS = 16 };

template <class N, int WARPS>
SYMV_GPU typename N::X add_slots(const symv_gpu_part &p, int sides, int side, int i, int slots)
{
    typedef typename N::X X;
    const int64_t step = sides * p.row;
    const X *from = (const X *)p.sums + side * p.row + i + threadIdx.y * step;
    X s = symv_zero<X>();
    for (int slot = (int)threadIdx.y; slot < slots; slot += WARPS * AHEAD) {
        X got[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            if (slot + j * WARPS < slots) got[j] = from[j * WARPS * step];
#pragma unroll
        for (int j = 0; j < AHEAD; j++)
            if (slot + j * WARPS < slots) s = N::add(s, got[j]);
        from += WARPS * AHEAD * step;
    }
    return s;
}

template <class N, int WARPS>
static __global__ void __launch_bounds__(32 * WARPS)
    sum_kernel(const __grid_constant__ symv_gpu_part p, const int sides)
{
    typedef typename N::X X;
    __shared__ X share[WARPS][32];
    const int i = (int)blockIdx.x * 32 + (int)threadIdx.x, side = (int)blockIdx.y;
    const bool in = i < p.grid.n;
    const int slots = in ? (int)symv_gpu_slots(&p.grid, (uint32_t)i / (uint32_t)p.grid.ty) : 0;
    symv_gpu_late();
    share[threadIdx.y][threadIdx.x] = add_slots<N, WARPS>(p, sides, side, i, slots);
    __syncthreads();
    if (threadIdx.y > 0 || !in) return;
    X s[WARPS];
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        s[w] = share[w][threadIdx.x];
    symv_end<N>(p, side, i, symv_halve<N, WARPS>(s));
}

template <class N, int WARPS> static cudaError_t sum_by(const symv_gpu_pass *pass, bool early)
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
    const cudaError_t error = cudaLaunchKernelEx(&config, sum_kernel<N, WARPS>, *p, pass->sides);
    return error != cudaSuccess ? error : cudaGetLastError();
}

template <class N> static cudaError_t sum(const symv_gpu_pass *pass, bool early)
{
    return pass->part.grid.canonical ? sum_by<N, CANONICAL_WARPS>(pass, early) : sum_by<N, MOST_WARPS>(pass, early);
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
