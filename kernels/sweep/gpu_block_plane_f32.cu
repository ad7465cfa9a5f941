/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels blocked in time for float, two dimensions.
 */
#include "sweep/gpu_block_launch.cuh"

namespace sweep
{
namespace block
{

const Variant plane_f32[] = {
    plane_variant<PlaneForm<float, 12, APART, 0, 9, 8>>("f32 cross 12"),
    plane_variant<PlaneForm<float, 8, APART, 0, 9, 12>>("f32 cross 8"),
    plane_variant<PlaneForm<float, 4, APART, 0, 9, 16>>("f32 cross 4"),
    plane_variant<PlaneForm<float, 2, APART, 0, 9, 16>>("f32 cross 2"),
    plane_variant<PlaneForm<float, 12, APART, CENTRE, 9, 8>>("f32 centre+cross 12"),
    plane_variant<PlaneForm<float, 8, APART, CENTRE, 9, 12>>("f32 centre+cross 8"),
    plane_variant<PlaneForm<float, 4, APART, CENTRE, 9, 16>>("f32 centre+cross 4"),
    plane_variant<PlaneForm<float, 2, APART, CENTRE, 9, 16>>("f32 centre+cross 2"),
    plane_variant<PlaneForm<float, 8, APART, CORNERS, 9, 8>>("f32 cross+corners 8"),
    plane_variant<PlaneForm<float, 2, APART, CORNERS, 9, 12>>("f32 cross+corners 2"),
    plane_variant<PlaneForm<float, 8, APART, CENTRE | CORNERS, 9, 8>>("f32 centre+cross+corners 8"),
    plane_variant<PlaneForm<float, 2, APART, CENTRE | CORNERS, 9, 12>>("f32 centre+cross+corners 2"),
};
const int plane_f32_count = (int)(sizeof plane_f32 / sizeof plane_f32[0]);

} // namespace block
} // namespace sweep
