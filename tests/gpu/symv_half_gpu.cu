/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse symmetric products on a real GPU: symv_half_gpu check | small [SEED], bench [...].
 *
 * check: patterns, forms, types, steps against plain sums on the host, bits of repeated runs and plans. small: few of
 * them, for compute-sanitizer. bench: times, beside cuSPARSE's on the expanded matrix (symv_half_bench.cu).
 */
#include "symv_half_support.h"

#include <chrono>

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    if (what != "check" && what != "small" && what != "bench") {
        printf("usage: symv_half_gpu check|small [SEED] | bench [f32|f64 MATRIX M WINDOW...]\n");
        return 2;
    }
    int device = 0;
    CUDA(cudaGetDevice(&device));
    CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (what == "bench") return bench(argc - 2, argv + 2);
    const auto begin = std::chrono::steady_clock::now();
    check_all(what == "small", argc > 2 ? strtoull(argv[2], nullptr, 0) : 1);
    if (live != 0) printf("%lld blocks are left\n", (long long)live);
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    printf("%s: %d cases, %d failures, %.1f s\n", what.c_str(), cases, failures, s);
    return failures != 0 || live != 0;
}
