/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of SYMV on a real GPU: symv_gpu check|small [tiles|ring|batch|tickets [TYPE]] [SEED],
 * bench|bench-ring|bench-batch [...], stress [...]. TYPE: f32, f64 .. of ring, batch and tickets.
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

/* LACIS_SYMV_TYPES: none is called so. */
static lacis_symv_type symv_type_named(const std::string &name)
{
    static const char *const names[LACIS_SYMV_TYPES] = {"f32", "f64",     "c64",    "c128",  "dd",
                                                        "cdd", "f32_f64", "f32_dd", "f64_dd"};
    int type = 0;
    while (type < LACIS_SYMV_TYPES && name != names[type])
        type++;
    return (lacis_symv_type)type;
}

static int usage()
{
    printf("usage: symv_gpu check|small [tiles|ring|batch|tickets [TYPE]] [SEED] | "
           "bench|bench-ring|bench-batch|stress [...]\n");
    return 2;
}

static int check(bool small, const std::string &only, lacis_symv_type type, uint64_t seed)
{
    const bool all = only.empty();
    const auto begin = std::chrono::steady_clock::now();
    if (all || only == "tiles") check_tiles(small, seed);
    if (all || only == "ring") check_ring(small, type);
    if (all || only == "batch") check_batch(small, type);
    if (all || only == "tickets") check_tickets(small, type);
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
    if (what == "check" || what == "small") {
        const lacis_symv_type type = part && argc > 3 ? symv_type_named(argv[3]) : LACIS_SYMV_TYPES;
        const int at = 2 + part + (type != LACIS_SYMV_TYPES);
        return check(what == "small", part ? word : "", type, argc > at ? strtoull(argv[at], nullptr, 0) : 1);
    }
    if (what == "bench") return bench_tiles(argc - 2, argv + 2);
    if (what == "bench-ring") return bench_ring(argc - 2, argv + 2);
    if (what == "bench-batch") return bench_batch(argc - 2, argv + 2);
    if (what == "stress") return stress_tickets(argc - 2, argv + 2);
    return usage();
}
