/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels blocked in time for three dimensions.
 */
#include "sweep/gpu_block_launch.cuh"

namespace sweep
{
namespace block
{

const Variant space[] = {
    space_variant<SpaceForm<float, 3, 0, 12, 3, 1>>("f32 space cross 3"),
    space_variant<SpaceForm<float, 3, CENTRE, 12, 3, 1>>("f32 space centre+cross 3"),
    space_variant<SpaceForm<double, 3, 0, 8, 2, 1>>("f64 space cross 3"),
    space_variant<SpaceForm<double, 3, CENTRE, 8, 2, 1>>("f64 space centre+cross 3"),
};
const int space_count = (int)(sizeof space / sizeof space[0]);

} // namespace block
} // namespace sweep
