/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of solve_gpu.cu share: solve_chain_*.cu for chains, solve_tree_*.cu for trees.
 */
#ifndef LACIS_TESTS_GPU_SOLVE_SUPPORT_H
#define LACIS_TESTS_GPU_SOLVE_SUPPORT_H

#include "solve/gpu.h"
#include "support.h"

#include <algorithm>

/* --- solve_device.cu ------------------------------------------------------------------------------------ */

extern void *pinned;
extern int64_t live;             /* blocks that jobs hold */
extern int64_t fail_at, allocs;  /* which allocation fails; allocations so far */
extern uint64_t held, most_held; /* bytes that jobs hold, and the most of it */
extern int cases;
void *device_alloc(void *, uint64_t bytes);
void device_free(void *, void *block);
void expect(bool good, const char *format, ...); /* counts cases and failures; says what failed */
double uniform(uint64_t *state);                 /* [0, 1) */

template <class T> T *upload(const std::vector<T> &v)
{
    T *to;
    CUDA(cudaMalloc(&to, v.size() * sizeof(T) + 1));
    CUDA(cudaMemcpy(to, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    CUDA(cudaStreamSynchronize(nullptr)); /* the last few kilobytes may be on their way still, beside our stream */
    return to;
}

double median(std::vector<double> v);

/* Median milliseconds of `call` on `stream`: `repeats` times, each as long as `each` calls in a row, divided. */
template <class F> double median_ms(int repeats, int each, F call)
{
    cudaEvent_t begin, end;
    std::vector<double> all;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    call();
    for (int i = 0; i < repeats; i++) {
        float ms = 0;
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaEventRecord(begin, stream));
        for (int j = 0; j < each; j++)
            call();
        CUDA(cudaEventRecord(end, stream));
        CUDA(cudaEventSynchronize(end));
        CUDA(cudaEventElapsedTime(&ms, begin, end));
        all.push_back(ms / each);
    }
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
    return median(all);
}

/* --- what main calls: one function each of solve_chain_*.cu and solve_tree_*.cu --------------------------- */

void check_chains(bool small, uint64_t seed);
void check_trees(bool small, uint64_t seed);
int bench_chains(int argc, char **argv); /* arguments behind "bench" */
int bench_trees(int argc, char **argv);  /* arguments behind "bench-trees" */
int bench_grid(int argc, char **argv);   /* arguments behind "bench grid" */

/* Milliseconds that all processors take for a job of the device, median of `repeats`; < 0: it failed. bytes: of
 * lower, diagonal, upper, rhs and x. No parents: chains. (solve_cpu_bench.cu) */
double cpu_ms(const lacis_solve_job &there, const std::vector<int32_t> &parent, const size_t *bytes, int repeats);

#endif
