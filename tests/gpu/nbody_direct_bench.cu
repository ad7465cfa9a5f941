/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of all pairs: nbody_gpu bench direct [f32|f64|mixed] [N...]: the field by tiles of several shapes, in pairs a
 * second (n^2 of them, whichever way they are found).
 */
#include "nbody/gpu_direct.h"
#include "nbody_support.h"

#include <algorithm>
#include <cstring>

using namespace nbody;

template <class P, class R> struct Field {
    Four<P> *body = nullptr;
    Four<R> *out = nullptr;
    int64_t n;
    int processors = 0;
};

/* Seconds of one field: the median of several rounds of launches. */
template <class P, class R> static double time_of(const Field<P, R> &f, const Pairs &pairs, R common)
{
    void *slots = nullptr;
    cudaEvent_t begin, end;
    std::vector<double> times;
    const int repeat = f.n <= 20000 ? 20 : f.n <= 100000 ? 4 : 1;
    CUDA(cudaMalloc(&slots, pairs_bytes<R>(pairs)));
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    const Sources<P, R> sources = {f.body, nullptr, common};
    const Finish<P, R> finish = {f.out, nullptr, nullptr, {}, {}};
    for (int round = 0; round < 6; round++) {
        float ms = 0;
        CUDA(cudaEventRecord(begin, stream));
        for (int k = 0; k < repeat; k++)
            CUDA(pairs_run(stream, pairs, sources, false, slots, finish));
        CUDA(cudaEventRecord(end, stream));
        CUDA(cudaEventSynchronize(end));
        CUDA(cudaEventElapsedTime(&ms, begin, end));
        if (round > 0) times.push_back(1e-3 * ms / repeat);
    }
    std::sort(times.begin(), times.end());
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
    CUDA(cudaFree(slots));
    return times[times.size() / 2];
}

template <class P, class R> static void sweep(int64_t n, R common)
{
    const nbody_set set = nbody_plummer(n, 1);
    std::vector<Four<P>> host;
    for (size_t i = 0; i < set.m.size(); i++)
        host.push_back({(P)set.x[i], (P)set.y[i], (P)set.z[i], (P)set.m[i]});
    Field<P, R> f;
    f.n = n;
    CUDA(cudaDeviceGetAttribute(&f.processors, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaMalloc(&f.body, host.size() * sizeof host[0]));
    CUDA(cudaMalloc(&f.out, host.size() * sizeof(Four<R>)));
    CUDA(cudaMemcpy(f.body, host.data(), host.size() * sizeof host[0], cudaMemcpyHostToDevice));
    const double own = time_of(f, pairs_of<R>(n, f.processors, 0, 0), common);
    const Pairs chosen = pairs_of<R>(n, f.processors, 0, 0);
    printf("n %7lld eps^2 %g chosen %u x %u: %9.1f us %.3e pairs/s\n", (long long)n, (double)common, chosen.warps,
           chosen.columns, 1e6 * own, (double)n * (double)n / own);
    for (const int warps : {1, 2, 4})
        for (const int columns : {32, 64, 128, 256, 512}) {
            const Pairs pairs = pairs_of<R>(n, f.processors, warps, columns);
            if ((int)pairs.columns != columns || (n > 20000 && columns < 128)) continue;
            const double t = time_of(f, pairs, common);
            printf("    %d x %3d: %9.1f us %.3e\n", warps, columns, 1e6 * t, (double)n * (double)n / t);
        }
    CUDA(cudaFree(f.body));
    CUDA(cudaFree(f.out));
}

static int bench(int argc, char **argv)
{
    const std::string type = argc > 0 ? argv[0] : "f32";
    std::vector<int64_t> sizes;
    for (int k = 1; k < argc; k++)
        sizes.push_back(atoll(argv[k]));
    if (sizes.empty()) sizes = {5000, 16384, 65536, 262144};
    for (const int64_t n : sizes) {
        if (type == "f32") sweep<float, float>(n, 0.0025F);
        if (type == "f64") sweep<double, double>(n, 0.0025);
        if (type == "mixed") sweep<double, float>(n, 0.0025F);
    }
    return 0;
}

static nbody_bench registered("direct", bench);
