/* SPDX-License-Identifier: Apache-2.0
 *
 * The certificate of a field: accelerations of a sample of bodies, spread over the caller's numbers, against direct
 * sums in double. Errors are sorted on the device, by the bits of numbers that are not negative.
 */
#include "nbody/gpu_system.h"

#include <cub/device/device_radix_sort.cuh>

namespace nbody
{

enum { THREADS = 256, QUANTILES = 4 };

/* A sample's arrays, in one block of memory. */
template <class P> struct Sample {
    int64_t n;
    P *x, *y, *z;
    double *soft; /* eps^2 */
    double *a;    /* 3 each, as the system has it */
    Four<double> *sum;
    uint64_t *relative, *scaled, *sorted; /* bits of errors */
    uint32_t *number, *other;
    void *work, *slots;
    size_t work_bytes;
};

/* Sizes where block is NULL. The answer: bytes. */
template <class P> static uint64_t lay_out(Sample<P> *s, int processors, unsigned char *block)
{
    uint64_t bytes = 0;
    const auto place = [&](auto **array, uint64_t size) {
        *array = reinterpret_cast<std::remove_reference_t<decltype(**array)> *>(block + bytes);
        bytes += (size + 255) / 256 * 256;
    };
    const uint64_t n = (uint64_t)s->n;
    unsigned char *work, *slots;
    place(&s->x, n * sizeof(P));
    place(&s->y, n * sizeof(P));
    place(&s->z, n * sizeof(P));
    place(&s->soft, n * sizeof(double));
    place(&s->a, 3 * n * sizeof(double));
    place(&s->sum, n * sizeof(Four<double>));
    place(&s->relative, n * sizeof(uint64_t));
    place(&s->scaled, n * sizeof(uint64_t));
    place(&s->sorted, n * sizeof(uint64_t));
    place(&s->number, n * sizeof(uint32_t));
    place(&s->other, n * sizeof(uint32_t));
    if (cub::DeviceRadixSort::SortPairs(nullptr, s->work_bytes, s->relative, s->sorted, s->number, s->other, (int)n,
                                        0, 64))
        s->work_bytes = 0;
    place(&work, s->work_bytes);
    place(&slots, marks_bytes<double>(s->n, processors));
    s->work = work;
    s->slots = slots;
    return bytes;
}

/* Sample k is the body of number floor(k n / sample). */
template <class P, class R> struct Choose {
    uint32_t n;
    const Four<P> *at;
    const R *at_soft;
    const Moving<P> *moving;
    const uint32_t *from;
    const Four<R> *sum;
    R factor;
};
template <class P, class R>
__global__ void __launch_bounds__(THREADS) choose_kernel(const Choose<P, R> c, const Sample<P> s)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= c.n) return;
    const int64_t number = c.moving[c.from ? c.from[i] : i].number;
    const int64_t k = (number * s.n + c.n - 1) / c.n;
    if (k >= s.n || k * c.n / s.n != number) return;
    const Four<P> b = load(c.at + i);
    const Four<R> sum = load(c.sum + i);
    s.x[k] = b.x;
    s.y[k] = b.y;
    s.z[k] = b.z;
    s.soft[k] = c.at_soft ? (double)c.at_soft[i] : 0;
    s.a[3 * k] = c.factor * sum.x;
    s.a[3 * k + 1] = c.factor * sum.y;
    s.a[3 * k + 2] = c.factor * sum.z;
}

__device__ __forceinline__ uint64_t error_bits(double error, double size)
{
    const double e = size > 0 ? error / size : error == 0 ? 0 : INFINITY;
    return (uint64_t)__double_as_longlong(e);
}

template <class P> __global__ void __launch_bounds__(THREADS) compare_kernel(const Sample<P> s, double g)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k >= s.n) return;
    const Four<double> t = s.sum[k];
    const double x = g * t.x, y = g * t.y, z = g * t.z;
    const double error = modulus(s.a[3 * k] - x, s.a[3 * k + 1] - y, s.a[3 * k + 2] - z);
    s.relative[k] = error_bits(error, modulus(x, y, z));
    s.scaled[k] = error_bits(error, g * t.w);
    s.number[k] = (uint32_t)k;
}

/* Quantiles of errors into pinned memory. */
template <class P>
static cudaError_t quantiles(cudaStream_t stream, const Sample<P> &s, const uint64_t *errors, double *pinned)
{
    const double share[QUANTILES] = {0.5, 0.9, 0.99, 1};
    size_t bytes = s.work_bytes;
    cudaError_t error =
        cub::DeviceRadixSort::SortPairs(s.work, bytes, errors, s.sorted, s.number, s.other, (int)s.n, 0, 64, stream);
    for (int q = 0; q < QUANTILES && error == cudaSuccess; q++) {
        const int64_t at = (int64_t)(share[q] * (double)s.n), last = s.n - 1;
        error = cudaMemcpyAsync(pinned + q, s.sorted + (at < last ? at : last), sizeof *pinned,
                                cudaMemcpyDeviceToHost, stream);
    }
    return error;
}

template <class P, class R> static cudaError_t certify(System<P, R> *s, const Sample<P> &sample)
{
    const cudaStream_t stream = s->machine.stream;
    const R *const soft = s->own ? s->at_soft : nullptr;
    double *const pinned = static_cast<double *>(s->machine.pinned);
    const Choose<P, R> choose = {(uint32_t)s->n, s->at, soft, s->moving, s->from, s->sum, factor_of(s)};
    choose_kernel<P, R><<<blocks_of(s->n, THREADS), THREADS, 0, stream>>>(choose, sample);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    const Sources<P, R> sources = {s->at, soft, (R)(s->soften * s->soften)};
    const Marks<P, double> marks = {sample.n, sample.x, sample.y, sample.z, soft ? sample.soft : nullptr};
    error = marks_run(stream, s->machine.processors, s->n, sources, marks, true, sample.slots, sample.sum);
    if (error != cudaSuccess) return error;
    compare_kernel<P><<<blocks_of(sample.n, THREADS), THREADS, 0, stream>>>(sample, s->g);
    error = cudaGetLastError();
    if (error == cudaSuccess) error = quantiles(stream, sample, sample.relative, pinned);
    if (error == cudaSuccess) error = quantiles(stream, sample, sample.scaled, pinned + QUANTILES);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

template <class P, class R> lacis_nbody_status system_certify(System<P, R> *s, int64_t many, lacis_nbody_errors *out)
{
    *out = {};
    NBODY_TRY(system_field(s, false));
    Sample<P> sample = {};
    sample.n = out->sample = many < s->n ? many : s->n;
    if (sample.n <= 0) return LACIS_NBODY_OK;
    unsigned char *block = nullptr;
    NBODY_TRY(take(s, &block, lay_out(&sample, s->machine.processors, static_cast<unsigned char *>(nullptr))));
    lay_out(&sample, s->machine.processors, block);
    const cudaError_t error = certify(s, sample);
    give(s, &block);
    NBODY_CUDA(s, error);
    const double *const pinned = static_cast<const double *>(s->machine.pinned);
    for (int q = 0; q < QUANTILES; q++) {
        out->relative[q] = pinned[q];
        out->scaled[q] = pinned[QUANTILES + q];
    }
    return LACIS_NBODY_OK;
}

#define OF_TYPE(P, R) template lacis_nbody_status system_certify(System<P, R> *, int64_t, lacis_nbody_errors *);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
