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

static bool any_values(const lacis_sweep_block *block)
{
    for (int face = 0; face < 2 * block->dims; face++)
        if (block->edge[face].kind == LACIS_SWEEP_VALUES) return true;
    return false;
}

/* Whether kernels here know the edges: both faces of an axis wrap, or none. */
static bool edges_fit(const lacis_sweep_block *block)
{
    for (int face = 0; face < 2 * block->dims; face++)
        if ((block->edge[face].kind == LACIS_SWEEP_PERIODIC) != (block->edge[face ^ 1].kind == LACIS_SWEEP_PERIODIC))
            return false;
    return true;
}

/* Shared memory that a block may have; without a device none beyond what all have. */
static int shared_most(void)
{
    int device, bytes = 0;
    if (cudaGetDevice(&device) != cudaSuccess) return 0;
    const cudaError_t error = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    return error == cudaSuccess ? bytes : 0;
}

bool fits(const Variant *variant, const lacis_sweep_block *block)
{
    if (variant->type != block->type || variant->dims != block->dims) return false;
    if (!variant->open && any_values(block)) return false;
    for (int axis = 0; axis < block->dims; axis++) {
        const bool mirrors =
            block->edge[2 * axis].kind == LACIS_SWEEP_MIRROR || block->edge[2 * axis + 1].kind == LACIS_SWEEP_MIRROR;
        const int64_t least = axis < 2 && variant->least[axis] > 1 ? variant->least[axis] : mirrors ? 2 : 1;
        /* Numbers of rows and columns, and some more, are ints in kernels. */
        if (block->extent[axis] < least || block->extent[axis] > INT32_MAX / 2) return false;
    }
    return variant->shared == 0 || variant->shared + 1024 <= shared_most();
}

const Variant *variant(int number)
{
    if (number < plane_f32_count) return &plane_f32[number];
    number -= plane_f32_count;
    if (number < plane_f64_count) return &plane_f64[number];
    number -= plane_f64_count;
    if (number < space_count) return &space[number];
    number -= space_count;
    if (number < open_f32_count) return &open_f32[number];
    number -= open_f32_count;
    if (number < open_f64_count) return &open_f64[number];
    number -= open_f64_count;
    return number < open_space_count ? &open_space[number] : nullptr;
}

/* Whether kernels with open ends are sure to be faster than single steps, by what those with closed ends are measured
 * at: a row at the sides takes 2.5 quick ones at least, so that there must be strips between; of narrow grids half of
 * the columns count at least, which is enough where the quick march has most in hand. Else they have to be asked for.
 */
static bool open_is_worth(const lacis_sweep_block *block, int groups)
{
    if (block->asked || block->dims == 3) return block->asked;
    if (any_values(block)) return block->extent[0] >= 4 * WIDTH;
    return block->type == LACIS_SWEEP_F32 && !(groups & CORNERS) && block->extent[0] >= WIDTH / 2;
}

/* The deepest of at most `most` levels; NULL: none. */
static const Variant *deepest_with(const lacis_sweep_block *block, int groups, int64_t most, bool open)
{
    const Variant *best = nullptr;
    for (int i = 0; const Variant *v = variant(i); i++)
        if (v->open == open && v->groups == groups && v->levels <= most && fits(v, block) &&
            (!best || v->levels > best->levels))
            best = v;
    return best;
}
static const Variant *deepest(const lacis_sweep_block *block, int groups, int64_t most)
{
    const Variant *closed = deepest_with(block, groups, most, false);
    return closed || !open_is_worth(block, groups) ? closed : deepest_with(block, groups, most, true);
}

} // namespace block
} // namespace sweep

int lacis_sweep_block_depth(const lacis_sweep_block *block, int64_t steps)
{
    Shape shape;
    if (!shape_of(block, &shape) || !edges_fit(block)) return 1;
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
