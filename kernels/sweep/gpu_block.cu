/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes of several steps: which rules and grids they are for, and which kernel does the next one.
 */
#include "sweep/gpu_block_cells.cuh"
#include "sweep/gpu_block_inside.h"

using namespace sweep::block;

namespace sweep
{
namespace block
{

static bool at(const lacis_sweep_tap &tap, int x, int y, int z)
{
    return tap.array == 0 && tap.at[0] == x && tap.at[1] == y && tap.at[2] == z;
}
/* Two taps in any order. */
static bool are(const lacis_sweep_tap *tap, int x0, int y0, int z0, int x1, int y1, int z1)
{
    return (at(tap[0], x0, y0, z0) && at(tap[1], x1, y1, z1)) || (at(tap[0], x1, y1, z1) && at(tap[1], x0, y0, z0));
}
/* The nearest cells, added along x, along y, along z; a sum of two may change its sides, not more. */
static bool is_cross(const lacis_sweep_tap *tap, int taps, int dims)
{
    if (taps != 2 * dims || dims < 2) return false;
    const bool x_first = are(tap, -1, 0, 0, 1, 0, 0) && are(tap + 2, 0, -1, 0, 0, 1, 0);
    const bool y_first = are(tap, 0, -1, 0, 0, 1, 0) && are(tap + 2, -1, 0, 0, 1, 0, 0);
    return (x_first || y_first) && (dims == 2 || are(tap + 4, 0, 0, -1, 0, 0, 1));
}
/* By rows. */
static bool is_corners(const lacis_sweep_tap *tap, int taps)
{
    return taps == 4 && ((are(tap, -1, -1, 0, 1, -1, 0) && are(tap + 2, -1, 1, 0, 1, 1, 0)) ||
                         (are(tap, -1, 1, 0, 1, 1, 0) && are(tap + 2, -1, -1, 0, 1, -1, 0)));
}

bool shape_of(const lacis_sweep_block *block, Shape *shape)
{
    const lacis_sweep_rule *rule = block->rule;
    const lacis_sweep_linear *linear = &rule->linear;
    if (rule->written) return false;
    *shape = {};
    int g = 0;
    if (g < linear->groups && linear->first[g + 1] - linear->first[g] == 1 &&
        at(rule->tap[linear->first[g]], 0, 0, 0)) {
        shape->groups |= CENTRE;
        shape->centre = linear->weight[g++];
    }
    if (g == linear->groups ||
        !is_cross(rule->tap + linear->first[g], linear->first[g + 1] - linear->first[g], block->dims))
        return false;
    shape->cross = linear->weight[g++];
    if (g < linear->groups && block->dims == 2 &&
        is_corners(rule->tap + linear->first[g], linear->first[g + 1] - linear->first[g])) {
        shape->groups |= CORNERS;
        shape->corners = linear->weight[g++];
    }
    const double constant = block->type == LACIS_SWEEP_F32 ? (double)(float)linear->constant : linear->constant;
    shape->constant = constant == 0 ? -0.0 : constant;
    return g == linear->groups;
}

/* Whether ghosts are what kernels here make of them. Beyond a corner they continue along y first: it is the same but
 * where both continue by sums. */
static bool edges_fit(const lacis_sweep_block *block, int groups)
{
    bool sums[3] = {};
    for (int face = 0; face < 2 * block->dims; face++) {
        const lacis_sweep_edge_kind kind = block->edge[face].kind;
        if (kind == LACIS_SWEEP_VALUES) return false;
        if ((kind == LACIS_SWEEP_PERIODIC) != (block->edge[face ^ 1].kind == LACIS_SWEEP_PERIODIC)) return false;
        sums[face / 2] |= kind == LACIS_SWEEP_AFFINE;
    }
    return !(groups & CORNERS) || !sums[0] || !sums[1];
}

bool fits(const Variant *variant, const lacis_sweep_block *block)
{
    /* Numbers of rows and columns, and some more, are ints in kernels; so are a row's bytes of a strip. */
    const int64_t most = INT32_MAX / 2;
    return variant->type == block->type && variant->dims == block->dims && block->extent[0] >= WIDTH &&
           block->extent[0] <= most && block->extent[1] <= most &&
           (block->edge[2].kind != LACIS_SWEEP_MIRROR || block->extent[1] > 1) &&
           (block->edge[3].kind != LACIS_SWEEP_MIRROR || block->extent[1] > 1);
}

/* The deepest of at most `most` levels; NULL: none. */
static const Variant *deepest(const lacis_sweep_block *block, int groups, int64_t most)
{
    const Variant *all = block->type == LACIS_SWEEP_F32 ? plane_f32 : plane_f64, *best = nullptr;
    const int count = block->type == LACIS_SWEEP_F32 ? plane_f32_count : plane_f64_count;
    for (int i = 0; i < count; i++)
        if (all[i].groups == groups && all[i].levels <= most && fits(&all[i], block) &&
            (!best || all[i].levels > best->levels))
            best = &all[i];
    return best;
}

} // namespace block
} // namespace sweep

int lacis_sweep_block_depth(const lacis_sweep_block *block, int64_t steps)
{
    Shape shape;
    if (!shape_of(block, &shape) || !edges_fit(block, shape.groups)) return 1;
    const Variant *variant = deepest(block, shape.groups, steps);
    return variant ? variant->levels : 1;
}

cudaError_t lacis_sweep_block_pass(const lacis_sweep_block *block, int levels, const void *in, void *out,
                                   cudaStream_t stream)
{
    Shape shape;
    if (!shape_of(block, &shape)) return cudaErrorInvalidValue;
    const Variant *variant = deepest(block, shape.groups, levels);
    if (!variant || variant->levels != levels) return cudaErrorInvalidValue;
    return variant->pass(block, &shape, in, out, stream);
}
