/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of SYMV on a real GPU: symv_gpu check | small [SEED], bench [...].
 *
 * check: every family, type, storage and order against a double-double reference on the host, the canonical order
 * against the CPU's kernels. small: few of them, for compute-sanitizer. bench: times, beside cuBLAS where that is
 * found (symv_tiles_bench.cu).
 */
#include "symv_tiles.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    if (what != "check" && what != "small" && what != "bench") {
        printf("usage: symv_gpu check|small [SEED] | bench [...]\n");
        return 2;
    }
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    SYMV_CUDA(cudaStreamCreateWithFlags(&symv_stream, cudaStreamNonBlocking));
    SYMV_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    SYMV_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (what == "bench") return bench_tiles(argc - 2, argv + 2);
    const auto begin = std::chrono::steady_clock::now();
    check_tiles(what == "small", argc > 2 ? strtoull(argv[2], nullptr, 0) : 1);
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    printf("%s: %d cases, %d failures, %.1f s\n", what.c_str(), symv_checks, symv_failures, s);
    return symv_failures != 0;
}
