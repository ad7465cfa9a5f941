/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the GPU kernels of MULTIPLY against a plain reference, and times them against cuSPARSE.
 *
 *     multiply_gpu check [SEED]            random shapes, all types and operators, every class forced
 *     multiply_gpu small [TYPE...]         a few small cases, of all types or of types 0 .. 3: for compute-sanitizer
 *     multiply_gpu tiny                    fewer and smaller ones: for tests/emulate
 *     multiply_gpu heavy                   only hub rows, dense blocks and TOP
 *     multiply_gpu masks                   only a few small ones of MASK
 *     multiply_gpu having [SEED]           only HAVING that compares, with TOP and MASK
 *     multiply_gpu block [SEED]            a few SMALL rows, sorted and hashed
 *     multiply_gpu room [SEED]             only counted rows and samples, small ones
 *     multiply_gpu parts [SEED]            only hub rows whose parts stay apart
 *     multiply_gpu inside [SEED]           only HAVING within written kernels, compiled by nvcc
 *     multiply_gpu bench GRAPH...          rmat:S (labels permuted), rmat-raw:S, uniform:S, star:N, hub:N, dense:N
 *     multiply_gpu written [SEED [NAME]]   written CON, AGG and HAVING through NVRTC, every class forced
 *     multiply_gpu bench-written GRAPH...  their times
 *     multiply_gpu cusparse GRAPH...       the same product by cuSPARSE
 *     multiply_gpu one GRAPH...            products of one row
 *     multiply_gpu profile GRAPH...        the product in f32 three times: for profilers
 *
 * Exit code 0: every comparison agreed; 2: wrong usage. Built alone by nvcc -std=c++17 -I kernels from
 * tests/gpu/multiply_*.cu, kernels/multiply/gpu_*.cu and the text that cmake/embed.cmake makes of gpu_written.cuh;
 * with -DWITH_CUSPARSE and -lcusparse it has the peer; with -DWITH_NVRTC, -lnvrtc and the text of
 * engine/expr/functions.cuh what is written. multiply_support.h says what each file has.
 */
#include "multiply_support.h"

#include <chrono>
#include <cstdlib>
#include <string>

static void bench_nine(const char *name)
{
    bench(name, 9);
}

static void profile(const char *name)
{
    run_graph(name, 3);
}

/* Modes for graphs. */
static const struct {
    const char *name;
    void (*run)(const char *graph);
} graph_modes[] = {
    {"bench", bench_nine},
    {"one", bench_one},
    {"profile", profile},
#ifdef WITH_NVRTC
    {"bench-written", bench_written},
#endif
#ifdef WITH_CUSPARSE
    {"cusparse", bench_cusparse},
#endif
};

static bool known(const std::string &what)
{
    for (const auto &mode : graph_modes)
        if (what == mode.name) return true;
#ifdef WITH_NVRTC
    if (what == "written") return true;
#endif
    return what == "check" || what == "heavy" || what == "masks" || what == "having" || what == "inside" ||
           what == "block" || what == "room" || what == "parts" || what == "small" || what == "tiny";
}

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "check";
    if (!known(what)) {
        fprintf(stderr, "multiply_gpu: there is no mode \"%s\" in this build\n", what.c_str());
        return 2;
    }
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&side[0], cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&side[1], cudaStreamNonBlocking));
    CUDA(cudaMallocHost(&pinned, LACIS_MUL_GPU_PINNED_BYTES));
    cudaMemPool_t pool;
    u64 keep = UINT64_MAX;
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    const auto t0 = std::chrono::steady_clock::now();
    if (what == "check") {
        const u64 seed = argc > 2 ? strtoull(argv[2], nullptr, 0) : 1;
        check_random(seed, 60, 20000);
        check_flat(seed, 12, 700);
        check_few(seed, 4, 20000);
        check_wide(seed);
        check_faults();
        check_overflow();
        check_masks(seed, 300, 3000, false);
        check_having(seed, 300, 3000, false);
        check_inside(seed, 300, 3000);
        check_small(seed, false);
        check_heavy();
        check_tops(5, 60, 20000);
        check_room(seed, false);
        check_parts(seed, false);
    } else if (what == "heavy") {
        check_heavy();
        check_tops(5, 60, 20000);
    } else if (what == "masks") {
        check_masks(3, 12, 700, true);
    } else if (what == "having") {
        check_having(argc > 2 ? strtoull(argv[2], nullptr, 0) : 1, 12, 700, true);
    } else if (what == "block") {
        check_small(argc > 2 ? strtoull(argv[2], nullptr, 0) : 1, true);
    } else if (what == "room") {
        check_room(argc > 2 ? strtoull(argv[2], nullptr, 0) : 1, true);
    } else if (what == "parts") {
        check_parts(argc > 2 ? strtoull(argv[2], nullptr, 0) : 1, true);
    } else if (what == "inside") {
        check_inside(argc > 2 ? strtoull(argv[2], nullptr, 0) : 1, 40, 700);
#ifdef WITH_NVRTC
    } else if (what == "written") {
        check_written(argc > 2 ? strtoull(argv[2], nullptr, 0) : 1, argc > 3 ? argv[3] : nullptr);
#endif
    } else if (what == "small") {
        for (int i = 2; i < argc; i++)
            only_types |= 1U << (atoi(argv[i]) & 31);
        check_random(3, 6, 200);
        check_flat(3, 4, 60);
        check_few(3, 1, 20000);
        check_masks(3, 30, 700, true);
        check_having(3, 30, 700, true);
        check_inside(3, 40, 700);
        check_small(3, true);
        check_room(3, true);
        check_parts(3, true);
    } else if (what == "tiny") {
        check_random(3, 5, 70);
        check_flat(3, 2, 40);
        check_few(3, 1, 2100);
        check_masks(3, 12, 700, true);
        check_having(3, 12, 700, true);
        check_tops(3, 8, 9000);
        check_inside(3, 12, 300);
        check_small(3, true);
        check_room(3, true);
        check_parts(3, true);
    } else {
        for (const auto &mode : graph_modes)
            for (int i = 2; i < argc && what == mode.name; i++)
                mode.run(argv[i]);
    }
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    printf("%s: %d cases, %d failures, %.1f s\n", what.c_str(), cases, failures, s);
    return failures != 0;
}
