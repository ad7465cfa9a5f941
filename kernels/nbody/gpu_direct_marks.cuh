/* SPDX-License-Identifier: Apache-2.0
 *
 * All bodies upon targets that are none of them (points), or a sample of them (certificates): a lane has a target, a
 * block a part of the bodies, which go through shared memory; the parts' sums are added in order by a second kernel.
 * Instantiated by gpu_direct_f32.cu, _f64.cu and _mixed.cu.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_DIRECT_MARKS_CUH
#define LACIS_KERNELS_NBODY_GPU_DIRECT_MARKS_CUH

#include "nbody/gpu_direct.h"
#include "nbody/gpu_direct_pair.cuh"

namespace nbody
{

template <class P, class S, class R> struct MarksJob {
    int64_t n;
    Sources<P, S> sources;
    Marks<P, R> marks;
    int64_t part; /* sources of a part: a multiple of MARKS */
    Four<R> *slots;
};

/* Sources at .. at + MARKS - 1 into shared memory; what is not there has no mass. */
template <class P, class S, class R>
__device__ __forceinline__ void fetch_sources(const MarksJob<P, S, R> &job, int64_t at, Four<P> *body, R *soft)
{
    const int64_t j = at + threadIdx.x;
    body[threadIdx.x] = j < job.n ? load(job.sources.body + j) : Four<P>{0, 0, 0, 0};
    soft[threadIdx.x] = j < job.n && job.sources.soft != nullptr ? R(0.5) * (R)job.sources.soft[j] : R(0);
}

template <bool MODULI, class R, class P>
__device__ __forceinline__ void attract(Four<R> *sum, const Four<P> &b, P x, P y, P z, R e)
{
    R dx = (R)(b.x - x), dy = (R)(b.y - y), dz = (R)(b.z - z);
    const R m = (R)b.w, square = fused(dz, dz, fused(dy, dy, dx * dx));
    const R w = near_root<NONE>(square + e), power = power_of<NONE>(w, &dx, &dy, &dz), f = strength<NONE>(m, power);
    sum->x = fused(f, dx, sum->x);
    sum->y = fused(f, dy, sum->y);
    sum->z = fused(f, dz, sum->z);
    sum->w = MODULI ? fused(f, w * sqrt(square), sum->w) : fused(m, w, sum->w);
}

template <bool MODULI, class P, class S, class R>
__global__ void __launch_bounds__(MARKS) marks_kernel(const MarksJob<P, S, R> job)
{
    __shared__ Four<P> body[MARKS];
    __shared__ R soft[MARKS];
    const int64_t i = (int64_t)blockIdx.x * MARKS + threadIdx.x, first = (int64_t)blockIdx.y * job.part;
    const int64_t end = first + job.part < job.n ? first + job.part : job.n;
    const bool mine = i < job.marks.n, own = job.sources.soft != nullptr;
    const P x = mine ? job.marks.x[i] : P(0), y = mine ? job.marks.y[i] : P(0), z = mine ? job.marks.z[i] : P(0);
    const R base = !own                                ? (R)job.sources.common
                   : mine && job.marks.soft != nullptr ? R(0.5) * job.marks.soft[i]
                                                       : R(0);
    Four<R> sum = {0, 0, 0, 0};
    for (int64_t at = first; at < end; at += MARKS) {
        __syncthreads();
        fetch_sources(job, at, body, soft);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < MARKS; k++)
            attract<MODULI>(&sum, body[k], x, y, z, base + soft[k]);
    }
    if (mine) store(job.slots + (int64_t)blockIdx.y * job.marks.n + i, sum);
}

template <class R> __global__ void marks_add_kernel(int64_t n, uint32_t parts, const Four<R> *slots, Four<R> *out)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Four<R> sum = {0, 0, 0, 0};
    for (uint32_t p = 0; p < parts; p++) {
        const Four<R> one = load(slots + (int64_t)p * n + i);
        sum.x += one.x;
        sum.y += one.y;
        sum.z += one.z;
        sum.w += one.w;
    }
    store(out + i, sum);
}

template <class P, class S, class R>
cudaError_t marks_run(cudaStream_t stream, int processors, int64_t n, const Sources<P, S> &sources,
                      const Marks<P, R> &marks, bool moduli, void *slots, Four<R> *out)
{
    if (marks.n == 0) return cudaSuccess;
    const uint32_t parts = marks_parts(marks.n, processors);
    const int64_t part = ((n + parts - 1) / parts + MARKS - 1) / MARKS * MARKS;
    const MarksJob<P, S, R> job = {n, sources, marks, part, static_cast<Four<R> *>(slots)};
    const dim3 grid((unsigned)((marks.n + MARKS - 1) / MARKS), parts);
    if (moduli)
        marks_kernel<true, P, S, R><<<grid, MARKS, 0, stream>>>(job);
    else
        marks_kernel<false, P, S, R><<<grid, MARKS, 0, stream>>>(job);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    marks_add_kernel<R><<<(unsigned)((marks.n + 255) / 256), 256, 0, stream>>>(marks.n, parts, job.slots, out);
    return cudaGetLastError();
}

} // namespace nbody

#endif
