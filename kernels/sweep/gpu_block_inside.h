/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels blocked in time that there are, as gpu_block.cu chooses among them and tests/gpu/sweep_block_gpu tries
 * them one by one.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_INSIDE_H
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_INSIDE_H

#include "sweep/gpu_block.h"

namespace sweep
{
namespace block
{

/* A rule as kernels know it: which groups stand beside the cross (CENTRE, CORNERS), and the numbers. */
struct Shape {
    int groups;
    double constant, centre, cross, corners;
};
/* False: of no form that kernels here have. */
bool shape_of(const lacis_sweep_block *block, Shape *shape);

struct Variant {
    const char *name;
    lacis_sweep_type type;
    int dims, groups, levels;
    int least[2]; /* columns and rows that a grid must have */
    int shared;   /* bytes that a block has to be allowed */
    bool open;    /* for VALUES too, which lie beyond the faces in memory; narrow grids */
    const void *kernel;
    cudaError_t (*pass)(const lacis_sweep_block *block, const Shape *shape, const void *in, void *out,
                        cudaStream_t stream);
};
/* Whether the grid is one for this kernel, wide enough for its strips, and the device has the memory. */
bool fits(const Variant *variant, const lacis_sweep_block *block);

/* Of all there are; NULL behind the last. */
const Variant *variant(int number);

/* In gpu_block_plane_*.cu, gpu_block_space.cu, gpu_block_open_*.cu. */
extern const Variant plane_f32[], plane_f64[], space[], open_f32[], open_f64[], open_space[];
extern const int plane_f32_count, plane_f64_count, space_count, open_f32_count, open_f64_count, open_space_count;

} // namespace block
} // namespace sweep

#endif
