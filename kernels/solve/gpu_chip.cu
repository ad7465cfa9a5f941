/* SPDX-License-Identifier: Apache-2.0
 *
 * How blocks on chip are cut for chains of a length, and which type's kernels are launched. Called from gpu_chain.cu.
 */
#include "solve/gpu_chain.h"
#include "solve/gpu_chain_factored.cuh"

enum { CLUSTER_MOST = 8, ROW_BYTES = 128, LEAST_THREADS = 64 };

static int short_chunk(lacis_solve_type type)
{
    return type == LACIS_SOLVE_C128 ? (int)solve_of<LACIS_SOLVE_C128>::K : (int)solve_of<LACIS_SOLVE_F64>::K;
}

int64_t solve_gpu_chip_longest(lacis_solve_type type)
{
    return SEGMENT * SEGMENT * short_chunk(type);
}

/* Rows of segments that hold a chain. */
static int64_t rows_of_segments(int64_t rows, int chunk)
{
    const int64_t segment = SEGMENT * chunk;
    return (rows + segment - 1) / segment * segment;
}

/* Long chunks where they spare segments and not many more rows are empty (by what an H200 took, in both layouts); of
 * f32 also where two chains fit side by side into a warp instead of one. By the length and the type alone, as the
 * bits are. */
static int chunk_rows(lacis_solve_type type, int64_t rows)
{
    const int small = short_chunk(type), large = solve_of<LACIS_SOLVE_F64 + SOLVE_LONG>::K, half = SEGMENT / 2;
    const double filled = 1.05;
    if (type != LACIS_SOLVE_F64 && type != LACIS_SOLVE_F32) return small;
    if (rows <= SEGMENT * small)
        return type == LACIS_SOLVE_F32 && rows > half * small && rows <= half * large ? large : small;
    return (double)rows_of_segments(rows, large) <= filled * (double)rows_of_segments(rows, small) ? large : small;
}

static bool is_long_f64(lacis_solve_type type, int chunk)
{
    return type == LACIS_SOLVE_F64 && chunk == (int)solve_of<LACIS_SOLVE_F64 + SOLVE_LONG>::K;
}

static solve_gpu_cut cut_behind(lacis_solve_type type, int chunk, int segments)
{
    const int most =
        is_long_f64(type, chunk) ? segment_warps<LACIS_SOLVE_F64 + SOLVE_LONG>() : segment_warps<LACIS_SOLVE_F64>();
    solve_gpu_cut cut = {1, BEHIND_WARPS, 0, 0, chunk, segments > 1};
    if (segments == 1) return cut;
    cut.blocks = (segments + most - 1) / most;
    cut.warps = (segments + cut.blocks - 1) / cut.blocks;
    return cut;
}

/* As many lanes beside one another as a row of 128 bytes has, fewer where a cluster could not hold the chain. Short
 * chains: more, to have a block of some size. */
static solve_gpu_cut cut_beside(lacis_solve_type type, int chunk, int chunks, int segments)
{
    const int each = is_long_f64(type, chunk) ? (int)beside_bounds<LACIS_SOLVE_F64 + SOLVE_LONG>::CHUNKS
                                              : (int)beside_bounds<LACIS_SOLVE_F64>::CHUNKS;
    const int lanes = ROW_BYTES / lacis_solve_bytes(type);
    solve_gpu_cut cut = {1, 0, lanes, (chunks + each - 1) / each * each, chunk, segments > 1};
    if (segments == 1) {
        while (beside_threads(cut.chunks, cut.lanes, each) < LEAST_THREADS)
            cut.lanes *= 2;
        return cut;
    }
    const int half = BESIDE_THREADS / 2, whole = lacis_solve_bytes(type) > 8 ? half : BESIDE_THREADS;
    int most = 0;             /* segments of a block */
    for (;; cut.lanes /= 2) { /* two small blocks of a multiprocessor hide more than one */
        most = half * each / (SEGMENT * cut.lanes);
        if (most * CLUSTER_MOST >= segments) break;
        most = whole * each / (SEGMENT * cut.lanes);
        if (most * CLUSTER_MOST >= segments) break;
    }
    cut.blocks = (segments + most - 1) / most;
    cut.chunks = (segments + cut.blocks - 1) / cut.blocks * SEGMENT;
    return cut;
}

solve_gpu_cut solve_gpu_chip_cut(lacis_solve_type type, solve_gpu_lie lie, int64_t rows)
{
    const int k = chunk_rows(type, rows), chunks = (int)((rows + k - 1) / k);
    const int segments = (chunks + SEGMENT - 1) / SEGMENT;
    return lie == SOLVE_GPU_BEHIND ? cut_behind(type, k, segments) : cut_beside(type, k, chunks, segments);
}

int64_t solve_gpu_chip_elements(const solve_gpu_cut *cut, int64_t rows)
{
    return cut->segments ? SEGMENT * cut->chunk_rows
                         : SEGMENT / ((rows + cut->chunk_rows - 1) / cut->chunk_rows) * rows;
}

int64_t solve_gpu_chip_tasks(solve_gpu_lie lie, const solve_gpu_cut *cut, int64_t rows, int64_t lanes)
{
    const int k = cut->chunk_rows;
    const int64_t chains = cut->segments ? 1 : SEGMENT / ((rows + k - 1) / k),
                  each = lie == SOLVE_GPU_BESIDE ? cut->lanes : chains;
    return (lanes + each - 1) / each;
}

static uint64_t bytes_of(lacis_solve_type type, solve_gpu_lie lie, const solve_gpu_cut *cut)
{
    switch (type) {
    case LACIS_SOLVE_F64:
        return solve_gpu_chip_bytes_f64(lie, cut);
    case LACIS_SOLVE_F32:
        return solve_gpu_chip_bytes_f32(lie, cut);
    case LACIS_SOLVE_MIXED:
        return solve_gpu_chip_bytes_mixed(lie, cut);
    case LACIS_SOLVE_C128:
    case LACIS_SOLVE_TYPES:
        break;
    }
    return solve_gpu_chip_bytes_c128(lie, cut);
}

cudaError_t solve_gpu_device_at_hand(solve_gpu_device *out)
{
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&out->major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&out->shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    return error;
}

bool solve_gpu_chip_fits(const solve_gpu_device *device, lacis_solve_type type, int64_t rows)
{
    const uint64_t fixed = 1024; /* beside what a launch asks for */
    if (rows > solve_gpu_chip_longest(type)) return false;
    for (int lie = SOLVE_GPU_BEHIND; lie <= SOLVE_GPU_BESIDE; lie++) {
        const solve_gpu_cut cut = solve_gpu_chip_cut(type, (solve_gpu_lie)lie, rows);
        if (cut.blocks > 1 && device->major < 9) return false;
        if (bytes_of(type, (solve_gpu_lie)lie, &cut) + fixed > (uint64_t)device->shared_bytes) return false;
    }
    return true;
}

cudaError_t solve_gpu_chip(const solve_gpu_launch *launch, const solve_gpu_cut *cut)
{
    switch (launch->type) {
    case LACIS_SOLVE_F64:
        return solve_gpu_chip_f64(launch, cut);
    case LACIS_SOLVE_F32:
        return solve_gpu_chip_f32(launch, cut);
    case LACIS_SOLVE_MIXED:
        return solve_gpu_chip_mixed(launch, cut);
    case LACIS_SOLVE_C128:
    case LACIS_SOLVE_TYPES:
        break;
    }
    return solve_gpu_chip_c128(launch, cut);
}

int64_t solve_gpu_factored_tasks(solve_gpu_lie lie, const solve_gpu_cut *cut, int64_t rows, int64_t lanes)
{
    const int64_t warps = solve_gpu_chip_tasks(lie, cut, rows, lanes);
    return lie == SOLVE_GPU_BESIDE ? warps : (warps + FACTORED_WARPS - 1) / FACTORED_WARPS;
}

uint64_t solve_gpu_factors_bytes(lacis_solve_type type)
{
    switch (type) {
    case LACIS_SOLVE_F64:
        return solve_gpu_factors_bytes_f64();
    case LACIS_SOLVE_F32:
        return solve_gpu_factors_bytes_f32();
    case LACIS_SOLVE_MIXED:
        return solve_gpu_factors_bytes_mixed();
    case LACIS_SOLVE_C128:
    case LACIS_SOLVE_TYPES:
        break;
    }
    return solve_gpu_factors_bytes_c128();
}

cudaError_t solve_gpu_factored(const solve_gpu_launch *launch, const solve_gpu_cut *cut, void *factors)
{
    switch (launch->type) {
    case LACIS_SOLVE_F64:
        return solve_gpu_factored_f64(launch, cut, factors);
    case LACIS_SOLVE_F32:
        return solve_gpu_factored_f32(launch, cut, factors);
    case LACIS_SOLVE_MIXED:
        return solve_gpu_factored_mixed(launch, cut, factors);
    case LACIS_SOLVE_C128:
    case LACIS_SOLVE_TYPES:
        break;
    }
    return solve_gpu_factored_c128(launch, cut, factors);
}
