/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels blocked in time for three dimensions, with open ends: VALUES and small grids.
 */
#include "sweep/gpu_block_launch.cuh"

namespace sweep
{
namespace block
{

const Variant open_space[] = {
    space_variant<SpaceForm<float, 3, 0, 8, 3, 1>, true>("f32 open space cross 3"),
    space_variant<SpaceForm<float, 3, CENTRE, 8, 3, 1>, true>("f32 open space centre+cross 3"),
    space_variant<SpaceForm<double, 2, 0, 8, 2, 1>, true>("f64 open space cross 2"),
    space_variant<SpaceForm<double, 2, CENTRE, 8, 2, 1>, true>("f64 open space centre+cross 2"),
};
const int open_space_count = (int)(sizeof open_space / sizeof open_space[0]);

} // namespace block
} // namespace sweep
