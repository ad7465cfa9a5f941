/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of SOLVE on a real GPU: solve_gpu check | small [chains|trees] [SEED], bench ..., bench-trees ...
 *
 * check: every way, type, layout and kind of bad lane against plain loops on the host. small: few of them, for
 * compute-sanitizer. bench: times, beside cuSPARSE's where that is found (solve_chain_bench.cu).
 */
#include "solve_support.h"

#include <chrono>
#include <string>

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    const std::string only = argc > 2 ? argv[2] : "";
    const bool part = only == "chains" || only == "trees";
    const uint64_t seed = argc > 2 + part ? strtoull(argv[2 + part], nullptr, 0) : 1;
    if (what != "check" && what != "small" && what != "bench" && what != "bench-trees") {
        printf("usage: solve_gpu check|small [chains|trees] [SEED] | bench [...] | bench-trees [...]\n");
        return 2;
    }
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMallocHost(&pinned, LACIS_SOLVE_GPU_PINNED_BYTES));
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (what == "bench") return bench_chains(argc - 2, argv + 2);
    if (what == "bench-trees") return bench_trees(argc - 2, argv + 2);
    const auto begin = std::chrono::steady_clock::now();
    if (only != "trees") check_chains(what == "small", seed);
    if (only != "chains") check_trees(what == "small", seed);
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    expect(live == 0, "%lld blocks are left", (long long)live);
    printf("%s %s: %d cases, %d failures, %.1f s\n", what.c_str(), part ? only.c_str() : "all", cases, failures, s);
    return failures != 0;
}
