/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures of a system: sums in double, in the order in which the bodies lie, cut into pieces that depend on their
 * number alone.
 */
#include "nbody/gpu_system.h"

namespace nbody
{

enum { FIGURES = 12, THREADS = 128, EACH = 16 }; /* a piece: EACH bodies of each thread */
enum { MASS, KINETIC, POTENTIAL, CENTRE, MOMENTUM = CENTRE + 3, ANGULAR = MOMENTUM + 3 };
static_assert(FIGURES == ANGULAR + 3 && FIGURES * sizeof(double) <= LACIS_NBODY_GPU_PINNED_BYTES, "");

template <class P, class R> struct Measure {
    uint32_t n;
    const Four<P> *at;
    const Moving<P> *moving;
    const uint32_t *from;
    const Four<R> *sum;
};

template <class P, class R> __device__ void measure_one(const Measure<P, R> &m, uint32_t i, double *f)
{
    const Four<P> b = load(m.at + i);
    const Moving<P> v = m.moving[m.from ? m.from[i] : i];
    const double mass = b.w, x = b.x, y = b.y, z = b.z, vx = v.x, vy = v.y, vz = v.z;
    f[MASS] += mass;
    f[KINETIC] += mass * fused(vz, vz, fused(vy, vy, vx * vx));
    f[POTENTIAL] += mass * (double)m.sum[i].w;
    f[CENTRE] += mass * x;
    f[CENTRE + 1] += mass * y;
    f[CENTRE + 2] += mass * z;
    f[MOMENTUM] += mass * vx;
    f[MOMENTUM + 1] += mass * vy;
    f[MOMENTUM + 2] += mass * vz;
    f[ANGULAR] += mass * (y * vz - z * vy);
    f[ANGULAR + 1] += mass * (z * vx - x * vz);
    f[ANGULAR + 2] += mass * (x * vy - y * vx);
}

/* The block's sums, in a fixed order, into out. */
__device__ void add_up(const double *f, double (*room)[THREADS], double *out)
{
    for (int k = 0; k < FIGURES; k++)
        room[k][threadIdx.x] = f[k];
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x >= half) continue;
        for (int k = 0; k < FIGURES; k++)
            room[k][threadIdx.x] += room[k][threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x < FIGURES) out[threadIdx.x] = room[threadIdx.x][0];
}

template <class P, class R>
__global__ void __launch_bounds__(THREADS) measure_kernel(const Measure<P, R> m, double *pieces)
{
    __shared__ double room[FIGURES][THREADS];
    double f[FIGURES] = {};
    for (uint32_t k = 0; k < EACH; k++) {
        const uint32_t i = (blockIdx.x * EACH + k) * THREADS + threadIdx.x;
        if (i < m.n) measure_one(m, i, f);
    }
    add_up(f, room, pieces + (uint64_t)blockIdx.x * FIGURES);
}

__global__ void __launch_bounds__(THREADS) measure_end_kernel(uint32_t pieces, const double *piece, double *out)
{
    __shared__ double room[FIGURES][THREADS];
    double f[FIGURES] = {};
    for (uint32_t p = threadIdx.x; p < pieces; p += THREADS)
        for (int k = 0; k < FIGURES; k++)
            f[k] += piece[(uint64_t)p * FIGURES + (unsigned)k];
    add_up(f, room, out);
}

template <class P, class R> static cudaError_t measure(System<P, R> *s, uint32_t pieces, double *piece)
{
    const cudaStream_t stream = s->machine.stream;
    const Measure<P, R> m = {(uint32_t)s->n, s->at, s->moving, s->from, s->sum};
    double *const out = piece + (uint64_t)pieces * FIGURES;
    measure_kernel<P, R><<<pieces, THREADS, 0, stream>>>(m, piece);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    measure_end_kernel<<<1, THREADS, 0, stream>>>(pieces, piece, out);
    error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(s->machine.pinned, out, FIGURES * sizeof *out, cudaMemcpyDeviceToHost, stream);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

static void tell(const double *f, double g, lacis_nbody_figures *out)
{
    out->mass = f[MASS];
    out->kinetic = f[KINETIC] / 2;
    out->potential = -g * f[POTENTIAL] / 2;
    for (int k = 0; k < 3; k++) {
        out->centre[k] = f[MASS] > 0 ? f[CENTRE + k] / f[MASS] : 0;
        out->momentum[k] = f[MOMENTUM + k];
        out->angular[k] = f[ANGULAR + k];
    }
}

template <class P, class R> lacis_nbody_status system_measure(System<P, R> *s, lacis_nbody_figures *out)
{
    *out = {};
    NBODY_TRY(system_field(s, true));
    NBODY_TRY(system_settle(s));
    if (s->n == 0) return LACIS_NBODY_OK;
    const uint32_t pieces = blocks_of(s->n, THREADS * EACH);
    double *piece = nullptr;
    NBODY_TRY(take(s, &piece, ((uint64_t)pieces + 1) * FIGURES));
    const cudaError_t error = measure(s, pieces, piece);
    give(s, &piece);
    NBODY_CUDA(s, error);
    tell(static_cast<const double *>(s->machine.pinned), s->g, out);
    return LACIS_NBODY_OK;
}

#define OF_TYPE(P, R) template lacis_nbody_status system_measure(System<P, R> *, lacis_nbody_figures *);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
