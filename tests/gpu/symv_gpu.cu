/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of SYMV on a real GPU: symv_gpu check|small [tiles|ring|batch|tickets] [SEED], bench|bench-ring|bench-batch
 * [...], stress [...].
 *
 * check: every family, type, storage and order against a double-double reference on the host, the canonical order
 * against the CPU's kernels. small: few of them, for compute-sanitizer. bench: times, beside cuBLAS where that is
 * found (symv_tiles_bench.cu). stress: very many launches of TICKETS.
 */
#include "symv_families.h"
#include "symv_tiles.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

static int usage()
{
    printf("usage: symv_gpu check|small [tiles|ring|batch|tickets] [SEED] | bench|bench-ring|bench-batch|stress "
           "[...]\n");
    return 2;
}

static int check(bool small, const std::string &only, uint64_t seed)
{
    const bool all = only.empty();
    const auto begin = std::chrono::steady_clock::now();
    if (all || only == "tiles") check_tiles(small, seed);
    if (all || only == "ring") check_ring(small);
    if (all || only == "batch") check_batch(small);
    if (all || only == "tickets") check_tickets(small);
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    printf("%s %s: %d cases, %d failures, %.1f s\n", small ? "small" : "check", all ? "all" : only.c_str(),
           symv_checks, failures, s);
    return failures != 0;
}

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "", word = argc > 2 ? argv[2] : "";
    const bool part = word == "tiles" || word == "ring" || word == "batch" || word == "tickets";
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (what == "check" || what == "small")
        return check(what == "small", part ? word : "", argc > 2 + part ? strtoull(argv[2 + part], nullptr, 0) : 1);
    if (what == "bench") return bench_tiles(argc - 2, argv + 2);
    if (what == "bench-ring") return bench_ring(argc - 2, argv + 2);
    if (what == "bench-batch") return bench_batch(argc - 2, argv + 2);
    if (what == "stress") return stress_tickets(argc - 2, argv + 2);
    return usage();
}
