/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of the kernels on chip, for any type. Included by gpu_chip_*.cu.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_CHIP_LAUNCH_CUH
#define LACIS_KERNELS_SOLVE_GPU_CHIP_LAUNCH_CUH

#include "common/gpu_shared.h"
#include "solve/gpu_chain.h"
#include "solve/gpu_chain_factored.cuh"

template <int TYPE> static int chip_image()
{
    return image_bytes<typename solve_of<TYPE>::S>(SEGMENT * solve_of<TYPE>::K);
}

template <int TYPE> static uint64_t chip_bytes(solve_gpu_lie lie, const solve_gpu_cut *cut)
{
    if (lie == SOLVE_GPU_BESIDE) return beside_bytes<TYPE>(cut->chunks, cut->lanes);
    return (uint64_t)cut->warps * behind<TYPE, true>::IMAGES * (uint64_t)chip_image<TYPE>(); /* at most */
}

/* More shared memory than a block has without asking. */
static cudaError_t ask_for_bytes(const void *kernel, uint64_t bytes)
{
    return bytes <= 48 << 10 ? cudaSuccess : lacis_gpu_all_shared(kernel);
}

/* As many blocks as the device holds at once. */
static cudaError_t blocks_that_stay(const void *kernel, int threads, uint64_t bytes, int64_t *out)
{
    int device = 0, multiprocessors = 0, each = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, bytes);
    *out = (int64_t)multiprocessors * (each > 0 ? each : 1);
    return error;
}

static cudaError_t launch_clusters(void (*kernel)(chip_job), const chip_job &job, int64_t blocks, int threads,
                                   uint64_t bytes, cudaStream_t stream)
{
    chip_job own = job;
    void *arguments[] = {&own};
    const solve_gpu_start_at at = {dim3((unsigned)blocks), (unsigned)threads, (unsigned)job.blocks, bytes, stream};
    const cudaError_t error = ask_for_bytes((const void *)kernel, bytes);
    return error != cudaSuccess ? error : solve_gpu_start(&at, (const void *)kernel, arguments);
}

template <int TYPE, bool SOME> static void (*behind_function(const solve_gpu_cut *cut))(chip_job)
{
    if (!cut->segments) return behind_kernel<TYPE, SOME>;
    return cut->blocks > 1 ? behind_segments_kernel<TYPE, SOME, true> : behind_segments_kernel<TYPE, SOME, false>;
}

template <int TYPE, bool SOME, bool WIDE> static void (*beside_function(const solve_gpu_cut *cut))(chip_job)
{
    if (!cut->segments) return beside_kernel<TYPE, SOME, WIDE, false, false>;
    return cut->blocks > 1 ? beside_kernel<TYPE, SOME, WIDE, true, true>
                           : beside_kernel<TYPE, SOME, WIDE, true, false>;
}

template <int TYPE> static cudaError_t chip_launch(const solve_gpu_launch *l, const solve_gpu_cut *cut)
{
    chip_job job = {l->groups, l->fields, l->flags, cut->blocks, chip_image<TYPE>(), cut->lanes, cut->chunks};
    uint64_t bytes = 0;
    const int64_t tasks = l->groups.tasks;
    bool some = false;
    for (int field = 0; field < SOLVE_GPU_FIELDS; field++)
        some = some || l->fields.shared[field];
    if (l->lie == SOLVE_GPU_BESIDE) {
        bytes = beside_bytes<TYPE>(cut->chunks, cut->lanes);
        return launch_clusters(some      ? beside_function<TYPE, true, false>(cut)
                               : l->wide ? beside_function<TYPE, false, true>(cut)
                                         : beside_function<TYPE, false, false>(cut),
                               job, tasks * cut->blocks,
                               beside_threads(cut->chunks, cut->lanes, beside_bounds<TYPE>::CHUNKS), bytes,
                               l->stream);
    }
    if (!cut->segments) job.image = image_bytes<typename solve_of<TYPE>::S>((int)l->elements);
    const int images = some ? (int)behind<TYPE, true>::IMAGES : (int)behind<TYPE, false>::IMAGES;
    bytes = (uint64_t)cut->warps * (uint64_t)images * (uint64_t)job.image;
    const int64_t blocks = cut->segments ? tasks * cut->blocks : (tasks + cut->warps - 1) / cut->warps;
    return launch_clusters(some ? behind_function<TYPE, true>(cut) : behind_function<TYPE, false>(cut), job, blocks,
                           32 * cut->warps, bytes, l->stream);
}

/* With the chunks that a cut asks for. */
template <int TYPE> static uint64_t chip_bytes_of_cut(solve_gpu_lie lie, const solve_gpu_cut *cut)
{
    return cut->chunk_rows == solve_of<TYPE>::K ? chip_bytes<TYPE>(lie, cut)
                                                : chip_bytes<TYPE + SOLVE_LONG>(lie, cut);
}
template <int TYPE> static cudaError_t chip_launch_of_cut(const solve_gpu_launch *l, const solve_gpu_cut *cut)
{
    return cut->chunk_rows == solve_of<TYPE>::K ? chip_launch<TYPE>(l, cut) : chip_launch<TYPE + SOLVE_LONG>(l, cut);
}

static cudaError_t launch_stay(void (*kernel)(factored_job), const factored_job &job, int threads, uint64_t bytes,
                               cudaStream_t stream)
{
    factored_job own = job;
    void *arguments[] = {&own};
    solve_gpu_start_at at = {dim3(1), (unsigned)threads, 1, bytes, stream};
    int64_t blocks;
    cudaError_t error = ask_for_bytes((const void *)kernel, bytes);
    if (error == cudaSuccess) error = blocks_that_stay((const void *)kernel, threads, bytes, &blocks);
    if (error != cudaSuccess) return error;
    at.grid.x = (unsigned)(job.chip.groups.tasks < blocks ? job.chip.groups.tasks : blocks);
    return solve_gpu_start(&at, (const void *)kernel, arguments);
}

template <int TYPE>
static cudaError_t factored_launch(const solve_gpu_launch *l, const solve_gpu_cut *cut, void *factors)
{
    const uint64_t head = (sizeof(factors_of<TYPE>) + 15) / 16 * 16;
    const int image = image_bytes<typename solve_of<TYPE>::S>(factored_lanes<TYPE>() * SEGMENT * solve_of<TYPE>::K);
    factored_job job = {{l->groups, l->fields, l->flags, 1, image, cut->lanes, cut->chunks}, factors};
    void *arguments[] = {&job};
    const solve_gpu_start_at at = {dim3((unsigned)l->groups.count), 32, 1, 0, l->stream};
    const cudaError_t error = solve_gpu_start(&at, (const void *)factor_kernel<TYPE>, arguments);
    if (error != cudaSuccess) return error;
    if (l->lie == SOLVE_GPU_BEHIND)
        return launch_stay(behind_factored_kernel<TYPE>, job, 32 * FACTORED_WARPS,
                           head + FACTORED_WARPS * (uint64_t)job.chip.image, l->stream);
    return launch_stay(beside_factored_kernel<TYPE>, job,
                       beside_threads(cut->chunks, cut->lanes, beside_bounds<TYPE>::CHUNKS),
                       beside_factored_bytes<TYPE>(cut->chunks, cut->lanes), l->stream);
}

template <int TYPE>
static cudaError_t factored_launch_of_cut(const solve_gpu_launch *l, const solve_gpu_cut *cut, void *factors)
{
    return cut->chunk_rows == solve_of<TYPE>::K ? factored_launch<TYPE>(l, cut, factors)
                                                : factored_launch<TYPE + SOLVE_LONG>(l, cut, factors);
}

#endif
