/* SPDX-License-Identifier: Apache-2.0
 *
 * The border of a slab as a small system of its own (a strip): as many rows of the last axis as the halo is deep,
 * with as many of the slab and of its neighbour around them. It takes the steps of an exchange ahead of its slab, so
 * that its rows are on their way while the slab takes them. gpu_several*.cu and gpu_part*.cu have strips.
 */
#ifndef LACIS_SWEEP_GPU_STRIP_H
#define LACIS_SWEEP_GPU_STRIP_H

#include "sweep/gpu_inside.h"
#include "sweep/parts.h"

namespace sweep
{

/* A stream of borders: what waits on it begins before what waits on others, which would be a whole grid otherwise. */
static inline cudaError_t border_stream(cudaStream_t *out)
{
    const int most_urgent = -100; /* CUDA takes the most urgent that there is */
    return cudaStreamCreateWithPriority(out, cudaStreamNonBlocking, most_urgent);
}

/* Whole rows of the last axis (cells, rows or planes), with the ghosts in them, which lie in one piece. */
struct Rows {
    char *at;
    size_t bytes;
};
/* Rows first .. first + count - 1 of field f's level (level < 0: of coefficient f). */
Rows rows_of(const lacis_sweep_gpu *s, int axis, int level, int f, int64_t first, int64_t count);

/* The start of part k's strip at that side, of the part's own start: arrays of the slab have its rows in one piece
 * (NULL: where bytes alone are asked for). */
void strip_start(const lacis_sweep_gpu_start *part, const lacis_sweep_cut *cut, int k, int side,
                 lacis_sweep_gpu_start *out);

/* Whether all parts can have strips, on which all must agree: they are cut along the last axis alone, and each is
 * twice as thick as its halo. */
bool strips_fit(const lacis_sweep_cut *cut);

/* What part k's strips take on its device. part: its start, whose arrays are not looked at. */
uint64_t strips_bytes(const lacis_sweep_start *part, const lacis_sweep_cut *cut, int k);

} // namespace sweep

#endif
